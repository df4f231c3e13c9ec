"""Walking: under every law, on slopes and bumps, faster and slower, turning; and what is told when it fails."""

from __future__ import annotations

import math
import pickle
from functools import cache

import mujoco
import numpy as np
import pytest
from pairs import paired
from plain_python import plainly

import footfall as ff
from footfall.control import Walk
from footfall.control.body.biped import Biped
from footfall.control.senses import senses_of
from footfall.control.walk.soles import body_on_soles, see_body, solve_standing
from footfall.control.whole_body import COM, CONTACTS, TURN
from footfall.errors import ControllerError
from footfall.simulation.task import perturbed_starts
from footfall.standing import at_home, point_positions
from footfall.study.outcomes import FRICTION, ICE, walk_grounds

#: Laws that are not asked to walk here: they take minutes.
TOO_SLOW = ("acceleration-complementarity",)
LAWS = [name for name in ff.laws() if name not in TOO_SLOW]
#: m over the walk. Feet that adhere by a weak spring and a damper creep back under the force that drives the walk.
CREEP = {"distributed": 0.05}
#: Part of the speed. Soft soles that also sink in by a centimetre are slower uphill.
SLACK = {"distributed": 0.25}
PAPER = {"linearizing-penalty": {"kp": 500.0, "kv": 250.0}}


def law(name: str) -> ff.contact.Law:
    return ff.law(name, **PAPER.get(name, {}))


@cache
def bumpy() -> ff.Ground:
    """Bumps of 1 cm, some 10 cm wide, strewn over level ground ahead of where the robot starts."""
    rng = np.random.default_rng(1)
    x, y = np.linspace(-1.0, 7.0, 161), np.linspace(-2.0, 2.0, 81)
    heights = np.zeros((81, 161))
    for cx, cy in rng.uniform((0.25, -1.0), (7.0, 1.0), size=(450, 2)):
        bump = 0.01 * np.exp(-((x[None, :] - cx) ** 2 + (y[:, None] - cy) ** 2) / 0.05**2)
        heights = np.maximum(heights, bump)
    return ff.Ground.heightfield(heights, size=(8.0, 4.0), center=(3.0, 0.0))


GROUNDS = {
    "flat": ff.Ground.plane,
    "up": lambda: ff.Ground.slope(math.radians(5.0)),
    "down": lambda: ff.Ground.slope(math.radians(-5.0)),
    "bumps": bumpy,
}


def speed_of(rec: ff.Recording, steps: int) -> float:
    """Mean forward speed of the centre of mass between the second step and the last but one, m/s."""
    phase, com = rec.signals["phase"][:, 0], rec.signals["com"]
    first, last = np.searchsorted(phase, 2.0), np.searchsorted(phase, steps - 1.0)
    return (com[last, 0] - com[first, 0]) / (rec.time[last] - rec.time[first])


def walked(
    walk: Walk, law_name: str, ground: ff.Ground | None = None, robot: str | ff.Robot = "spatial-biped"
) -> ff.Recording:
    """A walk that must end on both feet, all steps taken."""
    sim = ff.Simulation(robot, ground=ground, law=law(law_name))
    rec = sim.run(walk.duration, controller=walk, record_dt=5e-3).check()
    fallen = [warning["message"] for warning in rec.info["warnings"] if warning["kind"] == "fallen"]
    assert not fallen, fallen
    assert rec.signals["phase"][-1, 0] == walk.steps
    assert not ff.measure.has_fallen(rec)
    assert np.abs(rec.qvel[-1, :6]).max() < 0.1  # the trunk has come to rest, m/s and rad/s
    return rec


@pytest.mark.parametrize("name", LAWS)
def test_three_steps_lead_0_3_m_ahead_on_the_flat_under_every_law(name):
    walk = Walk(speed=0.4, steps=3, stop_time=0.6)
    rec = walked(walk, name)
    # half a step, a whole one, and the last closes: the feet end 0.1 m + 0.2 m ahead
    ahead = rec.position[-1, :, 0].mean() - rec.position[0, :, 0].mean()
    assert ahead == pytest.approx(0.3, abs=CREEP.get(name, 0.02))
    # On springs a foot may rebound once.
    stances = [s for s in ff.measure.phases(rec, shortest=0.1).stances if s.start > 0.0]
    assert [s.foot for s in stances] == ["left", "right", "left"]


