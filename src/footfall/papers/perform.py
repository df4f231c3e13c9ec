"""A paper: its experiments run, its claims judged, its figures drawn, and one page about all papers."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from footfall.errors import FootfallError
from footfall.files.atomic_write import write_text
from footfall.papers.base import VERDICTS, Assumption, Claim, Experiment, Paper
from footfall.simulation.task import perturbed_starts

OFF = 1e-9  # m, rad, m/s, rad/s: by how much starts are moved, to see whether verdicts depend on their last digits


class Change(NamedTuple):
    """A claim whose verdict is another one where something that the paper leaves open is different."""

    claim: Claim  # as it is
    changed: str  # what is different
    then: str  # its verdict there, or why it could not be run
    ours: str  # what was measured there

    def __str__(self) -> str:
        return (
            f"{self.claim.verdict} becomes {self.then} ({self.changed}: {self.claim.values()[1]} becomes {self.ours})"
        )


@dataclass(frozen=True)
class PaperResult:
    """What came of a paper: its claims judged, and where its figures were drawn, both by experiment."""

    paper: Paper
    judged: dict[str, tuple[Claim, ...]]
    drawn: dict[str, Path]
    perturbed: int = 0  # runs from starts that are off by up to OFF
    challenged: int = 0  # runs with other values of what the paper leaves open
    changes: tuple[Change, ...] = ()  # what became of verdicts there
    idle: tuple[str, ...] = ()  # other values that changed nothing that is measured

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of all experiments that were run."""
        return tuple(claim for claims in self.judged.values() for claim in claims)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the paper does not print and was chosen here."""
        return self.paper.assumptions

    @property
    def failures(self) -> tuple[Claim, ...]:
        """The claims of which we say that they hold, and that do not."""
        return tuple(claim for claim in self.claims if claim.failed)

    @property
    def unstable(self) -> tuple[Change, ...]:
        """Verdicts that changed without the claim being marked as fragile or timed."""
        return tuple(one for one in self.changes if not (one.claim.fragile or one.claim.timed))

    @property
    def sentences(self) -> dict[str, Claim]:
        """By sentence of the paper: that of its claims which has the worst verdict, and so the sentence's own."""
        worst: dict[str, Claim] = {}
        for claim in self.claims:
            if claim.cites:
                before = worst.setdefault(claim.sentence, claim)
                if VERDICTS.index(claim.verdict) > VERDICTS.index(before.verdict):
                    worst[claim.sentence] = claim
        return worst

    def tried(self, sentence: str) -> list[str]:
        """What a challenge varies in the experiments that are about a sentence."""
        own = [e for e in self.paper.experiments if any(c.sentence == sentence for c in self.judged.get(e.name, ()))]
        return [str(vary) for experiment in own for vary in experiment.varies]

    def counts(self) -> dict[str, int]:
        """How many sentences of the paper are judged, and how many have each verdict: together all of them.

        Last, claims that are derived or ours, and how many of these hold.
        """
        verdicts = [claim.verdict for claim in self.sentences.values()]
        own = [claim for claim in self.claims if not claim.cites]
        by_verdict = {name: verdicts.count(name) for name in VERDICTS}
        return {"sentences": len(verdicts)} | by_verdict | {"checks": len(own), "hold": sum(c.holds for c in own)}

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        told = [
            {
                "where": claim.figure,
                "sentence": sentence,
                "prints": claim.paper,
                "source": claim.source,
                "verdict": claim.verdict,
                "reason": claim.reason,
                "tried": self.tried(sentence),
                "claims": [c.statement for c in self.claims if c.sentence == sentence],
            }
            for sentence, claim in self.sentences.items()
        ]
        return {
            "paper": self.paper.name,
            "citation": self.paper.citation,
            "passed": not self.failures and not self.unstable,
            "counts": self.counts(),
            "sentences": told,
            "claims": [asdict(claim) | {"verdict": claim.verdict} for claim in self.claims],
            "assumptions": [asdict(one) for one in self.assumptions],
            "challenged": {
                "perturbed_starts": self.perturbed,
                "off": OFF,
                "varied": self.challenged,
                "of_no_effect": list(self.idle),
                "changes": [
                    {"statement": c.claim.statement, **c._asdict(), "claim": c.claim.verdict} for c in self.changes
                ],
            },
            "missing": list(self.paper.missing),
            "future": dict(self.paper.future),
            "figures": {name: str(path) for name, path in self.drawn.items()},
        }


