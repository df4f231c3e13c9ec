"""Ott 2011, figures 9 to 11: the centre of mass follows a reference, pushed at 5 s."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, near, seen
from footfall.papers.ott2011 import setup
from footfall.show.style import BLUE

AMPLITUDE = np.array([0.03, 0.05, 0.0])  # m
PERIOD = 4.0  # s
RISE = 2.0  # s, until the reference has its amplitude
PUSHED = 5.0  # s
DURATION = 9.0  # s


def reference(time: float) -> np.ndarray:
    """(3,) m, from the place at the start: a straight sway that begins softly."""
    part = min(1.0, max(0.0, time / RISE))
    return AMPLITUDE * (part * part * (3.0 - 2.0 * part)) * math.sin(2.0 * math.pi * time / PERIOD)


class Tracking(NamedTuple):
    free: ff.Recording
    pushed: ff.Recording


def run_tracking() -> Tracking:
    controller = replace(setup.BALANCE, com=reference)
    return Tracking(
        setup.stand(DURATION, controller=controller),
        setup.stand(DURATION, setup.sideways(PUSHED), controller=controller),
    )


def judge_tracking(data: Tracking) -> Findings:
    free, pushed = data.free, data.pushed
    steady = free.slice(DURATION - PERIOD).signals["com_error"]
    most = np.linalg.norm(pushed.signals["com_error"] - free.signals["com_error"], axis=1).max()
    back = setup.recovery(pushed, PUSHED + setup.LASTS, free)
    about = pushed.slice(PUSHED, PUSHED + 1.0)
    lags = setup.stance().lags(AMPLITUDE, PERIOD)
    for c, name in enumerate("xy"):
        yield near("follows", 1e3 * float(lags[c]), 1e3 * 0.5 * np.ptp(steady[:, c]), name=name)
    told = f"{1e3 * most:.1f} mm, below 2 mm after {back:.2f} s"
    yield seen("deviation", told, holds=back <= setup.IN_TIME and most < AMPLITUDE[0])
    yield seen("positive", setup.commanded(about).min(), holds=setup.commanded(pushed).min() >= setup.FLOOR - 1e-6)
    yield seen("feet", 1e3 * setup.way_of_feet(pushed), holds=setup.way_of_feet(pushed) < 1e-3)


def draw_tracking(figure: Any, data: Tracking) -> None:
    rec = data.pushed
    axes = figure.subplots(3, 3)
    for c, (name, color) in enumerate((("x", BLUE), ("y", "#222222"))):
        wanted = np.array([reference(float(t))[c] for t in rec.time])
        axes[0, 0].plot(rec.time, 1e3 * (wanted + rec.signals["com_error"][:, c]), color=color, label=name)
        axes[0, 0].plot(rec.time, 1e3 * wanted, color=color, linestyle="--", linewidth=0.8)
    axes[0, 0].set(title="fig. 9: com, dashed: desired (mm)", ylim=(-70.0, 100.0))
    axes[0, 0].legend(loc="upper left", ncols=2)
    setup.draw_wrench(axes[0, 1:], rec)
    setup.draw_components(axes[1], rec)
    axes[1, 0].set_title("fig. 10: contact forces x (N)")
    setup.draw_components(axes[2], rec.slice(PUSHED - 0.1, PUSHED + 0.6))
    axes[2, 0].set_title("fig. 11, at the push: x (N)")
    for axis in axes.ravel():
        axis.title.set_fontsize(7)
    for axis in axes[2]:
        axis.set_xlabel("time (s)")
    axes[1, 2].set_ylim(-5.0, 290.0)
    axes[1, 2].legend(loc="upper left")
