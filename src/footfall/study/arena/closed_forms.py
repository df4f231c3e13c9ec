"""Questions answered by a formula: blocks, balls, a brick and a disc.

Every error is a share: of a length of the body, of the distance or of the speed that the formula says. Formulas are of
rigid bodies under Coulomb's friction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from footfall.measure import energy, momentum
from footfall.record import Record
from footfall.study.arena.task import Case, Part, Question, Task, box

GRAVITY = 9.81
#: Radius of the spheres in the corners of blocks, m.
CORNER = 0.005
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def _block(**given: Any) -> Task:
    """A block of 0.2 x 0.2 x 0.1 m and 1 kg at rest on the ground, with other values where they are given."""
    block = box("block", (0.2, 0.2, 0.1), 1.0, CORNER)
    return replace(Task("block", (block,), np.array([0.0, 0.0, 0.05, *UPRIGHT]), np.zeros(6), 1.0), **given)


def _moved(rec: Record) -> np.ndarray:
    return rec.qpos[-1, :3] - rec.qpos[0, :3]


# ---- a slope: gravity that leans -----------------------------------------------------------------------------------


def _beyond(truth: float, rec: Record) -> float:
    """Difference between the motion of a block and the true one (m), in lengths of the block."""
    return float(_moved(rec)[0] - truth) / 0.2


def slopes(friction: float, ratios: tuple[float, ...], duration: float = 1.0) -> Iterator[Case]:
    """A block on slopes of some ratios of the friction angle: below one it stays, above it slides."""
    for ratio in ratios:
        angle = ratio * math.atan(friction)
        down, into = GRAVITY * math.sin(angle), GRAVITY * math.cos(angle)
        truth = 0.5 * max(0.0, down - friction * into) * duration**2
        task = _block(duration=duration, friction=friction, gravity=(down, 0.0, -into))
        yield Case(f"{ratio:g} of the friction angle", task, partial(_beyond, truth))


# ---- a block that slides, spins, is pulled -------------------------------------------------------------------------


def slides(friction: float, speed: float, headings: tuple[float, ...]) -> Iterator[Case]:
    """A block that slides to rest after v^2 / (2 mu g), straight on."""
    reach = speed**2 / (2.0 * friction * GRAVITY)
    for heading in headings:
        way = np.array([math.cos(math.radians(heading)), math.sin(math.radians(heading)), 0.0])
        task = _block(
            duration=speed / (friction * GRAVITY) + 0.3,
            friction=friction,
            qvel=np.array([*(speed * way), 0.0, 0.0, 0.0]),
        )
        yield Case(f"along {heading:g}°", task, partial(_off, reach * way))


def _off(truth: np.ndarray, rec: Record) -> float:
    """Distance from where a block should rest, (3,) m, as a share of its way."""
    return float(np.hypot(*(_moved(rec) - truth)[:2]) / np.linalg.norm(truth))


def pulls(friction: float, ratio: float, period: float, pulses: int = 4) -> Iterator[Case]:
    """A block of 1 kg pulled to and fro in steps of 20 ms by a sine that exceeds the friction by ``ratio``."""
    piece, most = 0.02, friction * GRAVITY
    times = piece * np.arange(round(pulses * period / piece))
    forces = ratio * most * np.sin(2.0 * math.pi * (times + 0.5 * piece) / period)
    place, truth = _pulled(forces, piece, most)
    reach = np.ptp(truth)
    given = tuple((float(t), float(t + piece), (float(f), 0.0, 0.0)) for t, f in zip(times, forces, strict=True))
    task = _block(duration=pulses * period, friction=friction, pulls=given)
    yield Case("reach", task, lambda rec: (np.ptp(rec.qpos[:, 0]) - reach) / reach)
    yield Case("place at the end", task, lambda rec: (_moved(rec)[0] - place) / reach)


def _pulled(forces: np.ndarray, piece: float, most: float) -> tuple[float, np.ndarray]:
    """Final position and path length (m) of 1 kg under constant forces for ``piece`` (s) each and friction ``most``
    (N).
    """
    x, v, way = 0.0, 0.0, [0.0]
    for force in forces:
        left = piece
        while left > 0.0:
            if v == 0.0 and abs(force) <= most:
                break
            a = force - math.copysign(most, v if v else force)
            stop = -v / a if v * a < 0.0 else math.inf
            t = min(left, stop)
            x, v, left = x + v * t + 0.5 * a * t * t, 0.0 if t == stop else v + a * t, left - t
            way.append(x)
    return x, np.array(way)


def discs(friction: float, speed: float, spin: float) -> Iterator[Case]:
    """A disc on three feet that slides and spins; its centre of mass is in the plane of the feet, which carry alike."""
    radius, mass, foot = 0.1, 1.0, 0.01
    angles = 2.0 * math.pi / 3.0 * np.arange(3)
    spheres = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(3, foot), np.full(3, foot)])
    inertia = mass * radius**2 * np.diag([0.5, 0.5, 1.0])
    disc = Part("disc", mass, inertia, spheres)
    truth = cache(partial(_spun, spheres[:, :2], friction * GRAVITY / 3.0, inertia[2, 2], speed, spin))
    longest = 2.0 * (speed + abs(spin) * radius) / (friction * GRAVITY)
    task = Task(
        "disc", (disc,), np.array([0.0, 0.0, 0.0, *UPRIGHT]), np.array([speed, 0.0, 0.0, 0.0, 0.0, spin]),
        longest, friction=friction,
    )  # fmt: skip

    def way(rec: Record) -> float:
        return float(np.linalg.norm(_moved(rec)[:2] - truth()[:2]) / np.linalg.norm(truth()[:2]))

    def turn(rec: Record) -> float:
        heading = np.unwrap(2.0 * np.arctan2(rec.qpos[:, 6], rec.qpos[:, 3]))
        return float(heading[-1] - heading[0]) / truth()[2] - 1.0

    yield Case("way", task, way)
    yield Case("turn", task, turn)


def _spun(feet: np.ndarray, most: float, inertia: float, speed: float, spin: float) -> np.ndarray:
    """(3,) way (m) and turn (rad) to rest of 1 kg on feet that each slide under the friction ``most`` (N)."""
    from scipy.integrate import solve_ivp

    arm = float(np.linalg.norm(feet[0]))

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        turned = np.array([[math.cos(y[2]), -math.sin(y[2])], [math.sin(y[2]), math.cos(y[2])]])
        arms = feet @ turned.T
        slip = y[3:5] + y[5] * arms[:, ::-1] * [-1.0, 1.0]
        # The last foot may stick before the others do: below 10 µm/s friction grows with the slip.
        force = -most * slip / np.sqrt((slip**2).sum(axis=1, keepdims=True) + 1e-10)
        return np.array(
            [*y[3:], *force.sum(axis=0), np.sum(arms[:, 0] * force[:, 1] - arms[:, 1] * force[:, 0]) / inertia]
        )

    def rest(t: float, y: np.ndarray) -> float:
        # The slip decreases linearly: at a thousandth of the speed a millionth of the path remains.
        return float(np.hypot(y[3], y[4]) + abs(y[5]) * arm) - 1e-3 * (speed + abs(spin) * arm)

    rest.terminal = True  # type: ignore[attr-defined]
    longest = 2.0 * (speed + abs(spin) * arm) / (3.0 * most)
    found = solve_ivp(
        rate, (0.0, longest), [0.0, 0.0, 0.0, speed, 0.0, spin], "LSODA", events=rest, rtol=1e-7, atol=1e-9
    )
    return found.y[:3, -1]


# ---- balls ---------------------------------------------------------------------------------------------------------


def _ball(height: float, **given: Any) -> Task:
    ball = Part("ball", 1.0, 0.4 * 0.1**2 * np.eye(3), np.array([[0.0, 0.0, 0.0, 0.1]]))
    return replace(Task("ball", (ball,), np.array([0.0, 0.0, height + 0.1, *UPRIGHT]), np.zeros(6), 1.0), **given)


def bounces(restitution: float, height: float) -> Iterator[Case]:
    """A ball that falls and bounces to e^2 of its height, and whose bounces add up to a finite time."""
    fall = math.sqrt(2.0 * height / GRAVITY)
    # Each flight is shorter by the factor e; those that begin with less than 0.01 of the first speed are left out.
    flights = math.floor(math.log(0.01) / math.log(restitution))
    rest = fall * (1.0 + 2.0 * sum(restitution**n for n in range(1, flights + 1)))
    task = _ball(height, duration=rest + 0.5, restitution=restitution)

    def rose(rec: Record) -> float:
        between = (rec.time > 1.05 * fall) & (rec.time < fall * (1.0 + 2.0 * restitution))
        return (float(np.max(rec.qpos[between, 2])) - 0.1) / (restitution**2 * height) - 1.0

    def rested(rec: Record) -> float:
        moving = np.flatnonzero(np.abs(rec.qvel[:, 2]) > 0.01 * GRAVITY * fall)
        return float(rec.time[moving[-1]] if moving.size else 0.0) / rest - 1.0

    yield Case(f"height, e = {restitution:g}", task, rose)
    yield Case(f"time to rest, e = {restitution:g}", task, rested)


def rolls(friction: float, speed: float) -> Iterator[Case]:
    """A ball thrown without spin: friction turns it until it rolls, with 5/7 of its speed."""
    task = _ball(
        0.0,
        duration=2.0 / 7.0 * speed / (friction * GRAVITY) + 0.5,
        friction=friction,
        qvel=np.array([speed, 0, 0, 0, 0, 0.0]),
    )
    rolling = 5.0 / 7.0 * speed
    yield Case("speed", task, lambda rec: rec.qvel[-1, 0] / rolling - 1.0)
    yield Case("slip", task, lambda rec: (rec.qvel[-1, 0] - 0.1 * _spin(rec)[-1, 1]) / rolling)


def _spin(rec: Record) -> np.ndarray:
    """(T, 3) rad/s, spin of the root in the world frame."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(rec.qpos[:, [4, 5, 6, 3]]).apply(rec.qvel[:, 3:6].copy())


