"""Several robots in one model."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.standing import point_gaps

TWO = """
<mujoco><worldbody>
  <body name="low" pos="0 0 0.4"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1"/></body>
  <body name="high" pos="0 1 0.9"><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="3"/></body>
</worldbody></mujoco>
"""


def two(folder) -> ff.Robot:
    path = folder / "two.xml"
    path.write_text(TWO)
    return ff.load_robot(path, feet=["low", "high"])


def test_of_several_robots_in_one_model_each_is_set_down(tmp_path):
    robot = two(tmp_path)
    assert robot.home[[2, 9]] == pytest.approx([0.05, 0.1], abs=1e-15)
    slope = ff.Ground.slope(0.3)
    placed = ff.Simulation(robot, ground=slope).place((0.5, -0.5), align=True)
    assert placed[[0, 1, 7, 8]] == pytest.approx([0.5, -0.5, 0.5, 0.5])
    data = mujoco.MjData(robot.model)
    data.qpos[:] = placed
    mujoco.mj_kinematics(robot.model, data)
    gap, _ = point_gaps(robot, slope, data)
    assert gap.reshape(2, -1).min(axis=1) == pytest.approx([0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("law", ff.laws())
def test_several_robots_in_one_model_stand_from_the_beginning(tmp_path, law):
    """Each carries its own weight, and what was above the other does not land: it would come at 2.7 m/s."""
    robot = two(tmp_path)
    rec = ff.Simulation(robot, law=law, dt=1e-3).run(0.5, controller=None)
    assert np.abs(rec.qvel).max() < 0.3  # soft ones settle from the surface by some millimetres
    late = rec.force[-300:, :, 2].mean(axis=0)  # springs still ring a little
    loads = [late[rec.foot(foot.name)].sum() for foot in robot.feet]
    assert loads == pytest.approx([9.81, 3 * 9.81], rel=1e-2)
