"""A humanoid of the size and contacts of ``humanoid.xml``, by which MuJoCo, MJX and MuJoCo Warp are measured.

27 degrees of freedom: a free base and 21 hinges with motors, 16 bodies of capsules and spheres, 40.8 kg. Each foot is
two capsules, so that it stands on eight round points. Lengths, ranges of joints, springs and torques follow that file;
its tendons, its camera and its looks are left out.
"""

from __future__ import annotations

import mujoco

from footfall.robot import Robot, load_robot

NAME = "humanoid"
#: (name, axis, degrees from and to, N m/rad, N m s/rad) of hinges, of the right leg and arm where there are two.
HIPS = (
    ("hip_x", (1, 0, 0), (-30, 10), 10, 5),
    ("hip_z", (0, 0, 1), (-60, 35), 10, 5),
    ("hip_y", (0, 1, 0), (-150, 20), 20, 5),
)
SHOULDERS = (("shoulder1", (2, 1, 1), (-85, 60), 1, 0.2), ("shoulder2", (0, -1, 1), (-85, 60), 1, 0.2))
#: N m, the most that motors give.
TORQUE = {"abdomen": 40, "hip_x": 40, "hip_z": 40, "hip_y": 120, "knee": 80, "ankle": 20, "shoulder": 20, "elbow": 40}


def bench_humanoid() -> Robot:
    """The robot, whose own motors are torques."""
    spec = mujoco.MjSpec()
    spec.modelname = NAME
    spec.compiler.degree = True
    torso = spec.worldbody.add_body(name="torso", pos=(0, 0, 1.282))
    torso.add_freejoint(name="root")
    _capsule(torso, (0, -0.07, 0), (0, 0.07, 0), 0.07)
    _capsule(torso, (-0.01, -0.06, -0.12), (-0.01, 0.06, -0.12), 0.06)
    _ball(torso.add_body(name="head", pos=(0, 0, 0.19)), 0.09)
    waist = torso.add_body(name="waist", pos=(-0.01, 0, -0.26))
    _capsule(waist, (0, -0.06, 0), (0, 0.06, 0), 0.06)
    _hinge(waist, "abdomen_z", (0, 0, 1), (-45, 45), 20, 5, (0, 0, 0.065))
    _hinge(waist, "abdomen_y", (0, 1, 0), (-75, 30), 10, 5, (0, 0, 0.065))
    pelvis = waist.add_body(name="pelvis", pos=(0, 0, -0.165))
    _hinge(pelvis, "abdomen_x", (1, 0, 0), (-35, 35), 10, 5, (0, 0, 0.1))
    _capsule(pelvis, (-0.02, -0.07, 0), (-0.02, 0.07, 0), 0.09)
    for side, sign in (("right", 1), ("left", -1)):
        _leg(pelvis, side, sign)
        _arm(torso, side, sign)
        spec.add_exclude(bodyname1="waist", bodyname2=f"{side}_thigh")  # they overlap
    for joint in list(spec.joints)[1:]:
        motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        torque = next(most for part, most in TORQUE.items() if part in joint.name)
        motor.gear[0], motor.ctrlrange, motor.ctrllimited = 1.0, (-torque, torque), True
    return load_robot(spec, name=NAME)


def _leg(pelvis: mujoco.MjsBody, side: str, sign: int) -> None:
    thigh = pelvis.add_body(name=f"{side}_thigh", pos=(0, -0.1 * sign, -0.04))
    for name, axis, limits, stiffness, damping in HIPS:
        turned = (sign * axis[0], axis[1], sign * axis[2])
        _hinge(thigh, f"{side}_{name}", turned, limits, stiffness, damping)
    _capsule(thigh, (0, 0, 0), (0, 0.01 * sign, -0.34), 0.06)
    shin = thigh.add_body(name=f"{side}_shin", pos=(0, 0.01 * sign, -0.4))
    _hinge(shin, f"{side}_knee", (0, -1, 0), (-160, 2), 1, 0.2, (0, 0, 0.02))
    _capsule(shin, (0, 0, 0), (0, 0, -0.3), 0.049)
    foot = shin.add_body(name=f"{side}_foot", pos=(0, 0, -0.39))
    _hinge(foot, f"{side}_ankle_y", (0, 1, 0), (-50, 50), 6, 0.2, (0, 0, 0.08))
    _hinge(foot, f"{side}_ankle_x", (sign, 0, 0.5 * sign), (-50, 50), 3, 0.2, (0, 0, 0.08))
    for out in (-1, 1):
        _capsule(foot, (-0.07, 0.01 * out, 0), (0.14, 0.03 * out, 0), 0.027)


def _arm(torso: mujoco.MjsBody, side: str, sign: int) -> None:
    upper = torso.add_body(name=f"{side}_upper_arm", pos=(0, -0.17 * sign, 0.06))
    for name, axis, limits, stiffness, damping in SHOULDERS:
        turned = (axis[0] * sign, axis[1], axis[2] * sign)
        _hinge(upper, f"{side}_{name}", turned, limits, stiffness, damping)
    _capsule(upper, (0, 0, 0), (0.16, -0.16 * sign, -0.16), 0.04)
    lower = upper.add_body(name=f"{side}_lower_arm", pos=(0.18, -0.18 * sign, -0.18))
    _hinge(lower, f"{side}_elbow", (0, -1, sign), (-100, 50), 0, 0.2)
    _capsule(lower, (0.01, 0.01 * sign, 0.01), (0.17, 0.17 * sign, 0.17), 0.031)
    _ball(lower.add_body(name=f"{side}_hand", pos=(0.18, 0.18 * sign, 0.18)), 0.04)


def _hinge(
    body: mujoco.MjsBody,
    name: str,
    axis: tuple[float, ...],
    limits: tuple[float, float],
    stiffness: float,
    damping: float,
    at: tuple[float, ...] = (0, 0, 0),
) -> None:
    joint = body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, range=limits, pos=at)
    joint.limited, joint.armature = True, 0.01
    joint.stiffness[0], joint.damping[0] = stiffness, damping


def _capsule(body: mujoco.MjsBody, first: tuple[float, ...], last: tuple[float, ...], radius: float) -> None:
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=(*first, *last), size=(radius, 0, 0))


def _ball(body: mujoco.MjsBody, radius: float) -> None:
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(radius, 0, 0))
