"""Whole-body control: joint torques that come nearest to wanted accelerations with forces the ground can give.

The unknowns are the accelerations of the driven joints and the wrench of the ground on each standing sole. The
equations of motion of what is not driven (u, the floating base) are solved for its acceleration, so they hold exactly:

    M_u q'' + h_u = J_u^T w
    tau = M_a q'' + h_a - J_a^T w        (a, the driven joints; within the limits of the motors)

Wrenches are taken in the frame of the sole, where the limits of friction, pressure and pull do not change with time.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import inlined
from footfall.control.body.biped import NARROW, Biped, Sole
from footfall.control.body.linkage import Linkage, own_copy, reduce_motion, solve_linkage
from footfall.control.contact_forces import friction_pyramid
from footfall.control.senses import Tree, dense_inertia, rotation_of, translation, tree_of
from footfall.control.whole_body.problem import Dynamics, Limits, Targets, assemble, empty_problem
from footfall.solve.quadratic_program import SOLVED, solve_quadratic_program

#: Sides of the pyramid in the friction cone.
SIDES = 8
#: Corners of a sole within this part of half its length from the end lie on the edge there.
EDGE = 0.02
#: Of a robot whose legs cannot keep a foot flat: weight of the roll of a standing foot, and the parts that are left of
#: the weight of the trunk's roll, by which such a robot sways, and of the centre of mass, which then sways with it.
TIPPING, SWAYING, YIELDING = 10.0, 0.03, 0.3
#: Weight of the vertical force of a wrench relative to a horizontal one: it has to carry the robot.
LOADING = 0.1
#: Largest load of a foot, in weights of the robot, until the walk says less.
MOST_LOAD = 3.0
#: Part that is left of the weight of the centre of mass over feet on points: their forces hold the trunk upright first.
PASSIVE = 0.01


# Weights of accelerations, of which only the ratios matter: feet that stand before the centre of mass, that before its
# height and swinging feet, these before what is left. Rotations are taken at an arm, in legs.
STANCE, COM, HEIGHT, SWING = 1000.0, 100.0, 30.0, 30.0
#: Weights of rotations times the square of the leg: feet (in parts of their weight), roll and pitch of the trunk, its
#: heading, and joints.
FOOT_TURN, TRUNK, HEADING, POSTURE = 1.85, 18.5, 0.92, 0.0092
#: Weight of the wrench of a foot, in weights of the robot.
WRENCH = 0.1


class Soles(NamedTuple):
    """The two feet, left and right, as plates under a trunk. Constant."""

    trunk: int  # body with the free joint
    body: np.ndarray  # (2,) of each foot
    centre: np.ndarray  # (2, 3) m, origin of the sole's frame in the body's frame
    rotation: np.ndarray  # (2, 3, 3) axes of the sole's frame in the body's frame
    half_length: np.ndarray  # (2,) m
    half_width: np.ndarray  # (2,) m
    radius: np.ndarray  # (2,) m, by which the ground is below the centre of a round point foot
    point: int  # 1 where the feet stand on a point each, and no attitude of theirs matters
    edges: np.ndarray  # (2, 3, 2) m, x and y in the sole's frame: middles of the heel's edge, sole and toes' edge
    leg: np.ndarray  # (2,) m
    points: np.ndarray  # (2, 2) first contact point, and the one after the last
    tree: Tree  # with the soles as contact points


class WholeBody(NamedTuple):
    """What the whole-body problem is about: where everything is, what is wanted, and what was found."""

    mass: float  # kg
    gravity: np.ndarray  # (3,) m/s2
    soles: Soles
    linkage: Linkage
    whole: Dynamics  # of all coordinates, where there are loops
    motors: np.ndarray  # (nu,) their degrees of freedom among all
    motion: Dynamics  # of base and motors where there are loops, else of all coordinates
    place: np.ndarray  # (2, 3) m, of the soles' middles
    velocity: np.ndarray  # (2, 6) m/s and rad/s
    com: np.ndarray  # (3,) m
    com_velocity: np.ndarray  # (3,) m/s
    targets: Targets
    swing_weight: np.ndarray  # (6,) of the acceleration of a foot that swings
    stance_weight: np.ndarray  # (6,) of one that stands
    posture_weight: float  # of a joint's acceleration
    com_weight: float  # of the centre of mass, horizontally
    heading_weight: float  # of the trunk's turning about the vertical
    limits: Limits
    standing: np.ndarray  # (2,) the feet that stand, first the one that does alone
    alone: Any  # problem of one foot
    both: Any  # problem of two
    torque: np.ndarray  # (nu,) N m, found; those of before where there is no solution
    acceleration: np.ndarray  # (nu,) rad/s2, of the motors, found
    wrench: np.ndarray  # (2, 6) N and N m, found, sole's frame


def whole_body(
    biped: Biped, friction: float, leg: float, *, margin: float, least_load: float, edges: bool = False
) -> WholeBody:
    """Room for the problem of a robot.

    ``friction`` is the coefficient to keep to, ``leg`` (m) the length of a leg; pressure centres keep ``margin`` (m)
    from the edge of the sole, and a standing foot is pressed on the ground by at least ``least_load`` (N). With
    ``edges``, feet may stand on the edge at their heel or toes.
    """
    model, robot = biped.robot.model, biped.robot
    nv, nu, loops = model.nv, model.nu, len(biped.linkage.rows)
    weigh = _accelerations(biped, leg)
    limits = _limits(biped, friction, margin=margin, least_load=least_load, edges=edges)
    force = WRENCH / robot.weight**2
    arm = min(sole.half_width for sole in biped.soles)  # m, makes a moment of a force
    return WholeBody(
        mass=float(robot.mass),
        gravity=np.array(model.opt.gravity),
        soles=soles_of(biped),
        linkage=own_copy(biped.linkage),
        whole=no_motion(nv if loops else 0, biped.motors),
        motors=biped.motors,
        motion=no_motion(6 + nu, np.arange(6, 6 + nu)) if loops else no_motion(nv, biped.motors),
        place=np.zeros((2, 3)),
        velocity=np.zeros((2, 6)),
        com=np.zeros(3),
        com_velocity=np.zeros(3),
        targets=Targets(
            feet=np.zeros((2, 6)),
            trunk=np.zeros(3),
            trunk_axes=biped.facing.T @ biped.home_trunk,
            com=np.zeros(3),
            joints=np.zeros(nu),
            feet_weight=np.zeros((2, 6)),
            trunk_weight=weigh.trunk,
            com_weight=np.array([weigh.com, weigh.com, HEIGHT]),
            joint_weight=np.zeros(nu),
            wrench_weight=np.array([force, force, LOADING * force, *[force / arm**2] * 3]),
        ),
        swing_weight=weigh.swing,
        stance_weight=weigh.stance,
        posture_weight=float(POSTURE * leg**2),
        com_weight=weigh.com,
        heading_weight=float(weigh.trunk[2]),
        limits=limits,
        standing=np.array([0, 1]),
        alone=empty_problem(nu, 1, limits.wrench.shape[1]),
        both=empty_problem(nu, 2, limits.wrench.shape[1]),
        torque=np.zeros(nu),
        acceleration=np.zeros(nu),
        wrench=np.zeros((2, 6)),
    )


class _Accelerations(NamedTuple):
    """What accelerations weigh."""

    swing: np.ndarray  # (6,) of a foot that swings
    stance: np.ndarray  # (6,) of one that stands
    trunk: np.ndarray  # (3,) of the trunk's rotation
    com: float  # of the centre of mass, horizontally


def _accelerations(biped: Biped, leg: float) -> _Accelerations:
    """The weights for a robot: feet on points and lines, and those that tip, cannot keep every rotation."""
    turning = FOOT_TURN * leg**2
    swing, stance = (own * np.array([1.0, 1.0, 1.0, turning, turning, turning]) for own in (SWING, STANCE))
    trunk = leg**2 * np.array([TRUNK, TRUNK, HEADING])
    com = COM
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
    share = biped.facing[:2, 0] ** 2  # rotations of feet are taken about the axes of the world
    for feet in (swing, stance):
        feet[3:5] = share[0] * feet[3] + share[1] * feet[4], share[1] * feet[3] + share[0] * feet[4]
    return _Accelerations(swing, stance, trunk, com)


def _limits(biped: Biped, friction: float, *, margin: float, least_load: float, edges: bool) -> Limits:
    """What torques and wrenches must obey, on the heel's edge, the whole sole and the toes' edge."""
    on = [one for sole in biped.soles for one in ((_edge(sole, -1), sole, _edge(sole, 1)) if edges else (sole,) * 3)]
    none, one, rows = (
        _equally_long([wrench_rows(sole, mu, margin) for sole in on]).reshape(2, 3, -1, 6)
        for mu in (0.0, 1.0, friction)
    )
    return Limits(
        least_torque=-biped.torque,
        most_torque=biped.torque.copy(),
        wrench=rows[:, 1].copy(),
        frictionless=none,
        by_friction=one - none,
        friction=np.full(2, float(friction)),
        edge=np.zeros(2, dtype=np.int64),
        least_load=float(least_load),
        load=np.full(2, MOST_LOAD * biped.robot.weight),
    )


def no_motion(size: int, driven: np.ndarray) -> Dynamics:
    """Room for the dynamics in ``size`` coordinates, of which motors move those ``driven``.

    Joints that neither a motor nor a loop moves are taken to stay as they are.
    """
    return Dynamics(
        inertia=np.zeros((size, size)),
        bias=np.zeros(size),
        driven=driven,
        free=np.arange(6),
        jacobian=np.zeros((2, 6, size)),
        drift=np.zeros((2, 6)),
        rotation=np.zeros((2, 3, 3)),
    )


def soles_of(biped: Biped) -> Soles:
    """The soles of a biped as arrays."""
    model, soles = biped.robot.model, biped.soles
    return Soles(
        trunk=int(biped.trunk),
        body=np.array([sole.body for sole in soles]),
        centre=np.array([sole.centre for sole in soles]),
        rotation=np.array([sole.rotation for sole in soles]),
        half_length=np.array([sole.half_length for sole in soles]),
        half_width=np.array([sole.half_width for sole in soles]),
        radius=np.array([sole.radius for sole in soles]),
        point=int(biped.point),
        edges=np.array([[_edge_middle(sole, -1), (0.0, 0.0), _edge_middle(sole, 1)] for sole in soles]),
        leg=np.array([sole.leg for sole in soles]),
        points=np.array([[sole.points.start, sole.points.stop] for sole in soles]),
        tree=tree_of(model, biped.trunk, [sole.body for sole in soles]),
    )


def _edge_middle(sole: Sole, end: int) -> tuple[float, float]:
    """m, x and y in the sole's frame: the middle of the edge at the toes (1) or at the heel (-1)."""
    y = _edge_ends(sole, end)
    return end * sole.half_length, float(0.5 * (y.min() + y.max()))


