"""What a paper is here: experiments that run, claims that are judged, values that had to be assumed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from footfall.errors import FootfallError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a paper beside what was measured here.

    Attributes:
        figure: where the paper says so, such as "fig4" or "section 5".
        statement: what it says, in few words.
        paper: its value, a number or words.
        ours: what was measured, of the same kind.
        unit: of both.
        tolerance: how far they may be apart, and why.
        holds: whether the measurement agrees.
        reproduced: whether we say that we reproduce it; a claim that we do and that does not hold is a failure.
        note: what else a reader should know, such as why a claim is not reproduced.
    """

    figure: str
    statement: str
    paper: float | str
    ours: float | str
    unit: str = ""
    tolerance: str
    holds: bool
    reproduced: bool = True
    note: str = ""

    @property
    def failed(self) -> bool:
        """We say that we reproduce it, and do not."""
        return self.reproduced and not self.holds

    @property
    def verdict(self) -> str:
        """One word or two: holds, FAILS, or not reproduced."""
        return "FAILS" if self.failed else "holds" if self.holds else "not reproduced"

    def values(self) -> tuple[str, str]:
        """The paper's value and ours, to be read."""
        return _told(self.paper, self.unit), _told(self.ours, self.unit)


@dataclass(frozen=True)
class Assumption:
    """A value that the paper does not print and that had to be chosen."""

    what: str
    value: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Something a paper did, as it is done here.

    ``run()`` gives the data, ``judge(data)`` the claims, ``draw(figure, data)`` fills a matplotlib figure (or a part of
    one) of ``height`` inches. ``figures`` are the paper's figures it stands for.
    """

    name: str
    figures: tuple[str, ...]
    title: str
    run: Callable[[], Any]
    judge: Callable[[Any], Sequence[Claim]]
    draw: Callable[[Any, Any], None]
    height: float = 4.0


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper, what of it is done here, what was assumed and what is left out."""

    name: str
    citation: str
    summary: str
    experiments: tuple[Experiment, ...]
    assumptions: tuple[Assumption, ...]
    missing: tuple[str, ...] = ()

    def chosen(self, figures: Sequence[str] | None) -> tuple[Experiment, ...]:
        """The experiments of the given names or figures, in the paper's order; all of them if left out."""
        if not figures:
            return self.experiments
        known = {key for one in self.experiments for key in (one.name, *one.figures)}
        for figure in figures:
            if figure not in known:
                raise FootfallError(f"{self.name} has no figure '{figure}' here: {did_you_mean(figure, known)}")
        return tuple(one for one in self.experiments if {one.name, *one.figures} & set(figures))


# ---- ways to judge ---------------------------------------------------------------------------------------------


def near(
    figure: str,
    statement: str,
    paper: float,
    ours: float,
    unit: str = "",
    *,
    rel: float = 0.0,
    within: float = 0.0,
    why: str,
    **more: Any,
) -> Claim:
    """A claim that two numbers agree, to ``rel`` of the paper's or ``within`` (in ``unit``)."""
    allowed = max(rel * abs(paper), within)
    size = f"{100 * rel:.3g} %" if rel else f"{within:.3g} {unit}".rstrip()
    return Claim(
        figure=figure,
        statement=statement,
        paper=float(paper),
        ours=float(ours),
        unit=unit,
        tolerance=f"{size}: {why}",
        holds=math.isfinite(ours) and abs(ours - paper) <= allowed,
        **more,
    )


def seen(
    figure: str, statement: str, paper: float | str, ours: float | str, unit: str = "", *, holds: bool, why: str
) -> Claim:
    """A claim that was judged by a rule, which ``why`` tells."""
    ours = ours if isinstance(ours, str) else float(ours)
    return Claim(
        figure=figure, statement=statement, paper=paper, ours=ours, unit=unit, tolerance=why, holds=bool(holds)
    )


def unlike(figure: str, statement: str, paper: float | str, ours: float | str, unit: str = "", *, note: str) -> Claim:
    """A claim that we do not reproduce, and why."""
    ours = ours if isinstance(ours, str) else float(ours)
    return Claim(
        figure=figure,
        statement=statement,
        paper=paper,
        ours=ours,
        unit=unit,
        tolerance="none: reported as it is",
        holds=False,
        reproduced=False,
        note=note,
    )


def _told(value: float | str, unit: str) -> str:
    if not isinstance(value, str):
        value = "0" if value != 0.0 and abs(value) < 1e-9 else f"{value:.5g}"
    return f"{value} {unit}".rstrip() if any(map(str.isdigit, value)) else value
