"""Contacts from joints, torques and an IMU: forces, modes and the base are those of the run, with their deviations."""

from __future__ import annotations

import json
import warnings
from functools import cache
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from robot_logs import motion_log, sensed, write_bag, write_table
from scipy.signal import butter, sosfiltfilt
from shared_files import shared_file

import footfall as ff
from footfall.cli import main
from footfall.errors import FootfallError
from footfall.gait.human.data import measured_walk
from footfall.gait.human.walk import human_walk

RATE = 250.0


def low_passed(values):
    """The truth as the estimate can see it, at 30 Hz: what is faster no log of joints tells."""
    return sosfiltfilt(butter(2, 30.0, fs=RATE, output="sos"), values, axis=0)


@cache
def pushed(law):
    """A quadruped that stands, is pushed aside for a tenth of a second and holds against it."""
    robot = ff.load_robot("quadruped")
    push = ff.Push(robot.root, force=(20.0, 30.0, 0.0), start=0.1, duration=0.1)
    sim = ff.Simulation(robot, ground=ff.Ground.plane(friction=0.8), law=law)
    return sim.run(0.4, controller="posture", pushes=[push], record_dt=1.0 / RATE)


@pytest.mark.parametrize("law", ff.laws())
def test_forces_are_found_under_every_law(law, tmp_path):
    rec = pushed(law)
    log = ff.load_log(write_table(tmp_path / "log.csv", sensed(rec)), rec.robot)
    # A push is a force from outside that no foot gives: before and after it the ground gives all.
    found = ff.estimate(log, ground=ff.Ground.plane(friction=0.8))
    free = (rec.time[: len(log)] < 0.06) | (rec.time[: len(log)] > 0.26)
    off = (found.force - low_passed(rec.foot_force)[: len(log)])[free] / rec.robot.weight
    assert np.sqrt((off**2).mean(axis=(0, 1))).max() < 0.03  # noise of torques is 1 % of the largest, at 0.2 m
    assert (found.mode > 0).mean() > 0.98 and not found.slides
    assert found.residual[free].mean() < 0.02 < 0.06 < found.residual[~free].max()  # the push is what is not explained
    missed = ff.audit(found.record()).series["moment balance"]  # nor does the audit find it among the forces
    assert np.nanmean(missed[~free]) > 1.5 * np.nanmean(missed[free])


@cache
def walked():
    robot = ff.load_robot("quadruped")
    walk = ff.control.QuadrupedWalk(speed=0.4, steps=8).scaled(robot)
    return ff.Simulation(robot, law="time-stepping").run(1.6, controller=walk, record_dt=1.0 / RATE)


@pytest.mark.parametrize("causal", [False, True])
def test_a_walk_has_its_forces_touch_downs_and_base(causal, tmp_path):
    rec = walked()
    log = ff.load_log(write_bag(tmp_path / "walk.mcap", sensed(rec), rec.robot.actuated), rec.robot)
    assert log.position is None  # joints, torques and an IMU alone
    found = ff.estimate(log, ground=rec.ground, causal=causal)
    count, weight = len(log), rec.robot.weight
    off = found.force - (rec.foot_force if causal else low_passed(rec.foot_force))[:count]
    assert np.sqrt((off[..., 2] ** 2).mean()) < (0.1 if causal else 0.04) * weight
    # Deviations are those of the errors: about 95 % lie within two of them.
    assert (np.abs(off) < 2.0 * found.force_deviation).mean() > (0.8 if causal else 0.85)
    touched = rec.mode[:count] > 0
    assert ((found.mode > 0) == touched).mean() > 0.95
    feet = [foot.name for foot in rec.robot.feet]
    for name, time in found.touch_downs:
        own = touched[:, feet.index(name)]
        real = rec.time[1:count][own[1:] & ~own[:-1]]
        assert np.abs(real - time).min() < 0.025  # 30 Hz smears a touch over some 15 ms
    assert len(found.touch_downs) >= 6 and not found.slides
    velocity = found.qvel[:, :3] - rec.qvel[:count, :3]
    assert np.sqrt((velocity**2).sum(axis=1).mean()) < 0.03
    audit = ff.audit(found.record())
    assert audit.passed, audit.summary  # forces balance the motion that they are of
    assert audit["force balance"].rms < 0.03 * weight and audit["open force"].verdict == "by design"
    assert np.abs(found.qpos[:, 2] - rec.qpos[:count, 2]).max() < 5e-3
    # Where it is and which way it faces nothing tells but the sum of its steps.
    way = np.linalg.norm((found.qpos[-1] - found.qpos[0] - rec.qpos[count - 1] + rec.qpos[0])[:2])
    assert way < 0.05 * np.linalg.norm((rec.qpos[count - 1] - rec.qpos[0])[:2]) + 5e-3


