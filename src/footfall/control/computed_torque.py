"""Computed torque with supporting feet as constraints (Bravo 2021, section 4.1).

The wanted joint accelerations are those of the reference plus a correction of the errors (38). Supporting feet do not
move (28)-(30), so the base's acceleration follows from the joints' (34); ground and motors then share the inertial and
gravity forces (36)-(39). On one flat foot the solution is unique, and this is the paper's law. On two feet the targets
of the joints may contradict each other: the law takes the nearest accelerations that hold both feet, and among the
ground forces that carry the base those of least norm, weighted by the load that the reference gives each foot. With no
foot on the ground the base falls freely.

:class:`GaitWalk` tracks an optimised gait of least torque this way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.control.base import Observation
from footfall.gait.polynomial import PolynomialGait
from footfall.gait.reference import ReferenceMotion, Target, actuated_coordinates
from footfall.given_numbers import NotNegative
from footfall.ground import Ground
from footfall.record import RunWarning, Signal
from footfall.robot import Robot
from footfall.robot.motors import motor_scale, torque_limits
from footfall.solve.contacts import OPEN
from footfall.standing import place, place_on

#: Share of a phase before which a contact of its landing foot is ignored: the foot has not left the ground yet.
EARLIEST = 0.5
#: Singular values of the constraints below this share of the largest are rounding errors.
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
    kp: NotNegative = 400.0
    kv: NotNegative = 40.0
    on_touch: bool = True
    patience: NotNegative = 0.25

    def start(self, robot: Robot, ground: Ground, dt: float) -> Follower:
        return Follower(self, robot)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray, np.ndarray]:
        """The start of the motion, qpos (nq,) and qvel (nv,), with the lowest point on the ground."""
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
        self.position, self.rate = map(np.asarray, actuated_coordinates(robot))
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

    def __call__(self, t: float, state: Observation) -> np.ndarray:
        self._advance(t, state)
        target = self.options.motion.target(self.phase, t - self.begun)
        self._tell(target)
        self.dynamics.set(state.qpos, state.qvel, target.load)
        position, rate = state.qpos[self.position], self.dynamics.data.qvel[self.rate]
        # Bravo 2021, eq. 38
        wanted = target.qdd + self.options.kv * (target.qd - rate) + self.options.kp * (target.q - position)
        torque = self.dynamics.torques(wanted)
        limited: np.ndarray = np.minimum(np.maximum(torque, -self.limits), self.limits)
        self._warning(t, torque, limited)
        return limited / self.scale

    def _advance(self, t: float, state: Observation) -> None:
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
    """The dynamics of a robot at one instant, with its supporting feet held: (27)-(37)."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.model = robot, robot.model
        self.data = mujoco.MjData(robot.model)
        self.actuated = np.asarray(actuated_coordinates(robot)[1])
        self.free = np.setdiff1d(np.arange(robot.model.nv), self.actuated)
        nv = robot.model.nv
        self.inertia, self.bias = np.zeros((nv, nv)), np.zeros(nv)

    def set(self, qpos: np.ndarray, qvel: np.ndarray, load: np.ndarray) -> None:
        """Set the state, with velocities after a plastic impact (22) that brings the supporting feet to rest, (29).

        Reacting to the velocity of a light foot that comes to rest or vibrates on soft ground, with ankle gains for the
        whole robot, would amplify its vibration. Where the feet are at rest, the velocities are those given.
        """
        model, data = self.model, self.data
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, self.inertia)
        robot, own = self.robot, np.flatnonzero(load[self.robot.point_foot] > 0.0)
        self.share = np.sqrt(np.repeat(load[robot.point_foot[own]], 3))
        self.jacobian, rates = np.zeros((2, 3 * len(own), model.nv))
        held = []
        for i, p in enumerate(own):
            body = int(robot.point_body[p])
            held.append((body, place_on(data, body, robot.point_position[p]), slice(3 * i, 3 * i + 3)))
        for body, at, rows in held:
            mujoco.mj_jac(model, data, self.jacobian[rows], None, at, body)
        left, size, right = np.linalg.svd(self.jacobian)
        rank = int((size > RANK * size.max(initial=0.0)).sum())
        self.moves = right[rank:].T  # Bravo 2021, eq. 28, 35: motions that hold the points, as columns
        metric = self.moves.T @ self.inertia
        data.qvel[:] = self.moves @ np.linalg.solve(metric @ self.moves, metric @ data.qvel)  # Bravo 2021, eq. 29
        mujoco.mj_comVel(model, data)
        for body, at, rows in held:
            mujoco.mj_jacDot(model, data, rates[rows], None, at, body)
        # Bravo 2021, eq. 30-32, 35
        self.turning = right[:rank].T @ (left[:, :rank].T @ -(rates @ data.qvel) / size[:rank])
        mujoco.mj_passive(model, data)
        mujoco.mj_rne(model, data, 0, self.bias)
        self.bias -= data.qfrc_passive

    def torques(self, wanted: np.ndarray) -> np.ndarray:
        """Joint torques (nu,) for joint accelerations ``wanted``, (39)."""
        needed = self.inertia @ self._acceleration(wanted) + self.bias  # Bravo 2021, eq. 27, 36
        # The ground balances the coordinates without motors, by the forces of weighted least norm.
        base = self.jacobian[:, self.free].T * self.share
        force = self.share * np.linalg.lstsq(base, needed[self.free], rcond=RANK)[0]
        torque: np.ndarray = needed[self.actuated] - self.jacobian[:, self.actuated].T @ force  # Bravo 2021, eq. 37, 39
        return torque

    def _acceleration(self, wanted: np.ndarray) -> np.ndarray:
        """Accelerations (nv,) that hold the feet, (34), with those of the joints nearest to ``wanted``."""
        acceleration: np.ndarray
        if not len(self.share):  # in flight the base obeys the joints' reaction alone
            acceleration = np.zeros(self.model.nv)
            acceleration[self.actuated] = wanted
            force = self.bias[self.free] + self.inertia[self.free][:, self.actuated] @ wanted
            acceleration[self.free] = np.linalg.solve(self.inertia[self.free][:, self.free], -force)
            return acceleration
        missing = wanted - self.turning[self.actuated]
        # Bravo 2021, eq. 33-34
        acceleration = self.turning + self.moves @ np.linalg.lstsq(self.moves[self.actuated], missing, rcond=RANK)[0]
        return acceleration


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
