"""Parameters that a step can be differentiated by: friction, slope, masses, options of the law, positions of points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from footfall.contact.base import Law
from footfall.contact.linearizing_penalty import LinearizingPenalty
from footfall.contact.setting import Setting
from footfall.engine.derivatives.space import Parameters
from footfall.errors import LawError, SimulationError, nearest
from footfall.given_numbers import is_number
from footfall.ground.surface import tangent_frame
from footfall.simulation.setup import Setup

#: Step of central differences, relative for options of a law, rad for contact frames: errors are of its square.
FINE = 1e-5


class Asked(NamedTuple):
    """Requested parameters: their names, the columns that kernels compute, and the matrix that combines columns."""

    names: tuple[str, ...]
    by: Parameters
    mix: np.ndarray  # (columns, names)


def slopes_of_options(law: Law, setting: Setting) -> dict[str, np.ndarray]:
    """Derivatives of the resolved numbers of a law (V,) by each option that is a number other than zero.

    An option that was left out is varied about its derived value.
    """
    values, found = law.resolve(setting), {}
    for name, given in law.options().items():
        value = getattr(values, name, None) if given is None else given
        if value is None or isinstance(value, bool) or not is_number(value) or value == 0.0:
            continue
        step = FINE * abs(value)
        try:
            more, less = (law.replace(**{name: value + way}).resolve(setting) for way in (step, -step))
        except LawError:  # at the end of its range, or excluded by another option
            continue
        slope = change(more, less) / (2.0 * step)
        if slope.any():
            found[f"law.{name}"] = slope
    return found


def change(more: Iterable[float], less: Iterable[float]) -> np.ndarray:
    """The difference of a law's resolved numbers, zero for those that are infinite."""
    ends = np.array([tuple(more), tuple(less)])
    ends[:, ~np.isfinite(ends).all(axis=0)] = 0.0
    return ends[0] - ends[1]


def slope_of_friction(law: Law, setting: Setting) -> np.ndarray:
    """Derivatives of the resolved numbers of a law (V,) by a number added to both coefficients of friction."""
    ends = []
    for more in (FINE, 0.0):
        own = {name: getattr(setting.ground, name) + more for name in ("static_friction", "dynamic_friction")}
        ends.append(law.resolve(replace(setting, ground=replace(setting.ground, **own))))
    return change(*ends) / FINE


def turn_of(sim: Setup) -> np.ndarray:
    """(6,) the axis about which a plane and its contact frames turn as it gets steeper, and a point of the plane, m."""
    heading = dict(sim.ground.options).get("heading", 0.0)
    place = np.array([0.0, 0.0, float(sim.ground.height(0.0, 0.0))])
    frame, frames = sim.ground.frame(place), np.zeros((2, 3, 3))
    steeper = np.cross([np.sin(heading), -np.cos(heading), 0.0], frame[2])
    for made, step in zip(frames, (FINE, -FINE), strict=True):
        normal = frame[2] + step * steeper
        tangent_frame(*(normal / np.linalg.norm(normal)), made)
    axis = 0.5 * np.cross(frame, (frames[0] - frames[1]) / (2.0 * FINE)).sum(axis=0)
    return np.concatenate([axis, place])


def choose(sim: Setup, to: str | Iterable[str], families: dict[str, list[str]]) -> list[str]:
    """The requested names, given singly or by family; an error for an unknown one."""
    wanted = {to} if isinstance(to, str) else set(to)
    known = [*families, *(name for family in families.values() for name in family)]
    for one in wanted - {*known}:
        near = nearest(str(one), known)
        singles = ", ".join(family[0] for family in families.values() if family)
        raise SimulationError(
            f"a step has no derivative to {one!r}{f' (did you mean {near!r}?)' if near else ''}: there are "
            f"{', '.join(families)}, and single ones such as {singles}"
        )
    names = [name for family, own in families.items() for name in own if {family, name} & wanted]
    if "slope" in names and not sim.ground.flat:
        raise SimulationError(f"a step has a derivative to the slope of a plane, not to that of a {sim.ground.kind}")
    if set(names) & set(families["points"]) and isinstance(sim.law, LinearizingPenalty):
        raise SimulationError(f"{sim.law.name} has no derivative to places of points: it fits their motions")
    return names


def find_parameters(sim: Setup, to: str | Iterable[str], first: int) -> Asked:
    """The requested parameters, by family or by names such as "mass of trunk" and "law.k".

    The kernels' columns for them begin at ``first``, one for each, except that options of the law, and in part
    friction, are combinations of columns of the law's resolved numbers.
    """
    model, options = sim.scene.model, slopes_of_options(sim.law, sim.setting) if to else {}
    numbers_by = options | {"friction": slope_of_friction(sim.law, sim.setting)} if to else options
    moving = [b for b in range(1, model.nbody) if model.body_weldid[b] > 0 and model.body_mass[b] > 0.0]
    masses = {f"mass of {model.body(b).name or b}": b for b in moving}
    points = [f"{foot.name}.p{i}" for foot in sim.robot.feet for i in range(len(foot.points))]
    places = [f"{point} {axis}" for point in points for axis in "xyz"]
    single = {"friction": ["friction"], "slope": ["slope"], "masses": [*masses]}
    names = choose(sim, to, single | {"law": [*options], "points": places})
    columns: list[str] = [name for name in names if name not in options and name not in places]
    used = np.zeros(len(sim.law.resolve(sim.setting)), bool)
    for name in set(names) & set(numbers_by):
        used |= numbers_by[name] != 0.0
    numbers = np.where(used, first + len(columns) + np.cumsum(used) - 1, -1)
    columns += [f"value {i}" for i in np.flatnonzero(used)]
    place = first + len(columns) if set(names) & set(places) else -1
    columns += places if place >= 0 else []
    mix = np.zeros((len(columns), len(names)))
    for i, name in enumerate(names):
        if name in numbers_by:
            mix[numbers[used] - first, i] = numbers_by[name][used]
        if name in columns:
            mix[columns.index(name), i] = 1.0
    at = {name: first + i for i, name in enumerate(columns)}
    mass = np.full(model.nbody, -1)
    for name, body in masses.items():
        mass[body] = at.get(name, -1)
    by = Parameters(
        columns=len(columns),
        friction=at.get("friction", -1),
        slope=at.get("slope", -1),
        turn=turn_of(sim) if "slope" in at else np.zeros(6),
        place=place,
        feet=len(points),
        value=numbers.astype(np.int64),
        mass=mass.astype(np.int64),
        body_mass=model.body_mass.copy(),
    )
    return Asked(tuple(names), by, mix)