# ---- a brick that rocks, and one that flies ------------------------------------------------------------------------


def rocks(height: float, tilt: float) -> Iterator[Case]:
    """A slender brick let go on one edge: when it falls flat, and how far it tilts on (Housner 1963).

    It rolls on the spheres of its edge, whose lowest place is the centre of its turn.
    """
    width, mass = 0.1, 1.0
    brick = box("brick", (width, 0.2, height), mass, CORNER)
    arm = np.array([0.5 * width - CORNER, -(0.5 * height - CORNER)])  # of the sphere from the centre of mass, x and z
    inertia = brick.inertia[1, 1]

    def at(angle: float) -> tuple[float, float]:
        """Height of the centre of mass above the ground and square of its distance from the place that touches."""
        x = math.cos(angle) * arm[0] + math.sin(angle) * arm[1]
        z = -math.sin(angle) * arm[0] + math.cos(angle) * arm[1] - CORNER
        return -z, x * x + z * z

    angles = np.linspace(tilt, 0.0, 20001)
    heights, squares = np.array([at(a) for a in angles]).T
    spin = np.sqrt(2.0 * mass * GRAVITY * np.maximum(heights[0] - heights, 0.0) / (inertia + mass * squares))
    # Time of a piece by the mean of its spins: exact where the spin grows evenly, also from rest.
    landing = float(np.sum(-np.diff(angles) / (0.5 * (spin[1:] + spin[:-1]))))
    base = 0.5 * width - CORNER
    kept = (inertia + mass * (0.25 * height**2 - base**2)) / (inertia + mass * (0.25 * height**2 + base**2))
    left = kept**2 * 0.5 * (inertia + mass * squares[-1]) * spin[-1] ** 2
    over = float(np.interp(left, mass * GRAVITY * (heights[::-1] - heights[-1]), angles[::-1]))
    start = np.array([0.0, 0.0, heights[0], math.cos(0.5 * tilt), 0.0, math.sin(0.5 * tilt), 0.0])
    task = Task("brick", (brick,), start, np.zeros(6), 2.5 * landing, friction=1.0)

    def flat(rec: Record) -> float:
        angles, k = _tilt(rec), int(np.argmax(_tilt(rec) <= 0.0))
        share = angles[k - 1] / (angles[k - 1] - angles[k])
        return float(rec.time[k - 1] + share * (rec.time[k] - rec.time[k - 1])) if k else rec.duration

    yield Case("time to fall flat", task, lambda rec: flat(rec) / landing - 1.0)
    yield Case("tilt on the other edge", task, lambda rec: (max(0.0, -float(_tilt(rec).min())) - over) / tilt)


