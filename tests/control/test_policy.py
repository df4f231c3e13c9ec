"""Learned policies: what they observe equals MuJoCo's sensors, what they do is what their contract says."""

from __future__ import annotations

import copy
import json
import math
import pickle
import runpy
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import mujoco
import numpy as np
import pytest
from onnx_files import write_linear
from shared_files import SHARED, needs

import footfall as ff
from footfall.control import Policy
from footfall.control.policy import ready
from footfall.control.policy.contract import as_contract, read_layouts
from footfall.control.policy.observation import Frame, lay_out
from footfall.errors import ControllerError
from footfall.live import LiveView
from footfall.simulation.worlds import Worlds

pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install footfall[policy]")

LEG = """
<body name="{s}_hip" pos="0.02 {y} -0.05" euler=".05 .1 .12">
  <joint name="{s}_hip_pitch_joint" axis="0 1 0" pos="0.01 0.02 -0.03" range="-2 2"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass="1"/>
  <body name="{s}_shin" pos="0 0 -.2">
    <joint name="{s}_knee_joint" axis="0 1 0" range="-2 2"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".5"/>
    <body name="{s}_foot" pos="0 0 -.2">
      <joint name="{s}_ankle_pitch_joint" axis="0 1 0" range="-2 2"/>
      <geom type="box" size=".08 .04 .01" mass=".3"/>
    </body>
  </body>
</body>"""
MODEL = """
<mujoco><compiler angle="radian" eulerseq="xyz"/><default><joint armature=".02"/></default><worldbody>
  <body name="pelvis" pos="0 0 .5"><freejoint/><geom type="box" size=".1 .1 .05" mass="4" contype="0" conaffinity="0"/>
    <site name="imu" pos=".03 .01 -.02" euler=".2 .4 .5"/>
    <body name="torso" pos="0 .01 .1" euler=".07 .05 .04"><joint name="waist" axis=".6 0 .8" pos=".01 0 .02" ref=".1"/>
      <geom type="box" size=".05 .05 .1" mass="2" contype="0" conaffinity="0"/>
      <body name="head" pos="0 0 .2"><joint name="neck" type="slide" axis="0 0 1" range="-.1 .1"/>
        <geom type="sphere" size=".05" mass=".5" contype="0" conaffinity="0"/>
        <site name="eye" pos=".05 0 .02" euler="0 -.3 .1"/></body></body>{legs}
  </body></worldbody>
<actuator>{actuators}</actuator>
<sensor><velocimeter name="v_imu" site="imu"/><gyro name="w_imu" site="imu"/></sensor>
<keyframe><key name="bent" qpos="0 0 .5 1 0 0 0 0.1 0 -.3 .6 -.3 -.3 .6 -.3"/></keyframe></mujoco>"""
JOINTS = [f"{side}_{name}_joint" for side in ("left", "right") for name in ("hip_pitch", "knee", "ankle_pitch")]


def robot_of(actuator: str) -> ff.Robot:
    legs = "".join(LEG.format(s=side, y=y) for side, y in (("left", 0.08), ("right", -0.08)))
    xml = MODEL.format(legs=legs, actuators="".join(actuator.format(j=joint) for joint in JOINTS))
    return ff.load_robot(mujoco.MjSpec.from_string(xml), feet=["left_foot", "right_foot"], pose="bent", name="small")


SERVOS = '<position name="{j}" joint="{j}" kp="30" kv="1" gear="1.5"/>'
MOTORS = '<motor name="{j}" joint="{j}" gear="2"/>'


@pytest.fixture(scope="module")
def servos() -> ff.Robot:
    return robot_of(SERVOS)


@pytest.fixture(scope="module")
def motors() -> ff.Robot:
    return robot_of(MOTORS)


def contract(**given):
    table = {"name": "test", "parts": ["gyro", "joints", "command"], "command": {"default": [0.0, 0.0, 0.0]}}
    return as_contract(table | given)


