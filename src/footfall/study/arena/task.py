"""The input of guests of the arena: a robot of rigid bodies with spheres as contact geometry, as MJCF and as URDF.

A sphere touches a plane in one point in every engine, but the contact points of boxes and meshes depend on the engine's
collision detection. Bodies have mass and inertia, hinges have motors; features that some engines lack are left out:
limits, joint friction, springs, ties and rotor inertia.

A question is runs with an error each, to judge and to tune on; ``questions.toml`` says what is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import mujoco
import numpy as np

from footfall.errors import StudyError
from footfall.ground import Ground
from footfall.record import Push, Record
from footfall.robot import Robot, load_robot
from footfall.robot.feet import Foot
from footfall.robot.pose import posed
from footfall.standing import at_home

#: Where the six numbers of an inertia are in its matrix: xx, yy, zz, xy, xz, yz.
SIX = ([0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])


class Part(NamedTuple):
    """A body: its place in its parent, its mass and inertia, its hinge, and its spheres."""

    name: str
    mass: float  # kg
    inertia: np.ndarray  # (3, 3) kg m2, about the centre of mass, in the body's axes
    spheres: np.ndarray  # (S, 4) m, centre and radius, body frame
    com: np.ndarray = np.zeros(3)  # m, body frame
    parent: int = -1  # index of the part that carries it; -1 for the root, which is free
    place: np.ndarray = np.zeros(3)  # m, in the parent
    turn: np.ndarray = np.array([1.0, 0.0, 0.0, 0.0])  # quaternion w, x, y, z
    joint: str = ""
    axis: np.ndarray = np.zeros(3)


@dataclass(frozen=True, eq=False)
class Hold:
    """Torques at the joints: ``torque + kp (target - q) - kd qdot``."""

    target: np.ndarray  # (joints,) rad
    kp: np.ndarray  # (joints,) N m/rad
    kd: np.ndarray  # (joints,) N m s/rad
    torque: np.ndarray  # (joints,) N m


@dataclass(frozen=True, eq=False)
class Task:
    """One run that every engine is asked for.

    Attributes:
        parts: the robot, its root first.
        qpos, qvel: the start, in MuJoCo's order.
        duration, dt: s.
        friction, restitution: of the ground z = 0, Coulomb's and Newton's.
        gravity: (3,) m/s2; a slope is gravity that leans.
        pulls: (start s, end s, force (3,) N) at the root's centre of mass, one after the other.
        hold: what the motors do.
        every: steps from one sample to the next.
    """

    name: str
    parts: tuple[Part, ...]
    qpos: np.ndarray
    qvel: np.ndarray
    duration: float
    dt: float = 1e-3
    friction: float = 0.5
    restitution: float = 0.0
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    pulls: tuple[tuple[float, float, tuple[float, float, float]], ...] = ()
    hold: Hold | None = None
    every: int = 1

    @cached_property
    def robot(self) -> Robot:
        """The robot as Footfall loads it: a foot for each body with spheres."""
        feet = []
        for part in self.parts:
            if len(part.spheres):
                centre, radius = part.spheres[:, :3], part.spheres[:, 3]
                lowest = centre - radius[:, None] * [0.0, 0.0, 1.0]
                feet.append(Foot(part.name, part.name, lowest[:1] if len(lowest) == 1 else lowest, centre, radius))
        loaded = load_robot(
            mujoco.MjSpec.from_string(self.mjcf()), feet={f.name: (f.body, f.points) for f in feet}, name=self.name
        )
        return replace(loaded, feet=tuple(feet), home=self.qpos)

    @property
    def ground(self) -> Ground:
        return Ground.plane(friction=self.friction)

    @property
    def mass(self) -> float:
        """Of all bodies, kg."""
        return sum(part.mass for part in self.parts)

    @property
    def steps(self) -> int:
        return round(self.duration / self.dt)

    @property
    def joints(self) -> list[str]:
        return [part.joint for part in self.parts[1:]]

    @property
    def pushes(self) -> tuple[Push, ...]:
        return tuple(
            Push(self.parts[0].name, force, start=start, duration=end - start) for start, end, force in self.pulls
        )

    def mjcf(self) -> str:
        """The robot without a ground, as MJCF. Its spheres touch nothing but what has ``conaffinity`` 1."""
        top = Element("mujoco", model=self.name)
        SubElement(top, "compiler", angle="radian", balanceinertia="false")
        SubElement(top, "option", gravity=_text(self.gravity))
        bodies: list[Element] = []
        for part in self.parts:
            into = SubElement(top, "worldbody") if part.parent < 0 else bodies[part.parent]
            body = SubElement(into, "body", name=part.name, pos=_text(part.place), quat=_text(part.turn))
            if part.parent < 0:
                SubElement(body, "freejoint", name="base")
            else:
                SubElement(body, "joint", name=part.joint, type="hinge", axis=_text(part.axis))
            moments = _text(part.inertia[SIX])
            SubElement(body, "inertial", pos=_text(part.com), mass=repr(float(part.mass)), fullinertia=moments)
            for i, (*at, radius) in enumerate(part.spheres):
                SubElement(
                    body, "geom", name=f"{part.name}.{i}", type="sphere", pos=_text(at), size=_text([radius]),
                    contype="1", conaffinity="0", mass="0", friction=_text([self.friction, 0.0, 0.0]), condim="3",
                )  # fmt: skip
            bodies.append(body)
        motors = SubElement(top, "actuator")
        for name in self.joints:
            SubElement(motors, "motor", name=name, joint=name)
        indent(top)
        return tostring(top, encoding="unicode")

    def urdf(self) -> str:
        """The robot as URDF."""
        top = Element("robot", name=self.name)
        for part in self.parts:
            link = SubElement(top, "link", name=part.name)
            inertial = SubElement(link, "inertial")
            SubElement(inertial, "origin", xyz=_text(part.com), rpy="0 0 0")
            SubElement(inertial, "mass", value=repr(float(part.mass)))
            moments = zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), part.inertia[SIX], strict=True)
            SubElement(inertial, "inertia", {name: repr(float(value)) for name, value in moments})
            for i, (*at, radius) in enumerate(part.spheres):
                collision = SubElement(link, "collision", name=f"{part.name}.{i}")
                SubElement(collision, "origin", xyz=_text(at), rpy="0 0 0")
                SubElement(SubElement(collision, "geometry"), "sphere", radius=repr(float(radius)))
        for part in self.parts[1:]:
            joint = SubElement(
                top, "joint", name=part.joint, type="revolute"
            )  # some engines turn "continuous" into two numbers
            SubElement(joint, "parent", link=self.parts[part.parent].name)
            SubElement(joint, "child", link=part.name)
            SubElement(joint, "origin", xyz=_text(part.place), rpy=_text(_angles(part.turn)))
            SubElement(joint, "axis", xyz=_text(part.axis))
            SubElement(joint, "limit", lower="-1e3", upper="1e3", effort="1e9", velocity="1e9")  # never reached
        indent(top)
        return tostring(top, encoding="unicode")

    def write(self, folder: Path, settings: dict[str, object]) -> Path:
        """Write the task into a folder, as a guest reads it; returns the job's file."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "robot.xml").write_text(self.mjcf(), encoding="utf-8")
        (folder / "robot.urdf").write_text(self.urdf(), encoding="utf-8")
        (folder / "robot.json").write_text(json.dumps(self.robot.to_dict()), encoding="utf-8")
        hold = self.hold or Hold(*np.zeros((4, len(self.joints))))
        pulls = [[round(a / self.dt), round(b / self.dt), *force] for a, b, force in self.pulls]
        job = folder / "job.json"
        content = {
            "name": self.name,
            "mjcf": str(folder / "robot.xml"),
            "urdf": str(folder / "robot.urdf"),
            "footfall": str(folder / "robot.json"),
            "samples": str(folder / "samples.npz"),
            "bodies": [part.name for part in self.parts],
            "joints": self.joints,
            "sphere_body": [part.name for part in self.parts for _ in part.spheres],
            "at": np.vstack([part.spheres[:, :3] for part in self.parts]).tolist(),
            "radius": np.concatenate([part.spheres[:, 3] for part in self.parts]).tolist(),
            "gravity": self.gravity,
            "friction": self.friction,
            "restitution": self.restitution,
            "qpos": self.qpos.tolist(),
            "qvel": self.qvel.tolist(),
            "dt": self.dt,
            "steps": self.steps,
            "every": self.every,
            "pulls": pulls or [[-1, -1, 0.0, 0.0, 0.0]],
            **{name: getattr(hold, name).tolist() for name in ("target", "kp", "kd", "torque")},
            "settings": settings,
        }
        job.write_text(json.dumps(content), encoding="utf-8")
        return job


