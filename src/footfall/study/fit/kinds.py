"""Kinds of trials that a law can be fitted to, and how each is simulated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from footfall.errors import StudyError
from footfall.files.measured import Measured
from footfall.robot import Robot, load_robot
from footfall.simulation import Simulation
from footfall.study.fit.forces import FORCE_WEIGHTS, ForceTrial, follow_forces
from footfall.study.fit.impacts import IMPACT_WEIGHTS, ImpactTrial, follow_impact
from footfall.study.fit.presets import of_box, of_cube, preset
from footfall.study.fit.pulls import PULL_WEIGHTS, follow_pull, mean_mass, sled
from footfall.study.fit.ranges import Range
from footfall.study.fit.trials import TOSS_WEIGHTS, Toss, box, cube, follow, step_of
from footfall.study.pull_data import Pull

#: Step where the trials do not say otherwise, s, and the longest under a law that finds events within it.
STEP, LONGEST_PERIOD = 1e-3, 1e-2
#: Ranges of friction under a sled; static friction below dynamic friction is not allowed.
PULLED = {"ground.friction": Range(0.03, 1.5, "log", 0.3), "ground.static_friction": Range(0.03, 1.5, "log", 0.4)}
#: Of impacts alone.
IMPACTS = {"law.restitution": Range(0.0, 1.0, "linear", 0.0), "ground.friction": Range(0.0, 1.5, "linear", 0.3)}

Simulate = Callable[[Simulation, Any], Mapping[str, float]]


class Kind(NamedTuple):
    """How trials are followed."""

    trials: Sequence[Any]
    simulate: Simulate
    weights: Mapping[str, float]
    robot: Robot | Callable[..., Robot] | None  # that of the trials, where none is given
    dt: float
    #: Options of the law and what is fitted, by the law's name, where no parameters are given.
    preset: Callable[[str], tuple[dict[str, Any], dict[str, Range]]]


def _of_forces(law: str) -> tuple[dict[str, Any], dict[str, Range]]:
    """The parameters without the height of the ground: the robot is set down on it."""
    options, ranges = preset(law)
    return options, {name: own for name, own in ranges.items() if name != "ground.height"}


def _thrown(toss: Toss) -> tuple[Callable[..., Robot], dict[str, Range]]:
    """The body of a toss as a function of what is fitted of it, and between which bounds."""
    if toss.size is None and isinstance(toss.inertia, float):
        body = partial(cube, side=toss.width, mass=toss.mass, inertia=toss.inertia, gravity=toss.gravity)
        return body, of_cube(toss.width, toss.mass, toss.inertia)
    sides = (toss.width,) * 3 if toss.size is None else toss.size
    return partial(box, sides, toss.mass, toss.inertia, gravity=toss.gravity), of_box(sides)


def kind_of(data: Sequence[Any], own_robot: bool, events: bool = False, own_way: bool = True) -> Kind:
    """What the trials are; an error where that is not known and the user does not simulate them in their ``own_way``.

    ``own_robot``: they are followed by a robot that the user gives; ``events``: under a law that is driven by events.
    """
    first = data[0]
    if isinstance(first, Toss):
        body, of_body = _thrown(first)

        def of_tosses(law: str) -> tuple[dict[str, Any], dict[str, Range]]:
            options, ranges = preset(law)
            return options, ranges if own_robot else {**ranges, **of_body}

        return Kind(
            data, follow, TOSS_WEIGHTS, body, step_of(first.rate, LONGEST_PERIOD if events else STEP), of_tosses
        )
    if isinstance(first, Measured | ForceTrial):
        if not own_robot:
            raise StudyError("whose forces are these? Give robot=, and a ForceTrial where it does not start at home")
        trials = [ForceTrial(one) if isinstance(one, Measured) else one for one in data]
        return Kind(trials, follow_forces, FORCE_WEIGHTS, None, STEP, _of_forces)
    if isinstance(first, ImpactTrial):
        return Kind(data, follow_impact, IMPACT_WEIGHTS, load_robot("ball"), STEP, lambda law: ({}, IMPACTS))
    if isinstance(first, Pull):
        return Kind(data, follow_pull, PULL_WEIGHTS, sled(mean_mass(data)), STEP, lambda law: ({}, PULLED))
    if not own_way:
        raise StudyError(
            "a trial is a Toss, measured forces, a pull or an impact, or whatever simulate= takes, and not a "
            f"{type(first).__name__}"
        )
    return Kind(data, follow, TOSS_WEIGHTS, cube, STEP, preset)
