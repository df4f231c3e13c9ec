"""A robot's log: the same run is read from any file, whatever units, names, clocks and orders it was written in."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from real_robots import real_robot
from robot_logs import sensed, write_bag, write_table

import footfall as ff
from footfall.errors import FootfallError
from footfall.logs.dynamics import close_loops
from footfall.logs.meaning import meanings
from footfall.logs.reading import compared


@cache
def walked():
    """A quadruped that trots for a second, 250 samples of it."""
    robot = ff.load_robot("quadruped")
    walk = ff.control.QuadrupedWalk(speed=0.4, steps=8).scaled(robot)
    return ff.Simulation(robot, law="time-stepping").run(1.2, controller=walk, record_dt=4e-3)


def check(log, rec, rate=250.0):
    """Joints, their rates, torques and IMU of the log are those of the run."""
    count = len(log)
    assert log.rate == pytest.approx(rate, rel=1e-3) and count > 0.9 * len(rec)
    when = log.time
    for j, name in enumerate(rec.robot.joint_names[1:], start=1):
        at, d = int(rec.robot.model.jnt_qposadr[j]), int(rec.robot.model.jnt_dofadr[j])
        assert log.logged[d], name
        # Noise of encoders, 2e-4 rad, and of their rate, 0.02 rad/s, five times.
        assert np.abs(log.qpos[:, at] - np.interp(when, rec.time, rec.qpos[:, at])).max() < 2e-3, name
        off = log.qvel[:, d] - np.interp(when, rec.time, rec.qvel[:, d])
        assert np.median(np.abs(off)) < 0.1, name
    assert np.isfinite(log.torque[:, 6:]).all() and log.gyro is not None and log.accel is not None
    assert np.median(np.linalg.norm(log.accel, axis=1)) == pytest.approx(9.81, rel=0.1)


def test_a_table_is_matched_to_the_robot_and_the_table_of_it_says_so(tmp_path):
    rec = walked()
    log = ff.load_log(write_table(tmp_path / "walk.csv", sensed(rec)), rec.robot)
    check(log, rec)
    assert "FL_hip_roll position" in str(log) and "FL_hip_roll/position" in str(log)
    assert not log.unused and len(log.matches) == 3 * 12 + 6


@pytest.mark.parametrize("encoding", ["cdr", "json"])
def test_a_bag_of_ros_2_is_read_without_ros(encoding, tmp_path):
    rec = walked()
    columns = sensed(rec)
    write_bag(tmp_path / "walk.mcap", columns, rec.robot.actuated, encoding)
    log = ff.load_log(tmp_path / "walk.mcap", rec.robot)
    check(log, rec)
    assert log.attitude is None and "imu attitude never changes" in str(log)  # of an IMU that has none
    # A bag is a folder with the file; two of them are one too many, and SQLite does not describe its messages.
    bag = tmp_path / "bag"
    bag.mkdir()
    with pytest.raises(FootfallError, match=r"holds no file \.mcap"):
        ff.load_log(bag, rec.robot)
    (tmp_path / "walk.mcap").rename(bag / "walk_0.mcap")
    check(ff.load_log(bag, rec.robot), rec)
    (bag / "walk_0.mcap").write_bytes((bag / "walk_0.mcap").read_bytes()[:-4000])
    with pytest.raises(FootfallError, match="no MCAP file, or was cut off"):
        ff.load_log(bag, rec.robot)


@pytest.mark.parametrize("kind", ["npz", "numbers", "parquet"])
def test_arrays_and_parquet_are_read_too(kind, tmp_path):
    rec = walked()
    columns, joints = sensed(rec), rec.robot.actuated
    stacked = {
        part: np.column_stack([columns[f"{joint}/{name}"] for joint in joints])
        for part, name in (("q", "position"), ("dq", "velocity"), ("tau", "effort"))
    }
    imu = {
        name: np.column_stack([columns[f"imu/{own}/{axis}"] for axis in "xyz"])
        for name, own in (("imu_gyro", "angular_velocity"), ("imu_accel", "linear_acceleration"))
    }
    path = tmp_path / f"log.{'npz' if kind == 'numbers' else kind}"
    if kind == "npz":
        np.savez(path, time=columns["time"], joint_names=np.array(joints), **stacked, **imu)
    elif kind == "numbers":  # no names: joints in the robot's order, and times by their distance
        np.savez(path, dt=0.004, **stacked, **imu)
    else:
        import pandas

        pandas.DataFrame(columns).to_parquet(path)
    log = ff.load_log(path, rec.robot)
    check(log, rec)
    assert ("in its order" in str(log)) == (kind == "numbers")


def test_degrees_deg_per_second_signs_delays_and_g_are_found_out(tmp_path):
    rec = walked()
    columns = sensed(rec)
    factors = {}
    for joint in rec.robot.actuated:
        factors[f"{joint}/position"] = factors[f"{joint}/velocity"] = 180.0 / np.pi
    factors["FR_knee_pitch/velocity"] = -180.0 / np.pi
    for axis in "xyz":
        factors[f"imu/linear_acceleration/{axis}"] = 1.0 / 9.81
    for joint in rec.robot.actuated:  # velocities are filtered on the robot, and 12 ms late
        columns[f"{joint}/velocity"] = np.interp(rec.time - 0.012, rec.time, columns[f"{joint}/velocity"])
    log = ff.load_log(write_table(tmp_path / "walk.csv", columns, factors), rec.robot)
    check(log, rec)
    text = str(log)
    assert "positions without a unit are in degrees" in text and "the accelerometer is in g" in text
    (knee,) = (one for one in log.matches if one.channel == "FR_knee_pitch/velocity")
    assert knee.factor == pytest.approx(-np.pi / 180.0)
    late = [one.delay for one in log.matches if one.what.endswith("velocity")]
    assert np.allclose(late, 0.012, atol=0.003)


@pytest.mark.parametrize("late", [0.0, 0.02, -0.016])
def test_torques_that_are_late_are_found_by_what_they_do(late, tmp_path):
    rec = walked()
    columns = sensed(rec)
    for name in [one for one in columns if one.endswith("effort")]:
        columns[name] = np.interp(rec.time - late, rec.time, columns[name])
    log = ff.load_log(write_table(tmp_path / "late.csv", columns), rec.robot)
    delays = {one.delay for one in log.matches if one.what.endswith("torque")}
    assert len(delays) == 1 and delays.pop() == pytest.approx(late, abs=2e-3)  # a torque is held for half a sample
    assert ("by inverse dynamics: shifted" in str(log)) == (late != 0.0)


def test_currents_and_torques_of_another_size_are_told_by_what_they_do(tmp_path):
    rec = walked()
    columns = {name.replace("effort", "current"): own for name, own in sensed(rec).items()}
    factors = {name: 2.0 for name in columns if name.endswith("current")}
    path = write_table(tmp_path / "currents.csv", columns, factors)
    log = ff.load_log(path, rec.robot)
    assert any(one.startswith("currents are not used: torque_constants=") for one in log.said)
    assert not np.isfinite(log.torque).any()
    assert np.isfinite(ff.load_log(path, rec.robot, torque_constants=0.5).torque[:, 6:]).all()
    with pytest.warns(match="torques are 2 times what the motion needs"):
        ff.load_log(path, rec.robot, torque_constants=1.0)


def test_delay_and_factor_of_two_signals_are_those_that_made_them():
    time = np.arange(0.0, 4.0, 0.005)
    first = np.sin(2.0 * time) + 0.5 * np.sin(7.0 * time + 1.0)
    second = -3.0 * (np.sin(2.0 * (time - 0.023)) + 0.5 * np.sin(7.0 * (time - 0.023) + 1.0))
    found = compared(first, second, 200.0)
    assert found.delay == pytest.approx(0.023, abs=5e-4) and found.factor == pytest.approx(-3.0, rel=0.01)
    assert found.correlation < -0.99


@pytest.mark.parametrize("gyro", [True, False])
@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
def test_the_order_of_a_quaternion_is_told_by_the_gyroscope_or_the_stance(order, gyro, tmp_path):
    rec = walked()
    columns = sensed(rec)
    quaternion = rec.qpos[:, 3:7] if order == "wxyz" else rec.qpos[:, [4, 5, 6, 3]]
    np.savez(
        tmp_path / "log.npz",
        time=columns["time"],
        q=np.column_stack([columns[f"{joint}/position"] for joint in rec.robot.actuated]),
        imu_quaternion=quaternion,
        imu_accel=-np.column_stack([columns[f"imu/linear_acceleration/{axis}"] for axis in "xyz"]),
        **({"imu_gyro": np.degrees(rec.qvel[:, 3:6])} if gyro else {}),
    )
    log = ff.load_log(tmp_path / "log.npz", rec.robot)
    assert np.allclose(log.attitude, rec.qpos[: len(log), 3:7], atol=1e-6)
    assert f"quaternions are {', '.join(order)}: " in str(log)
    assert "reads gravity" in str(log)
    named = {one.what: (one.channel, one.factor) for one in log.matches}
    assert named["imu attitude w"][0].endswith("[0]" if order == "wxyz" else "[3]") and named["accel z"][1] == -1.0
    if gyro:
        assert named["gyro x"][1] == pytest.approx(np.pi / 180.0)
        assert np.allclose(log.gyro, rec.qvel[: len(log), 3:6], atol=0.1) and "57" in str(log)


def test_uneven_stamps_and_gaps_are_said(tmp_path):
    rec = walked()
    columns = sensed(rec, noise=0.0)
    random = np.random.default_rng(0)
    kept = np.sort(random.choice(len(rec), int(0.8 * len(rec)), replace=False))
    kept = kept[(kept < 100) | (kept > 140)]
    path = write_table(tmp_path / "walk.csv", {name: own[kept] for name, own in columns.items()})
    with pytest.warns(ff.FootfallWarning, match=r"with a gap of 0\.1\d+ s at 0\.39"):
        log = ff.load_log(path, rec.robot)
    assert "resampled by their stamps" in str(log)


def test_words_of_names_find_joints_sensors_and_feet():
    robot = ff.load_robot("quadruped")
    names = [
        "/joint_states/FL_hip_roll_joint/position",
        "motor_FLKneePitch_tau_est",
        "lf_hip_pitch.dq",
        "/cmd/FR_hip_roll/desired_position",
        "/imu/data/linear_acceleration/z",
        "/odom/pose/pose/orientation/w",
        "/odom/pose/pose/position/x",
        "foot_force_RL_z",
        "battery/voltage",
        "FL_hip_roll temperature",
    ]
    found = meanings(names, robot, {})
    joint = robot.joint_names.index
    assert found.found["position"] == {joint("FL_hip_roll"): names[0]}
    assert found.found["torque"] == {joint("FL_knee_pitch"): names[1]}
    assert found.found["velocity"] == {joint("FL_hip_pitch"): names[2]}
    assert found.found["command position"] == {joint("FR_hip_roll"): names[3]}
    assert found.found["accel"] == {2: names[4]} and found.found["base attitude"] == {0: names[5]}
    assert found.found["base position"] == {0: names[6]} and found.found["foot force"] == {(2, 2): names[7]}
    assert found.unused == names[8:]


def test_a_root_without_a_name_is_in_no_channel():
    robot = real_robot("go1")  # whose joints come after a free one that is not named
    assert not robot.model.joint(0).name
    names = [f"motor_q[{k}]" for k in range(12)] + [f"gyr_{axis}" for axis in "xyz"] + ["ax", "ay", "az"]
    found = meanings(names, robot, {}).found
    assert found == {
        "position": {k + 1: names[k] for k in range(12)},
        "gyro": dict(enumerate(names[12:15])),
        "accel": dict(enumerate(names[15:])),
    }


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda path: None, "there is no such file"),
        (lambda path: path.write_text("time,a,b\n0,1,2\n1,2,3\n2,3,4\n3,3,4\n"), "names={'NAME IN THE LOG': 'JOINT'}"),
        (lambda path: path.write_text("FL_hip_roll,b\n0,1\n1,2\n"), "no column 'time', and states no rate: give rate="),
        (lambda path: path.write_text("time,FL_hip_roll\n"), "it holds no samples"),
    ],
)
def test_what_is_no_log_is_refused_in_a_sentence(write, sentence, tmp_path):
    path = tmp_path / "log.csv"
    write(path)
    with pytest.raises(FootfallError, match=sentence):
        ff.load_log(path, ff.load_robot("quadruped"))


def test_other_bags_and_wrong_names_are_refused_in_a_sentence(tmp_path):
    robot = ff.load_robot("quadruped")
    for ending, sentence in (
        (".bag", "a bag of ROS 1.*ros2 bag convert"),
        (".db3", "SQLite"),
        (".xyz", "is not a log that can be read"),
    ):
        (tmp_path / f"log{ending}").write_text("x")
        with pytest.raises(FootfallError, match=sentence):
            ff.load_log(tmp_path / f"log{ending}", robot)
    path = write_table(tmp_path / "walk.csv", sensed(walked()))
    with pytest.raises(FootfallError, match=r"no joint 'FL_hip_rol'.*did you mean 'FL_hip_roll'"):
        ff.load_log(path, robot, names={"a": "FL_hip_rol"})
    with pytest.raises(FootfallError, match="no joint 'knee' to give a sign for"):
        ff.load_log(path, robot, signs={"knee": -1})


def test_loops_that_a_log_does_not_close_are_solved_for(tmp_path):
    """Cassie: motors, and two joints with encoders of each leg; rods and heel springs follow from loops."""
    robot = real_robot("cassie")
    rec = ff.Simulation(robot, law="time-stepping").run(0.2, controller="posture", record_dt=0.01)
    seen = [name for name in robot.joint_names[1:] if name in robot.actuated or "shin" in name or "tarsus" in name]
    model, true = robot.model, rec.qpos.copy()
    hidden = [j for j in range(1, model.njnt) if robot.joint_names[j] not in seen]
    # The loops of a run are open by a millimetre or two, as MuJoCo's are soft: closed poses are what is looked for.
    assert close_loops(robot, true, np.isin(model.dof_jntid, hidden)).max() < 1e-8
    columns = {"time": rec.time}
    for name in seen:
        columns[f"{name}/position"] = true[:, int(model.joint(name).qposadr[0])]
    log = ff.load_log(write_table(tmp_path / "cassie.csv", columns), robot)
    assert "loops and ties are closed by the joints" in str(log) and "stay open by" in str(log)
    for name in ("left-heel-spring", "right-heel-spring", "left-foot-crank", "right-plantar-rod"):
        at = int(model.joint(name).qposadr[0])
        # Nine digits of angles, at arms of a few centimetres.
        assert np.abs(log.qpos[:, at] - true[: len(log), at]).max() < 1e-5, name


def test_springs_that_were_not_logged_tell_no_torque_and_what_nothing_decides_is_told(tmp_path):
    """Loops of a run are open by millimetres, at heel springs of 1250 N m/rad a fifth of Cassie's weight."""
    robot = real_robot("cassie")
    rec = ff.Simulation(robot, law="time-stepping").run(0.3, controller="posture", record_dt=0.004)

    def log_with(*encoders):
        def kept(name):
            joint = name.split("/")[0]
            return joint not in robot.joint_names or joint in robot.actuated or joint.endswith(encoders)

        columns = {name: own for name, own in sensed(rec).items() if kept(name)}
        return ff.load_log(write_table(tmp_path / "cassie.csv", columns), robot)

    log = log_with("shin", "tarsus")
    heel, crank = (int(robot.model.joint(f"left-{name}").dofadr[0]) for name in ("heel-spring", "foot-crank"))
    assert log.logged[crank] and not log.logged[heel]
    found = ff.estimate(log, ground=rec.ground)
    assert found.residual.mean() < 0.03 and np.abs(found.force[:, :, 2].sum(axis=1).mean() / robot.weight - 1.0) < 0.03
    with pytest.warns(ff.FootfallWarning, match="neither the log nor the loops tell where left-shin, left-tarsus"):
        log_with("knee")


