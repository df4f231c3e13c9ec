"""Speed of the derivative of a step, beside a step and MuJoCo's finite differences; and its error in random states."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.random import default_rng

from footfall.control import walker
from footfall.engine.derivatives.transition import differentiate
from footfall.errors import FootfallError
from footfall.robot import load_robot
from footfall.robot.model import FREE, SLIDE
from footfall.simulation import Simulation
from footfall.simulation.linearize import Probe
from footfall.simulation.run import direct
from footfall.simulation.simulation import World
from footfall.simulation.worlds import Worlds
from footfall.study.bench.speeds import (
    DT,
    NOISE,
    STEPS,
    Effort,
    Row,
    Say,
    best_times,
    driven,
    interleaved,
    mujoco_scene,
    world_robot,
)

#: One law of each kind with exact derivatives of steps.
LAWS = ("spring-damper", "linearizing-penalty", "time-stepping")
#: Times that worlds are differentiated, of which the best counts.
ROUNDS = 5
#: Width of MuJoCo's finite differences, from its manual.
WIDTH = 1e-6


def again(function: Any, given: Sequence[Any], count: int) -> None:
    """Call a function ``count`` times."""
    for _ in range(count):
        function(*given)


def derivative_speeds(names: Sequence[str], effort: Effort, say: Say, laws: Sequence[str] | None) -> Iterator[Row]:
    """Time of a step, of its derivative, of ``world.linearize()``, and of ``mjd_transitionFD``, all taking turns.

    The derivative alone is what comes on top of a step; ``linearize`` copies the state and takes the step as well.
    """
    for name in names:
        robot = driven(load_robot(name, actuators="position") if name == "spatial-biped" else load_robot(name), say)
        model, data = mujoco_scene(robot)
        mujoco.mj_step(model, data, nstep=effort.settle)
        size = 2 * model.nv + model.na
        theirs = (model, data, WIDTH, False, np.zeros((size, size)), np.zeros((size, model.nu)), None, None)
        for law in laws or LAWS:
            say(f"bench: derivatives of {robot.name} under {law}")
            sim = Simulation(robot, law=law, dt=DT)
            world, probe = sim.start(recorded=False), Probe(sim)
            world.step(n=effort.settle)
            _, why = probe.derivative(world.state())
            if why:
                raise FootfallError(f"{robot.name} under {law} has no exact derivative: {why}")
            steppers: dict[str, Any] = {
                "step": lambda count, world=world: world.step(n=count),
                "jacobian": partial(again, direct(differentiate, probe.arrays[2]), probe.arrays[2]),
                "linearize": partial(again, world.linearize, ()),
                "differences": partial(again, mujoco.mjd_transitionFD, theirs),
            }
            best = {key: 1e6 * seconds for key, seconds in interleaved(steppers, effort.rounds, effort.steps).items()}
            times = {f"us_per_{key}": value for key, value in best.items()}
            steps, ratio = best["jacobian"] / best["step"], best["differences"] / best["jacobian"]
            yield {"robot": robot.name, "law": law, **times, "steps_per_jacobian": steps, "ratio_to_differences": ratio}


def world_derivative_speeds(
    names: Sequence[str], counts: Sequence[int], laws: Sequence[str], *, device: Literal["cpu", "cuda"], say: Say
) -> Iterator[Row]:
    """Derivatives per second of ``worlds.linearize()``, the steps included, by law and number of worlds: standing, and
    after 0.1 s of servo targets by chance; and the share of these that is exact.
    """
    for name, law, count in itertools.product(names, laws, counts):
        robot = world_robot(name)
        say(f"bench: derivatives of {count} worlds of {robot.name} under {law}")
        worlds, chance = Worlds(Simulation(robot, law=law, dt=DT), count, device=device, fall=0.0), default_rng(0)
        row = {"robot": robot.name, "law": law, "device": device, "worlds": count}
        for motion, noise in (("standing", 0.0), ("restless", NOISE)):
            for _ in range(100 // STEPS):
                worlds.step(robot.home_ctrl + noise * chance.normal(size=(count, robot.model.nu)), n=STEPS)
            found = worlds.linearize()
            exact = [one.method == "exact" for one in found] if isinstance(found, list) else found.exact
            del found  # and its memory on the GPU
            took = best_times({"": partial(partial, worlds.linearize)}, ROUNDS)[""]
            row |= {f"jacobians_{motion}": count / took, f"exact_{motion}": float(np.mean(exact))}
        yield row


#: Robots whose derivatives are checked unless others are named.
CHECKED = ("ball", "brick", "quadruped", "spatial-biped", "hanavan")
#: Initial gap of the feet, m: inside the ground, since rigid contacts have a kink at gap 0.
INSIDE = -1e-4
#: Motions by name: change of the height of the base (m), its speed (m/s), and the speed of joints.
MOTIONS = {
    "standing": (INSIDE, (0.0, 0.0, -0.002), 0.02),
    "landing": (INSIDE, (0.05, 0.02, -0.5), 0.2),
    "sliding": (2.0 * INSIDE, (1.0, 0.4, -0.05), 0.2),
}
#: Largest relative error of an exact derivative, and of the finite differences that it is compared with.
CLOSE, KNOWN = 1e-6, 1e-7


def moving_world(sim: Simulation, motion: str, chance: np.random.Generator) -> World:
    """A world in a random motion; "walking" is up to a second of the robot's own walk, or of its posture control."""
    model = sim.robot.model
    if motion == "walking":
        try:
            world = sim.start(controller=walker(sim.robot), recorded=False)
        except FootfallError:  # it has no legs to walk on
            world = sim.start(controller="default" if model.nu else None, recorded=False)
        world.step(n=int(chance.integers(1, 1 + round(1.0 / sim.dt))))
        move_base(world, model, INSIDE)
        return world
    height, speed, shake = MOTIONS[motion]
    world = sim.start(recorded=False)
    world.qvel[:] = shake * chance.normal(size=model.nv)
    if model.jnt_type[0] == FREE:
        world.qvel[3:6] *= 0.2
    move_base(world, model, height, np.array(speed) + shake * chance.normal(size=3))
    return world


