"""Tables of joints, forces and angles of a walk, in SI units: gaps filled, forces upwards, the walk towards x."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from footfall.errors import FootfallError, warn
from footfall.files.delimited import read_columns
from footfall.gait.human.events import JOINTS, Table, check_columns
from footfall.gait.human.lab_files import LONGEST_GAP, frame_time

#: How the names of columns end here, by their unit in SI; angles are in degrees.
ENDINGS = {"m": "m", "s": "s", "N": "N", "rad": "deg"}
#: Of a thigh or shank, m: of a child that begins to walk, and of nobody.
SHORTEST, LONGEST = 0.1, 1.0


class WalkTables(NamedTuple):
    """Columns by name: places of joints, forces, and angles of segments where a file has them."""

    joints: Table
    loads: Table
    motion: Table | None


def read_tables(folder: Path) -> WalkTables:
    """What ``joints.csv``, ``grf.csv`` and ``motion.csv`` of a folder hold; see ``footfall.gait.human.data.derive``."""
    joints: Table = _read(folder / "joints.csv")
    loads: Table = _read(folder / "grf.csv")
    motion: Table | None = _read(folder / "motion.csv") if (folder / "motion.csv").is_file() else None
    check_columns(folder, joints, loads)
    joints = _filled(folder / "joints.csv", joints)
    _check_lengths(folder / "joints.csv", joints)
    if loads["fz_N"].sum() < 0.0:
        warn(f"{folder / 'grf.csv'}: reversed, as it has the forces of the feet on the ground")
        loads = {name: -own if name in ("fx_N", "fy_N", "fz_N") else own for name, own in loads.items()}
    if _goes_backwards(joints):
        warn(f"{folder / 'joints.csv'}: the walk leads towards -x, and is turned about")
        joints = {name: -own if name.endswith("_x_m") else own for name, own in joints.items()}
        turned = ("fx_N", "fy_N", "copx_m", "copy_m")
        loads = {name: -own if name in turned else own for name, own in loads.items()}
        motion = None  # its angles are measured anew
    return WalkTables(joints, loads, motion)


def _read(path: Path) -> dict[str, np.ndarray]:
    """Columns by name and unit, as in ``R_hip_x_m`` whatever unit of length the file has; NaN where blank."""
    values, units, _, _, texts = read_columns(path)
    columns: dict[str, np.ndarray] = {}
    for name, own in values.items():
        unit = units[name]
        ending = f"_{ENDINGS[unit]}" if unit in ENDINGS else ""
        columns[f"{name}{ending}"] = np.degrees(own) if unit == "rad" else own
    return columns | {name: np.array(own) for name, own in texts.items()}


def _filled(path: Path, joints: Table) -> Table:
    """The same from the first to the last sample in which all joints are known, with splines over short gaps."""
    from scipy.interpolate import CubicSpline

    names = [f"{side}_{joint}_{axis}_m" for side in "RL" for joint in JOINTS for axis in "xz"]
    seen = np.all([np.isfinite(joints[name]) for name in names], axis=0)
    if seen.sum() < 2:
        raise FootfallError(f"{path}: there is no part in which all joints are known")
    first, last = (int(np.flatnonzero(seen)[i]) for i in (0, -1))
    found = {name: own[first : last + 1] for name, own in joints.items()}
    time = found["time_s"]
    for name in names:
        known = np.isfinite(found[name])
        if known.all():
            continue
        edges = time[known]
        widest = int(np.argmax(np.diff(edges)))
        begin, end = edges[widest], edges[widest + 1]
        if end - begin > LONGEST_GAP + frame_time(time):
            raise FootfallError(
                f"{path}: {name} is not known from {begin:.3f} to {end:.3f} s, too long to fill: cut the recording"
            )
        found[name] = np.where(known, found[name], CubicSpline(edges, found[name][known])(time))
    return found


def _check_lengths(path: Path, joints: Table) -> None:
    for side in "RL":
        for name, upper, lower in (("thigh", "hip", "knee"), ("shank", "knee", "ankle")):
            away = (joints[f"{side}_{upper}_{axis}_m"] - joints[f"{side}_{lower}_{axis}_m"] for axis in "xz")
            length = float(np.median(np.hypot(*away)))
            if not SHORTEST < length < LONGEST:
                raise FootfallError(
                    f"{path}: the {name} of side {side} is {length:.3g} m long: names of columns end in the unit of "
                    "places, such as _m or _mm"
                )


def _goes_backwards(joints: Table) -> bool:
    """Whether toes lie before heels towards -x."""
    return sum(float(np.median(joints[f"{side}_mt_x_m"] - joints[f"{side}_heel_x_m"])) for side in "RL") < 0.0
