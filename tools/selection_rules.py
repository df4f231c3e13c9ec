"""Compare the rules of law constraint-selection on the experiments of Moraud 2008, as tables in Markdown.

    python tools/selection_rules.py

runs falls over the toes, jumps with and without the last state, a thrown brick, and a biped that is dropped and pushed,
under both sets of rules. It counts which states come out, which rule changes them, how many are tried, and how often
points are clamped one by one (ground or sole uneven, no state found, a foot slides). The second table says where both
differ, the third what each threshold of the paper changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.moraud2008 import jump, toes

DT = 1e-3  # s
ROUNDS = 5
REASONS = ("friction", "pressure", "geometry", "force", "kinematics", "fewest")
RULES = ("landing", "paper")
#: Thresholds far below and far above the paper's.
THRESHOLDS = {"d": (1e-6, 1e-2), "a_t": (0.0, 100.0), "v_t": (0.0, 10.0)}


def experiments() -> Iterator[tuple[str, Callable[..., tuple[ff.Recording, float]]]]:
    """The name of each experiment, and a function of the law's options that runs it."""
    for vertices in (4, 8, 32):
        robot = ff.load_robot("full-humanoid", vertices=vertices)
        leans = toes.leaning(robot, toes.LEAN, toes.BEND)
        yield f"toes, {vertices} vertices", runner(robot, toes.DURATION, controller=leans)
    robot = ff.load_robot("full-humanoid", vertices=8)
    jumps = jump.jumping(robot, jump.LOW, jump.UP)
    yield "jump, warm", runner(robot, jump.DURATION, controller=jumps)
    yield "jump, cold", runner(robot, jump.DURATION, {"warm": False}, controller=jumps)
    brick, biped = ff.load_robot("brick"), ff.load_robot("spatial-biped")
    thrown = brick.home + np.array([0.0, 0.0, 0.1, 0.0, 0.1, 0.05, 0.0])
    yield "brick, thrown", runner(brick, 1.0, qpos=thrown, qvel=[1.0, 0.3, 0.0, 1.0, 2.0, 3.0])
    dropped = biped.home + 0.03 * np.eye(biped.home.size)[2]
    yield "biped, dropped", runner(biped, 1.0, qpos=dropped, controller="posture")
    push = ff.Push("trunk", force=(0.0, 80.0, 0.0), start=0.1, duration=0.2)
    yield "biped, pushed", runner(biped, 1.0, pushes=[push], controller="posture")


def runner(
    robot: ff.Robot, duration: float, always: dict[str, Any] | None = None, **task: Any
) -> Callable[..., tuple[ff.Recording, float]]:
    """A function of the law's options that runs a robot; returns the recording and the time (us) of a step."""

    def run(**options: Any) -> tuple[ff.Recording, float]:
        sim = ff.Simulation(robot, law=ff.law("constraint-selection", **(always or {}), **options), dt=DT)
        begin = time.process_time()
        rec = sim.run(duration, **task)
        return rec, 1e6 * (time.process_time() - begin) * DT / duration

    return run


def row(name: str, rules: str, rec: ff.Recording, us: float) -> str:
    state, tried = rec.signals["state"], rec.signals["candidates"]
    shares = " / ".join(f"{100.0 * (state == kind).mean():.1f}" for kind in range(4))
    counts = np.bincount(rec.signals["rule"].astype(int), minlength=7)[1:]
    why = ", ".join(f"{reason} {count}" for reason, count in zip(REASONS, counts, strict=True) if count)
    points = np.bincount(rec.signals["points"].astype(int), minlength=4)
    asked = (tried > 0) & (rec.signals["points"] == 0)  # else it counts the solver's iterations, too
    return (
        f"| {name} | {rules} | {shares} | {why or '-'} | {tried[asked].mean():.2f}, {tried[asked].max():.0f} "
        f"| {points[1]}, {points[2]}, {points[3]} | {us:.0f} |"
    )


def difference(a: ff.Recording, b: ff.Recording) -> tuple[str, int, str]:
    """Where two runs differ: the first time of another state, its samples, and the largest distance (mm) of a point."""
    n = min(len(a.time), len(b.time))
    other = (a.signals["state"][:n] != b.signals["state"][:n]).any(axis=1)
    far = 1e3 * float(np.abs(a.position[:n] - b.position[:n]).max())
    return f"{a.time[:n][other][0]:.3f} s" if other.any() else "-", int(other.sum()), f"{far:.3g}"


def main() -> None:
    runs = dict(experiments())
    found: dict[tuple[str, str], ff.Recording] = {}
    took: dict[tuple[str, str], float] = {}
    for _ in range(ROUNDS):  # both take turns, and the best of each counts: noise only adds
        for name, run in runs.items():
            for rules in RULES:
                found[name, rules], us = run(rules=rules)
                took[name, rules] = min(us, took.get((name, rules), np.inf))
    print("| experiment | rules | none / vertex / edge / face, % | changes by rule | tried: mean, most | points | us |")
    print("|---|---|---|---|---|---|---|")
    for name in runs:
        for rules in RULES:
            print(row(name, rules, found[name, rules], took[name, rules]))
    print("\n| experiment | first other state | samples with another | farthest, mm |\n|---|---|---|---|")
    for name in runs:
        print("|", name, "|", " | ".join(map(str, difference(found[name, "landing"], found[name, "paper"]))), "|")
    print("\n| threshold | runs with other states | samples with another, most | farthest, mm |\n|---|---|---|---|")
    for threshold, values in THRESHOLDS.items():
        for value in values:
            ways = {"rules": "paper", threshold: value}
            others = [difference(found[name, "paper"], run(**ways)[0]) for name, run in runs.items()]
            when, samples, far = zip(*others, strict=True)
            count = sum(one != "-" for one in when)
            print(f"| {threshold} = {value:g} | {count} of {len(runs)} | {max(samples)} | {max(map(float, far)):.3g} |")


if __name__ == "__main__":
    main()