@pytest.mark.parametrize("name", ["time-stepping", "hunt-crossley", "mujoco", "linearizing-penalty"])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_walk_takes_a_push_to_either_side(name, side):
    """A change of speed by 0.1 m/s is what is asked for: the next step is set and timed anew."""
    start = 2.0 if name in ("time-stepping", "mujoco") else 2.3
    walk = Walk(speed=0.4, steps=8, stop_time=0.6)
    robot = ff.load_robot("spatial-biped")
    shove = ff.Push("trunk", (0.0, side * 0.1 * robot.mass / 0.1, 0.0), start=start, duration=0.1)
    rec = ff.Simulation(robot, law=law(name)).run(walk.duration, controller=walk, pushes=shove, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None and rec.signals["phase"][-1, 0] >= walk.steps - 1


@pytest.mark.parametrize("name", ["time-stepping", "hunt-crossley", "spring-damper", "linearizing-penalty"])
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_push_that_no_sole_can_take_is_answered_by_a_step(name, side, when):
    """0.5 m/s forward or back take the divergent component 0.15 m ahead, beyond soles of 0.11 m to toe and heel."""
    robot = ff.load_robot("spatial-biped")
    walk = Walk(steps=3, stop_time=2.5).scaled(robot)
    start = 0.3 if when == "before" else walk.duration - walk.stop_time + 0.5
    shove = ff.Push("trunk", (side * 0.5 * robot.mass / 0.1, 0.0, 0.0), start=start, duration=0.1)
    rec = ff.Simulation(robot, law=law(name)).run(walk.duration, controller=walk, pushes=shove, record_dt=5e-3).check()
    assert not ff.measure.has_fallen(rec)
    assert rec.signals["phase"][-1, 0] == walk.steps
    landings = [stance.start for stance in ff.measure.phases(rec, shortest=0.1).stances]
    assert any(start < landing < start + 1.0 for landing in landings)


@pytest.mark.parametrize("name", ["time-stepping", "spring-damper", "hunt-crossley", "linearizing-penalty"])
@pytest.mark.parametrize("robot", ["torque-biped", "small-humanoid", "spatial-biped"])
def test_robots_walk_up_steps_of_2_cm(name, robot):
    """A sole lies on the edge of a step and leans, and the next one comes down on the level all the same."""
    loaded = ff.load_robot(robot)
    walk = Walk(steps=10).scaled(loaded)
    toe = float(point_positions(loaded, at_home(loaded))[:, 0].max())
    ground = ff.Ground.stairs(rise=0.02, run=0.6, count=3, start=toe + 1.5 * walk.speed * walk.period)
    sim = ff.Simulation(loaded, ground=ground, law=law(name))
    rec = sim.run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert not ff.measure.has_fallen(rec)
    assert rec.position[-1, :, 2].min() > 0.015


@pytest.mark.parametrize("name", LAWS)
def test_a_foot_that_finds_the_ground_2_cm_lower_looks_for_it_soon_enough_to_walk_on(name):
    """Soles of 15 cm, of which the second to land comes down whole beyond the step, and with it the walk goes on."""
    robot = ff.load_robot("spatial-biped", foot_length=0.15)
    walk = Walk(steps=5, stop_time=0.6).scaled(robot)
    sim = ff.Simulation(robot, ground=ff.Ground.stairs(rise=-0.02, run=1.0, count=1, start=0.2), law=law(name))
    rec = sim.run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert not ff.measure.has_fallen(rec)
    assert not any(one["kind"] == "late" for one in rec.info["warnings"])
    assert rec.position[-1, :, 2].max() < -0.015  # both feet are down


@pytest.mark.parametrize("name", ["time-stepping", "hunt-crossley"])
def test_a_foot_that_meets_a_step_is_lifted_over_it(name):
    """Two steps of 5 cm, as high as feet are lifted: they are met, felt and climbed.

    How a foot comes down on an edge hangs on the last digits of the start: under time-stepping 3 of 60 such walks tip
    over, and after some the trunk takes a second and a half to come to rest. So four of six are asked for.
    """
    stairs, walk = ff.Ground.stairs(rise=0.05, run=0.63, count=2, start=0.42), Walk(speed=0.4, steps=9, stop_time=2.0)
    sim, climbed = ff.Simulation("spatial-biped", ground=stairs, law=law(name)), 0
    for seed in range(6):
        with perturbed_starts(seed):
            rec = sim.run(walk.duration, controller=walk, record_dt=5e-3).check()
        assert any(one["kind"] == "stumbled" for one in rec.info["warnings"])
        soles = [rec.position[:, rec.foot(foot.name), 2] for foot in rec.robot.feet]
        higher = np.array([own[-1].max() - own[0].max() for own in soles])  # a heel may be over the edge
        stands = not ff.measure.has_fallen(rec) and np.abs(rec.qvel[-1, :6]).max() < 0.1
        climbed += bool(stands and np.abs(higher - 0.1).max() < 0.01)  # m, springs give way by some mm
    assert climbed >= 4


def test_walking_the_ground_carries_the_weight_and_the_feet_clear_it():
    walk = Walk(speed=0.4, steps=5)
    rec = walked(walk, "time-stepping")
    # Over whole steps the mean vertical force is the weight, for the centre of mass comes back to its height.
    whole = (rec.time > 1.3) & (rec.time < 2.8)
    assert rec.total_force[whole, 2].mean() == pytest.approx(rec.robot.weight, rel=0.02)
    for foot in ("left", "right"):
        swing = rec.gap[:, rec.foot(foot)].min(axis=1)
        assert swing.max() == pytest.approx(walk.scaled(rec.robot).step_height, abs=0.01)
    knees = rec.qpos[:, [rec.robot.model.joint(f"{side}_knee_pitch").qposadr[0] for side in ("left", "right")]]
    assert knees.min() > 0.1  # bent, and forward


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ground"), [*paired(LAWS, list(GROUNDS)), *paired(LAWS, list(GROUNDS), shift=2)])
def test_a_walk_reaches_its_speed_under_every_law_on_every_ground(name, ground):
    steps = 10 if ground == "flat" else 6
    rec = walked(Walk(speed=0.4, steps=steps), name, GROUNDS[ground]())
    assert speed_of(rec, steps) == pytest.approx(0.4, rel=SLACK.get(name, 0.15))
    assert abs(rec.signals["com"][-1, 1]) < 0.15


@pytest.mark.parametrize("name", ["time-stepping", "spring-damper"])
def test_a_speed_that_usual_steps_do_not_reach_is_walked_in_quicker_ones(name):
    robot = ff.load_robot("spatial-biped")
    walk = Walk(speed=1.0, steps=8).scaled(robot)
    assert walk.period < Walk().scaled(robot).period
    assert speed_of(walked(walk, name), 8) == pytest.approx(1.0, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "speed"), [("hunt-crossley", 0.2), ("hunt-crossley", 0.5), ("mujoco", 0.5), ("time-stepping", 0.2)]
)
def test_slow_and_fast_walks_reach_their_speed(name, speed):
    rec = walked(Walk(speed=speed, steps=10), name)
    assert speed_of(rec, 10) == pytest.approx(speed, rel=0.15)


