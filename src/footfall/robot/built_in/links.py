"""Robots written as tables: homogeneous links in a tree, hinges with their motors, the right the left's mirror image.

A table is for the size and mass it states; ``assemble`` scales it. x is forward, y left, z up; all angles are zero
with straight legs and hanging arms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from footfall.robot.built_in import CONAFFINITY, CONTYPE
from footfall.robot.built_in.human import COLOURS, DARK, GREY, SIDES, add_capsule, add_hinge, add_motor, set_inertial

AXES = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}
LEAST_ROTOR = 0.05  # of the strongest joint's rotor inertia: what a small motor has, so that steps of 1 ms are stable


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


def total_mass(table: Sequence[Link]) -> float:
    """Mass of a table of links, kg."""
    return sum(link.mass * (2 if link.pair else 1) for link in table)


def assemble(
    name: str, table: Sequence[Link], *, mass: float, scale: float, armature: float, damping: float = 0.0
) -> mujoco.MjSpec:
    """The spec of a table scaled to ``mass`` (kg) and by ``scale`` in length, the first link free in space.

    The strongest joint has the reflected rotor inertia ``armature`` (kg m2), others less in proportion to their
    torque, but not below a twentieth. Torques grow with mass times length.
    """
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    heavier = mass / total_mass(table)
    strongest = max(hinge.strength for link in table for hinge in link.hinges)
    bodies: dict[str, Any] = {}
    torque: dict[str, float] = {}
    for link in table:
        for side in SIDES if link.pair else ("",):
            out = np.array([1.0, SIDES.get(side, 1.0), 1.0])
            own = _sided(side, link.name)
            at = scale * out * link.at
            if link.parent:
                parent = bodies.get(_sided(side, link.parent)) or bodies[link.parent]
                body = parent.add_body(name=own, pos=at)
            else:
                body = spec.worldbody.add_body(name=own, pos=at)
                body.add_freejoint(name="base")
            bodies[own] = body
            size, centre = scale * np.array(link.size), scale * out * link.centre
            inertia = heavier * link.mass * _inertia(link.shape, size)
            set_inertial(body, heavier * link.mass, list(centre), list(inertia))
            _draw(body, link, side, size, centre)
            for hinge in link.hinges:
                low, high = hinge.limits
                limits = [-high, -low] if side == "right" and hinge.axis != "y" else [low, high]
                rotor = armature * max(hinge.strength / strongest, LEAST_ROTOR)
                add_hinge(body, _sided(side, hinge.name), AXES[hinge.axis], limits, rotor)
                body.joints[-1].damping = [damping, 0, 0]
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
    """The solid, a cylinder with round ends; a foot's is called its sole."""
    rgba = DARK if link.dark else COLOURS.get(side, GREY)
    if link.shape == "cylinder":
        radius = size[0] / 2
        half = np.array([0.0, 0.0, max(size[2] / 2 - 0.6 * radius, 0.1 * radius)])
        add_capsule(body, body.name, list(centre + half), list(centre - half), radius, rgba)
        if link.hinges and any(hinge.axis == "y" for hinge in link.hinges):
            across = np.array([0.0, 1.15 * radius, 0.0])
            _add_solid(body, f"{body.name}_motor", "CYLINDER", DARK, size=[radius, 0, 0], fromto=[*-across, *across])
        return
    name = _sided(side, "sole") if link.name == "foot" else body.name
    _add_solid(body, name, link.shape.upper(), rgba, size=list(size / 2), pos=list(centre))
    if link.name == "foot":
        top = centre[2] + size[2] / 2
        add_capsule(body, f"{body.name}_ankle", [0, 0, 0], [0, 0, top], min(0.2 * size[1], -0.6 * top), DARK)


def _add_solid(body: Any, name: str, kind: str, rgba: list[float], **shape: Any) -> None:
    """A massless geom that can touch the ground."""
    kind = getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")
    body.add_geom(name=name, type=kind, rgba=rgba, mass=0, contype=CONTYPE, conaffinity=CONAFFINITY, **shape)
