"""Balance by contact-force optimisation: Ott, Roa and Hirzinger 2011.

The desired wrench at the centre of mass returns that to its position and the trunk to its orientation, (19)-(22). A
quadratic program distributes the wrench over the contact points (``footfall.control.contact_forces``), and the
transposed contact Jacobian in coordinates of the centre of mass maps the forces to joint torques, (12)-(15). No force
is measured and no inverse dynamics is computed. The paper assumes that all contact points touch. Here, unless
``hold_limbs`` is False, a foot in the air gets no load and is led back, and joints that move no contact point keep
their pose (``footfall.control.unloaded_limbs``).

Forces are those of the ground on the robot, so that (15) reads ``tau = -J_c^T f``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.compiled import inlined
from footfall.control.base import Observation, described
from footfall.control.body.linkage import Linkage, linkage_of, own_copy, solve_linkage
from footfall.control.body.stance import Size, actuated_dofs, giving_springs, size_of
from footfall.control.contact_forces import (
    ContactPlaces,
    ForceProblem,
    contact_places,
    distribute,
    force_problem,
    place_contacts,
)
from footfall.control.inside import (
    INFEASIBLE,
    UNSOLVED,
    EpisodeLog,
    Inside,
    empty_log,
    limit_torques,
    see_episode,
    see_fall,
)
from footfall.control.senses import (
    Senses,
    Tree,
    carrying_torques,
    com_motion,
    no_senses,
    tree_of,
)
from footfall.control.unloaded_limbs import (
    Unloaded,
    begin_unloaded,
    feel_bearing,
    hold_unloaded,
    unloaded,
)
from footfall.errors import ControllerError
from footfall.given_numbers import Bounds, NotNegative
from footfall.ground import Ground
from footfall.kinds import Float, Int, Ints, Matrix, Unit, Vector, zeros
from footfall.robot import Robot
from footfall.robot.motors import Drives, drives, write_controls
from footfall.robot.rotations import rotation_matrix, rotation_vector
from footfall.solve.dense import copy, dot


class Wanted(NamedTuple):
    """A reference at one time, world frame; or the motion from one to another."""

    com: Annotated[Vector, 3]  # m
    velocity: Annotated[Vector, 3]  # m/s
    orientation: Annotated[Matrix, 3, 3]  # of the trunk
    spin: Annotated[Vector, 3]  # rad/s


class Gains(NamedTuple):
    """The gains of (19)-(22)."""

    weight: Vector  # (3,) N, force of the ground at rest
    stiffness: Vector  # (3,) N/m
    damping: Vector  # (3,) N s/m
    kr: float  # N m/rad
    dr: float  # N m s/rad


class Watched(NamedTuple):
    """The state of the supervision between calls."""

    begun: Annotated[Ints, 1]
    fallen: Annotated[Ints, 1]
    height: Annotated[Vector, 1]  # m, of the centre of mass over the lowest contact point at the start


class BalanceSignals(NamedTuple):
    """What is recorded."""

    commanded_force: Annotated[Matrix, "P", 3, Unit("N")]
    desired_wrench: Annotated[Vector, 6, Unit("N, N m")]
    missed_wrench: Annotated[Vector, 6, Unit("N, N m")]
    com_error: Annotated[Vector, 3, Unit("m")]


class Balancer(NamedTuple):
    """All that balance control works with."""

    senses: Senses
    signals: BalanceSignals
    tree: Tree
    linkage: Linkage
    gains: Gains
    drives: Drives
    contacts: ContactPlaces
    start: Wanted  # the robot's place and orientation at the first call
    moves: Wanted  # the reference since then, which a function in Python may write
    wanted: Wanted  # both together
    problem: ForceProblem
    watched: Watched
    unloaded: Unloaded
    log: EpisodeLog
    jacobian: Annotated[Matrix, 3, "nv"]  # of the centre of mass
    velocity: Annotated[Vector, 3]  # m/s, of the centre of mass
    torque: Annotated[Vector, "nv"]  # N m
    motor_torque: Annotated[Vector, "nu"]  # N m
    error: Annotated[Vector, 3]  # m
    wrench: Annotated[Vector, 6]  # N and N m, desired


#: Largest missing part of a wrench, as a share of the weight (force) or of weight times height (moment), not reported.
MISSED = 0.01


@inlined
def balance_tick(balance: Balancer, time: Float, ctrl: Vector) -> Int:
    """Write the controls for this instant; returns 0."""
    see_balance(balance, time)
    if not balance.watched.fallen[0]:
        balance_torques(balance, time)
    balance_controls(balance, time, ctrl)
    return 0


@inlined
def add_motion(start: Wanted, moves: Wanted, wanted: Wanted) -> None:
    """Write what is wanted: the reference ``moves`` the centre of mass and turns the trunk from its ``start``."""
    copy(wanted.velocity, moves.velocity)
    copy(wanted.spin, moves.spin)
    for c in range(3):
        wanted.com[c] = start.com[c] + moves.com[c]
        for k in range(3):
            wanted.orientation[c, k] = dot(moves.orientation[c], start.orientation[:, k], 3)


@inlined
def see_balance(balance: Balancer, time: Float) -> None:
    """Read the state; the pose at the first call is the one to keep."""
    senses, contacts, watched, start = balance.senses, balance.contacts, balance.watched, balance.start
    place_contacts(senses, contacts)
    com, trunk = senses.subtree_com[balance.tree.root], senses.xmat[balance.tree.root]
    height = -math.inf
    for p in range(contacts.arms.shape[0]):
        for c in range(3):
            contacts.arms[p, c] = contacts.position[p, c] - com[c]
        height = max(height, -contacts.arms[p, 2])
    if not watched.begun[0]:
        drop = math.inf  # a robot that starts in the air is to stand where it comes down
        for p in range(senses.gap.size):
            drop = min(drop, senses.gap[p])
        copy(start.com, com)
        for c in range(3):
            copy(start.orientation[c], trunk[3 * c : 3 * c + 3])
        start.com[2] -= max(0.0, drop)
        begin_unloaded(balance.unloaded, senses)
        watched.begun[0], watched.height[0] = 1, height
    else:
        program = balance.problem.program
        feel_bearing(balance.unloaded, senses, balance.gains.weight[2], program.lower, program.upper)
    add_motion(start, balance.moves, balance.wanted)
    upright = 0.0  # cosine of the trunk's tilt: the vertical in its frame, as it is and as it is wanted
    for k in range(3):
        upright += balance.wanted.orientation[2, k] * trunk[6 + k]
    tilt = math.acos(min(1.0, max(-1.0, upright)))
    see_fall(balance.log, watched.fallen, time, height, watched.height[0], tilt)


@inlined
def balance_torques(balance: Balancer, time: Float) -> None:
    """Write contact forces, and the torques (nu,) of the motors that produce them.

    By virtual work, motors give what is wanted at the joints that follow them by loops and ties too; springs carry
    what is wanted at theirs.
    """
    senses, tree, contacts, problem = balance.senses, balance.tree, balance.contacts, balance.problem
    com_motion(senses, tree, balance.jacobian, balance.velocity)
    com, trunk, spin = senses.subtree_com[tree.root], senses.xmat[tree.root], senses.cvel[tree.root]
    desired_wrench(balance.gains, balance.wanted, com, balance.velocity, trunk, spin, balance.error, balance.wrench)
    if not distribute(problem, balance.wrench, contacts.arms, contacts.frames):
        see_episode(balance.log, time, UNSOLVED, 1.0)
    missed, weight = problem.missed, balance.gains.weight
    force, moment = math.sqrt(dot(missed, missed, 3)), math.sqrt(dot(missed[3:], missed[3:], 3))
    short = max(force, moment / balance.watched.height[0]) / math.sqrt(dot(weight, weight, 3))
    if short > MISSED:
        row = see_episode(balance.log, time, INFEASIBLE, short)
        if row >= 0:
            balance.log.details[row, 0], balance.log.details[row, 1] = force, moment
    carrying_torques(senses.cdof, balance.jacobian, tree, contacts.arms, problem.force, balance.torque)
    hold_unloaded(balance.unloaded, senses, tree, contacts.arms, short, balance.torque)
    linkage, torque = balance.linkage, balance.motor_torque
    if linkage.drift.size:
        solve_linkage(senses, linkage)
    for i in range(torque.size):
        torque[i] = balance.torque[balance.drives.dof[i]]
        for k in range(linkage.dependent.size):
            follows, motor = linkage.dependent[k], linkage.dofs.size - torque.size + i
            torque[i] += linkage.span[follows, motor] * balance.torque[follows]


@inlined
def desired_wrench(
    gains: Gains,
    wanted: Wanted,
    com: Vector,
    velocity: Vector,
    trunk: Vector,
    spin: Vector,
    error: Vector,
    wrench: Vector,
) -> None:
    """Write the wrench (6,) of (19)-(22) at the centre of mass, world frame, and the error (3,) in m.

    ``trunk`` is its rotation matrix, flat, ``spin`` begins with its angular velocity. With one stiffness for all axes
    the torque of (21) is ``-2 kr delta epsilon`` with the quaternion (delta, epsilon) from the wanted orientation to
    the actual one, and ``2 delta epsilon`` is the axial part of that rotation's matrix.
    """
    for c in range(3):
        error[c] = com[c] - wanted.com[c]
        wrench[c] = gains.weight[c] - gains.stiffness[c] * error[c]  # Ott 2011, eq. 19-20
        wrench[c] -= gains.damping[c] * (velocity[c] - wanted.velocity[c])
        wrench[3 + c] = -gains.dr * (spin[c] - wanted.spin[c])  # Ott 2011, eq. 22
    for i in range(3):
        # Half the sum over the axes of wanted x actual is the axial part, in the world frame.
        dx, dy, dz = wanted.orientation[0, i], wanted.orientation[1, i], wanted.orientation[2, i]
        bx, by, bz = trunk[i], trunk[3 + i], trunk[6 + i]
        wrench[3] -= 0.5 * gains.kr * (dy * bz - dz * by)  # Ott 2011, eq. 21
        wrench[4] -= 0.5 * gains.kr * (dz * bx - dx * bz)
        wrench[5] -= 0.5 * gains.kr * (dx * by - dy * bx)


@inlined
def balance_controls(balance: Balancer, time: Float, ctrl: Vector) -> None:
    """Write the controls for the torques, within the limits of the motors; none after a fall."""
    drives, problem, torque = balance.drives, balance.problem, balance.motor_torque
    if balance.watched.fallen[0]:
        torque[:] = 0.0
        problem.force[:] = 0.0
    else:
        limit_torques(drives, torque, balance.senses, balance.log, time)
    write_controls(drives, torque, balance.senses.qpos, balance.senses.qvel, ctrl)
    signals = balance.signals
    for p in range(problem.force.shape[0]):
        copy(signals.commanded_force[p], problem.force[p])
    copy(signals.desired_wrench, balance.wrench)
    copy(signals.missed_wrench, problem.missed)
    copy(signals.com_error, balance.error)


#: Capacity of the log, episodes.
ROOM = 1024
#: The robot of the paper as ``torque-biped`` assumes it, its gains and the least force per point.
PAPER = Size(mass=50.0, inertia=6.68, height=0.6554, gravity=np.array([0.0, 0.0, -9.81]), points=8)
PAPER_GAINS = {"kh": 900.0, "kv": 3000.0, "kr": 100.0, "dr": 50.0}
PAPER_FLOOR = 4.0  # N


@public
@dataclass(frozen=True)
class Balance:
    """Keep the centre of mass and the trunk where they are, or on a reference, by the forces at the contact points.

    Default gains scale the paper's with mass, inertia and the frequency sqrt(g/h) of the standing robot; for a robot of
    its size (50 kg, centre of mass at 0.66 m) they are the paper's, except the horizontal damping, which is larger
    here. The default ``floor`` is the same share of the weight per contact point as in the paper. Servos get the target
    that produces the wanted torque; loops and springs between trunk and feet carry their part.

        push = ff.Push("trunk", force=(0, 70, 0), start=0.5, duration=0.05)
        rec = ff.Simulation("torque-biped").run(2.0, controller=Balance(), pushes=push)

    Records ``commanded_force`` (one row per contact point), ``desired_wrench``, ``missed_wrench`` and ``com_error``.
    Warnings: ``infeasible`` where the contacts cannot give the wrench (the nearest they can give is used),
    ``saturated`` where a motor, or a servo within its control range, cannot give its torque, ``fallen``, after which
    the motors are off.

    Attributes:
        kh: N/m, horizontal stiffness, 1.2 m g/h.
        kv: N/m, vertical stiffness, 4.0 m g/h.
        damping_h: damping ratio of the horizontal motion; 0.8 in the paper, with which pushes topple sooner.
        damping_v: damping ratio of the vertical motion.
        kr: N m/rad, stiffness of the trunk's orientation, 1.0 I g/h.
        dr: N m s/rad, its damping, 1.9 I sqrt(g/h).
        floor: N, least normal force at every point, 0.065 of the weight / points.
        sides: of the friction pyramid.
        friction: coefficient that limits the forces, the ground's dynamic one if left out.
        com: function of time (s): wanted displacement of the centre of mass from its place at the start, (3,) m, world
            frame.
        orientation: function of time (s): wanted rotation vector of the trunk from its orientation at the start, (3,)
            rad, world frame.
        hold_limbs: lead feet in the air back, keep arms and waist in their pose; not in the paper, which is False.
    """

    kh: NotNegative | None = None
    kv: NotNegative | None = None
    damping_h: NotNegative = 1.15
    damping_v: NotNegative = 0.2
    kr: NotNegative | None = None
    dr: NotNegative | None = None
    floor: NotNegative | None = None
    sides: Annotated[int, Bounds(3)] = 4
    friction: NotNegative | None = None
    com: Callable[[float], Any] | None = None
    orientation: Callable[[float], Any] | None = None
    hold_limbs: bool = True

    def __str__(self) -> str:
        return described(self, "balance")

    def start(self, robot: Robot, ground: Ground, dt: float) -> Inside | LedBalancing:
        if not robot.model.nu:
            raise ControllerError(f"balance: {robot.name} has no motors")
        balancing = Inside(balance_tick, _balancer(self, robot, ground, dt), robot)
        return balancing if self.com is None and self.orientation is None else LedBalancing(balancing, self, dt)


def _balancer(options: Balance, robot: Robot, ground: Ground, dt: float) -> Balancer:
    """All that balance control of this robot works with, without senses."""
    model, count, driving = robot.model, robot.point_count, drives(robot, "balance")
    tree = tree_of(model, int(model.body_rootid[robot.point_body[0]]), robot.point_body.tolist())
    linkage = linkage_of(robot, driving.dof.astype(np.int64), "balance")
    _refuse_limp_joints(robot, linkage, np.logical_or.reduce(tree.moves))
    size = size_of(robot, count)
    return zeros(
        Balancer,
        {"nv": model.nv, "nu": model.nu},
        senses=no_senses(),
        signals=zeros(BalanceSignals, {"P": count}),
        tree=tree,
        linkage=own_copy(linkage),
        gains=gains(options, size),
        drives=driving,
        contacts=contact_places(robot, ground),
        start=zeros(Wanted, {}),
        moves=zeros(Wanted, {}, orientation=np.eye(3)),
        wanted=zeros(Wanted, {}),
        problem=force_problem(
            count,
            ground.dynamic_friction if options.friction is None else options.friction,
            sides=options.sides,
            minimum=least_force(size) if options.floor is None else options.floor,
        ),
        watched=zeros(Watched, {}),
        unloaded=unloaded(robot, tree, driving, math.sqrt(size.rate), size.height, dt, options.hold_limbs),
        log=empty_log(ROOM),
    )


class LedBalancing:
    """Balance control with a reference: ``com`` and ``orientation`` of the options, functions of time in Python.

    Velocities are differences over two periods ``dt`` (s), over one at the start: both functions are called once per
    instant, and never for times before the start.
    """

    def __init__(self, inner: Inside, options: Balance, dt: float) -> None:
        self._inner, self._dt = inner, dt
        self._given = (("com", options.com), ("orientation", options.orientation))
        self._around: list[list[np.ndarray]] = []  # what the functions gave a period before, now and a period after
        self.signals, self.warnings = inner.signals, inner.warnings

    def __call__(self, time: float, state: Observation) -> np.ndarray:
        past = self._around[1:] or [self._asked(time)] * 2
        before, now, after = self._around = [*past, self._asked(time + self._dt)]
        between = self._dt if before is now else 2.0 * self._dt
        first, middle, last = (rotation_matrix(turn) for _, turn in self._around)
        moves = self._inner.memory.moves
        moves.com[:], moves.velocity[:] = now[0], (after[0] - before[0]) / between
        moves.orientation[:], moves.spin[:] = middle, rotation_vector(last @ first.T) / between
        return self._inner(time, state)

    def _asked(self, time: float) -> list[np.ndarray]:
        return [np.zeros(3) if moves is None else _three(name, moves, time) for name, moves in self._given]


def _three(name: str, function: Callable[[float], Any], time: float) -> np.ndarray:
    values = np.asarray(function(time), dtype=float)
    if values.shape != (3,) or not np.isfinite(values).all():
        raise ControllerError(f"the reference {name} gave {values} at t = {time:.6g} s, not three finite numbers")
    return values


def _refuse_limp_joints(robot: Robot, linkage: Linkage, moves: np.ndarray) -> None:
    """Refuse joints that no motor, loop or spring holds; ``moves`` (nv,) tells which move a contact point."""
    model = robot.model
    held = actuated_dofs(robot) | (model.body_parentid[model.dof_bodyid] == 0)
    held[linkage.dependent] = held[model.jnt_dofadr[giving_springs(robot)]] = True
    for dof in np.flatnonzero(moves & ~held):
        raise ControllerError(
            f"balance: joint '{robot.dof_name(int(dof))}' of {robot.name} lies between trunk and foot and has no "
            "motor, loop or spring that could carry its load"
        )


def gains(options: Balance, size: Size) -> Gains:
    """The gains for a robot of this size: those given, or the paper's scaled by inertia and frequency."""
    mass, inertia = size.mass / PAPER.mass, size.inertia / PAPER.inertia
    rate = size.rate / PAPER.rate
    scales = {"kh": mass * rate, "kv": mass * rate, "kr": inertia * rate, "dr": inertia * math.sqrt(rate)}
    given = {name: getattr(options, name) for name in scales}
    kh, kv, kr, dr = (
        PAPER_GAINS[name] * scale if given[name] is None else given[name] for name, scale in scales.items()
    )
    stiffness = np.array([kh, kh, kv], dtype=float)
    ratio = np.array([options.damping_h, options.damping_h, options.damping_v])
    damping = 2.0 * ratio * np.sqrt(size.mass * stiffness)
    return Gains(-size.mass * size.gravity, stiffness, damping, float(kr), float(dr))


def least_force(size: Size) -> float:
    """Least force (N) on every point: the same share of the weight as in the paper."""
    return PAPER_FLOOR * _weight(size) / _weight(PAPER) * PAPER.points / size.points


def _weight(size: Size) -> float:
    return size.mass * float(np.linalg.norm(size.gravity))
