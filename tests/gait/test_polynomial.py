"""Cubics in time, the change of legs, and a gait as a value."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.errors import GaitError
from footfall.gait.library import find_gait
from footfall.gait.polynomial import PolynomialGait, cubics, load_gait, standing_on, swapped

LEGS = (("left_hip", "left_knee", "left_ankle"), ("right_hip", "right_knee", "right_ankle"))


@pytest.fixture(scope="module")
def gait() -> PolynomialGait:
    return find_gait(ff.load_robot("planar-biped")).gait


def test_cubics_have_the_ends_they_were_made_from():
    """(42): the values and rates at 0 and T."""
    rng = np.random.default_rng(1)
    q0, qT, v0, vT = rng.normal(size=(4, 6))
    made = PolynomialGait("planar-biped", LEGS, np.array(cubics(q0, qT, v0, vT, 0.7)), 0.7, 0.3)
    np.testing.assert_allclose(made.at(0.0)[:2], (q0, v0), atol=1e-12)
    np.testing.assert_allclose(made.at(0.7)[:2], (qT, vT), atol=1e-12)


def test_rates_and_accelerations_are_derivatives(gait):
    h = 1e-6
    for t in (0.1, 0.3):
        (q1, v1, _), (q2, v2, _), (_, v, a) = gait.at(t - h), gait.at(t + h), gait.at(t)
        np.testing.assert_allclose((q2 - q1) / (2 * h), v, atol=1e-8)
        np.testing.assert_allclose((v2 - v1) / (2 * h), a, atol=1e-8)


def test_legs_change_places_from_step_to_step(gait):
    """(13): where a step ends the next begins, with the other leg in front."""
    end, begin = gait.target(4, gait.step_duration), gait.target(5, 0.0)
    np.testing.assert_allclose(end.q, begin.q, atol=1e-9)
    np.testing.assert_array_equal(gait.target(4, 0.1).q, swapped(gait.target(5, 0.1).q))
    assert gait.target(4, 0.1).load.tolist() == [1.0, 0.0]
    assert gait.target(5, 0.1).load.tolist() == [0.0, 1.0]
    assert [gait.landing(k) for k in range(3)] == [1, 0, 1]


def test_a_robot_stands_on_the_foot_it_is_put_on():
    robot = ff.load_robot("planar-biped")
    rng = np.random.default_rng(2)
    for foot in (0, 1):
        qpos, qvel = standing_on(robot, foot, rng.uniform(-0.5, 0.5, 6), rng.normal(size=6))
        data = mujoco.MjData(robot.model)
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_forward(robot.model, data)
        body = robot.model.body(robot.feet[foot].body).id
        ends = data.xpos[body] + robot.feet[foot].points @ data.xmat[body].reshape(3, 3).T
        np.testing.assert_allclose(ends[:, 2], 0.0, atol=1e-12)
        np.testing.assert_allclose(ends[:, 0], [-0.1, 0.1], atol=1e-12)
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(robot.model, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 0)
        np.testing.assert_allclose(velocity, 0.0, atol=1e-12)


def test_a_gait_is_a_value_that_goes_to_json_and_back(gait, tmp_path):
    path = gait.save(tmp_path / "walks" / "one.json")
    assert load_gait(path) == gait
    assert hash(load_gait(path)) == hash(gait)
    assert json.loads(path.read_text())["robot"] == "planar-biped"
    with pytest.raises(ValueError, match="read-only"):
        gait.coefficients[0, 0] = 1.0


def test_what_is_no_gait_is_refused(tmp_path):
    with pytest.raises(GaitError, match="4 coefficients of every joint"):
        PolynomialGait("planar-biped", LEGS, np.zeros((3, 6)), 0.5, 0.2)
    with pytest.raises(GaitError, match="positive step duration"):
        PolynomialGait("planar-biped", LEGS, np.zeros((4, 6)), 0.0, 0.2)
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(GaitError, match="this is not a gait"):
        load_gait(tmp_path / "a.json")
    (tmp_path / "b.json").write_text("[")
    with pytest.raises(GaitError, match=r"cannot read the gait .*b\.json"):
        load_gait(tmp_path / "b.json")


def test_a_robot_with_a_free_base_has_no_planar_start(gait):
    with pytest.raises(GaitError, match="spatial-biped does not move in the plane"):
        gait.start(ff.load_robot("spatial-biped"))
