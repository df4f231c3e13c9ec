"""C3D, the file of gait laboratories: markers, analog channels and parameters, read and written.

The format is public (c3d.org, "The C3D File Format User Guide"): blocks of 512 bytes, a header, a section of
parameters in groups, then frames of markers and analog samples as 2-byte integers or 4-byte floats. Three processors
left their mark on it: Intel (little-endian), MIPS (big-endian) and DEC (VAX floats); all three are read, Intel's is
written.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from footfall.files.tables import unique

BLOCK = 512
PARAMETERS = 0x50  # what the second byte of header and parameter section says
INTEL, DEC, MIPS = 84, 85, 86
TEXT, BYTE, INTEGER, REAL = -1, 1, 2, 4
#: Labels beyond 255 continue in LABELS2, LABELS3, ...: a dimension is one byte.
MOST = 255

Parameters = Mapping[str, Mapping[str, Any]]


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
        parameters: all parameters by group and name: texts as tuples, numbers as arrays, the first index fastest.
    """

    rate: float
    labels: tuple[str, ...]
    points: np.ndarray
    unit: str = "mm"
    channels: tuple[str, ...] = ()
    channel_units: tuple[str, ...] = ()
    analog: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    parameters: Parameters = field(default_factory=dict)

    @property
    def samples_per_frame(self) -> int:
        """Analog samples of one frame."""
        return len(self.analog) // len(self.points) if len(self.points) else 0


class _Header(NamedTuple):
    """Words of the header that the data section depends on."""

    points: int
    analog: int  # values of one frame, all channels
    frames: int
    scale: float  # of integer places; negative where numbers are floats
    data_block: int
    samples: int  # analog samples of one frame


class _Bytes:
    """The bytes of a file with the numbers of the processor that wrote it; reading past the end is a ValueError."""

    def __init__(self, content: bytes, processor: int) -> None:
        self.content = content
        self.order = ">" if processor == MIPS else "<"
        self.vax = processor == DEC

    def cut(self, at: int, count: int) -> bytes:
        if at < 0 or count < 0 or at + count > len(self.content):
            raise ValueError("it ends in the middle of what it announces")
        return self.content[at : at + count]

    def integers(self, at: int, count: int, kind: str = "i2") -> np.ndarray:
        return np.frombuffer(self.cut(at, count * int(kind[1:])), self.order + kind)

    def integer(self, at: int, kind: str = "u2") -> int:
        return int(self.integers(at, 1, kind)[0])

    def reals(self, at: int, count: int) -> np.ndarray:
        raw = self.cut(at, 4 * count)
        if not self.vax:
            return np.frombuffer(raw, self.order + "f4").astype(float)
        # A VAX float is an IEEE one with its halves exchanged and an exponent two larger.
        halves = np.frombuffer(raw, "<u2").reshape(-1, 2)[:, ::-1].copy()
        return halves.view("<f4").ravel().astype(float) / 4.0


def read_c3d(path: Path) -> C3D:
    """Read a file; a ``ValueError`` says what is wrong with one that is damaged or no C3D."""
    content = path.read_bytes()
    if len(content) < 2 * BLOCK or content[1] != PARAMETERS or not content[0]:
        raise ValueError("it does not begin as a C3D file does")
    start = BLOCK * (content[0] - 1)
    if len(content) < start + 4:
        raise ValueError("it ends in the middle of what it announces")
    processor = content[start + 3]
    if processor not in (INTEL, DEC, MIPS):
        raise ValueError(f"its processor type {processor} is none of {INTEL}, {DEC}, {MIPS}")
    file = _Bytes(content, processor)
    parameters = _parameters(file, start)
    header = _header(file, parameters)
    return _with_data(file, header, parameters)


# ---- parameters ----------------------------------------------------------------------------------------------------


