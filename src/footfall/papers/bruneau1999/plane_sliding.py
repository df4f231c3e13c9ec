"""Bruneau 1999, section 4.1.3 in the plane: legs spread fore and aft, ankles pulled along (figures 17 to 19).

Section 4.1 locks the biped into the sagittal plane, where no foot can turn about the vertical.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, near, seen
from footfall.papers.bruneau1999.man import GROUND, LAW, STATIC, sprung_man
from footfall.papers.bruneau1999.sliding import DT, FEET, JOINTS, PIECE, SAMPLE, SETTLE, TIMES, pull
from footfall.solve.contacts import OPEN, SLIDE

WAYS = {"forward": 1.0, "backward": -1.0}
SPREADS = (0.5, 0.6, 0.7)  # rad, of each hip fore and aft; the ankles keep the soles level
DURATION = 0.7  # s, the paper's
#: Way of each joint's turn: the left leg is in front.
TURNS = {"left_hip_pitch": -1.0, "right_hip_pitch": 1.0, "left_ankle_pitch": 1.0, "right_ankle_pitch": -1.0}


@dataclass(frozen=True)
class Stride:
    """A stance whose ankles were pulled."""

    rec: ff.Recording

    def onset(self, foot: str) -> int:
        """The sample at which a foot begins to slide."""
        return int(np.flatnonzero((self.rec.mode[:, self.rec.foot(foot)] == SLIDE).any(axis=1))[0])

    def ratio(self, foot: str) -> float:
        """Of tangential to normal force of a foot in the sample before it slides."""
        total = self.rec.force[self.onset(foot) - 1, self.rec.foot(foot)].sum(axis=0)
        return float(abs(total[0]) / total[2])

    def returns(self, foot: str) -> np.ndarray:
        """(s) when points of a foot that slide and are loaded stick again, each time of each point."""
        mode = self.rec.mode[:, self.rec.foot(foot)]
        samples, _ = np.nonzero((mode[:-1] == SLIDE) & (mode[1:] != SLIDE) & (mode[1:] != OPEN))
        return np.asarray(self.rec.time[samples])

    def left_over(self, foot: str) -> int:
        """How many points of a foot slide at the end."""
        return int((self.rec.mode[-1, self.rec.foot(foot)] == SLIDE).sum())


#: By spread of the legs (rad) and way of the pull.
Strides = dict[tuple[float, str], Stride]


def run_plane() -> Strides:
    found = {}
    starts = np.arange(TIMES[0], TIMES[-1] - 0.5 * PIECE, PIECE)
    for spread in SPREADS:
        pose = {name: spread * sign for name, sign in TURNS.items()}
        robot = sprung_man(JOINTS, planar=True, pose=pose, stops=False)
        sim = ff.Simulation(robot, ground=GROUND, law=LAW, dt=DT)
        stands = sim.run(SETTLE, record_dt=SETTLE).check().qpos[-1]
        for way, sign in WAYS.items():
            forces = 0.5 * sign * robot.weight * pull(starts + 0.5 * PIECE)
            pushes = [
                ff.Push(f"{foot}_foot", force=(float(force), 0.0, 0.0), start=float(start), duration=PIECE)
                for start, force in zip(starts, forces, strict=True)
                for foot in FEET
            ]
            found[spread, way] = Stride(sim.run(DURATION, qpos=stands, pushes=pushes, record_dt=SAMPLE).check())
    return found


def judge_plane(data: Strides) -> list[Claim]:
    half = 0.5 * float(LAW.t_stick or 0.0)
    wide = data[SPREADS[-1], "backward"]
    feet = [(one, foot) for one in data.values() for foot in FEET]
    apart = max(float(np.ptp(one.returns(foot))) for one, foot in feet)
    sticks = [one.returns(foot).size for one, foot in feet]
    creep = [one.left_over(foot) for one, foot in feet]
    both = np.concatenate([wide.returns(foot) for foot in FEET])
    times = "; ".join(
        f"{spread:g} rad {way}: {', '.join(f'{one.returns(foot).mean():.3f}' for foot in FEET)} s"
        for (spread, way), one in data.items()
    )
    return [
        seen(
            ("ours", "fig19"),
            "in the plane: testing points of a foot return to adherence at the same instant (farthest apart, feet of "
            f"stances spread by {', '.join(f'{one:g}' for one in SPREADS)} rad, pulled either way)",
            ("the same instant", 1e3 * apart, "ms"),
            holds=apart < half and min(sticks) > 0,
            why=f"half of the transition of {2e3 * half:g} ms; {min(sticks)} to {max(sticks)} of a foot's 18 points, "
            f"which are loaded when the slip ends. Of {sum(sticks) + sum(creep)} points of {len(feet)} feet "
            f"{sum(creep)} have touched again in sliding, and creep on",
            note="In space, where a foot may turn, its points stop one by one (experiment sliding)",
        ),
        seen(
            ("fitted", "fig19"),
            "in the plane: all testing points of both feet return to adherence at the same instant (legs spread by "
            f"{SPREADS[-1]:g} rad, pulled backward)",
            ("the same instant", f"{1e3 * np.ptp(both):.2f} ms, at {both.mean():.3f} s"),
            holds=np.ptp(both) < half and not any(wide.left_over(foot) for foot in FEET),
            why="as above, and none is left sliding. Stance and direction are not printed, and of six this is the one "
            f"in which it is so. Front and rear foot: {times}",
        ),
        *(
            near(
                ("printed", "fig20"),
                f"in the plane: the {foot} foot begins to slide when its ratio reaches lambda_s (same stance)",
                (STATIC, wide.ratio(foot)),
                rel=5e-3,
                why=f"what the pull adds in a sample of {1e3 * SAMPLE:g} ms",
            )
            for foot in FEET
        ),
    ]


def draw_plane(figure: Any, data: Strides) -> None:
    from footfall.show.style import BLUE, VERMILION

    axes = figure.subplots(2, len(SPREADS), sharex=True, sharey="row")
    for column, spread in enumerate(SPREADS):
        rec = data[spread, "backward"].rec
        above, below = axes[0, column], axes[1, column]
        for foot, color in zip(FEET, (BLUE, VERMILION), strict=True):
            force = rec.force[:, rec.foot(foot)].sum(axis=1)
            above.plot(rec.time, force[:, 2], color=color, label=f"{foot}: normal")
            above.plot(rec.time, force[:, 0], color=color, linestyle="--", linewidth=0.9, label=f"{foot}: friction")
            below.plot(rec.time, (rec.mode[:, rec.foot(foot)] == SLIDE).sum(axis=1), color=color)
        above.plot(rec.time, rec.robot.weight * pull(rec.time), color="0.5", linewidth=0.8, label="pull, both ankles")
        above.set_title(f"{spread:g} rad, pulled backward")
        below.set_xlabel("time (s)")
    axes[0, 0].set(ylabel="force (N)", ylim=(-120.0, 1500.0))
    axes[1, 0].set(ylabel="points that slide", ylim=(0, 19))
    axes[0, 2].legend(loc="upper right", fontsize=6, ncols=2)


EXPERIMENT = Experiment(
    name="plane-sliding",
    figures=("fig17", "fig18", "fig19"),
    title="ankles pulled forward and backward, in the plane",
    run=run_plane,
    judge=judge_plane,
    draw=draw_plane,
    height=3.6,
)
