"""C3D: other programs read what we write, we read what they write, and a damaged file is a sentence."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from footfall.errors import FootfallError
from footfall.files.c3d import C3D, force_plates, read_c3d, write_c3d
from footfall.files.motion import load_motion

RNG = np.random.default_rng(5)
SINGLE = 6e-8  # relative, of a 4-byte float


def trial(frames=12, markers=3, channels=7, samples=2):
    points = 1e3 * RNG.normal(size=(frames, markers, 3))
    points[3, 1] = np.nan
    return C3D(
        rate=100.0,
        labels=tuple(f"marker {i}" for i in range(markers)),
        points=points,
        channels=tuple(f"C{i}" for i in range(channels)),
        channel_units=("N",) * channels,
        analog=RNG.normal(size=(frames * samples, channels)),
    )


def same(a, b, scale):
    return np.allclose(a, b, rtol=0.0, atol=2 * SINGLE * scale, equal_nan=True)


@pytest.mark.parametrize(("frames", "markers"), [(1, 1), (12, 3), (5, 700), (70_000, 1)])
def test_what_is_written_is_read(tmp_path, frames, markers):
    """More than 255 names and more than 65535 frames do not fit into the fields that C3D first had for them."""
    file = trial(max(4, frames), markers=max(2, markers))
    write_c3d(tmp_path / "a.c3d", file)
    found = read_c3d(tmp_path / "a.c3d")
    assert same(found.points, file.points, 5e3)
    assert same(found.analog, file.analog, 5.0)
    assert (found.labels, found.channels, found.unit, found.rate) == (file.labels, file.channels, "mm", 100.0)
    assert found.samples_per_frame == 2


# ---- the processors of the past ------------------------------------------------------------------------------------


def real(value, processor):
    if processor == 85:
        low, high = struct.unpack("<HH", struct.pack("<f", 4.0 * value))
        return struct.pack("<HH", high, low)
    return struct.pack(">f" if processor == 86 else "<f", value)


def old_file(processor, *, floats):
    """Two frames of one marker and one channel, put together byte by byte from the user guide's tables."""
    order = ">" if processor == 86 else "<"

    def short(value):
        return struct.pack(order + "h", value)

    def entry(name, group, content):
        return struct.pack("bb", len(name), group) + name + short(2 + len(content)) + content

    def number(value):
        return struct.pack("bB", 4, 0) + real(value, processor) + b"\0"

    section = entry(b"POINT", -1, b"\0") + entry(b"ANALOG", -2, b"\0")
    section += entry(b"RATE", 1, number(50.0)) + entry(b"LABELS", 1, struct.pack("bBBB", -1, 2, 4, 1) + b"heel\0")
    section += entry(b"GEN_SCALE", 2, number(0.5))
    section += entry(b"SCALE", 2, struct.pack("bBB", 4, 1, 1) + real(3.0, processor) + b"\0")
    section += entry(b"OFFSET", 2, struct.pack("bBB", 2, 1, 1) + short(10) + b"\0")
    scale = -1.0 if floats else 0.25
    header = bytes([2, 0x50]) + b"".join(map(short, (1, 1, 1, 2, 0))) + real(scale, processor) + short(3) + short(1)
    header += real(50.0, processor)
    frames = [(100, -200, 300, 0, 14), (4, 8, 12, -1, 6)]
    data = b"".join((real(float(n), processor) if floats else short(n)) for frame in frames for n in frame)
    section = (bytes([1, 0x50, 1, processor]) + section).ljust(512, b"\0")
    return header.ljust(512, b"\0") + section + data.ljust(512, b"\0")


@pytest.mark.parametrize("floats", [True, False])
@pytest.mark.parametrize("processor", [84, 85, 86])
def test_every_processor_and_number_format_is_read(tmp_path, processor, floats):
    (tmp_path / "old.c3d").write_bytes(old_file(processor, floats=floats))
    found = read_c3d(tmp_path / "old.c3d")
    scale = 1.0 if floats else 0.25
    assert found.points[0, 0] == pytest.approx(scale * np.array([100, -200, 300]))
    assert np.isnan(found.points[1]).all()
    assert found.analog[:, 0] == pytest.approx([(14 - 10) * 1.5, (6 - 10) * 1.5])
    assert (found.labels, found.rate) == (("heel",), 50.0)


# ---- force plates --------------------------------------------------------------------------------------------------

CORNERS = np.array([[600.0, 400.0, 0.0], [0.0, 400.0, 0.0], [0.0, 0.0, 0.0], [600.0, 0.0, 0.0]])


