"""The derivative of a step is the limit of differences of that step, under every law, and says where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives import MOTIONS, along_parameters, extrapolated, in_motion, miss_of
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


def distance_of_kinks(sim: ff.Simulation, seed: int) -> float:
    """Share of its size by which the nearest kink is away: a sole about to slide or to lift a corner has a derivative
    on each side, and differences of a step see both.
    """
    return min((kink.share for kink in in_motion(sim, "standing", seed).linearize().kinks), default=1.0)


@every_exact_law
@pytest.mark.parametrize("motion", MOTIONS)
def test_it_is_the_limit_of_differences(law, motion):
    check(ff.Simulation("quadruped", law=law), motion, 1)


@pytest.mark.parametrize("robot", [name for name in ff.robots() if name != "quadruped"])
def test_every_built_in_robot_has_it(robot):
    for law in ("hunt-crossley", "time-stepping"):
        sim = ff.Simulation(robot, law=law)
        check(sim, "standing", max(range(2, 8), key=lambda seed: distance_of_kinks(sim, seed)))


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


#: What a step is differentiated by beside its state, all of it at once.
PARAMETERS = ("friction", "slope", "masses", "law")


def with_numbers(sim: ff.Simulation) -> ff.Simulation:
    """The same with what its law derived for the robot as given, so that no option follows another."""
    values = sim.law.resolve(sim.setting)
    found = {name: getattr(values, name, None) for name, given in sim.law.options().items() if given is None}
    law = sim.law.replace(**{name: value for name, value in found.items() if value})
    return ff.Simulation(sim.robot, law=law, ground=sim.ground, dt=sim.dt, body_contacts=False)


def check_parameters(sim: ff.Simulation, motion: str, seed: int) -> None:
    sim = with_numbers(sim)
    world = in_motion(sim, motion, seed)
    lin, chance = world.linearize(to=PARAMETERS), np.random.default_rng(seed)
    assert lin.method == "exact"
    assert lin.P.shape == (len(lin.A), len(lin.parameters))
    direction = chance.normal(size=len(lin.parameters))
    for i, name in enumerate(lin.parameters):
        if name.startswith("mass of "):
            direction[i] *= sim.robot.model.body(name.removeprefix("mass of ")).mass[0]
        elif name.startswith("law."):
            direction[i] *= getattr(sim.law, name.removeprefix("law."))
    found, (wanted, error) = lin.P @ direction, along_parameters(world, lin.parameters, direction)
    assert np.abs(found - wanted).max() < CLOSE * np.abs(wanted).max() + 3.0 * error, (motion, lin.kinks[:3])


@every_exact_law
@pytest.mark.parametrize("motion", ["standing", "sliding"])
def test_parameters_have_the_limit_of_differences(law, motion):
    ground = ff.Ground.slope(0.05, heading=0.4, friction=0.5)
    check_parameters(ff.Simulation("quadruped", law=law, ground=ground), motion, 9)


@pytest.mark.parametrize("name", ["g1", "go1"])
def test_parameters_of_real_robots_have_it(name):
    for law in ("spring-damper", "time-stepping"):
        sim = ff.Simulation(real_robot(name), law=law, ground=ff.Ground.slope(0.0), body_contacts=False)
        check_parameters(sim, "landing", 10)


def test_parameters_of_a_sliding_brick_are_those_of_a_closed_form():
    angle, mu = 0.3, 0.2
    sim = ff.Simulation("brick", law="time-stepping", ground=ff.Ground.slope(angle, friction=mu))
    world = sim.start(qpos=sim.place(align=True), recorded=False)
    world.qvel[:3] = -0.5 * np.cos(angle), 0.0, -0.5 * np.sin(angle)
    lin = world.linearize(to=("friction", "masses"))
    # Downhill it gains g (sin - mu cos) dt, whatever it weighs.
    nv, (friction, mass) = sim.robot.model.nv, lin.P.T
    gained = np.array([-np.cos(angle), 0.0, -np.sin(angle)]) @ friction[nv : nv + 3]
    assert gained == pytest.approx(-9.81 * np.cos(angle) * sim.dt, rel=1e-6)
    np.testing.assert_allclose(mass[nv : nv + 3], 0.0, atol=1e-8)
    # What carries it is its weight across the slope, in proportion to its mass.
    carried = lin.force[:, :, -1].sum(axis=0) @ np.array([-np.sin(angle), 0.0, np.cos(angle)])
    assert carried == pytest.approx(9.81 * np.cos(angle), rel=1e-6)


@pytest.mark.parametrize("law", ["spring-damper", "time-stepping"])
def test_places_of_points_have_the_limit_of_differences(law):
    sim = with_numbers(ff.Simulation("spatial-biped", law=law))
    world = in_motion(sim, "sliding", 3)
    lin, ctrl, feet = (
        world.linearize(to="points"),
        world.ctrl.copy(),
        {foot.name: foot.points for foot in sim.robot.feet},
    )
    longer = {name: points * (1.0, 0.5, 0.2) for name, points in feet.items()}
    slopes = []
    for width in 1e-3 / 4.0 ** np.arange(6):
        ends = []
        for sign in (1.0, -1.0):
            robot = sim.robot.with_points({name: feet[name] + sign * width * longer[name] for name in feet})
            other = ff.Simulation(robot, law=sim.law, dt=sim.dt, body_contacts=False)
            moved = other.start(qpos=world.qpos, qvel=world.qvel, recorded=False)
            moved.step(ctrl)
            ends.append(np.concatenate([moved.qvel, moved.force.sum(axis=0)]))
        slopes.append((ends[0] - ends[1]) / (2.0 * width))
    wanted, error = extrapolated(slopes)
    direction = np.concatenate([longer[name].ravel() for name in feet])
    found = np.concatenate(
        [(lin.P @ direction)[-len(world.qvel) :], lin.force[:, :, -len(direction) :].sum(0) @ direction]
    )
    assert np.abs(found - wanted).max() < CLOSE * np.abs(wanted).max() + 3.0 * error


def test_a_parameter_that_is_not_one_is_refused():
    world = ff.Simulation("ball", law="time-stepping", ground=ff.Ground.stairs(rise=0.1, run=0.3, count=2)).start()
    with pytest.raises(
        ff.FootfallError, match=r"no derivative to 'mases' \(did you mean 'masses'\?\): there are friction"
    ):
        world.linearize(to="mases")
    with pytest.raises(ff.FootfallError, match="the slope of a plane, not to that of a stairs"):
        world.linearize(to="slope")
    with pytest.raises(ff.FootfallError, match="must be exact, and this step has none: MuJoCo"):
        ff.Simulation("ball", law="mujoco").start().linearize(to="friction")


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


@pytest.mark.parametrize("law", ["spring-damper", "lugre", "time-stepping"])
def test_a_gradient_by_parameters_is_that_of_the_whole_run(law):
    ground = ff.Ground.slope(0.1, heading=0.3, friction=0.3)
    sim = ff.Simulation("quadruped", law=EXACT[law], ground=ground, body_contacts=False)
    nv, to = sim.robot.model.nv, ("friction", "slope", "mass of trunk")
    start = sim.home_on_ground.copy()
    start[2] -= 2e-4
    rec = sim.run(0.02, controller="posture", qpos=start, qvel=np.array([0.6, 0.1, -0.05] + [0.0] * (nv - 3)))
    weight = np.random.default_rng(8).normal(size=nv)
    gradient = rec.gradient(lambda time, qpos, qvel, ctrl: float(weight @ qvel) if time > 0.0195 else 0.0, to=to)
    width, mass = 1e-6, sim.robot.model.body("trunk").mass[0]
    scale = np.ones((6, sim.robot.model.nbody))
    scale[4:, sim.robot.model.body("trunk").id] += np.array([width, -width]) / mass
    worlds = ff.Worlds(
        sim,
        6,
        qpos=rec.qpos[0],
        qvel=rec.qvel[0],
        friction=np.array([0.3 + width, 0.3 - width, 0.3, 0.3, 0.3, 0.3]),
        ground=[ff.Ground.slope(0.1 + more, heading=0.3, friction=0.3) for more in (0, 0, width, -width, 0, 0)],
        mass_scale=scale,
    )
    for ctrl in rec.ctrl[:-1]:
        worlds.step(ctrl)
    ends = worlds.qvel @ weight
    wanted = dict(zip(to, (ends[::2] - ends[1::2]) / (2.0 * width), strict=True))
    assert gradient.parameters == pytest.approx(wanted, rel=1e-5)  # differences of 20 steps, each solved to 1e-12
    along = sim.along(rec, to=to)
    tangent = along.tangent(parameters={"slope": 1.0})
    assert weight @ tangent[-1, nv:] == pytest.approx(gradient.parameters["slope"], rel=1e-7)  # the loss is differenced
    with pytest.raises(ff.FootfallError, match="'mass of moon' is not among the parameters"):
        along.tangent(parameters={"mass of moon": 1.0})


def test_a_derivative_along_a_run_says_what_it_lacks():
    rec = ff.Simulation("ball", law="mujoco").run(0.01)
    with pytest.raises(ff.FootfallError, match="no exact derivative along the run: MuJoCo"):
        rec.gradient(lambda time, qpos, qvel, ctrl: float(qpos[0]))
    sim = ff.Simulation("ball", law="time-stepping")
    with pytest.raises(ff.FootfallError, match="every step recorded"):
        sim.along(sim.run(0.01, record_dt=0.002))
    with pytest.raises(ff.FootfallError, match=r"weights has shape \(3,\)"):
        sim.along(sim.run(0.01)).adjoint(np.zeros(3))
    with pytest.raises(ff.FootfallError, match="the loss returned None at t = 0 s, and must return a number"):
        sim.run(0.01).gradient(lambda time, qpos, qvel, ctrl: None)


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
