"""The bench measures everything it promises. How fast things are is for people to read, not for tests."""

from __future__ import annotations

import json
import warnings

import mujoco
import pytest

from footfall.cli import main
from footfall.contact import laws
from footfall.control.posture import with_servos
from footfall.errors import FootfallWarning
from footfall.robot import load_robot, robots
from footfall.simulation import Simulation
from footfall.study.bench import speeds as bench
from footfall.study.bench.speeds import (
    HUMANOID_FILE,
    Effort,
    robot_table,
)

TINY = Effort(rounds=2, steps=20, settle=50, cold_start=False)


@pytest.fixture(scope="module")
def robot():
    return load_robot("spatial-biped", actuators="position")


def test_every_law_is_measured_against_mujoco(robot):
    found = list(bench.law_speeds(robot, TINY))
    speeds = [one for one in found if "law" in one]
    assert [one["law"] for one in speeds] == list(laws())
    (reference,) = (one["value"] for one in found if one.get("unit") == "us")
    for one in speeds:
        assert one["us_per_step"] > 0
        assert one["ratio_to_mujoco"] == pytest.approx(reference / one["us_per_step"])


def test_mujocos_own_step_stands_on_the_same_eight_points(robot):
    model, data = bench.mujoco_scene(robot)
    bench.mujoco_stepper(model, data)(5000)
    assert data.ncon == robot.point_count == 8
    assert abs(data.qvel).max() < 1e-3
    assert data.time == pytest.approx(5000 * bench.DT)


def test_controllers_are_measured(robot):
    controlled = list(bench.controller_costs(robot, TINY))
    assert [one["figure"].partition(",")[0].split()[-1] for one in controlled] == ["posture", "balance", "walk"]
    assert all(one["value"] > 0 for one in controlled)


@pytest.mark.parametrize("name", ["quadruped", "brick", "file"])
def test_any_robot_is_measured_standing_on_servos(name, tmp_path):
    if name == "file":
        (tmp_path / "mine.xml").write_text(load_robot("small-humanoid").mjcf)
        name = str(tmp_path / "mine.xml")
    said: list[str] = []
    found = list(robot_table([name], 1, said.append, laws=["spring-damper", "time-stepping"], timed=0.04))
    own, found = name if name in robots() else "mine", [one for one in found if one["motion"] == "standing"]
    order = [(own, "spring-damper"), (own, "time-stepping"), (own, "mj_step")]
    assert [(one["robot"], one["law"]) for one in found] == order
    *ours, theirs = found
    assert theirs["us_per_step"] is not None and theirs["stands"]
    for one in ours:
        assert one["stands"]
        assert (one["unsolved"], one["audit"], one["note"]) == (0, "pass", "")
        # What still swings after two seconds is a part in a thousand of the weight.
        assert one["force_over_weight"] == pytest.approx(1.0, abs=2e-3)
        assert one["creep_mm_per_s"] is not None and one["creep_mm_per_s"] < 1.0
        assert one["ratio_to_mujoco"] == pytest.approx(theirs["us_per_step"] / one["us_per_step"])
    assert f"bench: {own} standing under time-stepping" in said


def test_a_robot_that_falls_and_a_law_that_is_refused_are_rows_too():
    """A pole on a point that nobody holds: neither the law nor MuJoCo's own step keeps it up."""
    pole = """<mujoco model="pole"><worldbody><body name="pole" pos="0 0 0.5" euler="0 5 0"><freejoint/>
      <geom type="capsule" size="0.02 0.5" mass="1"/></body></worldbody></mujoco>"""
    robot = load_robot(mujoco.MjSpec.from_string(pole))
    first, second, third, *_ = robot_table([robot], 1, laws=["time-stepping", "no-such-law"], timed=0.04)
    assert not first["stands"] and not third["stands"] and first["audit"] == "pass"
    assert "no-such-law" in second["note"] and second["us_per_step"] is None


def test_servos_in_the_place_of_motors_hold_the_same_pose():
    robot = load_robot("quadruped")
    servos = with_servos(robot)
    rec = Simulation(servos).run(1.0)
    assert rec.total_force[-1, 2] == pytest.approx(robot.weight, rel=1e-3)
    # Without gravity compensation it gives way by some weight times lever over 3 weight times height.
    assert abs(rec.qpos[-1] - robot.home)[7:].max() < 0.1
    assert with_servos(servos) is servos


def test_steps_are_counted_best_of_all_rounds():
    taken = []
    best = bench.interleaved({"a": lambda n: taken.append("a"), "b": lambda n: taken.append("b")}, 3, 10)
    assert taken == ["a", "b"] * 3
    assert set(best) == {"a", "b"}


