"""One run: controllers, pushes, decimation, repeatability, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from physics.laws import every_law

import footfall as ff

BIPED = ff.load_robot("spatial-biped")


def arrays(rec: ff.Recording) -> dict[str, np.ndarray]:
    return {name: getattr(rec, name) for name in ("time", "qpos", "qvel", "ctrl", "force", "gap", "mode", "status")}


def assert_identical(one: ff.Recording, other: ff.Recording) -> None:
    for name, value in arrays(one).items():
        np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


# ---- controllers -------------------------------------------------------------------------------------------


def test_a_controller_is_called_at_its_rate_with_the_time():
    times = []

    def controller(t, state):
        times.append(t)
        return np.zeros(14)

    ff.Simulation(BIPED).run(0.05, controller=controller, control_dt=5e-3)
    np.testing.assert_allclose(times, np.arange(11) * 5e-3, atol=1e-12)


def test_controls_hold_between_two_calls():
    rec = ff.Simulation(BIPED).run(0.02, controller=lambda t, state: np.full(14, t), control_dt=5e-3)
    np.testing.assert_allclose(rec.ctrl[:, 0], np.floor(rec.time / 5e-3 + 1e-6) * 5e-3, atol=1e-12)


def test_a_controller_sees_the_state_of_that_instant_and_the_forces_of_the_step_before():
    seen = []

    def controller(t, state):
        live = state.qpos, state.qvel, state.gap, state.position, state.force, state.com
        seen.append([array.copy() for array in live])
        assert state.mode.shape == (8,) and state.robot is BIPED
        assert state.data.time == pytest.approx(t)
        for array in (state.qpos, state.qvel, state.gap, state.position, state.mode):
            assert not array.flags.writeable
        return np.zeros(14)

    rec = ff.Simulation(BIPED).run(0.02, controller=controller, qvel=np.eye(20)[3] * 0.5)
    for k, name in enumerate(("qpos", "qvel", "gap", "position")):
        np.testing.assert_array_equal(np.array([row[k] for row in seen]), getattr(rec, name))
    np.testing.assert_allclose(np.array([row[4] for row in seen[1:]]), rec.force[:-1], atol=1e-9)
    np.testing.assert_allclose(np.array([row[5] for row in seen]), ff.measure.momentum(rec).com, atol=1e-12)


def test_python_and_compiled_control_give_the_same_motion():
    posture = ff.control.Posture()
    rows = posture.gains(BIPED, ff.Ground.plane(), 1e-3).reshape(-1, 9)
    angle, rate = rows[:, 0].astype(int), rows[:, 1].astype(int)

    def python(t, state):
        return (rows[:, 3] * (rows[:, 2] - state.qpos[angle]) - rows[:, 4] * state.qvel[rate] + rows[:, 5]) / rows[:, 6]

    sim = ff.Simulation(BIPED)
    one, other = (sim.run(0.5, controller=c, qvel=np.eye(20)[0] * 0.2) for c in (posture, python))
    np.testing.assert_allclose(one.qpos, other.qpos, atol=1e-9)


def test_without_a_controller_the_controls_stay_at_home():
    servo = ff.load_robot("spatial-biped", actuators="position")
    rec = ff.Simulation(servo).run(0.01)
    np.testing.assert_array_equal(rec.ctrl, np.broadcast_to(servo.home_ctrl, rec.ctrl.shape))


# ---- pushes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.0, 0.05, 0.1, 0.123])
@pytest.mark.parametrize("duration", [1e-3, 0.05, 0.1, 0.15, 0.2, 0.3])
def test_a_push_gives_force_times_duration(start, duration):
    sim = ff.Simulation("ball")
    push = ff.Push("ball", force=(3.0, -2.0, 1.0), torque=(0.0, 0.1, 0.0), start=start, duration=duration)
    rec = sim.run(0.6, qpos=sim.place() + 50.0 * np.eye(7)[2], pushes=[push])
    gained = rec.qvel[-1, :3] * sim.robot.mass + [0.0, 0.0, sim.robot.weight * 0.6]
    np.testing.assert_allclose(gained, np.array(push.force) * duration, atol=1e-9)
    np.testing.assert_allclose(rec.qvel[-1, 4] * 0.4 * 0.1**2, 0.1 * duration, atol=1e-9)
    before = rec.time < start + 0.5e-3
    np.testing.assert_array_equal(rec.qvel[before, 0], 0.0)


def test_pushes_add_up_and_act_at_the_centre_of_mass_of_a_body():
    sim = ff.Simulation(BIPED)
    pushes = [ff.Push("trunk", force=(10.0, 0.0, 0.0)), ff.Push("left_foot", force=(0.0, 5.0, 0.0), start=0.05)]
    rec = sim.run(0.2, controller=None, qpos=sim.place() + 5.0 * np.eye(21)[2], pushes=pushes)
    momentum = ff.measure.momentum(rec).momentum[-1]
    np.testing.assert_allclose(momentum[:2], [1.0, 0.5], atol=2e-3)  # Euler in joint coordinates: the order of a step
    assert rec.pushes[0].body == "trunk"


# ---- recording ---------------------------------------------------------------------------------------------


@every_law
def test_the_states_of_a_coarser_recording_are_those_of_the_finer_one_with_rows_left_out(law):
    """Forces are means and peaks of the steps that were left out, see ``test_recorded_forces``."""
    sim = ff.Simulation(BIPED, law=law)
    fine = sim.run(0.1, controller="posture")
    coarse = sim.run(0.1, controller="posture", record_dt=0.01)
    assert len(fine) == 101 and len(coarse) == 11
    for name in ("time", "qpos", "qvel", "ctrl"):
        np.testing.assert_array_equal(getattr(coarse, name), getattr(fine, name)[::10], err_msg=name)
    feet = slice(0, sim.robot.point_count)
    for name in ("position", "velocity", "normal", "gap"):
        np.testing.assert_array_equal(getattr(coarse, name)[:, feet], getattr(fine, name)[::10, feet], err_msg=name)
        # Of points beside the feet, which distributed lets sink in so far, some states are computed after the run.
        np.testing.assert_allclose(getattr(coarse, name), getattr(fine, name)[::10], atol=1e-9, err_msg=name)


@every_law
def test_a_second_run_is_the_first_to_the_last_bit(law):
    sim = ff.Simulation(BIPED, law=law)
    assert_identical(*(sim.run(0.3, controller="posture", qvel=np.eye(20)[1] * 0.1) for _ in range(2)))


@every_law
def test_threads_on_one_simulation_give_what_it_gives_alone(law):
    """A simulation holds no state: the scratch space of one run must not be seen by another."""
    sim = ff.Simulation(BIPED, law=law)
    starts = [np.eye(20)[i] * 0.2 for i in range(4)]
    alone = [sim.run(0.2, controller="posture", qvel=qvel) for qvel in starts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda qvel: sim.run(0.2, controller="posture", qvel=qvel), starts))
    for one, other in zip(alone, together, strict=True):
        assert_identical(one, other)


def test_a_run_of_no_time_is_the_start():
    sim = ff.Simulation(BIPED)
    rec = sim.run(0.0, controller=None)
    assert len(rec) == 1
    np.testing.assert_array_equal(rec.qpos[0], sim.place())


def test_progress_is_told_up_to_the_end():
    told = []
    ff.Simulation("ball").run(10.0, progress=told.append)
    assert told[-1] == pytest.approx(10.0)
    assert told == sorted(told)


def test_the_recording_knows_what_was_run():
    rec = ff.Simulation("ball", law="hunt-crossley", dt=2e-3).run(0.01)
    assert rec.robot.name == "ball" and rec.law.name == "hunt-crossley" and rec.dt == 2e-3
    assert rec.info["integrator"] == "euler"
    assert set(rec.info["versions"]) >= {"footfall", "mujoco", "numba", "numpy", "python"}


@every_law
def test_points_on_record_are_where_the_forces_act(law):
    """Position, gap and velocity on record are those of the state on record; the gap is that of the ground."""
    rec = ff.Simulation(BIPED, law=law, ground=ff.Ground.slope(0.1)).run(0.1, controller=None, qvel=np.eye(20)[4])
    gap = rec.ground.gap(rec.position)[0]
    if law == "mujoco":  # whose forces act halfway between the surfaces
        gap[rec.mode != 0] *= 2.0
    np.testing.assert_allclose(rec.gap, gap, atol=1e-12)
    at = rec.position
    if law == "mujoco":
        at = at + np.where(rec.mode != 0, 0.5 * rec.gap, 0.0)[..., None] * rec.normal
    step = np.diff(at, axis=0) / rec.dt
    smooth = ~rec.signals.get("impacts", np.zeros(len(rec)))[:-1].astype(bool)  # velocities jump in impacts
    assert smooth.sum() > 80
    # The mean of two velocities is that of the step up to its square, and semi-implicit Euler's up to the step.
    others = rec.robot.others  # where round ones touch moves over their surface
    moving = (others.axes.any(axis=(1, 2)) | (others.radius > 0.0))[rec.other_points]
    fixed = np.append(np.ones(rec.robot.point_count, dtype=bool), ~moving)
    np.testing.assert_allclose(step[smooth][:, fixed], rec.velocity[1:][smooth][:, fixed], atol=0.05)
    assert not rec.force[rec.mode == 0].any()
