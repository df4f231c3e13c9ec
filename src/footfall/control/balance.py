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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, NamedTuple

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.compiled import inlined, kernel
from footfall.control.base import Observation
from footfall.control.body.stance import Size, actuated_dofs, giving_springs, size_of
from footfall.control.contact_forces import (
    Contact,
    ContactPlaces,
    ForceProblem,
    contact_places,
    distribute,
    force_problem,
    place_contacts,
)
from footfall.control.inside import (
    CALM,
    Episode,
    EpisodeLog,
    Inside,
    empty_log,
    limit_torques,
    note,
    saturation,
    see_episode,
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
from footfall.engine.bridge import Clock, make_clock, nanoseconds
from footfall.errors import ControllerError, did_you_mean
from footfall.given_numbers import NotNegative
from footfall.ground import Ground
from footfall.kinds import Float, Int, Ints, Matrix, Unit, Vector, zeros
from footfall.robot import Robot
from footfall.robot.motors import Drives, drives, write_controls
from footfall.robot.rotations import rotation_matrix, rotation_vector
from footfall.solve.dense import copy, minimum_norm_solve
from footfall.standing import fallen, in_pose, loop_rows


class Wanted(NamedTuple):
    """A reference at one time, world frame."""

    com: Annotated[Vector, 3]  # m
    velocity: Annotated[Vector, 3]  # m/s
    orientation: Annotated[Matrix, 3, 3]  # of the trunk
    spin: Annotated[Vector, 3]  # rad/s


class Reference:
    """A motion relative to the start: ``com`` (m) and ``orientation`` (rotation vector, rad).

    Either may be None for no motion. Velocities are differences over two steps ``dt`` (s), over one at the start: both
    functions are called once per instant, and never for times before the start.
    """

    def __init__(
        self, com: Callable[[float], Any] | None, orientation: Callable[[float], Any] | None, dt: float
    ) -> None:
        self._moves, self._turns, self._dt = com, orientation, dt
        self._still = zeros(Wanted, {}, orientation=np.eye(3))
        self._known: dict[str, dict[float, np.ndarray]] = {"com": {}, "orientation": {}}

    def begin(self, com: np.ndarray, trunk: np.ndarray) -> None:
        """Set the origin of the motion to this position and orientation."""
        self._still = zeros(Wanted, {}, com=com.copy(), orientation=trunk.copy())

    def at(self, time: float) -> Wanted:
        wanted, dt = self._still, self._dt
        times = (max(time - dt, 0.0), time, time + dt)
        between = times[2] - times[0]
        if self._moves is not None:
            before, now, after = self._around("com", self._moves, times)
            wanted = wanted._replace(com=wanted.com + now, velocity=(after - before) / between)
        if self._turns is not None:
            before, now, after = self._around("orientation", self._turns, times)
            first, middle, last = map(rotation_matrix, (before, now, after))
            spin = rotation_vector(last @ first.T) / between
            wanted = wanted._replace(orientation=middle @ wanted.orientation, spin=spin)
        return wanted

    def _around(self, name: str, function: Callable[[float], Any], times: tuple[float, ...]) -> list[np.ndarray]:
        """Values of a function at three times, s; those of the last three are cached."""
        known, found = self._known[name], {}
        steps = [round(time / self._dt, 6) for time in times]
        for step, time in zip(steps, times, strict=True):
            if step not in found:
                found[step] = known[step] if step in known else _three(name, function, time)
        self._known[name] = found
        return [found[step] for step in steps]


def _three(name: str, function: Callable[[float], Any], time: float) -> np.ndarray:
    values = np.asarray(function(time), dtype=float)
    if values.shape != (3,) or not np.isfinite(values).all():
        raise ControllerError(f"the reference {name} gave {values} at t = {time:.6g} s, not three finite numbers")
    return values


#: Singular values below this share of the largest count as zero.
RANK = 1e-6
#: Largest share of a unit torque at a joint without a motor that loops and springs may leave unbalanced.
LACK = 1e-3


class _Room(NamedTuple):
    """Scratch for the forces of loops, for n joints without motor."""

    gram: Annotated[Matrix, "n", "n"]
    factor: Annotated[Matrix, "n", "n"]
    spare: Annotated[Matrix, "n", "n"]
    load: Annotated[Vector, "n"]
    half: Annotated[Vector, "n"]


class Loops:
    """Turns torques wanted at all joints into torques of motors, for joints without a motor on the way to contacts.

    At those joints the torque comes from loops (equalities) and from springs, which deflect until they carry their
    part: ``t_u = (E^T l + s)_u``; motors need not give the loops' part on driven joints, ``(E^T l)_a``. ``moves`` (nv,)
    tells which coordinates move a contact point.
    """

    def __init__(self, robot: Robot, moves: np.ndarray) -> None:
        model = robot.model
        root = model.body_parentid[model.dof_bodyid] == 0
        self._passive = np.flatnonzero(~actuated_dofs(robot) & ~root)
        #: Whether any such joint lies between trunk and contacts.
        self.needed = bool(moves[self._passive].any())
        springs = model.jnt_dofadr[giving_springs(robot)]
        self._springs = np.eye(model.nv)[springs][:, self._passive]
        self._room = zeros(_Room, {"n": len(self._passive)})
        if self.needed:
            self._refuse_limp_joints(robot, moves)

    def carry(self, data: mujoco.MjData, torque: np.ndarray) -> None:
        """Subtract from ``torque`` (nv,), in place, the part that loops and springs carry in this state."""
        if not self.needed:
            return
        _carry(_rows(data), self._springs, self._passive, torque, self._room)

    def _refuse_limp_joints(self, robot: Robot, moves: np.ndarray) -> None:
        passive = self._passive
        columns = np.concatenate([_rows(in_pose(robot, robot.home))[:, passive], self._springs]).T
        for k in np.flatnonzero(moves[passive]):
            wanted = np.eye(len(passive))[k]
            left = wanted - columns @ np.linalg.lstsq(columns, wanted, rcond=RANK)[0]
            if np.abs(left).max() > LACK:
                name = robot.dof_name(int(passive[k]))
                raise ControllerError(
                    f"balance: joint '{name}' of {robot.name} lies between trunk and foot and has no motor, loop or "
                    "spring that could carry its load"
                )


@kernel
def _carry(rows: Matrix, springs: Matrix, passive: Ints, torque: Vector, room: _Room) -> None:
    """Subtract the least-norm forces A^T y of loops and springs, with A A^T y = t_u and rows A^T (m, n) of both."""
    n, G, y = passive.size, room.gram, room.load
    for i in range(n):
        y[i] = torque[passive[i]]
        for j in range(i + 1):
            value = 0.0
            for e in range(rows.shape[0]):
                value += rows[e, passive[i]] * rows[e, passive[j]]
            for e in range(springs.shape[0]):
                value += springs[e, i] * springs[e, j]
            G[i, j] = value
    minimum_norm_solve(G, n, RANK * RANK, y, room.factor, room.spare, room.half)
    for e in range(rows.shape[0]):
        force = 0.0
        for i in range(n):
            force += rows[e, passive[i]] * y[i]
        for j in range(torque.size):
            torque[j] -= force * rows[e, j]
    for i in range(n):
        torque[passive[i]] = 0.0


def _rows(data: mujoco.MjData) -> np.ndarray:
    if not data.ne:
        mujoco.mj_makeConstraint(data.model, data)
    return loop_rows(data)


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
    next_question: Vector  # (1,) s, time of the next check whether the robot could stand at its reference
    rest_since: Vector  # (1,) s, infinite while it moves


class BalanceSignals(NamedTuple):
    """What is recorded."""

    commanded_force: Annotated[Matrix, "P", 3, Unit("N")]
    desired_wrench: Annotated[Vector, 6, Unit("N, N m")]
    missed_wrench: Annotated[Vector, 6, Unit("N, N m")]
    com_error: Annotated[Vector, 3, Unit("m")]
    qp_time: Annotated[Vector, 1, Unit("us")]  # that the program took
    qp_solved: Annotated[Vector, 1]  # 1 where it has a solution


class Balancer(NamedTuple):
    """All that balance control works with."""

    senses: Senses
    signals: BalanceSignals
    tree: Tree
    trunk: int  # body whose orientation is kept
    gains: Gains
    drives: Drives
    contacts: ContactPlaces
    wanted: Wanted
    problem: ForceProblem
    question: ForceProblem  # whether the robot could stand at its reference
    watched: Watched
    unloaded: Unloaded
    log: EpisodeLog
    clock: Clock
    jacobian: Annotated[Matrix, 3, "nv"]  # of the centre of mass
    velocity: Annotated[Vector, 3]  # m/s, of the centre of mass
    torque: Annotated[Vector, "nv"]  # N m
    motor_torque: Annotated[Vector, "nu"]  # N m
    error: Annotated[Vector, 3]  # m
    wrench: Annotated[Vector, 6]  # N and N m, desired
    still: Vector  # (6,) N and N m, that carries the robot at rest


#: Kinds of episodes that are reported.
UNSOLVED, INFEASIBLE, SATURATED, UNREACHABLE, FALLEN, KINDS = 0, 1, 2, 3, 4, 5
#: Largest missing part of a wrench, as a share of the weight (force) or of weight times height (moment), not reported.
MISSED = 0.01
#: A reference is unreachable if the robot rests away from it: its speed is below AT_REST sqrt(g h) for A_WHILE
#: sqrt(h / g) at a distance above FAR h, h being the height of its centre of mass.
AT_REST, A_WHILE, FAR = 0.002, 2.0, 0.0076
#: Period of the check whether the robot could stand at its reference, in sqrt(h / g).
ASK_EVERY = 0.2
#: First detail of an unreachable reference: the contacts could not carry the robot there, or it rests elsewhere.
NO_STAND, ELSEWHERE = 0, 1


@inlined
def balance_tick(balance: Balancer, time: Float, ctrl: Vector) -> Int:
    """Write the controls for this instant; returns 0."""
    see_balance(balance, time)
    if not balance.watched.fallen[0]:
        balance_torques(balance)
    balance_controls(balance, time, ctrl)
    return 0


@inlined
def see_balance(balance: Balancer, time: Float) -> None:
    """Read the state; the pose at the first call is the one to keep."""
    senses, contacts, watched, wanted = balance.senses, balance.contacts, balance.watched, balance.wanted
    place_contacts(senses, contacts)
    com, trunk = senses.subtree_com[balance.tree.root], senses.xmat[balance.trunk]
    height = -math.inf
    for p in range(contacts.arms.shape[0]):
        for c in range(3):
            contacts.arms[p, c] = contacts.position[p, c] - com[c]
        height = max(height, -contacts.arms[p, 2])
    if not watched.begun[0]:
        drop = math.inf  # a robot that starts in the air is to stand where it comes down
        for p in range(contacts.feet):
            drop = min(drop, senses.gap[p])
        for c in range(3):
            wanted.com[c] = com[c]
            for k in range(3):
                wanted.orientation[c, k] = trunk[3 * c + k]
        wanted.com[2] -= max(0.0, drop)
        begin_unloaded(balance.unloaded, senses)
        watched.begun[0], watched.height[0] = 1, height
    else:
        program = balance.problem.program
        feel_bearing(balance.unloaded, senses, balance.gains.weight[2], program.lower, program.upper)
    upright = 0.0  # cosine of the trunk's tilt: the vertical in its frame, as it is and as it is wanted
    for k in range(3):
        upright += wanted.orientation[2, k] * trunk[6 + k]
    tilt = math.acos(min(1.0, max(-1.0, upright)))
    if not watched.fallen[0] and fallen(height, watched.height[0], tilt):
        watched.fallen[0] = 1
        note(balance.log, time, FALLEN, height)


@inlined
def balance_torques(balance: Balancer) -> None:
    """Write contact forces, and the torques (nv,) that produce them."""
    senses, tree, contacts, problem = balance.senses, balance.tree, balance.contacts, balance.problem
    com_motion(senses, tree, balance.jacobian, balance.velocity)
    com, trunk, spin = senses.subtree_com[tree.root], senses.xmat[balance.trunk], senses.cvel[balance.trunk]
    desired_wrench(balance.gains, balance.wanted, com, balance.velocity, trunk, spin, balance.error, balance.wrench)
    begin = nanoseconds(balance.clock)
    solved = distribute(problem, balance.wrench, contacts.arms, contacts.frames)
    balance.signals.qp_time[0] = 1e-3 * (nanoseconds(balance.clock) - begin)
    balance.signals.qp_solved[0] = 1.0 if solved else 0.0
    carrying_torques(senses.cdof, balance.jacobian, tree, contacts.arms, problem.force, balance.torque)
    hold_unloaded(balance.unloaded, senses, tree, contacts.arms, lack(problem, balance)[0], balance.torque)


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
        for i in range(torque.size):
            torque[i] = 0.0
        for p in range(problem.force.shape[0]):
            for c in range(3):
                problem.force[p, c] = 0.0
    else:
        for i in range(torque.size):
            torque[i] = balance.torque[drives.dof[i]]
        report_lack(balance, time)
        report_reference(balance, time)
        limit_torques(drives, torque, balance.senses, balance.log, time, SATURATED)
    write_controls(drives, torque, balance.senses.qpos, balance.senses.qvel, ctrl)
    signals = balance.signals
    for p in range(problem.force.shape[0]):
        copy(signals.commanded_force[p], problem.force[p])
    copy(signals.desired_wrench, balance.wrench)
    copy(signals.missed_wrench, problem.missed)
    copy(signals.com_error, balance.error)


@inlined
def lack(problem: ForceProblem, balance: Balancer) -> tuple[Float, Float, Float]:
    """The missing part of a wrench: as a share of the weight, its force (N) and its moment (N m)."""
    missed, weight = problem.missed, balance.gains.weight
    force = math.sqrt(missed[0] ** 2 + missed[1] ** 2 + missed[2] ** 2)
    moment = math.sqrt(missed[3] ** 2 + missed[4] ** 2 + missed[5] ** 2)
    size = math.sqrt(weight[0] ** 2 + weight[1] ** 2 + weight[2] ** 2)
    return max(force, moment / balance.watched.height[0]) / size, force, moment


@inlined
def report_lack(balance: Balancer, time: Float) -> None:
    """Report a wrench that is out of reach."""
    log = balance.log
    if balance.signals.qp_solved[0] == 0.0:
        see_episode(log, time, UNSOLVED, 1.0)
    short, force, moment = lack(balance.problem, balance)
    if short > MISSED:
        row = see_episode(log, time, INFEASIBLE, short)
        if row >= 0:
            log.details[row, 0], log.details[row, 1] = force, moment


@inlined
def report_reference(balance: Balancer, time: Float) -> None:
    """Report a reference at which the contacts cannot carry the robot, or that it does not reach."""
    watched, contacts, log, wanted = balance.watched, balance.contacts, balance.log, balance.wanted.com
    h = watched.height[0]
    unit = math.sqrt(h * balance.tree.mass / max(balance.gains.weight[2], 1e-9))
    if time >= watched.next_question[0]:
        watched.next_question[0] = time + ASK_EVERY * unit
        com = balance.senses.subtree_com[balance.tree.root]
        for p in range(contacts.arms.shape[0]):
            for c in range(3):
                contacts.arms[p, c] += com[c] - wanted[c]
        distribute(balance.question, balance.still, contacts.arms, contacts.frames)
        short, force, moment = lack(balance.question, balance)
        if short > MISSED:
            row = see_episode(log, time, UNREACHABLE, short)
            if row >= 0:
                details = log.details[row]
                details[0], details[4], details[5] = NO_STAND, force, moment
                for c in range(3):
                    details[1 + c] = wanted[c]
    v, off = balance.velocity, balance.error
    moves = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) >= AT_REST * h / unit
    watched.rest_since[0] = math.inf if moves else min(watched.rest_since[0], time)
    away = math.sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2])
    if time - watched.rest_since[0] > A_WHILE * unit and away > FAR * h:
        row = see_episode(log, time, UNREACHABLE, away)
        if row >= 0:
            log.details[row, 0], log.details[row, 1] = ELSEWHERE, away


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

    Records ``commanded_force`` (one row per contact point, those of the feet first), ``desired_wrench``,
    ``missed_wrench``, ``com_error``, ``qp_time`` and ``qp_solved``. Warnings: ``infeasible`` where the contacts cannot
    give the wrench (the nearest they can give is used), ``saturated`` where a motor, or a servo within its control
    range, cannot give its torque,
    ``unreachable`` where the robot cannot stand at its reference or does not get there, ``fallen``, after which the
    motors are off.

    Attributes:
        kh: N/m, horizontal stiffness, 1.2 m g/h.
        kv: N/m, vertical stiffness, 4.0 m g/h.
        damping_h: damping ratio of the horizontal motion; 0.8 in the paper, with which pushes topple sooner.
        damping_v: damping ratio of the vertical motion.
        kr: N m/rad, stiffness of the trunk's orientation, 1.0 I g/h.
        dr: N m s/rad, its damping, 1.9 I sqrt(g/h).
        alpha1: weight of the force, eq. (18).
        alpha2: weight of the torque.
        alpha3: weight of the contact forces' norm.
        floor: N, least normal force at every point, 0.065 of the weight / points.
        sides: of the friction pyramid.
        friction: coefficient that limits the forces, the ground's dynamic one if left out.
        trunk: body whose orientation is kept, the root if left out.
        com: function of time (s): wanted displacement of the centre of mass from its place at the start, (3,) m, world
            frame.
        orientation: function of time (s): wanted rotation vector of the trunk from its orientation at the start, (3,)
            rad, world frame.
        contacts: contact points besides those of the feet, such as a hand on a rail.
        hold_limbs: lead feet in the air back, keep arms and waist in their pose; not in the paper, which is False.
    """

    kh: NotNegative | None = None
    kv: NotNegative | None = None
    damping_h: NotNegative = 1.15
    damping_v: NotNegative = 0.2
    kr: NotNegative | None = None
    dr: NotNegative | None = None
    alpha1: float = 1.0
    alpha2: float = 1e-3
    alpha3: float = 1e-6
    floor: float | None = None
    sides: int = 4
    friction: float | None = None
    trunk: str | None = None
    com: Callable[[float], Any] | None = None
    orientation: Callable[[float], Any] | None = None
    contacts: Sequence[Contact] = ()
    hold_limbs: bool = True

    def __str__(self) -> str:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        changed = [f"{name}={value}" for name, value in values.items() if value != getattr(Balance, name)]
        return f"balance({', '.join(changed)})" if changed else "balance"

    def start(self, robot: Robot, ground: Ground, dt: float) -> Balancing | LedBalancing:
        balancing = Balancing(self, robot, ground, dt)
        if self.com is None and self.orientation is None and not balancing.loops.needed:
            return balancing
        return LedBalancing(balancing, Reference(self.com, self.orientation, dt))


class Balancing(Inside):
    """A running balance controller of one robot, inside the compiled loop."""

    def __init__(self, options: Balance, robot: Robot, ground: Ground, dt: float) -> None:
        model = robot.model
        if not model.nu:
            raise ControllerError(f"balance: {robot.name} has no motors")
        driving = drives(robot, "balance")
        places = contact_places(robot, ground, options.contacts)
        count, bodies = len(places.position), [*robot.point_body.tolist(), *places.body.tolist()]
        tree = tree_of(model, int(model.body_rootid[robot.point_body[0]]), bodies)
        size = size_of(robot, count)
        floor = least_force(size) if options.floor is None else options.floor
        usual = ground.dynamic_friction if options.friction is None else options.friction
        others = [usual if one.friction is None else one.friction for one in options.contacts]
        friction = np.array([usual] * places.feet + others)
        weights = (options.alpha1, options.alpha2, options.alpha3)
        problem, question = (
            force_problem(count, friction, sides=options.sides, minimum=floor, weights=weights) for _ in range(2)
        )
        own = gains(options, size)
        self.loops = Loops(robot, np.logical_or.reduce(tree.moves))
        self._robot = robot
        self.memory = zeros(
            Balancer,
            {"nv": model.nv, "nu": model.nu},
            senses=no_senses(),
            signals=zeros(BalanceSignals, {"P": count}),
            tree=tree,
            trunk=_trunk(robot, options.trunk, tree.root),
            gains=own,
            drives=driving,
            contacts=places,
            wanted=zeros(Wanted, {}),
            problem=problem,
            question=question,
            watched=zeros(Watched, {}, next_question=np.full(1, -np.inf), rest_since=np.full(1, np.inf)),
            unloaded=unloaded(robot, tree, driving, math.sqrt(size.rate), size.height, dt, options.hold_limbs),
            log=empty_log(KINDS, ROOM),
            clock=make_clock(),
            still=np.concatenate([own.weight, np.zeros(3)]),
        )
        super().__init__(balance_tick, self.memory, ("qp_time", "qp_solved"))

    def describe(self, one: Episode, before: list[Episode]) -> tuple[str, str]:
        """Kind and sentence of an episode, with the last one of those ``before`` a fall as its cause."""
        kind, (first, *rest) = one.kind, one.details
        if kind == UNSOLVED:
            return "unsolved", "the solver gave no contact forces, those before are kept"
        if kind == INFEASIBLE:
            return (
                "infeasible",
                f"the contacts cannot give the desired wrench: {first:.3g} N and {rest[0]:.3g} N m short",
            )
        if kind == SATURATED:
            return saturation(self._robot, one.details)
        if kind == UNREACHABLE and first == ELSEWHERE:
            return "unreachable", f"the centre of mass rests {1e3 * rest[0]:.3g} mm from its reference"
        if kind == UNREACHABLE:
            where = ", ".join(f"{x:.3g}" for x in rest[:3])
            short = f"{rest[3]:.3g} N and {rest[4]:.3g} N m short"
            return "unreachable", f"the robot cannot stand still with its centre of mass at ({where}) m: {short}"
        names = {INFEASIBLE: "infeasible", UNREACHABLE: "unreachable"}
        causes = [cause for cause in before if cause.kind in names]
        # the first of those that lasted until the fall
        causes = [cause for cause in causes if one.start - cause.last <= CALM] or causes[-1:]
        why = f"; {names[causes[0].kind]} since {causes[0].start:.4g} s" if causes else ""
        return "fallen", f"the centre of mass is {one.worst:.3g} m high, motors off{why}"


class LedBalancing:
    """Balance control with a reference that is a Python function, or for legs with loops and springs."""

    def __init__(self, inner: Balancing, reference: Reference) -> None:
        self._inner, self._reference = inner, reference
        self.signals, self.warnings = inner.signals, inner.warnings
        self._begun = False

    def __call__(self, time: float, state: Observation) -> np.ndarray:
        memory, place = self._inner.memory, self._inner.see(state)
        see_balance(place, time)
        if not self._begun:
            self._reference.begin(memory.wanted.com, memory.wanted.orientation)
            self._begun = True
        if not memory.watched.fallen[0]:
            for now, goal in zip(memory.wanted, self._reference.at(time), strict=True):
                now[:] = goal
            balance_torques(place)
            self._inner.loops.carry(state.data, memory.torque)
        ctrl = np.zeros(len(memory.motor_torque))
        balance_controls(place, time, ctrl)
        return ctrl


def _trunk(robot: Robot, name: str | None, root: int) -> int:
    """The body whose orientation is kept."""
    if name is None:
        return root
    names = [robot.model.body(i).name for i in range(1, robot.model.nbody)]
    if name not in names:
        raise ControllerError(f"balance: no body of {robot.name} is called '{name}': {did_you_mean(name, names)}")
    return int(robot.model.body(name).id)


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
