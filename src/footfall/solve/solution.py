"""What every solver returns, and the checks of its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from footfall.errors import SolveError


class Status(StrEnum):
    """How a solver ended."""

    SOLVED = "solved"
    RAY = "ends in a ray"
    LIMIT = "iteration limit"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Status.SOLVED: "The problem is solved to the residual stated.",
    Status.RAY: "Lemke's path ends in a ray. If the matrix is copositive-plus, as semi-definite ones are, the problem "
    "has no solution; any other may have solutions that this path does not lead to.",
    Status.LIMIT: "The allowed iterations did not suffice; the residual says how far from a solution this is.",
}
#: The codes of solvers as statuses.
STATUSES = (Status.SOLVED, Status.RAY, Status.LIMIT)


@dataclass(frozen=True)
class Solution:
    """Unknowns ``z``, their complements ``w``, and the residual.

    For a linear complementarity problem both are (n,), and ``residual`` is the largest ``|min(z, w)|``. For a contact
    problem z are impulses and w velocities, (P, 3); see :func:`footfall.solve.cone_residual`.
    """

    z: np.ndarray
    w: np.ndarray
    residual: float
    iterations: int
    status: Status

    @property
    def solved(self) -> bool:
        return self.status is Status.SOLVED


def as_floats(value: Any, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
    """An argument as a new contiguous array of a shape (None: any length), or an error that says what is wrong."""
    try:
        array = np.array(value, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise SolveError(f"{name} must be an array of numbers: {error}") from error
    if array.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("any" if want is None else str(want) for want in shape)
        raise SolveError(f"{name} has the shape {array.shape} but must have ({wanted})")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise SolveError(f"{name} must be finite, but {name}[{', '.join(map(str, where))}] is {array[where]}")
    return array


def as_square(value: Any, name: str) -> np.ndarray:
    """A square matrix of numbers."""
    matrix = as_floats(value, name, (None, None))
    if matrix.shape[0] != matrix.shape[1]:
        raise SolveError(f"{name} must be square, but has the shape {matrix.shape}")
    return matrix
