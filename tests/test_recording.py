"""Recordings: values that answer questions, and survive the disk."""

from __future__ import annotations

import json
import os
import shutil

import mujoco
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from footfall import recording_file
from footfall.contact import law, register
from footfall.contact.base import PointLaw
from footfall.contact.unknown import UnknownLaw
from footfall.errors import LawError, RecordingError, SimulationError
from footfall.ground import Ground
from footfall.record import COLUMNS, Failure, Push
from footfall.recording import Recording, load_recording
from footfall.robot import load_robot

DT = 1e-3


def blank(robot, samples=5, **given):
    """A robot that rests in its home pose and touches nothing; arrays in ``given`` replace parts."""
    model, points = robot.model, robot.point_count
    arrays = {
        "time": DT * np.arange(samples),
        "qpos": np.tile(robot.home, (samples, 1)),
        "qvel": np.zeros((samples, model.nv)),
        "ctrl": np.zeros((samples, model.nu)),
        "force": np.zeros((samples, points, 3)),
        "position": np.zeros((samples, points, 3)),
        "velocity": np.zeros((samples, points, 3)),
        "gap": np.ones((samples, points)),
        "mode": np.zeros((samples, points)),
        "status": np.zeros(samples),
    }
    others = {"ground": Ground.plane(), "law": law("spring-damper"), "dt": DT}
    return Recording(**{"robot": robot, **others, **arrays, **given})


@pytest.fixture(scope="module")
def biped():
    return load_robot("spatial-biped")


@pytest.fixture
def rec(biped):
    """One with every bit pattern that might get lost: NaN with a payload, infinities, -0.0, denormals."""
    rng = np.random.default_rng(1)
    odd = np.array([0x7FF8000000000123, 0x8000000000000000, 0x7FF0000000000000, 1], dtype=np.uint64).view(np.float64)
    force = rng.normal(size=(50, 8, 3))
    force[3, :4, 1] = odd
    return blank(
        biped,
        50,
        qvel=rng.normal(size=(50, 20)),
        ctrl=rng.normal(size=(50, 14)),
        force=force,
        gap=rng.normal(size=(50, 8)),
        mode=rng.integers(0, 3, (50, 8)),
        status=rng.integers(0, 3, 50),
        ground=Ground.slope(0.1, friction=(0.8, 0.6)),
        law=law("linearizing-penalty", kp=0.1 + 0.2),
        failure=Failure(0.049, "diverged", "left_knee", "diverged at t = 0.049 s, joint left_knee; try a smaller dt"),
        pushes=(Push("trunk", force=(0.1, 0.0, 0.0)),),
        info={"seed": 3, "numpy": np.__version__},
    )


def assert_same(a, b):
    for name, column in COLUMNS.items():
        x, y = getattr(a, name), getattr(b, name)
        assert x.dtype == y.dtype == np.dtype(column.dtype)
        assert x.shape == y.shape
        assert x.tobytes() == y.tobytes(), name
    assert (a.robot, a.ground, a.law, a.dt, a.failure) == (b.robot, b.ground, b.law, b.dt, b.failure)
    assert a.pushes == b.pushes
    assert dict(a.info) == dict(b.info)


def test_pushes_of_older_recordings_are_read(rec, tmp_path):
    manifest = rec.save(tmp_path / "old") / "manifest.json"
    content = json.loads(manifest.read_text())
    content["info"]["pushes"] = content.pop("pushes")
    manifest.write_text(json.dumps(content))
    assert_same(load_recording(tmp_path / "old"), rec)


# ---- a value -----------------------------------------------------------------------------------------------


def test_arrays_are_read_only(rec):
    for name in COLUMNS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(rec, name)[...] = 0
    with pytest.raises(ValueError, match="read-only"):
        rec.cop[...] = 0
    with pytest.raises(TypeError):
        rec.info["seed"] = 4


def test_an_array_of_the_wrong_shape_is_named(biped):
    with pytest.raises(RecordingError, match=r"'gap' has shape \(5, 7\) but \(time, point\) is \(5, 8\)"):
        blank(biped, gap=np.zeros((5, 7)))


