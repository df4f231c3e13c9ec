"""Walking on legs with loops and leaf springs: Cassie, whose feet stand on lines."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from plain_python import plainly
from real_robots import real_robot, root_of

import footfall as ff
from footfall.control import Walk
from footfall.control.body.biped import Biped
from footfall.control.body.linkage import follow_motors
from footfall.control.body.stance import giving_springs, loop_rows
from footfall.control.senses import senses_of
from footfall.control.walk.soles import body_on_soles, see_body

#: Not hunt-crossley: under its regularised friction feet on lines creep aside, and some of these walks fall.
LAWS = ["spring-damper", "linearizing-penalty", "constraint-selection", "time-stepping", "mujoco"]
#: One of points, and one that sees them all.
TEN_STEPS = ["spring-damper", "time-stepping"]


def test_what_follows_the_motors_keeps_the_loops_closed():
    robot = real_robot("cassie")
    biped = Biped.of(robot, "walk")
    assert biped.line and not biped.tips and len(biped.linkage.rows) == 3 * 4
    data = mujoco.MjData(robot.model)
    data.qpos[:] = Walk().initial_state(robot, ff.Ground.plane())[0]
    mujoco.mj_forward(robot.model, data)
    span, closing = follow_motors(biped.linkage, data)
    assert np.abs(loop_rows(data) @ span).max() < 1e-6  # m/s per rad/s
    assert np.abs(closing).max() < 1e-9  # rad: they are closed where a walk starts


def test_the_equations_of_motors_are_those_of_the_whole_with_loops_closed_and_springs_held():
    """With multipliers for both: M q'' + h = tau + E^T l, E q'' = -E' q', in a state that moves."""
    robot = real_robot("cassie")
    model = robot.model
    biped = Biped.of(robot, "walk")
    body = body_on_soles(biped, 0.6, margin=0.001, least_load=1.0)
    run = ff.Simulation(robot).start()._run
    data = mujoco.MjData(model)
    data.qpos[:] = Walk().initial_state(robot, ff.Ground.plane())[0]
    mujoco.mj_forward(model, data)
    rates = 0.3 * np.sin(np.arange(len(biped.linkage.dofs)))
    data.qvel[:] = follow_motors(biped.linkage, data)[0] @ rates
    mujoco.mj_forward(model, data)
    plainly(see_body)(senses_of(data, run.points, run.contacts), body)
    torque = 20.0 * np.cos(np.arange(model.nu))
    reduced = body.problem.motion
    load = -reduced.bias
    load[6:] += torque
    found = np.linalg.solve(reduced.inertia, load)
    # The same with multipliers. The drift of a loop is what its rows change by along the motion.
    rows, ahead = loop_rows(data), mujoco.MjData(model)
    ahead.qpos[:] = data.qpos
    mujoco.mj_integratePos(model, ahead.qpos, data.qvel, 1e-6)
    mujoco.mj_forward(model, ahead)
    drift = (loop_rows(ahead) - rows) @ data.qvel / 1e-6
    held = np.eye(model.nv)[model.jnt_dofadr[giving_springs(robot)]]
    E = np.concatenate([rows, held])
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    given = data.qfrc_passive - data.qfrc_bias
    given[biped.motors] += torque
    size = len(E)
    system = np.block([[inertia, -E.T], [E, np.zeros((size, size))]])
    wanted = np.linalg.lstsq(system, np.concatenate([given, -drift, np.zeros(len(held))]), rcond=1e-12)[0]
    np.testing.assert_allclose(found, wanted[: model.nv][biped.linkage.dofs], rtol=1e-3, atol=1e-2)  # m/s2 and rad/s2


@pytest.mark.parametrize(("name", "steps"), [(name, 10 if name in TEN_STEPS else 6) for name in LAWS])
def test_cassie_walks_with_defaults_alone(name, steps):
    robot = real_robot("cassie")
    walk = Walk(steps=steps).scaled(robot)
    rec = ff.Simulation(robot, law=name).run(walk.duration, controller=walk).check()
    assert ff.measure.fall(rec) is None and rec.signals["phase"][-1, 0] == steps
    assert rec.audit().verdict != "fail", rec.audit()
    way = rec.signals["com"][-1] - rec.signals["com"][0]
    planned = sum(step.length for step in walk.plan(0.27).steps)
    assert way[0] == pytest.approx(planned, rel=0.1) and abs(way[1]) < 0.25
    assert np.abs(rec.qvel[-1, :6]).max() < 0.1  # it stands again, m/s and rad/s


def test_one_walk_is_nothing_to_the_next():
    sim = ff.Simulation(real_robot("cassie"), law="spring-damper")
    first, second = (sim.run(1.2, controller=Walk(), record_dt=5e-3) for _ in range(2))
    np.testing.assert_array_equal(first.qpos, second.qpos)


@pytest.mark.parametrize("way", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
def test_cassie_takes_a_push_of_a_tenth_of_a_metre_per_second(way):
    robot = real_robot("cassie")
    walk = Walk(speed=0.2, steps=8).scaled(robot)
    force = 0.1 * robot.mass / 0.05
    push = ff.Push(root_of(robot), (force * way[0], force * way[1], 0.0), start=3.0, duration=0.05)
    rec = ff.Simulation(robot, law="time-stepping").run(walk.duration, controller=walk, pushes=push, record_dt=5e-3)
    assert ff.measure.fall(rec.check()) is None
