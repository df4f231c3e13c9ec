"""The man of Bruneau and Ouezdou 1999 (section 4.1): 75 kg, Hanavan's solids, 18 testing points under each foot.

The paper gives the structure (trunk, pelvis, two arms, two thighs, two shanks, two feet; three rotations at
each joint and six coordinates for the pelvis), the mass, the 18 points per foot, and Hanavan 1964 for the
rest; ``planar=True`` is the model it simulates, which keeps x, z and pitch of the pelvis, one rotation at each
joint, two joints an arm and three a leg, and the trunk fixed to the pelvis: 13 coordinates.

Hanavan: the head is an ellipsoid of revolution, trunk and pelvis are elliptical cylinders, the hands balls, all other
segments frusta of cones; masses by the regressions of Barter 1957, scaled so that their sum is the whole. Not from
Hanavan, who measures each subject: lengths are the fractions of the stature of Drillis and Contini 1966, girths follow
from the masses by Dempster's densities and centres of mass (both in Winter, Biomechanics and Motor Control of Human
Movement, 4th ed., figure 4.1 and table 4.1). Head moves with the trunk, hand with the forearm. The foot's cone lies at
half the height of the ankle; the contact points are a grid of 6 x 3 over a flat rectangular sole below it, corners
included.

Assumed: stature 1.75 m; hip joints 0.12 of it apart; trunk as wide as the hips, meeting the pelvis at 0.585 of
the stature; ankles 0.25 of the foot's length from the heel; limits and motors of about a man's strength; joint
damping 0.5 N m s/rad. Rotors of 0.1 kg m2 reflected through gears at each joint keep a stiff posture stable at
1 ms in joints that turn a limb about its own axis; set ``armature=0`` for the bare man, with softer gains or a
shorter step. x is forward, y left, z up; a flexed hip, shoulder or elbow is negative, a flexed knee positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.errors import RobotError
from footfall.robot.built_in import parts
from footfall.robot.built_in.parts import COLOURS, DARK, FROM_HEIGHT, GREY, SIDES, Hinge, add_solid, set_inertial

POUND = 0.45359237  # kg

# Barter 1957, as in Hanavan 1964, eq. 1: weight = slope * whole + offset in lb; limbs are the two of a pair.
BARTER = {
    "head, neck and trunk": (0.47, 12.0),
    "upper arms": (0.08, -2.9),
    "forearms": (0.04, -0.5),
    "hands": (0.01, 0.7),
    "thighs": (0.18, 3.2),
    "shanks": (0.11, -1.9),
    "feet": (0.02, 1.5),
}
HEAD = 0.079  # of the whole mass: Dempster 1955, head with neck
PELVIS = 0.142 / 0.497  # of head, neck and trunk less the head: Winter, table 4.1

# Drillis and Contini 1966, as in Winter, figure 4.1: fractions of the stature.
SHOULDER_HEIGHT, HIP_HEIGHT, KNEE_HEIGHT, ANKLE_HEIGHT = 0.818, 0.530, 0.285, 0.039
UPPER_ARM, FOREARM, FOOT_LENGTH, FOOT_WIDTH = 0.186, 0.146, 0.152, 0.055
SHOULDER_WIDTH, HIP_BREADTH = 0.259, 0.191
#: Default lengths as fractions of the stature.
LENGTHS = {"foot_length": FOOT_LENGTH, "foot_width": FOOT_WIDTH, "hip_width": parts.HIP_WIDTH}
# Our choice: where trunk and pelvis meet (about the disc L5-S1), and the crotch, where the pelvis ends.
WAIST_HEIGHT, CROTCH_HEIGHT = 0.585, 0.480

# Dempster 1955, as in Winter, table 4.1: kg/m3.
DENSITY = {
    "head": 1110.0,
    "trunk": 1030.0,
    "upper arm": 1070.0,
    "forearm": 1130.0,
    "hand": 1160.0,
    "thigh": 1050.0,
    "shank": 1090.0,
    "foot": 1100.0,
}
# Centre of mass from the upper joint over the length: Winter, table 4.1; of the foot from the heel: Hanavan.
CENTRE = {"upper arm": 0.436, "forearm": 0.430, "thigh": 0.433, "shank": 0.433, "foot": 0.429}


class Frustum(NamedTuple):
    """A frustum of a right circular cone: kg, m; ``top`` and ``end`` are the radii at its two ends."""

    mass: float
    length: float
    top: float
    end: float

    @property
    def centre(self) -> float:
        """Centre of mass, m from the top."""
        t = self.end / self.top
        return self.length * (1 + 2 * t + 3 * t**2) / (4 * (1 + t + t**2))

    @property
    def inertia(self) -> np.ndarray:
        """(3,) about the centre of mass, kg m2."""
        t = self.end / self.top
        squares = 1 + t + t**2
        along = 0.3 * self.mass * self.top**2 * (1 + t + t**2 + t**3 + t**4) / squares
        spread = self.length**2 * (1 + 3 * t + 6 * t**2) / (10 * squares) - self.centre**2
        across = along / 2 + self.mass * spread
        return np.array([across, across, along])


class Solid(NamedTuple):
    """An ellipsoid, or a cylinder on an ellipse that stands on end: kg; half its depth, width and height, m."""

    mass: float
    shape: str
    half: tuple[float, float, float]

    @property
    def inertia(self) -> np.ndarray:
        """(3,) about the centre, kg m2."""
        return parts.inertia_of(self.mass, self.shape, 2.0 * np.array(self.half))


class Physique(NamedTuple):
    """The solids of one man, limbs of one side."""

    head: Solid
    trunk: Solid
    pelvis: Solid
    upper_arm: Frustum
    forearm: Frustum
    hand: Solid
    thigh: Frustum
    shank: Frustum
    foot: Frustum


def segment_masses(mass: float) -> dict[str, float]:
    """Masses of the segments in kg, limbs of one side, for the whole mass in kg.

    The regressions are scaled so that their sum is the whole, as Hanavan does.
    """
    weights = {name: slope * mass / POUND + offset for name, (slope, offset) in BARTER.items()}
    scale = mass / sum(weights.values())
    body = scale * weights["head, neck and trunk"]
    head = HEAD * mass
    pelvis = PELVIS * (body - head)
    limbs = {"upper arm": "upper arms", "forearm": "forearms", "hand": "hands"}
    limbs |= {"thigh": "thighs", "shank": "shanks", "foot": "feet"}
    shares = {one: scale * weights[pair] / 2 for one, pair in limbs.items()}
    return {"head": head, "trunk": body - head - pelvis, "pelvis": pelvis} | shares


def physique(mass: float, stature: float, foot_length: float) -> Physique:
    """The solids of a man of that mass (kg), stature and foot length (m)."""
    masses = segment_masses(mass)

    def frustum(name: str, length: float) -> Frustum:
        top, end = frustum_radii(masses[name] / DENSITY[name], length, CENTRE[name])
        return Frustum(masses[name], length, top, end)

    def cylinder(name: str, height: float) -> Solid:
        section, width = masses[name] / (DENSITY["trunk"] * height), HIP_BREADTH * stature
        return Solid(masses[name], "cylinder", (section / (math.pi * width / 2), width / 2, height / 2))

    half_head = (1 - SHOULDER_HEIGHT) / 2 * stature
    head_radius = math.sqrt(0.75 * masses["head"] / (math.pi * DENSITY["head"] * half_head))
    fist = (0.75 * masses["hand"] / (math.pi * DENSITY["hand"])) ** (1 / 3)
    return Physique(
        head=Solid(masses["head"], "ellipsoid", (head_radius, head_radius, half_head)),
        trunk=cylinder("trunk", (SHOULDER_HEIGHT - WAIST_HEIGHT) * stature),
        pelvis=cylinder("pelvis", (WAIST_HEIGHT - CROTCH_HEIGHT) * stature),
        upper_arm=frustum("upper arm", UPPER_ARM * stature),
        forearm=frustum("forearm", FOREARM * stature),
        hand=Solid(masses["hand"], "ellipsoid", (fist, fist, fist)),
        thigh=frustum("thigh", (HIP_HEIGHT - KNEE_HEIGHT) * stature),
        shank=frustum("shank", (KNEE_HEIGHT - ANKLE_HEIGHT) * stature),
        foot=frustum("foot", foot_length),
    )


def frustum_radii(volume: float, length: float, centre: float) -> tuple[float, float]:
    """Radii in m of the frustum of that volume (m3) and length (m) whose centroid lies at ``centre`` of the length."""
    # The ratio t of the radii solves (1 + 2 t + 3 t^2) / (4 (1 + t + t^2)) = centre.
    a, b, c = 3 - 4 * centre, 2 - 4 * centre, 1 - 4 * centre
    t = (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)
    top = math.sqrt(3 * volume / (math.pi * length * (1 + t + t * t)))
    return top, t * top


def joined(first: Frustum | Solid, at: float, second: Solid, second_at: float) -> tuple[float, float, np.ndarray]:
    """Two solids on one z axis as one: mass in kg, height of the centre in m, (3,) inertia about it in kg m2."""
    mass = first.mass + second.mass
    centre = (first.mass * at + second.mass * second_at) / mass
    apart = first.mass * second.mass / mass * (at - second_at) ** 2
    return mass, centre, first.inertia + second.inertia + np.array([apart, apart, 0.0])


ANKLE_FROM_HEEL = 0.25  # of the foot's length
POINTS = (6, 3)  # along and across the sole
LEAST_MASS = 30.0  # kg; Barter's regressions are for adults and do not hold below
RING = 20  # corners of a circle, in the drawing

# rotation, limits in rad, largest torque in N m at 75 kg and 1.75 m; of the joint at each body's origin
JOINTS = {
    "waist": (("yaw", (-0.8, 0.8), 150.0), ("roll", (-0.6, 0.6), 250.0), ("pitch", (-0.5, 1.2), 250.0)),
    "shoulder": (("pitch", (-3.0, 0.9), 100.0), ("roll", (-0.5, 2.6), 100.0), ("yaw", (-1.2, 1.2), 60.0)),
    "elbow": (("pitch", (-2.5, 0.1), 80.0), ("roll", (-0.2, 0.2), 60.0), ("yaw", (-1.4, 1.4), 40.0)),
    "hip": (("yaw", (-0.8, 0.8), 120.0), ("roll", (-0.7, 0.7), 200.0), ("pitch", parts.HIP_RANGE, 250.0)),
    "knee": (("pitch", parts.KNEE_RANGE, 250.0), ("roll", (-0.2, 0.2), 150.0), ("yaw", (-0.5, 0.5), 100.0)),
    "ankle": (("pitch", parts.ANKLE_RANGE, 200.0), ("roll", (-0.6, 0.6), 150.0), ("yaw", (-0.5, 0.5), 100.0)),
}
AXES = {"roll": "x", "pitch": "y", "yaw": "z"}


@dataclass(frozen=True)
class Parameters(parts.Checked):
    """Total mass in kg, from 30 on; stature and lengths in m (those left out follow the stature).

    ``planar`` keeps the motion in the sagittal plane. ``assist`` adds virtual motors that push and turn the pelvis from
    outside, in N along the world's axes and N m about the pelvis's own; their controls show how much help a walk
    needed. ``foot_length`` and ``foot_width`` are those of the sole, ``hip_width`` is the distance between the hip
    joints, ``armature`` the reflected rotor inertia at each joint in kg m2, ``damping`` that of each joint in N m
    s/rad, ``knee`` the flexion of both knees in the home pose in rad.
    """

    robot = "hanavan"
    scales = "stature"
    fractions = LENGTHS
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
        super().__post_init__()
        if self.mass < LEAST_MASS:
            raise RobotError(f"mass of robot 'hanavan' must be at least {LEAST_MASS:g} kg, got {self.mass}")


def build(p: Parameters) -> tuple[mujoco.MjSpec, dict[str, tuple[str, np.ndarray]]]:
    """The spec and the feet: 18 points of each sole in the foot's frame (origin at the ankle)."""
    man = physique(p.mass, p.stature, p.foot_length)
    spec, pelvis = parts.new_robot("hanavan", "pelvis", planar=p.planar)
    low, high = (CROTCH_HEIGHT - HIP_HEIGHT) * p.stature, (WAIST_HEIGHT - HIP_HEIGHT) * p.stature
    set_inertial(pelvis, man.pelvis.mass, [0, 0, (low + high) / 2], list(man.pelvis.inertia))
    _add_mesh(spec, pelvis, "pelvis", "pelvis", [_ring(z, *man.pelvis.half[:2]) for z in (low, high)], DARK)
    trunk = _add_trunk(spec, pelvis, man, p)
    if not p.planar:
        _add_joint(spec, trunk, "waist", "", p)
    for side in SIDES:
        _add_arm(spec, trunk, side, man, p)
        _add_leg(spec, pelvis, side, man, p)
    if p.assist:
        _add_assist(spec, p)
    parts.set_home(spec, p.knee, (0.5 - ANKLE_FROM_HEEL) * p.foot_length)
    along = np.linspace(-ANKLE_FROM_HEEL, 1 - ANKLE_FROM_HEEL, POINTS[0]) * p.foot_length
    across = np.linspace(-0.5, 0.5, POINTS[1]) * p.foot_width
    sole = np.array([[x, y, -ANKLE_HEIGHT * p.stature] for x in along for y in across])
    return spec, {side: (f"{side}_foot", sole) for side in SIDES}


