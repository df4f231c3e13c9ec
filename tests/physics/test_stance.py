"""Robots that stand: weight, wrench, centre of pressure, creep."""

from __future__ import annotations

import numpy as np
import pytest
from bounds import below, close, near
from physics.laws import DT, every_law, expected, log
from robot_models import three_legged_stool

import footfall as ff

DURATION = 10.0  # s
SETTLED = 8.0  # s


def standing(robot: str | ff.Robot, law: str | ff.contact.Law) -> ff.Recording:
    sim = ff.Simulation(robot, law=law, dt=DT)
    return sim.run(DURATION, controller="posture", record_dt=10 * DT)


@pytest.fixture(scope="module")
def stood():
    """Recordings of the spatial biped, made once per law."""
    made: dict[str, ff.Recording] = {}

    def get(law: str) -> ff.Recording:
        if law not in made:
            made[law] = standing("spatial-biped", law)
        return made[law]

    return get


@every_law
def test_the_ground_carries_the_weight_and_nothing_else(law, stood):
    rec = stood(law)
    force = rec.slice(SETTLED).total_force / rec.robot.weight
    log(law, weight=np.abs(force[:, 2] - 1.0).max(), sideways=np.abs(force[:, :2]).max())
    assert rec.failure is None and (rec.status == 0).all()
    close(force, np.broadcast_to([0.0, 0.0, 1.0], force.shape), atol=expected(law).weight)


@every_law
def test_feet_stay_where_they_were_set_down_but_for_the_laws_creep(law, stood):
    rec = stood(law)
    late = rec.slice(SETTLED)
    drift = float(np.linalg.norm(late.position[-1, :, :2] - late.position[0, :, :2], axis=1).max())
    ratio = (np.linalg.norm(late.force[..., :2], axis=2) / (rec.ground.static_friction * late.force[..., 2])).max()
    sim = ff.Simulation(rec.robot, law=rec.law, dt=rec.dt)
    bound = late.duration * rec.law.creep(float(ratio), sim.setting)
    log(law, drift=drift, creep_stated=bound, since_start=float(np.abs(rec.position[-1] - rec.position[0]).max()))
    below(drift - bound, expected(law).drift)


@every_law
def test_the_robot_stands_still_and_upright(law, stood):
    rec = stood(law)
    below(np.abs(rec.qvel[-1]).max(), 1e-5)
    close(rec.qpos[-1, 7:], rec.robot.home[7:], atol=0.02)


@every_law
def test_point_forces_pressure_centre_and_foot_wrench_agree(law, stood):
    """About a foot's centre of pressure its forces have no moment but the one that twists it."""
    rec = stood(law)
    late = rec.slice(SETTLED)
    for i, foot in enumerate(rec.robot.feet):
        points = rec.foot(foot.name)
        arm = late.position[:, points] - late.cop[:, i, None]
        moment = np.cross(arm, late.force[:, points]).sum(axis=1)
        # Soles rest up to a micrometre out of level, over which friction has an arm.
        close(moment[:, :2], 0.0, atol=1e-6 * rec.robot.weight)
        inside = late.cop[:, i, :2]
        assert (inside > late.position[:, points, :2].min(axis=1)).all()
        assert (inside < late.position[:, points, :2].max(axis=1)).all()
        close(late.foot_force[:, i], late.force[:, points].sum(axis=1))


@every_law
def test_the_pressure_centre_is_below_the_centre_of_mass(law, stood):
    """At rest nothing but weight and ground reaction acts, so they must be in line."""
    late = stood(law).slice(SETTLED)
    com = ff.measure.momentum(late).com
    overall = np.einsum("tf,tfi->ti", late.foot_force[..., 2], late.cop) / late.total_force[:, 2:]
    close(overall[:, :2], com[:, :2], atol=1e-5)
    close(late.zmp[:, :2], overall[:, :2], atol=1e-5)


@every_law
def test_the_planar_biped_stands(law):
    rec = standing("planar-biped", law)
    force = rec.slice(SETTLED).total_force / rec.robot.weight
    log(law, weight=np.abs(force[:, 2] - 1.0).max(), pitch=rec.qpos[-1, 2])
    assert rec.failure is None and (rec.status == 0).all()
    below(abs(rec.qpos[-1, 2]), 0.05)
    close(force, np.broadcast_to([0.0, 0.0, 1.0], force.shape), atol=expected(law).weight)


@every_law
def test_a_biped_on_a_grid_of_points_stands(law):
    rec = standing(ff.load_robot("spatial-biped").with_points((6, 3)), law)
    force = rec.slice(SETTLED).total_force / rec.robot.weight
    assert rec.failure is None and (rec.status == 0).all()
    close(force, np.broadcast_to([0.0, 0.0, 1.0], force.shape), atol=expected(law).weight)


@every_law
def test_a_biped_that_is_dropped_lands_and_stands(law):
    drop = 0.05  # m; the bounds above are of one that is set down
    sim = ff.Simulation("spatial-biped", law=law, dt=DT)
    rec = sim.run(6.0, qpos=sim.place() + drop * np.eye(27 - 6)[2], controller="posture")
    force = rec.slice(5.0).total_force / rec.robot.weight
    log(law, mean=force[:, 2].mean() - 1.0, least=force[:, 2].min(), most=force[:, 2].max())
    assert rec.failure is None and (rec.status == 0).all()
    assert not ff.measure.has_fallen(rec)
    near(force[:, 2].mean(), 1.0, abs=1e-2)


SPRINGS = [law for law in ff.laws() if "rest_penetration" in ff.law(law).options()]


@pytest.mark.parametrize("law", SPRINGS)
def test_a_biped_sinks_in_by_the_rest_penetration_asked_for(law):
    rec = standing("spatial-biped", ff.law(law, rest_penetration=5e-4))
    # The mean: the robot's weight is not quite over the middle of its soles.
    near(-rec.gap[-1].mean(), 5e-4, rel=1e-2)


def test_under_the_linearizing_penalty_a_biped_stands_on_the_ground_not_in_it():
    for eps in (0.0, 1e-6):
        rec = standing("spatial-biped", ff.law("linearizing-penalty", eps=eps))
        close(-rec.gap[-1], eps, atol=1e-9)


@pytest.mark.parametrize(
    "law", ["acceleration-complementarity", "constraint-selection", "linearizing-penalty", "time-stepping"]
)
@pytest.mark.parametrize("height", [0.0, 0.02])
def test_a_sole_that_is_not_flat_rests_on_its_lowest_points(law, height):
    """Points 0.2 mm above them never reach a rigid ground, though all of a foot that lands are to arrive at once."""
    sim = ff.Simulation(three_legged_stool(), law=law, dt=DT)
    start = sim.place()
    start[2] += height
    rec = sim.run(0.5, qpos=start)
    heights = rec.position[-1, :, 2]
    log(law, deepest=-heights.min())
    assert (rec.status == 0).all()
    close(heights, [0.0, 2e-4] * 3, atol=1e-5)  # linearizing-penalty takes depths off with a period of its own
    close(rec.force[-1, :, 2], [rec.robot.weight / 3, 0.0] * 3, atol=1e-3 * rec.robot.weight)
