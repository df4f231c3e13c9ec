"""What MuJoCo's own functions and dense linear algebra say of a state, for comparison with the compiled step."""

from __future__ import annotations

import copy
from functools import cache

import mujoco
import numpy as np

import footfall as ff
from footfall.robot import Robot
from footfall.simulation.run import Run
from footfall.simulation.task import Task

# Every kind of joint, branches, a second tree, a lone body, armature, damping: what a chain of hinges does not show.
MENAGERIE = """
<mujoco model="menagerie">
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint name="base"/>
      <geom type="box" size=".1 .15 .2" mass="5" euler="10 20 0"/>
      <body name="thigh" pos="0 .1 -.2" euler="0 10 5">
        <joint name="hip" type="ball" damping=".3" armature=".02"/>
        <geom type="capsule" fromto="0 0 0 .1 0 -.3" size=".03" mass="1"/>
        <body name="foot" pos="0 0 -.3">
          <joint name="leg" type="slide" axis="0 .1 1" damping="2" armature=".3"/>
          <joint name="ankle" type="hinge" axis="0 1 .2" pos="0 0 .05" damping=".5"/>
          <geom type="box" size=".1 .05 .02" mass=".5"/>
        </body>
      </body>
      <body name="arm" pos="0 -.1 .1">
        <joint name="shoulder" type="hinge" axis="1 0 0" armature=".05"/>
        <geom type="capsule" fromto="0 0 0 0 -.3 0" size=".02" mass=".5"/>
        <body name="hand" pos="0 -.3 0"><geom type="sphere" size=".04" mass=".3" pos="0 -.02 0"/></body>
      </body>
    </body>
    <body name="crane" pos="1 0 .5" euler="0 0 30">
      <joint name="tower" type="slide" axis="0 0 1"/>
      <joint name="turn" type="hinge" axis="0 0 1" damping=".4"/>
      <geom type="box" size=".05 .05 .3" mass="2"/>
      <body name="hook" pos=".3 0 0">
        <joint name="swing" type="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".4"/>
      </body>
    </body>
    <body name="stone" pos="-1 0 .5"><freejoint/><geom type="box" size=".1 .05 .03" mass="1"/></body>
  </worldbody>
</mujoco>
"""


@cache
def menagerie() -> Robot:
    """A model of many joints, with sharp contact points on five bodies of three trees."""
    sole = np.array([[0.1, 0.05, -0.02], [0.1, -0.05, -0.02], [-0.1, -0.05, -0.02], [-0.1, 0.05, -0.02]])
    feet = {
        "foot": ("foot", sole),
        "shin": ("thigh", np.array([[0.1, 0.0, -0.3], [0.0, 0.0, -0.1]])),
        "hand": ("hand", np.array([[0.0, -0.05, 0.0]])),
        "hook": ("hook", np.array([[0.0, 0.0, -0.2], [0.02, 0.0, -0.1], [0.0, 0.02, -0.2]])),
        "stone": ("stone", sole[:, [1, 0, 2]] * [1, 0.5, 1]),
    }
    return ff.load_robot(mujoco.MjSpec.from_string(MENAGERIE), feet=feet)


