"""Questions to robots: they stand, are pushed, land, and fall freely. Statics and conservation are the truth.

All engines have the same robots, see :func:`footfall.study.arena.task.parts_of`, and the same torques: those that hold
the standing pose, found once, and a proportional-derivative control around it, computed from each engine's own state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from footfall.errors import FootfallError, StudyError
from footfall.measure import com_height, energy, momentum, overall_cop, penetration
from footfall.record import Record
from footfall.robot import Robot, load_robot
from footfall.standing import in_pose, inertia_of, lowest_places, place, point_jacobian
from footfall.study.arena.task import Case, Hold, Part, Question, Task, parts_of

#: Files of robots in the folder of data; other robots are Footfall's own.
FILES = {
    "go1": "unitree_go1/go1.xml",
    "g1": "unitree_g1/g1.xml",
    "talos": "pal_talos/talos_motor.xml",
    "op3": "robotis_op3/op3.xml",
    "cassie": "agility_cassie/cassie.xml",
}
#: Step of all robots, s.
STEP = 5e-4
#: Step of a robot that stands for 250 s (SimBenchmark's duration), s: as long as that of many controllers.
LONG_STEP = 2e-3
#: Push, as a share of what statics allows: no foot slides, even if half of the feet take all of it; length of its
#: pieces, s.
PUSHED, PIECE = 0.25, 0.02
#: Largest share of a joint's velocity that its damper removes in a step; rate of return to the pose, 1/s.
TAKEN, RETURNS = 0.5, 60.0


def robots(data: Path | None) -> Iterator[tuple[str, tuple[Part, ...], np.ndarray]]:
    """Name, parts and standing pose of each robot that can take part."""
    given = {name: data / "robots" / file for name, file in FILES.items()} if data is not None else {}
    named: dict[str, Path | str] = {"quadruped": "quadruped", **{n: f for n, f in given.items() if f.exists()}}
    for name, source in named.items():
        robot = load_robot(source)
        if robot.other_equalities:
            continue  # closed loops: URDF has none
        try:
            yield name, parts_of(robot), robot.home
        except StudyError:
            continue


def standing(name: str, parts: tuple[Part, ...], home: np.ndarray, duration: float, **given: Any) -> Task:
    """A robot that holds its pose on the ground; ``given`` are other values of the task."""
    task = Task(name, parts, home, np.zeros(6 + len(parts) - 1), duration, given.get("dt", STEP), friction=0.8)
    qpos = place(task.robot, task.ground, (0.0, 0.0), align=False)
    changed: dict[str, Any] = {"qpos": qpos, "hold": _hold(task.robot, qpos, task.dt)}
    return replace(task, **changed | given)


def _hold(robot: Robot, qpos: np.ndarray, dt: float) -> Hold:
    """Torques of the pose under the least-norm contact forces that carry the weight, and gains that are stable in a
    step.
    """
    data = in_pose(robot, qpos)
    inertia, spread = inertia_of(data), point_jacobian(robot, data, lowest_places(robot, data)).T  # (nv, 3 P)
    force = np.linalg.lstsq(spread[:6], data.qfrc_bias[:6], rcond=None)[0]
    torque = (data.qfrc_bias - spread @ force)[6:]
    own = np.diag(inertia)[6:]
    # Fastest decay rate under dampers proportional to the joints' own inertias, with the robot in the air.
    fastest = np.linalg.eigvals(np.linalg.solve(inertia, np.diag([*np.zeros(6), *own]))).real.max()
    kd = TAKEN / (fastest * dt) * own
    return Hold(qpos[7:], RETURNS * kd, kd, torque)


def pushed(stand: Task) -> Task:
    """A standing robot pushed to its left: for a second, as half a sine, to a quarter of what tips it or slides it.

    Statics: the force at the root's centre of mass tips a stiff robot over its left feet, or exceeds their friction.
    """
    data = in_pose(stand.robot, stand.qpos)
    left = lowest_places(stand.robot, data)[:, 1].max()
    tips = (left - data.subtree_com[1, 1]) / data.xipos[1, 2]  # body 1 is the root
    most = PUSHED * stand.robot.weight * min(stand.friction, tips)
    times = np.arange(0.0, 1.0, PIECE)
    forces = most * np.sin(np.pi * (times + 0.5 * PIECE))
    pulls = tuple((float(t), float(t + PIECE), (0.0, float(f), 0.0)) for t, f in zip(0.5 + times, forces, strict=True))
    return replace(stand, pulls=pulls, duration=2.0)


def questions(data: Path | None) -> tuple[Question, ...]:
    """All of them, with every robot that is there."""
    names = ("creep", "weight", "pressure", "push", "long", "land", "rebound", "fall")
    cases: dict[str, list[Case]] = {name: [] for name in names}
    for name, parts, home in robots(data):
        try:
            stand = standing(name, parts, home, 1.5)
        except FootfallError:
            continue
        cases["creep"].append(Case(name, stand, _creep))
        cases["weight"].append(Case(name, stand, _weight))
        cases["pressure"].append(Case(name, stand, _pressure))
        cases["push"].append(Case(name, pushed(stand), partial(_away, since=0.5)))
        if name == "quadruped":
            minutes = standing(name, parts, home, 250.0, dt=LONG_STEP, every=round(1.0 / LONG_STEP))
            cases["long"].append(Case(name, minutes, partial(_away, since=1.0)))
        up = np.array([0.0, 0.0, 0.05])
        drop = standing(name, parts, home, 0.6, qpos=np.concatenate([stand.qpos[:3] + up, stand.qpos[3:]]))
        cases["land"].append(Case(name, drop, lambda rec: float(penetration(rec).max()) / 0.05))
        cases["rebound"].append(Case(name, drop, _rebound))
        spin = np.random.default_rng(0).uniform(-2.0, 2.0, len(parts) - 1)
        high = np.concatenate([[0.0, 0.0, 5.0], stand.qpos[3:]])
        fly = Task(name, parts, high, np.concatenate([np.zeros(6), spin]), 0.8, STEP)
        cases["fall"].append(Case(name, fly, _gained))
    return tuple(Question(name, tuple(own)) for name, own in cases.items())


def _last(rec: Record) -> np.ndarray:
    return rec.time >= rec.time[-1] - 1.0


def _creep(rec: Record) -> float:
    points = rec.position[_last(rec)]
    return float(np.linalg.norm(points[-1] - points[0], axis=-1).max())


def _away(rec: Record, since: float) -> float:
    """How far the farthest foot point is at the end from where it was at a time (s), m."""
    return float(np.linalg.norm(rec.position[-1] - rec.position[rec.time >= since - 1e-9][0], axis=-1).max())


def _weight(rec: Record) -> float:
    return float(rec.total_force[_last(rec), 2][:-1].mean()) / rec.robot.weight - 1.0


def _pressure(rec: Record) -> float:
    away = (overall_cop(rec) - momentum(rec).com)[_last(rec), :2]
    return float(np.nanmean(np.linalg.norm(away, axis=1)))


def _rebound(rec: Record) -> float:
    """Rise of the centre of mass after the landing, as a share of the drop."""
    height = com_height(rec)
    down = int(height[: len(rec) // 2].argmin())
    return max(0.0, float(height[down:].max() - height[0] + 0.05)) / 0.05


def _gained(rec: Record) -> float:
    found = energy(rec)
    return float(np.abs(found.mechanical - found.mechanical[0]).max() / found.kinetic[-1])
