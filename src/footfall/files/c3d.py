"""C3D, the file of gait laboratories: markers, analog channels, and what force plates measured.

The package ``c3d`` reads and writes the bytes; here are more names than a field holds, and the forces on plates.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from footfall.errors import optional_package
from footfall.files.tables import unique

#: Labels beyond 255 continue in LABELS2, LABELS3, ...: a dimension is one byte.
MOST = 255
LONGEST = 100  # characters of a label: 255 labels stay below the 32 KiB that one parameter may take
WHAT = "a file .c3d"  # what the package is needed for


@dataclass(frozen=True, eq=False)
class C3D:
    """What a C3D file holds, in the file's own units.

    Attributes:
        rate: frames per second.
        labels: N names of markers.
        points: (T, N, 3) places of markers, laboratory's axes, in ``unit``; NaN where a marker was not seen.
        unit: of the markers, "mm" as a rule.
        channels: C names of analog channels.
        channel_units: C units.
        analog: (T * k, C) samples, k per frame, scaled and with their offset removed.
        platform: the parameters of the group FORCE_PLATFORM, with the indices in the order of the format.
    """

    rate: float
    labels: tuple[str, ...]
    points: np.ndarray
    unit: str = "mm"
    channels: tuple[str, ...] = ()
    channel_units: tuple[str, ...] = ()
    analog: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    platform: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def samples_per_frame(self) -> int:
        """Analog samples of one frame."""
        return len(self.analog) // len(self.points) if len(self.points) else 0


def read_c3d(path: Path) -> C3D:
    """Read a file; a ``ValueError`` says what is wrong with one that is damaged or no C3D."""
    package = optional_package("c3d", WHAT)
    try:
        with path.open("rb") as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the package, about what does not matter here, or raises below
            return _content(package.Reader(stream))
    except OSError:
        raise
    except Exception as error:  # the package raises anything on a damaged file
        raise ValueError(f"it is no C3D file, or damaged: {' '.join(str(error).split())}") from error


def _content(reader: Any) -> C3D:
    frames = list(reader.read_frames())
    if len(frames) != reader.frame_count:
        raise ValueError(f"it announces {reader.frame_count} frames and has {len(frames)}")
    if not (np.isfinite(reader.point_rate) and reader.point_rate > 0.0):
        raise ValueError(f"its frame rate is {reader.point_rate:g}")
    count, channels = reader.point_used, reader.analog_used
    points = np.array([points for _, points, _ in frames], dtype=float).reshape(-1, count, 5)
    analog = [samples.T for _, _, samples in frames] if channels else [np.zeros((0, 0))]
    platform = reader.get("FORCE_PLATFORM")
    numbers = [] if platform is None else [item for item in platform.param_items() if item[1].bytes_per_element > 0]
    return C3D(
        rate=float(reader.point_rate),
        labels=_names(_texts(reader, "POINT:LABELS"), count, "point"),
        points=np.where(points[..., 3:4] < 0.0, np.nan, points[..., :3]),
        unit=(_texts(reader, "POINT:UNITS") or ["mm"])[0],
        channels=_names(_texts(reader, "ANALOG:LABELS"), channels, "channel"),
        channel_units=tuple((_texts(reader, "ANALOG:UNITS") + [""] * channels)[:channels]),
        analog=np.concatenate(analog),
        platform={name: _numbers(one) for name, one in numbers},
    )


def _texts(reader: Any, name: str) -> list[str]:
    """A text parameter with those that continue it, as LABELS, LABELS2, ..."""
    found: list[str] = []
    for number in ("", *range(2, 1000)):
        if (one := reader.get(f"{name}{number}")) is None:
            break
        found += [str(text).replace("\0", " ").strip() for text in np.ravel(one.string_array)]
    return found


def _numbers(parameter: Any) -> np.ndarray:
    """A parameter as an array with its dimensions in the order of the format, the first index fastest."""
    parameter.dimensions = parameter.dimensions or [1]
    found: np.ndarray = parameter.float_array if parameter.bytes_per_element == 4 else parameter.int_array
    return found.T


def _names(given: list[str], count: int, kind: str) -> tuple[str, ...]:
    """So many names, none empty and none twice."""
    return tuple(unique(name or f"{kind}{i + 1}" for i, name in enumerate((given + [""] * count)[:count])))


def write_c3d(path: Path, file: C3D) -> None:
    """Write markers (NaN: not seen), analog channels and force plates; a ``ValueError`` says what does not fit."""
    writer = optional_package("c3d", WHAT).Writer(
        point_rate=file.rate, analog_rate=file.rate * file.samples_per_frame, point_units=file.unit
    )
    for group, name, texts in (
        (writer.point_group, "LABELS", file.labels),
        (writer.point_group, "DESCRIPTIONS", [""] * len(file.labels)),
        (writer.analog_group, "LABELS", file.channels),
        (writer.analog_group, "DESCRIPTIONS", [""] * len(file.channels)),
        (writer.analog_group, "UNITS", file.channel_units),
    ):
        _add_texts(group, name, texts)
    if file.platform:
        plates = writer.add_group(writer.numeric_key_next, "FORCE_PLATFORM", "")
        for name, values in file.platform.items():
            stored = np.asarray(values).astype("<f4" if np.asarray(values).dtype.kind == "f" else "<i2")
            numbers = {"bytes_per_element": stored.itemsize, "bytes": stored.tobytes(order="F")}
            plates.add_param(name, dimensions=list(stored.shape), **numbers)
    seen = np.isfinite(file.points).all(axis=2, keepdims=True)
    places = np.concatenate([np.where(seen, file.points, 0.0), np.where(seen, 0.0, -1.0), 0.0 * seen], axis=2)
    samples = file.analog.reshape(len(places), -1, len(file.channels)).transpose(0, 2, 1)
    writer.add_frames(list(zip(places, samples, strict=True)))
    if writer.parameter_blocks() > MOST:
        raise ValueError(f"the names of {len(file.labels)} markers take more room than C3D has")
    with path.open("wb") as stream:
        writer.write(stream)


def _add_texts(group: Any, name: str, texts: Sequence[str]) -> None:
    """Add texts, in ASCII, as many parameters as they need."""
    short = [text.encode("ascii", "replace").decode()[:LONGEST] for text in texts]
    for number, first in enumerate(range(0, len(short), MOST), start=1):
        part = short[first : first + MOST]
        width = max(1, *map(len, part))
        group.add_str(
            f"{name}{number if number > 1 else ''}", "", "".join(one.ljust(width) for one in part), width, len(part)
        )


# ---- force plates ---------------------------------------------------------------------------------------------------


CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6}


class PlateRecord(NamedTuple):
    """What one plate measured, laboratory's axes, in the units of the file's channels and markers."""

    corners: np.ndarray  # (4, 3)
    force: np.ndarray  # (S, 3)
    moment: np.ndarray  # (S, 3), about the middle of the surface
    cop: np.ndarray  # (S, 3), in the surface; NaN where nothing presses
    force_unit: str
    moment_unit: str


def force_plates(file: C3D) -> list[PlateRecord]:
    """The plates of a file, none if it has none; a ``ValueError`` says what cannot be read."""
    used = np.atleast_1d(file.platform.get("USED", 0)).ravel()
    count = int(used[0]) if used.size else 0
    if not 0 <= count <= 100:
        raise ValueError(f"it announces {count} force plates")
    return [_plate(file, i) for i in range(count)]


def _plate(file: C3D, i: int) -> PlateRecord:
    """The forces on plate ``i`` in the frame of the laboratory."""
    group = file.platform
    try:
        kind = int(np.atleast_1d(group["TYPE"])[i])
        if kind not in CHANNELS:
            raise ValueError(f"its force plate {i + 1} is of type {kind}; types 1 to 4 are read")
        channel = np.atleast_2d(np.asarray(group["CHANNEL"]).T)[i, : CHANNELS[kind]]
        corners = np.asarray(group["CORNERS"], float).reshape(3, 4, -1, order="F")[:, :, i].T
        origin = np.asarray(group["ORIGIN"], float).reshape(3, -1, order="F")[:, i]
        signals = file.analog[:, channel.astype(int) - 1]
        if kind == 4:
            matrix = np.asarray(group["CAL_MATRIX"], float).reshape(6, 6, -1, order="F")[:, :, i]
            signals = signals @ matrix.T
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"its force plate {i + 1} lacks parameters or channels: {error}") from error
    names = [file.channel_units[c - 1] for c in channel.astype(int)]
    force, moment = _at_surface(kind, signals, origin)
    axes, middle = _axes(corners), corners.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cop = np.stack([-moment[:, 1] / force[:, 2], moment[:, 0] / force[:, 2], 0.0 * force[:, 2]], axis=1)
    cop[force[:, 2] == 0.0] = np.nan
    turning = names[5] if kind != 3 else f"{names[0]}{file.unit}"
    return PlateRecord(corners, force @ axes, moment @ axes, cop @ axes + middle, names[0], turning)


def _axes(corners: np.ndarray) -> np.ndarray:
    """(3, 3) the plate's axes as rows; corners lie in its quadrants (+, +), (-, +), (-, -), (+, -)."""
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    z = np.cross(x, y)
    if not (np.linalg.norm(x) > 0 and np.linalg.norm(z) > 0):
        raise ValueError("the corners of a force plate span no plane")
    y = np.cross(z, x)
    return np.stack([v / np.linalg.norm(v) for v in (x, y, z)])


def _at_surface(kind: int, signals: np.ndarray, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about the middle of the surface, (S, 3) each, plate's axes.

    ``origin`` leads from where the plate measures to the middle of its surface, which lies above (z down): some files
    have its sign reversed. Of type 3 it holds the posts' distances from the middle and the surface's height.
    """
    if kind == 3:
        x12, x34, y14, y23, z1, z2, z3, z4 = signals.T
        a, b = abs(origin[0]), abs(origin[1])
        force = np.stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4], axis=1)
        moment = np.stack(
            [b * (z1 + z2 - z3 - z4), a * (-z1 + z2 + z3 - z4), b * (-x12 + x34) + a * (y14 - y23)], axis=1
        )
        return force, moment + np.cross(force, [0.0, 0.0, -abs(origin[2])])
    force = signals[:, :3]
    if kind == 1:  # channels 4 and 5 are the centre of pressure in the surface, 6 the free moment
        x, y, free = signals[:, 3], signals[:, 4], signals[:, 5]
        fx, fy, fz = force.T
        return force, np.stack([y * fz, -x * fz, free + x * fy - y * fx], axis=1)
    offset = -origin if origin[2] > 0 else origin
    return force, signals[:, 3:6] + np.cross(force, offset)
