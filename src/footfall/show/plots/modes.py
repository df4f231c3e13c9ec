"""Contact modes as a timeline."""

from __future__ import annotations

from footfall.show.panels import ModeRow, Panel, Runs
from footfall.show.plots.points import point_names

#: More rows than this are named in short on a page.
MANY = 12


def modes(runs: Runs, *, brief: bool = False) -> list[Panel]:
    """Open, stick or slide: a row for each point of one recording, for each foot of several."""
    rows = []
    for label, rec in runs.items():
        for f, foot in enumerate(rec.robot.feet):
            mode = rec.mode[:, rec.foot(foot.name)]
            if len(runs) == 1:
                named = point_names(rec, f)
                if brief and rec.robot.point_count > MANY:
                    named = [f"{_initials(foot.name)} {p + 1}" for p in range(len(named))]
                elif len(rec.robot.feet) > 1:
                    named = [f"{foot.name}, {name}".removesuffix(", ") for name in named]
                rows += [ModeRow(name, rec.time, mode[:, p], p == 0) for p, name in enumerate(named)]
            else:
                name = f"{label}, {foot.name}" if len(rec.robot.feet) > 1 else label
                rows.append(ModeRow(name, rec.time, mode.max(axis=1), f == 0))
    return [Panel(title="Contact modes", label="", unit="", rows=tuple(rows))]


def _initials(name: str) -> str:
    parts = name.replace("-", "_").split("_")
    return name if len(name) <= 6 else "".join(part[:1] for part in parts).upper()
