"""URDF files as other tools write them: what ROS and Drake read, footfall reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robot_models import stl, write_urdf

from footfall.errors import FootfallWarning
from footfall.robot import load_robot


def test_a_urdf_is_read_as_ros_and_drake_read_it(tmp_path):
    """As in Drake's LittleDog, Spot and compass gaits.

    A namespace, prefixes that are not declared, a comment inside a comment, a misspelled declaration, colours with
    commas, capsules of Drake, a second <inertial>.
    """
    path = Path(write_urdf(tmp_path))
    plain = load_robot(path)
    text = path.read_text().strip()
    for old, new in (
        ("<robot", '<?xml vertsion="1.0"?>\n<!-- -- <!-- old -->\n<robot xmlns="http://drake.mit.edu"'),
        ('<box size="0.2 0.2 0.2"/>', '<drake:capsule radius="0.1" length="0.1"/>'),
        ("</collision>", '</collision><drake:proximity mu="1"/>'),
        ("</link>", '<visual><geometry><drake:ellipsoid a="1"/></geometry></visual></link>'),
        ("</link>", '<visual><geometry><sphere radius="0.1"/></geometry>@</visual></link>'),
        ("@", '<material name="m"><color rgba="0.9, 0.7, 0.6 1"/></material>'),
        ("</link>", '<inertial><mass value="7"/></inertial></link>'),
    ):
        text = text.replace(old, new, 1)
    path.write_text(text)
    with pytest.warns(FootfallWarning, match="of several <inertial> in 1 link .* first is taken; visual .* ellipsoid"):
        robot = load_robot(path)
    assert (robot.mass, robot.model.nv) == (plain.mass, plain.model.nv)
    np.testing.assert_allclose(robot.home, plain.home)


def test_the_world_of_a_urdf_need_not_be_written(tmp_path):
    fixed = '<joint name="fix" type="fixed"><parent link="world"/><child link="pelvis"/></joint>'
    with pytest.warns(FootfallWarning, match="held in the world"):
        assert load_robot(write_urdf(tmp_path, extra=fixed)).model.nv == 2


def test_a_flat_collision_mesh_of_a_urdf_is_a_thin_slab(tmp_path):
    path = Path(write_urdf(tmp_path))
    a, b, c, d = plate = np.array([[0, 0, 0], [0.2, 0, 0], [0.2, 0.1, 0], [0, 0.1, 0]])
    (path.parents[1] / "meshes" / "foot.stl").write_bytes(stl([(a, b, c), (a, c, d)]))
    for foot in load_robot(path).feet:  # the corners of the plate, 1/1000 of its length thick: at most its diagonal's
        np.testing.assert_allclose(sorted(foot.points[:, :2].tolist()), sorted(plate[:, :2].tolist()), atol=1e-6)
        assert (np.abs(foot.points[:, 2]) <= 0.5e-3 * np.hypot(0.2, 0.1)).all()


@pytest.mark.parametrize(
    ("lower", "upper", "limits", "told"),
    [
        (0, 0, None, r"no limits for 2 joints \(left_hip, right_hip\) whose lower and upper ones are equal"),
        (1, -1, (-1, 1), r"limits of 2 joints \(left_hip, right_hip\) interchanged"),
    ],
)
def test_limits_that_are_none_or_interchanged_are_mended_with_a_warning(lower, upper, limits, told, tmp_path, capfd):
    """MuJoCo ignores both: the first with a word on the terminal, the second without."""
    path = Path(write_urdf(tmp_path))
    path.write_text(path.read_text().replace('lower="-1" upper="1"', f'lower="{lower}" upper="{upper}"'))
    with pytest.warns(FootfallWarning, match=told):
        model = load_robot(path).model
    assert capfd.readouterr().err == ""
    found = [
        tuple(model.joint(f"{side}_hip").range) for side in ("left", "right") if model.joint(f"{side}_hip").limited
    ]
    assert found == ([] if limits is None else [limits, limits])
