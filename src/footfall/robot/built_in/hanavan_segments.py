"""The solids of Hanavan's man, from mass and stature: mass, length, radii and inertia of each.

Shapes and masses are those of Hanavan, A Mathematical Model of the Human Body, AMRL-TR-64-102, 1964. Where that report
takes lengths and girths off a subject, lengths here are fractions of the stature, and the girths follow from
the masses with the densities of the segments. All solids are homogeneous, z along their axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

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


@dataclass(frozen=True)
class Frustum:
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


@dataclass(frozen=True)
class EllipticalCylinder:
    """A right cylinder on an ellipse: kg, m; half its depth along x, half its width along y."""

    mass: float
    height: float
    half_depth: float
    half_width: float

    @property
    def inertia(self) -> np.ndarray:
        """(3,) about the centre, kg m2."""
        x, y, z = self.half_depth**2 / 4, self.half_width**2 / 4, self.height**2 / 12
        return self.mass * np.array([y + z, x + z, x + y])


@dataclass(frozen=True)
class Spheroid:
    """An ellipsoid of revolution about z: kg, m; a ball where both half axes are the same."""

    mass: float
    half_height: float
    radius: float

    @property
    def inertia(self) -> np.ndarray:
        """(3,) about the centre, kg m2."""
        across = self.mass / 5 * (self.radius**2 + self.half_height**2)
        return np.array([across, across, 0.4 * self.mass * self.radius**2])


@dataclass(frozen=True)
class Physique:
    """The solids of one man, limbs of one side."""

    head: Spheroid
    trunk: EllipticalCylinder
    pelvis: EllipticalCylinder
    upper_arm: Frustum
    forearm: Frustum
    hand: Spheroid
    thigh: Frustum
    shank: Frustum
    foot: Frustum


def segment_masses(mass: float) -> dict[str, float]:
    """Masses of the segments in kg, limbs of one side, for the whole mass in kg.

    The difference between the sum of the regressions and the whole is distributed in proportion, as Hanavan does.
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

    def cylinder(name: str, height: float) -> EllipticalCylinder:
        section, width = masses[name] / (DENSITY["trunk"] * height), HIP_BREADTH * stature
        return EllipticalCylinder(masses[name], height, section / (math.pi * width / 2), width / 2)

    half_head = (1 - SHOULDER_HEIGHT) / 2 * stature
    head_radius = math.sqrt(0.75 * masses["head"] / (math.pi * DENSITY["head"] * half_head))
    fist = (0.75 * masses["hand"] / (math.pi * DENSITY["hand"])) ** (1 / 3)
    return Physique(
        head=Spheroid(masses["head"], half_head, head_radius),
        trunk=cylinder("trunk", (SHOULDER_HEIGHT - WAIST_HEIGHT) * stature),
        pelvis=cylinder("pelvis", (WAIST_HEIGHT - CROTCH_HEIGHT) * stature),
        upper_arm=frustum("upper arm", UPPER_ARM * stature),
        forearm=frustum("forearm", FOREARM * stature),
        hand=Spheroid(masses["hand"], fist, fist),
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


def joined(
    first: Frustum | EllipticalCylinder, at: float, second: Spheroid, second_at: float
) -> tuple[float, float, np.ndarray]:
    """Two solids on one z axis as one: mass in kg, height of the centre in m, (3,) inertia about it in kg m2."""
    mass = first.mass + second.mass
    centre = (first.mass * at + second.mass * second_at) / mass
    apart = first.mass * second.mass / mass * (at - second_at) ** 2
    return mass, centre, first.inertia + second.inertia + np.array([apart, apart, 0.0])
