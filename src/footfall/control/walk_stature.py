"""How a biped holds itself for a walk, and whether its legs reach and its motors carry: found before the first step."""

from __future__ import annotations

import math
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.control.biped import Biped
from footfall.control.foothold import AHEAD, APART
from footfall.control.linkage import follow_motors
from footfall.control.walking_pose import Pose, standing_pose
from footfall.errors import ControllerError
from footfall.gait.footsteps import FootstepPlan

#: m, leg and height of the centre of mass of the robot that the constants of a walk are for (spatial-biped).
LEG, COM_HEIGHT = 0.736, 0.864
#: A leg is stretched to this part of its length, and stands this part behind the hip besides half a step.
STRETCHED, BEHIND = 0.97, 0.11
#: The same on points, where footholds are moved farther.
POINT_STRETCHED = 0.93
#: A robot whose legs are straighter than this at home starts with bent knees: straight ones cannot be led.
STRAIGHT = 0.985
#: A centre of mass is at most this part of half a sole ahead of its middle or behind it: nearer to its end the pressure
#: centre has no room to lead it back.
CENTRAL = 0.5
#: How much lower, in parts of the leg, the hips are tried until the joints reach.
LOWER = (0.0, 0.04, 0.08, 0.12, 0.18)


#: rad/s of a knee per m/s of speed, in legs per m: a foot swings twice its step, at the peak of the way of least jerk
#: 1.875 times its mean speed in 0.85 of the time, less the trunk's; and the knee turns by twice the leg.
KNEE_RATE = 2.0 * (1.875 * 2.0 / 0.85 - 1.0)
#: Part of a motor's torque that the damping of its joint may take, where the speed is chosen here.
DRAG = 0.6


class Stature(NamedTuple):
    """How a robot holds itself in a walk."""

    size: float  # the leg's length over that of the robot which constants are for
    reach: float  # m, that a foot is behind the hip at most
    height: float  # m, of the centre of mass over the ground
    qpos: np.ndarray  # (nq,) the pose that joints stay near
    bent: bool  # whether that is another one than home

    @property
    def pace(self) -> float:
        """How much longer than for that robot everything lasts: sqrt(size), by Froude's number."""
        return math.sqrt(self.size)


def size_of(biped: Biped) -> float:
    """The leg's length over that of the robot which constants are for."""
    return min(sole.leg for sole in biped.soles) / LEG


def pace_of(biped: Biped) -> float:
    """The speed over that of the robot which constants are for, by Froude's number: with the root of the leg's length,
    or of the height of the centre of mass where that is relatively lower.
    """
    return math.sqrt(min(size_of(biped), biped.com_height / COM_HEIGHT))


def fastest(biped: Biped) -> tuple[float, int]:
    """m/s at which the damping of a leg's joint takes all the torque of its motor, and which motor; inf if none."""
    model = biped.robot.model
    top, motor = math.inf, -1
    for one in np.flatnonzero(np.isin(biped.motors, np.concatenate(biped.legs))):
        damping = float(np.ravel(model.dof_damping[biped.motors[one]])[0])
        if damping > 0.0 and float(biped.torque[one]) / damping < top:
            top, motor = float(biped.torque[one]) / damping, int(one)
    return top * min(sole.leg for sole in biped.soles) / KNEE_RATE, motor


def check_speed(biped: Biped, speed: float) -> None:
    """Refuse a speed at which damping takes all that a motor has."""
    top, motor = fastest(biped)
    if abs(speed) > top:
        raise ControllerError(
            f"walk: {abs(speed):.3g} m/s is too fast for {biped.robot.name}: motor "
            f"'{biped.robot.model.actuator(motor).name}' gives {biped.torque[motor]:.3g} N m, which the damping of its "
            f"joint takes at {top:.2g} m/s"
        )


