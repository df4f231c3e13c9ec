"""Balance control from the command line: options, warnings, outcome."""

from __future__ import annotations

import json

import pytest

from footfall.cli import main

RUN = ["run", "torque-biped", "--controller", "balance"]


def test_the_papers_push_is_one_command(capsys):
    assert main([*RUN, "--push", "70 N y hip 0.05 s at 0.2 s", "--duration", "0.5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["controller"] == "balance" and told["fell"] is False and told["warnings"] == []
    assert told["fell_at_s"] is None


def test_options_of_the_controller_follow_its_name_and_warnings_are_shown(capsys):
    assert main([*RUN, "--controller.floor", "100", "--controller.sides", "8", "--duration", "0.02"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "balance(floor=100.0, sides=8)" in out
    assert "infeasible: the contacts cannot give the desired wrench" in out


def test_a_fall_is_told_with_time_and_cause(capsys):
    assert main([*RUN, "--push", "900 N -x hip 0.1 s at 0 s", "--duration", "1"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "fell at 0." in out and "tipped backwards: its centre of mass left the support" in out


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--controller", "balence"], 1, "did you mean 'balance'"),
        (["--controller", "balance", "--controller.floor", "-3"], 1, "floor takes a number >= 0"),
    ],
)
def test_bad_options_are_one_sentence(args, code, message, capsys):
    assert main(["run", "torque-biped", "--duration", "0.01", *args]) == code
    assert message in capsys.readouterr().err