def plate(kind, signals, origin, **more):
    """A plate on the floor whose x is the laboratory's: z, into the floor, makes y the laboratory's -y."""
    corners = CORNERS[[3, 2, 1, 0]]  # the quadrants follow the plate's axes
    platform = {
        "USED": np.array(1, np.int16),
        "TYPE": np.array([kind], np.int16),
        "CORNERS": corners.T[:, :, None],
        "ORIGIN": np.array(origin, float)[:, None],
        "CHANNEL": np.arange(1, len(signals) + 1, dtype=np.int16)[:, None],
        **more,
    }
    units = {1: "NNN", 2: "NNN", 3: "N" * 8, 4: "VVVVVV"}[kind].ljust(len(signals), "x")
    names = tuple({"N": "N", "V": "V", "x": "Nmm"}[u] for u in units)
    points = np.zeros((2, 1, 3))
    analog = np.repeat(np.array(signals, float)[None], 2, axis=0)
    return C3D(100.0, ("m",), points, "mm", tuple(f"c{i}" for i in range(len(signals))), names, analog, platform)


#: A force (N, plate's axes) at a place of the surface (mm, from its middle), with a free moment (N mm).
FORCE, PLACE, FREE = np.array([30.0, -20.0, -800.0]), np.array([50.0, -70.0, 0.0]), np.array([0.0, 0.0, 900.0])
MOMENT = np.cross(PLACE, FORCE) + FREE


def measured_by(kind):
    """What a plate of each type shows of that force: the definitions of the user guide, the other way round."""
    if kind == 1:
        return plate(1, [*FORCE, PLACE[0], PLACE[1], FREE[2]], (0, 0, 0))
    below = np.array([1.0, 2.0, 40.0])  # mm, where the transducer sits under the surface
    if kind == 2:
        return plate(2, [*FORCE, *(MOMENT - np.cross(below, FORCE))], -below)
    if kind == 4:
        matrix = np.diag([2.0, 4.0, 5.0, 100.0, 200.0, 300.0])
        raw = np.linalg.solve(matrix, np.concatenate([FORCE, MOMENT - np.cross(below, FORCE)]))
        return plate(4, raw, -below, CAL_MATRIX=matrix[:, :, None])
    a, b, deep = 120.0, 200.0, 50.0
    posts = np.array([[a, b, deep], [-a, b, deep], [-a, -b, deep], [a, -b, deep]])
    # The eight forces of least norm whose resultant is the one given.
    columns = []
    for along, pair in ((0, (0, 1)), (0, (2, 3)), (1, (0, 3)), (1, (1, 2)), *((2, (i,)) for i in range(4))):
        unit = np.eye(3)[along]
        columns.append(np.concatenate([unit, np.mean([np.cross(posts[i], unit) for i in pair], axis=0)]))
    shown = np.linalg.lstsq(np.array(columns).T, np.concatenate([FORCE, MOMENT]), rcond=None)[0]
    return plate(3, shown, (a, b, deep))


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_every_type_of_plate_gives_the_same_force_moment_and_centre(tmp_path, kind):
    write_c3d(tmp_path / "p.c3d", measured_by(kind))
    (found,) = force_plates(read_c3d(tmp_path / "p.c3d"))
    to_laboratory = np.array([1.0, -1.0, -1.0])
    assert found.force[1] == pytest.approx(FORCE * to_laboratory, abs=1e-3)
    assert found.moment[1] == pytest.approx(MOMENT * to_laboratory, abs=0.1)  # N mm, of 4-byte numbers up to 5e4
    assert found.cop[1] == pytest.approx([300.0 + PLACE[0], 200.0 - PLACE[1], 0.0], abs=1e-3)


def test_a_type_of_plate_that_is_not_known_is_refused(tmp_path):
    write_c3d(tmp_path / "p.c3d", plate(2, [0.0] * 6, (0, 0, 0), TYPE=np.array([7], np.int16)))
    with pytest.raises(FootfallError, match="force plate 1 is of type 7; types 1 to 4 are read"):
        load_motion(tmp_path / "p.c3d")


# ---- damage --------------------------------------------------------------------------------------------------------


def test_a_damaged_file_is_a_sentence_or_is_read(tmp_path):
    """Bytes changed at random and files cut short: never another exception, never a hang."""
    write_c3d(tmp_path / "a.c3d", measured_by(2))
    whole = (tmp_path / "a.c3d").read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for k in range(600):
        content = bytearray(whole)
        if k % 3 == 0:
            content = content[: rng.integers(len(content))]
        for _ in range(rng.integers(1, 6)):
            if content:
                content[rng.integers(len(content)) if k % 2 else rng.integers(min(600, len(content)))] = rng.integers(
                    256
                )
        (tmp_path / "b.c3d").write_bytes(content)
        try:
            load_motion(tmp_path / "b.c3d")
        except FootfallError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 100


def test_more_than_the_format_holds_is_refused(tmp_path):
    with pytest.raises(ValueError, match="take more room than C3D has"):
        write_c3d(tmp_path / "a.c3d", trial(4, markers=20_000))