def _parameters(file: _Bytes, start: int) -> dict[str, dict[str, Any]]:
    """The parameters of the file by group and name."""
    names: dict[int, str] = {}
    values: dict[int, dict[str, Any]] = {}
    at = start + 4
    while True:
        length = abs(file.integer(at, "i1"))
        group = file.integer(at + 1, "i1")
        if not length or not group:
            break
        name = file.cut(at + 2, length).decode("ascii", "replace").strip().upper()
        after = at + 2 + length
        step = file.integer(after, "u2")
        if group < 0:
            names[-group] = name
        else:
            values.setdefault(group, {})[name] = _value(file, after + 2)
        if not step:
            break
        at = after + step
    return {name: values.get(group, {}) for group, name in names.items()}


def _value(file: _Bytes, at: int) -> Any:
    kind, dimensions = file.integer(at, "i1"), file.integer(at + 1, "u1")
    shape = tuple(int(n) for n in file.integers(at + 2, dimensions, "u1"))
    count = int(np.prod(shape, dtype=np.int64))
    begin = at + 2 + dimensions
    if kind == TEXT:
        text = file.cut(begin, count).decode("utf-8", "replace")
        width = shape[0] if shape else 1
        rows = [text[i : i + width] for i in range(0, len(text), width)] if width else []
        return tuple(row.replace("\0", " ").strip() for row in rows)
    if kind == REAL:
        found = file.reals(begin, count)
    elif kind in (BYTE, INTEGER):
        found = file.integers(begin, count, "i1" if kind == BYTE else "i2").astype(int)
    else:
        raise ValueError(f"it has a parameter of the unknown type {kind}")
    return found.reshape(shape, order="F")


def _numbers(parameters: Parameters, group: str, name: str) -> np.ndarray:
    """A numeric parameter, flat in the order of the file; empty where there is none."""
    value = parameters.get(group, {}).get(name, ())
    return np.zeros(0) if isinstance(value, tuple) else np.atleast_1d(value).ravel(order="F")


def _first(parameters: Parameters, group: str, name: str, otherwise: float) -> float:
    found = _numbers(parameters, group, name)
    return float(found[0]) if found.size else otherwise


def texts(parameters: Parameters, group: str, name: str) -> tuple[str, ...]:
    """A text parameter with those that continue it, as LABELS, LABELS2, ..."""
    found: list[str] = []
    for number in range(1, 1000):
        value = parameters.get(group, {}).get(name if number == 1 else f"{name}{number}")
        if not isinstance(value, tuple):
            break
        found += value
    return tuple(found)


# ---- data ----------------------------------------------------------------------------------------------------------


def _header(file: _Bytes, parameters: Parameters) -> _Header:
    points, analog, first, last = (int(n) for n in file.integers(2, 4, "u2"))
    # Two bytes hold 65535 frames; longer trials say their number elsewhere as well.
    frames = [last - first + 1]
    frames += [int(n) & 0xFFFF for n in _numbers(parameters, "POINT", "FRAMES")[:1] if n == n and 0 < abs(n) < 65536]
    frames += [int(n) for n in _numbers(parameters, "POINT", "LONG_FRAMES")[:1] if 65536 <= n < 2**31]
    begin, end = (_numbers(parameters, "TRIAL", f"ACTUAL_{which}_FIELD") for which in ("START", "END"))
    if begin.size == end.size == 2:
        low, high = ((int(n) & 0xFFFF for n in (ends[0], ends[1])) for ends in (begin, end))
        (b0, b1), (e0, e1) = low, high
        frames.append(e0 + 65536 * e1 - b0 - 65536 * b1 + 1)
    scale = float(file.reals(12, 1)[0])
    return _Header(points, analog, max(frames), scale, file.integer(16), file.integer(18))


