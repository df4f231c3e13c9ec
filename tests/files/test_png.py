"""Pictures as terrain: grey levels as another program wrote them, and the ground they make."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

import footfall as ff
from footfall.errors import GroundError
from footfall.files.png import read_grey

RNG = np.random.default_rng(2)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(path, rows, depth=8, colour=0, pixel=1, size=None):
    """A picture from rows of (filter, bytes as they are stored)."""
    raw = b"".join(bytes([kind]) + bytes(row) for kind, row in rows)
    width, height = size or (len(rows[0][1]) * 8 // depth // pixel, len(rows))
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(raw)), chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
    return path


@pytest.mark.parametrize("mode", ["L", "I;16", "RGB", "RGBA", "LA", "P"])
def test_pictures_of_another_program_are_read(tmp_path, mode):
    pillow = pytest.importorskip("PIL.Image")
    smooth = np.add.outer(np.arange(40), 3 * np.arange(50))  # so that the writer uses its filters
    grey = (smooth * 37) % 65536 if mode == "I;16" else smooth % 256
    if mode == "I;16":
        image = pillow.fromarray(grey.astype(np.uint16))
    else:
        image = pillow.fromarray(grey.astype(np.uint8)).convert(mode)
    image.save(tmp_path / "a.png")
    found = read_grey(tmp_path / "a.png", 10**6)
    assert found == pytest.approx(grey / (65535 if mode == "I;16" else 255), abs=1e-12)


def test_a_picture_is_ground_seen_from_above(tmp_path):
    """16 bits; the upper right corner of the picture is that of large x and y."""
    image = np.zeros((3, 4), ">u2")
    image[0, -1] = 65535
    rows = [(0, np.frombuffer(row.tobytes(), np.uint8)) for row in image]
    path = png(tmp_path / "hill.png", rows, depth=16)
    ground = ff.Ground.heightfield(path, size=(6.0, 4.0), height=1.5)
    assert ground.height(3.0, 2.0) == pytest.approx(1.5)
    assert ground.height(-3.0, 2.0) == ground.height(3.0, -2.0) == 0.0
    assert ff.Ground.from_dict(ground.to_dict()) == ground
    assert ff.Ground.heightfield(str(path), size=(6, 4), height=1.5) == ground


def test_tables_are_read_by_their_ending(tmp_path):
    table = RNG.normal(size=(3, 4))
    np.save(tmp_path / "a.npy", table)
    np.savetxt(tmp_path / "a.csv", table, delimiter=",", fmt="%.17g")
    np.savetxt(tmp_path / "a.txt", table, fmt="%.17g")
    for name in ("a.npy", "a.csv", "a.txt"):
        assert ff.Ground.heightfield(tmp_path / name, size=(4, 3)) == ff.Ground.heightfield(table, size=(4, 3))


@pytest.mark.parametrize(
    ("make", "options", "told"),
    [
        (lambda p: png(p, [(0, [0, 1]), (0, [2, 3])]), {}, "is a picture: give height"),
        (
            lambda p: png(p, [(0, [0, 1]), (0, [2, 3])]),
            {"height": float("nan")},
            "height = nan, but it must be",
        ),
        (lambda p: png(p, [(0, [0, 1]), (7, [2, 3])]), {"height": 1}, "unrecognized data stream"),
        (lambda p: png(p, [(0, [0, 1] * 3)], 16, 2, 3), {"height": 1}, "16 bits per colour; save it as 16-bit grey"),
        (lambda p: png(p, [(0, [0, 1])], size=(6000, 6000)), {"height": 1}, "6000 x 6000 pixels, and 33554432"),
        (lambda p: png(p, [(0, [0, 1])], size=(40000, 40000)), {"height": 1}, "1600000000 pixels"),
        (lambda p: p.write_bytes(b"GIF89a"), {"height": 1}, "it is not a PNG"),
        (lambda p: p.write_bytes(png(p, [(0, [0, 1])]).read_bytes()[:-20] + bytes(20)), {"height": 1}, "broken data"),
        (lambda p: p.write_bytes(png(p, [(0, RNG.bytes(999))] * 9).read_bytes()[:-600]), {"height": 1}, "truncated"),
        (lambda p: None, {"height": 1}, "No such file"),
    ],
)
def test_what_is_wrong_with_a_picture_is_one_sentence(tmp_path, make, options, told):
    make(tmp_path / "a.png")
    with pytest.raises(GroundError, match=told) as caught:
        ff.Ground.heightfield(tmp_path / "a.png", size=(1, 1), **options)
    assert "\n" not in str(caught.value)


def test_a_description_holds_its_heights_itself(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 2)))
    with pytest.raises(GroundError, match="a description holds its heights itself"):
        ff.Ground.from_dict({"kind": "heightfield", "heights": str(tmp_path / "a.npy"), "size": [1, 1]})
    with pytest.raises(GroundError, match="height is for pictures"):
        ff.Ground.heightfield(np.zeros((2, 2)), size=(1, 1), height=2.0)
    with pytest.raises(GroundError, match="height is for pictures"):
        ff.Ground.heightfield(tmp_path / "a.npy", size=(1, 1), height=2.0)
