"""Export: every format is read back by somebody else's reader, and says what the recording says."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from blank_recordings import blank
from interrupted import faults

import footfall as ff
from footfall.cli import main
from footfall.errors import FootfallError, RecordingError
from footfall.files.c3d import force_plates, read_c3d
from footfall.measure import grf, overall_cop
from footfall.show.frames import display_samples

PUSH = ff.Push("trunk", force=(40.0, 25.0, 0.0), torque=(0.0, 0.0, 8.0), start=0.05, duration=0.1)


@pytest.fixture(scope="module")
def rec():
    """A biped that lands, is pushed and turned: all forces and moments are there, and so are samples in flight."""
    sim = ff.Simulation("spatial-biped", law="linearizing-penalty", ground=ff.Ground.plane(height=0.1))
    qpos = sim.place((0.3, 0.2))
    qpos[2] += 5e-4
    return sim.run(0.3, controller="posture", pushes=[PUSH], qpos=qpos)


@pytest.fixture(scope="module")
def ramp():
    sim = ff.Simulation("brick", law="spring-damper", ground=ff.Ground.slope(0.2, heading=0.7))
    return sim.run(0.1, qpos=sim.place(align=True))


# ---- tables and arrays -------------------------------------------------------------------------------------


def test_csv_has_named_columns_with_units_to_the_last_bit(rec, tmp_path):
    with rec.export(tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    table = {name: [row[i] for row in rows] for i, name in enumerate(head)}
    assert len(set(head)) == len(head)
    assert {len(row) for row in rows} == {len(head)}

    def column(name):
        return np.array([float(x) if x else math.nan for x in table[name]])

    knee = rec.robot.model.joint("left_knee_pitch")
    assert np.array_equal(column("time [s]"), rec.time)
    assert np.array_equal(column("left_knee_pitch.position [rad]"), rec.qpos[:, knee.qposadr[0]])
    assert np.array_equal(column("base.vz [m/s]"), rec.qvel[:, 2])
    assert np.array_equal(
        column("left_knee_pitch.control"), rec.ctrl[:, rec.robot.model.actuator("left_knee_pitch").id]
    )
    assert np.array_equal(column("right.force.z [N]"), rec.foot_force[:, 1, 2])
    assert np.array_equal(column("left.cop.x [m]"), rec.cop[:, 0, 0], equal_nan=True)
    assert np.array_equal(column("cop.y [m]"), overall_cop(rec)[:, 1], equal_nan=True)
    assert np.array_equal(column("right.p3.velocity.x [m/s]"), rec.velocity[:, 7, 0])
    assert np.array_equal(column("left.p0.mode"), rec.mode[:, 0])
    assert table["zmp.x [m]"][0] == ""  # in flight it is not defined


def test_every_state_of_every_kind_of_joint_is_in_the_csv(tmp_path):
    for name in ("ball", "planar-biped", "hanavan"):
        short = blank(ff.load_robot(name), 2)
        with short.export(tmp_path / "a.csv").open(newline="") as file:
            head = next(csv.reader(file))
        model = short.robot.model
        states = [x for x in head if x.split(" ")[0].count(".") == 1 and not x.startswith(("cop.", "zmp."))]
        assert len(states) == model.nq + model.nv + model.nu


def test_npz_holds_the_arrays_and_what_they_are(rec, tmp_path):
    with np.load(rec.export(tmp_path / "a.npz"), allow_pickle=False) as found:
        for name in ("time", "qpos", "qvel", "ctrl", "force", "position", "gap", "mode", "foot_force", "cop", "zmp"):
            assert np.array_equal(found[name], getattr(rec, name), equal_nan=name in ("cop", "zmp"))
        told = json.loads(str(found["description"]))
    assert told["law"]["name"] == "linearizing-penalty"
    assert told["feet"] == ["left", "right"]
    assert told["units"]["force"].startswith("N")


# ---- OpenSim -----------------------------------------------------------------------------------------------


def read_storage(path):
    """OpenSim's Storage format, from its documentation: a head up to ``endheader``, a line of labels, numbers."""
    lines = path.read_text().splitlines()
    end = lines.index("endheader")
    head = dict(line.split("=") for line in lines[:end] if "=" in line)
    labels = lines[end + 1].split("\t")
    values = np.array([[float(x) for x in line.split("\t")] for line in lines[end + 2 :]])
    assert (int(head["nRows"]), int(head["nColumns"])) == values.shape == (len(values), len(labels))
    return head, dict(zip(labels, values.T, strict=True))


