"""Inputs of many worlds, one value for all or one for each, and where they start."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from footfall.contact.base import Law
from footfall.contact.setting import Setting
from footfall.engine.other_bodies.points import LIVE
from footfall.errors import SimulationError, warn
from footfall.ground import Ground
from footfall.record import Push
from footfall.robot.model import moving_bodies
from footfall.simulation.run import Run
from footfall.simulation.setup import Setup
from footfall.simulation.state import MUJOCO, State, check_fit, check_start, state_of
from footfall.simulation.task import make_pushes
from footfall.standing import scratch_data


def rows(name: str, value: Any, count: int, width: int) -> np.ndarray:
    """One row for all worlds (1, width), or one for each (count, width)."""
    array = np.asarray(value, dtype=float)
    if array.shape == (width,):
        array = array[None]
    if array.shape not in ((1, width), (count, width)):
        raise SimulationError(
            f"{name} has shape {array.shape}, but it must be ({width},), the same for all worlds, or ({count}, {width})"
        )
    if not np.isfinite(array).all():
        world, column = np.argwhere(~np.isfinite(array))[0]
        raise SimulationError(f"{name} of world {world} holds {array[world, column]}, which is not finite")
    return np.ascontiguousarray(array)


def friction_rows(value: Any, ground: Ground, count: int) -> np.ndarray:
    """Static and dynamic friction: a number, (static, dynamic), one number for each world, or (count, 2)."""
    if value is None:
        return np.array([[ground.static_friction, ground.dynamic_friction]])
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        array = np.full((1, 2), float(array))
    elif isinstance(value, tuple) and array.shape == (2,):
        array = array[None]
    elif array.shape == (count,):
        array = np.repeat(array[:, None], 2, axis=1)
    if array.shape not in ((2,), (1, 2), (count, 2)):
        raise SimulationError(
            f"friction has shape {array.shape}, but it must be a number, a pair (static, dynamic), ({count},) or "
            f"({count}, 2)"
        )
    array = rows("friction", array, count, 2)
    for world, (static, dynamic) in enumerate(array):
        if not 0.0 <= dynamic <= static:
            raise SimulationError(
                f"friction of world {world} is static {static:g}, dynamic {dynamic:g}: the dynamic coefficient lies "
                "between 0 and the static one"
            )
    return array


def law_rows(law: Law, setting: Setting, options: Mapping[str, Any], friction: np.ndarray, count: int) -> np.ndarray:
    """The law's numbers, for options and friction of each world; equal ones are resolved once."""
    for name, value in options.items():
        if np.ndim(value) and np.shape(value) != (count,):
            raise SimulationError(
                f"{name} has shape {np.shape(value)}, but an option of the law is one value or one for each of the "
                f"{count} worlds"
            )
    varied = [name for name, value in options.items() if np.ndim(value)]
    law = law.replace(**{name: value for name, value in options.items() if name not in varied})
    worlds = count if varied or len(friction) > 1 else 1
    known: dict[tuple[float, ...], list[float]] = {}
    found = []
    for w in range(worlds):
        own = {name: float(options[name][w]) for name in varied}
        static, dynamic = (float(v) for v in friction[min(w, len(friction) - 1)])
        key = (*own.values(), static, dynamic)
        if key not in known:
            ground = dataclasses.replace(setting.ground, static_friction=static, dynamic_friction=dynamic)
            resolved = law.replace(**own).resolve(dataclasses.replace(setting, ground=ground))
            known[key] = [float(v) for v in resolved]
        found.append(known[key])
    return np.array(found)


def ground_rows(
    own: Ground, given: Ground | Sequence[Ground] | None, count: int, reach: float
) -> tuple[Ground, Any, Any, Any]:
    """The ground of the first world, the compiled surface, and parameters and tables with the world in front.

    ``reach`` (m) is how far from the robot's points the nearest place is to be known.
    """
    grounds = [own] if given is None else [given] if isinstance(given, Ground) else list(given)
    if len(grounds) not in (1, count):
        raise SimulationError(f"{len(grounds)} grounds for {count} worlds: give one, or one for each")
    surface = grounds[0].compiled(reach)[0]
    compiled = [ground.compiled(reach) for ground in grounds]
    same = all(one[0] is surface and one[1].shape == compiled[0][1].shape for one in compiled)
    if not same or len({one[2].shape for one in compiled}) > 1:
        raise SimulationError("the grounds of many worlds must be of one kind, height fields of one size")
    tables = [one[2] for one in compiled]
    if all(table is tables[0] or np.array_equal(table, tables[0]) for table in tables):
        tables = tables[:1]  # a height field is big, and often the same
    return grounds[0], surface, np.stack([one[1] for one in compiled]), np.stack(tables)