def test_velocities_in_a_frame_are_those_of_mujocos_sensors(servos):
    model, rng = servos.model, np.random.default_rng(0)
    data = mujoco.MjData(model)
    frame = Frame(servos, ("imu",), np.zeros(1), "test")
    for _ in range(5):
        data.qpos[:], data.qvel[:] = servos.home + rng.normal(0, 0.3, model.nq), rng.normal(0, 1, model.nv)
        data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
        mujoco.mj_forward(model, data)
        v, w, g = (one[0] for one in frame.motion(data.qpos[None].copy(), data.qvel[None].copy()))
        np.testing.assert_allclose(v, data.sensor("v_imu").data, atol=1e-12)
        np.testing.assert_allclose(w, data.sensor("w_imu").data, atol=1e-12)
        np.testing.assert_allclose(g, data.site("imu").xmat.reshape(3, 3).T @ [0, 0, -1], atol=1e-12)
    with pytest.raises(ControllerError, match="'eye' is not fixed to the base of"):
        Frame(servos, ("eye",), np.zeros(1), "test")


def test_the_velocity_of_the_bases_centre_of_mass_is_mujocos(servos):
    model = copy.copy(servos.model)
    model.body("pelvis").ipos[:], model.body("pelvis").sameframe[:] = (0.02, -0.03, 0.04), 0
    robot = replace(servos, model=model)
    data, velocity, rng = mujoco.MjData(robot.model), np.zeros(6), np.random.default_rng(0)
    data.qpos[:], data.qvel[:] = robot.home, rng.normal(0, 1, robot.model.nv)
    data.qpos[3:7] = np.array([0.5, 0.5, -0.1, 0.7]) / np.linalg.norm([0.5, 0.5, -0.1, 0.7])
    mujoco.mj_forward(robot.model, data)
    pelvis = data.body("pelvis")
    mujoco.mj_objectVelocity(robot.model, data, mujoco.mjtObj.mjOBJ_BODY, pelvis.id, velocity, 0)
    v, _, _ = Frame(robot, ("base-com",), np.zeros(1), "test").motion(data.qpos[None].copy(), data.qvel[None].copy())
    np.testing.assert_allclose(v[0], pelvis.xmat.reshape(3, 3).T @ velocity[3:], atol=1e-12)


def test_joints_in_breadth_first_order_go_from_the_base_outward(servos):
    layout = lay_out(contract(joints="breadth-first"), servos)
    assert layout.names == tuple(JOINTS[i] for i in (0, 3, 1, 4, 2, 5))


QUADRUPED = """<mujoco><worldbody><body name="trunk"><freejoint/><geom size=".1" mass="5"/>{legs}</body></worldbody>
<actuator>{actuators}</actuator></mujoco>"""
HIP = """<body name="{s}_hip" pos="{x} {y} 0"><joint name="{s}_hip_joint"/><geom size=".03" mass="1"/>
<body name="{s}_calf" pos="0 0 -.2"><joint name="{s}_calf_joint" axis="0 1 0"/><geom size=".02" mass=".2"/></body>
</body>"""
CORNERS = {"FR": (0.2, -0.1), "FL": (0.2, 0.1), "RR": (-0.2, -0.1), "RL": (-0.2, 0.1)}


def quadruped() -> ff.Robot:
    """Legs in the order of Unitree's motors, FR, FL, RR, RL, in which MuJoCo's models of theirs often have them."""
    legs = "".join(HIP.format(s=name, x=x, y=y) for name, (x, y) in CORNERS.items())
    joints = [f"{name}_{joint}_joint" for name in CORNERS for joint in ("hip", "calf")]
    xml = QUADRUPED.format(legs=legs, actuators="".join(f'<motor joint="{one}"/>' for one in joints))
    return ff.load_robot(mujoco.MjSpec.from_string(xml), feet=[f"{one}_calf" for one in CORNERS], name="four")


def test_links_of_one_parent_are_in_the_order_of_their_names_as_in_isaac_sim():
    layout = lay_out(contract(joints="breadth-first"), quadruped())
    legs = ("FL", "FR", "RL", "RR")
    assert layout.names == tuple(f"{leg}_{joint}_joint" for joint in ("hip", "calf") for leg in legs)


