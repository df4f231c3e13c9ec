"""Forward direction of a robot: from the names of its legs, else from its hips and soles, else the x axis of its root.

All directions are horizontal unit vectors (3,) of the world, in the home pose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.errors import RobotError
from footfall.robot.feet import LEG_WORDS, Foot
from footfall.robot.model import SLIDE, base_of, chain_of
from footfall.robot.pose import posed

UP = np.array([0.0, 0.0, 1.0])
AXES = {"x": (1.0, 0.0), "+x": (1.0, 0.0), "-x": (-1.0, 0.0), "y": (0.0, 1.0), "+y": (0.0, 1.0), "-y": (0.0, -1.0)}
#: Words of a name: "LHipPitch" is l, hip and pitch, "FR_thigh2" fr and thigh.
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: Least distance between two groups of hips or feet that gives a direction, as a share of the size of the legs.
APART = 0.02
#: Least ratio of length to width of the rectangle of hips that shows the axis of a robot; below it is a square.
LONGER = 1.2
#: Least distance of the middle of a sole from its ankle that shows the toes, as a share of its length; a human has 1/4.
TOES = 0.1
#: Cosines of the angles to an axis of the root's frame below which that axis is forward: hips are where they were
#: drawn; feet and toes are not quite across or ahead if one foot is put forward or turned out.
NEAR_BY_HIPS, NEAR_AXIS = np.cos(np.radians(5.0)), np.cos(np.radians(20.0))


#: Largest angle, degrees, between a direction and an axis of the world that is named after it.
AXIS_NAMED = 15.0


class Facing(NamedTuple):
    """Forward direction of a robot."""

    forward: np.ndarray  # (3,) horizontal unit vector, world frame, in the home pose
    reason: str  # the evidence for it, in words
    doubt: str = ""  # the evidence against it, in words


class Leg(NamedTuple):
    """A leg: a branch of bodies on the base, or on a girdle, that ends in one or more feet."""

    hip: int  # its first body
    feet: list[Foot]
    joints: int  # their number
    ahead: float  # above zero if its names call it a front leg, below zero for a rear one
    left: float  # above zero if its names call it left, below zero for right


def find_facing(model: mujoco.MjModel, home: np.ndarray, feet: Sequence[Foot]) -> Facing:
    """Forward direction of a robot in its home pose (nq,)."""
    data = posed(model, home)
    legs, root = _legs(model, feet)
    joints = range(model.body_jntadr[root], model.body_jntadr[root] + model.body_jntnum[root])
    slides = [way for j in joints if model.jnt_type[j] == SLIDE and (way := _level(data.xaxis[j])) is not None]
    if len(slides) == 1:  # of a planar robot
        return Facing(slides[0], "the way its root slides")
    axis = _level(data.xmat[root].reshape(3, 3)[:, 0])
    usual = Facing(np.array([1.0, 0.0, 0.0]) if axis is None else axis, "the x axis of its root")
    toes = _toes(model, data, legs)
    named = _by_names(data, legs, root)
    if named is not None:
        against = named.doubt
        if toes is not None and toes @ named.forward < -0.5:
            against = against or "its soles reach further back than forward of the ankles"
        return Facing(named.forward, named.reason, against)
    line = _long_axis(data, legs, root)
    if line is None:
        return usual if toes is None else Facing(_on_axis(toes, data.xmat[root], NEAR_AXIS), "its toes")
    if toes is not None and abs(toes @ line) > 0.5:
        return Facing(line * np.sign(toes @ line), "the line of its hips, and its toes")
    along = float(line @ usual.forward)
    if abs(along) > 0.5:
        return Facing(line * np.sign(along), "the line of its hips, and the x axis of its root")
    # Only legs with several joints are for walking; for a robot on rigid legs the doubt is not worth a warning.
    bends = all(leg.joints > 1 for leg in legs)
    return Facing(line, "the line of its hips", "nothing shows which end of it is the front" if bends else "")


def as_forward(given: Any) -> np.ndarray:
    """The direction (3,) that a user gave: "x", "-x", "y", "-y", or a horizontal vector of two or three numbers."""
    try:
        vector = np.array(AXES[given] if isinstance(given, str) else given, dtype=float)
    except (KeyError, TypeError, ValueError):
        vector = np.empty(0)
    level = np.array([*vector[:2], 0.0]) if vector.shape in ((2,), (3,)) else np.zeros(3)
    size = float(np.linalg.norm(level))
    if not np.isfinite(vector).all() or not size > 0.0 or (vector.size == 3 and vector[2] != 0.0):
        raise RobotError(
            f"forward is 'x', '-x', 'y' or '-y' of the world in the home pose, or a level vector (x, y), got {given!r}"
        )
    return level / size


def described(forward: np.ndarray) -> str:
    """A direction in words: "+x", "-y", or the angle from +x to the left."""
    angle = float(np.degrees(np.arctan2(forward[1], forward[0])))
    names = {0: "+x", 90: "+y", 180: "-x", -180: "-x", -90: "-y"}
    near = min(names, key=lambda at: abs(at - angle))
    return names[near] if abs(near - angle) < 0.5 else f"{angle:.0f} degrees to the left of +x"


def axis_words(forward: np.ndarray) -> tuple[str, str]:
    """How the world's x and y axes lie for a robot that faces ``forward``: "forward", "to the left", or "along x"."""
    ways = {0.0: "forward", 90.0: "to the left", 180.0: "backward", 270.0: "to the right"}
    turned = float(np.degrees(np.arctan2(forward[1], forward[0])))
    near = [min(ways, key=lambda way: abs((way - at + 180.0) % 360.0 - 180.0)) for at in (-turned, 90.0 - turned)]
    clear = abs((near[0] + turned + 180.0) % 360.0 - 180.0) < AXIS_NAMED
    return (ways[near[0]], ways[near[1]]) if clear else ("along x", "along y")


