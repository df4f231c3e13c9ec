"""Computed torque with the feet that carry held by constraint (Bravo 2021, section 4.1).

The wanted joint accelerations are those of the reference plus a correction of the errors (38). Feet that carry do not
move (28)-(30), so the base's acceleration follows from the joints' (34); ground and motors then share the inertial and
gravity forces (36)-(39). On one flat foot everything is determined, and this is the paper's law. On two feet the
targets of the joints may contradict each other: the nearest accelerations that hold both feet are taken, and among the
ground forces that carry the base those of least norm, weighted by the load that the reference gives each foot. With no
foot on the ground the base falls freely.

:class:`GaitWalk` walks so with an optimised gait of least torque.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np
from scipy.linalg.lapack import dposv

from footfall.arguments import public
from footfall.compiled import ByReference, kernel
from footfall.control.base import State, check_numbers
from footfall.engine.bridge import (
    mj_com_pos,
    mj_com_vel,
    mj_full_m,
    mj_jac,
    mj_jac_dot,
    mj_kinematics,
    mj_make_m,
    mj_passive,
    mj_rne,
    pointer_to,
)
from footfall.errors import ControllerError
from footfall.gait.reference import ReferenceMotion, Target, actuated_coordinates
from footfall.ground import Ground
from footfall.record import RunWarning, Signal
from footfall.robot import Robot
from footfall.robot.motors import motor_scale, torque_limits
from footfall.solve.contacts import OPEN
from footfall.solve.dense import cholesky, cholesky_solve

if TYPE_CHECKING:
    from footfall.gait.polynomial import PolynomialGait


#: Share of a phase after which a touch-down of its landing foot counts, so that the foot has left the ground first.
EARLIEST = 0.5
#: Singular values of the constraints below this part of the largest are rounding.
RANK = 1e-9


@public
@dataclass(frozen=True, kw_only=True)
class ComputedTorque:
    """Follow a reference motion by computed torque.

    Attributes:
        motion: the reference motion.
        kp: 1/s2, gain of positions in (38).
        kv: 1/s, gain of velocities; errors decay like exp(-kv t / 2) for kv^2 = 4 kp.
        on_touch: a phase of the motion ends when its landing foot touches the ground; otherwise by the clock.
        patience: how long a late touch-down is awaited, as a share of the phase.
    """

    motion: ReferenceMotion
    kp: float = 400.0
    kv: float = 40.0
    on_touch: bool = True
    patience: float = 0.25

    def __post_init__(self) -> None:
        if not isinstance(self.motion, ReferenceMotion):
            raise ControllerError(
                f"computed torque follows a motion with target, duration and landing, not {self.motion!r}"
            )
        check_numbers("computed torque", self, not_negative=("kp", "kv", "patience"))

    def start(self, robot: Robot, ground: Ground, dt: float) -> Follower:
        return Follower(self, robot)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        """Where the motion begins, qpos (nq,) and qvel (nv,), with the lowest point on the ground."""
        from footfall.standing import place

        begin = getattr(self.motion, "start", None)
        qpos, qvel = (robot.home, np.zeros(robot.model.nv)) if begin is None else begin(robot)
        return place(replace(robot, home=qpos), ground, (0.0, 0.0), align=False), qvel


class Follower:
    """Computed torque in one run."""

    def __init__(self, options: ComputedTorque, robot: Robot) -> None:
        self.options, self.robot = options, robot
        self.scale = motor_scale(robot, "computed torque")
        self.limits = torque_limits(robot)
        self.dynamics = ConstrainedDynamics(robot)
        self.position, self.rate = map(_view, map(np.asarray, actuated_coordinates(robot)))
        self._points_of = [np.flatnonzero(robot.point_foot == foot) for foot in range(len(robot.feet))]
        self.phase, self.begun = 0, 0.0
        nu = robot.model.nu
        self.signals = {
            "q_reference": Signal(np.zeros(nu), "rad or m"),
            "qd_reference": Signal(np.zeros(nu), "rad/s or m/s"),
            "load": Signal(np.zeros(len(robot.feet)), "share of the load wanted"),
            "phase": Signal(np.zeros(1), "number of the support phase"),
        }
        self.warnings: list[RunWarning] = []
        self._saturated = False

    def __call__(self, t: float, state: State) -> np.ndarray:
        self._advance(t, state)
        target = self.options.motion.target(self.phase, t - self.begun)
        self._tell(target)
        self.dynamics.set(state.qpos, state.qvel, target.load)
        position, rate = state.qpos[self.position], self.dynamics.data.qvel[self.rate]
        wanted = target.qdd + self.options.kv * (target.qd - rate) + self.options.kp * (target.q - position)  # (38)
        torque = self.dynamics.torques(wanted)
        limited: np.ndarray = np.minimum(np.maximum(torque, -self.limits), self.limits)
        self._warning(t, torque, limited)
        return limited / self.scale

    def _advance(self, t: float, state: State) -> None:
        """Go on to the next phase if this one has ended."""
        motion, options = self.options.motion, self.options
        duration, landing = motion.duration(self.phase), motion.landing(self.phase)
        passed = t - self.begun
        if landing is None or not options.on_touch:
            if passed >= duration:
                self.phase, self.begun = self.phase + 1, self.begun + duration
            return
        if passed > EARLIEST * duration and (
            passed >= (1.0 + options.patience) * duration
            or np.count_nonzero(state.mode[self._points_of[landing]] != OPEN)
        ):
            self.phase, self.begun = self.phase + 1, t

    def _tell(self, target: Target) -> None:
        told = self.signals
        told["q_reference"].values[:] = target.q
        told["qd_reference"].values[:] = target.qd
        told["load"].values[:] = target.load
        told["phase"].values[0] = self.phase

    def _warning(self, t: float, torque: np.ndarray, limited: np.ndarray) -> None:
        over = torque != limited
        some = bool(np.count_nonzero(over))
        if some and not self._saturated:
            worst = int(over.argmax())
            name, limit = self.robot.actuated[worst], self.limits[worst]
            self.warnings.append(
                RunWarning(t, "saturated", f"{name} should give {torque[worst]:.4g} N m, has {limit:.4g}")
            )
        self._saturated = some


class ConstrainedDynamics:
    """A robot at one instant, the feet with ``load`` held: (27)-(37)."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.model = robot, robot.model
        self.data = mujoco.MjData(robot.model)
        actuated = actuated_coordinates(robot)[1]
        free = np.setdiff1d(np.arange(robot.model.nv), actuated)
        self.actuated, self.free = _view(actuated), _view(free)
        self._held: dict[bytes, _Held] = {}

    def set(self, qpos: np.ndarray, qvel: np.ndarray, load: np.ndarray) -> None:
        """Take a state, with the velocities that it has once the feet that carry are at rest, (29).

        A foot that is coming to rest, or trembles on soft ground, is light: if the ankle reacted to its velocity with
        gains for the whole robot, it would tremble more. So the velocity is that after a plastic impact (22); where the
        feet are at rest already, it is the given one.
        """
        model, data = self.model, self.data
        data.qpos[:], data.qvel[:] = qpos, qvel
        held = self._holding(load > 0.0)
        self.share = np.sqrt(load[held.foot])
        if held.one_body is not None and hold(held.one_body):
            found = held.one_body.named
            self.inertia, self.jacobian, self.bias = found.inertia, found.jacobian, found.bias
            self.moves, self.follows, self.turning = found.basis, found.follows, found.turning
            return
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        self.inertia = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, self.inertia)
        self.jacobian = held.jacobian
        for body, local, at, rows in held.points:
            np.matmul(data.xmat[body].reshape(3, 3), local, out=at)
            at += data.xpos[body]
            mujoco.mj_jac(model, data, rows, None, at, body)
        motions = self._by_singular_values()
        self.moves = motions.basis
        metric = self.moves.T @ self.inertia
        data.qvel[:] = self.moves @ dposv(metric @ self.moves, metric @ data.qvel)[1]
        mujoco.mj_comVel(model, data)
        for (body, _, at, _), rows in zip(held.points, held.rates_of, strict=True):
            mujoco.mj_jacDot(model, data, rows, None, at, body)
        self.turning = motions.inverse @ -(held.rates @ data.qvel)  # N of (35)
        self.follows = None
        mujoco.mj_passive(model, data)
        self.bias = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 0, self.bias)
        self.bias -= data.qfrc_passive

    def _holding(self, carries: np.ndarray) -> _Held:
        """What holding those feet that carry needs, made once."""
        key = carries.tobytes()
        if key not in self._held:
            self._held[key] = _hold(self.robot, carries, self.data)
        return self._held[key]

    def _by_singular_values(self) -> _Motions:
        """The motions that hold points of several bodies, which may contradict the joints, or none."""
        left, size, right = np.linalg.svd(self.jacobian)
        rank = int((size > RANK * size.max(initial=0.0)).sum())
        return _Motions(right[rank:].T, right[:rank].T @ (left[:, :rank].T / size[:rank, None]))

    def torques(self, wanted: np.ndarray) -> np.ndarray:
        """Joint torques (nu,) for joint accelerations ``wanted``."""
        needed = self.inertia @ self._acceleration(wanted) + self.bias
        torque: np.ndarray
        if self.follows is not None:
            # One body carries, so the ground's work on motions that hold it is none: (39) without its forces.
            torque = needed[self.actuated] + needed[self.free] @ self.follows
            return torque
        # The ground carries the coordinates without motors: of the forces that do, those of weighted least norm.
        base = self.jacobian[:, self.free].T * self.share
        force = self.share * np.linalg.lstsq(base, needed[self.free], rcond=RANK)[0]
        torque = needed[self.actuated] - self.jacobian[:, self.actuated].T @ force
        return torque

    def _acceleration(self, wanted: np.ndarray) -> np.ndarray:
        """Accelerations (nv,) that hold the feet, (34), with the joints' as near to ``wanted`` as can be."""
        acceleration: np.ndarray
        if not len(self.share):  # in flight the base obeys the joints' reaction alone
            acceleration = np.zeros(self.model.nv)
            acceleration[self.actuated] = wanted
            force = self.bias[self.free] + self.inertia[self.free][:, self.actuated] @ wanted
            acceleration[self.free] = np.linalg.solve(self.inertia[self.free][:, self.free], -force)
            return acceleration
        if self.follows is not None:
            acceleration = self.turning + self.moves @ wanted
            return acceleration
        missing = wanted - self.turning[self.actuated]
        acceleration = self.turning + self.moves @ np.linalg.lstsq(self.moves[self.actuated], missing, rcond=RANK)[0]
        return acceleration


