"""The friction that laws of one's own are offered: it holds, it slides against the slip, it is audited."""

from __future__ import annotations

import numpy as np
import pytest

import footfall as ff

FRICTION, SPEED = 0.7, 0.5  # m/s


@pytest.fixture
def law():
    @ff.point_law("springy", k=2e4, c=60.0)
    def springy(depth, depth_rate, slip, slip_velocity, memory, parameters):
        k, c = parameters.k, parameters.c
        normal = max(0.0, k * depth + c * depth_rate)
        x, y, mode = ff.contact.spring_friction(slip, slip_velocity, k, c, parameters.dynamic_friction * normal)
        return normal, x, y, mode

    return "springy"


def test_a_thrown_brick_slides_as_far_as_coulomb_says_and_rests(law):
    rec = ff.Simulation("brick", law=law).run(1.0, qvel=(SPEED, 0, 0, 0, 0, 0))
    way = rec.qpos[-1, 0] - rec.qpos[0, 0]
    # It starts on the ground's surface and sinks in by 0.1 mm while friction is not yet full: 2 % of the way.
    assert way == pytest.approx(SPEED**2 / (2 * FRICTION * 9.81), rel=0.05)
    assert rec.total_force[-1] == pytest.approx([0.0, 0.0, rec.robot.weight], abs=1e-6)
    assert rec.audit().passed, rec.audit()


def test_what_friction_holds_stays_where_it_is(law):
    sim = ff.Simulation("brick", law=law, ground=ff.Ground.slope(0.5))  # tan 0.5 = 0.55 < 0.7
    rec = sim.run(2.0, qpos=sim.place(align=True))
    settled = rec.qpos[rec.time > 0.5]
    assert np.ptp(settled[:, 0]) < 1e-6
    assert rec.total_force[-1] == pytest.approx([0.0, 0.0, rec.robot.weight], abs=1e-6)
