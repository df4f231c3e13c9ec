"""Failures are sentences, and what was simulated up to them is kept."""

from __future__ import annotations

import math
import re
import warnings

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.errors import ControllerError, FootfallError, FootfallWarning, GroundError, LawError, SimulationError

BIPED = ff.load_robot("spatial-biped")


# ---- controllers -------------------------------------------------------------------------------------------


def breaking(answer, at: float = 0.01):
    def wave(t, state):
        return np.zeros(14) if t < at - 1e-9 else answer(t)

    return wave


def fail(t):
    raise ZeroDivisionError("no way")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda t: np.zeros(3), r"wave returned shape \(3,\) at t = 0.01 s; spatial-biped has 14 actuators"),
        (lambda t: None, "wave returned None at t = 0.01 s"),
        (lambda t: np.full(14, np.nan), "wave returned nan for actuator left_hip_yaw at t = 0.01 s"),
        (lambda t: [*np.zeros(13), np.inf], "wave returned inf for actuator right_ankle_yaw"),
        (fail, "wave failed at t = 0.01 s: ZeroDivisionError: no way"),
        (lambda t: "left", "wave returned 'left' at t = 0.01 s, which is not an array of numbers"),
    ],
)
def test_a_controller_that_breaks_says_where_and_keeps_what_came_before(answer, sentence):
    with pytest.raises(ControllerError, match=sentence) as caught:
        ff.Simulation(BIPED).run(1.0, controller=breaking(answer))
    rec = caught.value.recording
    np.testing.assert_allclose(rec.time, np.arange(10) * 1e-3, atol=1e-12)
    assert rec.failure.cause == "controller" and rec.failure.time == pytest.approx(0.01)
    assert np.isfinite(rec.qpos).all() and rec.force.any()


def test_something_that_is_no_controller_is_refused():
    with pytest.raises(SimulationError, match="controller = 3, but it must be a function"):
        ff.Simulation(BIPED).run(0.1, controller=3)
    with pytest.raises(ControllerError, match=r"no controller is called 'postur'.*did you mean 'posture'"):
        ff.Simulation(BIPED).run(0.1, controller="postur")

    class Hasty:
        def start(self, robot):
            return lambda t, state: np.zeros(14)

    with pytest.raises(ControllerError, match=r"controller Hasty cannot start: TypeError: .*start\(\) takes 2"):
        ff.Simulation(BIPED).run(0.1, controller=Hasty())


# ---- the ground --------------------------------------------------------------------------------------------


def half_a_world(x, y):
    return 0.0 if x < 12.0 else math.nan


def near_edge(x, y):
    return 0.0 if x < 2.0 else math.nan


def test_where_the_ground_ends_the_run_stops_with_a_sentence():
    sim = ff.Simulation("ball", ground=ff.Ground.function(half_a_world))
    with pytest.raises(
        GroundError, match=r"no height or no friction \(NaN\) under contact point 0 near x = 12 m"
    ) as caught:
        sim.run(5.0, qpos=sim.place((11.0, 0.0)), qvel=[1.0, 0, 0, 0, 10.0, 0])
    rec = caught.value.recording
    assert rec.failure.cause == "ground" and rec.duration == pytest.approx(1.0, abs=0.02)
    assert np.isfinite(rec.qpos).all()
    assert rec.qpos[-1, 0] == pytest.approx(12.0, abs=0.01)


def test_a_ground_that_ends_near_the_robot_stops_the_run_too():
    """No mesh of the ground is needed, so that it may end anywhere."""
    sim = ff.Simulation("ball", ground=ff.Ground.function(near_edge))
    with pytest.raises(GroundError, match=r"no height or no friction \(NaN\) under contact point 0 near x = 2 m"):
        sim.run(5.0, qvel=[1.0, 0, 0, 0, 10.0, 0])


# ---- divergence --------------------------------------------------------------------------------------------


def diverging(**options) -> ff.Recording:
    sim = ff.Simulation(BIPED, law=ff.law("spring-damper", k=1e9), dt=1e-3)
    with pytest.warns(FootfallWarning) as caught:
        rec = sim.run(2.0, **{"controller": None} | options)
    before, then = caught  # of a step that is too long, and of what came of it
    assert "unstable in steps of 0.001 s" in str(before.message) and "energy from nowhere" in str(then.message)
    assert before.filename == then.filename == __file__  # warnings point at the user's line
    return rec


@pytest.mark.parametrize("record_dt", [None, 1e-2])
def test_a_simulation_that_diverges_ends_with_time_joint_and_advice(record_dt):
    rec = diverging(record_dt=record_dt)
    failure = rec.failure
    assert failure.cause == "energy"
    assert 0.0 < failure.time < 2.0 and rec.duration < 1.0
    assert failure.joint in failure.message
    assert f"t = {failure.time:.6g} s" in failure.message
    assert "try dt <= 2e-5 s for spring-damper(" in failure.message and "k=1000000000.0" in failure.message
    assert rec.time[-1] == pytest.approx(failure.time)
    for name in ("time", "qpos", "qvel", "force", "gap", "position"):
        assert np.isfinite(getattr(rec, name)).all(), name
    assert (np.diff(rec.time) > 0).all()
    with pytest.raises(SimulationError, match="energy from nowhere") as caught:
        rec.check()
    assert caught.value.recording is rec


