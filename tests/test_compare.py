"""Compare: the same task under several laws, and laws that fail are rows."""

from __future__ import annotations

import json
import pickle
import sys
from importlib import import_module
from threading import Event
from typing import NamedTuple

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.contact import registry
from footfall.errors import FootfallError, LawError
from footfall.process.workers import Worker
from footfall.study.compare import Comparison, Task, simulate

LAWS = ["linearizing-penalty", "spring-damper", "hunt-crossley"]


def walking_on_air(depth, depth_rate, slip, slip_velocity, memory, parameters):
    return 0.0 * parameters.k * depth


class Found(NamedTuple):
    """A comparison in other processes, one of which dies."""

    comparison: Comparison
    told: list[tuple[int, int, str]]  # progress
    started: list[Worker]  # by whom a process was started, each time


@pytest.fixture(scope="module")
def found():
    """Two processes for four laws, of which the first kills its process."""
    told, packed, start, started = [], Task.packed, Worker._start, []
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Task, "packed", lambda self: b"no pickle" if self.law.name == "mujoco" else packed(self))
        monkeypatch.setattr(Worker, "_start", lambda self: started.append(self) or start(self))
        push = ff.Push("trunk", force=(40.0, 0.0, 0.0), start=0.1)
        result = ff.compare(
            "spatial-biped",
            laws=["mujoco", *LAWS],
            controller="posture",
            ground=ff.Ground.plane(friction=(0.8, 0.6)),
            pushes=[push],
            duration=0.4,
            workers=2,
            progress=lambda *done: told.append(done),
        )
    return Found(result, told, started)


def test_a_process_that_dies_is_a_row_and_processes_take_several_laws(found):
    assert "ended with code 1" in found.comparison["mujoco"].why
    assert [row.outcome for row in found.comparison.rows] == ["failed", "stayed up", "stayed up", "stayed up"]
    assert len(found.started) <= 3 and len(set(map(id, found.started))) <= 2