def variations(
    experiment: Experiment, perturb: int, *, challenge: bool
) -> Iterator[tuple[str, AbstractContextManager]]:
    """What is different in each further run of an experiment, and the context that makes it so."""
    for seed in range(1, perturb + 1):
        yield f"a start off by {OFF:g}, seed {seed}", perturbed_starts(seed, OFF)
    for vary in experiment.varies if challenge else ():
        for value in vary.values:
            yield f"{vary.what}: {value}", vary.set_to(value)


def perform(
    paper: Paper,
    figures: Sequence[str] | None = None,
    out: Path | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    captions: bool = True,
    perturb: int = 0,
    challenge: bool = False,
) -> PaperResult:
    """Run a paper's experiments and judge its claims; draw into the folder ``out`` if one is given.

    ``figures`` names the experiments or figures wanted. ``progress`` is called with what is being done. With
    ``captions`` the claims stand below the curves. ``perturb`` is how often everything is run again from starts that
    are off by up to ``OFF``; with ``challenge`` it is also run with other values of what the paper leaves open.
    """
    say = progress or (lambda _: None)
    changes: list[Change] = []
    judged: dict[str, tuple[Claim, ...]] = {}
    drawn: dict[str, Path] = {}
    idle: list[str] = []
    runs = 0
    for experiment in paper.chosen(figures):
        where = ", ".join(experiment.figures)
        say(f"{where}: {experiment.title}")
        data = experiment.run()
        own = judged[experiment.name] = tuple(paper.claims_of(experiment, data))
        if out is not None:
            drawn[experiment.name] = draw_experiment(paper, experiment, data, own if captions else (), out)
        for changed, context in variations(experiment, perturb, challenge=challenge):
            say(f"{where}: {changed}")
            runs += 1
            try:
                with context, np.errstate(all="ignore"):
                    again = list(paper.claims_of(experiment, experiment.run()))
            except (FootfallError, IndexError, ValueError) as error:  # nothing to measure: none slides, or one falls
                changes += [Change(claim, changed, "nothing to measure", str(error)) for claim in own[:1]]
                continue
            pairs = list(zip(own, again, strict=True))
            idle += [f"{experiment.name}, {changed}"] * all(a.ours == b.ours or a.timed for a, b in pairs)
            changes += [Change(a, changed, b.verdict, b.values()[1]) for a, b in pairs if b.verdict != a.verdict]
    return PaperResult(paper, judged, drawn, perturb, runs - perturb * len(judged), tuple(changes), tuple(idle))


LINE, CHARACTERS, TITLE = 0.155, 133, 88  # of a line of the caption: inches, and how many; how many of the title
#: What marks a claim by its verdict, with its colour.
MARKS = {
    "reproduced": ("✓", "#009E73"),
    "fragile": ("~", "#CC79A7"),
    "fitted": ("~", "#E69F00"),
    "holds": ("·", "#0072B2"),
    "contradicted": ("≠", "#7F7F7F"),
    "open": ("?", "#7F7F7F"),
    "FAILS": ("✗", "#D55E00"),
}


