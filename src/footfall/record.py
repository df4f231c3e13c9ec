"""The record of a run as a value: arrays with names, units and shapes, signals, pushes, failure. It reads no files.

A recording is saved as a directory: ``manifest.json`` (what everything is, with the robot, the ground and the law),
``samples.parquet`` (one row per sample), which other tools read as well, and the robot's meshes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np

from footfall.arguments import public
from footfall.contact.base import Law
from footfall.errors import RecordingError, SimulationError, did_you_mean
from footfall.files.json_values import json_value
from footfall.frozen_values import made_again
from footfall.given_numbers import Finite, NotNegative, Positive
from footfall.ground import Ground
from footfall.robot import Robot


@public
@dataclass(frozen=True)
class Failure:
    """Why a run ended early.

    Attributes:
        time: when, s.
        cause: one word, such as "diverged" or "ground".
        joint: the degree of freedom or contact point concerned, or "".
        message: the whole sentence, with what to do about it.
    """

    time: float
    cause: str
    joint: str
    message: str

    def __str__(self) -> str:
        return self.message


class Signal(NamedTuple):
    """An array that a controller overwrites at every call, to be recorded."""

    values: np.ndarray
    unit: str


class RunWarning(NamedTuple):
    """A warning of a controller, the law or MuJoCo at one instant: ``kind`` is a word, ``message`` a sentence."""

    time: float  # s
    kind: str
    message: str


# ---- pushes ---------------------------------------------------------------------------------------------------------


#: Upper bound on the steps of a run, which are counted in 64 bits.
FAR = 2.0**62


@public
@dataclass(frozen=True)
class Push:
    """A force (N) and torque (N m), world frame, at a body's centre of mass, over an interval (s)."""

    body: str
    force: tuple[Finite, Finite, Finite] = (0.0, 0.0, 0.0)
    torque: tuple[Finite, Finite, Finite] = (0.0, 0.0, 0.0)
    start: Finite = 0.0
    duration: NotNegative = 0.1

    def to_dict(self) -> dict[str, Any]:
        return json_value(asdict(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Push:
        """The push that ``to_dict`` described; missing values are the defaults of ``Push``."""
        given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in data.items()}
        return cls(**given)

    def steps(self, dt: Positive) -> tuple[int, int]:
        """The first step of ``dt`` (s) under the push, and the first after it."""
        first, last = (min(max(time / dt, -FAR), FAR) for time in (self.start, self.start + self.duration))
        return round(first), round(last)


# ---- the record -----------------------------------------------------------------------------------------------------


class Column(NamedTuple):
    """What an array of a recording holds; its first axis is the samples, ``axes`` names the others."""

    unit: str
    axes: tuple[str, ...] = ()
    dtype: str = "float64"


COLUMNS = {
    "time": Column("s"),
    "qpos": Column("m, rad or quaternion, in MuJoCo's order", ("nq",)),
    "qvel": Column("m/s or rad/s, in MuJoCo's order", ("nv",)),
    "ctrl": Column("what the actuator takes, N m for motors on hinges", ("nu",)),
    "force": Column("N, world frame, of the ground on the robot, mean until the next sample", ("point", "xyz")),
    "peak_force": Column("N, world frame, in the step in which the foot carries most", ("point", "xyz")),
    "peak_total_force": Column("N, world frame, in the step in which the ground carries most", ("xyz",)),
    "position": Column("m, world frame", ("point", "xyz")),
    "velocity": Column("m/s, world frame, of the material point", ("point", "xyz")),
    "normal": Column("unit vector of the ground, world frame", ("point", "xyz")),
    "gap": Column("m, negative inside the ground", ("point",)),
    "mode": Column("0 open, 1 stick, 2 slide, the highest until the next sample", ("point",), "int8"),
    "status": Column("0 solved, 1 not in every step until the next sample", (), "int8"),
}


class BodyContacts(NamedTuple):
    """Contacts between bodies: T samples of C contacts, each between two bodies; one that is open has no gap (NaN).

    Forces, positions and modes are recorded as those of the ground's are.
    """

    bodies: tuple[tuple[str, str], ...]  # (C,) the body that the force is on, and its partner, which bears the opposite
    friction: np.ndarray  # (C,)
    force: np.ndarray  # (T, C, 3) N, world frame, mean until the next sample
    position: np.ndarray  # (T, C, 3) m, world frame
    velocity: np.ndarray  # (T, C, 3) m/s, world frame, of the body relative to its partner
    normal: np.ndarray  # (T, C, 3) unit vector, world frame, from the partner to the body
    gap: np.ndarray  # (T, C) m, negative where they overlap
    mode: np.ndarray  # (T, C) 0 open, 1 stick, 2 slide

    def between(self, body: str, partner: str) -> np.ndarray:
        """(T, 3) N, the force on a body by its partner."""
        signs = [(pair == (body, partner)) - (pair == (partner, body)) for pair in self.bodies]
        return np.asarray(np.einsum("tci,c->ti", self.force, np.array(signs, dtype=float)))

    def __repr__(self) -> str:
        pairs = len({frozenset(pair) for pair in self.bodies})
        return f"BodyContacts({pairs} pairs of bodies, in {int((self.mode > 0).any(axis=1).sum())} samples)"


#: Signals that hold the contacts between bodies, with their units, by the fields of :class:`BodyContacts`.
BODY_CONTACTS = {
    "force": ("body_contact_force", "N"),
    "position": ("body_contact_position", "m"),
    "velocity": ("body_contact_velocity", "m/s"),
    "normal": ("body_contact_normal", ""),
    "gap": ("body_contact_gap", "m"),
    "mode": ("body_contact_mode", "0 open, 1 stick, 2 slide"),
}


@public
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Record:
    """What happened in a run: T samples of a robot with P contact points. Arrays are read-only, in SI units.

    Row k holds the state at ``time[k]``, and the forces that act until ``time[k + 1]``: their mean, whose product with
    the interval is the impulse, and their peaks. The last row has the forces at its instant. Where every step is
    recorded, mean and peak are the force of the step.

    Attributes:
        robot, ground, law: what was simulated.
        dt: the simulation step, s; samples may be further apart.
        time: (T,) s.
        qpos: (T, nq) m, rad or quaternion, MuJoCo's order.
        qvel: (T, nv) m/s or rad/s.
        ctrl: (T, nu) controls.
        force: (T, P, 3) N, of the ground on each point, mean until the next sample.
        peak_force: (T, P, 3) N, on the points of each foot in the step in which its normal force is greatest.
        peak_total_force: (T, 3) N, on the robot in the step in which all normal forces together are greatest.
        position: (T, P, 3) m, where that force acts.
        velocity: (T, P, 3) m/s, of the material point there.
        normal: (T, P, 3) unit normal of the ground in which gap and law are measured, that under the centre of a
            round point.
        gap: (T, P) m, signed distance to the ground, negative inside.
        mode: (T, P) 0 open, 1 stick, 2 slide; of several steps 2 if the point slides in one, 1 if it sticks in one.
        status: (T,) 0 solved, 1 the law found no exact solution in some step and used the best it had.
        signals: further quantities that law and controller report, by name, each (T, ...); ``info["signals"]`` has the
            units.
        other_points: (C,) which of ``robot.others`` came near the ground: the last C columns are theirs, after those of
            the feet.
        pushes: the external pushes of the run.
        failure: why the run ended early, None if it did not.
        info: further facts on the run (controller, versions, ...), ready for JSON.
    """

    robot: Robot
    ground: Ground
    law: Law
    dt: float
    time: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray
    force: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    gap: np.ndarray
    mode: np.ndarray
    status: np.ndarray
    normal: np.ndarray = field(default=None)  # type: ignore[arg-type]  # left out: the ground's at ``position``
    peak_force: np.ndarray = field(default=None)  # type: ignore[arg-type]  # left out: ``force``
    peak_total_force: np.ndarray = field(default=None)  # type: ignore[arg-type]  # left out: the sum of ``force``
    signals: Mapping[str, np.ndarray] = field(default_factory=dict)
    other_points: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    pushes: tuple[Push, ...] = ()
    failure: Failure | None = None
    info: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        samples = len(self.time)
        others = np.array(self.other_points, dtype=int).reshape(-1)
        others.setflags(write=False)
        object.__setattr__(self, "other_points", others)
        for name, derived in DERIVED.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, derived(self))
        for name, shape in array_shapes(self.robot, samples, len(others)).items():
            array = _own_view(getattr(self, name), _DTYPES[name])
            if array.shape != shape:
                axes = ", ".join(("time", *COLUMNS[name].axes))
                raise RecordingError(f"'{name}' has shape {array.shape} but ({axes}) is {shape}")
            object.__setattr__(self, name, array)
        signals = {}
        for name, values in self.signals.items():
            signals[name] = _own_view(values, np.dtype(float))
            if signals[name].shape[:1] != (samples,):
                raise RecordingError(f"signal '{name}' has shape {signals[name].shape}, not ({samples}, ...)")
        object.__setattr__(self, "signals", MappingProxyType(signals))
        object.__setattr__(self, "pushes", tuple(self.pushes))
        object.__setattr__(self, "info", MappingProxyType(dict(self.info)))

    # ---- asking --------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Number of samples T."""
        return len(self.time)

    def __bool__(self) -> bool:
        return True  # an empty recording is still one

    @property
    def duration(self) -> float:
        """From the first sample to the last, s."""
        return float(self.time[-1] - self.time[0]) if len(self) else 0.0

    @cached_property
    def foot_force(self) -> np.ndarray:
        """(T, feet, 3) N, force of the ground on each foot."""
        return read_only(np.stack([self.force[:, self.foot(f.name)].sum(axis=1) for f in self.robot.feet], axis=1))

    @cached_property
    def peak_foot_force(self) -> np.ndarray:
        """(T, feet, 3) N, force of the ground on each foot in the step in which its normal force is greatest."""
        return read_only(np.stack([self.peak_force[:, self.foot(f.name)].sum(axis=1) for f in self.robot.feet], axis=1))

    @property
    def record_dt(self) -> float:
        """Time between two samples, s; ``dt`` where every step is recorded."""
        known = self.info.get("record_dt")
        if known is not None:
            return float(known)
        return float(np.median(np.diff(self.time))) if len(self) > 1 else self.dt

    @property
    def every_step(self) -> bool:
        """Whether every step is recorded, so that forces are those of single steps."""
        return self.record_dt < 1.5 * self.dt

    @cached_property
    def total_force(self) -> np.ndarray:
        """(T, 3) N, force of the ground on the robot."""
        return read_only(self.force.sum(axis=1))

    @cached_property
    def body_contacts(self) -> BodyContacts | None:
        """Contacts between bodies, whose forces are the law's; None where MuJoCo's soft constraints act between."""
        touching = self.info.get("touching")
        if touching is None:
            return None
        empty = {name: np.zeros((len(self), 0, 3)) for name in BODY_CONTACTS}
        empty |= {name: np.zeros((len(self), 0)) for name in ("gap", "mode")}
        arrays = {name: self.signals.get(signal, empty[name]) for name, (signal, _) in BODY_CONTACTS.items()}
        bodies, friction = tuple((str(a), str(b)) for a, b, _ in touching), np.array([float(mu) for *_, mu in touching])
        return BodyContacts(bodies, friction, **arrays)

    def foot(self, name: str) -> slice:
        """Which points are those of a foot: ``rec.force[:, rec.foot("left")]``."""
        first = 0
        for foot in self.robot.feet:
            if foot.name == name:
                return slice(first, first + len(foot.points))
            first += len(foot.points)
        raise RecordingError(f"there is no foot '{name}': {did_you_mean(name, [f.name for f in self.robot.feet])}")

    @cached_property
    def point_names(self) -> tuple[str, ...]:
        """Names of the columns of contact points, made of foot or body and a number: "left.p0", "trunk.p3"."""
        names = [f"{foot.name}.p{i}" for foot in self.robot.feet for i in range(len(foot.points))]
        if not self.other_points.size:
            return tuple(names)
        others = self.robot.others
        for point in self.other_points:
            group = int(np.searchsorted(others.begin, point, side="right")) - 1
            body, number = self.robot.model.body(others.body[group]).name, point - others.begin[group]
            names.append(f"{body}.p{number}" if others.foot[group] < 0 else f"{body}.beside{number}")
        return tuple(names)

    def check(self) -> Self:
        """This recording; a run that failed raises a ``SimulationError`` that carries it."""
        if self.failure is not None:
            raise SimulationError(self.failure.message, self)
        return self

    def slice(self, start: float = -math.inf, stop: float = math.inf) -> Self:
        """The samples with ``start <= time < stop`` (s). A failure stays with the last sample."""
        if math.isnan(start) or math.isnan(stop) or start > stop:
            raise RecordingError(f"cannot slice from {start:g} s to {stop:g} s")
        # Half a step of slack, so that 0.3 finds the sample at 0.30000000000000004.
        slack = 0.5 * self.dt
        first, last = (int(i) for i in np.searchsorted(self.time, [start - slack, stop - slack]))
        arrays: dict[str, Any] = {name: getattr(self, name)[first:last] for name in COLUMNS}
        signals = {name: values[first:last] for name, values in self.signals.items()}
        return replace(self, **arrays, signals=signals, failure=self.failure if last == len(self) else None)

    def __reduce__(self) -> Any:
        return made_again(self)

    def __repr__(self) -> str:
        end = f", failed: {self.failure.cause} at t = {self.failure.time:.4g} s" if self.failure else ""
        return (
            f"Recording({self.robot.name} on {self.ground.kind}, law {self.law.name}, {self.duration:.4g} s, "
            f"{len(self)} samples, dt {self.dt:.3g} s{end})"
        )


#: How to make arrays that were left out, as in recordings of older versions.
DERIVED: Mapping[str, Callable[[Record], np.ndarray]] = {
    "normal": lambda rec: rec.ground.gap(rec.position)[1],
    "peak_force": lambda rec: rec.force,
    "peak_total_force": lambda rec: np.sum(rec.force, axis=1),
}


def array_shapes(robot: Robot, samples: int, others: int = 0) -> dict[str, tuple[int, ...]]:
    """The shape of every array of a recording with ``others`` columns of points besides those of the feet."""
    model, points = robot.model, robot.point_count + others
    sizes = {"nq": model.nq, "nv": model.nv, "nu": model.nu, "point": points, "xyz": 3}
    return {name: (samples, *[sizes[axis] for axis in column.axes]) for name, column in COLUMNS.items()}


_DTYPES = {name: np.dtype(column.dtype) for name, column in COLUMNS.items()}


def _own_view(values: Any, dtype: np.dtype) -> np.ndarray:
    """The values as a contiguous read-only array."""
    return read_only(np.ascontiguousarray(values, dtype=dtype).view())


def read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only, and return it."""
    array.setflags(write=False)
    return array
