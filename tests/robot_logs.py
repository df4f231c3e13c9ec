"""Logs that robots might have written, made from recordings: noise of sensors, and the files of several tools."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import footfall as ff
from footfall.logs.reading import imu_mount
from footfall.measure.motion import joint_torques

#: Standard deviations of sensors of a quadruped of today: encoders, their rate, torques (share of the largest), gyro,
#: accelerometer.
NOISE = {"position": 2e-4, "velocity": 0.02, "torque": 0.01, "gyro": 0.005, "accel": 0.08}


def sensed(rec: ff.Recording, noise: float = 1.0, seed: int = 0) -> dict[str, np.ndarray]:
    """What joints and an IMU where the model has it would have read: columns by name in SI units.

    The accelerometer is the mean over a sample: differences of velocities, so that impacts have their impulse.
    """
    random = np.random.default_rng(seed)
    robot, model = rec.robot, rec.robot.model
    torque = joint_torques(rec)
    columns = {"time": rec.time}

    def put(name, values, size):
        columns[name] = values + noise * size * random.normal(size=len(rec))

    for j in range(model.njnt):
        if model.jnt_type[j] != 0:
            name, d = robot.joint_names[j], int(model.jnt_dofadr[j])
            put(f"{name}/position", rec.qpos[:, model.jnt_qposadr[j]], NOISE["position"])
            put(f"{name}/velocity", rec.qvel[:, d], NOISE["velocity"])
            if name in robot.actuated:
                put(f"{name}/effort", torque[:, d], NOISE["torque"] * np.abs(torque).max())
    turns = Rotation.from_quat(rec.qpos[:, 3:7], scalar_first=True)
    axes, place, _ = imu_mount(robot)
    speed = rec.qvel[:, :3] + turns.apply(np.cross(rec.qvel[:, 3:6], place))
    step = np.diff(speed, axis=0) / np.diff(rec.time)[:, None]
    proper = turns.apply(np.vstack([step, step[-1:]]) - robot.gravity, inverse=True) @ axes
    spin = rec.qvel[:, 3:6] @ axes
    for k, axis in enumerate("xyz"):
        put(f"imu/angular_velocity/{axis}", spin[:, k], NOISE["gyro"])
        put(f"imu/linear_acceleration/{axis}", proper[:, k], NOISE["accel"])
    return columns


def write_table(path, columns, factors=None):
    """A .csv of the columns, some of them multiplied."""
    factors = factors or {}
    table = np.column_stack([factors.get(name, 1.0) * own for name, own in columns.items()])
    head = ",".join(columns)
    np.savetxt(path, table, fmt="%.9g", delimiter=",", header=head, comments="")
    return path


JOINT_STATE = """std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec"""
IMU = """std_msgs/Header header
geometry_msgs/Quaternion orientation
float64[9] orientation_covariance
geometry_msgs/Vector3 angular_velocity
float64[9] angular_velocity_covariance
geometry_msgs/Vector3 linear_acceleration
float64[9] linear_acceleration_covariance
================================================================================
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec"""
BEGIN = 1_700_000_000  # s since 1970


def messages(columns, joints):
    """What a robot would publish: topic, kind, time (s) and content of each message."""
    for k, time in enumerate(columns["time"]):
        whole, part = divmod(round(1e9 * float(time)), 10**9)
        header = {"stamp": {"sec": BEGIN + whole, "nanosec": part}, "frame_id": "base"}
        state = {"header": header, "name": list(joints)}
        for field in ("position", "velocity", "effort"):
            state[field] = [float(columns[f"{joint}/{field}"][k]) for joint in joints]
        yield "/joint_states", "sensor_msgs/msg/JointState", time, state
        imu = {"header": header, "orientation": dict.fromkeys("xyz", 0.0) | {"w": 1.0}}
        for field in ("angular_velocity", "linear_acceleration"):
            imu[field] = {axis: float(columns[f"imu/{field}/{axis}"][k]) for axis in "xyz"}
        for field in ("orientation", "angular_velocity", "linear_acceleration"):
            imu[f"{field}_covariance"] = [-1.0 if field == "orientation" else 0.0] + [0.0] * 8
        yield "/imu/data", "sensor_msgs/msg/Imu", time, imu


def write_bag(path, columns, joints, encoding="cdr"):
    """An MCAP file of joint states and IMU messages, as ROS 2 records them, or with JSON in them."""
    import json

    if encoding == "cdr":
        from mcap_ros2.writer import Writer

        with path.open("wb") as file:
            out = Writer(file)
            kinds = {
                name: out.register_msgdef(name, text)
                for name, text in (("sensor_msgs/msg/JointState", JOINT_STATE), ("sensor_msgs/msg/Imu", IMU))
            }
            for topic, kind, time, content in messages(columns, joints):
                stamp = round(1e9 * (BEGIN + float(time)))
                out.write_message(topic, kinds[kind], content, log_time=stamp + 10**7, publish_time=stamp)
            out.finish()
        return path
    from mcap.writer import Writer as Plain

    with path.open("wb") as file:
        out = Plain(file)
        out.start()
        channels = {}
        for topic, kind, time, content in messages(columns, joints):
            if topic not in channels:
                schema = out.register_schema(name=kind, encoding="jsonschema", data=b"{}")
                channels[topic] = out.register_channel(topic=topic, message_encoding="json", schema_id=schema)
            stamp = round(1e9 * (BEGIN + float(time)))
            out.add_message(channels[topic], stamp, json.dumps(content).encode(), stamp)
        out.finish()
    return path


def motion_log(robot, time, qpos, qvel, source):
    """A log of a known motion, without torques: (T, nq) and (T, nv) at even times (T,), s."""
    joints, unknown = np.arange(robot.model.nv) >= 6, np.full(qvel.shape, np.nan)
    position, attitude = qpos[:, :3], qpos[:, 3:7]
    return ff.logs.Log(
        robot, time - time[0], qpos, qvel, joints, unknown, None, "", None, None, np.zeros(3), position, attitude,
        None, (), (), (), source,
    )  # fmt: skip
