"""The whole-body problem of a biped on two soles: what it weighs, what the soles bear, and how the state enters."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from footfall.compiled import inlined
from footfall.control.body.biped import Biped, Sole
from footfall.control.body.linkage import Linkage, own_copy, reduce_motion, solve_linkage
from footfall.control.contact_forces import friction_pyramid
from footfall.control.senses import Senses, rotation_of, translation, tree_of
from footfall.control.whole_body import (
    COM,
    CONTACTS,
    TURN,
    Motion,
    WholeBody,
    no_motion,
    see_motion,
    solve_body,
    whole_body,
)
from footfall.kinds import Bool, Float, Int, IntMatrix, Ints, Matrix, Tensor, Vector, zeros
from footfall.solve.dense import copy

#: Sides of the pyramid in the friction cone.
SIDES = 8
#: For a robot whose legs cannot keep a foot flat: weight of the roll of a standing foot; and factors on the weights of
#: the trunk's roll, by which such a robot sways, and of the centre of mass, which then sways with it.
TIPPING, SWAYING, YIELDING = 10.0, 0.03, 0.3
#: Weight of the vertical force of a wrench relative to a horizontal one: small, since it has to carry the robot.
LOADING = 0.1
#: Initial limit of the load of a foot, in weights of the robot; the walk sets a lower one.
MOST_LOAD = 3.0
#: Factor on the weight of the centre of mass over feet on points, whose forces hold the trunk upright first.
PASSIVE = 0.01


# Weights of accelerations, of which only the ratios matter: feet that stand before the centre of mass, that before its
# height and swinging feet, these before what is left. Rotations are taken at an arm, in legs.
STANCE, CENTRE, HEIGHT, SWING = 1000.0, 100.0, 30.0, 30.0
#: Weights of rotations times the square of the leg: feet (in parts of their weight), roll and pitch of the trunk, its
#: heading, and joints.
FOOT_TURN, TRUNK, HEADING, POSTURE = 1.85, 18.5, 0.92, 0.0092
#: Weight of a joint that its leg can do without: it stays as it is at home.
HELD = 10.0
#: Weight of the wrench of a foot, in weights of the robot.
WRENCH = 0.1


class Soles(NamedTuple):
    """The two feet, left and right, as plates under a trunk. Constant."""

    trunk: int  # body with the free joint
    trunk_axes: Matrix  # (3, 3) rows: its axes that point forward, left and up at home, in its frame
    centre: Matrix  # (2, 3) m, origin of the sole's frame in the body's frame
    rotation: Tensor  # (2, 3, 3) axes of the sole's frame in the body's frame
    half_length: Vector  # (2,) m
    half_width: Vector  # (2,) m
    radius: Vector  # (2,) m, by which the ground is below the centre of a round point foot
    point: int  # 1 where the feet stand on a point each, and no attitude of theirs matters
    leg: Vector  # (2,) m
    points: IntMatrix  # (2, 2) first contact point, and the one after the last


#: Fields that a sole of a biped has under the same names.
OF_SOLES = ("centre", "rotation", "half_length", "half_width", "radius", "leg")


class SoleBody(NamedTuple):
    """A biped and its whole-body problem."""

    problem: WholeBody  # in base and motors where there are loops, else in all coordinates
    soles: Soles
    linkage: Linkage
    whole: Motion  # of all coordinates, where there are loops
    motors: Ints  # (nu,) their degrees of freedom among all
    place: Annotated[Matrix, 2, 3]  # m, of the soles' middles
    rotation: Annotated[Tensor, 2, 3, 3]  # columns: axes of the soles, world frame
    frames: Annotated[Tensor, 2, 3, 3]  # rows: axes in which the wrenches are taken
    feet: Matrix  # (2, 6) m/s2 and rad/s2, wanted of the soles' middles, of the problem
    frictionless: Tensor  # (2, L, 6) limits of wrenches without friction
    by_friction: Tensor  # (2, L, 6) what they gain per friction coefficient
    swing_weight: Vector  # (6,) of the acceleration of a foot that swings, along and about axes ahead and to the side
    stance_weight: Vector  # (6,) of one that stands
    onward: Vector  # (2,) horizontal direction of the walk of feet that tip, about which they roll; 0 where soles do so
    posture_weight: Vector  # (nu,) of the accelerations of joints
    com_weight: float  # of the centre of mass, horizontally
    heading_weight: float  # of the trunk's turning about the vertical


def body_on_soles(biped: Biped, friction: float, *, margin: float, least_load: float) -> SoleBody:
    """Room for the problem of a robot.

    ``friction`` is the coefficient to keep to; pressure centres keep ``margin`` (m) from the edge of the sole, and a
    standing foot is pressed on the ground by at least ``least_load`` (N).
    """
    robot, loops, base = biped.robot, len(biped.linkage.rows), np.arange(6)
    swing, stance, trunk, com = _accelerations(biped)
    frictionless = _equally_long([wrench_rows(sole, 0.0, margin) for sole in biped.soles])
    by_friction = _equally_long([wrench_rows(sole, 1.0, margin) for sole in biped.soles]) - frictionless
    bodies = [sole.body for sole in biped.soles]
    problem = whole_body(
        robot,
        tree_of(robot.model, biped.trunk, bodies),
        np.array(bodies),
        6 + np.arange(len(biped.motors)) if loops else biped.motors,
        base,
        frictionless + friction * by_friction,
        coordinates=len(biped.linkage.dofs) if loops else None,
        least_load=least_load,
    )
    whole = no_motion(robot.model.nv if loops else 0, len(problem.wanted))
    for motion in (whole, problem.motion) if loops else (problem.motion,):
        motion.rows[TURN:CONTACTS, TURN:CONTACTS] = biped.facing.T @ biped.home_trunk
    problem.weight[COM:TURN] = com, com, HEIGHT
    problem.weight[TURN:CONTACTS] = trunk
    arm = min(sole.half_width for sole in biped.soles)  # m, makes a moment of a force
    problem.force_weight[:] = WRENCH / robot.weight**2 * np.array([1.0, 1.0, LOADING, *[1.0 / arm**2] * 3])
    problem.load[:] = MOST_LOAD * robot.weight
    problem.bearing[:] = 1
    problem.least_torque[:], problem.most_torque[:] = -biped.torque, biped.torque
    return zeros(
        SoleBody,
        {},
        problem=problem,
        soles=Soles(
            **{name: np.array([getattr(sole, name) for sole in biped.soles]) for name in OF_SOLES},
            trunk=int(biped.trunk),
            trunk_axes=biped.facing.T @ biped.home_trunk,
            point=int(biped.point),
            points=np.array([[sole.points.start, sole.points.stop] for sole in biped.soles]),
        ),
        linkage=own_copy(biped.linkage),
        whole=whole,
        motors=biped.motors,
        feet=problem.wanted[CONTACTS:].reshape(2, 6),
        frictionless=frictionless,
        by_friction=by_friction,
        swing_weight=swing,
        stance_weight=stance,
        onward=biped.facing[:2, 0] * biped.tips,
        posture_weight=_posture(biped),
        com_weight=com,
        heading_weight=float(trunk[2]),
    )


def _posture(biped: Biped) -> np.ndarray:
    """(nu,) weights of the accelerations of joints. Arms weigh as much as the heading where soles can hold the trunk:
    else they would be thrown about when motors of the legs are at their limits.
    """
    in_legs = np.isin(biped.motors, np.concatenate(biped.legs))
    free = in_legs | (biped.tips or biped.line or biped.point)
    found: np.ndarray = np.where(biped.spare, HELD, np.where(free, POSTURE, HEADING) * biped.leg**2)
    return found


def _accelerations(biped: Biped) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """The weights of accelerations for a robot: of a foot (6,) that swings and one that stands, of the trunk's rotation
    (3,), and of the centre of mass, horizontally. Feet on points and lines, and those that tip, cannot keep every
    rotation.
    """
    leg = biped.leg
    turning = FOOT_TURN * leg**2
    swing, stance = (own * np.array([1.0, 1.0, 1.0, turning, turning, turning]) for own in (SWING, STANCE))
    trunk = leg**2 * np.array([TRUNK, TRUNK, HEADING])
    com = CENTRE
    if biped.point:
        swing[3:], stance[3:] = 0.0, 0.0
        com *= PASSIVE
    elif biped.tips:  # about the way it walks: a foot that stands rolls as the hips sway, one that swings as it may
        swing[3], stance[3] = 0.0, TIPPING * turning
        trunk[0] *= SWAYING
        com *= YIELDING
    elif biped.line:  # nothing holds the roll of a foot that stands on a line
        stance[3] = TIPPING * turning
        if not biped.rolls:  # it follows the leg
            swing[3] = stance[3] = 0.0
    return swing, stance, trunk, com


@inlined
def keep_to_friction(body: SoleBody, foot: Int, friction: Float) -> None:
    """Let the wrench of a foot keep to another friction coefficient."""
    rows, none, gain = body.problem.limits[foot], body.frictionless[foot], body.by_friction[foot]
    for r in range(rows.shape[0]):
        for c in range(6):
            rows[r, c] = none[r, c] + friction * gain[r, c]


@inlined
def see_body(senses: Senses, body: SoleBody) -> None:
    """Read the state: where the soles are and how everything moves."""
    soles, linkage, problem = body.soles, body.linkage, body.problem
    motion = body.whole if linkage.drift.size else problem.motion
    see_motion(senses, problem, motion)
    for k in range(2):
        foot, first = problem.body[k], CONTACTS + 6 * k
        at, turned = senses.xpos[foot], senses.xmat[foot]
        for r in range(3):
            body.place[k, r] = at[r]
            for c in range(3):
                body.place[k, r] += turned[3 * r + c] * soles.centre[k, c]
                value = 0.0
                if soles.point:  # the frame of the ground, not of a leg that turns over it
                    value = 1.0 if r == c else 0.0
                else:
                    for i in range(3):
                        value += turned[3 * r + i] * soles.rotation[k, i, c]
                body.rotation[k, r, c] = body.frames[k, c, r] = value
        body.place[k, 2] -= soles.radius[k]
        J, v, drift = motion.rows[first : first + 6], body.problem.velocity[k], motion.drift[first : first + 6]
        translation(senses, problem.tree, foot, k, body.place[k], J[:3], v[:3], drift[:3])
        rotation_of(senses, problem.tree, foot, k, J[3:], v[3:], drift[3:])
    if linkage.drift.size:
        solve_linkage(senses, linkage)
        reduce_motion(linkage, motion, problem.motion)


@inlined
def solve_standing(body: SoleBody) -> Bool:
    """Write the torques that come nearest to what is wanted; feet that bear stand, the others swing."""
    problem = body.problem
    for k in range(2):
        weight = body.stance_weight if problem.bearing[k] else body.swing_weight
        copy(problem.weight[CONTACTS + 6 * k : CONTACTS + 6 * k + 6], weight)
        if weight[3] != weight[4]:
            turn_ahead(body, k)
    return solve_body(problem, body.frames)


@inlined
def turn_ahead(body: SoleBody, foot: Int) -> None:
    """Take the motion of a foot, and the axes of its wrench, ahead and to the side, not along the axes of the world:
    its roll and its pitch weigh differently, whichever way the robot has turned.
    """
    x, y = body.onward[0], body.onward[1]
    if x == 0.0 and y == 0.0:
        x, y = body.rotation[foot, 0, 0], body.rotation[foot, 1, 0]
    size = math.hypot(x, y)
    if size <= 0.0:
        return
    ahead, aside = x / size, y / size
    motion, wanted, frame = body.problem.motion, body.feet[foot], body.frames[foot]
    for half in range(2):
        own, first = 3 * half, CONTACTS + 6 * foot + 3 * half
        for j in range(motion.rows.shape[1]):
            x, y = motion.rows[first, j], motion.rows[first + 1, j]
            motion.rows[first, j], motion.rows[first + 1, j] = ahead * x + aside * y, ahead * y - aside * x
        x, y = motion.drift[first], motion.drift[first + 1]
        motion.drift[first], motion.drift[first + 1] = ahead * x + aside * y, ahead * y - aside * x
        x, y = wanted[own], wanted[own + 1]
        wanted[own], wanted[own + 1] = ahead * x + aside * y, ahead * y - aside * x
    for r in range(3):
        x, y = frame[r, 0], frame[r, 1]
        frame[r, 0], frame[r, 1] = ahead * x + aside * y, ahead * y - aside * x


def wrench_rows(sole: Sole, friction: float, margin: float) -> np.ndarray:
    """(R, 6) rows that are >= 0 for a wrench (force, moment about the sole's middle; sole's frame) that friction and
    the outline allow; the pressure centre stays ``margin`` (m) inside, less where an edge is near the middle: the
    margins of a pointed sole would leave nothing of its point.
    """
    rows = [[*-side[:2], -side[2], 0.0, 0.0, 0.0] for side in friction_pyramid(friction, SIDES)]
    pyramid = friction / math.sqrt(2.0)  # inside the cone
    # The torsion a rectangle pressed at its corners bears, given force and pressure centre: Caron, Pham and Nakamura
    # 2015, "Stability of surface contacts for humanoid robots", eq. (16)-(18).
    X, Y = sole.half_length, sole.half_width
    for one in (1.0, -1.0):
        for other in (1.0, -1.0):
            for sign in (1.0, -1.0):
                rows.append(
                    [-one * Y, -other * X, pyramid * (X + Y), -one * sign * pyramid, -other * sign * pyramid, -sign]
                )
    ahead = np.roll(sole.outline, -1, axis=0)
    for (x, y), (ex, ey) in zip(sole.outline, ahead - sole.outline, strict=True):
        length = math.hypot(ex, ey)
        if length > 1e-6:
            nx, ny = -ey / length, ex / length  # inward; the pressure centre is (-my, mx) / fz
            off = -(nx * x + ny * y)  # of the edge from the middle
            rows.append([0.0, 0.0, off - margin * min(1.0, max(off, 0.0) / sole.half_width), ny, -nx, 0.0])
    return np.array(rows, dtype=float)


def _equally_long(rows: list[np.ndarray]) -> np.ndarray:
    """Stacked; what is shorter repeats its last row."""
    longest = max(len(one) for one in rows)
    return np.stack([np.concatenate([one, np.repeat(one[-1:], longest - len(one), axis=0)]) for one in rows])
