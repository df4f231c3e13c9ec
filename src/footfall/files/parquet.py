"""Parquet tables of numbers, written with NumPy and zlib alone: one row per sample, arrays as lists.

Any program that reads Parquet reads them. Of the format only that part is here that such tables need: columns without
gaps, a page per column and group of rows, GZIP, a checksum in each page. Slowly changing numbers share their leading
bytes: splitting float64 into streams of bytes makes them smaller. Who wrote a table may keep where its pages are, and
read them without its headers.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from footfall.version import __version__

MAGIC = b"PAR1"
INT32, INT64, DOUBLE = 1, 2, 5  # physical types
REQUIRED, REPEATED = 0, 2
LIST, INT_8 = 3, 15  # what a group or a number means
PLAIN, RLE, BYTE_STREAM_SPLIT = 0, 3, 9  # encodings
GZIP = 2
#: What NumPy's kinds of numbers are in a table, and as what they are stored.
STORED = {"int8": (INT32, "<i4"), "int64": (INT64, "<i8"), "float64": (DOUBLE, "<f8")}
#: zlib's format with the header of gzip. Higher levels than 1 take longer and save 2 % of a walk.
GZIP_WINDOW, LEVEL = 31, 1


class Group(NamedTuple):
    """Consecutive rows of a table: how many, and the first byte and the length of the page of each column."""

    rows: int
    pages: dict[str, tuple[int, int]]


# ---- Thrift's compact protocol, in which headers are written: structures are mappings by the number of a field ------

I32, I64, BINARY, SEQUENCE, STRUCT = 5, 6, 8, 9, 12


class Long(int):
    """A number that a structure holds in 64 bits; others have 32."""


def _kind(value: Any) -> int:
    if isinstance(value, int):
        return I64 if isinstance(value, Long) else I32
    return BINARY if isinstance(value, bytes) else SEQUENCE if isinstance(value, list) else STRUCT


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _packed(value: Any) -> bytes:
    """A value as Thrift writes it: ``int``, ``Long``, ``bytes``, a list, or a structure ``{field: value}``."""
    if isinstance(value, int):
        return _varint(2 * value if value >= 0 else -2 * value - 1)
    if isinstance(value, bytes):
        return _varint(len(value)) + value
    if isinstance(value, list):
        kind = _kind(value[0]) if value else STRUCT
        head = bytes([len(value) << 4 | kind]) if len(value) < 15 else bytes([0xF0 | kind]) + _varint(len(value))
        return head + b"".join(map(_packed, value))
    out, before = b"", 0
    for field, inner in value.items():  # in ascending order, less than 16 apart
        out += bytes([field - before << 4 | _kind(inner)]) + _packed(inner)
        before = field
    return out + b"\0"


# ---- writing ---------------------------------------------------------------------------------------------------------


def write_table(
    path: Path,
    columns: Mapping[str, np.ndarray],
    about: Mapping[str, str],
    at_once: int,
    progress: Callable[[float], None] | None = None,
) -> list[Group]:
    """Write columns, (T,) or lists of the same length (T, ...), ``at_once`` rows at a time; returns where they are.

    ``about`` is kept as texts by name, and ``progress`` is called with the share that is written. Columns of lists
    without values are left out, since Parquet has none.
    """
    columns = {name: values for name, values in columns.items() if math.prod(values.shape[1:])}
    rows = len(next(iter(columns.values())))
    groups, entries = [], []
    with path.open("wb") as file:
        file.write(MAGIC)
        for start in range(0, rows, at_once):
            count = min(at_once, rows - start)
            pages = {}
            chunks = []
            for name, values in columns.items():
                pages[name], chunk = _write_page(file, name, values[start : start + count])
                chunks.append(chunk)
            groups.append(Group(count, pages))
            entries.append({1: chunks, 2: Long(sum(chunk[3][6] for chunk in chunks)), 3: Long(count)})
            if progress is not None:
                progress((start + count) / rows)
        footer = _packed(
            {
                1: 2,
                2: [{3: REQUIRED, 4: b"table", 5: len(columns)}, *_schema(columns)],
                3: Long(rows),
                4: entries,
                5: [{1: key.encode(), 2: text.encode()} for key, text in about.items()],
                6: f"footfall version {__version__}".encode(),
            }
        )
        file.write(footer + len(footer).to_bytes(4, "little") + MAGIC)
    return groups


def _schema(columns: Mapping[str, np.ndarray]) -> list[dict[int, Any]]:
    """The elements of the columns: a number, or a list, which is a group of a repeated group of numbers."""
    found: list[dict[int, Any]] = []
    for name, values in columns.items():
        lists = values.ndim > 1
        if lists:
            found.append({3: REQUIRED, 4: name.encode(), 5: 1, 6: LIST, 10: {3: {}}})
            found.append({3: REPEATED, 4: b"list", 5: 1})
        physical, _ = STORED[values.dtype.name]
        meaning = {6: INT_8} if values.dtype == np.int8 else {}
        found.append({1: physical, 3: REQUIRED, 4: b"element" if lists else name.encode(), **meaning})
    return found


def _write_page(file: BinaryIO, name: str, values: np.ndarray) -> tuple[tuple[int, int], dict[int, Any]]:
    """Write a column of a group as one page; returns where it is, and its entry in the footer."""
    physical, stored = STORED[values.dtype.name]
    numbers: np.ndarray = np.ascontiguousarray(values, stored).reshape(-1)
    if physical == DOUBLE:
        numbers, encoding = numbers.view(np.uint8).reshape(-1, 8).T, BYTE_STREAM_SPLIT
    else:
        encoding = PLAIN
    body = _levels(values.shape) + numbers.tobytes()
    deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP_WINDOW)
    page = deflate.compress(body) + deflate.flush()
    crc = int.from_bytes(zlib.crc32(page).to_bytes(4, "little"), "little", signed=True)
    header = _packed({1: 0, 2: len(body), 3: len(page), 4: crc, 5: {1: values.size, 2: encoding, 3: RLE, 4: RLE}})
    start = file.tell()
    file.write(header + page)
    path = [name.encode(), *([b"list", b"element"] if values.ndim > 1 else [])]
    sizes = {6: Long(len(header) + len(body)), 7: Long(len(header) + len(page)), 9: Long(start)}
    chunk = {1: physical, 2: [RLE, encoding], 3: path, 4: GZIP, 5: Long(values.size), **sizes}
    return (start + len(header), len(page)), {2: Long(start), 3: chunk}


def _levels(shape: tuple[int, ...]) -> bytes:
    """What a page of lists begins with: bits that are 0 where a list begins, and one run that says all are there."""
    if len(shape) == 1:
        return b""
    width = math.prod(shape[1:])
    bits = np.ones((shape[0], width), np.uint8)
    bits[:, 0] = 0
    stored = np.packbits(bits, bitorder="little").tobytes()
    starts = _varint(len(stored) << 1 | 1) + stored
    there = _varint(bits.size << 1) + b"\1"
    return b"".join(len(part).to_bytes(4, "little") + part for part in (starts, there))


# ---- reading ---------------------------------------------------------------------------------------------------------


def read_page(file: BinaryIO, place: tuple[int, int], like: np.ndarray) -> np.ndarray:
    """The numbers of a page that holds an array of that shape and kind; a ``ValueError`` where it does not."""
    start, length = place
    _, stored = STORED[like.dtype.name]
    levels = _levels(like.shape)
    size = len(levels) + np.dtype(stored).itemsize * like.size
    file.seek(start)
    try:  # one byte more than needed is unpacked at most
        body = zlib.decompressobj(GZIP_WINDOW).decompress(file.read(length), size + 1)
    except zlib.error as error:
        raise ValueError("a page cannot be unpacked") from error
    if len(body) != size or not body.startswith(levels):
        raise ValueError("a page does not hold the numbers of its column")
    numbers = np.frombuffer(body, np.uint8, offset=len(levels))
    if stored == "<f8":
        numbers = np.ascontiguousarray(numbers.reshape(8, -1).T)
    return numbers.view(stored).reshape(like.shape)
