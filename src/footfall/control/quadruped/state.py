"""What a walk on four legs works with, as arrays that compiled code reads and writes.

Feet are counted front left, front right, rear left, rear right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from footfall.control.body.com_coordinates import Tree
from footfall.control.contact_forces import ForceProblem
from footfall.control.contact_places import CompiledPlaces
from footfall.control.episode_log import EpisodeLog
from footfall.control.senses import Senses
from footfall.gait.swing import Swing
from footfall.robot.motors import Drives

#: Kinds of episodes that are reported.
SATURATED, FALLEN, KINDS = 0, 1, 2
#: Numbers of the signals before the commanded forces, and all of them.
BEFORE_FORCES, SIGNALS = 6, 19


class FourLegs(NamedTuple):
    """The robot, standing at home."""

    mass: float  # kg
    inertia: float  # kg m2, about a horizontal axis through the centre of mass
    height: float  # m, of the centre of mass over the feet
    rate: float  # 1/s2, at which an inverted pendulum of this height falls: g/h
    gravity: np.ndarray  # (3,) m/s2
    point: np.ndarray  # (4,) contact point of each foot
    body: np.ndarray  # (4,) its body
    leg: np.ndarray  # (4, 3) degrees of freedom with motors that move it
    offset: np.ndarray  # (4, 3) m, from the centre of mass
    trunk: np.ndarray  # (3, 3) orientation of the root


class QuadrupedGait(NamedTuple):
    """The gait that was asked for, see :class:`footfall.gait.schedule.Schedule`."""

    speed: float  # m/s, forward
    sideways: float  # m/s, to the left
    turn: float  # rad/s, to the left
    begin: float  # s, at which the first foot lifts
    period: float  # s, of a cycle
    cycles: float
    duty: float  # part of a cycle that a foot stands
    lift: np.ndarray  # (4,) part of a cycle at which it lifts
    step_height: float  # m
    dt: float  # s, between two calls


class Now(NamedTuple):
    """Where the walk is."""

    begun: np.ndarray  # (1,)
    fallen: np.ndarray  # (1,)
    heading: np.ndarray  # (1,) rad
    way: np.ndarray  # (2,) m, where the centre of mass should be
    wanted: np.ndarray  # (2,) m/s, the velocity it should have
    swings: np.ndarray  # (4,) 1 while a foot swings
    touches: np.ndarray  # (4,) 1 where it is pressed to the ground
    meets: np.ndarray  # (4,) 1 where it touches anything
    swing: Swing  # of all four, each array with one row per foot
    standing: np.ndarray  # (4,) the feet that stand, as many as there are


class Scratch(NamedTuple):
    """Space for one call."""

    com_jacobian: np.ndarray  # (3, nv)
    jacobian: np.ndarray  # (3, nv) of a foot
    inertia: np.ndarray  # (nv, nv)
    axes: np.ndarray  # (3, 3) wanted orientation of the trunk
    trunk: np.ndarray  # (3, 3) its orientation
    com_velocity: np.ndarray  # (3,) m/s
    velocity: np.ndarray  # (3,) m/s, of a foot
    drift: np.ndarray  # (3,) m/s2, its acceleration while joints keep their speeds
    wrench: np.ndarray  # (6,) N and N m, desired
    force: np.ndarray  # (4, 3) N, commanded, of each contact point
    torque: np.ndarray  # (nv,) N m
    motor_torque: np.ndarray  # (nu,) N m
    arms: np.ndarray  # (4, 3) m, of feet that stand
    frames: np.ndarray  # (4, 3, 3) of these
    gram: np.ndarray  # (3, 3)
    factor: np.ndarray  # (3, 3)
    joints: np.ndarray  # (3,) rad/s2


class ForcesOf(NamedTuple):
    """The force distribution by how many feet stand."""

    one: ForceProblem
    two: ForceProblem
    three: ForceProblem
    four: ForceProblem


class QuadrupedWalker(NamedTuple):
    """All that a walk on four legs works with."""

    senses: Senses
    signals: np.ndarray  # (19,) centre of mass, its velocity, commanded forces, phase
    robot: FourLegs
    tree: Tree
    drives: Drives
    contacts: CompiledPlaces
    gait: QuadrupedGait
    now: Now
    forces: ForcesOf
    scratch: Scratch
    log: EpisodeLog


def not_begun() -> Now:
    """Before the first call."""
    flags = {name: np.zeros(1, dtype=np.int64) for name in ("begun", "fallen")}
    feet = {name: np.zeros(4, dtype=np.int64) for name in ("swings", "touches", "meets", "standing")}
    swing = Swing(np.zeros((4, 3, 3)), np.zeros((4, 3)), *np.zeros((6, 4, 1)))
    return Now(**flags, **feet, heading=np.zeros(1), way=np.zeros(2), wanted=np.zeros(2), swing=swing)


def scratch_for(nv: int, nu: int) -> Scratch:
    """Space for a robot of ``nv`` degrees of freedom and ``nu`` motors."""
    shapes: dict[str, tuple[int, ...]] = dict(
        com_jacobian=(3, nv), jacobian=(3, nv), inertia=(nv, nv), torque=(nv,), motor_torque=(nu,)
    )
    shapes |= dict.fromkeys(("axes", "trunk", "gram", "factor"), (3, 3))
    shapes |= dict.fromkeys(("com_velocity", "velocity", "drift", "joints"), (3,))
    shapes |= dict(wrench=(6,), force=(4, 3), arms=(4, 3), frames=(4, 3, 3))
    return Scratch(**{name: np.zeros(shape) for name, shape in shapes.items()})
