"""The page of the arena: a picture and a sentence for each question, and every row without a valid error, with
reasons.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from footfall.files.html_table import markdown_table
from footfall.show.style import COLORS, DASHES, GREY, Figure, new_figure
from footfall.study.arena import Row
from footfall.study.arena.running import guest, guests

#: Smallest error that is drawn as such; smaller ones, which no measurement could resolve, are drawn here.
FLOOR = 1e-6
#: Markers of cases; if there are more cases, all are grey, and their mean is marked.
MARKERS = "osD^vPX*"
HEADS = {
    "closed-forms": "Closed forms: formulas are the truth",
    "robots": "Robots: conservation is the truth",
    "measured": "Measurements are the truth",
    "cost": "What an error costs",
}
COSTS = """Each curve goes from steps of 4 ms to 0.1 ms, as far as it was run. Further left is cheaper, further
down is nearer to the formulas of sliding, rocking and the disc. A curve that does not fall has an error that no step
cures: a cone that is a pyramid, or compliance. Time is the processor's, on a machine that did other work, for a step
called from Python."""


def by_engine(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by the name of the engine and its setting, in the order of names."""
    return {name: [row for row in rows if row.name == name] for name in sorted({row.name for row in rows})}


def size(rows: Sequence[Row]) -> float:
    """Mean absolute error; NaN where a case has none."""
    return float(np.mean([abs(row.error) for row in rows]))


def draw(question: Mapping[str, str], rows: Sequence[Row]) -> Figure:
    """The errors of every engine: a marker for each case, or a word if there is no error."""
    engines, labels = by_engine(rows), list(dict.fromkeys(row.case for row in rows))
    few = len(labels) <= len(MARKERS)
    with new_figure(0.9 + 0.2 * len(engines)) as figure:
        axes = figure.add_subplot()
        for k, own in enumerate(engines.values()):
            for row in own:
                i = labels.index(row.case)
                look = (MARKERS[i], COLORS[i % len(COLORS)], 4.5) if few else ("o", GREY, 2.5)
                label = row.case if few and k == 0 and len(labels) > 1 else None
                error = max(abs(row.error), FLOOR)  # NaN stays, and is not drawn
                axes.plot([error], [k], look[0], color=look[1], markersize=look[2], alpha=0.85, label=label)
            if not few:
                axes.plot([size(own)], [k], "|", color=COLORS[1], markersize=9, markeredgewidth=2)
            words = ", ".join(dict.fromkeys(row.status for row in own if row.status != "done"))
            axes.annotate(words, (1.005, k), xycoords=("axes fraction", "data"), va="center", fontsize=7)
        axes.set_yticks(range(len(engines)), list(engines))
        axes.set(xscale="log", xlabel=f"{question['quantity']}, {question['unit']}", ylim=(len(engines) - 0.3, -0.7))
        largest = max([abs(row.error) for row in rows if np.isfinite(row.error)], default=1.0)
        axes.set_xlim(0.7 * FLOOR, 1.5 * max(largest, 10.0 * FLOOR))
        if few:
            figure.legend(loc="outside upper center", ncols=4 if sum(map(len, labels)) < 80 else 2)
    return figure


def draw_cost(rows: Sequence[Row]) -> Figure:
    """Mean error over all cases against processor time for a second of simulated time, a curve for each engine."""
    cases = len({(row.question, row.case) for row in rows})
    with new_figure(4.6) as figure:
        axes = figure.add_subplot(
            xscale="log", yscale="log", xlabel="processor time of a simulated second, s", ylabel="mean error, share"
        )
        for i, (name, own) in enumerate(by_engine(rows).items()):
            steps = [[row for row in own if row.dt == dt] for dt in sorted({row.dt for row in own})]
            steps = [one for one in steps if len(one) == cases]
            cost = [float(np.mean([row.us_per_step for row in one])) * 1e-6 / one[0].dt for one in steps]
            look: dict[str, Any] = {
                "color": COLORS[i % len(COLORS)],
                "linestyle": DASHES[i // len(COLORS) % len(DASHES)],
            }
            errors = [max(size(one), FLOOR) for one in steps]
            if np.isfinite(errors).any():
                axes.plot(cost, errors, **look, marker=MARKERS[i % len(MARKERS)], markersize=3.5, label=name)
        figure.legend(loc="outside right upper")
    return figure


def parts_of_page(rows: Sequence[Row], images: Path) -> dict[str, str]:
    """The parts of the page by name, as Markdown; its pictures are written into the folder ``images``."""
    images.mkdir(parents=True, exist_ok=True)
    known = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))
    parts, answered = [], {(row.group, row.question) for row in rows}
    for group, head in HEADS.items():
        names = [name for name in known if (group, name) in answered and group != "cost"]
        parts += [f"## {head}\n"] if names else []
        for name in names:
            own, about = [row for row in rows if (row.group, row.question) == (group, name)], known[name]
            draw(about, own).savefig(images / f"arena-{name}.png", dpi=110)
            order = sorted((size(each), engine) for engine, each in by_engine(own).items() if np.isfinite(size(each)))
            said = about["meaning"]
            if order:
                (least, best), (most, worst) = order[0], order[-1]
                said += f" Smallest mean error: {best}, {least:.2g}; largest: {worst}, {most:.2g}."
            picture = f"![{about['quantity']}](images/arena-{name}.png)"
            parts.append(f"### {about['title']}\n\n{picture}\n\n{said}\n")
    if cost := [row for row in rows if row.group == "cost"]:
        draw_cost(cost).savefig(images / "arena-cost.png", dpi=110)
        parts.append(f"## {HEADS['cost']}\n\n![mean error against processor time](images/arena-cost.png)\n\n{COSTS}\n")
    told = {row.engine: row.version or "the same environment" for row in rows if row.status == "done"}
    engines = [
        [f"`{name}`", version, guest(name).about if name in guests() else ""] for name, version in sorted(told.items())
    ]
    return {
        "questions": "\n".join(parts),
        "engines": markdown_table(["engine", "version", "what it is"], engines),
        "audits": markdown_table(["engine", "runs without a failure", "what fails"], _audits(rows)),
        "reasons": markdown_table(["engine", "row", "questions", "reason"], _reasons(rows)),
    }


def _reasons(rows: Sequence[Row]) -> list[list[str]]:
    """A line for every engine and reason of invalid rows."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in rows:
        if row.status != "done":
            found.setdefault((row.name, row.status, row.reason), {})[row.question] = None
    return [[name, status, ", ".join(where), reason] for (name, status, reason), where in sorted(found.items())]


def _audits(rows: Sequence[Row]) -> list[list[str]]:
    """How many runs of each engine pass the audit, and which rows fail; runs of samples too far apart are out."""
    found = []
    known = [row for row in rows if row.status == "done" and row.audit and not row.audit.startswith("not known")]
    for name, own in by_engine(known).items():
        failed = [row.audit.partition(";")[0].removeprefix("fail: ") for row in own if row.audit.startswith("fail")]
        names = dict.fromkeys(one for text in failed for one in text.split(", "))
        found.append([name, f"{len(own) - len(failed)} of {len(own)}", ", ".join(names)])
    return found