class _Motions(NamedTuple):
    """Motions that hold the feet, n of them, by R rows of constraints."""

    basis: np.ndarray  # (nv, n)
    inverse: np.ndarray  # (nv, R) of the constraints: a motion that meets velocities of the rows


class _Held(NamedTuple):
    """Contact points of feet that carry, with room for their R rows of constraints."""

    foot: np.ndarray  # (R,) number of its foot
    jacobian: np.ndarray  # (R, nv)
    rates: np.ndarray  # (R, nv) of the Jacobian, 1/s
    points: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]  # body, place on it, place in the world, rows
    rates_of: list[np.ndarray]  # rows of the rates by point
    one_body: ByReference | None  # the same for compiled code, where all points are of one body


def _hold(robot: Robot, carries: np.ndarray, data: mujoco.MjData) -> _Held:
    carrying = np.flatnonzero(carries[robot.point_foot])
    jacobian, rates = np.zeros((2, 3 * len(carrying), robot.model.nv))
    rows = [slice(3 * i, 3 * i + 3) for i in range(len(carrying))]
    bodies = [int(body) for body in robot.point_body[carrying]]
    one_body = None
    if len(set(bodies)) == 1:
        actuated = np.array(actuated_coordinates(robot)[1])
        free = np.setdiff1d(np.arange(robot.model.nv), actuated)
        one_body = ByReference(make_held(data, bodies[0], robot.point_position[carrying], free, actuated))
    return _Held(
        np.repeat(robot.point_foot[carrying], 3),
        jacobian,
        rates,
        [
            (body, np.asarray(robot.point_position[p], dtype=float), np.zeros(3), jacobian[row])
            for body, p, row in zip(bodies, carrying, rows, strict=True)
        ],
        [rates[row] for row in rows],
        one_body,
    )


