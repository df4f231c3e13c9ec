"""Where many worlds start: coordinates, or states of single worlds, with what the law remembers of its contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from footfall.engine.other_bodies.points import LIVE
from footfall.errors import SimulationError
from footfall.simulation.run import Run
from footfall.simulation.setup import Setup
from footfall.simulation.state import MUJOCO, State, check_fit, check_start, state_of
from footfall.simulation.worlds.given import replaced, rows
from footfall.standing import scratch_data

#: Of each array of a world's state its values at the start, one row for all worlds or one for each.
Starts = dict[str, np.ndarray]

#: What worlds remember of their contact points and of constraints of joints, and how a single world calls it.
OF_POINTS = {name: f"points.{name}" for name in ("anchor", "force", "mode", "memory")}
OF_JOINTS = {"row_state": "joints.state", "row_inertia": "joints.inertia"}


def first_starts(setup: Setup, engine: Any) -> Starts:
    """At home on the ground and at rest, with unloaded contacts."""
    joints = setup.scene.joints
    return {
        **engine.unloaded(),
        "qpos": setup.place()[None],
        "qvel": np.zeros((1, setup.scene.model.nv)),
        "ctrl": setup.robot.home_ctrl[None],
        "row_state": joints.state[None].copy(),
        "row_inertia": joints.inertia[None].copy(),
    }


def from_coordinates(starts: Starts, first: Starts, which: np.ndarray, qpos: Any, qvel: Any) -> Starts:
    """The starts, in the worlds of ``which`` (W,) from these coordinates, with unloaded contacts."""
    given = {name: value for name, value in (("qpos", qpos), ("qvel", qvel)) if value is not None}
    changed = dict(starts)
    for name, value in given.items():
        changed[name] = replaced(starts[name], rows(name, value, len(which), starts[name].shape[1]), which)
    for name in starts.keys() - {"qpos", "qvel"} if given else ():
        if starts[name] is not first[name]:  # worlds started from states before
            changed[name] = replaced(starts[name], first[name], which)
    return changed


def from_states(
    setup: Setup, starts: Starts, first: Starts, which: np.ndarray, given: Any, beside: tuple[Any, Any]
) -> Starts:
    """The starts, in the worlds of ``which`` (W,) from a state of a single world, or from one for each.

    ``beside`` it neither coordinates nor velocities are given.
    """
    states = [given] if isinstance(given, State) or not isinstance(given, Sequence) else list(given)
    for state in states:
        check_start(state, *beside)
        check_fit(state, setup)
    if len(states) not in (1, len(which)):
        raise SimulationError(f"{len(states)} states for {len(which)} worlds: give one, or one for each")
    known = {id(state): _row(setup, first, state) for state in states}
    made = [known[id(state)] for state in states]
    given_rows = {name: np.stack([row[name] for row in made]) for name in starts}
    if which.all():
        return given_rows
    return {name: replaced(starts[name], value, which) for name, value in given_rows.items()}


def _row(setup: Setup, first: Starts, state: State) -> dict[str, np.ndarray]:
    """A state as one world keeps it: on a CPU points not on feet have places, on a GPU each its own."""
    model, arrays, feet = setup.scene.model, state.arrays(), setup.robot.point_count
    data = scratch_data(model)
    mujoco.mj_setState(model, data, state.mujoco, MUJOCO)
    row = {name: value[0].copy() for name, value in first.items()}
    row |= {
        "qpos": data.qpos.copy(),
        "qvel": data.qvel.copy(),
        "ctrl": data.ctrl.copy(),
        "step": np.array([state.step]),
    }
    row |= {name: arrays[own] for name, own in OF_JOINTS.items()}
    who = arrays["others.who"]
    on_cpu = "who" in row
    others = np.arange(len(who)) if on_cpu else who  # -1 where nobody has that place
    place = np.concatenate([np.arange(feet), feet + others])
    taken = np.concatenate([np.full(feet, True), others >= 0]) & (place < len(row["mode"]))
    for name, own in OF_POINTS.items():
        if arrays[own].size:
            row[name][place[taken]] = arrays[own][taken]
    if row["seated"].size == arrays["others.seated"].size:
        row["seated"] = arrays["others.seated"]
    if on_cpu:
        row["place"] = arrays["others.place"]
        row["who"][: len(who)] = who
        row["counters"][LIVE] = arrays["others.counters"][LIVE]
    return row


def state_of_world(setup: Setup, engine: Any, world: int) -> State:
    """The state of one of many worlds on a CPU, as that of a single one."""
    run = Run(setup, 0.0, recorded=False)
    kept = {name: array[world] for name, array in (engine.state._asdict() | engine.kept._asdict()).items()}
    places = int(kept["counters"][LIVE]) - setup.robot.point_count
    sizes = run.workspace.sizes()
    run.resize(next(i for i, size in enumerate(sizes) if size >= places))
    points, others = run.points, run.points.others
    for name in OF_POINTS:
        own = getattr(points, name)
        own[...] = kept[name][: len(own), ...].reshape(len(own), -1)[:, : own[0].size].reshape(own.shape)
    others.place[:], others.seated[:] = kept["place"], kept["seated"]
    others.who[:], others.counters[LIVE] = kept["who"][: len(others.who)], kept["counters"][LIVE]
    for s in np.flatnonzero(others.who >= 0):
        p, q = others.first + s, others.who[s]
        for name in ("local", "radius", "smooth", "axes"):
            getattr(points, name)[p] = getattr(others, name)[q]
    for name, own in OF_JOINTS.items():
        getattr(run.conditions.constraints.joints, own.removeprefix("joints."))[:] = kept[name]
    run.data.qpos[:], run.data.qvel[:], run.data.ctrl[:] = kept["qpos"], kept["qvel"], kept["ctrl"]
    run.step = int(kept["step"][0])
    return state_of(run)