def _legs(model: mujoco.MjModel, feet: Sequence[Foot]) -> tuple[list[Leg], int]:
    """The legs of the first robot in a model, and its root."""
    bodies = [int(model.body(foot.body).id) for foot in feet]
    root = int(model.body_rootid[bodies[0]])
    chains = [(foot, chain_of(model, body)) for foot, body in zip(feet, bodies, strict=True)]
    legs = []
    for hip, own in _branches(model, [(foot, chain) for foot, chain in chains if chain[-1] == root]).items():
        parts = {body for _, chain in own for body in chain[: chain.index(hip) + 1]}
        joints = [j for j in range(model.njnt) if model.jnt_bodyid[j] in parts]
        names = [*(foot.name for foot, _ in own), *(model.body(b).name for b in parts)]
        called = _called([*names, *(model.joint(j).name for j in joints)])
        legs.append(Leg(hip, [foot for foot, _ in own], len(joints), *called))
    return legs, root


def _branches(model: mujoco.MjModel, feet: list[tuple[Foot, list[int]]]) -> dict[int, list[tuple[Foot, list[int]]]]:
    """Legs by their first bodies, of feet with their chains of bodies.

    Legs that hang on a girdle, as those of a dog with a spine, are legs of their own; toes and heels, which have a
    joint at most, are parts of one leg.
    """
    base = base_of(model, [chain[0] for _, chain in feet])
    found: dict[int, list[tuple[Foot, list[int]]]] = {}
    for foot, chain in feet:
        if chain[0] != base:
            found.setdefault(chain[chain.index(base) - 1], []).append((foot, chain))
    for hip, own in list(found.items()):
        if len(own) > 1:
            girdle = base_of(model, [chain[0] for _, chain in own])
            joints = [model.body_jntnum[chain[: chain.index(girdle)]].sum() for _, chain in own]
            if min(joints) > 1:
                del found[hip]
                found |= _branches(model, own)
    return found


def _called(names: Sequence[str]) -> tuple[float, float]:
    """Number of names that say front less those that say rear, and the same for left and right; the first such word of
    a name counts.
    """
    votes = np.zeros(2)
    for name in names:
        said = np.array([LEG_WORDS[word.lower()] for word in WORD.findall(name) if word.lower() in LEG_WORDS])
        for i in range(2 if len(said) else 0):
            votes[i] += next((value for value in said[:, i] if value), 0.0)
    return float(votes[0]), float(votes[1])


def _by_names(data: mujoco.MjData, legs: list[Leg], root: int) -> Facing | None:
    """Forward direction by the names of legs; None unless both names and positions differ."""
    along = _from_to(data, legs, root, [-leg.ahead for leg in legs])
    left = _from_to(data, legs, root, [-leg.left for leg in legs])
    across = None if left is None else np.cross(left, UP)
    if along is None:
        return None if across is None else Facing(across, "its legs called left and right")
    if across is None:
        return Facing(along, "its legs called front and rear")
    if along @ across < 0.0:
        return Facing(along, "its legs called front and rear", "by those called left and right it faces the other way")
    return Facing(_unit(along + across), "its legs called front and rear, left and right")


