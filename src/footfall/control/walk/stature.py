"""The posture of a biped for a walk, found before the first step: poses by inverse kinematics, whether its legs reach,
and whether its motors are strong enough.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.control.body.biped import Biped, Sole
from footfall.control.body.linkage import follow_motors
from footfall.control.body.stance import check_torques
from footfall.errors import ControllerError
from footfall.gait.footsteps import FootstepPlan
from footfall.robot.rotations import rotation_vector
from footfall.standing import in_pose, inertia_of, jacobian_at, place_on, scratch_data

ITERATIONS = 80
#: Damping of the least-squares steps, and the longest of them, rad or m.
DAMPING, LONGEST_MOVE = 1e-4, 0.2
#: Step, rad or m, below which the search has converged, also where loops hold the feet away from their goals.
STILL = 1e-10
#: A goal is out of reach if its error changes by less than the share STUCK in PATIENCE iterations.
PATIENCE, STUCK = 8, 1e-3
#: Bend of the knees before the search, rad, which decides the direction in which a straight leg bends.
BENT = 0.4
#: Tolerances of a pose: errors of feet and trunk, m or rad, and excess of a joint over its limit, rad.
REACHED, BEYOND = 5e-3, 0.02


class Pose(NamedTuple):
    """A pose (nq,), how far feet and trunk are off (m or rad), and how far a joint is beyond its limit."""

    qpos: np.ndarray
    error: float
    beyond: float  # rad, at most; 0 where all keep to their limits

    @property
    def reached(self) -> bool:
        return self.error < REACHED and self.beyond < BEYOND


@lru_cache(maxsize=256)  # walks of one robot that differ in speed or number of steps ask for many of the same
def standing_pose(
    biped: Biped, lower: float, apart: float = 0.0, lifted: tuple[float, float] = (0.0, 0.0), forward: float = 0.0
) -> Pose:
    """The pose with hips ``lower`` (m) than at home and the left foot ``apart`` (m) farther ahead of the right one.

    The soles, left and right, are ``lifted`` (m). The trunk keeps its attitude and the centre of mass its place over
    the middle of the feet, or comes ``forward`` (m). Found by damped Newton steps on feet, trunk and centre of mass.
    """
    robot = biped.robot
    model, data = robot.model, scratch_data(robot.model)
    data.qpos[:] = robot.home
    _look(model, data)
    move = np.array([[0.5 * apart, 0.0, lifted[0]], [-0.5 * apart, 0.0, lifted[1]]]) @ biped.facing.T
    goals = [
        (place_on(data, sole.body, sole.centre) + own, _axes(data, sole))
        for sole, own in zip(biped.soles, move, strict=True)
    ]
    trunk = data.xmat[biped.trunk].reshape(3, 3).copy()
    height = float(data.xpos[biped.trunk, 2]) - lower
    over = data.subtree_com[biped.trunk, :2] + (move.mean(axis=0) + forward * biped.facing[:, 0])[:2]
    dofs = np.concatenate([np.arange(6), *biped.legs])
    moved = np.flatnonzero(np.isin(biped.linkage.dofs, dofs))
    if not biped.linkage.body.size:
        for sole, knee in zip(biped.soles, biped.knees, strict=True):
            _bend(biped, data, sole, knee)
    error = before = np.inf
    for k in range(ITERATIONS):
        _look(model, data)
        rows, off = [], []
        for sole, (place, axes) in zip(biped.soles, goals, strict=True):
            now = place_on(data, sole.body, sole.centre)
            jacobian = jacobian_at(data, sole.body, now)
            wanted = np.concatenate([place - now, rotation_vector(axes @ _axes(data, sole).T)])
            parts = 3 if biped.point else 6  # the attitude of a foot on a point follows from its leg
            rows.append(jacobian[:parts])
            off.append(wanted[:parts])
        turn, rise, com = (np.zeros((3, model.nv)) for _ in range(3))
        mujoco.mj_jacBody(model, data, rise, turn, biped.trunk)
        mujoco.mj_jacSubtreeCom(model, data, com, biped.trunk)
        rows += [turn, rise[2:], com[:2]]
        off += [
            rotation_vector(trunk @ data.xmat[biped.trunk].reshape(3, 3).T),
            np.array([height - data.xpos[biped.trunk, 2]]),
            over - data.subtree_com[biped.trunk, :2],
        ]
        span, closing = follow_motors(biped.linkage, data)
        J, e = np.concatenate(rows) @ span[:, moved], np.concatenate(off)
        error = max(float(np.abs(e).max()), float(np.abs(closing).max()))
        if error < 1e-6:
            break
        change = span[:, moved] @ (J.T @ np.linalg.solve(J @ J.T + DAMPING * np.eye(len(e)), e)) + closing
        step = float(np.abs(change).max())
        if step < STILL:
            break
        if k % PATIENCE == 0:
            if abs(before - error) < STUCK * error:
                break
            before = error
        change *= min(1.0, LONGEST_MOVE / step)
        mujoco.mj_integratePos(model, data.qpos, change, 1.0)
    qpos = data.qpos.copy()
    qpos.setflags(write=False)
    return Pose(qpos, error, max(0.0, -float(_from_limits(biped, qpos).min())))


def _look(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)


def _axes(data: mujoco.MjData, sole: Sole) -> Any:
    return data.xmat[sole.body].reshape(3, 3) @ sole.rotation


def _bend(biped: Biped, data: mujoco.MjData, sole: Sole, knee: int) -> None:
    """Bend a knee that is straight, forward where its limits allow it."""
    model = biped.robot.model
    joint = int(model.dof_jntid[knee])
    at = int(model.jnt_qposadr[joint])
    moves = jacobian_at(data, sole.body, place_on(data, sole.body, sole.centre))[:3, knee]
    back = -1.0 if biped.facing[:, 0] @ moves > 0.0 else 1.0  # the foot goes back when the knee goes forward
    low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.inf, np.inf)
    bent = (data.qpos[at] + sign * BENT for sign in (back, -back))
    data.qpos[at] = next((angle for angle in bent if low <= angle <= high), data.qpos[at])
    _look(model, data)


def _from_limits(biped: Biped, qpos: np.ndarray) -> np.ndarray:
    """Of each joint of the legs, rad or m from its nearer limit; negative beyond it."""
    model = biped.robot.model
    joints = model.dof_jntid[np.concatenate(biped.legs)]
    angle, (low, high) = qpos[model.jnt_qposadr[joints]], model.jnt_range[joints].T
    return np.where(model.jnt_limited[joints] != 0, np.minimum(angle - low, high - angle), np.inf)


#: Longest step ahead or behind, and largest lateral distance of the feet beyond the least one, in legs.
AHEAD, ASIDE = 0.6, 0.35
#: Largest lateral distance beyond the planned one, in legs, since hips may be wider than the least distance of feet.
FARTHER = 0.15
#: Least gap between the sides of the feet, in legs.
APART = 0.04
#: Largest extension of a leg, and distance by which it stands behind the hip beside half a step, as shares of a leg.
STRETCHED, BEHIND = 0.97, 0.11
#: Largest extension of a leg on a point foot, whose footholds are moved farther.
POINT_STRETCHED = 0.93
#: Extension at home above which a robot starts with bent knees: straight legs are singular.
STRAIGHT = 0.985
#: Largest distance of the centre of mass from the middle of a sole, in half soles: nearer to the end of the sole the
#: centre of pressure has no room to lead it back.
CENTRAL = 0.5
#: Reductions of the height of the hips, in legs, that are tried until the joints reach.
LOWER = (0.0, 0.04, 0.08, 0.12, 0.18)
#: Least distance, rad, of a joint of a supporting leg from its limit where the speed is chosen here, unless it is
#: nearer in standing: the walk would lead it back, which holds up the hips.
ROOM = 0.08
#: Parts of the usual speed, and then of the usual height of a step, that are tried until the joints have this room.
SLOWER, LOWER_STEPS = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1), (1.0, 0.6)

#: rad/s of a knee per m/s of speed, in legs per m: a foot swings twice its step, at the peak of the way of least jerk
#: 1.875 times its mean speed in 0.85 of the time, less the trunk's; and the knee turns by twice the leg.
KNEE_RATE = 2.0 * (1.875 * 2.0 / 0.85 - 1.0)
#: Part of a motor's torque that the damping of its joint may take, where the speed is chosen here.
DRAG = 0.6


class Stature(NamedTuple):
    """The posture of a robot in a walk."""

    reach: float  # m, that a foot is behind the hip at most
    height: float  # m, of the centre of mass over the ground
    qpos: np.ndarray  # (nq,) the pose that joints stay near
    bent: bool  # whether that is another one than home


def fastest(biped: Biped) -> tuple[float, int]:
    """m/s at which the damping of a leg's joint takes all the torque of its motor, and which motor; inf if none."""
    model = biped.robot.model
    damping = np.ravel(model.dof_damping[biped.motors])
    held = (damping > 0.0) & np.isin(biped.motors, np.concatenate(biped.legs))
    top = np.divide(biped.torque, damping, out=np.full(len(damping), np.inf), where=held)  # rad/s
    return float(top.min()) * biped.leg / KNEE_RATE, int(top.argmin())