def _with_data(file: _Bytes, header: _Header, parameters: Parameters) -> C3D:
    """The file with its markers and channels, scaled."""
    rate = _first(parameters, "POINT", "RATE", float(file.reals(20, 1)[0]))
    if not (np.isfinite(rate) and rate > 0.0):
        raise ValueError(f"its frame rate is {rate:g}")
    width = 4 * header.points + header.analog
    size = 4 if header.scale < 0 else 2
    begin = BLOCK * (header.data_block - 1)
    frames = header.frames
    if frames < 0 or (width and begin + frames * width * size > len(file.content)):
        raise ValueError(f"it announces {frames} frames and ends before them")
    raw = file.reals(begin, frames * width) if size == 4 else file.integers(begin, frames * width)
    table = np.asarray(raw, dtype=float).reshape(frames, width)
    places = table[:, : 4 * header.points].reshape(frames, header.points, 4)
    points = places[..., :3] * (1.0 if size == 4 else header.scale)
    points[places[..., 3] < 0] = np.nan  # the fourth word is -1 where a marker was not seen
    samples = header.samples if header.analog else 0
    if samples and header.analog % samples:
        raise ValueError(f"{header.analog} analog values of a frame are not {samples} samples of each channel")
    count = header.analog // samples if samples else 0
    analog = table[:, 4 * header.points :].reshape(frames * samples, count)
    if size == 2 and "UNSIGNED" in texts(parameters, "ANALOG", "FORMAT"):
        analog = np.where(analog < 0, analog + 65536, analog)
    scale = _padded(_numbers(parameters, "ANALOG", "SCALE"), count, 1.0)
    offset = _padded(_numbers(parameters, "ANALOG", "OFFSET"), count, 0.0)
    analog = (analog - offset) * scale * _first(parameters, "ANALOG", "GEN_SCALE", 1.0)
    return C3D(
        rate=rate,
        labels=_names(texts(parameters, "POINT", "LABELS"), header.points, "point"),
        points=points,
        unit=(texts(parameters, "POINT", "UNITS") or ("mm",))[0],
        channels=_names(texts(parameters, "ANALOG", "LABELS"), count, "channel"),
        channel_units=(texts(parameters, "ANALOG", "UNITS") + ("",) * count)[:count],
        analog=analog,
        parameters=parameters,
    )


def _padded(values: np.ndarray, count: int, filling: float) -> np.ndarray:
    return np.concatenate([values[:count], np.full(max(0, count - values.size), filling)])


def _names(given: tuple[str, ...], count: int, kind: str) -> tuple[str, ...]:
    """So many names, none empty and none twice."""
    return tuple(unique(name or f"{kind}{i + 1}" for i, name in enumerate((given + ("",) * count)[:count])))


# ---- writing: floats in Intel's order, which every reader takes -----------------------------------------------------


LONGEST = 100  # characters of a label: 255 labels stay below the 32 KiB that one parameter may take


