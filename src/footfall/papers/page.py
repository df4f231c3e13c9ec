"""One page with all papers: each figure of ours, what the paper says there, what was measured, and the verdict."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from footfall.errors import FootfallError
from footfall.papers.base import Claim, Experiment
from footfall.papers.perform import PaperResult

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
