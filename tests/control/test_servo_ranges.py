"""A servo whose control range is narrow: controllers keep to the range, count on no more than it gives, and say so."""

from __future__ import annotations

import math
import re

import mujoco
import pytest

import footfall as ff
from footfall.control import Balance, Posture, Walk
from footfall.control.posture import with_servos
from footfall.robot.motors import drives

KNEE = "left_knee"


def knee_number(robot: ff.Robot) -> int:
    names = [robot.model.joint(int(j)).name for j in robot.model.actuator_trnid[:, 0]]
    return next(i for i, name in enumerate(names) if name.startswith(KNEE))


def with_range(low: float, high: float) -> ff.Robot:
    """A biped of servos, the target of whose left knee keeps to a range (rad) about the one that holds it at home."""
    robot = with_servos(ff.load_robot("torque-biped"))
    spec, knee = mujoco.MjSpec.from_string(robot.mjcf, assets=dict(robot.assets)), knee_number(robot)
    at = float(robot.home_ctrl[knee])
    spec.actuators[knee].ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
    spec.actuators[knee].ctrlrange = (at + low, at + high)
    return ff.load_robot(spec, pose=robot.home)


def knee_of(robot: ff.Robot) -> tuple[float, float, float]:
    """The range of the knee's target, and its stiffness (N m/rad)."""
    drive, knee = drives(robot, "a test"), knee_number(robot)
    return drive.low[knee], drive.high[knee], -drive.per_angle[knee]


def test_posture_says_what_a_servo_cannot_hold_within_its_range_and_keeps_to_it():
    robot = with_range(0.1, 0.5)
    low, high, stiffness = knee_of(robot)
    with pytest.warns(ff.FootfallWarning, match=rf"posture: actuator '{KNEE}.*\[{low:.3g}, {high:.3g}\]") as told:
        rec = ff.Simulation(robot).run(0.5, controller=Posture())
    needed, given = (float(one) for one in re.findall(r"(-?[\d.]+) N m", str(told[0].message)))
    # The range begins 0.1 rad above the target that carries the weight; three digits are printed of each number.
    assert given - needed == pytest.approx(0.1 * stiffness, rel=0.02)
    assert rec.ctrl[:, knee_number(robot)].min() >= low
    assert rec.ctrl[:, knee_number(robot)].max() <= high


def test_a_range_that_suffices_is_no_news():
    rec = ff.Simulation(with_range(-0.5, 0.5)).run(0.2, controller=Posture())  # a warning would be an error
    assert rec.info["warnings"] == []


def test_balance_counts_only_on_torque_that_the_range_of_a_servo_gives():
    robot = with_range(0.02, 0.5)
    low, _, stiffness = knee_of(robot)
    knee, joint = knee_number(robot), robot.model.joint(robot.model.actuator_trnid[knee_number(robot), 0])
    rec = ff.Simulation(robot).run(0.3, controller=Balance(), record_dt=1e-3)
    told = [one["message"] for one in rec.info["warnings"] if one["kind"] == "saturated"]
    assert told and f"motor '{robot.model.actuator(knee).name}' is asked for" in told[0]
    given = float(told[0].split("and has ")[1].split(" N m")[0])
    assert rec.ctrl[:, knee].min() >= low - 1e-12
    # What it says the servo has is its stiffness times (least target - angle), at an angle of the run.
    angle = rec.qpos[:, joint.qposadr[0]]
    possible = stiffness * (low - angle)
    assert possible.min() - 1.0 <= given <= possible.max() + 1.0


def test_a_walk_that_a_servo_cannot_carry_within_its_range_is_refused():
    robot = with_range(0.2, 0.5)
    with pytest.raises(ff.FootfallError, match=rf"too weak to stand on one leg: motor '{KNEE}"):
        ff.Simulation(robot).run(0.1, controller=Walk(speed=0.1, steps=2))


@pytest.mark.parametrize("options", [{"kd": math.nan}, {"kp": -100.0}, {"kp": "stiff"}, {"kd": [1, math.inf]}])
def test_posture_refuses_gains_that_are_no_numbers_above_zero(options):
    with pytest.raises(ff.FootfallError, match=r"gains are numbers >= 0|Posture: k[pd] = .*, but it must be a number"):
        Posture(**options)
