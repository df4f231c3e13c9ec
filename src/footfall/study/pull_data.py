"""Pulls: the normal and tangential force on something that is dragged until it slides, from files and recordings.

A table (:mod:`footfall.files.delimited`) has the time, the normal force (pressing is positive), the tangential force
(one column, or two for its components), and, if there are, the sliding speed and the number of the pull, where one file
holds several. Columns without a unit are in s, N and m/s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.errors import FootfallError, did_you_mean
from footfall.files.delimited import read_columns, without_unit
from footfall.measure.common import normal_force, tangential, threshold
from footfall.solve.contacts import OPEN, SLIDE

if TYPE_CHECKING:
    from footfall.recording import Recording

# What a column may be called, apart from its unit: the first that is there is taken.
KNOWN = {
    "time": ("time", "t"),
    "normal": ("normal", "normal_force", "fn", "f_n", "fz", "f_z", "load"),
    "tangential": ("tangential", "tangential_force", "ft", "f_t", "friction", "pull", "pull_force"),
    "speed": ("speed", "slip_speed", "velocity", "v"),
    "pull": ("trial", "run", "pull_number"),
}
COMPONENTS = (("fx", "fy"), ("f_x", "f_y"), ("tangential_x", "tangential_y"))
UNITS = {"time": "s", "normal": "N", "tangential": "N", "speed": "m/s", "pull": ""}
SPELLED = re.compile(r"_(n|s|m_s|m_per_s)$")  # SI units at the end of a name, as some write them
SLIP_SPEED = 1e-3  # m/s, above which a measured speed is sliding
NEGATIVE = 0.02  # of the largest normal force: what noise may make negative


@dataclass(frozen=True, eq=False)
class Pull:
    """One pull: time (s), normal and tangential force (N), (N,) each; where it slides, if that was seen."""

    name: str
    time: np.ndarray
    normal: np.ndarray
    tangential: np.ndarray
    sliding: np.ndarray | None = None


def read_pulls(path: Path, names: Mapping[str, str | None]) -> list[Pull]:
    """The pulls of a table; ``names`` says what columns are called where it is not one of ``KNOWN``."""
    try:
        values, units, *_ = read_columns(path.expanduser())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FootfallError(f"cannot read '{path}': {reason}") from error
    plain = {SPELLED.sub("", name.strip().lower()).strip().replace(" ", "_"): name for name in reversed(values)}

    def column(what: str) -> np.ndarray | None:
        wanted = names.get(what)
        if wanted is not None:
            found: str | None = wanted if wanted in values else without_unit(wanted)[0]
            if found not in values:
                raise FootfallError(f"{path} has no column '{wanted}': {did_you_mean(wanted, values)}")
        else:
            found = next((plain[name] for name in KNOWN[what] if name in plain), None)
        return None if found is None else checked(found, UNITS[what])

    def checked(name: str, unit: str) -> np.ndarray:
        if units[name] not in ("", unit):
            raise FootfallError(f"{path}: column '{name}' is in {units[name]}, and not in {unit or 'no unit'}")
        return values[name]

    columns = {what: column(what) for what in KNOWN}
    if columns["tangential"] is None:
        pair = next((pair for pair in COMPONENTS if pair[0] in plain and pair[1] in plain), None)
        if pair is not None:
            columns["tangential"] = np.hypot(*(checked(plain[name], "N") for name in pair))
    for what in ("time", "normal", "tangential"):
        if columns[what] is None:
            raise FootfallError(
                f"{path} has no column '{what}' ({UNITS[what]}) that is recognised; its columns are "
                f"{', '.join(values)}: name one with {what}=, on the command line --{what} NAME"
            )
    return pulls_of(path.name, columns)


def pulls_of(name: str, columns: Mapping[str, Any]) -> list[Pull]:
    """Pulls from arrays called time, normal, tangential and, if there are, speed and pull."""
    for what in ("time", "normal", "tangential"):
        if columns.get(what) is None:
            raise FootfallError(f"{name}: '{what}' is missing; pulls need time (s), normal and tangential force (N)")
    arrays = {what: np.asarray(values, dtype=float).ravel() for what, values in columns.items() if values is not None}
    if len({array.size for array in arrays.values()}) != 1:
        sizes = ", ".join(f"{what} {array.size}" for what, array in arrays.items())
        raise FootfallError(f"{name}: columns differ in length: {sizes}")
    for what, array in arrays.items():
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise FootfallError(f"{name}: {what} is not a number in sample {bad[0]}, and in {bad.size} samples in all")
    number = arrays.pop("pull", np.zeros(arrays["time"].size))
    found = []
    for value in np.unique(number):
        chosen = number == value
        one = {what: array[chosen] for what, array in arrays.items()}
        label = name if np.all(chosen) else f"{name}, pull {value:g}"
        _check(label, one)
        sliding = np.abs(one["speed"]) > SLIP_SPEED if "speed" in one else None
        found.append(Pull(label, one["time"], one["normal"], np.abs(one["tangential"]), sliding))
    return found


def pull_of_recording(rec: Recording, foot: str | None) -> Pull:
    """What a foot, or the only one, was dragged with: sliding where every point that touches slides."""
    if foot is None and len(rec.robot.feet) > 1:
        known = ", ".join(one.name for one in rec.robot.feet)
        raise FootfallError(f"{rec.robot.name} has several feet ({known}): say which, foot=NAME or --foot NAME")
    points = rec.foot(foot or rec.robot.feet[0].name)
    along = tangential(rec, rec.force)[:, points].sum(axis=1)
    normal = normal_force(rec)[:, points].sum(axis=1)
    mode = rec.mode[:, points]
    sliding = ((mode == SLIDE) | (mode == OPEN)).all(axis=1) & (normal > threshold(rec))
    name = f"{rec.robot.name} under {rec.law.name}"
    return Pull(name, rec.time, normal, np.linalg.norm(along, axis=1), sliding)


def _check(name: str, one: Mapping[str, np.ndarray]) -> None:
    if np.any(np.diff(one["time"]) <= 0):
        at = int(np.flatnonzero(np.diff(one["time"]) <= 0)[0]) + 1
        raise FootfallError(
            f"{name}: time does not increase in sample {at}; several pulls in one file need a column 'trial'"
        )
    normal = one["normal"]
    low = np.flatnonzero(normal < -NEGATIVE * np.abs(normal).max())
    if low.size:
        raise FootfallError(
            f"{name}: the normal force is negative in {low.size} of {normal.size} samples ({normal[low[0]]:.4g} N at "
            f"t = {one['time'][low[0]]:.4g} s); ground only presses: turn the column's sign, or take out its offset"
        )