@pytest.mark.parametrize("gear", [SERVOS, MOTORS])
def test_gains_of_a_contract_make_the_torque_that_they_say(gear):
    robot = robot_of(gear)
    gains = {"stiffness": {"hip": 50.0, "knee": 70.0, "ankle": 20.0}, "damping": 1.5, "limit": 12.0}
    made = contract(servos=gains, action={"scale": 0.3})
    actions = np.linspace(-1.0, 1.0, 6)
    policy = Policy(lambda seen: np.tile(actions, (len(seen), 1)), contract=made)
    asked = policy.start(robot, ff.Ground.plane(), 1e-3)
    data = mujoco.MjData(robot.model)
    rng = np.random.default_rng(1)
    data.qpos[:], data.qvel[:] = robot.home, rng.normal(0, 0.5, robot.model.nv)
    points = robot.point_count
    data.ctrl[:] = asked.controls(
        0.0, data.qpos[None], data.qvel[None], np.zeros((1, points)), np.zeros((1, points, 3))
    )
    mujoco.mj_forward(robot.model, data)
    angle, speed = data.qpos[9:], data.qvel[8:]
    stiffness = np.tile([50.0, 70.0, 20.0], 2)
    wanted = np.clip(stiffness * (robot.home[9:] + 0.3 * actions - angle) - 1.5 * speed, -12.0, 12.0)
    np.testing.assert_allclose(data.qfrc_actuator[8:], wanted, rtol=1e-9, atol=1e-9)


def test_targets_of_servos_are_in_units_of_their_gear(servos):
    policy = Policy(lambda seen: np.full((len(seen), 6), 0.5), contract=contract(action={"scale": 0.2}))
    rec = ff.Simulation(servos).run(0.05, controller=policy)
    np.testing.assert_allclose(rec.ctrl[1:], np.tile(1.5 * (servos.home[9:] + 0.1), (len(rec) - 1, 1)))


def test_motors_without_gains_are_refused(motors):
    with pytest.raises(ControllerError, match="stiffness and damping"):
        ff.Simulation(motors).run(0.01, controller=Policy(lambda seen: np.zeros((1, 6)), contract=contract()))


# ---- the contracts of four frameworks ---------------------------------------------------------------------------

#: What an observation of ``n`` joints counts, by the documentation of each framework.
SIZES = {
    "playground:joystick": lambda n: 12 + 3 * n,
    "playground:joystick-phase": lambda n: 16 + 3 * n,
    "playground:joystick-history": lambda n: 3 * (9 + 2 * n),
    "playground:joystick-long-history": lambda n: 15 * (7 + 2 * n),
    "mjlab:flat": lambda n: 12 + 3 * n,
    "mjlab:rough": lambda n: 12 + 3 * n + 187,
    "isaac-lab:flat": lambda n: 12 + 3 * n,
    "isaac-lab:rough": lambda n: 12 + 3 * n + 187,
    "unitree-rl-gym:phase": lambda n: 11 + 3 * n,
}


@pytest.mark.parametrize("name", SIZES)
def test_ready_contracts_have_the_sizes_of_their_frameworks(name):
    robot = robot_of(MOTORS if name.startswith("unitree") else SERVOS)
    (made,) = read_layouts(name)
    layout = lay_out(made, robot)
    seen, driven = len(layout.joints), len(layout.actuators)
    assert layout.size == SIZES[name](driven) + made.history * (seen - driven) * (
        sum(part.part.startswith("joint") for part in made.parts)
    )


def test_every_ready_contract_is_read():
    assert {"playground", "mjlab", "isaac-lab", "unitree-rl-gym"} == set(ready())
    for name in ready():
        assert read_layouts(name)


def test_the_size_of_a_policy_chooses_the_layout(servos, tmp_path):
    for layout in read_layouts("playground"):
        size = lay_out(layout, servos).size
        file = write_linear(tmp_path / "policy.onnx", np.zeros((size, 6)), np.zeros(6))
        assert Policy(file, contract="playground").fit(servos).contract.name == layout.name


def test_a_policy_says_itself_which_joints_pose_and_gains_it_has(servos, tmp_path):
    names = [JOINTS[i] for i in (3, 0, 4, 1, 5, 2)]
    said = {
        "joint_names": ",".join(names),
        "default_joint_pos": ",".join(["0.100"] * 6),
        "action_scale": ",".join(f"{0.1 * i:.3f}" for i in range(1, 7)),
        "joint_stiffness": ",".join(["30.0"] * 6),
        "joint_damping": ",".join(["1.0"] * 6),
        "observation_names": "base_ang_vel,projected_gravity,joint_pos,actions,command",
    }
    file = write_linear(tmp_path / "policy.onnx", np.zeros((3 + 3 + 6 + 6 + 3, 6)), np.zeros(6), said)
    layout = Policy(file).fit(servos)
    assert layout.names == tuple(names)
    assert [part.part for part in layout.contract.parts] == ["gyro", "gravity", "joints", "last-action", "command"]
    np.testing.assert_allclose(layout.pose, 0.1)
    assert layout.contract.servos.stiffness == (30.0,) * 6
    assert layout.contract.action.scale == pytest.approx((0.1, 0.2, 0.3, 0.4, 0.5, 0.6))


