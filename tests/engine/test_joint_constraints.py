"""Joint friction, limits, loops, tendons and contacts between bodies: eliminated, and equal to MuJoCo's solution."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import mujoco
import numpy as np
import pytest
from engine import reference
from pairs import paired
from real_robots import FILES, real_robot

import footfall as ff
from footfall.contact.base import CoupledLaw
from footfall.contact.setting import Setting
from footfall.engine.constraints.active_set import HOLDS, LIMIT, OPEN, ROUNDS, SLIPS_DOWN, SLIPS_UP
from footfall.engine.constraints.joint_rows import make_joint_rows
from footfall.engine.stages import damping_servos
from footfall.study.bench.speeds import limp

on_real_robots = pytest.mark.parametrize("name", FILES)
# Of the largest acceleration. Both find the same rows and solve the same equations: what is left is rounding times the
# condition of M and of the rows, 1e-13 in the worst state seen.
SAME = 1e-9

# A trunk with a leg, an arm that strikes it, and one of every constraint that MuJoCo knows between joints and bodies.
PUPPET = """
<mujoco model="puppet">
  <option timestep="1e-3"/>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint/><geom type="box" size=".1 .1 .2" mass="5" contype="0" conaffinity="0"/>
      <body name="thigh" pos="0 0 -.2">
        <joint name="hip" axis="0 1 0" frictionloss="2" damping=".5" range="-.4 .4" limited="true"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="1" contype="0" conaffinity="0"/>
        <body name="shank" pos="0 0 -.3">
          <joint name="knee" axis="0 1 0" frictionloss=".3" range="-.1 1" limited="true" margin=".05"
                 solimplimit=".8 .99 .02 .3 3" solreflimit="-300 -20"/>
          <geom name="shank" type="capsule" fromto="0 0 0 0 0 -.15" size=".03" mass="1"/>
          <body name="foot" pos="0 0 -.3">
            <joint name="ankle" axis="0 1 0" solimpfriction=".5 .9 .1 .5 2" frictionloss="1" armature=".01"/>
            <geom type="box" size=".1 .05 .01" mass=".3" contype="0" conaffinity="0"/>
          </body>
        </body>
      </body>
      <body name="arm" pos="0 .1 .1">
        <joint name="shoulder" type="ball" range="0 .5" limited="true"/>
        <geom type="capsule" fromto="0 0 0 0 .3 0" size=".02" mass=".5" contype="0" conaffinity="0"/>
        <body name="hand" pos="0 .3 0">
          <joint name="reach" type="slide" axis="0 1 0" range="-.02 .02" limited="true" frictionloss=".5"/>
          <site name="palm"/><geom name="hand" type="sphere" size=".04" mass=".3"/>
          <body name="finger" pos="0 .1 0">
            <joint name="finger" axis="1 0 0"/><geom type="sphere" size=".02" mass=".1" contype="0" conaffinity="0"/>
            <body name="tip" pos="0 .1 0">
              <joint name="tip" axis="1 0 0"/><geom type="sphere" size=".02" mass=".1" contype="0" conaffinity="0"/>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="cord" frictionloss=".4" range="-.1 .3" limited="true">
      <joint joint="hip" coef="1"/><joint joint="knee" coef="-.6"/>
    </fixed>
  </tendon>
  {equality}
</mujoco>
"""
EQUALITIES = {
    "friction, limits, tendon": "",
    "fixed joint": '<equality><joint joint1="finger" polycoef=".1 0 0 0 0"/></equality>',
    "mimic joint": '<equality><joint joint1="finger" joint2="tip" polycoef="0 .5 .2 0 0"/></equality>',
    "connect": '<equality><connect body1="hand" body2="trunk" anchor="0 -.1 0"/></equality>',
    "weld": '<equality><weld body1="tip" body2="shank"/></equality>',
}


def puppet(equality: str = "friction, limits, tendon") -> ff.Robot:
    spec = mujoco.MjSpec.from_string(PUPPET.format(equality=EQUALITIES[equality]))
    sole = np.array([[x, y, -0.01] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
    return ff.load_robot(spec, feet={"foot": ("foot", sole)})


def real(name: str) -> ff.Robot:
    return real_robot(name, "as-is")


@lru_cache(maxsize=1)
def exact(sim: ff.Simulation) -> mujoco.MjData:
    """Data of the whole model of a simulation, whose solver ends where rounding lets nothing improve.

    Newton's method is there after some 10 of its 40 iterations.
    """
    model, whole = copy.copy(sim.scene.model), sim.robot.model
    model.dof_frictionloss[:] = whole.dof_frictionloss
    model.jnt_limited[:], model.eq_active0[:] = whole.jnt_limited, whole.eq_active0
    model.opt.tolerance, model.opt.ls_tolerance = 0.0, 1e-12
    model.opt.iterations, model.opt.ls_iterations = 40, 300
    return mujoco.MjData(model)


def solved_by_mujoco(sim: ff.Simulation, run: reference.Run, applied: np.ndarray | None = None) -> mujoco.MjData:
    """MuJoCo's own solution at the state of a run, of the whole model, to the last digits; until it is asked again."""
    data = exact(sim)
    model = data.model
    # The step's: damping acts on the velocity at its end.
    model.dof_armature[:] = sim.scene.model.dof_armature + sim.dt * model.dof_damping
    mujoco.mj_resetData(model, data)
    data.qpos[:], data.qvel[:], data.ctrl[:] = run.data.qpos, run.data.qvel, run.data.ctrl
    if applied is not None:
        data.qfrc_applied[:] = applied
    mujoco.mj_forward(model, data)
    servos = damping_servos(model)
    for actuator, dof, damping, (low, high, least, most) in zip(*servos, strict=True):
        if low < data.actuator_force[actuator] < high and least < data.qfrc_actuator[dof] < most:
            model.dof_armature[dof] += sim.dt * damping
    if servos.dof.size:
        mujoco.mj_forward(model, data)
    return data