def test_arrays_in_columns_state_no_unit_and_an_accelerometer_that_reads_gravity_is_reversed(tmp_path):
    """As a robot of Unitree publishes: motors by number, arrays in brackets; without an attitude."""
    rec = walked()
    columns, names = sensed(rec), {"position": "q", "velocity": "dq", "effort": "tau_est"}
    sensors = {"angular_velocity": "gyroscope", "linear_acceleration": "accelerometer"}
    written = {"time": columns["time"]}
    for m, joint in enumerate(rec.robot.joint_names[1:]):
        written |= {f"motor_state[{m}].{ours}": columns[f"{joint}/{theirs}"] for theirs, ours in names.items()}
    for theirs, ours in sensors.items():
        sign = -1.0 if ours == "accelerometer" else 1.0
        written |= {f"imu_state.{ours}[{k}]": sign * columns[f"imu/{theirs}/{axis}"] for k, axis in enumerate("xyz")}
    log = ff.load_log(write_table(tmp_path / "lowstate.csv", written), rec.robot)
    known = ff.load_log(write_table(tmp_path / "log.csv", columns), rec.robot)
    assert (
        np.allclose(log.qpos, known.qpos) and np.allclose(log.gyro, known.gyro) and np.allclose(log.accel, known.accel)
    )
    assert any("reversed, as the robot stands" in one for one in log.said)


