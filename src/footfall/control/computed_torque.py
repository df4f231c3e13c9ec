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
from footfall.gait.polynomial import load_gait
from footfall.gait.reference import ReferenceMotion, actuated_coordinates
from footfall.given_numbers import NotNegative
from footfall.ground import Ground
from footfall.record import RunWarning, Signal
from footfall.robot import Robot
from footfall.robot.motors import motor_scale, torque_limits
from footfall.solve.contacts import OPEN
from footfall.standing import place, point_positions

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
        self.phase, self.begun = 0, 0.0
        nu = robot.model.nu
        self.signals = {
            "q_reference": Signal(np.zeros(nu), "rad or m"),
            "qd_reference": Signal(np.zeros(nu), "rad/s or m/s"),
            "load": Signal(np.zeros(len(robot.feet)), "share of the load wanted"),
            "phase": Signal(np.zeros(1), "number of the support phase"),
        }
        self.warnings: list[RunWarning] = []
        self._saturated = False  # in the call before

    def __call__(self, t: float, state: Observation) -> np.ndarray:
        self._advance(t, state)
        target = self.options.motion.target(self.phase, t - self.begun)
        for name, values in zip(self.signals, (target.q, target.qd, target.load, self.phase), strict=True):
            self.signals[name].values[:] = values
        self.dynamics.set(state.qpos, state.qvel, target.load)
        position, rate = state.qpos[self.position], self.dynamics.data.qvel[self.rate]
        # Bravo 2021, eq. 38
        wanted = target.qdd + self.options.kv * (target.qd - rate) + self.options.kp * (target.q - position)
        torque = self.dynamics.torques(wanted)
        limited: np.ndarray = np.minimum(np.maximum(torque, -self.limits), self.limits)
        over = torque != limited
        if over.any() and not self._saturated:
            k = int(over.argmax())
            should = f"{self.robot.actuated[k]} should give {torque[k]:.4g} N m, has {self.limits[k]:.4g}"
            self.warnings.append(RunWarning(t, "saturated", should))
        self._saturated = bool(over.any())
        return limited / self.scale

    def _advance(self, t: float, state: Observation) -> None:
        """Go on to the next phase if this one has ended."""
        motion, options, passed = self.options.motion, self.options, t - self.begun
        duration, landing = motion.duration(self.phase), motion.landing(self.phase)
        if landing is None or not options.on_touch:
            if passed >= duration:
                self.phase, self.begun = self.phase + 1, self.begun + duration
        elif passed > EARLIEST * duration:
            touches = (state.mode[self.robot.point_foot == landing] != OPEN).any()
            if touches or passed >= (1.0 + options.patience) * duration:
                self.phase, self.begun = self.phase + 1, t


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
        robot, model, data = self.robot, self.model, self.data
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, self.inertia)
        own = np.flatnonzero(load[robot.point_foot] > 0.0)
        self.share = np.sqrt(np.repeat(load[robot.point_foot[own]], 3))
        self.jacobian, rates = np.zeros((2, 3 * len(own), model.nv))
        bodies, places = robot.point_body[own].tolist(), point_positions(robot, data)[own]
        held = [(bodies[i], places[i], slice(3 * i, 3 * i + 3)) for i in range(len(own))]
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
        if len(self.share):
            missing = wanted - self.turning[self.actuated]
            # Bravo 2021, eq. 33-34
            found = self.turning + self.moves @ np.linalg.lstsq(self.moves[self.actuated], missing, rcond=RANK)[0]
        else:  # in flight the base obeys the joints' reaction alone
            found, free = np.zeros(self.model.nv), self.free
            found[self.actuated] = wanted
            found[free] = np.linalg.solve(self.inertia[np.ix_(free, free)], -(self.bias + self.inertia @ found)[free])
        return np.asarray(found)


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
        from footfall.gait.library import find_gait
        from footfall.gait.step_check import GaitConstraints

        known = None if self.gait is None else load_gait(self.gait)
        motion = find_gait(robot, GaitConstraints(speed=self.speed)).gait if known is None else known
        return ComputedTorque(motion=motion, kp=self.kp, kv=self.kv)
