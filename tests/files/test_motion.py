"""Motion files: what we write we read, in SI units, and what is wrong is told."""

from __future__ import annotations

import numpy as np
import pytest

import footfall as ff
from footfall.errors import FootfallError
from footfall.files.motion import load_motion


@pytest.fixture(scope="module")
def rec():
    sim = ff.Simulation("quadruped", law="spring-damper")
    return sim.run(0.05, controller="posture")


def test_ground_forces_come_back(rec, tmp_path):
    motion = load_motion(rec.export(tmp_path / "walk.mot")).z_up()
    foot = rec.robot.feet[0].name
    assert np.allclose(motion.vector(f"{foot}_ground_force_v"), rec.foot_force[:, 0], atol=1e-8)
    assert motion.units[f"{foot}_ground_force_vx"] == "N" and motion.units[f"{foot}_ground_force_px"] == "m"
    assert motion.z_up() is motion


def test_markers_and_plates_of_c3d_come_back(rec, tmp_path):
    motion = load_motion(rec.export(tmp_path / "walk.c3d"))
    assert np.allclose(motion.time, rec.time)
    assert np.allclose(motion.vector(f"{rec.robot.feet[0].name}_0"), rec.position[:, 0], atol=1e-6)  # 4-byte numbers
    assert np.allclose(motion.vector("plate1.force"), rec.foot_force[:, 0], atol=1e-3)
    assert motion.units["plate1.moment.x"] == "N m" and motion.units["plate1.cop.x"] == "m"


def test_degrees_become_radians_and_places_stay(tmp_path):
    path = tmp_path / "ik.mot"
    path.write_text(
        "Coordinates\nversion=1\nnRows=2\nnColumns=4\ninDegrees=yes\nendheader\n"
        "time\tknee_angle_r\tpelvis_tx\tground_torque_y\n0.0\t90\t0.5\t3\n0.1\t45\t0.6\t4\n"
    )
    motion = load_motion(path)
    assert np.allclose(motion["knee_angle_r"], [np.pi / 2, np.pi / 4])
    assert np.allclose(motion["pelvis_tx"], [0.5, 0.6])
    assert np.allclose(motion["ground_torque_y"], [3, 4]) and motion.units["ground_torque_y"] == "N m"


def test_markers_of_trc_in_metres_and_what_is_missing(tmp_path):
    path = tmp_path / "walk.trc"
    path.write_text(
        "PathFileType\t4\t(X/Y/Z)\twalk.trc\n"
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n100\t100\t2\t2\tmm\n"
        "Frame#\tTime\tHeel\t\t\tToe\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
        "1\t0.00\t1000\t20\t-3\t1200\t10\t-5\n2\t0.01\t1010\t21\t-3\t\t\t\n"
    )
    motion = load_motion(path)
    assert motion.vectors == ("Heel", "Toe")
    assert np.allclose(motion.vector("Heel")[0], [1.0, 0.02, -0.003])
    assert np.allclose(motion.z_up().vector("Heel")[0], [1.0, 0.003, 0.02])
    assert np.isnan(motion.vector("Toe")[1]).all()
    assert np.allclose(motion.time, [0.0, 0.01])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.mot", "no header", "has no line 'endheader'"),
        ("a.sto", "x\nendheader\ntime\tq\n0 1 2\n", "line 4 has 3 numbers and not 2"),
        ("a.sto", "x\nendheader\nq\tt\n0 1\n", "first column is 'q' and not time"),
        ("a.sto", "x\nendheader\ntime\tq\n", "holds no samples"),
        ("a.trc", "hello", "does not begin with PathFileType"),
        ("a.trc", "PathFileType\nUnits\nfurlong\nFrame#\tTime\tA\nx\n1\t0\t1\t1\t1\n", "unit 'furlong' is not known"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(name, text, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(FootfallError, match=message):
        load_motion(tmp_path / name)


def test_other_files_and_other_names_are_refused_with_a_hint(tmp_path, rec):
    with pytest.raises(
        FootfallError,
        match=r"measurement that can be read: known are \.c3d, \.csv, \.mot, \.parquet, \.sto, \.trc, \.tsv, \.txt",
    ):
        load_motion(tmp_path / "walk.xlsx")
    with pytest.raises(FootfallError, match="there is no such file"):
        load_motion(tmp_path / "none.mot")
    motion = load_motion(rec.export(tmp_path / "walk.mot"))
    with pytest.raises(FootfallError, match="has no 'tim'"):
        motion["tim"]
    with pytest.raises(FootfallError, match="has no vector 'Heel'"):
        motion.vector("Heel")
    (tmp_path / "x.c3d").write_bytes(b"")
    with pytest.raises(FootfallError, match=r"x\.c3d' cannot be read as a measurement \(\.c3d\): it is no C3D file"):
        load_motion(tmp_path / "x.c3d")
