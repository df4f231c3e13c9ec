"""Parts of built-in robots: solids, hinges with motors, inertias; and what robots of human build share:
proportions, trunk and legs, and standing with bent knees.

x is forward, y left, z up; a flexed hip is negative, a flexed knee positive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from footfall.errors import RobotError
from footfall.robot.built_in import check_numbers
from footfall.roots import root_between

# Solids of a robot collide with the ground (contype 2, conaffinity 1) but never with each other.
CONTYPE, CONAFFINITY = 1, 2
SIDES = {"left": 1.0, "right": -1.0}
GREY, DARK = [0.80, 0.81, 0.84, 1], [0.25, 0.27, 0.32, 1]
COLOURS = {"left": [0.18, 0.45, 0.72, 1], "right": [0.82, 0.36, 0.24, 1]}
X, Y, Z = [1, 0, 0], [0, 1, 0], [0, 0, 1]


def new_robot(name: str, root: str, at: Sequence[float] = (0, 0, 0), *, planar: bool = False) -> tuple[Any, Any]:
    """A spec in rad with its root, free in space or in the plane of x and z: both."""
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    body = spec.worldbody.add_body(name=root, pos=at)
    if planar:
        body.add_joint(name="root_x", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=X)
        body.add_joint(name="root_z", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=Z)
        body.add_joint(name="root_pitch", type=mujoco.mjtJoint.mjJNT_HINGE, axis=Y)
    else:
        body.add_freejoint(name="base")
    return spec, body


def set_inertial(body: Any, mass: float, centre: Sequence[float], inertia: Sequence[float]) -> None:
    """Mass in kg, centre of mass in m, diagonal inertia about it in kg m2, all along the body's axes."""
    body.mass, body.ipos, body.inertia, body.explicitinertial = mass, centre, inertia, True


def add_solid(body: Any, name: str, kind: str, rgba: Sequence[float], **shape: Any) -> None:
    """A massless geom that can touch the ground, of a kind as MuJoCo calls it ("BOX"); lengths in m."""
    kind = getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")
    body.add_geom(name=name, type=kind, rgba=rgba, mass=0, contype=CONTYPE, conaffinity=CONAFFINITY, **shape)


def add_capsule(
    body: Any, name: str, start: Sequence[float], end: Sequence[float], radius: float, rgba: Sequence[float]
) -> None:
    """A massless capsule between two points of the body's frame, in m, that can touch the ground."""
    add_solid(body, name, "CAPSULE", rgba, fromto=[*start, *end], size=[radius, 0, 0])


def add_hinge(
    body: Any, name: str, axis: Sequence[float], limits: Sequence[float], armature: float, damping: float = 0.0
) -> None:
    """A limited hinge at the body's origin; limits in rad, armature in kg m2, damping in N m s/rad."""
    kind, limited = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtLimited.mjLIMITED_TRUE
    joint = body.add_joint(name=name, type=kind, axis=axis, range=limits, limited=limited, armature=armature)
    joint.damping = [damping, 0, 0]


def add_motor(spec: mujoco.MjSpec, joint: str, strength: float) -> None:
    """A torque motor named after its joint, ``ctrl`` in N m within +-strength."""
    actuator = spec.add_actuator(
        name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT, ctrlrange=[-strength, strength]
    )
    actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
    actuator.set_to_motor()


# Winter, table 4.1: mass as a fraction of the whole; centre of mass from the upper joint and radius of
# gyration about it, as fractions of the segment's length. The trunk is Winter's head, arms and trunk; its
# length runs from hip to shoulder, its centre of mass is measured from the hip.
FOOT_MASS, SHANK_MASS, THIGH_MASS, TRUNK_MASS = 0.0145, 0.0465, 0.100, 0.678
LEG_COM, THIGH_GYRATION, SHANK_GYRATION = 0.433, 0.323, 0.302
TRUNK_COM, TRUNK_GYRATION = 0.626, 0.496
# Winter, figure 4.1: lengths as fractions of the height.
THIGH, SHANK, ANKLE_HEIGHT, TRUNK = 0.245, 0.246, 0.039, 0.288
# Our choice: the distance between the hip joints, and widths for the drawing and inertias about long axes.
HIP_WIDTH, TRUNK_WIDTH, TRUNK_DEPTH, THIGH_RADIUS, SHANK_RADIUS = 0.12, 0.19, 0.11, 0.040, 0.030

FROM_HEIGHT = math.nan  # a length that was left out

HIP_RANGE, KNEE_RANGE, ANKLE_RANGE = [-2.1, 0.7], [0.0, 2.5], [-0.7, 0.9]  # rad, a human's


def fill_from_height(parameters: Any, fractions: dict[str, float]) -> None:
    """Give the lengths that were left out their fraction of the height, in place."""
    for name, fraction in fractions.items():
        value = getattr(parameters, name)
        if value is None or value is FROM_HEIGHT:
            object.__setattr__(parameters, name, fraction * parameters.height)


def check_knee(robot: str, parameters: Any) -> None:
    """A straight knee is singular and one beyond 1.5 rad squats: neither is a standing pose."""
    check_numbers(robot, parameters, "knee")
    if not 0.05 <= parameters.knee <= 1.5:
        raise RobotError(f"knee of robot '{robot}' must lie in 0.05 .. 1.5 rad (home pose), got {parameters.knee}")


