"""Bruneau 1999, section 4.1.3: ankles pulled until the feet slide, for 0.7 s in the plane (figures 17 to 20).

Beside it one sole that is pulled straight, where nothing but the law of the points is left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, level, near, panel, seen, unlike
from footfall.papers.bruneau1999.man import DYNAMIC, GROUND, LAW, STATIC, sole_block, sprung_man
from footfall.solve.contacts import OPEN, SLIDE

#: Below this share of the static coefficient, a foot that sticks counts as steady.
STEADY = 0.02
NAMES = ("steady state", "adherence", "adherence to sliding", "sliding", "sliding to adherence", "new steady state")


class Phase(NamedTuple):
    """One of the paper's phases: its letter, and from when to when (s)."""

    letter: str
    start: float
    end: float


class Foot(NamedTuple):
    """What a foot does, T samples."""

    normal: np.ndarray  # (T,) N
    tangential: np.ndarray  # (T,) N, along x
    ratio: np.ndarray  # (T,) lambda_g of eq. 37, NaN without load
    speed: np.ndarray  # (T,) m/s, mean of its points that carry, along x
    sliding: np.ndarray  # (T, points)
    loaded: np.ndarray  # (T, points)


def look(rec: ff.Recording, foot: str) -> Foot:
    """What a foot of a recording does."""
    own = rec.foot(foot)
    force, velocity, mode = rec.force[:, own], rec.velocity[:, own], rec.mode[:, own]
    total = force.sum(axis=1)
    normal = np.where(total[:, 2] > 0.0, total[:, 2], np.nan)
    loaded = mode != OPEN
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(loaded, velocity[:, :, 0], 0.0).sum(axis=1) / loaded.sum(axis=1)
    return Foot(
        normal=total[:, 2],
        tangential=total[:, 0],
        ratio=np.linalg.norm(total[:, :2], axis=1) / normal,
        speed=mean,
        sliding=mode == SLIDE,
        loaded=loaded,
    )


def sliding_phases(rec: ff.Recording, foot: str) -> list[Phase]:
    """The phases of section 4.1.3 that a foot goes through, from modes and forces; only the first slide is listed.

    a steady, b adherence under load, c the blend to sliding, d sliding, e from the first point that sticks again to the
    end of the last one's blend, f adherence after that.
    """
    one = look(rec, foot)
    time, end = rec.time, float(rec.time[-1])
    pulled = np.flatnonzero(one.ratio > STEADY * rec.ground.static_friction)
    some: np.ndarray = np.asarray(one.sliding.any(axis=1))
    slides = np.flatnonzero(some)
    begin = float(time[pulled[0]]) if pulled.size else end
    edges = [("a", begin), ("b", end)]
    if slides.size:
        onset = float(time[slides[0]])
        blended = min(end, onset + LAW.t_slide)
        sticks = np.flatnonzero((one.loaded & ~one.sliding).any(axis=1) & (np.arange(len(rec)) > slides[0]))
        back = float(time[sticks[0]]) if sticks.size else end
        still = np.flatnonzero(~some[slides[0] :])
        last = float(time[slides[0] + still[0]]) + LAW.t_stick if still.size else end
        edges[1:] = [("b", onset), ("c", min(blended, back)), ("d", back), ("e", min(last, end)), ("f", end)]
    starts = [float(time[0]), *(stop for _, stop in edges)]
    phases = [Phase(letter, start, stop) for (letter, stop), start in zip(edges, starts, strict=False)]
    return [one for one in phases if one.end > one.start]


# ---- ankles pulled along, in the plane ---------------------------------------------------------------------

SPREAD = 0.5  # rad, of each hip fore and aft; the ankles keep the soles level
WAY = 1.0  # forward; -1 backward
JOINTS = 50000.0  # N m/rad
PULL = 0.74  # of the weight, both ankles together
TIMES = (0.05, 0.2, 0.3, 0.4)  # s: the pull begins, is whole, begins to fall, is gone
PIECE = 1e-3  # s, in which the pull is constant
SETTLE, DURATION = 1.5, 0.7  # s, the second is the paper's
DT = 4e-5  # s
FEET = ("left", "right")
#: Way of each joint's turn: the left leg is in front.
TURNS = {"left_hip_pitch": -1.0, "right_hip_pitch": 1.0, "left_ankle_pitch": 1.0, "right_ankle_pitch": -1.0}


class Pulled(NamedTuple):
    """A robot whose feet were pulled."""

    rec: ff.Recording
    feet: dict[str, Foot]
    phases: dict[str, list[Phase]]

    def onset(self, foot: str) -> int:
        """The sample at which the first point of a foot slides."""
        return int(np.flatnonzero(self.feet[foot].sliding.any(axis=1))[0])

    def returns(self, foot: str) -> np.ndarray:
        """(s) when points of a foot that slide and are loaded stick again, each time of each point."""
        one = self.feet[foot]
        samples, _ = np.nonzero(one.sliding[:-1] & ~one.sliding[1:] & one.loaded[1:])
        return np.asarray(self.rec.time[samples])

    def steadily(self, foot: str) -> np.ndarray:
        """Whether a foot slides, past the blend of (27) and before its first point sticks, by sample."""
        (sliding,) = (phase for phase in self.phases[foot] if phase.letter == "d")
        return (self.rec.time > sliding.start) & (self.rec.time < sliding.end)