def test_a_walk_turns_by_as_much_as_was_planned():
    walk = Walk(speed=0.2, steps=8, turn=0.5, stop_time=0.6)
    rec = walked(walk, "mujoco")
    planned = sum(step.turn for step in walk.plan(0.18).steps)
    w, x, y, z = rec.qpos[-1, 3:7]
    assert math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) == pytest.approx(planned, abs=0.1)


def test_a_command_that_changes_is_followed_from_the_next_step_on():
    walk = Walk(steps=7, command=lambda t: (0.3, 0.0, 0.0) if t < 2.2 else (0.0, 0.08, 0.0), stop_time=0.6)
    rec = walked(walk, "mujoco")
    ahead, aside, turn = (sum(part) for part in zip(*walk._moves(), strict=True))
    assert aside > 0.05 and turn == 0.0
    middle = rec.position[-1].mean(axis=0) - rec.position[0].mean(axis=0)
    np.testing.assert_allclose(middle[:2], [ahead, aside], atol=0.03)


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0)])
def test_a_walk_takes_a_push_of_a_tenth_of_a_metre_per_second(direction):
    """With a foot in the air, forward and sideways: pressure centre and footholds give way, and the walk goes on."""
    robot = ff.load_robot("spatial-biped")
    force = 0.1 * robot.mass / 0.05
    push = ff.Push("trunk", force=(force * direction[0], force * direction[1], 0.0), start=1.45, duration=0.05)
    walk = Walk(speed=0.4, steps=6)
    calm, rec = (
        ff.Simulation(robot, law="time-stepping").run(walk.duration, controller=walk, pushes=pushes, record_dt=5e-3)
        for pushes in ([], [push])
    )
    assert not ff.measure.has_fallen(rec) and rec.signals["phase"][-1, 0] == 6
    after = np.searchsorted(rec.time, 1.5)
    faster = np.diff(rec.signals["com"] - calm.signals["com"], axis=0)[after] / 5e-3
    assert np.hypot(*faster[:2]) == pytest.approx(0.1, rel=0.5)  # what the ground has not yet taken back