def test_it_tells_itself_in_a_line(rec, biped):
    assert repr(rec) == (
        "Recording(spatial-biped on slope, law linearizing-penalty, 0.049 s, 50 samples, dt 0.001 s, "
        "failed: diverged at t = 0.049 s)"
    )
    assert repr(blank(biped)).endswith("dt 0.001 s)")
    assert (len(rec), rec.duration) == (50, pytest.approx(0.049))


def test_check_raises_the_failures_sentence_and_carries_the_recording(rec, biped):
    with pytest.raises(SimulationError, match=r"diverged at t = 0\.049 s, joint left_knee") as caught:
        rec.check()
    assert caught.value.recording is rec
    assert str(rec.failure) == rec.failure.message
    whole = blank(biped)
    assert whole.check() is whole


def test_slice_takes_samples_by_time(rec):
    part = rec.slice(0.01, 0.02)
    assert part.time == pytest.approx(0.01 + DT * np.arange(10))
    assert np.array_equal(part.force, rec.force[10:20], equal_nan=True)
    assert part.failure is None  # it happened later
    assert rec.slice(0.03).failure is rec.failure
    assert len(rec.slice()) == 50
    assert len(rec.slice(5.0, 6.0)) == 0
    # 0.1 + 0.2 is not 0.3 ...
    assert len(rec.slice(0.001 + 0.002, 0.004)) == 1
    with pytest.raises(RecordingError, match="cannot slice from 2 s to 1 s"):
        rec.slice(2.0, 1.0)


def test_points_of_a_foot_go_by_its_name(rec):
    assert (rec.foot("left"), rec.foot("right")) == (slice(0, 4), slice(4, 8))
    with pytest.raises(RecordingError, match="no foot 'lefft': did you mean 'left'"):
        rec.foot("lefft")


def test_forces_add_up_by_foot_and_in_all(biped):
    force = np.zeros((5, 8, 3))
    force[:, :4], force[:, 4:] = [1.0, 0.0, 10.0], [0.0, 2.0, 5.0]
    rec = blank(biped, force=force)
    assert np.array_equal(rec.foot_force[2], [[4.0, 0.0, 40.0], [0.0, 8.0, 20.0]])
    assert np.array_equal(rec.total_force[2], [4.0, 8.0, 60.0])


def test_summary_has_the_numbers_of_a_known_run(biped):
    force = np.zeros((5, 8, 3))
    force[:, :, 2] = biped.weight / 8
    force[3, :, 2] *= 2.0
    gap = np.zeros((5, 8))
    gap[1, 6] = -0.002
    velocity = np.zeros((5, 8, 3))
    velocity[:, 0, 0] = 0.5
    mode = np.ones((5, 8))
    mode[:, 0] = 2
    got = blank(biped, force=force, gap=gap, velocity=velocity, mode=mode).summary()
    assert got["peak_vertical_force_bw"] == pytest.approx(2.0)
    assert got["mean_vertical_force_N"] == pytest.approx(1.2 * biped.weight)
    assert got["max_penetration_m"] == pytest.approx(0.002)
    assert got["slip_distance_m"] == pytest.approx(0.5 * 4 * DT)
    assert (got["samples"], got["fell"], got["failed"], got["failure"]) == (5, False, False, "")
    json.dumps(got)


# ---- on disk -----------------------------------------------------------------------------------------------


def test_a_saved_recording_comes_back_to_the_last_bit(rec, tmp_path):
    where = rec.save(tmp_path / "not" / "there" / "yet")
    assert sorted(os.listdir(where)) == ["manifest.json", "samples.parquet"]
    assert_same(load_recording(where), rec)
    assert load_recording(str(where)).law.kp == 0.1 + 0.2


@pytest.mark.parametrize("samples", [0, 1])
@pytest.mark.parametrize("name", ["ball", "planar-biped"])  # the ball has no actuators
def test_small_recordings_come_back_too(name, samples, tmp_path):
    rec = blank(load_robot(name), samples)
    assert_same(load_recording(rec.save(tmp_path / "small")), rec)
    assert rec.summary()["samples"] == samples


