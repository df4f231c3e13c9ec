"""The largest push that a robot survives under each contact law, found by bisection.

push = ff.Push("trunk", (0, 70, 0), duration=0.05)
for (found,) in largest_pushes("torque-biped", [push], laws="time-stepping", controller="balance"):
    print(found)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import count
from threading import Event, Lock
from typing import Any

from footfall.arguments import public
from footfall.contact.base import Law
from footfall.contact.registry import chosen_laws
from footfall.control import chosen_controller
from footfall.control.base import CompiledController, StatefulController
from footfall.errors import FootfallError, SimulationError, without_warnings
from footfall.given_numbers import Accuracy, NotNegative
from footfall.ground import Ground
from footfall.measure import fall, support_margin
from footfall.process.machine import cores
from footfall.record import Push
from footfall.recording import Recording
from footfall.robot import Robot
from footfall.robot.load import AnyRobot, as_robot
from footfall.simulation import Simulation
from footfall.simulation.controls import Controller

#: Factor between tries until the limit is bracketed, and most such tries.
FACTOR, TRIES = 1.6, 16
#: Called after each try with law, number of the push, its size, and whether the robot survived it.
Progress = Callable[[str, int, float, bool], None]


@public
@dataclass(frozen=True)
class PushLimit:
    """The largest push under one law.

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


@public
def largest_pushes(
    robot: AnyRobot,
    pushes: Sequence[Push],
    *,
    laws: str | Sequence[str | Law] = "all",
    controller: Controller | str | None = "default",
    ground: Ground | None = None,
    dt: float | None = None,
    wait: NotNegative = 1.5,
    within: Accuracy = 0.05,
    progress: Progress | None = None,
) -> list[tuple[PushLimit, ...]]:
    """Find, for each push on its own, the largest multiple that the robot survives under each law.

    A robot survives if it has not fallen (``measure.fall``) some time after the push and can come to rest without a
    step: its capture point lies in the support (``measure.capture_point``). Of one that walks, whose capture point
    leaves the support also without a push, only the fall counts. A run that fails does not count as survived, and a
    robot that falls without a push survives none.

    The tries of all pushes run side by side on all cores, unless the controller is a Python function.

    Limitations: bisection assumes that a robot which falls under a push falls under every larger one.

    Args:
        robot: as in :class:`footfall.Simulation`.
        pushes: their bodies, directions, starts and durations; the size of each is its first try, and each law starts
            from the result of the law before.
        laws: names or laws with options; "all" are those of ``footfall.laws()``.
        controller: as in :meth:`footfall.Simulation.run`.
        ground: a level plane if left out.
        dt: step, s; left out, that of each law.
        wait: s between the end of the push and the judgement.
        within: relative accuracy of the limits.
        progress: called after each run with the law's name, the number of the push, the size that was tried and whether
            it was survived.

    The ``KeyboardInterrupt`` of a Ctrl-C has what was found until then as ``found``, with the law that was tried last.
    """
    robot = as_robot(robot)
    check_fall(robot)
    controller = chosen_controller(controller, robot)
    sizes, units = [_size(push) for push in pushes], ["N" if any(push.force) else "N m" for push in pushes]
    begins, ends = min(push.start for push in pushes), max(push.start + push.duration for push in pushes)
    apart = controller is None or isinstance(controller, CompiledController | StatefulController)
    found: list[list[PushLimit]] = [[] for _ in pushes]
    stopped, turn = Event(), Lock()

    def seek(i: int, sim: Simulation, walks: bool) -> None:
        """Find the limit of a push under the law of a simulation."""
        limits, law = found[i], sim.law.name
        before, last = len(limits), limits[-1].survived if limits and limits[-1].failed < math.inf else 0.0

        def outcome(size: float) -> str:
            why = push_outcome(sim, _scaled(pushes[i], size / sizes[i]), wait, controller, walks=walks)
            if progress is not None:
                with turn:
                    progress(law, i, size, not why)
            return why

        for limit in search(outcome, last or sizes[i], 1.0 + within if last else FACTOR, within):
            limits[before:] = [replace(limit, law=law, unit=units[i])]
            if stopped.is_set():
                return

    try:
        with without_warnings(), ThreadPoolExecutor(min(len(pushes), cores()) if apart else 1) as pool:
            for law in chosen_laws(laws):
                sim = Simulation(robot, ground=ground, law=law, dt=dt)
                alone, walks = _without_push(sim, begins, ends + wait, controller)
                if alone:
                    for limits, unit in zip(found, units, strict=True):
                        limits.append(PushLimit(law.name, 0.0, 0.0, unit, f"without a push: {alone}", 1))
                    continue
                try:
                    for job in [pool.submit(seek, i, sim, walks) for i in range(len(pushes))]:
                        job.result()
                finally:
                    stopped.set()
                stopped.clear()
    except KeyboardInterrupt as interrupt:
        interrupt.found = [tuple(limits) for limits in found]  # type: ignore[attr-defined]
        raise
    return [tuple(limits) for limits in found]