def test_opensim_forces_are_y_up_and_keep_their_wrench(rec, tmp_path):
    head, table = read_storage(rec.export(tmp_path / "grf.mot"))
    assert head["inDegrees"] == "no"
    assert table["time"] == pytest.approx(rec.time)
    for f, foot in enumerate(("left", "right")):
        force, place, torque = (
            np.stack([table[f"{foot}_ground_{kind}{axis}"] for axis in "xyz"], axis=1)
            for kind in ("force_v", "force_p", "torque_")
        )
        ours = rec.foot_force[:, f]
        assert force == pytest.approx(np.stack([ours[:, 0], ours[:, 2], -ours[:, 1]], axis=1), rel=1e-9, abs=1e-9)
        # The moment about the origin is the same vector in other axes: a proper rotation, no mirror image.
        moment = grf(rec).moment[:, f]
        expected = np.stack([moment[:, 0], moment[:, 2], -moment[:, 1]], axis=1)
        loaded = np.isfinite(rec.cop[:, f, 0])
        assert (np.cross(place, force) + torque)[loaded] == pytest.approx(expected[loaded], abs=1e-6)
        assert place[loaded, 1] == pytest.approx(0.1, abs=1e-3)  # the ground's height
        assert not force[~loaded].any()


# ---- C3D ---------------------------------------------------------------------------------------------------


def plates_of(path):
    file = read_c3d(path)
    return file, force_plates(file)


def test_c3d_plates_measure_the_force_under_each_foot(rec, tmp_path):
    file, plates = plates_of(rec.export(tmp_path / "a.c3d"))
    assert len(plates) == 2
    single = 1e-6 * rec.robot.weight * 1e3  # the format holds single precision, moments in N mm
    for f, plate in enumerate(plates):
        assert plate.force == pytest.approx(rec.foot_force[:, f], abs=single)
        loaded = rec.foot_force[:, f, 2] > 0.1 * rec.robot.weight
        # The centre of pressure is derived from the plate's moments: off ours by depth times friction at most.
        centre = plate.cop[loaded]
        assert centre[:, :2] == pytest.approx(1e3 * rec.cop[loaded, f, :2], abs=0.05)
        assert centre[:, 2] == pytest.approx(100.0)  # mm, the ground's height
        free = np.nan_to_num(grf(rec).moment_at_cop[:, f, 2])
        arm = plate.cop - plate.corners.mean(axis=0)
        assert (plate.moment - np.cross(arm, plate.force))[loaded, 2] == pytest.approx(1e3 * free[loaded], abs=1.0)
    assert file.rate == pytest.approx(1000.0)
    assert file.points == pytest.approx(1e3 * rec.position, abs=1e-3)
    assert file.labels[4] == "right_0"


def test_another_program_finds_the_same_plates(rec, tmp_path):
    """Where ezc3d works: it derives force, moment and pressure centre by itself."""
    ezc3d = pytest.importorskip("ezc3d", exc_type=ImportError)
    path = rec.export(tmp_path / "a.c3d")
    theirs = ezc3d.c3d(str(path), extract_forceplat_data=True)["data"]["platform"]
    for ours, other in zip(plates_of(path)[1], theirs, strict=True):
        loaded = ours.force[:, 2] > 0.1 * rec.robot.weight
        assert pytest.approx(ours.force, abs=1e-3) == other["force"].T
        assert pytest.approx(ours.moment, abs=1.0) == other["moment"].T  # N mm
        assert other["center_of_pressure"].T[loaded] == pytest.approx(ours.cop[loaded], abs=1e-2)  # mm


def test_c3d_plates_lie_in_a_slope(ramp, tmp_path):
    _, (plate,) = plates_of(ramp.export(tmp_path / "ramp.c3d"))
    assert plate.force == pytest.approx(ramp.foot_force[:, 0], abs=1e-3)
    gap, _ = ramp.ground.gap(1e-3 * plate.corners)
    assert gap == pytest.approx(0.0, abs=1e-6)
    loaded = ramp.foot_force[:, 0, 2] > 1.0
    assert plate.cop[loaded] == pytest.approx(1e3 * overall_cop(ramp)[loaded], abs=0.05)


