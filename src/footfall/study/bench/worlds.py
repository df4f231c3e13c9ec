"""How fast many worlds are: steps per second against worlds and law, beside MuJoCo's own batch on the same robot.

Each figure is measured twice: for standing worlds, and for *restless* ones, with random servo targets at 50 Hz, random
pushes, falls and resets. A batch that is fast only while nothing happens is not fast.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from footfall.control.posture import with_servos
from footfall.errors import FootfallError
from footfall.process.machine import cores
from footfall.record import Push
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation
from footfall.simulation.worlds import Worlds
from footfall.study.bench.speeds import mujoco_scene

#: The name of the robot that MuJoCo, MJX and MuJoCo Warp are measured by, and its model.
HUMANOID, HUMANOID_FILE = "humanoid", Path(__file__).with_name("humanoid.xml")
#: Steps between two choices of controls: 50 Hz at 1 ms.
STEPS = 20
#: Laws that are measured unless others are named.
LAWS = ("spring-damper", "hunt-crossley", "distributed", "linearizing-penalty", "time-stepping", "constraint-selection")
#: rad or m, standard deviation of the servos' targets, and the size of pushes as a share of the weight.
NOISE, PUSH = 0.1, 0.3


@dataclass(frozen=True)
class WorldSpeed:
    """Steps per second of all worlds together."""

    robot: str
    law: str
    device: str
    precision: str
    worlds: int
    standing: float
    restless: float
    unsolved: float  # share of the restless steps
    resets: int
    mujoco_rollout: float | None = None  # steps per second of MuJoCo's own batch standing, on a CPU

    @property
    def ratio(self) -> float | None:
        """Steps standing over those of MuJoCo's own batch."""
        return None if self.mujoco_rollout is None else self.standing / self.mujoco_rollout


def world_robot(name: str = "spatial-biped") -> Robot:
    """A robot on servos: the name "humanoid" is that of the bench, others are as in ``load_robot``."""
    if name == "spatial-biped":
        return load_robot(name, actuators="position")
    return with_servos(load_robot(HUMANOID_FILE if name == HUMANOID else name))


def world_speeds(
    counts: Sequence[int],
    laws: Sequence[str] = LAWS,
    *,
    device: str = "cpu",
    rounds: int = 5,
    robot: Robot | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> Iterator[WorldSpeed]:
    """Measure every law and every number of worlds, on a GPU in both precisions; what is not offered is said."""
    own = world_robot() if robot is None else robot
    rollout = cache(partial(rollout_speed, robot=own, rounds=rounds))
    for law in laws:
        sim = Simulation(own, law=law)
        for precision in ("double", "single") if device == "cuda" else ("double",):
            for count in counts:
                try:
                    found = _measured(sim, count, device, precision, rounds)
                except FootfallError as error:
                    say(f"{law}, {precision}, {count} worlds: {error}")
                else:
                    yield found if device == "cuda" else replace(found, mujoco_rollout=rollout(count))


def _measured(sim: Simulation, count: int, device: str, precision: str, rounds: int) -> WorldSpeed:
    """Steps per second of standing worlds, and of worlds that are pushed, noisy and reset when they end."""
    rng = np.random.default_rng(0)
    force = PUSH * sim.robot.weight
    pushes = [
        [
            Push(sim.robot.root, (force * np.cos(a), force * np.sin(a), 0.0), start=float(start), duration=0.1)
            for a, start in zip(rng.uniform(0, 2 * np.pi, 2), rng.uniform(0, 1, 2), strict=True)
        ]
        for _ in range(min(count, 256))
    ]
    worlds = Worlds(sim, count, device=device, precision=precision)
    home = sim.robot.home_ctrl
    worlds.step(home, n=STEPS)
    standing = best_rate(lambda: worlds.step(n=STEPS), count, rounds)
    worlds.push([pushes[i % len(pushes)] for i in range(count)])
    worlds.reset()
    controls = home + rng.normal(scale=NOISE, size=(8, count, len(home)))  # to compute them is no part of a step
    resets = 0

    def restless(turn: int) -> None:
        nonlocal resets
        worlds.step(controls[turn % len(controls)], n=STEPS)
        ended = worlds.status != 0
        if ended.any():
            resets += int(ended.sum())
            worlds.reset(ended)

    turns = 25 if device == "cpu" and count < 4096 else 10 * rounds
    restless(0)
    begin = time.perf_counter()
    for turn in range(turns):
        restless(turn)
    rate = count * STEPS * turns / (time.perf_counter() - begin)
    unsolved = float(worlds.unsolved.sum()) / (count * STEPS * (turns + 1))
    return WorldSpeed(
        robot=sim.robot.name,
        law=sim.law.name,
        device=device,
        precision=precision,
        worlds=count,
        standing=standing,
        restless=rate,
        unsolved=unsolved,
        resets=resets,
    )


def best_rate(step: Callable[[], Any], count: int, rounds: int) -> float:
    """Steps per second in the best of some rounds: noise only ever adds time."""
    best = np.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        step()
        best = min(best, time.perf_counter() - begin)
    return count * STEPS / best


def rollout_speed(count: int, *, robot: Robot, rounds: int = 5) -> float:
    """Steps per second of ``mujoco.rollout``, MuJoCo's threaded batch, standing on the same robot."""
    from mujoco import rollout

    model, data = mujoco_scene(robot)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros((count, size))
    one = np.zeros(size)
    mujoco.mj_getState(model, data, one, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state[:] = one
    team = [mujoco.MjData(model) for _ in range(cores())]
    control = np.tile(robot.home_ctrl, (count, STEPS, 1))
    with rollout.Rollout(nthread=len(team)) as pool:

        def step() -> None:
            nonlocal state
            states, _ = pool.rollout(model, team, state, control, nstep=STEPS)
            state = np.ascontiguousarray(states[:, -1])

        step()
        return best_rate(step, count, rounds)


def machine() -> str:
    """What was measured on."""
    return f"{platform.machine()}, {cores()} processors, {platform.system()} {platform.release()}"
