"""External pushes made ready for the compiled loop."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from footfall.engine.world import Pushes
from footfall.errors import SimulationError, did_you_mean
from footfall.record import Push


def make_pushes(model: mujoco.MjModel, pushes: Sequence[Push], dt: float) -> Pushes:
    known = [model.body(i).name for i in range(1, model.nbody)]
    for push in pushes:
        if push.body not in known:
            raise SimulationError(f"push: no body is called '{push.body}': {did_you_mean(push.body, known)}")
        numbers = [*push.force, *push.torque, push.start, push.duration]
        if len(numbers) != 8 or not np.isfinite(numbers).all() or push.duration < 0:
            raise SimulationError(f"push on {push.body}: force and torque are three finite numbers, times >= 0")
    return Pushes(
        body=np.array([model.body(push.body).id for push in pushes], dtype=np.int64),
        start=np.array([push.steps(dt)[0] for push in pushes], dtype=np.int64),
        stop=np.array([push.steps(dt)[1] for push in pushes], dtype=np.int64),
        wrench=np.array([[*push.force, *push.torque] for push in pushes], dtype=float).reshape(-1, 6),
    )
