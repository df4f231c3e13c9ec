"""The basin of a controller: the largest push in every direction that a robot survives, all directions at once.

    basin = push_basin("spatial-biped", law="time-stepping", controller="posture", directions=64)
    basin.plot().savefig("basin.png")

Where law and controller allow it every direction is a world: one run of many worlds is a step of all bisections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.contact.base import Law
from footfall.errors import SimulationError
from footfall.given_numbers import is_whole
from footfall.ground import Ground
from footfall.record import Push
from footfall.robot.load import AnyRobot, as_robot
from footfall.study.largest_push import check_fall, largest_pushes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from footfall.simulation.controls import Controller

#: The first try, times the weight.
FIRST = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class PushBasin:
    """Largest horizontal pushes survived, by direction.

    Attributes:
        robot, law: names.
        angle: (N,) rad, direction of the push from x towards y.
        survived: (N,) N, the largest that was survived.
        failed: (N,) N, the smallest that was not, inf if all were.
        duration: of the push, s.
        runs: simulations it took.
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

    __repr__ = __str__  # what prompts and notebooks show

    def plot(self) -> Figure:
        """A polar plot of the pushes survived, N."""
        from footfall.show.style import new_figure

        around = np.append(np.arange(len(self.angle)), 0)
        with new_figure(5.0, 5.0) as figure:
            axes: Any = figure.add_subplot(projection="polar")
            axes.fill(self.angle[around], self.survived[around], alpha=0.3)
            axes.plot(self.angle[around], self.survived[around])
            axes.set_title(f"{self.robot}, {self.law}\nlargest push of {self.duration:g} s survived, N")
        return figure


def push_basin(
    robot: AnyRobot,
    *,
    law: Law | str = "linearizing-penalty",
    controller: Controller | str | None = "posture",
    ground: Ground | None = None,
    directions: int = 64,
    body: str | None = None,
    duration: float = 0.1,
    wait: float = 1.5,
    within: float = 0.05,
    dt: float | None = None,
) -> PushBasin:
    """The largest horizontal push of ``duration`` (s) on ``body`` that is survived, in all directions.

    Survival and limitations are those of :func:`~footfall.study.largest_push.largest_pushes`.

    Args:
        robot: as in :class:`footfall.Simulation`.
        law: its name, or one with options.
        controller: as in :meth:`footfall.Simulation.run`.
        ground: a level plane if left out.
        directions: how many, evenly around the vertical.
        body: the body that is pushed; the root if left out.
        duration: of the push, s.
        wait: s between the end of the push and the judgement.
        within: relative accuracy of the limits.
        dt: step, s; left out, that of the law.
    """
    if not is_whole(directions, 1):
        raise SimulationError(f"directions = {directions!r}, but it must be a whole number > 0")
    robot = as_robot(robot)
    check_fall(robot)
    angle = 2.0 * np.pi * np.arange(directions) / directions
    ways = FIRST * robot.weight * np.column_stack([np.cos(angle), np.sin(angle)])
    pushes = [Push(body or robot.root, (float(x), float(y), 0.0), start=0.1, duration=duration) for x, y in ways]
    settings: Any = {"laws": [law], "controller": controller, "ground": ground, "dt": dt}
    limits = [one for (one,) in largest_pushes(robot, pushes, wait=wait, within=within, **settings)]
    survived, failed = (np.array([getattr(one, name) for one in limits]) for name in ("survived", "failed"))
    return PushBasin(robot.name, limits[0].law, angle, survived, failed, duration, sum(one.runs for one in limits))