def test_a_policy_says_itself_what_it_observes_and_is_refused_for_what_is_not_known(servos, tmp_path):
    said = {"joint_names": ",".join(JOINTS), "observation_names": "command,base_ang_vel,height_scan"}
    file = write_linear(tmp_path / "policy.onnx", np.zeros((193, 6)), np.zeros(6), said)
    layout = Policy(file).fit(servos)
    assert [part.part for part in layout.contract.parts] == ["command", "gyro", "heights"]
    assert layout.contract.parts[1].frame[0] == "imu_in_pelvis"
    said["observation_names"] = "motion_anchor_pos_b,base_ang_vel"
    with pytest.raises(ControllerError, match="observes 'motion_anchor_pos_b'"):
        Policy(write_linear(tmp_path / "policy.onnx", np.zeros((6, 6)), np.zeros(6), said))


def test_a_policy_of_several_observations_at_once_is_refused(servos, tmp_path):
    file = write_linear(tmp_path / "policy.onnx", np.zeros((12, 6)), np.zeros(6), batch=5)
    with pytest.raises(ControllerError, match=r"an input of shape \[5, 12\], and not one observation, \[1, n\]"):
        Policy(file, contract=contract()).fit(servos)


def test_a_contract_of_ones_own_stands_whatever_the_policy_says(servos, tmp_path):
    said = {
        "joint_names": ",".join(reversed(JOINTS)),
        "default_joint_pos": ",".join(["0.1"] * 6),
        "action_scale": "0.7",
        "observation_names": "command",
    }
    file = write_linear(tmp_path / "policy.onnx", np.zeros((12, 6)), np.zeros(6), said)
    layout = Policy(file, contract=contract(joints=list(JOINTS), action={"scale": 0.3})).fit(servos)
    assert layout.names == tuple(JOINTS)
    assert layout.contract.action.scale == 0.3


def test_a_policy_that_takes_five_times_as_much_has_histories_by_part(servos, tmp_path):
    (flat,) = read_layouts("isaac-lab:flat")
    single = lay_out(flat, servos)
    file = write_linear(tmp_path / "policy.onnx", np.zeros((5 * single.size, 6)), np.zeros(6))
    layout = Policy(file, contract="isaac-lab").fit(servos)
    assert layout.size == 5 * single.size
    assert {part.history for part in layout.contract.parts} == {5}
    seen, _ = observed(servos, contract(parts=["joints", "joint-speeds"], history=5, by_part=True))
    each = seen.reshape(len(seen), 2, 5, 6)
    assert not np.array_equal(each[6, 0, -1], each[5, 0, -1])
    np.testing.assert_array_equal(each[0], np.repeat(each[0][:, -1:], 5, axis=1))
    np.testing.assert_array_equal(each[6][:, 0], each[2][:, -1])


def test_a_torchscript_policy_with_a_memory_keeps_it_for_each_world(motors, tmp_path):
    torch = pytest.importorskip("torch", reason='needs PyTorch: pip install "footfall[train]"')

    class Remembers(torch.nn.Module):  # as legged_gym and rsl_rl export policies with an LSTM
        def __init__(self):
            super().__init__()
            self.actor, self.memory = torch.nn.Linear(8, 6), torch.nn.LSTM(29, 8)
            self.register_buffer("hidden_state", torch.zeros(1, 1, 8))
            self.register_buffer("cell_state", torch.zeros(1, 1, 8))

        def forward(self, x):
            out, (h, c) = self.memory(x.unsqueeze(0), (self.hidden_state, self.cell_state))
            self.hidden_state[:] = h
            self.cell_state[:] = c
            return self.actor(out.squeeze(0))

    torch.manual_seed(0)
    torch.jit.script(Remembers()).save(str(tmp_path / "motion.pt"))
    policy = Policy(tmp_path / "motion.pt", contract="unitree-rl-gym")
    sim = ff.Simulation(motors, law="spring-damper", dt=2e-3)
    worlds = Worlds(sim, 2, friction=[0.3, 0.9], qpos=sim.place(), fall=0.0)
    found = worlds.run(0.2, controller=policy, record=range(2))
    for w, friction in enumerate((0.3, 0.9)):
        alone = ff.Simulation(motors, law="spring-damper", dt=2e-3, ground=ff.Ground.plane(friction=friction))
        rec = alone.run(0.2, controller=policy, qpos=sim.place())
        np.testing.assert_allclose(found[w].qpos, rec.qpos, atol=1e-6)  # networks compute in single precision