def random_state(robot: Robot, seed: int, size: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """A pose around home, and velocities of order one."""
    rng = np.random.default_rng(seed)
    qpos = robot.home.copy()
    mujoco.mj_integratePos(robot.model, qpos, rng.uniform(-size, size, robot.model.nv), 1.0)
    return qpos, rng.normal(size=robot.model.nv)


def evaluated(sim: ff.Simulation, qpos: np.ndarray, qvel: np.ndarray | None = None, **options) -> Run:
    """A run that stands at its first instant, everything evaluated there and nothing integrated."""
    run = Run(sim, 0.0, Task(qpos=qpos, qvel=qvel, **options))
    run.advance(1)
    return run


def done(run: Run) -> None:
    """Let the next run compute where this one did; its arrays are no longer valid."""
    run.give_back()


def near(run: Run) -> np.ndarray:
    """Indices of the points that touch."""
    return run.contacts.points[: run.contacts.number[0]]


def mujoco_data(run: Run) -> mujoco.MjData:
    """MuJoCo's own data at the state of a run, of its model but without damping."""
    data = mujoco.MjData(run.model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = run.data.qpos, run.data.qvel, run.data.ctrl
    mujoco.mj_forward(run.model, data)
    return data


def point_jacobian(run: Run, data: mujoco.MjData, rate: bool = False) -> np.ndarray:
    """(n, 3, nv) Jacobian of the touching points, world frame, or its rate of change."""
    function = mujoco.mj_jacDot if rate else mujoco.mj_jac
    out = np.zeros((len(near(run)), 3, run.model.nv))
    for row, p in zip(out, near(run), strict=True):
        body = run.points.body[run.contacts.body[p]]
        function(run.model, data, row, None, run.points.position[p], int(body))
    return out


def inertia(run: Run, data: mujoco.MjData) -> np.ndarray:
    """(nv, nv) M + dt D: joint damping acts on the velocity at the end of the step."""
    full = np.zeros((run.model.nv, run.model.nv))
    mujoco.mj_fullM(run.model, data, full)
    return full + run.simulation.dt * np.diag(run.model.dof_damping)


def smooth_force(data: mujoco.MjData) -> np.ndarray:
    """(nv,) generalised forces but those of contacts and constraints."""
    return data.qfrc_passive - data.qfrc_bias + data.qfrc_actuator


def in_world(run: Run, values: np.ndarray) -> np.ndarray:
    """(n, 3) vectors of the touching points, from contact frames to the world frame."""
    points = near(run)
    return np.einsum("pji,pj->pi", run.contacts.frame[points], values[points])


def exact(model: mujoco.MjModel) -> mujoco.MjModel:
    """A model whose solver iterates to the end: by default it stops when it gains less than 1e-8."""
    model = copy.copy(model)
    model.opt.tolerance, model.opt.ls_tolerance = 0.0, 1e-12
    return model


def solve_on_points(run: Run, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """MuJoCo's own solution at the state of ``data``, with a contact for every point that touches in a run of law
    mujoco, by its functions one by one.
    """
    mujoco.mj_fwdPosition(model, data)
    for k in range(len(run.points.body)):
        for p in run.contacts.points[run.contacts.near[k] : run.contacts.near[k + 1]]:
            contact, gap = mujoco.MjContact(), run.contacts.gap[p]
            contact.dist, contact.dim = gap, 3
            contact.frame[:] = np.roll(run.contacts.frame[p], 1, axis=0).ravel()
            contact.pos[:] = run.points.position[p]  # of closed points halfway between the surfaces already
            if run.points.mode[p] == 0:
                contact.pos[:] -= 0.5 * gap * run.contacts.frame[p, 2]
            contact.friction[:] = [max(1e-5, run.contacts.dynamic_friction[p])] * 2 + [0.005, 1e-4, 1e-4]
            contact.solref[:], contact.solimp[:] = run.simulation.law.solref, run.simulation.law.solimp
            contact.includemargin, contact.efc_address, contact.exclude = 0.0, -1, 0
            contact.geom[:] = [run.conditions.native.ground_geom, run.points.geom[k]]
            contact.flex[:], contact.elem[:], contact.vert[:] = -1, -1, -1
            assert mujoco.mj_addContact(model, data, contact) == 0
    mujoco.mj_makeConstraint(model, data)
    mujoco.mj_island(model, data)
    mujoco.mj_projectConstraint(model, data)
    mujoco.mj_transmission(model, data)
    mujoco.mj_fwdVelocity(model, data)
    mujoco.mj_fwdActuation(model, data)
    mujoco.mj_fwdAcceleration(model, data)
    mujoco.mj_fwdConstraint(model, data)
