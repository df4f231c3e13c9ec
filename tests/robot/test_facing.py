"""Which way a robot faces is found from its legs, whatever the axes of its model are, and can be given."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.cli import main
from footfall.errors import FootfallWarning, RobotError, without_warnings
from footfall.robot import Robot, load_robot, robots
from footfall.robot.facing import axis_words

SOLE = '<geom type="box" size="0.1 0.04 0.01" pos="0.06 0 -0.02"/>'
BALL = '<geom type="sphere" size="0.02"/>'
DOG = {"FL": (0.2, 0.1), "FR": (0.2, -0.1), "RL": (-0.2, 0.1), "RR": (-0.2, -0.1)}


def legged(hips: dict, end: str, *, turn: float = 0.0, yaw: float = 0.0, back: str = "", girdle: str = ""):
    """A robot with legs of two links under ``hips`` (x, y), all of it turned in its root by ``turn`` degrees, and the
    root by ``yaw``; the foot of leg ``back`` stands 0.2 m behind, and legs whose names begin with one of the letters of
    ``girdle`` hang on a body with a joint of its own, called as the last lumbar vertebra is.
    """
    legs, hung = "", ""
    for name, (x, y) in hips.items():
        leg = (
            f'<body name="{name}_thigh" pos="{x} {y} 0"><joint name="{name}_pitch" axis="0 1 0"/>'
            '<geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02"/>'
            f'<body name="{name}_shank" pos="{-0.2 * (name == back)} 0 -0.4"><joint name="{name}_knee" axis="0 1 0"/>'
            f"{end}</body></body>"
        )
        hung, legs = (hung + leg, legs) if name[0] in girdle else (hung, legs + leg)
    if hung:
        legs += f'<body name="L_7"><joint axis="0 0 1"/><geom size="0.05"/>{hung}</body>'
    frame = f'<frame euler="0 0 {turn}"><geom type="box" size="0.2 0.1 0.05" mass="5"/>{legs}</frame>'
    body = f'<body name="trunk" pos="0 0 0.5" euler="0 0 {yaw}"><freejoint/>{frame}</body>'
    return mujoco.MjSpec.from_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")


def angle(robot: Robot) -> float:
    return float(np.degrees(robot.heading)) % 360.0


@pytest.mark.parametrize("turn", [0.0, 90.0, 180.0, 190.0, 270.0, 352.0])
@pytest.mark.parametrize("yaw", [0.0, 30.0])
@pytest.mark.parametrize(
    ("hips", "end"),
    [
        (DOG, BALL),
        ({"abad_lf": (0.1, 0.2), "abad_rf": (0.1, -0.2), "abad_lh": (-0.1, 0.2), "abad_rh": (-0.1, -0.2)}, BALL),
        (
            {"foreLeft": (0.2, 0.1), "foreRight": (0.2, -0.1), "backLeft": (-0.2, 0.1), "backRight": (-0.2, -0.1)},
            BALL,
        ),
        ({"LHip": (0.0, 0.1), "RHip": (0.0, -0.1)}, BALL),
        ({"l_hip_r": (0.0, 0.1), "r_hip_r": (0.0, -0.1)}, BALL),
        ({"LL_HR": (0.0, 0.1), "LR_HR": (0.0, -0.1)}, SOLE),
        ({"one": (0.0, 0.1), "two": (0.0, -0.1)}, SOLE),
    ],
    ids=["FL", "lf", "foreLeft", "LHip", "l and r for roll", "leg codes", "no names"],
)
def test_a_robot_faces_where_its_names_and_toes_point_however_it_is_turned(hips, end, turn, yaw):
    robot = load_robot(legged(hips, end, turn=turn, yaw=yaw))
    assert angle(robot) == pytest.approx((turn + yaw) % 360.0, abs=1e-6)
    data = mujoco.MjData(robot.model)
    mujoco.mj_kinematics(robot.model, data)
    assert np.allclose(data.body("trunk").xmat.reshape(3, 3) @ robot.forward_in_root, robot.forward)
    assert robot.facing.doubt == ""


def test_without_names_and_toes_the_line_of_hips_is_the_axis_and_the_root_shows_its_end():
    unnamed = {f"leg{k}": place for k, place in enumerate(DOG.values())}
    assert angle(load_robot(legged(unnamed, BALL))) == 0.0
    assert angle(load_robot(legged(unnamed, BALL, turn=180.0))) == 0.0  # nothing tells front from rear
    with pytest.warns(FootfallWarning, match="nothing shows which end of it is the front"):
        assert angle(load_robot(legged(unnamed, BALL, turn=90.0))) == pytest.approx(90.0)
    square = {"a": (0.2, 0.2), "b": (0.2, -0.2), "c": (-0.2, 0.2), "d": (-0.2, -0.2)}
    assert angle(load_robot(legged(square, BALL, yaw=20.0))) == pytest.approx(20.0)


@pytest.mark.parametrize("turn", [0.0, 90.0, 180.0, 270.0])
def test_a_dog_faces_along_its_spine_though_its_rear_legs_share_a_pelvis(turn):
    unnamed = dict(zip("abcd", DOG.values(), strict=True))
    with without_warnings():  # that thighs overlap the trunk, and that nothing shows which end is the front
        assert angle(load_robot(legged(DOG, BALL, turn=turn, girdle="R"))) == pytest.approx(turn)
        assert angle(load_robot(legged(unnamed, BALL, turn=turn, girdle="cd"))) == pytest.approx(turn % 180.0)


@pytest.mark.parametrize("turn", [0.0, 90.0, 180.0, 270.0])
def test_toes_show_the_front_however_high_the_ankle_is(turn):
    high = '<geom type="box" size="0.1 0.04 0.01" pos="0.04 0 -0.08"/>'
    assert angle(load_robot(legged({"one": (0.0, 0.1), "two": (0.0, -0.1)}, high, turn=turn))) == pytest.approx(turn)


def test_a_foot_put_back_does_not_turn_the_robot():
    coinciding = {"left": (0.0, 0.1), "right": (0.0, -0.1)}
    assert angle(load_robot(legged(coinciding, SOLE, back="left"))) == 0.0


def test_names_that_contradict_each_other_or_the_toes_are_told_of():
    mirrored = {"FL": (0.2, -0.1), "FR": (0.2, 0.1), "RL": (-0.2, -0.1), "RR": (-0.2, 0.1)}
    with pytest.warns(FootfallWarning, match=r"faces \+x .*left and right it faces the other way"):
        load_robot(legged(mirrored, BALL))
    with pytest.warns(FootfallWarning, match="soles reach further back"):
        load_robot(legged({"left": (0.0, -0.1), "right": (0.0, 0.1)}, SOLE))


def test_a_planar_robot_faces_along_its_slide():
    xml = """<mujoco><default><geom conaffinity="0"/></default><worldbody><body name="trunk" pos="0 0 0.5">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>
      <geom size="0.1"/>
      <body name="left"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.2 0 -0.3" size="0.02"/></body>
      <body name="right"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -0.2 0 -0.3" size="0.02"/></body>
      </body></worldbody></mujoco>"""
    assert angle(load_robot(mujoco.MjSpec.from_string(xml))) == 0.0


@pytest.mark.parametrize("name", robots())
def test_built_in_robots_face_along_x(name):
    assert load_robot(name).forward.tolist() == [1.0, 0.0, 0.0]


def test_forward_can_be_given_and_is_kept():
    robot = load_robot(legged(DOG, BALL), forward="-y")
    assert robot.forward.tolist() == [0.0, -1.0, 0.0]
    assert Robot.from_dict(json.loads(json.dumps(robot.to_dict()))) == robot
    assert robot.with_points("vertices").forward.tolist() == [0.0, -1.0, 0.0]
    assert robot != load_robot(legged(DOG, BALL))
    assert load_robot("brick", forward=(3.0, 4.0)).forward == pytest.approx([0.6, 0.8, 0.0])
    older = {key: value for key, value in robot.to_dict().items() if key != "forward"}
    assert Robot.from_dict(older).forward.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("given", ["up", (0.0, 0.0), (0.0, 0.0, 1.0), 3.0, [1.0, np.nan], ("a", "b")])
def test_a_direction_that_is_none_is_refused(given):
    with pytest.raises(RobotError, match="forward is 'x', '-x'"):
        load_robot("brick", forward=given)


def test_the_command_says_which_way_a_robot_faces(capsys, tmp_path):
    path = tmp_path / "dog.xml"
    path.write_text(legged(DOG, BALL, turn=180.0).to_xml())
    assert main(["robots", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "-x of the world in its home pose, by its legs called front and rear, left and right" in said
    assert main(["robots", str(path), "--forward=y", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["forward"] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(("forward", "side"), [("x", "forwards"), ("-x", "backwards"), ("y", "to its right")])
def test_a_fall_is_told_by_the_side_that_the_robot_faced(forward, side):
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="post" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.5"/></body>'
        "</worldbody></mujoco>"
    )
    robot = load_robot(spec, forward=forward)
    push = ff.Push("post", force=(0.5 * robot.weight, 0.0, 0.0), duration=0.4)
    found = ff.measure.fall(ff.Simulation(robot).run(1.5, controller=None, pushes=[push]))
    assert found is not None
    assert found.cause.startswith(f"tipped {side}")


def test_axes_of_plots_are_called_as_the_robot_faces():
    words = {way: axis_words(load_robot("brick", forward=way).forward) for way in ("x", "-x", "y", "-y")}
    assert words["x"] == ("forward", "to the left")
    assert words["-x"] == ("backward", "to the right")
    assert words["y"] == ("to the right", "forward")
    assert words["-y"] == ("to the left", "backward")
    assert axis_words(load_robot("brick", forward=(1.0, 1.0)).forward) == ("along x", "along y")


def test_the_reward_of_walking_is_for_the_way_that_the_robot_faces():
    pytest.importorskip("gymnasium")
    from footfall import learn

    class Seen(learn.Walk):
        def reward(self, qvel, action):
            seen.append(qvel.copy())
            return super().reward(qvel, action)

    speeds = {}
    for way in ("x", "-y"):
        seen: list[np.ndarray] = []
        robot = load_robot("spatial-biped", actuators="position", forward=way)
        envs = learn.WorldsEnv(2, robot=robot, task=Seen(0.3))
        envs.reset(seed=0)
        envs.step(np.full((2, robot.model.nu), 0.3))
        speeds[way] = seen[-1]
    np.testing.assert_allclose(speeds["-y"][:, 0], -speeds["x"][:, 1])
    np.testing.assert_allclose(speeds["-y"][:, 1], speeds["x"][:, 0])
    np.testing.assert_array_equal(speeds["-y"][:, 2:], speeds["x"][:, 2:])
