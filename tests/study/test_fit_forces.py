"""Fits to measured forces find what made them, in intervals that hold it, and say what they do not tell."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from motions import swaying

import footfall as ff
from footfall.cli import main
from footfall.errors import StudyError
from footfall.files.measured import Measured
from footfall.study.fit import ForceTrial, fit
from footfall.study.fit.trials import follow_forces

NOISE = 0.02  # of the weight, of each sample of a force plate
TRUTH = {"law.rest_penetration": 4e-4, "law.damping_ratio": 0.5}
RANGES = {"law.rest_penetration": (5e-5, 5e-3, "log"), "law.damping_ratio": (0.05, 3.0, "log")}


def landings(number, friction=0.6, speed=0.0, seed=0):
    """A brick dropped flat on springs, its forces measured with noise."""
    random = np.random.default_rng(seed)
    options = {name.removeprefix("law."): value for name, value in TRUTH.items()}
    law = ff.law("spring-damper", **options)
    sim = ff.Simulation("brick", ground=ff.Ground.plane(friction=friction), law=law, dt=1e-3)
    found = []
    for i in range(number):
        drop = random.uniform(0.002, 0.02)
        qpos, qvel = sim.place(), np.zeros(6)
        qpos[2] += drop
        qvel[0] = speed
        rec = sim.run(0.3, qpos=qpos, qvel=qvel)
        forces = rec.total_force + NOISE * sim.robot.weight * random.normal(size=(len(rec), 3))
        channels = {f"total.force.{axis}": forces[:, k] for k, axis in enumerate("xyz")}
        measured = Measured(rec.time, channels, dict.fromkeys(channels, "N"), "z", f"landing {i}")
        found.append(ForceTrial(measured, qvel=qvel, drop=drop))
    return found


def test_stiffness_and_damping_are_found_from_noisy_forces():
    """Noise of 2 % in 300 samples of each of six landings, three times: intervals of 95 % hold the truth in five of six
    cases or more, and are some per cent wide.
    """
    held = 0
    for seed in range(3):
        trials = landings(6, seed=seed)
        found = fit("spring-damper", trials, RANGES, robot=ff.load_robot("brick"), evaluations=25, workers=1)
        assert not found.kept_defaults
        for one in found.parameters:
            held += one.low <= TRUTH[one.name] <= one.high
            assert one.high / one.low < 1.3 and not one.note, one
            # Least squares end at the minimum: twenty such fits are off by less than 0.1 % in the mean square.
            assert one.value == pytest.approx(TRUTH[one.name], rel=0.005)
        assert found.errors.mean() == pytest.approx(NOISE * 3**0.5, rel=0.02)  # only the noise of three axes is left
    assert held >= 5


def test_noise_makes_no_robot_heavier_than_it_is():
    """Errors in weights of the robot that is tried are smallest for one that is too heavy: by the noise squared, here
    by a quarter of the mass. The mean of 2 x 101 samples of 30 % noise is known to 2 %.
    """
    random, weight = np.random.default_rng(0), 9.81
    trials = []
    for _ in range(2):
        forces = weight * (np.array([0.0, 0.0, 1.0]) + 0.3 * random.normal(size=(101, 3)))
        channels = {f"total.force.{axis}": forces[:, k] for k, axis in enumerate("xyz")}
        trials.append(Measured(np.arange(101) * 1e-3, channels, dict.fromkeys(channels, "N"), "z", "standing"))

    @cache
    def brick(mass):
        return ff.load_robot("brick", mass=mass)

    found = fit("time-stepping", trials, {"robot.mass": (0.5, 2.0)}, robot=brick, evaluations=5, workers=1)
    (mass,) = found.parameters
    assert mass.value == pytest.approx(1.0, abs=0.06) and mass.low < 1.0 < mass.high


def test_friction_is_not_identifiable_from_a_drop_and_is_from_a_slide():
    ranges = {"ground.friction": (0.1, 1.0, "log", 0.3)}
    law = ff.law("spring-damper", **{name.removeprefix("law."): value for name, value in TRUTH.items()})
    dropped = fit(law, landings(4), ranges, robot=ff.load_robot("brick"), evaluations=12, workers=1)
    assert dropped.parameters[0].note == "not identifiable from these data"
    assert dropped.parameters[0].low == pytest.approx(0.1) and dropped.parameters[0].high == pytest.approx(1.0)
    others = landings(2, 0.4, 2.0, seed=5)
    thrown = fit(
        law, landings(4, 0.4, 2.0), ranges, judge=others, robot=ff.load_robot("brick"), evaluations=20, workers=1
    )
    assert thrown.judged["force_weights"] == pytest.approx(NOISE * 3**0.5, rel=0.15)
    one = thrown.parameters[0]
    assert not one.note and one.low <= 0.4 <= one.high and one.high - one.low < 0.05


def test_what_is_no_trial_of_forces_is_refused_in_a_sentence():
    one = landings(1)[0]
    with pytest.raises(StudyError, match="whose forces"):
        fit("spring-damper", [one, one], RANGES)
    for by in (-1.0, 12.0):
        late = Measured(one.measured.time + by, one.measured.channels, one.measured.units, "z", "late")
        with pytest.raises(StudyError, match="counts from the start"):
            ForceTrial(late)


def written(trial, path):
    table = np.column_stack([trial.measured.time, *trial.measured.channels.values()])
    np.savetxt(path, table, delimiter=",", header="time [s],fx [N],fy [N],fz [N]", comments="")
    return str(path)


def test_the_command_fits_a_law_to_files_of_forces(tmp_path, capsys):
    trials = landings(3)
    files = [written(one, tmp_path / f"{i}.csv") for i, one in enumerate(trials)]
    command = ["identify", "forces", *files, "--robot", "brick", "--law", "spring-damper", "--foot", "total=f"]
    command += ["--drop", *(f"{one.drop:.9f}" for one in trials), "--evaluations", "16", "--json"]
    command += ["--fit", "law.rest_penetration=5e-5:5e-3:log", "law.damping_ratio=0.05:3:log"]
    assert main([*command, "--out", str(tmp_path / "fit.json")]) == 0
    found = json.loads(capsys.readouterr().out)
    for name, truth in TRUTH.items():
        assert found["parameters"][name]["value"] == pytest.approx(truth, rel=0.2)
    assert ff.law(json.loads((tmp_path / "fit.json").read_text())["law"]).name == "spring-damper"
    for wrong, sentence in (("law.k", "PATH=LOW:HIGH"), ("law.k=a:b", "PATH=LOW:HIGH"), ("law.oops=1:2", "oops")):
        assert main([*command[:-2], wrong]) != 0
        assert sentence in capsys.readouterr().err


def test_a_trial_starts_where_its_controller_does():
    """A motion whose first pose is not home: forces that a run has are those that a trial of it expects."""
    robot = ff.load_robot("spatial-biped")
    motion = swaying(robot, bend=0.2, lean=0.0, duration=2.0)
    deep = len(motion) // 2
    late = ff.files.JointMotion(
        motion.time[deep:] - motion.time[deep],
        motion.joints[deep:],
        motion.names,
        motion.position[deep:],
        motion.rotation[deep:],
        "second half",
    )
    sim = ff.Simulation(robot, law="time-stepping")
    follow = ff.control.Follow(late)
    rec = sim.run(0.2, controller=follow)
    channels = {f"total.force.{axis}": rec.total_force[:, k] for k, axis in enumerate("xyz")}
    measured = Measured(rec.time, channels, dict.fromkeys(channels, "N"), "z", "run")
    assert np.linalg.norm(follow_forces(sim, ForceTrial(measured, controller=follow))["force_weights"]) < 1e-9
