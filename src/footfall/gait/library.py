"""Stored gaits: those that come with Footfall, and the user's cache.

A gait is filed under a hash of everything that affects it: the robot's bodies, joints, motors and soles, and the
constraints; not its appearance.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from footfall.errors import FootfallError, GaitError
from footfall.gait.optimal import METHOD, Progress, optimise
from footfall.gait.polynomial import PolynomialGait, find_legs, load_gait
from footfall.gait.step_check import GaitConstraints, examine
from footfall.process.cache_folder import cache_folder
from footfall.robot import Robot
from footfall.robot.motors import torque_limits

DIGITS = 9  # of the hashed numbers, so that rounding errors do not change the hash


class Found(NamedTuple):
    """A gait and its source: "library", "cache" or "optimised"."""

    gait: PolynomialGait
    source: str


def find_gait(
    robot: Robot,
    constraints: GaitConstraints | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Found:
    """The walk of least torque that meets the constraints: from the library, the cache, or optimised and then cached.

    ``cache`` is a folder, the user's cache by default; ``fresh`` optimises in any case.
    """
    constraints = GaitConstraints() if constraints is None else constraints
    key = problem_key(robot, constraints)
    kept = Path(cache) if cache is not None else cache_folder("gaits")
    place = None if kept is None else kept / f"{robot.name}-{key[:16]}.json"
    for found in () if fresh else _kept(place):
        if found.gait.info.get("problem") == key:
            return found
    best, guess = optimise(robot, constraints, progress)
    info = {
        "problem": key,
        "method": METHOD,
        "constraints": asdict(constraints),
        "cost": examine(robot, best).cost,
        "guess_cost": examine(robot, guess).cost,
        "guess_step_length": guess.step_length,
    }
    gait = replace(best, info=info)
    try:
        if place is not None:
            gait.save(place)
    except FootfallError:
        if cache is not None:  # the user's own folder
            raise
    return Found(gait, "optimised")


def _kept(place: Path | None) -> Iterator[Found]:
    shelf = Path(str(files("footfall.gait"))) / "gaits"
    yield from (Found(load_gait(path), "library") for path in sorted(shelf.glob("*.json")))
    if place is not None:
        with suppress(GaitError):  # there is none, or it is damaged
            yield Found(load_gait(place), "cache")


def problem_key(robot: Robot, constraints: GaitConstraints) -> str:
    """A hash of everything that affects the optimum."""
    model = robot.model
    numbers = [
        model.opt.gravity,
        model.body_parentid,
        model.body_pos,
        model.body_quat,
        model.body_mass,
        model.body_ipos,
        model.body_iquat,
        model.body_inertia,
        model.jnt_type,
        model.jnt_axis,
        model.jnt_limited,
        model.jnt_range,
        model.dof_armature,
        model.dof_damping,
        torque_limits(robot),
        robot.home,
        *find_legs(robot).ends,
    ]
    digest = hashlib.sha256(METHOD.encode())
    digest.update(repr((robot.actuated, [foot.body for foot in robot.feet])).encode())
    for table in numbers:
        digest.update(" ".join(f"{x:.{DIGITS}g}" for x in np.ravel(table) + 0.0).encode() + b"\n")
    digest.update(repr(sorted((name, value) for name, value in asdict(constraints).items())).encode())
    return digest.hexdigest()
