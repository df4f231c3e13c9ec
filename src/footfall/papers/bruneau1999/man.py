"""The man of Bruneau 1999, with springs in the joints, and the paper's parameters of the ground."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import footfall as ff
from footfall.control.posture import standing_torques
from footfall.robot.built_in.hanavan import Parameters, build

#: The paper's table, per testing point.
LAW = ff.contact.Distributed(
    kn=9950.0, mun=450.0, kt=90.0, mut=950.0, alpha=1.2, beta=0.02, mu_ts=1.0, t_slide=0.01, t_stick=0.01
)
STATIC, DYNAMIC = 0.7, 0.4
GROUND = ff.Ground.plane((STATIC, DYNAMIC))
#: s, damping over stiffness of every joint.
JOINT_TIME = 0.02


def sprung_man(
    stiffness: float,
    *,
    planar: bool,
    pose: Mapping[str, float] | None = None,
    carried: bool = True,
    stops: bool = True,
) -> ff.Robot:
    """Hanavan's man without motors, a spring (N m/rad) and a damper in every joint that hold a pose.

    ``pose`` adds angles (rad) to joints of the standing pose. ``carried`` stretches the springs so that they carry the
    weight there; else they are at rest there, and the pose stays in the air. Being passive, they give no energy.
    Without ``stops`` no joint has limits, and only its spring holds it.
    """
    options = Parameters(planar=planar, damping=0.0)
    spec, feet = build(options)
    plain = ff.load_robot("hanavan", **dataclasses.asdict(options))
    target = plain.home.copy()
    for name, angle in (pose or {}).items():
        target[plain.model.joint(name).qposadr] += angle
    torque = standing_torques(plain, target)
    for joint in spec.joints:
        own = plain.model.joint(joint.name)
        if joint.name == "base" or joint.name.startswith("root"):
            continue
        if not stops:
            joint.limited = 0
        joint.stiffness = [stiffness, 0, 0]
        joint.damping = [stiffness * JOINT_TIME, 0, 0]
        stretch = torque[own.dofadr[0]] / stiffness if carried else 0.0
        joint.springref = float(target[own.qposadr[0]] + stretch)
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    spec.keys[0].qpos = target
    spec.keys[0].ctrl = []
    return ff.load_robot(spec, feet=feet, name="hanavan")
