"""Ott 2011: what the experiments have in common."""

from __future__ import annotations

import numpy as np

from footfall.control import Balance
from footfall.record import Push
from footfall.recording import Recording
from footfall.robot import load_robot
from footfall.simulation import Simulation

ROBOT, TRUNK, LAW = "torque-biped", "trunk", "linearizing-penalty"
DT = 1e-3  # s
FLOOR = 4.0  # N, least vertical force that is commanded
FORCE = 70.0  # N, sideways
LASTS = 0.05  # s
#: The paper's own gains and least force, which a robot of another size would get scaled.
BALANCE = Balance(kh=900.0, kv=3000.0, kr=100.0, dr=50.0, floor=FLOOR)
CLOSE = 2e-3  # m, from the reference: the robot has recovered
IN_TIME = 3.0  # s, after a push


def sideways(start: float, force: float = FORCE) -> Push:
    """The paper's lateral push, to the left."""
    return Push(TRUNK, force=(0.0, force, 0.0), start=start, duration=LASTS)


def stand(duration: float, *pushes: Push, law: str = LAW, controller: Balance | None = None) -> Recording:
    """The robot under balance control."""
    sim = Simulation(load_robot(ROBOT), law=law, dt=DT)
    return sim.run(duration, controller=controller or BALANCE, pushes=pushes).check()


def recovery(rec: Recording, after: float, base: Recording | None = None) -> float:
    """How long after ``after`` (s) the centre of mass was last further than 2 mm from its reference, s.

    With ``base``, from where it was in that run. inf if it was so at the end.
    """
    error = rec.signals["com_error"] - (0.0 if base is None else base.signals["com_error"])
    away = np.flatnonzero(np.linalg.norm(error, axis=1) > CLOSE)
    if not away.size:
        return 0.0
    return float("inf") if away[-1] == len(rec) - 1 else float(rec.time[away[-1] + 1]) - after


def way_of_feet(rec: Recording) -> float:
    """The longest horizontal way of a contact point from where it stood, m."""
    return float(np.linalg.norm((rec.position - rec.position[0])[..., :2], axis=2).max())


def commanded(rec: Recording) -> np.ndarray:
    """(T, P) N, commanded vertical forces."""
    return rec.signals["commanded_force"][..., 2]
