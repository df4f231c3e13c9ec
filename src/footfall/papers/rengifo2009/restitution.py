"""Rengifo 2009, section II.A: restitution and depth of the ball's bounce, against the closed form of its equation."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, near, seen, unlike
from footfall.papers.rengifo2009.ball import GRAVITY, LONG, SHORT, landing

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
    from footfall.show.style import COLORS

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


EXPERIMENT = Experiment(
    name="restitution",
    figures=("section2a",),
    title="the ball's bounce against its closed form",
    run=run_bounces,
    judge=judge_bounces,
    draw=draw_bounces,
    height=2.6,
)
