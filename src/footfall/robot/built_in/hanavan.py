"""The man of Bruneau and Ouezdou 1999 (section 4.1): 75 kg, Hanavan's solids, 18 testing points under each foot.

The paper gives the structure (trunk, pelvis, two arms, two thighs, two shanks, two feet; three rotations at
each joint and six coordinates for the pelvis), the mass, the 18 points per foot, and Hanavan 1964 for the
rest; ``planar=True`` is the model it simulates, which keeps x, z and pitch of the pelvis, one rotation at each
joint, two joints an arm and three a leg, and the trunk fixed to the pelvis: 13 coordinates.

Hanavan: the head is an ellipsoid of revolution, trunk and pelvis are elliptical cylinders, the hands balls,
all other segments frusta of cones; masses by the regressions of Barter 1957, what these miss of the whole
shared out in proportion. Not from Hanavan, who measures each subject: lengths are the fractions of the stature of
Drillis and Contini 1966, girths follow from the masses by Dempster's densities and centres of mass (both in
Winter, Biomechanics and Motor Control of Human Movement, 4th ed., figure 4.1 and table 4.1). Head moves with
the trunk, hand with the forearm. The foot's cone lies at half the height of the ankle; the contact points are
a grid of 6 x 3 over a flat rectangular sole below it, corners included.

Assumed: stature 1.75 m; hip joints 0.12 of it apart; trunk as wide as the hips, meeting the pelvis at 0.585 of
the stature; ankles 0.25 of the foot's length from the heel; limits and motors of about a man's strength; joint
damping 0.5 N m s/rad. Rotors of 0.1 kg m2 reflected through gears at each joint keep a stiff posture stable at
1 ms in joints that turn a limb about its own axis; set ``armature=0`` for the bare man, with softer gains or a
shorter step. x is forward, y left, z up; a flexed hip, shoulder or elbow is negative, a flexed knee positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from footfall.errors import RobotError
from footfall.robot.built_in import check_numbers
from footfall.robot.built_in.hanavan_segments import (
    ANKLE_HEIGHT,
    CROTCH_HEIGHT,
    FOOT_LENGTH,
    FOOT_WIDTH,
    HIP_HEIGHT,
    SHOULDER_WIDTH,
    WAIST_HEIGHT,
    Frustum,
    Physique,
    joined,
    physique,
)
from footfall.robot.built_in.human import (
    ANKLE_RANGE,
    FROM_HEIGHT,
    HIP_RANGE,
    HIP_WIDTH,
    KNEE_RANGE,
    check_knee,
    set_home,
)
from footfall.robot.built_in.parts import (
    COLOURS,
    DARK,
    GREY,
    SIDES,
    X,
    Y,
    Z,
    add_capsule,
    add_hinge,
    add_motor,
    add_solid,
    new_robot,
    set_inertial,
)

ANKLE_FROM_HEEL = 0.25  # of the foot's length
POINTS = (6, 3)  # along and across the sole
LEAST_MASS = 30.0  # kg; below, Barter's regressions for grown men mean nothing
RING = 20  # corners of a circle, in the drawing

# rotation, axis, limits in rad, largest torque in N m at 75 kg and 1.75 m; of the joint at each body's origin
JOINTS: dict[str, tuple[tuple[str, list[int], list[float], float], ...]] = {
    "waist": (("yaw", Z, [-0.8, 0.8], 150.0), ("roll", X, [-0.6, 0.6], 250.0), ("pitch", Y, [-0.5, 1.2], 250.0)),
    "shoulder": (("pitch", Y, [-3.0, 0.9], 100.0), ("roll", X, [-0.5, 2.6], 100.0), ("yaw", Z, [-1.2, 1.2], 60.0)),
    "elbow": (("pitch", Y, [-2.5, 0.1], 80.0), ("roll", X, [-0.2, 0.2], 60.0), ("yaw", Z, [-1.4, 1.4], 40.0)),
    "hip": (("yaw", Z, [-0.8, 0.8], 120.0), ("roll", X, [-0.7, 0.7], 200.0), ("pitch", Y, HIP_RANGE, 250.0)),
    "knee": (("pitch", Y, KNEE_RANGE, 250.0), ("roll", X, [-0.2, 0.2], 150.0), ("yaw", Z, [-0.5, 0.5], 100.0)),
    "ankle": (("pitch", Y, ANKLE_RANGE, 200.0), ("roll", X, [-0.6, 0.6], 150.0), ("yaw", Z, [-0.5, 0.5], 100.0)),
}


@dataclass(frozen=True)
class Parameters:
    """Total mass in kg, from 30 on; stature and lengths in m (those left out follow the stature).

    ``planar`` keeps the motion in the sagittal plane. ``assist`` adds virtual motors that push and turn the pelvis from
    outside, in N along the world's axes and N m about the pelvis's own; their controls show how much help a walk
    needed. ``foot_length`` and ``foot_width`` are those of the sole, ``hip_width`` is the distance between the hip
    joints, ``armature`` the reflected rotor inertia at each joint in kg m2, ``damping`` that of each joint in N m
    s/rad, ``knee`` the flexion of both knees in the home pose in rad.
    """

    mass: float = 75.0
    stature: float = 1.75
    planar: bool = False
    assist: bool = False
    foot_length: float = FROM_HEIGHT
    foot_width: float = FROM_HEIGHT
    hip_width: float = FROM_HEIGHT
    armature: float = 0.1
    damping: float = 0.5
    knee: float = 0.2

    def __post_init__(self) -> None:
        check_numbers("hanavan", self, "stature")
        for name, share in (("foot_length", FOOT_LENGTH), ("foot_width", FOOT_WIDTH), ("hip_width", HIP_WIDTH)):
            if getattr(self, name) is None or getattr(self, name) is FROM_HEIGHT:
                object.__setattr__(self, name, share * self.stature)
        check_numbers("hanavan", self, "mass", "foot_length", "foot_width", "hip_width")
        if self.mass < LEAST_MASS:
            raise RobotError(f"mass of robot 'hanavan' must be at least {LEAST_MASS:g} kg, got {self.mass}")
        check_numbers("hanavan", self, "armature", "damping", zero=True)
        check_knee("hanavan", self)
        for name in ("planar", "assist"):
            if getattr(self, name) not in (False, True):
                raise RobotError(f"{name} of robot 'hanavan' must be True or False, got {getattr(self, name)!r}")
            object.__setattr__(self, name, bool(getattr(self, name)))


def build(p: Parameters) -> tuple[mujoco.MjSpec, dict[str, tuple[str, np.ndarray]]]:
    """The spec and the feet: 18 points of each sole in the foot's frame (origin at the ankle)."""
    man = physique(p.mass, p.stature, p.foot_length)
    spec, pelvis = new_robot("hanavan", "pelvis", planar=p.planar)
    _dress_pelvis(spec, pelvis, man, p)
    trunk = _add_trunk(spec, pelvis, man, p)
    if not p.planar:
        _add_joint(spec, trunk, "waist", "", p)
    for side in SIDES:
        _add_arm(spec, trunk, side, man, p)
        _add_leg(spec, pelvis, side, man, p)
    if p.assist:
        _add_assist(spec, p)
    legs = [f"{side}_{joint}_pitch" for side in SIDES for joint in ("hip", "knee", "ankle")]
    middle = (0.5 - ANKLE_FROM_HEEL) * p.foot_length
    set_home(spec, p.knee, legs, height_joint="root_z" if p.planar else "base", sole_middle=middle)
    along = np.linspace(-ANKLE_FROM_HEEL, 1 - ANKLE_FROM_HEEL, POINTS[0]) * p.foot_length
    across = np.linspace(-0.5, 0.5, POINTS[1]) * p.foot_width
    sole = np.array([[x, y, -ANKLE_HEIGHT * p.stature] for x in along for y in across])
    return spec, {side: (f"{side}_foot", sole) for side in SIDES}


