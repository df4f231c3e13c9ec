"""Bravo 2021, sections 2 and 3: the same landings from event to event and in time steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, legend_below, seen, unlike
from footfall.papers.bravo2021.gait import FRICTION
from footfall.show.style import COLORS
from footfall.solve.contacts import OPEN

#: Turn of both feet, which their ankles hold on to, rad; toes down is positive.
LANDINGS = {"flat": 0.0, "heel first": -0.2, "toe first": 0.2}
#: m over the ground at the start: several, since an impact falls into another part of a time step each time.
CLEARANCES = (0.02, 0.0205, 0.0211, 0.0216, 0.0222, 0.0227, 0.0233, 0.0238)
SPEED = 0.3  # m/s down at the start
DURATION, PERIOD = 0.1, 1e-3  # s, of the landing and of its controls
STEPS = (1e-3, 5e-4, 2.5e-4, 1.25e-4, 6.25e-5)  # s
RESTITUTION = 0.4  # where impacts accumulate
SETTLED = 0.6  # s, in which a foot that was turned lies flat
#: m, rad: length, heights and tilt at the start of bricks, and the height of the one that is judged.
LENGTH, HEIGHTS, TILT, ROCKS = 0.2, (0.1, 0.3, 0.4), 0.1, 0.3


class Landing(NamedTuple):
    """From each clearance."""

    events: list[ff.Recording]  # acceleration-force complementarity, section 2
    steps: dict[float, list[ff.Recording]]  # time stepping, section 3, by step in s

    @property
    def differences(self) -> np.ndarray:
        """Of the momentum at the end, relative to the largest, by step: the median of the clearances.

        Where an impact falls next to an instant of control, one of the two may miss it by a period: no matter of steps.
        """
        exact = np.array([_momentum(rec) for rec in self.events])
        size = max(np.linalg.norm(ff.measure.momentum(rec).momentum, axis=1).max() for rec in self.events)
        found = [np.array([_momentum(rec) for rec in several]) - exact for several in self.steps.values()]
        return np.array([np.median(np.linalg.norm(one, axis=1)) for one in found]) / size

    @property
    def order(self) -> float:
        """By which power of the step the difference falls."""
        return float(np.polyfit(np.log(list(self.steps)), np.log(self.differences), 1)[0])


class Landings(NamedTuple):
    by_name: dict[str, Landing]
    bouncing: ff.Recording  # a landing with restitution
    apart: dict[str, list[ff.Recording]]  # heel or toe first, then turned flat by the ankles: both vertices land
    rocking: dict[float, tuple[ff.Recording, ff.Recording]]  # bricks by height, from event to event and in time steps


def start(robot: ff.Robot, turn: float, clearance: float) -> tuple[np.ndarray, np.ndarray]:
    """The home pose with turned feet, above the ground and falling."""
    qpos, qvel = robot.home.copy(), np.zeros(robot.model.nv)
    for side in ("left", "right"):
        qpos[robot.model.joint(f"{side}_ankle").qposadr[0]] += turn
    half = 0.5 * float(np.ptp(robot.feet[0].points[:, 0]))
    ankle = -float(robot.feet[0].points[0, 2])
    qpos[1] += clearance + half * abs(np.sin(turn)) + ankle * (np.cos(turn) - 1.0)
    qvel[1] = -SPEED
    return qpos, qvel


def land(law: Any, turn: float, dt: float, *, settle: bool = False) -> list[ff.Recording]:
    """Landings from each clearance; with ``settle`` from some, and ankles then turn the feet flat."""
    robot = ff.load_robot("planar-biped")
    sim = ff.Simulation(robot, ground=ff.Ground.plane(friction=FRICTION), law=law, dt=dt)
    found = []
    for clearance in CLEARANCES[:: 3 if settle else 1]:
        qpos, qvel = start(robot, turn, clearance)
        hold = ff.control.Posture() if settle else ff.control.Posture(target=tuple(qpos))
        duration = SETTLED if settle else DURATION
        found.append(sim.run(duration, controller=hold, qpos=qpos, qvel=qvel, control_dt=PERIOD).check())
    return found


def run_landings() -> Landings:
    exact = ff.law("acceleration-complementarity")
    landings = {
        name: Landing(land(exact, turn, 1e-3), {dt: land("time-stepping", turn, dt) for dt in STEPS})
        for name, turn in LANDINGS.items()
    }
    apart = {name: land(exact, turn, 1e-3, settle=True) for name, turn in LANDINGS.items() if turn}
    rocking = {height: (rock(exact, height), rock("time-stepping", height)) for height in HEIGHTS}
    return Landings(landings, land(ff.law(exact, restitution=RESTITUTION), 0.0, 1e-3)[0], apart, rocking)


def rock(law: Any, height: float) -> ff.Recording:
    """A brick that stands on one of its lower edges, let go."""
    robot = ff.load_robot("brick", length=LENGTH, width=0.1, height=height)
    sim = ff.Simulation(robot, ground=ff.Ground.plane(friction=FRICTION), law=law, dt=1e-3)
    start = sim.place()
    start[3:7] = np.cos(TILT / 2), 0.0, np.sin(TILT / 2), 0.0
    start[2] = 0.5 * (height * np.cos(TILT) + LENGTH * np.sin(TILT))
    return sim.run(1.0, qpos=start)


def _momentum(rec: ff.Recording) -> np.ndarray:
    """At the end: linear momentum in the plane, kg m/s, and angular about the centre of mass, kg m2/s, as if per m."""
    motion = ff.measure.momentum(rec)
    return np.array([*motion.momentum[-1, [0, 2]], motion.angular_momentum[-1, 1]])


def judge_landings(data: Landings) -> Findings:
    for name, one in data.by_name.items():
        told = f"order {one.order:.2f}, momentum off by {one.differences[-1]:.1e} at {1e3 * STEPS[-1]:g} ms"
        holds = one.order > 0.8 and one.differences[-1] < 0.1 * one.differences[0]
        yield seen("order", told, holds=holds, name=name)
    for name, one in data.by_name.items():
        rec = one.events[0]
        load = rec.force[..., 2]
        beyond = (np.hypot(rec.force[..., 0], rec.force[..., 1]) - FRICTION * load).max()  # the cone
        inward = float(-np.where(rec.gap <= 1e-9, rec.velocity[..., 2], 0.0).min())
        told = f"{rec.gap.min():.0e} m, {load.min():.0e} N, {beyond:.0e} N, {inward:.0e} m/s"
        met = rec.gap.min() > -1e-9 and load.min() >= 0.0 and beyond < 1e-9 * rec.robot.weight and inward < 1e-9
        yield seen("conditions", told, holds=met, name=name)
    yield from _judge_rocking(data)


def _judge_rocking(data: Landings) -> Findings:
    """Shocks in short succession (sections 1, 2.2 and 6)."""
    counts = {name: [int(rec.signals["impacts"].sum()) for rec in several] for name, several in data.apart.items()}
    biped = ", ".join(f"{name} {min(several)} to {max(several)}" for name, several in counts.items())
    rocked = {height: events.signals["impacts"] for height, (events, _) in data.rocking.items()}
    bricks = ", ".join(f"{int(one.sum())} of one {height:g} m high" for height, one in rocked.items())
    events, stepped = data.rocking[ROCKS]
    times = events.time[np.flatnonzero(rocked[ROCKS])]
    between = 1e3 * np.diff(times)
    touching = stepped.mode != OPEN
    landed = stepped.time[1:][(~touching[:-1] & touching[1:]).any(axis=1)]
    bouncing = data.bouncing.signals["impacts"]
    total, most = int(rocked[ROCKS].sum()), int(rocked[ROCKS].max())
    given: dict[str, Any] = {"impacts": int(bouncing.sum()), "most": int(bouncing.max()), "bricks": bricks}
    told = f"{total}, {most}; {', '.join(f'{one:.0f}' for one in between)}"
    yield seen(
        "shocks", told, holds=total > 10 and most > 5 and bool((np.diff(between) <= 1.0).all()), biped=biped, **given
    )
    told = f"{len(landed)}, {1e3 * min(np.diff(landed), default=0.0):.0f} ms"
    yield seen("fixed-step", told, holds=len(landed) < total and stepped.failure is None)
    ended = data.bouncing.failure is None
    yield unlike("blocking", "goes on to its end" if ended else "blocks", holds=not ended)


def draw_landings(figure: Any, data: Landings) -> None:
    axes = figure.subplots(1, 3)
    for (name, one), color in zip(data.by_name.items(), COLORS, strict=False):
        rec, coarse = one.events[0], one.steps[STEPS[0]][0]
        heel = rec.foot("left").start
        axes[0].plot(1e3 * rec.time, 1e3 * rec.gap[:, heel], color=color)
        axes[0].plot(1e3 * rec.time, 1e3 * rec.gap[:, heel + 1], color=color, linestyle="--")
        axes[1].plot(1e3 * rec.time, ff.measure.momentum(rec).momentum[:, 2], color=color)
        axes[1].plot(1e3 * coarse.time, ff.measure.momentum(coarse).momentum[:, 2], ".", color=color, markersize=3)
        axes[2].loglog([1e3 * dt for dt in one.steps], one.differences, "o-", color=color, label=name)
    steps = 1e3 * np.array(STEPS)
    axes[2].loglog(steps, 1e-3 * steps / steps[0], color="#000000", linestyle=":", label="order 1")
    axes[0].set(xlabel="time (ms)", ylabel="height over the ground (mm)", title="heel, and toe dashed")
    axes[1].set(xlabel="time (ms)", ylabel="vertical momentum (kg m/s)", title=f"dots: steps of {1e3 * STEPS[0]:g} ms")
    axes[2].set(xlabel="time step (ms)", ylabel="difference of the last momentum", title="time steps against events")
    axes[2].margins(0.05)
    legend_below(figure, axes[2], columns=4)
