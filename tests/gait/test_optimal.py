"""The optimised walk: the dynamics behind it, the constraints it meets, and where it is kept."""

from __future__ import annotations

import dataclasses
import sys
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.errors import FootfallError, GaitError
from footfall.gait.library import find_gait, problem_key
from footfall.gait.optimal import first_guess
from footfall.gait.polynomial import find_legs
from footfall.gait.step_check import GaitConstraints, examine, judge
from footfall.process.cache_folder import cache_folder

ROBOT = ff.load_robot("planar-biped")


@pytest.fixture(scope="module")
def casadi():
    return pytest.importorskip("casadi", reason='optimising a gait needs CasADi: pip install "footfall[gait]"')


# ---- the model as expressions ----------------------------------------------------------------------------------


def test_the_expressions_are_mujocos_inverse_dynamics(casadi):
    """A(q) q'' + H(q, q') against mj_inverse, away from joint limits, to rounding."""
    from footfall.gait.optimal import inverse_dynamics

    dynamics = inverse_dynamics(ROBOT)
    data = mujoco.MjData(ROBOT.model)
    rng = np.random.default_rng(0)
    for _ in range(20):
        data.qpos[:] = rng.uniform(-0.6, 0.6, 9)
        data.qpos[1] += 2.0  # in the air
        data.qpos[[4, 7]] = rng.uniform(0.1, 2.0, 2)  # knees
        data.qvel[:], data.qacc[:] = rng.normal(size=(2, 9))
        mujoco.mj_inverse(ROBOT.model, data)
        found = np.array(dynamics(data.qpos, data.qvel, data.qacc)).ravel()
        np.testing.assert_allclose(found, data.qfrc_inverse, atol=1e-9)


def test_a_step_by_expressions_is_the_step_by_mujoco(casadi):
    """Torques, ground force and zero moment point of the two implementations, along the shipped gait."""
    from footfall.gait.optimal import StepModel

    gait = find_gait(ROBOT).gait
    step = examine(ROBOT, gait, 5)
    model = StepModel(ROBOT, find_legs(ROBOT))
    for i, t in enumerate(step.time):
        torque, forward, upward, lever, heights, place, _, qpos, qvel = model.instant(*gait.at(float(t)))
        np.testing.assert_allclose(np.array(torque).ravel(), step.torque[i], atol=1e-9)
        np.testing.assert_allclose([float(forward), float(upward)], step.force[i], atol=1e-9)
        assert float(lever) / float(upward) == pytest.approx(step.zmp[i], abs=1e-12)
        np.testing.assert_allclose(np.array(heights).ravel(), step.height[i], atol=1e-12)
        np.testing.assert_allclose(np.array(place).ravel(), step.place[i], atol=1e-12)
        np.testing.assert_allclose(np.array(qpos).ravel(), step.qpos[i], atol=1e-12)
        np.testing.assert_allclose(np.array(qvel).ravel(), step.qvel[i], atol=1e-12)


def test_a_free_base_is_refused(casadi):
    from footfall.gait.optimal import inverse_dynamics

    with pytest.raises(GaitError, match="robots of slides, and of hinges at their bodies' origins"):
        inverse_dynamics(ff.load_robot("spatial-biped"))


# ---- a step looked at ------------------------------------------------------------------------------------------


def test_standing_still_takes_the_weight_and_its_moment():
    """A posture for ever: Fn is the weight, Ft nothing, and the zero moment point below the centre of mass."""
    still = dataclasses.replace(find_gait(ROBOT).gait, coefficients=np.outer([1, 0, 0, 0], ROBOT.home[3:]))
    step = examine(ROBOT, still, 3)
    np.testing.assert_allclose(step.force, [[0.0, ROBOT.weight]] * 3, atol=1e-9)
    np.testing.assert_allclose(step.zmp, 0.0, atol=1e-9)  # home has its centre of mass over the soles' middle
    squares = (step.torque[0] ** 2).sum()
    assert step.cost == pytest.approx(squares * still.step_duration)


def test_the_impact_leaves_the_landing_foot_at_rest_and_takes_energy():
    gait = find_gait(ROBOT).gait
    step = examine(ROBOT, gait, 3)
    data = mujoco.MjData(ROBOT.model)
    energies = []
    for velocity in (step.qvel[-1], step.impact.velocity):
        data.qpos[:], data.qvel[:] = step.qpos[-1], velocity
        mujoco.mj_forward(ROBOT.model, data)
        mujoco.mj_energyVel(ROBOT.model, data)
        energies.append(float(data.energy[1]))
    foot = np.zeros(6)
    body = ROBOT.model.body("right_foot").id
    mujoco.mj_objectVelocity(ROBOT.model, data, mujoco.mjtObj.mjOBJ_XBODY, body, foot, 0)
    np.testing.assert_allclose(foot, 0.0, atol=1e-12)
    assert energies[1] < energies[0]
    assert (step.impact.leaving > 0).all()
    rows = {row.name: row.value for row in judge(ROBOT, gait, GaitConstraints(), step)}
    assert rows["rates after the impact as at the start (22)"] < 1e-6


