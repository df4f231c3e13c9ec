"""What controllers and laws tell of each step is recorded beside the motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import footfall as ff
from footfall.record import RunWarning, Signal


class _Counting:
    def __init__(self, robot, ground, dt):
        self.calls, self.grid = np.zeros(()), np.zeros((2, 3))
        self.signals = {"calls": Signal(self.calls, ""), "grid": Signal(self.grid, "m")}
        self.warnings = []
        self.period = dt

    def __call__(self, time, state):
        self.calls += 1
        self.grid[1, 2] = time
        if self.calls == 3:
            self.warnings.append(RunWarning(time, "three", "this was the third call"))
        return state.robot.home_ctrl


@dataclass(frozen=True)
class Counter:
    def start(self, robot, ground, dt):
        return _Counting(robot, ground, dt)


@pytest.fixture(scope="module")
def run():
    sim = ff.Simulation("spatial-biped", law="spring-damper", dt=1e-3)
    return lambda: sim.run(0.02, controller=Counter(), control_dt=2e-3)


def test_signals_are_sampled_and_held_between_calls(run):
    rec = run()
    assert rec.signals["calls"].shape == (21,)
    np.testing.assert_array_equal(rec.signals["calls"], np.arange(21) // 2 + 1)
    assert rec.signals["grid"].shape == (21, 2, 3)
    np.testing.assert_allclose(rec.signals["grid"][:, 1, 2], np.arange(21) // 2 * 2e-3)
    assert rec.info["signals"] == {"calls": "", "grid": "m"}


def test_every_run_begins_afresh(run):
    assert run().signals["calls"][0] == run().signals["calls"][0] == 1


def test_warnings_are_kept(run):
    assert run().info["warnings"] == [{"time": 4e-3, "kind": "three", "message": "this was the third call"}]


def test_signals_survive_the_disk_and_slicing(run, tmp_path):
    rec = run()
    again = ff.load_recording(rec.save(tmp_path / "rec"))
    assert set(again.signals) == set(rec.signals)
    for name in rec.signals:
        np.testing.assert_array_equal(again.signals[name], rec.signals[name])
    assert len(rec.slice(0.005, 0.01).signals["grid"]) == 5


def test_a_law_tells_nothing_of_a_robot_in_the_air():
    sim = ff.Simulation("brick", law="constraint-selection", dt=1e-3)
    start = sim.place()
    start[2] += 0.05
    rec = sim.run(0.2, qpos=start, qvel=[0, 0, 1.0, 0, 0, 0])
    air = (rec.gap > sim.law.margin).all(axis=1)
    tried = rec.signals[next(iter(sim.law.signals))]
    assert air.any() and not tried[air].any()


def test_what_is_told_of_a_landing_is_not_told_of_the_flight_after_it():
    sim = ff.Simulation("brick", law="constraint-selection", dt=1e-3)
    lift = ff.Push("brick", force=(0.0, 0.0, 30.0), start=0.05, duration=0.1)
    rec = sim.run(0.2, pushes=[lift])
    tried = rec.signals[next(iter(sim.law.signals))]
    assert tried[10] > 0 and tried[140] == 0
