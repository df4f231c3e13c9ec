"""The walk of the hanavan man nearest to the measured one, with resting stance feet and balanced forces.

Measured angles on a body of other proportions would drag the feet and lift the body wrongly. So the Fourier
coefficients of thigh, shank, foot, trunk and pelvis are fitted together, by least squares, to

- the measured segment angles, to a few degrees, the accuracy of their zeros;
- stance without slip, first on the heel, then flat, then on the tip of the toes; and a swing that clears the ground;
- the measured ground force, forward and up, which must equal the force that the motion requires;
- a pressure centre of both feet within their support, so that no external moment is needed.

The rigid foot has no toe joint: it rolls over its tip, a man's foot over the ball. So late in stance the heel rises
less than measured, the largest difference of the fit. Both legs move alike, half a stride apart. Time is scaled as in
dynamic similarity, with the square root of the leg's length.

With ``forces=False`` no measured force is used: the fit is to markers and stance times only, and the ground forces are
a prediction.

Under a spring law the load of a foot follows from the depth of its points. So the feet sink to the depths at which the
law's formula gives the measured force on each foot, and together the force and the pressure centre that the motion
requires.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from footfall.contact.springs.derived_gains import NormalTerms
from footfall.errors import optional_package
from footfall.gait.human.body import Body, Curve, basis, evaluate, turned
from footfall.gait.human.data import MeasuredWalk

HARMONICS = 10
SAMPLES = 100  # instants of the stride, an even number
FLAT, HEEL_OFF, TOE_OFF = 0.075, 0.34, 0.597  # of the stride: the sole is flat between the first two
LEAST_KNEE = 0.03  # rad: a straight knee is singular
SERIES = ("thigh", "shank", "foot", "trunk", "x", "z")
# Scales of the residuals: standard deviations of the quantities. TOES is for the foot while a man's toes bend.
ANGLE, TOES, TRUNK = np.radians(3.0), np.radians(10.0), np.radians(2.0)
PLACE, HEIGHT, KNEE, SPEED = 0.0002, 0.001, 0.01, 0.01  # m, m (in swing), rad, m/s
FORCE, PRESSURE, PRESSURE_TARGET = 0.02, 0.01, 0.05  # body weights, m, m
PELVIS, TURN = 0.3, 5.0  # m/s2 and rad/s2, accelerations, if no force is fitted
ROUGHNESS = 250.0  # of the cube of a harmonic's number times its amplitude, 1/rad or 1/m
# Arms were not measured: shoulders and elbows swing against the legs, rad.
SHOULDER, ELBOW, ELBOW_SWING = 0.25, -0.35, 0.12


@dataclass(frozen=True)
class WalkSeries:
    """A walk of one stride: Fourier coefficients of segment angles (rad) and of the hips' middle (m, less the speed).

    ``stride_time`` in s, ``speed`` in m/s; ``foot`` is the ankle of the stance foot, m ahead of the hips at heel
    strike.
    """

    coefficients: dict[str, np.ndarray]
    stride_time: float
    speed: float
    foot: float

    def curve(self, name: str, phase: np.ndarray) -> Curve:
        """A quantity at phases of the stride (cycles), with its derivatives by time."""
        parts = [evaluate(self.coefficients[name], phase, k) / self.stride_time**k for k in range(3)]
        if name == "x":
            parts[0] = parts[0] + self.speed * self.stride_time * phase
            parts[1] = parts[1] + self.speed
        return Curve(*parts)


class Looked(NamedTuple):
    """Kinematics and forces of a walk at equally spaced phases; arrays may have leading axes."""

    heel: np.ndarray  # complex, m
    toe: np.ndarray
    force: np.ndarray  # complex, N, required by the motion
    pressure: np.ndarray  # m, x of its pressure centre


def arm_angles(stride_time: float, phase: np.ndarray) -> tuple[Curve, Curve]:
    """Angles of shoulder and elbow on the side whose heel strikes at phase 0."""
    swing = [np.cos(2 * np.pi * phase + 0.5 * np.pi * k) * (2 * np.pi / stride_time) ** k for k in range(3)]
    shoulder = Curve(*(SHOULDER * one for one in swing))
    return shoulder, Curve(*(ELBOW * (k == 0) + ELBOW_SWING * one for k, one in enumerate(swing)))


def opposite(values: np.ndarray, stride: Any = 0.0) -> np.ndarray:
    """Values of the other side, half a stride later; ``stride`` is the change of a position over a stride (m)."""
    late = np.arange(SAMPLES) >= SAMPLES // 2
    return np.roll(values, -SAMPLES // 2, axis=-1) + np.where(late, 0.5, -0.5) * stride


class WalkFit:
    """The least-squares problem of one body; unknowns are one vector, or many as rows of an array."""

    #: Least height of the swing foot (m), and the time of rise and of descent, as a share of the stride.
    clearance = (0.02, 0.05)

    def __init__(self, body: Body, data: MeasuredWalk, *, forces: bool = True) -> None:
        self.body, self.data, self.forces = body, data, forces
        scale = body.leg / data.leg
        self.stride_time = data.stride_time * scale**0.5
        self.speed = data.speed * scale**0.5
        phase = self.phase = np.arange(SAMPLES) / SAMPLES
        self.bases = [basis(phase, HARMONICS, k).T / self.stride_time**k for k in range(3)]
        self.arms = arm_angles(self.stride_time, phase)
        numbers = np.arange(1, HARMONICS + 1)
        self.order = np.concatenate([[0], numbers, numbers])
        # Both steps are alike, so the trunk has even harmonics only; the initial x does not matter.
        even = np.flatnonzero(self.order % 2 == 0)
        self.unknown = dict.fromkeys(("thigh", "shank", "foot"), np.arange(2 * HARMONICS + 1))
        self.unknown |= {"trunk": even, "x": even[1:], "z": even}
        self.measured = {name: data.segments[name] for name in ("thigh", "shank", "foot")}
        self.measured |= {name: np.zeros(2 * HARMONICS + 1) for name in ("trunk", "x", "z")}
        self.angles = {name: evaluate(self.measured[name], phase) for name in ("thigh", "shank", "foot")}
        seen = self.measured | {name: data.pelvis[name] * scale for name in "xz"}
        self.swung = {name: Curve(*(one @ base for base in self.bases)) for name, one in seen.items()}
        vertical, forward = (data.ground_force(axis, phase) for axis in "zx")
        if not forces:
            # The load changes feet evenly in double support.
            vertical = np.interp(phase, (0.0, TOE_OFF - 0.5, 0.5, TOE_OFF), (0.0, 1.0, 1.0, 0.0))
            forward = np.zeros(SAMPLES)
        both = vertical + opposite(vertical)
        self.share = vertical / both
        # Over a stride the mean forward force is zero, and the mean vertical force is the weight.
        self.forward = forward - self.share * (2 * forward.mean())
        self.force = self.forward + opposite(self.forward) + 1j * both / both.mean()
        lowest, highest = body.heel.real, body.toe.real
        on_heel, on_toe = phase < FLAT, phase >= HEEL_OFF
        self.rear = np.where(on_toe, highest, lowest)
        self.front = np.where(on_heel, lowest, highest)
        known = np.isfinite(data.pressure)
        stance = np.linspace(0, 1, len(known))[known] * data.stance
        along = np.interp(phase, stance, data.pressure[known] * scale)
        if not forces:
            along = np.interp(phase, (0.0, TOE_OFF), (lowest, highest))
        self.target = np.clip(along, self.rear, self.front)

    def guess(self) -> np.ndarray:
        """The measured walk, scaled."""
        scale = self.body.leg / self.data.leg
        hips = {name: self.data.pelvis[name] * scale for name in "xz"}
        parts = [(self.measured | hips)[name][own] for name, own in self.unknown.items()]
        start = np.concatenate([*parts, [self.speed, 0.0]])
        middle = int(0.2 * SAMPLES)
        start[-1] = self.look(start).heel[middle].real - self.body.heel.real
        return start

    def series(self, unknowns: np.ndarray) -> dict[str, np.ndarray]:
        """The coefficients of all series, (..., 2 H + 1) each."""
        found, at = {}, 0
        for name, own in self.unknown.items():
            found[name] = np.zeros((*unknowns.shape[:-1], 2 * HARMONICS + 1))
            found[name][..., own] = unknowns[..., at : at + len(own)]
            at += len(own)
        return found

    def unknowns(self, walk: WalkSeries) -> np.ndarray:
        """The vector of a walk."""
        return np.concatenate(
            [*(walk.coefficients[n][own] for n, own in self.unknown.items()), [walk.speed, walk.foot]]
        )

    def curves(self, unknowns: np.ndarray) -> dict[str, Curve]:
        """All quantities over the stride."""
        series = self.series(unknowns)
        found = {name: Curve(*(series[name] @ base for base in self.bases)) for name in SERIES}
        speed, x = unknowns[..., -2, None], found["x"]
        found["x"] = Curve(x.value + speed * self.stride_time * self.phase, x.rate + speed, x.acceleration)
        return found

    def look(self, unknowns: np.ndarray, known: dict[str, Curve] | None = None) -> Looked:
        """Kinematics and forces of the walk; ``known`` are its curves, if they have been computed."""
        body, curves = self.body, self.curves(unknowns) if known is None else known
        hip = Curve(*(x + 1j * z for x, z in zip(curves["x"], curves["z"], strict=True)))
        trunk, leg = curves["trunk"], (curves["thigh"], curves["shank"], curves["foot"])
        _, ankle = body.leg_joints(hip, leg[0], leg[1])
        upper = trunk.plus(self.arms[0])
        force, moment = body.side_moments(hip, trunk, leg, (upper, upper.plus(self.arms[1])))
        # Half a stride later positions are half a stride ahead, which changes the moment of the force about the origin.
        stride = unknowns[..., -2, None] * self.stride_time
        moment = moment + opposite(moment) - opposite(np.zeros(SAMPLES), stride) * opposite(force.imag)
        force = force + opposite(force)
        own_force, own_moment = body.trunk_moments(hip, trunk)
        force, moment = force + own_force, moment + own_moment
        heel, toe = (ankle.value + turned(end, curves["foot"]).value for end in (body.heel, body.toe))
        return Looked(heel, toe, force, -moment / force.imag)

    def support(self, unknowns: np.ndarray, of_foot: np.ndarray) -> np.ndarray:
        """Pressure centre of both feet (m) from that of each (m ahead of its ankle), weighted with their loads."""
        stride, foot = unknowns[..., -2, None] * self.stride_time, unknowns[..., -1, None]
        return self.share * (foot + of_foot) + opposite(self.share) * opposite(foot + of_foot, stride)

    def residual(self, unknowns: np.ndarray) -> np.ndarray:
        """(..., R) the residuals of the least-squares problem."""
        phase, curves = self.phase, self.curves(unknowns)
        seen = self.look(unknowns, curves)
        toes = np.where((phase > 0.3) & (phase < 0.8), TOES, ANGLE)
        rows = [
            (curves["thigh"].value - self.angles["thigh"]) / ANGLE,
            (curves["shank"].value - self.angles["shank"]) / ANGLE,
            (curves["foot"].value - self.angles["foot"]) / toes,
            curves["trunk"].value / TRUNK,
        ]
        height, rise = self.clearance
        clearance = height * np.clip(np.minimum(phase - TOE_OFF, 1.0 - phase) / rise, 0.0, 1.0)
        swings = (phase >= TOE_OFF) & (phase < 1.0)
        for at in (seen.heel, seen.toe):
            rows.append(np.where(swings, np.minimum(0.0, at.imag - clearance), 0.0) / HEIGHT)
        bend = curves["shank"].value - curves["thigh"].value
        rows.append(np.minimum(0.0, bend - LEAST_KNEE) / KNEE)
        if self.forces:
            rows.append((seen.force.real / self.body.weight - self.force.real) / FORCE)
        else:
            for name in ("thigh", "shank", "foot"):
                bend = (toes if name == "foot" else ANGLE) / ANGLE
                rows.append((curves[name].acceleration - self.swung[name].acceleration) / (bend * TURN))
            for name in "xz":
                own, seen_there = curves[name].acceleration, self.swung[name].acceleration
                rows.append((own - seen_there) / PELVIS)
        rows.append((unknowns[..., -2, None] - self.speed) / SPEED)
        rows += self.standing(unknowns, curves, seen)
        series = self.series(unknowns)
        rows += [(series[name] - self.measured[name]) * self.order**3 / ROUGHNESS for name in SERIES]
        return np.concatenate(rows, axis=-1)

    def standing(self, unknowns: np.ndarray, curves: dict[str, Curve], seen: Looked) -> list[np.ndarray]:
        """Residuals of stance: positions of heel and toe, the vertical force, and the pressure centre."""
        body, phase, foot = self.body, self.phase, unknowns[..., -1, None]
        rows = [(seen.force.imag / body.weight - self.force.imag) / FORCE] if self.forces else []
        on_heel, on_toe = phase < HEEL_OFF, (phase > FLAT) & (phase < TOE_OFF)
        for at, stands, end in ((seen.heel, on_heel, body.heel), (seen.toe, on_toe, body.toe)):
            rows.append(np.where(stands, at.real - foot - end.real, 0.0) / PLACE)
            rows.append(np.where(stands, at.imag, np.minimum(0.0, at.imag)) / PLACE)
        rear, front, target = (self.support(unknowns, one) for one in (self.rear, self.front, self.target))
        outside = np.maximum(0.0, seen.pressure - front) - np.maximum(0.0, rear - seen.pressure)
        return [*rows, outside / PRESSURE, (seen.pressure - target) / PRESSURE_TARGET]

    def loads(self, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(S,) vertical force (N) on the foot whose heel strikes first, as the motion requires, and its pressure centre
        (m).

        The feet share the load as measured. If the pressure centre differs from the measured one, that of each foot is
        shifted by the same share of the distance to the end of its sole.
        """
        seen = self.look(unknowns)
        target = self.support(unknowns, self.target)
        ahead = seen.pressure > target
        room = np.where(ahead, self.support(unknowns, self.front), self.support(unknowns, self.rear)) - target
        part = np.divide(seen.pressure - target, room, out=np.zeros_like(room), where=np.abs(room) > 1e-9)
        limit = np.where(ahead, self.front, self.rear)
        place = self.target + np.clip(part, 0.0, 1.0) * (limit - self.target)
        return self.share * seen.force.imag, unknowns[-1] + place

    def slopes(self, unknowns: np.ndarray) -> np.ndarray:
        """(R, n) derivatives of the residual, by forward differences."""
        step = 1e-7
        moved = self.residual(unknowns + step * np.eye(len(unknowns)))
        return (moved - self.residual(unknowns)).T / step


