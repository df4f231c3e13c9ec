"""Measured ground forces that a law is fitted to, and how far a simulation is from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from footfall.errors import StudyError
from footfall.files.measured import Measured
from footfall.measure.force_errors import measured_feet
from footfall.measure.trajectory import force_error
from footfall.record import Push
from footfall.simulation import Simulation
from footfall.standing import unit_rise

#: What ``follow_forces`` measures, with its weight in the loss.
FORCE_WEIGHTS = {"force_weights": 1.0}


@dataclass(frozen=True, eq=False)
class ForceTrial:
    """Ground forces measured during a motion that a simulation can repeat.

    Attributes:
        measured: vectors ``FOOT.force`` or ``total.force`` in N with z up, as ``footfall.load_forces`` gives them; its
            time counts from the start of the run, s. Gaps (NaN) are not compared.
        qpos, qvel: (nq,) and (nv,) start; left out, home on the ground and at rest.
        drop: m, how much higher than ``qpos`` the root starts.
        controller: as of ``Simulation.run``.
        pushes: that acted on the robot.
    """

    measured: Measured
    qpos: Sequence[float] | np.ndarray | None = None
    qvel: Sequence[float] | np.ndarray | None = None
    drop: float = 0.0
    controller: Callable[..., Any] | Any = None
    pushes: Sequence[Push] = field(default=())

    def __post_init__(self) -> None:
        first, last = (float(self.measured.time[i]) for i in (0, -1))
        elsewhere = first > last - first > 0.0  # it begins later than it lasts: by the clock of a laboratory
        if first < 0.0 or last <= 0.0 or elsewhere:
            raise StudyError(
                f"{self.measured.source}: time runs from {first:g} to {last:g} s, "
                "and counts from the start of the run: shift it so that this is 0, with measured.shifted(SECONDS)"
            )


def follow_forces(sim: Simulation, trial: ForceTrial, weight: float | None = None) -> dict[str, float]:
    """Root mean square of the difference of the forces in body weights, over all feet that are measured.

    ``weight`` (N) is that of a body; left out, of the simulated one. Where masses are fitted it must not change: a
    heavy robot would have small errors.

    The force of a step is compared at its own time, between steps by straight lines; what is measured with a low pass
    is best compared with a step of about its rate. A run that fails has no force after its end.
    """
    qpos = np.array(sim.place() if trial.qpos is None else trial.qpos, dtype=float)
    if trial.drop:
        qpos += trial.drop * unit_rise(sim.robot)
    measured = trial.measured
    rec = sim.run(
        float(measured.time[-1]), qpos=qpos, qvel=trial.qvel, controller=trial.controller, pushes=trial.pushes
    )
    squares, count = 0.0, 0
    for foot, simulated in measured_feet(rec, measured):
        theirs = measured.vector(f"{foot}.force")
        known = np.isfinite(theirs).all(axis=1)
        if not known.any():
            continue
        time = measured.time[known]
        ours = np.column_stack([np.interp(time, rec.time, simulated[:, k], right=0.0) for k in range(3)])
        squares += known.sum() * force_error(ours, theirs[known], sim.robot.weight if weight is None else weight) ** 2
        count += int(known.sum())
    if not count:
        raise StudyError(f"{measured.source} has gaps throughout: there is no force to compare")
    return {"force_weights": float(np.sqrt(squares / count))}
