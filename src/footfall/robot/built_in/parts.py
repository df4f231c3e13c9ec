"""Parts of built-in robots: checked parameters, solids, hinges with motors, inertias; human proportions, trunk and
legs, and the standing pose with bent knees; and robots written as tables of links.

x is forward, y left, z up; a flexed hip is negative, a flexed knee positive.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import mujoco
import numpy as np

from footfall.errors import RobotError
from footfall.given_numbers import is_number
from footfall.robot.model import height_of_root
from footfall.roots import root_between

# Solids of a robot collide with the ground (contype 2, conaffinity 1) but never with each other.
CONTYPE, CONAFFINITY = 1, 2
SIDES = {"left": 1.0, "right": -1.0}
GREY, DARK = [0.80, 0.81, 0.84, 1], [0.25, 0.27, 0.32, 1]
COLOURS = {"left": [0.18, 0.45, 0.72, 1], "right": [0.82, 0.36, 0.24, 1]}
AXES = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}
FROM_HEIGHT = math.nan  # a length that was left out
#: Numbers of a robot that may be zero; all others are positive.
MAY_BE_ZERO = ("armature", "damping", "kd", "trunk_middle")
#: Units of a robot's numbers; all others are lengths in m.
UNITS = {"mass": "kg", "knee": "rad", "armature": "kg m2", "damping": "N m s/rad", "kp": "N m/rad", "kd": "N m s/rad"}
#: A straight knee is singular and one beyond 1.5 rad squats: neither is a standing pose.
KNEES = 0.05, 1.5


@dataclass(frozen=True)
class Checked:
    """Parameters of a robot: positive numbers in SI units, some of which may be zero; checked on creation.

    A length left out is its share in ``fractions`` of the robot's size, the parameter whose name is in ``scales``.
    """

    robot: ClassVar[str]
    scales: ClassVar[str] = "height"
    fractions: ClassVar[Mapping[str, float]] = {}

    def __post_init__(self) -> None:
        for name, fraction in self.fractions.items():
            self._check(self.scales)
            if getattr(self, name) is None or getattr(self, name) is FROM_HEIGHT:
                object.__setattr__(self, name, fraction * getattr(self, self.scales))
        for field in fields(self):
            given = getattr(self, field.name)
            if field.type in ("float", "int"):
                self._check(field.name)
            elif field.type == "bool" and given not in (False, True):
                raise RobotError(f"{field.name} of robot '{self.robot}' must be True or False, got {given!r}")
        knee = getattr(self, "knee", KNEES[0])
        if not KNEES[0] <= knee <= KNEES[1]:
            raise RobotError(
                f"knee of robot '{self.robot}' must lie in {KNEES[0]:g} .. {KNEES[1]:g} rad (home pose), got {knee}"
            )

    def _check(self, name: str) -> None:
        """Raise ``RobotError`` unless a parameter is finite and positive, or zero where that is allowed."""
        value, zero = getattr(self, name), name in MAY_BE_ZERO
        if not is_number(value) or value < 0 or (value == 0 and not zero):
            raise RobotError(f"{name} of robot '{self.robot}' must be a number >{'=' * zero} 0, got {value!r}")


def new_robot(name: str, root: str, at: Sequence[float] = (0, 0, 0), *, planar: bool = False) -> tuple[Any, Any]:
    """A spec with angles in rad, and its root body, which is free in space or in the xz plane."""
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    body = spec.worldbody.add_body(name=root, pos=at)
    if planar:
        body.add_joint(name="root_x", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=AXES["x"])
        body.add_joint(name="root_z", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=AXES["z"])
        body.add_joint(name="root_pitch", type=mujoco.mjtJoint.mjJNT_HINGE, axis=AXES["y"])
    else:
        body.add_freejoint(name="base")
    return spec, body


def set_inertial(body: Any, mass: float, centre: Sequence[float], inertia: Sequence[float]) -> None:
    """Mass in kg, centre of mass in m, diagonal inertia about it in kg m2, all along the body's axes."""
    body.mass, body.ipos, body.inertia, body.explicitinertial = mass, centre, inertia, True


def inertia_of(mass: float, shape: str, size: Sequence[float], axis: int = 2) -> np.ndarray:
    """(3,) kg m2, inertia of a homogeneous solid that spans ``size`` (m) about its centre: a "box", an "ellipsoid", or
    a "cylinder" along ``axis`` on a circle or an ellipse.
    """
    squares = np.square(size)
    if shape != "cylinder":
        return np.asarray(mass * ((squares.sum() - squares) / {"box": 12, "ellipsoid": 20}[shape]))
    squares = squares / [12 if i == axis else 16 for i in range(3)]
    return np.asarray(mass * (squares[[1, 0, 0]] + squares[[2, 2, 1]]))


