"""A robot's own log as a value: its joints, torques, IMU, base, feet and commands at even times, in SI units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.errors import FootfallError, optional_package
from footfall.frozen_values import made_again
from footfall.robot import Robot
from footfall.robot.model import FREE

#: Largest relative difference between a measured factor and that of a unit.
NEAR_FACTOR = 0.2
#: Largest delay between two signals of one robot, s, and largest delay in samples that resampling may cause.
LONGEST_DELAY, NO_DELAY = 0.1, 1.0


class Compared(NamedTuple):
    """Comparison of a signal with another: factor, delay (s), and correlation."""

    factor: float
    delay: float
    correlation: float


class Match(NamedTuple):
    """A channel of the log, its meaning, and the factor and delay (s) that were applied to it."""

    what: str
    channel: str
    factor: float
    delay: float


@public
@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Measurements of a robot at even times. World frame with z up; m, rad, N, N m.

    Attributes:
        robot: whose log it is.
        time: (T,) s, from zero.
        qpos: (T, nq) coordinates; those not logged are those of home, and a base without a place stands on z = 0.
        qvel: (T, nv) velocities of the joints, and of a base with a place.
        logged: (nv,) which joints were logged, or follow from loops and have no spring.
        torque: (T, nv) N m of motors at the joints; NaN where they were not measured.
        control: (T, nu) what the actuators were commanded, by ``control_kind``: "position", "torque", "velocity" or
            "control"; NaN where it was not logged. None without commands.
        gyro, accel: (T, 3) rad/s and m/s2 of the IMU, in the frame of the root; None where there are none.
        imu_position: (3,) m, of the IMU in the frame of the root.
        position, attitude: (T, 3) m and (T, 4) quaternions w, x, y, z of the root; None where they were not measured.
        foot_force: (T, feet, 3) N, world frame; NaN where it was not measured. None without foot sensors.
        matches: what each channel is.
        unused: channels that are none of these.
        said: what was found out, assumed or done.
        source: the file.
    """

    robot: Robot
    time: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    logged: np.ndarray
    torque: np.ndarray
    control: np.ndarray | None
    control_kind: str
    gyro: np.ndarray | None
    accel: np.ndarray | None
    imu_position: np.ndarray
    position: np.ndarray | None
    attitude: np.ndarray | None
    foot_force: np.ndarray | None
    matches: tuple[Match, ...]
    unused: tuple[str, ...]
    said: tuple[str, ...]
    source: str

    def __len__(self) -> int:
        return len(self.time)

    def __reduce__(self) -> Any:
        return made_again(self)

    @property
    def rate(self) -> float:
        """Samples per second."""
        return float((len(self) - 1) / (self.time[-1] - self.time[0]))

    @property
    def has_imu(self) -> bool:
        """Whether both gyroscope and accelerometer were logged."""
        return self.gyro is not None and self.accel is not None

    def slice(self, start: float, stop: float) -> Log:
        """The samples from ``start`` up to ``stop`` (s), with times from zero."""
        inside = (self.time >= start - 1e-9) & (self.time <= stop + 1e-9)
        if inside.sum() < 2:
            raise FootfallError(f"{self.source} has no two samples between {start:g} and {stop:g} s")
        series = ("time", "qpos", "qvel", "torque", "control", "gyro", "accel", "position", "attitude", "foot_force")
        cut = {name: own[inside] for name in series if (own := getattr(self, name)) is not None}
        return replace(self, **(cut | {"time": cut["time"] - cut["time"][0]}))

    def __str__(self) -> str:
        rows = [("is", "channel", "factor", "delay")]
        rows += [
            (one.what, one.channel, f"{one.factor:.4g}", f"{1e3 * one.delay:.1f} ms" if one.delay else "")
            for one in self.matches
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = [f"{self.source}: {len(self)} samples of {self.robot.name}, {self.rate:.4g} per second"]
        lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        lines += [f"- {one}" for one in self.said]
        if self.unused:
            more = f" and {len(self.unused) - 8} others" if len(self.unused) > 8 else ""
            lines.append(f"- not used: {', '.join(self.unused[:8])}{more}")
        return "\n".join(lines)

    __repr__ = __str__


def shortened(names: Sequence[str]) -> str:
    """At most six of the names, as a list in a sentence."""
    return ", ".join(names[:6]) + (" ..." if len(names) > 6 else "")


def peak(values: np.ndarray) -> float:
    """Index of the maximum of values (N,), interpolated by the parabola through three samples."""
    best = int(np.argmax(values))
    if not 0 < best < values.size - 1:
        return float(best)
    left, top, right = values[best - 1 : best + 2]
    bend = left - 2.0 * top + right
    return best + (float(0.5 * (left - right) / bend) if bend < 0.0 else 0.0)


def up_of(attitude: np.ndarray) -> np.ndarray:
    """(T, 3) the world's vertical in the frame of bodies with attitudes (T, 4) w, x, y, z."""
    w, x, y, z = attitude.T
    return np.column_stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z])


def home_up(robot: Robot) -> np.ndarray:
    """(3,) the world's vertical in the frame of the root at home."""
    free = robot.model.njnt and robot.model.jnt_type[0] == FREE
    found: np.ndarray = up_of(robot.home[None, 3:7])[0] if free else np.array([0.0, 0.0, 1.0])
    return found


def rates_of(attitude: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(T, 3) rad/s, body frame, of attitudes (T, 4)."""
    Rotation = optional_package("scipy.spatial.transform").Rotation
    turns = Rotation.from_quat(attitude, scalar_first=True)
    step = (turns[:-1].inv() * turns[1:]).as_rotvec() / np.diff(time)[:, None]
    return np.vstack([step[:1], 0.5 * (step[1:] + step[:-1]), step[-1:]])


def rate_of(values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """The rate of values (T, ...) by parabolas through seven samples, which smooth noise of encoders."""
    signal = optional_package("scipy.signal")
    step = float(np.median(np.diff(time)))
    if len(values) < 7:
        return np.gradient(values, step, axis=0)
    found: np.ndarray = signal.savgol_filter(values, 7, 2, deriv=1, delta=step, axis=0)
    return found