def test_c3d_needs_evenly_spaced_samples(rec, tmp_path):
    time = np.array(rec.time)
    time[10:] += 5e-4
    with pytest.raises(RecordingError, match="not evenly spaced"):
        replace(rec, time=time).export(tmp_path / "a.c3d")


# ---- MCAP --------------------------------------------------------------------------------------------------


def messages_of(path):
    reader = pytest.importorskip("mcap.reader")
    found = {}
    with path.open("rb") as file:
        for schema, channel, message in reader.make_reader(file).iter_messages():
            entry = (schema.name, message.log_time * 1e-9, json.loads(message.data))
            found.setdefault(channel.topic, []).append(entry)
    return found


def test_mcap_has_numbers_for_plots(rec, tmp_path):
    found = messages_of(rec.export(tmp_path / "a.mcap"))
    assert len(found["/numbers"]) == len(rec)
    k = 200
    _, time, told = found["/numbers"][k]
    assert time == pytest.approx(rec.time[k])
    assert told["grf"]["left"]["z"] == rec.foot_force[k, 0, 2]
    assert told["zmp"]["x"] == rec.zmp[k, 0]
    assert found["/numbers"][0][2]["zmp"]["x"] is None  # in flight
    assert told["joints"]["base.z"]["position"] == rec.qpos[k, 2]


def test_mcap_has_a_scene_that_foxglove_draws(rec, tmp_path):
    found = messages_of(rec.export(tmp_path / "a.mcap", rate=30.0))
    assert len(found["/tf"]) == len(found["/contacts"]) == 10
    data = mujoco.MjData(rec.robot.model)
    schema, time, told = found["/tf"][-1]
    assert schema == "foxglove.FrameTransforms"
    assert time == pytest.approx(rec.time[-1])
    data.qpos[:] = rec.qpos[-1]
    mujoco.mj_kinematics(rec.robot.model, data)
    frames = {one["child_frame_id"]: one for one in told["transforms"]}
    foot = frames["left_foot"]
    assert list(foot["translation"].values()) == pytest.approx(data.body("left_foot").xpos)
    assert [foot["rotation"][c] for c in "wxyz"] == pytest.approx(data.body("left_foot").xquat)
    (_, _, robot), (_, _, ground) = found["/robot"][0], found["/ground"][0]
    assert {one["frame_id"] for one in robot["entities"]} <= set(frames) | {"world"}
    heights = [point["z"] for point in ground["entities"][0]["triangles"][0]["points"]]
    assert heights == pytest.approx([0.1] * len(heights))
    arrows = found["/contacts"][-1][2]["entities"][0]["arrows"]
    lengths = np.array([arrow["shaft_length"] + arrow["head_length"] for arrow in arrows])
    forces = np.linalg.norm(rec.force[-1], axis=1)
    first, forces = rec.force[-1][forces > 0.0][0], forces[forces > 0.0]  # what bears nothing has no arrow
    assert lengths / lengths[0] == pytest.approx(forces / forces[0])
    orientation = np.array([arrows[0]["pose"]["orientation"][c] for c in "wxyz"])
    mujoco.mju_rotVecQuat(direction := np.zeros(3), np.array([1.0, 0.0, 0.0]), orientation)
    assert direction == pytest.approx(first / forces[0])


def test_rerun_reads_the_scene_and_the_numbers(rec, tmp_path):
    """By Rerun's own program: every sample of the numbers, the poses of every body that is drawn, arrows."""
    pytest.importorskip("rerun")
    target = rec.export(tmp_path / "a.rrd", rate=30.0)
    command = [sys.executable, "-m", "rerun", "rrd"]
    subprocess.run([*command, "verify", target], check=True, capture_output=True, timeout=600)
    text = subprocess.run([*command, "print", target], check=True, capture_output=True, text=True, timeout=600).stdout
    rows = dict.fromkeys(re.findall(r" - (/\S+)", text), 0)
    for count, entity in re.findall(r"with (\d+) rows .*? - (/\S+)", text):
        rows[entity] += int(count)
    shown = display_samples(rec.time, 30.0).size
    assert rows["/contacts"] == shown
    assert rows["/grf/total/z"] == len(rec)
    for foot in rec.robot.feet:
        assert rows[f"/grf/{foot.name}/z"] == len(rec) and rows[f"/robot/{foot.body}"] == shown
    assert rows["/ground"] == 1