class Case(NamedTuple):
    """A task, and the error of a recording of it, 0 if it is right."""

    label: str
    task: Task
    error: Callable[[Record], float]


class Question(NamedTuple):
    """Test cases, on which engines are judged, and training cases, on which they are tuned."""

    name: str
    cases: tuple[Case, ...]
    training: tuple[Case, ...] = ()
    unknown: bool = False  # whether friction and restitution of the ground are not known, and may be tuned


def _text(numbers: Sequence[float] | np.ndarray) -> str:
    return " ".join(repr(float(one)) for one in numbers)


def _angles(quaternion: np.ndarray) -> np.ndarray:
    """Roll, pitch and yaw (rad) of a quaternion w, x, y, z, as URDF turns frames."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(np.asarray(quaternion)[[1, 2, 3, 0]]).as_euler("xyz")


def box(name: str, sides: Sequence[float], mass: float, radius: float, *, corners: str = "bottom") -> Part:
    """A homogeneous box with spheres of this radius (m) in the corners of its bottom, in all, or in none."""
    half = 0.5 * np.asarray(sides, dtype=float)
    inertia = np.diag(mass / 3.0 * ((half**2).sum() - half**2))
    signs = [(x, y, z) for z in (-1, 1) for x in (-1, 1) for y in (-1, 1)]
    chosen = signs[:4] if corners == "bottom" else signs
    spheres = np.array([[*(np.array(one) * (half - radius)), radius] for one in chosen])
    return Part(name, mass, inertia, spheres)


def parts_of(robot: Robot) -> tuple[Part, ...]:
    """A robot of hinges as parts: bodies that are fixed to each other are one, rotors are rings that turn with their
    links.

    Only feet touch; sharp points become spheres of 5 mm whose lowest place is the point. Ties, limits, joint friction,
    springs and damping are left out.
    """
    model = robot.model
    data = posed(model, model.qpos0)
    moving = [b for b in range(1, model.nbody) if model.body_weldid[b] == b]
    if model.body_jntnum[moving[0]] != 1 or model.jnt_type[model.body_jntadr[moving[0]]] != mujoco.mjtJoint.mjJNT_FREE:
        raise StudyError(f"{robot.name} is not free: the arena takes robots whose root moves freely")
    parts: list[Part] = []
    for b in moving:
        joint = int(model.body_jntadr[b])
        hinge = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
        if model.body_jntnum[b] != 1 or (parts and not hinge) or np.abs(model.jnt_pos[joint]).max() > 1e-9:
            raise StudyError(f"body '{model.body(b).name}' of {robot.name} does not hang on one hinge at its origin")
        at, turned = data.xpos[b], data.xmat[b].reshape(3, 3)
        own = [i for i in range(1, model.nbody) if model.body_weldid[i] == b]
        masses = model.body_mass[own]
        centres = (data.xipos[own] - at) @ turned
        com = masses @ centres / masses.sum()
        inertia = np.zeros((3, 3))
        for i, mass, centre in zip(own, masses, centres, strict=True):
            axes = turned.T @ data.ximat[i].reshape(3, 3)
            away = centre - com
            inertia += axes @ np.diag(model.body_inertia[i]) @ axes.T
            inertia += mass * (away @ away * np.eye(3) - np.outer(away, away))
        axis = model.jnt_axis[joint] if parts else np.zeros(3)
        if parts:
            rotor = model.dof_armature[model.jnt_dofadr[joint]]  # a ring: about other axes it has half of that
            inertia += 0.5 * rotor * (np.eye(3) + np.outer(axis, axis))
        place, turn, parent, name = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), -1, ""
        if parts:
            carrier = int(model.body_weldid[model.body_parentid[b]])
            over = data.xmat[carrier].reshape(3, 3)
            mujoco.mju_mat2Quat(turn, (over.T @ turned).ravel())
            place, parent, name = over.T @ (at - data.xpos[carrier]), moving.index(carrier), model.joint(joint).name
        spheres = _spheres(robot, own, data)
        body = model.body(b).name
        parts.append(Part(body, float(masses.sum()), inertia, spheres, com, parent, place, turn, name, axis))
    return tuple(parts)


#: Radius of the spheres in place of sharp points, m.
SHARP = 0.005


def _spheres(robot: Robot, own: Sequence[int], data: mujoco.MjData) -> np.ndarray:
    """(S, 4) the contact points of feet on some bodies, which are one, in the frame of the first; home is upright."""
    home = at_home(robot)
    at, turned = data.xpos[own[0]], data.xmat[own[0]].reshape(3, 3)
    found = []
    for p in np.flatnonzero(np.isin(robot.point_body, own)):
        body, radius = robot.point_body[p], robot.point_radius[p]
        place = data.xpos[body] + data.xmat[body].reshape(3, 3) @ robot.point_position[p]
        if radius == 0.0:
            up = data.xmat[body].reshape(3, 3) @ home.xmat[body].reshape(3, 3).T @ [0.0, 0.0, 1.0]
            place, radius = place + SHARP * up, SHARP
        found.append([*((place - at) @ turned), radius])
    return np.array(found).reshape(-1, 4)
