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
    "linearizing-penalty": ff.law("linearizing-penalty"),
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
    for law in ("time-stepping", "linearizing-penalty"):
        sim = ff.Simulation(real_robot(name), law=law, body_contacts=False)
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


@pytest.mark.parametrize("law", ["mujoco", "distributed", "constraint-selection"])
def test_other_laws_are_differenced_and_say_so(law):
    world = ff.Simulation("ball", law=law).start(recorded=False)
    world.step(n=20)
    lin = world.linearize()
    assert lin.method == "differences"
    assert lin.why
    assert np.isfinite(lin.A).all()


def test_points_of_one_body_that_bounce_are_differenced():
    world = in_motion(ff.Simulation("brick", law=EXACT["time-stepping, bouncing"]), "landing", 6)
    assert "bounce" in world.linearize().why


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


def test_kinks_tell_of_actuators_at_their_limits():
    sim = ff.Simulation("quadruped", law="time-stepping")
    world = sim.start(recorded=False)
    limit = sim.robot.model.actuator_ctrlrange[0, 1]
    ctrl = sim.robot.home_ctrl.copy()
    ctrl[0] = limit - 1e-3
    lin = world.linearize(ctrl)
    found = [kink for kink in lin.kinks if kink.where == lin.controls[0] and kink.change == "reaches its limit"]
    np.testing.assert_allclose(min(kink.distance for kink in found), 1e-3, rtol=1e-6)


@pytest.mark.parametrize("law", ["time-stepping", "linearizing-penalty"])
def test_forces_have_derivatives_too(law):
    sim = ff.Simulation("quadruped", law=law)
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


@pytest.mark.parametrize("law", ["spring-damper", "lugre", "time-stepping", "linearizing-penalty"])
def test_a_gradient_is_that_of_the_whole_run(law):
    sim = ff.Simulation("quadruped", law=EXACT[law], body_contacts=False)
    nv, nu = sim.robot.model.nv, sim.robot.model.nu
    start = sim.home_on_ground.copy()
    start[2] -= 1e-4  # on the surface itself is a kink
    rec = sim.run(0.02, controller="posture", qpos=start, qvel=np.array([0.3, 0.1, -0.05] + [0.0] * (nv - 3)))
    chance = np.random.default_rng(8)
    weight, dv, du = chance.normal(size=nv), chance.normal(size=nv), chance.normal(size=nu)
    gradient = rec.gradient(lambda time, qpos, qvel, ctrl: float(weight @ qvel) if time > 0.0195 else 0.0)

    def end(faster=0.0, driven=0.0):
        world = sim.start(qpos=rec.qpos[0], qvel=rec.qvel[0] + faster * dv, recorded=False)
        for k, ctrl in enumerate(rec.ctrl[:-1]):
            world.step(ctrl + (driven * du if k == 4 else 0.0))
        return float(weight @ world.qvel)

    # Differences of 20 steps, each solved to 1e-12.
    assert gradient.start[nv:] @ dv == pytest.approx((end(faster=1e-6) - end(faster=-1e-6)) / 2e-6, rel=1e-5)
    assert gradient.ctrl[4] @ du == pytest.approx((end(driven=1e-4) - end(driven=-1e-4)) / 2e-4, rel=1e-5)
    assert gradient.value == pytest.approx(end(), rel=1e-9)
    # Products from the right and from the left are one number.
    along, moved, weights = sim.along(rec), chance.normal(size=rec.ctrl.shape), np.zeros((len(rec), 2 * nv))
    weights[-1, nv:] = weight
    by_start, by_ctrl = along.adjoint(weights)
    tangent = along.tangent(np.concatenate([np.zeros(nv), dv]), moved)
    assert weight @ tangent[-1, nv:] == pytest.approx(by_start[nv:] @ dv + np.sum(by_ctrl * moved), rel=1e-9)


def test_a_derivative_along_a_run_says_what_it_lacks():
    rec = ff.Simulation("ball", law="mujoco").run(0.01)
    with pytest.raises(ff.FootfallError, match="no exact derivative along the run: MuJoCo"):
        rec.gradient(lambda time, qpos, qvel, ctrl: float(qpos[0]))
    sim = ff.Simulation("ball", law="time-stepping")
    with pytest.raises(ff.FootfallError, match="every step recorded"):
        sim.along(sim.run(0.01, record_dt=0.002))
    with pytest.raises(ff.FootfallError, match=r"weights has shape \(3,\)"):
        sim.along(sim.run(0.01)).adjoint(np.zeros(3))


@pytest.mark.parametrize("law", ["time-stepping", "linearizing-penalty"])
def test_smoothing_is_a_compliance_that_vanishes_with_its_size(law):
    sim = ff.Simulation("ball", law=law)
    world = sim.start(recorded=False)
    world.qpos[2] -= 1e-4
    world.qvel[2] = -0.01
    lin, dt = world.linearize(), sim.dt
    far = [np.abs(world.linearize(smoothing=soft).A - lin.A).max() for soft in (1e-12, 1e-13)]
    assert far[1] < 0.2 * far[0] < 1e-3  # linear in it
    # A point mass m that presses by f gives way by g = s ((2 s W) / (R - z))^2 / dt^i per force, z = -s f: so of a
    # vertical motion 1 / (1 + dt / (m g)) is stopped, where rigid contact stops all of it.
    soft, down = 1e-6, sim.robot.model.nv + 2
    press = float(lin.seen["force"][0, 2])
    units = dt if law == "time-stepping" else dt * dt
    stiff, weight, mass = soft / units, sim.robot.weight, sim.robot.mass
    root = np.hypot(stiff * press, 2.0 * stiff * weight)
    give = stiff * (2.0 * stiff * weight / (root + stiff * press)) ** 2
    kept = give / (give + dt / mass) if law == "time-stepping" else None
    if kept is not None:
        assert world.linearize(smoothing=soft).A[down, down] == pytest.approx(kept, rel=1e-6)
    assert "softened by 1e-06 m/N" in repr(world.linearize(smoothing=soft))


def test_smoothing_sees_a_point_that_is_about_to_touch():
    sim = ff.Simulation("ball", law="time-stepping")
    world = sim.start(recorded=False)
    world.qpos[2] += 2.0 * sim.dt * sim.dt * 9.81  # it does not reach the ground in this step
    down = sim.robot.model.nv + 2
    assert world.linearize().A[down, down] == 1.0
    assert 0.0 < world.linearize(smoothing=1e-6).A[down, down] < 1.0
    with pytest.raises(ff.FootfallError, match="smoothing = 1e-06"):
        ff.Simulation("ball", law="spring-damper").start().linearize(smoothing=1e-6)


def test_many_worlds_have_the_derivatives_of_each():
    sim = ff.Simulation("quadruped", law="time-stepping")
    worlds = ff.Worlds(sim, 3)
    worlds.qvel[:, 0] = (0.0, 0.2, 0.4)
    worlds.step(n=5)
    for w, lin in enumerate(worlds.linearize()):
        np.testing.assert_array_equal(lin.A, sim.linearize(worlds.state(w)).A)
    with pytest.raises(ff.FootfallError, match="own friction"):
        ff.Worlds(sim, 2, friction=[0.3, 0.5]).linearize()
