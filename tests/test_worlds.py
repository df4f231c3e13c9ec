"""Many worlds at once: each is the single run, whatever its neighbours do and whoever computes it."""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from motions import swaying
from real_robots import real_robot

import footfall as ff
from footfall.contact import law_class
from footfall.control import Balance, Follow, QuadrupedWalk, Walk
from footfall.engine.worlds.arrays import FALLEN

OFFERED = tuple(name for name in ff.laws() if not law_class(name).native and not law_class(name).event_driven)
#: m, rad or their rates: rounding of two different orders of summation, grown over a second of stable motion.
SAME = 1e-9
#: The same under controllers that solve for contact forces. What tells forces apart that feet press against each other
#: with weighs 1e-8 or less, so that rounding of 1e-16 changes torques by 1e-7 to 1e-5 N m, and springs give way.
CONTROLLED = 10.0 * SAME
PUSH = ff.Push("trunk", force=(40.0, 25.0, 0.0), start=0.1, duration=0.1)


def start(sim: ff.Simulation, motion: str) -> np.ndarray:
    qpos = sim.place()
    if motion == "landing":
        qpos[2] += 0.01
    return qpos


def pushes(motion: str) -> list[ff.Push]:
    return [PUSH] if motion == "pushed" else []


@pytest.mark.parametrize("motion", ["standing", "pushed", "landing"])
@pytest.mark.parametrize("law", OFFERED)
def test_a_world_in_a_batch_is_the_single_run(law, motion):
    sim = ff.Simulation("spatial-biped", law=law)
    qpos = start(sim, motion)
    single = sim.run(1.0, controller="posture", qpos=qpos, pushes=pushes(motion))
    other = qpos.copy()
    other[2] += 0.05  # a neighbour that does something else
    worlds = ff.Worlds(sim, 3, qpos=[other, qpos, other], pushes=pushes(motion))
    found = worlds.run(1.0, controller="posture", record=[1])[1]
    assert found.failure is None and single.failure is None
    np.testing.assert_array_equal(found.time, single.time)
    assert np.abs(found.qpos - single.qpos).max() < 0.8 * SAME
    # Velocities follow from forces, which stiff laws make of 1e-15 m.
    assert np.abs(found.qvel - single.qvel).max() < 0.8 * 100 * SAME
    assert (found.mode != single.mode).sum() == 0
    assert worlds.unsolved[1] == single.status.sum()


@pytest.mark.parametrize("ground", [ff.Ground.slope(0.1, friction=0.9), ff.Ground.stairs(rise=0.02, run=0.3, count=3)])
def test_worlds_stand_on_grounds_of_every_kind_as_single_runs_do(ground):
    sim = ff.Simulation("quadruped", law="spring-damper", ground=ground)
    single = sim.run(0.2, controller="posture", qpos=sim.place(), qvel=np.zeros(sim.robot.model.nv))
    found = ff.Worlds(sim, 2).run(0.2, controller="posture", record=[0])[0]
    assert np.abs(found.qpos - single.qpos).max() < 0.8 * SAME


@pytest.mark.parametrize("law", ["spring-damper", "time-stepping"])
def test_joint_limits_and_joint_friction_are_those_of_the_single_run(law):
    spec = mujoco.MjSpec.from_string(ff.load_robot("quadruped").mjcf)
    for joint in spec.joints[1:]:
        joint.frictionloss = 0.5
    sim = ff.Simulation(ff.load_robot(spec), law=law, body_contacts=False)
    assert (sim.scene.joints.kind.size, sim.robot.model.nu) == (36, 12)  # friction and two limits of every joint
    ctrl = np.tile([0.0, 8.0, 3.0], 4)  # knees and hips are driven to their limits
    single = sim.run(0.4, controller=lambda t, state: ctrl)
    worlds = ff.Worlds(sim, 2, fall=0.0)
    worlds.step(ctrl, n=0)
    found = worlds.run(0.4, controller=None, record=[0])[0]
    knee = sim.robot.model.jnt_range[1:]
    beyond = (found.qpos[:, 7:] < knee[:, 0]) | (found.qpos[:, 7:] > knee[:, 1])
    assert beyond.any()  # a soft limit gives way a little
    assert np.abs(found.qpos - single.qpos).max() < 0.8 * SAME