@pytest.mark.slow
def test_the_command_prints_one_json_line_per_figure_and_for_people_a_table(monkeypatch, capsys):
    measure, figures = bench.bench, []

    def remembering(effort, say):
        for figure in measure(effort, say):
            figures.append(figure)
            yield figure

    monkeypatch.setattr(bench, "QUICK", TINY)
    monkeypatch.setattr(bench, "bench", remembering)
    assert main(["bench", "--quick", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "bench: short runs" in err
    lines = [json.loads(line) for line in out.splitlines()]
    kinds = {frozenset(line) for line in lines}
    assert kinds == {
        frozenset({"law", "us_per_step", "ratio_to_mujoco", "robot"}),
        frozenset({"figure", "value", "unit"}),
    }
    assert {line["law"] for line in lines if "law" in line} == set(laws())
    told = {line["figure"]: line for line in lines if "figure" in line}
    assert told["first step, warm"]["value"] > 0
    monkeypatch.setattr(bench, "bench", lambda effort, say: iter(figures))
    assert main(["bench", "--quick"]) == 0
    table = capsys.readouterr().out
    assert all(law in table for law in laws()) and all(figure in table for figure in told)


def test_the_humanoid_of_the_bench_has_the_size_of_mujocos_and_stands():
    robot = load_robot(HUMANOID_FILE)
    assert (robot.model.nv, robot.model.nu, robot.point_count) == (27, 21, 8)
    assert robot.mass == pytest.approx(40.844, abs=1e-3)
    model, data = bench.mujoco_scene(with_servos(robot))
    bench.mujoco_stepper(model, data)(2000)
    assert data.ncon == 8 and data.qpos[2] > 1.25
    rec = Simulation(with_servos(robot), law="spring-damper").run(1.0)
    assert rec.total_force[-1, 2] == pytest.approx(robot.weight, rel=0.01) and not rec.summary()["fell"]


def test_worlds_of_any_robot_are_measured(capsys):
    command = ["bench", "--worlds", "2", "--robots", "humanoid", "--laws", "spring-damper", "mujoco", "--json"]
    assert main(command) == 0
    (told,) = map(json.loads, capsys.readouterr().out.splitlines())  # law mujoco is left out with a sentence
    assert (told["robot"], told["law"], told["worlds"]) == ("humanoid", "spring-damper", 2)
    assert min(told["standing"], told["restless"], told["mujoco_rollout"]) > 0.0 and told["unsolved"] == 0.0


TABLE = """
<mujoco model="table">
  <worldbody>
    <body name="table" pos="0 0 .3">
      <freejoint/><geom type="box" size=".3 .3 .02" mass="5" contype="0" conaffinity="0"/>
      <body name="left" pos="0 .2 -.15">
        <joint name="left" axis="0 1 0"/>
        <geom name="left" type="box" size=".25 .05 .13" mass="1" {bits}/>
      </body>
      <body name="right" pos="0 -.2 -.15">
        <joint name="right" axis="0 1 0"/>
        <geom name="right" type="box" size=".25 .05 .13" mass="1" {bits}/>
      </body>
    </body>
  </worldbody>
  {more}
</mujoco>
"""
PAIRS = '<contact><pair geom1="lawn" geom2="left"/><pair geom1="lawn" geom2="right"/></contact>'
MOTORS = '<actuator><motor joint="left"/><motor joint="right"/></actuator>'
TENDON = '<tendon><fixed name="t"><joint joint="left" coef="1"/><joint joint="right" coef="1"/></fixed></tendon>'
TABLES = {
    "collision bits of its own": dict(bits='contype="8" conaffinity="4"', more=MOTORS),
    "feet that meet the ground by a pair": dict(bits='contype="0" conaffinity="0"', more=PAIRS + MOTORS),
    "a tendon for a motor": dict(bits="", more=TENDON + '<actuator><motor tendon="t"/></actuator>'),
}


@pytest.mark.parametrize("feature", TABLES)
def test_a_robot_with_such_features_stands_in_the_table_and_under_mujocos_own_step(feature, tmp_path):
    (tmp_path / "table.xml").write_text(TABLE.format(**TABLES[feature]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FootfallWarning)
        robot = load_robot(tmp_path / "table.xml")
    rows = list(robot_table([robot], 1, laws=["time-stepping", "mujoco"], timed=0.04))[:3]
    assert [row["stands"] for row in rows] == [True] * 3
    assert rows[0]["audit"] == "pass" and rows[0]["ratio_to_mujoco"] is not None


def test_robots_are_measured_standing_restless_falling_and_lying():
    rows = list(robot_table(["quadruped"], 1, laws=["time-stepping"], timed=0.04))
    assert [(row["motion"], row["law"]) for row in rows] == [
        (motion, law) for motion in ("standing", "restless", "falling", "lying") for law in ("time-stepping", "mj_step")
    ]
    assert all(row["us_per_step"] > 0.0 and row["unsolved"] == 0.0 for row in rows)
    assert all(row["ratio_to_mujoco"] == 1.0 for row in rows if row["law"] == "mj_step")
