"""Kalman's steps as the textbook computes them."""

from __future__ import annotations

import numpy as np

from footfall.logs.kalman import advance, correct


def test_numbers_measured_one_after_the_other_count_as_all_at_once():
    random = np.random.default_rng(1)
    root, ahead, rows = random.normal(size=(6, 6)), random.normal(size=(6, 6)), random.normal(size=(4, 6))
    missed, noise = random.normal(size=4), random.random(4)
    covariance, error = root @ root.T, np.zeros(6)
    expected = ahead @ covariance @ ahead.T + np.diag(np.arange(6.0))
    advance(covariance, ahead, np.arange(6.0), np.zeros((6, 6)))
    assert np.allclose(covariance, expected)
    gain = expected @ rows.T @ np.linalg.inv(rows @ expected @ rows.T + np.diag(noise))
    correct(covariance, rows, missed, noise, error, np.zeros(6))
    assert np.allclose(error, gain @ missed) and np.allclose(covariance, expected - gain @ rows @ expected)
