"""Walking on point feet: in place and forward, under every law, pushed, and in any size; timing against its program."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from pairs import paired

import footfall as ff
from footfall.control import Walk
from footfall.control.body.biped import Biped
from footfall.control.walk.footholds import FOOTHOLD, OFFSET, TIME, Times, Way, time_to_landing
from footfall.errors import ControllerError

#: acceleration-complementarity takes a minute; on the one round point of distributed no sole is there to distribute.
LAWS = ["spring-damper", "hunt-crossley", "linearizing-penalty", "constraint-selection", "time-stepping", "mujoco"]
BIG = dict(mass=70.0, depth=0.28, width=0.42, height=0.5, trunk_middle=0.2, hip_width=0.3, thigh=0.42, shank=0.42)
SMALL = dict(mass=1.5, depth=0.1, width=0.16, height=0.14, trunk_middle=0.05, hip_width=0.12, thigh=0.13, shank=0.13)


def steady_speed(rec: ff.Recording, first: float, last: float) -> float:
    """m/s, forward, of the centre of mass between two phases of a walk."""
    phase, com = rec.signals["phase"][:, 0], rec.signals["com"]
    i, j = np.searchsorted(phase, first), np.searchsorted(phase, last)
    return float((com[j, 0] - com[i, 0]) / (rec.time[j] - rec.time[i]))


@pytest.mark.parametrize(("name", "speed"), [*((law, 0.5) for law in LAWS), ("hunt-crossley", 0.0), ("mujoco", 0.0)])
def test_it_walks_in_place_and_forward(name, speed):
    """0.5 m/s is 0.22 of the root of g times the leg. Speed: steps 8 to 15; before, footholds are learnt."""
    walk = Walk(speed=speed, steps=16)
    robot = ff.load_robot("point-biped")
    duration = walk.scaled(robot).duration
    rec = ff.Simulation(robot, law=name).run(duration, controller=walk).check()
    assert ff.measure.fall(rec) is None
    assert not [one for one in rec.info["warnings"] if one["kind"] in ("unsolved", "fallen", "late", "stumbled")]
    assert rec.audit().verdict != "fail", rec.audit()
    assert steady_speed(rec, 8.0, 15.0) == pytest.approx(speed, abs=0.03)
    assert abs(rec.signals["com"][-1, 1]) < 0.1
    # The weight is carried: forces of a whole number of steps sum to it.
    phase = rec.signals["phase"][:, 0]
    i, j = np.searchsorted(phase, 8.0), np.searchsorted(phase, 14.0)
    assert rec.total_force[i:j, 2].mean() == pytest.approx(robot.weight, rel=0.005)
    tilt = np.arccos(np.clip(1.0 - 2.0 * (rec.qpos[:, 4] ** 2 + rec.qpos[:, 5] ** 2), -1.0, 1.0))
    assert tilt.max() < 0.01  # rad: forces hold the trunk upright


def test_it_never_stands_on_both_feet_for_long_and_ends_with_steps_in_place():
    robot = ff.load_robot("point-biped")
    walk = Walk(steps=4, stop_time=2.0).scaled(robot)
    rec = ff.Simulation(robot, law="time-stepping").run(walk.duration, controller=walk).check()
    phase = rec.signals["phase"][:, 0]
    assert ff.measure.fall(rec) is None and phase[-1] == walk.steps
    walking = (rec.time > walk.start_time) & (phase < walk.steps)
    assert (phase[walking] % 1.0 == 0.0).mean() < 0.15  # a tenth of a step, and what a soft landing takes
    after = rec.force[phase == walk.steps, :2, 2]
    assert (after.min(axis=1) > 0.0).mean() < 0.15
    assert ((after == 0.0).mean(axis=0) > 0.25).all()  # each foot is in the air, for 0.45 of a cycle


@pytest.mark.parametrize(("name", "angle"), [*paired(LAWS, [0, 90, 180, 315]), *paired(LAWS, [0, 90, 180, 315], 1)])
def test_it_takes_a_push_of_a_tenth_of_a_metre_per_second(name, angle):
    robot = ff.load_robot("point-biped")
    walk = Walk(speed=0.3, steps=10).scaled(robot)
    force, way = 0.1 * robot.mass / 0.05, math.radians(angle)
    push = ff.Push("trunk", (force * math.cos(way), force * math.sin(way), 0.0), start=2.9, duration=0.05)
    rec = ff.Simulation(robot, law=name).run(walk.duration, controller=walk, pushes=push, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None


@pytest.mark.parametrize(
    "options",
    [BIG | dict(foot_radius=0.03, armature=0.1), SMALL | dict(foot_radius=0.01, armature=5e-4, damping=5e-3)],
    ids=["0.84 m", "0.26 m"],
)
def test_other_sizes_walk_by_the_length_of_their_legs(options):
    robot = ff.load_robot("point-biped", **options)
    walk = Walk(steps=14).scaled(robot)
    rec = ff.Simulation(robot, law="time-stepping").run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    assert steady_speed(rec, 8.0, 13.0) == pytest.approx(walk.speed, rel=0.1)


@pytest.mark.parametrize("robot", ["spatial-biped", "small-humanoid"])
def test_legs_with_ankles_walk_on_the_middle_of_their_soles(robot):
    """Six and seven motors a leg: what a point needs of them is where it is."""
    robot = ff.load_robot(robot).with_points((1, 1))
    walk = Walk(steps=8).scaled(robot)
    rec = ff.Simulation(robot, law="time-stepping").run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    assert rec.signals["com"][-1, 0] > 0.7 * sum(step.length for step in walk.steps_of(Biped.of(robot, "walk")).steps)


def test_it_turns_and_goes_sideways():
    robot = ff.load_robot("point-biped")
    sim = ff.Simulation(robot, law="time-stepping")
    turning = Walk(speed=0.3, turn=0.3, steps=12).scaled(robot)
    rec = sim.run(turning.duration, controller=turning, record_dt=5e-3).check()
    yaw = 2.0 * np.arctan2(rec.qpos[-1, 6], rec.qpos[-1, 3])
    planned = sum(step.turn for step in turning.plan(0.2).steps)
    assert ff.measure.fall(rec) is None and yaw == pytest.approx(planned, abs=0.3)
    aside = Walk(speed=0.0, sideways=0.08, steps=12).scaled(robot)
    rec = sim.run(aside.duration, controller=aside, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    assert rec.signals["com"][-1, 1] == pytest.approx(sum(step.aside for step in aside.plan(0.2).steps), rel=0.4)


def test_the_soles_of_point_feet_are_where_they_touch():
    biped = Biped.of(ff.load_robot("point-biped", foot_radius=0.03), "walk")
    assert biped.point and not biped.line and not biped.tips
    assert biped.soles[0].radius == pytest.approx(0.03)
    data = mujoco.MjData(biped.robot.model)
    data.qpos[:] = biped.robot.home
    mujoco.mj_forward(biped.robot.model, data)
    assert biped.com_height == pytest.approx(data.subtree_com[0, 2])
    assert biped.soles[0].leg == pytest.approx(0.25 + 0.25, abs=0.031)


def test_one_point_foot_beside_a_sole_is_refused():
    whole = ff.load_robot("spatial-biped")
    left, right = whole.feet
    robot = ff.load_robot(
        mujoco.MjSpec.from_string(whole.mjcf),
        feet={"left": (left.body, left.points), "right": (right.body, right.points[:1])},
    )
    with pytest.raises(ControllerError, match="two feet of one kind"):
        ff.Simulation(robot).run(0.1, controller=Walk())


def cost(s: np.ndarray, ahead: Way, aside: Way, planned: float, gain: float) -> np.ndarray:
    """Of the program that ``step_duration`` solves, by trying footholds half a millimetre apart."""
    total = TIME * (s - planned) ** 2
    for way in (ahead, aside):
        move = np.linspace(way.low, way.high, 1101)
        off = way.rate * s + way.rest
        off -= np.clip(off, -way.reach * (s - 1.0), way.reach * (s - 1.0))
        missed = off[:, None] - move / gain
        total += (FOOTHOLD * move**2 + OFFSET * missed**2).min(axis=1)
    return total


@pytest.mark.parametrize("seed", range(6))
def test_the_time_to_the_landing_is_that_of_least_cost(seed):
    rng = np.random.default_rng(seed)
    times, gain = Times(0.25, 0.1, 0.4, 4.4), 1.1
    planned = math.exp(times.omega * times.planned)
    ways = []
    for reach in (0.05 * (seed % 2), 0.0):
        rate = rng.uniform(-0.2, 0.2)
        ways.append(Way(rate, -rate * planned + rng.uniform(-0.4, 0.4), -0.3, 0.25, reach))
    found = math.exp(times.omega * time_to_landing(*ways, times, gain))
    tried = np.exp(times.omega * np.linspace(times.least, times.most, 4001))
    best = tried[np.argmin(cost(tried, *ways, planned, gain))]
    assert found == pytest.approx(best, abs=0.02)


def test_a_step_as_planned_lasts_as_planned():
    times = Times(0.25, 0.1, 0.4, 4.4)
    planned = math.exp(times.omega * times.planned)
    ways = [Way(rate, -rate * planned, -0.3, 0.3, 0.0) for rate in (0.1, -0.05)]
    assert time_to_landing(*ways, times, 1.1) == pytest.approx(0.25, abs=1e-6)
