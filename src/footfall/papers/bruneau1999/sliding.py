"""Bruneau 1999, section 4.1.3: soles that are pulled until they slide, and the phases a to f (figures 17 to 20).

The ankles of the man are pulled in space and, as section 4.1 locks the biped, in the sagittal plane, where no foot can
turn about the vertical; last, one sole is pulled straight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

import footfall as ff
from footfall.errors import RecordingError
from footfall.papers.base import Claim, Experiment, legend_below, near, seen, unlike
from footfall.papers.bruneau1999.man import DYNAMIC, GROUND, LAW, STATIC, sole_block, sprung_man
from footfall.show.style import BLUE, GREEN, VERMILION
from footfall.solve.contacts import OPEN, SLIDE

#: Below this share of the static coefficient, a foot that sticks counts as steady.
STEADY = 0.02
NAMES = {
    "a": "steady state",
    "b": "adherence",
    "c": "adherence to sliding",
    "d": "sliding",
    "e": "sliding to adherence",
    "f": "new steady state",
}


class Phase(NamedTuple):
    """One of the paper's phases: its letter, and from when to when (s)."""

    letter: str
    start: float
    end: float


class Foot(NamedTuple):
    """What a foot does, T samples."""

    normal: np.ndarray  # (T,) N
    tangential: np.ndarray  # (T,) N, to the left
    ratio: np.ndarray  # (T,) lambda_g of eq. 37, NaN without load
    speed: np.ndarray  # (T,) m/s, mean of its points, to the left
    viscous: np.ndarray  # (T,) share of the ratio that eq. 22's viscous part gives
    miss: np.ndarray  # (T,) largest difference, over its points, of ratio and eq. 22
    sliding: np.ndarray  # (T, points)
    loaded: np.ndarray  # (T, points)


def look(rec: ff.Recording, foot: str) -> Foot:
    """What a foot of a recording does."""
    own = rec.foot(foot)
    force, velocity, mode = rec.force[:, own], rec.velocity[:, own], rec.mode[:, own]
    total = force.sum(axis=1)
    normal = np.where(total[:, 2] > 0.0, total[:, 2], np.nan)
    along = np.linalg.norm(force[:, :, :2], axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        speed = np.einsum("tpi,tpi->tp", velocity[:, :, :2], force[:, :, :2]) / along  # V_t, along the friction
        drag = np.where(mode == SLIDE, -float(LAW.mu_ts or 0.0) * speed, 0.0)
        miss = np.abs(along - rec.ground.dynamic_friction * force[:, :, 2] - drag) / force[:, :, 2]
    return Foot(
        normal=total[:, 2],
        tangential=total[:, 1],
        ratio=np.linalg.norm(total[:, :2], axis=1) / normal,
        speed=velocity[:, :, 1].mean(axis=1),
        viscous=drag.sum(axis=1) / normal,
        miss=np.where(mode == SLIDE, miss, 0.0).max(axis=1),
        sliding=mode == SLIDE,
        loaded=mode != OPEN,
    )


def sliding_phases(rec: ff.Recording, foot: str) -> list[Phase]:
    """The phases of section 4.1.3 that a foot goes through, from modes and forces; only the first slide is listed.

    a steady, b adherence under load, c the blend to sliding, d sliding, e from the first point that sticks again to the
    end of the last one's blend, f adherence after that.
    """
    if not isinstance(rec.law, ff.contact.Distributed):
        raise RecordingError(
            f"the phases of sliding are those of law distributed, and this recording is of {rec.law.name}"
        )
    one = look(rec, foot)
    time, end = rec.time, float(rec.time[-1])
    pulled = np.flatnonzero(one.ratio > STEADY * rec.ground.static_friction)
    some: np.ndarray = np.asarray(one.sliding.any(axis=1))
    slides = np.flatnonzero(some)
    begin = float(time[pulled[0]]) if pulled.size else end
    if not slides.size:
        return _kept([("a", 0.0, begin), ("b", begin, end)])
    onset = float(time[slides[0]])
    blended = min(end, onset + rec.law.t_slide)
    sticks = np.flatnonzero((one.loaded & ~one.sliding).any(axis=1) & (np.arange(len(rec)) > slides[0]))
    back = float(time[sticks[0]]) if sticks.size else end
    still = np.flatnonzero(~some[slides[0] :])
    last = float(time[slides[0] + still[0]]) + rec.law.t_stick if still.size else end
    edges = [("a", begin), ("b", onset), ("c", min(blended, back)), ("d", back), ("e", min(last, end)), ("f", end)]
    start = float(time[0])
    phases = []
    for letter, stop in edges:
        phases.append((letter, start, stop))
        start = stop
    return _kept(phases)


def _kept(phases: list[tuple[str, float, float]]) -> list[Phase]:
    return [Phase(*one) for one in phases if one[2] > one[1]]


# ---- ankles pulled sideways, in space ----------------------------------------------------------------------

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


# ---- ankles pulled along, in the plane ---------------------------------------------------------------------

WAYS = {"forward": 1.0, "backward": -1.0}
SPREADS = (0.5, 0.6, 0.7)  # rad, of each hip fore and aft; the ankles keep the soles level
PLANE_DURATION = 0.7  # s, the paper's
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
            found[spread, way] = Stride(sim.run(PLANE_DURATION, qpos=stands, pushes=pushes, record_dt=SAMPLE).check())
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


# ---- one sole pulled straight ------------------------------------------------------------------------------

STRAIGHT_DURATION = 0.7  # s, the paper's
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
    rec = sim.run(STRAIGHT_DURATION, qpos=start, pushes=pushes).check()
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


EXPERIMENTS = (
    Experiment(
        name="sliding",
        figures=("fig17", "fig18", "fig19", "fig20"),
        title="ankles pulled sideways",
        run=run_sliding,
        judge=judge_sliding,
        draw=draw_sliding,
        height=5.4,
    ),
    Experiment(
        name="plane-sliding",
        figures=("fig17", "fig18", "fig19"),
        title="ankles pulled forward and backward, in the plane",
        run=run_plane,
        judge=judge_plane,
        draw=draw_plane,
        height=3.6,
    ),
    Experiment(
        name="symmetric",
        figures=("fig19", "section3.2.3"),
        title="one sole pulled straight; sliding by the foot and by the point",
        run=run_symmetric,
        judge=judge_symmetric,
        draw=draw_symmetric,
        height=2.6,
    ),
)
