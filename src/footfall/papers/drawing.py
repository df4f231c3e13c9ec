"""A figure of a paper as we draw it: the curves, and below them what the paper says beside what was measured."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from footfall.papers.base import Claim, Experiment, Paper

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
    """Draw an experiment with its claims, if any are given, as a caption into ``out``; gives the PNG's path."""
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


def legend_below(figure: Any, *axes: Any, columns: int) -> None:
    """One legend for some axes below all of them, where it covers no curve."""
    known: dict[str, Any] = {}
    for one in axes:
        for handle, name in zip(*one.get_legend_handles_labels(), strict=True):
            known.setdefault(name, handle)
    figure.legend(list(known.values()), list(known), loc="outside lower center", ncols=columns)


def _caption(claim: Claim) -> list[str]:
    paper, ours = claim.values()
    more = "".join(f". {one}" for one in (claim.proof, claim.note) if one)
    text = f"[{claim.source}] {claim.statement}. Paper: {paper}; here: {ours}{more}"
    return textwrap.wrap(text, CHARACTERS)