# ---- what is wrong is said in a sentence ------------------------------------------------------------------------


def test_a_wrong_size_is_explained_part_by_part(servos, tmp_path):
    file = write_linear(tmp_path / "policy.onnx", np.zeros((48, 6)), np.zeros(6))
    with pytest.raises(ControllerError, match=r"takes 48 numbers.*gives 14 \(gyro 3, joints 8, command 3\)"):
        Policy(file, contract=contract(joints="model")).start(servos, ff.Ground.plane(), 0.02)


def test_a_wrong_number_of_actions_is_refused(servos, tmp_path):
    file = write_linear(tmp_path / "policy.onnx", np.zeros((12, 5)), np.zeros(5))
    with pytest.raises(ControllerError, match=r"actions of shape .1, 5., and small has 6 joints"):
        Policy(file, contract=contract()).start(servos, ff.Ground.plane(), 0.02)


def test_a_damaged_file_is_refused(tmp_path):
    good = write_linear(tmp_path / "policy.onnx", np.zeros((12, 6)), np.zeros(6)).read_bytes()
    for cut in (0, 7, len(good) // 2, len(good) - 3):
        (tmp_path / "cut.onnx").write_bytes(good[:cut])
        with pytest.raises(ControllerError, match="no ONNX file"):
            Policy(tmp_path / "cut.onnx", contract=contract())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"parts": ["gyros"]}, "did you mean 'gyro'"),
        ({"parts": []}, "observes nothing"),
        ({"parts": ["phase-cos"]}, "no .clock."),
        ({"joints": "sideways"}, "breadth-first"),
        ({"joints": ["left_knee"]}, "no joint is called 'left_knee'"),
        ({"control_dt": 0.0}, "must be a number > 0"),
        ({"controldt": 0.1}, "did you mean 'control_dt'"),
        ({"action": {"scale": [1.0, 2.0]}}, "2 numbers, and there are 6"),
        ({"action": {"scales": 1.0}}, "did you mean 'scale'"),
        ({"pose": {"hip": 0.1}}, "no number for joint"),
        ({"sensors": {"gyro": {"noise": "much"}}}, "must be a number"),
        ({"parts": [{"part": "gyro", "frame": ["nose"]}]}, "no site or body called nose"),
    ],
)
def test_a_wrong_contract_is_refused_in_a_sentence(servos, given, said):
    with pytest.raises(ControllerError, match=said):
        Policy(lambda seen: np.zeros((len(seen), 6)), contract=contract(**given)).start(servos, ff.Ground.plane(), 0.02)


def test_unknown_contracts_and_files_are_named(tmp_path):
    with pytest.raises(ControllerError, match="did you mean 'playground'"):
        Policy(lambda seen: seen, contract="playgroud")
    with pytest.raises(ControllerError, match="there is no policy"):
        Policy(tmp_path / "none.onnx", contract="playground")
    with pytest.raises(ControllerError, match="needs a contract"):
        Policy(lambda seen: seen)


# ---- time: latency, sensors, clocks -----------------------------------------------------------------------------


def observed(robot, made, duration=0.2, **options):
    """The observations that a policy saw in a run in which its joints swing, and the recording."""
    seen = []

    def policy(observation):
        seen.append(observation[0].copy())
        return np.full((1, 6), math.sin(0.3 * len(seen)))

    given = Policy(policy, contract=made, **options)
    rec = ff.Simulation(robot, dt=1e-3).run(duration, controller=given)
    return np.array(seen[1:]), rec  # the first was the trial with zeros


PARTS = {"parts": ["gyro", "joints"], "action": {"scale": 0.05}, "command": {}}


def test_a_latency_shifts_the_controls(servos):
    late = contract(**PARTS, latency=0.007)
    _, rec = observed(servos, contract(**PARTS))
    _, shifted = observed(servos, late)
    first = int(np.argmax(np.any(rec.ctrl != 1.5 * servos.home[9:], axis=1)))
    again = int(np.argmax(np.any(shifted.ctrl != 1.5 * servos.home[9:], axis=1)))
    assert again - first == 7


