"""Ott 2011, figures 16 to 18: a hand leans on the trunk in six directions and lets go."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Findings, near, panel, seen
from footfall.papers.ott2011 import setup

START, HOLD = 0.5, 6.0  # s
DURATION = START + HOLD + 6.5
FORWARD, LEFT, DOWN, YAW, TILT = 20.0, 25.0, 60.0, 10.0, 5.0  # N, N m; the last in roll and pitch


def run_directions() -> dict[str, ff.Recording]:
    """By direction: leaned on by a force or a torque at the trunk, and let go."""
    loads = {"x": FORWARD, "y": LEFT, "z": -DOWN, "roll": TILT, "pitch": TILT, "yaw": YAW}
    found = {}
    for (name, size), along in zip(loads.items(), np.eye(6), strict=True):
        force, torque = size * along[:3], size * along[3:]
        lean = ff.Push(setup.TRUNK, force=tuple(force), torque=tuple(torque), start=START, duration=HOLD)
        found[name] = setup.stand(DURATION, lean)
    return found


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


def judge_directions(data: dict[str, ff.Recording]) -> Findings:
    baseline, yaw = (np.degrees(np.abs(one).max()) for one in (feet_turned(data["yaw"]), turned(data["yaw"])[:, 2]))
    yield near("yaw", 0.0, baseline, yaw=yaw)
    at_floor = float((setup.commanded(data["y"]).min(axis=1) < setup.FLOOR + 1e-3).mean() * data["y"].duration)
    yield seen("longer", at_floor, holds=at_floor > 1.0)


def draw_directions(figure: Any, data: dict[str, ff.Recording]) -> None:
    axes = figure.subplots(2, 3)
    curves = []
    for c, (name, rec) in enumerate(data.items()):
        moved = 1e3 * rec.signals["com_error"][:, c] if c < 3 else np.degrees(turned(rec)[:, c - 3])
        curves.append((rec.time, moved, name))
    panel(axes[0, 0], *curves[:3], xlabel="")
    panel(axes[0, 1], *curves[3:], xlabel="")
    axes[0, 2].remove()
    setup.draw_components(axes[1], data["y"])
    setup.titled(axes, {(0, 0): "fig. 17: com error (mm)", (0, 1): "trunk turned (°)"})
    setup.titled(axes, {(1, 0): "fig. 18, in y: contact forces x (N)"})
