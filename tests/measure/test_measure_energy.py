"""Energy and work, against closed forms and MuJoCo stepped by hand."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from blank_recordings import DT, blank, stepped

from footfall import measure
from footfall.ground import Ground
from footfall.robot import load_robot

TIGHT = 1e-9  # rounding of a few hundred N and m of order 1, with room


def test_a_ball_in_flight_keeps_its_energy(ball):
    t = DT * np.arange(100)
    qvel = np.zeros((100, 6))
    qvel[:, 2] = 3.0 - 9.81 * t
    qvel[:, 4] = 5.0
    qpos = np.column_stack([0 * t, 0 * t, 1 + 3.0 * t - 4.905 * t**2, np.ones(100), np.zeros((100, 3))])
    energy = measure.energy(blank(ball, 100, qpos=qpos, qvel=qvel))
    assert energy.kinetic[0] == pytest.approx(0.5 * 9.0 + 0.5 * 0.004 * 25.0)
    assert energy.potential[0] == pytest.approx(9.81)
    assert energy.mechanical == pytest.approx(np.full(100, energy.mechanical[0]))
    assert energy.dissipated == pytest.approx(np.zeros(100), abs=TIGHT)


def test_an_impact_within_a_step_takes_the_energy_that_is_missing(ball):
    qvel = np.zeros((3, 6))
    qvel[:, 2] = [-2.0, 1.0, 1.0]
    force = np.zeros((3, 1, 3))
    force[0, 0, 2] = 3.0 / DT
    energy = measure.energy(blank(ball, 3, qvel=qvel, velocity=qvel[:, None, :3], force=force))
    assert energy.contact_work == pytest.approx([0.0, -1.5, -1.5])
    assert energy.kinetic[1] - energy.kinetic[0] == pytest.approx(-1.5)
    assert energy.dissipated[-1] == pytest.approx(1.5)


def test_motors_put_in_torque_times_speed(biped):
    rng = np.random.default_rng(0)
    ctrl, qvel = rng.normal(size=(5, 14)), rng.normal(size=(5, 20))
    rec = blank(biped, ctrl=ctrl, qvel=qvel)
    torque = measure.joint_torques(rec)
    dof = [biped.model.joint(name).dofadr[0] for name in biped.actuated]
    gear = biped.model.actuator_gear[:, 0]
    assert torque[:, dof] == pytest.approx(ctrl * gear)
    assert torque[:, :6] == pytest.approx(np.zeros((5, 6)))
    assert measure.actuation(rec).power == pytest.approx(ctrl * gear * qvel[:, dof])


def test_work_and_energy_balance_in_a_wild_motion(biped):
    """All forces act on points of bodies, so their work is the change of energy, to first order in dt."""
    rec = stepped(biped, Ground.plane(), samples=100, flight=range(100))
    energy = measure.energy(rec)
    scale = np.abs(np.diff(energy.kinetic)).sum()
    assert np.abs(energy.dissipated).max() < 0.02 * scale


def test_cost_of_transport_is_work_per_weight_and_way():
    xml = """<mujoco><worldbody><body name="cart" pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/>
      <geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody>
      <actuator><motor joint="x" ctrlrange="-100 100"/></actuator></mujoco>"""
    robot = load_robot(mujoco.MjModel.from_xml_string(xml))
    t = DT * np.arange(1001)
    ctrl = np.where(t < 0.5, 3.0, -1.0)[:, None]
    rec = blank(robot, 1001, ctrl=ctrl, qvel=np.full((1001, 1), 0.5), qpos=0.5 * t[:, None])
    weight_way = 2.0 * 9.81 * 0.5
    assert measure.cost_of_transport(rec) == pytest.approx(3.0 * 0.25 / weight_way)
    assert math.isnan(measure.cost_of_transport(blank(robot)))


def test_actuators_with_a_state_are_integrated_anew():
    xml = """<mujoco><worldbody><body name="cart" pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/>
      <geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody>
      <actuator><general joint="x" dyntype="integrator" actlimited="true" actrange="0 0.05"/></actuator>
      </mujoco>"""
    robot = load_robot(mujoco.MjModel.from_xml_string(xml))
    rec = blank(robot, 101, ctrl=np.ones((101, 1)))
    assert measure.joint_torques(rec)[:, 0] == pytest.approx(np.minimum(DT * np.arange(101), 0.05))
