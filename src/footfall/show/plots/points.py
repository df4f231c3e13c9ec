"""What happens at each contact point: a panel for each foot, a curve for each point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from footfall.measure.common import normal_force, tangential, threshold
from footfall.show.panels import Curve, Limit, Panel, Runs, each_foot, each_run
from footfall.standing import at_home

if TYPE_CHECKING:
    from footfall.record import Record

#: A ratio of forces needs a normal force of this part of the robot's weight to mean something.
PRESSED = 1e-3
#: More points than this differ in shade, and not named.
NAMED = 7

Values = Callable[["Record"], np.ndarray]
Worst = Callable[..., np.ndarray]


def normal(runs: Runs, *, brief: bool = False) -> list[Panel]:
    """Normal force of each point; of several recordings that of the most loaded point of each foot."""
    about = Panel(title="Normal force", label="normal force", unit="N", zero=True)
    return _panels(runs, about, normal_force, "largest", np.max, brief=brief)


def friction(runs: Runs, *, brief: bool = False) -> list[Panel]:
    """Tangential over normal force of each loaded point, with the ground's coefficients."""
    ground = next(iter(runs.values())).ground
    lines = [Limit(ground.static_friction, "static friction"), Limit(ground.dynamic_friction, "dynamic friction")]
    if ground.static_friction == ground.dynamic_friction:
        lines = [Limit(ground.dynamic_friction, "friction")]
    about = Panel(
        title="Friction used: tangential over normal force",
        label="force ratio",
        unit="",
        limits=tuple(lines),
        zero=True,
    )
    return _panels(runs, about, _ratio, "largest", np.fmax.reduce, brief=brief)


def penetration(runs: Runs, *, brief: bool = False) -> list[Panel]:
    """Depth of each point in the ground; of several recordings that of the deepest of each foot."""
    about = Panel(title="Depth in the ground", label="depth", unit="mm", zero=True, narrow=1e-3)
    return _panels(runs, about, lambda rec: np.maximum(0.0, -1e3 * rec.gap), "deepest", np.max, brief=brief)


def heights(runs: Runs, *, brief: bool = False) -> list[Panel]:
    """Height of each point over the ground; of several recordings that of the lowest of each foot."""
    about = Panel(title="Height over the ground", label="height", unit="mm", limits=(Limit(0.0, ""),), narrow=0.01)
    return _panels(runs, about, lambda rec: 1e3 * rec.gap, "lowest", np.min, brief=brief)


def _ratio(rec: Record) -> np.ndarray:
    load = normal_force(rec)
    pressed = load > max(PRESSED * rec.robot.weight, threshold(rec))
    size = np.linalg.norm(tangential(rec, rec.force), axis=-1)
    return np.where(pressed, size / np.where(pressed, load, 1.0), np.nan)


def _panels(runs: Runs, about: Panel, values: Values, which: str, worst: Worst, *, brief: bool) -> list[Panel]:
    """A panel for each foot: all points of one recording, the ``worst`` one of several; if ``brief``, one panel."""
    first = next(iter(runs.values()))
    tables = {id(rec): values(rec) for rec in runs.values()}
    if brief and len(runs) > 1:
        curves = [curve._replace(values=worst(tables[id(rec)], axis=1)) for rec, curve in each_run(runs)]
        return [replace(about, title=f"{about.title}, {which} point", curves=tuple(curves))]
    if brief:
        curves = [
            curve._replace(values=worst(tables[id(rec)][:, rec.foot(rec.robot.feet[f].name)], axis=1))
            for rec, f, curve in each_foot(runs)
        ]
        return [replace(about, title=f"{about.title}, {which} point of each foot", curves=tuple(curves))]
    found = []
    for f, foot in enumerate(first.robot.feet):
        if len(runs) == 1:
            curves = _all_points(first, f, tables[id(first)])
        else:
            curves = [
                curve._replace(values=worst(tables[id(rec)][:, rec.foot(foot.name)], axis=1))
                for rec, curve in each_run(runs)
            ]
        own = [f"{foot.name} foot"] if len(first.robot.feet) > 1 else []
        heading = ", ".join(own + ([f"{which} of all points"] if len(runs) > 1 else []))
        found.append(replace(about, heading=heading, curves=tuple(curves)))
    return found


def _all_points(rec: Record, foot: int, values: np.ndarray) -> list[Curve]:
    own = values[:, rec.foot(rec.robot.feet[foot].name)]
    count = own.shape[1]
    if count > NAMED:
        return [Curve("", rec.time, own[:, p], width=0.8, shade=0.9 * p / (count - 1)) for p in range(count)]
    # Points that do the same lie on each other: thinner on top lets the ones below show.
    return [
        Curve(name, rec.time, own[:, p], p, width=2.2 - 0.4 * p if count <= 4 else 1.0)
        for p, name in enumerate(point_names(rec, foot))
    ]


def point_names(rec: Record, foot: int) -> list[str]:
    """What the points of a foot are called: "front left" of four corners, of one alone nothing, else "point 1", ...."""
    local = sole_frame(rec, foot)
    count = len(local)
    if count == 1:
        return [""]
    along, across = local[:, 0] - local[:, 0].mean(), local[:, 1] - local[:, 1].mean()
    if count == 2 and np.ptp(along) > np.ptp(across):
        return ["heel" if x < 0 else "toe" for x in along]
    named = [
        f"{'front' if x > 0 else 'rear'} {'left' if y > 0 else 'right'}" for x, y in zip(along, across, strict=True)
    ]
    return named if count == 4 and len(set(named)) == 4 else [f"point {i + 1}" for i in range(count)]


def sole_frame(rec: Record, foot: int, points: np.ndarray | None = None) -> np.ndarray:
    """(N, 3) m, points of a foot's body, turned as the foot stands at home: x forward. Left out, its contact points."""
    own = rec.robot.feet[foot]
    data = at_home(rec.robot)
    return np.asarray(own.points if points is None else points) @ data.body(own.body).xmat.reshape(3, 3).T
