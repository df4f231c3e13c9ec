"""Walks go the way a robot faces, whatever the axes of its root are and however it is turned at home."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from real_robots import real_robot, robot_file

import footfall as ff
from footfall.control import Walk, walker
from footfall.measure import has_fallen
from footfall.study.outcomes import walk_outcome


def turned_in_root(name: str, angle: float) -> ff.Robot:
    """A built-in robot whose root has another x axis: what hangs on it is turned by ``angle`` (rad) in its frame."""
    robot = ff.load_robot(name)
    spec = mujoco.MjSpec.from_string(robot.mjcf, assets=dict(robot.assets))
    turn, half = np.zeros(9), np.array([math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)])
    mujoco.mju_quat2Mat(turn, half)
    root = spec.worldbody.first_body()
    for part in (*root.bodies, *root.geoms, *root.sites):
        attitude = np.zeros(4)
        mujoco.mju_mulQuat(attitude, half, part.quat)
        part.pos, part.quat = turn.reshape(3, 3) @ part.pos, attitude
    for key in list(spec.keys):
        spec.delete(key)
    return ff.load_robot(spec, pose=robot.home, name=name)


def yawed(name: str, angle: float) -> ff.Robot:
    """A built-in robot that is turned by ``angle`` (rad) about the vertical at home."""
    robot = ff.load_robot(name)
    home = robot.home.copy()
    home[3:7] = math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)
    return ff.load_robot(name, pose=home)


@pytest.mark.parametrize("make", [turned_in_root, yawed])
@pytest.mark.parametrize("angle", [0.5 * math.pi, math.pi])
@pytest.mark.parametrize("name", ["spatial-biped", "quadruped"])
def test_a_robot_walks_and_is_reported_the_way_it_faces(name, angle, make):
    robot, usual = make(name, angle), ff.load_robot(name)
    assert robot.forward == pytest.approx([math.cos(angle), math.sin(angle), 0.0], abs=1e-6)
    found = []
    for one in (robot, usual):
        walk = walker(one, steps=6)
        rec = ff.Simulation(one).run(walk.duration, controller=walk)
        assert not has_fallen(rec)
        found.append((walk_outcome(rec), rec.signals["com"][-1] - rec.signals["com"][0]))
    (outcome, went), (straight, _) = found
    # The same walk but for rounding, which feet that land a step earlier or later make a few millimetres of.
    assert outcome.way == pytest.approx(straight.way, abs=0.02)
    assert outcome.drift == pytest.approx(straight.drift, abs=0.02)
    assert went[:2] @ robot.forward[:2] == pytest.approx(outcome.way)


@pytest.mark.parametrize("angle", [0.3, 0.65, 2.0])
def test_feet_that_roll_freely_walk_the_same_in_every_direction(angle):
    """Roll and pitch of a foot on a line weigh differently, and both turn with the foot."""
    joints = []
    for turned in (0.0, angle):
        home = real_robot("cassie").home.copy()
        home[3:7] = math.cos(0.5 * turned), 0.0, 0.0, math.sin(0.5 * turned)
        robot = ff.load_robot(robot_file("cassie"), pose=home, actuators="motor")
        rec = ff.Simulation(robot, law="time-stepping").run(1.2, controller=Walk(steps=4))
        joints.append(rec.qpos[:, 7:])
    assert np.abs(joints[0] - joints[1]).max() < 1e-5  # rounding, which a step multiplies


@pytest.mark.parametrize("turn", [0.3, -0.3])
def test_feet_that_roll_freely_walk_around_a_corner(turn):
    robot = real_robot("cassie")
    walk = walker(robot, steps=16, turn=turn, speed=0.2)
    rec = ff.Simulation(robot, law="time-stepping").run(walk.duration, controller=walk)
    assert not has_fallen(rec)
    last = mujoco.MjData(rec.robot.model)
    last.qpos[:] = rec.qpos[-1]
    mujoco.mj_kinematics(rec.robot.model, last)
    ahead = last.body(rec.robot.root).xmat.reshape(3, 3)[:, 0]
    assert math.copysign(1.0, turn) * ahead[1] > 0.5  # more than 30 degrees to that side


def test_the_side_of_a_fall_is_that_of_the_robot():
    robot = yawed("torque-biped", math.pi)
    push = ff.Push(robot.root, force=(-300.0, 0.0, 0.0), start=0.1, duration=0.3)
    rec = ff.Simulation(robot).run(1.5, controller="balance", pushes=push)
    assert "tipped forwards" in str(ff.measure.fall(rec))