def _view(indices: np.ndarray) -> np.ndarray | slice:
    """Indices that follow each other as a slice, which copies nothing."""
    whole = len(indices) > 0 and bool((np.diff(indices) == 1).all())
    return slice(int(indices[0]), int(indices[-1]) + 1) if whole else indices


#: Least over largest pivot of the base's constraints above which they determine its motion.
REGULAR = 1e-4


class Held(NamedTuple):
    """Points of one body that shall not move, R rows of constraints, and what follows for the nf base coordinates."""

    model: int  # MuJoCo's, by their addresses
    data: int
    body: int
    local: np.ndarray  # (P, 3) m, the points in the body's frame
    at: np.ndarray  # (3,) m, where one of them is
    free: np.ndarray  # (nf,) coordinates without motors
    actuated: np.ndarray  # (nu,)
    xpos: np.ndarray  # (3,) of the body
    xmat: np.ndarray  # (9,)
    qvel: np.ndarray  # (nv,) in: any, out: with the points at rest
    passive: np.ndarray  # (nv,)
    inertia: np.ndarray  # (nv, nv)
    jacobian: np.ndarray  # (R, nv)
    rates: np.ndarray  # (R, nv) of the Jacobian, 1/s
    basis: np.ndarray  # (nv, nu) of motions that hold the points, the joints' rows ones
    inverse: np.ndarray  # (nv, R) of the constraints, the joints' rows zeros
    follows: np.ndarray  # (nf, nu) how the base follows the joints
    turning: np.ndarray  # (nv,) N of (35)
    bias: np.ndarray  # (nv,)
    gram: np.ndarray  # (n, n), n the larger of nf and nu
    factor: np.ndarray  # (n, n)
    moved: np.ndarray  # (nv, nu)
    row: np.ndarray  # (max of n and R,)