def mass_rows(model: mujoco.MjModel, scale: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Masses and inertias of the bodies, times ``scale``: a number, one for each world, or (count, nbody)."""
    factor = np.ones((1, 1)) if scale is None else np.asarray(scale, dtype=float)
    if factor.ndim == 0:
        factor = factor.reshape(1, 1)
    elif factor.shape == (count,):
        factor = factor[:, None]
    if factor.shape[0] not in (1, count) or factor.shape[1:] not in ((1,), (model.nbody,)):
        raise SimulationError(
            f"mass_scale has shape {factor.shape}, but it must be a number, ({count},) or ({count}, {model.nbody})"
        )
    if not (np.isfinite(factor) & (factor > 0)).all():
        bad = factor[~(np.isfinite(factor) & (factor > 0))][0]
        raise SimulationError(f"mass_scale holds {bad:g}, but it must be positive and finite")
    return factor * model.body_mass, factor[:, :, None] * model.body_inertia


def push_lists(pushes: Any, count: int) -> list[list[Push]]:
    """One list of pushes for all worlds, or one for each."""
    given = list(pushes)
    lists = (
        [given]
        if all(isinstance(one, Push) for one in given)
        else [one if isinstance(one, list) else [*one] for one in given]
    )
    if len(lists) not in (1, count):
        raise SimulationError(f"{len(lists)} lists of pushes for {count} worlds: give one list, or one for each")
    return lists


def push_rows(model: mujoco.MjModel, pushes: Any, dt: float, count: int) -> tuple[Any, ...]:
    """The tuples of pushes (1 or count), bodies (.., N), intervals (.., N, 2) in steps and wrenches (.., N, 6).

    Short lists end in idle pushes.
    """
    lists = push_lists(pushes, count)
    most = max(len(one) for one in lists)
    body = np.zeros((len(lists), most), dtype=np.int64)
    time = np.zeros((len(lists), most, 2), dtype=np.int64)
    wrench = np.zeros((len(lists), most, 6))
    known = {id(one): (make_pushes(model, list(one), dt), tuple(one)) for one in lists}
    for w, one in enumerate(lists):
        made, n = known[id(one)][0], len(one)
        body[w, :n], time[w, :n, 0], time[w, :n, 1], wrench[w, :n] = made.body, made.start, made.stop, made.wrench
    return [known[id(one)][1] for one in lists], body, time, wrench


def replaced(kept: np.ndarray, given: np.ndarray, which: np.ndarray) -> np.ndarray:
    """(count, ...) as ``kept``, but in ``which`` as ``given``: a row for all, for each world, or for each of those."""
    out = np.broadcast_to(kept, (len(which), *kept.shape[1:])).copy()
    out[which] = given[which] if len(given) == len(which) else given
    return out


def idle_after(pushes: np.ndarray, most: int) -> np.ndarray:
    """Rows (.., N, ...) of pushes, filled up with idle ones to ``most``."""
    missing = [(0, 0)] * pushes.ndim
    missing[1] = (0, most - pushes.shape[1])
    return np.pad(pushes, missing)


def warn_of_loose_bodies(setup: Setup) -> None:
    """Warn of loose bodies that would touch the robot in a single run, such as a load on its back or a ball."""
    model = setup.robot.model
    collide = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    bodies = np.unique(model.geom_bodyid[collide])
    roots = dict.fromkeys(int(root) for root in model.body_rootid[bodies[moving_bodies(model)[bodies]]])
    if setup.body_contacts and len(roots) > 1:
        names = " and ".join(f"'{model.body(root).name}'" for root in roots)
        warn(f"many worlds have no contacts between bodies: {names} pass through each other")


def check_offered(setup: Setup, device: str, precision: str) -> None:
    """Refuse what many worlds do not compute, with a sentence."""
    law, ground = setup.law, setup.ground
    gpu, operator = device != "cpu", bool(getattr(law, "operator", False))
    refused = {
        "law mujoco is MuJoCo's own contacts, in one world: use mujoco.rollout for many": law.native,
        f"{law.name} goes from event to event, which many worlds at once do not": law.event_driven,
        f"many worlds are integrated by 'euler', not by '{setup.integrator}'": setup.integrator != "euler",
        "many worlds have one friction each: where it varies from place to place, run them one by one": (
            ground.friction_field is not None
        ),
        "on a GPU feet have points and balls: those that are ellipsoids or wheels run with device='cpu'": gpu
        and bool(setup.robot.point_axes.any()),
        "precision='single' is for GPUs: on a CPU it would save no time": not gpu and precision == "single",
        f"precision='single' is too coarse for the solver of {law.name}": operator and precision == "single",
        "cone='polyhedral' is not offered on a GPU: use cone='exact', or device='cpu'": (
            gpu and getattr(law, "cone", "exact") != "exact"
        ),
    }
    for sentence, given in refused.items():
        if given:
            raise SimulationError(sentence)


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
