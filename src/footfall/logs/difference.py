"""Differences between a run and a robot's log: joints, base and forces of feet."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from footfall.errors import FootfallError
from footfall.logs.log import Log
from footfall.measure.motion import turned
from footfall.record import Record


class Apart(NamedTuple):
    """Differences between a run and a log at the times (T,) of the log that both cover."""

    time: np.ndarray  # s
    joints: np.ndarray  # (T, J) rad or m, of joints that were logged
    velocities: np.ndarray  # (T, J) rad/s or m/s
    names: list[str]  # of these joints
    place: np.ndarray | None  # (T, 3) m, of the base
    turn: np.ndarray | None  # (T, 4) as long as the angle of the base, rad


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


def apart(rec: Record, log: Log) -> Apart:
    """The differences between a log and a run that begins in its first state, sample by sample."""
    robot, model = log.robot, log.robot.model
    time = log.time[log.time <= rec.time[-1] + 1e-9]
    if len(time) < 2:
        raise FootfallError(f"the run of {rec.duration:g} s is too short to be compared with {log.source}")
    T, logged = len(time), [j for j in range(model.njnt) if log.logged[int(model.jnt_dofadr[j])]]
    at, dofs = model.jnt_qposadr[logged], model.jnt_dofadr[logged]
    qpos, qvel = _at(time, rec, rec.qpos), _at(time, rec, rec.qvel)
    return Apart(
        time,
        qpos[:, at] - log.qpos[:T, at],
        qvel[:, dofs] - log.qvel[:T, dofs],
        [robot.joint_names[j] for j in logged],
        None if log.position is None else qpos[:, :3] - log.qpos[:T, :3],
        None if log.attitude is None else turned(qpos[:, 3:7], log.attitude[:T]),
    )


def difference(rec: Record, log: Log) -> Difference:
    """The differences between a log and a run that begins in its first state."""
    off = apart(rec, log)
    joints, velocities = (dict(zip(off.names, map(_rms, own.T), strict=True)) for own in (off.joints, off.velocities))
    left = (np.abs(off.joints) > LEFT).any(axis=1)
    place = turn = float("nan")
    if off.place is not None:
        distance = np.linalg.norm(off.place, axis=1)
        place = _rms(distance)
        left |= distance > LEFT * max(abs(float(log.qpos[0, 2])), 1e-3)
    if off.turn is not None:
        turn = _rms(np.linalg.norm(off.turn, axis=1))
    forces = {}
    if log.foot_force is not None:
        simulated, measured = _at(off.time, rec, rec.foot_force), log.foot_force[: len(off.time)]
        for f, foot in enumerate(log.robot.feet):
            known = np.isfinite(measured[:, f])
            if known.any():
                forces[foot.name] = _rms((simulated[:, f] - measured[:, f])[known])
    within = float(off.time[int(left.argmax())]) if left.any() else float(off.time[-1])
    return Difference(joints, velocities, place, turn, forces, within)


def _at(time: np.ndarray, rec: Record, values: np.ndarray) -> np.ndarray:
    """Values of a run (S, ...) at other times (T,), by straight lines."""
    flat = values.reshape(len(values), -1)
    found = np.column_stack([np.interp(time, rec.time, own) for own in flat.T])
    return found.reshape(len(time), *values.shape[1:])


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