def dress_trunk(trunk: Any, mass: float, height: float, hip_width: float) -> None:
    """Inertia and shapes of head, arms and trunk as one link; its origin lies midway between the hips."""
    length, width, depth = TRUNK * height, TRUNK_WIDTH * height, TRUNK_DEPTH * height
    m = TRUNK_MASS * mass
    long_axis = m / 12 * (width**2 + depth**2)
    pitch = m * (TRUNK_GYRATION * length) ** 2
    set_inertial(trunk, m, [0, 0, TRUNK_COM * length], [pitch, pitch, long_axis])
    pelvis, radius = 0.5 * hip_width, 0.45 * depth
    add_capsule(trunk, "pelvis", [0, -pelvis, 0], [0, pelvis, 0], 0.045 * height, DARK)
    chest = [depth / 2, width / 2, 0.45 * length]
    add_solid(trunk, "chest", "BOX", GREY, pos=[0, 0, 0.55 * length], size=chest)
    top = length + 0.04 * height
    add_capsule(trunk, "neck", [0, 0, length], [0, 0, top + radius], 0.4 * radius, DARK)
    add_capsule(trunk, "head", [0, 0, top + radius], [0, 0, top + radius + 0.05 * height], 0.9 * radius, GREY)


def add_leg(trunk: Any, side: str, p: Any, *, foot_width: float, ankle_from_heel: float) -> tuple[Any, Any, Any]:
    """Thigh, shank and foot of one side (no joints yet), each with its origin at its upper joint."""
    thigh = trunk.add_body(name=f"{side}_thigh", pos=[0, SIDES[side] * p.hip_width / 2, 0])
    shank = thigh.add_body(name=f"{side}_shank", pos=[0, 0, -p.thigh])
    foot = shank.add_body(name=f"{side}_foot", pos=[0, 0, -p.shank])
    for body, share, gyration, length, radius in (
        (thigh, THIGH_MASS, THIGH_GYRATION, p.thigh, THIGH_RADIUS * p.height),
        (shank, SHANK_MASS, SHANK_GYRATION, p.shank, SHANK_RADIUS * p.height),
    ):
        m = share * p.mass
        across, along = m * (gyration * length) ** 2, 0.5 * m * radius**2
        set_inertial(body, m, [0, 0, -LEG_COM * length], [across, across, along])
        # The shank ends above the ankle, so that only the sole meets the ground when the foot rolls.
        end = length if body is thigh else max(length - radius, 0.5 * length)
        add_capsule(body, body.name, [0, 0, 0], [0, 0, -end], radius, COLOURS[side])
    # A homogeneous sole plate from ankle_height / 2 down to the ground.
    m, thick = FOOT_MASS * p.mass, p.ankle_height / 2
    middle = [p.foot_length / 2 - ankle_from_heel, 0, -p.ankle_height + thick / 2]
    add_capsule(foot, f"{side}_ankle", [0, 0, 0], [0, 0, -thick], 0.4 * p.ankle_height, DARK)
    squares = np.array([p.foot_length, foot_width, thick]) ** 2
    set_inertial(foot, m, middle, list(m / 12 * (squares.sum() - squares)))
    add_solid(foot, f"{side}_sole", "BOX", DARK, pos=middle, size=[p.foot_length / 2, foot_width / 2, thick / 2])
    return thigh, shank, foot


def set_home(
    spec: mujoco.MjSpec,
    knee: float,
    legs: list[str],
    *,
    height_joint: str,
    sole_middle: float,
    servo: bool = False,
) -> None:
    """Add the keyframe 'home': knees bent, trunk upright, feet flat, centre of mass over the middle of the
    soles.

    The shank's forward lean is what is solved for; hip and ankle follow from an upright trunk and a flat
    foot. ``sole_middle`` is the middle of the sole in m ahead of the ankle. With ``servo``, the controls are
    joint angles.
    """
    from footfall.robot.sole import corners

    model = spec.copy().compile()
    data = mujoco.MjData(model)
    address = model.jnt_qposadr
    ankle = model.body("left_foot").id

    def pose(lean: float) -> np.ndarray:
        angles = {"hip": lean - knee, "knee": knee, "ankle": -lean}
        qpos = model.qpos0.copy()
        for joint in legs:
            part = joint.removeprefix("left_").removeprefix("right_").removesuffix("_pitch")
            qpos[address[model.joint(joint).id]] = angles.get(part, 0.0)
        return qpos

    def error(lean: float) -> float:
        data.qpos[:] = pose(lean)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        return data.subtree_com[1, 0] - data.xpos[ankle, 0] - sole_middle

    try:
        lean = root_between(error, -0.6, 0.6 + knee, tolerance=1e-15)
    except ValueError:
        raise RobotError(
            f"robot '{spec.modelname}' cannot stand with its centre of mass over the middle of its soles; "
            "choose a longer leg, a shorter foot or another knee angle"
        ) from None
    qpos = pose(lean)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    lowest = corners(model, data, model.geom("left_sole").id)[0][:, 2].min()
    joint = address[model.joint(height_joint).id]
    qpos[joint + 2 if model.jnt_type[model.joint(height_joint).id] == mujoco.mjtJoint.mjJNT_FREE else joint] -= lowest
    ctrl = [qpos[address[model.actuator_trnid[i, 0]]] if servo else 0.0 for i in range(model.nu)]
    spec.add_key(name="home", qpos=qpos, ctrl=ctrl)
