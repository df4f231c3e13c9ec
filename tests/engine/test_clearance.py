"""Collision detection waits until joints have moved as far as bodies are apart, and misses nothing."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from real_robots import FILES, real_robot

import footfall as ff
from footfall.engine.clearance import REACH, SAFE, SERVED, SLACK, levers, may_touch, widen
from footfall.simulation import workspace
from footfall.simulation.run import Run
from footfall.simulation.task import Task

#: Arms that strike each other and a wall, a weight on a slide, a ball that flies into them; all kinds of joints.
CROWD = """
<mujoco>
  <worldbody>
    <geom type="box" size=".02 1 1" pos=".9 0 1"/>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".1 .1 .2"/>
      <body pos="0 .25 .1">
        <joint name="left" type="ball" pos="0 -.05 0" damping=".02"/>
        <geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/>
        <body pos=".4 0 0">
          <joint name="tip" type="slide" axis="1 0 0" range="-.1 .1" limited="true" damping="2"/>
          <geom type="sphere" size=".05" pos=".1 0 0"/>
        </body>
      </body>
      <body pos="0 -.25 .1">
        <joint name="right" axis="0 0 1" pos="0 .05 0" damping=".02"/>
        <geom type="cylinder" fromto="0 0 0 .5 0 0" size=".04"/>
      </body>
      <body name="foot" pos="0 0 -.95">
        <geom name="foot" type="box" size=".3 .3 .05"/>
      </body>
    </body>
    <body pos="-1 0 1.6">
      <freejoint/>
      <geom type="sphere" size=".06" density="300"/>
    </body>
  </worldbody>
  <actuator>
    <motor joint="right" ctrlrange="-9 9"/>
  </actuator>
</mujoco>
"""

#: A block that stands, with two arms on it that hang apart.
FORK = """
<mujoco>
  <worldbody>
    <body name="foot">
      <freejoint/>
      <geom name="foot" type="box" size=".2 .2 .2"/>
      <body pos="0 .3 0">
        <joint axis="1 0 0" damping="1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.1" size=".02"/>
      </body>
      <body pos="0 .4 0">
        <joint axis="1 0 0" damping="1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.1" size=".02"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def crowd() -> ff.Robot:
    with pytest.warns(ff.FootfallWarning, match="nothing touches"):  # the wall, in a run
        return ff.load_robot(mujoco.MjSpec.from_string(CROWD), feet=["foot"])


def distances(model: mujoco.MjModel, qpos: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Of all pairs of points, one inside the ball around each geom of a moving body."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    points = data.geom_xpos + np.einsum("gij,gj->gi", data.geom_xmat.reshape(-1, 3, 3), inside)
    points = points[(model.geom_contype | model.geom_conaffinity).astype(bool)]
    return np.linalg.norm(points[:, None] - points[None, :], axis=2)


@pytest.mark.parametrize("name", ["crowd", "full-humanoid", "planar-biped", *FILES])
def test_no_point_moves_further_than_the_levers_of_the_joints_allow(name):
    robot = crowd() if name == "crowd" else real_robot(name) if name in FILES else ff.load_robot(name)
    model, rng, used = robot.model, np.random.default_rng(3), 0.0
    lever = levers(model)
    assert np.isfinite(lever).all()
    for scale in (0.01, 0.1, 1.0) * 10:
        inside = rng.normal(size=(model.ngeom, 3))
        inside *= model.geom_rbound[:, None] / np.linalg.norm(inside, axis=1, keepdims=True)
        first = np.array(robot.home)
        turn = rng.normal(scale=0.3, size=model.nv)
        turn[[model.jnt_dofadr[j] for j in np.flatnonzero(model.jnt_type == 2)]] *= 0.1
        mujoco.mj_integratePos(model, first, turn, 1.0)
        second = first.copy()
        mujoco.mj_integratePos(model, second, scale * rng.normal(scale=0.3, size=model.nv) * (turn != 0.0), 1.0)
        change = np.abs(distances(model, first, inside) - distances(model, second, inside)).max()
        allowed = float(lever @ np.abs(second - first))
        assert change <= allowed + 1e-12
        used = max(used, change / allowed if allowed else 0.0)
    assert name == "planar-biped" or used > 0.05  # and not by far


def test_what_cannot_be_known_from_joints_is_looked_for_in_every_step():
    endless = CROWD.replace('range="-.1 .1" limited="true"', "")
    assert widen(mujoco.MjModel.from_xml_string(endless)).model is None  # an arm of any length
    assert widen(mujoco.MjModel.from_xml_string(CROWD)).model is not None
    mocap = CROWD.replace('<body name="trunk"', '<body mocap="true"><geom size=".1"/></body><body name="trunk"')
    assert widen(mujoco.MjModel.from_xml_string(mocap)).model is None
    assert not may_touch(ff.load_robot("brick").model)


def run_of(robot: ff.Robot, law: str, duration: float) -> ff.Recording:
    rng = np.random.default_rng(0)
    qvel = np.zeros(robot.model.nv)
    if robot.model.nv == 17:  # the crowd: the ball flies towards the trunk
        qvel[11:14] = 4.0, 0.1, -1.8
    controls = rng.uniform(-1.0, 1.0, size=(200, robot.model.nu)) * np.abs(robot.model.actuator_ctrlrange).max(axis=1)

    def shake(time, state):
        return controls[int(time / 0.02) % len(controls)]

    return ff.Simulation(robot, law=law).run(duration, controller=shake, qvel=qvel)


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("crowd", "spring-damper"),
        ("crowd", "time-stepping"),
        ("crowd", "acceleration-complementarity"),
        ("crowd", "mujoco"),
        ("g1", "mujoco"),
        ("talos", "acceleration-complementarity"),  # two meshes of it come as near as a hair before they touch
        *((name, "spring-damper") for name in FILES),
    ],
)
@pytest.mark.filterwarnings("ignore:springs of spring-damper .* 'body6'")  # a light ball of the crowd
def test_a_run_is_the_same_to_the_last_bit_without_it(name, law, monkeypatch):
    robot = crowd() if name == "crowd" else real_robot(name)
    duration = 0.4 if name == "crowd" else 0.2
    known = run_of(robot, law, duration)
    make = workspace.make_clearance
    monkeypatch.setattr(workspace, "make_clearance", lambda widened: make(widened._replace(model=None)))
    always = run_of(robot, law, duration)
    if law == "acceleration-complementarity":  # with it some ends of macro steps need no evaluation, which corrects
        assert np.allclose(known.qpos, always.qpos, rtol=0.0, atol=1e-10)
    else:
        assert np.array_equal(known.qpos, always.qpos)
        assert np.array_equal(known.force, always.force)
    assert name == "cassie" or touching(known).any()  # whose legs are far apart
    assert not touching(known).all()


