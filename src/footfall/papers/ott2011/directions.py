"""Ott 2011, figures 16 to 18: a hand leans on the trunk in six directions and lets go."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Findings, near, seen
from footfall.papers.ott2011 import setup
from footfall.show.style import COLORS

START, HOLD = 0.5, 6.0  # s
#: s in which the robot must be back, longer than after an impulse: the vertical motion has a damping ratio of 0.2.
BACK = 6.0
DURATION = START + HOLD + BACK + 0.5
FORWARD, LEFT, DOWN, YAW, TILT = 20.0, 25.0, 60.0, 10.0, 5.0  # N, N m; the last in roll and pitch
NO_FORCE = (0.0, 0.0, 0.0)
#: What a challenge found of the push forwards.
HELD = "30 N forwards is more than its soles can hold, and 20 N straighten the knees of a robot of 35 kg"


def _lean(force: tuple[float, float, float], torque: tuple[float, float, float] = NO_FORCE) -> ff.Push:
    return ff.Push(setup.TRUNK, force=force, torque=torque, start=START, duration=HOLD)


def leans() -> dict[str, tuple[ff.Push, int]]:
    """By direction: the push, and which of (x, y, z, roll, pitch, yaw) is looked at."""
    return {
        "x": (_lean((FORWARD, 0.0, 0.0)), 0),
        "y": (_lean((0.0, LEFT, 0.0)), 1),
        "z": (_lean((0.0, 0.0, -DOWN)), 2),
        "roll": (_lean(NO_FORCE, (TILT, 0.0, 0.0)), 3),
        "pitch": (_lean(NO_FORCE, (0.0, TILT, 0.0)), 4),
        "yaw": (_lean(NO_FORCE, (0.0, 0.0, YAW)), 5),
    }


def run_directions() -> dict[str, ff.Recording]:
    return {name: setup.stand(DURATION, lean) for name, (lean, _) in leans().items()}


def turned(rec: ff.Recording) -> np.ndarray:
    """(T, 3) rad, rotation vector of the trunk from its orientation at the start, world frame."""
    first, turn, out = np.zeros(4), np.zeros(4), np.zeros((len(rec), 3))
    mujoco.mju_negQuat(first, rec.qpos[0, 3:7])
    for row, quat in zip(out, rec.qpos[:, 3:7], strict=True):
        mujoco.mju_mulQuat(turn, quat, first)
        mujoco.mju_quat2Vel(row, turn, 1.0)
    return out


def feet_turned(rec: ff.Recording) -> np.ndarray:
    """(T,) rad, by which the line from the right to the left foot has turned about the vertical."""
    left, right = (rec.position[:, rec.foot(side), :2].mean(axis=1) for side in ("left", "right"))
    line = left - right
    return np.unwrap(np.arctan2(line[:, 1], line[:, 0])) - np.arctan2(line[0, 1], line[0, 0])


def moved(rec: ff.Recording, axis: int) -> np.ndarray:
    """(T,) m or rad, along the push."""
    return turned(rec)[:, axis - 3] if axis > 2 else rec.signals["com_error"][:, axis]


def expected(rec: ff.Recording, name: str) -> float:
    """How far from its reference the controller's springs carry the push in the pose at its end, m or rad."""
    push, axis = leans()[name]
    return float(setup.stance(rec.qpos[_end(rec)]).yields(push)[axis])


def _end(rec: ff.Recording) -> int:
    return int(np.searchsorted(rec.time, START + HOLD)) - 1


def judge_directions(data: dict[str, ff.Recording]) -> Findings:
    for name, (push, axis) in leans().items():
        rec, scale, unit = data[name], 180.0 / math.pi if axis > 2 else 1e3, "°" if axis > 2 else "mm"
        size = f"{max(map(abs, (*push.force, *push.torque))):g} N{' m' if axis > 2 else ''}"
        held = HELD if name == "x" else ""
        known, found = scale * expected(rec, name), scale * moved(rec, axis)[_end(rec)]
        yield near("leaned", known, found, unit=unit, name=name, size=size, held=held)
    back = {name: setup.recovery(rec, START + HOLD) for name, rec in data.items()}
    slowest = max(back, key=lambda name: back[name])
    left = max(float(np.abs(turned(data[name])[-1]).max()) for name in ("roll", "pitch", "yaw"))
    told = f"{back[slowest]:.2f} s, {slowest}; turned by at most {math.degrees(left):.2g}°"
    yield seen("let-go", told, holds=back[slowest] <= BACK and left < 0.01)
    baseline, yaw = (np.degrees(np.abs(one).max()) for one in (feet_turned(data["yaw"]), turned(data["yaw"])[:, 2]))
    yield near("yaw", 0.0, baseline, yaw=yaw)
    at_floor = float((setup.commanded(data["y"]).min(axis=1) < setup.FLOOR + 1e-3).mean() * data["y"].duration)
    yield seen("longer", at_floor, holds=at_floor > 1.0)


def draw_directions(figure: Any, data: dict[str, ff.Recording]) -> None:
    top, bottom = figure.subfigures(2, 1)
    axes, components = top.subplots(1, 2), bottom.subplots(1, 3)
    for c, name in enumerate(("x", "y", "z")):
        axes[0].plot(data[name].time, 1e3 * data[name].signals["com_error"][:, c], color=COLORS[c], label=f"in {name}")
        axes[0].axhline(1e3 * expected(data[name], name), color=COLORS[c], linewidth=0.6, linestyle=":")
    axes[0].set(title="fig. 17: com error (mm)", xlabel="time (s)")
    axes[0].legend()
    for c, name in enumerate(("roll", "pitch", "yaw")):
        angle = np.degrees(moved(data[name], 3 + c))
        style = "--" if name == "pitch" else "-"  # as far as roll
        axes[1].plot(data[name].time, angle, color=COLORS[c], linestyle=style, label=name)
        axes[1].axhline(math.degrees(expected(data[name], name)), color=COLORS[c], linewidth=0.6, linestyle=":")
    axes[1].set(title="trunk turned (°); dotted: springs alone", xlabel="time (s)")
    axes[1].legend()
    rec = data["y"]
    setup.draw_components(components, rec)
    components[0].set_title("fig. 18, in y: contact forces x (N)")
    for axis in components:
        axis.set_xlabel("time (s)")
    for axis in (*components, *axes):
        axis.title.set_fontsize(7)
    components[2].legend()