def test_sensors_are_exact_unless_asked_and_repeat_with_their_seed(servos):
    sensors = {"gyro": {"noise": 0.2, "bias": 0.1}, "joints": {"noise": 0.01}}
    exact, _ = observed(servos, contract(**PARTS))
    off, _ = observed(servos, contract(**PARTS, sensors=sensors))
    np.testing.assert_array_equal(exact, off)
    once, _ = observed(servos, contract(**PARTS, sensors=sensors), noise=1.0, seed=3)
    again, _ = observed(servos, contract(**PARTS, sensors=sensors), noise=1.0, seed=3)
    other, _ = observed(servos, contract(**PARTS, sensors=sensors), noise=1.0, seed=4)
    np.testing.assert_array_equal(once, again)
    assert np.abs(once - other).min() > 0.0


def test_noise_has_the_deviation_that_the_contract_gives(servos):
    # 400 observations of 6 numbers: the deviation is known to 1.5 % (one standard error), asked for to 5 %.
    still = {"parts": ["joints"], "command": {}, "control_dt": 0.001, "action": {"scale": 0.0}}
    made = contract(**still, sensors={"joints": {"noise": 0.02}})
    noisy, rec = observed(servos, made, duration=0.4, noise=1.0)
    truth = rec.qpos[: len(noisy), 9:] - servos.home[9:]
    assert np.std(noisy - truth) == pytest.approx(0.02, rel=0.05)


def test_a_delay_shows_what_was_and_a_rate_holds_it(servos):
    sensors = {"joints": {"delay": 0.006, "rate": 100.0}}
    made = contract(**PARTS | {"parts": ["joints"]}, sensors=sensors, control_dt=0.004)
    seen, rec = observed(servos, made, noise=1.0)
    angles = rec.qpos[:, 9:] - servos.home[9:]
    for k, values in enumerate(seen):
        measured = 4 * k // 10 * 10  # ms, when the sensor was read last
        np.testing.assert_allclose(values, angles[max(0, measured - 6)], atol=1e-12)


def test_a_clock_runs_with_time_and_rests_without_a_command(servos):
    clock = {"frequency": 1.5, "phases": [0.0, math.pi], "rest": math.pi, "still": 0.01}
    made = contract(parts=["phase-cos", "phase-sin", "command"], clock=clock, action={"scale": 0.0})
    walking, _ = observed(servos, made, command=(1.0, 0.0, 0.0))
    phase = 2 * math.pi * 1.5 * 0.02 * np.arange(len(walking))
    np.testing.assert_allclose(walking[:, 0], np.cos(phase), atol=1e-9)
    np.testing.assert_allclose(walking[:, 3], np.sin(phase + math.pi), atol=1e-9)
    resting, _ = observed(servos, made, command=(0.0, 0.0, 0.0))
    np.testing.assert_allclose(resting[:, :2], -1.0)


def test_histories_follow_one_another(servos):
    made = contract(**PARTS | {"parts": ["joints"]}, history=3, newest_first=True)
    seen, rec = observed(servos, made)
    angles = (rec.qpos[:, 9:] - servos.home[9:])[::20]
    for k in range(2, len(seen)):
        np.testing.assert_allclose(seen[k], np.concatenate([angles[k], angles[k - 1], angles[k - 2]]), atol=1e-12)


# ---- in runs, studies and worlds --------------------------------------------------------------------------------


def linear(tmp_path: Path, robot: ff.Robot, batch: int | str = 1) -> Policy:
    rng = np.random.default_rng(2)
    file = write_linear(
        tmp_path / f"linear{batch}.onnx", rng.normal(0, 0.1, (12, 6)), rng.normal(0, 0.1, 6), batch=batch
    )
    return Policy(file, contract=contract(), command=(0.3, 0.0, 0.1))


def test_a_policy_travels_to_other_processes(servos, tmp_path):
    policy = linear(tmp_path, servos)
    one, other = (ff.Simulation(servos).run(0.1, controller=p) for p in (policy, pickle.loads(pickle.dumps(policy))))
    np.testing.assert_array_equal(one.qpos, other.qpos)