def check_speed(biped: Biped, speed: float) -> None:
    """Refuse a speed at which joint damping takes all the torque of a motor."""
    top, motor = fastest(biped)
    if abs(speed) > top:
        raise ControllerError(
            f"walk: {abs(speed):.3g} m/s is too fast for {biped.robot.name}: motor "
            f"'{biped.robot.actuator_names[motor]}' gives {biped.torque[motor]:.3g} N m, which the damping of its "
            f"joint takes at {top:.2g} m/s"
        )


def stature(plan: FootstepPlan, biped: Biped, step_height: float) -> Stature:
    """The posture for this plan; an error names the limit that is exceeded."""
    _check_sides(plan, biped)
    lower = _lower(plan, biped, step_height)
    room = CENTRAL * min(sole.half_length for sole in biped.soles)
    forward = min(max(biped.com_ahead, -room), room) - biped.com_ahead
    bent = biped.hip_height > STRAIGHT * biped.leg or forward != 0.0
    qpos = standing_pose(biped, lower, forward=forward).qpos if bent else biped.robot.home.copy()
    _check_strength(biped, qpos)
    return Stature(0.5 * plan.longest + BEHIND * biped.leg, biped.com_height - lower, qpos, bent)


def _nearest(biped: Biped) -> float:
    """m, between the middles of feet at the nearest."""
    return 2.0 * max(sole.half_width for sole in biped.soles) + APART * biped.leg


