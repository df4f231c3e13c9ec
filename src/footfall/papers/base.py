"""A paper: experiments that run, claims that are judged, values that had to be assumed."""

from __future__ import annotations

import math
import sys
import tomllib
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module, resources
from itertools import cycle
from string import Formatter
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from footfall.errors import FootfallError, did_you_mean
from footfall.show.plots.drawing import line
from footfall.show.style import COLORS, GREY

#: Where a claim comes from. ``printed``: a sentence of the paper. ``derived``: a closed form of its equations, or what
#: they define. ``fitted``: a sentence of the paper, but parameters were chosen with the result in view, or its equation
#: says it by definition, so it is no prediction. ``ours``: a question of our own, or an answer that needs a term which
#: the paper does not have.
Source = Literal["printed", "derived", "fitted", "ours"]
#: What may become of a sentence, from best to worst: it has the worst verdict of its claims.
VERDICTS = ("reproduced", "fitted", "fragile", "open", "contradicted", "FAILS")


#: Sources of claims about a sentence of the paper.
CITED = ("printed", "fitted")
#: Parts of the wording that go into a claim under their own names.
TOLD_BESIDE = ("note", "proof", "fragile")
#: Parts that may be measured too, and are then given with what is found.
MEASURED = ("should", "unit", "rel", "within")
#: The tolerance of a claim that states none.
AS_IT_IS = "none: reported as it is"


class Sentence(NamedTuple):
    """A sentence of a paper: where it is, its words (with " ... " where some are left out), the value it prints."""

    where: str
    says: str
    prints: str = ""


class Wording(NamedTuple):
    """A claim in words, as ``paper.toml`` has it; {name} is measured with it, {NAME} a constant of its module."""

    source: Source
    place: str  # of a claim that cites, the key of its sentence, or of several
    claim: str  # what is measured
    why: str = ""  # it may be off by so much
    note: str = ""
    proof: str = ""
    fragile: str = ""
    timed: bool = False
    should: float | str = ""  # what should come out, where it is known beforehand
    unit: str = ""
    rel: float = 0.0  # how far a number may be off, as a share of what it should be
    within: float = 0.0  # or in its unit

    @classmethod
    def read(cls, *, claim: str, **parts: Any) -> Wording:
        """From a row, in which the source is the name of the place."""
        source: Source = next(one for one in get_args(Source) if one in parts)
        return cls(source, parts.pop(source), claim, **parts)


class Finding(NamedTuple):
    """What was measured for a claim, which is known by its name in ``paper.toml``."""

    name: str  # of a claim on several sentences with the key of one, as "pressed.broken"
    ours: float | str
    given: Mapping[str, Any]  # what the wording names beside constants, and what it leaves open of MEASURED
    holds: bool | None = None  # None: if it is near to what it should be
    expected: bool = True


