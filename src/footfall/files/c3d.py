"""C3D, the file of gait laboratories: markers, analog channels and parameters, read and written.

The format is public (c3d.org, "The C3D File Format User Guide"): blocks of 512 bytes, a header, a section of
parameters in groups, then frames of markers and analog samples as 2-byte integers or 4-byte floats. Three processors
left their mark on it: Intel (little-endian), MIPS (big-endian) and DEC (VAX floats); all three are read, Intel's is
written (see ``footfall.files.c3d_writer``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

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
    found: list[str] = []
    for i in range(count):
        name = given[i] if i < len(given) and given[i] else f"{kind}{i + 1}"
        found.append(name if name not in found else f"{name}#{i + 1}")
    return tuple(found)