def _edge_ends(sole: Sole, end: int) -> np.ndarray:
    """m, y of the corners at the toes (1) or at the heel (-1)."""
    last: np.ndarray = end * sole.outline[:, 0] >= (1.0 - EDGE) * sole.half_length
    return sole.outline[last, 1]


def _edge(sole: Sole, end: int) -> Sole:
    """What a foot that is pitched stands on: a narrow strip across it, in a frame amid the strip."""
    x, y = NARROW * sole.leg, max(0.5 * float(np.ptp(_edge_ends(sole, end))), NARROW * sole.leg)
    return replace(sole, outline=np.array([[-x, -y], [x, -y], [x, y], [-x, y]]))


@inlined
def see_body(senses, body):
    """Read the state: where the soles are and how everything moves."""
    soles, linkage = body.soles, body.linkage
    motion = body.whole if linkage.drift.size else body.motion
    dense_inertia(senses, motion.inertia)
    for k in range(2):
        at, turned = senses.xpos[soles.body[k]], senses.xmat[soles.body[k]]
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
                body.motion.rotation[k, r, c] = value
        body.place[k, 2] -= soles.radius[k]
        J, v, drift = motion.jacobian[k], body.velocity[k], motion.drift[k]
        translation(senses, soles.tree, soles.body[k], k, body.place[k], J[:3], v[:3], drift[:3])
        rotation_of(senses, soles.tree, soles.body[k], k, J[3:], v[3:], drift[3:])
    for j in range(motion.bias.size):
        motion.bias[j] = senses.qfrc_bias[j] - senses.qfrc_passive[j]
    for c in range(3):
        body.com[c] = senses.subtree_com[soles.trunk, c]
        # The base's three translations carry the whole robot: their rows of M are its mass times the Jacobian of com.
        value = 0.0
        for j in range(motion.bias.size):
            value += motion.inertia[c, j] * senses.qvel[j]
        body.com_velocity[c] = value / body.mass
    if linkage.drift.size:
        solve_linkage(senses, linkage)
        reduce_motion(linkage, motion, body.motion)


@inlined
def solve_body(body, feet):
    """Write the torques that come nearest to the targets, with the first ``feet`` of ``standing`` on the ground.

    False if there is no solution; then torques and wrenches are those of before.
    """
    targets = body.targets
    for k in range(2):
        for c in range(6):
            targets.feet_weight[k, c] = body.swing_weight[c]
    for s in range(feet):
        for c in range(6):
            targets.feet_weight[body.standing[s], c] = body.stance_weight[c]
    problem = body.alone if feet == 1 else body.both
    if not assemble(body.motion, body.mass, body.standing, targets, body.limits, problem):
        return False
    if solve_quadratic_program(problem.program, problem.work) != SOLVED:
        return False
    x, C, nu = problem.work.x, problem.program.C, body.torque.size
    for k in range(nu):
        value = problem.torque_bias[k]
        for j in range(x.size):
            value += C[k, j] * x[j]
        body.torque[k], body.acceleration[k] = value, x[k]
    for k in range(2):
        for c in range(6):
            body.wrench[k, c] = 0.0
    for s in range(feet):
        for c in range(6):
            body.wrench[body.standing[s], c] = x[nu + 6 * s + c]
    return True


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