def test_rerun_that_is_missing_is_named(rec, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(FootfallError, match=r'Rerun.s SDK: pip install "footfall\[rerun\]"'):
        rec.export(tmp_path / "a.rrd")


# ---- sentences ---------------------------------------------------------------------------------------------


def test_wrong_endings_and_places_are_told(rec, tmp_path):
    with pytest.raises(FootfallError, match=r"known: \.c3d, \.csv, \.mcap, \.mot, \.npz, \.parquet, \.rrd"):
        rec.export(tmp_path / "a.xyz")
    (tmp_path / "file").write_text("")
    with pytest.raises(FootfallError, match=r"cannot write '.*a\.csv'"):
        rec.export(tmp_path / "file" / "a.csv")
    with pytest.raises(RecordingError, match="no samples"):
        rec.slice(5.0, 6.0).export(tmp_path / "a.csv")


def test_a_missing_extra_says_what_to_install(rec, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcap.writer", None)
    with pytest.raises(FootfallError, match=r'a file \.mcap needs mcap: pip install "footfall\[export\]"'):
        rec.export(tmp_path / "a.mcap")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["csv", "npz", "mot", "c3d", "mcap", "parquet", "html"])
def test_whatever_interrupts_an_export_the_old_file_or_the_new_one_is_there(tmp_path, monkeypatch, ending):
    """Ctrl-C, a full disk and a kill at every file-system call of an export, or of a report."""
    target, short = tmp_path / f"a.{ending}", ff.Simulation("ball", law="hunt-crossley").run(0.004)

    def write():
        short.report(target) if ending == "html" else short.export(target)

    def prepare():
        for path in tmp_path.iterdir():
            path.unlink()
        target.write_text("before")

    write()
    whole, seen = target.stat().st_size, set()
    for fault in faults(monkeypatch, prepare, write):
        seen.add(target.stat().st_size)
        assert target.stat().st_size in (len("before"), whole), fault
        if "Killed" not in fault:
            assert os.listdir(tmp_path) == [target.name], fault
    assert seen == {len("before"), whole}


def test_the_commands_export_plot_and_audit_a_saved_recording(rec, tmp_path, capsys):
    folder = str(rec.save(tmp_path / "run"))
    assert main(["export", folder, str(tmp_path / "a.csv")]) == 0
    assert (tmp_path / "a.csv").exists()
    assert main(["plot", folder, "grf", "--out", str(tmp_path / "grf.svg"), "--stop", "0.2"]) == 0
    assert (tmp_path / "grf.svg").read_text().startswith("<?xml")
    assert main(["plot", folder, "grff"]) == 1
    assert "did you mean 'grf'" in capsys.readouterr().err
    assert main(["audit", folder, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out.splitlines()[-1]).values()
    assert told == rec.audit().to_dict()


def test_a_parquet_table_is_read_by_others_with_names_and_units(rec, tmp_path):
    import pandas as pd
    import pyarrow.parquet as pq

    path = rec.export(tmp_path / "a.parquet")
    table = pd.read_parquet(path)
    np.testing.assert_array_equal(table["time [s]"], rec.time)
    np.testing.assert_array_equal(table["left.p1.force.z [N]"], rec.force[:, 1, 2])
    schema = pq.read_schema(path)
    assert json.loads(schema.metadata[b"units"])["left.p1.gap [m]"] == "m"
    assert schema.metadata[b"law"] == b"linearizing-penalty"


def test_the_table_of_a_recording_says_what_its_columns_are(rec, tmp_path):
    import pyarrow.parquet as pq

    folder = rec.save(tmp_path / "run")
    schema = pq.read_schema(next(folder.glob("*.parquet")))
    columns = json.loads(schema.metadata[b"columns"])
    assert columns["force"]["unit"].startswith("N, world frame")
    assert columns["force"]["axes"] == ["point", "xyz"]
    assert tuple(columns["force"]["points"]) == rec.point_names
    assert all(columns[name]["unit"] for name in ("time", "qpos", "velocity"))