def test_stamps_that_were_rounded_to_one_and_signs_of_another_size_are_refused(tmp_path):
    rec = walked()
    columns = sensed(rec) | {"time": np.full(len(rec), 1.7e9)}
    with pytest.raises(FootfallError, match="at fewer than three times: were these rounded"):
        ff.load_log(write_table(tmp_path / "rounded.csv", columns), rec.robot)
    path = write_table(tmp_path / "log.csv", sensed(rec))
    with pytest.raises(FootfallError, match="a sign is 1 or -1, and not"):
        ff.load_log(path, rec.robot, signs={rec.robot.joint_names[1]: -2.0})
    with pytest.raises(FootfallError, match="has no joint of spatial-biped"):
        ff.estimate(ff.load_log(path, ff.load_robot("spatial-biped")))


@pytest.mark.parametrize("joint", ["FL_hip_pitch", "RR_knee_pitch"])
def test_a_joint_that_the_model_turns_the_other_way_is_told_by_what_it_does(joint, tmp_path):
    rec = walked()
    columns = sensed(rec)
    factors = {name: -1.0 for name in columns if name.startswith(f"{joint}/")}
    log = ff.load_log(write_table(tmp_path / "turned.csv", columns, factors), rec.robot)
    check(log, rec)
    assert any(f"'{joint}'" in one and "reversed" in one for one in log.said)
    own = [one.factor for one in log.matches if one.channel.startswith(f"{joint}/")]
    assert own == [-1.0, -1.0, -1.0]


