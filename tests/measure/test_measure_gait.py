"""Phases of a walk made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from blank_recordings import DT, OPEN, blank

from footfall import measure
from footfall.measure.gait import heel_and_toe


def walk(biped):
    """Each foot: 0.6 s down, 0.4 s up, right half a stride later; heel first, toe last; 0.5 m per stride."""
    samples = 3001
    t = DT * np.arange(samples)
    front = biped.point_position[:, 0] > 0.0
    mode = np.zeros((samples, 8))
    position = np.zeros((samples, 8, 3))
    for foot, late in ((0, 0.1), (1, 0.6)):
        # In whole milliseconds: 0.6 is not a number that binary fractions keep.
        phase = np.round((t - late) / DT).astype(int) % 1000
        stride = np.round((t - late) / DT).astype(int) // 1000
        own = slice(4 * foot, 4 * foot + 4)
        heel, toe = phase < 400, (phase >= 100) & (phase < 600)
        mode[:, own] = np.where(front[own], toe[:, None], heel[:, None])
        place = 0.5 * (stride + np.maximum(phase - 600, 0) / 400)
        position[:, own, 0] = place[:, None] + biped.point_position[own, 0]
    mode[1234, 0:4] = OPEN  # chatter
    return blank(biped, samples, mode=mode, position=position)


def test_phases_find_heel_strike_flat_heel_off_and_toe_off(biped):
    phases = measure.phases(walk(biped))
    left = [s for s in phases.stances if s.foot == "left"]
    assert [s.first for s in left] == ["heel", "heel", "heel"]
    assert [left[1].strike, left[1].flat, left[1].heel_off, left[1].toe_off] == pytest.approx([1.1, 1.2, 1.5, 1.7])
    assert math.isnan(left[2].toe_off) is False
    right = [s for s in phases.stances if s.foot == "right"]
    # The recording begins within one of its stances, and ends in another.
    assert (right[0].first, right[0].start) == ("", 0.0)
    assert math.isnan(right[0].strike)
    assert right[0].toe_off == pytest.approx(0.2)
    assert math.isnan(right[-1].toe_off)
    assert [e.what for e in phases.events if e.foot == "left"][:3] == ["touches", "lifts", "touches"]


def test_heel_and_toe_are_the_ends_of_the_foot(biped, ball):
    (heel, toe), _ = heel_and_toe(blank(biped))
    assert (biped.point_position[heel, 0] < 0).all()
    assert (biped.point_position[toe, 0] > 0).all()
    assert len(heel) == len(toe) == 2
    ((heel, toe),) = heel_and_toe(blank(ball))
    assert heel.tolist() == toe.tolist() == [0]
