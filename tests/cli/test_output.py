"""What commands print."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import footfall as ff
from footfall.cli import main
from footfall.cli.shared.output import PIPE_WIDTH, print_table


def test_names_and_numbers_of_a_long_table_stay_whole_and_its_heads_are_broken(capsys):
    name = "acceleration-complementarity"
    columns = ("robot", "law", *(f"quantity number {i}>" for i in range(6)), "note")
    print_table(columns, [["cassie", name, *("1.00461",) * 6, "a note of several words"]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= PIPE_WIDTH
    row = next(line for line in lines if "cassie" in line)
    assert name in row and row.count("1.00461") == 6
    assert not any("quantity number" in line for line in lines)


def test_what_does_not_fit_into_one_line_ends_in_dots(capsys):
    print_table(("law", "what it is"), [["one", "word " * 40]], one_line=True)
    row = capsys.readouterr().out.splitlines()[3]
    assert row.startswith("  one   word") and row.rstrip().endswith("…")


def test_audits_fit_the_screen_and_of_several_what_fails_is_shown(capsys):
    rec = ff.Simulation("brick", law="time-stepping").run(0.02)
    rec.save("run")
    pulled = np.array(rec.force)
    pulled[-1, 0, 2] = -1.0
    replace(rec, force=pulled).save("wrong")
    assert main(["audit", "run"]) == 0
    capsys.readouterr()
    assert main(["audit", "run", "wrong"]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "pulling force" in line]
    assert " 1 N " in line and line.rstrip().endswith("fail")
    assert main(["audit", "wrong"]) == 1
    told = capsys.readouterr().out
    assert "pulling force" in told and "friction cone" in told and max(map(len, told.splitlines())) <= PIPE_WIDTH
