"""Recordings: values that answer questions, and survive the disk."""

from __future__ import annotations

import base64
import json
import math
import os
import shutil
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import mujoco
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import footfall
from footfall.contact import law, register
from footfall.contact.base import PointLaw
from footfall.contact.unknown import UnknownLaw
from footfall.errors import LawError, RecordingError, SimulationError
from footfall.ground import Ground
from footfall.record import COLUMNS, Failure, Push
from footfall.recording import Recording, load_recording
from footfall.recording_file import folder as recording_folder
from footfall.recording_file.manifest import text_of
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
        info={"seed": 3, "numpy": np.__version__, "warnings": [{"time": 0.0, "kind": "late", "message": "late"}]},
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


def test_pushes_and_warnings_of_older_recordings_are_read(rec, tmp_path):
    manifest = rec.save(tmp_path / "old") / "manifest.json"
    content = json.loads(manifest.read_text())
    content["info"]["pushes"] = content.pop("pushes")
    content["info"]["remarks"] = content["info"].pop("warnings")
    del content["checksums"]
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


@pytest.mark.parametrize("broken", ["write_samples", "text_of", "file_digest"])
@pytest.mark.parametrize("there", [True, False])
def test_what_was_there_stays_when_saving_fails(rec, biped, tmp_path, monkeypatch, broken, there):
    def no_space(*_):
        raise OSError(28, "No space left on device")

    old = blank(biped)
    if there:
        old.save(tmp_path / "walk")
    with monkeypatch.context() as patch:
        patch.setattr(recording_folder, broken, no_space)
        with pytest.raises(RecordingError, match=r"cannot save the recording to '.*walk': No space left on device"):
            rec.save(tmp_path / "walk")
    assert os.listdir(tmp_path) == (["walk"] if there else [])
    if there:
        assert sorted(os.listdir(tmp_path / "walk")) == ["manifest.json", "samples.parquet"]
        assert_same(load_recording(tmp_path / "walk"), old)


KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_recording import blank
from footfall.robot import load_robot
left, real = int(sys.argv[2]), os.replace
def replace(*args):
    global left
    if not left:
        os._exit(9)
    left -= 1
    real(*args)
    if not left and sys.argv[4] == "after":
        os._exit(9)
