"""Bruneau 1999, section 4.1.3: the ankles are pulled sideways until the feet slide (figures 17 to 20)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, near, seen, unlike
from footfall.papers.bruneau1999.man import DYNAMIC, GROUND, LAW, STATIC, sprung_man
from footfall.papers.bruneau1999.phases import NAMES, Foot, look, sliding_phases

SPREAD = 0.5  # rad, of each hip to the side; the ankles keep the soles flat
JOINTS = 50000.0  # N m/rad
PULL = 0.74  # of the weight, both ankles together, to the left
TIMES = (0.05, 0.2, 0.3, 0.4)  # s: the pull begins, is whole, begins to fall, is gone
PIECE = 1e-3  # s, in which the pull is constant
SETTLE, DURATION, SHORT = 1.5, 2.5, 0.6  # s
DT, SAMPLE = 4e-5, 2e-4  # s
FEET = ("left", "right")


@dataclass(frozen=True)
class Sliding:
    whole: ff.Recording
    feet: dict[str, Foot]  # of the whole run
    close: dict[str, Foot]  # of the run with half the step, every step, up to SHORT
    close_time: np.ndarray
    shrink: dict[str, float]  # largest change of a foot's tangential force in a step, of half the step over the whole


def pull(time: np.ndarray | float) -> Any:
    """Pull on both ankles together, as a share of the weight."""
    return PULL * np.interp(time, TIMES, (0.0, 1.0, 1.0, 0.0))


def pushes(weight: float) -> list[ff.Push]:
    """The pull, in pieces of a millisecond, on both feet."""
    starts = np.arange(TIMES[0], TIMES[-1] - 0.5 * PIECE, PIECE)
    return [
        ff.Push(
            f"{side}_foot",
            force=(0.0, 0.5 * weight * float(pull(t + 0.5 * PIECE)), 0.0),
            start=float(t),
            duration=PIECE,
        )
        for t in starts
        for side in FEET
    ]


def straddling() -> ff.Robot:
    """The man in three dimensions with the legs spread to the sides."""
    turns = {"left_hip_roll": 1.0, "right_hip_roll": -1.0, "left_ankle_roll": -1.0, "right_ankle_roll": 1.0}
    return sprung_man(JOINTS, planar=False, pose={name: SPREAD * sign for name, sign in turns.items()})


def run_sliding() -> Sliding:
    robot = straddling()
    whole, close = (ff.Simulation(robot, ground=GROUND, law=LAW, dt=dt) for dt in (DT, DT / 2))
    start = whole.run(SETTLE, record_dt=SETTLE).check().qpos[-1]
    pulled = pushes(robot.weight)
    long = whole.run(DURATION, qpos=start, pushes=pulled, record_dt=SAMPLE).check()
    coarse = whole.run(SHORT, qpos=start, pushes=pulled).check()
    fine = close.run(SHORT, qpos=start, pushes=pulled).check()

    def largest(rec: ff.Recording, foot: str) -> float:
        return float(np.abs(np.diff(look(rec, foot).tangential)).max())

    return Sliding(
        whole=long,
        feet={foot: look(long, foot) for foot in FEET},
        close={foot: look(fine, foot) for foot in FEET},
        close_time=fine.time,
        shrink={foot: largest(fine, foot) / largest(coarse, foot) for foot in FEET},
    )


def judge_sliding(data: Sliding) -> list[Claim]:
    starts = [data.close_time[np.flatnonzero(data.close[foot].sliding.any(axis=1))[0]] for foot in FEET]
    stops = [phase.start for foot in FEET for phase in sliding_phases(data.whole, foot) if phase.letter == "e"]
    times = unlike(
        ("printed", "fig18"),
        "Sliding from 0.156 s to 0.496 s",
        ("0.156, 0.496 s", f"{min(starts):.3f}, {max(stops):.3f} s"),
        note="The pulling profile is not published: this one is ours, and the times are its own",
    )
    return [*(claim for foot in FEET for judge in (_judge_slide, _judge_stop) for claim in judge(data, foot)), times]


def _judge_slide(data: Sliding, foot: str) -> list[Claim]:
    """How a foot that is pulled begins to slide, and slides, in short steps (figures 18 to 20)."""
    close = data.close[foot]
    first = int(np.flatnonzero(close.sliding.any(axis=1))[0])
    old = np.arange(len(data.close_time)) > first + round(LAW.t_slide / (DT / 2))
    full = close.sliding.all(axis=1) & old
    ratio, viscous = close.ratio[full], close.viscous[full]
    return [
        near(
            ("printed", "fig20"),
            f"{foot} foot: it begins to slide when its ratio reaches lambda_s",
            (STATIC, close.ratio[first]),
            rel=2e-3,
            why="what the pull adds in a step",
        ),
        near(
            ("printed", "eq. 38"),
            f"{foot} foot: all points begin to slide at the same instant (points)",
            (18, int(close.sliding[first].sum())),
            within=0.0,
            why="exact",
        ),
        seen(
            ("printed", "fig20"),
            f"{foot} foot: in sliding the ratio is slightly greater than lambda_d, by the viscous part",
            (f"{DYNAMIC} to {DYNAMIC + viscous.max():.4f}", f"{ratio.min():.4f} to {ratio.max():.4f}"),
            holds=ratio.min() > DYNAMIC - 1e-3 and ratio.max() < DYNAMIC + viscous.max() + 1e-3,
            why="0.001: points slide in directions that differ a little",
        ),
        near(
            ("derived", "fig20"),
            f"{foot} foot: the ratio goes with the sliding speed as eq. (22) says, at each point (largest miss)",
            (0.0, close.miss[full].max()),
            within=1e-9,
            why="rounding",
            note="As V_t, negative in sliding, falls, the ratio rises: inversely, as the paper puts it",
        ),
    ]


def _judge_stop(data: Sliding, foot: str) -> list[Claim]:
    """The whole of its way, up to where it comes to rest (figures 18 to 20)."""
    far = data.feet[foot]
    ends = sorted(float(data.whole.time[np.flatnonzero(column)[-1]]) for column in far.sliding.T)
    phases = "".join(phase.letter for phase in sliding_phases(data.whole, foot))
    return [
        near(
            ("printed", "fig18"),
            f"{foot} foot: forces vary continuously (largest change in a step, half the step over the whole)",
            (0.5, data.shrink[foot]),
            within=0.1,
            why="a jump would not shrink",
        ),
        near(
            ("printed", "fig20"),
            f"{foot} foot: new steady state without sliding (speed at the end; largest was "
            f"{1e3 * np.abs(far.speed).max():.0f} mm/s)",
            (0.0, 1e3 * abs(far.speed[-1]), "mm/s"),
            within=1.0,
            why="adherence is a damper of 950 N s/m a point: it creeps under what the legs still press",
        ),
        seen(
            ("printed", "fig19"),
            f"{foot} foot: the phases, found automatically",
            ("abcdef", phases),
            holds=phases == "abcdef" and not far.sliding[-1].any(),
            why="the paper's order; no point slides at the end",
            note="In space a foot that is pulled turns a little, and its points stop one by one: the first, middle "
            f"and last at {ends[0]:.3f}, {ends[len(ends) // 2]:.3f} and {ends[-1]:.3f} s. In the plane, as the "
            "paper's, it cannot: experiment plane-sliding",
        ),
    ]


def draw_sliding(figure: Any, data: Sliding) -> None:
    from footfall.show.style import BLUE, GREEN, VERMILION

    rec, weight = data.whole, data.whole.robot.weight
    upto = 1.0
    shown = rec.time <= upto
    time = rec.time[shown]
    forces, ratio, speed = figure.subplots(3, 1, sharex=True, height_ratios=[1.3, 1.0, 1.0])
    total = rec.total_force[:, 1]
    forces.plot(time, rec.total_force[shown, 2], color=GREEN, label="normal, total")
    forces.plot(time, -total[shown], color="#000000", label="tangential, total (against the pull)")
    forces.plot(time, weight * pull(time), color="#555555", linestyle=(0, (4, 1.5)), label="pull")
    for foot, color in zip(FEET, (BLUE, VERMILION), strict=True):
        one = data.feet[foot]
        forces.plot(time, one.normal[shown], color=color, linewidth=0.7, label=f"normal, {foot}")
        ratio.plot(time, one.ratio[shown], color=color, label=f"{foot} foot")
        speed.plot(time, one.speed[shown], color=color)
    for level, name in ((STATIC, "λs"), (DYNAMIC, "λd")):
        ratio.axhline(level, color="#555555", linewidth=0.8, linestyle=(0, (6, 3)))
        ratio.annotate(name, (upto, level), textcoords="offset points", xytext=(-12, 2), fontsize=8)
    phases = sliding_phases(rec, FEET[1])
    for ax in (forces, ratio, speed):
        for phase in phases:
            if phase.start < upto:
                ax.axvline(phase.start, color="#AAAAAA", linewidth=0.6)
    top = 1.25 * weight
    for phase in phases:
        middle = 0.5 * (phase.start + min(phase.end, upto))
        if phase.start < upto:
            forces.annotate(phase.letter, (middle, 0.93 * top), ha="center", fontsize=9, fontweight="bold")
    forces.set(ylabel="force (N)", title="Fig. 18: forces; phases a-f of the right foot (fig. 19)", ylim=(-60, top))
    forces.legend(ncols=1, loc="center right", fontsize=7)
    ratio.set(ylabel="ratio λg", title="Fig. 20: ratio of tangential to normal force", ylim=(0, 0.75))
    ratio.legend(loc="upper right")
    speed.set(ylabel="speed (m/s)", xlabel="time (s)", title="Fig. 20: sliding velocity", xlim=(0, upto))
    figure.supxlabel(", ".join(f"{letter} {name}" for letter, name in NAMES.items()), fontsize=7.5)


EXPERIMENT = Experiment(
    name="sliding",
    figures=("fig17", "fig18", "fig19", "fig20"),
    title="ankles pulled sideways",
    run=run_sliding,
    judge=judge_sliding,
    draw=draw_sliding,
    height=5.4,
)
