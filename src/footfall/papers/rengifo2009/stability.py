"""Rengifo 2009, section V: contact stability. What eps does for a foot that stands, and what an external force does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

import footfall as ff
from footfall.measure.common import normal_force
from footfall.papers.base import Claim, Experiment, seen, unlike
from footfall.papers.rengifo2009.biped import DT, EPS, PUSH, false_impacts

KP, KV = 500.0, 250.0  # 1/s2, 1/s, of section IV
PUSHES = (5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0)  # N at the trunk, each for as long as PUSH
DURATION = 1.0  # s
STANDS = 0.05  # s, after which feet stand
PRESS, MASS, GRAVITY = 10.0, 1.0, 9.81  # N on a body of so many kg, m/s2
PRESSED = (0.2, 0.7)  # s, from when to when
UNTIL = 1.0  # s
#: False impacts of one push, to count as plenty.
MANY = 20
#: How (18) knows the external force: at once, not at all, as it was a step before, or at once but for the rounding of
#: forces that are summed.
Knows = Literal["at once", "never", "a step late", "to rounding"]
KNOWS: tuple[Knows, ...] = ("at once", "never", "a step late", "to rounding")


class Pushed(NamedTuple):
    """A standing biped that was pushed, by (17) alone: false impacts, and the least load of a vertex (N)."""

    impacts: int
    least: float


@dataclass(frozen=True)
class Stability:
    pushed: dict[tuple[float, float], Pushed]  # by push (N) and eps (m)
    brick: ff.Recording  # pressed down and let go, eps = 0
    pressed: dict[Knows, np.ndarray]  # (samples, 2) height (m) and force (N) of a body, by (1), (3) and (4)


def pushed(force: float, eps: float) -> Pushed:
    """The biped under (17) alone with the saturation (19)-(20), pushed forward at its trunk."""
    law = ff.contact.LinearizingPenalty(kp=KP, kv=KV, eps=eps, lead_back=False, saturation="paper")
    push = ff.Push(PUSH.body, force=(force, 0.0, 0.0), start=PUSH.start, duration=PUSH.duration)
    rec = ff.Simulation("spatial-biped", law=law, dt=DT).run(DURATION, controller="posture", pushes=[push]).check()
    return Pushed(len(false_impacts(rec)), float(normal_force(rec)[rec.time > STANDS].min()))


def press(knows: Knows) -> np.ndarray:
    """A body at rest that is pressed down for half a second, in steps of 1 ms: height (m) and force (N) over time."""
    found = np.zeros((round(UNTIL / DT), 2))
    height, speed, before = 0.0, 0.0, 0.0
    for k in range(len(found)):
        load = PRESS if PRESSED[0] <= k * DT < PRESSED[1] else 0.0
        known = {"never": 0.0, "a step late": before}.get(knows, load)
        wanted = -KP * height - KV * min(0.0, speed)  # (3)
        force = max(0.0, MASS * (GRAVITY + wanted) + known) if height <= 0.0 else 0.0  # (4), (19)
        found[k] = height, force
        if knows == "to rounding" or force == 0.0:
            acceleration = (force - MASS * GRAVITY - load) / MASS  # (1)
        else:
            acceleration = wanted + (known - load) / MASS  # the same, where weight and force cancel exactly
        speed += DT * acceleration
        height += DT * speed
        before = load
    return found


def run_stability() -> Stability:
    brick = ff.Simulation("brick", law=ff.contact.LinearizingPenalty(eps=0.0), dt=DT)
    down = ff.Push("brick", force=(0.0, 0.0, -PRESS), start=PRESSED[0], duration=PRESSED[1] - PRESSED[0])
    return Stability(
        {(force, eps): pushed(force, eps) for force in PUSHES for eps in EPS},
        brick.run(UNTIL, pushes=[down]).check(),
        {knows: press(knows) for knows in KNOWS},
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

    def __str__(self) -> str:
        return f"{1e6 * self.depth:.3g} µm, {1e3 * self.back:.0f} ms, {1e3 * self.off:.0f} ms"


def _bounce(curve: np.ndarray, span: tuple[int, int]) -> Bounce:
    height, force = curve.T
    inside = height[span[0] : span[1]]
    sunk = int(np.argmax(inside < 0.0))
    back = int(np.argmax(inside[sunk:] >= 0.0)) if inside[sunk] < 0.0 else 0
    off = int((force[span[1] : span[1] + round(0.1 / DT)] == 0.0).sum())
    return Bounce(-float(inside.min()), DT * back, DT * off)


def judge_stability(data: Stability) -> list[Claim]:
    loaded = [force for force in PUSHES if data.pushed[force, EPS[1]].least > 0.0]
    emptied = [force for force in PUSHES if force not in loaded]
    with_eps = {force: data.pushed[force, EPS[1]].impacts for force in PUSHES}
    basic = {force: data.pushed[force, EPS[0]].impacts for force in PUSHES}
    span = round(PRESSED[0] / DT), round(PRESSED[1] / DT)
    stays = 1e3 * float(-data.pressed["never"][span[1] - 1, 0])
    bounces = {knows: _bounce(data.pressed[knows], span) for knows in KNOWS}
    late, rounded = bounces["a step late"], bounces["to rounding"]
    return [
        seen(
            ("printed", "section 5"),
            "Contact stability can be improved if steady state interpenetration is allowed: false impacts of the "
            f"standing biped, pushed by {loaded[0]:g} to {loaded[-1]:g} N, with eps = 0 and 1e-6 m (eq. 17 alone, "
            "the paper's saturation)",
            (
                "some, none",
                f"{min(basic[one] for one in loaded)} to {max(basic[one] for one in loaded)}, "
                f"{max(with_eps[one] for one in loaded)}",
            ),
            holds=len(loaded) >= 3
            and all(basic[one] >= MANY for one in loaded)
            and all(with_eps[one] == 0 for one in loaded),
            why=f"every push with which no vertex loses its load: at least {MANY} without eps, none with it",
        ),
        seen(
            ("ours", "section 5"),
            f"Beyond, with {' and '.join(f'{one:g}' for one in emptied)} N, a vertex loses its load, (19) cuts what "
            "(18) asks for, and eps of 1e-6 m is of no use: false impacts with eps = 0 and 1e-6 m",
            ("not said", "; ".join(f"{basic[one]}, {with_eps[one]}" for one in emptied)),
            holds=bool(emptied) and all(with_eps[one] >= MANY for one in emptied),
            why=f"at least {MANY}; eps holds a point that rises by less than sqrt(kp) eps = "
            f"{1e6 * math.sqrt(KP) * EPS[1]:.0f} µm/s",
        ),
        unlike(
            ("printed", "section 5"),
            f"An external force ({PRESS:g} N on a brick at rest) breaks the equilibrium: it sinks in, comes back to "
            "zero, and a false impact follows when the force ends",
            (
                "sinks in",
                f"{1e6 * max(0.0, -data.brick.gap.min()):.2g} µm, {len(false_impacts(data.brick))} false impacts",
            ),
            proof="By (4) and (18) a touching point accelerates as (17) says, whatever the load: at p = v = 0 it "
            f"stays. If (18) does not know the force, the body sinks by F/(m kp) = {1e3 * PRESS / MASS / KP:.3g} mm "
            f"({stays:.3g} mm after {PRESSED[1] - PRESSED[0]:g} s) and does not come back while the force is there",
        ),
        seen(
            ("ours", "section 5"),
            "The same where the force of (18) is a step old, or right but for rounding: how deep it sinks, when it is "
            "back, and how long it is off the ground after the force ends",
            ("sinks in, comes back, lands again", f"{late}; {rounded}"),
            holds=late.as_said and rounded.as_said and not bounces["never"].as_said and not bounces["at once"].as_said,
            why="all three within half a second, the last at most 10 ms; and not so where (18) knows the force at once "
            "to the last digit, or never. Delay and rounding are ours: the paper names no integrator",
        ),
    ]


def draw_stability(figure: Any, data: Stability) -> None:
    from footfall.show.style import BLUE, GREEN, PURPLE, VERMILION

    left, middle, right = figure.subplots(1, 3)
    for eps, color in zip(EPS, (VERMILION, BLUE), strict=True):
        label = "eps = 0" if eps == 0.0 else "eps = 1e-6 m"
        left.plot(PUSHES, [data.pushed[force, eps].impacts for force in PUSHES], "o-", color=color, label=label)
    emptied = [force for force in PUSHES if data.pushed[force, EPS[1]].least <= 0.0]
    if emptied:
        left.axvspan(emptied[0] - 10.0, PUSHES[-1] + 5.0, color="0.9", label="a vertex loses its load")
    left.set(xlabel="push (N)", ylabel="false impacts", title="standing, (17) alone")
    left.set_ylim(-5.0, 110.0)
    left.legend(loc="upper left")
    for (knows, curve), color in zip(data.pressed.items(), (GREEN, VERMILION, BLUE, PURPLE), strict=True):
        time = DT * np.arange(len(curve))
        middle.plot(time, 1e6 * curve[:, 0], color=color, label=knows)
        right.plot(time, curve[:, 1], color=color)
    middle.set_yscale("symlog", linthresh=1.0)
    middle.set(xlabel="time (s)", ylabel="height (µm)", title="a brick is pressed")
    right.set(xlabel="time (s)", ylabel="normal force (N)", ylim=(-2.0, 150.0), title="its force")
    right.legend(*middle.get_legend_handles_labels(), loc="upper left", title="(18) knows the force", alignment="left")


EXPERIMENT = Experiment(
    name="stability",
    figures=("section5",),
    title="what eps does for a foot that stands, and what an external force does",
    run=run_stability,
    judge=judge_stability,
    draw=draw_stability,
    height=2.8,
)
