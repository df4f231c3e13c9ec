"""Writing C3D: floats in Intel's order, which every reader takes."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from footfall.files.c3d import BLOCK, BYTE, C3D, INTEGER, INTEL, MOST, PARAMETERS, REAL, TEXT

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
