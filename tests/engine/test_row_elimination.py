"""Constraint rows over several dofs, eliminated: fewer than dofs, as many, and more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from plain_python import plainly

from footfall.engine.constraints import row_elimination
from footfall.engine.constraints.shared_rows import make_shared_rows
from footfall.solve.contacts import ALL, NOTHING, write_mobility

DOFS, FEET = 7, 2


class World(NamedTuple):
    qLDiagInv: np.ndarray  # (nv,)


@pytest.mark.parametrize("held", [3, DOFS, DOFS + 1, 20])
def test_rows_that_hold_answer_as_the_schur_complement_says(held):
    """Their forces are the solution of S f = r, and the feet's mobility is the Schur complement, to rounding."""
    rng = np.random.default_rng(held)
    rows = make_shared_rows(SimpleNamespace(nv=DOFS), 24)
    world = World(rng.uniform(0.5, 3.0, DOFS))
    half = rng.normal(size=(FEET, DOFS, 8))
    rows.half[:held], rows.inertia[:held] = rng.normal(size=(held, DOFS)), rng.uniform(5.0, 50.0, held)
    rows.holding[:held], rows.number[:] = np.arange(held), (held, held, 0)
    b, weight = rows.half[:held].T, np.diag(world.qLDiagInv)
    small = b.T @ weight @ b + np.diag(1.0 / rows.inertia[:held])
    plainly(row_elimination.factor_rows)(world, rows)

    lack, x = rng.normal(size=held), rng.normal(size=DOFS)
    rows.residual[:held] = lack
    force = np.linalg.solve(small, lack)
    changed = x.copy()
    plainly(row_elimination.find_answer)(rows, changed)
    np.testing.assert_allclose(rows.residual[:held], force, atol=1e-10 * np.abs(force).max())
    np.testing.assert_allclose(changed, x + b @ force, atol=1e-12 * np.abs(b @ force).max() + 1e-12)

    h = np.concatenate(list(half[:, :, :6]), axis=1)
    free, coupled = h.T @ weight @ h, b.T @ weight @ h
    response = np.zeros((FEET, DOFS + held, 8))
    response[:, :DOFS], columns = half, np.concatenate([world.qLDiagInv, np.zeros(held)])
    contacts = SimpleNamespace(
        near=np.array([0, 2, 3]), mobility=np.zeros_like(free), response=response, weight=columns
    )
    contacts.number = np.array([3, 0, DOFS, 0, NOTHING])
    chain = np.tile(np.arange(DOFS), (FEET, 1))
    points = SimpleNamespace(body=np.zeros(FEET), chain=chain, chain_length=np.full(FEET, DOFS))
    plainly(row_elimination.write_row_columns)(world, points, contacts, rows)
    plainly(write_mobility)(contacts, ALL)
    wanted = free - coupled.T @ np.linalg.solve(small, coupled)
    np.testing.assert_allclose(contacts.mobility, wanted, atol=1e-12 * np.abs(free).max())