def fit_walk(problem: WalkFit, start: np.ndarray | None = None) -> WalkSeries:
    """The walk nearest to the measured one, in about a second."""
    least_squares = optional_package("scipy.optimize").least_squares

    first = problem.guess() if start is None else start
    # The tolerances are tight: stopped earlier, rounding errors of a processor would choose among neighbouring minima.
    found = least_squares(
        problem.residual, first, jac=problem.slopes, method="lm", ftol=1e-7, xtol=1e-10, max_nfev=1000
    ).x
    return WalkSeries(problem.series(found), problem.stride_time, float(found[-2]), float(found[-1]))


OWN_FORCE = 0.015  # body weights, deviation of each foot from the measured mean
SLIP, STRAY = 0.03, 0.005  # m/s and m, slip and displacement of loaded points
LIGHT = 0.01  # body weights, load below which a row of points may slip
# Stages of the fit (continuation): factor on the dampers, and factor on the scales of force residuals.
STAGES = ((0.0, 12.0), (0.3, 4.0), (1.0, 2.0), (1.0, 1.0))
START = 1e-4  # m, depth over which a point's damper sets in: less abrupt than in the law, to be smooth


class Soft(NamedTuple):
    """Soft ground: the formula of a point, the positions of rows of points along the sole (m), the points in each."""

    terms: NormalTerms
    rows: np.ndarray
    points: np.ndarray


