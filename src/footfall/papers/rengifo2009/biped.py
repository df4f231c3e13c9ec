"""Rengifo 2009, section V: false impacts, what eps does against them, and what an external force does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import footfall as ff
from footfall.measure.common import normal_force, runs, threshold
from footfall.papers.base import Findings, seen

EPS = (0.0, 1e-6)  # m
DT = 1e-3  # s
PUSH = ff.Push("trunk", force=(60.0, 0.0, 0.0), start=0.3, duration=0.1)
#: s, a point that comes back sooner has made a false impact. Shorter than the true rebound after a fall of 3
#: cm, which takes 2 e v0 / g = 13.6 ms at the restitution e = 0.087 of these gains.
SHORTEST_FLIGHT = 0.01
#: Jump of the normal force that counts, as a share of the weight.
LEAST_JUMP = 0.01


class FalseImpact(NamedTuple):
    """A point that left the ground and came back at once: when (s), which point, and the jump of its force (N)."""

    time: float
    point: int
    jump: float


def false_impacts(rec: ff.Recording, jump: float = LEAST_JUMP) -> list[FalseImpact]:
    """The false impacts of a recording: a loaded point opens, is open for at most 10 ms, and is loaded again by a
    jump of its normal force, within one sample, of more than a share of the robot's weight.
    """
    load = normal_force(rec)
    found = []
    for point in range(load.shape[1]):
        for first, end in runs(load[:, point] <= threshold(rec)):
            inside = first > 0 and end < len(rec)
            if inside and rec.time[end] - rec.time[first] <= SHORTEST_FLIGHT + 0.5 * rec.dt:
                loaded = float(load[end, point])
                if loaded > jump * rec.robot.weight:
                    found.append(FalseImpact(float(rec.time[end]), point, loaded))
    return sorted(found, key=lambda one: one.time)


# ---- what eps does, section V ------------------------------------------------------------------------------

KP, KV = 500.0, 250.0  # 1/s2, 1/s, of section IV
PUSHES = (5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0)  # N at the trunk, each for as long as PUSH
STANDING_DURATION = 1.0  # s
STANDS = 0.05  # s, after which feet stand
PRESS, MASS, GRAVITY = 10.0, 1.0, 9.81  # N on a body of so many kg, m/s2
PRESSED = (0.2, 0.7)  # s, from when to when
UNTIL = 1.0  # s
#: False impacts of one push, to count as plenty.
MANY = 20
#: How (18) knows the external force: as it was a step before, or at once but for rounding of forces that are summed.
KNOWS = ("a step late", "to rounding")


class Pushed(NamedTuple):
    """A standing biped that was pushed, by (17) alone: false impacts, and the least load of a vertex (N)."""

    impacts: int
    least: float


class Stability(NamedTuple):
    pushed: dict[tuple[float, float], Pushed]  # by push (N) and eps (m)
    pressed: dict[str, np.ndarray]  # (samples, 2) height (m) and force (N) of a body, by (1), (3) and (4)


def pushed(force: float, eps: float) -> Pushed:
    """The biped under (17) alone with the saturation (19)-(20), pushed forward at its trunk."""
    law = ff.contact.LinearizingPenalty(kp=KP, kv=KV, eps=eps, lead_back=False, saturation="paper")
    push = ff.Push(PUSH.body, force=(force, 0.0, 0.0), start=PUSH.start, duration=PUSH.duration)
    rec = (
        ff.Simulation("spatial-biped", law=law, dt=DT)
        .run(STANDING_DURATION, controller="posture", pushes=[push])
        .check()
    )
    return Pushed(len(false_impacts(rec)), float(normal_force(rec)[rec.time > STANDS].min()))


def press(knows: str) -> np.ndarray:
    """A body at rest that is pressed down for half a second, in steps of 1 ms: height (m) and force (N) over time."""
    found = np.zeros((round(UNTIL / DT), 2))
    height, speed, before = 0.0, 0.0, 0.0
    for k in range(len(found)):
        load = PRESS if PRESSED[0] <= k * DT < PRESSED[1] else 0.0
        known = before if knows == "a step late" else load
        wanted = -KP * height - KV * min(0.0, speed)  # Rengifo 2009, eq. 3
        force = max(0.0, MASS * (GRAVITY + wanted) + known) if height <= 0.0 else 0.0  # Rengifo 2009, eq. 4, 19
        found[k] = height, force
        if knows == "to rounding" or force == 0.0:
            acceleration = (force - MASS * GRAVITY - load) / MASS  # Rengifo 2009, eq. 1
        else:
            acceleration = wanted + (known - load) / MASS  # the same, where weight and force cancel exactly
        speed += DT * acceleration
        height += DT * speed
        before = load
    return found


def run_stability() -> Stability:
    return Stability(
        {(force, eps): pushed(force, eps) for force in PUSHES for eps in EPS}, {knows: press(knows) for knows in KNOWS}
    )


class Bounce(NamedTuple):
    """What an external force does to a body at rest: depth (m), time until it is back (s; 0 if never), time off (s)."""

    depth: float
    back: float
    off: float

    @property
    def as_said(self) -> bool:
        """Whether it sinks in, comes back while the force is there, and lands again soon after it ends."""
        return self.depth > 0.0 and self.back > 0.0 and 0.0 < self.off <= 0.01


def _bounce(curve: np.ndarray, span: tuple[int, int]) -> Bounce:
    height, force = curve.T
    inside = height[span[0] : span[1]]
    sunk = int(np.argmax(inside < 0.0))
    back = int(np.argmax(inside[sunk:] >= 0.0)) if inside[sunk] < 0.0 else 0
    off = int((force[span[1] : span[1] + round(0.1 / DT)] == 0.0).sum())
    return Bounce(-float(inside.min()), DT * back, DT * off)


def judge_stability(data: Stability) -> Findings:
    loaded = [force for force in PUSHES if data.pushed[force, EPS[1]].least > 0.0]
    with_eps = {force: data.pushed[force, EPS[1]].impacts for force in PUSHES}
    basic = {force: data.pushed[force, EPS[0]].impacts for force in PUSHES}
    span = round(PRESSED[0] / DT), round(PRESSED[1] / DT)
    late, rounded = (_bounce(curve, span) for curve in data.pressed.values())
    counts = [basic[one] for one in loaded]
    some = f"{min(counts)} to {max(counts)}, {max(with_eps[one] for one in loaded)}"
    cured = len(loaded) >= 3 and min(counts) >= MANY and not any(with_eps[one] for one in loaded)
    yield seen("improved", some, holds=cured, low=loaded[0], high=loaded[-1])
    for name, said, value in (
        ("pressed.broken", "it sinks in", lambda one: f"{1e6 * one.depth:.3g} µm deep"),
        ("pressed.returns", "it comes back", lambda one: f"after {1e3 * one.back:.0f} ms"),
        ("pressed.parts", "it leaves the ground", lambda one: f"for {1e3 * one.off:.0f} ms"),
    ):
        found = f"{value(late)}; {value(rounded)}"
        yield seen(name, found, should=said, holds=late.as_said and rounded.as_said, press=PRESS)
