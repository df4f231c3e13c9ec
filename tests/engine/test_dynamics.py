"""Our own rigid-body dynamics, against MuJoCo's."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import mujoco
import numpy as np
import pytest
from engine import reference
from plain_python import plainly

import footfall as ff
from footfall.compiled import ByReference, kernel
from footfall.engine.dynamics.inertia import (
    bias,
    composite_inertia,
    factor,
    joint_inertia,
    push_body,
    subtract_body_forces,
)
from footfall.engine.dynamics.joint_forces import damp_servos, joint_forces
from footfall.engine.dynamics.kinematics import integrate_positions, kinematics
from footfall.engine.dynamics.tree import Bodies, Tree, body_lengths, make_tree
from footfall.engine.stages import solve
from footfall.engine.worlds.one_world import world_of
from footfall.errors import SimulationError
from footfall.kinds import shapes

#: Relative: rounding of sums over some fifty dofs.
EXACT = 1e-12
#: The same times the condition of the inertia, some thousands.
SOLVED = 1e-10
DT = 1e-3
PUSH = np.array([3.0, -20.0, 5.0, 0.4, 2.0, -1.0])

# What the menagerie lacks: springs on every kind of joint, coordinates that do not begin at zero, motors and servos
# with limits of every kind.
EXTRAS = """
<mujoco model="extras">
  <option gravity="1 -2 -9"/>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <joint name="base" type="free" stiffness="7"/>
      <geom type="box" size=".1 .15 .2" mass="5" euler="10 20 0"/>
      <body name="thigh" pos="0 .1 -.2" euler="0 10 5">
        <joint name="hip" type="ball" damping=".3" armature=".02" stiffness="30"/>
        <geom type="capsule" fromto="0 0 0 .1 0 -.3" size=".03" mass="1"/>
        <body name="foot" pos="0 0 -.3">
          <joint name="leg" type="slide" axis="0 .1 1" ref=".1" springref="-.2" stiffness="50"/>
          <joint name="ankle" type="hinge" axis="0 1 .2" pos="0 0 .05" ref="20" springref="30" stiffness="4" damping="2"
                 actuatorfrclimited="true" actuatorfrcrange="-.5 .7"/>
          <geom type="box" size=".1 .05 .02" mass=".5"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="leg" gear="3" ctrllimited="true" ctrlrange="-.4 .2"/>
    <position joint="leg" kp="40" kv="3" forcelimited="true" forcerange="-2 1"/>
    <position joint="ankle" kp="5" kv=".1" gear="2"/>
    <general joint="ankle" gaintype="affine" gainprm="2 .5 -.3" biastype="affine" biasprm=".1 -.2 -.3"/>
  </actuator>
</mujoco>
"""

#: The same under the integrator whose servos may damp a motion within a step, without the one that control damps; in
#: some of the states below they are at their limits.
IMPLICIT = EXTRAS.replace("<option", '<option integrator="implicitfast"').replace('kv="', 'kv="50')
IMPLICIT = IMPLICIT.replace(EXTRAS[EXTRAS.index("<general") : EXTRAS.index("  </actuator>")], "")
IMPLICIT = IMPLICIT.replace('forcerange="-2 1"', 'forcerange="-300 200"').replace('range="-.5 .7"', 'range="-120 90"')


@cache
def model_of(name: str) -> mujoco.MjModel:
    if name == "extras":
        model = mujoco.MjModel.from_xml_string(EXTRAS)
    elif name == "implicit servos":
        model = mujoco.MjModel.from_xml_string(IMPLICIT)
    elif name == "menagerie":
        model = reference.menagerie().model
    else:
        model = ff.load_robot(name).model
    model.opt.timestep = DT
    return model


ROBOTS = ("extras", "implicit servos", "menagerie", *ff.robots())
everywhere = pytest.mark.parametrize("name", ROBOTS)


class Rows(NamedTuple):
    """What the world of a batch takes beside its bodies; a step without constraints does not read it."""

    qfrc_constraint: np.ndarray


def rigid_step(tree, bodies, body, wrench, dt):
    kinematics(tree, bodies)
    bias(tree, bodies)
    composite_inertia(tree, bodies)
    joint_inertia(tree, bodies, dt)
    damp_servos(tree, bodies, dt)
    joint_forces(tree, bodies)
    push_body(tree, bodies, body, wrench)
    subtract_body_forces(tree, bodies)
    factor(tree, bodies)
    solve(world_of(tree, bodies, Rows(bodies.qfrc_smooth)), bodies.qacc, bodies.qfrc_smooth)
    for j in range(bodies.qacc.size):
        bodies.qvel[j] += dt * bodies.qacc[j]
    integrate_positions(tree, bodies.qpos, bodies.qvel, dt)


_compiled = kernel(rigid_step)


def compiled_step(tree: Tree, bodies: Bodies, *others) -> None:
    """The same, compiled; of parts that are compiled for many worlds, which hold their tuples by reference."""
    _compiled(ByReference(tree), ByReference(bodies), *others)


def random_world(model: mujoco.MjModel, seed: int) -> tuple[Tree, Bodies, mujoco.MjData]:
    """A random state for both."""
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, rng.uniform(-1, 1, model.nv), 1.0)
    data.qvel[:] = rng.normal(size=model.nv)
    data.ctrl[:] = rng.normal(size=model.nu)
    tree = make_tree(model)
    lengths = body_lengths(model, tree)
    bodies = Bodies(**{name: np.full(shape, np.nan) for name, shape in shapes(Bodies, lengths).items()})
    bodies.body_mass[:], bodies.body_inertia[:] = model.body_mass, model.body_inertia
    bodies.qpos[:], bodies.qvel[:], bodies.ctrl[:] = data.qpos, data.qvel, data.ctrl
    return tree, bodies, data


def mujoco_step(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> None:
    """MuJoCo's semi-implicit step of the same, without any constraint."""
    flags, model.opt.disableflags = model.opt.disableflags, int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data.xfrc_applied[body] = PUSH
    mujoco.mj_step(model, data)
    model.opt.disableflags = flags