def touching(rec: ff.Recording) -> np.ndarray:
    """In which samples two bodies of the robot touch, by MuJoCo's detection."""
    model = rec.robot.model
    data = mujoco.MjData(model)
    found = np.zeros(len(rec), dtype=bool)
    for k, qpos in enumerate(rec.qpos):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        found[k] = data.ncon > 0
    return found


def contacts_at(model: mujoco.MjModel, qpos: np.ndarray) -> np.ndarray:
    """Distances (m) of the contacts that MuJoCo finds in a pose."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    return data.contact.dist.copy()


def first_touch(model: mujoco.MjModel, home: np.ndarray, seed: int) -> np.ndarray:
    """A pose on a random way from home where bodies begin to touch."""
    rng = np.random.default_rng(seed)
    way, low, high = rng.uniform(0.2, 1.0) * rng.normal(size=model.nv), 0.0, 1.0

    def pose(share: float) -> np.ndarray:
        qpos = home.copy()
        mujoco.mj_integratePos(model, qpos, way, share)
        return qpos

    for _ in range(12):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if contacts_at(model, pose(middle)).size else (middle, high)
    return pose(high)


@pytest.mark.parametrize(("name", "seeds"), [("g1", (602, 741, 1805)), ("talos", (1334, 1973, 2155))])
def test_meshes_that_just_touch_are_not_seen_apart(name, seeds):
    """The hardest of thousands of poses: with wide margins MuJoCo finds these meshes apart."""
    robot = real_robot(name)
    widened = widen(robot.model)
    widest = REACH * widened.lever.max()
    for seed in seeds:
        qpos = first_touch(robot.model, robot.home, seed)
        assert contacts_at(robot.model, qpos).size
        seen = contacts_at(widened.model, qpos).min(initial=widest) - widened.margin
        assert seen > 0.0
        assert SAFE * seen < SLACK * widest


def test_a_run_knows_nothing_of_how_far_apart_bodies_were_in_the_one_before():
    sim = ff.Simulation(crowd())
    shaken = np.random.default_rng(3).normal(size=sim.robot.model.nv)
    firsts = []
    for _ in range(2):
        run = Run(sim, 0.3, Task(qvel=shaken))
        run.advance(1)
        clearance = run.conditions.clearance
        firsts.append((clearance.place.copy(), clearance.room.copy(), clearance.looks.copy()))
        run.advance(250)
        assert not np.array_equal(clearance.looks, firsts[0][2])
        run.give_back()
    for first, again in zip(*firsts, strict=True):
        np.testing.assert_array_equal(again, first)


@pytest.fixture
def made(monkeypatch):
    """The clearances of all runs."""
    found, make = [], workspace.make_clearance

    def kept(widened):
        found.append(make(widened))
        return found[-1]

    monkeypatch.setattr(workspace, "make_clearance", kept)
    return found


def test_a_robot_that_stands_is_looked_at_once(made):
    robot = ff.load_robot(mujoco.MjSpec.from_string(FORK), feet=["foot"])
    assert may_touch(robot.model)
    rec = ff.Simulation(robot, law="time-stepping").run(0.5, controller=None)
    assert made[-1].looks[SERVED] == len(rec) - 1  # all but the first, in which MuJoCo is asked what touches
