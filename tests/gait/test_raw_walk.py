"""A walk from the files of a laboratory: what a made-up walker does is found again, however it was written down."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from footfall.cli import main
from footfall.errors import FootfallError
from footfall.files.c3d import C3D
from footfall.files.c3d_writer import write_c3d
from footfall.gait import measured_walk
from footfall.gait.human.data import derive, load_walk
from footfall.gait.human.series import evaluate

MARKER_RATE, PLATE_RATE, DURATION = 100.0, 500.0, 3.2
MASS, WIDTH = 60.0, 0.12  # kg, and m between the feet
PLUG_IN = {"hip": "HJC", "knee": "KNE", "ankle": "ANK", "heel": "HEE", "mt": "TOE"}


def walker():
    """Joints (T, 3) m, and force (S, 3) N and pressure centre of each foot, of the walk that ships; x forward, z up."""
    walk = measured_walk()
    time, fine = (np.arange(round(DURATION * rate)) / rate for rate in (MARKER_RATE, PLATE_RATE))
    joints = {}
    for side, shift, y in (("L", 0.0, 0.5 * WIDTH), ("R", 0.5, -0.5 * WIDTH)):

        def places(at, shift=shift, y=y):
            phase = at / walk.stride_time
            own = phase + shift
            hip = np.column_stack(
                [walk.speed * at + evaluate(walk.pelvis["x"], phase), y + 0 * at, evaluate(walk.pelvis["z"], phase)]
            )
            thigh, shank, foot = (walk.angle(name, own) for name in ("thigh", "shank", "foot"))
            down = lambda angle: np.column_stack([-np.sin(angle), 0 * angle, -np.cos(angle)])  # noqa: E731
            ahead = np.column_stack([np.cos(foot), 0 * foot, -np.sin(foot)])
            knee = hip + walk.thigh * down(thigh)
            ankle = knee + walk.shank * down(shank)
            heel = ankle + walk.ankle_height * down(foot) * 0.6 - 0.05 * ahead
            return {"hip": hip, "knee": knee, "ankle": ankle, "heel": heel, "mt": heel + 0.19 * ahead}

        joints |= {f"{side}_{name}": place for name, place in places(time).items()}
        own = fine / walk.stride_time + shift
        force = MASS * 9.81 * np.column_stack([walk.ground_force(axis, own) for axis in "xyz"])
        force[:, 1] *= 1.0 if side == "R" else -1.0
        # The foot is planted: its pressure centre is ahead of where the ankle was at the middle of stance.
        middle = (np.floor(own) + 0.4 * walk.stance - shift) * walk.stride_time
        ankle = places(middle)["ankle"]
        share = np.mod(own, 1.0) / walk.stance
        known = np.nan_to_num(walk.pressure, nan=0.0)
        centre = ankle + np.column_stack([np.interp(share, np.linspace(0, 1, 51), known), 0 * own, 0 * own])
        centre[:, 2] = 0.0
        joints |= {f"{side}_force": force, f"{side}_cop": centre}
    return time, fine, joints


def turned(vectors, way):
    """From x forward, y left, z up into the axes of a laboratory."""
    x, y, z = vectors.T
    return {"y up": np.column_stack([x, z, -y]), "z up, towards -y": np.column_stack([y, -x, z])}[way]


def write_trc(path, time, joints, way, names=PLUG_IN):
    labels = [f"{side}{name}" for side in "RL" for name in names.values()]
    columns = [1e3 * turned(joints[f"{side}_{joint}"], way) for side in "RL" for joint in names]
    head = "PathFileType\t4\t(X/Y/Z)\twalk.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n"
    head += f"{MARKER_RATE}\t{MARKER_RATE}\t{len(time)}\t{len(labels)}\tmm\n"
    axes = "\t".join(f"X{i}\tY{i}\tZ{i}" for i in range(10))
    head += "Frame#\tTime\t" + "\t\t\t".join(labels) + f"\n\t\t{axes}\n\n"
    rows = [
        "\t".join([str(k + 1), f"{t:.3f}", *(f"{v:.4f}" for v in row)])
        for k, (t, row) in enumerate(zip(time, np.hstack(columns), strict=True))
    ]
    path.write_text(head + "\n".join(rows) + "\n")


def write_mot(path, fine, joints, way):
    """Forces in turn on four plates, R L R L, by stance, as overground; each with its pressure centre."""
    values, names = [], []
    for number, (side, which) in enumerate((("L", 0), ("R", 0), ("L", 1), ("R", 1))):
        own = fine / measured_walk().stride_time + (0.5 if side == "R" else 0.0)
        on = np.floor(own) == which + (1 if side == "R" else 0)
        force = np.where(on[:, None], joints[f"{side}_force"], 0.0)
        centre = np.where(on[:, None], joints[f"{side}_cop"], 0.0)
        values += [turned(force, way), turned(centre, way)]
        names += [f"ground_force_{number}_{kind}{axis}" for kind in "vp" for axis in "xyz"]
    table = np.column_stack([fine, *values])
    head = f"grf\nversion=1\nnRows={len(fine)}\nnColumns={table.shape[1]}\ninDegrees=yes\nendheader\n"
    rows = "\n".join("\t".join(f"{v:.5f}" for v in row) for row in table)
    path.write_text(head + "\t".join(["time", *names]) + "\n" + rows + "\n")


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
        own = derive(tmp_path)
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
    write_c3d(path, C3D(MARKER_RATE, labels, points, "mm", names, units, analog, {"FORCE_PLATFORM": platform}))


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


def test_on_a_treadmill_the_speed_is_that_of_the_belt(tmp_path):
    time, fine, joints = walker()
    speed = measured_walk().speed
    for name in joints:
        if not name.endswith("force"):
            joints[name][:, 0] -= speed * (fine if name.endswith("cop") else time)
    write_trc(tmp_path / "walk.trc", time, joints, "y up")
    write_mot(tmp_path / "walk.mot", fine, joints, "y up")
    with pytest.warns(UserWarning, match="a treadmill of 1"):
        # The heel rolls and slips a little while it stands: its speed is that of the belt to some per cent.
        own = derive(tmp_path / "walk.trc")
    assert own.speed == pytest.approx(speed, rel=0.05)


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
        derive(tmp_path)
    away = dict(joints, R_cop=joints["R_cop"] + 3.0, L_cop=joints["L_cop"] + 3.0)
    write_mot(tmp_path / "walk.mot", fine, away, "y up")
    with pytest.warns(UserWarning, match="from the nearer foot"), pytest.raises(FootfallError, match="no foot of the"):
        derive(tmp_path)
    joints["R_knee"][50:90] = np.nan
    write_trc(tmp_path / "walk.trc", time, joints, "y up")
    write_mot(tmp_path / "walk.mot", fine, joints, "y up")
    with pytest.raises(FootfallError, match=r"R_knee is not seen from 0\.490 to 0\.900 s"):
        derive(tmp_path)
