"""Columns of a recording: signals by name, and points of bodies other than feet that came near the ground."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from footfall.contact.base import Law
from footfall.engine.other_bodies.points import OtherTape
from footfall.engine.replay import SPEEDS, States, replay
from footfall.ground import Ground
from footfall.robot import Robot
from footfall.standing import reach, scratch_data

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


def other_places(
    robot: Robot, ground: Ground, qpos: np.ndarray, qvel: np.ndarray, which: np.ndarray
) -> dict[str, np.ndarray]:
    """Where points of ``robot.others`` would touch in each of S states (S, nq), (S, nv), world frame.

    "position" (S, C, 3) m, "velocity" of the material points there (S, C, 3) m/s, "normal" (S, C, 3) of the ground, and
    "gap" (S, C) m, infinite without ground.
    """
    others, model, data = robot.others, robot.model, scratch_data(robot.model)
    body, radius = others.of_body[which], others.radius[which, None]
    states = States(qpos, qvel, np.zeros((len(qpos), model.nu)))
    fields = (data.xmat, data.xpos, data.cvel, data.subtree_com)
    turns, origin, spin, com = (one.reshape(len(qpos), model.nbody, -1) for one in replay(data, SPEEDS, states, fields))
    turns, origin, spin, com = turns[:, body], origin[:, body], spin[:, body], com[:, model.body_rootid[body]]
    turn = turns.reshape(*turns.shape[:2], 3, 3)
    centre = origin + np.einsum("spij,pj->spi", turn, others.points[which])
    at = centre.copy()
    curved = np.flatnonzero(others.axes[which].any(axis=(1, 2)))  # ellipsoids
    axes = turn[:, curved] @ others.axes[which[curved]]
    for _ in range(2 if curved.size else 0):
        _, normal = ground.gap(at[:, curved], reach(robot))
        along = np.einsum("spji,spj->spi", axes, normal)
        size = np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-12)
        at[:, curved] = centre[:, curved] - np.einsum("spij,spj->spi", axes, along) / size
    gap, normal = ground.gap(at, reach(robot))
    at = at - radius * normal
    velocity = spin[..., 3:] + np.cross(spin[..., :3], at - com)
    gap = np.nan_to_num(gap - radius[:, 0], nan=np.inf)
    return {"position": at, "velocity": velocity, "normal": normal, "gap": gap}
