"""Long steps: heels that rise while toes carry, feet that land on their heel, and where soles stay flat."""

from __future__ import annotations

from functools import cache

import mujoco
import numpy as np
import pytest
from plain_python import plainly
from real_robots import real_robot

import footfall as ff
from footfall.control import Walk
from footfall.control.body.biped import Biped
from footfall.control.senses import senses_of
from footfall.control.walk.heel_off import edge_velocity, stand_on_edge, write_level
from footfall.control.walk.soles import body_on_soles, see_body, solve_standing
from footfall.control.whole_body import CONTACTS
from footfall.errors import ControllerError

LAWS = [
    "time-stepping",
    "spring-damper",
    "hunt-crossley",
    "linearizing-penalty",
    "constraint-selection",
    "mujoco",
]
#: m and s, of a step that the spatial biped does not reach with flat soles: 0.75 of its legs.
LENGTH, DURATION = 0.55, 0.6
HEEL, TOES = -1, 1


def long_walk(**options) -> Walk:
    return Walk(speed=LENGTH / DURATION, step_length=LENGTH, steps=5, **options)


def points_of(rec: ff.Recording, foot: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of the contact points are at the heel and at the toes of the left foot (0) or the right one (1)."""
    sole = Biped.of(rec.robot, "walk").soles[foot]
    own = np.arange(rec.robot.point_count)[sole.points]
    along = ((rec.robot.point_position[own] - sole.centre) @ sole.rotation)[:, 0]
    return own[along < 0.0], own[along > 0.0]


@cache
def long_walked(law: str) -> ff.Recording:
    walk = long_walk()
    return ff.Simulation("spatial-biped", law=law).run(walk.duration, controller=walk).check()


@pytest.mark.parametrize("name", LAWS)
def test_the_heel_rises_while_the_toes_carry(name):
    walk, rec = long_walk(), long_walked(name)
    assert ff.measure.fall(rec) is None and rec.signals["phase"][-1, 0] == walk.steps
    assert ff.audit(rec).verdict != "fail"
    phase, edge = rec.signals["phase"][:, 0], rec.signals["on_edge"]
    for foot, before in ((0, 2.0), (1, 3.0)):  # the foot that is lifted after the first long steps
        heel, toes = points_of(rec, foot)
        both = np.flatnonzero((phase == before) & (edge[:, foot] == TOES))
        late = both[-len(both) // 4 :]
        height = rec.position[late][:, heel, 2].mean(axis=1) - rec.position[late][:, toes, 2].mean(axis=1)
        assert height.max() > 0.05  # m: the sole is 0.22 m long, and pitched by some 0.4 rad
        assert not rec.force[late][:, heel].any()
        force = rec.force[both][:, toes].sum(axis=1)
        carried = force[:, 2] > 0.05 * rec.robot.weight
        assert carried.mean() > 0.5
        assert (np.hypot(*force[carried, :2].T) <= 0.7 * force[carried, 2] * (1.0 + 1e-6)).all()
    # the other foot lands on its heel, and is level when it carries alone
    landed = np.flatnonzero((phase == 2.0) & (edge[:, 1] == HEEL))
    heel, toes = points_of(rec, 1)
    first = rec.position[landed[0]]
    assert first[toes, 2].mean() - first[heel, 2].mean() > 0.01


@pytest.mark.parametrize("name", LAWS)
def test_long_steps_are_as_long_as_planned(name):
    rec = long_walked(name)
    phase = rec.signals["phase"][:, 0]
    lengths = []
    for step, front in ((3, 0), (4, 1)):  # landed: the left foot in front, then the right one
        lands = np.flatnonzero(phase == step)[-1]  # both feet stand, the heel behind has risen
        ahead = rec.position[lands, np.concatenate(points_of(rec, front)), 0].mean()
        sole = Biped.of(rec.robot, "walk").soles[1 - front]
        lay = rec.position[lands, points_of(rec, 1 - front)[1], 0].mean() - sole.half_length
        lengths.append(ahead - lay)
    assert min(lengths) > 0.6 * sole.leg  # what flat soles may do
    assert np.mean(lengths) == pytest.approx(LENGTH, rel=0.1)  # a foothold gives way to the state, more on springs
    with pytest.raises(ControllerError, match=r"steps of 0.55 m are too long for spatial-biped"):
        ff.Simulation("spatial-biped").run(0.1, controller=long_walk(heel_off=False))


def test_short_steps_stay_flat():
    """Where the legs reach with flat soles nothing changes, to the last bit."""
    sim = ff.Simulation("spatial-biped", law="time-stepping")
    asked, never = (
        sim.run(2.0, controller=Walk(speed=0.4, steps=3, stop_time=0.4, heel_off=option)) for option in (None, False)
    )
    np.testing.assert_array_equal(asked.qpos, never.qpos)
    assert not asked.signals["on_edge"].any()


def test_heels_rise_in_short_steps_if_asked():
    walk = Walk(speed=0.4, steps=4, stop_time=0.6, heel_off=True)
    rec = ff.Simulation("spatial-biped", law="time-stepping").run(walk.duration, controller=walk).check()
    assert ff.measure.fall(rec) is None and ff.audit(rec).verdict != "fail"
    assert (rec.signals["on_edge"] == TOES).any(axis=0).all()


@pytest.mark.parametrize(("name", "share"), [("g1", 0.8), ("talos", 0.8)])
def test_real_robots_take_long_steps(name, share):
    robot = real_robot(name)
    leg = min(sole.leg for sole in Biped.of(robot, "walk").soles)
    walk = Walk(speed=share * leg / 0.57, step_length=share * leg, steps=6).scaled(robot)
    rec = ff.Simulation(robot, law="time-stepping").run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None and rec.signals["phase"][-1, 0] == walk.steps


def test_the_wrench_of_a_foot_on_its_toes_acts_there():
    """M q'' + h = S tau + J^T w with the Jacobian of the toes' edge, which MuJoCo gives too; no moment about it."""
    robot = ff.load_robot("spatial-biped")
    biped = Biped.of(robot, "walk")
    body = body_on_soles(biped, 0.6, 0.74, margin=0.01, least_load=1.0, edges=True)
    qpos, foot = robot.home.copy(), 0
    qpos[robot.model.joint("left_ankle_pitch").qposadr[0]] += 0.4
    world = ff.Simulation(robot).start(qpos=qpos, qvel=0.1 * np.sin(np.arange(robot.model.nv)))
    run, data = world._run, mujoco.MjData(robot.model)
    data.qpos[:], data.qvel[:] = world.qpos, world.qvel
    mujoco.mj_forward(robot.model, data)
    plainly(see_body)(senses_of(data, run.points, run.contacts), body)
    level = np.zeros((3, 3))
    plainly(write_level)(np.zeros(2), body.rotation[foot], level)
    np.testing.assert_allclose(level.T @ level, np.eye(3), atol=1e-12)
    sole = biped.soles[foot]
    at = body.place[foot] + body.rotation[foot] @ np.array([sole.half_length, 0.0, 0.0])
    velocity = plainly(edge_velocity)(body, foot, TOES)
    plainly(stand_on_edge)(body, foot, TOES, level)
    limits = body.limits
    body.problem.limits[foot] = limits.frictionless[foot, 2] + 0.6 * limits.by_friction[foot, 2]
    jacobian, rate = np.zeros((6, robot.model.nv)), np.zeros((6, robot.model.nv))
    mujoco.mj_jac(robot.model, data, jacobian[:3], jacobian[3:], at, sole.body)
    mujoco.mj_jacDot(robot.model, data, rate[:3], rate[3:], at, sole.body)
    motion, own = body.problem.motion, slice(CONTACTS + 6 * foot, CONTACTS + 6 * foot + 6)
    np.testing.assert_allclose(motion.rows[own], jacobian, atol=1e-12)
    np.testing.assert_allclose(motion.drift[own], rate @ data.qvel, atol=1e-12)
    np.testing.assert_allclose(velocity, jacobian[:3] @ data.qvel, atol=1e-12)
    body.problem.joint_weight[:] = body.posture_weight
    assert plainly(solve_standing)(body)
    fx, fy, fz, mx, my, _ = body.problem.force[foot]
    assert np.hypot(fx, fy) <= 0.6 * fz
    assert abs(my) <= 0.005 * sole.leg * fz * (1.0 + 1e-9)  # the strip that an edge is taken for is that narrow
    assert abs(mx) <= (sole.half_width - 0.01) * fz * (1.0 + 1e-9)
    jacobian, found = motion.rows[CONTACTS:], body.problem.force
    wrench = np.einsum("kcr,kac->kar", body.frames, found.reshape(2, 2, 3)).reshape(2, 6)
    force = wrench.ravel() @ jacobian
    force[biped.motors] += body.torque
    acceleration = np.linalg.solve(motion.inertia, force - data.qfrc_bias)
    lift = motion.inertia[:3] @ acceleration + data.qfrc_bias[:3]
    np.testing.assert_allclose(lift, wrench[:, :3].sum(axis=0), atol=1e-9 * robot.weight)


@pytest.mark.parametrize(
    ("robot", "walk", "message"),
    [
        ("spatial-biped", Walk(speed=-0.3, heel_off=True), r"heel_off is for steps forward, and 0.15 m go back"),
        ("spatial-biped", Walk(speed=2.0), r"steps of 1 m are too long for spatial-biped, .* at most 0.74 m"),
        ("spatial-biped", Walk(speed=1.47), r"steps of 0.735 m, .* need joint '\w+' of spatial-biped at"),
        ("point-biped", Walk(heel_off=True), r"heel_off is for flat feet on legs that can roll them, not for point-bi"),
    ],
)
def test_what_heel_off_cannot_do_is_refused(robot, walk, message):
    with pytest.raises(ControllerError, match=message):
        ff.Simulation(robot).run(0.1, controller=walk)
