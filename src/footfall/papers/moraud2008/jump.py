"""Moraud 2008, section IV: time per step against the number of vertices, during a jump (figure 8)."""

from __future__ import annotations

import time as clock
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.measure.common import runs
from footfall.papers.base import Findings, legend_below, near, seen, unlike
from footfall.papers.moraud2008.motions import JointMotion, bent_legs, smooth
from footfall.show.style import BLUE, GREEN, VERMILION
from footfall.simulation.task import perturbed_starts

DT = 1e-3  # s
COLD = "exact, without the last state"
VERTICES = (4, 8, 16, 32, 64)
#: By name: options of the law.
MODES: dict[str, dict[str, Any]] = {"exact": {}, "one-step": {"mode": "one-step"}, COLD: {"warm": False}}
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
    tried: dict[tuple[str, int], tuple[float, float]]  # states per step, mean and most
    flight: float  # s, without any force
    astray: np.ndarray  # (vertices, 2) in one-step mode from starts that are 1e-9 off, the most of ``_astray``
    apart: dict[int, float]  # m, of the pelvis in one-step mode from where it is in the exact mode, by vertices
    dropped: float  # m, the same of a quadruped on point feet that is dropped


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
    tried: dict[tuple[str, int], tuple[float, float]] = {}
    flight = 0.0
    heights: dict[tuple[str, int], np.ndarray] = {}
    robots = {count: ff.load_robot("full-humanoid", vertices=count) for count in VERTICES}
    laws = {mode: ff.contact.ConstraintSelection(**options) for mode, options in MODES.items()}
    worlds: dict[tuple[str, int], Any] = {}
    for _ in range(ROUNDS):
        worlds = {
            (mode, count): ff.Simulation(robot, law=law, dt=DT).start(controller=jumping(robot, LOW, UP))
            for mode, law in laws.items()
            for count, robot in robots.items()
        }
        for key, taken in _timed(worlds).items():  # the best of each counts: noise only adds
            us[key] = np.minimum(us.get(key, np.inf), taken)
    for key, world in worlds.items():
        rec = world.record()
        states = rec.signals["candidates"][rec.signals["candidates"] > 0]
        tried[key] = float(states.mean()), float(states.max())
        heights[key] = rec.qpos[(rec.time < DOWN + HOLD) | (rec.total_force[:, 2] > 0.0), 2][: round(0.8 / DT)]
        if key == ("exact", 4):
            flight = DT * float((rec.total_force[:, 2] == 0.0).sum())
    astray = []
    for seed in SEEDS:
        with perturbed_starts(seed):
            astray.append([_astray(robots[count]) for count in MANY])
    apart = {count: _apart(heights["exact", count], heights["one-step", count]) for count in VERTICES}
    return Jumps(us, tried, flight, np.max(astray, axis=0), apart, _apart(_drop("exact"), _drop("one-step")))


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


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    both = min(len(one), len(other))
    return float(np.abs(one[:both] - other[:both]).max())


def _drop(mode: Any) -> np.ndarray:
    """(T,) m, height of a quadruped on point feet that falls by 5 cm."""
    sim = ff.Simulation("quadruped", law=ff.contact.ConstraintSelection(mode=mode), dt=DT)
    return sim.run(0.5, controller="posture", qpos=sim.place(above=0.05)).qpos[:, 2]


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
    most = max(data.tried["one-step", count][1] for count in VERTICES)
    worst = ", ".join(f"{data.tried[COLD, count][1]:.0f}" for count in VERTICES)
    yield seen("air", data.flight, holds=data.flight > 0.05)
    yield unlike("extra", growth["one-step"], many=many, few=few, times=many / few)
    yield seen("similar", slowest, holds=slowest < 1.5, expected=False, many=many)
    warm, cold, own = _states(data, "exact", many), _states(data, COLD, many), took["one-step", many]
    share = own / took[COLD, many]
    yield unlike("quicker", own / took["exact", many], many=many, warm=warm, cold=cold, share=share)
    grows = growth["exact"]
    yield seen("degrades", grows, holds=grows > 1.1, expected=False, many=many, few=few, worst=worst)
    yield near("candidate", 1.0, most)
    (deep, broken), apart = data.astray.T, [*data.apart.values(), data.dropped]
    yield seen(
        "nevertheless", ", ".join(f"{one:g}" for one in broken), holds=max(broken) < CHUNK, steps=round(DURATION / DT)
    )
    yield seen("drastic", ", ".join(f"{1e3 * one:.2f}" for one in deep), holds=max(deep) < DRASTIC)
    yield seen("accuracy", "; ".join(f"{1e3 * one:.2g}" for one in apart), holds=max(apart) < DRASTIC)


def _states(data: Jumps, mode: str, vertices: int) -> str:
    mean, most = data.tried[mode, vertices]
    return f"{mean:.2f} states tried per step, {most:.0f} at most"


def draw_jump(figure: Any, data: Jumps) -> None:
    left, right = figure.subplots(1, 2)
    for mode, color in zip(MODES, (VERMILION, GREEN, BLUE), strict=True):
        left.plot(VERTICES, [np.median(data.us[mode, n]) for n in VERTICES], "o-", color=color, label=mode)
        right.plot(VERTICES, [data.tried[mode, n][1] for n in VERTICES], "o-", color=color)
    left.set(
        xlabel="vertices per foot",
        ylabel="processor time per step (µs)",
        ylim=(0.0, None),
        title="Fig. 8: median over the jump",
    )
    right.set(xlabel="vertices per foot", ylabel="states tried", title="Most states tried in a step")
    for one in (left, right):
        one.margins(x=0.03)
    legend_below(figure, left, columns=3)
