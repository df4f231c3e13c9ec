"""Periods from event to event that are one time step instead, and those that need not be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from real_robots import real_robot

import footfall as ff
from footfall.engine.events.evaluation import EARNED, FEWEST, KEPT, LOOSEST, MOST_EVALUATIONS, settle
from footfall.engine.events.flow import make_flow
from footfall.study.bench.stress import random_start, rough_grounds

LAW = "acceleration-complementarity"


def test_a_slip_that_begins_at_rest_in_space_is_no_time_step():
    """A tumbling brick slips off the corner it stands on; first friction turns the slip at once, a stiff equation."""
    rng = np.random.default_rng(0)
    numbers = [rng.normal(size=10) for _ in range(4)][-1]
    ends = []
    for dt in (1e-3, 1e-4):
        sim = ff.Simulation("brick", law=LAW, dt=dt)
        qpos = sim.place() + 0.1 * np.eye(7)[2]
        qpos[3:7] = numbers[:4] / np.linalg.norm(numbers[:4])
        rec = sim.run(0.8, qpos=qpos, qvel=np.concatenate([numbers[4:7], 5.0 * numbers[7:]]))
        assert rec.signals["impacts"].sum() > 3 and not rec.signals["time_steps"].any()
        ends.append(rec.qpos[-1])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


@pytest.mark.parametrize(("tilt", "restitution"), [(0.05, 0.3), (0.2, 0.3), (0.2, 0.5)])
def test_bounces_that_accumulate_while_the_brick_slides_need_no_time_step(tilt, restitution):
    """The last of them rebound at less than 1 um/s and end with an impact that leaves the point on the ground."""
    sim = ff.Simulation("brick", law=ff.law(LAW, restitution=restitution), ground=ff.Ground.plane(0.2))
    qpos = sim.place() + 0.05 * np.eye(7)[2]
    qpos[3:7] = [np.cos(0.5 * tilt), 0.0, np.sin(0.5 * tilt), 0.0]
    rec = sim.run(0.6, qpos=qpos, qvel=[1.0, 0.3, 0.0, 0.0, 0.0, 0.0])
    assert rec.signals["impacts"].sum() > 20 and not rec.signals["time_steps"].any()
    assert ff.audit(rec)["friction cone"].worst < 1e-12 * rec.robot.weight


def test_a_robot_that_falls_on_its_knees_and_its_limits_takes_longer_steps_and_says_so():
    law = ff.law(LAW, tolerance=1e-12)
    rec = ff.Simulation("spatial-biped", law=law).run(1.5, controller=None)
    assert rec.failure is None and not ff.audit(rec).failed
    assert rec.gap.min() > -1e-4
    loosened, evaluations = rec.signals["loosened"].ravel()[:-1], rec.signals["evaluations"].ravel()[:-1]
    assert 1.0 < loosened.max() <= LOOSEST / law.tolerance * (1.0 + 1e-9)
    assert (evaluations >= 1.0).all() and (evaluations <= MOST_EVALUATIONS + 1).all()  # one is that of a time step
    assert (np.cumsum(evaluations) <= KEPT + (EARNED + 1) * np.arange(1, len(rec))).all()
    assert np.median(evaluations) < EARNED


def test_impulses_without_a_collision_that_follow_one_another_end_in_a_time_step():
    """Thin legs jam on a stair of rubber: forces that exist follow from none of the impulses."""
    robot, ground = ff.load_robot("point-biped"), rough_grounds()["stairs"]
    start = random_start(robot, ground, np.random.default_rng((296, 5, 4)))
    sim = ff.Simulation(robot, ground=replace(ground, static_friction=2.0, dynamic_friction=2.0), law=LAW)
    rec = sim.run(0.03, controller=None, qpos=start.qpos, qvel=start.qvel)
    steps, jams = rec.signals["time_steps"].ravel(), [warning["time"] for warning in rec.info["warnings"]]
    most = max(np.histogram(jams, bins=np.arange(32) * sim.dt)[0])
    assert steps.any() and 1 < most <= MOST_EVALUATIONS
    last = int(np.flatnonzero(steps[:-1] * steps[1:])[0])  # a run that ends there ends with its next forces
    end = sim.run((last + 1) * sim.dt, controller=None, qpos=start.qpos, qvel=start.qvel)
    np.testing.assert_allclose(end.force[-1], rec.force[last + 1], atol=1e-3 * np.abs(end.force[-1]).max())
    assert end.force[-1].any()


def test_events_without_end_in_a_period_end_where_its_tolerance_does_not_tell_them_from_rest():
    """A ball that loses nothing bounces for ever: at 10 um/s fifty thousand times in 0.1 s."""
    sim = ff.Simulation("ball", law=ff.law(LAW, restitution=1.0), dt=0.1)
    rec = sim.run(0.2, qvel=-1e-5 * np.eye(6)[2])
    assert rec.failure is None and not rec.signals["time_steps"].any()
    assert rec.signals["impacts"][0] > 1000 and rec.signals["loosened"][0] > 1.0
    np.testing.assert_allclose(rec.gap, 0.0, atol=1e-5)
    np.testing.assert_allclose(rec.total_force[:-1, 2], rec.robot.weight, rtol=1e-2)  # it hops by a micrometre


def test_after_each_period_in_a_row_that_became_a_time_step_twice_as_many_evaluations_are_saved():
    flow = make_flow(ff.load_robot("ball").model, 1, 1, 1e-3, ff.law(LAW), ff.Ground.plane())
    flow.needed[0] = 2 * FEWEST  # as after the first
    for _ in range(2):
        settle.py_func(None, flow, False)
        assert flow.saved[0] == 0.0 and flow.needed[0] == MOST_EVALUATIONS / 2


@pytest.mark.parametrize("name", ["cassie", "talos"])
def test_robots_with_loops_fly_from_event_to_event(name):
    """All but a few periods, in which loops that were not quite closed jerk; when a loop was counted as more than it
    costs, up to all of them were time steps.
    """
    sim = ff.Simulation(real_robot(name, "as-is"), law=LAW, dt=1e-3)
    qpos = sim.place()
    qpos[2] += 0.05
    rec = sim.run(0.05, controller="posture", qpos=qpos)
    assert not rec.force.any()
    assert rec.signals["time_steps"].sum() <= 0.06 * len(rec)
