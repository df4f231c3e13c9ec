"""Bruneau 1999, section 4.1: how far feet sink in and give way in walking, and the way of the pressure centre."""

from __future__ import annotations

import numpy as np

import footfall as ff
from footfall.measure.common import runs
from footfall.papers.bruneau1999.man import LAW
from footfall.solve.contacts import OPEN, SLIDE

#: s; shorter touches are passed over.
SHORTEST = 0.02
LOADED = 0.05  # of the weight, for a pressure centre to be judged


def carried_at(depth: float, points: int) -> float:
    """Load (N) that this many points carry at rest at a depth in m, eq. (16)."""
    return points * float(LAW.kn or 0.0) * depth ** float(LAW.alpha)


def depth_of(load: float, points: int) -> float:
    """Depth (m) at which this many points carry a load (N) at rest, eq. (16)."""
    return float((load / points / float(LAW.kn or 1.0)) ** (1.0 / float(LAW.alpha)))


def creep(load: float, points: int, duration: float) -> float:
    """m, by which adhering points give way under a constant tangential load (N), eqs. (17)-(18): kt x + mut x' = f."""
    kt, mut = float(LAW.kt or 0.0), float(LAW.mut or 1.0)
    return load / points / kt * (1.0 - float(np.exp(-kt / mut * duration)))


def tangential(rec: ff.Recording) -> tuple[float, float]:
    """Largest way (m) of a point along the ground while it touches: of all, and of those that never slid meanwhile."""
    every, stuck = 0.0, 0.0
    for p in range(rec.robot.point_count):
        for a, b in runs(rec.mode[:, p] != OPEN):
            if rec.time[min(b, len(rec) - 1)] - rec.time[a] < SHORTEST:
                continue
            way = float(np.linalg.norm((rec.position[a:b, p] - rec.position[a, p])[:, :2], axis=1).max())
            every = max(every, way)
            if not (rec.mode[a:b, p] == SLIDE).any():
                stuck = max(stuck, way)
    return every, stuck


def pressure_path(rec: ff.Recording, samples: int = 51) -> np.ndarray:
    """(stances, samples) place of the pressure centre on the sole over stance: 0 at the heel, 1 at the tip."""
    found = []
    for f, foot in enumerate(rec.robot.feet):
        x = rec.position[:, rec.foot(foot.name), 0]
        rear, front = x.min(axis=1), x.max(axis=1)
        along = (rec.cop[:, f, 0] - rear) / (front - rear)
        for a, b in runs(rec.foot_force[:, f, 2] > LOADED * rec.robot.weight):
            if a > 0 and b < len(rec) and rec.time[b - 1] - rec.time[a] > 0.2:
                at = np.linspace(a, b - 1, samples)
                found.append(np.interp(at, np.arange(a, b), along[a:b]))
    return np.array(found)