def test_other_processes_compute_what_this_one_does(found):
    comparison, told = found.comparison, found.told
    assert [row.law for row in comparison.rows] == ["mujoco", *LAWS] and list(comparison.recordings) == LAWS
    assert [(done, of) for done, of, _ in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert comparison.warnings == ()
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
    assert [row["law"] for row in content["rows"]] == ["mujoco", *LAWS]
    assert content["audits"][LAWS[0]]["verdict"] == "pass"


def test_a_law_that_fails_is_a_row_that_says_why():
    stiff = ff.law("hunt-crossley", k=1e12)
    comparison = ff.compare("planar-biped", laws=[stiff, "mujoco"], controller="posture", duration=0.1, workers=1)
    row = comparison["hunt-crossley"]
    assert row.outcome == "failed"
    assert "diverged at" in row.why
    assert "diverged at" in str(comparison)
    assert comparison["mujoco"].outcome == "stayed up"


def test_a_controller_that_raises_is_told_in_every_row():
    def broken(t, state):
        raise ValueError("no idea")

    comparison = ff.compare("planar-biped", laws=LAWS, controller=broken, duration=0.1, workers=1)
    assert all("no idea" in row.why for row in comparison.rows)
    with pytest.raises(FootfallError, match=r"no law gave a recording: .*no idea"):
        comparison.plot("grf")
    assert json.dumps(comparison.to_dict(), allow_nan=False)


@pytest.fixture
def sent(monkeypatch):
    """Laws that are sent to another process, and are simulated in this one: what another computes is asked above."""
    laws = []
    monkeypatch.setattr(
        import_module("footfall.study.compare"),
        "elsewhere",
        lambda worker, task, packed: laws.append(task.law.name) or simulate(task),
    )
    return laws


def test_what_cannot_travel_runs_here_with_a_warning(monkeypatch, sent):
    monkeypatch.setattr(registry, "_registered", {})  # no other test shall meet it
    ff.point_law("walking-on-air", k=1.0)(walking_on_air)
    comparison = ff.compare("brick", laws=["walking-on-air", "spring-damper"], duration=0.2, workers=2)
    assert comparison["walking-on-air"].outcome == "fell"
    assert comparison["spring-damper"].outcome == "stayed up" and sent == ["spring-damper"]
    (warning,) = comparison.warnings
    assert warning.startswith("walking-on-air ran in this process")


def test_a_function_of_a_script_is_not_sent(monkeypatch):
    def control(t, state):
        return 0 * state.data.ctrl

    control.__module__, control.__qualname__ = "__main__", "control"
    monkeypatch.setattr(sys.modules["__main__"], "control", control, raising=False)
    assert pickle.loads(pickle.dumps(control)) is control  # as in a script: another process has another __main__
    laws = ["spring-damper", "mujoco"]
    found = ff.compare("planar-biped", laws=laws, controller=control, duration=0.01, workers=2)
    assert "ran in this process" in found.warnings[0] and "defined in __main__" in found.warnings[0]
    assert [row.why for row in found.rows] == ["", ""]


@pytest.mark.parametrize("much", [False, True], ids=["a second's work", "more"])
def test_others_are_started_only_if_there_is_much_to_do(much, monkeypatch):
    """This process works on alone until then, and leaves the rest to the others."""
    started, here = Event(), []

    def simulated_here(task):
        here.append(task.law.name)
        return simulate(task)

    module = import_module("footfall.study.compare")
    monkeypatch.setattr(module, "cores", lambda: 2)
    monkeypatch.setattr(module, "WORTH_A_PROCESS", 0.0 if much else 3600.0)
    monkeypatch.setattr(module, "simulate", simulated_here)
    monkeypatch.setattr(module, "elsewhere", lambda worker, task, packed: started.set() or simulate(task))
    told = []
    comparison = ff.compare("brick", laws=LAWS, duration=0.1, progress=lambda *done: told.append(done))
    assert [row.law for row in comparison.rows] == LAWS == list(comparison.recordings)
    assert {row.outcome for row in comparison.rows} == {"stayed up"}
    assert [(done, of) for done, of, _ in told] == [(1, 3), (2, 3), (3, 3)]
    assert {law for _, _, law in told} == set(LAWS)
    assert (started.is_set(), len(here) == 4) == (much, not much)  # the first compiles what the laws share


def test_a_law_of_a_user_does_not_run_here(monkeypatch, sent):
    """What it does wrong ends its own process, and no other law's."""
    module = import_module("footfall.study.compare")
    monkeypatch.setattr(module, "cores", lambda: 2)
    monkeypatch.setattr(module, "WORTH_A_PROCESS", 3600.0)
    monkeypatch.setattr(module, "is_foreign", lambda kernel: kernel.__module__.endswith("spring_damper"))
    comparison = ff.compare("brick", laws=["mujoco", "spring-damper"], duration=0.1)
    assert {row.outcome for row in comparison.rows} == {"stayed up"} and sent == ["spring-damper"]


def test_laws_may_be_a_column_of_a_table():
    comparison = ff.compare("brick", laws=np.array(["mujoco", "spring-damper"]), duration=0.01, workers=1)
    assert [row.law for row in comparison.rows] == ["mujoco", "spring-damper"]


def test_laws_of_one_name_are_told_apart_by_their_options():
    soft, hard = ff.law("spring-damper", rest_penetration=2e-3), ff.law("spring-damper")
    comparison = ff.compare("brick", laws=[soft, hard], duration=0.1, workers=1)
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
    found = ff.compare(robot, laws=["spring-damper", "mujoco"], duration=0.01, workers=1).recordings
    assert found["spring-damper"].dt == alone < found["mujoco"].dt == 1e-3
    given = ff.compare(robot, laws="spring-damper", dt=1e-3, duration=0.01, workers=1).recordings
    assert given["spring-damper"].dt == 1e-3


def test_all_laws_are_compared_by_default():
    comparison = ff.compare("brick", duration=0.02, workers=1)
    assert {row.law for row in comparison.rows} == set(ff.laws())