class SoftWalkFit(WalkFit):
    """The least-squares problem on soft ground."""

    #: Dampers in the ground require a slower landing.
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
        """Residuals of stance: forces and pressure centre from the depths of the feet, and slip of loaded points."""
        weight = self.body.weight
        force, place, speed = self.row_forces(unknowns, curves)
        stride = unknowns[..., -2, None] * self.stride_time
        own = force.sum(axis=-2)
        moment = (force * place).sum(axis=-2)
        other = opposite(own)
        both = own + other
        moment = moment + opposite(moment) + opposite(np.zeros_like(own), stride) * other
        # Without measured forces, each foot's share of the force that the motion requires.
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
        """Vertical force (N) and pressure centre (m) by the law for this motion."""
        force, place, _ = self.row_forces(unknowns, self.curves(unknowns))
        own = force.sum(axis=-2)
        return own, np.divide((force * place).sum(axis=-2), own, out=np.full_like(own, unknowns[-1]), where=own > 0)


def fit_soft_walk(problem: SoftWalkFit, hard: WalkSeries) -> WalkSeries:
    """The walk on soft ground, starting from that on hard ground, lowered by the depth at rest."""
    depth = problem.soft.terms.depth(problem.body.weight / problem.soft.points.sum())
    walk = replace(hard, coefficients=hard.coefficients | {"z": hard.coefficients["z"] - depth * (problem.order == 0)})
    for problem.damped, problem.eased in STAGES:
        walk = fit_walk(problem, problem.unknowns(walk))
    return walk
