"""PNG pictures as grey levels, read without a further package: 8 or 16 bits, grey, RGB or palette, not interlaced.

Terrain is stored as 16-bit grey, which MuJoCo's own reader reduces to 8: 256 steps of height would be stairs under a
foot.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601


def read_grey(path: Path, largest: int) -> np.ndarray:
    """(rows, columns) grey levels from 0 (black) to 1 (white), the top row first; transparency is ignored.

    A ``ValueError`` says what is wrong; pictures of more than ``largest`` pixels are refused before they are unpacked.
    """
    content = path.read_bytes()
    if not content.startswith(SIGNATURE):
        raise ValueError("it is not a PNG")
    chunks: dict[bytes, bytes] = {}
    for kind, data in _chunks(content):
        chunks[kind] = chunks.get(kind, b"") + data
    if len(chunks.get(b"IHDR", b"")) != 13:
        raise ValueError("its header is damaged")
    columns, rows, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if interlaced:
        raise ValueError("it is interlaced; save it without")
    if depth not in (8, 16) or colour not in CHANNELS or (colour == PALETTE and depth != 8):
        raise ValueError(f"it has {depth} bits per sample; 8 and 16 are read")
    if not 0 < rows * columns <= largest:
        raise ValueError(f"it has {columns} x {rows} pixels, and {largest} are read at most")
    channels = CHANNELS[colour]
    row_bytes = columns * channels * depth // 8
    expected = rows * (1 + row_bytes)
    try:
        raw = zlib.decompressobj().decompress(chunks.get(b"IDAT", b""), expected + 1)
    except zlib.error as error:
        raise ValueError(f"its pixels are damaged: {error}") from error
    if len(raw) != expected:
        raise ValueError("its pixels are damaged: there are too few or too many")
    lines = _unfiltered(np.frombuffer(raw, np.uint8).reshape(rows, 1 + row_bytes), channels * depth // 8)
    samples = lines.view(">u2" if depth == 16 else np.uint8).reshape(rows, columns, channels).astype(float)
    if colour == PALETTE:
        palette = np.frombuffer(chunks.get(b"PLTE", b""), np.uint8).reshape(-1, 3)
        index = samples[..., 0].astype(int)
        if not len(palette) or index.max() >= len(palette):
            raise ValueError("its palette is damaged")
        return palette[index] @ LUMA / 255.0
    top = 2.0**depth - 1.0
    return samples[..., :3] @ LUMA / top if channels >= 3 else samples[..., 0] / top


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, at)
        kind, data = content[at + 4 : at + 8], content[at + 8 : at + 8 + length]
        check = content[at + 8 + length : at + 12 + length]
        if len(check) < 4 or zlib.crc32(kind + data) != struct.unpack(">I", check)[0]:
            raise ValueError("it is damaged: a checksum does not fit")
        yield kind, data
        at += 12 + length


def _unfiltered(lines: np.ndarray, pixel: int) -> np.ndarray:
    """The bytes of the rows, each of which was stored as a difference to its left and upper neighbours (PNG, 9)."""
    out = np.zeros((lines.shape[0] + 1, lines.shape[1] - 1), np.uint8)
    for k, line in enumerate(lines):
        kind, left, above, row = int(line[0]), line[1:], out[k], out[k + 1]
        if kind == 0:
            row[:] = left
        elif kind == 1:
            row[:] = np.cumsum(left.reshape(-1, pixel), axis=0, dtype=np.uint64).astype(np.uint8).ravel()
        elif kind == 2:
            row[:] = left + above
        elif kind in (3, 4):
            _sequential(kind, left, above, row, pixel)
        else:
            raise ValueError(f"a row of it has the unknown filter {kind}")
    return np.ascontiguousarray(out[1:])


def _sequential(kind: int, given: np.ndarray, above: np.ndarray, row: np.ndarray, pixel: int) -> None:
    """The filters Average and Paeth, each byte of which needs the one before."""
    stored, up, made = given.tolist(), above.tolist(), [0] * len(row)
    for i, value in enumerate(stored):
        a = made[i - pixel] if i >= pixel else 0
        b = up[i]
        if kind == 3:
            guess = (a + b) // 2
        else:
            c = up[i - pixel] if i >= pixel else 0
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            guess = a if pa <= pb and pa <= pc else b if pb <= pc else c
        made[i] = (value + guess) & 255
    row[:] = made
