"""A robot sinks on servos of its own that are too weak: the recording says which gives way, and what would do."""

from __future__ import annotations

import re

import pytest

import footfall as ff
from footfall.control.posture import with_servos

#: Strengths of servos with the gains of posture control at which these robots stand and fall.
STANDS, FALLS = 0.5, 0.1


def on_servos(name: str, strength: float) -> ff.Robot:
    return with_servos(ff.load_robot(name)).scaled(strength=strength)


def told(robot: ff.Robot, **options) -> str:
    rec = ff.Simulation(robot).run(2.0, controller=None, record_dt=1e-2, **options)
    return "".join(one["message"] for one in rec.info["warnings"])


@pytest.mark.parametrize("name", ["spatial-biped", "full-humanoid", "quadruped"])
def test_a_fall_on_weak_servos_is_told_with_the_strength_that_stands(name):
    robot = on_servos(name, FALLS)
    message = told(robot)
    assert "do not hold it up" in message
    enough = float(re.search(r"strength=([\d.]+)", message)[1])
    assert not told(robot.scaled(strength=enough))
    rec = ff.Simulation(robot.scaled(strength=enough)).run(2.0, controller=None, record_dt=1e-2)
    assert not ff.measure.has_fallen(rec)


def test_numbers_of_the_servo_that_gives_way_are_those_of_the_model():
    message = told(robot := on_servos("spatial-biped", FALLS))
    pattern = r"'(\w+)' gives way .*, ([\d.]+) N m more per rad, and at most ([\d.]+)"
    name, more, most = re.search(pattern, message).groups()
    servo = robot.model.actuator(name)
    assert float(more) == pytest.approx(-servo.biasprm[1], rel=5e-3)  # three digits are printed
    assert float(most) == pytest.approx(servo.forcerange[1], rel=5e-3)


def test_a_fall_from_a_push_is_not_blamed_on_servos_that_hold():
    push = ff.Push("trunk", (400.0, 0.0, 0.0), start=0.1, duration=0.2)
    robot = on_servos("spatial-biped", STANDS)
    rec = ff.Simulation(robot).run(2.0, controller=None, record_dt=1e-2, pushes=push)
    assert ff.measure.has_fallen(rec)
    assert not rec.info["warnings"]