def _dress_pelvis(spec: mujoco.MjSpec, pelvis: Any, man: Physique, p: Parameters) -> None:
    """Inertia and shape of the root, whose origin lies midway between the hips."""
    solid = man.pelvis
    low, high = (CROTCH_HEIGHT - HIP_HEIGHT) * p.stature, (WAIST_HEIGHT - HIP_HEIGHT) * p.stature
    set_inertial(pelvis, solid.mass, [0, 0, (low + high) / 2], list(solid.inertia))
    rings = [_ring(z, solid.half_depth, solid.half_width) for z in (low, high)]
    _add_mesh(spec, pelvis, "pelvis", "pelvis", rings, DARK)


def _add_trunk(spec: mujoco.MjSpec, pelvis: Any, man: Physique, p: Parameters) -> Any:
    """Trunk and head; the origin lies at the waist."""
    trunk = pelvis.add_body(name="trunk", pos=[0, 0, (WAIST_HEIGHT - HIP_HEIGHT) * p.stature])
    chest, head = man.trunk, man.head
    head_at = chest.height + head.half_height
    mass, centre, inertia = joined(chest, chest.height / 2, head, head_at)
    set_inertial(trunk, mass, [0, 0, centre], list(inertia))
    rings = [_ring(z, chest.half_depth, chest.half_width) for z in (0.0, chest.height)]
    _add_mesh(spec, trunk, "trunk", "trunk", rings, GREY)
    shoulder, radius = SHOULDER_WIDTH / 2 * p.stature, 0.9 * man.upper_arm.top
    add_capsule(trunk, "shoulders", [0, -shoulder, chest.height], [0, shoulder, chest.height], radius, GREY)
    add_solid(trunk, "head", "ELLIPSOID", GREY, pos=[0, 0, head_at], size=[head.radius, head.radius, head.half_height])
    face = [0.62 * head.radius, 0, head_at + 0.1 * head.half_height]
    radii = [0.45 * head.radius, 0.7 * head.radius, 0.3 * head.half_height]
    add_solid(trunk, "face", "ELLIPSOID", DARK, pos=face, size=radii)
    return trunk