def _add_trunk(spec: mujoco.MjSpec, pelvis: Any, man: Physique, p: Parameters) -> Any:
    """Trunk and head; the origin lies at the waist."""
    trunk = pelvis.add_body(name="trunk", pos=[0, 0, (WAIST_HEIGHT - HIP_HEIGHT) * p.stature])
    height, (radius, _, half_head) = 2 * man.trunk.half[2], man.head.half
    head_at = height + half_head
    mass, centre, inertia = joined(man.trunk, height / 2, man.head, head_at)
    set_inertial(trunk, mass, [0, 0, centre], list(inertia))
    rings = [_ring(z, *man.trunk.half[:2]) for z in (0.0, height)]
    _add_mesh(spec, trunk, "trunk", "trunk", rings, GREY)
    shoulder = SHOULDER_WIDTH / 2 * p.stature
    ends = [0, -shoulder, height], [0, shoulder, height]
    parts.add_capsule(trunk, "shoulders", *ends, 0.9 * man.upper_arm.top, GREY)
    add_solid(trunk, "head", "ELLIPSOID", GREY, pos=[0, 0, head_at], size=man.head.half)
    face = [0.62 * radius, 0, head_at + 0.1 * half_head]
    add_solid(trunk, "face", "ELLIPSOID", DARK, pos=face, size=[0.45 * radius, 0.7 * radius, 0.3 * half_head])
    return trunk


