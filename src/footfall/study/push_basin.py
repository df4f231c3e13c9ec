"""The basin of a controller: the largest push in every direction that a robot survives, all directions at once.

    basin = push_basin("spatial-biped", law="time-stepping", controller="posture", directions=64)
    basin.plot().savefig("basin.png")

Every direction is a world, so that one run of many worlds is a step of all bisections together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.contact.base import Law
from footfall.errors import SimulationError
from footfall.ground import Ground
from footfall.record import Push
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation
from footfall.simulation.worlds import Worlds
from footfall.study.largest_push import check_fall, check_wait

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: From one try to the next while a limit is not enclosed, and how often that is done.
FACTOR, TRIES = 1.6, 12


@dataclass(frozen=True, eq=False)
class PushBasin:
    """Largest horizontal pushes survived, by direction.

    Attributes:
        robot, law: names.
        angle: (N,) rad, direction of the push from x towards y.
        survived: (N,) N, the largest that was survived.
        failed: (N,) N, the smallest that was not, inf if all were.
        duration: of the push, s.
        runs: of all worlds together.
    """

    robot: str
    law: str
    angle: np.ndarray
    survived: np.ndarray
    failed: np.ndarray
    duration: float
    runs: int

    def __str__(self) -> str:
        return (
            f"{self.robot} under {self.law}: pushes of {self.duration:g} s are survived up to "
            f"{self.survived.min():.4g} to {self.survived.max():.4g} N, by direction"
        )

    def plot(self) -> Figure:
        """A polar plot of the pushes survived, N."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5, 5), layout="constrained")
        axes: Any = figure.add_subplot(projection="polar")
        around = np.append(np.arange(len(self.angle)), 0)
        axes.fill(self.angle[around], self.survived[around], alpha=0.3)
        axes.plot(self.angle[around], self.survived[around])
        axes.set_title(f"{self.robot}, {self.law}\nlargest push of {self.duration:g} s survived, N")
        return figure


def push_basin(
    robot: Robot | str,
    *,
    law: Law | str = "linearizing-penalty",
    controller: Any = "posture",
    ground: Ground | None = None,
    directions: int = 64,
    body: str | None = None,
    duration: float = 0.1,
    wait: float = 1.5,
    within: float = 0.05,
    dt: float | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> PushBasin:
    """Bisect the size of horizontal pushes of ``duration`` (s) on ``body``, the root if left out, in all directions.

    To survive is not to be down some time after the push: the centre of mass at more than half its height.

    Limitations: bisection assumes that a robot which falls under a push falls under every larger one.

    Args:
        robot: a robot, or the name of a built-in one.
        law: one that many worlds have.
        controller: a compiled one.
        ground: a level plane if left out.
        directions: how many, evenly around the vertical.
        body: that is pushed; the root if left out.
        duration: of the push, s.
        wait: s after the push, until it is judged.
        within: how exactly the limits are found, relative.
        dt: step, s; left out, that of the law.
        progress: called after each run with its number and the largest relative uncertainty.
    """
    if not (isinstance(directions, int) and directions > 0):
        raise SimulationError(f"directions = {directions!r}, but it must be a whole number > 0")
    if not 0.0 < within < 1.0:
        raise SimulationError(f"within = {within} but it must be a number between 0 and 1")
    check_wait(wait)
    own = load_robot(robot) if isinstance(robot, str) else robot
    check_fall(own)
    sim = Simulation(own, law=law, ground=ground, dt=dt)
    pushed = own.model.body(int(own.model.jnt_bodyid[0])).name if body is None else body
    angle = 2.0 * np.pi * np.arange(directions) / directions
    worlds = Worlds(sim, directions)
    low, high = np.zeros(directions), np.full(directions, np.inf)
    size, runs = np.full(directions, 0.1 * own.weight), 0
    for run in range(TRIES + 64):
        enclosed = (low > 0.0) & np.isfinite(high)
        wide = np.where(enclosed, high - low > within * np.where(enclosed, high, 1.0), run < TRIES)
        if not wide.any():
            break
        pushes = [
            [Push(pushed, (s * float(np.cos(a)), s * float(np.sin(a)), 0.0), start=0.1, duration=duration)]
            for s, a in zip(size, angle, strict=True)
        ]
        worlds.push(pushes)
        worlds.reset()
        worlds.run(0.1 + duration + wait, controller=controller)
        runs += 1
        survived = worlds.status == 0
        low = np.where(wide & survived, np.maximum(low, size), low)
        high = np.where(wide & ~survived, np.minimum(high, size), high)
        between = 0.5 * (low + np.where(np.isfinite(high), high, low))
        size = np.where((low > 0.0) & np.isfinite(high), between, np.where(survived, size * FACTOR, size / FACTOR))
        if progress is not None:
            progress(runs, float(np.max((high - low) / high, initial=0.0, where=np.isfinite(high))))
    return PushBasin(
        robot=own.name, law=sim.law.name, angle=angle, survived=low, failed=high, duration=duration, runs=runs
    )
