"""The cost of joint friction: a robot under every law with and without it, standing, pushed and landing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from footfall.contact import laws as all_laws
from footfall.errors import FootfallError, SimulationError
from footfall.record import Push
from footfall.robot import Robot
from footfall.robot.load import as_robot
from footfall.robot.model import compiled, written
from footfall.simulation import Simulation
from footfall.study.bench import DT
from footfall.study.bench_robots import DURATION, driven

#: Push on the root, forwards and to the side, relative to the weight, and its duration, s.
PUSH, PUSHED = (0.1, 0.05), 0.1
#: Height of a drop, m.
DROP = 0.05


@dataclass(frozen=True)
class FrictionCost:
    """The cost of 3 s of a motion for a robot with joint friction, beside the same robot without.

    Attributes:
        motion: "standing", "pushed" or "landing".
        unsolved: samples, one each step, that the law marked as unsolved.
        us_per_step: processor time of a step, best of several runs.
        us_without: the same without joint friction.
        ratio: of the two.
    """

    robot: str
    law: str
    motion: str
    unsolved: int
    us_per_step: float
    us_without: float
    ratio: float


def without_joint_friction(robot: Robot) -> Robot:
    """The same robot, with joints and tendons that turn freely."""
    if robot.mjcf is None:
        raise FootfallError(f"robot {robot.name!r} has no model file to take joint friction from")
    spec = mujoco.MjSpec.from_string(robot.mjcf, assets=dict(robot.assets))
    for part in (*spec.joints, *spec.tendons):
        part.frictionloss = 0.0
    mjcf = written(spec, robot.name)
    return replace(robot, mjcf=mjcf, model=compiled(mjcf, robot.assets, robot.name))


def friction_costs(
    robots: Sequence[Robot | str],
    runs: int,
    say: Callable[[str], None] = lambda sentence: None,
    laws: Sequence[str] | None = None,
    duration: float = DURATION,
) -> Iterator[FrictionCost]:
    """A row for every robot that has joint friction, law and motion; robots with and without it take turns."""
    for given in robots:
        robot = driven(as_robot(given), say)
        if robot.model.njnt == 0 or robot.model.jnt_type[0] != int(mujoco.mjtJoint.mjJNT_FREE):
            raise FootfallError(f"robot {robot.name!r} has no free joint: it can neither be pushed over nor land")
        if not (robot.model.dof_frictionloss.any() or robot.model.tendon_frictionloss.any()):
            say(f"bench: {robot.name} has no joint friction")
            continue
        pair = (robot, without_joint_friction(robot))
        for law in laws or all_laws():
            for motion in ("standing", "pushed", "landing"):
                say(f"bench: {robot.name} {motion} under {law}, with joint friction and without")
                try:
                    yield _cost(pair, law, motion, runs, duration)
                except SimulationError as error:
                    say(f"bench: {robot.name} {motion} under {law}: {error}".splitlines()[0])


def _cost(pair: tuple[Robot, Robot], law: str, motion: str, runs: int, duration: float) -> FrictionCost:
    """Of a robot and the same without joint friction."""
    best, unsolved = [np.inf, np.inf], 0
    for one in pair:
        _one_run(one, law, motion, 2 * DT)  # whatever is to be compiled is compiled here
    for _ in range(runs):
        for i, one in enumerate(pair):
            seconds, count = _one_run(one, law, motion, duration)
            best[i] = min(best[i], seconds)
            unsolved = count if i == 0 else unsolved
    own, without = (1e6 * seconds * DT / duration for seconds in best)
    return FrictionCost(
        robot=pair[0].name,
        law=law,
        motion=motion,
        unsolved=unsolved,
        us_per_step=own,
        us_without=without,
        ratio=own / without,
    )


def _one_run(robot: Robot, law: str, motion: str, duration: float) -> tuple[float, int]:
    """Processor time of a run, s, and its unsolved samples."""
    sim = Simulation(robot, law=law, dt=DT)
    start, pushes = sim.place(), []
    if motion == "landing":
        start[2] += DROP
    elif motion == "pushed":
        force = (PUSH[0] * robot.weight, PUSH[1] * robot.weight, 0.0)
        pushes.append(Push(robot.root, force=force, duration=PUSHED))
    begin = time.process_time()
    rec = sim.run(duration, qpos=start, pushes=pushes)
    return time.process_time() - begin, int(np.count_nonzero(rec.status))
