"""What a recorded walk holds: stances and strides by the forces, and the walker's angles, mass and lengths.

Tables are columns by name, as the files of a recording have them; see ``footfall.gait.human.data.derive``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from footfall.errors import FootfallError

Table = Mapping[str, np.ndarray]
GRAVITY = 9.81  # m/s2
STANDS = 20.0  # N, above which a foot stands
#: A pause of this length in one plate's samples ends a stance, s.
PAUSE = 0.05
#: A stance that begins or ends with more than this share of its largest force was cut off.
CUT = 0.35
SHORTEST = 0.2  # s, of a stance
DIGITS = 4  # of times in s that are kept: a twentieth of the time between two samples of the plates
#: Shares of stance between which the foot lies flat.
FLAT = (0.2, 0.5)
JOINTS = ("hip", "knee", "ankle", "heel", "mt")


@dataclass(frozen=True, eq=False)
class Stance:
    """One foot on one plate: when (s), the rows of the force table, and whether forces are whole."""

    foot: str
    start: float
    duration: float
    rows: np.ndarray
    clean: bool


@dataclass(frozen=True)
class Stride:
    """From one heel strike of a foot to its next, s."""

    foot: str
    start: float
    time: float


def check_columns(folder: Path, joints: Table, forces: Table) -> None:
    """Refuse tables without the columns that a walk needs."""
    wanted = ["time_s", *(f"{side}_{joint}_{axis}_m" for side in "RL" for joint in JOINTS for axis in "xz")]
    for name, table, columns in (
        ("joints.csv", joints, wanted),
        ("grf.csv", forces, ["time_s", "foot", "plate", "fx_N", "fy_N", "fz_N", "copx_m"]),
    ):
        missing = [column for column in columns if column not in table]
        if missing:
            raise FootfallError(
                f"{folder / name} has no column '{missing[0]}', and {len(missing)} of its columns are missing"
            )
    strange = sorted(set(forces["foot"]) - {"R", "L"})
    if strange:
        raise FootfallError(f"{folder / 'grf.csv'}: a foot is R or L, not '{strange[0]}'")


def find_stances(forces: Table, end: float) -> list[Stance]:
    """The stances by start: a foot on a plate above 20 N; ``end`` (s) is that of the record."""
    found = []
    for plate in np.unique(forces["plate"]):
        for foot in "RL":
            rows = np.flatnonzero((forces["plate"] == plate) & (forces["foot"] == foot) & (forces["fz_N"] > STANDS))
            for own in np.split(rows, np.flatnonzero(np.diff(forces["time_s"][rows]) > PAUSE) + 1):
                if not own.size:
                    continue
                start, stop = (float(forces["time_s"][i]) for i in (own[0], own[-1]))
                if stop - start < SHORTEST:
                    continue
                load = forces["fz_N"][own]
                whole = max(load[0], load[-1]) < CUT * load.max() and stop < end
                clean = bool(whole and ("clean" not in forces or np.all(forces["clean"][own] == 1)))
                found.append(Stance(foot, start, round(stop - start, DIGITS), own, clean))
    if not any(stance.clean for stance in found):
        raise FootfallError("the recording has no whole stance on a plate")
    return sorted(found, key=lambda stance: stance.start)


def find_strides(stances: Sequence[Stance], time: np.ndarray) -> list[Stride]:
    """From each heel strike to the next of the same foot, with one of the other foot between them."""
    found = []
    for first, other, last in zip(stances, stances[1:], stances[2:], strict=False):
        if first.foot == last.foot != other.foot and time[0] <= first.start and last.start <= time[-1]:
            length = round(last.start - first.start, DIGITS)
            found.append(Stride(first.foot, round(first.start, DIGITS), length))
    if not found:
        raise FootfallError("the recording has no whole stride: three heel strikes in turn, R L R or L R L, are needed")
    return found


def segment_angles(joints: Table, stances: Sequence[Stance]) -> dict[str, np.ndarray]:
    """Angles (deg) of the segments from their ends, and the middle of the hips (m); the trunk is taken as upright."""
    found = {"time_s": joints["time_s"], "trunk_pitch_proxy_deg": np.zeros_like(joints["time_s"])}
    for axis in "xz":
        found[f"pelvis_{axis}_m"] = 0.5 * (joints[f"R_hip_{axis}_m"] + joints[f"L_hip_{axis}_m"])
    for side in "RL":
        place = {name: tuple(joints[f"{side}_{name}_{axis}_m"] for axis in "xz") for name in JOINTS}
        for name, upper, lower in (("thigh", "hip", "knee"), ("shank", "knee", "ankle")):
            dx, dz = (a - b for a, b in zip(place[upper], place[lower], strict=True))
            found[f"{side}_{name}_deg"] = np.degrees(np.arctan2(dx, dz))
        dx, dz = (a - b for a, b in zip(place["mt"], place["heel"], strict=True))
        pitch = np.degrees(np.arctan2(-dz, dx))
        found[f"{side}_foot_deg"] = pitch - np.mean(pitch[_flat(joints, stances, side)])
    return found


def measure_subject(
    joints: Table, forces: Table, stances: Sequence[Stance], strides: Sequence[Stride]
) -> dict[str, Any]:
    """Mass (kg), speed (m/s), width of the steps and lengths of the legs (m)."""
    clean = [stance for stance in stances if stance.clean]
    impulse = np.mean([np.trapezoid(forces["fz_N"][s.rows], forces["time_s"][s.rows]) for s in clean])
    hips = 0.5 * (joints["R_hip_x_m"] + joints["L_hip_x_m"])
    speeds = [np.ptp(np.interp([s.start, s.start + s.time], joints["time_s"], hips)) / s.time for s in strides]
    segments = {}
    for side in "RL":
        thigh, shank = (
            float(np.mean(np.hypot(*(joints[f"{side}_{a}_{x}_m"] - joints[f"{side}_{b}_{x}_m"] for x in "xz"))))
            for a, b in (("hip", "knee"), ("knee", "ankle"))
        )
        height = float(np.mean(joints[f"{side}_ankle_z_m"][_flat(joints, stances, side)]))
        segments[side] = {"thigh_m": thigh, "shank_m": shank, "ankle_height_footflat_m": height}
    return {
        # Two feet carry the weight over a stride.
        "mass_kg": float(2.0 * impulse / (GRAVITY * np.mean([stride.time for stride in strides]))),
        "speed_m_s": float(np.mean(speeds)),
        "step_width_m": _step_width(forces, clean),
        "segments": segments,
    }


def _flat(joints: Table, stances: Sequence[Stance], side: str) -> np.ndarray:
    """The samples at which a foot lies flat."""
    time = joints["time_s"]
    flat = np.zeros(time.size, dtype=bool)
    for one in stances:
        if one.foot == side and one.clean:
            flat |= (time >= one.start + FLAT[0] * one.duration) & (time <= one.start + FLAT[1] * one.duration)
    if not flat.any():
        raise FootfallError(f"the recording has no whole stance of foot {side} on a plate")
    return flat


def _step_width(forces: Table, stances: Sequence[Stance]) -> float:
    """Between the pressure centres of left and right feet, m; a tenth of a metre where these are not known."""
    if "copy_m" not in forces:
        return 0.1
    sides = {side: [np.nanmedian(forces["copy_m"][s.rows]) for s in stances if s.foot == side] for side in ("L", "R")}
    return float(abs(np.mean(sides["L"]) - np.mean(sides["R"]))) if sides["L"] and sides["R"] else 0.1