@pytest.mark.slow
@pytest.mark.parametrize(("start", "angle"), [(1.2, 0), (1.5, 90), (1.8, 180), (2.1, 270), (1.2, 90), (1.8, 270)])
def test_a_walk_survives_pushes_from_all_sides_at_all_times(start, angle):
    robot, walk = ff.load_robot("spatial-biped"), Walk(speed=0.4, steps=7)
    force = 0.1 * robot.mass / 0.05
    way = (force * math.cos(math.radians(angle)), force * math.sin(math.radians(angle)), 0.0)
    push = ff.Push("trunk", force=way, start=start, duration=0.05)
    rec = ff.Simulation(robot, law="time-stepping").run(walk.duration, controller=walk, pushes=push, record_dt=5e-3)
    assert not ff.measure.has_fallen(rec) and rec.signals["phase"][-1, 0] == 7


def test_another_biped_walks():
    """Nothing is made for one robot alone."""
    walk = Walk(speed=0.3, steps=3, stop_time=0.6)
    rec = walked(walk, "mujoco", robot="torque-biped")
    planned = sum(step.length for step in walk.plan(0.2).steps)
    assert rec.signals["com"][-1, 0] - rec.signals["com"][0, 0] == pytest.approx(planned, rel=0.1)


def test_a_small_robot_walks_with_small_steps_and_refuses_long_ones():
    """By Froude's number: speed with the root of the leg's length, 0.2 m to 0.736 m, and lengths with the length."""
    robot = ff.load_robot("small-humanoid")
    walk = Walk(steps=2, stop_time=0.6).scaled(robot)
    size = 0.2 / 0.736
    assert walk.speed == pytest.approx(0.4 * math.sqrt(size), rel=1e-2)
    assert walk.period == pytest.approx(0.5 * math.sqrt(size), rel=1e-2)
    assert walk.step_height == pytest.approx(0.05 * size, rel=1e-2)
    walked(walk, "mujoco", robot="small-humanoid")
    with pytest.raises(ControllerError, match=r"steps of 0.2\d+ m are too long for small-humanoid, whose legs measure"):
        ff.Simulation("small-humanoid").run(0.1, controller=Walk(speed=1.5))


def test_the_defaults_are_those_of_the_spatial_biped():
    walk = Walk().scaled(ff.load_robot("spatial-biped"))
    np.testing.assert_allclose([walk.speed, walk.step_duration, walk.step_height], [0.4, 0.5, 0.05], rtol=1e-3)


def test_what_is_printed_of_a_derived_walk_is_all_of_it_and_what_is_given_is_kept():
    """Three digits, also of a speed that joints made lower."""
    robot = ff.load_robot("spatial-biped")
    assert str(Walk().scaled(robot)) == "walk(speed=0.4, steps=5, step_duration=0.5, step_height=0.05)"
    walk = Walk(step_height=0.0456789).scaled(robot)
    assert walk.step_height == 0.0456789
    assert walk.speed == float(f"{walk.speed:.3g}")
    own = ff.control.QuadrupedWalk(steps=2).scaled(ff.load_robot("quadruped"))
    assert str(own) == f"quadruped-walk(speed={own.speed:.3g}, gait=trot, steps=2)"


