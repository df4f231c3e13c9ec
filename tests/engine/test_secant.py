"""Strides that begin with the accelerations that the correction of the last one foretells, instead of an evaluation."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import footfall as ff
from footfall.engine.events.flow import PAIRS, SECANT, make_flow
from footfall.engine.events.secant import IDLE, PENDING, READY, begin_pair, end_pair, foretell_end, pushes_go_on

LAW, TOLERANCE = "acceleration-complementarity", 1e-9


def heard(corrections):
    """What a run keeps after these corrections of velocities (m/s), in a motion whose accelerations and forces are
    linear in velocities; and these linear maps.
    """
    flow = make_flow(
        ff.load_robot("brick").model, 1, 1, 1e-3, tolerance=TOLERANCE, ground=ff.Ground.plane(), margin=0.0
    )
    rng = np.random.default_rng(0)
    answer, load = -100.0 * rng.random((6, 6)), rng.random((3, 6))
    points, contacts = SimpleNamespace(force=np.zeros((1, 3))), SimpleNamespace(number=[1], points=[0])
    world, velocity = SimpleNamespace(qacc=np.zeros(6)), np.zeros(6)
    for correction in corrections:
        world.qacc, points.force[0] = answer @ velocity, load @ velocity + [0.0, 0.0, 1.0]
        end_pair.py_func(world, points, contacts, flow)
        begin_pair.py_func(world, points, contacts, flow)
        flow.moved[0] = correction
        velocity = velocity + correction
    foretell_end.py_func(points, contacts, flow, 1e-3)
    return flow, answer @ velocity, load @ velocity + [0.0, 0.0, 1.0]


ALONG, ASIDE, ACROSS = 1e-7 * np.eye(6)[:3]


@pytest.mark.parametrize(
    "corrections",
    [[ALONG, -0.2 * ALONG], [ALONG, ASIDE, 0.3 * ALONG + 0.1 * ASIDE], [ACROSS, ALONG, 1.01 * ALONG, 0.5 * ALONG]],
    ids=["one pair", "two pairs", "two pairs that are alike"],
)
def test_a_correction_like_those_before_foretells_accelerations_and_forces(corrections):
    flow, accelerations, force = heard(corrections)
    assert flow.tally[SECANT] == READY
    np.testing.assert_allclose(flow.answer[0], accelerations, rtol=1e-9)
    np.testing.assert_allclose(flow.answer_force[0, 0], force, rtol=1e-12)


@pytest.mark.parametrize("corrections", [[ALONG], [ALONG, ASIDE], [ALONG, ASIDE, ACROSS]])
def test_a_correction_unlike_those_before_is_to_be_evaluated(corrections):
    flow, _, _ = heard(corrections)
    assert flow.tally[SECANT] == PENDING and flow.tally[PAIRS] == len(corrections) - 1


def test_a_force_that_would_pull_is_to_be_evaluated():
    flow, _, force = heard([-1e8 * ALONG, -1e8 * ALONG])
    assert force[2] < 0.0 and flow.tally[SECANT] == IDLE


def pushes(*rows):
    """Of body, first step, step after the last, and force."""
    body, start, stop, force = zip(*rows, strict=True)
    return SimpleNamespace(body=np.array(body), start=start, stop=stop, wrench=np.outer(force, np.eye(6)[0]))


@pytest.mark.parametrize(
    ("row", "same"),
    [((1, 0, 9, 2.0), True), ((1, 5, 9, 2.0), True), ((1, 0, 5, 2.0), False), ((1, 0, 9, 2.1), False)],
    ids=["goes on", "begins anew as it was", "ends", "changes"],
)
def test_a_push_that_is_not_what_it_was_is_noticed(row, same):
    flow, _, _ = heard([ALONG])
    assert not pushes_go_on.py_func(flow, pushes((1, 0, 9, 2.0)), 4)
    assert pushes_go_on.py_func(flow, pushes(row), 5) == same
    assert pushes_go_on.py_func(flow, pushes((0, 0, 0, 0.0), row), 6) == (row[2] > 5 or not same)


@pytest.fixture(scope="module")
def sliding():
    """A world of a biped that slides, between two periods of which the second needs no evaluation at its beginning."""
    robot = ff.load_robot("spatial-biped", actuators="position")
    sim = ff.Simulation(robot, law=LAW)
    world = sim.start(qvel=1.5 * np.eye(robot.model.nv)[0])
    for _ in range(200):
        world.step()
        if world._run.flow.tally[SECANT] == READY:
            return world, world.state()
    raise AssertionError("every period begins with an evaluation")


def test_a_state_before_a_beginning_without_an_evaluation_goes_on_bit_for_bit(sliding):
    world, state = sliding
    ends = []
    for one in (world, world.simulation.start()):
        one.restore(state)
        one.step(n=20)
        ends.append(one.qpos.copy())
    np.testing.assert_array_equal(*ends)


def test_a_beginning_without_an_evaluation_is_as_accurate_as_one(sliding):
    world, state = sliding
    ends = []
    for known in (READY, IDLE):
        world.restore(state)
        world._run.flow.tally[SECANT] = known
        world.step()
        ends.append(world.qvel.copy())
    assert 0.0 < np.abs(ends[1] - ends[0]).max() < TOLERANCE


@pytest.mark.parametrize("what", ["ctrl", "qvel", "qpos"])
def test_what_is_changed_between_two_periods_is_evaluated(sliding, what):
    world, state = sliding
    ends = []
    for known in (READY, IDLE):
        world.restore(state)
        getattr(world, what)[-1] += 1e-3
        world._run.flow.tally[SECANT] = known
        world.step()
        ends.append(world.qvel.copy())
    np.testing.assert_array_equal(*ends)
