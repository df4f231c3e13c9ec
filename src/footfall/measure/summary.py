"""The main numbers of a run."""

from __future__ import annotations

import math
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.measure.fall import fall
from footfall.measure.slip import creep_distance, slip_distance
from footfall.record import Record

# ---- motors between world and root ----------------------------------------------------------------------------------


class Assistance(NamedTuple):
    """Help from outside: root mean square and peak, in body weights and N m."""

    force_rms: float
    force_peak: float
    moment_rms: float
    moment_peak: float

    def __str__(self) -> str:
        return (
            f"{self.force_rms:.3g} body weights (rms; at most {self.force_peak:.3g}) and "
            f"{self.moment_rms:.3g} N m (rms; at most {self.moment_peak:.3g})"
        )


@public
def assistance(rec: Record) -> Assistance:
    """The wrench of the motors on the root (``robot.root_motors``) over a recording; zero without any."""
    model = rec.robot.model
    own = np.flatnonzero(rec.robot.root_motors)
    gear = model.actuator_gear[own]
    kind = model.jnt_type[model.actuator_trnid[own, 0]]
    free = kind == mujoco.mjtJoint.mjJNT_FREE
    turns = np.where(free, np.abs(gear[:, 3:]).any(axis=1), kind == mujoco.mjtJoint.mjJNT_HINGE)
    size = rec.ctrl[:, own] * np.abs(gear).max(axis=1, initial=0.0) * model.actuator_gainprm[own, 0]
    force = np.linalg.norm(size[:, ~turns], axis=1) / rec.robot.weight
    moment = np.linalg.norm(size[:, turns], axis=1)
    sizes = [(float(np.sqrt(np.mean(v**2))) if len(v) else 0.0, float(v.max(initial=0.0))) for v in (force, moment)]
    return Assistance(*sizes[0], *sizes[1])


# ---- the start, in which a robot settles under its weight -----------------------------------------------------------


#: A robot has settled once the ground's force differs from its weight by at most this share of it ...
NEAR = 0.1
#: ... for this time, s.
QUIET = 0.1
#: Longest start transient, as a share of the run.
MOST = 0.5


@public
def settled(rec: Record) -> float:
    """When the start transient of a run has died out, s; the first sample's time where there is none.

    A run has one if it begins on the ground (less than ``FLOORS`` above it), and then carries its weight within 10 %
    for 0.1 s before the first push and before half of the run is over. A robot that falls onto the ground, or walks off
    at once, has none.
    """
    if len(rec) < 2 or not rec.robot.weight or not (rec.mode[0].any() or (rec.gap[0] < FLOORS["m"]).any()):
        return float(rec.time[0]) if len(rec) else 0.0
    begin = float(rec.time[0])
    until = min([begin + MOST * rec.duration, *(push.start for push in rec.pushes if push.start > begin)])
    near = np.abs(rec.peak_total_force[:, 2] / rec.robot.weight - 1.0) <= NEAR
    since = begin  # of the last sample that was not near
    for time, good in zip(rec.time, near, strict=True):
        if time > until:
            return begin
        if not good:
            since = float(time)
        elif time - since >= QUIET - 0.5 * rec.record_dt:
            return since
    return begin


@public
def summarise(rec: Record) -> dict[str, float | int | bool | str]:
    """The main numbers of a run, with units in their names (``bw``: times the robot's weight).

    ``outcome`` is "stayed up", "fell" (see :func:`fall`) or "failed". The peak force is taken after the start transient
    (see :func:`settled`); ``start_force_N`` is the peak within it, NaN where there is none.
    """
    fallen = fall(rec)
    at_start = rec.time < settled(rec)
    force = rec.peak_total_force[:, 2]
    peak = float(force[~at_start].max(initial=0.0))
    mean = float(rec.total_force[:, 2].mean()) if len(rec) else 0.0
    weight = rec.robot.weight or math.nan  # no gravity, no weight
    return {
        "outcome": "failed" if rec.failure is not None else "stayed up" if fallen is None else "fell",
        "duration_s": rec.duration,
        "samples": len(rec),
        "peak_vertical_force_N": peak,
        "peak_vertical_force_bw": peak / weight,
        "start_force_N": float(force[at_start].max()) if at_start.any() else math.nan,
        "mean_vertical_force_N": mean,
        "mean_vertical_force_bw": mean / weight,
        "max_penetration_m": float(max(0.0, -rec.gap.min(initial=0.0))),
        "slip_distance_m": float(slip_distance(rec)[-1:].max(initial=0.0)),
        "creep_distance_m": float(creep_distance(rec)[-1:].max(initial=0.0)),
        "unsolved_samples": int(np.count_nonzero(rec.status)),
        "fell": fallen is not None,
        "fell_at_s": math.nan if fallen is None else fallen.time,
        "fell_because": "" if fallen is None else fallen.cause,
        "failed": rec.failure is not None,
        "failure": "" if rec.failure is None else rec.failure.message,
    }


# ---- numbers for people: few digits, a fitting unit, and 0 for rounding errors --------------------------------------


#: Size of a value below which it is rounding and written as 0, by its unit.
FLOORS = {"m": 1e-9, "N": 1e-6, "N m": 1e-6, "J": 1e-6, "s": 1e-9, "deg": 1e-3}
#: Least size, factor and unit with which a value of a unit is written, the largest first.
SCALES = {
    "m": ((1.0, 1.0, "m"), (1e-3, 1e3, "mm"), (1e-6, 1e6, "µm"), (0.0, 1e9, "nm")),
    "N": ((0.1, 1.0, "N"), (1e-4, 1e3, "mN"), (0.0, 1e6, "µN")),
    "N m": ((0.1, 1.0, "N m"), (1e-4, 1e3, "mN m"), (0.0, 1e6, "µN m")),
    "J": ((0.1, 1.0, "J"), (1e-4, 1e3, "mJ"), (0.0, 1e6, "µJ")),
    "µs": ((1e6, 1e-6, "s"), (1e3, 1e-3, "ms"), (0.0, 1.0, "µs")),
}


def number(value: float, unit: str = "", digits: int = 4) -> str:
    """A number with ``digits`` digits in a unit that suits its size; 0 below ``FLOORS``."""
    if isinstance(value, int):
        return f"{value} {unit}".strip()
    if math.isnan(value):
        return "–"
    if value == 0.0 or abs(value) < FLOORS.get(unit, 0.0):
        return f"0 {unit}".strip()
    rounded = abs(float(f"{value:.{digits}g}"))  # a micrometre less the last digit is no 1000 nm
    for least, factor, name in SCALES.get(unit, ()):
        if rounded >= least:
            value, unit = factor * value, name
            break
    text = f"{value:.{digits}g}"
    if "e+" in text and abs(value) < 1e7:
        text = f"{value:.0f}"
    return f"{text} {unit}".replace("-", "−").strip()