def test_a_fall_is_told_with_time_and_cause():
    push = ff.Push("trunk", force=(0.0, 900.0, 0.0), start=1.0, duration=0.2)
    rec = ff.Simulation("spatial-biped", law="mujoco").run(2.5, controller=Walk(), pushes=[push])
    told = {warning["kind"]: warning for warning in rec.info["warnings"]}
    assert 1.0 < told["fallen"]["time"] < 2.5
    assert "before: out of reach from 1." in told["fallen"]["message"]


def test_the_same_walk_may_run_twice_and_travels_to_another_process():
    walk = pickle.loads(pickle.dumps(Walk(steps=2)))
    sim = ff.Simulation("spatial-biped", law="mujoco")
    first, second = (sim.run(0.3, controller=walk) for _ in range(2))
    np.testing.assert_array_equal(first.qpos, second.qpos)


@pytest.mark.slow
def test_a_walk_called_from_python_is_the_walk_in_the_loop():
    sim = ff.Simulation("spatial-biped", law="spring-damper")
    walking = Walk(start_time=0.2).start(sim.robot, sim.ground, sim.dt)
    inside = sim.run(0.6, controller=Walk(start_time=0.2), control_dt=sim.dt)
    called = sim.run(0.6, controller=lambda time, state: walking(time, state))
    np.testing.assert_array_equal(called.qpos, inside.qpos)
    np.testing.assert_array_equal(walking.signals["com"].values, inside.signals["com"][-1])


def test_laws_are_compared_on_a_walk():
    walk = Walk(steps=1, stop_time=0.2)
    found = ff.compare("spatial-biped", laws=["hunt-crossley", "mujoco"], controller=walk, duration=walk.duration)
    assert [row.outcome for row in found.rows] == ["stayed up", "stayed up"]


def test_torques_and_wrenches_satisfy_the_equations_of_motion():
    """In one state: M q'' + h = S tau + J^T w for some q'' that the base's rows allow, friction and pressure kept."""
    robot = ff.load_robot("spatial-biped")
    biped = Biped.of(robot, "walk")
    body = body_on_soles(biped, 0.6, margin=0.01, least_load=1.0)
    world = ff.Simulation(robot).start(qvel=0.1 * np.sin(np.arange(robot.model.nv)))
    run, data = world._run, mujoco.MjData(robot.model)
    data.qpos[:], data.qvel[:] = world.qpos, world.qvel
    mujoco.mj_forward(robot.model, data)
    plainly(see_body)(senses_of(data, run.points, run.contacts), body)
    com = np.array([0.3, -0.2, 0.5])
    body.problem.wanted[COM:TURN] = com
    body.problem.joint_weight[:] = body.posture_weight
    assert plainly(solve_standing)(body)
    motion, torque = body.problem.motion, body.problem.torque
    for k, sole in enumerate(biped.soles):
        rate = np.zeros((6, robot.model.nv))
        mujoco.mj_jacDot(robot.model, data, rate[:3], rate[3:], body.place[k], sole.body)
        np.testing.assert_allclose(motion.drift[CONTACTS:].reshape(2, 6)[k], rate @ data.qvel, atol=1e-12)
    jacobian, found = motion.rows[CONTACTS:], body.problem.force
    wrench = np.einsum("kcr,kac->kar", body.frames, found.reshape(2, 2, 3)).reshape(2, 6)
    force = wrench.ravel() @ jacobian
    force[biped.motors] += torque
    acceleration = np.linalg.solve(motion.inertia, force - data.qfrc_bias)
    # What the whole does follows from the forces, m c'' = sum f + m g, and these from what was asked, as far as the
    # joints' own target to stay at rest lets it.
    lift = motion.inertia[:3] @ acceleration + data.qfrc_bias[:3]
    np.testing.assert_allclose(lift, wrench[:, :3].sum(axis=0), atol=1e-9 * robot.weight)
    np.testing.assert_allclose(lift / robot.mass + robot.model.opt.gravity, com, atol=0.1)
    np.testing.assert_allclose(jacobian @ acceleration + motion.drift[CONTACTS:], 0.0, atol=0.02)
    fx, fy, fz, mx, my, _ = found.T
    assert (np.hypot(fx, fy) <= 0.6 * fz).all()
    assert (np.abs(my / fz) <= 0.11 - 0.01 + 1e-9).all()
    assert (np.abs(mx / fz) <= 0.05 - 0.01 + 1e-9).all()
    assert (np.abs(torque) <= biped.torque).all()


