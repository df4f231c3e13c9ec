"""The meaning of a log's channels by their names: joints, sensors or feet of the robot."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from footfall.errors import FootfallError, did_you_mean
from footfall.robot import Robot
from footfall.robot.model import AT_JOINT, FREE, HINGE, SLIDE

#: Words for quantities of a joint.
QUANTITIES = {
    "position": {"position", "positions", "pos", "angle", "angles", "q", "qpos", "theta"},
    "velocity": {"velocity", "velocities", "vel", "dq", "qd", "qdot", "qvel", "speed", "dtheta"},
    "torque": {"torque", "torques", "tau", "effort", "efforts", "trq", "moment"},
    "current": {"current", "currents", "amps", "iq"},
}
COMMANDED = {"cmd", "command", "commands", "commanded", "des", "desired", "target", "targets", "ref", "reference"}
COMMANDED |= {"goal", "setpoint", "control", "ctrl"}
#: Words of columns with further quantities of a joint, which are not used.
OTHER = {"temperature", "temp", "kp", "kd", "error", "voltage", "covariance", "ddq", "acceleration", "accel", "limit"}
OTHER |= {"lost", "mode", "reserve", "status", "stiffness", "damping", "gap"}
BASE = {"base", "root", "pelvis", "torso", "trunk", "odom", "odometry", "pose", "floating", "mocap", "imu", "body"}
#: Words without a meaning for the match.
FILLING = {"joint", "joints", "motor", "motors", "actuator", "dof", "dofs", "state", "states", "data", "measured"}
FILLING |= {"meas", "actual", "est", "estimated", "raw", "link", "feedback", "value", "rt", "low", "lowstate"}
SAME = {"left": "l", "right": "r", "ank": "ankle", "shld": "shoulder", "elb": "elbow"}
SAME |= {"lf": "fl", "rf": "fr", "lh": "rl", "rh": "rr", "hl": "rl", "hr": "rr"}
GYRO = {"gyro", "gyros", "gyr", "gyroscope", "omega", "wx", "wy", "wz", "gx", "gy", "gz"}
ACCEL = {"accel", "accelerometer", "acc", "acceleration", "ax", "ay", "az"}
AXES = {"x": 0, "y": 1, "z": 2, "fx": 0, "fy": 1, "fz": 2, "vx": 0, "vy": 1, "vz": 2, "wx": 0, "wy": 1, "wz": 2}
AXES |= {"gx": 0, "gy": 1, "gz": 2, "ax": 0, "ay": 1, "az": 2}
ATTITUDE = {"w": 0, "x": 1, "y": 2, "z": 3, "qw": 0, "qx": 1, "qy": 2, "qz": 3}
EULER = {"roll": 0, "pitch": 1, "yaw": 2}


@dataclass
class Meanings:
    """Names of channels by kind, then by joint, axis or foot.

    Kinds: ``position``, ``velocity``, ``torque``, ``current``, ``command position``, ``command velocity``, ``command
    torque``, ``control`` of joints (ids of the model); ``gyro``, ``accel``, ``base position``, ``base velocity`` by
    axis 0 to 2; ``imu attitude`` and ``base attitude`` by w, x, y, z as 0 to 3; ``imu euler``, ``base euler`` by roll,
    pitch, yaw; ``foot force`` by (foot, axis), with axis 2 by default.
    """

    found: dict[str, dict[Any, str]] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def put(self, kind: str, place: Any, name: str) -> None:
        own = self.found.setdefault(kind, {})
        if place in own:
            self.unused.append(name)
        else:
            own[place] = name


def words(name: str) -> list[str]:
    """The words and numbers of a name in lower case, with synonyms unified."""
    found = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+", name)
    return [SAME.get(one.lower(), one.lower()) for one in found]


def meanings(names: Sequence[str], robot: Robot, given: Mapping[str, str]) -> Meanings:
    """The meaning of each channel; ``given`` maps words of the log to joints: ``{"l_kn": "left_knee"}``."""
    known = _joint_words(robot, given)
    feet = {foot.name: _core(f"{foot.name}") for foot in robot.feet}
    found = Meanings()
    numbered: dict[tuple[str, ...], dict[int, str]] = {}
    for name in sorted(names, key=lambda one: "imu" not in words(one)):  # rates of an IMU before those of odometry
        own = words(name)
        joint = _nearest(own, known)
        if joint is not None and not _is_of_sensor(own):
            _put_joint(found, joint, own, known, name)
        elif not _put_sensor(found, own, name, robot, feet):
            number = [int(one) for one in own if one.isdigit()]
            if number:
                key = tuple(one for one in own if not one.isdigit())
                numbered.setdefault(key, {})[number[-1]] = name
            else:
                found.unused.append(name)
    for key, group in numbered.items():
        _put_numbered(found, key, group, robot)
    if not any(found.found.get(kind) for kind in ("position", "base position", "imu attitude", "gyro")):
        joints = [robot.joint_names[j] for j in scalar_joints(robot)]
        first = next((name for name in names if "time" not in name.lower()), "")
        raise FootfallError(
            f"no channel of the log is a joint of {robot.name}: '{first}' for one is none of {', '.join(joints[:6])} "
            "...; names={'NAME IN THE LOG': 'JOINT'} (--name) says which is which"
        )
    return found


def scalar_joints(robot: Robot) -> list[int]:
    """Ids of the hinges and slides, in the model's order."""
    return [j for j in range(robot.model.njnt) if robot.model.jnt_type[j] in (HINGE, SLIDE)]


