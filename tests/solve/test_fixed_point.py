"""Anderson's acceleration solves affine fixed points in as many evaluations as their slope has rank, and one."""

from __future__ import annotations

import numpy as np
import pytest

from footfall.solve.fixed_point import DEPTH, HISTORY_ROWS, accelerate


def solved(function, size, evaluations):
    x, history, small = np.zeros(size), np.zeros((HISTORY_ROWS, size)), np.zeros((4, DEPTH, DEPTH))
    for number in range(evaluations):
        accelerate(x, function(x), number, history, small)
    return x


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("rank", [1, 3, 6])
def test_an_affine_map_is_solved_however_steep(seed, rank):
    rng = np.random.default_rng(seed)
    slope = rng.normal(size=(20, rank)) @ rng.normal(size=(rank, 20))  # taking turns diverges
    offset = rng.normal(size=20)
    x = solved(lambda x: slope @ x + offset, 20, rank + 2)
    np.testing.assert_allclose(x, slope @ x + offset, atol=1e-6 * np.abs(x).max())


@pytest.mark.parametrize("seed", range(10))
def test_pieces_are_found(seed):
    """X = max(0, A x + b) with a contracting A has one solution, and few evaluations find it."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(8, 8))
    a *= 0.9 / np.linalg.norm(a, 2)
    b = rng.normal(size=8)
    x = solved(lambda x: np.maximum(0.0, a @ x + b), 8, 40)
    np.testing.assert_allclose(x, np.maximum(0.0, a @ x + b), atol=1e-9)