def pull(time: np.ndarray | float) -> Any:
    """Pull on both ankles together, as a share of the weight."""
    return PULL * np.interp(time, TIMES, (0.0, 1.0, 1.0, 0.0))


def pushes(weight: float, bodies: tuple[str, ...] = ("left_foot", "right_foot"), low: float = 0.0) -> list[ff.Push]:
    """The pull, in pieces of a millisecond, shared among bodies, so far (m) below their centres of mass."""
    found = []
    for t in np.arange(TIMES[0], TIMES[-1] - 0.5 * PIECE, PIECE):
        force = WAY * weight * float(pull(t + 0.5 * PIECE)) / len(bodies)
        torque = (0.0, -low * force, 0.0)
        found += [ff.Push(b, force=(force, 0.0, 0.0), torque=torque, start=float(t), duration=PIECE) for b in bodies]
    return found


def slide(
    robot: ff.Robot,
    sent: list[ff.Push],
    *,
    law: ff.contact.Law = LAW,
    dt: float | None = None,
    duration: float = DURATION,
) -> Pulled:
    """A robot that has settled and is pulled."""
    sim = ff.Simulation(robot, ground=GROUND, law=law, dt=dt or DT)
    start = sim.run(SETTLE, record_dt=SETTLE).check().qpos[-1]
    rec = sim.run(duration, qpos=start, pushes=sent).check()
    names = [foot.name for foot in robot.feet]
    return Pulled(rec, {one: look(rec, one) for one in names}, {one: sliding_phases(rec, one) for one in names})


def run_plane() -> tuple[Pulled, Pulled]:
    pose = {name: SPREAD * sign for name, sign in TURNS.items()}  # one leg in front
    robot = sprung_man(JOINTS, planar=True, pose=pose, stops=False)
    sent, until = pushes(robot.weight), 0.25  # s, past the transition
    early = [one for one in sent if one.start < until - 0.5 * PIECE]
    return slide(robot, sent), slide(robot, early, dt=DT / 2, duration=until)


def largest_change(one: Pulled, foot: str) -> float:
    """N, of a foot's tangential force within a step, in the transition to sliding."""
    first = one.onset(foot)
    return float(np.abs(np.diff(one.feet[foot].tangential[first - 1 : first + round(0.01 / one.rec.dt)])).max())


def judge_plane(data: tuple[Pulled, Pulled]) -> Findings:
    one, fine = data
    half, rec, time = 0.5 * float(LAW.t_stick), one.rec, float(LAW.mut or 0) / float(LAW.kt or 1)
    returns = {foot: one.returns(foot) for foot in FEET}
    both = np.concatenate(list(returns.values()))
    first = {foot: one.feet[foot].ratio[one.onset(foot) - 1] for foot in FEET}
    begin = [int((one.feet[f].sliding & one.feet[f].loaded)[one.onset(f)].sum()) for f in FEET]
    could = [int(one.feet[f].loaded[one.onset(f)].sum()) for f in FEET]
    steady = {foot: one.feet[foot].ratio[one.steadily(foot)] for foot in FEET}
    letters = {foot: "".join(phase.letter for phase in one.phases[foot]) for foot in FEET}
    speeds = [1e3 * float(abs(one.feet[foot].speed[-1])) for foot in FEET]
    ends = [float(one.feet[foot].ratio[-1]) for foot in FEET]
    still = rec.time < TIMES[0]
    starts = [float(one.feet[foot].ratio[still].max()) for foot in FEET]
    moves = 1e3 * max(float(np.abs(one.feet[foot].speed[still]).max()) for foot in FEET)
    changes = [max(largest_change(run, foot) for foot in FEET) for run in (one, fine)]

    def told(values: Any, form: str = "{:.3g}") -> str:
        return ", ".join(form.format(value) for value in values)

    on_cone = max(abs(ratio / STATIC - 1.0) for ratio in first.values()) < 5e-3 and begin == could
    yield seen("onset", f"{told(first.values(), '{:.4f}')}; {begin}", should=f"{STATIC}; {could}", holds=on_cone)
    ratios = "; ".join(f"{np.median(r):.3f} ({r.min():.3f} to {r.max():.3f})" for r in steady.values())
    yield seen("slightly", ratios, holds=all(DYNAMIC < np.median(r) < 1.1 * DYNAMIC for r in steady.values()))
    yield near("continuous", 0.5, changes[1] / changes[0])
    yield seen("sliding", told(letters.values(), "{}"), holds=set(letters.values()) == {"abcdef"})
    yield seen("steady", f"{told(starts)}; {moves:.2g} mm/s", holds=max(starts) < 0.05 * STATIC and moves < 1.0)
    stops = "; ".join(f"{r.mean():.3f} s ({r.size}; {1e3 * np.ptp(r):.1f} ms)" for r in returns.values() if r.size)
    yield unlike("together", stops, holds=bool(np.ptp(both) < half))
    yield unlike("to-zero", told(ends), holds=max(ends) < STEADY * STATIC, time=time)
    yield unlike("fixed", told(speeds), holds=max(speeds) < 1.0, time=time)
    after = both.max() - TIMES[-1]
    yield seen("remains", 1e3 * after, holds=0.0 < after < TIMES[-1] - TIMES[0])
    yield unlike("times", f"{rec.time[min(map(one.onset, FEET))]:.3f}, {both.max():.3f} s")


