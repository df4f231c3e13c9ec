"""Walking on four legs: trot and crawl, at the speed that is asked for, under every law."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from real_robots import real_robot

import footfall as ff
from footfall.control import QuadrupedWalk
from footfall.errors import ControllerError
from footfall.gait.footsteps import SCHEDULES


def walked(robot: ff.Robot | str, law: str, walk: QuadrupedWalk) -> ff.Recording:
    """A walk that must end on its feet."""
    rec = ff.Simulation(robot, law=law).run(walk.duration, controller=walk, record_dt=5e-3).check()
    assert ff.measure.fall(rec) is None
    assert rec.signals["phase"][-1, 0] == walk.steps / SCHEDULES[walk.gait].steps
    assert np.abs(rec.qvel[-1, :6]).max() < 0.1
    return rec


def speed_of(rec: ff.Recording) -> float:
    """Mean forward speed over whole cycles, without the first three and the last two, m/s."""
    phase, com = rec.signals["phase"][:, 0], rec.signals["com"]
    first, last = np.searchsorted(phase, 3.0), np.searchsorted(phase, int(phase[-1]) - 2.0)
    return float((com[last, 0] - com[first, 0]) / (rec.time[last] - rec.time[first]))


@pytest.mark.parametrize("gait", SCHEDULES)
def test_feet_lift_as_the_schedule_says(gait):
    """Over a cycle each foot swings once, for the part of it that its duty leaves."""
    schedule = SCHEDULES[gait]
    cycle = np.linspace(0.0, 1.0, 1000, endpoint=False) + 3e-4  # off the changes
    swings = (cycle - np.array(schedule.offset)[:, None]) % 1.0 < 1.0 - schedule.duty
    np.testing.assert_allclose(swings.mean(axis=1), 1.0 - schedule.duty, atol=2e-3)
    assert swings.sum(axis=0).max() == {"trot": 2, "crawl": 1}[gait]


@pytest.mark.parametrize("gait", SCHEDULES)
@pytest.mark.parametrize("speed", [0.3, 0.6])
def test_the_quadruped_goes_as_fast_as_asked(gait, speed):
    walk = QuadrupedWalk(
        speed=speed, gait=gait, steps=(8 if gait == "trot" else 6) * SCHEDULES[gait].steps, stop_time=0.5
    )
    rec = walked("quadruped", "time-stepping", walk)
    assert speed_of(rec) == pytest.approx(speed, rel=0.05)
    assert abs(rec.signals["com"][-1, 1]) < 0.02
    # The ground carries the weight, for the centre of mass keeps its height.
    assert rec.total_force[:, 2].mean() == pytest.approx(rec.robot.weight, rel=0.01)
    for foot in rec.robot.feet:
        assert rec.gap[:, rec.foot(foot.name)].max() > 0.5 * 0.06  # lifted


@pytest.mark.slow
@pytest.mark.parametrize("law", ff.laws())
def test_the_quadruped_trots_under_every_law(law):
    walked("quadruped", law, QuadrupedWalk(speed=0.3, steps=8))


@pytest.mark.slow
@pytest.mark.parametrize("actuators", ["motor", "as-is"])
@pytest.mark.parametrize("speed", [0.3, 0.6])
def test_go1_trots_with_motors_and_through_its_servos(speed, actuators):
    rec = walked(real_robot("go1", actuators), "time-stepping", QuadrupedWalk(speed=speed, steps=16))
    assert speed_of(rec) == pytest.approx(speed, rel=0.05)


@pytest.mark.parametrize(
    ("thigh", "knee"),
    [(0.0, -0.05), (0.0, -0.9), (0.6, -1.4)],
    ids=["straight legs", "feet ahead of the hips", "bent, feet a little ahead"],
)
def test_a_home_that_nobody_can_walk_from_is_left_for_one_with_bent_knees(thigh, knee):
    """As of models without a keyframe, whose zero angles are straight legs, or end where the knees' range begins."""
    sides = ("FL", "FR", "RL", "RR")
    pose = {f"{side}_hip_pitch": thigh for side in sides} | {f"{side}_knee_pitch": knee for side in sides}
    robot = ff.load_robot("quadruped", pose=pose)
    walk = QuadrupedWalk(speed=0.3, steps=16, stop_time=0.5)
    rec = walked(robot, "time-stepping", walk)
    assert speed_of(rec) == pytest.approx(0.3, rel=0.05)
    assert abs(rec.signals["com"][-1, 1]) < 0.02
    feet = rec.position[0].mean(axis=0)
    assert feet[0] == pytest.approx(rec.signals["com"][0, 0], abs=2e-3)  # the mass moves as the legs are bent


