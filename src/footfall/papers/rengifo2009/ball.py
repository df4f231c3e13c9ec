"""Rengifo 2009, section II.A: the bouncing ball (figures 2 to 5), its closed form, and the springs of eq. (2)."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Finding, Findings, level, near, panel, seen, unlike

GRAVITY = 9.81  # m/s2
DROP = 0.1  # m
KV = 5000.0  # 1/s
KPS = (0.0, 1.0, 5.0)  # 1/s2
LONG, SHORT = 1e-5, 1e-6  # s, steps of the whole fall and of touch-down
GROWING = (500.0, 1000.0, 2000.0)  # 1/s, kv with kp = 0
STIFFER = (1e4, 2e4, 4e4)  # 1/s2, kp with kv = 0
SPREAD = "; ".join(("{:.5g}",) * 3)


def law(kp: float, kv: float) -> ff.contact.LinearizingPenalty:
    """The basic law, without a steady penetration."""
    return ff.contact.LinearizingPenalty(kp=kp, kv=kv, eps=0.0)


def landing(
    law: Any, robot: ff.Robot | str = "ball", *, speed: float = 1.0, dt: float, duration: float
) -> ff.Recording:
    """A ball that touches the ground at the first instant with ``speed`` (m/s), or another body."""
    sim = ff.Simulation(robot, law=law, dt=dt)
    return sim.run(duration, qvel=[0, 0, -speed, 0, 0, 0]).check()


def dropped(kp: float, duration: float = 2.5) -> ff.Recording:
    """The ball let go over the ground, as in figures 4 and 5."""
    sim = ff.Simulation("ball", law=law(kp, KV), dt=LONG)
    return sim.run(duration, qpos=sim.place(above=DROP)).check()


class Falls(NamedTuple):
    runs: dict[float, ff.Recording]  # by kp
    growing: dict[float, ff.Recording]  # by kv, kp = 0
    stiffer: dict[float, ff.Recording]  # by kp, kv = 0
    speed: float  # m/s at touch-down


def run_falls() -> Falls:
    speed = math.sqrt(2.0 * GRAVITY * DROP)

    def land(kp: float, kv: float) -> ff.Recording:
        return landing(law(kp, kv), speed=speed, dt=LONG, duration=0.05)

    return Falls(
        runs={kp: dropped(kp) for kp in KPS},
        growing={kv: land(0.0, kv) for kv in GROWING},
        stiffer={kp: land(kp, 0.0) for kp in STIFFER},
        speed=speed,
    )


def judge_falls(data: Falls) -> Findings:
    """How deep the ball goes and how it comes back (figure 4), and the force at the impact and at rest (figure 5)."""
    weight, mass = data.runs[0.0].robot.weight, data.runs[0.0].robot.mass
    yield near("stays", 1e3 * data.speed / KV, -1e3 * data.runs[0.0].gap[-1, 0])
    for kp in KPS[1:]:
        rec = data.runs[kp]
        yield near("vanishes", 0.0, -1e3 * rec.gap[-1, 0], kp=kp)
    yield _depths("depth-kv", data.growing, data.speed, 1.0)
    yield _depths("depth-kp", data.stiffer, data.speed, 0.5)
    largest, springs = ([float(rec.force[:, 0, 2].max()) for rec in one.values()] for one in (data.runs, data.stiffer))
    given = [float((rec.force[:, 0, 2] - weight).sum() * rec.dt) / mass for rec in data.growing.values()]
    lasts = [float(rec.time[np.flatnonzero(rec.force[:, 0, 2] > 1.01 * weight)[-1]]) for rec in data.growing.values()]
    tends = max(abs(one / data.speed - 1.0) for one in given) < 0.02 and lasts[0] > 3.0 * lasts[-1]
    both = f"{SPREAD.format(*largest)} and {SPREAD.format(*springs)}"
    yield unlike("largest", both, holds=bool(np.ptp(springs) < 1e-3 * weight))
    told = f"{SPREAD.format(*given)} m/s; {SPREAD.format(*lasts)} s"
    yield seen("impulse", told, should=f"tends to v0 = {data.speed:.4g} m/s in no time", holds=tends)


def _depths(name: str, found: dict[float, ff.Recording], speed: float, power: float) -> Finding:
    """Judge deepest points (m) by gain against speed / gain ** power."""
    known = [1e3 * speed / gain**power for gain in found]
    depths = [-1e3 * float(rec.gap.min()) for rec in found.values()]
    near_all = all(abs(a / b - 1.0) < 0.011 for a, b in zip(depths, known, strict=True))
    told = SPREAD.format(*known)
    return seen(name, SPREAD.format(*depths), should=told, unit="mm", holds=near_all, gains=_list(found))


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"{one:g}" for one in values)


def draw_falls(figure: Any, data: Falls) -> None:
    above, force, zoom = figure.subplot_mosaic([["height", "height"], ["force", "zoom"]]).values()
    heights = ((rec.time, 1e3 * rec.gap[:, 0], f"kp = {kp:g}, kv = {KV:g}") for kp, rec in data.runs.items())
    panel(above, *heights, ylim=(-0.34, 0.1), ylabel="height (mm)", title="Fig. 4: vertical position")
    forces = ((rec.time, rec.force[:, 0, 2], "") for rec in data.runs.values())
    panel(force, *forces, ylabel="normal force (N)", title="Fig. 5: normal reaction force")
    growing = ((1e3 * rec.time, rec.force[:, 0, 2], f"kv = {kv:g}") for kv, rec in data.growing.items())
    panel(zoom, *growing, xlabel="time (ms)", xlim=(0.0, 10.0), title="Towards fig. 2: kp = 0")
    level(zoom, data.runs[0.0].robot.weight, "weight")


# ---- restitution -------------------------------------------------------------------------------------------

#: Gains of bodies that land beside the ball.
PAIRS = ((500.0, 250.0), (1e4, 10.0), (1e4, 0.0))
MASSES = (1e-3, 1.0, 100.0)  # kg
#: kp with one kv (1/s), and kv with one kp (1/s2): kp / kv goes from next to 0 to next to infinity.
WAYS = {"kv = 1000": ((1.0, 1e3), (1e6, 1e3), (1e10, 1e3)), "kp = 1e6": ((1e6, 1e6), (1e6, 1e3), (1e6, 1.0))}


#: 1/s, kv of pairs with kp = kv².
ALONG = (1e-3, 1.0, 1e3, 1e6)


class Bounce(NamedTuple):
    """Restitution, deepest point in m per m/s, and when in s."""

    restitution: float
    depth: float
    when: float


def closed_form(kp: float, kv: float) -> Bounce:
    """The bounce of p'' = -kp p - kv min(0, p') that begins with p = 0, p' = -1 m/s, (3)-(4).

    On the way down p = -(exp(r t) - exp(s t)) / (r - s) with r, s the roots of z^2 + kv z + kp, deepest where its
    derivative vanishes; on the way up an undamped oscillator turns that depth into speed.
    """
    root = cmath.sqrt(kv * kv / 4.0 - kp)
    r, s = -kv / 2.0 + root, -kv / 2.0 - root
    if root.imag:
        when = math.atan2(root.imag, kv / 2.0) / root.imag
    else:
        when = (cmath.log(s / r) / (r - s)).real
    depth = ((cmath.exp(r * when) - cmath.exp(s * when)) / (r - s)).real  # Rengifo 2009, eq. 3-4
    return Bounce(math.sqrt(kp) * depth, depth, when)


class Bounces(NamedTuple):
    spread: list[float]  # m, how far other bodies are from the ball at most: by mass, then on several points
    extremes: tuple[float, float]  # restitution for kp / kv^2 next to 0 and to infinity


def run_bounces() -> Bounces:
    found = []
    brick = ff.load_robot("brick")
    bodies = [*(ff.load_robot("ball", mass=mass) for mass in MASSES), brick, brick.with_points((3, 4))]
    for kp, kv in PAIRS:
        ways = np.array([landing(law(kp, kv), body, dt=1e-4, duration=0.3).gap[:, 0] for body in bodies])
        found.append(np.abs(ways - ways[1]).max(axis=1))
    spread = np.max(found, axis=0)
    return Bounces(
        spread=[float(spread[: len(MASSES)].max()), float(spread[len(MASSES) :].max())],
        extremes=(
            _returned(landing(law(1.0, 1000.0), dt=LONG, duration=1.6)),
            _returned(landing(law(1e6, 1.0), dt=SHORT, duration=5e-3)),
        ),
    )


def _returned(rec: ff.Recording) -> float:
    """Largest speed up, of a ball that landed with 1 m/s: the restitution."""
    return float(rec.qvel[:, 2].max())


def judge_bounces(data: Bounces) -> Findings:
    ways = {name: [closed_form(*pair).restitution for pair in pairs] for name, pairs in WAYS.items()}
    square, (low, high) = [closed_form(kv * kv, kv).restitution for kv in ALONG], data.extremes
    told = "; ".join(f"{name}: {SPREAD.format(*one)}" for name, one in ways.items())
    all_ways = all(one[0] < 0.01 < one[1] < 0.99 < one[2] for one in ways.values())
    given: dict[str, Any] = {"least": min(square), "most": max(square), "last": ALONG[-1]}
    for name, spread in zip(("mass", "points"), data.spread, strict=True):
        yield near(name, 0.0, spread)
    ends = low < 0.01 and high > 0.99
    yield seen("restitution", f"{told}; simulated {low:.4f}, {high:.4f}", holds=ends and all_ways, **given)


# ---- eq. (2) against eqs. (3) and (4) ----------------------------------------------------------------------

STIFFNESS = 1e4  # N/m in (2), 1/s2 per unit mass in (3)
DAMPINGS = (5.0, 20.0, 80.0)  # N s/m
SHOWN = 20.0  # N s/m, of the figure
WEIGHTS = (0.5, 1.0, 2.0)  # kg
SPEED = 1.0  # m/s, of the landing
DT, COARSE = 1e-5, 1e-4  # s, steps of one landing and of the way to rest, a hundredth of the springs' time
BOUNCE, REST = 0.08, 4.0  # s
LAST = 0.5  # s, in which the depth at rest is looked for


class Springs(NamedTuple):
    bounces: dict[float, ff.Recording]  # eq. 2 by damping, one landing, ball of 1 kg
    rests: dict[float, ff.Recording]  # eq. 2 by mass, until it rests
    new: dict[float, ff.Recording]  # eq. 4 by mass, until it rests


def run_springs() -> Springs:
    new = law(STIFFNESS, SHOWN)

    def spring(damping: float) -> ff.contact.SpringDamper:
        """Eq. (2) as printed, which pulls."""
        return ff.contact.SpringDamper(k=STIFFNESS, c=damping, adhesive=True)

    def land(own: Any, mass: float, dt: float, duration: float) -> ff.Recording:
        return landing(own, ff.load_robot("ball", mass=mass), speed=SPEED, dt=dt, duration=duration)

    return Springs(
        bounces={damping: land(spring(damping), 1.0, DT, BOUNCE) for damping in DAMPINGS},
        rests={mass: land(spring(SHOWN), mass, COARSE, REST) for mass in WEIGHTS},
        new={mass: land(new, mass, COARSE, REST) for mass in WEIGHTS},
    )


def swing_of_steps() -> float:
    """Depth (m) of the swing that steps of finite length keep up under eq. (4)."""
    natural, damped = STIFFNESS**0.5, 0.5 * SHOWN / STIFFNESS**0.5
    restitution = np.exp(-np.pi * damped / (1.0 - damped**2) ** 0.5)
    return float(GRAVITY * COARSE / ((1.0 - restitution) * natural))


def leaving(rec: ff.Recording) -> int:
    """The last sample in the ground of the first contact."""
    return int(np.argmax((rec.gap[:, 0] > 0.0) & (rec.qvel[:, 2] > 0.0))) - 1


def judge_springs(data: Springs) -> Findings:
    ends = {damping: end for damping, rec in data.bounces.items() if (end := leaving(rec)) > 0}
    pulls = [float(data.bounces[c].force[end, 0, 2]) for c, end in ends.items()]
    known = [-c * float(data.bounces[c].qvel[end + 1, 2]) for c, end in ends.items()]
    deep = [-1e3 * float(rec.gap[-1, 0]) for rec in data.rests.values()]
    rests = [1e3 * mass * GRAVITY / STIFFNESS for mass in WEIGHTS]
    exact = all(one < 0.0 and abs(one - b) < STIFFNESS * SPEED * DT for one, b in zip(pulls, known, strict=True))
    stays = all(abs(one / b - 1.0) < 1e-3 for one, b in zip(deep, rests, strict=True))
    swing = max(-1e3 * float(rec.gap[rec.time > REST - LAST, 0].min()) for rec in data.new.values())
    yield seen("sticking", _list(pulls), should=_list(known), holds=exact, dampings=_list(ends))
    yield seen("steady-spring", SPREAD.format(*deep), should=SPREAD.format(*rests), holds=stays)
    yield near("steady", 0.0, swing, within=1e3 * swing_of_steps())
