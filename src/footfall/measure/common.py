"""Functions that measures share: ground normals at the points, loads, the plane of pressure centres."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from footfall.record import Record

#: Load below which a foot is unloaded and has no centre of pressure, as a share of the robot's weight: rounding.
LOADED = 1e-6

Subject = TypeVar("Subject")
Result = TypeVar("Result")


def once(function: Callable[[Subject], Result]) -> Callable[..., Result]:
    """Cache the result of a measure for as long as its recording, or robot, lives."""
    known: WeakKeyDictionary[Subject, Result] = WeakKeyDictionary()

    @wraps(function)
    def remembered(*given: Subject, **named: Subject) -> Result:
        (subject,) = (*given, *named.values())
        if subject not in known:
            known[subject] = function(subject)
        return known[subject]

    return remembered


def threshold(rec: Record) -> float:
    """The load in N above which something stands on the ground."""
    # Without gravity there is no weight; 1 N takes its place.
    return LOADED * (rec.robot.weight or 1.0)


@once
def normal_force(rec: Record) -> np.ndarray:
    """(T, P) N, force along the ground's normal at each point."""
    return np.einsum("tpi,tpi->tp", rec.force, rec.normal)


def tangential(rec: Record, vectors: np.ndarray) -> np.ndarray:
    """(T, P, 3) the part of vectors at the points that lies in the ground's tangent plane."""
    n = rec.normal
    return vectors - np.einsum("tpi,tpi->tp", vectors, n)[..., None] * n


def feet(rec: Record) -> list[slice]:
    """The points of each foot."""
    return [rec.foot(foot.name) for foot in rec.robot.feet]


def contact_bodies(rec: Record) -> list[np.ndarray]:
    """The points of each rigid body in contact: first of the feet, with the other points of their bodies."""
    found = [np.arange(points.start, points.stop) for points in feet(rec)]
    if not rec.other_points.size:
        return found
    others = rec.robot.others
    group = np.searchsorted(others.begin, rec.other_points, side="right") - 1
    column = rec.robot.point_count + np.arange(len(group))
    for one in np.unique(group):
        own = column[group == one]
        if others.foot[one] >= 0:
            found[others.foot[one]] = np.concatenate([found[others.foot[one]], own])
        else:
            found.append(own)
    return found


def load_centre(rec: Record, points: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean position (T, 3) m, mean unit normal (T, 3) and total normal force (T,) N of some points.

    The means are weighted by the normal forces, and NaN where the load is no more than rounding.
    """
    load = normal_force(rec)[:, points]
    total = load.sum(axis=1)
    some = np.where(total > threshold(rec), total, np.nan)[:, None]
    centre = np.einsum("tp,tpi->ti", load, rec.position[:, points]) / some
    normal = np.einsum("tp,tpi->ti", load, rec.normal[:, points]) / some
    return centre, normal / np.linalg.norm(normal, axis=-1, keepdims=True), total


@once
def reference_plane(rec: Record) -> tuple[np.ndarray, np.ndarray]:
    """The plane of ZMP and overall pressure centre: unit normal (T, 3), distance from the origin (T,) m.

    On level ground and on a slope it is the ground itself. On stairs and uneven ground it passes through the
    mean of the loaded points, weighted by normal force, along the mean of their normals (NaN in flight).
    """
    if not rec.ground.flat:
        centre, normal, _ = load_centre(rec, slice(None))
        return normal, np.einsum("ti,ti->t", normal, centre)
    gap, normal = rec.ground.gap(np.zeros(3))
    return np.broadcast_to(normal, (len(rec), 3)), np.full(len(rec), -float(gap))


def pierce(force: np.ndarray, moment: np.ndarray, normal: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """(T, 3) m, the point of a plane about which a wrench has no moment component in the plane.

    ``moment`` is about the origin. From n x (M - p x F) = 0 and n . p = d: p = (n x M + d F) / (n . F).
    """
    along = np.einsum("ti,ti->t", normal, force)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        return (np.cross(normal, moment) + distance[:, None] * force) / along


def runs(active: np.ndarray) -> list[tuple[int, int]]:
    """(first, end) of every run of true values in a (T,) array, end exclusive."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], active.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
