"""A law and a robot fitted to the robot's own log: what made the log is found again, and judged on other parts."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from robot_logs import motion_log

import footfall as ff
from footfall.control.replay import Replay
from footfall.errors import ControllerError, StudyError
from footfall.logs.difference import difference
from footfall.measure.motion import joint_torques
from footfall.study.fit import varied, windows

STEP = 0.002


def log_of(rec, late=0.0):
    """A log of a run with the torques of its motors, which are written down ``late`` s before they act."""
    robot = rec.robot
    log = motion_log(ff.load_robot("quadruped"), rec.time, rec.qpos, rec.qvel, "made")
    torque = joint_torques(rec)
    torque[:, :6] = np.nan
    object.__setattr__(log, "torque", np.column_stack([np.interp(rec.time + late, rec.time, own) for own in torque.T]))
    assert robot.model.nu == 12
    return log


def test_torques_replayed_repeat_a_run_and_the_difference_is_what_it_is():
    robot = ff.load_robot("quadruped")
    sim = ff.Simulation(robot, law="time-stepping", dt=1e-3)
    rec = sim.run(0.2, controller="posture", qvel=np.r_[0.2, np.zeros(17)], qpos=sim.place(), record_dt=1e-3)
    log = log_of(rec)
    again = sim.run(0.2, controller=Replay(log))
    off = difference(again, log)
    # The torque of a step is held, and here drawn straight to the next: half a step late at most.
    assert max(off.joints.values()) < 2e-3 and off.place < 2e-3 and off.within == pytest.approx(0.2)
    tracked = difference(sim.run(0.2, controller=Replay(log, "track")), log)
    assert max(tracked.joints.values()) < 2e-3
    late = difference(sim.run(0.2, controller=Replay(log, delay=0.02)), log)
    assert late.place > 2.0 * off.place
    with pytest.raises(ControllerError, match="made has no commands to use as position"):
        sim.run(0.1, controller=Replay(log, "position"))
    with pytest.raises(ControllerError, match="is a log of quadruped, and not of brick"):
        ff.Simulation("brick").run(0.1, controller=Replay(log))


def test_mass_and_delay_that_made_a_log_are_found_and_judged_on_other_parts():
    heavy = varied(ff.load_robot("quadruped"), mass=1.12)
    sim = ff.Simulation(heavy, law="time-stepping", dt=1e-3)
    parts = []
    for k in range(4):  # dropped with a spin, so that it moves
        qpos, qvel = sim.place(), np.zeros(18)
        qpos[2] += 0.01 + 0.005 * k
        qvel[3:6] = 0.5 * np.cos(k + np.arange(3))
        rec = sim.run(0.24, controller="posture", qpos=qpos, qvel=qvel, record_dt=STEP)
        parts += windows(log_of(rec, late=0.012), 0.06, use="torque")
    assert len(parts) == 16
    # The first part of a run knows nothing of the torques before it: those after it tell the delay.
    ranges = {"robot.mass": (0.8, 1.25, "log", 1.0), "robot.delay": (0.0, 0.03, "linear", 0.0)}
    found = ff.fit(
        "time-stepping", parts[1::2], ranges, judge=parts[::2], robot=partial(varied, ff.load_robot("quadruped")),
        evaluations=24, workers=1,
    )  # fmt: skip
    mass, delay = found.parameters
    assert mass.value == pytest.approx(1.12, abs=0.01) and mass.low < 1.12 < mass.high
    assert delay.value == pytest.approx(0.012, abs=0.001) and delay.low < 0.012 < delay.high
    assert found.others == 8 and found.standard_error["place_heights"] < found.judged["place_heights"]


def test_a_log_too_short_or_without_a_base_is_refused_in_a_sentence():
    robot = ff.load_robot("quadruped")
    time = np.arange(0.0, 0.5, STEP)
    log = motion_log(robot, time, np.tile(robot.home, (len(time), 1)), np.zeros((len(time), 18)), "rest")
    with pytest.raises(StudyError, match=r"at least four parts of a log, and 1 of 0\.3 s were found"):
        windows(log)
    object.__setattr__(log, "position", None)
    with pytest.raises(StudyError, match="does not have the place of its base"):
        windows(log)
