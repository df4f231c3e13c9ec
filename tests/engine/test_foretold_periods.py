"""Periods that those before foretell, and that an evaluation of their end corrects: as accurate as they claim."""

from __future__ import annotations

import numpy as np
import pytest

import footfall as ff
from footfall.engine.events.course import course
from footfall.engine.events.flow import DIFFERENCES, KNOWN, ORDER, STRIDE, make_flow
from footfall.engine.events.kinks import integrate_since
from footfall.engine.events.restart import INSTANTS
from footfall.engine.events.strides import change_stride, differ
from footfall.engine.events.tableau import STAGES, WEIGHTS
from footfall.solve.contacts import SLIDE

LAW = "acceleration-complementarity"


def flow():
    """What a run keeps of the periods before."""
    return make_flow(ff.load_robot("ball").model, 1, 1, 1e-3, tolerance=1e-9, ground=ff.Ground.plane(), margin=0.0)


def test_the_course_of_a_period_is_adams_and_moultons_method_at_its_end():
    kept = flow()
    found = [course.py_func(kept, 1, m, 1.0) for m in range(ORDER + 1)]
    np.testing.assert_allclose(found, [1.0, *-DIFFERENCES[:ORDER, 0]], rtol=1e-13)


@pytest.mark.parametrize("power", range(5))
def test_differences_at_the_end_of_a_period_give_every_polynomial_within_it(power):
    """Of accelerations t^power at -6 to 1 periods: them, and their integral from 0 on."""
    kept, values = flow(), np.array([(1.0 - m) ** power for m in range(ORDER + 1)])
    differ.py_func(values, ORDER + 1)
    for part in (0.3, 1.0):
        exact = [part**power, part ** (power + 1) / (power + 1)]
        found = [sum(course.py_func(kept, k, m, part) * values[m] for m in range(ORDER + 1)) for k in range(2)]
        np.testing.assert_allclose(found, exact, atol=1e-13)


@pytest.mark.parametrize("power", range(5))
def test_integrals_since_a_kink_are_known_at_all_instants_before(power):
    """Of t^power at 1 to -7 strides: its integral since t = 0.3, where accelerations have a kink."""
    instants, out = 1.0 - np.arange(ORDER + 2.0), np.zeros(ORDER + 2)
    values, exact = instants**power, (instants ** (power + 1) - 0.3 ** (power + 1)) / (power + 1)
    for row in (values, exact):
        differ.py_func(row, ORDER + 2)
    integrate_since.py_func(flow(), 0.3, values, out)
    np.testing.assert_allclose(out, exact, atol=1e-9)  # differences of numbers up to 3e3, in doubles


def next_change(order, accelerations, changes):
    """What velocities change by in a period of 1 s, of accelerations and changes before, the last first."""
    of_accelerations, of_changes = np.array(accelerations, dtype=float), np.array(changes, dtype=float)
    differ.py_func(of_accelerations, len(of_accelerations))
    differ.py_func(of_changes, len(of_changes))
    ahead = flow().ahead[order]
    return ahead[0] @ of_accelerations[:ORDER] + ahead[1] @ of_changes[:ORDER]


@pytest.mark.parametrize("order", range(1, ORDER + 1))
def test_an_order_foretells_every_polynomial_below_it(order):
    for power in range(order):
        instants = -np.arange(ORDER + 1.0)
        ways = instants ** (power + 1) / (power + 1)
        foretold = next_change(order, instants[:-1] ** power, ways[:-1] - ways[1:])
        assert foretold == pytest.approx(1.0 / (power + 1), abs=1e-8)


@pytest.mark.parametrize(("order", "bears"), [(2, 2.2), (3, 1.5), (4, 1.1), (5, 0.88), (6, 0.44), (7, 0.23)])
def test_an_order_bears_damping_as_fast_as_it_claims_and_not_much_faster(order, bears):
    """Largest root of the difference equation of velocities v whose accelerations are -c v, in periods of 1 s."""
    for c, stable in ((0.5 * bears, True), (bears, True), (1.1 * bears, False)):
        companion = np.eye(ORDER + 1, k=-1)
        for m, velocity in enumerate(np.eye(ORDER + 1)):
            companion[0, m] = velocity[0] + next_change(order, -c * velocity[:-1], velocity[:-1] - velocity[1:])
        assert (np.abs(np.linalg.eigvals(companion)).max() < 1.0) == stable


@pytest.mark.parametrize("power", range(4))
def test_a_step_tells_of_what_was_before_it_what_a_polynomial_would(power):
    """Of accelerations t^power, t in steps: what they and their integral are at instants one step apart."""
    kept, instants = flow(), 1.0 - np.arange(INSTANTS)
    stages = WEIGHTS[:STAGES].sum(axis=1) ** power
    np.testing.assert_allclose(kept.told[0] @ stages, instants**power, atol=1e-8)
    np.testing.assert_allclose(kept.told[1] @ stages, instants ** (power + 1) / (power + 1), atol=1e-8)


@pytest.mark.parametrize("ratio", [0.3, 2.0])
@pytest.mark.parametrize("power", range(5))
def test_strides_of_another_length_know_the_same_polynomials(power, ratio):
    """Of accelerations and forces (1 + t)^power, t in tens of strides from now: differences, and those of their
    integrals.
    """
    kept, stride = flow(), 1e-3

    def known(width):
        instants = 1.0 - 0.1 * width * np.arange(ORDER + 2)
        values, ways = instants**power, instants ** (power + 1) / (power + 1)
        gained = 10.0 * stride * (ways[:-1] - ways[1:])
        differ.py_func(values, len(values))
        differ.py_func(gained, len(gained))
        return values, gained[:ORDER]

    kept.touching[0], kept.tally[KNOWN] = 1, ORDER + 2
    kept.pace[:] = known(1.0)[0][:, None]
    kept.began[:] = known(1.0)[0][:ORDER, None, None]
    change_stride.py_func(kept, ratio * stride)
    values, gained = known(ratio)
    assert kept.clock[STRIDE] == pytest.approx(ratio * stride)
    for found in (kept.pace, kept.began):
        np.testing.assert_allclose(found.reshape(len(found), -1)[:, 0], values[: len(found)], atol=1e-10)
    for found in (kept.gained, kept.given):
        np.testing.assert_allclose(found.reshape(len(found), -1)[:, 0], gained, atol=1e-12)


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
