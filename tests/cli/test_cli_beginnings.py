"""One line each, help, new files and bars."""

from __future__ import annotations

import io
import json
import re
import runpy
import sys
from importlib import import_module
from pathlib import Path

import pytest
from commands import one_line

from footfall.cli import main
from footfall.contact import laws
from footfall.recording import load_recording
from footfall.robot import robots


def test_laws_and_robots_are_one_line_each(capsys):
    for command, names in (("laws", laws()), ("robots", robots())):
        assert main([command]) == 0
        short = capsys.readouterr().out
        for name in names:
            (line,) = [line for line in short.splitlines() if line.strip().startswith(f"{name} ")]
            assert len(line.split()) > 4


@pytest.mark.parametrize("name", [*laws(), *robots()])
def test_descriptions_have_no_markup(name, capsys):
    assert main(["laws" if name in laws() else "robots", name]) == 0
    assert not re.search(r"`|:(meth|func|class|mod):|(?<![\w*])\*\w", capsys.readouterr().out)


def test_exit_codes_are_one_table_in_help_and_documentation(capsys):
    main(["--help"])
    told = re.findall(r"^  (\d+) +(\w+)", capsys.readouterr().out.partition("exit codes:")[2], re.M)
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    assert told == re.findall(r"^\| (\d+) \| (\w+)", page, re.M) and len(told) == 5


def test_new_files_work_as_they_are(capsys):
    from example_outcomes import stood_or_walked

    assert main(["new", "law", "my-rubber"]) == 0
    args = ["run", "brick", "--import", "my_rubber.py", "--law", "my-rubber", "--law.k", "1e4", "--duration", "0.5"]
    assert main([*args, "--out", "run"]) == 0
    stood_or_walked(load_recording("run"))

    assert main(["new", "controller", "hold"]) == 0
    capsys.readouterr()
    runpy.run_path("hold.py", run_name="__main__")
    assert "stands" in capsys.readouterr().out
    assert Path("hold.html").stat().st_size > 1000

    assert main(["new", "study", "pushes"]) == 0
    capsys.readouterr()
    assert main(["sweep", "pushes.toml", "--workers", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["cases"], told["failed"]) == (4, 0)

    assert main(["new", "study", "pushes"]) == 2
    assert "is there already: give another name" in capsys.readouterr().err
    assert main(["new", "law", "../x"]) == 2
    assert "is not a valid name" in one_line(capsys.readouterr().err)


def test_a_controller_of_ones_own_is_named_by_its_file(capsys):
    Path("still.py").write_text(
        "import numpy as np\n"
        "class Servo:\n"
        "    def start(self, robot, ground, dt):\n"
        "        return lambda t, state: 1500 * (robot.home[7:] - state.qpos[7:]) - 60 * state.qvel[6:]\n"
        "def still(t, state):\n"
        "    return np.zeros(14)\n"
    )
    run = ["run", "spatial-biped", "--duration", "0.2", "--json", "--controller"]
    for typed, name in (("still.py", "still"), ("still.py:Servo", "Servo")):
        assert main([*run, typed]) == 0
        assert json.loads(capsys.readouterr().out)["controller"] == name
    assert main([*run, "still.py:servo"]) == 2
    assert "still.py has no controller 'servo': did you mean 'Servo'?" in one_line(capsys.readouterr().err)
    assert main([*run, "nowhere.py"]) == 1
    assert "there is no such file" in one_line(capsys.readouterr().err)


def test_an_interrupted_study_says_how_it_goes_on(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    assert main(["new", "study", "pushes"]) == 0
    capsys.readouterr()
    monkeypatch.setattr(import_module("footfall.study.sweep"), "sweep", interrupted)
    assert main(["sweep", "pushes.toml"]) == 130
    assert "is kept in pushes: the same command goes on" in capsys.readouterr().err


def test_a_study_of_which_every_case_fails_has_failed(capsys):
    Path("lost.toml").write_text(
        '[simulation]\nrobot = "brick"\nduration = 0.01\nrecord_dt = 1e-4\n[grid]\n"ground.friction" = [0.3, 0.7]\n'
    )
    assert main(["sweep", "lost.toml", "--workers", "1"]) == 1
    told = capsys.readouterr()
    assert told.out.endswith("2 cases, 2 failed\n") and "record_dt" in told.err


# ---- bars ------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bars_have_sensible_units_on_a_terminal(monkeypatch):
    from footfall.cli.shared.output import progress_bar, sentences_bar

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("ball", "s") as move:
        move(1.2345e-3, 5.0)
        move(2.5, 5.0)
    with progress_bar("sweep", "cases") as move:
        move(1000, 2000)
    with sentences_bar("paper") as tell:
        tell("the third figure [bold]")
    shown = screen.getvalue()
    assert "2.50 / 5 s" in shown
    assert "1000 / 2000 cases" in shown
    assert "the third figure [bold]" in shown
    assert "e-0" not in shown


def test_where_there_is_no_terminal_sentences_are_lines(capsys):
    from footfall.cli.shared.output import progress_bar, sentences_bar

    with progress_bar("ball", "s") as move:
        assert move is None
    with sentences_bar("paper") as tell:
        tell("the third figure")
    assert capsys.readouterr().err == "footfall: the third figure\n"


def test_what_mujoco_warns_of_in_a_model_is_said_once_in_one_line(tmp_path, capsys):
    """As of options that it will drop: not with the line of our code that compiled the model, three times."""
    file = tmp_path / "old.xml"
    body = "<worldbody><body name='a'><freejoint/><geom size='.1'/></body></worldbody>"
    file.write_text(f"<mujoco><compiler settotalmass='3'/>{body}</mujoco>")
    assert main(["robots", str(file)]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "settotalmass" in line]
    assert len(said) == 1
    assert said[0].startswith("footfall: warning: compiler attribute 'settotalmass'")