def set_homogeneous(
    body: Any, mass: float, shape: str, size: Sequence[float], centre: Sequence[float] = (0, 0, 0), axis: int = 2
) -> None:
    """Mass and inertia of a homogeneous solid around ``centre`` (m), as :func:`inertia_of`."""
    set_inertial(body, mass, list(centre), list(inertia_of(mass, shape, size, axis)))


def add_solid(body: Any, name: str, kind: str, rgba: Sequence[float], **shape: Any) -> None:
    """A massless geom that can touch the ground; ``kind`` is MuJoCo's name ("BOX"), lengths in m."""
    kind = getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")
    body.add_geom(name=name, type=kind, rgba=rgba, mass=0, contype=CONTYPE, conaffinity=CONAFFINITY, **shape)


def add_capsule(
    body: Any, name: str, start: Sequence[float], end: Sequence[float], radius: float, rgba: Sequence[float]
) -> None:
    """A massless capsule between two points of the body's frame, in m, that can touch the ground."""
    add_solid(body, name, "CAPSULE", rgba, fromto=[*start, *end], size=[radius, 0, 0])


class Hinge(NamedTuple):
    """One rotation: limits in rad (of the left side), largest torque in N m."""

    name: str
    axis: str
    limits: tuple[float, float]
    strength: float


def add_hinge(body: Any, side: str, hinge: Hinge, armature: float, damping: float) -> str:
    """A limited hinge at the body's origin, that of the right side in a mirror; returns its name.

    ``armature`` in kg m2, ``damping`` in N m s/rad.
    """
    name, (low, high) = sided(side, hinge.name), hinge.limits
    limits = [-high, -low] if side == "right" and hinge.axis != "y" else [low, high]
    kind, limited = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtLimited.mjLIMITED_TRUE
    joint = body.add_joint(name=name, type=kind, axis=AXES[hinge.axis], range=limits, limited=limited)
    joint.armature, joint.damping = armature, [damping, 0, 0]
    return name


def sided(side: str, name: str) -> str:
    """A name with that of its side or limb before it, if it has one."""
    return f"{side}_{name}" if side else name


def add_motor(spec: mujoco.MjSpec, joint: str, strength: float) -> None:
    """A torque motor named after its joint, ``ctrl`` in N m within +-strength."""
    actuator = spec.add_actuator(
        name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT, ctrlrange=[-strength, strength]
    )
    actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
    actuator.set_to_motor()


def add_joints(spec: mujoco.MjSpec, body: Any, limb: str, hinges: Sequence[Hinge], p: Any, scale: float) -> None:
    """Hinges at a body's origin with motors, whose torques are scaled; ``p`` has the armature, and may have a
    damping.
    """
    for hinge in hinges:
        name = add_hinge(body, limb, hinge, p.armature, getattr(p, "damping", 0.0))
        add_motor(spec, name, hinge.strength * scale)


def stand_on_points(spec: mujoco.MjSpec, p: Any, bend: float, legs: int) -> None:
    """Add the keyframe 'home' of a robot on point feet: feet under the hips, knees bent backwards (``bend`` = -1) or
    forwards (1).
    """
    hip = math.atan2(p.shank * math.sin(p.knee), p.thigh + p.shank * math.cos(p.knee))
    height = p.thigh * math.cos(hip) + p.shank * math.cos(p.knee - hip) + p.foot_radius
    pose = [0, 0, height, 1, 0, 0, 0] + [0, -bend * hip, bend * p.knee] * legs
    spec.add_key(name="home", qpos=pose, ctrl=[0.0] * (3 * legs))


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

#: Default lengths as fractions of the height.
LENGTHS = {"thigh": THIGH, "shank": SHANK, "ankle_height": ANKLE_HEIGHT, "hip_width": HIP_WIDTH}

HIP_RANGE, KNEE_RANGE, ANKLE_RANGE = (-2.1, 0.7), (0.0, 2.5), (-0.7, 0.9)  # rad, a human's


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
    set_homogeneous(foot, m, "box", [p.foot_length, foot_width, thick], middle)
    add_solid(foot, f"{side}_sole", "BOX", DARK, pos=middle, size=[p.foot_length / 2, foot_width / 2, thick / 2])
    return thigh, shank, foot


