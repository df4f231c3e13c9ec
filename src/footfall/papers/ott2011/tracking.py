"""Ott 2011, figures 9 to 11: the centre of mass follows a reference, pushed at 5 s."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, panel, seen
from footfall.papers.ott2011 import setup

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
    pushes = ((), (setup.sideways(PUSHED),))
    return Tracking(*(setup.stand(DURATION, *push, controller=controller) for push in pushes))


def judge_tracking(data: Tracking) -> Findings:
    free, pushed = data.free, data.pushed
    most = np.linalg.norm(pushed.signals["com_error"] - free.signals["com_error"], axis=1).max()
    back = setup.recovery(pushed, PUSHED + setup.LASTS, free)
    told = f"{1e3 * most:.1f} mm, below 2 mm after {back:.2f} s"
    yield seen("deviation", told, holds=back <= setup.IN_TIME and most < AMPLITUDE[0])


def draw_tracking(figure: Any, data: Tracking) -> None:
    rec = data.pushed
    axes, wanted = figure.subplots(3, 3), 1e3 * np.array([reference(float(t)) for t in rec.time])
    found = wanted + 1e3 * rec.signals["com_error"]
    curves = ((found[:, 0], "x"), (found[:, 1], "y"), (wanted[:, 0], "x desired"), (wanted[:, 1], "y desired"))
    panel(axes[0, 0], *((rec.time, *one) for one in curves))
    setup.draw_wrench(axes[0, 1:], rec)
    setup.draw_components(axes[1], rec)
    setup.draw_components(axes[2], rec.slice(PUSHED - 0.1, PUSHED + 0.6))
    setup.titled(axes, {(0, 0): "fig. 9: com (mm)", (1, 0): "fig. 10: contact forces x (N)"})
    setup.titled(axes, {(2, 0): "fig. 11, at the push: x (N)"})
