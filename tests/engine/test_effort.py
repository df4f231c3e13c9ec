"""The work of a step is bounded, counted as in ``footfall.solve.effort``: to so many steps of the robot itself."""

from __future__ import annotations

import numpy as np
import pytest
from bounds import below

import footfall as ff
from footfall.solve.effort import STANDING_STEPS
from footfall.study.bench.stress import DT, Start, begun, random_start, rough_grounds

ROBOT = "spatial-biped"
#: Random states of the robot, and steps from each.
STATES, STEPS = 12, 4
#: What is under way when the effort is used up is ended first: what that may cost more, of what a usual step may.
MORE = 0.2

laws = pytest.mark.parametrize("name", ["time-stepping", "linearizing-penalty", "constraint-selection"])


def efforts_left(law: ff.Law) -> tuple[np.ndarray, int]:
    """What steps from random states on stairs leave of their effort, and how many of them are unsolved."""
    robot, ground, rng = ff.load_robot(ROBOT), rough_grounds()["stairs"], np.random.default_rng(4)
    sim, left, unsolved = ff.Simulation(robot, ground=ground, law=law, dt=DT), [], 0
    for _ in range(STATES):
        run = begun(sim, random_start(robot, ground, rng), STEPS)
        for _ in range(STEPS):
            run.advance(1)
            left.append(run.contacts.effort[0])
        unsolved += int((run.recording().status != 0).sum())
        run.give_back()
    return np.array(left), unsolved


@laws
def test_a_step_that_may_cost_little_ends_soon_and_says_so(name, monkeypatch):
    law = ff.law(name)
    usual, unsolved = efforts_left(law)
    monkeypatch.setattr(type(law), "standing_steps", lambda law: 0.04 * STANDING_STEPS)
    left, more_unsolved = efforts_left(law)
    assert more_unsolved > unsolved
    assert left.max() < 0.05 * usual.max()
    below(-left.min(), MORE * usual.max())


def test_what_a_step_may_cost_goes_with_what_one_costs_as_the_robot_stands():
    """Of the smallest and the largest robot, in the air: what the problem of contacts may cost is given, not spent."""
    given = {}
    for name in ("ball", "full-humanoid"):
        sim = ff.Simulation(name, law="time-stepping", dt=DT)
        qpos = sim.place()
        qpos[2] += 0.5
        run = begun(sim, Start(qpos, np.zeros(sim.robot.model.nv), clear=True), 1)
        run.advance(1)
        given[name] = run.contacts.effort[0]
        run.give_back()
    assert 5.0 < given["full-humanoid"] / given["ball"] < 20.0
