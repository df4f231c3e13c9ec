"""The whole state of a world at one instant: a run continues from it bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import mujoco
import numpy as np

from footfall.errors import SimulationError
from footfall.simulation.setup import Setup

#: MuJoCo's part of a state: time, coordinates, activations, controls, applied forces, warm starts.
MUJOCO = int(mujoco.mjtState.mjSTATE_INTEGRATION)

#: Prefix of the names of a controller's arrays.
CONTROLLER = "controller"


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """The state of a world between two steps: coordinates, activations, controls, and the memory of the law, of the
    constraints and of a compiled controller. Made by ``world.state()`` and :meth:`footfall.Simulation.state`.

    Limitations: the memory of a controller that is a Python function is not part of the state.
    """

    robot: str
    law: str
    step: int  # steps taken since the start
    dt: float  # s
    mujoco: np.ndarray
    arrays: dict[str, np.ndarray]  # of the run, by name

    @property
    def time(self) -> float:
        """Time since the start, s."""
        return self.step * self.dt

    def __repr__(self) -> str:
        return f"State({self.robot}, {self.law}, t = {self.time:g} s)"


def check_start(state: State, qpos: Any = None, qvel: Any = None) -> None:
    """Refuse coordinates or velocities beside a state, which has its own."""
    if qpos is not None or qvel is not None:
        raise SimulationError(
            "start has coordinates and velocities of its own: give it without qpos and qvel, or write those of a world "
            "that was restored to it"
        )


def check_fit(state: State, setup: Setup) -> None:
    """Refuse a state of another robot, law or step."""
    own = (setup.robot.name, str(setup.law), setup.dt)
    if own != (state.robot, state.law, state.dt):
        raise SimulationError(
            f"a state of {state.robot} under {state.law}, dt = {state.dt:g} s, does not fit {own[0]} under {own[1]}, "
            f"dt = {own[2]:g} s: start from its qpos and qvel instead"
        )


class UnderWay:
    """An object whose memory compiled code writes to; it cannot be copied."""

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} is under way, and cannot be pickled or copied: send its simulation, and of a World "
            "its state(), which another restores"
        )