def draw_experiment(paper: Paper, experiment: Experiment, data: Any, claims: Sequence[Claim], out: Path) -> Path:
    """Draw an experiment with its claims, if any are given, as a caption into ``out``; returns the PNG's path."""
    from footfall.show.plots import save_plot
    from footfall.show.style import new_figure

    lines = [(claim, text) for claim in claims for text in _caption(claim)]
    below = 0.25 + LINE * len(lines) if lines else 0.0
    with new_figure(experiment.height + below) as figure:
        if not lines:
            experiment.draw(figure, data)
            return save_plot(figure, out / f"{experiment.name}.png")
        parts: Any = figure.subfigures(2, 1, height_ratios=[experiment.height, below])
        above, caption = parts
        experiment.draw(above, data)
        where = ", ".join(map(_where, experiment.figures))
        title = textwrap.fill(f"{paper.name}, {where}: {experiment.title}", TITLE)
        above.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=9)
        before: Claim | None = None
        for i, (claim, text) in enumerate(lines):
            y = 1.0 - (0.08 + LINE * (i + 0.5)) / below
            mark, color = MARKS[claim.verdict]
            if claim is not before:
                caption.text(0.012, y, mark, color=color, fontsize=8, va="center", family="DejaVu Sans")
            shade = "#222222" if claim is not before else "#666666"
            caption.text(0.035, y, text, fontsize=6.8, va="center", color=shade, parse_math=False)
            before = claim
    return save_plot(figure, out / f"{experiment.name}.png")


def _caption(claim: Claim) -> list[str]:
    target, ours = claim.values()
    fragile = f"Fragile: {claim.fragile}" if claim.fragile else ""
    more = "".join(f". {one}" for one in (claim.proof, claim.note, fragile) if one)
    text = f"[{claim.source}] {claim.statement}. Should be: {target}; is: {ours}{more}"
    return textwrap.wrap(text, CHARACTERS)


PICTURES = Path("images") / "papers"  # beside the page
COLOURS = 48  # of a picture: curves need no more, and the file is a third of its size
ROUNDS = 5  # of k-means, which bring the colours to those of the curves

INTRODUCTION = """# Papers

`footfall paper NAME` runs the experiments of a paper, draws each figure beside the paper's statement, and prints
what should come out against what does; `footfall paper all` prints one table and every sentence that is not reproduced,
and `footfall paper all --docs docs/papers.md` wrote these pages. Walk through them with the papers at hand. Sentences
are quoted in the papers' own words; the column *printed* has the value that the paper prints, and is empty where it
prints none. Sentences are taken that a run or a count can decide; those that describe a method are on the page of its
law, and values that a paper prints of its own set-up are used here. Every claim says where the paper has it (figure,
section or equation) and its source:

| source | means |
|---|---|
| printed | a sentence of the paper; only these can be *reproduced* |
| derived | a closed form of its equations, or what they define |
| fitted | a sentence of the paper, but by parameters chosen with the result in view, or by definition: no prediction |
| ours | a question of our own, what we command, or an answer that needs a term the paper does not have |

A sentence is counted once, with the worst verdict of its claims: *reproduced*, *fitted*, *fragile* (it holds, but
with other values of what the paper leaves open it does not), *open* (not reproduced, with the reason), *contradicted*
(with a proof that the paper cannot be right). Claims that are derived or ours are counted as *checks*. A claim of
which we say that it holds and that does not makes the command fail. With `--challenge` everything is run again with
other values of what the paper leaves open, which the pages name below each experiment, and with `--perturb N` N times
from starts that are off by up to 1e-9 in every coordinate and speed: a verdict that changes makes the command fail,
unless the claim is marked *fragile*.
"""


