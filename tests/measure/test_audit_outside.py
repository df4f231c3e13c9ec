"""Whatever ties a robot to the world is one of its outer forces: with it they add up to the rate of momentum."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
from pairs import paired

import footfall as ff

WALKER = """
<mujoco>
  <option {option}/>
  <worldbody>
    <site name="hook" pos="0.3 0.1 1.5"/>
    <body name="target" mocap="true" pos="0.05 0 0.65"><geom size="0.05" contype="0" conaffinity="0"/></body>
    <body name="trunk" pos="0 0 0.6" {trunk}>
      {root}
      <geom type="box" size="0.2 0.1 0.1" mass="6"/>
      <site name="eye" pos="0.1 0 0.1"/>
      <body name="left_leg" pos="0.05 0.1 -0.1">
        <joint name="left" axis="0 1 0" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="1"/>
      </body>
      <body name="right_leg" pos="-0.05 -0.1 -0.1">
        <joint name="right" axis="0 1 0" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="1"/>
      </body>
    </body>
  </worldbody>
  {more}
</mujoco>
"""
FREE = '<freejoint name="root"/>'
TENDON = '<tendon><spatial name="rope" {0}><site site="hook"/><site site="eye"/></spatial></tendon>'
TIES = {
    "damping and rotors": {"root": '<joint type="free" damping="3" armature="0.2"/>'},
    "friction": {"root": '<joint type="free" frictionloss="2" damping="1"/>'},
    "a thick fluid": {"option": 'density="50" viscosity="0.5" wind="2 1 0"'},
    "compensated gravity": {"trunk": 'gravcomp="0.5"'},
    "a spring and damper": {"more": TENDON.format('stiffness="80" damping="5" springlength="0.4"')},
    "a rope": {"more": TENDON.format('limited="true" range="0 0.86"')},
    "a hinge in the world": {"more": '<equality><connect body1="trunk" anchor="0.2 0 0"/></equality>'},
    "a target that it is pulled to": {
        "more": '<equality><weld body1="target" body2="trunk" solref="0.1 1" relpose="0 0 0 1 0 0 0"/></equality>'
    },
    "thrusters": {
        "more": '<actuator><motor site="eye" gear="5 1 40 0 0.3 0.2" ctrllimited="true" ctrlrange="0.3 1"/></actuator>'
    },
    "servos that damp the ends of steps": {
        "option": 'integrator="implicitfast"',
        "root": '<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>',
        "more": '<actuator><position joint="x" kp="40" kv="60" forcerange="-15 15"/></actuator>',
    },
    "rails": {
        "root": '<joint name="x" type="slide" axis="1 0 0" damping="4"/>'
        '<joint name="z" type="slide" axis="0 0 1" stiffness="30" armature="0.5"/>'
        '<joint name="pitch" axis="0 1 0" range="-1 5" frictionloss="0.2"/>'
    },
}


@cache
def tied(tie: str) -> tuple[ff.Robot, ff.Robot]:
    """A robot with one of the ties, and the same without; not to be changed."""
    text = WALKER.format(**({"option": "", "trunk": "", "root": FREE, "more": ""} | TIES[tie]))
    robot = ff.load_robot(mujoco.MjSpec.from_string(text))
    return robot, replace(robot, model=_untied(robot))


@pytest.mark.filterwarnings("ignore:the free joint of robot")  # two of the ties are just that
@pytest.mark.parametrize(("tie", "law"), [pair for shift in (0, 3, 6) for pair in paired(list(TIES), ff.laws(), shift)])
def test_forces_add_up_with_what_ties_the_root_to_the_world(law, tie):
    """To what solvers leave, 1e-5 of the weight; a law of events only to the error of differences, which is a note."""
    robot, untied = tied(tie)
    sim = ff.Simulation(robot, law=law)
    rec = sim.run(0.25, controller=None, qvel=np.full(robot.model.nv, 0.4))
    found = ff.audit(rec)
    rows = [found[name] for name in ("force balance", "moment balance")]
    if sim.law.event_driven:
        assert {row.verdict for row in rows} <= {"pass", "note"}
        return
    assert [row.verdict for row in rows] == ["pass", "pass"]
    assert "force balance" in ff.audit(replace(rec, robot=untied)).failed  # so that the tie bears something


def _untied(robot: ff.Robot) -> mujoco.MjModel:
    """The same model with nothing that ties its root to the world."""
    spec = mujoco.MjSpec.from_string(robot.mjcf)
    spec.option.density = spec.option.viscosity = 0.0
    for body in spec.bodies:
        body.gravcomp = 0.0
    model = spec.compile()
    root = model.body_rootid[model.jnt_bodyid[model.dof_jntid]] == model.jnt_bodyid[model.dof_jntid]
    for field in (model.dof_damping, model.dof_armature, model.dof_frictionloss):
        field[root] = 0.0
    model.jnt_stiffness[:] = model.tendon_stiffness[:] = model.tendon_damping[:] = 0.0
    model.tendon_limited[:] = model.eq_active0[:] = 0
    model.actuator_gainprm[:] = model.actuator_biasprm[:] = 0.0
    return model


@pytest.mark.filterwarnings("ignore:body 'trunk', which robot .* hangs on, is held")  # which is what is asked about
@pytest.mark.filterwarnings(
    "ignore:robot .* 2 pairs of bodies overlap"
)  # MuJoCo lets bodies meet a parent that is held
@pytest.mark.parametrize("law", ff.laws())
def test_what_the_world_bears_of_bodies_that_hang_on_it_side_by_side_is_not_held_against_them(law):
    """Legs that swing on a trunk which does not move: hinges bear their weight in a way that forces do not tell."""
    text = WALKER.format(option="", trunk='euler="0 20 0"', root="", more="")
    rec = ff.Simulation(ff.load_robot(mujoco.MjSpec.from_string(text)), law=law).run(0.25)
    assert np.abs(rec.qvel[-1]).max() > 0.1
    assert {ff.audit(rec)[name].verdict for name in ("force balance", "moment balance")} <= {"pass", "note"}


def test_forces_along_a_motion_that_all_roots_share_must_add_up():
    """Two bodies on vertical rails rest on the ground: nothing but the ground carries them."""
    bodies = "".join(
        f'<body name="{x}" pos="{x} 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body>'
        for x in (0, 1)
    )
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    rec = ff.Simulation(ff.load_robot(spec), law="time-stepping").run(0.1)
    assert ff.audit(rec)["force balance"].verdict == "pass"
    false = replace(rec, force=1.1 * rec.force)
    assert "force balance" in ff.audit(false).failed


def test_adhesion_presses_a_robot_on_the_ground_and_forces_add_up_with_it():
    """40 N on each of two feet, under the one law whose contacts they adhere to; no robot with joints was pressed."""
    adhesion = "".join(f'<adhesion body="{side}_leg" ctrlrange="0 1" gain="40"/>' for side in ("left", "right"))
    text = WALKER.format(option="", trunk="", root=FREE, more=f"<actuator>{adhesion}</actuator>")
    robot = ff.load_robot(mujoco.MjSpec.from_string(text.replace('damping="0.2"', 'damping="0.2" stiffness="500"')))
    control = lambda time, state: np.full(2, 0.5 + 0.5 * np.sin(20.0 * time))  # noqa: E731
    rec = ff.Simulation(robot, law="mujoco").run(0.3, controller=control)
    assert (rec.mode[1:] != 0).all()
    balance = ff.audit(rec)["force balance"]
    assert balance.verdict == "pass" and balance.worst < 1e-8 * robot.weight
    pressed = rec.total_force[:, 2] - robot.weight
    assert np.abs(pressed - 40.0 * rec.ctrl.sum(axis=1))[150:].max() < 0.1 * 80.0  # springs of legs and ground swing
