"""How fast the derivative of a step is: against a step of the same run, and against MuJoCo's finite differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import mujoco
import numpy as np

from footfall.engine.derivatives.transition import differentiate
from footfall.errors import FootfallError
from footfall.robot import load_robot
from footfall.simulation import Simulation
from footfall.simulation.linearize import Probe
from footfall.simulation.run import direct
from footfall.study.bench.speeds import DT, Effort, Row, Say, driven, interleaved, mujoco_scene

#: Laws whose steps have exact derivatives, of each kind one.
LAWS = ("spring-damper", "linearizing-penalty", "time-stepping")
#: Width of MuJoCo's differences, as its manual has it.
WIDTH = 1e-6


def again(function: Any, given: tuple[Any, ...], count: int) -> None:
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
