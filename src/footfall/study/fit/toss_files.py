"""Files of tosses: arrays of the ContactNets kind, or tables, a toss each or all in one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from footfall.errors import StudyError
from footfall.files.delimited import read_columns
from footfall.files.times import time_column
from footfall.files.units import known_unit
from footfall.study.fit.flight import product
from footfall.study.fit.flight_checks import UP

#: Columns of a table that number or name its tosses.
NUMBERS = re.compile(r"^(toss|trial|throw|run|drop|take|episode)[._ ]?(id|no|nr|number|index|name)?$", re.IGNORECASE)
QUATERNION = re.compile(r"^(?:.*[._ ])?(?:q|quat|quaternion|rotation|orientation|rot)[._ ]?([wxyz])$", re.IGNORECASE)
PLACE = re.compile(
    r"^(?:.*[._ ])?(?:p|pos|position|place|com|centre|center|tx?|translation)?[._ ]?([xyz])$", re.IGNORECASE
)

Order = Literal["wxyz", "xyzw"]


class Poses(NamedTuple):
    """One toss as a file has it: (T, 7) place (m) and quaternion w, x, y, z; (6,) velocities at the first frame."""

    name: str
    qpos: np.ndarray
    qvel: np.ndarray
    rate: float | None  # frames per second, None where the file does not say it


def read_tosses(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    order: Order = "wxyz",
    unit: str = "m",
    rate: float | None = None,
    up: str = "z",
) -> list[Poses]:
    """All tosses of a file .npz or .csv, or of several tables with a toss each, turned until ``up`` is z."""
    if isinstance(path, str | os.PathLike):
        sources = [Path(path).expanduser()]
    else:
        sources = [Path(one).expanduser() for one in path]
    scale = known_unit(unit)
    if scale is None or scale[1] != "m":
        raise StudyError(f"places are in a unit of length, such as m or mm, not in '{unit}'")
    if order not in ("wxyz", "xyzw"):
        raise StudyError(f"quaternions are in the order 'wxyz' or 'xyzw', not '{order}'")
    if up not in UP:
        raise StudyError(f"the axis that is up is one of {', '.join(UP)}, not '{up}'")
    found = [_upright(one, up) for source in sources for one in _of_file(source, order, scale[0], rate)]
    if not found:
        raise StudyError("no toss was given")
    return found


def _upright(poses: Poses, up: str) -> Poses:
    """The same toss in a frame whose z is the axis ``up`` of this one; spins are in the body's frame, and stay."""
    if up == "z":
        return poses
    axis, sign = UP[up]
    turn = np.zeros(4)
    # Half a turn about the bisector of both axes takes the one to the other; about x where they are opposite.
    between = sign * np.eye(3)[axis] + np.array([0.0, 0.0, 1.0])
    turn[1:] = between / np.linalg.norm(between) if between.any() else [1.0, 0.0, 0.0]
    rotation = 2.0 * np.outer(turn[1:], turn[1:]) - np.eye(3)
    places = poses.qpos[:, :3] @ rotation.T
    qpos = np.hstack([places, product(np.broadcast_to(turn, (len(places), 4)), poses.qpos[:, 3:])])
    return poses._replace(qpos=qpos, qvel=np.concatenate([rotation @ poses.qvel[:3], poses.qvel[3:]]))


def _of_file(source: Path, order: Order, scale: float, rate: float | None) -> list[Poses]:
    if source.suffix.lower() in (".csv", ".tsv", ".txt", ".parquet"):
        return _of_table(source, scale, rate)
    try:
        with np.load(source, allow_pickle=False) as data:
            missing = [name for name in ("state", "toss") if name not in data]
            if missing:
                raise StudyError(
                    f"{source} has no array '{missing[0]}': tosses need 'state' (N, 13) or (N, 7) and 'toss' (N,)"
                )
            state, number = np.asarray(data["state"], dtype=float), np.asarray(data["toss"])
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read tosses from '{source}': {error}") from error
    if state.ndim != 2 or state.shape[1] not in (7, 13) or number.shape != (len(state),):
        raise StudyError(f"{source}: 'state' has shape {state.shape} and 'toss' {number.shape}, not (N, 13) and (N,)")
    bad = np.flatnonzero(~np.isfinite(state).all(axis=1))
    if bad.size:
        raise StudyError(f"{source}: {bad.size} rows hold numbers that are not finite, the first is row {bad[0]}")
    found = []
    for one in np.unique(number):
        own = state[number == one]
        turn = own[:, :4] if order == "wxyz" else own[:, [3, 0, 1, 2]]
        poses = np.hstack([scale * own[:, 4:7], turn])
        given = np.concatenate([scale * own[0, 10:13], own[0, 7:10]]) if state.shape[1] == 13 else None
        found.append(_poses(f"toss {one}", poses, given, rate, str(source)))
    return found