def draw_plane(figure: Any, data: tuple[Pulled, Pulled]) -> None:
    one = data[0]
    rec, weight = one.rec, one.rec.robot.weight
    forces, ratio, speed = figure.subplots(3, 1, sharex=True, height_ratios=[1.3, 1.0, 1.0])
    pairs = list(zip(one.feet.values(), ("front", "rear"), strict=True))
    totals = [(rec.total_force[:, 2], "normal"), (-WAY * rec.total_force[:, 0], "tangential")]
    totals += [(weight * pull(rec.time), "pull"), *((foot.normal, f"normal, {name}") for foot, name in pairs)]
    panel(forces, *((rec.time, *curve) for curve in totals), xlabel="", ylabel="force (N)", title="Fig. 18")
    panel(ratio, *((rec.time, foot.ratio, name) for foot, name in pairs), xlabel="", ylim=(0, 0.75), title="Fig. 20")
    panel(speed, *((rec.time, foot.speed, "") for foot, _ in pairs), ylabel="speed (m/s)", xlim=(0, DURATION))
    ratio.set_ylabel("ratio λg")
    level(ratio, STATIC, "λs")
    level(ratio, DYNAMIC, "λd")
    for phase in one.phases[FEET[1]]:
        for axis in (forces, ratio, speed):
            axis.axvline(phase.start, color="#AAAAAA", linewidth=0.6)
        forces.annotate(phase.letter, (0.5 * (phase.start + phase.end), weight), ha="center", fontweight="bold")
    figure.supxlabel(", ".join(f"{k} {name}" for k, name in zip("abcdef", NAMES, strict=True)), fontsize=7.5)


# ---- one sole pulled straight ------------------------------------------------------------------------------

LOW = 0.05  # m, of the block's centre of mass above its sole: pulled there, it does not tip
EARLY = 0.693  # of tangential to normal force, 1 % below the static coefficient
#: By name: what is different from the paper's law.
LAWS: dict[str, dict[str, Any]] = {
    "condition of the foot": {},
    "condition of the point": {"criterion": "point"},
    "(21), no viscous part": {"mu_ts": 0.0},
}


def run_symmetric() -> dict[str, Pulled]:
    robot = sole_block()
    sent = pushes(robot.weight, ("brick",), LOW)
    return {name: slide(robot, sent, law=replace(LAW, **own)) for name, own in LAWS.items()}


def judge_symmetric(data: dict[str, Pulled]) -> Findings:
    foot, point, dry = data.values()
    (name,) = foot.feet
    half = 0.5 * float(LAW.t_stick)
    returns, again = foot.returns(name), dry.returns(name)
    letters = "".join(phase.letter for phase in foot.phases[name])
    slides = foot.steadily(name)
    rises = float(np.corrcoef(foot.feet[name].ratio[slides], np.abs(foot.feet[name].speed[slides]))[0, 1])
    early, whole = point.onset(name), int(np.flatnonzero(point.feet[name].sliding.all(axis=1))[0])
    told = f"{1e3 * np.ptp(returns):.2f} ms apart, at {returns.mean():.3f} s; {letters}"
    yield seen("same-instant", told, holds=np.ptp(returns) < half and letters == "abcdef", half=2e3 * half)
    ratio, later = point.feet[name].ratio[early - 1], 1e3 * (point.rec.time[whole] - point.rec.time[early])
    told = f"{ratio:.3f}, {int(point.feet[name].sliding[early].sum())} points first, the last {later:.1f} ms later"
    yield seen("before", told, holds=ratio < EARLY and whole > early)
    yield unlike("inversely", f"{rises:.3f}; {-rises:.3f}", holds=rises < 0.0)
    told = f"{again.size}, at {again.mean():.3f} s" if again.size else "0"
    yield unlike("impossible", told, holds=not again.size)


def draw_symmetric(figure: Any, data: dict[str, Pulled]) -> None:
    ratio, speed, count = figure.subplots(1, 3)
    feet = [(one.rec.time, name, foot) for name, one in data.items() for foot in one.feet.values()]
    panel(ratio, *((time, foot.ratio, name) for time, name, foot in feet), title="Fig. 20", ylabel="ratio λg")
    level(ratio, STATIC, "λs")
    panel(speed, *((time, foot.speed, "") for time, _, foot in feet), title="Fig. 20", ylabel="speed (m/s)")
    sliding = ((time, foot.sliding.sum(axis=1), "") for time, _, foot in feet)
    panel(count, *sliding, title="Fig. 19", ylabel="points that slide")
