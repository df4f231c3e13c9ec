"""A paper: its experiments run, its claims judged, its figures drawn, and one page about all papers."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from footfall.errors import FootfallError
from footfall.papers.base import VERDICTS, Assumption, Claim, Experiment, Paper
from footfall.simulation.task import perturbed_starts

#: m, rad, m/s and rad/s: by how much starts are moved to see whether a verdict hangs on their last digits.
OFF = 1e-9


@dataclass(frozen=True)
class Change:
    """A claim whose verdict is another one from a start that is off a little."""

    claim: Claim  # as it is
    seed: int  # of the perturbed start
    then: Claim  # as it is from there

    def __str__(self) -> str:
        values = (self.claim.values()[1], self.then.values()[1])
        return f"{self.claim.verdict} becomes {self.then.verdict} (seed {self.seed}: {values[0]} becomes {values[1]})"


@dataclass(frozen=True)
class PaperResult:
    """What came of a paper: its claims judged, and where its figures were drawn, both by experiment."""

    paper: Paper
    judged: dict[str, tuple[Claim, ...]]
    drawn: dict[str, Path]
    perturbed: int = 0  # runs from starts that are off by up to OFF
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
        """Verdicts that changed from a perturbed start without the claim being marked as fragile or timed."""
        return tuple(one for one in self.changes if not (one.claim.fragile or one.claim.timed))

    def counts(self) -> dict[str, int]:
        """How many claims the paper prints, and how many claims have each verdict."""
        printed = sum(claim.source in ("printed", "fitted") for claim in self.claims)
        return {"printed": printed} | {name: sum(c.verdict == name for c in self.claims) for name in VERDICTS}

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "paper": self.paper.name,
            "citation": self.paper.citation,
            "passed": not self.failures and not self.unstable,
            "counts": self.counts(),
            "claims": [asdict(claim) | {"verdict": claim.verdict} for claim in self.claims],
            "assumptions": [asdict(one) for one in self.assumptions],
            "perturbed": {
                "runs": self.perturbed,
                "off": OFF,
                "changes": [
                    {
                        "statement": one.claim.statement,
                        "seed": one.seed,
                        "then": one.then.verdict,
                        "ours": one.then.ours,
                    }
                    for one in self.changes
                ],
            },
            "missing": list(self.paper.missing),
            "figures": {name: str(path) for name, path in self.drawn.items()},
        }


def perform(
    paper: Paper,
    figures: Sequence[str] | None = None,
    out: Path | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    captions: bool = True,
    perturb: int = 0,
) -> PaperResult:
    """Run a paper's experiments and judge its claims; draw into the folder ``out`` if one is given.

    ``figures`` names the experiments or figures wanted. ``progress`` is called with what is being done. With
    ``captions`` the claims stand below the curves. ``perturb`` is how often everything is run again from starts that
    are off by up to ``OFF``.
    """
    changes: list[Change] = []
    judged: dict[str, tuple[Claim, ...]] = {}
    drawn: dict[str, Path] = {}
    for experiment in paper.chosen(figures):
        if progress is not None:
            progress(f"{', '.join(experiment.figures)}: {experiment.title}")
        data = experiment.run()
        judged[experiment.name] = tuple(experiment.judge(data))
        if out is not None:
            below = judged[experiment.name] if captions else ()
            drawn[experiment.name] = draw_experiment(paper, experiment, data, below, out)
        for seed in range(1, perturb + 1):
            if progress is not None:
                progress(f"{', '.join(experiment.figures)}: start {seed} of {perturb} that is off by {OFF:g}")
            with perturbed_starts(seed, OFF):
                again = experiment.judge(experiment.run())
            pairs = zip(judged[experiment.name], again, strict=True)
            changes += [Change(claim, seed, then) for claim, then in pairs if then.verdict != claim.verdict]
    return PaperResult(paper, judged, drawn, perturb, tuple(changes))


LINE = 0.155  # inches of a line of the caption
CHARACTERS = 133  # of a line of the caption
#: What marks a claim by its verdict, with its colour.
MARKS = {
    "reproduced": ("✓", "#009E73"),
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
        where = ", ".join(name.replace("fig", "fig. ").replace("section", "section ") for name in experiment.figures)
        above.suptitle(f"{paper.name}, {where}: {experiment.title}", x=0.01, ha="left", fontweight="bold", fontsize=9)
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
    paper, ours = claim.values()
    more = "".join(f". {one}" for one in (claim.proof, claim.note) if one)
    text = f"[{claim.source}] {claim.statement}. Paper: {paper}; here: {ours}{more}"
    return textwrap.wrap(text, CHARACTERS)


PICTURES = Path("images") / "papers"  # beside the page
COLOURS = 48  # of a picture: curves need no more, and the file is a third of its size

INTRODUCTION = """# Papers