def make_held(data: mujoco.MjData, body: int, local: np.ndarray, free: np.ndarray, actuated: np.ndarray) -> Held:
    """Room to hold these points (P, 3), m in the frame of a body."""
    model = data.model
    nv, rows, most = model.nv, 3 * len(local), max(len(free), len(actuated))
    basis = np.zeros((nv, len(actuated)))
    basis[actuated] = np.eye(len(actuated))
    return Held(
        model=model._address,
        data=data._address,
        body=body,
        local=np.array(local, dtype=float),
        at=np.zeros(3),
        free=free,
        actuated=actuated,
        xpos=data.xpos[body],
        xmat=data.xmat[body],
        qvel=data.qvel,
        passive=data.qfrc_passive,
        inertia=np.zeros((nv, nv)),
        jacobian=np.zeros((rows, nv)),
        rates=np.zeros((rows, nv)),
        basis=basis,
        inverse=np.zeros((nv, rows)),
        follows=np.zeros((len(free), len(actuated))),
        turning=np.zeros(nv),
        bias=np.zeros(nv),
        gram=np.zeros((most, most)),
        factor=np.zeros((most, most)),
        moved=np.zeros((nv, len(actuated))),
        row=np.zeros(max(most, rows)),
    )


@kernel
def hold(held):
    """Compute them for the state in MuJoCo's data: whatever the joints do, the base can follow, Bravo 2021, (34).

    False where the constraints of the base are near singular, as with points of a robot in space that lie on a line.
    """
    model, data, body = held.model, held.data, held.body
    nf, nu, nv, rows = held.free.size, held.actuated.size, held.qvel.size, len(held.jacobian)
    mj_kinematics(model, data)
    mj_com_pos(model, data)
    mj_make_m(model, data)
    mj_full_m(model, data, pointer_to(held.inertia))
    for p in range(len(held.local)):
        _place(held, p)
        mj_jac(model, data, pointer_to(held.jacobian[3 * p]), 0, pointer_to(held.at), body)
    for i in range(nf):
        for j in range(i + 1):
            value = 0.0
            for r in range(rows):
                value += held.jacobian[r, held.free[i]] * held.jacobian[r, held.free[j]]
            held.gram[i, j] = value
    if not cholesky(held.gram, nf, 0.0, held.factor):
        return False
    least, largest = held.factor[0, 0], held.factor[0, 0]  # inverse pivots
    for i in range(nf):
        least, largest = min(least, held.factor[i, i]), max(largest, held.factor[i, i])
    if least < REGULAR * largest:
        return False
    for r in range(rows):
        for i in range(nf):
            held.row[i] = held.jacobian[r, held.free[i]]
        cholesky_solve(held.factor, nf, held.row)
        for i in range(nf):
            held.inverse[held.free[i], r] = held.row[i]
    for i in range(nf):
        for j in range(nu):
            value = 0.0
            for r in range(rows):
                value -= held.inverse[held.free[i], r] * held.jacobian[r, held.actuated[j]]
            held.follows[i, j] = value
            held.basis[held.free[i], j] = value
    _bring_to_rest(held)
    mj_com_vel(model, data)
    for p in range(len(held.local)):
        _place(held, p)
        mj_jac_dot(model, data, pointer_to(held.rates[3 * p]), 0, pointer_to(held.at), body)
    for r in range(rows):
        value = 0.0
        for i in range(nv):
            value -= held.rates[r, i] * held.qvel[i]
        held.row[r] = value
    for i in range(nv):
        value = 0.0
        for r in range(rows):
            value += held.inverse[i, r] * held.row[r]
        held.turning[i] = value
    mj_passive(model, data)
    mj_rne(model, data, 0, pointer_to(held.bias))
    for i in range(nv):
        held.bias[i] -= held.passive[i]
    return True


