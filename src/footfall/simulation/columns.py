"""Columns of a recording: signals by name, and points of bodies other than feet that came near the ground."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from footfall.contact.base import Law
from footfall.engine.other_bodies.recorded_places import other_places
from footfall.engine.other_bodies.tape import OtherTape
from footfall.ground import Ground
from footfall.robot import Robot

#: Samples whose contact places are computed together: some megabytes for a robot of a hundred points.
AT_ONCE = 500


def named_signals(
    flat: np.ndarray, law: Law, robot: Robot, more: Mapping[str, tuple[int, ...]] | None = None
) -> dict[str, np.ndarray]:
    """Signals (T, ...) by name, from a flat array (T, N): the law's, those of each foot, and ``more`` by shape."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(law.signals, ())
    shapes |= dict.fromkeys(law.foot_signals, (len(robot.feet),)) | dict(more or {})
    found, first = {}, 0
    for name, shape in shapes.items():
        last = first + math.prod(shape)
        found[name] = flat[:, first:last].reshape(len(flat), *shape)
        first = last
    return found


def add_other_columns(arrays: dict[str, Any], tape: OtherTape, robot: Robot, ground: Ground) -> np.ndarray:
    """Append columns for those points of ``robot.others`` that came near the ground; gives their indices (C,).

    Samples in which such a point was far from the ground were not recorded: they are computed from the poses.
    """
    rows = len(arrays["time"])
    who = tape.who[:, :rows]
    if not who.any():
        return np.zeros(0, dtype=int)
    places = np.flatnonzero(who.any(axis=1))
    found = np.unique(who[places])
    found = found[found > 0] - 1
    shape = (rows, len(found))
    columns = {name: np.zeros((*shape, 3)) for name in ("force", "peak_force", "position", "velocity", "normal")}
    columns |= {"gap": np.full(shape, np.nan), "mode": np.zeros(shape, dtype=np.int8)}
    for place in places:
        taken = np.flatnonzero(who[place])
        column = np.searchsorted(found, who[place, taken] - 1)
        for name, values in columns.items():
            values[taken, column] = getattr(tape, name)[place, taken]
    _fill_in(columns, arrays, found, robot, ground)
    for name, values in columns.items():
        arrays[name] = np.concatenate([arrays[name], values], axis=1)
    return found


def _fill_in(
    columns: dict[str, np.ndarray], arrays: dict[str, Any], found: np.ndarray, robot: Robot, ground: Ground
) -> None:
    """Compute positions, velocities, normals and gaps of the samples in which a point was not recorded."""
    rows = np.flatnonzero(np.isnan(columns["gap"]).any(axis=1))
    for first in range(0, len(rows), AT_ONCE):
        some = rows[first : first + AT_ONCE]
        lacking = np.isnan(columns["gap"][some])
        for name, values in other_places(robot, ground, arrays["qpos"][some], arrays["qvel"][some], found).items():
            recorded = columns[name][some]
            recorded[lacking] = values[lacking]
            columns[name][some] = recorded
