"""Inputs of many worlds, one value for all or one for each, and where they start."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from footfall.contact.base import Law
from footfall.contact.setting import Setting
from footfall.engine.other_bodies.points import LIVE
from footfall.engine.worlds.arrays import Given
from footfall.errors import SimulationError
from footfall.ground import Ground
from footfall.record import Push
from footfall.simulation.run import Run
from footfall.simulation.setup import Setup
from footfall.simulation.state import State
from footfall.simulation.task import make_pushes, numbers, push_list
from footfall.standing import reach


def rows(name: str, value: Any, count: int, width: int, number: str = "") -> np.ndarray:
    """One row for all worlds (1, width), or one for each (count, width).

    With the words ``number`` for them, a number and one for each world are taken, too, and fill their rows.
    """
    array, one = numbers(name, value), f"{number}, ({count},)" if number else f"({width},), the same for all worlds,"
    if number and array.shape in ((), (count,)):
        array = np.repeat(array.reshape(-1, 1), width, axis=1)
    elif array.shape == (width,):
        array = array[None]
    if array.shape not in ((1, width), (count, width)):
        raise SimulationError(f"{name} has shape {array.shape}, but it must be {one} or ({count}, {width})")
    if not np.isfinite(array).all():
        world, column = np.argwhere(~np.isfinite(array))[0]
        raise SimulationError(f"{name} of world {world} holds {array[world, column]}, which is not finite")
    return np.ascontiguousarray(array)


def friction_rows(value: Any, ground: Ground, count: int) -> np.ndarray:
    """Static and dynamic friction: a number, (static, dynamic), one number for each world, or (count, 2)."""
    if value is None:
        return np.array([[ground.static_friction, ground.dynamic_friction]])
    pair = isinstance(value, tuple) and len(value) == 2
    array = rows("friction", value, count, 2, "" if pair else "a number, a pair (static, dynamic)")
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


def ground_rows(grounds: Sequence[Ground], reach: float) -> tuple[Any, Any, Any]:
    """The compiled surface of grounds of one kind, with parameters and tables whose first axis is the world.

    ``reach`` (m) is the distance from the robot's points up to which the surface must find the nearest point.
    """
    compiled = [ground.compiled(reach) for ground in grounds]
    surface, shape, table = compiled[0]
    same = all(one[0] is surface and one[1].shape == shape.shape and one[2].shape == table.shape for one in compiled)
    if not same:
        raise SimulationError("the grounds of many worlds must be of one kind, height fields of one size")
    tables = [one[2] for one in compiled]
    if all(one is table or np.array_equal(one, table) for one in tables):
        tables = tables[:1]  # height fields are large, and often equal
    return surface, np.stack([one[1] for one in compiled]), np.stack(tables)


def mass_rows(model: mujoco.MjModel, scale: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Masses and inertias of the bodies, times ``scale``: a number, one for each world, or (count, nbody)."""
    factor = rows("mass_scale", 1.0 if scale is None else scale, count, model.nbody, "a number")
    if not (factor > 0.0).all():
        raise SimulationError(f"mass_scale holds {factor.min():g}, but it must be positive")
    return factor * model.body_mass, factor[:, :, None] * model.body_inertia


def push_lists(pushes: Any, count: int) -> list[list[Push]]:
    """One list of pushes for all worlds, or one for each."""
    if isinstance(pushes, Push) or not isinstance(pushes, Iterable):
        return [list(push_list(pushes))]
    given = list(pushes)
    lists = [given] if all(isinstance(one, Push) for one in given) else given
    checked = {id(one): list(push_list(one)) for one in lists}
    lists = [checked[id(one)] for one in lists]
    if len(lists) not in (1, count):
        raise SimulationError(f"{len(lists)} lists of pushes for {count} worlds: give one list, or one for each")
    return lists


def push_rows(model: mujoco.MjModel, lists: list[list[Push]], dt: float) -> dict[str, np.ndarray]:
    """Bodies (.., N), intervals (.., N, 2) in steps and wrenches (.., N, 6); short lists end in idle pushes."""
    most = max(len(one) for one in lists)
    body = np.zeros((len(lists), most), dtype=np.int64)
    time = np.zeros((len(lists), most, 2), dtype=np.int64)
    wrench = np.zeros((len(lists), most, 6))
    known = {id(one): make_pushes(model, one, dt) for one in lists}
    for w, one in enumerate(lists):
        made, n = known[id(one)], len(one)
        body[w, :n], time[w, :n, 0], time[w, :n, 1], wrench[w, :n] = made.body, made.start, made.stop, made.wrench
    return {"push_body": body, "push_time": time, "push_wrench": wrench}