def test_joints_whose_states_repeat_in_a_cycle_are_those_of_the_single_run():
    """A limp Talos that slides: a hundred rounds of contacts and joints together do not end."""
    spec = real_robot("talos").spec()
    for part in (*spec.sensors, *spec.keys, *spec.actuators, *spec.equalities):
        spec.delete(part)
    robot = real_robot("talos").of_spec(spec, home_ctrl=np.zeros(0))
    sim, qvel = ff.Simulation(robot, law="time-stepping", dt=1e-3), np.zeros((2, robot.model.nv))
    for w, seed in enumerate((14, 18)):
        qvel[w, :2] = 0.3, 0.2 * np.random.default_rng(seed).uniform(-1.0, 1.0)
    worlds = ff.Worlds(sim, 2, qvel=qvel, fall=0.0)
    worlds.step(n=1)
    for speed, found in zip(qvel, worlds.qvel, strict=True):
        single = sim.start(qvel=speed)
        single.step()
        assert np.abs(found - single.qvel).max() < 0.8 * SAME
    assert not worlds.unsolved.any()


@pytest.mark.parametrize("law", ["spring-damper", "time-stepping"])
def test_servos_that_damp_within_a_step_are_those_of_the_single_run(law):
    spec = mujoco.MjSpec.from_string(ff.load_robot("quadruped").mjcf)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.disableflags |= (
        mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    )  # as models made for GPUs say; joints damp as ever
    for joint in spec.joints[1:]:
        joint.damping[0] = 0.5
    for actuator in spec.actuators:
        actuator.set_to_position(kp=400.0, kv=40.0)
        actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
        actuator.forcelimited, actuator.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [-30.0, 30.0]
    sim = ff.Simulation(ff.load_robot(spec), law=law)
    ctrl = sim.robot.home_ctrl + 0.1  # which takes them to the limits of their force at first
    single = sim.run(0.2, controller=lambda t, state: ctrl)
    worlds = ff.Worlds(sim, 2, fall=0.0)
    worlds.step(ctrl, n=0)
    found = worlds.run(0.2, controller=None, record=[0])[0]
    assert np.abs(found.qpos - single.qpos).max() < 0.8 * SAME


@pytest.mark.parametrize("law", OFFERED)
def test_what_is_no_foot_meets_the_ground_as_in_a_single_run(law):
    sim = ff.Simulation("brick", law=law)
    upside_down = np.array([0.0, 0.0, 0.12, 0.0, 1.0, 0.0, 0.0])
    single = sim.run(0.6, qpos=upside_down)
    worlds = ff.Worlds(sim, 3, qpos=[sim.place(), upside_down, sim.place()], fall=0.0)
    found = worlds.run(0.6, record=[0, 1])
    rec = found[1]
    np.testing.assert_array_equal(rec.other_points, single.other_points)
    assert len(rec.other_points) > 0 and len(found[0].other_points) == 0
    assert np.abs(rec.qpos - single.qpos).max() < 0.8 * SAME
    assert (rec.mode != single.mode).sum() == 0
    weight = sim.robot.mass * 9.81
    impulse = sim.dt * rec.force[:-1].sum(axis=(0, 1))  # of the ground: that of the weight, and what changed the motion
    assert impulse[2] == pytest.approx(0.6 * weight + sim.robot.mass * rec.qvel[-1, 2], rel=1e-9)
    np.testing.assert_allclose(worlds.body_force[1], rec.force[-2].sum(axis=0), atol=1e-9 * weight)
    np.testing.assert_array_equal(worlds.body_force[0], 0.0)
    assert rec.info["body_contacts"] and rec.audit().passed