def set_home(spec: mujoco.MjSpec, knee: float, sole_middle: float) -> None:
    """Add the keyframe 'home': knees bent, trunk upright, feet flat, centre of mass over the middle of the
    soles; the controls of servos are the angles of their joints.

    The unknown is the forward lean of the shank; hip and ankle follow from an upright trunk and a flat foot.
    ``sole_middle`` is the middle of the sole in m ahead of the ankle.
    """
    from footfall.robot.shapes import corners

    model = spec.copy().compile()
    data = mujoco.MjData(model)
    ankle = model.body("left_foot").id

    turned = {
        part: [
            data.joint(j.name).qpos
            for j in spec.joints
            if j.name.removesuffix("_pitch") in (f"left_{part}", f"right_{part}")
        ]
        for part in ("hip", "knee", "ankle")
    }

    def stand(lean: float) -> None:
        for part, angle in (("hip", lean - knee), ("knee", knee), ("ankle", -lean)):
            for own in turned[part]:
                own[:] = angle
        mujoco.mj_kinematics(model, data)

    def error(lean: float) -> float:
        stand(lean)
        mujoco.mj_comPos(model, data)
        return data.subtree_com[1, 0] - data.xpos[ankle, 0] - sole_middle

    try:
        stand(root_between(error, -0.6, 0.6 + knee, tolerance=1e-15))
    except ValueError:
        raise RobotError(
            f"robot '{spec.modelname}' cannot stand with its centre of mass over the middle of its soles; "
            "choose a longer leg, a shorter foot or another knee angle"
        ) from None
    height, _ = height_of_root(model, 1)  # type: ignore[misc]
    data.qpos[height] -= corners(model, data, model.geom("left_sole").id)[0][:, 2].min()
    angles, servo = data.qpos[model.jnt_qposadr[model.actuator_trnid[:, 0]]], model.actuator_biasprm[:, 1] != 0.0
    spec.add_key(name="home", qpos=data.qpos, ctrl=np.where(servo, angles, 0.0))


# ---- robots written as tables: a tree of homogeneous links with hinges, the right side mirroring the left -----------


LEAST_ROTOR = 0.05  # least rotor inertia of a joint, as a share of the strongest joint's: keeps steps of 1 ms stable
FEWEST_VERTICES, MOST_VERTICES = 3, 64  # of a sole


class Link(NamedTuple):
    """A homogeneous solid that hangs on its parent by hinges in its origin.

    ``at`` is that origin in the parent's frame, ``centre`` the middle of the solid in its own, both in m and of the
    left one of a pair. ``size`` (m) spans the solid: a "box", an "ellipsoid" with these axes, or a "cylinder"
    that stands on end, the first two sizes its diameter. ``pair``: there is one on each side.
    """

    name: str
    parent: str
    at: tuple[float, float, float]
    mass: float
    shape: str
    size: tuple[float, float, float]
    centre: tuple[float, float, float]
    hinges: tuple[Hinge, ...] = ()
    pair: bool = False
    dark: bool = False


@dataclass(frozen=True)
class Size(Checked):
    """Total mass in kg; ``height`` (m) with straight legs, to which all lengths are scaled.

    ``vertices`` is how many corners each sole has, 3 to 64; ``armature`` the reflected rotor inertia of the strongest
    joints in kg m2 (others have less in proportion to their torque, a twentieth at least), ``damping`` that of each
    joint in N m s/rad, ``knee`` the flexion of both knees in the home pose in rad.
    """

    links: ClassVar[Sequence[Link]]
    tall: ClassVar[float]  # m, height of the table of links
    mass: float
    height: float
    armature: float
    damping: float
    knee: float
    vertices: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.vertices != int(self.vertices) or not FEWEST_VERTICES <= self.vertices <= MOST_VERTICES:
            raise RobotError(
                f"vertices of robot '{self.robot}' must be a whole number, {FEWEST_VERTICES} to {MOST_VERTICES} on "
                f"each sole, got {self.vertices:g}; for contact points elsewhere give points= or feet="
            )
        object.__setattr__(self, "vertices", int(self.vertices))


def total_mass(table: Sequence[Link]) -> float:
    """Mass of a table of links, kg."""
    return sum(link.mass * (2 if link.pair else 1) for link in table)


def build_biped(p: Size) -> tuple[mujoco.MjSpec, dict[str, tuple[str, np.ndarray]]]:
    """The spec of a robot written as a table, on bent knees, and its feet as ``load_robot`` takes them."""
    table, scale = p.links, p.height / p.tall
    foot = next(link for link in table if link.name == "foot")
    size, centre = scale * np.array(foot.size), scale * np.array(foot.centre)
    ring = sole_ring(size[0], size[1], p.vertices) + centre[:2]
    spec = _assemble(p, table, scale, ring)
    set_home(spec, p.knee, centre[0])
    sole = np.column_stack([ring, np.full(p.vertices, centre[2] - size[2] / 2)])
    return spec, {side: (f"{side}_foot", sole) for side in SIDES}


