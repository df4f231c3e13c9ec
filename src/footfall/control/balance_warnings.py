"""What a balance controller reports of a run: wrenches, torques and references that cannot be had, and falls."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from footfall.control.contact_forces import ContactForces
from footfall.control.episodes import Watch
from footfall.robot import Robot

#: A wrench is missed if more than this part of the weight lacks, or of the weight times the height of the mass.
MISSED = 0.01
#: A robot whose centre of mass is below this part of its height at the start has fallen.
FALLEN = 0.5
#: At rest (m/s) for a while (s) this far (m) from the reference, a robot does not get there.
AT_REST, A_WHILE, FAR = 5e-3, 0.5, 5e-3
#: Whether a robot could stand at its reference is asked this often, s.
ASK_EVERY = 0.05


class BalanceWarnings:
    """Reports what balance control cannot have.

    ``weight`` (3,) is the force that carries the robot (N), ``limit`` the torques of its motors (N m).
    """

    def __init__(self, robot: Robot, weight: np.ndarray, limit: np.ndarray, question: ContactForces) -> None:
        self._watch = Watch()
        self.warnings = self._watch.warnings
        self._names = [robot.model.actuator(i).name for i in range(robot.model.nu)]
        self._weight, self._limit, self._question = weight, limit, question
        self._size = float(np.linalg.norm(weight))
        self._height = math.nan
        self._next_question, self._rest_since = -math.inf, math.inf

    def begin(self, height: float) -> None:
        """``height`` (m) of the centre of mass over the lowest contact point, as it shall be."""
        self._height = height

    def falls(self, time: float, height: float) -> bool:
        """Whether the robot has fallen, and the warning that it has."""
        if height >= FALLEN * self._height:
            return False
        before = [warning for warning in self.warnings if warning.kind in ("infeasible", "unreachable")]
        cause = f"; {before[-1].kind} since {before[-1].time:.4g} s" if before else ""
        self._watch.note(time, "fallen", f"the centre of mass is {height:.3g} m high, motors off{cause}")
        return True

    def look(self, time: float, forces: ContactForces, torque: np.ndarray) -> None:
        """Report a wrench or a torque that cannot be had."""
        if not forces.solved:
            self._watch.see(time, "unsolved", 1.0, lambda: "the solver gave no contact forces, those before are kept")
        short, said = self._lack(forces)
        if short > MISSED:
            self._watch.see(time, "infeasible", short, lambda: f"the contacts cannot give the desired wrench: {said()}")
        over = np.abs(torque) / self._limit
        worst = int(over.argmax()) if over.size else -1
        if worst >= 0 and over[worst] > 1.0:
            self._watch.see(
                time,
                "saturated",
                float(over[worst]),
                lambda: (
                    f"motor '{self._names[worst]}' is asked for {abs(torque[worst]):.3g} N m "
                    f"and has {self._limit[worst]:.3g} N m"
                ),
            )

    def ask(
        self, time: float, wanted: np.ndarray, error: np.ndarray, speed: float, place: np.ndarray, frames: np.ndarray
    ) -> None:
        """Report a reference (3,) m at which the contacts could not carry the robot, or that it does not get to."""
        if time >= self._next_question:
            self._next_question = time + ASK_EVERY
            still = np.concatenate([self._weight, np.zeros(3)])
            self._question.distribute(still, place - wanted, frames)
            short, said = self._lack(self._question)
            if short > MISSED:
                where = ", ".join(f"{x:.3g}" for x in wanted)
                self._watch.see(
                    time,
                    "unreachable",
                    short,
                    lambda: f"the robot cannot stand still with its centre of mass at ({where}) m: {said()}",
                )
        self._rest_since = min(self._rest_since, time) if speed < AT_REST else math.inf
        if time - self._rest_since > A_WHILE:
            away = float(np.linalg.norm(error))
            if away > FAR:
                said_so = f"the centre of mass rests {1e3 * away:.3g} mm from its reference"
                self._watch.see(time, "unreachable", away, lambda: said_so)

    def _lack(self, forces: ContactForces) -> tuple[float, Callable[[], str]]:
        x, y, z, roll, pitch, yaw = forces.missed.tolist()
        force, moment = math.hypot(x, y, z), math.hypot(roll, pitch, yaw)
        short = max(force, moment / self._height) / self._size
        return short, lambda: f"{force:.3g} N and {moment:.3g} N m short"
