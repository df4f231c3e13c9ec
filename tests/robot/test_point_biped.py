"""The biped on point feet: six motors and two round feet under its hips."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from footfall.errors import RobotError
from footfall.robot import load_robot


@pytest.mark.parametrize(
    "options", [{}, {"mass": 40.0, "thigh": 0.4, "shank": 0.35}, {"knee": 0.4, "foot_radius": 0.03}]
)
def test_it_stands_level_with_its_feet_under_its_hips(options):
    robot = load_robot("point-biped", **options)
    assert (robot.model.nv, robot.model.nu, robot.point_count) == (12, 6, 2)
    assert robot.mass == pytest.approx(options.get("mass", 12.0), rel=1e-12)
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_forward(robot.model, data)
    rotation = data.xmat[robot.point_body].reshape(-1, 3, 3)
    feet = data.xpos[robot.point_body] + np.einsum("pij,pj->pi", rotation, robot.point_position)
    np.testing.assert_allclose(feet[:, 2], robot.point_radius, atol=1e-12)
    np.testing.assert_allclose(feet[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(feet[:, 1], [0.1, -0.1], atol=1e-12)
    low, high = robot.model.jnt_range[1:].T
    assert np.all((low < robot.home[7:]) & (robot.home[7:] < high))
    assert data.ncon == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [({"mass": 0.0}, "mass of robot 'point-biped'"), ({"knee": 2.0}, "knee of robot 'point-biped'")],
)
def test_impossible_parameters_are_refused(options, message):
    with pytest.raises(RobotError, match=message):
        load_robot("point-biped", **options)
