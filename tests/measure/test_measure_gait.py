"""Phases and strides of a walk made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from blank_recordings import DT, OPEN, blank

from footfall import measure


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
    assert [e.kind for e in phases.events if e.foot == "left"][:5] == [
        "strike",
        "flat",
        "heel off",
        "toe off",
        "strike",
    ]
    assert phases.flight == ()
    assert phases.contact.shape == (3001, 2)
    assert phases.contact[1234, 0]


def test_flight_is_when_no_foot_is_down(biped):
    mode = np.ones((500, 8))
    mode[100:200] = OPEN
    mode[480:] = OPEN
    flight = measure.phases(blank(biped, 500, mode=mode)).flight
    assert np.array(flight) == pytest.approx(np.array([[0.1, 0.2], [0.48, 0.499]]))


def test_strides_have_the_numbers_the_walk_was_made_with(biped):
    strides = measure.strides(walk(biped))
    assert [s.foot for s in strides] == ["left", "right", "left", "right"]
    for stride in strides:
        assert stride.time == pytest.approx(1.0)
        assert stride.length == pytest.approx(0.5)
        assert stride.speed == pytest.approx(0.5)
        assert stride.cadence == pytest.approx(120.0)
        assert stride.duty_factor == pytest.approx(0.6)


def test_heel_and_toe_are_the_ends_of_the_foot(biped, ball):
    (heel, toe), _ = measure.heel_and_toe(blank(biped))
    assert (biped.point_position[heel, 0] < 0).all()
    assert (biped.point_position[toe, 0] > 0).all()
    assert len(heel) == len(toe) == 2
    ((heel, toe),) = measure.heel_and_toe(blank(ball))
    assert heel.tolist() == toe.tolist() == [0]