def width_for(biped: Biped, aside: float) -> float:
    """How far apart feet are to step (m) that go ``aside`` (m): as at home, or as much wider as they need and reach."""
    needed = aside + _nearest(biped)
    return max(biped.step_width, min(1.001 * needed, biped.step_width + FARTHER * biped.leg))


def _check_sides(plan: FootstepPlan, biped: Biped) -> None:
    """Refuse steps in which the feet would touch each other."""
    robot, aside = biped.robot, plan.aside
    narrowest = min(step.width for step in plan.steps)
    room = narrowest - _nearest(biped)
    if room < 0.0 and aside == 0.0:
        raise ControllerError(
            f"walk: the feet of {robot.name} stand {narrowest:.2g} m apart and are "
            f"{2.0 * max(sole.half_width for sole in biped.soles):.2g} m wide: they would meet; widen step_width"
        )
    if aside > room:
        raise ControllerError(
            f"walk: steps of {aside:.3g} m to the side would set a foot of {robot.name} on the other: at most "
            f"{max(room, 0.0):.2g} m; lower sideways or widen step_width"
        )


def has_room(plan: FootstepPlan, biped: Biped, step_height: float, room: float) -> bool:
    """Whether legs reach, and both feet on the ground bring no joint nearer to its limit than ``room`` (rad) but those
    that are nearer as the robot stands.
    """
    try:
        lower = _lower(plan, biped, step_height)
    except ControllerError:
        return False
    least = np.minimum(room, _from_limits(biped, standing_pose(biped, lower).qpos))
    return all((_from_limits(biped, pose.qpos) >= least).all() for pose in _apart(biped, lower, plan.longest))


