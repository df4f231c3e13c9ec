"""A paper: experiments that run, claims that are judged, values that had to be assumed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from footfall.errors import FootfallError, did_you_mean

#: Where a claim comes from. ``printed``: a number or a statement of the paper. ``derived``: a closed form of its
#: equations. ``fitted``: the paper's, but parameters were chosen with the result in view, so it is not a prediction.
#: ``ours``: a question of our own, or an answer that needs a term which the paper does not have.
Source = Literal["printed", "derived", "fitted", "ours"]
#: The source of a claim, and the figure or section that states it.
Where = tuple[Source, str]
#: The paper's value, ours, and their unit if they have one.
Values = tuple[float | str, float | str] | tuple[float | str, float | str, str]
#: What may become of a claim, as tables count them.
VERDICTS = ("reproduced", "fitted", "holds", "contradicted", "open", "FAILS")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a paper beside what was measured here.

    Attributes:
        source: where the claim comes from; only what is printed can be reproduced.
        figure: where the paper says so, such as "fig4" or "section 5".
        statement: what it says, in few words.
        paper: its value, a number or words.
        ours: what was measured, of the same kind.
        unit: of both.
        tolerance: how far they may be apart, and why.
        holds: whether the measurement agrees.
        expected: whether it is listed as holding; a claim that is listed so and does not hold is a failure.
        proof: a proof that the paper's statement cannot be right, if there is one.
        note: what else a reader should know, such as why a claim is not reproduced.
        fragile: why the verdict depends on the last digits of the initial state, where it does.
        timed: whether the verdict depends on a clock, and so on the machine.
    """

    source: Source
    figure: str
    statement: str
    paper: float | str
    ours: float | str
    unit: str = ""
    tolerance: str
    holds: bool
    expected: bool = True
    proof: str = ""
    note: str = ""
    fragile: str = ""
    timed: bool = False

    @property
    def failed(self) -> bool:
        """Whether it is listed as holding and does not."""
        return self.expected and not self.holds

    @property
    def verdict(self) -> str:
        """One of ``VERDICTS``."""
        if self.failed:
            return "FAILS"
        if self.holds:
            return {"printed": "reproduced", "fitted": "fitted"}.get(self.source, "holds")
        return "contradicted" if self.proof else "open"

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
    """An experiment of a paper, as it is done here.

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
    """A paper: its experiments, what was assumed and what is left out."""

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


# ---- ways to judge: where the paper says it, what it says, its value beside ours ---------------------------------


def near(
    where: Where, statement: str, values: Values, *, rel: float = 0.0, within: float = 0.0, why: str, **more: Any
) -> Claim:
    """A claim that two numbers agree, to ``rel`` of the paper's or ``within`` (in their unit)."""
    paper, ours, unit = float(values[0]), float(values[1]), "".join(values[2:])
    size = f"{100 * rel:.3g} %" if rel else f"{within:.3g} {unit}".rstrip()
    agree = math.isfinite(ours) and abs(ours - paper) <= max(rel * abs(paper), within)
    return seen(where, statement, (paper, ours, unit), holds=agree, why=f"{size}: {why}", **more)


def seen(where: Where, statement: str, values: Values, *, holds: bool, why: str, **more: Any) -> Claim:
    """A claim that was judged by a rule, which ``why`` states."""
    paper, ours, *unit = values
    return Claim(
        source=where[0],
        figure=where[1],
        statement=statement,
        paper=paper,
        ours=ours if isinstance(ours, str) else float(ours),
        unit="".join(unit),
        tolerance=why,
        holds=bool(holds),
        **more,
    )


def unlike(where: Where, statement: str, values: Values, *, note: str = "", proof: str = "") -> Claim:
    """A claim that we do not reproduce, and why: open, or with a ``proof`` that the paper contradicts itself."""
    why = "none: reported as it is"
    return seen(where, statement, values, holds=False, why=why, expected=False, note=note, proof=proof)


def _told(value: float | str, unit: str) -> str:
    if not isinstance(value, str):
        value = "0" if value != 0.0 and abs(value) < 1e-9 else f"{value:.5g}"
    return f"{value} {unit}".rstrip() if any(map(str.isdigit, value)) else value


def legend_below(figure: Any, *axes: Any, columns: int) -> None:
    """One legend for some axes below all of them, where it covers no curve."""
    known: dict[str, Any] = {}
    for one in axes:
        for handle, name in zip(*one.get_legend_handles_labels(), strict=True):
            known.setdefault(name, handle)
    figure.legend(list(known.values()), list(known), loc="outside lower center", ncols=columns)