class Telling(Formatter):
    """Fills in a wording: several numbers are listed, and with {name:milli} one is in thousandths of its unit."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if type(value) is tuple:
            return ", ".join(f"{one:{format_spec or 'g'}}" for one in value)
        return f"{1e3 * value:g}" if format_spec == "milli" else str(super().format_field(value, format_spec))


#: What a function that judges yields, in the order of the page.
Findings: TypeAlias = Iterator[Finding]


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
        return self.source in CITED

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

    @property
    def told(self) -> list[str]:
        """The paper's words, what is measured and what is said of it, a sentence each, in Markdown."""
        said = [f"“{self.sentence}”:"] if self.sentence else []
        said += [f"{self.statement}."]
        said += [f"*Tolerance: {self.tolerance}.*"] if self.expected else []
        said += [f"**Proof:** {self.proof}."] if self.proof else []
        said += [f"{self.note.rstrip('.')}."] if self.note else []
        return said + ([f"**Fragile:** {self.fragile}."] if self.fragile else [])

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

    ``run()`` gives the data, ``judge(data)`` what is found for each claim, ``draw(figure, data)`` fills a matplotlib
    figure (or a part of one) of ``height`` inches, if the paper has one. ``figures`` are the paper's figures or
    sections it stands for, ``varies`` what a challenge varies.
    """

    name: str
    figures: tuple[str, ...]
    title: str
    run: Callable[[], Any]
    judge: Callable[[Any], Iterable[Finding]]
    draw: Callable[[Any, Any], None] | None = None
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
    future: tuple[tuple[str, str], ...] = ()  # what its conclusion leaves to the future, and where that is here
    brings: str = ""  # to Footfall, in Markdown
    sentences: Mapping[str, Sentence] = field(default_factory=dict)
    claims: Mapping[str, Wording] = field(default_factory=dict)

    @classmethod
    def read(cls, package: str) -> Paper:
        """A paper from the file ``paper.toml`` of its package: sentences, claims, what was assumed, what is run."""
        name = package.rpartition(".")[2]
        data = tomllib.loads(resources.files(package).joinpath("paper.toml").read_text(encoding="utf-8"))
        return cls(
            name=name,
            citation=data["citation"],
            summary=data["summary"],
            experiments=tuple(_experiment(package, own, **row) for own, row in data["experiments"].items()),
            assumptions=tuple(Assumption(*one) for one in data["assumptions"]),
            missing=tuple(data["missing"]),
            future=_frozen(data.get("future", [])),
            brings=data["brings"],
            sentences={key: Sentence(*one) for key, one in data["sentences"].items()},
            claims={name: Wording.read(**one) for name, one in data["claims"].items()},
        )

    def claim(self, found: Finding, constants: Mapping[str, Any] | None = None) -> Claim:
        """The claim that something was found for, in its words, which name ``constants`` too."""
        name, _, place = found.name.partition(".")
        if name not in self.claims:
            raise FootfallError(f"{self.name} has no claim '{name}' in its paper.toml")
        words = self.claims[name]._replace(**{part: found.given[part] for part in MEASURED if part in found.given})
        sentence = Sentence(place or words.place, "")
        if words.source in CITED:
            if sentence.where not in self.sentences:
                raise FootfallError(f"{self.name} has no sentence '{sentence.where}' in its paper.toml")
            sentence = self.sentences[sentence.where]
        known = ChainMap(dict(found.given), dict(constants or {}))
        told = {part: Telling().vformat(getattr(words, part), (), known) for part in ("claim", "why", *TOLD_BESIDE)}
        statement, why = told.pop("claim"), told.pop("why") or AS_IT_IS
        ours = found.ours if isinstance(found.ours, str) else float(found.ours)
        target = Telling().vformat(words.should, (), known) if isinstance(words.should, str) else float(words.should)
        holds = found.holds
        if holds is None:
            size = f"{100 * words.rel:.3g} %" if words.rel else f"{words.within:.3g} {words.unit}".rstrip()
            holds, why = _agree(target, ours, words), f"{size}: {why}"
        return Claim(
            source=words.source,
            figure=sentence.where,
            sentence=sentence.says,
            statement=statement,
            paper=sentence.prints,
            target=target,
            ours=ours,
            unit=words.unit,
            tolerance=why,
            holds=bool(holds),
            expected=found.expected,
            timed=words.timed,
            **told,
        )

    def claims_of(self, experiment: Experiment, data: Any) -> Iterator[Claim]:
        """The claims that an experiment is judged by."""
        constants = vars(sys.modules[experiment.judge.__module__])
        return (self.claim(found, constants) for found in experiment.judge(data))

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
    run, judge, draw = found[f"run_{own}"], found[f"judge_{own}"], found.get(f"draw_{own}")
    vary = tuple(Vary(what, f"{package}.{of.split('.')[0]}", of.split(".")[1], _frozen(to)) for what, of, to in varies)
    return Experiment(name=name, figures=tuple(figures), run=run, judge=judge, draw=draw, varies=vary, **more)


def _frozen(value: Any) -> Any:
    """Lists as tuples, as constants are."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


# ---- ways to judge: the name of a claim, and what comes out ---------------------------------------------------------


def near(name: str, target: float, ours: float, /, **given: Any) -> Finding:
    """Two numbers agree, to ``rel`` of what it should be or ``within`` (in their unit)."""
    return Finding(name, ours, {"should": target, **given})


def seen(name: str, ours: float | str, /, *, holds: bool, expected: bool = True, **given: Any) -> Finding:
    """Judged by a rule, which the claim's ``why`` states."""
    return Finding(name, ours, given, holds, expected)


def unlike(name: str, ours: float | str, /, *, holds: bool = False, **given: Any) -> Finding:
    """We do not reproduce it, and the claim says why: open (``note``), or with a ``proof`` that it cannot be right.

    ``holds`` tells whether the paper is right in this run after all, as a challenge may find.
    """
    return seen(name, ours, holds=holds, expected=False, **given)


def _agree(target: Any, ours: Any, words: Wording) -> bool:
    return math.isfinite(ours) and abs(ours - target) <= max(words.rel * abs(target), words.within)


def _told(value: float | str, unit: str) -> str:
    if not isinstance(value, str):
        value = "0" if value != 0.0 and abs(value) < 1e-9 else f"{value:.5g}"
    return f"{value} {unit}".rstrip() if any(map(str.isdigit, value)) else value


def panel(axis: Any, *curves: tuple[Any, Any, str], **look: Any) -> None:
    """Curves, each (x, y, name), on an axis, over time (s) unless it is said otherwise; named ones in a legend."""
    for (x, y, name), color in zip(curves, cycle(COLORS), strict=False):
        line(axis, np.asarray(x), np.asarray(y), color=color, label=name or None)
    axis.set(**{"xlabel": "time (s)"} | look)
    if any(name for _, _, name in curves):
        axis.legend()


def level(axis: Any, value: float, name: str = "") -> None:
    """A value that curves are to be compared with."""
    axis.axhline(value, color=GREY, linewidth=0.8, linestyle=(0, (6, 3)))
    place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "xytext": (0, 3)}
    axis.annotate(name, (0.01, value), fontsize=7.5, **place)
