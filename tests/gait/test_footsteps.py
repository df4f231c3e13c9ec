"""Footsteps, the divergent component of motion between them, and the way of a swinging foot."""

from __future__ import annotations

import math

import numpy as np
import pytest

from footfall.compiled import ByReference
from footfall.gait.footsteps import (
    LEFT,
    POSITION,
    RIGHT,
    VELOCITY,
    FootstepPlan,
    add_segment,
    advance_swing,
    begin_swing,
    dcm_at,
    empty_plan,
    empty_swing,
    end_at,
    landing,
)

START = {LEFT: (0.0, 0.1, 0.0), RIGHT: (0.0, -0.1, 0.0)}
WALK = {"length": 0.3, "duration": 0.5, "width": 0.2}


def walked(steps: int, length: float, turn: float = 0.0, **options: float) -> FootstepPlan:
    """Half a step, steps of ``length`` (m), and one that closes."""
    shares = [0.5, *[1.0] * (steps - 2), 0.0]
    return FootstepPlan.of_moves([(share * length, 0.0, share * turn) for share in shares], **options)


def footprints(plan: FootstepPlan) -> list[tuple[float, float, float]]:
    """Where each step lands, x, y (m) and yaw (rad), from where the feet stand at the start, 0.2 m apart."""
    stand, width, found = dict(START), 0.2, []
    for step in plan.steps:
        stand[step.side] = landing.py_func(step, stand[-step.side], width)
        width = step.width
        found.append(stand[step.side])
    return found


def test_a_straight_walk_starts_with_half_a_step_and_closes():
    plan = walked(steps=5, **WALK)
    prints = footprints(plan)
    np.testing.assert_allclose([x for x, _, _ in prints], [0.15, 0.45, 0.75, 1.05, 1.05])
    np.testing.assert_allclose([y for _, y, _ in prints], [0.1, -0.1, 0.1, -0.1, 0.1], atol=1e-12)
    assert [step.side for step in plan.steps] == [LEFT, RIGHT, LEFT, RIGHT, LEFT]
    assert sum(step.double_support + step.swing for step in plan.steps) == pytest.approx(2.5)


def test_a_turning_walk_goes_round_a_circle():
    """The middle between the feet advances by chords of a circle of radius length / turn."""
    turn = math.radians(15)
    plan = walked(steps=40, turn=turn, **WALK)
    prints = footprints(plan)
    middles = [
        (x + step.side * 0.1 * math.sin(yaw), y - step.side * 0.1 * math.cos(yaw))
        for step, (x, y, yaw) in zip(plan.steps, prints, strict=True)
    ]
    inner = np.array(middles[:-1])  # the last closes
    centre_distance = 0.5 * WALK["length"] / math.sin(0.5 * turn)
    chords = np.linalg.norm(np.diff(inner, axis=0), axis=1)
    np.testing.assert_allclose(chords, WALK["length"], rtol=1e-12)
    a, b, c = inner[0], inner[8], inner[16]  # three places on the circle
    sides = np.linalg.norm(b - a), np.linalg.norm(c - b), np.linalg.norm(a - c)
    area = 0.5 * abs((b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0])
    assert math.prod(sides) / (4.0 * area) == pytest.approx(centre_distance, rel=1e-9)


def test_the_divergent_component_obeys_its_equation_and_ends_where_it_shall():
    """By central differences xi' = w (xi - p) between the knots; continuous across them."""
    omega = 3.4
    right, left = (0.0, -0.1), (0.3, 0.1)
    plan = empty_plan(omega, 3)
    for duration, start, end in ((0.4, (0.0, 0.0), right), (0.5, right, right), (0.1, right, left)):
        add_segment(plan, duration, start, end)
    end_at(plan, (0.2, 0.05))

    def at(time):
        pressure, dcm = np.zeros(2), np.zeros(2)
        dcm_at(plan, time, pressure, dcm)
        return pressure, dcm

    h = 1e-5
    for t in (0.1, 0.39, 0.45, 0.8, 0.95):
        p, xi = at(t)
        rate = (at(t + h)[1] - at(t - h)[1]) / (2 * h)
        np.testing.assert_allclose(rate, omega * (xi - p), atol=1e-8)
    for knot in (0.4, 0.9, 1.0):
        np.testing.assert_allclose(at(knot - 1e-9)[1], at(knot + 1e-9)[1], atol=1e-7)
    np.testing.assert_allclose(at(5.0)[1], (0.2, 0.05))


def test_a_swinging_foot_reaches_a_goal_that_moves_and_looks_for_the_ground():
    dt, swing = 1e-3, empty_swing()
    foot, (x, _, z) = ByReference(swing), swing.motion
    begin_swing(foot, np.zeros(3), 0.4, 0.05, 0.1)
    highest, ways = 0.0, []
    for i in range(400):
        advance_swing(foot, (0.3 if i < 150 else 0.35, 0.0, 0.01), dt)
        highest = max(highest, z[POSITION])
        ways.append((x[POSITION], x[VELOCITY]))
    assert x[POSITION] == pytest.approx(0.35, abs=1e-3)
    assert x[VELOCITY] == pytest.approx(0.0, abs=0.05)
    assert z[POSITION] == pytest.approx(0.01, abs=1e-3)
    assert highest == pytest.approx(0.06, abs=1e-3)
    way, speed = np.array(ways).T
    np.testing.assert_allclose(np.diff(way) / dt, 0.5 * (speed[1:] + speed[:-1]), atol=0.01)  # no jump with the goal
    below = z[POSITION]
    for _ in range(100):
        advance_swing(foot, (0.35, 0.0, 0.01), dt)
    assert z[POSITION] == pytest.approx(below - 0.01, abs=1e-6)


def test_a_step_aside_moves_the_line_between_the_feet():
    plan = FootstepPlan.of_moves([(0.0, 0.05, 0.0)] * 4 + [(0.0, 0.0, 0.0)], duration=0.5, width=0.2)
    prints = footprints(plan)
    left, right = (prints[-1], prints[-2]) if plan.steps[-1].side == LEFT else (prints[-2], prints[-1])
    assert 0.5 * (left[1] + right[1]) == pytest.approx(4 * 0.05)
    assert left[1] - right[1] == pytest.approx(0.2)
