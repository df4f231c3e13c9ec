"""What a foot does while it sticks and slides, and the phases a to f of Bruneau 1999, section 4.1.3."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import footfall as ff
from footfall.errors import RecordingError
from footfall.papers.bruneau1999.man import LAW
from footfall.solve.contacts import OPEN, SLIDE

#: Below this share of the static coefficient, a foot that sticks counts as steady.
STEADY = 0.02
NAMES = {
    "a": "steady state",
    "b": "adherence",
    "c": "adherence to sliding",
    "d": "sliding",
    "e": "sliding to adherence",
    "f": "new steady state",
}


class Phase(NamedTuple):
    """One of the paper's phases: its letter, and from when to when (s)."""

    letter: str
    start: float
    end: float


class Foot(NamedTuple):
    """What a foot does, T samples."""

    normal: np.ndarray  # (T,) N
    tangential: np.ndarray  # (T,) N, to the left
    ratio: np.ndarray  # (T,) lambda_g of eq. 37, NaN without load
    speed: np.ndarray  # (T,) m/s, mean of its points, to the left
    viscous: np.ndarray  # (T,) share of the ratio that eq. 22's viscous part gives
    miss: np.ndarray  # (T,) largest difference, over its points, of ratio and eq. 22
    sliding: np.ndarray  # (T, points)
    loaded: np.ndarray  # (T, points)


def look(rec: ff.Recording, foot: str) -> Foot:
    """What a foot of a recording does."""
    own = rec.foot(foot)
    force, velocity, mode = rec.force[:, own], rec.velocity[:, own], rec.mode[:, own]
    total = force.sum(axis=1)
    normal = np.where(total[:, 2] > 0.0, total[:, 2], np.nan)
    along = np.linalg.norm(force[:, :, :2], axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        speed = np.einsum("tpi,tpi->tp", velocity[:, :, :2], force[:, :, :2]) / along  # V_t, along the friction
        drag = np.where(mode == SLIDE, -float(LAW.mu_ts or 0.0) * speed, 0.0)
        miss = np.abs(along - rec.ground.dynamic_friction * force[:, :, 2] - drag) / force[:, :, 2]
    return Foot(
        normal=total[:, 2],
        tangential=total[:, 1],
        ratio=np.linalg.norm(total[:, :2], axis=1) / normal,
        speed=velocity[:, :, 1].mean(axis=1),
        viscous=drag.sum(axis=1) / normal,
        miss=np.where(mode == SLIDE, miss, 0.0).max(axis=1),
        sliding=mode == SLIDE,
        loaded=mode != OPEN,
    )


def sliding_phases(rec: ff.Recording, foot: str) -> list[Phase]:
    """The phases of section 4.1.3 that a foot goes through, from modes and forces; only the first slide is listed.

    a steady, b adherence under load, c the blend to sliding, d sliding, e from the first point that sticks again to the
    end of the last one's blend, f adherence after that.
    """
    if not isinstance(rec.law, ff.contact.Distributed):
        raise RecordingError(
            f"the phases of sliding are those of law distributed, and this recording is of {rec.law.name}"
        )
    one = look(rec, foot)
    time, end = rec.time, float(rec.time[-1])
    pulled = np.flatnonzero(one.ratio > STEADY * rec.ground.static_friction)
    some: np.ndarray = np.asarray(one.sliding.any(axis=1))
    slides = np.flatnonzero(some)
    begin = float(time[pulled[0]]) if pulled.size else end
    if not slides.size:
        return _kept([("a", 0.0, begin), ("b", begin, end)])
    onset = float(time[slides[0]])
    blended = min(end, onset + rec.law.t_slide)
    sticks = np.flatnonzero((one.loaded & ~one.sliding).any(axis=1) & (np.arange(len(rec)) > slides[0]))
    back = float(time[sticks[0]]) if sticks.size else end
    still = np.flatnonzero(~some[slides[0] :])
    last = float(time[slides[0] + still[0]]) + rec.law.t_stick if still.size else end
    edges = [("a", begin), ("b", onset), ("c", min(blended, back)), ("d", back), ("e", min(last, end)), ("f", end)]
    start = float(time[0])
    phases = []
    for letter, stop in edges:
        phases.append((letter, start, stop))
        start = stop
    return _kept(phases)


def _kept(phases: list[tuple[str, float, float]]) -> list[Phase]:
    return [Phase(*one) for one in phases if one[2] > one[1]]
