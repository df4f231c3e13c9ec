"""Rengifo 2009, section II.A: the bouncing ball (figures 4 and 5), its closed form, and the springs of eq. (2)."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, legend_below, near, seen, unlike
from footfall.show.style import BLUE, COLORS, GREEN, VERMILION

GRAVITY = 9.81  # m/s2
DROP = 0.1  # m
KV = 5000.0  # 1/s
KPS = (0.0, 1.0, 5.0)  # 1/s2
LONG, SHORT = 1e-5, 1e-6  # s, steps of the whole fall and of touch-down


def law(kp: float, kv: float) -> ff.contact.LinearizingPenalty:
    """The basic law, without a steady penetration."""
    return ff.contact.LinearizingPenalty(kp=kp, kv=kv, eps=0.0)


def dropped(kp: float, duration: float = 2.5) -> ff.Recording:
    """The ball let go at 0.1 m over the ground, as in figures 4 and 5."""
    sim = ff.Simulation("ball", law=law(kp, KV), dt=LONG)
    start = sim.place()
    start[2] += DROP
    return sim.run(duration, qpos=start).check()


def landing(kp: float, kv: float, *, speed: float = 1.0, mass: float = 1.0, dt: float, duration: float) -> ff.Recording:
    """A ball that touches the ground at the first instant with ``speed`` (m/s)."""
    sim = ff.Simulation(ff.load_robot("ball", mass=mass), law=law(kp, kv), dt=dt)
    return sim.run(duration, qvel=[0, 0, -speed, 0, 0, 0]).check()


@dataclass(frozen=True)
class Falls:
    runs: dict[float, ff.Recording]  # by kp
    touch: ff.Recording  # the first milliseconds of contact, in short steps
    deeper: dict[float, float]  # deepest point in m by kv, kp = 0
    stiffer: dict[float, float]  # deepest point in m by kp, kv = 0
    speed: float  # m/s at touch-down


def run_falls() -> Falls:
    speed = math.sqrt(2.0 * GRAVITY * DROP)
    touch = landing(1.0, KV, speed=speed, dt=SHORT, duration=3e-3)

    def deepest(kp: float, kv: float) -> float:
        return -float(landing(kp, kv, speed=speed, dt=LONG, duration=0.05).gap.min())

    return Falls(
        runs={kp: dropped(kp) for kp in KPS},
        touch=touch,
        deeper={kv: deepest(0.0, kv) for kv in (500.0, 1000.0, 2000.0)},
        stiffer={kp: deepest(kp, 0.0) for kp in (1e4, 2e4, 4e4)},
        speed=speed,
    )


def judge_falls(data: Falls) -> list[Claim]:
    return [*_judge_depths(data), *_judge_forces(data)]


def _judge_depths(data: Falls) -> list[Claim]:
    """How deep the ball goes, and how it comes back (figure 4)."""
    euler = f"an Euler step of {LONG:g} s errs by dt kv / 2"
    stays = -float(data.runs[0.0].gap[-1, 0])
    deepest = [-float(data.runs[kp].gap.min()) for kp in KPS]
    claims = [
        near(
            ("derived", "fig4"),
            "kp = 0: the interpenetration cannot vanish (it stays at v0 / kv)",
            (1e3 * data.speed / KV, 1e3 * stays, "mm"),
            rel=0.03,
            why=euler,
        )
    ]
    for kp in KPS[1:]:
        rec = data.runs[kp]
        claims.append(
            near(
                ("printed", "fig4"),
                f"kp = {kp:g}: interpenetration converges toward zero (the depth at the end)",
                (0.0, -1e3 * rec.gap[-1, 0], "mm"),
                within=1e-3,
                why="the smallest bounce of a step, g dt pi / (2 sqrt(kp)), is below it",
            )
        )
        back = float(rec.time[np.argmax((rec.gap[:, 0] > -1e-6) & (rec.time > 0.2))]) - math.sqrt(2 * DROP / GRAVITY)
        claims.append(
            near(
                ("derived", "fig4"),
                f"kp = {kp:g}: how long the way back to the surface takes (closed form pi / (2 sqrt kp))",
                (math.pi / (2.0 * math.sqrt(kp)), back, "s"),
                rel=0.01,
                why="it is back when 1 µm is left",
            )
        )
    order = " > ".join(f"{1e6 * depth:.4f}" for depth in deepest)
    return [
        *claims,
        seen(
            ("derived", "fig4"),
            "The smaller kp, the deeper it goes (kp = 0, 1, 5)",
            ("falls with kp", order, "µm"),
            holds=deepest[0] > deepest[1] > deepest[2],
            why="strict order",
        ),
        _depths("kp = 0: the penetration depth decreases as kv increases (v0 / kv)", data.deeper, data.speed, 1.0),
        _depths("kv = 0: the deepest point decreases as kp increases (v0 / sqrt kp)", data.stiffer, data.speed, 0.5),
    ]


def _judge_forces(data: Falls) -> list[Claim]:
    """The force at the impact and at rest (figure 5)."""
    weight = data.touch.robot.weight
    return [
        near(
            ("printed", "fig5"),
            "At the instant of impact f_n = m g + m kv v0",
            (
                weight * (1.0 + KV * data.speed / GRAVITY),
                data.touch.force[int(np.argmax(data.touch.force[:, 0, 2] > 0.0)), 0, 2],
                "N",
            ),
            rel=0.5 * SHORT * KV + 1e-4,
            why="the gain is applied as (1 - exp(-kv dt)) / dt, smaller by dt kv / 2",
        ),
        seen(
            ("printed", "fig5"),
            "The largest force depends on kv alone (kp = 0, 1, 5)",
            ("one value", " ".join(f"{rec.force[:, 0, 2].max():.5g}" for rec in data.runs.values()), "N"),
            holds=np.ptp([rec.force[:, 0, 2].max() for rec in data.runs.values()]) < 1e-3 * weight,
            why="within a thousandth of the weight: kp times the depth of one step",
        ),
        *(
            near(
                ("derived", "fig5"),
                f"kp = {kp:g}: at rest the force is the weight",
                (weight, data.runs[kp].force[-1, 0, 2], "N"),
                rel=1e-6,
                why="what is left of kp times the depth",
            )
            for kp in KPS
        ),
    ]


def _depths(statement: str, found: dict[float, float], speed: float, power: float) -> Claim:
    """Judge deepest points (m) by gain against speed / gain ** power."""
    misses = [depth / (speed / gain**power) - 1.0 for gain, depth in found.items()]
    return seen(
        ("printed", "section 2A"),
        statement,
        (
            " ".join(f"{1e3 * speed / gain**power:.5g}" for gain in found),
            " ".join(f"{1e3 * depth:.5g}" for depth in found.values()),
            "mm",
        ),
        holds=max(map(abs, misses)) < 0.011,
        why="1.1 %: dt kv / 2 at kv = 2000",
    )


def draw_falls(figure: Any, data: Falls) -> None:
    from footfall.show.plots.drawing import line

    above, force, zoom = figure.subplot_mosaic([["height", "height"], ["force", "zoom"]]).values()
    styles = {0.0: (BLUE, (0, (4, 1.5))), 1.0: (VERMILION, "-"), 5.0: (GREEN, (0, (1, 1.2)))}  # as the paper's lines
    for kp, rec in data.runs.items():
        color, dash = styles[kp]
        line(above, rec.time, 1e3 * rec.gap[:, 0], color=color, linestyle=dash, label=f"kp = {kp:g}, kv = {KV:g}")
        line(force, rec.time, rec.force[:, 0, 2], color=color, linestyle=dash)
        about = rec.slice(0.14, 0.147)
        zoom.semilogy(about.time, np.maximum(about.force[:, 0, 2], 1.0), color=color, linestyle=dash)
    above.set(ylim=(-0.34, 0.1), xlabel="time (s)", ylabel="height (mm)", title="Fig. 4: vertical position")
    above.legend(loc="upper right", ncols=3)
    force.set(xlabel="time (s)", ylabel="normal force (N)", title="Fig. 5: normal reaction force")
    weight = data.touch.robot.weight
    zoom.axhline(weight, color="#555555", linewidth=0.8)
    zoom.set(xlabel="time (s)", ylabel="normal force (N)", title="Touch-down; grey: the weight")
    zoom.set_xticks([0.14, 0.142, 0.144, 0.146])


# ---- restitution -------------------------------------------------------------------------------------------

#: Gains whose bounce is known in closed form.
PAIRS = ((500.0, 250.0), (1e4, 10.0), (1e4, 0.0))
MASSES = (1e-3, 1.0, 100.0)  # kg


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
    depth = ((cmath.exp(r * when) - cmath.exp(s * when)) / (r - s)).real
    return Bounce(math.sqrt(kp) * depth, depth, when)


@dataclass(frozen=True)
class Bounces:
    runs: dict[tuple[float, float], ff.Recording]  # by kp, kv
    spread: dict[tuple[float, float], float]  # m, how far balls of other masses are from that of 1 kg
    same_ratio: tuple[float, float]  # restitution of two pairs of the same kp / kv
    extremes: tuple[float, float]  # restitution for kp / kv^2 next to 0 and to infinity


def run_bounces() -> Bounces:
    runs, spread = {}, {}
    for kp, kv in PAIRS:
        runs[kp, kv] = landing(kp, kv, dt=LONG, duration=0.125 if kp < 1e3 else 0.08)
        ways = [landing(kp, kv, mass=mass, dt=1e-4, duration=0.3).qpos[:, 2] for mass in MASSES]
        spread[kp, kv] = float(max(np.abs(way - ways[1]).max() for way in ways))
    return Bounces(
        runs=runs,
        spread=spread,
        same_ratio=(_returned(runs[500.0, 250.0]), _returned(landing(2.0, 1.0, dt=1e-4, duration=2.5))),
        extremes=(
            _returned(landing(1.0, 1000.0, dt=LONG, duration=1.6)),
            _returned(landing(1e6, 1.0, dt=SHORT, duration=5e-3)),
        ),
    )


def _returned(rec: ff.Recording) -> float:
    """Largest speed up, of a ball that landed with 1 m/s: the restitution."""
    return float(rec.qvel[:, 2].max())


def judge_bounces(data: Bounces) -> list[Claim]:
    claims = []
    for (kp, kv), rec in data.runs.items():
        known = closed_form(kp, kv)
        name = f"kp = {kp:g}, kv = {kv:g}"
        why = f"Euler steps of {LONG:g} s"
        claims += [
            near(
                ("derived", "section 2A"),
                f"{name}: restitution of eq. (3), closed form",
                (known.restitution, _returned(rec)),
                rel=2e-3,
                why=why,
            ),
            near(
                ("derived", "section 2A"),
                f"{name}: deepest point after landing with 1 m/s, closed form",
                (1e3 * known.depth, -1e3 * rec.gap.min(), "mm"),
                rel=2e-3,
                why=why,
            ),
        ]
    claims += [
        near(
            ("printed", "section 2A"),
            "The motion does not depend on the mass (1 g, 1 kg, 100 kg; largest difference of height)",
            (0.0, max(data.spread.values()), "m"),
            within=1e-12,
            why="rounding",
        ),
        seen(
            ("printed", "section 2A"),
            "Restitution goes from 0 to 1 as kp grows beside kv",
            ("0 ... 1", f"{data.extremes[0]:.4f} ... {data.extremes[1]:.4f}"),
            holds=data.extremes[0] < 0.01 and data.extremes[1] > 0.99,
            why="kp / kv^2 = 1e-6 and 1e6",
        ),
        unlike(
            ("printed", "section 2A"),
            "Restitution is a matter of kp / kv (two pairs of ratio 2: 500, 250 and 2, 1)",
            ("equal", f"{data.same_ratio[0]:.4f} and {data.same_ratio[1]:.4f}"),
            proof="Eq. (3) scaled by the time 1 / kv has kp / kv^2 as its only parameter, and the closed form agrees",
        ),
    ]
    return claims


def draw_bounces(figure: Any, data: Bounces) -> None:
    from footfall.show.plots.drawing import line

    for ax, (pair, rec), color in zip(figure.subplots(1, 3), data.runs.items(), COLORS, strict=False):
        known = closed_form(*pair)
        line(ax, rec.time, 1e3 * rec.gap[:, 0], color=color)
        ax.plot([known.when], [-1e3 * known.depth], "o", color="#000000", markersize=4, fillstyle="none")
        leaving = rec.time[np.argmax((rec.gap[:, 0] > 0) & (rec.time > known.when))]
        span = np.linspace(leaving, rec.time[-1], 200)
        up = known.restitution * (span - leaving) - 0.5 * GRAVITY * (span - leaving) ** 2
        ax.plot(span[up > -1e-3], 1e3 * up[up > -1e-3], color="#000000", linestyle=(0, (1, 1.5)), linewidth=1.6)
        ax.set(title=f"kp = {pair[0]:g}, kv = {pair[1]:g}", xlabel="time (s)")
    figure.axes[0].set_ylabel("height (mm)")
    figure.supxlabel("circle and dots: closed form (deepest point; flight with the restitution)", fontsize=7.5)


# ---- eq. (2) against eqs. (3) and (4) ----------------------------------------------------------------------

STIFFNESS = 1e4  # N/m in (2), 1/s2 per unit mass in (3)
DAMPINGS = (5.0, 20.0, 80.0)  # N s/m
SHOWN = 20.0  # N s/m, of the figure
WEIGHTS = (0.5, 1.0, 2.0)  # kg
SPEED = 1.0  # m/s, of the landing
DT, COARSE = 1e-5, 1e-4  # s, steps of one landing and of the way to rest, a hundredth of the springs' time
BOUNCE, REST = 0.08, 4.0  # s
LAST = 0.5  # s, in which the depth at rest is looked for


@dataclass(frozen=True)
class Springs:
    bounces: dict[float, ff.Recording]  # eq. 2 by damping, one landing, ball of 1 kg
    rests: dict[float, ff.Recording]  # eq. 2 by mass, until it rests
    new: dict[float, ff.Recording]  # eq. 4 by mass, until it rests
    new_bounces: dict[float, ff.Recording]  # eq. 4 by mass, one landing in every step


def sprung_landing(law: Any, mass: float, duration: float) -> ff.Recording:
    """A ball that touches the ground at the first instant with 1 m/s."""
    dt = DT if duration < REST else COARSE
    sim = ff.Simulation(ff.load_robot("ball", mass=mass), law=law, dt=dt)
    return sim.run(duration, qvel=[0, 0, -SPEED, 0, 0, 0]).check()


def spring(damping: float) -> ff.contact.SpringDamper:
    """Eq. (2) as printed, which pulls."""
    return ff.contact.SpringDamper(k=STIFFNESS, c=damping, adhesive=True)


def run_springs() -> Springs:
    law = ff.contact.LinearizingPenalty(kp=STIFFNESS, kv=SHOWN, eps=0.0)
    return Springs(
        bounces={damping: sprung_landing(spring(damping), 1.0, BOUNCE) for damping in DAMPINGS},
        rests={mass: sprung_landing(spring(SHOWN), mass, REST) for mass in WEIGHTS},
        new={mass: sprung_landing(law, mass, REST) for mass in WEIGHTS},
        new_bounces={mass: sprung_landing(law, mass, BOUNCE) for mass in WEIGHTS},
    )


def swing_of_steps() -> float:
    """Depth (m) of the swing that steps of finite length keep up under eq. (4)."""
    natural, damped = STIFFNESS**0.5, 0.5 * SHOWN / STIFFNESS**0.5
    restitution = np.exp(-np.pi * damped / (1.0 - damped**2) ** 0.5)
    return float(GRAVITY * COARSE / ((1.0 - restitution) * natural))


def leaving(rec: ff.Recording) -> int:
    """The last sample in the ground of the first contact."""
    return int(np.argmax((rec.gap[:, 0] > 0.0) & (rec.qvel[:, 2] > 0.0))) - 1


def judge_springs(data: Springs) -> list[Claim]:
    ends = {damping: leaving(rec) for damping, rec in data.bounces.items()}
    pulls = [float(rec.force[ends[c], 0, 2]) for c, rec in data.bounces.items()]
    known = [-c * float(rec.qvel[ends[c] + 1, 2]) for c, rec in data.bounces.items()]
    inside = [rec.force[rec.gap[:, 0] <= 0.0, 0, 2] / rec.robot.weight for rec in data.new_bounces.values()]
    least = float(min(one.min() for one in inside))
    deep = {mass: -1e3 * float(rec.gap[-1, 0]) for mass, rec in data.rests.items()}
    return [
        seen(
            ("printed", "section 2A"),
            f"eq. (2): before separation a force sticks the ball to the ground, always (kv = {_list(DAMPINGS)} N s/m)",
            (" ".join(f"{one:.4g}" for one in known), " ".join(f"{one:.4g}" for one in pulls), "N"),
            holds=all(one < -1.0 and abs(one / exact - 1.0) < 0.05 for one, exact in zip(pulls, known, strict=True)),
            why="5 % of -kv times the speed of leaving: the last step in the ground is at a depth of up to v dt",
        ),
        seen(
            ("printed", "section 2A"),
            "eqs. (3)-(4): the force at any depth is at least the weight (least force over weight, three masses)",
            ("at least 1", least),
            holds=least >= 1.0 - 1e-9,
            why="the desired acceleration is positive for all depths; rounding",
        ),
        seen(
            ("printed", "section 2A"),
            f"eq. (2): steady depth m g / kp (m = {_list(WEIGHTS)} kg)",
            (
                " ".join(f"{1e3 * mass * GRAVITY / STIFFNESS:.5g}" for mass in WEIGHTS),
                " ".join(f"{deep[mass]:.5g}" for mass in WEIGHTS),
                "mm",
            ),
            holds=all(abs(deep[mass] / (1e3 * mass * GRAVITY / STIFFNESS) - 1.0) < 1e-3 for mass in WEIGHTS),
            why="0.1 %: what is left of the swing",
        ),
        near(
            ("printed", "section 2A"),
            f"eq. (4): steady depth (largest of three masses in the last {LAST:g} s)",
            (0.0, -1e3 * min(rec.gap[rec.time > REST - LAST, 0].min() for rec in data.new.values()), "mm"),
            within=1e3 * swing_of_steps(),
            why="g dt / ((1 - e) sqrt(kp)): a ball that left the ground is caught up to a step late, g dt faster, and "
            "swings with what the restitution e of (4) leaves of that",
        ),
    ]


def _list(values: tuple[float, ...]) -> str:
    return ", ".join(f"{one:g}" for one in values)


def draw_springs(figure: Any, data: Springs) -> None:
    from footfall.show.plots.drawing import line

    force, depth = figure.subplots(1, 2)
    for (damping, rec), color in zip(data.bounces.items(), (BLUE, VERMILION, GREEN), strict=True):
        shown = slice(0, leaving(rec) + 200)
        line(force, 1e3 * rec.time[shown], rec.force[shown, 0, 2], color=color, label=f"(2), kv = {damping:g} N s/m")
    force.axhline(0.0, color="#555555", linewidth=0.8)
    force.set(xlabel="time (ms)", ylabel="normal force (N)", title="Eq. (2), 1 kg: below zero it sticks")
    for mass, color in zip(WEIGHTS, (BLUE, VERMILION, GREEN), strict=True):
        for runs, style, name in ((data.rests, "-", "(2)"), (data.new, ":", "(4)")):
            rec = runs[mass]
            line(depth, rec.time, 1e3 * rec.gap[:, 0], color=color, linestyle=style, label=f"{name}, {mass:g} kg")
    depth.set(xlabel="time (s)", ylabel="height (mm)", ylim=(-4.0, 4.0), xlim=(0.0, 1.5), title="Coming to rest")
    legend_below(figure, force, depth, columns=3)


EXPERIMENTS = (
    Experiment(
        name="ball",
        figures=("fig4", "fig5"),
        title="bouncing ball, height and normal force",
        run=run_falls,
        judge=judge_falls,
        draw=draw_falls,
        height=4.6,
    ),
    Experiment(
        name="springs",
        figures=("section2a",),
        title="the spring and damper of eq. (2) against the new law",
        run=run_springs,
        judge=judge_springs,
        draw=draw_springs,
        height=2.8,
    ),
    Experiment(
        name="restitution",
        figures=("section2a",),
        title="the ball's bounce against its closed form",
        run=run_bounces,
        judge=judge_bounces,
        draw=draw_bounces,
        height=2.6,
    ),
)
