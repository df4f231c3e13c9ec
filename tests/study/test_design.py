"""Designs: the front of best compromises, against problems whose front is known."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import sweep_work
from bounds import below

import footfall as ff
from footfall.cli import main
from footfall.study.design import design, on_front


def schaffer(x, y=0.0):
    """Schaffer's problem: the front is 0 <= x <= 2, y = 0."""
    return {"left": x * x + y * y, "right": (x - 2.0) ** 2 + y * y}


def broken(x):
    if x > 0.5:
        raise ValueError("too large")
    return {"cost": x}


def test_the_front_is_what_nothing_dominates():
    costs = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0], [3.0, 3.0], [2.0, 2.0]])
    assert on_front(costs).tolist() == [True, True, True, False, True]


def test_the_search_finds_a_known_front():
    found = design(
        schaffer, {"x": (-4.0, 6.0), "y": (-3.0, 3.0)}, {"left": 1.0, "right": 1.0}, cases=32, rounds=6, workers=1
    )
    first = design(
        schaffer, {"x": (-4.0, 6.0), "y": (-3.0, 3.0)}, {"left": 1.0, "right": 1.0}, cases=32, rounds=1, workers=1
    )
    # On the true front the distances to both optima add up to 2.
    beyond = [np.sqrt(one.measures["left"]) + np.sqrt(one.measures["right"]) - 2.0 for one in (first, found)]
    below(np.mean(beyond[1][found.front]), 0.25)
    assert np.mean(beyond[1][found.front]) < 0.5 * np.mean(beyond[0][first.front])
    x = found.inputs["x"][found.front]
    assert x.min() < 0.5 and x.max() > 1.5, "the front is spread from one optimum to the other"
    assert found.score[found.front].argmin() == 0


def test_larger_is_better_with_a_negative_weight():
    found = design(schaffer, {"x": (0.0, 1.0)}, {"left": -1.0}, cases=16, rounds=3, workers=1)
    assert found.front.size == 1 and found.best["x"] > 0.95
    assert found.measures["left"][found.front[0]] == pytest.approx(found.best["x"] ** 2)


def test_the_same_seed_gives_the_same_designs_and_a_folder_goes_on(tmp_path):
    options = {"vary": {"x": (0.0, 1.0)}, "goals": {"left": 1.0, "right": 1.0}, "cases": 8, "rounds": 2}
    tables = [design(schaffer, **options, out=tmp_path / "kept", workers=n).inputs["x"] for n in (1, 2)]
    again = design(schaffer, **options, workers=1).inputs["x"]
    np.testing.assert_array_equal(tables[0], again)
    np.testing.assert_array_equal(tables[0], tables[1])


def test_a_design_that_is_killed_goes_on_where_it_ended(tmp_path, monkeypatch):
    options = {"vary": {"x": (0.0, 1.0)}, "goals": {"left": 1.0, "right": 1.0}, "cases": 8, "rounds": 3, "workers": 1}
    (tmp_path / "marks").mkdir()
    imports = "import sweep_work; from footfall.study.design import design"
    code = f"{imports}; design(sweep_work.marked, out={str(tmp_path / 'kept')!r}, **{options!r})"
    path = os.pathsep.join([str(Path(sweep_work.__file__).parent), *[p for p in sys.path if p]])
    monkeypatch.setenv("MARKS", str(tmp_path / "marks"))
    halting = {**os.environ, "PYTHONPATH": path, "HALT": "12"}  # in the second round
    process = subprocess.Popen([sys.executable, "-c", code], env=halting)
    while process.poll() is None and len(list((tmp_path / "marks").iterdir())) < 12:
        time.sleep(0.01)
    process.kill()
    process.wait()
    found = design(sweep_work.marked, out=tmp_path / "kept", **options)
    done = sorted(len(mark.read_text()) for mark in (tmp_path / "marks").iterdir())
    assert done == [1] * 23 + [2]  # only what was killed in its middle is done again
    whole = design(schaffer, **options)
    np.testing.assert_array_equal(found.inputs["x"], whole.inputs["x"])


def test_designs_that_fail_are_left_out():
    found = design(broken, {"x": (0.0, 1.0)}, {"cost": 1.0}, cases=16, rounds=1, workers=1)
    assert not found.admissible.all() and (found.inputs["x"][found.admissible] <= 0.5).all()
    assert "too large" in found.why_not()


def test_robots_that_fall_are_left_out():
    found = design(
        {"robot": "quadruped", "law": "spring-damper", "controller": "posture", "duration": 0.8,
         "push": {"body": "trunk", "angle": 90.0, "start": 0.0, "duration": 0.1}},
        {"push.size": (10.0, 500.0)},
        {"peak_vertical_force_bw": 1.0},
        cases=8,
        rounds=1,
        workers=1,
    )  # fmt: skip
    assert found.admissible.any() and not found.admissible.all()
    assert found.inputs["push.size"][found.admissible].max() < found.inputs["push.size"].max()


def test_the_largest_push_is_a_measure():
    found = ff.sweep(
        {"robot": "quadruped", "law": "spring-damper", "controller": "posture", "duration": 0.1,
         "push": {"body": "trunk", "size": 60.0, "angle": 90.0, "start": 0.0, "duration": 0.1}},
        grid={"robot.hip_offset": [0.03, 0.14]},
        measures=["largest_push_N"],
        workers=1,
    )  # fmt: skip
    narrow, wide = found["largest_push_N"]
    assert 0.0 < 1.2 * narrow < wide, "a wider stance takes a larger push sideways"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"goals": {}}, "needs goals"),
        ({"goals": {"left": 0.0}}, "has the weight 0.0"),
        ({"goals": {"middle": 1.0}}, "give no 'middle'"),
        ({"vary": {"x": (1.0, 0.0)}}, "do not make an interval"),
        ({"rounds": 0}, "rounds = 0, but it must be a whole number > 0"),
    ],
)
def test_what_is_no_design_is_refused_in_a_sentence(change, sentence):
    given = {"vary": {"x": (0.0, 1.0)}, "goals": {"left": 1.0}, "cases": 4, "rounds": 1, "workers": 1}
    with pytest.raises(ff.FootfallError, match=sentence):
        design(schaffer, **(given | change))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("cases = 4", "no table [simulation]"),
        ("case = 4", "means nothing"),
        ('cases = "four"\n[simulation]\n[vary]\n[goals]', "whole number"),
        ('[simulation]\nrobot = "brick"\n[vary]\n"law.kk" = [1, 2]\n[goals]\nfell = 1', "kk"),
    ],
)
def test_a_bad_file_gets_a_sentence(text, sentence, tmp_path, capsys):
    (tmp_path / "d.toml").write_text(text)
    assert main(["design", str(tmp_path / "d.toml")]) != 0
    assert sentence in capsys.readouterr().err


def test_a_picture_is_drawn(tmp_path):
    import matplotlib.pyplot as plt

    found = design(schaffer, {"x": (-1.0, 3.0)}, {"left": 1.0, "right": 1.0}, cases=8, rounds=1, workers=1)
    figure = found.plot()
    assert figure.axes[0].get_xlabel() == "left (less is better)"
    plt.close(figure)
