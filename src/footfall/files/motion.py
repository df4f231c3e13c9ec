"""Measured motions and forces, from the files of gait laboratories and from tables.

    motion = ff.load_motion("walk_ik.mot")
    motion.time, motion["knee_angle_r"]                 # s, rad
    ff.load_motion("walk.trc").vector("R.Heel")         # (T, 3) m
    ff.load_motion("walk.c3d").z_up().vector("plate1.force")
    ff.load_forces("plates.csv", feet={"left": "F1", "right": "F2"})

OpenSim's .mot and .sto, .trc markers, .c3d, and .csv with the units in its head. Numbers come in SI units: degrees
become radians, millimetres metres. Axes stay those of the file until ``z_up`` turns them into Footfall's: OpenSim's y
is up, and so is that of a .trc file; a .c3d or .csv file has z up unless ``up`` says otherwise.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from footfall.errors import FootfallError, did_you_mean
from footfall.files.c3d import read_c3d
from footfall.files.force_plates import force_plates
from footfall.files.measured import Measured

#: What a unit of a file is in SI.
SCALES = {
    "mm": (1e-3, "m"),
    "cm": (1e-2, "m"),
    "m": (1.0, "m"),
    "deg": (np.pi / 180.0, "rad"),
    "rad": (1.0, "rad"),
    "s": (1.0, "s"),
    "ms": (1e-3, "s"),
    "m/s": (1.0, "m/s"),
    "mm/s": (1e-3, "m/s"),
    "rad/s": (1.0, "rad/s"),
    "deg/s": (np.pi / 180.0, "rad/s"),
    "n": (1.0, "N"),
    "kn": (1e3, "N"),
    "nmm": (1e-3, "N m"),
    "nm": (1.0, "N m"),
    "n*mm": (1e-3, "N m"),
    "n*m": (1.0, "N m"),
    "v": (1.0, "V"),
    "": (1.0, ""),
}


def load_motion(
    path: str | os.PathLike[str], columns: Mapping[str, str] | None = None, *, up: str | None = None
) -> Measured:
    """Read measured data by the ending of its file: .mot, .sto, .trc, .c3d or .csv.

    ``columns`` renames: ``{"heel.x": "RHEE_X"}``; a vector may be named without its axes, ``{"heel": "RHEE"}``. ``up``
    is the axis that is up, "y" or "z", where the format leaves it open.
    """
    source = Path(path).expanduser()
    readers: dict[str, Callable[[Path], Measured]] = {
        ".mot": _read_storage,
        ".sto": _read_storage,
        ".trc": _read_trc,
        ".c3d": _read_c3d,
        ".csv": _read_csv,
    }
    ending = source.suffix.lower()
    if ending not in readers:
        raise FootfallError(f"cannot read a motion from '{source}': {did_you_mean(ending, readers)}")
    if not source.is_file():
        raise FootfallError(f"cannot read '{source}': there is no such file")
    if up not in (None, "y", "z"):
        raise FootfallError(f"the axis that is up is 'y' or 'z', not {up!r}")
    try:
        found = readers[ending](source)
    except (OSError, UnicodeDecodeError, ValueError, IndexError, KeyError) as error:
        raise FootfallError(f"'{source}' is no {ending} file that can be read: {error}") from error
    if up is not None:
        found = replace(found, up=up)
    return found.renamed(columns) if columns else found


def load_forces(
    path: str | os.PathLike[str], feet: Mapping[str, str] | None = None, *, up: str | None = None
) -> Measured:
    """Read ground reaction forces: a vector ``NAME.force`` (N, z up, of the ground on the foot) for each foot or plate.

    ``feet`` says which vector of the file is the force on which foot, ``{"left": "ground_force_v"}``. Left out, all
    vectors in N are taken by their own names.
    """
    found = load_motion(path, up=up).z_up()
    forces = [name for name in found.vectors if found.vector_unit(name) == "N"]
    if not forces:
        raise FootfallError(f"{found.source} has no force: no three columns in N that end in x, y, z")
    chosen = {name.removesuffix(".force"): name for name in forces} if feet is None else dict(feet)
    channels, units = {}, {}
    for foot, name in chosen.items():
        vector = found.vector(name)
        if found.vector_unit(name) != "N":
            raise FootfallError(
                f"'{name}' of {found.source} is in {found.vector_unit(name) or 'no unit'}, and not in N"
            )
        for k, axis in enumerate("xyz"):
            channels[f"{foot}.force.{axis}"], units[f"{foot}.force.{axis}"] = vector[:, k], "N"
    return Measured(found.time, channels, units, "z", found.source, found.done)


# ---- OpenSim -------------------------------------------------------------------------------------------------------


def _read_storage(path: Path) -> Measured:
    """A file of OpenSim's class Storage."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    end = next((i for i, line in enumerate(lines) if line.strip().lower() == "endheader"), None)
    if end is None:
        raise ValueError("it has no line 'endheader'")
    head = dict(line.lower().replace(" ", "").partition("=")[::2] for line in lines[:end])
    rest = [line for line in lines[end + 1 :] if line.strip()]  # a blank line after the header is legal
    if not rest:
        raise ValueError("it holds no samples")
    names = re.split(r"\s+", rest[0].strip())
    table = _table(rest[1:], len(names))
    if names[0].lower() != "time":
        raise ValueError(f"its first column is '{names[0]}' and not time")
    degrees = head.get("indegrees") == "yes"
    columns, units = {}, {}
    for name, values in zip(names[1:], table.T[1:], strict=True):
        scale, unit = SCALES[_storage_unit(name, degrees)]
        columns[name], units[name] = scale * values, unit
    return Measured(table[:, 0], columns, units, "y", path.name)