os.replace = replace
blank(load_robot("ball"), 7).save(sys.argv[1])
"""


@pytest.mark.parametrize(("renames", "when", "samples"), [(0, "", 3), (1, "", 3), (2, "", 7), (3, "after", 7)])
@pytest.mark.parametrize("there", [True, False])
def test_a_save_that_is_killed_leaves_the_old_recording_or_the_new_one(tmp_path, renames, when, samples, there):
    """Killed before each rename and after the last: whole at every instant, and the next save leaves no litter."""
    where = tmp_path / "walk"
    if there:
        blank(load_robot("ball"), 3).save(where)
    command = [sys.executable, "-c", KILLED, str(where), str(renames), str(Path(__file__).parent), when]
    env = os.environ | {"PYTHONPATH": str(Path(footfall.__file__).parents[1])}
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 9, done.stderr
    if there or samples == 7:
        assert len(load_recording(where)) == samples
    else:
        with pytest.raises(RecordingError, match="only what a save left that was interrupted"):
            load_recording(where)
    blank(load_robot("ball"), 5).save(where)
    assert len(load_recording(where)) == 5
    assert sorted(os.listdir(where)) == ["manifest.json", "samples.parquet"]
    assert os.listdir(tmp_path) == ["walk"]


def test_a_reader_finds_a_whole_recording_while_it_is_replaced_again_and_again(tmp_path):
    robot = load_robot("ball")
    recordings = [blank(robot, samples) for samples in (3, 4000)]
    recordings[0].save(tmp_path / "walk")
    stop = threading.Event()

    def save():
        while not stop.is_set():
            for one in recordings:
                one.save(tmp_path / "walk")

    threads = [threading.Thread(target=save) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert {len(load_recording(tmp_path / "walk")) for _ in range(30)} <= {3, 4000}
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert sorted(os.listdir(tmp_path / "walk")) == ["manifest.json", "samples.parquet"]


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
    """Change a manifest and sign it anew: what a stranger can do."""
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    path.write_text(text_of(content | changes, content["checksums"]["samples"]))


def robot_with(folder, **changes):
    content = json.loads((folder / "manifest.json").read_text())
    edit(folder, robot=content["robot"] | changes)


def model_with(folder, text, section="worldbody"):
    mjcf = json.loads((folder / "manifest.json").read_text())["robot"]["mjcf"]
    robot_with(folder, mjcf=mjcf.replace(f"<{section}>", f"<{section}>{text}", 1))


def ground_with(folder, **changes):
    edit(folder, ground={"kind": "heightfield", "size": [4, 4], "dynamic_friction": 0.7, **changes})


def packed_zeros(count):
    """Some megabytes that unpack to gigabytes."""
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(bytes(2**20)) for _ in range(count)) + packer.flush()
    return base64.b64encode(data).decode()


def drop_column(folder):
    path = folder / "samples.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["gap"]), path)


def flip_a_bit(folder):
    path = folder / "samples.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def swap_samples(folder):
    path = folder / "samples.parquet"
    table = pq.read_table(path)
    pq.write_table(
        table.set_column(table.schema.get_field_index("gap"), "gap", table["gap"].take(list(range(49, -1, -1)))), path
    )


def shuffle_times(folder):
    path = folder / "samples.parquet"
    table = pq.read_table(path)
    time = table["time"].to_numpy()[::-1].copy()
    pq.write_table(table.set_column(table.schema.get_field_index("time"), "time", pa.array(time)), path)


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
    "no law": (lambda f: edit(f, law=None), "damaged: its 'law' is None and no object"),
    "a law without a name": (lambda f: edit(f, law={"name": 3}), "its law is called 3, which is no name"),
    "a step without end": (lambda f: edit(f, dt=math.inf), "damaged: dt is inf and no step in s"),
    "no step": (lambda f: edit(f, dt=0), "damaged: dt is 0 and no step in s"),
    "a step of text": (lambda f: edit(f, dt="1"), "damaged: dt is '1' and no step"),
    "endless samples": (lambda f: edit(f, samples=math.inf), "samples is inf and no number of things"),
    "half a sample": (lambda f: edit(f, samples=49.5), "samples is 49.5 and no number of things"),
    "minus one sample": (lambda f: edit(f, samples=-1), "samples is -1 and no number of things"),
    "more samples than memory": (lambda f: edit(f, samples=2**39), "samples.parquet' take .* GiB, and this machine"),
    "a signal of nothing": (lambda f: edit(f, signals={"a": [-1]}), "a length of signal 'a' is -1"),
    "info is a list": (lambda f: edit(f, info=[]), "its 'info' is .* and no object"),
    "pushes are a number": (lambda f: edit(f, pushes=3), "damaged: TypeError"),
    "a short home": (lambda f: robot_with(f, home=[0.0, 1.0]), "home of spatial-biped must be 21 finite numbers"),
    "a home that is not finite": (lambda f: robot_with(f, home=[math.nan] * 21), "must be 21 finite numbers"),
    "a foot on no body": (
        lambda f: robot_with(f, feet=[{"name": "l", "body": "x", "polygon": [], "points": [[0, 0, 0]], "radius": [0]}]),
        "foot 'l' is on the body 'x', which the model does not have",
    ),
    "another file": (lambda f: model_with(f, '<include file="/etc/hostname"/>'), "has an element <include>"),
    "a mesh outside": (
        lambda f: robot_with(f, mjcf='<mujoco><asset><mesh name="a" file="/tmp/a.stl"/></asset></mujoco>'),
        "reads the file '/tmp/a.stl', which is not inside the recording",
    ),
    "a folder outside": (
        lambda f: robot_with(f, mjcf='<mujoco><compiler meshdir="/tmp"/></mujoco>'),
        "in the folder '/tmp', which is not inside",
    ),
    "a library": (
        lambda f: robot_with(f, mjcf='<mujoco><extension><plugin plugin="x"/></extension></mujoco>'),
        "has an element <extension>",
    ),
    "a billion geoms": (
        lambda f: model_with(f, '<replicate count="1000000000"><geom size="1"/></replicate>'),
        "has an element <replicate>",
    ),
    "an endless model": (
        lambda f: robot_with(f, mjcf='<mujoco><size memory="900T"/></mujoco>'),
        "its model asks for a memory of 900T",
    ),
    "a huge field in the model": (
        lambda f: robot_with(
            f, mjcf='<mujoco><asset><hfield name="a" nrow="40000" ncol="40000" size="1 1 1 1"/></asset></mujoco>'
        ),
        "has a hfield of 40000 x 40000 entries",
    ),
    "entities": (lambda f: robot_with(f, mjcf='<!DOCTYPE a [<!ENTITY b "c">]><mujoco/>'), "has a document type"),
    "a huge ground": (
        lambda f: ground_with(f, heights={"shape": [40000, 40000], "zlib_base64_float64": packed_zeros(100)}),
        "a height table of 40000 x 40000 entries is too large: at most 33554432; thin it out",
    ),
    "a ground that unpacks to more": (
        lambda f: ground_with(f, heights={"shape": [2, 2], "zlib_base64_float64": packed_zeros(100)}),
        "the height table cannot be read",
    ),
    "an endless ground": (
        lambda f: ground_with(f, heights=[[0, 1], [0, math.inf]]),
        r"heights must be finite, got inf at \[1, 1\]",
    ),
    "nested too deep": (
        lambda f: (f / "manifest.json").write_text('{"info": ' + "[" * 200_000 + "]" * 200_000 + "}"),
        "manifest.json' is damaged: .*recursion",
    ),
    "a link": (
        lambda f: ((f / "samples.parquet").rename(f / "x"), (f / "samples.parquet").symlink_to("x")),
        "a recording reads nothing but itself",
    ),
    "a pipe": (
        lambda f: ((f / "samples.parquet").unlink(), os.mkfifo(f / "samples.parquet")),
        "a recording reads nothing but itself",
    ),
    "an edited manifest": (
        lambda f: (f / "manifest.json").write_text(
            (f / "manifest.json").read_text().replace('"dt": 0.001', '"dt": 0.01')
        ),
        "was changed after it was saved",
    ),
    "samples of another run": (swap_samples, "are damaged: they are not those that were saved"),
    "times that go back": (shuffle_times, "their times do not follow each other"),
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


def leaves(value, path=()):
    """Every place in nested lists and mappings."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from leaves(one, (*path, key))


def test_a_manifest_with_anything_in_any_place_is_a_sentence_or_a_recording(tmp_path):
    folder = blank(
        load_robot("ball"), 3, signals={"a": np.zeros((3, 2))}, pushes=(Push("ball", force=(1, 0, 0)),)
    ).save(tmp_path / "ball")
    whole = json.loads((folder / "manifest.json").read_text())
    samples = whole.pop("checksums")["samples"]
    odd = [None, True, -1, 0, 1.5, math.inf, math.nan, 1e300, 10**30, "", "x", "../../x", [], [[]], {}, {"name": []}]
    refused = 0
    for i, place in enumerate(leaves(whole)):
        for value in odd[i % 6 :: 6]:
            content = json.loads(json.dumps(whole))
            inner = content
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
            (folder / "manifest.json").write_text(text_of(content, samples))
            try:
                load_recording(folder)
            except RecordingError as error:
                assert "\n" not in str(error)
                refused += 1
    assert refused > 100
