"""The record of points of bodies other than feet: kept by place, and only while a point has one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class OtherTape(NamedTuple):
    """Samples of the places for points not on feet, place by place; memory is used where something is written."""

    who: np.ndarray  # (S, T) one more than the number of the point that has the place, 0 if none
    force: np.ndarray  # (S, T, 3) N, world frame, mean until the next sample
    peak_force: np.ndarray  # (S, T, 3) N, world frame, in the step in which the point carries most
    position: np.ndarray  # (S, T, 3) m, world frame
    velocity: np.ndarray  # (S, T, 3) m/s, world frame
    normal: np.ndarray  # (S, T, 3) unit vectors, world frame
    gap: np.ndarray  # (S, T) m
    mode: np.ndarray  # (S, T)


def make_other_tape(places: int, samples: int) -> OtherTape:
    """Room for a recording."""
    return OtherTape(
        who=np.zeros((places, samples), dtype=np.int32),
        force=np.zeros((places, samples, 3)),
        peak_force=np.zeros((places, samples, 3)),
        position=np.zeros((places, samples, 3)),
        velocity=np.zeros((places, samples, 3)),
        normal=np.zeros((places, samples, 3)),
        gap=np.zeros((places, samples)),
        mode=np.zeros((places, samples), dtype=np.int8),
    )


def larger_tape(tape: OtherTape, places: int, samples: int) -> OtherTape:
    """The same with room for more places and samples."""
    had, have = tape.who.shape
    if had >= places and have >= samples:
        return tape
    larger = make_other_tape(max(had, places), max(have, samples))
    for place in np.flatnonzero(tape.who.any(axis=1)):  # the others have taken no memory, and shall not
        for new, old in zip(larger, tape, strict=True):
            new[place, :have] = old[place]
    return larger
