"""Every example of the README, the documentation and the help is run, and does what it says.

Robots stand or walk, the ground carries their weight, the audit has no objection. An example that has no outcome in
``example_outcomes`` fails the tests.
"""

from __future__ import annotations

import re
import shlex
from inspect import getdoc

import pytest
from example_outcomes import OUTCOMES, PAGES, ROOT, snippets, stood_or_walked

import footfall as ff
from footfall.cli import COMMANDS, command_of
from footfall.cli.identify import SUBCOMMANDS


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """In a folder of its own."""
    monkeypatch.chdir(tmp_path)


# ---- programs ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain_pictures")
@pytest.mark.parametrize("text", snippets(ROOT / "README.md"), ids=lambda text: text.split("\n")[0][:40])
def test_programs_do_what_they_say(text, monkeypatch, capsys):
    """Those of the README; the programs of the other pages assert their own outcomes (``test_docs``)."""
    recordings = []
    real = ff.Simulation.run

    def run(*args, **options):
        recordings.append(real(*args, **options))
        return recordings[-1]

    monkeypatch.setattr(ff.Simulation, "run", run)
    names = {}
    exec(compile("import footfall as ff\n" + text, "README.md", "exec"), names)
    assert recordings, "nothing is simulated"
    for rec in recordings:
        stood_or_walked(rec)
    if "N of robot" in text:  # the ten lines
        numbers = [
            float(x) for x in re.findall(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?", capsys.readouterr().out.split("robot")[0])
        ]
        assert numbers[2] == pytest.approx(numbers[3], rel=1e-4) == pytest.approx(441.45, rel=1e-4)
        assert len(ff.load_recording("pushed")) == len(recordings[0])
    if "thrown" in text:
        assert rec.qpos[-1, 0] == pytest.approx(0.02, abs=0.003)
        assert rec.total_force[-1] == pytest.approx([0.0, 0.0, rec.robot.weight], abs=1e-6)


# ---- commands ------------------------------------------------------------------------------------------------------


SLOW = ("compare", "survey", "identify tosses", "paper", "push-limit", "bench", "sweep", "gait", "stress")
#: Files that only a user has, and environments that take minutes: these commands have tests of their own.
OF_USERS = ("policy.onnx", "identify log walk.mcap", "arena run", "train ")
PLACEHOLDERS = {"ROBOT": "spatial-biped", "NAME": "spring-damper", "study.toml": "pushes.toml"}


def commands():
    """Commands that the help of a command and the pages show, each once."""
    found = []
    for name in COMMANDS:
        for kind in SUBCOMMANDS if name == "identify" else ("",):
            found += re.findall(r"^footfall (.*)$", getdoc(command_of(name, [kind])[0]) or "", flags=re.M)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found += re.findall(r"^footfall (.*)$", text, flags=re.M) + re.findall(r"`footfall ([^`]+)`", text)
    # A name alone is that of a command, which has a test of its own; all laws are what a comparison runs anyway.
    names = {*COMMANDS, *(f"identify {kind}" for kind in SUBCOMMANDS)}
    return [one for one in dict.fromkeys(one.replace(" --laws all", "") for one in found) if one.strip() not in names]


def test_pages_name_commands_that_exist():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for word in re.findall(r"^footfall ([a-z][\w-]*)", text, flags=re.M) + re.findall(
            r"`footfall ([a-z][\w-]*)", text
        ):
            assert word in COMMANDS, f"{page.name}: footfall {word}"


def as_run(text):
    """A command with names in the place of its placeholders; what then is the same command is run once."""
    if text.startswith("compare ROBOT"):
        text = text.replace("ROBOT", "brick")  # a robot is compared in the other examples
    text = re.split(r"\s+#", text)[0]  # a remark behind the command
    for placeholder, value in PLACEHOLDERS.items():
        text = text.replace(placeholder, value)
    if text.startswith("paper ") and "--only" not in text:
        return "paper rengifo2009 --only fig7,stability"  # whole papers are run by their own tests
    return text


def marked():
    for one in dict.fromkeys(map(as_run, commands())):
        if any(part in one for part in OF_USERS):
            continue
        slow = any(one.startswith(begin) for begin in SLOW)
        yield pytest.param(one, id=one, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.usefixtures("plain_pictures")
@pytest.mark.parametrize("text", list(marked()))
def test_commands_do_what_they_say(text, monkeypatch, capsys):
    outcome = next((check for begin, check in OUTCOMES.items() if text.startswith(begin)), None)
    assert outcome is not None, "an example without an outcome: add it to OUTCOMES"
    given = {"monkeypatch": monkeypatch, "capsys": capsys}
    wanted = outcome.__code__.co_varnames[1 : outcome.__code__.co_argcount]
    outcome(shlex.split(text, comments=True), **{name: given[name] for name in wanted})
