"""Runs that differ in numbers alone, computed as worlds side by side, each what the single run gives.

Worlds have the feet on the ground and nothing else. So what was computed is looked through for bodies that would have
met the ground or each other: up to there it is the single run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.control import named_controller
from footfall.control.base import CompiledController
from footfall.engine.tape import sample_bytes
from footfall.errors import FootfallError
from footfall.ground import Ground
from footfall.measure.body_heights import EVERY, corners_beside_soles, first_body_down
from footfall.record import Push
from footfall.recording import Recording
from footfall.simulation import Simulation
from footfall.simulation.checks import multiple
from footfall.simulation.controls import initial_state, own_rate
from footfall.simulation.worlds import Worlds
from footfall.standing import place

#: Bytes of recordings that worlds may hold at a time.
ROOM = 2**28


class Variant(NamedTuple):
    """What one of many runs is given; controllers of one kind."""

    ground: Ground
    controller: Any  # compiled, or None
    pushes: Sequence[Push]


def refusal(sim: Simulation, controller: Any) -> str:
    """Why runs of this simulation cannot be worlds, in a sentence; "" if they can."""
    try:
        Worlds(sim, 1, threads=1)
    except FootfallError as error:
        return str(error)
    if isinstance(controller, str):
        controller = named_controller(controller)
    if controller is not None and not isinstance(controller, CompiledController):
        return f"many worlds take a compiled controller, not {type(controller).__name__}"
    return ""


def run_together(
    sim: Simulation,
    variants: Sequence[Variant],
    duration: float,
    *,
    record_dt: float | None = None,
    law_options: Mapping[str, np.ndarray] | None = None,
    threads: int | None = None,
) -> list[Recording]:
    """Run a simulation with each ground, controller and pushes for ``duration`` (s), as many at a time as have room.

    ``law_options`` are one number for each run. Ends only where a single run would: a robot that is down goes on.
    """
    every = multiple("record_dt", record_dt, sim.dt)
    samples = round(duration / sim.dt) // every + 2
    portion = max(1, int(ROOM / (samples * sample_bytes(sim.scene.model, sim.robot.point_count))))
    found: list[Recording] = []
    for first in range(0, len(variants), portion):
        some = slice(first, first + portion)
        options = {name: values[some] for name, values in (law_options or {}).items()}
        found += _portion(sim, variants[some], duration, record_dt, options, threads)
    return found


def _portion(
    sim: Simulation,
    variants: Sequence[Variant],
    duration: float,
    record_dt: float | None,
    law_options: Mapping[str, np.ndarray],
    threads: int | None,
) -> list[Recording]:
    controller = variants[0].controller
    grounds = [one.ground for one in variants]
    states = [_start(sim, one) for one in variants]
    worlds = Worlds(
        sim,
        len(variants),
        qpos=np.array([qpos for qpos, _ in states]),
        qvel=np.array([qvel for _, qvel in states]),
        friction=np.array([[ground.static_friction, ground.dynamic_friction] for ground in grounds]),
        law_options=law_options,
        ground=grounds[0] if all(ground is grounds[0] for ground in grounds) else grounds,
        pushes=[list(one.pushes) for one in variants] if any(one.pushes for one in variants) else (),
        fall=0.0,
        threads=threads,
    )
    gains = None
    if controller is not None:
        step = sim.dt * own_rate(controller, sim.dt)
        gains = np.array([one.controller.gains(sim.robot, one.ground, step) for one in variants])
    found = worlds.run(duration, controller=controller, gains=gains, record=range(len(variants)), record_dt=record_dt)
    return list(found.values())


def _start(sim: Simulation, one: Variant) -> tuple[np.ndarray, np.ndarray]:
    """Where a run starts that is given neither qpos nor qvel."""
    qpos, qvel = initial_state(one.controller, sim.robot, one.ground)
    if qpos is None:
        qpos = place(sim.robot, one.ground, (0.0, 0.0), align=False)
    return np.asarray(qpos), np.zeros(sim.scene.model.nv) if qvel is None else np.asarray(qvel)


def feet_alone_until(sim: Simulation, rec: Recording) -> float:
    """s, up to when nothing but contact points of feet touched: inf where it stays so to the end."""
    if not sim.body_contacts or not len(rec):
        return np.inf
    down = first_body_down(rec)
    until = np.inf if down is None else float(rec.time[down.sample])
    model, beside = sim.scene.model, corners_beside_soles(sim.robot)
    data = mujoco.MjData(model)
    apart = float(rec.time[1] - rec.time[0]) if len(rec) > 1 else EVERY
    samples = range(0, len(rec), max(1, round(EVERY / max(apart, 1e-9))))
    places = []
    for k in samples:
        if rec.time[k] >= until:
            break
        data.qpos[:] = rec.qpos[k]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        if data.ncon:
            until = float(rec.time[k])
            break
        turn = data.xmat[beside.body].reshape(-1, 3, 3)
        places.append(data.xpos[beside.body] + np.einsum("nij,nj->ni", turn, beside.centre))
    if places and len(beside.body):
        touching = (rec.ground.gap(np.array(places))[0] < beside.radius).any(axis=1)
        if touching.any():
            until = float(rec.time[samples[int(np.argmax(touching))]])
    return until