@pytest.mark.parametrize(("factor", "unit"), [(1e3, "N mm"), (1e2, "N cm")])
def test_torques_in_smaller_units_are_told_by_what_they_do(factor, unit, tmp_path):
    rec = walked()
    columns = sensed(rec)
    factors = {name: factor for name in columns if name.endswith("effort")}
    log = ff.load_log(write_table(tmp_path / "small.csv", columns, factors), rec.robot)
    check(log, rec)
    known = ff.load_log(write_table(tmp_path / "log.csv", columns), rec.robot)
    np.testing.assert_allclose(log.torque, known.torque, atol=1e-6 * np.nanmax(np.abs(known.torque)))
    assert any(one.endswith(f"taken to be in {unit}") for one in log.said)


def test_coordinates_of_the_model_in_its_order_are_those_of_base_and_joints(tmp_path):
    rec = walked()
    np.savez(tmp_path / "run.npz", timestamps=rec.time, qpos=rec.qpos, qvel=rec.qvel, base_ang_vel=rec.qvel[:, 3:6])
    log = ff.load_log(tmp_path / "run.npz", rec.robot)
    np.testing.assert_allclose(log.qpos, rec.qpos[: len(log)], atol=1e-9)
    np.testing.assert_allclose(log.qvel[:, 6:], rec.qvel[: len(log), 6:], atol=1e-9)
    assert log.position is not None and log.attitude is not None and log.gyro is not None


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_are_times(kind, tmp_path):
    import pandas

    rec = walked()
    columns = sensed(rec)
    time = pandas.to_datetime(1.7e9 + columns.pop("time"), unit="s")
    table, path = pandas.DataFrame(columns, index=time), tmp_path / f"log.{kind}"
    (table.to_csv if kind == "csv" else table.to_parquet)(path)
    log = ff.load_log(path, rec.robot)
    check(log, rec)
    assert "counted from 1970" in str(log)


def test_a_clock_that_was_set_anew_is_refused_and_a_gap_of_one_channel_is_said(tmp_path):
    rec = walked()
    columns = sensed(rec)
    twice = columns | {"time": np.concatenate([rec.time[:150], rec.time[150:] - rec.time[150]])}
    with pytest.raises(FootfallError, match=r"go back by .* s after sample 150: cut it there"):
        ff.load_log(write_table(tmp_path / "twice.csv", twice), rec.robot)
    order = np.random.default_rng(0).permutation(len(rec))  # rows in no order are sorted
    check(
        ff.load_log(write_table(tmp_path / "mixed.csv", {n: own[order] for n, own in columns.items()}), rec.robot), rec
    )
    columns["RR_knee_pitch/position"][100:140] = np.nan
    with pytest.warns(ff.FootfallWarning, match=r"'RR_knee_pitch/position' has .* with a gap of 0.164 s"):
        ff.load_log(write_table(tmp_path / "gap.csv", columns), rec.robot)
