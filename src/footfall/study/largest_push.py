"""The largest push that a robot survives under each contact law, found by bisection.

for found in largest_push("torque-biped", ff.Push("trunk", (0, 70, 0), duration=0.05), controller="balance"):
    print(found)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from footfall.contact import law as make_law
from footfall.contact import laws as all_laws
from footfall.contact.base import Law
from footfall.errors import FootfallError, FootfallWarning, SimulationError
from footfall.ground import Ground
from footfall.measure import fall, support_margin
from footfall.record import Push
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation

if TYPE_CHECKING:
    from footfall.simulation.controls import Controller

#: From one try to the next while the limit is not enclosed, and how often that is done.
FACTOR, TRIES = 1.6, 16
#: Called after each try with law, size of the push, and whether the robot survived it.
Progress = Callable[[str, float, bool], None]


@dataclass(frozen=True)
class PushLimit:
    """How large a push may be under one law.

    Attributes:
        law: its name.
        survived: the largest push that was survived, 0 if none was.
        failed: the smallest that was not, inf if all were.
        unit: of both, "N" or "N m".
        why: what became of the robot at ``failed``.
        runs: simulations it took.
    """

    law: str
    survived: float
    failed: float
    unit: str
    why: str
    runs: int

    def __str__(self) -> str:
        why = f"; at {self.failed:.4g} {self.unit}: {self.why}" if self.why else ""
        return f"{self.law}: {self.survived:.4g} {self.unit}{why}"


def largest_push(
    robot: Robot | str,
    push: Push,
    *,
    laws: str | Sequence[str | Law] = "all",
    controller: Controller | str | None = None,
    ground: Ground | None = None,
    dt: float = 1e-3,
    wait: float = 1.5,
    within: float = 0.05,
    progress: Progress | None = None,
) -> tuple[PushLimit, ...]:
    """Scale ``push`` up and down until it is known to ``within`` (relative) how much the robot survives.

    To survive is not to have fallen (``measure.fall``) ``wait`` seconds after the push and to be able to come to rest
    without a step: the capture point lies in the support (``measure.capture_point``). A run that fails is not survived.
    The size of ``push`` is the first try; each law begins where the one before ended.

    Limitations: bisection assumes that a robot which falls under a push falls under every larger one.
    """
    first = math.sqrt(sum(x * x for x in (*push.force, *push.torque)))
    if first == 0.0 or (any(push.force) and any(push.torque)):
        raise SimulationError("the largest push is sought along a force or a torque: give one of them, not zero")
    if not 0.0 < within < 1.0:
        raise SimulationError(f"within = {within} but it must be a number between 0 and 1")
    robot = load_robot(robot) if isinstance(robot, str) else robot
    unit = "N" if any(push.force) else "N m"
    chosen = all_laws() if laws == "all" else [laws] if isinstance(laws, str | Law) else laws
    found: list[PushLimit] = []
    for law in map(make_law, chosen):
        sim = Simulation(robot, ground=ground, law=law, dt=dt)

        def outcome(size: float, sim: Simulation = sim) -> str:
            why = push_outcome(sim, _scaled(push, size / first), wait, controller)
            if progress is not None:
                progress(sim.law.name, size, not why)
            return why

        known = bool(found) and found[-1].survived > 0.0 and found[-1].failed < math.inf
        start, factor = (found[-1].survived, 1.0 + within) if known else (first, FACTOR)
        found.append(replace(_bisect(outcome, start, factor, within), law=law.name, unit=unit))
    return tuple(found)


def _bisect(outcome: Callable[[float], str], start: float, factor: float, within: float) -> PushLimit:
    """The limit, enclosed by steps of ``factor`` that double as they go on, then halved."""
    low, high, why, runs, size = 0.0, math.inf, "", 0, start
    for _ in range(TRIES):  # until the limit is between two tries
        runs += 1
        failure = outcome(size)
        if failure:
            high, why, size = size, failure, size / factor
        else:
            low, size = size, size * factor
        if low > 0.0 and high < math.inf:
            break
        factor = min(FACTOR, 2.0 * factor - 1.0)
    while low > 0.0 and high < math.inf and high - low > within * high:
        size, runs = 0.5 * (low + high), runs + 1
        failure = outcome(size)
        if failure:
            high, why = size, failure
        else:
            low = size
    return PushLimit("", low, high, "", why, runs)


def push_outcome(sim: Simulation, push: Push, wait: float, controller: Controller | str | None) -> str:
    """What became of a robot under a push, "" if it survived (see ``largest_push``) ``wait`` seconds after it."""
    duration = push.start + push.duration + wait
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FootfallWarning)  # a run that diverges says so in its recording
            rec = sim.run(duration, controller=controller, pushes=[push], record_dt=_every(sim.dt))
    except FootfallError as error:
        return str(error)
    if rec.failure is not None:
        return rec.failure.message
    fallen = fall(rec)
    if fallen is not None:
        return f"fell at {fallen.time:.3g} s: {fallen.cause}"
    margin = float(support_margin(rec.slice(duration - 2.0 * _every(sim.dt)), "capture")[-1])
    return "" if margin > 0.0 else "tipping at the end: its capture point is not in the support"


def _every(dt: float) -> float:
    """A multiple of the step near 5 ms, s."""
    return dt * max(1, round(5e-3 / dt))


def _scaled(push: Push, factor: float) -> Push:
    force, torque = ((factor * x, factor * y, factor * z) for x, y, z in (push.force, push.torque))
    return replace(push, force=force, torque=torque)
