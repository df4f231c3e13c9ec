"""The autopsy of a policy: where it breaks, what decides, and the first event at which two runs part."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from onnx_files import write_linear

import footfall as ff
from footfall.cli import main
from footfall.control import Policy
from footfall.measure import course, phases
from footfall.study.autopsy import autopsy, part

pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install footfall[policy]")

CONTRACT = """
parts = ["velocity", "gyro", "gravity", "joints", "joint-speeds", "last-action", "command"]
action = { scale = 0.2 }
command = { default = [0.0, 0.0, 0.0] }
"""
JOINTS = 14


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    """A policy that stands still, and its contract beside it."""
    folder = tmp_path_factory.mktemp("policy")
    (folder / "stands.toml").write_text(CONTRACT)
    return write_linear(folder / "stands.onnx", np.zeros((12 + 3 * JOINTS, JOINTS)), np.zeros(JOINTS))


@pytest.fixture(scope="module")
def stood(policy):
    robot = ff.load_robot("spatial-biped", actuators="position")
    return ff.Simulation(robot, law="spring-damper").run(0.2, controller=Policy(policy), record_dt=0.01)


def moved(rec, command, velocity, turn=0.0):
    """The recording as if the base had gone with a velocity (m/s) and turned (rad/s), where a command was given."""
    qpos, time = rec.qpos.copy(), rec.time
    qpos[:, :2] = np.outer(time, velocity)
    qpos[:, 3:7] = np.column_stack([np.cos(0.5 * turn * time), 0.0 * time, 0.0 * time, np.sin(0.5 * turn * time)])
    return replace(rec, qpos=qpos, signals={**rec.signals, "command": np.tile(command, (len(rec), 1))})


def test_the_course_of_a_robot_is_judged_by_where_the_command_leads(stood):
    assert course(moved(stood, (1.0, 0.5, 0.0), (1.0, 0.5))).error == pytest.approx(0.0, abs=1e-9)
    assert course(moved(stood, (1.0, 0.0, 0.0), (0.5, 0.0))).error == pytest.approx(0.5)
    assert course(moved(stood, (1.0, 0.0, 0.0), (0.0, 1.0))).error == pytest.approx(math.sqrt(2.0))
    assert course(moved(stood, (1.0, 0.0, 0.3), (1.0, 0.0), turn=0.5)).turned == pytest.approx(0.2 * 0.2)


def test_two_runs_part_at_the_first_event_that_differs_by_more_than_an_action(stood):
    def lifted(at):
        """The recording with its first foot off the ground from sample ``at`` on."""
        mode = stood.mode.copy()
        mode[at:, np.flatnonzero(stood.robot.point_foot == 0)] = 0
        return replace(stood, mode=mode)

    early, later, much_later = lifted(5), lifted(6), lifted(12)
    name = stood.robot.feet[0].name
    assert [(one.foot, one.what) for one in phases(early).events] == [(name, "lifts")]
    assert part(early, later, 0.015) is None
    found = part(early, much_later, 0.02)
    assert (found.good.time, found.bad.time) == pytest.approx((0.05, 0.12))
    assert found.number == 1 and found.time == pytest.approx(0.05)
    assert part(early, stood, 0.02).bad is None


def test_an_autopsy_finds_where_weak_motors_fail_and_goes_on_where_it_was(policy, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"law": "spring-damper", "duration": 0.6, "only": ("heavier", "step up"), "out": tmp_path / "found"}
    robot = tmp_path / "biped.xml"
    robot.write_text(ff.load_robot("spatial-biped", actuators="position").mjcf)
    found = autopsy(policy, robot, **given, workers=1)
    assert found.works and found.rows[0]["off_course"] < 0.1
    assert {one.assumption for one in found.breakings} == {"heavier", "step up"}
    assert all(one.works < one.breaks or math.isnan(one.breaks) for one in found.breakings)
    stamp = (tmp_path / "found" / "map" / "cases.jsonl").stat().st_mtime_ns
    again = autopsy(policy, robot, **given, workers=1)
    assert again.to_dict() == found.to_dict()
    assert (tmp_path / "found" / "map" / "cases.jsonl").stat().st_mtime_ns == stamp
    page = found.report(tmp_path / "autopsy.html").read_text()
    assert "The map" in page and "heavier" in page
    options = ["--law", "spring-damper", "--duration", "0.6", "--only", "heavier", "step up", "--out", "found"]
    code = main(["autopsy", str(policy), "--robot", str(robot), *options, "--workers", "1", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert code == int(not found.sound) and told["works"] and len(told["map"]) == len(found.rows)


def test_wrong_input_is_refused_in_a_sentence(policy, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["autopsy", "none.onnx", "--robot", "spatial-biped", "--contract", "playground"]) == 1
    assert "there is no policy 'none.onnx'" in capsys.readouterr().err
    assert main(["autopsy", str(policy), "--robot", "spatial-biped", "--only", "weather"]) == 1
    assert "motor" in capsys.readouterr().err
