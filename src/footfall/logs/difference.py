"""Differences between a run and a robot's log: joints, base and forces of feet."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from footfall.errors import FootfallError
from footfall.logs.log import Log
from footfall.measure.motion import rotation_error
from footfall.record import Record


class Difference(NamedTuple):
    """Root mean squares of the differences between a run and a log, over the time that both cover."""

    joints: dict[str, float]  # rad or m, of each joint that was logged
    velocities: dict[str, float]  # rad/s or m/s
    place: float  # m, of the base; NaN if not measured
    turn: float  # rad, of the base; NaN if not measured
    forces: dict[str, float]  # N, of feet, along measured axes
    within: float  # s until a joint is off by 0.1 rad, or the base by 0.1 of its height

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


#: Difference of a joint, rad, or of the base, in heights of the base, beyond which a run has left the log.
LEFT = 0.1


def difference(rec: Record, log: Log) -> Difference:
    """The differences between a log and a run that begins in its first state."""
    robot, model = log.robot, log.robot.model
    time = log.time[log.time <= rec.time[-1] + 1e-9]
    if len(time) < 2:
        raise FootfallError(f"the run of {rec.duration:g} s is too short to be compared with {log.source}")
    T = len(time)

    def ours(values: np.ndarray) -> np.ndarray:
        flat = values.reshape(len(values), -1)
        found = np.column_stack([np.interp(time, rec.time, flat[:, i]) for i in range(flat.shape[1])])
        return found.reshape(T, *values.shape[1:])

    qpos, qvel = ours(rec.qpos), ours(rec.qvel)
    joints, velocities = {}, {}
    left = np.zeros(T, dtype=bool)
    for j in range(model.njnt):
        d, at = int(model.jnt_dofadr[j]), int(model.jnt_qposadr[j])
        if log.logged[d]:
            off = qpos[:, at] - log.qpos[:T, at]
            joints[robot.joint_names[j]] = _rms(off)
            velocities[robot.joint_names[j]] = _rms(qvel[:, d] - log.qvel[:T, d])
            left |= np.abs(off) > LEFT
    place = turn = float("nan")
    if log.position is not None:
        off = np.linalg.norm(qpos[:, :3] - log.qpos[:T, :3], axis=1)
        place = _rms(off)
        left |= off > LEFT * max(abs(float(log.qpos[0, 2])), 1e-3)
    if log.attitude is not None:
        turn = _rms(np.radians(rotation_error(qpos[:, 3:7], log.attitude[:T])))
    forces = {}
    if log.foot_force is not None:
        simulated = ours(rec.foot_force)
        for f, foot in enumerate(robot.feet):
            known = np.isfinite(log.foot_force[:T, f])
            if known.any():
                forces[foot.name] = _rms((simulated[:, f] - log.foot_force[:T, f])[known])
    within = float(time[int(left.argmax())]) if left.any() else float(time[-1])
    return Difference(joints, velocities, place, turn, forces, within)


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
