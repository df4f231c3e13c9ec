"""Which energy of contacts is the law's, which the step's, and which the audit's own mistake."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bounds import close

import footfall as ff
from footfall.measure.audit_errors import BOTH, _works, error_on_arcs, scales_of_run
from footfall.study.bench.stress import _drawn, chance_robot, rough_grounds


def pressed_into_a_corner(law, dt=1e-3):
    """A ball that rolls against a riser and is pressed to it with three times its weight, for 0.4 s."""
    ball = ff.load_robot("ball")
    ground = ff.Ground.stairs(rise=0.5, run=1.0, start=float(ball.point_radius[0]) + 0.05)
    push = ff.Push("ball", force=(3.0 * ball.weight, 0.0, 0.0), duration=1.0)
    qvel = np.array([0.8, 0.0, 0.0, 0.0, 0.0, 0.0])
    return ff.Simulation(ball, ground=ground, law=law, dt=dt).run(0.4, qvel=qvel, pushes=[push])


@pytest.mark.parametrize("law", ["spring-damper", "hunt-crossley"])
def test_work_of_contacts_is_the_change_of_kinetic_energy_where_the_normal_jumps(law):
    """Semi-implicit Euler changes kinetic energy by impulses times mean velocities, exactly; gravity and push known."""
    rec = pressed_into_a_corner(law)
    jumps = np.einsum("tpi,tpi->t", rec.normal[1:], rec.normal[:-1]) < 0.5
    assert jumps.sum() > 20
    mass, push = rec.robot.mass, 3.0 * rec.robot.weight
    inertia = rec.robot.model.body_inertia[1]
    kinetic = 0.5 * (mass * rec.qvel[:, :3] ** 2 + inertia * rec.qvel[:, 3:] ** 2).sum(axis=1)
    mean = 0.5 * (rec.qvel[:-1, :3] + rec.qvel[1:, :3])
    others = (mean @ (mass * rec.robot.gravity + np.array([push, 0.0, 0.0]))) * np.diff(rec.time)
    normal, friction = _works(rec)
    close((normal + friction).sum(axis=1), np.diff(kinetic) - others, rtol=0.0, atol=1e-12 * kinetic.max())


@pytest.mark.parametrize("law", ["spring-damper", "hunt-crossley"])
def test_a_walk_up_stairs_of_two_centimetres_does_not_fail_for_the_energy_of_normal_forces(law):
    """Round feet buzz between tread and riser at 1 ms: a note at most, and a quarter of the step all but removes it."""
    walked = [
        ff.Simulation("quadruped", ground=ff.Ground.stairs(rise=0.02), law=law, dt=dt).run(
            4.0, controller="quadruped-walk"
        )
        for dt in (1e-3, 2.5e-4)
    ]
    assert not any(rec.summary()["fell"] for rec in walked)
    coarse, fine = (ff.audit(rec)["normal energy"] for rec in walked)
    # Whether they buzz depends on where feet come down at a riser: under one law they may not.
    assert {coarse.verdict, fine.verdict} <= {"pass", "note"}
    assert fine.worst <= 0.5 * coarse.worst
    assert ff.audit(walked[0])["contact energy"].verdict == "pass"


def test_laws_that_prescribe_accelerations_lift_a_load_out_of_the_ground_and_a_spring_does_not():
    """A brick that fell 5 cm is loaded where it is deepest: what it has later and nobody gave it came from the ground.

    The work of the load is its force times the way of the brick, which turns by nothing.
    """
    gained = {}
    for law in ("linearizing-penalty", "mujoco", "spring-damper"):
        sim = ff.Simulation("brick", law=law)
        load, fallen = 50.0 * sim.robot.weight, sim.robot.home + np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 0.0])
        deepest = int(np.argmin(sim.run(0.2, qpos=fallen).qpos[:, 2])) * sim.dt
        push = ff.Push(sim.robot.root, force=(0.0, 0.0, -load), start=deepest, duration=1.0)
        rec = sim.run(0.5, qpos=fallen, pushes=[push])
        loaded = rec.time >= deepest
        energy = ff.measure.energy(rec).mechanical + load * rec.qpos[:, 2]
        gained[law] = float(energy[-1] - energy[loaded][0])
        row = ff.audit(rec)["normal energy"]
        assert row.verdict == ("pass" if law == "spring-damper" else "by design")
    assert min(gained["linearizing-penalty"], gained["mujoco"]) > 0.0 > gained["spring-damper"]


def test_normal_forces_of_a_law_of_events_do_no_work_on_a_point_that_slides_over_curved_ground():
    """Its point follows the ground within a period: the work is not that of one step of semi-implicit Euler."""
    robot, ground = chance_robot(2), rough_grounds()["heightfield"]
    (static, dynamic), starts = _drawn(robot, ground, 4, (0, 17, 3))
    ground = replace(ground, static_friction=static, dynamic_friction=dynamic)
    sim = ff.Simulation(robot, ground=ground, law="acceleration-complementarity", dt=1e-3)
    rec = sim.run(0.03, controller=None, qpos=starts[0].qpos, qvel=starts[0].qvel)
    assert ff.audit(rec)["normal energy"].verdict == "pass"
    assert (rec.force[:, :, 2].max(axis=1) > 1.0).sum() > 20


@pytest.mark.parametrize("law", ["time-stepping", ff.law("constraint-selection", rules="landing")], ids=str)
def test_a_foot_that_lands_while_it_turns_fast_is_pushed_at_the_ground(law):
    """It comes to the ground along a straight line at the speed it has at the end of the step; its true path is an arc,
    which ends 0.1 mm above, and the force of the impact times that is no force at a distance.
    """
    sim = ff.Simulation("brick", law=law, dt=1e-3)
    qpos = sim.place() + 0.05 * np.eye(7)[2]
    rec = sim.run(0.15, qpos=qpos, qvel=[0.0, 0.0, -3.0, 0.0, 30.0, 0.0])
    assert rec.force.any() and ff.audit(rec)["gap times force"].verdict == "pass"


def test_what_a_step_creates_on_the_arcs_of_a_leg_is_the_steps_and_vanishes_with_it():
    """A biped falls over its round feet, which stick: straight steps take them off their arcs, and forces lift."""
    fallen = [ff.Simulation("point-biped", law="time-stepping", dt=dt).run(1.0) for dt in (1e-3, 5e-4)]
    coarse, fine = (ff.audit(rec)["contact energy"] for rec in fallen)
    rounding = 1e-6 * scales_of_run(fallen[0]).energy
    assert coarse.worst > 10.0 * rounding and fine.worst < 0.6 * coarse.worst
    assert coarse.verdict == fine.verdict == "pass"
    slides = ff.Simulation("brick", law="spring-damper").run(0.2, qvel=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert error_on_arcs(slides, BOTH).max() < 0.1 * ff.audit(slides)["contact energy"].tolerance
