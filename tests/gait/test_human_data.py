"""The measured walk: the table that ships is the one the recording gives, and looks like a walk."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from footfall.errors import FootfallError
from footfall.gait import measured_walk
from footfall.gait.human.data import as_text, derive
from footfall.gait.human.series import basis, evaluate, fit

RAW = Path(__file__).parents[3] / "shared/data/human_walk"
recorded = pytest.mark.skipif(not RAW.is_dir(), reason="the recording is not here")


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
    assert as_text(derive(RAW)) == kept.read_text(encoding="utf-8")


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
    with pytest.raises(FootfallError, match=r"cannot derive the walk: .*subject\.json"):
        derive(tmp_path)
