"""Ott 2011, figures 6 to 8: 70 N sideways at the hip for 50 ms, and twice that."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, seen, unlike
from footfall.papers.ott2011 import setup
from footfall.standing import at_home

START = 0.2  # s
DURATION = START + setup.LASTS + setup.IN_TIME + 0.25
HARDER = 2.0 * setup.FORCE  # N


class Lateral(NamedTuple):
    paper: ff.Recording  # with the paper's push
    harder: ff.Recording  # twice as strong


def run_lateral() -> Lateral:
    return Lateral(*(setup.stand(DURATION, setup.sideways(START, force)) for force in (setup.FORCE, HARDER)))


def com_above(robot: ff.Robot) -> float:
    """Height (m) of the robot's centre of mass above that of its trunk."""
    data = at_home(robot)
    return float(data.subtree_com[1, 2] - data.body(setup.TRUNK).xipos[2])


def judge_lateral(data: Lateral) -> Findings:
    """The centre of mass comes back, by a wrench that turns the robot back, and vertical forces have a floor."""
    rec = data.paper
    x, y, z = np.abs(rec.signals["desired_wrench"][:, 3:]).max(axis=0)
    own = setup.FORCE * (setup.HIP - com_above(rec.robot))
    away, time = float(np.abs(rec.signals["com_error"][:, 1]).max()), setup.recovery(rec, START + setup.LASTS)
    lowest, harder = setup.commanded(rec), float(setup.commanded(data.harder).min())
    found = f"{lowest.min():.3g} N at {rec.time[int(lowest.min(axis=1).argmin())]:.3f} s"
    yield seen("gives-way", f"{1e3 * away:.1f} mm, below 2 mm after {time:.2f} s", holds=time <= setup.IN_TIME)
    yield seen("counter", f"{x:.2g}, {y:.2g}, {z:.2g} N m", holds=x > max(5.0 * y, 5.0 * z, 0.1 * own), own=own)
    yield unlike("floor-at-the-hip", found, least=harder)


def draw_lateral(figure: Any, data: Lateral) -> None:
    axes = figure.subplots(4, 3)
    for size, rec, top, bottom in ((setup.FORCE, data.paper, *axes[:2]), (HARDER, data.harder, *axes[2:])):
        setup.draw_error(top[0], rec)
        top[0].set_ylabel(f"{size:g} N")
        setup.draw_wrench(top[1:], rec)
        setup.draw_components(bottom, rec)
    setup.titled(axes, {(0, 0): "fig. 6: com error (mm)", (0, 1): "fig. 7: object force less weight (N)"})
    setup.titled(axes, {(1, 0): "fig. 8: contact forces x (N)"})
    for axis in axes.ravel():
        axis.set_xlim(0.1, 1.5)
