"""Follow: motions made here are followed under every law, on built-in robots and real ones, and help is measured."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from motions import swaying
from pairs import paired
from real_robots import real_robot
from scipy.interpolate import CubicSpline

import footfall as ff
from footfall.cli import main
from footfall.control import Follow, Walk
from footfall.control.follow_reference import MotionReference
from footfall.errors import ControllerError
from footfall.files import JointMotion
from footfall.study.outcomes import FollowOutcome, follow_outcome

#: Laws that are not asked here: they take minutes.
TOO_SLOW = ("acceleration-complementarity",)
#: rad. A soft sole that sinks in by a centimetre tilts under the load, and the ankles with it.
JOINTS = {"distributed": 0.03}
LAWS = [name for name in ff.laws() if name not in TOO_SLOW]


def followed(robot: ff.Robot, motion: JointMotion, law: str) -> tuple[ff.Recording, FollowOutcome]:
    follow = Follow(motion)
    rec = ff.Simulation(robot, law=law).run(follow.duration, controller=follow, record_dt=4e-3).check()
    found = follow_outcome(rec)
    assert not found.fall and not rec.info["warnings"]
    return rec, found


@pytest.mark.parametrize("law", LAWS)
def test_a_squat_and_a_shift_of_weight_are_followed_under_every_law(law):
    robot = ff.load_robot("spatial-biped")
    motion = swaying(robot, bend=0.2, lean=0.06, duration=2.0)
    assert np.ptp(motion.position[:, 2]) > 0.02 and np.ptp(motion.position[:, 1]) > 0.08  # m, so something moves
    rec, found = followed(robot, motion, law)
    # Springs give way by 2 mm under the weight, which feedback of acceleration does not see.
    assert found.root_worst < 0.01 and found.joint_rms < JOINTS.get(law, 0.01) and found.tilt_worst < 0.02
    # The forces are those that the centre of mass needs, inside the cone by construction of the problem.
    force = rec.signals["commanded_force"]
    sideways = np.linalg.norm(force[..., :2], axis=-1)
    assert (sideways <= 0.8 * rec.ground.dynamic_friction * force[..., 2] + 1e-6 * robot.weight).all()
    np.testing.assert_allclose(rec.total_force[-1, 2], robot.weight, rtol=0.02)


#: Those that are asked for more than the others.
NARROWLY = [("g1", "time-stepping"), ("op3", "hunt-crossley")]


@pytest.mark.parametrize(("name", "law"), NARROWLY)
def test_a_real_robot_follows_them(name, law):
    robot = real_robot(name)
    rec, found = followed(robot, swaying(robot, bend=0.15, lean=0.05, duration=2.0), law)
    assert found.root_worst < 0.01 and found.joint_rms < 0.02 and found.tilt_worst < 0.03
    np.testing.assert_allclose(rec.total_force[-1, 2], robot.weight, rtol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "law"), [pair for pair in paired(["g1", "talos", "op3"], LAWS) if pair not in NARROWLY]
)
def test_real_robots_follow_them_under_every_law(name, law):
    robot = real_robot(name)
    _, found = followed(robot, swaying(robot, bend=0.15, lean=0.05, duration=2.0), law)
    assert found.root_worst < 0.02 and found.tilt_worst < 0.05


def test_a_recorded_walk_is_followed_under_another_law():
    robot = ff.load_robot("spatial-biped")
    walk = Walk(speed=0.4, steps=4, stop_time=0.5)
    rec = ff.Simulation(robot, law="time-stepping").run(walk.duration, controller=walk, record_dt=0.01)
    motion = JointMotion(rec.time, rec.qpos, None, None, None, "walk")
    again, found = followed(robot, motion, "hunt-crossley")
    ahead = [r.position[-1, :, 0].mean() - r.position[0, :, 0].mean() for r in (rec, again)]
    assert ahead[1] == pytest.approx(ahead[0], abs=0.02)
    assert found.root_worst < 0.02
    assert found.help.force_peak == 0.0


def test_help_from_outside_is_given_where_the_ground_cannot_and_measured():
    """On ice a shift of weight that needs more friction than there is: without help it drifts, with help less."""
    plain = ff.load_robot("spatial-biped")
    robot = ff.robot.assisted(plain)
    assert robot.root_motors.sum() == 6 and robot.model.nu == plain.model.nu + 6
    motion = swaying(plain, bend=0.0, lean=0.06, duration=1.0)
    ice = ff.Ground.plane(friction=0.02)
    errors, help_given = [], []
    for one, weight in ((plain, 1.0), (robot, 1e4), (robot, 0.01)):
        follow = Follow(motion, help_weight=weight)
        rec = ff.Simulation(one, ground=ice, law="time-stepping").run(follow.duration, controller=follow).check()
        found = follow_outcome(rec)
        errors.append(found.root_worst)
        help_given.append(found.help.force_rms)
    assert help_given[0] == 0.0 < help_given[1] < help_given[2]
    assert errors[2] < 0.5 * errors[0]


def test_what_cannot_be_followed_is_refused_in_a_sentence():
    robot = ff.load_robot("spatial-biped")
    motion = swaying(robot, bend=0.1, lean=0.0, duration=1.0)
    names = motion.names
    assert names is not None
    lying = JointMotion(motion.time, motion.joints, names, motion.position, motion.rotation[:, [3, 0, 1, 2]], "m")
    strange = JointMotion(motion.time, motion.joints, ("a",) * len(names), motion.position, motion.rotation, "m")
    rootless = JointMotion(motion.time, motion.joints, names, None, None, "m")
    short = JointMotion(motion.time, motion.joints[:, :5], None, motion.position, motion.rotation, "m")
    for wrong, sentence in (
        (lying, "its quaternion in the order w, x, y, z"),
        (strange, "no joint of m is one of spatial-biped"),
        (rootless, "does not have the pose of the root"),
        (short, "5 joints without names"),
    ):
        with pytest.raises(ControllerError, match=sentence):
            ff.Simulation(robot).run(0.1, controller=Follow(wrong))
    with pytest.raises(ControllerError, match="speed = 0"):
        Follow(motion, speed=0.0)
    with pytest.raises(ControllerError, match="moves a free root, and planar-biped has none"):
        ff.Simulation("planar-biped").run(0.1, controller=Follow(motion))


def test_a_file_that_was_written_anew_is_read_anew(tmp_path):
    path, home = tmp_path / "still.npz", ff.load_robot("spatial-biped").home
    for samples in (51, 101):
        np.savez(path, time=0.02 * np.arange(samples), qpos=np.tile(home, (samples, 1)))
        assert Follow(path).duration == pytest.approx(0.02 * (samples - 1))


def test_the_command_reports_errors_and_help(tmp_path, capsys):
    robot = ff.load_robot("spatial-biped")
    motion = swaying(robot, bend=0.1, lean=0.0, duration=1.0)
    file = tmp_path / "squat.npz"
    turned = motion.rotation[:, [1, 2, 3, 0]]
    np.savez(file, fps=50, root_pos=motion.position, root_rot=turned, dof_pos=motion.joints, joint_names=motion.names)
    assert main(["follow", "spatial-biped", str(file), "--assist", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["fall"] == "" and told["root_worst"] < 0.01 and told["help"]["force_peak"] < 0.05
    assert main(["follow", "spatial-biped", str(file)]) == 0
    assert "help from outside" in capsys.readouterr().out
    assert main(["follow", "spatial-biped", str(tmp_path / "squat.pkl")]) == 1
    assert "is not a motion of a robot that can be read" in capsys.readouterr().err


def test_uneven_stamps_are_resampled_and_said():
    """Stamps that jitter from 0.7 to 27 ms around 10 ms tell the same motion as even ones, and need no more help."""
    robot = ff.load_robot("spatial-biped")
    motion = swaying(robot, bend=0.2, lean=0.06, duration=2.0)
    random = np.random.default_rng(3)
    stamps = np.cumsum(np.clip(random.gamma(2.0, 5e-3, 400), 2e-4, 27e-3))
    stamps = stamps[stamps < motion.duration]

    def at(when):
        smooth = {name: CubicSpline(motion.time, getattr(motion, name))(when) for name in ("joints", "position")}
        noisy = {name: own + random.normal(0.0, 2e-5, own.shape) for name, own in smooth.items()}
        return replace(motion, time=when - when[0], rotation=np.tile(motion.rotation[0], (len(when), 1)), **noisy)

    jittered, even = at(stamps), at(np.arange(stamps[0], stamps[-1], 0.01))
    with pytest.warns(ff.FootfallWarning, match=r"samples per second, 0\.7\d* to 27 ms apart; it is resampled"):
        own = MotionReference(robot, jittered, 6.0)
    other = MotionReference(robot, even, 6.0)
    for t in np.arange(0.2, 1.7, 0.1):
        # Where stamps are 27 ms apart cubics between them miss a squat of 2 s by some 1e-4 rad, and a filter of 6 Hz
        # makes that some 0.1 rad/s2; taken as even, samples are off by the jitter of 30 ms and 0.03 rad.
        assert np.abs(own.at(t).qpos - other.at(t).qpos).max() < 1e-3
        assert np.abs(own.at(t).qacc - other.at(t).qacc).max() < 0.5
