"""A recorded force is the mean until the next sample, so that no impulse is lost, and the peak stands beside it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import footfall as ff

DT, EVERY, DURATION = 1e-3, 10, 0.3


def thrown(law: str, record_dt: float | None) -> ff.Recording:
    """A brick that lands on its edge, tumbles and slides."""
    sim = ff.Simulation("brick", law=law, dt=DT)
    start = np.array([0.0, 0.0, 0.13, 0.96, 0.2, 0.2, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return sim.run(DURATION, qpos=start, qvel=[0.5, 0.2, -0.5, 0.0, 0.0, 1.0], record_dt=record_dt)


@pytest.fixture(scope="module", params=ff.laws())
def pair(request) -> tuple[ff.Recording, ff.Recording]:
    return thrown(request.param, None), thrown(request.param, EVERY * DT)


def test_the_mean_is_that_of_the_steps(pair):
    fine, coarse = pair
    assert len(coarse) == round(DURATION / DT) // EVERY + 1
    steps = fine.force[:-1].reshape(-1, EVERY, *fine.force.shape[1:])
    scale = np.abs(fine.force).max()
    np.testing.assert_allclose(coarse.force[:-1], steps.mean(axis=1), atol=1e-13 * scale)
    np.testing.assert_array_equal(coarse.force[-1], fine.force[-1])
    np.testing.assert_array_equal(coarse.qpos, fine.qpos[::EVERY])


def test_the_peaks_are_those_of_the_steps(pair):
    fine, coarse = pair
    total = fine.total_force[:-1].reshape(-1, EVERY, 3)
    hardest = total[..., 2].argmax(axis=1)  # the ground is level
    np.testing.assert_array_equal(coarse.peak_total_force[:-1], total[np.arange(len(total)), hardest])
    points = fine.force[:-1].reshape(-1, EVERY, *fine.force.shape[1:])
    np.testing.assert_array_equal(coarse.peak_force[:-1], points[np.arange(len(total)), hardest])  # it has one foot
    np.testing.assert_array_equal(fine.peak_force, fine.force)
    assert coarse.summary()["peak_vertical_force_N"] == pytest.approx(
        fine.summary()["peak_vertical_force_N"], rel=1e-12
    )


def test_modes_and_status_are_those_of_all_steps(pair):
    fine, coarse = pair
    modes = fine.mode[:-1].reshape(-1, EVERY, fine.mode.shape[1])
    np.testing.assert_array_equal(coarse.mode[:-1], modes.max(axis=1))
    np.testing.assert_array_equal(coarse.status[:-1], fine.status[:-1].reshape(-1, EVERY).max(axis=1))


def test_force_times_interval_is_the_change_of_momentum(pair):
    """To rounding: the forces of the steps are those that moved the brick.

    The integration from event to event is as exact as its tolerance, 1e-9 of the motion.
    """
    for rec in pair:
        impulse = (rec.total_force[:-1] * np.diff(rec.time)[:, None]).sum(axis=0)
        given = rec.robot.mass * (rec.qvel[-1, :3] - rec.qvel[0, :3] - rec.robot.gravity * rec.duration)
        scale = np.abs(rec.total_force).max() * DT
        bound = 1e-7 if rec.law.event_driven else 1e-11
        np.testing.assert_allclose(impulse, given, atol=bound * scale)


def test_landings_are_the_same_however_few_the_samples(pair):
    fine, coarse = (ff.measure.impacts(rec, window=DURATION) for rec in pair)
    assert fine and coarse
    assert coarse[0].peak_force == pytest.approx(fine[0].peak_force, rel=1e-12)
    assert coarse[0].time == pytest.approx(fine[0].time, abs=EVERY * DT)


def test_a_run_that_ends_between_two_samples_keeps_the_force_of_its_last_steps():
    sim = ff.Simulation("brick", law="time-stepping", dt=DT)
    rec = sim.run(0.025, record_dt=0.01)
    np.testing.assert_allclose(rec.time, [0.0, 0.01, 0.02], atol=1e-15)
    np.testing.assert_allclose(rec.total_force[:, 2], sim.robot.weight, rtol=1e-9)


def test_a_run_that_diverges_between_two_samples_keeps_both(recwarn):
    sim = ff.Simulation("spatial-biped", law=ff.law("spring-damper", k=1e9), dt=DT)
    fine, coarse = sim.run(1.0, controller=None), sim.run(1.0, controller=None, record_dt=0.01)
    assert coarse.failure == fine.failure and coarse.failure.cause == "energy"
    assert coarse.time[-1] == pytest.approx(coarse.failure.time)
    regular = coarse.time[:-1]
    np.testing.assert_allclose(regular, 0.01 * np.arange(len(regular)), atol=1e-12)
    np.testing.assert_array_equal(coarse.qpos[-1], fine.qpos[-1])


def test_events_are_counted_between_the_samples_too():
    fine, coarse = (thrown("acceleration-complementarity", every) for every in (None, EVERY * DT))
    for name in ("events", "impacts"):
        assert coarse.signals[name].sum() == fine.signals[name][:-1].sum() > 0


# ---- what the audit knows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ff.laws())
def test_an_audit_does_not_pass_what_it_cannot_know(law):
    """A brick dropped at 1 ms and recorded every 10 ms: its impulse is right, what else happened is not on record."""
    sim = ff.Simulation("brick", law=law, dt=DT)
    start = sim.robot.home.copy()
    start[2] += 0.05
    rec = sim.run(0.5, qpos=start, record_dt=0.01)
    audit = rec.audit()
    assert audit.verdict == "not known" and not audit.passed and not audit.failed
    assert {"gap times force", "normal energy", "friction direction"} <= set(audit.unknown)
    for row in ("force balance", "open force", "solved"):  # means suffice for these
        assert audit[row].verdict == "pass", audit
    assert "record_dt" in str(audit).splitlines()[0]
    with pytest.raises(ff.FootfallError, match=r"does not know of gap times force.*leave record_dt out"):
        audit.check()


def test_a_force_outside_the_cone_shows_in_the_mean():
    from dataclasses import replace

    rec = ff.Simulation("brick", law="time-stepping", dt=DT).run(0.1, record_dt=0.01)
    wrong = rec.force + [1.0, 0.0, 0.0] * rec.force[..., 2:]
    assert replace(rec, force=wrong).audit()["friction cone"].verdict == "fail"


def test_an_empty_recording_does_not_pass():
    rec = ff.Simulation("brick").run(0.01).slice(5.0, 6.0)
    assert len(rec) == 0
    audit = rec.audit()
    assert not audit.passed and audit.verdict == "not known" and len(audit.unknown) == len(audit.rows)
    with pytest.raises(ff.FootfallError, match="the recording is empty"):
        audit.check()


@pytest.mark.parametrize("law", ff.laws())
def test_a_point_on_record_as_open_bears_nothing(law):
    """Where eight points could carry a robot in many ways, some bear a force in the midst of a period alone."""
    sim = ff.Simulation("hanavan", law=law)
    rec = sim.run(0.1, qpos=sim.place() + 0.02 * (np.arange(sim.robot.model.nq) == 2), controller="posture")
    assert (rec.mode > 0).any() and not rec.force[rec.mode == 0].any()
