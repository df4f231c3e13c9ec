"""Bruneau 1999, figure 13: from the peak to 110 % of the weight in 12 ms, over all joints and for a rigid man."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.papers.base import Claim, Experiment, near, unlike
from footfall.papers.bruneau1999.drop import DT, HEIGHT, PAPER_TIME, touch_down
from footfall.papers.bruneau1999.man import LAW, sprung_man

#: N m/rad, from limp to rigid. Below 80 the man collapses.
STIFFNESSES = (5.0, 20.0, 50.0, 80.0, 200.0, 500.0, 2e3, 1e4, 5e4, 2e5)
DURATION = 0.15  # s after touch-down
MASS, POINTS, GRAVITY = 75.0, 36, 9.81
RIGID_DT = 1e-6  # s


@dataclass(frozen=True)
class Times:
    joints: dict[float, float]  # s, from the peak to 110 % of the weight, by stiffness
    rigid: float  # s
    by_mun: dict[float, float]  # s, rigid, by damping in N s/m^(1 + beta)
    needed: float  # N s/m^(1 + beta), the damping with which a rigid man takes 12 ms


def rigid_time(mun: float) -> float:
    """s, of a rigid body of 75 kg on all 36 points, by eq. (16)."""
    kn, alpha, beta = float(LAW.kn or 0.0), float(LAW.alpha), float(LAW.beta)
    depth, speed, peak, when = 1e-12, math.sqrt(2.0 * GRAVITY * HEIGHT), 0.0, 0
    for k in range(round(0.2 / RIGID_DT)):
        force = max(0.0, POINTS * (kn * depth**alpha + mun * depth**beta * speed)) if depth > 0.0 else 0.0
        if force > peak:
            peak, when = force, k
        elif force <= 1.1 * MASS * GRAVITY:
            return (k - when) * RIGID_DT
        speed += RIGID_DT * (GRAVITY - force / MASS)
        depth += RIGID_DT * speed
    return math.nan


def _jointed_time(stiffness: float) -> float:
    robot = sprung_man(stiffness, planar=True, carried=False)
    force = touch_down(robot, DT, DURATION)
    after = force[int(force.argmax()) :]
    return DT * int(np.argmax(after <= 1.1 * robot.weight))


def run_times() -> Times:
    printed = float(LAW.mun or 0.0)
    low, high = printed, 10.0 * printed
    for _ in range(12):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if rigid_time(middle) > PAPER_TIME else (low, middle)
    return Times(
        joints={stiffness: _jointed_time(stiffness) for stiffness in STIFFNESSES},
        rigid=rigid_time(printed),
        by_mun={mun: rigid_time(mun) for mun in np.geomspace(0.5 * printed, 8.0 * printed, 9).tolist()},
        needed=math.sqrt(low * high),
    )


def judge_times(data: Times) -> list[Claim]:
    least = min(data.joints, key=lambda one: data.joints[one])
    stiff = STIFFNESSES[-1]
    return [
        unlike(
            ("printed", "fig13"),
            "After the maximum the ground reaction reaches 110 % of the weight in 0.012 s (least over all joints)",
            (1e3 * PAPER_TIME, 1e3 * data.joints[least], "ms"),
            proof=f"With the printed table joints of {STIFFNESSES[0]:g} to {stiff:g} N m/rad take "
            f"{1e3 * data.joints[least]:.1f} ms or more, the least of them in a man who collapses, and a rigid man "
            f"takes {1e3 * data.rigid:.1f} ms. 12 ms would take mun = {data.needed:.0f} instead of the printed "
            f"{LAW.mun:g}",
        ),
        near(
            ("derived", "fig13"),
            f"Joints of {stiff:g} N m/rad against the rigid limit of eq. (16)",
            (1e3 * data.rigid, 1e3 * data.joints[stiff], "ms"),
            rel=0.02,
            why="steps of 0.02 ms, and joints that still give",
        ),
    ]


def draw_times(figure: Any, data: Times) -> None:
    from footfall.show.style import BLUE, VERMILION

    left, right = figure.subplots(1, 2, sharey=True)
    left.semilogx(list(data.joints), [1e3 * one for one in data.joints.values()], "o-", color=BLUE)
    left.axhline(1e3 * data.rigid, color=BLUE, linewidth=0.8, linestyle=":")
    left.annotate("rigid", (STIFFNESSES[0], 1e3 * data.rigid + 1.5), fontsize=7)
    left.set(xlabel="stiffness of the joints (N m/rad)", ylabel="peak to 110 % (ms)", ylim=(0.0, 130.0))
    right.semilogx(list(data.by_mun), [1e3 * one for one in data.by_mun.values()], "-", color=VERMILION)
    right.plot([float(LAW.mun or 0.0)], [1e3 * data.rigid], "o", color=VERMILION)
    right.set(xlabel="mun (N s/m^1.02); dot: printed", title="rigid man")
    ticks = (300, 500, 1000, 2000, 3500)
    right.set_xticks(ticks, labels=[str(one) for one in ticks])
    right.set_xticks((), minor=True)
    for axis in (left, right):
        axis.axhline(1e3 * PAPER_TIME, color="#555555", linewidth=0.8, linestyle=(0, (6, 3)))
    left.annotate("paper: 12 ms", (STIFFNESSES[0], 1e3 * PAPER_TIME - 6.0), fontsize=7)


EXPERIMENT = Experiment(
    name="impact-time",
    figures=("fig13",),
    title="how soon the force of the fall is back at the weight",
    run=run_times,
    judge=judge_times,
    draw=draw_times,
    height=2.6,
)
