"""The rules of an audit: for every error a tolerance and a limit, with their reasons. The same for all laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from footfall.measure import audit_errors as error
from footfall.measure.audit_errors import scales
from footfall.measure.audit_motion import force_residual, moment_residual, momentum_is_exact, unknown_balance
from footfall.measure.support import stance_width
from footfall.measure.unfelt_ground import ground_in_soles

if TYPE_CHECKING:
    from footfall.record import Record
    from footfall.robot import Robot


class Bounds(NamedTuple):
    """Up to ``tolerance`` a row passes, up to ``limit`` it is a note, beyond it fails; all in the row's unit."""

    tolerance: float
    limit: float
    scale: float = 1.0  # what the relative error is relative to


#: What a row can tell about a recording that leaves steps out: everything; only that something is wrong, because a mean
#: may hide the fault of one step; only that all is well, because an error may come from differences over many steps; or
#: nothing, because what happened between the samples is not recorded.
EVERYTHING, FAULTS, PROOFS, NOTHING = "everything", "faults", "proofs", "nothing"


class Rule(NamedTuple):
    """One row of the audit: what is measured, how it is judged, and what it means."""

    name: str
    unit: str
    quantity: Callable[[Record], np.ndarray]
    bounds: Callable[[Record], Bounds]
    meaning: str
    between_samples: str = EVERYTHING  # what it can say where steps are left out
    unknown: Callable[[Record], np.ndarray] | None = None  # (T,) samples of which it cannot say anything


#: Share of a sole's length by which it may sink in: as if it were tilted by 3 degrees.
SINKING = 0.05


#: Share of a sole's length by which the ground may reach into it between its points: a tilt of 0.6 degrees.
UNFELT = 0.01


def _sole(robot: Robot, size: float) -> float:
    """Length (m) of the longest sole, or of the support; the robot's ``size`` where its feet are points."""
    sole = max((foot.length for foot in robot.feet), default=0.0)
    return max(sole, stance_width(robot)) if sole else size


def sinking(robot: Robot, size: float) -> float:
    """How deep a robot of that ``size`` (m) may stand in the ground, m."""
    return SINKING * _sole(robot, size)


def _of_depth(rec: Record) -> Bounds:
    """A rigid sole sinks in by less than 1e-3 of its length, 0.2 mm for a human's. A soft one may sink by 5 %, as if it
    were tilted by 3 degrees, and where it lands by the distance it covers in 10 ms at landing speed: heels and shoe
    soles take as long. For several short soles, as under four legs, the length is that of the support. Errors are
    relative to the robot's size.
    """
    sole = _sole(rec.robot, scales(rec).size)
    speed = np.einsum("tpi,tpi->tp", rec.velocity, rec.normal)
    landing = (rec.gap[:-1] > 0.0) & (rec.gap[1:] <= 0.0)
    fastest = float(np.max(-speed[:-1], where=landing, initial=0.0))
    return Bounds(1e-3 * sole, SINKING * sole + 0.01 * fastest, scales(rec).size)


def _of(name: str, tolerance: float, limit: float) -> Callable[[Record], Bounds]:
    """Bounds as parts of one of the robot's scales."""

    def bounds(rec: Record) -> Bounds:
        scale = getattr(scales(rec), name)
        return Bounds(tolerance * scale, limit * scale, scale)

    return bounds


def _of_normal_energy(rec: Record) -> Bounds:
    """What a step of finite length creates where a point changes from one face of the ground to another is a note."""
    scale, created = scales(rec).energy, error.normal_energy(rec)
    late = float(error.error_at_edges(rec)[np.argmax(created)]) if len(rec) else 0.0
    return Bounds(1e-6 * scale, 1e-3 * scale + late, scale)


def _of_momentum(name: str) -> Callable[[Record], Bounds]:
    """Solvers balance to 1e-5 of the weight; 1e-3 is a wrong force. Where the recorded velocities are not one step of
    semi-implicit Euler apart, finite differences cause part of the error, and nothing fails.
    """

    def bounds(rec: Record) -> Bounds:
        scale = getattr(scales(rec), name)
        return Bounds(1e-5 * scale, 1e-3 * scale if momentum_is_exact(rec) else math.inf, scale)

    return bounds


