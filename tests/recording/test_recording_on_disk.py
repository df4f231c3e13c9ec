"""Recordings survive the disk, a full one and a killed process."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading

import mujoco
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blank_recordings import blank
from interrupted import Faults, content_of, faults, no_space

import footfall.recording_file as stored_samples
from footfall.contact import register
from footfall.contact.base import PointLaw
from footfall.contact.registry import UnknownLaw
from footfall.errors import LawError, RecordingError
from footfall.record import COLUMNS
from footfall.recording import load_recording
from footfall.robot import load_robot

BOX = """<mujoco><worldbody><body name='box' pos='0 0 1'><freejoint/>
  <geom type='box' size='.1 .1 .1'/></body></worldbody></mujoco>"""


def assert_same(a, b):
    for name, column in COLUMNS.items():
        x, y = getattr(a, name), getattr(b, name)
        assert x.dtype == y.dtype == np.dtype(column.dtype)
        assert x.shape == y.shape
        assert x.tobytes() == y.tobytes(), name
    assert (a.robot, a.ground, a.law, a.dt, a.failure) == (b.robot, b.ground, b.law, b.dt, b.failure)
    assert a.pushes == b.pushes
    assert dict(a.info) == dict(b.info)


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
    rec = blank(load_robot(mujoco.MjModel.from_xml_string(BOX)))
    assert_same(load_recording(rec.save(tmp_path / "box")), rec)


def test_other_tools_read_the_samples(rec, tmp_path):
    table = pq.read_table(rec.save(tmp_path / "walk") / "samples.parquet")
    assert table.num_rows == 50
    assert table.schema.field("force").type.value_type == pa.float64()
    np.testing.assert_array_equal(np.stack(table["force"].to_numpy()).reshape(50, 8, 3), rec.force)
    assert np.array_equal(np.stack(table["mode"].to_numpy()), rec.mode)
    columns = json.loads(table.schema.metadata[b"columns"])
    assert columns["force"]["axes"] == ["point", "xyz"] and columns["force"]["unit"].startswith("N")


def test_numpy_values_in_info_are_saved_as_plain_ones(biped, tmp_path):
    rec = blank(biped, info={"seed": np.int64(3), "gains": np.arange(2.0), "where": tmp_path})
    info = load_recording(rec.save(tmp_path / "walk")).info
    assert dict(info) == {"seed": 3, "gains": [0.0, 1.0], "where": str(tmp_path)}


def test_info_that_json_cannot_hold_is_named(biped, tmp_path):
    rec = blank(biped, info={"controller": object()})
    with pytest.raises(RecordingError, match=r"cannot save the recording: info .*object object.* is not a number"):
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
    with pytest.raises(RecordingError, match="holds something that is not a recording; give another name"):
        rec.save(tmp_path / "photos")
    (tmp_path / "photos" / "manifest.json").write_text('{"format": "webapp"}')
    with pytest.raises(RecordingError, match="is not a recording"):
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


@pytest.mark.parametrize("there", [True, False])
def test_whatever_interrupts_a_save_the_old_recording_or_the_new_one_is_whole(tmp_path, monkeypatch, there):
    """Ctrl-C, a full disk and a kill at every file-system call; then a save on a full disk, and one that succeeds."""
    where, old, box = tmp_path / "runs" / "walk", tmp_path / "old", load_robot(mujoco.MjModel.from_xml_string(BOX))
    blank(load_robot(mujoco.MjModel.from_xml_string(BOX.replace("pos='0 0 1'", ""))), 3).save(old)
    new, last = blank(box, 7), blank(load_robot("ball"), 5)

    def prepare():
        shutil.rmtree(where.parent, ignore_errors=True)
        where.parent.mkdir()
        if there:
            shutil.copytree(old, where)

    opened, known = set(), set()
    for fault in faults(monkeypatch, prepare, lambda: new.save(where)):
        if (left := content_of(where)) in known:  # what follows is the same
            continue
        known.add(left)
        for save_on_full_disk in (False, True):
            if save_on_full_disk:
                full = Faults(no_space, 0, only="write")
                with pytest.raises(RecordingError, match="No space left"), full.installed(monkeypatch):
                    last.save(where)
            try:
                opened.add(len(load_recording(where)))
            except RecordingError as error:
                assert not there, fault
                assert re.search("there is no recording|only what a save left|no manifest.json", str(error)), fault
        last.save(where)
        assert len(load_recording(where)) == 5, fault
        assert sorted(os.listdir(where)) == ["manifest.json", "samples.parquet"], fault
        assert os.listdir(where.parent) == ["walk"]
    assert opened == ({3, 7} if there else {7})
    assert len(known) > 5


def test_a_full_disk_is_told_in_a_sentence_and_leaves_no_litter(rec, biped, tmp_path, monkeypatch):
    old = blank(biped)
    old.save(tmp_path / "walk")
    for name in ("walk", "elsewhere"):
        full = Faults(no_space, 0, only="write")
        with (
            pytest.raises(RecordingError, match=rf"cannot save the recording to '.*{name}': No space left on device"),
            full.installed(monkeypatch),
        ):
            rec.save(tmp_path / name)
    assert os.listdir(tmp_path) == ["walk"]
    assert sorted(os.listdir(tmp_path / "walk")) == ["manifest.json", "samples.parquet"]
    assert_same(load_recording(tmp_path / "walk"), old)


def test_recordings_of_one_robot_side_by_side_share_its_files(tmp_path):
    robot = load_robot(mujoco.MjModel.from_xml_string(BOX))
    first, second = (blank(robot).save(tmp_path / name) for name in "ab")
    (archive,) = first.glob("robot-*.zip")
    assert (second / archive.name).samefile(archive)
    shutil.rmtree(first)
    assert load_recording(second).robot == robot
    archive = second / archive.name
    archive.write_bytes(archive.read_bytes()[:-30])
    with pytest.raises(RecordingError, match=r"the robot's files '.*zip' are damaged"):
        load_recording(second)


def test_saving_says_how_far_it_is_and_takes_little_memory_beside_the_recording(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_samples, "AT_ONCE", 2**14)
    rec, shares = blank(load_robot("ball"), 500, qvel=np.random.default_rng(0).normal(size=(500, 6))), []
    rec.save(tmp_path / "long", progress=shares.append)
    assert len(shares) > 5
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    with pq.ParquetFile(tmp_path / "long" / "samples.parquet") as file:
        assert file.num_row_groups == len(shares)
    assert_same(load_recording(tmp_path / "long"), rec)


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
