"""Physical bounds, and how much of each was used: a margin that is thin here breaks on the next machine.

Tests that compare with a closed form, a conservation law or another engine do so by these functions. What they used of
their bounds is shown at the end of a run, by ``conftest.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Share of a bound beyond which it is called thin.
THIN = 0.8
#: Bounds that only allow for rounding, of the numbers compared: how much of them is used says nothing of physics.
ROUNDING = 1e-8
#: What the test that is running has used: its properties, set by ``conftest.py``.
used: list[tuple[str, object]] = []


def _log(share: float) -> None:
    used.append(("bound", round(float(share), 4)))


def near(found: Any, expected: Any, *, rel: float | None = None, abs: float | None = None) -> None:
    """Assert that numbers equal others within a relative bound (1e-6 if none is given) or an absolute one."""
    rel = 1e-6 if rel is None and abs is None else rel or 0.0
    close(found, expected, rtol=rel, atol=abs or 0.0, either=True)


def close(
    found: Any, expected: Any, *, rtol: float = 1e-7, atol: float = 0.0, err_msg: str = "", either: bool = False
) -> None:
    """Assert that arrays equal others within a bound, absolute and relative together, or (``either``) the larger."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    relative = rtol * np.abs(expected)
    bound = np.maximum(relative, atol) if either else relative + atol
    miss = np.abs(found - expected)
    scale = np.maximum(np.abs(expected).max(initial=0.0), np.abs(found).max(initial=0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(miss == 0.0, 0.0, miss / bound)
    worst = float(np.max(share, initial=0.0)) if not np.isnan(share).any() else np.inf
    assert worst <= 1.0, f"{err_msg} {found} is not {expected}: {worst:.3g} times the bound".strip()
    if np.max(bound, initial=0.0) > ROUNDING * scale:
        _log(worst)


def below(value: float, bound: float) -> None:
    """Assert that a number that is best small is below a bound."""
    assert value < bound, f"{value:.6g} is not below {bound:.6g}: {value / bound:.3g} times the bound"
    _log(max(0.0, value / bound))
