"""Macro steps, predicted from the history of the motion and corrected: as accurate as they claim."""

from __future__ import annotations

import numpy as np
import pytest
from plain_python import plainly

import footfall as ff
from footfall.engine.events.dormand_prince import STAGES, WEIGHTS
from footfall.engine.events.flow import make_flow
from footfall.engine.events.macro_step import INTEGRAL, ORDER, differ
from footfall.solve.contacts import SLIDE

LAW = "acceleration-complementarity"


def flow():
    """The state of the integration of a ball."""
    return make_flow(ff.load_robot("ball").model, 1, 1, 1e-3, ff.law("acceleration-complementarity"), ff.Ground.plane())


@pytest.mark.parametrize("power", range(ORDER + 1))
def test_differences_at_the_end_of_a_macro_step_have_the_integral_of_every_polynomial(power):
    """Of accelerations t^power at 1 to -6 macro steps: the integral from 0 to 1."""
    values = (1.0 - np.arange(ORDER + 1)) ** power
    plainly(differ)(values, ORDER + 1)
    exact = 1.0 / (power + 1)
    np.testing.assert_allclose(INTEGRAL[:-1] @ values, exact, atol=1e-9)  # differences of numbers up to 3e5, in doubles


def next_change(order, accelerations, changes):
    """Predicted change of velocities in a macro step of 1 s, of accelerations and changes before, the last first."""
    of_accelerations, of_changes = np.array(accelerations, dtype=float), np.array(changes, dtype=float)
    plainly(differ)(of_accelerations, len(of_accelerations))
    plainly(differ)(of_changes, len(of_changes))
    weights = flow().predictor[order]
    return weights[0] @ of_accelerations[:ORDER] + weights[1] @ of_changes[:ORDER]


@pytest.mark.parametrize("order", range(1, ORDER + 1))
def test_an_order_predicts_every_polynomial_below_it(order):
    for power in range(order):
        instants = -np.arange(ORDER + 1.0)
        ways = instants ** (power + 1) / (power + 1)
        predicted = next_change(order, instants[:-1] ** power, ways[:-1] - ways[1:])
        assert predicted == pytest.approx(1.0 / (power + 1), abs=1e-8)


@pytest.mark.parametrize(("order", "bears"), [(2, 2.2), (3, 1.5), (4, 1.1), (5, 0.88), (6, 0.44), (7, 0.23)])
def test_an_order_bears_damping_as_fast_as_it_claims_and_not_much_faster(order, bears):
    """Largest root of the difference equation of velocities v whose accelerations are -c v, in macro steps of 1 s."""
    for c, stable in ((0.5 * bears, True), (bears, True), (1.1 * bears, False)):
        companion = np.eye(ORDER + 1, k=-1)
        for m, velocity in enumerate(np.eye(ORDER + 1)):
            companion[0, m] = velocity[0] + next_change(order, -c * velocity[:-1], velocity[:-1] - velocity[1:])
        assert (np.abs(np.linalg.eigvals(companion)).max() < 1.0) == stable


@pytest.mark.parametrize("power", range(4))
def test_the_extension_of_a_step_is_the_history_of_a_polynomial(power):
    """Of accelerations t^power, t in steps: what they and their integral are at instants one step apart."""
    kept, instants = flow(), 1.0 - np.arange(ORDER + 1)
    stages = WEIGHTS[:STAGES].sum(axis=1) ** power
    np.testing.assert_allclose(kept.extension[0] @ stages, instants**power, atol=1e-8)
    np.testing.assert_allclose(kept.extension[1] @ stages, instants ** (power + 1) / (power + 1), atol=1e-8)


def test_a_brick_that_tumbles_keeps_its_angular_momentum_and_its_energy():
    sim = ff.Simulation("brick", law=LAW, dt=1e-3)
    rec = sim.run(0.8, qpos=sim.place() + 5.0 * np.eye(7)[2], qvel=[0.0, 0.0, 3.0, 3.0, 8.0, -4.0])
    inertia = np.diag(rec.robot.model.body_inertia[1])
    momenta, energies = [], []
    for qpos, qvel in zip(rec.qpos, rec.qvel, strict=True):
        w, x, y, z = qpos[3:7]
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
        momenta.append(turn @ inertia @ qvel[3:])
        energies.append(0.5 * qvel[3:] @ inertia @ qvel[3:])
    size = np.linalg.norm(momenta[0])
    assert np.abs(np.array(momenta) - momenta[0]).max() < 2e-8 * size
    assert np.abs(np.array(energies) - energies[0]).max() < 2e-8 * energies[0]


def test_a_brick_that_slides_and_turns_is_as_accurate_as_its_tolerance():
    first, second = (
        ff.Simulation("brick", law=ff.law(LAW, tolerance=tolerance), dt=1e-3).run(0.3, qvel=[1.0, 0, 0, 0, 0, 1.0])
        for tolerance in (1e-9, 1e-11)
    )
    assert first.signals["time_steps"].sum() == 0
    assert (first.mode[50:100] == SLIDE).any()
    assert np.abs(first.qpos - second.qpos).max() < 1e-9
    assert np.abs(first.qvel - second.qvel).max() < 1e-8


@pytest.mark.parametrize("steps", [5, 120, 300])
def test_a_saved_state_goes_on_bit_for_bit(steps):
    """Of a biped that slides to rest: the history of its motion and its next step are part of the state."""
    robot = ff.load_robot("spatial-biped", actuators="position")
    sim, ends = ff.Simulation(robot, law=LAW), []
    world = sim.start(qvel=1.5 * np.eye(robot.model.nv)[0])
    world.step(n=steps)
    state = world.state()
    for one in (world, sim.start()):
        one.restore(state)
        one.step(n=20)
        ends.append(np.concatenate([one.qpos, one.qvel]))
    np.testing.assert_array_equal(*ends)
