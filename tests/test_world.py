"""One world, stepped: the same as a run, and it goes on from any of its states bit for bit."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.control import Balance, QuadrupedWalk, Walk

LAWS = ff.laws()


def pushed(law: str) -> tuple[ff.Simulation, dict]:
    """A brick that slides and tips on a slope."""
    sim = ff.Simulation("brick", law=law, ground=ff.Ground.slope(0.2, friction=0.5))
    return sim, dict(qpos=sim.place(align=True), qvel=[0.3, 0.1, 0, 0, 0, 0.5])


@pytest.mark.parametrize("law", LAWS)
def test_steps_are_the_run(law):
    sim, start = pushed(law)
    rec = sim.run(0.1, controller=None, **start)
    world = sim.start(**start)
    world.step()
    world.step(n=59)
    world.step(n=40)
    np.testing.assert_array_equal(world.qpos, rec.qpos[-1])
    np.testing.assert_array_equal(world.record().qpos, rec.qpos[:-1])
    assert world.time == pytest.approx(0.1) and world.status == 0


@pytest.mark.parametrize("law", LAWS)
def test_a_state_goes_on_bit_for_bit(law):
    sim, start = pushed(law)
    world = sim.start(**start)
    world.step(n=50)
    state = world.state()
    world.step(n=50)
    end = world.qpos.copy()
    world.restore(state)
    assert world.time == pytest.approx(0.05)
    world.step(n=50)
    np.testing.assert_array_equal(world.qpos, end)
    other = sim.run(0.05, controller=None, start=state)
    np.testing.assert_array_equal(other.qpos[-1], end)
    assert other.time[0] == pytest.approx(0.05) and len(other.time) == 51
    again = sim.run(0.1, controller=None, **start).state(0.05)
    np.testing.assert_array_equal(sim.run(0.05, controller=None, start=again).qpos[-1], end)


@pytest.mark.parametrize("law", LAWS)
def test_a_world_shows_the_points_forces_and_places_that_it_records(law):
    sim, start = pushed(law)
    world = sim.start(**start)
    world.step(n=10)
    rec, points = world.record(), sim.robot.point_count
    np.testing.assert_array_equal(world.force, rec.force[-1, :points])
    # from event to event they are somewhere in the last period: as far as the point moves in it
    off = 2.0 * sim.dt * np.abs(rec.velocity[-1, :points]).max() if sim.law.event_driven else 0.0
    np.testing.assert_allclose(world.position, rec.position[-1, :points], rtol=0, atol=off)
    np.testing.assert_allclose(world.gap, rec.gap[-1, :points], rtol=0, atol=off)


def test_a_recording_of_a_world_stays_as_it_is_while_the_world_goes_on():
    """Its last sample is a mean over two steps, of which the world had taken one."""
    world = ff.Simulation("ball", law="spring-damper", dt=1e-3).start(record_dt=2e-3, qvel=[0, 0, -1, 0, 0, 0])
    world.step(n=141)
    rec = world.record()
    force = rec.force.copy()
    world.step(n=10)
    np.testing.assert_array_equal(rec.force, force)


def test_a_brick_at_rest_on_a_slope_does_not_jump_when_it_goes_on():
    sim = ff.Simulation("brick", law="spring-damper", ground=ff.Ground.slope(0.3, friction=0.9))
    world = sim.start(qpos=sim.place(align=True))
    world.step(n=500)
    state, before = world.state(), world.qpos.copy()
    on = sim.run(0.1, start=state)
    assert np.abs(on.qpos[:, :3] - before[:3]).max() < 1e-6  # the spring keeps its load
    bare = sim.run(0.1, qpos=before, qvel=world.qvel)
    assert np.abs(bare.qpos[:, :3] - before[:3]).max() > 1e-4  # without its anchors it must find it again


def test_controls_act_and_a_failure_is_a_value():
    sim = ff.Simulation("spatial-biped", law="spring-damper")
    world = sim.start(recorded=False)
    world.step(np.full(14, 3.0), n=10)
    assert np.abs(world.qvel).max() > 0.01
    world.qvel[8] = 1e9
    with pytest.warns(ff.FootfallWarning, match="diverged"):
        world.step(n=5)
    assert world.status != 0 and world.failure is not None and world.failure.cause == "diverged"
    world.step()  # nothing more happens


def test_what_does_not_fit_is_refused():
    sim, start = pushed("spring-damper")
    state = sim.start(**start).state()
    with pytest.raises(ff.FootfallError, match="does not fit"):
        ff.Simulation("brick", law="hunt-crossley").run(0.1, start=state)
    with pytest.raises(ff.FootfallError, match="shape"):
        sim.start().step([1.0, 2.0])
    with pytest.raises(ff.FootfallError, match="recorded=False"):
        sim.start(recorded=False).record()


@pytest.mark.parametrize(
    ("robot", "controller"),
    [
        ("spatial-biped", Balance()),
        ("spatial-biped", Walk(start_time=0.2)),
        ("quadruped", QuadrupedWalk(speed=0.3, start_time=0.2)),
    ],
    ids=["balance", "walk", "quadruped-walk"],
)
def test_a_controller_in_compiled_code_goes_on_bit_for_bit(robot, controller):
    """Saved in the midst of a step, with a push before and after: the plan, the swing and the warnings are kept."""
    sim = ff.Simulation(robot, law="time-stepping")
    pushes = [ff.Push("trunk", force=(0.0, 60.0, 0.0), start=at, duration=0.05) for at in (0.3, 0.6)]
    world = sim.start(controller=controller, pushes=pushes)
    world.step(n=450)
    state = world.state()
    world.step(n=400)
    end, warnings = world.qpos.copy(), world.record().info["warnings"]
    world.restore(state)
    world.step(n=400)
    np.testing.assert_array_equal(world.qpos, end)
    assert world.record().info["warnings"] == warnings
    np.testing.assert_array_equal(sim.run(0.4, start=state, controller=controller, pushes=pushes).qpos[-1], end)
    run = sim.run(0.85, controller=controller, pushes=pushes)
    np.testing.assert_array_equal(run.qpos[-1], end)
    # another controller begins where the state is
    assert sim.run(0.1, start=state, controller="posture").failure is None
    with pytest.raises(ff.FootfallError, match="set by its controller"):
        world.step(world.ctrl)


LEG = """<body name="leg{0}" pos="{0} 0 -.05"><joint axis="0 1 0" damping=".1"/>
<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".3"/></body>"""
SCISSORS = f"""<mujoco><worldbody><body name="trunk" pos="0 0 .4"><freejoint/>
<geom type="box" size=".1 .1 .05" mass="2"/>
{LEG.format(0.04)}{LEG.format(-0.04)}</body></worldbody></mujoco>"""


def test_what_a_world_knows_of_how_far_bodies_are_apart_goes_with_its_state():
    """From event to event it decides whether a period is taken in one piece: rounding would differ without it."""
    robot = ff.load_robot(mujoco.MjSpec.from_string(SCISSORS))
    sim = ff.Simulation(robot, law="acceleration-complementarity")
    world = sim.start(qvel=np.random.default_rng(0).normal(scale=0.5, size=sim.robot.model.nv))
    clearance = world._run.conditions.clearance
    world.step(n=20)
    state, known = world.state(), [np.array(one) for one in (clearance.place, clearance.room, clearance.looks)]
    world.step(n=40)
    there = world.qpos.copy()
    assert not np.array_equal(clearance.place, known[0])
    world.restore(state)
    for own, was in zip((clearance.place, clearance.room, clearance.looks), known, strict=True):
        assert np.array_equal(own, was)
    world.step(n=40)
    assert np.array_equal(world.qpos, there)
    assert np.array_equal(sim.run(0.04, start=state).qpos[-1], there)
