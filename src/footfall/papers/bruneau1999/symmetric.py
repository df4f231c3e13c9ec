"""Bruneau 1999, sections 3.2.3 and 4.1.3: one sole that is pulled straight, by the foot's criterion and the points'."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, near, seen
from footfall.papers.bruneau1999.man import GROUND, LAW, STATIC
from footfall.papers.bruneau1999.phases import Foot, look, sliding_phases
from footfall.papers.bruneau1999.sliding import DT, PIECE, SETTLE, TIMES, pull
from footfall.papers.bruneau1999.support import sole_block
from footfall.papers.drawing import legend_below

DURATION = 0.7  # s, the paper's
BELOW = 0.05  # m, of the block's centre of mass above its sole: pulled there, it does not tip
EARLY = 0.69  # of tangential to normal force


@dataclass(frozen=True)
class Pulled:
    rec: ff.Recording
    foot: Foot

    @property
    def onset(self) -> int:
        """The sample at which the first point slides."""
        return int(np.flatnonzero(self.foot.sliding.any(axis=1))[0])

    @property
    def whole(self) -> int:
        """The sample at which all points slide."""
        return int(np.flatnonzero(self.foot.sliding.all(axis=1))[0])

    @property
    def ends(self) -> np.ndarray:
        """(points,) s, when each point slides last."""
        return np.array([self.rec.time[np.flatnonzero(column)[-1]] for column in self.foot.sliding.T])


def pulled(criterion: Literal["foot", "point"]) -> Pulled:
    """A block of 75 kg on one sole under the pull of figure 18, at the height of the sole."""
    robot = sole_block()
    sim = ff.Simulation(robot, ground=GROUND, law=replace(LAW, criterion=criterion), dt=DT)
    start = sim.run(SETTLE, record_dt=SETTLE).check().qpos[-1]
    pushes = []
    for t in np.arange(TIMES[0], TIMES[-1] - 0.5 * PIECE, PIECE):
        force = robot.weight * float(pull(t + 0.5 * PIECE))
        torque = (BELOW * force, 0.0, 0.0)
        pushes.append(ff.Push("brick", force=(0.0, force, 0.0), torque=torque, start=float(t), duration=PIECE))
    rec = sim.run(DURATION, qpos=start, pushes=pushes).check()
    return Pulled(rec, look(rec, robot.feet[0].name))


def run_symmetric() -> dict[str, Pulled]:
    return {"foot": pulled("foot"), "point": pulled("point")}


def judge_symmetric(data: dict[str, Pulled]) -> list[Claim]:
    foot, point = data["foot"], data["point"]
    ends, t_stick = foot.ends, float(LAW.t_stick)
    phases = "".join(phase.letter for phase in sliding_phases(foot.rec, foot.rec.robot.feet[0].name))
    return [
        seen(
            ("printed", "fig19"),
            "All testing points return to adherence at the same instant (spread over the 18 points)",
            ("the same instant", f"{1e3 * np.ptp(ends):.2f} ms, at {ends.mean():.3f} s"),
            holds=np.ptp(ends) < 0.5 * t_stick,
            why=f"half of the transition of {1e3 * t_stick:g} ms: a sole that is pulled straight and does not turn",
        ),
        seen(
            ("printed", "fig19"),
            "The phases a to e, and a new steady state",
            ("abcdef", phases),
            holds=phases == "abcdef",
            why="found from modes and forces",
        ),
        near(
            ("printed", "eq. 40"),
            "By the foot's condition, sliding begins at lambda_s",
            (STATIC, foot.foot.ratio[foot.onset]),
            rel=2e-3,
            why="what the pull adds in a step",
        ),
        seen(
            ("printed", "section 3.2.3"),
            "By the local condition, sliding begins before the foot's ratio reaches lambda_s, point by point",
            (
                f"below {STATIC}",
                f"{point.foot.ratio[point.onset]:.3f}, {int(point.foot.sliding[point.onset].sum())} points first, the "
                f"last {1e3 * (point.rec.time[point.whole] - point.rec.time[point.onset]):.1f} ms later",
            ),
            holds=point.foot.ratio[point.onset] < EARLY and point.whole > point.onset,
            why=f"below {EARLY}, and not all at once",
        ),
    ]


def draw_symmetric(figure: Any, data: dict[str, Pulled]) -> None:
    from footfall.show.style import BLUE, VERMILION

    ratio, speed, count = figure.subplots(1, 3)
    for (name, one), color in zip(data.items(), (BLUE, VERMILION), strict=True):
        ratio.plot(one.rec.time, one.foot.ratio, color=color, label=f"condition of the {name}")
        speed.plot(one.rec.time, one.foot.speed, color=color)
        count.plot(one.rec.time, one.foot.sliding.sum(axis=1), color=color)
    ratio.axhline(STATIC, color="#555555", linewidth=0.8, linestyle=(0, (6, 3)))
    ratio.set(title="ratio (fig. 20)", xlabel="time (s)")
    speed.set(title="sliding velocity (m/s)", xlabel="time (s)")
    count.set(title="points that slide (fig. 19)", xlabel="time (s)")
    legend_below(figure, ratio, columns=2)


EXPERIMENT = Experiment(
    name="symmetric",
    figures=("fig19", "section3.2.3"),
    title="one sole pulled straight; sliding by the foot and by the point",
    run=run_symmetric,
    judge=judge_symmetric,
    draw=draw_symmetric,
    height=2.6,
)
