"""A walk from the files of a laboratory: what a made-up walker does is found again, however it was written down."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from lab_walks import MARKER_RATE, MASS, PLATE_RATE, PLUG_IN, WIDTH, walker, write_mot, write_trc

from footfall.cli import main
from footfall.errors import FootfallError
from footfall.files.c3d import C3D, write_c3d
from footfall.gait import measured_walk
from footfall.gait.human.data import derive, load_walk


def check(own, speed=None):
    known = measured_walk()
    assert own.mass == pytest.approx(MASS, rel=0.02)  # as well as two stances of the table carry the weight
    assert own.speed == pytest.approx(known.speed if speed is None else speed, rel=0.01)
    assert own.stride_time == pytest.approx(known.stride_time, abs=0.004)  # two samples of the plates
    assert own.stance == pytest.approx(known.stance, abs=0.015)  # the foot stands above 20 N
    assert (own.thigh, own.shank) == pytest.approx((known.thigh, known.shank), abs=1e-3)
    assert own.step_width == pytest.approx(WIDTH, abs=5e-3)
    phase = np.arange(100) / 100
    for name, bound in (("thigh", 1.0), ("shank", 1.5)):  # deg; 6 Hz takes that much of the swing
        assert np.degrees(np.abs(own.angle(name, phase) - known.angle(name, phase))).max() < bound, name
    assert np.abs(own.force["z"] - known.force["z"])[5:-5].max() < 0.06


@pytest.mark.parametrize("way", ["y up", "z up, towards -y"])
def test_a_walk_is_found_again_in_markers_and_plates(way, tmp_path):
    time, fine, joints = walker()
    write_trc(tmp_path / "walk.trc", time, joints, way)
    write_mot(tmp_path / "walk.mot", fine, joints, way)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = derive(tmp_path / "walk.trc")
    check(own)
    assert "not stated" in own.attribution
    assert load_walk(tmp_path / "walk.trc").mass == own.mass


def write_c3d_walk(path, time, fine, joints):
    """Markers in mm and two plates, one for each foot, whose axes point forward, right and into the floor."""
    per_frame = round(PLATE_RATE / MARKER_RATE)
    labels = tuple(f"S7:{side}{name}" for side in "RL" for name in PLUG_IN.values())
    points = 1e3 * np.stack([joints[f"{side}_{joint}"] for side in "RL" for joint in PLUG_IN], axis=1)
    signals, corners = [], []
    for side in "RL":
        middle = np.array([1.5, joints[f"{side}_cop"][0, 1], 0.0])
        force = joints[f"{side}_force"] * [1, -1, -1]
        arm = (joints[f"{side}_cop"] - middle) * [1, -1, -1]
        signals += [force, 1e3 * np.cross(arm, force)]
        reach = np.array([[2, -1, 0], [-2, -1, 0], [-2, 1, 0], [2, 1, 0]]) * [1.0, 0.05, 0.0]
        corners.append(1e3 * (middle + reach).T)
    analog = np.hstack(signals)[: len(time) * per_frame]
    platform = {
        "USED": np.array(2, np.int16),
        "TYPE": np.full(2, 2, np.int16),
        "ZERO": np.array([1, 0], np.int16),
        "CORNERS": np.stack(corners, axis=2),
        "ORIGIN": np.zeros((3, 2)),
        "CHANNEL": np.arange(1, 13, dtype=np.int16).reshape(6, 2, order="F"),
    }
    names = tuple(f"{kind}{axis}{i}" for i in (1, 2) for kind in "FM" for axis in "xyz")
    units = ("N", "N", "N", "Nmm", "Nmm", "Nmm") * 2
    write_c3d(path, C3D(MARKER_RATE, labels, points, "mm", names, units, analog, platform))


def test_a_c3d_file_holds_the_whole_walk(tmp_path):
    time, fine, joints = walker()
    write_c3d_walk(tmp_path / "trial 7.c3d", time, fine, joints)
    check(derive(tmp_path / "trial 7.c3d"))


def test_sides_that_are_interchanged_are_swapped_and_it_is_said(tmp_path):
    time, fine, joints = walker()
    swapped = {f"{'L' if k[0] == 'R' else 'R'}{k[1:]}": v for k, v in joints.items()}
    write_trc(tmp_path / "walk.trc", time, swapped, "y up")
    write_mot(tmp_path / "walk.mot", fine, joints, "y up")
    with pytest.warns(UserWarning, match="lie to the left, and were swapped"):
        check(derive(tmp_path / "walk.trc"))


def with_pelvis(joints):
    """Markers on the pelvis in place of the hips, where the regression of Harrington et al. finds these hips again."""
    middle = 0.5 * (joints["R_hip"] + joints["L_hip"])
    width = (0.5 * np.abs(joints["R_hip"] - joints["L_hip"])[:, 1:2] - 7.3e-3) / 0.33
    depth, (ahead, left, up) = 0.1, np.eye(3)
    front = middle + (0.24 * depth + 9.9e-3) * ahead + (0.30 * width + 10.9e-3) * up
    for side, sign in (("R", -1.0), ("L", 1.0)):
        joints[f"{side}_asis"] = front + sign * 0.5 * width * left
        joints[f"{side}_psis"] = front - depth * ahead + sign * 0.04 * left
    return joints


@pytest.mark.parametrize("interchanged", [False, True])
def test_hips_lie_below_the_pelvis_whatever_side_markers_are_named_after(interchanged, tmp_path):
    """With sides interchanged, hips were 0.12 m too high and thighs of 0.45 m were 0.6 m long."""
    time, fine, joints = walker()
    joints = with_pelvis(joints)
    named = {f"{'L' if k[0] == 'R' else 'R'}{k[1:]}": v for k, v in joints.items()} if interchanged else joints
    pelvis = {"asis": "ASI", "psis": "PSI", **{joint: name for joint, name in PLUG_IN.items() if joint != "hip"}}
    write_trc(tmp_path / "walk.trc", time, named, "y up", pelvis)
    write_mot(tmp_path / "walk.mot", fine, joints, "y up")
    told = pytest.warns(UserWarning, match="were swapped") if interchanged else nullcontext()
    with told:
        check(derive(tmp_path / "walk.trc"))


def test_a_skeleton_that_nobody_has_is_refused(tmp_path):
    time, fine, joints = walker()
    write_mot(tmp_path / "walk.mot", fine, joints, "y up")
    longer = joints | {"R_knee": joints["R_knee"] + 0.3 * (joints["R_knee"] - joints["R_hip"])}
    sunk = {
        name: place - [0.0, 0.0, 0.3] if place.shape == joints["R_hip"].shape else place
        for name, place in joints.items()
    }
    for wrong, sentence in (
        (longer, r"the thigh is 0\.5\d+ m long on side R and 0\.4\d+ m on side L"),
        (sunk, r"thigh and shank of side R are 0\.\d+ m long, and the hip is never higher than 0\.\d+ m"),
    ):
        write_trc(tmp_path / "walk.trc", time, wrong, "y up")
        with pytest.raises(FootfallError, match=sentence):
            derive(tmp_path / "walk.trc")


def test_other_markers_are_named_and_the_command_writes_the_table(tmp_path, capsys):
    time, fine, joints = walker()
    names = dict(PLUG_IN, knee="ABC")
    write_trc(tmp_path / "s7.trc", time, joints, "y up", names)
    write_mot(tmp_path / "plates.mot", fine, joints, "y up")
    command = ["human-walk", str(tmp_path / "s7.trc"), "--forces", str(tmp_path / "plates.mot")]
    assert main(command) == 1
    assert "no marker that is known as the knee of side R" in " ".join(capsys.readouterr().err.split())
    out = tmp_path / "walk.json"
    command += ["--marker", "R_knee=RABC", "L_knee=LABC", "--attribution", "made up", "--out", str(out)]
    assert main(command) == 0
    assert load_walk(out).attribution == "made up"
    check(load_walk(out))


def test_what_is_missing_is_one_sentence(tmp_path):
    time, fine, joints = walker()
    write_trc(tmp_path / "walk.trc", time, joints, "y up")
    with pytest.raises(FootfallError, match=r"which file has the forces of walk\.trc"):
        derive(tmp_path / "walk.trc")
    away = dict(joints, R_cop=joints["R_cop"] + 3.0, L_cop=joints["L_cop"] + 3.0)
    write_mot(tmp_path / "walk.mot", fine, away, "y up")
    with pytest.warns(UserWarning, match="from the nearer foot"), pytest.raises(FootfallError, match="no foot of the"):
        derive(tmp_path / "walk.trc")
    joints["R_knee"][50:90] = np.nan
    write_trc(tmp_path / "walk.trc", time, joints, "y up")
    write_mot(tmp_path / "walk.mot", fine, joints, "y up")
    with pytest.raises(FootfallError, match=r"R_knee is not known from 0\.490 to 0\.900 s"):
        derive(tmp_path / "walk.trc")
