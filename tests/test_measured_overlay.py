"""Measured forces beside simulated ones, in the report and by commands: the error is the one that was put in."""

from __future__ import annotations

import json

import numpy as np
import pytest

import footfall as ff
from footfall.cli import main

OFF = 3.0  # N


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A standing brick, and its vertical force with an offset, sampled at other times, as a laboratory's table."""
    place = tmp_path_factory.mktemp("measured")
    rec = ff.Simulation("brick", law="spring-damper").run(0.4)
    rec.save(place / "run")
    time = np.arange(0.0, 0.4, 0.0025)
    force = np.interp(time, rec.time, rec.total_force[:, 2]) + OFF
    rows = [f"{t},0,0,{f!r}" for t, f in zip(time, force.tolist(), strict=True)]
    (place / "plate.csv").write_text("\n".join(["time,plate.x [N],plate.y [N],plate.z [N]", *rows]))
    return place


def options(folder):
    return ["--measured", str(folder / "plate.csv"), "--measured-feet", "total=plate"]


def vertical(errors):
    return next(one for one in errors if one["axis"] == "z")


def test_the_report_has_the_table_and_the_curve(folder, tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["report", str(folder / "run"), "--out", str(page), "--json", *options(folder)]) == 0
    errors = json.loads(capsys.readouterr().out)["against_measured"]
    error = vertical(errors["spring-damper"])
    assert error["rms"] == pytest.approx(OFF, abs=1e-9)
    assert error["measured_peak"] - error["peak"] == pytest.approx(OFF, abs=1e-9)
    assert error["timing"] == 0.0
    text = page.read_text(encoding="utf-8")
    assert "Against plate.csv" in text and text.count('"name":"total, measured"') == 3


def test_a_comparison_judges_every_law_against_the_measurement(folder, tmp_path, capsys):
    laws = ["spring-damper", "linearizing-penalty"]
    command = ["compare", "brick", "--laws", *laws, "--duration", "0.4", "--json"]
    assert main([*command, "--out", str(tmp_path / "laws"), *options(folder)]) == 0
    errors = json.loads(capsys.readouterr().out)["against_measured"]
    assert set(errors) == set(laws)
    # The offset stays; laws differ in how the brick comes to rest, by a fraction of its weight of 10 N.
    for law in laws:
        assert vertical(errors[law])["rms"] == pytest.approx(OFF, abs=0.5)
    assert "Against plate.csv" in (tmp_path / "laws" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--measured", "nowhere.csv"], 1, "there is no such file"),
        (["--measured", "plate.csv"], 1, "name them with"),
        (["--measured", "plate.csv", "--measured-feet", "total"], 2, "cannot read the vector of a foot 'total'"),
        (["--measured", "plate.csv", "--measured-feet", "total=plat"], 1, "no vector 'plat'"),
    ],
)
def test_wrong_measurements_are_refused_in_a_sentence(folder, tmp_path, capsys, monkeypatch, words, code, sentence):
    monkeypatch.chdir(folder)
    assert main(["report", "run", "--out", str(tmp_path / "r.html"), *words]) == code
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "r.html").exists()


def test_only_the_forces_plot_takes_measured_forces(folder, tmp_path, capsys):
    assert main(["plot", str(folder / "run"), "grf", "--out", str(tmp_path / "a.png"), *options(folder)]) == 0
    assert main(["plot", str(folder / "run"), "energy", "--out", str(tmp_path / "b.png"), *options(folder)]) == 2
    assert "not over 'energy'" in capsys.readouterr().err
