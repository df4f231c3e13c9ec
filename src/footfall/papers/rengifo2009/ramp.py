"""Rengifo 2009, section II.B, (5)-(9): a brick on a frictional ramp (figures 6 and 7)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, level, near, panel, seen
from footfall.show.style import BLUE
from footfall.solve.contacts import SLIDE

GRAVITY = 9.81  # m/s2
ANGLE = math.radians(20.0)
FRICTION = 0.5
KV = 250.0  # 1/s
#: m. The paper's brick is a point: of a higher one friction, below the centre of mass, shifts the load to the corners
#: downhill, and its corners begin to stick one after the other.
HEIGHT = 1e-4
SPEED = 0.2  # m/s, down the ramp at the start
FINE = 1e-5  # s, step of the run that stops
HOLD = 5.0  # s, over which creep is measured
OTHERS = ("spring-damper", "hunt-crossley", "mujoco")


class Ramp(NamedTuple):
    stopping: ff.Recording
    drift: dict[str, float]  # m in HOLD seconds, by law


def down() -> np.ndarray:
    """(3,) the direction down the ramp."""
    return np.array([-math.cos(ANGLE), 0.0, -math.sin(ANGLE)])


def on_ramp(law: Any, *, friction: float, speed: float, dt: float, duration: float) -> ff.Recording:
    """A brick flat on the ramp that starts down it with ``speed`` (m/s)."""
    sim = ff.Simulation(
        ff.load_robot("brick", height=HEIGHT), ground=ff.Ground.slope(ANGLE, friction=friction), law=law, dt=dt
    )
    start = sim.place(align=True)
    return sim.run(duration, qpos=start, qvel=[*(speed * down()), 0, 0, 0]).check()


def run_ramp() -> Ramp:
    law = ff.contact.LinearizingPenalty(kv=KV)
    rests = {name: on_ramp(name, friction=FRICTION, speed=0.0, dt=1e-3, duration=1.0 + HOLD) for name in OTHERS}
    rests[law.name] = on_ramp(law, friction=FRICTION, speed=0.0, dt=1e-3, duration=1.0 + HOLD)
    return Ramp(
        stopping=on_ramp(law, friction=FRICTION, speed=SPEED, dt=FINE, duration=0.25),
        drift={name: _drift(rec) for name, rec in rests.items()},
    )


def _drift(rec: ff.Recording) -> float:
    """Way down the ramp (m) in the last HOLD seconds; the second before, soft laws settle."""
    first = int(np.searchsorted(rec.time, rec.time[-1] - HOLD))
    return float((rec.qpos[-1, :3] - rec.qpos[first, :3]) @ down())


def _creep(way: float) -> str:
    """Micrometres, to be read; less than a nanometre is none."""
    return "0" if abs(way) < 1e-9 else f"{1e6 * way:,.0f}"


def friction_force(rec: ff.Recording) -> np.ndarray:
    """(T,) N, of the ramp on the brick, uphill."""
    return -rec.total_force @ down()


def judge_ramp(data: Ramp) -> Findings:
    """The brick brakes by (5)-(6); friction leaves the cone for (7) at the switch speed of (9)."""
    rec = data.stopping
    speed, holding = rec.qvel[:, :3] @ down(), rec.robot.weight * math.sin(ANGLE)
    switch = GRAVITY / KV * (FRICTION * math.cos(ANGLE) - math.sin(ANGLE))  # Rengifo 2009, eq. 9
    braking = KV * switch  # Rengifo 2009, eq. 5-6
    last = int(np.flatnonzero((rec.mode == SLIDE).any(axis=1))[-1])
    first = round(5.0 / KV / FINE)  # it lies flat by then, whatever the last digits of the start are
    decay = np.s_[last + 2 : last + 2 + round(8.0 / KV / FINE)]
    rate = -np.polyfit(rec.time[decay], np.log(speed[decay]), 1)[0]
    yield near("braked", braking, (speed[first] - speed[last]) / (rec.time[last] - rec.time[first]))
    yield near("switch", 1e3 * switch, 1e3 * speed[last + 1], rel=2.0 * FINE * KV)
    yield near("decay", KV, rate)
    falls = np.abs(np.diff(friction_force(rec)[first:]))
    yield near("smooth", KV * FINE, float(falls.max() / (rec.robot.weight * switch * KV / GRAVITY)))
    rests, force = f"0 m/s, {holding:.6g} N", friction_force(rec)[-1]
    converged = abs(speed[-1]) < 1e-6 * SPEED and abs(force / holding - 1.0) < 1e-6
    yield seen("converges", f"{speed[-1]:.1g} m/s, {force:.6g} N", should=rests, holds=converged)
    others = ", ".join(f"{name} {_creep(way)} µm" for name, way in data.drift.items() if name != rec.law.name)
    yield near("threshold", 0.0, 1e6 * data.drift["linearizing-penalty"], others=others)


def draw_ramp(figure: Any, data: Ramp) -> None:
    rec, weight = data.stopping, data.stopping.robot.weight
    speed = rec.qvel[:, :3] @ down()
    switch = GRAVITY / KV * (FRICTION * math.cos(ANGLE) - math.sin(ANGLE))
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.1, 1.1, 1.0])
    after = rec.time[np.argmax(speed < switch) :]
    decay = (after, switch * np.exp(-KV * (after - after[0])), "vs exp(-kv t)")
    panel(left, (rec.time, speed, ""), decay, yscale="log", ylim=(3e-9, 1.0), ylabel="speed (m/s)")
    level(left, switch, "vs")
    panel(middle, (rec.time, friction_force(rec), ""), ylabel="friction (N)", ylim=(3.0, 4.9))
    level(middle, weight * FRICTION * math.cos(ANGLE), "µ m g cos a")
    level(middle, weight * math.sin(ANGLE), "m g sin a")
    names, shown = list(data.drift), [max(1e6 * abs(way), 1e-2) for way in data.drift.values()]
    bars = right.barh(names, shown, color=BLUE, height=0.55)
    right.bar_label(bars, map(_creep, data.drift.values()), padding=3)
    right.set(xlabel=f"creep in {HOLD:g} s (µm)", title="Held brick", xscale="log", xlim=(1e-2, 1e8))