@kernel
def _place(held, p):
    """Where a point is."""
    for i in range(3):
        held.at[i] = held.xpos[i]
        for j in range(3):
            held.at[i] += held.xmat[3 * i + j] * held.local[p, j]


@kernel
def _bring_to_rest(held):
    """The velocity after a plastic impact with the points held (22)."""
    nu, nv = held.actuated.size, held.qvel.size
    for i in range(nv):
        for j in range(nu):
            value = 0.0
            for k in range(nv):
                value += held.inertia[i, k] * held.basis[k, j]
            held.moved[i, j] = value
    for i in range(nu):
        for j in range(i + 1):
            value = 0.0
            for k in range(nv):
                value += held.basis[k, i] * held.moved[k, j]
            held.gram[i, j] = value
        value = 0.0
        for k in range(nv):
            value += held.moved[k, i] * held.qvel[k]
        held.row[i] = value
    cholesky(held.gram, nu, 0.0, held.factor)
    cholesky_solve(held.factor, nu, held.row)
    for i in range(nv):
        value = 0.0
        for j in range(nu):
            value += held.basis[i, j] * held.row[j]
        held.qvel[i] = value


@public
@dataclass(frozen=True, kw_only=True)
class GaitWalk:
    """Walk with an optimised gait.

    A gait that is neither shipped nor cached is optimised first. For planar bipeds; a run starts in the middle of a
    walk.

    Attributes:
        speed: m/s.
        gait: file of a gait (``footfall gait --out``), in place of the one for this speed.
        kp: 1/s2, gain of positions, as of :class:`ComputedTorque`.
        kv: 1/s, gain of velocities.
    """

    speed: float = 0.5
    gait: str | None = None
    kp: float = 400.0
    kv: float = 40.0

    def start(self, robot: Robot, ground: Ground, dt: float) -> Follower:
        return self._tracking(robot).start(robot, ground, dt)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        return self._tracking(robot).initial_state(robot, ground)

    def _tracking(self, robot: Robot) -> ComputedTorque:
        return ComputedTorque(motion=self._motion(robot), kp=self.kp, kv=self.kv)

    def _motion(self, robot: Robot) -> PolynomialGait:
        from footfall.gait.library import find_gait
        from footfall.gait.polynomial import load_gait
        from footfall.gait.step_check import GaitConstraints

        if self.gait is not None:
            return load_gait(self.gait)
        return find_gait(robot, GaitConstraints(speed=self.speed)).gait
