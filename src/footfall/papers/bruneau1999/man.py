"""Bruneau 1999: the man, and the eighteen points of a sole that carry him (sections 3.2 and 4.1)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

import footfall as ff
from footfall.control.posture import standing_torques
from footfall.robot.built_in.hanavan import Parameters, build

#: The paper's table, per testing point.
LAW = ff.contact.Distributed(
    kn=9950.0, mun=450.0, kt=90.0, mut=950.0, alpha=1.2, beta=0.02, mu_ts=1.0, t_slide=0.01, t_stick=0.01
)
STATIC, DYNAMIC = 0.7, 0.4
GROUND = ff.Ground.plane((STATIC, DYNAMIC))


def law_on(points: int) -> ff.contact.Distributed:
    """The paper's law with this many points under a foot, which share the gains of its 18."""
    gains = ("kn", "mun", "kt", "mut", "mu_ts")
    return dataclasses.replace(LAW, **{gain: 18.0 / points * getattr(LAW, gain) for gain in gains})


#: s, damping over stiffness of every joint.
JOINT_TIME = 0.02


def sprung_man(
    stiffness: float,
    *,
    planar: bool,
    pose: Mapping[str, float] | None = None,
    carried: bool = True,
    stops: bool = True,
    damping: float | None = None,
) -> ff.Robot:
    """Hanavan's man without motors, a spring (N m/rad) and a damper in every joint that hold a pose.

    ``pose`` adds angles (rad) to joints of the standing pose. ``carried`` stretches the springs so that they carry the
    weight there; else they are at rest there, and the pose stays in the air. Being passive, they give no energy.
    Without ``stops`` no joint has limits, and only its spring holds it. ``damping`` is over stiffness (s).
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
        joint.damping = [stiffness * (JOINT_TIME if damping is None else damping), 0, 0]
        stretch = torque[own.dofadr[0]] / stiffness if carried else 0.0
        joint.springref = float(target[own.qposadr[0]] + stretch)
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    spec.keys[0].qpos = target
    spec.keys[0].ctrl = []
    return ff.load_robot(spec, feet=feet, name="hanavan")


# ---- the points of a sole ----------------------------------------------------------------------------------

MASS = 75.0  # kg


def formula(load: float) -> float:
    """Depth (m) at which a point carries ``load`` (N) at rest, eq. (16)."""
    return float((load / LAW.PAPER_KN) ** (1.0 / LAW.alpha))


def sole_block() -> ff.Robot:
    """A block of 75 kg on a sole of the man's size with its 18 points."""
    sole = np.ptp(ff.load_robot("hanavan").feet[0].points, axis=0)
    return ff.load_robot("brick", length=float(sole[0]), width=float(sole[1]), height=0.1, mass=MASS).with_points(
        (6, 3)
    )