def driven_joints(robot: Robot) -> list[int]:
    """Ids of the joints that actuators act on, in the order of the controls."""
    model = robot.model
    return [int(model.actuator_trnid[i, 0]) for i in range(model.nu) if model.actuator_trntype[i] in AT_JOINT]


def _core(name: str) -> frozenset[str]:
    """The words of a name that tell it from others; all of them where only a number would be left."""
    kept = frozenset(one for one in words(name) if one not in FILLING)
    return kept if any(not one.isdigit() for one in kept) else frozenset(words(name))


def _joint_words(robot: Robot, given: Mapping[str, str]) -> dict[frozenset[str], int]:
    """The words of each joint and of the actuator on it, without those that several joints share."""
    model, joints = robot.model, scalar_joints(robot)
    called: dict[frozenset[str], set[int]] = {}
    for j in joints:
        called.setdefault(_core(model.joint(j).name), set()).add(j)
    for i in range(model.nu):
        if model.actuator_trntype[i] in AT_JOINT and int(model.actuator_trnid[i, 0]) in joints:
            called.setdefault(_core(model.actuator(i).name), set()).add(int(model.actuator_trnid[i, 0]))
    found = {own: next(iter(ids)) for own, ids in called.items() if len(ids) == 1 and own}
    by_name = {robot.joint_names[j]: j for j in joints}
    for theirs, ours in given.items():
        if ours not in by_name:
            raise FootfallError(f"{robot.name} has no joint '{ours}': {did_you_mean(ours, by_name)}")
        found[_core(theirs)] = by_name[ours]
    return found


def _nearest(own: Sequence[str], known: Mapping[frozenset[str], int]) -> int | None:
    """The joint with the most words of which all are in a name; None if there is none, or if several have as many."""
    have = set(own)
    fitting = {called: joint for called, joint in known.items() if called <= have}
    if not fitting:
        return None
    most = max(len(called) for called in fitting)
    best = {joint for called, joint in fitting.items() if len(called) == most}
    return best.pop() if len(best) == 1 else None


def _is_of_sensor(own: Sequence[str]) -> bool:
    return bool({"imu", "gyro", "gyros", "gyr", "gyroscope", "accelerometer"} & set(own))


def _quantity(own: set[str]) -> str | None:
    return next((kind for kind, names in QUANTITIES.items() if own & names), None)


def _put_joint(found: Meanings, joint: int, own: Sequence[str], known: Mapping[frozenset[str], int], name: str) -> None:
    rest = set(own) - {one for called, j in known.items() if j == joint for one in called}
    quantity = _quantity(rest)
    if rest & OTHER and quantity is None:
        found.unused.append(name)
    elif rest & COMMANDED:
        found.put(f"command {quantity}" if quantity else "control", joint, name)
    else:
        found.put(quantity or "position", joint, name)


