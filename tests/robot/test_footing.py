"""Robots that fall from their home pose, their centre of mass beside their soles: they are told of, and with the pose
that would stand.
"""

from __future__ import annotations

import ast
import re
import warnings

import mujoco
import numpy as np
import pytest
from physics.laws import every_law

import footfall as ff
from footfall.control import Posture
from footfall.robot.footing import toppling

#: m that the trunk's centre of mass is moved ahead and to the left, and how a warning names that way.
SHIFTS = {
    "ahead of": (0.3, 0.0),
    "behind": (-0.25, 0.0),
    "to the left of": (0.0, 0.5),
    "to the right of": (0.0, -0.5),
}


def shifted(name: str, ahead: float, left: float, change=lambda spec: None, **options) -> ff.Robot:
    """A built-in robot with the mass of its trunk elsewhere."""
    whole = ff.load_robot(name)
    spec = whole.spec()
    for key in list(spec.keys):
        spec.delete(key)
    spec.body(whole.root).ipos[:2] += (ahead, left)
    change(spec)
    home = dict(zip(whole.joint_names[1:], whole.home[7:].tolist(), strict=True))
    return ff.load_robot(spec, name="shifted", pose=home | options.pop("pose", {}), **options)


@pytest.mark.parametrize("way", SHIFTS)
def test_a_centre_of_mass_beside_the_soles_is_told_in_mm_with_the_pose_that_brings_it_over_them(way):
    whole, shift = ff.load_robot("spatial-biped"), SHIFTS[way]
    data = mujoco.MjData(whole.model)
    data.qpos[:] = whole.home
    mujoco.mj_kinematics(whole.model, data)
    mujoco.mj_comPos(whole.model, data)
    turn = data.xmat[whole.point_body].reshape(-1, 3, 3)
    soles = (data.xpos[whole.point_body] + np.einsum("pij,pj->pi", turn, whole.point_position))[:, :2]
    moved = data.subtree_com[1, :2] + np.array(shift) * whole.model.body_mass[1] / whole.mass  # the trunk is body 1
    beyond = 1e3 * np.abs(moved - np.clip(moved, soles.min(axis=0), soles.max(axis=0))).max()
    with pytest.warns(
        ff.FootfallWarning, match=rf"centre of mass is {beyond:.1f} mm {way} its soles; with pose="
    ) as told:
        robot = shifted("spatial-biped", *shift)
    pose = ast.literal_eval(re.search(r"pose=(\{.*?\})", str(told[0].message))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stands = shifted("spatial-biped", *shift, pose=pose)
    assert toppling(stands) is None
    # Angles in the warning are rounded to 1 mrad, and legs are shorter than 1 m.
    assert stands.home[7:] == pytest.approx(toppling(robot).pose[7:], abs=6e-4)


@every_law
def test_posture_begins_where_the_robot_stands_under_every_law(law):
    with pytest.warns(ff.FootfallWarning, match="falls from its standing pose"):
        robot = shifted("spatial-biped", 0.3, 0.0)
    rec = ff.Simulation(robot, law=law).run(1.5, controller="posture", record_dt=5e-3)
    assert not ff.measure.has_fallen(rec)
    assert rec.slice(1.3).total_force[:, 2].mean() == pytest.approx(robot.weight, rel=1e-2)


def test_a_posture_of_ones_own_is_kept_and_falls():
    with pytest.warns(ff.FootfallWarning, match="falls from its standing pose"):
        robot = shifted("spatial-biped", 0.3, 0.0)
    rec = ff.Simulation(robot).run(1.5, controller=Posture(target=tuple(robot.home)), record_dt=5e-3)
    assert ff.measure.has_fallen(rec)


@pytest.mark.parametrize("name", ff.robots())
def test_robots_that_stand_and_those_that_no_pose_balances_are_not_told_of(name):
    assert toppling(ff.load_robot(name)) is None


def stiff_ankles(spec: mujoco.MjSpec) -> None:
    for side in ("left", "right"):
        spec.joint(f"{side}_ankle_pitch").range = [-0.23, -0.22]


def test_where_joints_do_not_allow_it_no_pose_is_named_and_home_is_kept():
    with pytest.warns(ff.FootfallWarning, match="and no pose near by that its joints allow brings it over them"):
        robot = shifted("spatial-biped", 0.3, 0.0, stiff_ankles)
    start, _ = Posture().initial_state(robot, ff.Ground.plane())
    assert np.array_equal(start, ff.Simulation(robot).place())
