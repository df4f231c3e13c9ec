"""The measured walk: the table that ships is the one the recording gives, and looks like a walk."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest
from lab_walks import walker, write_tables
from shared_files import SHARED, needs

from footfall.cli import main
from footfall.errors import FootfallError
from footfall.gait import measured_walk
from footfall.gait.human.body import basis, evaluate, fit
from footfall.gait.human.data import as_text, derive, load_walk

RAW = SHARED / "data" / "human_walk"
recorded = needs("data/human_walk")


def test_a_series_is_found_again_with_its_derivatives():
    phase = np.arange(50) / 50
    true = np.random.default_rng(1).normal(size=7)
    found = fit(phase, basis(phase, 3) @ true, 3)
    assert np.allclose(found, true)
    step = 1e-5
    rate = (evaluate(true, phase + step) - evaluate(true, phase - step)) / (2 * step)
    assert np.allclose(evaluate(true, phase, 1), rate, atol=1e-6)
    assert np.allclose(evaluate(true, phase, 2), (2 * np.pi) ** 2 * -(basis(phase, 3) @ (true * [0, 1, 4, 9, 1, 4, 9])))


def test_the_forces_are_those_of_a_walk():
    walk = measured_walk()
    up, forward = walk.force["z"], walk.force["x"]
    assert up[:20].max() > 1.0 and up[30:].max() > 1.0 and up[15:35].min() < 0.9
    assert forward[:20].min() < -0.1 and forward[30:].max() > 0.1
    phase = np.arange(1000) / 1000
    # Both feet together carry the weight, on average over a stride.
    assert 2 * walk.ground_force("z", phase).mean() == pytest.approx(1.0, abs=0.02)
    assert walk.ground_force("z", np.array([0.8, 1.8])).tolist() == [0.0, 0.0]


def test_whose_walk_it_is_is_told():
    assert "Marcos Duarte" in measured_walk().attribution and "CC-BY 4.0" in measured_walk().attribution


@recorded
def test_the_table_is_derived_from_the_recording():
    kept = Path(__file__).parents[2] / "src/footfall/gait/human/human_walk.json"
    assert as_text(derive(RAW, measured_walk().attribution)) == kept.read_text(encoding="utf-8")


@recorded
def test_the_command_rebuilds_the_table_and_keeps_whose_it_is(tmp_path, capsys):
    assert main(["human-walk", str(RAW), "--out", str(tmp_path / "walk.json")]) == 0
    walk = load_walk(tmp_path / "walk.json")
    assert "Marcos Duarte" in walk.attribution and "CC-BY 4.0" in walk.attribution and "modified" in walk.attribution
    assert walk.stance == pytest.approx(measured_walk().stance)
    assert load_walk(tmp_path / "walk.json") is walk  # read once while the file stays as it is


@recorded
def test_joints_and_forces_alone_give_nearly_the_same_walk(tmp_path):
    """Without angles, mass and lengths: all of these are measured, the trunk stays upright."""
    for name in ("joints.csv", "grf.csv"):
        shutil.copy(RAW / name, tmp_path)
    own, known = derive(tmp_path), measured_walk()
    assert "not stated" in own.attribution
    assert own.mass == pytest.approx(known.mass, rel=0.01)  # windows of one stride give 76.5 to 77.6 kg
    assert own.speed == pytest.approx(known.speed, abs=0.01)
    assert (own.stride_time, own.stance) == pytest.approx((known.stride_time, known.stance), rel=1e-5)
    assert own.leg == pytest.approx(known.leg, abs=0.01)  # lengths in the plane, not in space
    assert own.step_width == pytest.approx(known.step_width, abs=0.03)
    phase = np.arange(100) / 100
    for name, bound in (("thigh", 0.2), ("shank", 0.2), ("foot", 1.0)):  # deg; the flat foot is another mean
        assert np.degrees(np.abs(own.angle(name, phase) - known.angle(name, phase))).max() < bound, name


@recorded
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: [row | {"foot": "left"} for row in rows], "no whole stance"),
        (lambda rows: [row for row in rows if row["foot"] == "R"], "no whole stride"),
        (lambda rows: [row | {"fz_N": "0"} for row in rows], "no whole stance"),
        (lambda rows: [{k: v for k, v in row.items() if k != "fz_N"} for row in rows], "no column 'fz_N'"),
    ],
)
def test_recordings_without_a_walk_are_refused(tmp_path, change, sentence):
    shutil.copy(RAW / "joints.csv", tmp_path)
    with (RAW / "grf.csv").open(newline="") as file:
        rows = change(list(csv.DictReader(file)))
    with (tmp_path / "grf.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(FootfallError, match=sentence):
        derive(tmp_path)


def test_what_is_no_table_of_a_walk_is_refused(tmp_path):
    (tmp_path / "walk.json").write_text('{"mass": 1}')
    for name, sentence in (("walk.json", "is not a table of a walk"), ("none.json", "cannot read the walk")):
        with pytest.raises(FootfallError, match=sentence):
            load_walk(tmp_path / name)


@recorded
def test_the_series_follow_the_mean_cycle_of_the_recording():
    with (RAW / "cycle.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    phase = np.array([float(row["cycle_pct"]) for row in rows]) / 100
    middle = (phase > 0.1) & (phase < 0.9)
    for name in ("thigh", "shank", "foot"):
        mean = np.array([float(row[f"{name}_deg"]) for row in rows])
        off = np.abs(np.degrees(measured_walk().angle(name, phase)) - mean)
        assert off.max() < 2.0, name  # half of what the strides do not close by, at their ends
        assert off[middle].max() < 1.6, name


def test_a_folder_without_the_recording_says_so(tmp_path):
    with pytest.raises(FootfallError, match=r"is not a recording of a walk: .* a folder with joints\.csv and grf"):
        derive(tmp_path)


@pytest.mark.parametrize("way", [{"unit": "mm"}, {"gap": range(60, 66)}])
def test_tables_in_other_ways_give_the_same_walk(way, tmp_path):
    """In another unit, and with a marker that was hidden for 60 ms."""
    plain, other = tmp_path / "plain", tmp_path / "other"
    for folder, how in ((plain, {}), (other, way)):
        folder.mkdir()
        write_tables(folder, *walker(), **how)
    known, own = derive(plain), derive(other)
    assert (own.mass, own.speed, own.leg) == pytest.approx((known.mass, known.speed, known.leg), rel=1e-4)
    phase = np.arange(100) / 100
    for name in ("thigh", "shank", "foot"):
        # A spline over 60 ms of a knee that moves at 2 m/s leaves some tenths of a mm.
        assert np.degrees(np.abs(own.angle(name, phase) - known.angle(name, phase))).max() < 0.2, name
    assert np.abs(own.ground_force("x", phase) - known.ground_force("x", phase)).max() < 1e-4


@pytest.mark.parametrize(
    ("way", "change", "sentence"),
    [
        ({"gap": range(60, 90)}, ("", ""), "R_knee_x_m is not known from 0.590 to 0.900 s, too long to fill"),
        ({"unit": "mm"}, ("_mm", "_m"), "the thigh of side R is .* m long: names of columns end in the unit"),
        ({}, ("R_hip_x_m", "R_hip_u_m"), "no column 'R_hip_x_m'"),
        ({"turn": -1.0}, ("", ""), "the toes point towards -x"),
    ],
)
def test_tables_that_cannot_be_are_refused_in_a_sentence(way, change, sentence, tmp_path):
    write_tables(tmp_path, *walker(), **way)
    path = tmp_path / "joints.csv"
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(FootfallError, match=sentence):
        derive(tmp_path)
