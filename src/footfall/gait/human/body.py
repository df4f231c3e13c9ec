"""The hanavan man in the sagittal plane, in closed form: positions of joints, and ground forces that a motion requires.

A point of the plane is the complex number x + i z, m; a turn by an angle about y (left) is a factor exp(-i angle). All
arrays may have leading axes before that of time, for many motions at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from footfall.errors import RobotError
from footfall.robot import Robot
from footfall.robot.rotations import matrix_of


def basis(phase: np.ndarray, harmonics: int, derivative: int = 0) -> np.ndarray:
    """(N, 2 H + 1) one, cos(2 pi k phase), sin(2 pi k phase) for k = 1..H, or a derivative by the phase (cycles)."""
    phase = np.asarray(phase, dtype=float)
    rate = 2 * np.pi * np.arange(1, harmonics + 1)
    angle = phase[:, None] * rate + 0.5 * np.pi * derivative
    constant = np.full((len(phase), 1), 1.0 if derivative == 0 else 0.0)
    return np.hstack([constant, rate**derivative * np.cos(angle), rate**derivative * np.sin(angle)])


def fit(phase: np.ndarray, values: np.ndarray, harmonics: int) -> np.ndarray:
    """(2 H + 1, ...) coefficients of the series nearest to values (N, ...) at the phases (N,), cycles."""
    return np.linalg.lstsq(basis(phase, harmonics), values, rcond=None)[0]


def evaluate(coefficients: Any, phase: np.ndarray, derivative: int = 0) -> np.ndarray:
    """(N, ...) the series at the phases (N,), cycles, or its derivative by the phase."""
    coefficients = np.asarray(coefficients, dtype=float)
    return basis(phase, (len(coefficients) - 1) // 2, derivative) @ coefficients


class Curve(NamedTuple):
    """A quantity over time with its first two derivatives."""

    value: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray

    def plus(self, other: Curve) -> Curve:
        """The sum of two quantities."""
        return Curve(*(a + b for a, b in zip(self, other, strict=True)))


def turned(vector: complex, angle: Curve) -> Curve:
    """A vector fixed to a segment, in space."""
    at = vector * np.exp(-1j * angle.value)
    return Curve(at, -1j * angle.rate * at, (-1j * angle.acceleration - angle.rate**2) * at)


@dataclass(frozen=True)
class Segment:
    """A rigid link: kg, centre of mass from its upper joint in m, moment of inertia about y there in kg m2."""

    mass: float
    centre: complex
    inertia: float


@dataclass(frozen=True)
class Body:
    """Lengths (m) and links of a hanavan man; ``heel`` and ``toe`` are the ends of the sole in the foot's frame."""

    links: dict[str, Segment]
    waist: float
    shoulder: float
    upper_arm: float
    thigh: float
    shank: float
    heel: complex
    toe: complex
    gravity: float

    @property
    def leg(self) -> float:
        """From hip to ground with the leg straight, m."""
        return self.thigh + self.shank - self.heel.imag

    @property
    def weight(self) -> float:
        """N."""
        both = sum(link.mass * (1 if name in ("pelvis", "trunk") else 2) for name, link in self.links.items())
        return both * self.gravity

    def leg_joints(self, hip: Curve, thigh: Curve, shank: Curve) -> tuple[Curve, Curve]:
        """Knee and ankle."""
        knee = hip.plus(turned(-1j * self.thigh, thigh))
        return knee, knee.plus(turned(-1j * self.shank, shank))

    def trunk_moments(self, hip: Curve, trunk: Curve) -> tuple[np.ndarray, np.ndarray]:
        """Force and moment that trunk and pelvis require, as :meth:`side_moments`."""
        waist = hip.plus(turned(1j * self.waist, trunk))
        return self._asked([("pelvis", hip, trunk), ("trunk", waist, trunk)])

    def side_moments(
        self, hip: Curve, trunk: Curve, leg: tuple[Curve, Curve, Curve], arm: tuple[Curve, Curve]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Force (complex, N) and moment about y at the origin (N m) that a leg and an arm require of the ground.

        ``leg`` holds the angles of thigh, shank and foot, ``arm`` those of upper arm and forearm.
        """
        knee, ankle = self.leg_joints(hip, leg[0], leg[1])
        shoulder = hip.plus(turned(1j * (self.waist + self.shoulder), trunk))
        elbow = shoulder.plus(turned(-1j * self.upper_arm, arm[0]))
        links = [("thigh", hip, leg[0]), ("shank", knee, leg[1]), ("foot", ankle, leg[2])]
        return self._asked([*links, ("upper_arm", shoulder, arm[0]), ("forearm", elbow, arm[1])])

    def _asked(self, parts: list[tuple[str, Curve, Curve]]) -> tuple[np.ndarray, np.ndarray]:
        force, moment = np.zeros((), dtype=complex), np.zeros(())
        for name, joint, angle in parts:
            link = self.links[name]
            centre = joint.plus(turned(link.centre, angle))
            push = link.mass * (centre.acceleration + 1j * self.gravity)
            force = force + push
            moment = moment - (np.conj(centre.value) * push).imag + link.inertia * angle.acceleration
        return force, moment


def body_of(robot: Robot) -> Body:
    """The closed form of a robot made as ``hanavan``."""
    model = robot.model
    if robot.name != "hanavan" or "stature" not in robot.parameters:
        raise RobotError(f"the human walk is one of robot 'hanavan', not of '{robot.name}'")
    names = {"pelvis": "pelvis", "trunk": "trunk"}
    names |= {part: f"left_{part}" for part in ("thigh", "shank", "foot", "upper_arm", "forearm")}
    links = {}
    for name, body in names.items():
        own = model.body(body)
        rotation = matrix_of(own.iquat)
        inertia = rotation @ np.diag(own.inertia) @ rotation.T
        links[name] = Segment(float(own.mass[0]), complex(own.ipos[0], own.ipos[2]), float(inertia[1, 1]))
    sole = robot.feet[0].polygon
    return Body(
        links=links,
        waist=float(model.body("trunk").pos[2]),
        shoulder=float(model.body("left_upper_arm").pos[2]),
        upper_arm=-float(model.body("left_forearm").pos[2]),
        thigh=-float(model.body("left_shank").pos[2]),
        shank=-float(model.body("left_foot").pos[2]),
        heel=complex(sole[:, 0].min(), sole[:, 2].min()),
        toe=complex(sole[:, 0].max(), sole[:, 2].min()),
        gravity=-float(model.opt.gravity[2]),
    )