def write_page(results: Sequence[PaperResult], path: Path) -> Path:
    """Write a page (Markdown) of all papers, and one of each in a folder of its name beside it.

    The figures of ``results`` were drawn without captions beside it.
    """
    columns = list(results[0].counts())
    lines = [INTRODUCTION, f"| paper | {' | '.join(columns)} | what it brings |", f"|{'---|' * (len(columns) + 2)}"]
    for result in results:
        name = result.paper.name
        counts = " | ".join(map(str, result.counts().values()))
        lines.append(f"| [{name}]({path.stem}/{name}.md) | {counts} | {result.paper.brings} |")
    lines += [
        "",
        "## What is not reproduced",
        "",
        "| paper | where | the paper says | verdict | why |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {' | '.join(map(cell, row))} |" for result in results for row in not_reproduced(result)]
    for result in results:
        own = path.with_suffix("") / f"{result.paper.name}.md"
        own.parent.mkdir(parents=True, exist_ok=True)
        write_text(own, "\n".join(_paper(result, own.parent)) + "\n", "the page")
    return write_text(path, "\n".join(lines) + "\n", "the page")


def not_reproduced(result: PaperResult) -> list[tuple[str, ...]]:
    """Paper, place, words, verdict and reason of every sentence that is not reproduced."""
    found = ((sentence, claim) for sentence, claim in result.sentences.items() if claim.verdict != "reproduced")
    return [(result.paper.name, _where(c.figure), f"“{says}”", c.verdict, c.reason) for says, c in found]


def _paper(result: PaperResult, folder: Path) -> list[str]:
    one = result.paper
    lines = [f"# {one.name}", "", f"{one.citation}: {one.summary}."]
    for experiment in one.experiments:
        if experiment.name in result.judged:
            lines += _experiment(result, experiment, folder)
    lines += ["", "## What the paper does not print", "", "| assumed | value | why |", "|---|---|---|"]
    lines += [f"| {cell(a.what)} | {cell(a.value)} | {cell(a.why)} |" for a in one.assumptions]
    if one.future:
        lines += ["", "## What the paper leaves to the future", "", "| future work | here |", "|---|---|"]
        lines += [f"| {cell(work)} | {cell(here)} |" for work, here in one.future]
    if one.missing:
        lines += ["", *(f"Not here: {text}" for text in one.missing)]
    return lines


def _experiment(result: PaperResult, experiment: Experiment, folder: Path) -> list[str]:
    where = ", ".join(map(_where, experiment.figures))
    lines = ["", f"## {experiment.name} ({where}): {experiment.title}", ""]
    drawn = result.drawn.get(experiment.name)
    if drawn is not None:
        shrink(drawn)
        lines += [f"![{cell(experiment.title)}]({Path(os.path.relpath(drawn, folder)).as_posix()})", ""]
    if experiment.varies:
        lines += [f"Left open by the paper, and varied by a challenge: {'; '.join(map(str, experiment.varies))}.", ""]
    lines += ["| where | claim | printed | should be | is | verdict |", "|---|---|---|---|---|---|"]
    return lines + [_row(claim) for claim in result.judged[experiment.name]]


def _row(claim: Claim) -> str:
    said = [f"“{claim.sentence}”:"] if claim.sentence else []
    said += [f"{claim.statement}."]
    said += [f"*Tolerance: {claim.tolerance}.*"] if claim.expected else []
    said += [f"**Proof:** {claim.proof}."] if claim.proof else []
    said += [f"{claim.note.rstrip('.')}."] if claim.note else []
    said += [f"**Fragile:** {claim.fragile}."] if claim.fragile else []
    cells = (
        _where(claim.figure),
        " ".join(said),
        claim.paper,
        *claim.values(),
        f"**{claim.verdict}** ({claim.source})",
    )
    return f"| {' | '.join(map(cell, cells))} |"


def _where(figure: str) -> str:
    return re.sub(r"^(fig|eq)\s*(?=\d)", r"\1. ", re.sub(r"^section\s*(?=\d)", "section ", figure))


def cell(text: str) -> str:
    """A text as a cell of a Markdown table."""
    return text.replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")


def shrink(picture: Path) -> None:
    """Write a picture anew with few colours, those of thin lines among them."""
    from PIL import Image

    with Image.open(picture) as whole:
        small = whole.convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=ROUNDS)
    small.save(picture, optimize=True)