def stature(plan: FootstepPlan, biped: Biped, step_height: float) -> Stature:
    """How to walk this plan; an error that names the limit in the way."""
    robot, leg = biped.robot, min(sole.leg for sole in biped.soles)
    longest = max(abs(step.length) for step in plan.steps)
    if longest > AHEAD * leg:
        raise ControllerError(
            f"walk: steps of {longest:.3g} m are too long for {robot.name}, whose legs measure {leg:.3g} m: "
            f"at most {AHEAD * leg:.2g} m; lower the speed or step_duration"
        )
    aside = max(abs(step.aside) for step in plan.steps)
    room = min(step.width for step in plan.steps) - 2.0 * max(sole.half_width for sole in biped.soles) - APART * leg
    if room < 0.0 and aside == 0.0:
        raise ControllerError(
            f"walk: the feet of {robot.name} stand {min(step.width for step in plan.steps):.2g} m apart and are "
            f"{2.0 * max(sole.half_width for sole in biped.soles):.2g} m wide: they would meet; widen step_width"
        )
    if aside > room:
        raise ControllerError(
            f"walk: steps of {aside:.3g} m to the side would set a foot of {robot.name} on the other: at most "
            f"{max(room, 0.0):.2g} m; lower sideways or widen step_width"
        )
    reach = 0.5 * longest + BEHIND * leg
    stretched = POINT_STRETCHED if biped.point else STRETCHED
    tall = math.sqrt(max((stretched * leg) ** 2 - reach**2, (0.5 * leg) ** 2))
    least = max(0.0, biped.hip_height - tall)
    first: Pose | None = None
    for more in LOWER:
        lower = least + more * leg
        worst = max(_extremes(biped, lower, longest, step_height), key=lambda pose: (not pose.reached, pose.beyond))
        if worst.reached:
            break
        first = first or worst
    else:
        assert first is not None
        raise ControllerError(_why_not(biped, first, longest, step_height))
    room = CENTRAL * min(sole.half_length for sole in biped.soles)
    forward = min(max(biped.com_ahead, -room), room) - biped.com_ahead
    bent = biped.hip_height > STRAIGHT * leg or forward != 0.0
    qpos = standing_pose(biped, lower, forward=forward).qpos if bent else robot.home.copy()
    _check_strength(biped, qpos)
    return Stature(leg / LEG, reach, biped.com_height - lower, qpos, bent)


def _extremes(biped: Biped, lower: float, length: float, step_height: float) -> list[Pose]:
    """Both feet on the ground a step apart, and one lifted beside the other."""
    ahead, up = np.array([0.5 * length, 0.0, 0.0]), np.array([0.0, 0.0, step_height])
    nothing = np.zeros(3)
    shifts = ([ahead, -ahead], [-ahead, ahead], [up, nothing], [nothing, up])
    return [standing_pose(biped, lower, np.array(shift)) for shift in shifts]


def _why_not(biped: Biped, pose: Pose, length: float, step_height: float) -> str:
    robot = biped.robot
    steps = f"walk: steps of {length:.3g} m, lifted by {step_height:.2g} m,"
    if pose.joint < 0:
        return f"{steps} are out of reach for the legs of {robot.name}: {pose.error:.2g} m or rad are left"
    low, high = robot.model.jnt_range[pose.joint]
    angle = float(pose.qpos[robot.model.jnt_qposadr[pose.joint]])
    limit = low if angle < low else high
    return (
        f"{steps} need joint '{robot.joint_names[pose.joint]}' of {robot.name} at {angle:.2f} rad, beyond its limit of "
        f"{limit:.2f} rad; lower the speed, step_length or step_height"
    )


def _check_strength(biped: Biped, qpos: np.ndarray) -> None:
    """Refuse a robot one of whose legs cannot carry it alone, pressed at the middle of the sole."""
    robot = biped.robot
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    for sole, leg in zip(biped.soles, biped.legs, strict=True):
        jacobian = np.zeros((3, model.nv))
        at = data.xpos[sole.body] + data.xmat[sole.body].reshape(3, 3) @ sole.centre
        mujoco.mj_jac(model, data, jacobian, None, at, sole.body)
        load = data.qfrc_bias - jacobian.T @ (-robot.mass * robot.gravity)
        load[biped.linkage.dofs] = follow_motors(biped.linkage, data)[0].T @ load
        torque = np.abs(load)
        motors = np.flatnonzero(np.isin(biped.motors, leg))
        over = torque[biped.motors[motors]] / biped.torque[motors]
        worst = int(motors[over.argmax()])
        if over.max() > 1.0:
            raise ControllerError(
                f"walk: {robot.name} is too weak to stand on one leg: motor '{model.actuator(worst).name}' gives "
                f"{biped.torque[worst]:.3g} N m and {torque[biped.motors[worst]]:.3g} N m are needed"
            )