def move_base(world: World, model: mujoco.MjModel, height: float, speed: np.ndarray | None = None) -> None:
    """Raise the base, which has a free joint or slides, by ``height`` (m), and give it a ``speed`` (3,), m/s."""
    for joint in range(model.njnt):
        if model.jnt_bodyid[joint] != model.jnt_bodyid[0] or model.jnt_type[joint] not in (FREE, SLIDE):
            continue
        free = model.jnt_type[joint] == FREE
        axes = np.eye(3) if free else model.jnt_axis[joint][None]
        place, dof = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        world.qpos[place : place + len(axes)] += height * axes[:, 2]
        if speed is not None:
            world.qvel[dof : dof + len(axes)] = axes @ speed


def check_derivatives(names: Sequence[str], count: int, say: Say, laws: Sequence[str] | None) -> Iterator[Row]:
    """Exact derivatives at ``count`` random states along random directions, against differences of the same step.

    A state is judged if its differences are known to 1e-7; elsewhere a kink is within their width. The derivative is
    wrong if it is off by more than 1e-6, and this is announced if its own list of kinks has one within a tenth of its
    size.
    """
    every = [
        (load_robot(name), law, motion) for name in names for law in laws or LAWS for motion in (*MOTIONS, "walking")
    ]
    for k, (robot, law, motion) in enumerate(every):
        say(f"check: {robot.name} under {law}, {motion}")
        sim = Simulation(robot, law=law, body_contacts=False)
        probe, chance, row = Probe(sim), np.random.default_rng(k), {"exact": 0, "judged": 0, "missed": 0, "told": 0}
        states, worst = range(k, count, len(every)), 0.0
        for _ in states:
            world = moving_world(sim, motion, chance)
            state, way = world.state(), chance.normal(size=2 * robot.model.nv + robot.model.nu)
            lin = probe.linearize(state)
            if lin.method != "exact":
                continue
            wanted, error = probe.along(state, world.ctrl.copy(), way)
            wanted = wanted[: len(lin.A)]
            size = np.abs(wanted).max()
            off, row["exact"] = np.abs(np.hstack([lin.A, lin.B]) @ way - wanted).max() / size, row["exact"] + 1
            if error < KNOWN * size:
                row["judged"], worst = row["judged"] + 1, max(worst, off)
            if off > CLOSE + 3.0 * error / size:
                row["missed"], row["told"] = row["missed"] + 1, row["told"] + int(lin.kinks[0].share < 0.1)
        yield {"robot": robot.name, "law": law, "motion": motion, "states": len(states), **row, "worst": worst}
