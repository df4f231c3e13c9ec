"""Ott 2011, figures 16 to 18: the robot leaned on in x, y, z, roll, pitch and yaw, as by a hand."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, near, seen
from footfall.papers.ott2011.setup import CLOSE, FLOOR, ROBOT, TRUNK, commanded, draw_components, recovery, stand
from footfall.papers.ott2011.stance import stance

START, HOLD = 0.5, 6.0  # s
#: s in which the robot must be back, longer than after an impulse: the vertical motion has a damping ratio of 0.2.
BACK = 6.0
DURATION = START + HOLD + BACK + 0.5


FORWARD, LEFT, DOWN, YAW = 20.0, 25.0, 60.0, 10.0  # N, N m


NO_FORCE = (0.0, 0.0, 0.0)
TILT = 5.0  # N m, in roll and pitch


def _lean(force: tuple[float, float, float], torque: tuple[float, float, float] = NO_FORCE) -> ff.Push:
    return ff.Push(TRUNK, force=force, torque=torque, start=START, duration=HOLD)


#: By direction: the push, and which of (x, y, z, roll, pitch, yaw) is looked at.
LEANS = {
    "x": (_lean((FORWARD, 0.0, 0.0)), 0),
    "y": (_lean((0.0, LEFT, 0.0)), 1),
    "z": (_lean((0.0, 0.0, -DOWN)), 2),
    "roll": (_lean(NO_FORCE, (TILT, 0.0, 0.0)), 3),
    "pitch": (_lean(NO_FORCE, (0.0, TILT, 0.0)), 4),
    "yaw": (_lean(NO_FORCE, (0.0, 0.0, YAW)), 5),
}


def run_directions() -> dict[str, ff.Recording]:
    return {name: stand(DURATION, lean) for name, (lean, _) in LEANS.items()}


def turned(rec: ff.Recording) -> np.ndarray:
    """(T, 3) rad, rotation vector of the trunk from its orientation at the start, world frame."""
    first, turn, out = np.zeros(4), np.zeros(4), np.zeros((len(rec), 3))
    mujoco.mju_negQuat(first, rec.qpos[0, 3:7])
    for row, quat in zip(out, rec.qpos[:, 3:7], strict=True):
        mujoco.mju_mulQuat(turn, quat, first)
        mujoco.mju_quat2Vel(row, turn, 1.0)
    return out


def moved(rec: ff.Recording, axis: int) -> np.ndarray:
    """(T,) m or rad, along the push."""
    return turned(rec)[:, axis - 3] if axis > 2 else rec.signals["com_error"][:, axis]


def expected(rec: ff.Recording, name: str) -> float:
    """How far from its reference the controller's springs carry the push in the pose at its end, m or rad."""
    push, axis = LEANS[name]
    return float(stance(ROBOT, TRUNK, rec.qpos[_end(rec)]).yields(push)[axis])


def _end(rec: ff.Recording) -> int:
    return int(np.searchsorted(rec.time, START + HOLD)) - 1


def judge_directions(data: dict[str, ff.Recording]) -> list[Claim]:
    claims = []
    for name, (push, axis) in LEANS.items():
        rec, scale, unit = data[name], 180.0 / math.pi if axis > 2 else 1e3, "°" if axis > 2 else "mm"
        size = f"{max(map(abs, (*push.force, *push.torque))):g} N{' m' if axis > 2 else ''}"
        claims.append(
            near(
                ("derived", "fig16"),
                f"Leaned on in {name} with {size}, the robot gives way until its springs carry that",
                (scale * expected(rec, name), scale * moved(rec, axis)[_end(rec)], unit),
                rel=0.02,
                why="what is left of the motion after 6 s",
                note="The paper prints none; its side is what (20) and (22) make of this robot",
            )
        )
    back = {name: recovery(rec, START + HOLD) for name, rec in data.items()}
    slowest = max(back, key=lambda name: back[name])
    left = max(float(np.abs(turned(data[name])[-1]).max()) for name in ("roll", "pitch", "yaw"))
    claims.append(
        seen(
            ("printed", "fig17"),
            "Let go, it comes back: the longest time",
            ("comes back", f"{back[slowest]:.2f} s, {slowest}; turned by at most {math.degrees(left):.2g}°"),
            holds=max(back.values()) <= BACK and left < 0.01,
            why=f"centre of mass below {1e3 * CLOSE:g} mm within {BACK:g} s, trunk turned by less than 0.01 rad",
        )
    )
    at_floor = float((commanded(data["y"]).min(axis=1) < FLOOR + 1e-3).mean() * data["y"].duration)
    claims.append(
        seen(
            ("printed", "fig18"),
            "The limits of the vertical forces act over a longer duration than under an impulse",
            ("longer", at_floor, "s"),
            holds=at_floor > 1.0,
            why="more than a second at the floor; an impulse of 50 ms has it there for tenths",
        )
    )
    return claims


def draw_directions(figure: Any, data: dict[str, ff.Recording]) -> None:
    from footfall.show.style import COLORS

    (above, components) = figure.subplots(2, 3)
    figure.delaxes(above[2])
    axes = above[:2]
    for c, name in enumerate(("x", "y", "z")):
        axes[0].plot(data[name].time, 1e3 * data[name].signals["com_error"][:, c], color=COLORS[c], label=f"in {name}")
        axes[0].axhline(1e3 * expected(data[name], name), color=COLORS[c], linewidth=0.6, linestyle=":")
    axes[0].set(title="com error (mm), fig. 17", xlabel="time (s)")
    axes[0].legend()
    for c, name in enumerate(("roll", "pitch", "yaw")):
        angle = np.degrees(moved(data[name], 3 + c))
        axes[1].plot(data[name].time, angle, color=COLORS[c], label=name)
        axes[1].axhline(math.degrees(expected(data[name], name)), color=COLORS[c], linewidth=0.6, linestyle=":")
    axes[1].set(title="trunk turned (°); dotted: springs alone", xlabel="time (s)")
    axes[1].legend()
    rec = data["y"]
    draw_components(components, rec)
    components[0].set_title("fig. 18, in y: contact forces x (N)")
    for axis in (*components, *axes):
        axis.title.set_fontsize(7)
    components[2].legend()


EXPERIMENT = Experiment(
    name="directions",
    figures=("fig16", "fig17", "fig18"),
    title="leaned on in x, y, z, roll, pitch and yaw for 6 s",
    run=run_directions,
    judge=judge_directions,
    draw=draw_directions,
    height=4.6,
)
