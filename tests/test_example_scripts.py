"""The scripts of ``examples/``: each runs as it is, and comes to what it says."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from example_outcomes import stood_or_walked

import footfall as ff
from footfall.cli import main
from footfall.contact import registry

EXAMPLES = Path(__file__).parents[1] / "examples"


def all_laws_carry_the_weight(names):
    assert set(names["resting"]) == set(ff.laws())
    for law, (load, depth) in names["resting"].items():
        assert load == pytest.approx(1.0, abs=1e-3), law
        # Soft laws rest at a depth, a millimetre by default or what their gains give; none at a centimetre.
        assert -1e-3 < depth < 10.0, law


def three_laws_are_compared(names):
    assert [row.outcome for row in names["found"].rows] == ["stayed up"] * 3
    assert Path("grf.png").stat().st_size > 1000
    assert "time-stepping" in names["page"].read_text(encoding="utf-8")


def a_stool_stands_on_three_feet(names):
    shares = names["shares"]
    assert set(shares) == {"front", "left", "right"}
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-6)
    assert shares["left"] == pytest.approx(shares["right"], abs=1e-6)  # it is symmetric
    stood_or_walked(names["rec"])


def a_brick_slides_as_coulomb_says(names):
    assert names["slid"] == pytest.approx(names["expected"], rel=0.01)  # the anchor's spring gives way by 0.4 mm


def knees_bend_and_stretch(names):
    stood_or_walked(names["rec"])
    assert 0.03 < np.ptp(names["height"]) < 0.1


def it_walks(names):
    stood_or_walked(names["rec"])
    assert names["travelled"] == pytest.approx(0.7, abs=0.1)
    assert Path("walk.html").exists()


def it_stands_on_bumps(names):
    assert names["carried"] == pytest.approx(1.0, abs=0.005)
    assert not names["rec"].summary()["fell"]
    assert np.ptp([names["ground"].height(*p[:2]) for p in names["rec"].position[-1]]) > 1e-3


def depth_is_weight_over_stiffness_and_some_more(names):
    assert len(names["table"]) == 4
    assert (names["overshoot"] > 1.0).all() and (names["overshoot"] < 2.0).all()
    assert (np.diff(names["table"]["max_penetration_m"]) < 0.0).all()


def small_pushes_are_survived_and_large_ones_not(names):
    up = names["up"]
    assert up[0].all() and not up[-1].any()


def the_future_repeats_itself(names):
    assert np.array_equal(names["first"], names["again"])
    assert (names["world"].mode == 1).all()  # friction 0.6 holds it on a slope of 0.3 rad


def it_lands_softly(names):
    assert (np.diff(names["costs"]) < 0.0).all()
    assert names["peaks"][1] < 0.7 * names["peaks"][0]
    assert Path("landing.png").stat().st_size > 1000


def a_push_is_survived_by_a_step(names):
    assert names["costs"][-1] < 0.2 * names["costs"][0]
    assert [rec.summary()["fell"] for rec in names["runs"].values()] == [True, False, False]
    assert names["after"].qpos[-1, 0] > 0.1  # m: it has taken a step to the front
    assert Path("push.png").stat().st_size > 1000


def a_sole_is_found_within_its_interval(names):
    assert (np.abs(names["path"][-1] - names["true"]) < 2.0 * names["spread"]).all()
    assert (names["spread"] < 0.01 * names["true"]).all()
    assert Path("sole.png").stat().st_size > 1000


def a_sweep_has_the_slope_of_the_derivative(names):
    assert names["slope"] == pytest.approx(names["swept"], rel=0.01)  # of a cubic through nine shapes
    assert Path("shape.png").stat().st_size > 1000


OUTCOMES = {
    "identify_a_sole": a_sole_is_found_within_its_interval,
    "shape_of_a_foot": a_sweep_has_the_slope_of_the_derivative,
    "soft_landing": it_lands_softly,
    "take_a_push": a_push_is_survived_by_a_step,
    "stand_under_every_law": all_laws_carry_the_weight,
    "compare_a_push": three_laws_are_compared,
    "own_robot": a_stool_stands_on_three_feet,
    "own_law": a_brick_slides_as_coulomb_says,
    "own_controller": knees_bend_and_stretch,
    "walk": it_walks,
    "rough_ground": it_stands_on_bumps,
    "sweep_stiffness": depth_is_weight_over_stiffness_and_some_more,
    "many_worlds": small_pushes_are_survived_and_large_ones_not,
    "step_by_step": the_future_repeats_itself,
}
SLOW = ("many_worlds", "compare_a_push", "take_a_push")
LONGER = ("soft_landing", "take_a_push")
#: It has options; see ``test_policy``.
ELSEWHERE = ("policies_across_laws",)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))  # a law of an example stays there


def test_every_script_has_an_outcome():
    assert {file.stem for file in EXAMPLES.glob("*.py")} == {*OUTCOMES, *ELSEWHERE}


def test_scripts_are_short_and_say_what_they_show():
    """Those with an optimiser of their own, iterative LQR, are longer."""
    for name in OUTCOMES:
        text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
        assert text.startswith('"""') and len(text.splitlines()) <= (80 if name in LONGER else 40), name


@pytest.mark.usefixtures("plain_pictures")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in OUTCOMES]
)
def test_scripts_do_what_they_say(name):
    OUTCOMES[name](runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__"))


@pytest.mark.slow
def test_a_robot_of_ones_own_is_compared_as_in_the_first_ten_minutes():
    """What tools/first_ten_minutes.sh does after it has installed."""
    runpy.run_path(str(EXAMPLES / "own_robot.py"), run_name="__main__")
    script = (EXAMPLES.parent / "tools" / "first_ten_minutes.sh").read_text(encoding="utf-8")
    (line,) = [line for line in script.splitlines() if "footfall compare" in line]
    command = line.split("footfall ", 1)[1].split()
    assert main(command) == 0
    laws = command[command.index("--laws") + 1 : command.index("--duration")]
    assert len(laws) == 3
    for law in laws:
        stood_or_walked(ff.load_recording(Path("runs/stool") / law))
    page = Path("runs/stool/report.html").read_text(encoding="utf-8")
    assert page.count('<span class="verdict good">stayed up</span>') == 3
