"""Legs with joints that are tied to each other, as by a gear: balance and walks count on the tie, or refuse it."""

from __future__ import annotations

import mujoco
import numba
import numpy as np
import pytest

import footfall as ff
from footfall.control import Balance, Walk
from footfall.control.body.biped import Biped
from footfall.control.body.linkage import follow_motors
from footfall.measure import has_fallen
from footfall.standing import at_home

#: Lower joint of a knee by the upper one: as much; and 0.8 of it, with a bend that grows.
EVEN, BENT = (0.0, 1.0, 0.0, 0.0, 0.0), (0.0, 0.8, 0.1, 0.0, 0.0)


def geared(polynomial: tuple[float, ...], *, motors: bool = False) -> ff.Robot:
    """A biped whose knees are two hinges, 3 cm apart, the lower one tied to the upper by a polynomial."""
    usual = ff.load_robot("spatial-biped")
    spec = mujoco.MjSpec.from_string(usual.mjcf, assets=dict(usual.assets))
    for key in list(spec.keys):
        spec.delete(key)
    pose = {name: float(usual.home[usual.model.joint(name).qposadr[0]]) for name in usual.actuated}
    for side in ("left", "right"):
        upper = next(joint for joint in spec.joints if joint.name.startswith(f"{side}_knee"))
        lower = upper.parent.add_joint(name=f"{side}_gear", type=upper.type, axis=upper.axis, pos=(0.0, 0.0, -0.03))
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=lower.name,
            name2=upper.name,
            data=[*polynomial, *[0.0] * 7],
            solref=(0.004, 1.0),
            solimp=(0.99, 0.999, 0.001, 0.5, 2.0),
        )
        # the upper angle u at which u + p(u) bends the leg as at home
        bend = pose[upper.name]
        roots = np.roots([polynomial[2], polynomial[1] + 1.0, polynomial[0] - bend])
        pose[upper.name] = float(roots[np.abs(roots).argmin()].real)
        pose[lower.name] = bend - pose[upper.name]
        if motors:
            first = spec.actuators[0]
            motor = spec.add_actuator(name=f"{side}_gear", target=lower.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            motor.gainprm, motor.gear = first.gainprm, first.gear
    return ff.load_robot(spec, pose=pose, name="geared")


def off_tie(rec: ff.Recording, polynomial: tuple[float, ...]) -> float:
    """rad, largest distance of a knee from its tie."""
    model = rec.robot.model
    upper = [
        next(j for j in range(model.njnt) if model.joint(j).name.startswith(f"{s}_knee")) for s in ("left", "right")
    ]
    lower = [model.joint(f"{s}_gear").id for s in ("left", "right")]
    u, w = rec.qpos[:, model.jnt_qposadr[upper]], rec.qpos[:, model.jnt_qposadr[lower]]
    return float(np.abs(w - np.polynomial.polynomial.polyval(u, polynomial)).max())


@pytest.mark.parametrize("polynomial", [EVEN, BENT])
def test_the_lower_joint_follows_the_motor_of_the_upper_one(polynomial):
    biped = Biped.of(geared(polynomial), "a test")
    data, model = at_home(biped.robot), biped.robot.model
    span, closing = follow_motors(biped.linkage, data)
    assert np.abs(closing).max() < 1e-9
    upper = next(j for j in range(model.njnt) if model.joint(j).name.startswith("left_knee"))
    lower = model.joint("left_gear")
    column = list(biped.linkage.dofs).index(model.jnt_dofadr[upper])
    angle = data.qpos[model.jnt_qposadr[upper]]
    slope = polynomial[1] + 2.0 * polynomial[2] * angle
    assert span[lower.dofadr[0], column] == pytest.approx(slope, rel=1e-6)


def test_a_robot_with_tied_joints_runs_the_compiled_code_of_others():
    """Numba compiles a controller again, which takes many seconds, for arrays of another layout."""
    tied, usual = (Biped.of(robot, "a test").linkage for robot in (geared(BENT), ff.load_robot("spatial-biped")))
    assert numba.typeof(tied) == numba.typeof(usual)


@pytest.mark.parametrize("polynomial", [EVEN, BENT])
def test_balance_stands_on_tied_joints_and_takes_a_push(polynomial):
    robot = geared(polynomial)
    push = ff.Push(robot.root, force=(0.0, 0.5 * robot.weight, 0.0), start=0.2, duration=0.1)
    rec, usual = (ff.Simulation(one).run(2.0, controller=Balance(), pushes=push) for one in (robot, "spatial-biped"))
    assert not has_fallen(rec)
    # as the robot with one hinge in the knee does, on legs that are a little other
    assert rec.signals["com_error"] == pytest.approx(usual.signals["com_error"], abs=5e-3)
    assert off_tie(rec, polynomial) < 5e-3  # MuJoCo's equalities give way a little under load


@pytest.mark.parametrize("polynomial", [EVEN, BENT])
def test_a_robot_with_tied_joints_walks(polynomial):
    walk = Walk(speed=0.3, steps=6)
    rec = ff.Simulation(geared(polynomial)).run(walk.duration, controller=walk)
    assert not has_fallen(rec) and not rec.info["warnings"]
    way = rec.signals["com"][-1, 0] - rec.signals["com"][0, 0]
    assert way == pytest.approx(0.3 * walk.period * 4.5, rel=0.1)  # half a step, four steps, and one that closes


def test_two_motors_on_tied_joints_are_refused_in_a_sentence():
    with pytest.raises(ff.FootfallError, match="one motor for tied joints of a leg: of 'left_gear' and 'left_knee"):
        ff.Simulation(geared(EVEN, motors=True)).run(0.1, controller=Walk(steps=2))