def _add_arm(spec: mujoco.MjSpec, trunk: Any, side: str, man: Physique, p: Parameters) -> None:
    """Upper arm, and forearm with hand; each origin lies at the upper joint."""
    place = [0, SIDES[side] * SHOULDER_WIDTH / 2 * p.stature, 2 * man.trunk.half[2]]
    upper = trunk.add_body(name=f"{side}_upper_arm", pos=place)
    _dress_limb(spec, upper, "upper_arm", man.upper_arm, side)
    _add_joint(spec, upper, "shoulder", side, p)
    fore = upper.add_body(name=f"{side}_forearm", pos=[0, 0, -man.upper_arm.length])
    _dress_limb(spec, fore, "forearm", man.forearm, side)
    hand_at = -man.forearm.length - man.hand.half[2]
    mass, centre, inertia = joined(man.forearm, -man.forearm.centre, man.hand, hand_at)
    set_inertial(fore, mass, [0, 0, centre], list(inertia))
    add_solid(fore, f"{side}_hand", "ELLIPSOID", GREY, pos=[0, 0, hand_at], size=man.hand.half)
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
    turns = [turn for turn in JOINTS[joint] if turn[0] == "pitch" or not p.planar]
    hinges = [Hinge(f"{joint}_{turn}", AXES[turn], limits, strength) for turn, limits, strength in turns]
    parts.add_joints(spec, body, side, hinges, p, p.mass * p.stature / (75.0 * 1.75))


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