def test_a_robot_from_an_mjmodel_comes_back(tmp_path):
    xml = """<mujoco><worldbody><body name='box' pos='0 0 1'><freejoint/>
      <geom type='box' size='.1 .1 .1'/></body></worldbody></mujoco>"""
    rec = blank(load_robot(mujoco.MjModel.from_xml_string(xml)))
    assert_same(load_recording(rec.save(tmp_path / "box")), rec)


def test_other_tools_read_the_samples(rec, tmp_path):
    table = pq.read_table(rec.save(tmp_path / "walk") / "samples.parquet")
    assert table.num_rows == 50
    assert table.schema.field("force").type == pa.list_(pa.field("element", pa.float64()), 24)
    assert np.array_equal(np.stack(table["mode"].to_numpy()), rec.mode)
    manifest = json.loads((tmp_path / "walk" / "manifest.json").read_text())
    assert manifest["columns"]["force"]["shape"] == [50, 8, 3]
    assert manifest["columns"]["force"]["unit"].startswith("N")


def test_numpy_values_in_info_are_saved_as_plain_ones(biped, tmp_path):
    rec = blank(biped, info={"seed": np.int64(3), "gains": np.arange(2.0), "where": tmp_path})
    info = load_recording(rec.save(tmp_path / "walk")).info
    assert dict(info) == {"seed": 3, "gains": [0.0, 1.0], "where": str(tmp_path)}


def test_info_that_json_cannot_hold_is_named(biped, tmp_path):
    rec = blank(biped, info={"controller": object()})
    with pytest.raises(RecordingError, match=r"cannot save the recording: info .*object object.* is no number"):
        rec.save(tmp_path / "walk")
    assert os.listdir(tmp_path) == []


def test_a_recording_replaces_one_of_the_same_name_and_keeps_what_lies_beside_it(rec, biped, tmp_path):
    blank(biped).save(tmp_path / "walk")
    (tmp_path / "walk" / "report.html").write_text("mine")
    rec.save(tmp_path / "walk")
    assert_same(load_recording(tmp_path / "walk"), rec)
    assert (tmp_path / "walk" / "report.html").read_text() == "mine"
    assert os.listdir(tmp_path) == ["walk"]
    (tmp_path / "link").symlink_to(tmp_path / "walk")
    blank(biped).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert len(load_recording(tmp_path / "walk")) == 5


def test_an_empty_directory_is_taken_and_any_other_refused(rec, tmp_path):
    (tmp_path / "empty").mkdir()
    assert_same(load_recording(rec.save(tmp_path / "empty")), rec)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"miau")
    with pytest.raises(RecordingError, match="the directory holds something that is no recording; give another name"):
        rec.save(tmp_path / "photos")
    (tmp_path / "photos" / "manifest.json").write_text('{"format": "webapp"}')
    with pytest.raises(RecordingError, match="no recording"):
        rec.save(tmp_path / "photos")
    assert (tmp_path / "photos" / "cat.jpg").read_bytes() == b"miau"


def test_a_file_in_the_way_is_refused_with_a_sentence(rec, tmp_path):
    (tmp_path / "walk").write_text("mine")
    with pytest.raises(RecordingError, match=r"cannot save the recording to '.*walk': a file is in the way"):
        rec.save(tmp_path / "walk")
    with pytest.raises(RecordingError, match=r"cannot save the recording to '.*walk/a/b': .*: '.*walk"):
        rec.save(tmp_path / "walk" / "a" / "b")
    assert (tmp_path / "walk").read_text() == "mine"
    assert_same(load_recording(rec.save(tmp_path / "elsewhere")), rec)