def _put_sensor(found: Meanings, own: list[str], name: str, robot: Robot, feet: Mapping[str, frozenset[str]]) -> bool:
    """Enter a channel of a sensor or the base; False if it is neither."""
    have, last = set(own), own[-1] if own else ""
    if have & {"covariance", "stamp"}:
        return False
    free = [_core(robot.model.joint(j).name) for j in range(robot.model.njnt) if robot.model.jnt_type[j] == FREE]
    of_base = have & BASE or any(called and called <= have for called in free)
    whose = "imu" if "imu" in have or not of_base else "base"
    axis = AXES.get(last, int(last) if last in ("0", "1", "2") else None)
    turn = ATTITUDE.get(last, int(last) if last in ("0", "1", "2", "3") else None)
    foot = next((f for f, called in enumerate(feet.values()) if called <= have), None)
    if have & {"force", "grf", "fsr", "load", "insole", "fx", "fy", "fz", "forces", "wrench"} and foot is not None:
        if not have & {"torque", "moment", "p", "cop"}:
            found.put("foot force", (foot, 2 if axis is None else axis), name)
            return True
        return False
    quaternion = have & {"orientation", "quat", "quaternion", "rotation", "rot"} or last in ("qw", "qx", "qy", "qz")
    turning = have & GYRO or "angular" in have or ("ang" in have and have & {"vel", "velocity", "rate"})
    if axis is not None and turning and "acceleration" not in have:
        kind, place = "gyro", axis
    elif axis is not None and have & ACCEL and "angular" not in have:
        kind, place = "accel", axis
    elif turn is not None and quaternion and (of_base or whose == "imu"):
        kind, place = f"{whose} attitude", turn
    elif have & set(EULER) and (of_base or have & {"rpy", "euler"}):
        kind, place = f"{whose} euler", EULER[next(one for one in own if one in EULER)]
    elif axis is not None and {"rpy", "euler"} & have:
        kind, place = f"{whose} euler", axis
    elif axis is not None and of_base and "imu" not in have:
        speed = have & {"velocity", "vel", "linear", "twist", "vx", "vy", "vz"}
        kind, place = "base velocity" if speed else "base position", axis
    else:
        return False
    found.put(kind, place, name)
    return True


def _put_coordinates(found: Meanings, have: set[str], names: Sequence[str], robot: Robot) -> bool:
    """Enter all coordinates or velocities of the model, as MuJoCo orders them; False if they are not."""
    model = robot.model
    places, velocities = (
        ("qpos" in have, len(names)) == (True, model.nq),
        ("qvel" in have, len(names)) == (True, model.nv),
    )
    if not (places or velocities) or model.jnt_type[0] != FREE:
        return False
    for joint in scalar_joints(robot):
        at = model.jnt_qposadr[joint] if places else model.jnt_dofadr[joint]
        found.put("position" if places else "velocity", joint, names[at])
    for axis in range(3):
        found.put("base position" if places else "base velocity", axis, names[axis])
    for part in range(4 if places else 0):
        found.put("base attitude", part, names[3 + part])
    found.done.append(
        f"'{names[0]}' ... taken to be the {'coordinates' if places else 'velocities'} of the model in turn"
    )
    return True


def _put_numbered(found: Meanings, key: Sequence[str], group: Mapping[int, str], robot: Robot) -> None:
    """Enter numbered channels, if there are as many as motors, hinges and slides, or feet of the robot."""
    have = set(key)
    order = next((own for own in (driven_joints(robot), scalar_joints(robot)) if len(own) == len(group)), None)
    quantity = _quantity(have)
    names = [group[number] for number in sorted(group)]
    if _put_coordinates(found, have, names, robot):
        return
    if len(group) == len(robot.feet) and have & {"force", "foot", "feet", "forces", "contact"} and quantity is None:
        for f, name in enumerate(names):
            found.put("foot force", (f, 2), name)
        found.done.append(
            f"'{names[0]}' ... taken to be the feet {', '.join(foot.name for foot in robot.feet)} in turn"
        )
    elif order is None or (quantity is None and not have & COMMANDED) or have & OTHER:
        found.unused.extend(names)
    else:
        kind = quantity or "control"
        kind = f"command {kind}" if have & COMMANDED and quantity else kind
        for joint, name in zip(order, names, strict=True):
            found.put(kind, joint, name)
        first, last = robot.joint_names[order[0]], robot.joint_names[order[-1]]
        found.done.append(f"'{names[0]}' ... taken to be the joints of {robot.name} in its order, {first} to {last}")
