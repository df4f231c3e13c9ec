"""The derivative of a step is the limit of differences of that step, under every law, and says where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives import MOTIONS, in_motion, miss_of
from real_robots import real_robot

import footfall as ff

#: Relative, of a derivative along a direction: what differences of a step solved to 1e-12 can tell.
CLOSE = 1e-6
EXACT = {
    "spring-damper": ff.law("spring-damper"),
    "lugre": ff.law("spring-damper", friction="lugre"),
    "hunt-crossley": ff.law("hunt-crossley"),
    "time-stepping": ff.law("time-stepping"),
    "time-stepping, bouncing": ff.law("time-stepping", restitution=0.4),
}
every_exact_law = pytest.mark.parametrize("law", EXACT.values(), ids=list(EXACT))


def check(sim: ff.Simulation, motion: str, seed: int) -> None:
    world = in_motion(sim, motion, seed)
    lin = world.linearize()
    assert lin.method == "exact", lin.why
    miss, error = miss_of(world, lin, seed)
    # Where differences disagree among themselves, a kink is nearer than they are wide, and the answer names it.
    assert miss < CLOSE + 3.0 * error, (motion, miss, error, lin.kinks[:3])
    assert error < CLOSE or lin.kinks[0].share < 0.1, (motion, error, lin.kinks[:3])


@every_exact_law
@pytest.mark.parametrize("motion", MOTIONS)
def test_it_is_the_limit_of_differences(law, motion):
    check(ff.Simulation("quadruped", law=law), motion, 1)


@pytest.mark.parametrize("robot", [name for name in ff.robots() if name != "quadruped"])
def test_every_built_in_robot_has_it(robot):
    for law in ("hunt-crossley", "time-stepping"):
        check(ff.Simulation(robot, law=law), "standing", 2)


@pytest.mark.parametrize("name", ["g1", "go1", "op3"])
def test_real_robots_have_it(name):
    sim = ff.Simulation(real_robot(name), law="time-stepping", body_contacts=False)
    for motion in ("standing", "sliding"):
        check(sim, motion, 3)


def test_a_slope_and_a_push_are_in_it():
    push = ff.Push("trunk", force=(40.0, 10.0, 0.0), torque=(1.0, 2.0, 0.0), duration=1.0)
    sim = ff.Simulation("quadruped", ground=ff.Ground.slope(0.1), law="spring-damper")
    world = sim.start(pushes=push, recorded=False)
    world.step(n=30)
    lin = world.linearize()
    miss, _ = miss_of(world, lin, 4)
    assert lin.method == "exact"
    assert miss < CLOSE


def test_a_ball_in_flight_has_the_derivative_of_a_parabola():
    sim = ff.Simulation("ball", law="time-stepping")
    world = sim.start(recorded=False)
    world.qpos[2] += 1.0
    world.qvel[3:] = 0.0
    lin = world.linearize()
    nv = sim.robot.model.nv
    eye = np.eye(nv)
    np.testing.assert_allclose(lin.A, np.block([[eye, sim.dt * eye], [0.0 * eye, eye]]), atol=1e-12)


@pytest.mark.parametrize("law", ["mujoco", "distributed", "constraint-selection", "linearizing-penalty"])
def test_other_laws_are_differenced_and_say_so(law):
    world = ff.Simulation("ball", law=law).start(recorded=False)
    world.step(n=20)
    lin = world.linearize()
    assert lin.method == "differences"
    assert lin.why
    assert np.isfinite(lin.A).all()


def test_a_law_of_events_is_refused():
    sim = ff.Simulation("ball", law="acceleration-complementarity")
    with pytest.raises(ff.FootfallError, match="from event to event"):
        sim.start().linearize()


def test_all_doors_lead_to_the_same_derivative():
    sim = ff.Simulation("quadruped", law="time-stepping")
    rec = sim.run(0.05, controller="posture")
    ctrl = rec.ctrl[20]
    of_state = sim.linearize(rec.state(0.02), ctrl)
    world = sim.start()
    world.restore(rec.state(0.02))
    before = world.state()
    of_world = world.linearize(ctrl)
    np.testing.assert_array_equal(of_state.A, of_world.A)
    np.testing.assert_array_equal(rec.linearize(0.02).B, of_world.B)
    np.testing.assert_array_equal(world.qpos, sim.start().qpos if before.step == 0 else world.qpos)
    assert world.time == before.time
    assert "\n" not in repr(of_world)
    assert len(of_world.states) == len(of_world.A)
    assert len(of_world.controls) == of_world.B.shape[1]


def test_kinks_tell_what_comes_next():
    sim = ff.Simulation("brick", law="time-stepping", ground=ff.Ground.plane(friction=0.5))
    world = sim.start(recorded=False)
    world.step(n=5)
    lin = world.linearize()
    assert {"opens", "slides", "enters"} <= {kink.change for kink in lin.kinks}
    # A brick that rests on the ground is at the kink between above and inside it.
    assert {kink.change for kink in lin.one_sided} == {"enters"}
    world.qvel[0] = 1.0
    slides = [kink for kink in world.linearize().kinks if kink.change == "sticks"]
    # What is left of its speed after a step of friction.
    np.testing.assert_allclose([kink.distance for kink in slides], 1.0 - 0.5 * 9.81 * sim.dt, rtol=1e-3)


def test_forces_have_derivatives_too():
    sim = ff.Simulation("quadruped", law="time-stepping")
    world = in_motion(sim, "standing", 5)
    start, ctrl = world.state(), world.ctrl.copy()
    lin = world.linearize()
    column, width = 2 * sim.robot.model.nv + 3, 1e-3
    found = []
    for sign in (1.0, -1.0):
        world.restore(start)
        moved = ctrl.copy()
        moved[3] += sign * width
        world.step(moved)
        found.append(world.force.copy())
    wanted = (found[0] - found[1]) / (2.0 * width)
    np.testing.assert_allclose(lin.force[:, :, column], wanted, atol=1e-6 * np.abs(wanted).max())
