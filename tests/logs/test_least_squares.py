"""Forces that press, and Kalman's steps, as SciPy and the textbook compute them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from footfall.logs.least_squares import advance, correct, press, pressing, spread


def test_forces_that_press_are_those_of_scipy_wherever_they_begin():
    random, work = np.random.default_rng(0), pressing(24)
    foot = np.repeat(np.arange(3), 8)
    for _ in range(40):  # each begins where the one before it ended
        matrix, wanted = random.normal(size=(9, 24)), random.normal(size=9)
        prior = 0.05 + random.random(24)
        work.squares[:], work.right[:] = matrix.T @ matrix + np.diag(prior**2), matrix.T @ wanted
        count = press(work)
        known, _ = nnls(np.vstack([matrix, np.diag(prior)]), np.append(wanted, np.zeros(24)))
        assert np.allclose(work.x, known, atol=1e-10) and count == (known > 0.0).sum()
        ways, variance, on = random.normal(size=(24, 3)), np.zeros((3, 3)), np.sort(work.active[:count])
        spread(work, count, ways, foot, variance)
        inverse = np.linalg.inv(work.squares[np.ix_(on, on)])
        for f in range(3):
            own = ways[on] * (foot[on] == f)[:, None]
            assert np.allclose(variance[f], np.diag(own.T @ inverse @ own), rtol=1e-8)


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
