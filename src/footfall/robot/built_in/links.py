"""Robots written as tables: a tree of homogeneous links, hinges with motors, the right side mirroring the left.

A table is for the height it states; ``build_biped`` scales it and stands it on its feet. x is forward, y left, z up;
all angles are zero with straight legs and hanging arms; a flexed hip is negative, a flexed knee positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import mujoco
import numpy as np

from footfall.errors import RobotError
from footfall.robot.built_in import check_numbers
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
    check_knee,
    new_robot,
    set_home,
    set_inertial,
)

AXES = {"x": X, "y": Y, "z": Z}
LEAST_ROTOR = 0.05  # of the strongest joint's rotor inertia: what a small motor has, so that steps of 1 ms are stable
FEWEST_VERTICES, MOST_VERTICES = 3, 64  # of a sole


@dataclass(frozen=True)
class Hinge:
    """One rotation: limits in rad (of the left side), largest torque in N m."""

    name: str
    axis: str
    limits: tuple[float, float]
    strength: float


@dataclass(frozen=True)
class Link:
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
class Size:
    """Total mass in kg; ``height`` (m) with straight legs, to which all lengths are scaled.

    ``vertices`` is how many corners each sole has, 3 to 64; ``armature`` the reflected rotor inertia of the strongest
    joints in kg m2 (others have less in proportion to their torque, a twentieth at least), ``damping`` that of each
    joint in N m s/rad, ``knee`` the flexion of both knees in the home pose in rad.
    """

    robot: ClassVar[str]
    mass: float
    height: float
    armature: float
    damping: float
    knee: float
    vertices: int = 4

    def __post_init__(self) -> None:
        check_numbers(self.robot, self, "mass", "height", "vertices")
        check_numbers(self.robot, self, "armature", "damping", zero=True)
        check_knee(self.robot, self)
        if self.vertices != int(self.vertices) or not FEWEST_VERTICES <= self.vertices <= MOST_VERTICES:
            raise RobotError(
                f"vertices of robot '{self.robot}' must be a whole number, {FEWEST_VERTICES} to {MOST_VERTICES} on "
                f"each sole, got {self.vertices:g}; for contact points elsewhere give points= or feet="
            )
        object.__setattr__(self, "vertices", int(self.vertices))


def total_mass(table: Sequence[Link]) -> float:
    """Mass of a table of links, kg."""
    return sum(link.mass * (2 if link.pair else 1) for link in table)


def build_biped(
    p: Size, table: Sequence[Link], *, height: float
) -> tuple[mujoco.MjSpec, dict[str, tuple[str, np.ndarray]]]:
    """The spec of a table made for ``height`` (m), on bent knees, and its feet as ``load_robot`` takes them."""
    scale = p.height / height
    foot = next(link for link in table if link.name == "foot")
    size, centre = scale * np.array(foot.size), scale * np.array(foot.centre)
    ring = sole_ring(size[0], size[1], p.vertices) + centre[:2]
    spec = _assemble(p, table, scale, ring)
    legs = [f"{side}_{joint}_pitch" for side in SIDES for joint in ("hip", "knee", "ankle")]
    set_home(spec, p.knee, legs, height_joint="base", sole_middle=centre[0])
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

    The strongest joint has the reflected rotor inertia asked for, others less in proportion to their torque, but not
    below a twentieth. Torques grow with mass times length.
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
            own = _sided(side, link.name)
            if link.parent:
                parent = bodies.get(_sided(side, link.parent)) or bodies[link.parent]
                body = bodies[own] = parent.add_body(name=own, pos=scale * out * link.at)
            size, centre = scale * np.array(link.size), scale * out * link.centre
            inertia = heavier * link.mass * _inertia(link.shape, size)
            set_inertial(body, heavier * link.mass, list(centre), list(inertia))
            if link.name == "foot":
                _draw_foot(spec, body, side, ring, centre[2] + size[2] / 2 * np.array([-1.0, 1.0]))
            else:
                _draw(body, link, side, size, centre)
            for hinge in link.hinges:
                low, high = hinge.limits
                limits = [-high, -low] if side == "right" and hinge.axis != "y" else [low, high]
                rotor = p.armature * max(hinge.strength / strongest, LEAST_ROTOR)
                add_hinge(body, _sided(side, hinge.name), AXES[hinge.axis], limits, rotor, p.damping)
                torque[_sided(side, hinge.name)] = hinge.strength * heavier * scale
    for joint in spec.joints:  # in the order of the coordinates
        if joint.name in torque:
            add_motor(spec, joint.name, torque[joint.name])
    return spec


def _sided(side: str, name: str) -> str:
    return f"{side}_{name}" if side else name


def _inertia(shape: str, size: np.ndarray) -> np.ndarray:
    """Principal inertia about the middle of a homogeneous solid of 1 kg, m2."""
    squares = size**2
    if shape == "box":
        return (squares.sum() - squares) / 12
    if shape == "ellipsoid":
        return (squares.sum() - squares) / 20
    across = squares[0] / 16 + squares[2] / 12
    return np.array([across, across, squares[0] / 8])


def _draw(body: Any, link: Link, side: str, size: np.ndarray, centre: np.ndarray) -> None:
    """The solid; a cylinder has round ends, and a motor across its joint."""
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
