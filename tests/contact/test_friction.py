"""The kinds of friction a point law may have, each asked what it must do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import footfall as ff

ANGLE = math.radians(20.0)


def on_a_ramp(mu: float, duration: float = 2.0, **options: object) -> ff.Recording:
    sim = ff.Simulation("brick", ground=ff.Ground.slope(ANGLE, friction=mu), law=ff.law("spring-damper", **options))
    return sim.run(duration, qpos=sim.place(align=True))


@pytest.mark.parametrize("friction", ["anchored", "lugre"])
def test_friction_with_memory_holds_a_brick_without_creep(friction):
    rec = on_a_ramp(0.5, friction=friction)
    # After half a second springs and bristles are bent as far as the load bends them.
    assert np.abs(rec.position[-1] - rec.position[500]).max() < 1e-9


@pytest.mark.parametrize("friction", ["anchored", "regularised", "lugre"])
def test_a_brick_slides_down_with_coulombs_acceleration(friction):
    rec = on_a_ramp(0.2, friction=friction)
    speed = np.linalg.norm(rec.qvel[:, :3], axis=1)
    found = (speed[-1] - speed[1000]) / (rec.time[-1] - rec.time[1000])
    assert found == pytest.approx(9.81 * (math.sin(ANGLE) - 0.2 * math.cos(ANGLE)), rel=1e-6)


def test_a_distribution_of_points_resists_turning():
    """Torsional friction needs no term of its own: four corners at the distance r give mu m g r."""
    sim = ff.Simulation("brick", ground=ff.Ground.plane(friction=0.4), law="time-stepping")
    rec = sim.run(0.1, qvel=[0, 0, 0, 0, 0, 5.0])
    inertia = rec.robot.model.body_inertia[1, 2]
    radius = float(np.linalg.norm(rec.robot.feet[0].points[0, :2]))
    expected = 0.4 * rec.robot.weight * radius / inertia
    spin = rec.qvel[:, 5]
    assert (spin[10] - spin[40]) / 0.03 == pytest.approx(expected, rel=1e-6)
