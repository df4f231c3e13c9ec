"""Parts of a robot's log that a law, the ground and the robot are fitted to: each is replayed from its first sample.

A simulation leaves a log within a second, as any two robots leave each other; over a few tenths of a second it shows
what the law and the robot do. So a log is cut into windows, each of which begins in the logged state.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

from footfall.control.replay import Replay, Use
from footfall.errors import StudyError
from footfall.logs.difference import apart
from footfall.logs.log import Log
from footfall.measure.common import once
from footfall.robot import Robot
from footfall.robot.model import HINGE, SLIDE
from footfall.simulation import Simulation
from footfall.standing import at_home
from footfall.study.fit.search import Range

#: Least time between two samples of a run that are compared with a log, s.
RECORDED = 1e-3


@dataclass(frozen=True, eq=False)
class LogTrial:
    """A part of a log with the state of its base, and what of it is replayed; see :class:`footfall.control.Replay`."""

    log: Log
    whole: Log  # the whole log: delayed torques from before the start act in the part
    start: float  # s, time in the whole log at which it begins
    use: Use | None = None
    kp: float | None = None
    kd: float | None = None


def windows(
    logs: Log | Sequence[Log],
    length: float = 0.3,
    *,
    use: Use | None = None,
    kp: float | None = None,
    kd: float | None = None,
) -> list[LogTrial]:
    """Logs cut into parts of ``length`` s, one after another."""
    found = []
    for log in [logs] if isinstance(logs, Log) else logs:
        if log.position is None:
            raise StudyError(f"{log.source} does not have the place of its base: ff.estimate(log).completed has it")
        starts = np.arange(0.0, float(log.time[-1]) - length + 1e-9, length)
        found += [LogTrial(log.slice(float(at), float(at) + length), log, float(at), use, kp, kd) for at in starts]
    if len(found) < 4:
        raise StudyError(f"a fit needs at least four parts of a log, and {len(found)} of {length:g} s were found")
    return found


def varied(
    robot: Robot, *, mass: float = 1.0, joint_friction: float = 0.0, joint_damping: float = 0.0, delay: float = 0.0
) -> Robot:
    """A robot with masses and inertias times ``mass``, joints with more dry friction (N m) and damping (N m s/rad), and
    motors that act ``delay`` s late, as :func:`follow_log` replays them.
    """
    model = copy.deepcopy(robot.model)
    model.body_mass[:] *= mass
    model.body_inertia[:] *= mass
    joints = np.isin(model.jnt_type[model.dof_jntid], (HINGE, SLIDE))
    model.dof_frictionloss[joints] += joint_friction
    model.dof_damping[joints] += joint_damping
    mujoco.mj_setConst(model, mujoco.MjData(model))
    made = replace(robot, model=model, mjcf=None, parameters={**robot.parameters, "delay": delay})
    made.__dict__["others"] = robot.others  # the shape is the same, and is expensive to find
    return made


def follow_log(sim: Simulation, trial: LogTrial) -> dict[str, Any]:
    """Errors of a simulation that replays a part of a log: of joints (rad), and of the base in heights and rad.

    They are arrays as long as the root mean squares.
    """
    log = trial.log
    delay = float(sim.robot.parameters.get("delay", 0.0))
    controller = Replay(trial.whole, trial.use, trial.kp, trial.kd, delay - trial.start)
    every = max(1, round(RECORDED / sim.dt)) * sim.dt
    rec = sim.run(float(log.time[-1]), qpos=log.qpos[0], qvel=log.qvel[0], controller=controller, record_dt=every)
    if rec.failure is not None:
        raise StudyError(f"{log.source}: {rec.failure}")
    off = apart(rec, log)
    place, turn = (np.array([np.nan]) if own is None else own / np.sqrt(len(own)) for own in (off.place, off.turn))
    joints = off.joints / np.sqrt(max(off.joints.size, 1))
    return {"joints_rad": joints, "place_heights": place / _height(log.robot), "turn_rad": turn}


@once
def _height(robot: Robot) -> float:
    """m, of the centre of mass at home."""
    return max(float(at_home(robot).subtree_com[1, 2]), 1e-3)


def of_robot(robot: Robot) -> dict[str, Range]:
    """What of a robot is fitted: masses to a fifth, friction and damping of joints up to what a twentieth of its weight
    at its height would turn, at a radian a second, and a delay of up to 30 ms.
    """
    torque = 0.05 * robot.weight * _height(robot)
    return {
        "robot.mass": Range(0.8, 1.25, "log", 1.0),
        "robot.joint_friction": Range(0.0, torque, "linear", 0.0),
        "robot.joint_damping": Range(0.0, torque, "linear", 0.0),
        "robot.delay": Range(0.0, 0.03, "linear", 0.0),
    }
