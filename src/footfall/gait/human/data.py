"""A measured human walk: motion and ground forces in a small table, derived from one recorded pass.

The recording that comes with Footfall is ``walk1`` of Marcos Duarte (BMClab, UFABC; github.com/demotu/BMC), CC-BY 4.0,
processed further: ``footfall human-walk`` (:func:`derive`) makes the table ``human_walk.json`` from its files. It is
one person, one pass, two strides and three clean stances, and represents no population.

Angles are rotations about y (left) of segments in the sagittal plane, rad: positive if the upper end of a thigh or
shank leans forward, or the toes point down. The cycle begins with heel strike. Forces are those of the ground on the
foot over its stance, in body weights: x forward, y to the other leg, z up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from footfall.errors import FootfallError, optional_package
from footfall.gait.human.body import evaluate, fit
from footfall.gait.human.lab_files import (
    DIGITS,
    GRAVITY,
    MARKERS,
    Stance,
    Table,
    find_stances,
    find_strides,
    forces_of,
    measure_subject,
    read_tables,
    read_walk,
    segment_angles,
)

HARMONICS = 10  # of the stride: up to 9 Hz, above the 6 Hz low pass of the markers
SAMPLES = 101  # over stride and stance
STANCE = 51  # of the force curves kept
SEGMENTS = ("thigh", "shank", "foot")
#: Entries of ``subject.json`` that replace measured values.
BODY = ("mass_kg", "speed_m_s", "step_width_m", "segments")
MODIFIED = (
    "modified: averaged over strides and stances, made periodic, as Fourier coefficients and curves in body weights"
)


@dataclass(frozen=True, eq=False)
class MeasuredWalk:
    """The mean walk: series are Fourier coefficients over the stride (see ``body.basis``), curves run over stance."""

    attribution: str
    mass: float  # kg
    speed: float  # m/s, of the subject
    stride_time: float  # s
    leg: float  # m, from hip to ground with the leg straight: thigh, shank and height of the ankle
    thigh: float  # m
    shank: float  # m
    ankle_height: float  # m
    step_width: float  # m, between the feet
    segments: dict[str, np.ndarray]  # series of thigh, shank, foot and trunk (pelvis less its mean), rad
    pelvis: dict[str, np.ndarray]  # series of the middle of the hips: x less its mean speed, and z, m
    force: dict[str, np.ndarray]  # ``x``, ``y``, ``z`` over stance, body weights, at 51 equally spaced instants
    force_spread: dict[str, np.ndarray]  # half the range between the three stances
    pressure: np.ndarray  # m, pressure centre ahead of the ankle's place in mid-stance (NaN: not measured)
    stance: float  # stance over stride, from forces above 20 to 30 N

    def angle(self, segment: str, phase: np.ndarray) -> np.ndarray:
        """Angle of a segment at phases of the stride (cycles), rad."""
        return evaluate(self.segments[segment], phase)

    def ground_force(self, axis: str, phase: np.ndarray) -> np.ndarray:
        """Mean force on a foot at phases of its stride (cycles), body weights; zero in swing."""
        share = np.mod(phase, 1.0) / self.stance
        return np.interp(share, np.linspace(0, 1, STANCE), self.force[axis], right=0.0)


@cache
def measured_walk() -> MeasuredWalk:
    """The table that comes with Footfall."""
    return from_dict(json.loads((files("footfall.gait.human") / "human_walk.json").read_text(encoding="utf-8")))


def load_walk(path: Path | str) -> MeasuredWalk:
    """A walk of one's own: a table that ``footfall human-walk`` wrote, or the folder of a recording, see ``derive``."""
    source = Path(path).expanduser()
    files = sorted(source.glob("*")) if source.is_dir() else [source]
    return _loaded(source, tuple(file.stat().st_mtime_ns for file in files if file.is_file()))


