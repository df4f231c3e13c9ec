"""Hold a posture: joint PD with gravity compensation; and servos with these gains in place of a robot's motors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.control.base import control_pointer
from footfall.control.body.stance import actuated_dofs, most_lacking, rest, settled, stance, stiffness
from footfall.errors import ControllerError, warn
from footfall.given_numbers import NotNegative
from footfall.ground import Ground
from footfall.kinds import Float, Int, Vector
from footfall.robot import Robot
from footfall.robot.footing import toppling
from footfall.robot.model import centre_of_mass
from footfall.robot.motors import Drives, drives
from footfall.standing import in_pose, lowest_places

#: Largest proportional gain of a joint, in inertia over the square of the step: half the limit of an explicit step.
FASTEST = 0.5
#: Largest eigenvalues, over all joints together, of inverse inertia times kd times the step, and of inverse inertia
#: times kp times its square: an explicit step is stable while twice the first plus the second is below 4.
TOGETHER_DAMPED, TOGETHER_STIFF = 1.4, 0.8
#: Ratio of damping to stiffness of a joint, in sqrt(h/g) of the robot: below critical for the robot as an inverted
#: pendulum, above critical for a limb; and the largest damping, in inertia over the step.
DAMPED_OVER, DAMPED_AT_MOST = 0.175, 0.8
#: Lower bound of the height of the centre of mass in gains, as a share of its distance from the farthest contact point,
#: for robots that lie on the ground.
LEAST_HEIGHT = 0.05
#: Least stiffness of a stance, in g/h, the negative stiffness of an inverted pendulum; and share of it below which a
#: motion, such as a turn on the spot, is neutral and not unstable.
STIFF, NEUTRAL = 2.0, 1e-3
#: Missing torque of an actuator below which no warning is given, as a share of weight times height: rounding.
ROUNDING = 1e-6
#: Iteration limit of the reduction of gains to the stability limit of the step.
SLOWINGS = 500


def _posture(time: Float, qpos: Vector, qvel: Vector, ctrl: Vector, gains: Vector) -> Int:
    """gains: rows of (address in qpos, address in qvel, target, kp, kd, feed-forward, gear, least and largest control)
    per actuator, flat.
    """
    for i in range(ctrl.size):
        row = gains[9 * i : 9 * i + 9]
        torque = row[3] * (row[2] - qpos[int(row[0])]) - row[4] * qvel[int(row[1])] + row[5]
        ctrl[i] = min(max(torque / row[6], row[7]), row[8])
    return 0


@public
@dataclass(frozen=True)
class Posture:
    """Joint PD around a posture, with the torques that carry the robot's weight there as feed-forward.

    The default posture is the robot's home, on a slope with the soles along the ground and the weight over the feet
    (see :mod:`footfall.control.body.stance`), and a run starts in it. Where the centre of mass at home is beside the
    soles, it is the pose near by that brings it over them, which a warning named when the robot was loaded. The default
    ``kp`` is three times the weight times the height h of the centre of mass, enough for ankles to hold an inverted
    pendulum upright; it is doubled, repeatedly, where springs in the legs or narrow feet make the stance too soft. The
    default ``kd`` is ``kp`` times 0.175 sqrt(h/g). Both are smaller where the step is too long for the inertia of a
    joint. In the default posture the springs of joints without motors carry their load. Motors on the root
    (``robot.root_motors``) stay idle. Controls stay within the range of the model; an actuator that cannot hold its
    part of the weight within it is warned of.

    Attributes:
        target: (nq,) the posture; left out, the robot's home.
        kp: N m/rad or N/m, stiffness, one number or one per actuator.
        kd: N m s/rad or N s/m, damping, the same.
        gravity_compensation: add the torques that carry the weight in the posture.
    """

    target: Sequence[float] | None = None
    kp: NotNegative | Sequence[NotNegative] | None = None
    kd: NotNegative | Sequence[NotNegative] | None = None
    gravity_compensation: bool = True

    def __post_init__(self) -> None:
        for name in ("target", "kp", "kd"):
            if np.ndim(given := getattr(self, name)):  # so that it has a hash, by which gains are remembered
                object.__setattr__(self, name, tuple(np.ravel(given).tolist()))

    @staticmethod
    def pointer() -> Any:
        return control_pointer(_posture)

    def initial_state(self, robot: Robot, ground: Ground) -> tuple[np.ndarray | None, None]:
        """The posture set down on the ground, at rest."""
        return (_settled_stance(robot, _surface(ground)).copy() if self.target is None else None), None

    def gains(self, robot: Robot, ground: Ground, dt: float) -> np.ndarray:
        """The numbers the compiled controller needs, flat."""
        return _gains(self, robot, _surface(ground), dt).copy()


def _surface(ground: Ground) -> Ground:
    """The ground without its friction, which changes nothing here, so that what was found serves any friction."""
    return replace(ground, static_friction=0.0, dynamic_friction=0.0, friction_field=None)


@lru_cache(maxsize=32)  # finding them costs more than thousands of steps
def _gains(posture: Posture, robot: Robot, ground: Ground, dt: float) -> np.ndarray:
    """As :meth:`Posture.gains`."""
    model = robot.model
    default = posture.target is None
    target = _settled_stance(robot, ground) if default else np.asarray(posture.target, dtype=float)
    if target.shape != (model.nq,):
        raise ControllerError(f"posture: target has shape {target.shape}, {robot.name} needs ({model.nq},)")
    drive = drives(robot, "posture")
    joint = model.actuator_trnid[:, 0]
    data = in_pose(robot, target)
    dof = model.jnt_dofadr[joint]
    mobility = mobility_of(model, data)
    inertia = 1.0 / np.diag(mobility)
    height = _height(robot, data)
    kp: Any = posture.kp
    if kp is None:
        kp = _proportional_gains(robot, target, height, FASTEST * inertia / dt**2)[dof]
        kp = _slow_enough(kp, dt**2 * mobility[np.ix_(dof, dof)], TOGETHER_STIFF)
    kd: Any = posture.kd
    if kd is None:
        over = DAMPED_OVER * math.sqrt(height / max(abs(float(model.opt.gravity[2])), 1e-9))  # s, over stiffness
        kd = np.minimum(over * np.asarray(kp, dtype=float), DAMPED_AT_MOST * inertia[dof] / dt)
        kd = _slow_enough(kd, dt * mobility[np.ix_(dof, dof)], TOGETHER_DAMPED)
    feed = standing_torques(robot, target) if posture.gravity_compensation else np.zeros(model.nv)
    _say_what_is_too_weak(robot, drive, target, feed, ROUNDING * robot.weight * height)
    rows = np.zeros((model.nu, 9))
    rows[:, 0] = model.jnt_qposadr[joint]
    rows[:, 1] = model.jnt_dofadr[joint]
    rows[:, 2] = target[model.jnt_qposadr[joint]]
    # A servo adds offset + per_angle q + per_speed q' of its own: the law of the kernel gives what is missing.
    rows[:, 3] = kp + drive.per_angle
    rows[:, 4] = kd + drive.per_speed
    rows[:, 5] = feed[model.jnt_dofadr[joint]] - drive.offset - drive.per_angle * rows[:, 2]
    rows[:, 6] = drive.scale
    rows[:, 7], rows[:, 8] = drive.low, drive.high
    # Motors between world and root would carry the robot: they stay off.
    rows[robot.root_motors, 3:7] = [0.0, 0.0, 0.0, 1.0]
    return rows.ravel()


def _height(robot: Robot, data: mujoco.MjData) -> float:
    """m, of the centre of mass over the lowest contact point."""
    com = centre_of_mass(robot.model, data)
    away = np.linalg.norm(lowest_places(robot, data) - com, axis=1).max(initial=0.0)
    return max(LEAST_HEIGHT * float(away), float(com[2] - lowest_point(robot, data)), 1e-9)


def _say_what_is_too_weak(robot: Robot, drive: Drives, qpos: np.ndarray, torque: np.ndarray, rounding: float) -> None:
    """Warn of the actuator that lacks most, and more than ``rounding`` (N m), of the ``torque`` (nv,) with which the
    robot rests at ``qpos`` (nq,).
    """
    motors = np.flatnonzero(~robot.root_motors)
    worst, needed, given = most_lacking(drive, motors, torque, qpos) if motors.size else (0, 0.0, 0.0)
    if abs(needed - given) > rounding:
        warn(
            f"posture: actuator '{robot.actuator_names[worst]}' of {robot.name} would have to give {needed:.3g} N m to "
            f"hold the posture, and gives {given:.3g} N m within its control range [{drive.low[worst]:.3g}, "
            f"{drive.high[worst]:.3g}] and force limit"
        )


@lru_cache(maxsize=32)
def _settled_stance(robot: Robot, ground: Ground) -> np.ndarray:
    falls = toppling(robot)
    stands = robot if falls is None or falls.pose is None else replace(robot, home=falls.pose)
    found = settled(robot, stance(stands, ground))
    found.setflags(write=False)
    return found


def mobility_of(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """(nv, nv) inverse of the inertia matrix."""
    identity, solved = np.eye(model.nv), np.zeros((model.nv, model.nv))
    mujoco.mj_solveM(model, data, solved, identity)
    return solved


def _slow_enough(gains: np.ndarray, mobility: np.ndarray, most: float) -> np.ndarray:
    """Gains (n,), reduced where needed to keep the eigenvalues of gains times mobility (n, n) below ``most``.

    A mode that is too fast is slowed at the joints that take part in it, each by its share.
    """
    gains = np.array(gains, dtype=float)
    for _ in range(SLOWINGS):
        root = np.sqrt(gains)
        rates, shapes = np.linalg.eigh(root[:, None] * mobility * root)
        if not rates.size or rates[-1] <= most:
            break
        gains *= 1.0 - shapes[:, -1] ** 2 * (1.0 - 0.99 * most / rates[-1])
    return gains


def lowest_point(robot: Robot, data: mujoco.MjData) -> float:
    """Height of the lowest contact point, m."""
    return float(lowest_places(robot, data)[:, 2].min(initial=np.inf)) if robot.point_count else 0.0


def _proportional_gains(robot: Robot, target: np.ndarray, height: float, most: np.ndarray) -> np.ndarray:
    """(nv,) gains of motors that hold a stance; ``most`` (nv,) are the largest that the step allows."""
    gain = 3.0 * robot.weight * height
    enough = STIFF * abs(robot.model.opt.gravity[2]) / height  # 1/s2
    tries = [np.where(actuated_dofs(robot), np.minimum(factor * gain, most), 0.0) for factor in (1, 2, 4, 8, 16)]
    for gains in tries:
        rates = stiffness(robot, target, gains)
        if rates[np.abs(rates) > NEUTRAL * enough].min(initial=np.inf) >= enough:
            return gains
    return tries[0]


def standing_torques(robot: Robot, qpos: np.ndarray) -> np.ndarray:
    """Generalised forces (..., nv) of the actuators with which the robot rests at ``qpos`` (..., nq) on its feet.

    Contact forces of least norm, loops and springs carry the unactuated coordinates; actuators carry the rest of
    gravity.
    """
    data, torques = mujoco.MjData(robot.model), []
    for pose in qpos.reshape(-1, robot.model.nq):
        data.qpos[:] = pose
        mujoco.mj_forward(robot.model, data)
        torques.append(rest(robot, data).torque)
    return np.array(torques).reshape(*qpos.shape[:-1], robot.model.nv)


#: s, of the runs that gains are found for.
STEP = 1e-3


def with_servos(robot: Robot) -> Robot:
    """The robot with position servos in the place of motors; itself if it has servos, or no motors.

    They have the gains and the torques of posture control, so that :attr:`Robot.home_ctrl` holds it up.
    """
    model = robot.model
    if robot.mjcf is None or model.nu == 0 or (model.actuator_biastype != mujoco.mjtBias.mjBIAS_NONE).any():
        return robot
    posture, plane = Posture(), Ground.plane()
    rows = posture.gains(robot, plane, STEP).reshape(model.nu, -1)
    pose = posture.initial_state(robot, plane)[0]
    spec = robot.spec()
    ctrl = np.zeros(len(rows))
    for i, (actuator, row) in enumerate(zip(spec.actuators, rows, strict=True)):
        limits, gear = np.array(actuator.ctrlrange), float(actuator.gear[0])
        limited = limits[0] < limits[1] and actuator.forcelimited != mujoco.mjtLimited.mjLIMITED_TRUE
        # A servo measures the joint's angle times the gear, and its force acts times the gear.
        actuator.set_to_position(kp=row[3] / gear**2, kv=row[4] / gear**2)
        actuator.gear[0] = gear
        actuator.ctrllimited, actuator.ctrlrange = mujoco.mjtLimited.mjLIMITED_FALSE, (0.0, 0.0)
        if limited:
            actuator.forcelimited, actuator.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, limits
        # Its target is offset from the pose so that it carries the weight there.
        ctrl[i] = gear * (row[2] + (row[5] / row[3] if row[3] > 0.0 else 0.0))
    return robot.of_spec(spec, home=robot.home if pose is None else pose, home_ctrl=ctrl)
