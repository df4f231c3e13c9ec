"""Everything that a world remembers at one instant: a run continues from it bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from footfall.errors import SimulationError
from footfall.simulation.setup import Setup

#: What MuJoCo needs to continue: time, coordinates, activations, controls, applied forces, warm starts.
MUJOCO = int(mujoco.mjtState.mjSTATE_INTEGRATION)

#: How the names of a controller's arrays begin.
CONTROLLER = "controller"

#: A :class:`footfall.simulation.run.Run`, which cannot be imported from here.
Run = Any


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """The state of a world between two steps: coordinates, activations and controls, what the law and the constraints
    remember of their contacts, and a compiled controller of its past. Made by ``world.state()`` and
    :meth:`footfall.Simulation.state`.

    Limitations: a controller that is a Python function keeps its own memory, which is not part of it.
    """

    robot: str
    law: str
    step: int  # steps taken since the start
    dt: float  # s
    mujoco: np.ndarray
    arrays: dict[str, np.ndarray]

    @property
    def time(self) -> float:
        """Time since the start, s."""
        return self.step * self.dt

    def __repr__(self) -> str:
        return f"State({self.robot}, {self.law}, t = {self.time:g} s)"


def live_arrays(run: Run) -> Iterator[tuple[str, np.ndarray]]:
    """All arrays of a run that one step leaves to the next, and a few more."""
    rooms = {
        "points": run.points,
        "others": run.points.others,
        "contacts": run.contacts,
        "joints": run.conditions.constraints.joints,
        "shared": run.conditions.constraints.shared,
        "held": run.scratch.held,
    }
    if run.simulation.law.event_driven:
        rooms["flow"] = run.flow
    for room, values in rooms.items():
        for name, value in values._asdict().items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                yield f"{room}.{name}", value
    clearance = run.conditions.clearance
    for name in ("place", "room", "looks"):  # by which a period from event to event may be taken in one piece
        yield f"clearance.{name}", getattr(clearance, name)
    yield "signals", run.scratch.signals
    if run.controls.inside is not None:
        for name, array in run.controls.inside.arrays():
            yield f"{CONTROLLER}{name}", array


def state_of(run: Run) -> State:
    """The state of a run between two steps."""
    setup: Setup = run.simulation
    numbers = np.zeros(mujoco.mj_stateSize(run.model, MUJOCO))
    mujoco.mj_getState(run.model, run.data, numbers, MUJOCO)
    arrays = {name: array.copy() for name, array in live_arrays(run)}
    return State(robot=setup.robot.name, law=str(setup.law), step=run.step, dt=setup.dt, mujoco=numbers, arrays=arrays)


def set_state(run: Run, state: State) -> None:
    """Put a run into a state of the same robot, under the same law with the same step.

    A compiled controller of the same kind and size continues from its state; any other starts afresh.
    """
    setup: Setup = run.simulation
    if not isinstance(state, State):
        raise SimulationError(f"a state is what world.state() gives, not {state!r}")
    own = (setup.robot.name, str(setup.law), setup.dt)
    if own != (state.robot, state.law, state.dt):
        raise SimulationError(
            f"a state of {state.robot} under {state.law}, dt = {state.dt:g} s, does not fit {own[0]} under {own[1]}, "
            f"dt = {own[2]:g} s: start from its qpos and qvel instead"
        )
    sizes = run.workspace.sizes()
    places = len(state.arrays.get("others.who", ()))
    if places in sizes and places != sizes[run.workspace.size]:
        run.resize(sizes.index(places))
    live = dict(live_arrays(run))
    shapes, kept = ({name: array.shape for name, array in arrays.items()} for arrays in (live, state.arrays))
    of_controller = {name for name in shapes.keys() | kept.keys() if name.startswith(CONTROLLER)}
    if any(shapes.get(name) != kept.get(name) for name in of_controller | {"signals"}):
        for name in of_controller | {"signals"}:
            live.pop(name, None)
        of_controller |= {"signals"}
    if {n: s for n, s in shapes.items() if n not in of_controller} != {
        n: s for n, s in kept.items() if n not in of_controller
    }:
        raise SimulationError(
            f"the state of {state.robot} has other contact points or constraints than this simulation"
        )
    mujoco.mj_setState(run.model, run.data, state.mujoco, MUJOCO)
    for name, array in live.items():
        array[...] = state.arrays[name]
    run.step = state.step
