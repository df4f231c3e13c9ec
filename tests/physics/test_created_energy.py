"""A run that creates energy beyond all reason has failed, and says so; one that is pushed, driven or falls has not."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import footfall as ff


def test_a_law_that_throws_a_ball_ever_higher_fails_the_run():
    @ff.point_law("trampoline", k=2e4)
    def law(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return parameters.k * depth * (4.0 if depth_rate < 0.0 else 1.0)

    sim = ff.Simulation("ball", law="trampoline")
    qpos = sim.robot.home.copy()
    qpos[2] += 0.1
    with pytest.warns(ff.FootfallWarning, match=r"energy from nowhere: at t = .* s ball moves with .* J, and all"):
        rec = sim.run(3.0, qpos=qpos)
    assert rec.failure.cause == "energy" and rec.duration == pytest.approx(3.0)
    kinetic = ff.measure.energy(rec).kinetic
    assert kinetic[rec.time < rec.failure.time].max() < kinetic.max()


@pytest.mark.parametrize("law", ["distributed", "time-stepping", "mujoco"])
def test_falls_pushes_and_motors_are_reasons(law):
    sim = ff.Simulation("ball", law=law)
    qpos = sim.robot.home.copy()
    qpos[2] += 5.0  # fifty times its size
    assert sim.run(1.2, qpos=qpos).failure is None
    hard = ff.Push(mujoco.mj_id2name(sim.robot.model, mujoco.mjtObj.mjOBJ_BODY, 1), force=(500.0, 0.0, 0.0))
    rec = sim.run(0.5, pushes=hard)
    assert np.abs(rec.qvel).max() > 5.0 and rec.failure is None


def test_more_steps_than_a_record_can_hold_are_refused():
    with pytest.raises(ff.FootfallError, match=r"1e\+12 samples of \d+ bytes"):
        ff.Simulation("ball").start().step(n=10**12)


def light_leg(law) -> ff.Simulation:
    """A trunk on a foot of 9 g that strikes the ground, under a law too stiff for its step."""
    sole = '<geom type="box" size=".1 .05 .01" mass=".009"/>'
    foot = f'<body name="foot" pos="0 0 -.2"><joint name="ankle" axis="0 1 0"/>{sole}'
    trunk = f'<freejoint/><geom type="box" size=".1 .1 .1" mass="5" contype="0" conaffinity="0"/>{foot}</body>'
    model = f'<mujoco><worldbody><body name="trunk" pos="0 0 .5">{trunk}</body></worldbody></mujoco>'
    return ff.Simulation(ff.load_robot(mujoco.MjSpec.from_string(model)), law=law, dt=1e-3)


@pytest.mark.filterwarnings("ignore:.* is unstable in steps of")
def test_a_run_a_world_and_worlds_end_in_the_step_that_creates_energy():
    sim = light_leg(ff.law("spring-damper", k=1e8, c=1e3))
    thrown = {"qvel": np.array([0.0, 0.0, -2.0, 0.0, 1.0, 0.0, 5.0])}
    with pytest.warns(ff.FootfallWarning, match="energy from nowhere: the step at"):
        rec = sim.run(0.5, **thrown)
    world = sim.start(**thrown)
    with pytest.warns(ff.FootfallWarning, match="energy from nowhere: the step at"):
        for _ in range(500):
            world.step()
    worlds = ff.Worlds(sim, 2, fall=0.0, **thrown)
    worlds.step(n=500)
    assert rec.failure == world.failure and rec.failure.cause == "energy" and rec.failure.joint == "ankle"
    assert world.status == 4 and list(worlds.status) == [4, 4]
    assert worlds.failure[1].cause == "energy" and worlds.failure[1].time == pytest.approx(rec.failure.time, abs=1e-9)
    assert ff.measure.energy(rec).kinetic.max() < 10.0 * (ff.measure.energy(rec).kinetic[0] + sim.robot.weight)


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_a_blow_and_a_motor_within_one_step_are_reasons(many):
    sim = ff.Simulation("ball", law="time-stepping")
    blow = ff.Push(sim.robot.root, force=(2e5, 0.0, 0.0), duration=sim.dt)
    start = ff.Worlds(sim, 2, pushes=[blow], fall=0.0) if many else sim.start(pushes=[blow])
    start.step(n=3)
    assert not np.any(start.status) and np.all(np.asarray(start.qvel)[..., 0] > 50.0)
