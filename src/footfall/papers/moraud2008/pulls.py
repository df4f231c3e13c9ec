"""Moraud 2008, section V-C: friction coefficients by regression, from loads that are pulled until they slip."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, near, seen, unlike
from footfall.standing import in_pose, inertia_of, point_jacobian

DT, GRAVITY = 1e-3, 9.81  # s, m/s2
#: By sole: what the paper found, and its r2.
SOLES = {"plastic robot feet": (0.13, 0.9583), "robot shoes": (0.45, 0.9925)}
MASSES = (1.0, 2.0, 3.0, 4.0, 5.0)  # kg
DYNAMIC = 0.9  # of the static coefficient
STEPS, RISE = 60, 1.2  # steps of the pull, s
NOISE = 1.0  # N, the force plate's resolution
WAYS = (0.0, 15.0, 30.0, 45.0)  # degrees, of slabs that slide
FACETS = (4, 8)  # of polyhedral cones
SLAB_FRICTION = 0.45


class Pulls(NamedTuple):
    clean: dict[str, ff.study.FrictionFit]
    noisy: dict[str, ff.study.FrictionFit]
    braked: dict[str, np.ndarray]  # m/s2, of a thrown slab by direction, over mu g, by law


def pull(friction: float, mass: float) -> ff.Recording:
    """A flat load, pulled along the ground by a force that rises to 1.3 times what holds it."""
    robot = ff.load_robot("brick", mass=mass, height=1e-3)
    most = 1.3 * friction * robot.weight
    each = RISE / STEPS
    pushes = [
        ff.Push("brick", force=(most * (k + 1) / STEPS, 0.0, 0.0), start=k * each, duration=each) for k in range(STEPS)
    ]
    ground = ff.Ground.plane(friction=(friction, DYNAMIC * friction))
    return (
        ff.Simulation(robot, ground=ground, law=ff.contact.ConstraintSelection(), dt=DT)
        .run(RISE, pushes=pushes)
        .check()
    )


def run_pulls() -> Pulls:
    rng = np.random.default_rng(2008)
    clean, noisy = {}, {}
    for sole, (friction, _) in SOLES.items():
        recordings = [pull(friction, mass) for mass in MASSES]
        clean[sole] = ff.study.identify_friction(recordings)
        noisy[sole] = ff.study.identify_friction([_measured(rec, rng) for rec in recordings])
    braked = {f"polyhedral, {facets} facets": braking_on_facets(facets) for facets in FACETS}
    return Pulls(clean, noisy, braked | {"constraint-selection": braking()})


def braking_on_facets(facets: int) -> np.ndarray:
    """Deceleration of a flat slab that slides in each of ``WAYS``, over mu g, in a step on a polyhedral cone."""
    robot = ff.load_robot("brick", height=1e-3)
    data = in_pose(robot, robot.home)
    jacobian, inverse = point_jacobian(robot, data), np.linalg.inv(inertia_of(data))
    found = []
    for way in np.radians(WAYS):
        free = np.array([np.cos(way), np.sin(way), -DT * GRAVITY, 0.0, 0.0, 0.0])
        delassus = jacobian @ inverse @ jacobian.T
        impulse = ff.solve.polyhedral(delassus, jacobian @ free, SLAB_FRICTION, facets=facets).z
        after = free + inverse @ jacobian.T @ impulse.ravel()
        found.append((1.0 - np.hypot(*after[:2])) / (DT * SLAB_FRICTION * GRAVITY))
    return np.array(found)


def braking() -> np.ndarray:
    """The same of our law, over a tenth of a second."""
    robot, law = ff.load_robot("brick", height=1e-3), ff.contact.ConstraintSelection()
    sim = ff.Simulation(robot, ground=ff.Ground.plane(friction=SLAB_FRICTION), law=law, dt=DT)
    found = []
    for way in np.radians(WAYS):
        rec = sim.run(0.1, qvel=[np.cos(way), np.sin(way), 0, 0, 0, 0]).check()
        speed = np.linalg.norm(rec.qvel[:, :2], axis=1)
        found.append((speed[10] - speed[-1]) / (rec.time[-1] - rec.time[10]) / (SLAB_FRICTION * GRAVITY))
    return np.array(found)


def _measured(rec: ff.Recording, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """What a force plate of 1 N resolution would have measured."""
    force = rec.total_force + rng.uniform(-0.5, 0.5, rec.total_force.shape) * NOISE
    speed = np.abs(rec.velocity[:, :, 0]).max(axis=1)
    return {"time": rec.time, "normal": force[:, 2], "tangential": -force[:, 0], "speed": speed}


def scatter(fit: ff.study.FrictionFit, r2: float) -> float:
    """N, rms distance of the pulls from the line at which the regression has this r2."""
    pulls = np.array([one.tangential for one in fit.pulls if one.tangential is not None], dtype=float)
    return float(np.sqrt((1.0 - r2) * pulls.var()))


def judge_pulls(data: Pulls) -> Findings:
    for sole, (friction, r2) in SOLES.items():
        fit, measured = data.clean[sole].static, data.noisy[sole].static
        found, known = fit.value if fit else float("nan"), measured.r2 if measured else float("nan")
        yield near("coefficients", friction, found, rel=1.3 / STEPS, sole=sole)
        yield unlike("regression", known, should=r2, sole=sole, scatter=scatter(data.noisy[sole], r2))
    spread = {name: float(np.ptp(one)) for name, one in data.braked.items()}
    differs = spread["polyhedral, 4 facets"] > 0.1 and spread["constraint-selection"] < 1e-3
    yield seen("anisotropic", "; ".join(f"{name} {one:.2g}" for name, one in spread.items()), holds=differs)
