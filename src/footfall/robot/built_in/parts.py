"""Parts of built-in robots: solids that can touch the ground, hinges with motors, inertias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco

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
