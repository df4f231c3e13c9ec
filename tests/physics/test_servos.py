"""Servos whose damping would end a motion within a step, as a model has them that MuJoCo integrates implicitly."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from physics.laws import every_law

import footfall as ff

STIFF, DAMPED = 400.0, 100.0  # N m/rad, N m s/rad: a shank of 0.013 kg m2 stops within an eighth of a step


def stiff_quadruped(integrator: str) -> ff.Robot:
    """The quadruped on position servos, as its makers would integrate it."""
    quadruped = ff.load_robot("quadruped")
    spec = mujoco.MjSpec.from_string(quadruped.mjcf)
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    for actuator in spec.actuators:
        actuator.set_to_position(kp=STIFF, kv=DAMPED)
        actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
    return ff.load_robot(spec, pose=quadruped.home)


@every_law
def test_a_robot_stands_on_servos_that_damp_a_motion_within_a_step(law):
    """Its weight to what is left of the swing after a second; explicit damping of such servos shakes it apart."""
    robot = stiff_quadruped("IMPLICITFAST")
    rec = ff.Simulation(robot, law=law, dt=1e-3).run(1.0).check()
    assert rec.audit().passed
    assert np.abs(rec.qvel[500:, 6:]).max() < 0.05
    assert abs(rec.total_force[500:, 2].mean() / robot.weight - 1.0) < 1e-3


def test_explicit_damping_of_the_same_servos_is_unstable():
    sim = ff.Simulation(stiff_quadruped("EULER"), law="time-stepping", dt=1e-3)
    with pytest.warns(ff.FootfallWarning, match="diverged at t = "):
        rec = sim.run(0.2)
    assert np.abs(rec.qvel[-50:, 6:]).max() > 1.0