def _of_table(source: Path, scale: float, rate: float | None) -> list[Poses]:
    """Tosses of a table: x, y, z, qw, qx, qy, qz by name, time or a rate, and a number of the toss if more."""
    try:
        values, units, stated, done, texts = read_columns(source)
        time = time_column(values, units, texts, done)
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read tosses from '{source}': {error}") from error
    unturned = [name for name in values if not QUATERNION.match(name)]
    place = _columns(source, unturned, PLACE, "xyz", "x, y, z of places")
    turn = _columns(source, values, QUATERNION, "wxyz", "qw, qx, qy, qz of quaternions")
    factor = scale if all(units[name] == "" for name in place) else 1.0
    poses = np.column_stack([*(factor * values[name] for name in place), *(values[name] for name in turn)])
    numbers = next((name for name in (*values, *texts) if NUMBERS.match(name)), None)
    which = np.zeros(len(poses)) if numbers is None else np.asarray(values.get(numbers, texts.get(numbers)))
    found = []
    for one in dict.fromkeys(which.tolist()):
        if one != one or one == "":  # rows of no toss
            continue
        own = which == one
        name = source.stem if numbers is None else f"toss {one:g}" if isinstance(one, float) else str(one)
        frames = rate if rate is not None else stated
        if time is not None and own.sum() > 1:
            step = np.diff(time[own])
            if step.min() <= 0.0 or np.ptp(step) > 0.3 * np.median(step):
                k = int(np.abs(step - np.median(step)).argmax())
                raise StudyError(
                    f"{source}: frames {k} and {k + 1} of {name} are {step[k]:.4g} s apart and others "
                    f"{np.median(step):.4g} s: number the tosses in a column 'toss', and fill or cut gaps"
                )
            frames = (len(step)) / float(time[own][-1] - time[own][0])
        found.append(_poses(name, poses[own], None, frames, str(source)))
    return found


def _columns(source: Path, names: Iterable[str], pattern: re.Pattern[str], axes: str, wanted: str) -> list[str]:
    found: dict[str, str] = {}
    names = list(names)
    for name in names:
        matched = pattern.match(name)
        if matched:
            found.setdefault(matched[1].lower(), name)
    if any(axis not in found for axis in axes):
        raise StudyError(f"{source} has no columns {wanted}; its columns are {', '.join(names)}")
    return [found[axis] for axis in axes]


def _poses(name: str, poses: np.ndarray, given: np.ndarray | None, rate: float | None, source: str) -> Poses:
    if len(poses) < 2:
        raise StudyError(f"{source}: {name} has a single frame")
    if not np.isfinite(poses).all():
        bad = int(np.flatnonzero(~np.isfinite(poses).all(axis=1))[0])
        raise StudyError(f"{source}: {name} has a gap in frame {bad}: fill it, or cut the toss there")
    length = np.linalg.norm(poses[:, 3:7], axis=1, keepdims=True)
    if (np.abs(length - 1.0) > 0.05).any():
        worst = float(length[np.abs(length - 1.0).argmax(), 0])
        raise StudyError(
            f"{source}: a quaternion of {name} is of length {worst:.3g} and not 1: are these columns quaternions?"
        )
    qpos = np.hstack([poses[:, :3], poses[:, 3:7] / length])
    return Poses(name, qpos, np.zeros(6) if given is None else given, rate)