def _add_arm(spec: mujoco.MjSpec, trunk: Any, side: str, man: Physique, p: Parameters) -> None:
    """Upper arm, and forearm with hand; each origin lies at the upper joint."""
    place = [0, SIDES[side] * SHOULDER_WIDTH / 2 * p.stature, man.trunk.height]
    upper = trunk.add_body(name=f"{side}_upper_arm", pos=place)
    _dress_limb(spec, upper, "upper_arm", man.upper_arm, side)
    _add_joint(spec, upper, "shoulder", side, p)
    fore = upper.add_body(name=f"{side}_forearm", pos=[0, 0, -man.upper_arm.length])
    _dress_limb(spec, fore, "forearm", man.forearm, side)
    hand_at = -man.forearm.length - man.hand.radius
    mass, centre, inertia = joined(man.forearm, -man.forearm.centre, man.hand, hand_at)
    set_inertial(fore, mass, [0, 0, centre], list(inertia))
    add_solid(fore, f"{side}_hand", "ELLIPSOID", GREY, pos=[0, 0, hand_at], size=[man.hand.radius] * 3)
    _add_joint(spec, fore, "elbow", side, p)


def _add_leg(spec: mujoco.MjSpec, pelvis: Any, side: str, man: Physique, p: Parameters) -> None:
    """Thigh, shank and foot; each origin lies at the upper joint."""
    thigh = pelvis.add_body(name=f"{side}_thigh", pos=[0, SIDES[side] * p.hip_width / 2, 0])
    _dress_limb(spec, thigh, "thigh", man.thigh, side)
    _add_joint(spec, thigh, "hip", side, p)
    shank = thigh.add_body(name=f"{side}_shank", pos=[0, 0, -man.thigh.length])
    _dress_limb(spec, shank, "shank", man.shank, side)
    _add_joint(spec, shank, "knee", side, p)
    foot = shank.add_body(name=f"{side}_foot", pos=[0, 0, -man.shank.length])
    height = ANKLE_HEIGHT * p.stature
    heel = -ANKLE_FROM_HEEL * p.foot_length
    along = man.foot.inertia[[2, 0, 1]]  # the cone lies along x
    set_inertial(foot, man.foot.mass, [heel + man.foot.centre, 0, -height / 2], list(along))
    # The cone would touch in a line: the drawing, and what collides, is a shoe on a flat sole.
    thick = height / 4
    size = [p.foot_length / 2, p.foot_width / 2, thick / 2]
    middle = [heel + p.foot_length / 2, 0, -height + thick / 2]
    add_solid(foot, f"{side}_sole", "BOX", DARK, pos=middle, size=size)
    welt = [[heel + s * p.foot_length, y * p.foot_width] for s in (0.03, 0.97) for y in (-0.45, 0.45)]
    toe = [[heel + 0.93 * p.foot_length, y * p.foot_width, -0.6 * height] for y in (-0.35, 0.35)]
    rim = _ring(0.0, 1.15 * man.shank.end, 1.1 * man.shank.end)
    _add_mesh(spec, foot, f"{side}_foot", "foot", [np.array([[*w, thick - height] for w in welt]), toe, rim], DARK)
    _add_joint(spec, foot, "ankle", side, p)