def test_a_log_that_begins_in_the_air_lands_where_the_ground_is(tmp_path):
    """Dropped from 8 cm with a speed: an accelerometer in a fall tells no attitude, and no foot that lands slides."""
    robot = ff.load_robot("quadruped")
    sim = ff.Simulation(robot, ground=ff.Ground.plane(friction=0.8), law="time-stepping")
    qpos, qvel = sim.place(), np.zeros(robot.model.nv)
    qpos[2] += 0.08
    qvel[0] = 0.2
    rec = sim.run(0.5, controller="posture", qpos=qpos, qvel=qvel, record_dt=1.0 / RATE)
    log = ff.load_log(write_table(tmp_path / "drop.csv", sensed(rec)), robot)
    found = ff.estimate(log, ground=rec.ground)
    after = found.time > 0.2  # it falls for 0.13 s
    off = (found.qvel[:, :3] - rec.qvel[: len(log), :3])[after]
    assert np.abs(off).max() < 0.05 and np.abs(found.qpos[after, 2] - rec.qpos[: len(log), 2][after]).max() < 5e-3
    touched = rec.time[(rec.mode > 0).any(axis=1)][0]
    assert not found.slides and abs(found.touch_downs[0][1] - touched) < 0.03  # what 30 Hz make of a blow of 6 weights


def test_feet_that_slide_are_told(tmp_path):
    """A quadruped set down on ice with a speed: its feet slide until friction has stopped them."""
    robot = ff.load_robot("quadruped")
    sim = ff.Simulation(robot, ground=ff.Ground.plane(friction=0.15), law="time-stepping")
    qvel = np.zeros(robot.model.nv)
    qvel[0] = 0.6
    rec = sim.run(1.0, controller="posture", qpos=sim.place(), qvel=qvel, record_dt=1.0 / RATE)
    columns = sensed(rec)
    for axis, name in enumerate("xyz"):
        columns[f"base.v{name}"] = rec.qvel[:, axis]
    for axis, name in enumerate("xyz"):  # a pose of motion capture
        columns[f"base.{name}"] = rec.qpos[:, axis]
    for part, name in enumerate(("qw", "qx", "qy", "qz")):
        columns[f"base.{name}"] = rec.qpos[:, 3 + part]
    log = ff.load_log(write_table(tmp_path / "ice.csv", columns), robot)
    found = ff.estimate(log, ground=rec.ground)
    slid = rec.mode[: len(log)] == 2
    fast = np.linalg.norm(rec.velocity[: len(log), :, :2], axis=2) > 0.25
    slow = np.linalg.norm(rec.velocity[: len(log), :, :2], axis=2) < 0.02
    assert (found.mode[slid & fast] == 2).mean() > 0.9 and (found.mode[~slid & slow] == 2).mean() < 0.05
    off = found.slip[slid & fast] - np.linalg.norm(rec.velocity[: len(log), :, :2], axis=2)[slid & fast]
    assert np.abs(np.median(off)) < 0.05


def test_a_biped_with_flat_feet_has_its_forces(tmp_path):
    robot = ff.load_robot("spatial-biped")
    walk = ff.control.Walk(steps=4).scaled(robot)
    rec = ff.Simulation(robot, law="time-stepping").run(1.6, controller=walk, record_dt=1.0 / RATE)
    log = ff.load_log(write_table(tmp_path / "walk.csv", sensed(rec)), robot)
    found = ff.estimate(log, ground=rec.ground)
    off = (found.force - low_passed(rec.foot_force)[: len(log)])[..., 2]
    assert np.sqrt((off**2).mean()) < 0.06 * robot.weight
    record = found.record()
    assert ff.audit(record).rows and record.force.shape == rec.force[: len(log)].shape


