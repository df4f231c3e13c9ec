"""Recordings: what happened in a simulation, as arrays with names, units and shapes.

A recording is a value. It is saved as a directory of two files, ``manifest.json`` (what everything is, with
the robot, the ground and the law) and ``samples.parquet`` (one row per sample), which other tools read as
well.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from footfall.contact.base import Law
from footfall.errors import LawError, RecordingError, SimulationError, did_you_mean
from footfall.ground import Ground
from footfall.robot import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from footfall.measure import Audit

__all__ = ["Failure", "Recording", "UnknownLaw", "load_recording"]


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
    "force": Column("N, world frame, of the ground on the robot", ("point", "xyz")),
    "position": Column("m, world frame", ("point", "xyz")),
    "velocity": Column("m/s, world frame, of the material point", ("point", "xyz")),
    "gap": Column("m, negative inside the ground", ("point",)),
    "mode": Column("0 open, 1 stick, 2 slide", ("point",), "int8"),
    "status": Column("0 solved, 1 not", (), "int8"),
}


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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Recording:
    """What happened in a run: T samples of a robot with P contact points. Arrays are read-only, in SI units.

    Row k holds the state at ``time[k]`` and the forces that act then, those that carry it on to the next
    step.

    Attributes:
        robot, ground, law: what was simulated.
        dt: the simulation step, s; samples may be further apart.
        time: (T,) s.
        qpos: (T, nq) m, rad or quaternion, MuJoCo's order.
        qvel: (T, nv) m/s or rad/s.
        ctrl: (T, nu) controls.
        force: (T, P, 3) N, of the ground on each point.
        position: (T, P, 3) m, where that force acts.
        velocity: (T, P, 3) m/s, of the material point there.
        gap: (T, P) m, signed distance to the ground, negative inside.
        mode: (T, P) 0 open, 1 stick, 2 slide.
        status: (T,) what the law said of its solution: 0 solved, 1 the forces are the best it found.
        signals: what else law and controller told of each sample, by name, each (T, ...); ``info["signals"]``
            has the units.
        failure: why the run ended early, None if it did not.
        info: what else is known of the run (controller, pushes, versions, ...), as JSON can hold it.
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
    signals: Mapping[str, np.ndarray] = field(default_factory=dict)
    failure: Failure | None = None
    info: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        samples = len(self.time)
        for name, shape in array_shapes(self.robot, samples).items():
            array = np.ascontiguousarray(getattr(self, name), dtype=COLUMNS[name].dtype).view()
            if array.shape != shape:
                axes = ", ".join(("time", *COLUMNS[name].axes))
                raise RecordingError(f"'{name}' has shape {array.shape} but ({axes}) is {shape}")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        signals = {}
        for name, values in self.signals.items():
            signals[name] = np.ascontiguousarray(values, dtype=float).view()
            if signals[name].shape[:1] != (samples,):
                raise RecordingError(f"signal '{name}' has shape {signals[name].shape}, not ({samples}, ...)")
            signals[name].setflags(write=False)
        object.__setattr__(self, "signals", MappingProxyType(signals))
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
    def cop(self) -> np.ndarray:
        """(T, feet, 3) m, centre of pressure of each foot, NaN where unloaded; see ``measure.cop``."""
        from footfall.measure import cop

        return _read_only(cop(self))

    @cached_property
    def zmp(self) -> np.ndarray:
        """(T, 3) m, zero moment point from the motion, NaN in flight. See ``footfall.measure.zmp``."""
        from footfall.measure import zmp

        return _read_only(zmp(self))

    @cached_property
    def foot_force(self) -> np.ndarray:
        """(T, feet, 3) N, force of the ground on each foot."""
        return _read_only(np.stack([self.force[:, self.foot(f.name)].sum(axis=1) for f in self.robot.feet], axis=1))

    @cached_property
    def total_force(self) -> np.ndarray:
        """(T, 3) N, force of the ground on the robot."""
        return _read_only(self.force.sum(axis=1))

    def foot(self, name: str) -> slice:
        """Which points are those of a foot: ``rec.force[:, rec.foot("left")]``."""
        first = 0
        for foot in self.robot.feet:
            if foot.name == name:
                return slice(first, first + len(foot.points))
            first += len(foot.points)
        raise RecordingError(f"there is no foot '{name}': {did_you_mean(name, [f.name for f in self.robot.feet])}")

    def summary(self) -> dict[str, float | int | bool | str]:
        """A few numbers that tell the run, with units in their names (``bw``: times the robot's weight)."""
        from footfall.measure import fall, slip_distance

        fallen = fall(self)
        vertical = self.total_force[:, 2] if len(self) else np.zeros(1)
        peak, mean = float(vertical.max()), float(vertical.mean())
        weight = self.robot.weight or math.nan  # no gravity, no weight
        return {
            "duration_s": self.duration,
            "samples": len(self),
            "peak_vertical_force_N": peak,
            "peak_vertical_force_bw": peak / weight,
            "mean_vertical_force_N": mean,
            "mean_vertical_force_bw": mean / weight,
            "max_penetration_m": float(max(0.0, -self.gap.min(initial=0.0))),
            "slip_distance_m": float(slip_distance(self)[-1:].max(initial=0.0)),
            "unsolved_samples": int(np.count_nonzero(self.status)),
            "fell": fallen is not None,
            "fell_at_s": math.nan if fallen is None else fallen.time,
            "fell_because": "" if fallen is None else fallen.cause,
            "failed": self.failure is not None,
            "failure": "" if self.failure is None else self.failure.message,
        }

    def audit(self) -> Audit:
        """Whether the forces are such as a ground can give; see ``footfall.audit``."""
        from footfall.measure import audit

        return audit(self)

    def check(self) -> Recording:
        """This recording, or a ``SimulationError`` with its failure's sentence and itself."""
        if self.failure is not None:
            raise SimulationError(self.failure.message, self)
        return self

    def slice(self, start: float = -math.inf, stop: float = math.inf) -> Recording:
        """The samples with ``start <= time < stop`` (s). A failure stays with the last sample."""
        if math.isnan(start) or math.isnan(stop) or start > stop:
            raise RecordingError(f"cannot slice from {start:g} s to {stop:g} s")
        # Half a step of slack, so that 0.3 finds the sample at 0.30000000000000004.
        slack = 0.5 * self.dt
        first, last = (int(i) for i in np.searchsorted(self.time, [start - slack, stop - slack]))
        arrays: dict[str, Any] = {name: getattr(self, name)[first:last] for name in COLUMNS}
        signals = {name: values[first:last] for name, values in self.signals.items()}
        return replace(self, **arrays, signals=signals, failure=self.failure if last == len(self) else None)

    def __repr__(self) -> str:
        end = f", failed: {self.failure.cause} at t = {self.failure.time:.4g} s" if self.failure else ""
        return (
            f"Recording({self.robot.name} on {self.ground.kind}, law {self.law.name}, {self.duration:.4g} s, "
            f"{len(self)} samples, dt {self.dt:.3g} s{end})"
        )

    # ---- showing -------------------------------------------------------------------------------------------

    def plot(self, name: str, **options: Any) -> Figure:
        """A matplotlib figure, such as ``rec.plot("grf")``; names and options as in ``footfall.show.plots``."""
        from footfall.show.plots import plot

        return plot(self, name, **options)

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write one HTML file that tells this run, see ``footfall.show.write_report``."""
        from footfall.show.report import write_report

        return write_report(self, path, **options)

    # ---- keeping -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write this recording as the directory ``path``, which it gives back; ``load_recording`` reads it.

        A recording that is there already is replaced, all at once, and other files beside it in that
        directory are kept. A directory that is no recording is refused, and so is a file.
        """
        from footfall.recording_file import write

        return write(self, path)

    def export(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write this recording for another tool: .csv, .npz, .mot, .sto, .c3d or .mcap; see ``footfall.export``."""
        from footfall.export import export

        return export(self, path, **options)


def load_recording(path: str | os.PathLike[str]) -> Recording:
    """Read what ``Recording.save`` wrote: the same arrays to the last bit, an equal robot, ground and law.

    A law that is not registered in this process comes back as an ``UnknownLaw``; a ground made from a
    function as the table it was sampled to (see ``Ground.to_dict``). Anything damaged is a ``RecordingError``
    that says what.
    """
    from footfall.recording_file import read

    return read(path)


@dataclass(frozen=True, kw_only=True)
class UnknownLaw(Law):
    """Stands for the law of a loaded recording that is not known here: name and options, but no forces."""

    name: str  # type: ignore[misc]
    given: Mapping[str, Any] = field(default_factory=dict, hash=False)

    citation = "unknown"

    def options(self) -> dict[str, Any]:
        return dict(self.given)

    def resolve(self, setting: Any) -> Any:
        raise LawError(
            f"the law '{self.name}' of this recording is not known here; import the module that registers it "
            "and load the recording again"
        )


def array_shapes(robot: Robot, samples: int) -> dict[str, tuple[int, ...]]:
    """The shape of every array of a recording."""
    model = robot.model
    sizes = {"nq": model.nq, "nv": model.nv, "nu": model.nu, "point": robot.point_count, "xyz": 3}
    return {name: (samples, *(sizes[axis] for axis in column.axes)) for name, column in COLUMNS.items()}


def _read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
