"""The fit of the human walk on soft ground, where the force follows from the depth of the feet.

Under a spring law the load of a foot follows from the depth of its points. So the feet do not stand at height zero, but
sink so deep that the law's formula gives the measured force on each foot, and together the force and the pressure
centre that the motion requires.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from footfall.contact.springs.normal_terms import NormalTerms
from footfall.gait.human.body import Body, Curve, turned
from footfall.gait.human.data import MeasuredWalk
from footfall.gait.human.fit import FORCE, PRESSURE, Looked, WalkFit, WalkSeries, fit_walk, opposite

OWN_FORCE = 0.015  # body weights, of each foot against the measured mean
SLIP, STRAY = 0.03, 0.005  # m/s and m, of points that carry
LIGHT = 0.01  # body weights, below which a row of points is let slip
# How the fit comes near, stage by stage: share of the dampers that is there, and how much more force may miss.
STAGES = ((0.0, 12.0), (0.3, 4.0), (1.0, 2.0), (1.0, 1.0))
START = 1e-4  # m, over which the damper of a point sets in; sooner in the law, but not smooth


class Soft(NamedTuple):
    """How the ground answers: the formula of a point, where rows of points lie along the sole (m), how many in each."""

    terms: NormalTerms
    rows: np.ndarray
    points: np.ndarray


class SoftWalkFit(WalkFit):
    """The least-squares problem on ground that gives way."""

    #: Dampers in the ground ask for a slower landing.
    clearance = (0.015, 0.06)

    def __init__(self, body: Body, data: MeasuredWalk, soft: Soft, *, forces: bool = True) -> None:
        super().__init__(body, data, forces=forces)
        self.soft, self.damped, self.eased = soft, 1.0, 1.0
        vertical = data.ground_force("z", self.phase)
        self.vertical = vertical / (2 * vertical.mean())

    def row_forces(self, unknowns: np.ndarray, curves: dict[str, Curve]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(..., rows, S): force (N), place (m) and speed (m/s) along x of the rows of the foot that strikes first."""
        hip = Curve(*(x + 1j * z for x, z in zip(curves["x"], curves["z"], strict=True)))
        _, ankle = self.body.leg_joints(hip, curves["thigh"], curves["shank"])
        forces, places, speeds = [], [], []
        terms = self.soft.terms
        for x, count in zip(self.soft.rows, self.soft.points, strict=True):
            arm = turned(complex(x, self.body.heel.imag), curves["foot"])
            at, rate = ankle.value + arm.value, ankle.rate + arm.rate
            depth = np.maximum(0.0, -at.imag)
            damper = self.damped * terms.c * (depth + START) ** terms.beta * depth / (depth + START)
            force = np.maximum(0.0, terms.k * depth**terms.alpha - damper * rate.imag)
            forces.append(count * force)
            places.append(at.real)
            speeds.append(rate.real)
        return np.stack(forces, -2), np.stack(places, -2), np.stack(speeds, -2)

    def standing(self, unknowns: np.ndarray, curves: dict[str, Curve], seen: Looked) -> list[np.ndarray]:
        """Feet as deep as their load wants them, and not slipping."""
        weight = self.body.weight
        force, place, speed = self.row_forces(unknowns, curves)
        stride = unknowns[..., -2, None] * self.stride_time
        own = force.sum(axis=-2)
        moment = (force * place).sum(axis=-2)
        other = opposite(own)
        both = own + other
        moment = moment + opposite(moment) + opposite(np.zeros_like(own), stride) * other
        # Without measured forces, each foot's share of what the motion asks for.
        wanted = weight * self.vertical if self.forces else self.share * seen.force.imag
        carries = force / (force + LIGHT * weight)
        stray = place - unknowns[..., -1, None, None] - self.soft.rows[:, None]
        return [
            (both - seen.force.imag) / weight / (self.eased * FORCE),
            (moment - seen.pressure * seen.force.imag) / weight / (self.eased * PRESSURE),
            (own - wanted) / weight / (self.eased * OWN_FORCE),
            *(part.reshape(*part.shape[:-2], -1) for part in (carries * speed / SLIP, carries * stray / STRAY)),
        ]

    def loads(self, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the law gives for this motion."""
        force, place, _ = self.row_forces(unknowns, self.curves(unknowns))
        own = force.sum(axis=-2)
        return own, np.divide((force * place).sum(axis=-2), own, out=np.full_like(own, unknowns[-1]), where=own > 0)


def fit_soft_walk(problem: SoftWalkFit, hard: WalkSeries) -> WalkSeries:
    """The walk on ground that gives way, from the one on hard ground, lowered by what a foot sinks in."""
    depth = problem.soft.terms.depth(problem.body.weight / problem.soft.points.sum())
    walk = replace(hard, coefficients=hard.coefficients | {"z": hard.coefficients["z"] - depth * (problem.order == 0)})
    for problem.damped, problem.eased in STAGES:
        walk = fit_walk(problem, problem.unknowns(walk))
    return walk
