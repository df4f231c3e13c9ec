"""Runs that differ only in numbers, computed as many worlds at once, with the results of single runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from footfall.control import chosen_controller
from footfall.control.base import CompiledController, StatefulController
from footfall.control.inside import Inside
from footfall.engine.tape import sample_bytes
from footfall.errors import FootfallError, without_warnings
from footfall.ground import Ground
from footfall.record import Push
from footfall.recording import Recording
from footfall.simulation import Simulation
from footfall.simulation.controls import initial_state, own_rate
from footfall.simulation.task import multiple, step_count
from footfall.simulation.worlds import Worlds
from footfall.standing import place

#: Most bytes of recordings in memory at a time.
ROOM = 2**28


class Variant(NamedTuple):
    """The inputs of one of many runs; controllers are of one kind."""

    ground: Ground
    controller: Any  # compiled, or None; a controller with a memory must be the same for all
    pushes: Sequence[Push]


def refusal(sim: Simulation, controller: Any) -> str:
    """Why runs of this simulation cannot be worlds, in a sentence; "" if they can."""
    try:
        with without_warnings():  # they are those of the simulation, which has told them
            Worlds(sim, 1, threads=1)
    except FootfallError as error:
        return str(error)
    return controller_refusal(sim, controller)


def controller_refusal(sim: Simulation, controller: Any) -> str:
    """Why the controller cannot run in worlds, in a sentence; "" if it can."""
    controller = chosen_controller(controller, sim.robot)
    if controller is None or isinstance(controller, CompiledController) or hasattr(controller, "batch"):
        return ""
    if isinstance(controller, StatefulController):
        step = sim.dt * own_rate(controller, sim.dt)
        try:
            compiled = isinstance(controller.start(sim.robot, sim.ground, step), Inside)
        except FootfallError as error:
            return str(error)
        if compiled:
            return ""
    return f"many worlds take a compiled controller, not {type(controller).__name__}"


def run_batched(
    sim: Simulation,
    variants: Sequence[Variant],
    duration: float,
    *,
    record_dt: float | None = None,
    law_options: Mapping[str, np.ndarray] | None = None,
    threads: int | None = None,
) -> list[Recording]:
    """Run a simulation with each ground, controller and pushes for ``duration`` (s), as many at a time as fit into
    memory.

    ``law_options`` holds one number for each run. A run ends only where a single run would: a fallen robot goes on.
    """
    every = multiple("record_dt", record_dt, sim.dt)
    samples = step_count(duration, sim.dt) // every + 2
    portion = max(1, int(ROOM / (samples * sample_bytes(sim.scene.model, sim.robot.point_count))))
    found: list[Recording] = []
    for first in range(0, len(variants), portion):
        some = variants[first : first + portion]
        grounds, states = [one.ground for one in some], [_start(sim, one) for one in some]
        given: dict[str, Any] = {
            "qpos": np.array([qpos for qpos, _ in states]),
            "qvel": np.array([qvel for _, qvel in states]),
            "friction": np.array([[ground.static_friction, ground.dynamic_friction] for ground in grounds]),
            "law_options": {name: values[first : first + portion] for name, values in (law_options or {}).items()},
            "ground": grounds[0] if all(ground is grounds[0] for ground in grounds) else grounds,
            "pushes": [list(one.pushes) for one in some] if any(one.pushes for one in some) else (),
        }
        with without_warnings():
            worlds = Worlds(sim, len(some), **given, fall=0.0, threads=threads)
        controller, gains = some[0].controller, None
        if isinstance(controller, CompiledController):
            step = sim.dt * own_rate(controller, sim.dt)
            gains = np.array([one.controller.gains(sim.robot, one.ground, step) for one in some])
        all_of_them = range(len(some))
        runs = worlds.run(duration, controller=controller, gains=gains, record=all_of_them, record_dt=record_dt)
        found += runs.values()
    return found


def _start(sim: Simulation, one: Variant) -> tuple[np.ndarray, np.ndarray]:
    """The default start of a run."""
    qpos, qvel = initial_state(one.controller, sim.robot, one.ground)
    if qpos is None:
        qpos = place(sim.robot, one.ground, (0.0, 0.0), align=False)
    return np.asarray(qpos), np.zeros(sim.scene.model.nv) if qvel is None else np.asarray(qvel)