def sole_ring(length: float, width: float, vertices: int) -> np.ndarray:
    """(vertices, 2) corners of a convex polygon in a sole of that length and width, m, counter-clockwise.

    They lie at equal angles on the rounded rectangle x^4 + y^4 = 1, stretched to touch all four sides: 4 are the
    sole's own corners, 3 are two toes and a heel, many approach the rounded rectangle, 7 % smaller in area.
    """
    angle = 2 * np.pi / vertices * (np.arange(vertices) + 0.5)
    ring = np.round(np.column_stack([np.cos(angle), np.sin(angle)]), 12)
    ring = np.sign(ring) * np.sqrt(np.abs(ring))
    low, high = ring.min(axis=0), ring.max(axis=0)
    return (ring - (low + high) / 2) / (high - low) * [length, width]


def _assemble(p: Size, table: Sequence[Link], scale: float, ring: np.ndarray) -> mujoco.MjSpec:
    """The spec of a table scaled to its mass and by ``scale`` in length, the first link free in space.

    Reflected rotor inertias are proportional to the joints' torques, ``p.armature`` at the strongest joint, and at
    least a twentieth of that. Torques are proportional to mass times length.
    """
    root = table[0]
    spec, body = new_robot(p.robot, root.name, list(scale * np.array(root.at)))
    heavier = p.mass / total_mass(table)
    strongest = max(hinge.strength for link in table for hinge in link.hinges)
    bodies: dict[str, Any] = {root.name: body}
    torque: dict[str, float] = {}
    for link in table:
        for side in SIDES if link.pair else ("",):
            out = np.array([1.0, SIDES.get(side, 1.0), 1.0])
            own = sided(side, link.name)
            if link.parent:
                parent = bodies.get(sided(side, link.parent)) or bodies[link.parent]
                body = bodies[own] = parent.add_body(name=own, pos=scale * out * link.at)
            size, centre = scale * np.array(link.size), scale * out * link.centre
            set_homogeneous(body, heavier * link.mass, link.shape, list(size), list(centre))
            if link.name == "foot":
                _draw_foot(spec, body, side, ring, centre[2] + size[2] / 2 * np.array([-1.0, 1.0]))
            else:
                _draw(body, link, side, size, centre)
            for hinge in link.hinges:
                rotor = p.armature * max(hinge.strength / strongest, LEAST_ROTOR)
                torque[add_hinge(body, side, hinge, rotor, p.damping)] = hinge.strength * heavier * scale
    for joint in spec.joints:  # in the order of the coordinates
        if joint.name in torque:
            add_motor(spec, joint.name, torque[joint.name])
    return spec


def _draw(body: Any, link: Link, side: str, size: np.ndarray, centre: np.ndarray) -> None:
    """Add the geom of a link; a cylinder gets round ends, and a motor across its joint."""
    rgba = DARK if link.dark else COLOURS.get(side, GREY)
    if link.shape != "cylinder":
        add_solid(body, body.name, link.shape.upper(), rgba, size=list(size / 2), pos=list(centre))
        return
    radius = size[0] / 2
    half = np.array([0.0, 0.0, max(size[2] / 2 - 0.6 * radius, 0.1 * radius)])
    add_capsule(body, body.name, list(centre + half), list(centre - half), radius, rgba)
    if any(hinge.axis == "y" for hinge in link.hinges):
        across = np.array([0.0, 1.15 * radius, 0.0])
        add_solid(body, f"{body.name}_motor", "CYLINDER", DARK, size=[radius, 0, 0], fromto=[*-across, *across])


def _draw_foot(spec: mujoco.MjSpec, body: Any, side: str, ring: np.ndarray, span: np.ndarray) -> None:
    """A plate with the sole's outline between two heights (m, in the body's frame), and the ankle on it."""
    if not spec.meshes:
        plate = np.vstack([np.column_stack([ring, np.full(len(ring), z)]) for z in span])
        spec.add_mesh(name="sole", uservert=plate.ravel())
    add_solid(body, f"{side}_sole", "MESH", DARK, meshname="sole")
    radius = min(0.2 * np.ptp(ring[:, 1]), -0.6 * span[1])
    add_capsule(body, f"{body.name}_ankle", [0, 0, 0], [0, 0, span[1]], radius, DARK)
