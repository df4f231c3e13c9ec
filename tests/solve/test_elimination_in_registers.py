"""Elimination by lanes that tell each other numbers, by 32 coroutines that do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from greenlet import getcurrent
from taking_turns import Lane, take_turns

from footfall.solve.together.desk import LANES
from footfall.solve.together.registers import eliminator, fits, rows_eliminator


class Warp:
    """Lanes with the functions of Numba's CUDA by which they tell each other numbers."""

    def __init__(self) -> None:
        self.told: list[Any] = [None] * LANES
        setattr(self, "ballot_sync", self.vote)  # noqa: B010 - code that is made from text calls it
        self.libdevice = SimpleNamespace(double2hiint=lambda x: np.int32(np.float64(x).view(np.int64) >> 32))

    def tell(self, value: Any) -> list[Any]:
        self.told[getcurrent().number] = value
        self.syncwarp()
        heard = list(self.told)
        self.syncwarp()
        return heard

    def shfl_sync(self, mask: int, value: Any, lane: int) -> Any:
        return self.tell(value)[lane]

    def shfl_xor_sync(self, mask: int, value: Any, distance: int) -> Any:
        return self.tell(value)[getcurrent().number ^ distance]

    def vote(self, mask: int, chosen: bool) -> int:
        return sum(1 << lane for lane, one in enumerate(self.tell(bool(chosen))) if one)

    def ffs(self, bits: int) -> int:
        return (bits & -bits).bit_length()

    def syncwarp(self) -> None:
        getcurrent().syncthreads()

    def run(self, function: Callable[[int], bool]) -> bool:
        """What all lanes give."""
        found: list[Any] = [None] * LANES

        def run_lane(number: int) -> None:
            found[number] = function(number)

        take_turns([Lane(partial(run_lane, number), number) for number in range(LANES)])
        assert found[0] is not None and len(set(found)) == 1
        return found[0]


@pytest.mark.parametrize(("feet", "near"), [(1, 1), (2, 1), (2, 2), (4, 3), (5, 5)])
def test_lanes_solve_equations_of_the_feet_that_are_near(feet, near):
    rng, warp, size, n = np.random.default_rng(near), Warp(), 6 * feet, 6 * near
    desk = SimpleNamespace(system=np.full((2, size, size + 1), np.nan), moved=np.zeros(size))
    matrix, right = rng.normal(size=(n, n)), rng.normal(size=n)
    matrix[0, 0] = 0.0  # not without another pivot
    desk.system[0, :n, :n], desk.system[0, :n, n] = matrix, right
    solve = eliminator(warp, size)
    assert warp.run(lambda lane: solve(lane, n, 1e-11, desk))
    # Rounding grows with the condition of the matrix; a hundred roundings of each number.
    bound = 100 * np.finfo(float).eps * np.linalg.cond(matrix) * np.abs(np.linalg.solve(matrix, right)).max()
    assert np.abs(desk.moved[:n] - np.linalg.solve(matrix, right)).max() < bound
    desk.system[0, 3, : n + 1] = desk.system[0, 1, : n + 1]
    assert not warp.run(lambda lane: solve(lane, n, 1e-11, desk))


@pytest.mark.parametrize(("feet", "n", "first", "more"), [(1, 6, 3, 3), (2, 12, 6, 6), (2, 5, 0, 0), (4, 19, 10, 2)])
def test_rows_with_friction_are_eliminated_after_those_without(feet, n, first, more):
    """In two turns, as rows are in a search; the second has more right sides, in the columns that the first is done
    with and after the last.
    """
    rng, warp, size = np.random.default_rng(n), Warp(), 6 * feet
    root = rng.normal(size=(n, n))
    matrix, right, others = root @ root.T + np.eye(n), rng.normal(size=n), rng.normal(size=(n, more + 1))
    desk = SimpleNamespace(pair=np.full((2, size, size + 2), np.nan), diagonal=np.ones(size))
    eliminate = rows_eliminator(warp, size)
    desk.pair[0, :n, :n], desk.pair[0, :n, n] = matrix, right
    assert warp.run(lambda lane: eliminate(lane, desk, 0, first, n, 1e-11, 0))
    rest = desk.pair[first & 1, :n, first : n + 1].copy()
    others[:first] = 0.0  # in rows with friction alone, as what loads change of it
    desk.pair[0, :n, first : n + 1] = rest
    if more > 0:
        desk.pair[0, :n, :more], desk.pair[0, :n, n + 1] = others[:, :-1], others[:, -1]
    assert warp.run(lambda lane: eliminate(lane, desk, first, n, n, 1e-11, more))
    found = desk.pair[(n - first) & 1, :n]
    bound = 100 * np.finfo(float).eps * np.linalg.cond(matrix)
    assert np.abs(found[:, n] - np.linalg.solve(matrix, right)).max() < bound
    if more > 0:
        known = np.linalg.solve(matrix, others)
        assert np.abs(found[:, :more] - known[:, :-1]).max() < bound
        assert np.abs(found[:, n + 1] - known[:, -1]).max() < bound


def test_a_pivot_that_is_not_above_the_tolerance_ends_it_for_all_lanes():
    warp = Warp()
    desk = SimpleNamespace(pair=np.zeros((2, 6, 8)), diagonal=np.ones(6))
    desk.pair[0, :6, :6] = 1.0
    eliminate = rows_eliminator(warp, 6)
    assert not warp.run(lambda lane: eliminate(lane, desk, 0, 6, 6, 1e-11, 0))


def test_a_lane_has_a_row_of_five_feet_at_most():
    assert fits(30) and not fits(36)