def test_steps_to_the_side_that_would_set_foot_on_foot_are_refused():
    with pytest.raises(ControllerError, match="to the side would set a foot of spatial-biped on the other"):
        ff.Simulation("spatial-biped").run(0.1, controller=Walk(speed=0.0, sideways=0.5))


@pytest.mark.parametrize("name", ["time-stepping", "spring-damper", "hunt-crossley"])
def test_feet_that_stand_close_step_wider_to_the_side(name):
    """Steps of 10 cm where soles of 10 cm stand 20 cm apart would set a foot on the other."""
    walk = Walk(speed=0.0, sideways=0.2, steps=8)
    rec = ff.Simulation("spatial-biped", law=name).run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    asked = sum(step.aside for step in walk.plan(0.2).steps)
    assert rec.signals["com"][-1, 1] - rec.signals["com"][0, 1] == pytest.approx(asked, rel=0.2)
    with pytest.raises(ControllerError, match="would set a foot of spatial-biped on the other"):
        ff.Simulation("spatial-biped").run(0.1, controller=Walk(speed=0.0, sideways=0.2, step_width=0.2))


def test_feet_that_would_meet_are_refused():
    with pytest.raises(ControllerError, match=r"stand 0.05 m apart and are 0.1 m wide: they would meet"):
        ff.Simulation("spatial-biped").run(0.1, controller=Walk(step_width=0.05))


@pytest.mark.parametrize("name", LAWS)
def test_feet_that_stand_too_close_at_home_step_wider(name):
    """Soles of 17 cm, 18 cm apart: 4 % of the leg is left between them."""
    robot = ff.load_robot("spatial-biped", foot_width=0.17)
    rec = walked(Walk(steps=3, stop_time=0.8).scaled(robot), name, robot=robot)
    middles = [rec.position[-1, rec.foot(foot.name), 1].mean() for foot in robot.feet]
    assert abs(middles[0] - middles[1]) > 0.19


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps = 0"),
        ({"speed": math.nan}, "speed = nan"),
        ({"step_width": -0.1}, "step_width = -0.1"),
        ({"double_support": 0.0}, "double_support = 0.0"),
        ({"sideways": math.inf}, "sideways = inf"),
    ],
)
def test_impossible_walks_are_refused(options, message):
    with pytest.raises(ControllerError, match=message):
        Walk(**options)


@pytest.mark.parametrize(("robot", "name"), paired(["spatial-biped", "full-humanoid"], LAWS))
def test_a_walk_crosses_ice(robot, name):
    """At the speed left out a step needs as much friction as the ice has: its friction is found where a foot slips, and
    forces and steps keep to it from then on.
    """
    own = ff.load_robot(robot)
    walk = Walk(steps=10).scaled(own)
    ground = walk_grounds(own, walk)["ice"]()
    rec = walked(walk, name, ground, own)
    grip = rec.signals["grip"]
    assert grip[0] == pytest.approx(FRICTION)
    # Of a foot half on the ice some points slide; those of "distributed" begin to with what adherence held them with,
    # anything below the full friction, which it goes over to within 10 ms.
    assert (0.0 if name == "distributed" else 0.85 * ICE) < grip.min() < 1.6 * ICE
    ahead = rec.position[-1, :, 0].mean() - rec.position[0, :, 0].mean()
    planned = sum(step.length for step in walk.plan(0.2).steps)
    assert 0.5 * planned < ahead < 1.2 * planned  # who slips is carried on, and steps farther once
    assert abs(rec.signals["com"][-1, 1]) < 0.15


@pytest.mark.parametrize("friction", [0.1, 0.15, 0.3, 0.7])
def test_steps_need_no_more_friction_than_the_ground_has(friction):
    """Where friction is stated a walk keeps to it from the first step on, and slips nowhere."""
    walk = Walk(speed=0.4, steps=6, stop_time=0.6)
    rec = walked(walk, "time-stepping", ff.Ground.plane(friction=friction))
    ahead = rec.position[-1, :, 0].mean() - rec.position[0, :, 0].mean()
    if friction >= 0.3:
        assert ahead == pytest.approx(0.9, abs=0.02)  # half a step of 0.2 m, four whole ones, and the last closes
    else:
        assert 0.3 < ahead < 0.8
