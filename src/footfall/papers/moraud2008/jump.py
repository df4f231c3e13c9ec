"""Moraud 2008, section IV: time per step against the number of vertices, during a jump (figure 8)."""

from __future__ import annotations

import time as clock
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

import footfall as ff
from footfall.measure.common import runs
from footfall.papers.base import Findings, panel, seen, unlike
from footfall.papers.moraud2008.motions import JointMotion, bent_legs, smooth
from footfall.simulation.task import perturbed_starts

DT = 1e-3  # s
VERTICES = (4, 8, 16, 32, 64)
MODES: tuple[Literal["exact", "one-step"], ...] = ("exact", "one-step")
DURATION = 1.4  # s
ROUNDS = 3
CHUNK = 50  # steps over which the time is taken
DOWN, HOLD, UP = 0.6, 0.1, 0.18  # s
LOW, HIGH = 1.3, 0.15  # rad, of the knees
#: Seeds of starts that are 1e-9 off, and vertices, with which one-step goes farthest astray of 40 seeds tried.
SEEDS, MANY = (2, 5), (16, 32, 64)
#: m, ten times the threshold d: deeper, a foot that sinks in would be seen.
DRASTIC = 0.01


class Jumps(NamedTuple):
    us: dict[tuple[str, int], np.ndarray]  # (chunks,) us per step, by mode and vertices
    astray: np.ndarray  # (vertices, 2) in one-step mode from starts that are 1e-9 off, the most of ``_astray``


@lru_cache(maxsize=8)
def jumping(robot: ff.Robot, low: float, up: float) -> JointMotion:
    """Knees bend to an angle (rad), stretch within a time (s) and take up the landing."""
    usual = float(robot.home[robot.model.joint("left_knee_pitch").qposadr[0]])

    def angles(time: float) -> dict[str, float]:
        knee = usual + (low - usual) * smooth(time, 0.0, DOWN) + (HIGH - low) * smooth(time, DOWN + HOLD, up)
        knee += (0.7 - HIGH) * smooth(time, DOWN + HOLD + up, 0.2)
        return bent_legs(robot, knee)

    return JointMotion(angles, DURATION)


def run_jump() -> Jumps:
    us: dict[tuple[str, int], np.ndarray] = {}
    robots = {count: ff.load_robot("full-humanoid", vertices=count) for count in VERTICES}
    worlds: dict[tuple[str, int], Any] = {}
    for _ in range(ROUNDS):
        worlds |= {(mode, count): _jump(mode, robot) for mode in MODES for count, robot in robots.items()}
        for key, taken in _timed(worlds).items():  # the best of each counts: noise only adds
            us[key] = np.minimum(us.get(key, np.inf), taken)
    astray = []
    for seed in SEEDS:
        with perturbed_starts(seed):
            astray.append([_astray(robots[count]) for count in MANY])
    return Jumps(us, np.max(astray, axis=0))


def _jump(mode: Literal["exact", "one-step"], robot: ff.Robot) -> Any:
    sim = ff.Simulation(robot, law=ff.contact.ConstraintSelection(mode=mode), dt=DT)
    return sim.start(controller=jumping(robot, LOW, UP))


def _timed(worlds: dict[tuple[str, int], Any]) -> dict[tuple[str, int], np.ndarray]:
    """(chunks,) us per step of worlds that take turns, so that what else the machine does slows all of them alike."""
    taken: dict[tuple[str, int], list[float]] = {key: [] for key in worlds}
    for world in worlds.values():
        world.step()
    for _ in range(round(DURATION / DT) // CHUNK - 1):
        for key, world in worlds.items():
            begin = clock.thread_time()  # the processor's: other programs take none of it
            world.step(n=CHUNK)
            taken[key].append(1e6 * (clock.thread_time() - begin) / CHUNK)
    return {key: np.array(one) for key, one in taken.items()}


def _astray(robot: ff.Robot) -> tuple[float, int]:
    """How deep (m) a vertex goes in a jump in one-step mode, and the most steps in a row that break a rule."""
    sim = ff.Simulation(robot, law=ff.contact.ConstraintSelection(mode="one-step"), dt=DT)
    rec = sim.run(DURATION, controller=jumping(robot, LOW, UP))
    broken = max((b - a for a, b in runs(rec.signals["violations"] > 0)), default=0)
    return max(0.0, -float(rec.gap.min())), broken


def judge_jump(data: Jumps) -> Findings:
    few, many = VERTICES[0], VERTICES[-1]
    took = {key: float(np.median(us)) for key, us in data.us.items()}
    growth = {mode: took[mode, many] / took[mode, few] for mode in MODES}
    slowest = float(data.us["one-step", many].max()) / took["one-step", many]
    yield unlike("extra", growth["one-step"], many=many, few=few, times=many / few)
    yield seen("similar", slowest, holds=slowest < 1.5, expected=False, many=many)
    yield unlike("quicker", took["one-step", many] / took["exact", many], many=many)
    grows = growth["exact"]
    yield seen("degrades", grows, holds=grows > 1.1, expected=False, many=many, few=few)
    deep, broken = data.astray.T
    yield seen(
        "nevertheless", ", ".join(f"{one:g}" for one in broken), holds=max(broken) < CHUNK, steps=round(DURATION / DT)
    )
    yield seen("drastic", ", ".join(f"{1e3 * one:.2f}" for one in deep), holds=max(deep) < DRASTIC)


def draw_jump(figure: Any, data: Jumps) -> None:
    times = ((VERTICES, [np.median(data.us[mode, n]) for n in VERTICES], mode) for mode in MODES)
    axis, look = figure.subplots(), {"xlabel": "vertices per foot", "ylabel": "processor time per step (µs)"}
    panel(axis, *times, ylim=(0.0, None), title="Fig. 8: median over the jump", **look)
