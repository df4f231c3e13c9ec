"""`footfall walk` and `footfall survey`: walks and tables from the command line."""

from __future__ import annotations

import json
import math

import mujoco
import pytest

import footfall as ff
from footfall.cli import main
from footfall.cli.bench import survey_cells
from footfall.control import walker
from footfall.study.outcomes import robot_outcome, walk_grounds


def test_a_quadruped_walks_and_reports(capsys):
    assert main(["walk", "quadruped", "--speed", "0.4", "--steps", "8", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["fell"] is False and told["fall"] == ""
    assert told["speed"] == pytest.approx(0.4, rel=0.1)
    assert told["way"] > 0.4 and told["cost_of_transport"] > 0.0 and told["audit"] in ("pass", "note")


def test_a_biped_walks_on_a_slope(capsys):
    options = ["--speed", "0.3", "--steps", "3", "--ground", "slope", "--ground.angle", "3deg"]
    assert main(["walk", "spatial-biped", *options]) == 0
    told = capsys.readouterr().out
    assert "stayed up" in told and "cost of transport" in told


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["ball"], "walk needs legs with motors, and ball has no motor"),
        (["spatial-biped", "--gait", "trot"], "the gait 'trot' is for four feet, and spatial-biped has 2"),
        (["spatial-biped", "--speed", "3"], "are too long for spatial-biped"),
    ],
)
def test_what_cannot_walk_is_refused_in_one_sentence(args, message, capsys):
    assert main(["walk", *args]) == 1
    told = capsys.readouterr().err
    assert message in told and "Traceback" not in told


@pytest.mark.slow
def test_a_survey_of_grounds_is_a_second_table(tmp_path, monkeypatch):
    """The largest push, of the first table, is searched for by the example of the command; a quadruped's is another."""
    monkeypatch.setattr("footfall.study.outcomes._largest", lambda sim: 0.05)
    file = tmp_path / "robots.md"
    options = ["--laws", "time-stepping", "--steps", "4", "--grounds", "--out", str(file)]
    assert main(["survey", "spatial-biped", *options]) == 0
    head, _, row = [line.strip("| ").split(" | ") for line in file.read_text().splitlines()[-3:]]
    robot = ff.load_robot("spatial-biped")
    assert head == ["robot", "law", *walk_grounds(robot, walker(robot, steps=4))]
    assert row[:2] == ["spatial-biped", "time-stepping"]
    assert all(float(speed.removesuffix(" m/s")) > 0.2 for speed in row[2:5])  # flat, up and down


def test_a_survey_replaces_no_file_that_is_there(tmp_path, capsys):
    file = tmp_path / "robots.md"
    file.write_text("mine", encoding="utf-8")
    assert main(["survey", "quadruped", "--out", str(file)]) == 2
    assert "--overwrite" in capsys.readouterr().err and file.read_text(encoding="utf-8") == "mine"


def test_a_robot_in_a_plane_takes_any_push_to_the_side():
    found = robot_outcome(ff.load_robot("planar-biped"), "time-stepping", steps=2)
    assert found.stands == "yes" and found.push == math.inf and "free base" in found.walks
    assert survey_cells(found)[3] == "any"


def test_steps_are_as_long_as_the_legs_wherever_the_frame_of_the_base_is():
    leg = """<body name="{0}" pos="{1} 0 {2}"><joint axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02"/>
      <geom name="{0}" type="sphere" pos="0 0 -.38" size=".02"/></body>"""
    runs = []
    for raised in (0.0, 0.4):  # the frame of the base at floor level, and at the hips
        legs = leg.format("front", 0.1, 0.4 - raised) + leg.format("hind", -0.1, 0.4 - raised)
        trunk = f'<geom type="box" pos="0 0 {0.5 - raised}" size=".2 .1 .05"/>'
        base = f'<body name="base" pos="0 0 {raised}"><freejoint/>{trunk}{legs}</body>'
        robot = ff.load_robot(mujoco.MjSpec.from_string(f"<mujoco><worldbody>{base}</worldbody></mujoco>"))
        ground = walk_grounds(robot, ff.control.Walk(speed=0.3, steps=4))["5 cm steps"]()
        runs.append(dict(ground.options)["run"])
    assert runs[0] == pytest.approx(runs[1]) and 0.8 * 0.38 - 1e-9 <= runs[0] <= 0.8 * 0.4 + 1e-9  # hip to ball