@pytest.mark.parametrize("broken", ["_write_samples", "_put_in_place"])
def test_what_was_there_stays_when_saving_fails(rec, biped, tmp_path, monkeypatch, broken):
    def no_space(*_):
        raise OSError(28, "No space left on device")

    old = blank(biped)
    old.save(tmp_path / "walk")
    monkeypatch.setattr(recording_file, broken, no_space)
    with pytest.raises(RecordingError, match=r"cannot save the recording to '.*walk': No space left on device"):
        rec.save(tmp_path / "walk")
    assert os.listdir(tmp_path) == ["walk"]
    assert_same(load_recording(tmp_path / "walk"), old)


def test_a_law_nobody_knows_becomes_a_placeholder(biped, tmp_path):
    class Foreign(PointLaw):
        name = "foreign-law"

        def options(self):
            return {"k": 3.0, "shape": (1.0, 2.0)}

    assert register(Foreign) is Foreign
    try:
        blank(biped, law=Foreign()).save(tmp_path / "walk")
    finally:
        from footfall.contact import registry

        del registry._registered["foreign-law"]
    loaded = load_recording(tmp_path / "walk")
    assert loaded.law == UnknownLaw(name="foreign-law", given={"k": 3.0, "shape": (1.0, 2.0)})
    assert str(loaded.law) == "foreign-law(k=3.0, shape=(1.0, 2.0))"
    assert "law foreign-law" in repr(loaded)
    with pytest.raises(LawError, match="'foreign-law' of this recording is not known here"):
        loaded.law.resolve(None)
    assert_same(load_recording(loaded.save(tmp_path / "again")), loaded)
    hash(loaded.law)


# ---- what is no recording ----------------------------------------------------------------------------------


@pytest.fixture
def saved(rec, tmp_path):
    return rec.save(tmp_path / "walk")


def edit(folder, **changes):
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def drop_column(folder):
    path = folder / "samples.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["gap"]), path)


def flip_a_bit(folder):
    path = folder / "samples.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1000])


DAMAGE = {
    "gone": (shutil.rmtree, "there is no recording '.*walk'"),
    "a file": (lambda f: (shutil.rmtree(f), f.write_text("")), "walk' is a file; a recording is a directory"),
    "no manifest": (
        lambda f: (f / "manifest.json").unlink(),
        "walk' is no recording: it has no manifest.json",
    ),
    "broken manifest": (lambda f: truncate(f / "manifest.json"), "manifest.json' is damaged: .*line"),
    "not text": (
        lambda f: (f / "manifest.json").write_bytes(b"\xff\xfe"),
        "manifest.json' is damaged: .*utf-8",
    ),
    "not an object": (
        lambda f: (f / "manifest.json").write_text("[]"),
        "no recording: .* 'footfall-recording'",
    ),
    "foreign": (lambda f: edit(f, format="x"), "its manifest.json does not say 'footfall-recording'"),
    "newer": (lambda f: edit(f, version=2), "has format version 2, and this Footfall reads 1"),
    "no robot": (
        lambda f: edit(f, robot={}),
        "manifest of the recording .* damaged: this is no description of a robot",
    ),
    "bad ground": (lambda f: edit(f, ground={"kind": "sea"}), "damaged: no ground of kind 'sea'"),
    "bad law": (lambda f: edit(f, law={}), "damaged: KeyError: 'name'"),
    "bad failure": (lambda f: edit(f, failure={"when": 1}), "damaged: TypeError"),
    "no samples": (lambda f: (f / "samples.parquet").unlink(), "walk' has no samples.parquet"),
    "truncated": (lambda f: truncate(f / "samples.parquet"), "samples.parquet' are damaged"),
    "a flipped bit": (flip_a_bit, "samples.parquet' are damaged"),
    "a missing column": (drop_column, "samples.parquet' have no column 'gap'"),
    "other samples": (
        lambda f: edit(f, samples=49),
        "do not fit the manifest: 'time' has 50 values of float64, and 49",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told_in_one_sentence(kind, saved):
    damage, sentence = DAMAGE[kind]
    damage(saved)
    with pytest.raises(RecordingError, match=sentence) as caught:
        load_recording(saved)
    assert "\n" not in str(caught.value)
