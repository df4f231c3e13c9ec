"""Compare: the same task under several laws, and laws that fail are rows."""

from __future__ import annotations

import json
from typing import NamedTuple

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.errors import FootfallError, LawError
from footfall.study.compare import Comparison

LAWS = ["linearizing-penalty", "spring-damper", "hunt-crossley"]


class Found(NamedTuple):
    comparison: Comparison
    told: list[tuple[int, int, str]]  # progress


@pytest.fixture(scope="module")
def found():
    told = []
    push = ff.Push("trunk", force=(40.0, 0.0, 0.0), start=0.1)
    result = ff.compare(
        "spatial-biped",
        laws=LAWS,
        controller="posture",
        ground=ff.Ground.plane(friction=(0.8, 0.6)),
        pushes=[push],
        duration=0.4,
        progress=lambda *done: told.append(done),
    )
    return Found(result, told)


def test_each_law_has_the_run_that_it_has_alone(found):
    comparison, told = found.comparison, found.told
    assert [row.law for row in comparison.rows] == LAWS == list(comparison.recordings)
    assert told == [(1, 3, LAWS[0]), (2, 3, LAWS[1]), (3, 3, LAWS[2])]
    for law, rec in comparison.recordings.items():
        sim = ff.Simulation("spatial-biped", law=law, ground=ff.Ground.plane(friction=(0.8, 0.6)))
        own = sim.run(0.4, controller="posture", pushes=[ff.Push("trunk", force=(40.0, 0.0, 0.0), start=0.1)])
        assert np.array_equal(rec.qpos, own.qpos)
        assert np.array_equal(rec.force, own.force)
        assert (rec.robot, rec.ground, rec.law) == (own.robot, own.ground, own.law)


def test_rows_say_what_the_recordings_say(found):
    comparison = found.comparison
    for law, rec in comparison.recordings.items():
        row = comparison[law]
        assert (row.outcome, row.why) == ("stayed up", "")
        assert row.peak_force_N == rec.total_force[:, 2].max()
        assert row.mean_force_N == pytest.approx(rec.total_force[:, 2].mean())
        assert row.penetration_m == -rec.gap.min()
        assert row.audit == rec.audit().verdict
        assert row.ground_loss_J == pytest.approx(-ff.measure.energy(rec).contact_work[-1])
        assert row.duration_s == pytest.approx(0.4)
        assert row.us_per_step > 0
    assert comparison["spring-damper"].ground_loss_J > 0.1  # it sinks in by a millimetre, and stays there


def test_it_prints_plots_reports_and_saves(found, tmp_path):
    comparison = found.comparison
    text = str(comparison)
    assert text.splitlines()[0].split()[:2] == ["law", "outcome"]
    assert all(f"\n{law} " in text for law in LAWS)
    figure = comparison.plot("grf")
    assert {line.get_label() for line in figure.axes[0].get_lines()} >= set(LAWS)
    page = comparison.report(tmp_path / "laws.html").read_text(encoding="utf-8")
    assert all(law in page for law in LAWS)
    saved = comparison.save(tmp_path / "runs")
    assert np.array_equal(ff.load_recording(saved[LAWS[0]]).time, comparison.recordings[LAWS[0]].time)
    content = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert [row["law"] for row in content["rows"]] == LAWS
    assert content["audits"][LAWS[0]]["verdict"] == "pass"


def test_a_law_that_fails_is_a_row_that_says_why():
    stiff = ff.law("hunt-crossley", k=1e12)
    comparison = ff.compare("planar-biped", laws=[stiff, "mujoco"], controller="posture", duration=0.1)
    row = comparison["hunt-crossley"]
    assert row.outcome == "failed"
    assert "diverged at" in row.why
    assert "diverged at" in str(comparison)
    assert comparison["mujoco"].outcome == "stayed up"


def test_a_controller_that_raises_is_told_in_every_row():
    def broken(t, state):
        raise ValueError("no idea")

    comparison = ff.compare("planar-biped", laws=LAWS, controller=broken, duration=0.1)
    assert all("no idea" in row.why for row in comparison.rows)
    with pytest.raises(FootfallError, match=r"no law gave a recording: .*no idea"):
        comparison.plot("grf")
    assert json.dumps(comparison.to_dict(), allow_nan=False)


def test_laws_may_be_a_column_of_a_table():
    comparison = ff.compare("brick", laws=np.array(["mujoco", "spring-damper"]), duration=0.01)
    assert [row.law for row in comparison.rows] == ["mujoco", "spring-damper"]


def test_laws_of_one_name_are_told_apart_by_their_options():
    soft, hard = ff.law("spring-damper", rest_penetration=2e-3), ff.law("spring-damper")
    comparison = ff.compare("brick", laws=[soft, hard], duration=0.1)
    assert [row.law for row in comparison.rows] == [str(soft), str(hard)]
    with pytest.raises(LawError, match="given twice"):
        ff.compare("brick", laws=["mujoco", "mujoco"])
    with pytest.raises(LawError, match="did you mean 'mujoco'"):
        ff.compare("brick", laws=["mujocco"])
    with pytest.raises(LawError, match="no law"):
        ff.compare("brick", laws=[])


def test_each_law_takes_its_own_step_unless_one_is_given():
    """Springs under feet of 10 g ring in steps of 1 ms, and a run alone takes shorter ones."""
    foot = '<body name="{}" pos="{} 0 -0.2"><joint type="slide" axis="0 0 1" stiffness="1e5"/>{}</body>'
    ball = '<geom size="0.02" mass="0.01"/>'
    legs = foot.format("front", 0.1, ball) + foot.format("hind", -0.1, ball)
    trunk = f'<body pos="0 0 0.3"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="10"/>{legs}</body>'
    robot = ff.load_robot(mujoco.MjSpec.from_string(f"<mujoco><worldbody>{trunk}</worldbody></mujoco>"))
    alone = ff.Simulation(robot, law="spring-damper").dt
    found = ff.compare(robot, laws=["spring-damper", "mujoco"], duration=0.01).recordings
    assert found["spring-damper"].dt == alone < found["mujoco"].dt == 1e-3
    given = ff.compare(robot, laws="spring-damper", dt=1e-3, duration=0.01).recordings
    assert given["spring-damper"].dt == 1e-3


def test_all_laws_are_compared_by_default():
    comparison = ff.compare("brick", duration=0.02)
    assert {row.law for row in comparison.rows} == set(ff.laws())