def _no_bad_samples(rec: Record) -> Bounds:
    """One sample in a hundred that is not solved does no harm to a walk; a run that ended early does, unless the user
    ended it.
    """
    return Bounds(0.0, 0.01 if rec.failure is None or rec.failure.cause == "interrupted" else -1.0)


#: Shares of the weight (or weight times size, or size): 1e-9 is rounding, 1e-6 the residual of iterative solvers, 1e-3
#: is visible in a plot.
RULES = (
    # 1e-6 of the size: how far a point's path deviates from a straight line within a step.
    Rule(
        "gap times force",
        "J",
        error.gap_times_force,
        _of("energy", 1e-6, 1e-4),
        "the ground pushes only what touches it (Signorini)",
        between_samples=NOTHING,
    ),
    Rule(
        "open force",
        "N",
        error.force_on_open_points,
        _of("weight", 1e-9, 1e-6),
        "no force on a point that is said to be open",
    ),
    Rule(
        "pulling force",
        "N",
        error.pull,
        _of("weight", 1e-9, 1e-6),
        "the ground pushes and never holds a foot down",
        between_samples=FAULTS,
    ),
    Rule(
        "penetration",
        "m",
        error.depth,
        _of_depth,
        "how deep points sink in: soft laws do by design, up to the limit",
        between_samples=FAULTS,
    ),
    Rule(
        "unfelt ground",
        "m",
        ground_in_soles,
        lambda rec: Bounds(UNFELT * _sole(rec.robot, scales(rec).size), math.inf, scales(rec).size),
        "ground that reaches into a sole between its points, which does not feel it: it may need more (points=)",
    ),
    Rule(
        "friction cone",
        "N",
        error.outside_the_cone,
        _of("weight", 1e-6, 1e-3),
        "friction is at most its coefficient times the normal force",
        between_samples=FAULTS,
        unknown=error.turning,
    ),
    # 5 degrees: a cone of 32 facets; 90: beyond, friction drives the slip instead of braking it.
    Rule(
        "friction direction",
        "deg",
        error.friction_angle,
        lambda rec: Bounds(5.0, 90.0, 180.0),
        "sliding friction points against the slip; beyond 90 degrees it drives it",
        between_samples=NOTHING,
    ),
    Rule(
        "normal energy",
        "J",
        error.normal_energy,
        _of_normal_energy,
        "normal forces give back no more energy than they took since touch-down",
        between_samples=NOTHING,
    ),
    Rule(
        "friction energy",
        "J",
        error.friction_energy,
        _of("energy", 1e-6, 1e-3),
        "friction gives back no more energy than it took since touch-down",
        between_samples=NOTHING,
    ),
    Rule(
        "contact energy",
        "J",
        error.contact_energy,
        _of("energy", 1e-6, 1e-3),
        "normal forces and friction together give back no more energy than they took since touch-down",
        between_samples=NOTHING,
    ),
    Rule(
        "force balance",
        "N",
        force_residual,
        _of_momentum("weight"),
        "forces add up to the rate of momentum (Newton)",
        between_samples=PROOFS,
        unknown=unknown_balance,
    ),
    Rule(
        "moment balance",
        "N m",
        moment_residual,
        _of_momentum("energy"),
        "moments about the centre of mass add up to the rate of angular momentum (Euler)",
        between_samples=PROOFS,
        unknown=unknown_balance,
    ),
    Rule(
        "cop in support",
        "m",
        error.cop_outside,
        _of("size", 1e-9, 1e-6),
        "every foot's centre of pressure lies among its loaded points",
    ),
    Rule(
        "cop agreement",
        "m",
        error.cop_disagreement,
        _of("size", 1e-9, 1e-6),
        "the overall centre of pressure is the load-weighted mean of the points",
    ),
    Rule(
        "solved",
        "of samples",
        error.unsolved,
        _no_bad_samples,
        "the part of the samples whose forces are not solved; a run that ended early fails",
    ),
)