def close(found: np.ndarray, expected: np.ndarray, bound: float) -> bool:
    return bool(np.abs(found - expected).max(initial=0.0) <= 0.8 * bound * max(1.0, np.abs(expected).max(initial=0.0)))


@everywhere
@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_mujocos_step(name, seed):
    model = model_of(name)
    tree, bodies, data = random_world(model, seed)
    pushed = model.nbody // 2
    compiled_step(tree, bodies, pushed, PUSH, DT)
    mujoco_step(model, data, pushed)
    assert close(bodies.xpos, data.xpos, EXACT)
    assert close(bodies.xmat, data.xmat, EXACT)
    assert close(bodies.cdof, data.cdof, EXACT)
    assert close(bodies.cdof_dot, data.cdof_dot, EXACT)
    assert close(bodies.cvel, data.cvel, EXACT)
    applied = np.zeros(model.nv)
    mujoco.mj_applyFT(model, data, PUSH[:3], PUSH[3:], data.xipos[pushed], pushed, applied)
    assert close(bodies.qfrc_smooth, data.qfrc_smooth, EXACT)
    assert np.abs(applied).max() > 1.0  # the push was felt
    # MuJoCo's qacc knows nothing of the damping at the end of the step; its velocities do.
    assert close(bodies.qvel, data.qvel, EXACT)
    assert close(bodies.qpos, data.qpos, EXACT)


@everywhere
def test_the_inertia_and_its_factors_are_mujocos(name):
    model = model_of(name)
    tree, bodies, data = random_world(model, 5)
    mujoco.mj_forward(model, data)
    plainly(kinematics)(tree, bodies)
    plainly(composite_inertia)(tree, bodies)
    plainly(joint_inertia)(tree, bodies, 0.0)
    assert close(bodies.qLD, data.M, EXACT)
    plainly(factor)(tree, bodies)
    assert close(bodies.qLD, data.qLD, SOLVED)
    assert close(bodies.qLDiagInv, data.qLDiagInv, SOLVED)


def test_the_kernels_run_as_plain_python():
    model = model_of("extras")
    tree, compiled, _ = random_world(model, 1)
    _, plain, _ = random_world(model, 1)
    compiled_step(tree, compiled, 2, PUSH, DT)
    plainly(rigid_step)(tree, plain, 2, PUSH, DT)
    assert close(plain.qpos, compiled.qpos, EXACT)
    assert close(plain.qacc, compiled.qacc, SOLVED)


def test_what_is_not_computed_is_refused():
    loop = (
        "<mujoco><worldbody><body name='a'><joint/><geom size='.1'/></body></worldbody><equality>{}</equality></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(loop.format("<connect body1='a' anchor='0 0 0'/>"))
    with pytest.raises(SimulationError, match="equality constraints"):
        make_tree(model)
    windy = mujoco.MjModel.from_xml_string("<mujoco><option density='1'/></mujoco>")
    with pytest.raises(SimulationError, match="air or water"):
        make_tree(windy)