def states(robot: ff.Robot, count: int, height: float):
    """Poses around home and above, slow ones and fast ones; the first is home at rest."""
    rng = np.random.default_rng(1)
    for k in range(count):
        size, speed = (0.0, 0.02, 0.3, 0.7)[k % 4], (0.0, 1e-3, 3.0, 0.3)[k % 4]
        change = size * rng.normal(size=robot.model.nv)
        change[:6] *= [0.0, 0.0, 0.0, 0.2, 0.2, 0.2]
        qpos = robot.home.copy()
        mujoco.mj_integratePos(robot.model, qpos, change, 1.0)
        qpos[2] += height
        yield qpos, speed * rng.normal(size=robot.model.nv)


def miss(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def compare_in_the_air(robot: ff.Robot, law: str, count: int) -> set[tuple[str, int]]:
    """Accelerations in the air against MuJoCo's; gives which states of which kinds of rows were met."""
    sim = ff.Simulation(robot, law=law, body_contacts=False)  # contacts between bodies are the law's
    met = set()
    for qpos, qvel in states(robot, count, 3.0):
        run = reference.evaluated(sim, qpos, qvel)
        expected = solved_by_mujoco(sim, run)
        assert run.outcome.status[0] == 0
        assert miss(run.data.qacc, expected.qacc) < SAME
        assert miss(run.data.qfrc_constraint, expected.qfrc_constraint) < SAME
        joints, shared = run.conditions.constraints.joints, run.conditions.constraints.shared
        near = joints.inertia > 0
        met |= set(zip(joints.kind[near], joints.state[near], strict=True))
        n = shared.number[0]
        met |= set(zip(shared.kind[:n] + 100, shared.state[:n], strict=True))
        reference.done(run)
    return met


def test_rows_of_single_joints_have_mujocos_inertia_reference_and_force():
    robot = puppet("fixed joint")
    sim = ff.Simulation(robot)
    for qpos, qvel in states(robot, 12, 3.0):
        run = reference.evaluated(sim, qpos, qvel)
        expected, rows = solved_by_mujoco(sim, run), run.conditions.constraints.joints
        single = np.isin(expected.efc_type, (0, 1)) | (expected.efc_type == LIMIT) & (expected.efc_id != 4)
        found = np.flatnonzero(rows.inertia > 0)
        order = np.lexsort((rows.dof[found], rows.kind[found]))  # as MuJoCo: equalities, friction, limits
        found = found[order]
        assert found.size == single.sum()
        np.testing.assert_allclose(rows.inertia[found], expected.efc_D[single], rtol=1e-12)
        np.testing.assert_allclose(rows.reference[found], expected.efc_aref[single], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(rows.force[found], expected.efc_force[single], rtol=1e-9, atol=1e-9)
        reference.done(run)


@pytest.mark.parametrize("law", ["spring-damper", "time-stepping"])  # one of each kind
@pytest.mark.parametrize("equality", EQUALITIES)
def test_in_the_air_accelerations_are_those_of_mujocos_solver(equality, law):
    met = compare_in_the_air(puppet(equality), law, 40)
    assert {(1, HOLDS), (1, SLIPS_UP), (1, SLIPS_DOWN)} <= met  # friction
    assert {(LIMIT, HOLDS), (LIMIT, OPEN)} <= met
    assert {(102, SLIPS_UP), (102, SLIPS_DOWN), (104, HOLDS)} <= met  # friction and limits of the tendon
    assert (103, HOLDS) in met  # the ball joint's limit
    assert equality in ("friction, limits, tendon", "fixed joint") or (100, HOLDS) in met


@on_real_robots
def test_real_robots_in_the_air_move_as_under_mujocos_solver(name):
    met = compare_in_the_air(real(name), "spring-damper", 24)
    if name != "cassie":  # it has no friction
        assert {(1, HOLDS), (1, SLIPS_UP), (1, SLIPS_DOWN)} <= met
    if name in ("talos", "cassie"):
        assert (100, HOLDS) in met


@pytest.mark.parametrize("law", ["time-stepping", "linearizing-penalty", "constraint-selection"])
@pytest.mark.parametrize("equality", EQUALITIES)
def test_on_the_ground_constraints_are_those_of_mujocos_solver_under_the_laws_forces(equality, law):
    """One solution: given the law's forces, MuJoCo's solver finds the acceleration that the law was solved with."""
    robot = puppet(equality)
    sim = ff.Simulation(robot, law=law)
    loaded, data = 0, mujoco.MjData(sim.scene.model)
    for qpos, qvel in states(robot, 24, -0.01):
        run = reference.evaluated(sim, qpos, qvel)
        if run.contacts.number[0] == 0:
            reference.done(run)
            continue
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_forward(run.model, data)
        jacobian = reference.point_jacobian(run, data).reshape(-1, run.model.nv)
        force = reference.in_world(run, run.points.force).ravel()
        expected = solved_by_mujoco(sim, run, jacobian.T @ force)
        assert miss(run.data.qacc, expected.qacc) < SAME
        loaded += np.abs(force).max() > 1.0
        reference.done(run)
    assert loaded > 5


def test_models_without_such_rows_have_none():
    rows = make_joint_rows(ff.load_robot("ball").model)
    assert rows.kind.size == 0


@on_real_robots
def test_under_law_mujoco_real_robots_fly_as_by_mujocos_own_step(name):
    """Servos, friction, limits, loops, damping and contacts between bodies: 0.2 s of lively flight."""
    robot = real(name)
    sim = ff.Simulation(robot, law="mujoco")
    qpos = robot.home + 3.0 * (np.arange(robot.model.nq) == 2)
    qvel = 2.0 * np.random.default_rng(0).normal(size=robot.model.nv)
    rec = sim.run(0.2, controller=None, qpos=qpos, qvel=qvel)
    model = reference.exact(sim.scene.model)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, robot.home_ctrl
    for _ in range(200):
        mujoco.mj_step(model, data)
    assert np.abs(rec.qpos[-1] - qpos).max() > 0.05
    np.testing.assert_allclose(rec.qpos[-1], data.qpos, atol=1e-12)


def step_on_points(run: reference.Run, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """MuJoCo's own step with a contact for every point of ours that touches."""
    reference.solve_on_points(run, model, data)
    euler = model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER
    (mujoco.mj_Euler if euler else mujoco.mj_implicit)(model, data)


@on_real_robots
def test_under_law_mujoco_real_robots_land_as_by_mujocos_own_functions(name):
    """The same contacts in MuJoCo's own functions, called one by one: 50 ms of landing."""
    robot = real(name)
    sim = ff.Simulation(robot, law="mujoco")
    qpos = sim.place() - 2e-3 * (np.arange(robot.model.nq) == 2)
    qvel = np.zeros(robot.model.nv)
    qvel[2] = -0.3
    run = reference.Run(sim, 0.05, reference.Task(qpos=qpos, qvel=qvel))
    model = reference.exact(run.model)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, robot.home_ctrl
    loads = []
    while run.advance(1):
        loads.append(reference.in_world(run, run.points.force)[:, 2].sum())
        step_on_points(run, model, data)
        np.testing.assert_allclose(run.data.qpos, data.qpos, atol=1e-12)
    assert max(loads) > 0.25 * robot.weight


#: Each law with two robots, each robot with two laws or more.
SOLVED = [name for name in ff.laws() if name != "mujoco"]
SOLVED_ON = [pair for shift in (0, 3) for pair in paired(list(FILES), SOLVED, shift)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "law"), SOLVED_ON)
def test_real_robots_stand_are_pushed_and_land_with_every_sample_solved(name, law):
    robot = real(name)
    sim = ff.Simulation(robot, law=law)
    controller = None if (robot.model.actuator_biastype != 0).any() else "posture"
    duration = 0.1 if sim.law.event_driven else 0.4
    high = sim.place() + 0.02 * (np.arange(robot.model.nq) == 2)
    push = ff.Push(robot.model.body(1).name, force=(0.3 * robot.weight, 0.1 * robot.weight, 0.0), duration=0.1)
    for start, pushes in ((None, ()), (None, (push,)), (high, ())):
        rec = sim.run(duration, controller=controller, qpos=start, pushes=pushes)
        assert rec.failure is None
        assert not rec.status.any()
        assert np.abs(rec.force).max() > 0.05 * robot.weight


def test_cassie_stands_on_its_springs_and_loops():
    """Held as if its springs were rigid it falls within 0.6 s, and with the gains of robots without springs in 2 s."""
    robot = real("cassie")
    rec = ff.Simulation(robot, law="spring-damper").run(3.0, controller="posture")
    assert rec.qpos[:, 2].min() > 0.98 * rec.qpos[0, 2]
    assert rec.force[-1000:, :, 2].sum(axis=1).mean() == pytest.approx(robot.weight, rel=0.02)


class Values(NamedTuple):
    size: float  # N


def never_the_same(contacts, dt, memory, force, mode, scratch, signals, values):
    """Forces to and fro, each time it is asked, and never called solved."""
    signals[0] += 1.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        force[p, 0], force[p, 1], force[p, 2] = values.size * (1.0 - 2.0 * (signals[0] % 2.0)), 0.0, values.size
        mode[p] = 1
    return 1


@dataclass(frozen=True, kw_only=True)
class NeverSolved(CoupledLaw):
    name = "never-solved"
    citation = "none"
    memory_size = 1
    margin = 0.01
    signals = MappingProxyType({"asked": "times"})
    kernel = staticmethod(never_the_same)

    def resolve(self, setting: Setting) -> Values:
        return Values(size=300.0)


def test_a_law_that_finds_no_solution_is_not_asked_over_and_over():
    """Joint friction slips one way and the other with the law's forces: the rounds end, and the step says unsolved."""
    robot = puppet()
    run = reference.evaluated(ff.Simulation(robot, law=NeverSolved()), robot.home, np.zeros(robot.model.nv))
    assert run.outcome.status[0] == 1
    assert 1 < run.scratch.signals[0] <= ROUNDS


# Straight legs, as many models have at home: the knees rest at the end of their range, without any force there.
STRAIGHT = """
<mujoco model="straight">
  <compiler autolimits="true"/>
  <worldbody>
    <body name="trunk" pos="0 0 1.3">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="pitch" axis="0 1 0"/>
      <geom type="capsule" size=".07 .3"/>
      {legs}
    </body>
  </worldbody>
  <actuator>{servos}</actuator>
</mujoco>
"""
STRAIGHT_LEG = """
<body name="{side}_thigh" pos="0 {y} -.3">
  <joint name="{side}_hip" armature=".05" axis="0 -1 0" range="-20 100"/>
  <geom type="capsule" pos="0 0 -.225" size=".05 .225"/>
  <body name="{side}_shank" pos="0 0 -.7">
    <joint name="{side}_knee" armature=".05" pos="0 0 .25" axis="0 -1 0" range="-150 0"/>
    <geom type="capsule" size=".04 .25"/>
    <body name="{side}_foot" pos=".06 0 -.25">
      <joint name="{side}_ankle" armature=".05" pos="-.06 0 0" axis="0 -1 0" range="-45 45"/>
      <geom type="capsule" zaxis="1 0 0" size=".05 .1"/>
    </body>
  </body>
</body>
"""


@pytest.mark.parametrize("law", ff.laws())
def test_a_joint_that_rests_at_its_limit_is_solved_in_every_step(law):
    """Its row is left with the rounding of forces that cancel, which says nothing of whether it holds."""
    legs = "".join(STRAIGHT_LEG.format(side=side, y=y) for side, y in (("left", 0.05), ("right", -0.05)))
    joints = [f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee", "ankle")]
    servos = "".join(f'<position joint="{joint}" kp="1000" kv="20"/>' for joint in joints)
    robot = ff.load_robot(mujoco.MjSpec.from_string(STRAIGHT.format(legs=legs, servos=servos)))
    rec = ff.Simulation(robot, law=law, dt=1e-3).run(3.0, controller=None)
    assert np.count_nonzero(rec.status) == 0
    late = rec.slice(2.5)
    # The weight, to what laws with springs still swing after 2.5 s.
    assert late.total_force[:, 2].mean() == pytest.approx(robot.weight, rel=1e-3)
    assert ff.audit(rec).passed


def test_joints_whose_states_repeat_in_a_cycle_are_solved_with_the_contacts():
    """A limp Talos that is let go: from three of these starts a hundred rounds of all rows at once did not end."""
    robot = limp(real_robot("talos"))
    sim = ff.Simulation(robot, law="time-stepping", dt=1e-3)
    for seed in range(11, 19):
        rng = np.random.default_rng(seed)
        speeds = (0.3, 0.2 * rng.uniform(-1.0, 1.0)), 0.3 * (seed % 2) * rng.normal(size=robot.model.nv - 2)
        world = sim.start(qvel=np.concatenate(speeds))
        world.step()
        assert not world.record().status.any()
