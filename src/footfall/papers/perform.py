"""A paper: its experiments run, its claims judged, its figures drawn, and one page about all papers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from footfall.errors import FootfallError
from footfall.files.atomic_write import write_text
from footfall.papers.base import VERDICTS, Assumption, Claim, Experiment, Paper
from footfall.show.plots import save_plot
from footfall.show.style import new_figure


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
    challenged: int = 0  # runs with other values of what the paper leaves open
    changes: tuple[Change, ...] = ()  # what became of verdicts there

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
                "varied": self.challenged,
                "changes": [
                    {"statement": c.claim.statement, **c._asdict(), "claim": c.claim.verdict} for c in self.changes
                ],
            },
            "missing": list(self.paper.missing),
            "future": dict(self.paper.future),
            "figures": {name: str(path) for name, path in self.drawn.items()},
        }


def perform(
    paper: Paper,
    figures: Sequence[str] | None,
    out: Path | None,
    say: Callable[[str], None],
    *,
    challenge: bool = False,
) -> PaperResult:
    """Run a paper's experiments, judge its claims and draw its figures, as ``run_paper`` says."""
    changes: list[Change] = []
    judged: dict[str, tuple[Claim, ...]] = {}
    drawn: dict[str, Path] = {}
    runs = 0
    for experiment in paper.chosen(figures):
        where = ", ".join(experiment.figures)
        say(f"{where}: {experiment.title}")
        data = experiment.run()
        own = judged[experiment.name] = tuple(paper.claims_of(experiment, data))
        if out is not None and experiment.draw is not None:
            with new_figure(experiment.height) as figure:
                experiment.draw(figure, data)
                drawn[experiment.name] = save_plot(figure, out / f"{experiment.name}.png")
        others = [(vary, value) for vary in experiment.varies for value in vary.values] if challenge else []
        for vary, value in others:
            changed = f"{vary.what}: {value}"
            say(f"{where}: {changed}")
            runs += 1
            try:
                with vary.set_to(value), np.errstate(all="ignore"):
                    again = list(paper.claims_of(experiment, experiment.run()))
            except (FootfallError, IndexError, ValueError) as error:  # nothing to measure: none slides, or one falls
                changes += [Change(claim, changed, "nothing to measure", str(error)) for claim in own[:1]]
                continue
            pairs = zip(own, again, strict=True)
            changes += [Change(a, changed, b.verdict, b.values()[1]) for a, b in pairs if b.verdict != a.verdict]
    return PaperResult(paper, judged, drawn, runs, tuple(changes))


PICTURES = Path("images") / "papers"  # beside the page
COLOURS = 48  # of a picture: curves need no more, and the file is a third of its size
ROUNDS = 5  # of k-means, which bring the colours to those of the curves

INTRODUCTION = """# Papers

`footfall paper NAME` runs the experiments of a paper, draws its figures, and prints what should come out
against what does; `footfall paper all` prints one table and every sentence that is not reproduced,
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
other values of what the paper leaves open, which the pages name below each experiment: a verdict that changes makes
the command fail, unless the claim is marked *fragile*.
"""


def write_page(results: Sequence[PaperResult], path: Path) -> Path:
    """Write a page (Markdown) of all papers, and one of each in a folder of its name beside it."""
    columns = list(results[0].counts())
    lines = [INTRODUCTION, f"| paper | {' | '.join(columns)} | what it brings |", f"|{'---|' * (len(columns) + 2)}"]
    for result in results:
        name = result.paper.name
        counts = " | ".join(map(str, result.counts().values()))
        lines.append(f"| [{name}]({path.stem}/{name}.md) | {counts} | {result.paper.brings} |")
    rows = [row for result in results for row in not_reproduced(result)]
    heads = ("paper", "where", "the paper says", "verdict", "why")
    lines += ["", "## What is not reproduced", "", *_table(heads, rows)]
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
    chosen = [(a.what, a.value, a.why) for a in one.assumptions]
    lines += ["", "## What the paper does not print", "", *_table(("assumed", "value", "why"), chosen)]
    if one.future:
        lines += ["", "## What the paper leaves to the future", "", *_table(("future work", "here"), one.future)]
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
    rows = []
    for claim in result.judged[experiment.name]:
        verdict = f"**{claim.verdict}** ({claim.source})"
        rows.append((_where(claim.figure), " ".join(claim.told), claim.paper, *claim.values(), verdict))
    return lines + _table(("where", "claim", "printed", "should be", "is", "verdict"), rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return lines + [f"| {' | '.join(map(cell, row))} |" for row in rows]


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