def _from_to(data: mujoco.MjData, legs: list[Leg], root: int, order: Sequence[float]) -> np.ndarray | None:
    """Direction from the legs with a positive ``order`` to those with a negative one, by their hips, else by their
    feet; an axis of the root near it.

    None if a group is empty, or if both groups lie in one place.
    """
    for places, near in zip(_places(data, legs), (NEAR_BY_HIPS, NEAR_AXIS), strict=True):
        groups = [[p for p, value in zip(places, order, strict=True) if sign * value > 0] for sign in (1.0, -1.0)]
        if all(groups):
            way = np.mean(groups[1], axis=0) - np.mean(groups[0], axis=0)
            if np.hypot(way[0], way[1]) > APART * _size(data, legs):
                level = _level(way)
                return None if level is None else _on_axis(level, data.xmat[root], near)
    return None


def _long_axis(data: mujoco.MjData, legs: list[Leg], root: int) -> np.ndarray | None:
    """The long axis of a robot: across the line of two hips, along those of four or more; an axis of the root near it.

    Its sense is towards +x, or +y, of the world. None without a clear axis.
    """
    for places, near in zip(_places(data, legs), (NEAR_BY_HIPS, NEAR_AXIS), strict=True):
        flat = np.array(places)[:, :2] if places else np.zeros((0, 2))
        if len(flat) in (0, 1, 3):
            return None
        _, spread, axes = np.linalg.svd(flat - flat.mean(axis=0))
        clear = spread[0] > LONGER * spread[1] and spread[0] > APART * _size(data, legs)
        if clear:
            x, y = axes[0] if len(flat) > 2 else (axes[0][1], -axes[0][0])
            axis = np.array([x, y, 0.0]) * (1.0 if x + 1e-6 * y > 0 else -1.0)
            return _on_axis(axis, data.xmat[root], near)
    return None


def _places(data: mujoco.MjData, legs: list[Leg]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Positions of the hips, and of the feet, m."""
    return [data.xpos[leg.hip] for leg in legs], [data.body(leg.feet[0].body).xpos for leg in legs]


def _size(data: mujoco.MjData, legs: list[Leg]) -> float:
    """The size of the legs, m: the longest distance from the first hip to a foot or another hip."""
    hips, feet = _places(data, legs)
    return max(float(np.linalg.norm(end - hips[0])) for end in (*hips, *feet))


def _toes(model: mujoco.MjModel, data: mujoco.MjData, legs: list[Leg]) -> np.ndarray | None:
    """Direction from the ankles to the middles of the soles, averaged over the feet; None where it is not clear."""
    ahead = []
    for foot in (foot for leg in legs for foot in leg.feet if foot.length > 0.0):
        body = int(model.body_weldid[model.body(foot.body).id])
        sole = foot.polygon @ data.body(foot.body).xmat.reshape(3, 3).T + data.body(foot.body).xpos
        if model.body_jntnum[body]:
            middle = 0.5 * (sole.min(axis=0) + sole.max(axis=0))
            ahead.append((middle - data.xanchor[model.body_jntadr[body]]) / foot.length)
    mean = np.mean(ahead, axis=0) if ahead else np.zeros(3)
    mean[2] = 0.0  # the height of the ankle says nothing
    return _unit(mean) if np.linalg.norm(mean) > TOES else None


def _on_axis(forward: np.ndarray, root: np.ndarray, near: float) -> np.ndarray:
    """The axis of the root's frame (9,) whose cosine with a direction is larger than ``near``, or the direction."""
    for column in root.reshape(3, 3).T:
        for axis in (_level(column), _level(-column)):
            if axis is not None and axis @ forward > near:
                return axis
    return forward


def _level(vector: np.ndarray) -> np.ndarray | None:
    """The horizontal part of a vector as a unit vector; None if the vector is steeper than 45 degrees."""
    flat = np.array([vector[0], vector[1], 0.0])
    return None if np.hypot(*flat[:2]) < abs(vector[2]) or not flat.any() else _unit(flat)


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)
