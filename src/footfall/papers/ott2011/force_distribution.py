"""Ott 2011, section V-A: how long the force distribution takes."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np

import footfall as ff
from footfall.compiled import ByReference
from footfall.control.contact_forces import distribute, force_problem
from footfall.papers.base import Findings, seen, unlike
from footfall.papers.ott2011.pushes import FLOOR, sideways, stand

POINTS = 8
REPEATS = 3  # of every problem; the shortest time counts, since other programs take their share of the others
FORCE = 250.0  # N at the hip, so that a foot is unloaded


class Times(NamedTuple):
    us: np.ndarray  # (problems,) shortest of the repeats
    unknowns: int
    broken: float  # share of the problems for which the forces of (17) are not in the cones (2)
    kept: float  # the same of the optimisation, from starts within its tolerance


def run_times() -> Times:
    rec = stand(1.0, sideways(0.2, FORCE))
    arms = rec.position - ff.measure.momentum(rec).com[:, None]
    frames = np.broadcast_to(np.eye(3), (POINTS, 3, 3)).copy()
    problem = force_problem(POINTS, rec.ground.dynamic_friction, minimum=FLOOR)
    given = ByReference(problem)
    times = np.zeros((REPEATS, len(rec)))
    for row in times:
        for k, wrench in enumerate(rec.signals["desired_wrench"]):
            own = np.array(wrench), np.array(arms[k])  # those of a recording are read-only
            begin = perf_counter()
            distribute(given, *own, frames)
            row[k] = 1e6 * (perf_counter() - begin)
    return Times(times.min(axis=0)[1:], problem.force.size, *_broken(rec, arms))


def _broken(rec: ff.Recording, arms: np.ndarray) -> tuple[float, float]:
    """Share of the problems in which (17), and the optimisation (18), ask for forces outside the cones (2)."""
    friction, outside = rec.ground.dynamic_friction, np.zeros((len(rec), 2), dtype=bool)
    for k, wrench in enumerate(rec.signals["desired_wrench"]):
        cross = [np.cross(arm, np.eye(3)).T for arm in arms[k]]
        grasp = np.vstack([np.tile(np.eye(3), POINTS), np.hstack(cross)])  # Ott 2011, eq. 16
        least = (np.linalg.pinv(grasp) @ wrench).reshape(POINTS, 3)  # Ott 2011, eq. 17
        for column, force in enumerate((least, rec.signals["commanded_force"][k])):
            outside[k, column] = (np.linalg.norm(force[:, :2], axis=1) > friction * force[:, 2] + 1e-6).any()
    return float(outside[:, 0].mean()), float(outside[:, 1].mean())


def judge_times(data: Times) -> Findings:
    median, late, worst = (float(np.percentile(data.us, part)) for part in (50.0, 99.0, 100.0))
    yield unlike("unknowns", data.unknowns)
    yield seen(
        "pseudoinverse",
        f"{100 * data.broken:.1f} %, {100 * data.kept:.1f} %",
        holds=data.broken > 0.0 and data.kept == 0.0,
    )
    yield seen("fast", f"{median:.3g}, {late:.3g}, {worst:.3g} µs", holds=median < 200.0)