def _storage_unit(name: str, degrees: bool) -> str:
    """What a column of OpenSim's is in; its name says it."""
    if re.search(r"force_?v[xyz]$|_f[xyz]$", name):
        return "n"
    if re.search(r"force_?p[xyz]$|_t[xyz]$|_p[xyz]$", name):
        return "m"
    if re.search(r"(torque|moment)_?[xyz]?$|_m[xyz]$", name):
        return "nm"
    return "deg" if degrees else "rad"


def _table(lines: list[str], width: int) -> np.ndarray:
    rows = [line.split() for line in lines if line.strip()]
    if not rows:
        raise ValueError("it holds no samples")
    for k, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(f"row {k + 1} has {len(row)} numbers and not {width}")
    return np.array(rows, dtype=float)


# ---- markers -------------------------------------------------------------------------------------------------------


def _read_trc(path: Path) -> Measured:
    """Markers as columns NAME.x, NAME.y, NAME.z; blank ones are NaN."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if not lines or not lines[0].startswith("PathFileType"):
        raise ValueError("it does not begin with PathFileType")
    header = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=False))
    scale, unit = _scale(header["Units"].strip())
    names = [name.strip() for name in lines[3].split("\t")[2:] if name.strip()]
    rows = [line.split("\t") for line in lines[5:] if line.strip()]
    if not rows:
        raise ValueError("it holds no samples")
    width = 2 + 3 * len(names)
    table = np.full((len(rows), width), np.nan)
    for k, row in enumerate(rows):
        for i, text in enumerate(row[:width]):
            table[k, i] = float(text) if text.strip() else np.nan
    titles = [f"{name}.{axis}" for name in names for axis in "xyz"]
    columns = {title: scale * table[:, 2 + i] for i, title in enumerate(titles)}
    return Measured(table[:, 1], columns, dict.fromkeys(columns, unit), "y", path.name)


def _read_c3d(path: Path) -> Measured:
    """Markers as NAME.x ..., force plates as plate1.force.x, plate1.moment.x (about its middle) and plate1.cop.x ...

    Plates sample faster: of their samples those at the frames of the markers are kept.
    """
    file = read_c3d(path)
    columns: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}

    def put(name: str, values: np.ndarray, unit: str) -> None:
        scale, units_name = _scale(unit)
        for k, axis in enumerate("xyz"):
            columns[f"{name}.{axis}"], units[f"{name}.{axis}"] = scale * values[:, k], units_name

    for i, name in enumerate(file.labels):
        put(name, file.points[:, i], file.unit)
    frames, every = len(file.points), max(1, file.samples_per_frame)
    for number, plate in enumerate(force_plates(file), start=1):
        put(f"plate{number}.force", plate.force[::every], plate.force_unit)
        put(f"plate{number}.moment", plate.moment[::every], plate.moment_unit)
        put(f"plate{number}.cop", plate.cop[::every], file.unit)
    return Measured(np.arange(frames) / file.rate, columns, units, "z", path.name)


def _scale(unit: str) -> tuple[float, str]:
    key = unit.strip().lower().replace(".", "")
    if key not in SCALES:
        raise ValueError(f"its unit '{unit}' is not known; known: {', '.join(name for name in SCALES if name)}")
    return SCALES[key]


# ---- tables --------------------------------------------------------------------------------------------------------

#: A column's unit: ``force.x [N]``, ``force.x (N)``.
UNIT = re.compile(r"^(.*?)\s*[\[(]([^\])]*)[\])]\s*$")


def _read_csv(path: Path) -> Measured:
    """Columns by name, units in brackets; the column time is in s unless it says otherwise. Blank cells are NaN."""
    text = path.read_text(encoding="utf-8-sig")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) < 2:
        raise ValueError("it holds no samples")
    delimiter = max(",;\t", key=lines[0].count)
    head, *rows = csv.reader(lines, delimiter=delimiter)
    names, scales, units = [], [], []
    for title in head:
        found = UNIT.match(title.strip())
        scale, unit = _scale(found[2]) if found else (1.0, "")
        names.append(found[1] if found else title.strip())
        scales.append(scale)
        units.append(unit)
    table = np.full((len(rows), len(names)), np.nan)
    for k, row in enumerate(rows):
        if len(row) != len(names):
            raise ValueError(f"row {k + 1} has {len(row)} values and not {len(names)}")
        for i, cell in enumerate(row):
            table[k, i] = float(cell) if cell.strip() else np.nan
    times = [i for i, name in enumerate(names) if name.lower() in ("time", "t", "time_s")]
    if not times:
        raise ValueError(f"it has no column 'time'; its columns are {', '.join(names)}")
    at = times[0]
    others = [i for i in range(len(names)) if i != at]
    channels = {names[i]: scales[i] * table[:, i] for i in others}
    return Measured(scales[at] * table[:, at], channels, {names[i]: units[i] for i in others}, "z", path.name)
