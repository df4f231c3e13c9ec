"""`footfall gait`, and walking by what it found."""

from __future__ import annotations

import json

import pytest

from footfall.cli import main
from footfall.gait.polynomial import load_gait


def test_the_demands_are_printed_beside_guess_and_optimum(capsys):
    assert main(["gait", "planar-biped", "--speed", "0.5"]) == 0
    told = capsys.readouterr().out
    assert "the walk of least torque at 0.5 m/s" in told
    assert "zero moment point, foremost" in told and "|Ft| / Fn" in told
    assert "NO" not in told.split()
    assert "74.86 N²m²s (first guess: 5339.9)" in told


def test_json_holds_the_table_and_the_gait_and_a_file_is_written(capsys, tmp_path):
    out = tmp_path / "walk.json"
    assert main(["gait", "planar-biped", "--json", "--out", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["source"] == "library"
    assert told["cost_N2m2s"] < told["guess_cost_N2m2s"]
    assert all(row["met"] for row in told["constraints"])
    assert told["speed_m_s"] == pytest.approx(0.5)
    assert load_gait(out).to_dict() == told["gait"]
    assert told["files"] == {"gait": str(out)}


def test_a_gait_from_a_file_is_walked(capsys, tmp_path):
    out = tmp_path / "walk.json"
    assert main(["gait", "planar-biped", "--speed", "0.8", "--out", str(out)]) == 0
    capsys.readouterr()
    options = ["--controller", "gait", "--controller.gait", str(out), "--law", "time-stepping", "--duration", "0.8"]
    assert main(["run", "planar-biped", *options, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["fell"] is False


def test_bad_input_is_one_sentence(capsys):
    assert main(["gait", "spatial-biped"]) == 1
    assert "spatial-biped does not move in the plane" in capsys.readouterr().err
    assert main(["gait", "planar-biped", "--speed", "-1"]) == 1
    assert "--speed takes a number > 0, and not '-1'" in capsys.readouterr().err
    assert main(["run", "planar-biped", "--controller", "gait", "--controller.gait", "nowhere.json"]) == 1
    assert "cannot read the gait nowhere.json" in capsys.readouterr().err