def test_a_home_that_can_be_walked_from_is_kept():
    robot = ff.load_robot("quadruped")
    assert QuadrupedWalk().initial_state(robot, ff.Ground.plane())[0] is None


def test_it_turns_and_goes_sideways():
    rec = walked(
        "quadruped", "time-stepping", QuadrupedWalk(speed=0.0, sideways=0.2, turn=0.5, steps=12, stop_time=0.5)
    )
    w, _, _, z = rec.qpos[-1, 3:7]
    # 12 steps of 0.25 s, of which two cycles' worth of speed are lost to the ramps' halves.
    assert 2.0 * np.arctan2(z, w) == pytest.approx(0.5 * (12 * 0.25 - 0.5), abs=0.1)
    assert rec.signals["com"][-1, 1] > 0.3


@pytest.mark.parametrize(
    ("robot", "options", "message"),
    [
        ("spatial-biped", {}, "quadruped-walk needs four feet of one point each"),
        ("quadruped", {"speed": 2.0, "step_duration": 0.5}, "at 2 m/s the feet of quadruped would go"),
    ],
)
def test_what_cannot_be_is_refused(robot, options, message):
    with pytest.raises(ControllerError, match=message):
        ff.Simulation(robot).run(0.1, controller=QuadrupedWalk(**options))


@pytest.mark.filterwarnings("ignore:look at the soles")  # which lean as the shanks do
def test_feet_of_several_points_are_refused_with_what_to_do_and_that_walks():
    spec = mujoco.MjSpec.from_string(ff.load_robot("quadruped").mjcf)
    for geom in spec.geoms:
        if geom.name.endswith("_foot"):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [0.02, 0.015, 0.02]
    walk = QuadrupedWalk(speed=0.3, steps=8, stop_time=0.5)
    message = r"boxes has feet of 4, 4, 4, 4 points; points=\(1, 1\), or --points 1x1, sets each foot on its middle"
    with pytest.raises(ControllerError, match=message):
        ff.Simulation(ff.load_robot(spec, name="boxes")).run(0.1, controller=walk)
    walked(ff.load_robot(spec, name="boxes", points=(1, 1)), "time-stepping", walk)


def test_a_robot_that_is_too_weak_is_told_which_motor():
    """Half the weight, 74 N, 0.13 m off a knee asks 9.8 N m of it."""
    spec = mujoco.MjSpec.from_string(ff.load_robot("quadruped").mjcf)
    for actuator in spec.actuators:
        if "knee" in actuator.name:
            actuator.ctrlrange = [-5.0, 5.0]
    robot = ff.load_robot(spec, name="weak")
    message = r"weak is too weak to stand on two legs: motor '\w+_knee_pitch' gives 5 N m and .* N m are needed"
    with pytest.raises(ControllerError, match=message):
        ff.Simulation(robot).run(0.1, controller=QuadrupedWalk())


@pytest.mark.parametrize(
    ("options", "message"),
    [({"gait": "trott"}, "did you mean 'trot'"), ({"speed": float("nan")}, "nan"), ({"steps": 0}, "steps = 0")],
)
def test_impossible_walks_are_refused(options, message):
    with pytest.raises(ControllerError, match=message):
        QuadrupedWalk(**options)