def replaced(kept: np.ndarray, given: np.ndarray, which: np.ndarray) -> np.ndarray:
    """``kept`` (count, ...) with rows ``which`` from ``given``: one row, one per world, or one per chosen world."""
    out = np.broadcast_to(kept, (len(which), *kept.shape[1:])).copy()
    out[which] = given[which] if len(given) == len(which) else given
    return out


def idle_after(pushes: np.ndarray, most: int) -> np.ndarray:
    """Rows (.., N, ...) of pushes, filled up with idle ones to ``most``."""
    missing = [(0, 0)] * pushes.ndim
    missing[1] = (0, most - pushes.shape[1])
    return np.pad(pushes, missing)


@dataclass(frozen=True)
class Inputs:
    """Inputs of worlds beside their starts, one value for all or one for each."""

    setup: Setup
    count: int
    grounds: list[Ground]  # 1 or W
    surface: Any  # of all of them, compiled
    options: Mapping[str, Any]  # of the law
    pushes: list[tuple[Push, ...]]  # 1 or W, for recordings
    arrays: Given  # for the engine

    def ground_of(self, world: int) -> Ground:
        """The ground of a world, with its friction."""
        friction, ground = self.arrays.friction, self.grounds[min(world, len(self.grounds) - 1)]
        static, dynamic = (float(one) for one in friction[min(world, len(friction) - 1)])
        return dataclasses.replace(ground, static_friction=static, dynamic_friction=dynamic)

    def with_friction(self, friction: Any, which: np.ndarray) -> Inputs:
        """The same with another friction in the worlds of ``which`` (W,), and the law's numbers that follow."""
        setup, given = self.setup, self.arrays
        own = replaced(given.friction, friction_rows(friction, setup.ground, self.count), which)
        options = {name: np.asarray(value)[which] if np.ndim(value) else value for name, value in self.options.items()}
        values = law_rows(setup.law, setup.setting, options, own[which], int(which.sum()))
        return self._with(friction=own, values=replaced(given.values, values, which))

    def with_masses(self, mass_scale: Any, which: np.ndarray) -> Inputs:
        """The same with other masses and inertias in the worlds of ``which`` (W,)."""
        mass, inertia = mass_rows(self.setup.scene.model, mass_scale, self.count)
        given = self.arrays
        return self._with(
            body_mass=replaced(given.body_mass, mass, which),
            body_inertia=replaced(given.body_inertia, inertia, which),
        )

    def with_pushes(self, pushes: Any, which: np.ndarray) -> Inputs:
        """The same with other pushes in the worlds of ``which`` (W,)."""
        lists, model, dt = push_lists(pushes, self.count), self.setup.scene.model, self.setup.dt
        chosen = lists if len(lists) == 1 else [lists[w] for w in np.flatnonzero(which)]
        made = push_rows(model, chosen, dt)
        own = self.pushes * self.count if len(self.pushes) == 1 else list(self.pushes)
        for i, w in enumerate(np.flatnonzero(which)):
            own[w] = tuple(chosen[min(i, len(chosen) - 1)])
        most = max(made["push_body"].shape[1], self.arrays.push_body.shape[1])
        rows = {
            name: replaced(idle_after(getattr(self.arrays, name), most), idle_after(new, most), which)
            for name, new in made.items()
        }
        return dataclasses.replace(self, pushes=own)._with(**rows)

    def _with(self, **arrays: np.ndarray) -> Inputs:
        return dataclasses.replace(self, arrays=self.arrays._replace(**arrays))


