"""Views of many worlds: their state, their forces, and what is measured while they run."""

from __future__ import annotations

from typing import Any

import numpy as np

from footfall.engine.worlds.arrays import COP, ENERGY, FALLEN, IMPULSE, PEAK, SLIP, WORK
from footfall.record import Failure
from footfall.simulation.setup import Setup
from footfall.simulation.worlds.outcome import failure_of


class Views:
    """W worlds, to look at."""

    simulation: Setup
    count: int
    device: str
    precision: str
    _engine: Any

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"Worlds({self.simulation!r}, {self.count}, device={self.device!r}, precision={self.precision!r})"

    @property
    def qpos(self) -> Any:
        """(W, nq) coordinates, live: write to them, and the worlds continue from there."""
        return self._engine.array("qpos")

    @property
    def qvel(self) -> Any:
        """(W, nv) velocities, live."""
        return self._engine.array("qvel")

    def read(self, name: str) -> np.ndarray:
        """``qpos``, ``qvel`` or ``ctrl`` as a NumPy array, to read, on whichever device the worlds are."""
        return self._engine.host(name)

    @property
    def ctrl(self) -> Any:
        """(W, nu) controls, live."""
        return self._engine.array("ctrl")

    @property
    def force(self) -> Any:
        """(W, P, 3) N, contact forces of the last step on the points of the feet, world frame."""
        return self._engine.array("push")

    @property
    def body_force(self) -> Any:
        """(W, 3) N, sum of the contact forces of the last step on all bodies other than feet, world frame."""
        return self._engine.array("beside")

    @property
    def mode(self) -> Any:
        """(W, P) of the points of the feet in the last step: 0 open, 1 stick, 2 slide."""
        return self._engine.array("mode")[:, : self.simulation.robot.point_count]

    @property
    def time(self) -> np.ndarray:
        """(W,) s since the start or the last reset."""
        return self._engine.first("step") * self.simulation.dt

    @property
    def status(self) -> np.ndarray:
        """(W,) 0 going on, 1 diverged, 2 no ground, 3 stopped by its controller, 5 fallen."""
        return self._engine.first("outcome")

    @property
    def fallen(self) -> np.ndarray:
        """(W,) whether the robot is down."""
        return self.status == FALLEN

    @property
    def unsolved(self) -> np.ndarray:
        """(W,) steps in which the law found no solution."""
        return self._engine.first("unsolved")

    @property
    def peak_force(self) -> np.ndarray:
        """(W,) N, largest normal force of all contact points together."""
        return self._tally(PEAK)

    @property
    def impulse(self) -> np.ndarray:
        """(W, 3) N s, of all contact forces since the start, world frame."""
        return self._engine.host("tally")[:, IMPULSE : IMPULSE + 3]

    @property
    def slip(self) -> np.ndarray:
        """(W,) m, distance that loaded contact points slipped, summed over them."""
        return self._tally(SLIP)

    @property
    def cop(self) -> np.ndarray:
        """(W, 3) m, centre of pressure of the last step, world frame; NaN in the air."""
        return self._engine.host("tally")[:, COP : COP + 3]

    @property
    def contact_work(self) -> np.ndarray:
        """(W,) J, work of the ground on the robot since the start."""
        return self._tally(WORK)

    @property
    def energy(self) -> np.ndarray:
        """(W,) J, kinetic energy and that of the weight above z = 0, at the beginning of the last step."""
        return self._tally(ENERGY)

    @property
    def failure(self) -> list[Failure | None]:
        """Why each world ended, or ``None``."""
        outcome = self._engine.host("outcome")
        return [failure_of(self.simulation, row) for row in outcome]

    def _tally(self, column: int) -> np.ndarray:
        return self._engine.host("tally")[:, column]
