"""Motion of your own, from the files of gait laboratories: OpenSim's .mot and .sto, .trc markers, .c3d.

    motion = load_motion("walk_ik.mot")
    motion.time, motion["knee_angle_r"]            # s, rad
    load_motion("walk.trc").vector("R.Heel")       # (T, 3) m
    load_motion("walk.c3d").z_up().vector("plate1.force.")

Numbers come in SI units: degrees become radians, millimetres metres. Axes stay those of the file until ``z_up`` turns
them into Footfall's: OpenSim's y is up, and so is that of a .trc file; a .c3d file has z up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from footfall.errors import FootfallError, did_you_mean
from footfall.files.c3d import read_c3d
from footfall.files.force_plates import force_plates

#: What a unit of a file is in SI.
SCALES = {
    "mm": (1e-3, "m"),
    "cm": (1e-2, "m"),
    "m": (1.0, "m"),
    "deg": (np.pi / 180.0, "rad"),
    "rad": (1.0, "rad"),
    "n": (1.0, "N"),
    "nmm": (1e-3, "N m"),
    "nm": (1.0, "N m"),
    "n*mm": (1e-3, "N m"),
    "n*m": (1.0, "N m"),
    "v": (1.0, "V"),
    "": (1.0, ""),
}


@dataclass(frozen=True, eq=False, repr=False)
class RecordedMotion:
    """Named time series of one recording.

    Attributes:
        time: (T,) s.
        columns: (T,) numbers by name; NaN where there are none. Three that differ only in a last x, y, z are a vector.
        units: of each column: m, rad, N, N m, or "".
        up: which axis of vectors is up, "y" or "z".
        source: the file.
    """

    time: np.ndarray
    columns: Mapping[str, np.ndarray]
    units: Mapping[str, str]
    up: str
    source: str

    def __post_init__(self) -> None:
        for name in ("columns", "units"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise FootfallError(f"{self.source} has no '{name}': {did_you_mean(name, self.columns)}")
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"RecordedMotion('{self.source}', {len(self)} samples, {len(self.columns)} columns)"

    @property
    def vectors(self) -> tuple[str, ...]:
        """Names of the vectors: those of their columns without the last x, y, z. A marker's dot goes too."""
        return tuple(name.removesuffix(".") for name in self._stems())

    def vector(self, name: str) -> np.ndarray:
        """(T, 3) a vector by its name, such as a marker."""
        stems = {stem.removesuffix("."): stem for stem in self._stems()}
        stem = stems.get(name.removesuffix("."))
        if stem is None:
            raise FootfallError(f"{self.source} has no vector '{name}': {did_you_mean(name, stems)}")
        return np.column_stack([self.columns[stem + axis] for axis in "xyz"])

    def z_up(self) -> RecordedMotion:
        """The same with vectors in Footfall's frame, x forward, y to the left, z up."""
        if self.up == "z":
            return self
        columns = dict(self.columns)
        for stem in self._stems():
            columns[stem + "y"], columns[stem + "z"] = -self.columns[stem + "z"], self.columns[stem + "y"]
        return replace(self, columns=columns, up="z")

    def _stems(self) -> list[str]:
        return [
            name[:-1] for name in self.columns if name[-1:] == "x" and all(name[:-1] + a in self.columns for a in "yz")
        ]


def load_motion(path: str | os.PathLike[str]) -> RecordedMotion:
    """Read a motion file by its ending: .mot, .sto, .trc or .c3d."""
    source = Path(path).expanduser()
    readers: dict[str, Callable[[Path], RecordedMotion]] = {
        ".mot": _read_storage,
        ".sto": _read_storage,
        ".trc": _read_trc,
        ".c3d": _read_c3d,
    }
    ending = source.suffix.lower()
    if ending not in readers:
        raise FootfallError(f"cannot read a motion from '{source}': {did_you_mean(ending, readers)}")
    if not source.is_file():
        raise FootfallError(f"cannot read '{source}': there is no such file")
    try:
        return readers[ending](source)
    except (OSError, UnicodeDecodeError, ValueError, IndexError, KeyError) as error:
        raise FootfallError(f"'{source}' is no {ending} file that can be read: {error}") from error


# ---- OpenSim -------------------------------------------------------------------------------------------------------


def _read_storage(path: Path) -> RecordedMotion:
    """A file of OpenSim's class Storage."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    end = next((i for i, line in enumerate(lines) if line.strip().lower() == "endheader"), None)
    if end is None:
        raise ValueError("it has no line 'endheader'")
    head = dict(line.lower().replace(" ", "").partition("=")[::2] for line in lines[:end])
    names = re.split(r"\s+", lines[end + 1].strip())
    table = _table(lines[end + 2 :], len(names))
    if names[0].lower() != "time":
        raise ValueError(f"its first column is '{names[0]}' and not time")
    degrees = head.get("indegrees") == "yes"
    columns, units = {}, {}
    for name, values in zip(names[1:], table.T[1:], strict=True):
        scale, unit = SCALES[_storage_unit(name, degrees)]
        columns[name], units[name] = scale * values, unit
    return RecordedMotion(table[:, 0], columns, units, "y", path.name)


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


def _read_trc(path: Path) -> RecordedMotion:
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
    return RecordedMotion(table[:, 1], columns, dict.fromkeys(columns, unit), "y", path.name)


def _read_c3d(path: Path) -> RecordedMotion:
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
    return RecordedMotion(np.arange(frames) / file.rate, columns, units, "z", path.name)


def _scale(unit: str) -> tuple[float, str]:
    key = unit.strip().lower().replace(".", "")
    if key not in SCALES:
        raise ValueError(f"its unit '{unit}' is not known; known: {', '.join(name for name in SCALES if name)}")
    return SCALES[key]