@lru_cache(maxsize=8)
def _loaded(source: Path, changed: tuple[int, ...]) -> MeasuredWalk:
    """Cached by the state of the files, so that later fits are cached, too."""
    if source.is_dir() or source.suffix.lower() in MARKERS:
        return derive(source)
    try:
        return from_dict(json.loads(source.read_text(encoding="utf-8")))
    except OSError as error:
        raise FootfallError(f"cannot read the walk '{source}': {error.strerror}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise FootfallError(
            f"'{source}' is not a table of a walk: footfall human-walk FOLDER --out FILE.json makes one"
        ) from error


def derive(
    source: Path | str,
    attribution: str | None = None,
    *,
    forces: Path | str | None = None,
    markers: Mapping[str, str] | None = None,
    up: Literal["y", "z"] | None = None,
) -> MeasuredWalk:
    """The table from a recorded walk: the files of a laboratory, or tables of joints and forces.

    ``source`` is a .c3d file with markers and force plates; or a .trc file, with a file of ``forces`` (.mot or .csv,
    see ``footfall.load_forces``) of the same name beside it or given. ``markers`` maps joints to markers with
    unknown names, ``{"R_knee": "NAME"}``; ``up`` is the upward axis, if markers and forces do not show it. See
    ``footfall.gait.human.lab_files`` for the processing.

    Or a folder with ``joints.csv`` and ``grf.csv``. ``joints.csv`` has time_s and, for the sides R and L, the places in
    the sagittal plane of hip, knee, ankle, heel and mt (metatarsals), as ``R_hip_x_m``, ``R_hip_z_m`` (or in another
    unit, as ``R_hip_x_mm``); ``grf.csv``
    time_s, foot (R or L), plate, the force of the ground fx_N, fy_N, fz_N and the pressure centre copx_m, one row per
    sample of each stance, and clean (0 or 1) if there is.

    Stances and strides are found in the forces. ``motion.csv`` with segment angles, and ``subject.json`` with mass,
    lengths, source and licence are used if present; otherwise mass and lengths are measured.
    """
    source = Path(source).expanduser()
    if source.suffix.lower() in MARKERS:
        loaded = forces_of(source) if forces is None else Path(forces).expanduser()
        return _walk_of(*read_walk(source, loaded, markers or {}, up), None, {}, attribution)
    if not (source / "joints.csv").is_file():
        raise FootfallError(
            f"'{source}' is not a recording of a walk: give a .c3d file, a .trc file with its forces, or a folder with "
            "joints.csv and grf.csv"
        )
    try:
        known = source / "subject.json"
        subject = json.loads(known.read_text(encoding="utf-8")) if known.is_file() else {}
        joints, loads, motion = read_tables(source)
    except (OSError, ValueError) as error:
        raise FootfallError(f"cannot derive the walk: {error}") from error
    return _walk_of(joints, loads, find_stances(loads, float(joints["time_s"][-1])), motion, subject, attribution)