def _tilt(rec: Record) -> np.ndarray:
    return 2.0 * np.arctan2(rec.qpos[:, 5], rec.qpos[:, 3])


def throws(spin: tuple[float, float, float]) -> Iterator[Case]:
    """A thrown brick with three different moments of inertia: angular momentum and energy stay in flight."""
    brick = box("brick", (0.2, 0.1, 0.06), 1.0, CORNER)
    task = Task("brick", (brick,), np.array([0.0, 0.0, 1.0, *UPRIGHT]), np.array([1.0, 0.0, 9.0, *spin]), 1.5)

    def turned(rec: Record) -> float:
        angular = momentum(rec).angular_momentum
        return float(np.linalg.norm(angular - angular[0], axis=1).max() / np.linalg.norm(angular[0]))

    def gained(rec: Record) -> float:
        own = energy(rec).mechanical
        return float(np.abs(own - own[0]).max() / energy(rec).kinetic[0])

    yield Case("angular momentum", task, turned)
    yield Case("energy", task, gained)


def questions(data: Path | None = None) -> tuple[Question, ...]:
    """All of them, with cases to tune on that nothing is judged by; they need no data."""
    return (
        Question("slope", (*slopes(0.5, (0.9, 0.99, 1.01, 1.1)),), (*slopes(0.3, (0.8, 1.2)),)),
        Question("slide", (*slides(0.3, 2.0, (0.0, 30.0)),), (*slides(0.5, 1.0, (15.0,)),)),
        Question("bounce", (*bounces(0.5, 0.5), *bounces(0.8, 0.2)), (*bounces(0.6, 0.3),)),
        Question("roll", (*rolls(0.3, 2.0),), (*rolls(0.5, 1.0),)),
        Question("rock", (*rocks(0.4, 0.15),), (*rocks(0.3, 0.1),)),
        Question("disc", (*discs(0.3, 1.0, 15.0),), (*discs(0.5, 1.0, -10.0),)),
        Question("pull", (*pulls(0.5, 1.5, 0.5),), (*pulls(0.3, 2.0, 0.4),)),
        Question("throw", (*throws((0.3, 8.0, 0.3)),), (*throws((3.0, 0.2, 6.0)),)),
    )
