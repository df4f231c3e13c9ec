"""Slip: how fast and how far points slide and creep."""

from __future__ import annotations

import numpy as np

from footfall.arguments import public
from footfall.measure.common import tangential
from footfall.record import Record
from footfall.solve.contacts import OPEN, SLIDE, STICK


@public
def slip_speed(rec: Record) -> np.ndarray:
    """(T, P) m/s, speed of each point's material along the ground while it is closed, 0 while open.

    A rolling point has none; a sticking point has the creep of its law.
    """
    return np.where(rec.mode != OPEN, np.linalg.norm(tangential(rec, rec.velocity), axis=-1), 0.0)


@public
def slip_distance(rec: Record) -> np.ndarray:
    """(T, P) m, how far each point has slid since the first sample; the last row is the total.

    The length of its path along the ground, by the trapezoidal rule, over the intervals that begin in mode
    slide. What it creeps in mode stick is :func:`creep_distance`.
    """
    return _path_in(rec, SLIDE)


@public
def creep_distance(rec: Record) -> np.ndarray:
    """(T, P) m, how far each point has crept since the first sample: the length of its path in mode stick.

    Under regularised or soft friction a sticking foot drifts, at a speed that grows with the tangential load; under
    anchored or rigid friction it moves by a bounded distance only.
    """
    return _path_in(rec, STICK)


def _path_in(rec: Record, mode: int) -> np.ndarray:
    """(T, P) m, length of each point's material path along the ground, over the intervals that begin in a mode."""
    speed = np.linalg.norm(tangential(rec, rec.velocity), axis=-1)
    path = np.zeros(speed.shape)
    length = 0.5 * (speed[1:] + speed[:-1]) * np.diff(rec.time)[:, None]
    path[1:] = np.cumsum(np.where(rec.mode[:-1] == mode, length, 0.0), axis=0)
    return path
