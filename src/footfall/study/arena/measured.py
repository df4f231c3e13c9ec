"""Questions answered by measurements that the user has: tosses of a cube."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from footfall.measure.motion import position_error
from footfall.record import Record
from footfall.study.arena.task import Case, Question, Task, box
from footfall.study.fit.tosses import Toss, load_tosses, split, step_of

#: m, radius of the cube's corners, and height of the data's origin above the board (README of the data).
ROUND, BOARD = 0.002, 0.0011
#: Numbers of training tosses and of test tosses, drawn at random once for all engines.
TRAINING, JUDGED = 6, 12


def questions(data: Path | None) -> tuple[Question, ...]:
    """Tosses of ContactNets' cube, from ``cube_tosses/tosses.npz`` somewhere in the folder of data; none without it."""
    file = None if data is None else next(data.rglob("cube_tosses/tosses.npz"), None)
    if file is None:
        return ()
    training, judged = split(load_tosses(file), TRAINING, JUDGED, seed=0)
    return (Question("toss", tuple(map(_case, judged)), tuple(map(_case, training)), unknown=True),)


def _case(toss: Toss) -> Case:
    cube = box("cube", [toss.width] * 3, toss.mass, ROUND, corners="all")
    qpos = toss.qpos[0] + np.array([0.0, 0.0, BOARD, 0.0, 0.0, 0.0, 0.0])
    dt = step_of(toss.rate, 1e-3)
    task = Task(
        "cube", (cube._replace(inertia=float(np.mean(toss.inertia)) * np.eye(3)),), qpos, toss.qvel,
        (len(toss.qpos) - 1) / toss.rate, dt, friction=0.18, gravity=(0.0, 0.0, -toss.gravity),
        every=round(1.0 / (toss.rate * dt)),
    )  # fmt: skip

    def error(rec: Record) -> float:
        place = rec.qpos[:, :3] - [0.0, 0.0, BOARD]
        return float(position_error(place, toss.qpos[: len(rec), :3], toss.width).mean())

    return Case(toss.name, task, error)