@pytest.mark.parametrize("law", ["spring-damper", "time-stepping"])
def test_a_heap_on_the_ground_is_the_same_step_by_step_and_by_any_number_of_threads(law):
    sim = ff.Simulation("quadruped", law=law)
    qpos = np.repeat(sim.place()[None], 6, axis=0)
    qpos[:, 3:7] = [np.cos(0.7), np.sin(0.7), 0.0, 0.0]
    qpos[:, 2] = 0.5 + 0.01 * np.arange(6)
    ends = []
    for threads, steps in ((1, 1), (2, 250), (3, 50)):
        worlds = ff.Worlds(sim, 6, qpos=qpos, threads=threads, fall=0.0)
        for _ in range(750 // steps):
            worlds.step(np.zeros(12), n=steps)
        ends.append((worlds.qpos.copy(), worlds.qvel.copy(), worlds.body_force.copy()))
    for other in ends[1:]:
        for a, b in zip(ends[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert (np.abs(ends[0][2]).max(axis=1) > 0).any()


def test_feet_of_ellipsoids_are_those_of_the_single_run():
    xml = """<mujoco><worldbody><body name="egg" pos="0 0 0.3"><freejoint/>
    <geom name="egg" type="ellipsoid" size="0.1 0.06 0.05" mass="1"/></body></worldbody></mujoco>"""
    sim = ff.Simulation(ff.load_robot(mujoco.MjSpec.from_string(xml), feet=["egg"]), law="time-stepping")
    assert sim.robot.point_axes.any()
    qpos = np.array([0.0, 0.0, 0.2, 0.9, 0.3, 0.1, 0.0])
    qpos[3:] /= np.linalg.norm(qpos[3:])
    single = sim.run(0.5, controller=None, qpos=qpos)
    found = ff.Worlds(sim, 2, qpos=qpos, fall=0.0).run(0.5, record=[1])[1]
    assert np.abs(found.qpos - single.qpos).max() < 0.8 * SAME


def test_the_number_of_threads_changes_no_bit():
    sim = ff.Simulation("spatial-biped", law="time-stepping")
    rng = np.random.default_rng(1)
    qpos = np.repeat(sim.place()[None], 40, axis=0)
    qpos[:, 2] += rng.uniform(0.0, 0.03, 40)
    ends = []
    for threads in (1, 2, 3):
        worlds = ff.Worlds(sim, 40, qpos=qpos, threads=threads)
        worlds.run(0.2, controller="posture")
        ends.append((worlds.qpos.copy(), worlds.qvel.copy(), worlds.force.copy()))
    for other in ends[1:]:
        for a, b in zip(ends[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_steps_and_a_run_are_the_same():
    sim = ff.Simulation("spatial-biped", law="spring-damper")
    stepped, run = ff.Worlds(sim, 2), ff.Worlds(sim, 2)
    ctrl = np.full(sim.robot.model.nu, 0.5)
    stepped.step(ctrl, n=30)
    stepped.step(n=20)
    run.step(ctrl)
    run.run(0.049, controller=None)
    np.testing.assert_array_equal(stepped.qpos, run.qpos)
    np.testing.assert_allclose(stepped.time, 0.05)


def test_worlds_may_differ_in_friction_law_masses_ground_and_pushes():
    sim = ff.Simulation("brick", law="spring-damper")
    scale = np.array([1.0, 2.0, 1.0, 1.0])
    worlds = ff.Worlds(
        sim,
        4,
        qvel=[0.5, 0, 0, 0, 0, 0],
        friction=np.array([0.2, 0.2, 0.8, 0.2]),
        mass_scale=scale,
        law_options={"k": np.array([1e4, 1e4, 1e4, 2e4])},
        pushes=[[], [], [], [ff.Push("brick", force=(0.0, 3.0, 0.0), start=0.0, duration=0.05)]],
    )
    worlds.run(0.3)
    weight = sim.robot.weight
    np.testing.assert_allclose(worlds.force[:, :, 2].sum(axis=1), scale * weight, rtol=1e-3)
    depth = sim.place()[2] - worlds.qpos[:, 2]
    np.testing.assert_allclose(depth, scale * weight / (4 * np.array([1e4, 1e4, 1e4, 2e4])), rtol=1e-3)
    # Coulomb: the way to rest is v^2 / (2 mu g), whatever the mass.
    way = worlds.qpos[:, 0]
    np.testing.assert_allclose(way[:3], 0.25 / (2 * 9.81 * np.array([0.2, 0.2, 0.8])), rtol=0.02)
    assert abs(worlds.qpos[3, 1]) > 1e-3 and abs(worlds.qpos[0, 1]) < 1e-9
    slopes = [ff.Ground.slope(angle, friction=0.9) for angle in (0.0, 0.2)]
    inclined = ff.Worlds(
        ff.Simulation("brick", law="spring-damper", ground=slopes[0]), 2, ground=slopes, qpos=worlds.qpos[0]
    )
    inclined.step()
    assert inclined.force[1, :, 2].sum() != inclined.force[0, :, 2].sum()


def test_a_world_that_is_reset_may_get_other_friction_masses_and_pushes():
    """It is then as one that had them from the first, and the others go on as they were."""
    sim = ff.Simulation("brick", law="spring-damper")
    options = {"qvel": [0.5, 0, 0, 0, 0, 0], "law_options": {"damping_ratio": np.array([0.5, 1.0, 0.7])}}
    push = [ff.Push("brick", force=(0.0, 3.0, 0.0), start=0.02, duration=0.05)]
    friction, scale = np.array([0.2, 0.4, 0.6]), np.array([1.0, 2.0, 0.5])
    others = ff.Worlds(sim, 3, friction=0.3, pushes=[[], [], push * 2], **options)
    worlds = ff.Worlds(sim, 3, friction=0.3, pushes=[[], [], push * 2], **options)
    asked = ff.Worlds(sim, 3, friction=friction, mass_scale=scale, pushes=[push, push, []], **options)
    for each in (others, worlds):
        each.run(0.05)
    mask = np.array([True, True, False])
    worlds.reset(mask, friction=friction, mass_scale=scale, pushes=[push, push, push])
    worlds.reset(~mask & mask, friction=0.9)  # none
    for each in (others, worlds, asked):
        rec = each.run(0.1, record=[1])[1]
    np.testing.assert_array_equal(worlds.qpos[mask], asked.qpos[mask])
    np.testing.assert_array_equal(worlds.qpos[2], others.qpos[2])
    assert list(worlds.run(0.0, record=[1])[1].pushes) == list(rec.pushes) == push
    with pytest.raises(ff.FootfallError, match="2 lists of pushes for 3 worlds"):
        worlds.reset(pushes=[push, push])


def test_one_world_that_fails_leaves_the_others_alone_and_can_be_reset():
    sim = ff.Simulation("spatial-biped", law="spring-damper")
    qvel = np.zeros((3, sim.robot.model.nv))
    qvel[1, 8] = 1e7  # a joint: accelerations of 1e14
    qpos = np.repeat(sim.place()[None], 3, axis=0)
    qpos[2, 3:7] = [0.0, 1.0, 0.0, 0.0]  # head down
    worlds = ff.Worlds(sim, 3, qpos=qpos, qvel=qvel)
    worlds.run(0.1, controller="posture")
    assert worlds.status[0] == 0 and worlds.failure[0] is None
    assert worlds.failure[1] is not None and worlds.status[1] != 0
    assert worlds.fallen[2] == (worlds.status[2] == FALLEN)
    alone = ff.Worlds(sim, 1)
    alone.run(0.1, controller="posture")
    np.testing.assert_array_equal(worlds.qpos[0], alone.qpos[0])
    kept = worlds.qpos[0].copy()
    worlds.reset(np.array([False, True, False]), qvel=np.zeros(sim.robot.model.nv))
    assert worlds.status[1] == 0 and worlds.time[1] == 0.0
    np.testing.assert_array_equal(worlds.qpos[0], kept)
    worlds.run(0.1, controller="posture")
    np.testing.assert_array_equal(worlds.qpos[1], alone.qpos[0])


@pytest.mark.parametrize(
    ("law", "options", "sentence"),
    [
        ("mujoco", {}, "mujoco.rollout"),
        ("acceleration-complementarity", {}, "event to event"),
        ("spring-damper", {"device": "tpu"}, "'cpu' or 'cuda'"),
        ("spring-damper", {"qpos": [1.0, 2.0]}, "shape"),
        ("spring-damper", {"friction": [0.1, 0.2, 0.3]}, r"a pair \(static, dynamic\), \(2,\) or \(2, 2\)"),
        ("spring-damper", {"ground": [ff.Ground.plane(), ff.Ground.slope(0.1)]}, "of one kind"),
    ],
)
def test_what_is_not_offered_is_refused_in_a_sentence(law, options, sentence):
    sim = ff.Simulation("brick", law=law)
    with pytest.raises(ff.FootfallError, match=sentence):
        ff.Worlds(sim, 2, **options)


def test_a_python_controller_is_refused():
    worlds = ff.Worlds(ff.Simulation("spatial-biped", law="spring-damper"), 2)
    with pytest.raises(ff.FootfallError, match="compiled controller"):
        worlds.run(0.01, controller=lambda t, state: np.zeros(14))


@pytest.mark.parametrize("law", ["spring-damper", "time-stepping"])
@pytest.mark.parametrize(
    ("robot", "controller"),
    [
        ("spatial-biped", Balance()),
        ("spatial-biped", Walk(steps=2, start_time=0.4)),
        ("quadruped", QuadrupedWalk(speed=0.3, steps=3, start_time=0.3)),
    ],
    ids=["balance", "walk", "quadruped-walk"],
)
def test_worlds_balance_and_walk_as_single_runs_do(robot, controller, law):
    """Each with a push and friction of its own; by one thread or two, bit for bit."""
    sim = ff.Simulation(robot, law=law)
    pushed = [[], [ff.Push("trunk", force=(0.0, 40.0, 0.0), start=0.5, duration=0.05)]]
    found = []
    for threads in (1, 2):
        worlds = ff.Worlds(sim, 2, pushes=pushed, friction=[0.7, 0.9], threads=threads)
        found.append(worlds.run(1.3, controller=controller, control_dt=1e-3, record=[0, 1]))
    for w, friction in enumerate((0.7, 0.9)):
        other = ff.Simulation(robot, law=law, ground=ff.Ground.plane(friction=friction))
        single = other.run(1.3, controller=controller, control_dt=1e-3, pushes=pushed[w])
        np.testing.assert_array_equal(found[0][w].qpos, found[1][w].qpos)
        assert np.abs(found[0][w].qpos - single.qpos).max() < 0.8 * CONTROLLED
        assert found[0][w].info["warnings"] == single.info["warnings"] == []
    assert np.abs(found[0][0].qpos - found[0][1].qpos).max() > 1e-3


def test_worlds_follow_a_motion_as_a_single_run_does():
    sim = ff.Simulation("spatial-biped", law="spring-damper")
    follow = Follow(swaying(sim.robot, bend=0.2, lean=0.06, duration=2.0))
    qpos, qvel = follow.initial_state(sim.robot, sim.ground)
    single = sim.run(0.5, controller=follow)
    found = ff.Worlds(sim, 2, qpos=qpos, qvel=qvel).run(0.5, controller=follow, record=[1])[1]
    assert np.abs(found.qpos - single.qpos).max() < 0.8 * CONTROLLED
    assert found.info["warnings"] == single.info["warnings"] == []


def test_a_balance_that_calls_python_is_refused():
    worlds = ff.Worlds(ff.Simulation("spatial-biped", law="spring-damper"), 2)
    with pytest.raises(ff.FootfallError, match="calls Python here"):
        worlds.run(0.01, controller=Balance(com=lambda time: (0.0, 0.0, 0.0)))


def test_a_load_rests_on_the_robot_in_worlds():
    load = """<mujoco><worldbody><body name="table" pos="0 0 .1"><freejoint/><geom type="box" size=".2 .2 .1"/></body>
    <body name="load" pos="0 0 {}"><freejoint/><geom size=".05" {}/></body></worldbody></mujoco>"""
    for how, rests in (("", True), ("contype='0' conaffinity='0'", False)):
        robot = ff.load_robot(mujoco.MjSpec.from_string(load.format(0.25, how)))
        worlds = ff.Worlds(ff.Simulation(robot, law="spring-damper"), 1)
        worlds.step(n=600)
        assert (abs(worlds.qpos[0, 9] - 0.25) < 3e-3) == rests


@pytest.mark.parametrize(
    "given",
    [
        {"qpos": "home"},
        {"friction": "ice"},
        {"mass_scale": [[1.0], [1.0, 2.0]]},
        {"pushes": 3},
        {"pushes": [1, 2]},
        {"ground": [1, 2]},
        {"law_options": 3},
        {"fall": "low"},
    ],
    ids=str,
)
def test_what_worlds_cannot_be_given_is_refused_with_a_sentence(given):
    sim = ff.Simulation("ball", law="spring-damper")
    with pytest.raises(ff.FootfallError, match=next(iter(given))):
        ff.Worlds(sim, 2, **given)


def test_what_worlds_cannot_be_asked_is_refused_with_a_sentence():
    worlds = ff.Worlds(ff.Simulation("ball", law="spring-damper"), 2)
    asked = {
        "ctrl": lambda: worlds.step("full"),
        "record": lambda: worlds.run(0.01, record=3),
        "gains": lambda: worlds.run(0.01, controller="posture", gains="soft"),
        "read": lambda: worlds.read("posture"),
    }
    for name, ask in asked.items():
        with pytest.raises(ff.FootfallError, match=name):
            ask()


def test_controls_on_a_gpu_are_refused_by_worlds_on_a_cpu():
    on_gpu = SimpleNamespace(__cuda_array_interface__={"shape": (1,), "typestr": "<f8", "data": (0, False)})
    with pytest.raises(ff.FootfallError, match="ctrl is on a GPU, and these worlds are on the CPU"):
        ff.Worlds(ff.Simulation("ball", law="spring-damper"), 1).step(on_gpu)