def _walk_of(
    joints: Table,
    forces: Table,
    stances: list[Stance],
    motion: Table | None,
    subject: dict[str, Any],
    attribution: str | None,
) -> MeasuredWalk:
    """The mean walk of tables of joints and forces."""
    strides = find_strides(stances, joints["time_s"])
    motion = segment_angles(joints, stances) if motion is None else motion
    body = measure_subject(joints, forces, stances, strides) | {k: v for k, v in subject.items() if k in BODY}
    phase = np.linspace(0, 1, SAMPLES)
    runs: dict[str, list[np.ndarray]] = {name: [] for name in (*SEGMENTS, "trunk", "x", "z")}
    for stride in strides:
        at = stride.start + phase * stride.time
        for name in SEGMENTS:
            runs[name].append(np.radians(_at(motion, f"{stride.foot}_{name}_deg", at)))
        runs["trunk"].append(np.radians(_at(motion, "trunk_pitch_proxy_deg", at)))
        x = _at(motion, "pelvis_x_m", at)
        runs["x"].append(x - x[0] - phase * (x[-1] - x[0]))
        runs["z"].append(_at(motion, "pelvis_z_m", at))
    ramp, means = np.linspace(-0.5, 0.5, SAMPLES), {name: np.mean(own, axis=0) for name, own in runs.items()}
    periodic = {name: mean - ramp * (mean[-1] - mean[0]) for name, mean in means.items()}
    series = {name: fit(phase[:-1], own[:-1], HARMONICS) for name, own in periodic.items()}
    series["x"][0] = 0.0
    lengths = {
        name: float(np.mean([side[key] for side in body["segments"].values()]))
        for name, key in (("thigh", "thigh_m"), ("shank", "shank_m"), ("ankle_height", "ankle_height_footflat_m"))
    }
    clean = [stance for stance in stances if stance.clean]
    curves, pressure = _stances(body["mass_kg"] * GRAVITY, clean, forces, joints)
    stride_time = float(np.mean([stride.time for stride in strides]))
    stated = [subject[key] for key in ("source", "licence") if key in subject]
    return MeasuredWalk(
        attribution=attribution or "; ".join([*(stated or ["source and licence not stated"]), MODIFIED]),
        mass=body["mass_kg"],
        speed=body["speed_m_s"],
        stride_time=stride_time,
        leg=sum(lengths.values()),
        **lengths,
        step_width=body["step_width_m"],
        segments={name: series[name] for name in (*SEGMENTS, "trunk")},
        pelvis={"x": series["x"], "z": series["z"]},
        force={axis: np.mean(own, axis=0) for axis, own in curves.items()},
        force_spread={axis: 0.5 * np.ptp(own, axis=0) for axis, own in curves.items()},
        pressure=np.mean(pressure, axis=0),
        stance=float(np.mean([stance.duration for stance in clean])) / stride_time,
    )


def _stances(
    weight: float, stances: Sequence[Stance], forces: Table, joints: Table
) -> tuple[dict[str, list[np.ndarray]], list[np.ndarray]]:
    """The clean stances: forces in body weights and pressure centres ahead of the ankle, over stance."""
    curves: dict[str, list[np.ndarray]] = {"x": [], "y": [], "z": []}
    pressure = []
    share = np.linspace(0, 1, STANCE)
    for stance in stances:
        time, start = forces["time_s"][stance.rows], round(stance.start, DIGITS)
        at = start + share * stance.duration
        for axis, sign in (("x", 1.0), ("y", 1.0 if stance.foot == "R" else -1.0), ("z", 1.0)):
            curves[axis].append(sign * np.interp(at, time, forces[f"f{axis}_N"][stance.rows]) / weight)
        ankle = _at(joints, f"{stance.foot}_ankle_x_m", np.array([start + 0.4 * stance.duration]))
        pressure.append(np.interp(at, time, forces["copx_m"][stance.rows]) - float(ankle[0]))
    return curves, pressure


def _at(table: Table, name: str, time: np.ndarray) -> np.ndarray:
    CubicSpline = optional_package("scipy.interpolate").CubicSpline

    return CubicSpline(table["time_s"], table[name])(time)


def as_text(walk: MeasuredWalk) -> str:
    """The table as stored JSON: numbers to 1e-6, a list in one line."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, np.ndarray):
            return [None if np.isnan(v) else round(float(v), 6) for v in value]
        return round(value, 6) if isinstance(value, float) else value

    text = json.dumps({key: plain(value) for key, value in asdict(walk).items()}, indent=1)
    return re.sub(r"\[[^\]]*\]", lambda found: " ".join(found[0].split()), text) + "\n"


def from_dict(table: dict[str, Any]) -> MeasuredWalk:
    """The walk from the decoded JSON of ``as_text``."""

    def array(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: array(one) for key, one in value.items()}
        return np.array(value, dtype=float) if isinstance(value, list) else value

    return MeasuredWalk(**{key: array(value) for key, value in table.items()})