def _lower(plan: FootstepPlan, biped: Biped, step_height: float) -> float:
    """m, by which the hips must be lower than at home for the legs to reach; an error if they do not."""
    leg, longest = biped.leg, plan.longest
    if longest > AHEAD * leg:
        raise ControllerError(
            f"walk: steps of {longest:.3g} m are too long for {biped.robot.name}, whose legs measure {leg:.3g} m: at "
            f"most {AHEAD * leg:.2g} m; lower the speed or step_duration"
        )
    reach = 0.5 * longest + BEHIND * leg
    stretched = POINT_STRETCHED if biped.point else STRETCHED
    tall = math.sqrt(max((stretched * leg) ** 2 - reach**2, (0.5 * leg) ** 2))
    least, first = max(0.0, biped.hip_height - tall), None
    for more in LOWER:
        lower = least + more * leg
        lifted = [standing_pose(biped, lower, lifted=up) for up in ((step_height, 0.0), (0.0, step_height))]
        poses = _apart(biped, lower, longest) + lifted
        worst = max(poses, key=lambda pose: (not pose.reached, pose.beyond))
        if worst.reached:
            return lower
        first = first or worst
    assert first is not None
    raise ControllerError(_why_not(biped, first, longest, step_height))


def _apart(biped: Biped, lower: float, length: float) -> list[Pose]:
    """Both feet on the ground a step apart, and as the one behind is left: where hips are ahead of the centre of mass,
    that one is farther behind them than half a step.
    """
    behind = BEHIND * biped.leg if length > 0.0 else 0.0
    return [
        standing_pose(biped, lower, apart, forward=forward) for forward in (0.0, behind) for apart in (length, -length)
    ]


def _why_not(biped: Biped, pose: Pose, length: float, step_height: float) -> str:
    robot = biped.robot
    model = robot.model
    steps = f"walk: steps of {length:.3g} m, lifted by {step_height:.2g} m,"
    if pose.beyond == 0.0:
        return f"{steps} are out of reach for the legs of {robot.name}: {pose.error:.2g} m or rad are left"
    joint = model.dof_jntid[np.concatenate(biped.legs)[_from_limits(biped, pose.qpos).argmin()]]
    angle, limits = float(pose.qpos[model.jnt_qposadr[joint]]), model.jnt_range[joint]
    return (
        f"{steps} need joint '{robot.joint_names[joint]}' of {robot.name} at {angle:.2f} rad, beyond its limit of "
        f"{np.clip(angle, *limits):.2f} rad; lower the speed, step_duration or step_height"
    )


def _check_strength(biped: Biped, qpos: np.ndarray) -> None:
    """Refuse a robot one of whose legs cannot carry it alone: the ground presses the middle of the sole, as under an
    inverted pendulum, with a force through the centre of mass, and the robot goes with it as it is.
    """
    robot = biped.robot
    data = in_pose(robot, qpos)
    inertia = inertia_of(data)
    for sole, leg in zip(biped.soles, biped.legs, strict=True):
        at = place_on(data, sole.body, sole.centre)
        arm = data.subtree_com[biped.trunk] - at
        force = robot.weight * arm / arm[2]
        load = data.qfrc_bias + inertia[:, :3] @ (force / robot.mass + robot.gravity)
        load -= jacobian_at(data, sole.body, at)[:3].T @ force
        load[biped.linkage.dofs] = follow_motors(biped.linkage, data)[0].T @ load
        motors = np.flatnonzero(np.isin(biped.motors, leg))
        check_torques(robot, biped.drives, motors, load, "walk", "on one leg", qpos)