def test_a_log_that_begins_with_a_start_has_the_forces_of_its_walk(tmp_path):
    """A G1 that a policy sets off: its accelerometer is far from upright, and a foot that swings seems to bear load."""
    pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install footfall[policy]")
    folder = shared_file("policies/g1")
    policy = ff.control.Policy(folder / "policy.onnx", contract="playground", command=(0.5, 0.0, 0.2))
    scene = folder / "scene_mjx_feetonly_flat_terrain.xml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ff.FootfallWarning)  # its visual meshes are not there
        sim = ff.Simulation(scene, ground=ff.Ground.plane(friction=0.6), law="time-stepping")
    rec = sim.run(1.0, controller=policy, record_dt=1.0 / RATE)
    found = ff.estimate(ff.load_log(write_table(tmp_path / "start.csv", sensed(rec)), rec.robot), ground=rec.ground)
    weight = rec.robot.weight
    off = (found.force - low_passed(rec.foot_force)[: len(found.time)])[..., 2]
    # Steps of 1.5 weights, of which 30 Hz keeps most; with the base lost it was more than half the weight.
    assert np.sqrt((off**2).mean()) < 0.08 * weight and found.residual.mean() < 0.05
    # Soles of eight points have more forces than rows: deviations stay those of sensors that are good to 1 %.
    assert found.force_deviation[..., 2].mean() < 0.1 * weight


@cache
def half_a_second():
    """Columns of a log, and what is read of them."""
    columns = {name: own[100:225] for name, own in sensed(walked()).items()}
    with TemporaryDirectory() as folder:
        return columns, ff.load_log(write_table(f"{folder}/walk.csv", columns), walked().robot)


@pytest.mark.parametrize("of", ["RL_knee_pitch", ""])
def test_torques_of_the_other_sign_are_turned_and_told(of, tmp_path):
    columns, right = half_a_second()
    wrong = {name: -own if name.endswith(f"{of}/effort") else own for name, own in columns.items()}
    log = ff.load_log(write_table(tmp_path / "wrong.csv", wrong), walked().robot)
    np.testing.assert_allclose(log.torque[:, 6:], right.torque[:, 6:])
    assert any("have the other sign" in one and of in one for one in log.said)
    assert not any("the other sign" in one for one in right.said)


def test_what_cannot_be_estimated_is_refused_in_a_sentence(tmp_path):
    rec = walked()
    columns = {name: own for name, own in sensed(rec).items() if "imu" not in name}
    log = ff.load_log(write_table(tmp_path / "walk.csv", columns), rec.robot)
    with pytest.raises(FootfallError, match="has neither a gyroscope nor the pose of the base"):
        ff.estimate(log)
    assert main(["estimate", str(tmp_path / "walk.csv"), "--robot", "planar-biped"]) == 1


def test_the_command_prints_writes_and_saves(tmp_path, capsys):
    rec = walked()
    path = write_table(tmp_path / "walk.csv", {name: own[:60] for name, own in sensed(rec).items()})
    out, page = tmp_path / "estimate", tmp_path / "page.html"
    command = ["estimate", str(path), "--robot", "quadruped", "--out", str(out), "--report", str(page)]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["feet"]) == {"FL", "FR", "RL", "RR"} and found["residual_weights"] < 0.05
    assert ff.load_recording(out).info["controller"].startswith("estimated from") and page.stat().st_size > 10_000
    assert main(["estimate", str(path), "--robot", "quadruped"]) == 0
    assert "times real time on one core" in capsys.readouterr().out


def test_the_recorded_man_presses_as_his_plates_say():
    """Of the walk that ships: markers alone, on a hanavan man, against the force plates, which are not used."""
    robot = ff.load_robot("hanavan")
    motion = human_walk(robot, forces=False)
    walk = measured_walk()
    every = 5  # of 500 samples a stride
    qpos = np.vstack([motion.qpos[::every] + k * motion.advance for k in range(2)])
    qvel = np.vstack([motion.qvel[::every]] * 2)
    time = motion.period * every / len(motion.qpos) * np.arange(len(qpos))
    log = motion_log(robot, time, qpos, qvel, "human walk")
    found = ff.estimate(log, ground=ff.Ground.plane(friction=0.7), cutoff=15.0)
    phase = time / motion.period
    left = [foot.name for foot in robot.feet].index("left")
    measured = walk.ground_force("z", phase)
    middle = (phase > 0.5) & (phase < 1.5)
    ours = found.force[:, left, 2] / robot.weight
    off = (ours - measured)[middle]
    # How two feet share the weight markers do not tell: between the peaks the load changes feet too early.
    assert np.sqrt((off**2).mean()) < 0.21 and np.corrcoef(ours[middle], measured[middle])[0, 1] > 0.9
    total = found.force[middle].sum(axis=1)[:, 2] / robot.weight
    assert total.mean() == pytest.approx(1.0, abs=0.01)