def _size(push: Push) -> float:
    """N or N m."""
    size = math.sqrt(sum(x * x for x in (*push.force, *push.torque)))
    if size == 0.0 or (any(push.force) and any(push.torque)):
        raise SimulationError("the largest push is sought along a force or a torque: give one of them, not zero")
    return size


def search(outcome: Callable[[float], str], start: float, factor: float, within: float) -> Iterator[PushLimit]:
    """What is known after each try: steps of ``factor`` bracket the limit, then it is bisected. ``outcome`` is "" of a
    size that is survived.
    """
    low, high, why, size = 0.0, math.inf, "", start
    for runs in count(1):
        if failure := outcome(size):
            high, why = size, failure
        else:
            low = size
        yield PushLimit(law="", survived=low, failed=high, unit="", why=why, runs=runs)
        if low > 0.0 and high < math.inf:
            if high - low <= within * high:
                return
            size = 0.5 * (low + high)
        elif runs == TRIES:
            return
        else:
            size, factor = size / factor if failure else size * factor, min(FACTOR, 2.0 * factor - 1.0)


def push_outcome(sim: Simulation, push: Push, wait: float, controller: Any, *, walks: bool = False) -> str:
    """The outcome of a push, "" if the robot survived (see ``largest_pushes``) ``wait`` seconds after it."""
    duration = push.start + push.duration + wait
    try:
        rec = sim.run(duration, controller=controller, pushes=[push], record_dt=_every(sim.dt))
    except FootfallError as error:
        return str(error)
    return _judged(rec, duration, walks)


def _without_push(sim: Simulation, begin: float, end: float, controller: Any) -> tuple[str, bool]:
    """Why a robot does not survive by itself until ``end`` (s), "" if it does; and whether it walks: its capture point
    leaves the support after ``begin`` (s), where it would be pushed.
    """
    rec = sim.run(end, controller=controller, record_dt=_every(sim.dt))
    why = _judged(rec, end, walks=True)
    return why, not why and bool((support_margin(rec.slice(begin), "capture") < 0.0).any())


def _judged(rec: Recording, duration: float, walks: bool) -> str:
    """The same of a recording that was to last so long (s)."""
    if rec.failure is not None:
        return rec.failure.message
    fallen = fall(rec)
    if fallen is not None:
        return str(fallen)
    if walks:
        return ""
    margin = float(support_margin(rec.slice(duration - 2.0 * _every(rec.dt)), "capture")[-1])
    return "" if margin > 0.0 else "tipping at the end: its capture point is not in the support"


def check_fall(robot: Robot) -> None:
    """Refuse a robot that cannot fall."""
    if robot.held:
        body = robot.model.body(robot.base).name
        raise SimulationError(f"no push lets {robot.name} fall: its body '{body}' is held in the world")
    if robot.weight == 0.0:
        raise SimulationError(f"no push lets {robot.name} fall: its model has no gravity")


def _every(dt: float) -> float:
    """A multiple of the step near 5 ms, s."""
    return dt * max(1, round(5e-3 / dt))


def _scaled(push: Push, factor: float) -> Push:
    force, torque = ((factor * x, factor * y, factor * z) for x, y, z in (push.force, push.torque))
    return replace(push, force=force, torque=torque)
