"""Recordings: values that answer questions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from blank_recordings import DT, blank

from footfall.errors import RecordingError, SimulationError
from footfall.record import COLUMNS


def test_arrays_are_read_only(rec):
    for name in COLUMNS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(rec, name)[...] = 0
    with pytest.raises(ValueError, match="read-only"):
        rec.cop[...] = 0
    with pytest.raises(TypeError):
        rec.info["seed"] = 4


def test_an_array_of_the_wrong_shape_is_named(biped):
    with pytest.raises(RecordingError, match=r"'gap' has shape \(5, 7\) but \(time, point\) is \(5, 8\)"):
        blank(biped, gap=np.zeros((5, 7)))


def test_it_tells_itself_in_a_line(rec, biped):
    assert repr(rec) == (
        "Recording(spatial-biped on slope, law linearizing-penalty, 0.049 s, 50 samples, dt 0.001 s, "
        "failed: diverged at t = 0.049 s)"
    )
    assert repr(blank(biped)).endswith("dt 0.001 s)")
    assert (len(rec), rec.duration) == (50, pytest.approx(0.049))


def test_check_raises_the_failures_sentence_and_carries_the_recording(rec, biped):
    with pytest.raises(SimulationError, match=r"diverged at t = 0\.049 s, joint left_knee") as caught:
        rec.check()
    assert caught.value.recording is rec
    assert str(rec.failure) == rec.failure.message
    whole = blank(biped)
    assert whole.check() is whole


def test_slice_takes_samples_by_time(rec):
    part = rec.slice(0.01, 0.02)
    assert part.time == pytest.approx(0.01 + DT * np.arange(10))
    assert np.array_equal(part.force, rec.force[10:20], equal_nan=True)
    assert part.failure is None  # it happened later
    assert rec.slice(0.03).failure is rec.failure
    assert len(rec.slice()) == 50
    assert len(rec.slice(5.0, 6.0)) == 0
    # 0.1 + 0.2 is not 0.3 ...
    assert len(rec.slice(0.001 + 0.002, 0.004)) == 1
    with pytest.raises(RecordingError, match="cannot slice from 2 s to 1 s"):
        rec.slice(2.0, 1.0)


def test_points_of_a_foot_go_by_its_name(rec):
    assert (rec.foot("left"), rec.foot("right")) == (slice(0, 4), slice(4, 8))
    with pytest.raises(RecordingError, match="no foot 'lefft': did you mean 'left'"):
        rec.foot("lefft")


def test_forces_add_up_by_foot_and_in_all(biped):
    force = np.zeros((5, 8, 3))
    force[:, :4], force[:, 4:] = [1.0, 0.0, 10.0], [0.0, 2.0, 5.0]
    rec = blank(biped, force=force)
    assert np.array_equal(rec.foot_force[2], [[4.0, 0.0, 40.0], [0.0, 8.0, 20.0]])
    assert np.array_equal(rec.total_force[2], [4.0, 8.0, 60.0])


def test_summary_has_the_numbers_of_a_known_run(biped):
    force = np.zeros((5, 8, 3))
    force[:, :, 2] = biped.weight / 8
    force[3, :, 2] *= 2.0
    gap = np.zeros((5, 8))
    gap[1, 6] = -0.002
    velocity = np.zeros((5, 8, 3))
    velocity[:, 0, 0] = 0.5
    mode = np.ones((5, 8))
    mode[:, 0] = 2
    got = blank(biped, force=force, gap=gap, velocity=velocity, mode=mode).summary()
    assert got["peak_vertical_force_bw"] == pytest.approx(2.0)
    assert got["mean_vertical_force_N"] == pytest.approx(1.2 * biped.weight)
    assert got["max_penetration_m"] == pytest.approx(0.002)
    assert got["slip_distance_m"] == pytest.approx(0.5 * 4 * DT)
    assert (got["samples"], got["fell"], got["failed"], got["failure"]) == (5, False, False, "")
    json.dumps(got)