@pytest.mark.parametrize("batch", [1, "n"])
def test_worlds_ask_for_all_at_once_and_equal_single_runs(servos, tmp_path, batch):
    policy, frictions = linear(tmp_path, servos, batch), [0.3, 0.6, 0.9]
    sim = ff.Simulation(servos, law="spring-damper", dt=1e-3)
    worlds = Worlds(sim, 3, friction=frictions, qpos=sim.place(), fall=0.0)
    found = worlds.run(0.25, controller=policy, record=range(3), record_dt=0.005)
    for w, friction in enumerate(frictions):
        alone = ff.Simulation(servos, law="spring-damper", dt=1e-3, ground=ff.Ground.plane(friction=friction))
        rec = alone.run(0.25, controller=policy, record_dt=0.005, qpos=sim.place())
        assert len(rec) == len(found[w])
        np.testing.assert_allclose(found[w].qpos, rec.qpos, atol=1e-9)
        np.testing.assert_allclose(found[w].ctrl, rec.ctrl, atol=1e-6)


def test_sliders_of_a_live_view_steer_a_policy(servos):
    made = contract(command={"default": [0.0, 0.0, 0.0], "low": [-1.0] * 3, "high": [1.0] * 3})
    policy = Policy(lambda seen: np.zeros((len(seen), 6)), contract=made, command=(0.3, 0.0, 0.0))
    with LiveView(ff.Simulation(servos, dt=1e-3), port=0, speed=None) as live:

        def post(ask) -> bytes:
            return urlopen(f"{live.address}command", data=json.dumps({"ask": ask}).encode()).read()

        def move(time: float) -> None:
            post([0.5, 0.1, 0.0])

        rec = live.run(0.2, controller=policy, progress=move)
        with urlopen(f"{live.address}events") as events:  # what a page shows that is opened now
            shown = next(line for line in events if b'"command"' in line)
        assert b'"value":[0.5,0.1,0.0]' in shown
        assert b"3 finite numbers" in post([1.0])
    assert rec.signals["command"][1].tolist() == [0.3, 0.0, 0.0]
    assert rec.signals["command"][-1].tolist() == [0.5, 0.1, 0.0]


needs_policies = needs("policies")
#: m ahead after 4 s at 0.8 m/s, less the half second in which it gets under way.
AHEAD = 0.8 * 3.5


@needs_policies
@pytest.mark.filterwarnings("ignore:.*files missing")
@pytest.mark.parametrize(("name", "law"), [("go1", "spring-damper"), ("go1", "mujoco"), ("g1", "time-stepping")])
def test_public_policies_walk(name, law):
    folder = SHARED / "policies" / name
    policy = Policy(folder / "policy.onnx", contract="playground", command=(0.8, 0.0, 0.0))
    robot = ff.load_robot(folder / "scene_mjx_feetonly_flat_terrain.xml")
    rec = ff.Simulation(robot, law=law, ground=ff.Ground.plane(friction=0.6), dt=2e-3).run(4.0, controller=policy)
    assert rec.failure is None
    assert not rec.summary()["fell"]
    assert rec.qpos[-1, 0] - rec.qpos[0, 0] > AHEAD
    assert rec.signals["command"][-1].tolist() == [0.8, 0.0, 0.0]


def test_the_example_prints_a_cell_for_each_policy_and_law(tmp_path, monkeypatch, capsys):
    parts = "gravity", "command", "joints"
    for name in ("still", "stiller"):
        (tmp_path / name).mkdir()
        write_linear(tmp_path / name / "policy.onnx", np.zeros((18, 12)), np.zeros(12))
        (tmp_path / name / "policy.toml").write_text(
            f"parts = {json.dumps(parts)}\nservos = {{ stiffness = {[137.0] * 12}, damping = {[4.0] * 12} }}\n"
            "command = { default = [0.3, 0.0, 0.0], low = [0.1, 0.0, 0.0], high = [0.3, 0.1, 0.1] }\n"
        )
    files = [str(tmp_path / name / "policy.onnx") for name in ("still", "stiller")]
    options = ["--laws", "spring-damper", "time-stepping", "--trials", "1", "--duration", "0.5", "--workers", "1"]
    example = Path(__file__).parents[2] / "examples" / "policies_across_laws.py"
    monkeypatch.setattr("sys.argv", [str(example), "quadruped", *files, *options, "--out", str(tmp_path / "table")])
    runpy.run_path(str(example), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:3]}
    for cells in rows.values():  # it stands where it was asked to walk
        assert " ".join(cells).count("0 fall, 1.0") == 2, lines
    assert rows["still"] == rows["stiller"] and lines[-1] == "0 samples unsolved"
