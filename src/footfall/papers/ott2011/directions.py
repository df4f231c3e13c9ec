"""Ott 2011, figures 16 to 18: the robot leaned on in x, y, z and yaw, as by a hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from footfall.papers.base import Claim, Experiment, near, seen
from footfall.papers.ott2011.setup import CLOSE, FLOOR, ROBOT, TRUNK, commanded, recovery, stand
from footfall.papers.ott2011.stance import stance
from footfall.record import Push
from footfall.recording import Recording

START, HOLD = 0.5, 6.0  # s
#: s in which the robot must be back, longer than after an impulse: the vertical motion has a damping ratio of 0.2.
BACK = 5.0
DURATION = START + HOLD + BACK + 0.5


FORWARD, LEFT, DOWN, YAW = 20.0, 25.0, 60.0, 10.0  # N, N m


def _lean(force: tuple[float, float, float], turn: float = 0.0) -> Push:
    return Push(TRUNK, force=force, torque=(0.0, 0.0, turn), start=START, duration=HOLD)


#: By direction: the push, and which of (x, y, z, roll, pitch, yaw) is looked at.
LEANS = {
    "x": (_lean((FORWARD, 0.0, 0.0)), 0),
    "y": (_lean((0.0, LEFT, 0.0)), 1),
    "z": (_lean((0.0, 0.0, -DOWN)), 2),
    "yaw": (_lean((0.0, 0.0, 0.0), YAW), 5),
}


def run_directions() -> dict[str, Recording]:
    return {name: stand(DURATION, lean) for name, (lean, _) in LEANS.items()}


def yaw(rec: Recording) -> np.ndarray:
    """(T,) rad, heading of the trunk from that at the start."""
    w, x, y, z = rec.qpos[:, 3:7].T
    heading = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return heading - heading[0]


def moved(rec: Recording, axis: int) -> np.ndarray:
    """(T,) m or rad, along the push."""
    return yaw(rec) if axis > 2 else rec.signals["com_error"][:, axis]


def expected(rec: Recording, name: str) -> float:
    """How far from its reference the controller's springs carry the push in the pose at its end, m or rad."""
    push, axis = LEANS[name]
    return float(stance(ROBOT, TRUNK, rec.qpos[_end(rec)]).yields(push)[axis])


def _end(rec: Recording) -> int:
    return int(np.searchsorted(rec.time, START + HOLD)) - 1


def judge_directions(data: dict[str, Recording]) -> list[Claim]:
    claims = []
    for name, (push, axis) in LEANS.items():
        rec, scale, unit = data[name], 180.0 / math.pi if axis > 2 else 1e3, "°" if axis > 2 else "mm"
        size = f"{max(map(abs, (*push.force, *push.torque))):g} N{' m' if axis > 2 else ''}"
        claims.append(
            near(
                "fig16",
                f"Leaned on in {name} with {size}, the robot gives way until its springs carry that",
                scale * expected(rec, name),
                scale * float(moved(rec, axis)[_end(rec)]),
                unit,
                rel=0.02,
                why="what is left of the motion after 6 s",
                note="The paper prints none; its side is what (20) and (22) make of this robot",
                source="derived",
            )
        )
    back = {name: recovery(rec, START + HOLD) for name, rec in data.items()}
    turned = abs(float(yaw(data["yaw"])[-1]))
    claims.append(
        seen(
            "fig17",
            "Let go, it comes back: the longest time",
            "comes back",
            f"{max(back.values()):.2f} s, {max(back, key=lambda name: back[name])}; yaw to {math.degrees(turned):.2g}°",
            holds=max(back.values()) <= BACK and turned < 0.01,
            why=f"centre of mass below {1e3 * CLOSE:g} mm within {BACK:g} s, yaw below 0.01 rad at the end",
            source="printed",
        )
    )
    at_floor = float((commanded(data["y"]).min(axis=1) < FLOOR + 1e-3).mean() * data["y"].duration)
    claims.append(
        seen(
            "fig18",
            "The limits of the vertical forces act over a longer duration than under an impulse",
            "longer",
            at_floor,
            "s",
            holds=at_floor > 1.0,
            why="more than a second at the floor; an impulse of 50 ms has it there for tenths",
            source="printed",
        )
    )
    return claims


def draw_directions(figure: Any, data: dict[str, Recording]) -> None:
    from footfall.show.style import BLUE, COLORS, VERMILION

    axes = figure.subplots(1, 3)
    for c, name in enumerate(("x", "y", "z")):
        axes[0].plot(data[name].time, 1e3 * data[name].signals["com_error"][:, c], color=COLORS[c], label=f"in {name}")
        axes[0].axhline(1e3 * expected(data[name], name), color=COLORS[c], linewidth=0.6, linestyle=":")
    axes[0].set(title="com error (mm), fig. 17", xlabel="time (s)")
    axes[0].legend()
    axes[1].plot(data["yaw"].time, np.degrees(yaw(data["yaw"])), color=COLORS[3])
    axes[1].axhline(math.degrees(expected(data["yaw"], "yaw")), color=COLORS[3], linewidth=0.6, linestyle=":")
    axes[1].set(title="yaw (°); dotted: springs alone", xlabel="time (s)")
    rec = data["y"]
    for side, color in (("right", BLUE), ("left", VERMILION)):
        lines = axes[2].plot(rec.time, commanded(rec)[:, rec.foot(side)], color=color, linewidth=0.9)
        lines[0].set_label(f"{side} foot")
    axes[2].axhline(FLOOR, color="#444444", linewidth=0.7, linestyle=":")
    axes[2].set(title="vertical forces (N), y, fig. 18", xlabel="time (s)")
    axes[2].legend()


EXPERIMENTS = (
    Experiment(
        name="directions",
        figures=("fig16", "fig17", "fig18"),
        title="leaned on in x, y, z and yaw for 6 s",
        run=run_directions,
        judge=judge_directions,
        draw=draw_directions,
        height=2.8,
    ),
)
