"""A paper: experiments that run, claims that are judged, values that had to be assumed."""

from __future__ import annotations

import math
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module, resources
from typing import Any, Literal, NamedTuple

from footfall.errors import FootfallError, did_you_mean

#: Where a claim comes from. ``printed``: a sentence of the paper. ``derived``: a closed form of its equations, or what
#: they define. ``fitted``: a sentence of the paper, but parameters were chosen with the result in view, so it is not a
#: prediction. ``ours``: a question of our own, or an answer that needs a term which the paper does not have.
Source = Literal["printed", "derived", "fitted", "ours"]
#: The source of a claim, and the key of the paper's sentence; of derived and own claims the place they are about.
Where = tuple[Source, str]
#: What should come out (a number, or words), what does, and their unit if they have one.
Values = tuple[float | str, float | str] | tuple[float | str, float | str, str]
#: What may become of a sentence, from best to worst: it has the worst verdict of its claims.
VERDICTS = ("reproduced", "fitted", "fragile", "open", "contradicted", "FAILS")


class Sentence(NamedTuple):
    """A sentence of a paper: where it is, its words (with " ... " where some are left out), the value it prints."""

    where: str
    says: str
    prints: str = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What was measured here, beside what it should be.

    Attributes:
        source: where the claim comes from; only what is printed can be reproduced.
        figure: where the paper has it, such as "fig4" or "section 5".
        sentence: the paper's own words, empty if the claim is derived or ours.
        statement: what is measured, in few words.
        paper: the value that the paper prints, empty if it prints none.
        target: what should come out, a number or words.
        ours: what was measured, of the same kind.
        unit: of both.
        tolerance: how far they may be apart, and why.
        holds: whether the measurement agrees.
        expected: whether it is listed as holding; a claim that is listed so and does not hold is a failure.
        proof: a proof that the paper's statement cannot be right, if there is one.
        note: what else a reader should know, such as why a claim is not reproduced.
        fragile: on which of the quantities that the paper leaves open the verdict depends, where it does.
        timed: whether the verdict depends on a clock, and so on the machine.
    """

    source: Source
    figure: str
    sentence: str = ""
    statement: str
    paper: str = ""
    target: float | str
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
    def cites(self) -> bool:
        """Whether it is about a sentence of the paper."""
        return self.source in ("printed", "fitted")

    @property
    def failed(self) -> bool:
        """Whether it is listed as holding and does not."""
        return self.expected and not self.holds

    @property
    def verdict(self) -> str:
        """One of ``VERDICTS``, or "holds" of a derived or own claim."""
        if self.failed:
            return "FAILS"
        if not self.holds:
            return "contradicted" if self.proof else "open"
        if not self.cites:
            return "holds"
        return "fitted" if self.source == "fitted" else "fragile" if self.fragile else "reproduced"

    @property
    def reason(self) -> str:
        """Why it has its verdict."""
        return self.proof or (self.fragile if self.verdict == "fragile" else "") or self.note or self.tolerance

    def values(self) -> tuple[str, str]:
        """What should come out and what does, to be read."""
        return _told(self.target, self.unit), _told(self.ours, self.unit)


@dataclass(frozen=True)
class Assumption:
    """A value that the paper does not print and that had to be chosen."""

    what: str
    value: str
    why: str


@dataclass(frozen=True)
class Vary:
    """A quantity that the paper leaves open: the module and the name of its constant, and what else it may be."""

    what: str
    module: str
    name: str
    values: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.what}: {', '.join(str(one) for one in self.values)}"

    @contextmanager
    def set_to(self, value: Any) -> Iterator[None]:
        """Another value, while this context is open."""
        module = sys.modules[self.module]
        before = getattr(module, self.name)
        setattr(module, self.name, value)
        try:
            yield
        finally:
            setattr(module, self.name, before)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment of a paper, as it is done here.

    ``run()`` gives the data, ``judge(data)`` the claims, ``draw(figure, data)`` fills a matplotlib figure (or a part of
    one) of ``height`` inches. ``figures`` are the paper's figures it stands for, ``varies`` what a challenge varies.
    """

    name: str
    figures: tuple[str, ...]
    title: str
    run: Callable[[], Any]
    judge: Callable[[Any], Sequence[Claim]]
    draw: Callable[[Any, Any], None]
    height: float = 4.0
    varies: tuple[Vary, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: its experiments, what was assumed and what is left out."""

    name: str
    citation: str
    summary: str
    experiments: tuple[Experiment, ...]
    assumptions: tuple[Assumption, ...]
    missing: tuple[str, ...] = ()
    brings: str = ""  # to Footfall, in Markdown
    sentences: Mapping[str, Sentence] = field(default_factory=dict)

    @classmethod
    def read(cls, package: str) -> Paper:
        """A paper from the file ``paper.toml`` of its package: sentences, what was assumed, and what is run."""
        name = package.rpartition(".")[2]
        data = tomllib.loads(resources.files(package).joinpath("paper.toml").read_text(encoding="utf-8"))
        return cls(
            name=name,
            citation=data["citation"],
            summary=data["summary"],
            experiments=tuple(_experiment(package, own, **row) for own, row in data["experiments"].items()),
            assumptions=tuple(Assumption(*one) for one in data["assumptions"]),
            missing=tuple(data["missing"]),
            brings=data["brings"],
            sentences={key: Sentence(*one) for key, one in data["sentences"].items()},
        )

    def cite(self, claim: Claim) -> Claim:
        """A claim with the sentence that it names."""
        if not claim.cites:
            return claim
        if claim.figure not in self.sentences:
            raise FootfallError(f"{self.name} has no sentence '{claim.figure}' in its paper.toml")
        found = self.sentences[claim.figure]
        return replace(claim, figure=found.where, sentence=found.says, paper=found.prints)

    def chosen(self, figures: Sequence[str] | None) -> tuple[Experiment, ...]:
        """The experiments of the given names or figures, in the paper's order; all of them if left out."""
        if not figures:
            return self.experiments
        known = {key for one in self.experiments for key in (one.name, *one.figures)}
        for figure in figures:
            if figure not in known:
                raise FootfallError(f"{self.name} has no figure '{figure}' here: {did_you_mean(figure, known)}")
        return tuple(one for one in self.experiments if {one.name, *one.figures} & set(figures))


def _experiment(
    package: str, name: str, *, functions: str, figures: list[str], varies: Sequence[Any] = (), **more: Any
) -> Experiment:
    """An experiment as ``paper.toml`` describes it."""
    module, _, own = functions.partition(".")
    found = vars(import_module(f"{package}.{module}"))
    run, judge, draw = (found[f"{part}_{own}"] for part in ("run", "judge", "draw"))
    vary = tuple(Vary(what, f"{package}.{of.split('.')[0]}", of.split(".")[1], _frozen(to)) for what, of, to in varies)
    return Experiment(name=name, figures=tuple(figures), run=run, judge=judge, draw=draw, varies=vary, **more)


def _frozen(value: Any) -> Any:
    """Lists as tuples, as constants are."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


# ---- ways to judge: where the paper says it, what it says, its value beside ours ---------------------------------


def near(
    where: Where, statement: str, values: Values, *, rel: float = 0.0, within: float = 0.0, why: str, **more: Any
) -> Claim:
    """A claim that two numbers agree, to ``rel`` of what it should be or ``within`` (in their unit)."""
    target, ours, unit = float(values[0]), float(values[1]), "".join(values[2:])
    size = f"{100 * rel:.3g} %" if rel else f"{within:.3g} {unit}".rstrip()
    agree = math.isfinite(ours) and abs(ours - target) <= max(rel * abs(target), within)
    return seen(where, statement, (target, ours, unit), holds=agree, why=f"{size}: {why}", **more)


def seen(where: Where, statement: str, values: Values, *, holds: bool, why: str, **more: Any) -> Claim:
    """A claim that was judged by a rule, which ``why`` states."""
    target, ours, *unit = values
    return Claim(
        source=where[0],
        figure=where[1],
        statement=statement,
        target=target,
        ours=ours if isinstance(ours, str) else float(ours),
        unit="".join(unit),
        tolerance=why,
        holds=bool(holds),
        **more,
    )


def unlike(where: Where, statement: str, values: Values, *, holds: bool = False, **more: Any) -> Claim:
    """A claim that we do not reproduce, and why: open (``note``), or with a ``proof`` that the paper cannot be right.

    ``holds`` tells whether the paper is right in this run after all, as a challenge may find.
    """
    why = "none: reported as it is"
    return seen(where, statement, values, holds=holds, why=why, expected=False, **more)


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