def write_c3d(path: Path, file: C3D) -> None:
    """Write markers (NaN: not seen), analog channels and the parameters that ``file.parameters`` adds.

    Groups POINT, ANALOG and TRIAL are made from the arrays. A ``ValueError`` says what the format cannot hold.
    """
    frames, points = file.points.shape[:2]
    samples, channels = file.samples_per_frame, len(file.channels)
    if points > 0xFFFF or samples * channels > 0xFFFF:
        raise ValueError(f"a frame holds 65535 markers and analog values at most, not {points} and {channels}")
    section = _section(_groups(file))
    blocks = -(-len(section) // BLOCK)
    if blocks > MOST:
        raise ValueError(f"the names of {points} markers and {channels} channels take more room than C3D has")
    data_block = 2 + blocks
    section = bytes([1, PARAMETERS, blocks, INTEL]) + section[4:]
    section = section.ljust(blocks * BLOCK, b"\0")
    at = section.index(b"DATA_START") + len(b"DATA_START") + 4
    section = section[:at] + struct.pack("<H", data_block) + section[at + 2 :]
    header = struct.pack("<BBHHHHHfHHf", 2, PARAMETERS, points, samples * channels, 1, min(frames, 0xFFFF), 0, -1.0,
                         data_block, samples, file.rate)  # fmt: skip
    places = np.zeros((frames, points, 4), "<f4")
    seen = np.isfinite(file.points).all(axis=2)
    places[..., :3] = np.where(seen[..., None], file.points, 0.0)
    places[..., 3] = np.where(seen, 0.0, -1.0)
    rows = np.hstack([places.reshape(frames, -1), file.analog.reshape(frames, -1).astype("<f4")])
    data = rows.tobytes()
    path.write_bytes(header.ljust(BLOCK, b"\0") + section + data + bytes(-len(data) % BLOCK))


def _groups(file: C3D) -> dict[str, dict[str, Any]]:
    frames = len(file.points)
    count = len(file.channels)
    high, low = divmod(frames, 65536)
    groups: dict[str, dict[str, Any]] = {
        "TRIAL": {
            "ACTUAL_START_FIELD": np.array([1, 0], np.int16),
            "ACTUAL_END_FIELD": np.array([low, high], np.uint16).astype(np.int16),
            "CAMERA_RATE": np.float32(file.rate),
        },
        "POINT": {
            "USED": _word(len(file.labels)),
            "FRAMES": _word(min(frames, 0xFFFF)),
            "DATA_START": _word(0),  # filled in when the length of the section is known
            "SCALE": np.float32(-1.0),
            "RATE": np.float32(file.rate),
            "UNITS": (file.unit,),
            **_continued("LABELS", file.labels),
            **_continued("DESCRIPTIONS", ("",) * len(file.labels)),
        },
        "ANALOG": {
            "USED": _word(count),
            "RATE": np.float32(file.rate * file.samples_per_frame),
            "GEN_SCALE": np.float32(1.0),
            "SCALE": np.ones(count, np.float32),
            "OFFSET": np.zeros(count, np.int16),
            **_continued("LABELS", file.channels),
            **_continued("DESCRIPTIONS", ("",) * count),
            **_continued("UNITS", file.channel_units),
        },
    }
    for group, added in file.parameters.items():
        groups[group] = groups.get(group, {}) | dict(added)
    return groups


def _word(value: int) -> np.ndarray:
    return np.array(value, np.uint16).astype(np.int16)


def _continued(name: str, values: Sequence[str]) -> dict[str, tuple[str, ...]]:
    parts = [tuple(values[i : i + MOST]) for i in range(0, max(1, len(values)), MOST)]
    return {name if i == 0 else f"{name}{i + 1}": part for i, part in enumerate(parts)}


def _section(groups: Mapping[str, Mapping[str, Any]]) -> bytes:
    parts = []
    for number, (group, parameters) in enumerate(groups.items(), start=1):
        parts.append(_entry(group, -number, bytes([0])))
        parts += [_entry(name, number, _content(value) + bytes([0])) for name, value in parameters.items()]
    return bytes(4) + b"".join(parts) + bytes(4)  # an entry without a name ends the section


def _entry(name: str, group: int, content: bytes) -> bytes:
    text = name.encode("ascii")
    return struct.pack("<bb", len(text), group) + text + struct.pack("<H", 2 + len(content)) + content


def _content(value: Any) -> bytes:
    if isinstance(value, tuple):
        encoded = [one.encode("utf-8")[:LONGEST] for one in value]
        width = max([1, *(len(one) for one in encoded)])
        shape, kind, data = (width, len(encoded)), TEXT, b"".join(one.ljust(width) for one in encoded)
    else:
        array = np.asarray(value)
        kind = {"f": REAL, "i": INTEGER}[array.dtype.kind] if array.dtype.itemsize > 1 else BYTE
        shape = array.shape
        data = array.astype({REAL: "<f4", INTEGER: "<i2", BYTE: "i1"}[kind]).tobytes(order="F")
    if max(shape, default=0) > MOST:
        raise ValueError(f"a parameter of C3D has {MOST} entries in a row at most, not {max(shape)}")
    return struct.pack("<bB", kind, len(shape)) + bytes(shape) + data


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
    group = file.parameters.get("FORCE_PLATFORM", {})
    used = np.atleast_1d(group.get("USED", 0)).ravel()
    count = int(used[0]) if used.size else 0
    if not 0 <= count <= 100:
        raise ValueError(f"it announces {count} force plates")
    return [_plate(file, i) for i in range(count)]


def _plate(file: C3D, i: int) -> PlateRecord:
    """The forces on plate ``i`` in the frame of the laboratory."""
    group = file.parameters["FORCE_PLATFORM"]
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
