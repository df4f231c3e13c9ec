"""The audit: every fault planted on purpose, in a recording or in a law, is found by the row that should find it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from audited import GROUND, OPEN, SLIDE, biped, brick, with_force

import footfall as ff
from footfall.contact import registry
from footfall.errors import FootfallError
from footfall.measure.common import tangential
from footfall.record import Failure

# ---- faults planted in a correct recording -----------------------------------------------------------------


def push_sideways(force):
    force[7, 2, 0] += 1.1 * 0.8 * force[7, 2, 2]


def pull_down(force):
    force[7, 2, 2] = -0.01


FAULTS = {
    "friction cone": push_sideways,
    "pulling force": pull_down,
    "force balance": lambda force: np.multiply(force, 1.01, out=force),
}


@pytest.mark.parametrize("row", FAULTS)
def test_a_wrong_force_is_found_by_its_row(standing, row):
    audit = ff.audit(with_force(standing, FAULTS[row]))
    assert row in audit.failed
    assert set(audit.failed) <= {row, "force balance", "moment balance", "cop in support"}
    with pytest.raises(FootfallError, match=f"fails: .*{row} "):
        audit.check()


def test_the_worst_is_told_with_its_size_and_time(standing):
    row = ff.audit(with_force(standing, push_sideways))["friction cone"]
    assert row.worst == pytest.approx(0.1 * 0.8 * standing.force[7, 2, 2], rel=1e-6)
    assert row.rms == pytest.approx(row.worst / math.sqrt(len(standing)), rel=1e-6)
    assert row.when == standing.time[7]


def test_a_moment_without_motion_is_found_though_forces_add_up(standing):
    def twist(force):
        force[:, 0, 2] += 0.5
        force[:, 3, 2] -= 0.5

    assert ff.audit(with_force(standing, twist)).failed == ("moment balance",)


def test_sliding_points_are_held_to_the_dynamic_cone(standing):
    mode, force = standing.mode.copy(), standing.force.copy()
    force[5, :, 0] = 0.7 * force[5, :, 2]  # between dynamic 0.6 and static 0.8
    assert ff.audit(replace(standing, force=force))["friction cone"].verdict == "pass"
    mode[5] = SLIDE
    assert ff.audit(replace(standing, force=force, mode=mode))["friction cone"].verdict == "fail"


def test_a_force_on_a_point_above_the_ground_is_found(standing):
    gap = standing.gap.copy()
    gap[:, 1] = 1e-3
    assert "gap times force" in ff.audit(replace(standing, gap=gap)).failed
    mode = standing.mode.copy()
    mode[3, 1] = OPEN
    audit = ff.audit(replace(standing, mode=mode))
    assert audit.failed == ("open force",)
    assert audit["open force"].worst == pytest.approx(np.linalg.norm(standing.force[3, 1]))


def test_a_force_in_the_step_that_closes_the_gap_is_no_fault(standing):
    gap, velocity = standing.gap.copy(), standing.velocity.copy()
    gap[0], velocity[0, :, 2] = 1e-3, -1.0  # there within the step: what time-stepping laws do
    assert ff.audit(replace(standing, gap=gap, velocity=velocity))["gap times force"].verdict == "pass"


def test_friction_that_drives_the_slip_is_found(sliding):
    audit = ff.audit(with_force(sliding, lambda force: np.negative(force[..., :2], out=force[..., :2])))
    assert {"friction direction", "friction energy"} <= set(audit.failed)
    assert audit["friction direction"].worst == pytest.approx(180.0, abs=0.1)
    across = with_force(sliding, lambda force: force.__setitem__((..., slice(2)), force[..., 1::-1]))
    assert ff.audit(across)["friction direction"].worst == pytest.approx(90.0, abs=0.1)


def test_deep_penetration_is_found(standing):
    audit = ff.audit(replace(standing, gap=standing.gap - 0.011))  # 5 % of a sole of 0.2 m is 10 mm
    assert "penetration" in audit.failed
    assert audit["penetration"].worst == pytest.approx(0.011, rel=1e-3)


def test_unsolved_samples_are_counted_and_many_fail(standing):
    status = np.zeros(len(standing))
    status[10] = 1
    assert ff.audit(replace(standing, status=status))["solved"].verdict == "note"
    status[10:20] = 2
    row = ff.audit(replace(standing, status=status))["solved"]
    assert (row.verdict, row.when) == ("fail", standing.time[19])
    assert row.worst == pytest.approx(10 / len(standing))


def test_a_run_that_ended_early_fails(standing):
    ended = replace(standing, failure=Failure(0.4, "diverged", "base z", "diverged at t = 0.4 s"))
    assert ff.audit(ended).failed == ("solved",)


def test_an_unstable_step_shows_as_created_energy():
    stiff = ff.law("spring-damper", rest_penetration=5e-5, damping_ratio=0.0)
    dropped = ff.Simulation("brick", law=stiff, dt=2e-3)
    qpos = dropped.place()
    qpos[2] += 0.01
    assert "normal energy" in ff.audit(dropped.run(0.5, qpos=qpos)).failed


# ---- laws that are wrong -----------------------------------------------------------------------------------


def negative_damping(depth, depth_rate, slip, slip_velocity, memory, parameters):
    return max(0.0, parameters.k * depth - parameters.c * depth_rate)


def pushing_friction(depth, depth_rate, slip, slip_velocity, memory, parameters):
    normal = max(0.0, parameters.k * depth + parameters.c * depth_rate)
    speed = max(1e-6, (slip_velocity[0] ** 2 + slip_velocity[1] ** 2) ** 0.5)
    push = parameters.dynamic_friction * normal / speed
    return normal, push * slip_velocity[0], push * slip_velocity[1]


def sticky(depth, depth_rate, slip, slip_velocity, memory, parameters):
    return parameters.k * depth + parameters.c * depth_rate


def too_much_friction(depth, depth_rate, slip, slip_velocity, memory, parameters):
    normal = max(0.0, parameters.k * depth + parameters.c * depth_rate)
    speed = max(1e-3, (slip_velocity[0] ** 2 + slip_velocity[1] ** 2) ** 0.5)
    brake = 1.5 * parameters.static_friction * normal / speed
    return normal, -brake * slip_velocity[0], -brake * slip_velocity[1]


@pytest.fixture
def wrong_law(monkeypatch):
    """Makes a law of a function, which no other test shall meet."""
    monkeypatch.setattr(registry, "_registered", {})
    return lambda function, c: ff.point_law("wrong", k=2500.0, c=c)(function)()


def test_a_law_that_creates_energy_is_found(wrong_law):
    audit = ff.audit(brick(wrong_law(negative_damping, c=5.0), 1.0, lift=0.05))
    assert audit.failed == ("normal energy", "contact energy")


def test_a_spring_without_damping_gives_back_what_it_took(wrong_law):
    row = ff.audit(brick(wrong_law(negative_damping, c=0.0), 1.0, lift=0.05))["normal energy"]
    assert row.verdict != "fail"  # but for the steps in which it lands and leaves, of order dt


def test_friction_with_the_wrong_sign_is_found(wrong_law):
    audit = ff.audit(brick(wrong_law(pushing_friction, c=35.0), 0.1, qvel=[0.5, 0.0, 0.0, 0.0, 0.0, 0.0]))
    assert {"friction direction", "friction energy"} <= set(audit.failed)
    assert not {"friction cone", "force balance", "normal energy"} & set(audit.failed)


def test_a_law_that_pulls_is_found(wrong_law):
    assert "pulling force" in ff.audit(brick(wrong_law(sticky, c=5.0), lift=0.05)).failed
    as_printed = ff.law("spring-damper", damping_ratio=0.2, adhesive=True)
    assert "pulling force" in ff.audit(brick(as_printed, lift=0.05)).failed


def test_a_law_beyond_the_cone_is_found(wrong_law):
    rec = brick(wrong_law(too_much_friction, c=35.0), 0.1, qvel=[2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert "friction cone" in ff.audit(rec).failed


# ---- momentum ----------------------------------------------------------------------------------------------


def test_pushes_count_as_forces_and_forgotten_ones_are_found():
    push = ff.Push("trunk", force=(20.0, 0.0, 5.0), torque=(0.0, 3.0, 0.0), start=0.1, duration=0.05)
    rec = biped("linearizing-penalty", [push])
    assert ff.audit(rec)["force balance"].worst < 1e-9 * rec.robot.weight
    assert ff.audit(rec)["moment balance"].worst < 1e-9 * rec.robot.weight
    row = ff.audit(replace(rec, pushes=()))["force balance"]
    assert row.worst == pytest.approx(math.hypot(20.0, 5.0), rel=1e-6)
    assert 0.1 <= row.when < 0.15


def test_rails_bear_what_is_across_them():
    rec = biped("linearizing-penalty", name="planar-biped")
    across = with_force(rec, lambda force: force.__setitem__((..., 1), 5.0))
    assert not {"force balance", "moment balance"} & set(ff.audit(across).failed)
    along = with_force(rec, lambda force: force.__setitem__((..., 0), 5.0))
    assert {"force balance", "moment balance"} <= set(ff.audit(along).failed)


def test_the_angular_momentum_of_a_tumbling_flight_is_known_from_event_to_event():
    """Differences of joint velocities over a period would miss what joints turn by in it, 1 N m here."""
    sim = ff.Simulation("spatial-biped", law="acceleration-complementarity")
    qvel = np.random.default_rng(3).normal(scale=5.0, size=sim.robot.model.nv)
    rec = sim.run(0.02, controller=None, qpos=sim.place() + 2.0 * np.eye(sim.robot.model.nq)[2], qvel=qvel)
    assert ff.audit(rec)["moment balance"].worst < 1e-5 * rec.robot.weight


def test_momentum_is_judged_by_the_mean_forces_where_steps_are_left_out():
    sim = ff.Simulation("brick", law="spring-damper", ground=GROUND)
    qpos = sim.place()
    qpos[2] += 0.05
    row = ff.audit(sim.run(0.3, qpos=qpos, record_dt=5e-3))["force balance"]
    assert row.verdict == "pass" and math.isfinite(row.limit)


def test_momentum_of_a_moving_robot_is_not_known_where_steps_are_left_out():
    """Differences of momentum over many steps of joint coordinates are not those of the forces."""
    sim = ff.Simulation("spatial-biped", law="spring-damper", ground=GROUND)
    rec = sim.run(0.3, controller="posture", qvel=0.3 * np.eye(20)[1], record_dt=5e-3)
    row = ff.audit(rec)["force balance"]
    assert row.verdict == "not known" and row.tolerance < row.worst < row.limit < math.inf


def test_the_balance_holds_with_other_bodies_than_feet_on_the_ground():
    rec = ff.Simulation("spatial-biped").run(1.5, controller=None)  # nobody holds it up
    assert rec.summary()["fell"]
    audit = ff.audit(rec)
    assert audit["force balance"].verdict == audit["moment balance"].verdict == "pass"
    assert np.isfinite(audit.series["force balance"][:-1]).all()
    assert rec.other_points.size and rec.force[:, rec.robot.point_count :].any()


def test_a_normal_that_turns_within_a_step_is_no_friction_and_friction_that_drives_is_still_seen():
    """An event-driven law records means over steps, in which the normal force of a frictionless brick turns."""

    def bumps(x, y):
        return 0.03 * math.sin(5.0 * x)

    def slid(friction):
        sim = ff.Simulation(
            "brick", ground=ff.Ground.function(bumps, friction=friction), law="acceleration-complementarity", dt=1e-3
        )
        return sim.run(0.3, qpos=sim.place((0.1, 0.0)), qvel=[2.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    assert slid(0.0).audit()["friction direction"].verdict == "pass"
    rubbed = slid(0.3)
    assert rubbed.audit()["friction direction"].verdict == "pass"
    driven = replace(rubbed, force=rubbed.force - 2.0 * tangential(rubbed, rubbed.force))
    assert driven.audit()["friction direction"].verdict == "fail"