`footfall paper NAME` runs the experiments of a paper, draws each figure beside the paper's statement, and prints
claimed against measured; `footfall paper all` prints one table, and `footfall paper all --docs docs/papers.md` wrote
this page. Walk through it with the papers at hand. Every claim says where the paper has it (figure, section or
equation; the texts at hand carry no page numbers) and its source:

| source | means |
|---|---|
| printed | a number or a statement of the paper; only these can be *reproduced* |
| derived | a closed form of its equations |
| fitted | the paper's, but parameters were chosen with the result in view: no prediction |
| ours | a question of our own, or an answer that needs a term the paper does not have |

and ends as *reproduced*, *fitted*, *holds* (derived or ours), *contradicted* (with a proof that the paper cannot be
right) or *open* (not reproduced, with the reason). A claim of which we say that it holds and that does not makes the
command fail. With `--perturb N` everything is run N times more from starts that are off by up to 1e-9 in every
coordinate and speed: a verdict that changes makes the command fail, unless the claim is marked *fragile* here, with the
reason.
"""

BRINGS = {
    "rengifo2009": "[linearizing-penalty](laws/linearizing-penalty.md): contact prescribes accelerations",
    "bruneau1999": "[distributed](laws/distributed.md): testing points, impact, stick, slide and the transitions",
    "bravo2021": "[time-stepping](laws/time-stepping.md), "
    "[acceleration-complementarity](laws/acceleration-complementarity.md), optimal gaits",
    "moraud2008": "[constraint-selection](laws/constraint-selection.md) for polygonal feet, friction from pulls",
    "ott2011": "balance by optimising contact forces",
}


def write_page(results: Sequence[PaperResult], path: Path) -> Path:
    """Write the page (Markdown) with the figures of ``results``, which were drawn without captions beside it."""
    columns = list(results[0].counts())
    lines = [INTRODUCTION, f"| paper | {' | '.join(columns)} | what it brings |", f"|{'---|' * (len(columns) + 2)}"]
    for result in results:
        name = result.paper.name
        counts = " | ".join(map(str, result.counts().values()))
        lines.append(f"| [{name}](#{name}) | {counts} | {BRINGS.get(name, '')} |")
    for result in results:
        lines += _paper(result, path.parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise FootfallError(f"cannot write the page to '{path}': {error.strerror or error}") from error
    return path


def _paper(result: PaperResult, folder: Path) -> list[str]:
    one = result.paper
    lines = ["", f"## {one.name}", "", f"{one.citation}: {one.summary}."]
    for experiment in one.experiments:
        if experiment.name in result.judged:
            lines += _experiment(result, experiment, folder)
    lines += ["", f"### {one.name}: what the paper does not print", "", "| assumed | value | why |", "|---|---|---|"]
    lines += [f"| {cell(a.what)} | {cell(a.value)} | {cell(a.why)} |" for a in one.assumptions]
    if one.missing:
        lines += ["", *(f"Not here: {text}" for text in one.missing)]
    return lines


def _experiment(result: PaperResult, experiment: Experiment, folder: Path) -> list[str]:
    where = ", ".join(map(_where, experiment.figures))
    lines = ["", f"### {experiment.name} ({where}): {experiment.title}", ""]
    drawn = result.drawn.get(experiment.name)
    if drawn is not None:
        shrink(drawn)
        lines += [f"![{cell(experiment.title)}]({Path(os.path.relpath(drawn, folder)).as_posix()})", ""]
    lines += ["| where | the paper says | value there | value here | verdict |", "|---|---|---|---|---|"]
    return lines + [_row(claim) for claim in result.judged[experiment.name]]


def _row(claim: Claim) -> str:
    there, here = claim.values()
    said = [f"{claim.statement}."]
    said += [f"*Tolerance: {claim.tolerance}.*"] if claim.expected else []
    said += [f"**Proof:** {claim.proof}."] if claim.proof else []
    said += [f"{claim.note.rstrip('.')}."] if claim.note else []
    said += [f"**Fragile:** {claim.fragile}."] if claim.fragile else []
    cells = (_where(claim.figure), " ".join(said), there, here, f"**{claim.verdict}** ({claim.source})")
    return f"| {' | '.join(map(cell, cells))} |"


def _where(figure: str) -> str:
    return re.sub(
        r"^(fig|section)\s*(?=\d)", lambda found: f"{found[1]}. " if found[1] == "fig" else "section ", figure
    )


def cell(text: str) -> str:
    """A text as a cell of a Markdown table."""
    return text.replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")


def shrink(picture: Path) -> None:
    """Write a picture anew with few colours, those of thin lines among them."""
    from PIL import Image

    with Image.open(picture) as whole:
        small = whole.convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
    small.save(picture, optimize=True)
