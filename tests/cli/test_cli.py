"""The command line: its frame, what it prints of robots and laws, and how processes end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from commands import HOME, footfall_process, one_line

import footfall
from footfall.cli import COMMANDS, HELP, main
from footfall.cli.shared import result
from footfall.cli.shared.options import described_fields
from footfall.cli.shared.usage import in_unit
from footfall.contact import law_class, laws
from footfall.control import controller_class, controllers
from footfall.recording import load_recording
from footfall.robot import load_robot, robots
from footfall.study import largest_push
from footfall.study.largest_push import PushLimit

# ---- the frame -------------------------------------------------------------------------------------------------


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, what in COMMANDS.items():
        assert name in out
        assert what in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_without_markup(name, capsys):
    assert main([name, "--help"]) == 0
    told = capsys.readouterr().out
    assert f"usage: footfall {name}" in told
    assert not re.search(r"\bNone\b|default: \)|default: False|\bSTR\b", told)  # which tell nobody anything
    assert not re.search(r"`|:\w+:|\*\w", told)


def test_no_command_is_a_usage_error(capsys):
    assert main([]) == 2
    assert "usage" in capsys.readouterr().out


def test_an_unknown_command_suggests_the_nearest(capsys):
    assert main(["rnu"]) == 2
    assert "did you mean 'run'" in one_line(capsys.readouterr().err)


def test_version_prints_the_version_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"footfall {footfall.__version__}"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("laws --jsn", "laws has no option '--jsn' here: did you mean '--json'? "),
        ("run brick --frction 0.5", "did you mean '--ground.friction'? "),
        ("run brick --law.k 1e5", "'--law.k' here: it is an option of --law hunt-crossley or spring-damper; "),
        ("compare brick --law.k 1e5", "here: laws have their default options here"),
        ("walk brick --ground.angle 5deg", "'--ground.angle' here: it is an option of --ground slope; "),
        ("run brick --speed 0.4", "'--speed' here: it is an option of --controller gait, quadruped-walk or walk; "),
        ("run brick.xml --robot.mass 3", "'--robot.mass' here: it is one of a built-in robot"),
        ("run brick --robot.mas 3", "'--robot.mas' here: did you mean '--robot.mass'?"),
        ("run", "run needs ROBOT: a built-in name"),
        (
            "run brick --duration 5kg",
            "--duration takes a number in s, or one with its unit (s, ms, µs, us, min), and not",
        ),
        (
            "run brick --ground slope --ground.angle 5foot",
            "in rad, or one with its unit (rad, deg, °), and not '5foot'",
        ),
        ("run brick --law spring-damper --law.k stiff", "--law.k takes a number in N/m, or one with its unit"),
        ("run brick --law spring-damper --law.c 1kN", "--law.c takes a number in N s/m, or one with its unit"),
        ("run brick --robot.mass 2m", "--robot.mass takes a number in kg, or one with its unit (kg, g), and not '2m'"),
        ("run spatial-biped --robot.knee 2cm", "--robot.knee takes a number in rad, or one with its unit"),
        ("run brick --drop", "--drop takes a number in m, or one with its unit"),
        ("run brick twice", "run does not know what to do with 'twice'"),
        ("new habit walk", "new takes one of controller, law, study, policy, and not 'habit'"),
        ("identify impacts a.csv", "identify impacts needs --mass (of the body) and --inertia (about"),
        ("identify guesses", "did you mean"),
        ("export runs/walk --out walk.csv", "export needs FILE: its ending chooses the format"),
        ("sweep a.toml --workers x", "--workers takes a whole number, and not 'x' (processes at a time); "),
        ("autopsy p.onnx --robot brick --command 1 x", "--command takes numbers, and not 'x'"),
        ("video r --size 3", "--size takes two whole numbers (width and height in pixels); "),
        ("run brick --law spring-damper --law.c 3kN", "or one with its unit (N s/m, kN s/m), and not '3kN' (N s/m"),
        ("run brick --json=3", "run does not know what to do with '3'"),
        ("push-limit brick --law mujoco", "push-limit has no option '--law' here: did you mean '--laws'? "),
    ],
)
def test_what_is_typed_wrongly_is_one_sentence(typed, told, capsys):
    assert main(typed.split()) == 2
    sentence = one_line(capsys.readouterr().err)
    assert sentence.startswith("footfall: ") and told in sentence


def test_a_path_that_is_not_utf_8_is_refused_in_a_sentence(capsys):
    """As of a folder that another system named in Latin-1: Python has its bytes as lone surrogates."""
    assert main(["audit", "runs/m\udcfcll"]) == 2
    assert "'runs/m?ll' is not UTF-8, and Parquet and MuJoCo open no such file" in one_line(capsys.readouterr().err)


def test_an_error_shows_its_traceback_with_debug_only(capsys, monkeypatch):
    assert main(["laws", "nonsense"]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert main(["laws", "nonsense", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err
    monkeypatch.setenv("FOOTFALL_DEBUG", "1")
    assert main(["laws", "nonsense"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_ends_with_130_and_a_sentence(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("footfall.simulation.Simulation.run", interrupted)
    assert main(["run", "ball"]) == 130
    assert one_line(capsys.readouterr().err) == "footfall: interrupted"


def test_a_warning_of_ours_is_one_line(capsys, tmp_path):
    (tmp_path / "warns.py").write_text(
        "import warnings, footfall\nwarnings.warn('mind the gap', footfall.FootfallWarning)\n"
    )
    assert main(["laws", "--json", "--import", "warns.py"]) == 0
    assert capsys.readouterr().err == "footfall: warning: mind the gap\n"


def test_help_does_not_load_the_core():
    code = "import sys; from footfall.cli import main; main(['--help']); print(set(sys.modules) & {'mujoco', 'numba'})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(HOME)},
        check=True,
    )
    assert done.stdout.strip().endswith("set()")


# ---- robots and laws -------------------------------------------------------------------------------------------


def test_robots_lists_them_all(capsys):
    assert main(["robots"]) == 0
    table = capsys.readouterr().out
    assert main(["robots", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in told] == list(robots())
    assert all(name in table for name in robots())
    biped = next(one for one in told if one["name"] == "spatial-biped")
    assert (biped["degrees_of_freedom"], biped["actuators"], biped["points"]) == (20, 14, 8)
    assert biped["mass_kg"] == pytest.approx(45.0)


def test_a_robot_tells_its_parameters_and_its_source(capsys):
    assert main(["robots", "planar-biped"]) == 0
    out = capsys.readouterr().out
    assert "Bravo" in out
    assert "foot_length" in out
    assert main(["robots", "planar-biped", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["parameters"] == dict(load_robot("planar-biped").parameters)


def test_a_robot_from_a_file_tells_its_feet(capsys, tmp_path):
    (tmp_path / "mine.xml").write_text(load_robot("brick").mjcf)
    assert main(["robots", "mine.xml", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["name"] == "mine"
    assert len(told["feet"][0]["points"]) == 4


def test_an_unknown_robot_suggests_the_nearest(capsys):
    assert main(["robots", "spatial-bipd"]) == 1
    assert "did you mean 'spatial-biped'" in one_line(capsys.readouterr().err)


def test_laws_lists_them_all_with_their_options(capsys):
    assert main(["laws"]) == 0
    table = capsys.readouterr().out
    assert main(["laws", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in told] == list(laws())
    for one in told:
        assert one["name"] in table
        assert one["kind"] in ("point", "coupled", "native")
        assert one["citation"]
    penalty = next(one for one in told if one["name"] == "linearizing-penalty")
    assert penalty["kind"] == "coupled"
    (kp,) = [option for option in penalty["options"] if option["name"] == "kp"]
    assert (kp["type"], kp["default"], kp["required"]) == ("float", 500.0, False)
    assert kp["note"].startswith("1/s2, ")


@pytest.mark.parametrize("name", laws())
def test_every_option_of_a_law_says_what_it_is(name, capsys):
    main(["laws", name, "--json"])
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["options"] if not one["note"]] == []


@pytest.mark.parametrize("name", controllers())
def test_every_option_of_a_controller_says_what_it_is(name):
    controller = controller_class(name)
    assert {one.name for one in fields(controller)} == set(described_fields(controller))


@pytest.mark.parametrize("name", laws())
def test_a_law_tells_its_documentation(name, capsys):
    assert main(["laws", name]) == 0
    out = capsys.readouterr().out
    assert law_class(name).citation in " ".join(out.split())
    assert main(["laws", name, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["documentation"]) > 40


# ---- whole processes -------------------------------------------------------------------------------------------


def test_the_process_exits_with_0_after_success_1_after_an_error_and_2_after_wrong_usage():
    done = footfall_process("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"footfall {footfall.__version__}\n", "")
    done = footfall_process("laws", "nonsense")
    assert (done.returncode, done.stdout) == (1, "") and "nonsense" in one_line(done.stderr)
    assert footfall_process("nonsense").returncode == 2


def test_a_terminal_that_knows_ascii_alone_shows_what_it_can():
    env = os.environ | {"PYTHONPATH": str(HOME), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "footfall", "crossé"]
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    assert done.returncode == 2 and b"no command 'cross?'" in done.stderr


def test_output_cut_short_is_no_error_message():
    code = f"{sys.executable} -m footfall --help | true"  # the reader has gone before anything is said
    env = os.environ | {"PYTHONPATH": str(HOME)}
    done = subprocess.run(["sh", "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.stderr == ""


@pytest.mark.slow
def test_the_demo_walks_and_leaves_a_recording_and_a_report(capsys):
    assert main(["demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert not told["fell"]
    rec = load_recording(told["recording"])
    assert rec.signals["phase"][-1, 0] == 5
    assert rec.position[-1, :, 0].mean() - rec.position[0, :, 0].mean() == pytest.approx(0.7, abs=0.05)
    assert (Path("runs/demo") / "report.html").stat().st_size > 1000


def test_options_of_a_controller_may_be_typed_alone_and_it_tells_how_long_it_takes():
    walk = ["run", "spatial-biped", "--controller", "walk", "--law", "mujoco"]
    assert main([*walk, "--speed", "0.3", "--steps", "1", "--controller.stop-time", "0.1", "--out", "r"]) == 0
    rec = load_recording("r")
    assert rec.info["controller"] == "walk(speed=0.3, steps=1, stop_time=0.1)"
    assert rec.duration == pytest.approx(0.8 + 0.5 + 0.1)
    assert main([*walk, "--duration", "0.01", "--out", "r2"]) == 0
    assert load_recording("r2").duration == pytest.approx(0.01)


def test_report_writes_a_page(capsys):
    assert main(["run", "ball", "--duration", "0.05", "--out", "one"]) == 0
    assert main(["run", "ball", "--duration", "0.05", "--law", "spring-damper", "--out", "two"]) == 0
    capsys.readouterr()
    assert main(["report", "one", "two", "--out", "both.html"]) == 0
    assert "both.html" in capsys.readouterr().out
    assert main(["report", "one", "--json"]) == 0
    assert Path(json.loads(capsys.readouterr().out)["report"]) == Path("one/report.html")
    assert "<html" in Path("both.html").read_text()


def test_view_shows_the_recordings_it_is_given(monkeypatch):
    shown = {}
    monkeypatch.setattr("footfall.show.viewer.view", lambda recordings, **how: shown.update(how, count=len(recordings)))
    assert main(["run", "ball", "--duration", "0.01", "--out", "r"]) == 0
    assert main(["view", "r", "r", "--port", "0", "--no-browser"]) == 0
    assert shown == {"port": 0, "open_browser": False, "count": 2}


def test_a_recording_nobody_named_goes_under_runs():
    from footfall.simulation import Simulation

    assert result.default_folder(Simulation("ball").run(0.0)) == Path("runs/ball-linearizing-penalty")


def test_a_recording_is_overwritten_only_where_that_is_asked_for(capsys):
    """Also where it is of another robot, of a comparison, or of a run that failed and chose its folder itself."""
    assert main(["run", "ball", "--duration", "0.01", "--out", "r"]) == 0
    for again in (["run", "brick"], ["compare", "brick", "--laws", "mujoco"]):
        assert main([*again, "--duration", "0.01", "--out", "r"]) == 2
        assert "give another --out, or --overwrite" in one_line(capsys.readouterr().err)
    assert load_recording("r").robot.name == "ball"
    assert main(["run", "brick", "--duration", "0.01", "--out", "r", "--overwrite"]) == 0
    assert load_recording("r").robot.name == "brick"
    Path("mine.csv").write_text("measured by hand")
    for words in (["export", "r", "mine.csv"], ["plot", "r", "grf"], ["report", "r"], ["video", "r"]):
        named = [] if words[0] == "export" else ["--out", "mine.csv"]
        assert main([*words, *named]) == 2
        assert "'mine.csv' is there already: give another name, or --overwrite" in one_line(capsys.readouterr().err)
    assert Path("mine.csv").read_text() == "measured by hand"
    assert main(["export", "r", "mine.csv", "--overwrite"]) == 0
    taken = result.default_folder(load_recording("r"))
    taken.mkdir(parents=True)
    assert result.default_folder(load_recording("r")) == taken.with_name(f"{taken.name}-2")


@pytest.mark.parametrize(
    ("typed", "unit", "value"),
    [
        ("2", "s", 2.0),
        ("5ms", "s", 5e-3),
        ("5 ms", "s", 5e-3),
        ("1e3us", "s", 1e-3),
        ("-10deg", "rad", -np.pi / 18.0),
        ("20 cm", "m", 0.2),
        ("3.6km/h", "m/s", 1.0),
        ("90deg/s", "rad/s", np.pi / 2.0),
        ("2kN/m", "N/m", 2e3),
        ("500 g", "kg", 0.5),
        ("2 kN s/m", "N s/m", 2e3),
        ("1N m/deg", "N m/rad", 180.0 / np.pi),
    ],
)
def test_a_quantity_may_be_typed_in_a_multiple_of_its_unit(typed, unit, value):
    assert in_unit(typed, unit) == pytest.approx(value, rel=1e-15)


def test_units_are_taken_wherever_a_quantity_is(capsys):
    typed = "run brick --duration 20ms --dt 0.5ms --record-dt 1ms --drop 5mm --ground slope --ground.angle 5deg"
    law = "--law spring-damper --law.rest-penetration 0.5mm --robot.mass 500g --robot.length 30cm --law.c"
    push = ["--push", "1 N x brick 5 ms at 10 ms"]
    assert main([*typed.split(), *law.split(), "0.1 kN s/m", *push, "--out", "r"]) == 0
    rec = load_recording("r")
    assert (rec.duration, rec.dt, rec.record_dt) == pytest.approx((0.02, 5e-4, 1e-3))
    assert (rec.robot.mass, rec.robot.parameters["length"], rec.law.c) == pytest.approx((0.5, 0.3, 100.0))
    assert rec.law.rest_penetration == 5e-4 and rec.ground.to_dict()["angle"] == pytest.approx(np.radians(5.0))
    assert (rec.pushes[0].start, rec.pushes[0].duration) == pytest.approx((0.01, 0.005))


#: The exit codes of ``footfall --help``, by what is typed.
CODES = {
    "run ball --duration 0.01": 0,
    "run planar-biped --controller none --duration 1.5 --record-dt 10ms": 1,  # it falls
    "compare planar-biped --laws mujoco --controller none --duration 1.5": 1,
    "audit nowhere": 1,
    "run ball --law nonsense": 1,
    "plot nowhere": 1,
    "run ball --lenght 3": 2,
    "new law taken": 2,  # it would overwrite
    "sweep study.yaml": 2,
    "nonsense": 2,
}


@pytest.mark.parametrize(("typed", "code"), CODES.items())
def test_exit_codes_are_those_of_the_table(typed, code, capsys):
    Path("taken.py").touch()
    assert main(typed.split()) == code
    assert re.search(rf"^  {code} +\w", HELP, re.M)


def test_a_study_in_yaml_is_told_to_be_toml(capsys):
    assert main(["sweep", "study.yaml"]) == 2
    assert "a study is a TOML file" in one_line(capsys.readouterr().err)


def test_a_plot_without_a_name_is_that_of_the_forces(capsys):
    assert main(["run", "ball", "--duration", "0.02", "--out", "r"]) == 0
    assert main(["plot", "r", "--out", "forces.png"]) == 0
    assert Path("forces.png").stat().st_size > 1000


def test_push_limit_prints_what_was_found_until_ctrl_c(capsys, monkeypatch):
    found = PushLimit("mujoco", 40.0, 45.0, "N", "it fell", 3)

    def interrupted(*args, **options):
        interrupt = KeyboardInterrupt()
        interrupt.found = [(found,), (), (), ()]
        raise interrupt

    monkeypatch.setattr(largest_push, "largest_pushes", interrupted)
    assert main(["push-limit", "spatial-biped"]) == 130
    told = capsys.readouterr()
    assert "40 N" in told.out and "45 N" in told.out and "interrupted" in told.err


def test_a_demo_takes_any_robot(capsys):
    assert main(["demo", "brick", "--out", "kept", "--json"]) == 0  # which stands
    assert "brick stands, as it cannot walk" in capsys.readouterr().err
    assert load_recording("kept").duration == pytest.approx(2.0)


def test_a_place_that_is_taken_is_refused_before_anything_is_simulated(tmp_path, capsys, monkeypatch):
    (tmp_path / "letter.txt").write_text("dear reader")
    monkeypatch.setattr(footfall.Simulation, "run", lambda *args, **options: pytest.fail("it was simulated"))
    assert main(["run", "brick", "--out", str(tmp_path)]) != 0
    assert "holds something that is not a recording" in capsys.readouterr().err