def _add_joint(spec: mujoco.MjSpec, body: Any, joint: str, side: str, p: Parameters) -> None:
    """The rotations at a body's origin, about y alone in the plane, each with a motor."""
    for rotation, axis, limits, strength in JOINTS[joint]:
        if p.planar and rotation != "pitch":
            continue
        name = f"{side}_{joint}_{rotation}" if side else f"{joint}_{rotation}"
        # The right side is the left one in a mirror.
        mirrored = side == "right" and rotation != "pitch"
        add_hinge(body, name, axis, [-limits[1], -limits[0]] if mirrored else limits, p.armature, p.damping)
        add_motor(spec, name, strength * p.mass * p.stature / (75.0 * 1.75))


def _add_assist(spec: mujoco.MjSpec, p: Parameters) -> None:
    """Motors on the coordinates of the pelvis, ``assist_x`` and so on, without limit."""
    names = ("x", "z", "pitch") if p.planar else ("x", "y", "z", "roll", "pitch", "yaw")
    for i, name in enumerate(names):
        target = f"root_{name}" if p.planar else "base"
        motor = spec.add_actuator(name=f"assist_{name}", target=target, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
        motor.gear = [1, 0, 0, 0, 0, 0] if p.planar else [float(k == i) for k in range(6)]


def _dress_limb(spec: mujoco.MjSpec, body: Any, name: str, solid: Frustum, side: str) -> None:
    """Inertia and drawing of a frustum that hangs from the body's origin, with a ball in the joint."""
    set_inertial(body, solid.mass, [0, 0, -solid.centre], list(solid.inertia))
    rings = [_ring(0.0, solid.top, solid.top), _ring(-solid.length, solid.end, solid.end)]
    _add_mesh(spec, body, body.name, name, rings, COLOURS[side])
    add_solid(body, f"{body.name}_joint", "ELLIPSOID", COLOURS[side], size=[solid.top] * 3)


def _ring(z: float, half_depth: float, half_width: float) -> np.ndarray:
    """(RING, 3) points on an ellipse at height z, m."""
    angle = 2 * np.pi / RING * np.arange(RING)
    return np.column_stack([half_depth * np.cos(angle), half_width * np.sin(angle), np.full(RING, z)])


def _add_mesh(spec: mujoco.MjSpec, body: Any, name: str, mesh: str, rings: list[Any], rgba: list[float]) -> None:
    """The convex hull of points in the body's frame; both sides share one mesh."""
    if mesh not in {known.name for known in spec.meshes}:
        spec.add_mesh(name=mesh, uservert=np.round(np.vstack(rings), 6).ravel())
    add_solid(body, name, "MESH", rgba, meshname=mesh)