def test_the_step_that_is_advised_is_one_in_which_the_springs_are_stable():
    law = ff.law("spring-damper", k=1e8)
    with pytest.warns(FootfallWarning, match=r"dt <= (\S+) s would do"), pytest.warns(FootfallWarning, match="try dt"):
        rec = ff.Simulation("brick", law=law, dt=2e-3).run(0.5)
    advised = float(re.search(r"try dt <= (\S+) s for", rec.failure.message)[1])
    assert advised < 1e-3  # half the step would not do
    assert ff.Simulation("brick", law=law, dt=advised).run(0.5).failure is None


def test_a_state_that_is_already_beyond_all_bounds_fails_at_once():
    too_stiff = pytest.warns(FootfallWarning, match="unstable in steps of")
    with too_stiff, pytest.warns(FootfallWarning, match="diverged at t = 0 s"):
        rec = ff.Simulation("brick", law=ff.law("spring-damper", k=1e12)).run(1.0, qpos=[0, 0, -1, 1, 0, 0, 0])
    assert len(rec) == 1 and rec.failure.time == 0.0


FOLDING = """
<mujoco><worldbody><body name="trunk" pos="0 0 2"><freejoint/><geom type="box" size="0.1 0.1 0.3" mass="10"/>
  <body name="upper" pos="0.3 0 0.2"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03"/>
    <body name="hand" pos="0 0 -0.2"><joint name="elbow" axis="0 1 0"/><geom size="0.04" pos="0 0 -0.2" mass="0.01"/>
</body></body></body></worldbody></mujoco>
"""


def test_a_run_that_began_with_bodies_inside_each_other_names_them_and_their_depth():
    robot = ff.load_robot(mujoco.MjSpec.from_string(FOLDING), name="folding")
    folded = robot.home.copy()
    folded[8] = math.pi / 2.0  # the centre of the hand is on the side of the trunk
    with pytest.warns(
        FootfallWarning, match=r"bodies began inside each other.*\(trunk and hand by 40 mm\): start apart"
    ):
        rec = ff.Simulation(robot, law="spring-damper", dt=5e-3).run(0.1, controller=None, qpos=folded)
    assert rec.failure.message.endswith(f"or try dt <= 2e-3 s for {rec.law}")
    home = ff.Simulation(robot, law="spring-damper", dt=5e-3).run(0.1, controller=None)
    assert home.failure is None


def test_a_run_that_ends_well_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ff.Simulation(BIPED).run(0.1, controller="posture").failure is None


# ---- what cannot be asked ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [-1e-3, 0.0, math.nan, math.inf, "1e-3"])
def test_a_step_must_be_a_positive_time(dt):
    with pytest.raises(SimulationError, match=f"dt = {dt!r}"):
        ff.Simulation("ball", dt=dt)


@pytest.mark.parametrize("duration", [-1.0, math.nan, math.inf])
def test_a_duration_must_not_be_negative(duration):
    with pytest.raises(SimulationError, match="duration = "):
        ff.Simulation("ball").run(duration)


@pytest.mark.parametrize("name", ["control_dt", "record_dt"])
@pytest.mark.parametrize("value", [5e-4, 1.5e-3, -1e-3, 0.0, math.nan])
def test_rates_must_be_multiples_of_the_step(name, value):
    with pytest.raises(SimulationError, match=name):
        ff.Simulation("ball").run(0.1, **{name: value})


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ({"qpos": np.zeros(3)}, r"qpos has shape \(3,\), but ball needs \(7,\)"),
        ({"qvel": np.zeros(7)}, r"qvel has shape \(7,\), but ball needs \(6,\)"),
        ({"qvel": [0, 0, math.nan, 0, 0, 0]}, r"qvel\[2\] is nan, but ball needs finite numbers"),
    ],
)
def test_a_start_must_fit_the_robot(start, sentence):
    with pytest.raises(SimulationError, match=sentence):
        ff.Simulation("ball").run(0.1, **start)


def test_pushes_are_checked():
    sim = ff.Simulation(BIPED)
    with pytest.raises(SimulationError, match="no body is called 'trunc': did you mean 'trunk'"):
        sim.run(0.1, controller=None, pushes=[ff.Push("trunc")])
    for bad in ({"force": (1.0, 2.0)}, {"force": (math.nan, 0, 0)}, {"duration": -1.0}):
        with pytest.raises(SimulationError, match=r"push on trunk: |Push: (force|duration) = .* must be "):
            sim.run(0.1, pushes=[ff.Push("trunk", **bad)])


def test_a_law_must_be_one():
    with pytest.raises(LawError, match="no contact law is called 'mujocco': did you mean 'mujoco'"):
        ff.Simulation("ball", law="mujocco")
    for nonsense in (3, None):
        with pytest.raises(FootfallError):
            ff.Simulation("ball", law=nonsense)
