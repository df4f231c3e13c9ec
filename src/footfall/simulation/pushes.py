"""External pushes made ready for the compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import mujoco
import numpy as np

from footfall.engine.world import Pushes
from footfall.errors import SimulationError, did_you_mean, warn
from footfall.record import Push


def make_pushes(model: mujoco.MjModel, pushes: Sequence[Push], dt: float, total: int | None = None) -> Pushes:
    """The pushes of a run in steps of ``dt`` (s), of which it takes ``total``, if that is known."""
    if not pushes:
        return no_pushes()
    known = [model.body(i).name for i in range(1, model.nbody)]
    for push in pushes:
        if push.body not in known:
            raise SimulationError(f"push: no body is called '{push.body}': {did_you_mean(str(push.body), known)}")
        if total and push.start / dt >= total + 0.5:
            message = f"the push on {push.body} at {push.start:g} s does not act: the run ends at {total * dt:g} s"
            warn(message)
    return Pushes(
        body=np.array([model.body(push.body).id for push in pushes], dtype=np.int64),
        start=np.array([push.steps(dt)[0] for push in pushes], dtype=np.int64),
        stop=np.array([push.steps(dt)[1] for push in pushes], dtype=np.int64),
        wrench=np.array([[*push.force, *push.torque] for push in pushes], dtype=float).reshape(-1, 6),
    )


@cache
def no_pushes() -> Pushes:
    """Of a run that nobody pushes."""
    body, start, stop = np.zeros((3, 0), dtype=np.int64)
    return Pushes(body, start, stop, np.zeros((0, 6)))