def make_inputs(
    setup: Setup,
    count: int,
    *,
    ground: Ground | Sequence[Ground] | None,
    friction: Any,
    law_options: Mapping[str, Any] | None,
    mass_scale: Any,
    pushes: Any,
) -> Inputs:
    """The initial inputs of ``count`` worlds, from the arguments of :class:`footfall.Worlds`."""
    model, options = setup.scene.model, dict(law_options or {})
    grounds = [setup.ground] if ground is None else list(ground) if isinstance(ground, Sequence) else [ground]
    if len(grounds) not in (1, count):
        raise SimulationError(f"{len(grounds)} grounds for {count} worlds: give one, or one for each")
    surface, shape, table = ground_rows(grounds, reach(setup.robot))
    coefficients = friction_rows(friction, setup.ground, count)
    mass, inertia = mass_rows(model, mass_scale, count)
    lists = push_lists(pushes, count)
    arrays = Given(
        body_mass=mass,
        body_inertia=inertia,
        friction=coefficients,
        values=law_rows(setup.law, setup.setting, options, coefficients, count),
        gains=np.zeros((1, 1)),
        shape=shape,
        table=table,
        **push_rows(model, lists, setup.dt),
    )
    return Inputs(setup, count, grounds, surface, options, [tuple(one) for one in lists], arrays)


def check_worlds(setup: Setup, device: str) -> None:
    """Refuse features that many worlds do not support."""
    law, ground, gpu = setup.law, setup.ground, device != "cpu"
    refused = {
        "law mujoco is MuJoCo's own contacts, in one world: use mujoco.rollout for many": law.native,
        f"{law.name} goes from event to event, which many worlds at once do not": law.event_driven,
        "many worlds have one friction each: where it varies from place to place, run them one by one": (
            ground.friction_field is not None
        ),
        "on a GPU feet have points and balls: those that are ellipsoids or wheels run with device='cpu'": gpu
        and bool(setup.robot.point_axes.any()),
    }
    for sentence, given in refused.items():
        if given:
            raise SimulationError(sentence)


#: Initial values of each array of a world's state, one row for all worlds or one for each.
Rows = dict[str, np.ndarray]


def first_rows(setup: Setup, engine: Any) -> Rows:
    """The start at home on the ground, at rest and with unloaded contacts."""
    joints = setup.scene.joints
    return {
        **engine.first_kept,
        "qpos": setup.place()[None],
        "qvel": np.zeros((1, setup.scene.model.nv)),
        "ctrl": setup.robot.home_ctrl[None],
        "row_state": joints.state[None].copy(),
        "row_inertia": joints.inertia[None].copy(),
    }


def start_rows(known: Rows, which: np.ndarray, qpos: Any, qvel: Any) -> Rows:
    """The same, in the worlds of ``which`` (W,) from these coordinates and velocities where they are given."""
    changed = dict(known)
    for name, value in (("qpos", qpos), ("qvel", qvel)):
        if value is not None:
            changed[name] = replaced(known[name], rows(name, value, len(which), known[name].shape[1]), which)
    return changed


def states_of_worlds(setup: Setup, engine: Any, worlds: Iterable[int]) -> list[State]:
    """The states of some of many worlds on a CPU, in the form of single worlds: a run takes each of them."""
    run, arrays = Run(setup, 0.0, recorded=False), engine.state._asdict() | engine.kept._asdict()
    found, blank = [], run.state()
    for world in worlds:
        run.restore(blank)
        give_to(run, {name: array[world] for name, array in arrays.items()})
        found.append(run.state())
    run.give_back()
    return found


def give_to(run: Run, kept: dict[str, np.ndarray]) -> None:
    """Set a run that has not begun to a world's arrays."""
    places = int(kept["counters"][LIVE]) - run.simulation.robot.point_count
    sizes = run.workspace.sizes()
    size = next(i for i, room in enumerate(sizes) if room >= places)
    if size != run.workspace.size:
        run.resize(size)
    points, others = run.points, run.points.others
    for name in ("anchor", "force", "mode", "memory"):
        own = getattr(points, name)
        own[...] = kept[name][: len(own), ...].reshape(len(own), -1)[:, : own[0].size].reshape(own.shape)
    others.place[:], others.seated[:] = kept["place"], kept["seated"]
    for name in ("who", "pair", "spot"):
        getattr(others, name)[:] = kept[name][: len(others.who)]
    others.counters[LIVE] = kept["counters"][LIVE]
    for s in np.flatnonzero((others.who >= 0) & (others.who < len(others.local))):  # not contacts between bodies
        p, q = others.first + s, others.who[s]
        for name in ("local", "radius", "smooth", "axes"):
            getattr(points, name)[p] = getattr(others, name)[q]
    joints = run.conditions.constraints.joints
    joints.state[:], joints.inertia[:] = kept["row_state"], kept["row_inertia"]
    run.data.qpos[:], run.data.qvel[:], run.data.ctrl[:] = kept["qpos"], kept["qvel"], kept["ctrl"]
    run.step = int(kept["step"][0])
