"""Bruneau 1999, section 4.1.1: the man falls from 30 cm (figure 13)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, near, seen
from footfall.papers.bruneau1999.man import GROUND, LAW, sprung_man
from footfall.record import COLUMNS

HEIGHT = 0.3  # m
STIFFNESSES = (2000.0, 10000.0, 50000.0)  # N m/rad
DT = 2e-5  # s
SAMPLE = 4e-5  # s, between samples of the whole fall
DURATION, LANDED = 1.2, 0.5  # s, of the whole fall, and until the force is back at the weight
PAPER_TIME = 0.012  # s, from the peak to 110 % of the weight
RISE = 1e-4  # s, in which the force rises
ROOT_Z = 1  # of qpos


@dataclass(frozen=True)
class Landing:
    """What is kept of a fall: arrays over time, and numbers."""

    time: np.ndarray  # s
    force: np.ndarray  # N, total, upwards
    weight: float  # N
    deepest: float  # m
    peaks: int  # local maxima above 110 % of the weight, past touch-down
    fall_time: float  # s, from the peak to 110 % of the weight
    energy_rise: float  # largest rise of energy, with the ground's springs, over its least, as a share of what was lost

    @property
    def peak(self) -> float:
        """Largest force, N."""
        return float(self.force.max())


@dataclass(frozen=True)
class Falls:
    coarse: dict[float, Landing]  # by stiffness, up to LANDED
    fine: dict[float, Landing]  # the whole fall with half the step
    shrink: dict[float, float]  # largest change of force in a step, of half the step over the whole one
    first: dict[float, float]  # N, force one step after touch-down, by step


def fall(robot: ff.Robot, dt: float, duration: float) -> ff.Recording:
    """The man let go 30 cm above the ground."""
    sim = ff.Simulation(robot, ground=GROUND, law=LAW, dt=dt)
    start = sim.place()
    start[ROOT_Z] += HEIGHT
    return sim.run(duration, qpos=start, record_dt=SAMPLE).check()


def touch_down(robot: ff.Robot, dt: float, duration: float) -> np.ndarray:
    """(T,) N, total force at every step from just before the soles touch on, with the speed of the fall."""
    sim = ff.Simulation(robot, ground=GROUND, law=LAW, dt=dt)
    start = sim.place()
    start[ROOT_Z] += 1e-12  # rounding is depth enough for half the force: (1e-15 m)^0.02 = 0.5
    speed = np.zeros(robot.model.nv)
    speed[ROOT_Z] = -math.sqrt(2.0 * 9.81 * HEIGHT)
    return sim.run(duration, qpos=start, qvel=speed).check().total_force[:, 2]


def largest_change(robot: ff.Robot, dt: float) -> float:
    """Largest change of the total force in a step (N), but for the rise as t^beta."""
    return float(np.abs(np.diff(touch_down(robot, dt, 0.05)[round(RISE / dt) :])).max())


def landing(rec: ff.Recording, *, with_energy: bool) -> Landing:
    force, weight = rec.total_force[:, 2], rec.robot.weight
    peak = int(force.argmax())
    after = force[peak:]
    below = int(np.argmax(after <= 1.1 * weight))
    inner = force[1:-1]
    tops = (inner > force[:-2]) & (inner >= force[2:]) & (inner > 1.1 * weight)
    rise = math.nan
    if with_energy:
        some = _thinned(rec, 4)  # a rise over the least before shows in every fourth sample too
        held = ff.measure.energy(some).mechanical + stored(some)
        rise = float((held - np.minimum.accumulate(held)).max() / (held[0] - held[-1]))
    return Landing(
        time=rec.time,
        force=force,
        weight=weight,
        deepest=-float(rec.gap.min()),
        peaks=int(tops.sum()),
        fall_time=float(rec.time[peak + below] - rec.time[peak]),
        energy_rise=rise,
    )


def stored(rec: ff.Recording) -> np.ndarray:
    """(T,) J, energy in the normal springs of the ground, eq. (16); those along it, of 90 N/m, hold some mJ."""
    power = LAW.alpha + 1.0
    return float(LAW.kn or 0.0) / power * (np.maximum(0.0, -rec.gap) ** power).sum(axis=1)


def _thinned(rec: ff.Recording, every: int) -> ff.Recording:
    return dataclasses.replace(rec, **{name: getattr(rec, name)[::every] for name in COLUMNS})


def run_falls() -> Falls:
    coarse, fine, shrink = {}, {}, {}
    for stiffness in STIFFNESSES:
        robot = sprung_man(stiffness, planar=True, carried=False)
        coarse[stiffness] = landing(fall(robot, DT, LANDED), with_energy=False)
        fine[stiffness] = landing(fall(robot, DT / 2, DURATION), with_energy=True)
        shrink[stiffness] = largest_change(robot, DT / 2) / largest_change(robot, DT)
    man = sprung_man(STIFFNESSES[0], planar=True, carried=False)
    first = {dt: float(touch_down(man, dt, dt)[1]) for dt in (1e-5, 1e-6, 1e-7, 1e-8)}
    return Falls(coarse, fine, shrink, first)


def judge_falls(data: Falls) -> list[Claim]:
    steps = sorted(data.first)
    power = math.log(data.first[steps[-1]] / data.first[steps[0]]) / math.log(steps[-1] / steps[0])
    share = data.first[steps[-1]] / max(one.peak for one in data.fine.values())
    stiff = [f"{stiffness:g}" for stiffness in STIFFNESSES]
    changes = [
        abs(getattr(data.fine[k], name) / getattr(data.coarse[k], name) - 1.0)
        for k in STIFFNESSES
        for name in ("peak", "fall_time", "deepest")
    ]
    shrinks = list(data.shrink.values())
    fine = list(data.fine.values())
    return [
        near(
            ("derived", "fig13"),
            "The force grows from zero: one step after touch-down it goes to zero with the step, as dt^beta (exponent)",
            (float(LAW.beta), power),
            rel=0.05,
            why="the spring's share, which is smaller still",
            note=f"With beta = 0.02 this is all but a jump: {100 * share:.0f} % of the peak after {steps[-1]:g} s",
        ),
        seen(
            ("printed", "fig13"),
            "The force is continuous: half the step, half the largest change in a step (past the rise of 0.1 ms)",
            ("0.5", ", ".join(f"{one:.2f}" for one in shrinks)),
            holds=max(shrinks) < 0.6,
            why="below 0.6: a jump would not shrink",
        ),
        seen(
            ("printed", "fig13"),
            f"It rises to one maximum and falls from there (maxima; joints of {', '.join(stiff)} N m/rad)",
            ("1", ", ".join(str(one.peaks) for one in fine)),
            holds=all(one.peaks == 1 for one in fine),
            why="local maxima above 110 % of the weight",
        ),
        seen(
            ("printed", "fig13"),
            "It settles on the weight (force over weight at the end)",
            ("1", ", ".join(f"{one.force[-1] / one.weight:.5f}" for one in fine)),
            holds=all(abs(one.force[-1] / one.weight - 1.0) < 1e-3 for one in fine),
            why="0.1 %: the joints still swing a little",
        ),
        seen(
            ("ours", "section 4.1.1"),
            "Energy of the man and the ground's springs only falls (largest rise, over what is lost)",
            ("0", ", ".join(f"{one.energy_rise:.1e}" for one in fine)),
            holds=all(one.energy_rise < 1e-4 for one in fine),
            why="1e-4: Euler's error",
        ),
        near(
            ("ours", "section 4.1.1"),
            "Half the step changes peak, time and depth by (largest of all joints)",
            (0.0, 100.0 * max(changes), "%"),
            within=2.0,
            why=f"2 % asked for; steps of {DT:g} s and {DT / 2:g} s",
        ),
    ]


def draw_falls(figure: Any, data: Falls) -> None:
    from footfall.show.panels import decimated
    from footfall.show.style import COLORS

    left, right = figure.subplots(1, 2)
    for (stiffness, one), color in zip(data.fine.items(), COLORS, strict=False):
        peak = one.time[one.force.argmax()]
        near_peak = (one.time > peak - 2e-3) & (one.time < peak + 0.06)
        name = f"{stiffness:g} N m/rad"
        left.plot(1e3 * (one.time - peak)[near_peak], one.force[near_peak] / one.weight, color=color, label=name)
        reached = 1e3 * one.fall_time
        left.plot([reached], [1.1], "o", color=color, markersize=4)
        kept = decimated(one.force, 4000)
        right.semilogy(one.time[kept], np.maximum(one.force[kept] / one.weight, 1e-2), color=color)
    left.axvline(1e3 * PAPER_TIME, color="#555555", linewidth=0.8, linestyle=(0, (6, 3)))
    left.annotate("paper: 12 ms", (1e3 * PAPER_TIME, 40), textcoords="offset points", xytext=(3, 0), fontsize=7.5)
    left.set_yscale("symlog", linthresh=1.0)
    left.set(
        xlabel="time after the peak (ms)", ylabel="force / weight", title="Circles: 110 % of the weight", ylim=(0, 80)
    )
    left.legend(title="joints", loc="upper right")
    right.set(xlabel="time (s)", ylabel="force / weight", title="The whole fall", ylim=(0.1, 100))


EXPERIMENT = Experiment(
    name="drop",
    figures=("fig13",),
    title="the man falls from 30 cm",
    run=run_falls,
    judge=judge_falls,
    draw=draw_falls,
    height=3.0,
)