# ---- constraints ---------------------------------------------------------------------------------------------------


def test_the_shipped_gait_meets_every_demand_and_takes_less_than_its_guess():
    found = find_gait(ROBOT)
    assert found.source == "library"
    step = examine(ROBOT, found.gait)
    assert [row.name for row in judge(ROBOT, found.gait, GaitConstraints(), step) if not row.met] == []
    assert step.cost == pytest.approx(found.gait.info["cost"], rel=1e-9)
    length = found.gait.info["guess_step_length"]
    guess = examine(ROBOT, first_guess(ROBOT, find_legs(ROBOT), found.gait.speed, length))
    assert step.cost < 0.1 * guess.cost
    assert guess.cost == pytest.approx(found.gait.info["guess_cost"], rel=1e-6)


def test_a_demand_that_is_not_met_is_told():
    found = find_gait(ROBOT)
    rows = judge(ROBOT, found.gait, GaitConstraints(speed=0.6, clearance=0.05), examine(ROBOT, found.gait, 41))
    assert {row.name for row in rows if not row.met} == {"speed", "clearance of the swing foot beyond its profile"}


@pytest.mark.parametrize("wrong", [{"speed": 0.0}, {"speed": float("nan")}, {"clearance": -0.1}, {"step_length": 0}])
def test_impossible_demands_are_refused(wrong):
    name = next(iter(wrong))
    with pytest.raises(GaitError, match=f"GaitConstraints: {name} = .*, but it must be"):
        GaitConstraints(**wrong)


def test_a_margin_wider_than_the_sole_is_refused():
    with pytest.raises(GaitError, match="leaves no place"):
        GaitConstraints(sole_margin=0.1).sole(find_legs(ROBOT))


def test_other_robots_are_refused():
    for name, why in (("spatial-biped", "does not move in the plane"), ("brick", "does not move in the plane")):
        with pytest.raises(GaitError, match=why):
            find_gait(ff.load_robot(name))


def test_steps_longer_than_the_legs_are_refused():
    with pytest.raises(GaitError, match="ask for shorter steps"):
        first_guess(ROBOT, find_legs(ROBOT), 0.5, 3.0)


def test_a_speed_beyond_the_reach_of_the_legs_is_refused_before_a_search(casadi, tmp_path):
    with pytest.raises(GaitError, match=r"cannot walk at 50 m/s: .* which is 12 m/s"):
        find_gait(ROBOT, GaitConstraints(speed=50.0), cache=tmp_path)


# ---- optimising and keeping ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_optimum_is_found_again_and_kept(casadi, tmp_path):
    """From one start only: the step length of the shipped gait given, the same cost must come out."""
    shipped = find_gait(ROBOT).gait
    constraints = GaitConstraints(step_length=shipped.step_length)
    told: list[str] = []
    found = find_gait(ROBOT, constraints, cache=tmp_path, progress=told.append)
    assert found.source == "optimised"
    assert any(sentence.startswith("iteration") for sentence in told)
    assert found.gait.info["cost"] == pytest.approx(shipped.info["cost"], rel=1e-3)
    assert [row.name for row in judge(ROBOT, found.gait, constraints, examine(ROBOT, found.gait)) if not row.met] == []
    again = find_gait(ROBOT, constraints, cache=tmp_path)
    assert again.source == "cache"
    assert again.gait == found.gait


def test_a_damaged_gait_in_the_cache_is_optimised_again(monkeypatch, tmp_path):
    place = tmp_path / f"planar-biped-{problem_key(ROBOT, constraints := GaitConstraints(speed=0.41))[:16]}.json"
    place.write_text("{")
    kept = find_gait(ROBOT).gait
    monkeypatch.setattr("footfall.gait.library.optimise", lambda *_: (kept, kept))
    monkeypatch.setattr("footfall.gait.library.examine", lambda *_: SimpleNamespace(cost=0.0))
    assert find_gait(ROBOT, constraints, cache=tmp_path).source == "optimised"
    assert find_gait(ROBOT, constraints, cache=tmp_path).source == "cache"


def test_the_key_follows_the_mechanics_and_not_the_looks(monkeypatch, tmp_path):
    key = problem_key(ROBOT, GaitConstraints())
    assert problem_key(ff.load_robot("planar-biped", mass=71.0), GaitConstraints()) != key
    assert problem_key(ROBOT, GaitConstraints(speed=0.6)) != key
    assert problem_key(ROBOT.with_points((5, 1)), GaitConstraints()) == key  # the same heel and toe
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path))
    assert cache_folder("gaits") == tmp_path / "gaits"


def test_without_casadi_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(FootfallError, match=r'needs CasADi: pip install "footfall\[gait\]"'):
        find_gait(ROBOT, GaitConstraints(speed=0.45), cache=tmp_path)
