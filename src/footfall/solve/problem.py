"""A contact problem as the solvers share it: givens, unknowns and scratch space."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import Reference, inlined, reference_to
from footfall.solve.contacts import Contacts, coupled_signature
from footfall.solve.steady_feet import LeastScratch, least_scratch

#: Most points that may be chosen to carry the feet, see :mod:`footfall.solve.contact_search`.
MOST = 32
#: The end mark of their list.
NO_MORE = -1
# Of the friction of a point that slides, beside its direction: its size, N, how far it was turned last, and what it
# missed its direction by before that (sines).
FORCE, TURNED, MISSED = 3, 4, 5
#: Field of ``friction`` on a GPU: by how much Newton takes a point higher along the normal, m.
RAISED = 5


class ProblemScratch(NamedTuple):
    """The arrays of a contact problem of P points on K bodies, see :class:`Problem`."""

    free: np.ndarray
    target: np.ndarray
    missing: np.ndarray
    friction: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    chosen: np.ndarray
    moved: np.ndarray
    other: np.ndarray
    rows: np.ndarray
    local: np.ndarray
    least: LeastScratch
    floats: np.ndarray
    integers: np.ndarray


class Problem(NamedTuple):
    """Forces f are sought such that the motions ``u = free + step G f`` of P points obey the laws of contact.

    In contact frames, unless noted otherwise.
    """

    contacts: Contacts
    step: float  # what a unit of acceleration adds to a motion
    still: float  # the size below which a motion is none
    memory: np.ndarray  # (P, M) what each point did, see :mod:`footfall.solve.contact_guess`
    force: np.ndarray  # (P, 3) N, sought
    mode: np.ndarray  # (P,) sought
    free: np.ndarray  # (P, 3) motions without contact forces
    target: np.ndarray  # (P,) least normal motions
    missing: np.ndarray  # (P, 3) accelerations that would stop every point, world frame
    friction: np.ndarray  # (P, 6) of points that slide: unit vector (world frame), size in N, and its last turn
    end: np.ndarray  # (P, 6) motions under the forces, then forces that are kept aside
    kind: np.ndarray  # (P,) what each point is guessed to do: OPEN, STICK or SLIDE
    chosen: np.ndarray  # (MOST,) points that carry the feet, up to NO_MORE where the law has been asked in this step
    moved: np.ndarray  # (6K,) what forces do to the feet, or the forces on them
    other: np.ndarray  # (6K,) the same of others
    rows: np.ndarray  # (3, 6) what unit forces on a point do to its foot
    local: np.ndarray  # (3, 3) of one point or foot; of a problem that waits on a GPU, ``step`` and ``still``
    least: LeastScratch
    floats: np.ndarray  # for the problem of the chosen points, whose number changes: see :mod:`footfall.solve.delassus`
    integers: np.ndarray  # for its solution


class Dense(NamedTuple):
    """The problem of n points with its Delassus matrix written out, and the space to solve it in."""

    matrix: np.ndarray  # (3n, 3n)
    free: np.ndarray  # (n, 3)
    target: np.ndarray  # (n,)
    friction: np.ndarray  # (n,) coefficients
    impulse: np.ndarray  # (n, 3) sought; solvers begin with what it holds
    rest: np.ndarray  # (floats,) scratch
    integers: np.ndarray  # scratch


def problem_scratch(points: int, bodies: int, floats: int, integers: int) -> ProblemScratch:
    """The arrays of a contact problem, with so much scratch for the problem of the chosen points."""
    return ProblemScratch(
        free=np.zeros((points, 3)),
        target=np.zeros(points),
        missing=np.zeros((points, 3)),
        friction=np.zeros((points, 6)),
        end=np.zeros((points, 6)),
        kind=np.zeros(points, dtype=np.int64),
        chosen=np.full(MOST, NO_MORE, dtype=np.int64),
        moved=np.zeros(6 * bodies),
        other=np.zeros(6 * bodies),
        rows=np.zeros((3, 6)),
        local=np.zeros((3, 3)),
        least=least_scratch(bodies),
        floats=np.zeros(floats),
        integers=np.zeros(integers, dtype=np.int64),
    )


@inlined
def begin_problem(contacts, step, still, memory, force, mode, scratch):
    """The problem of a law in ``scratch.problem``; the law writes ``free`` and ``target``."""
    own = scratch.problem
    if contacts.number[1] == 0:
        own.chosen[0] = NO_MORE  # none in this step yet
    return Problem(
        contacts,
        step,
        still,
        memory,
        force,
        mode,
        own.free,
        own.target,
        own.missing,
        own.friction,
        own.end,
        own.kind,
        own.chosen,
        own.moved,
        own.other,
        own.rows,
        own.local,
        own.least,
        own.floats,
        own.integers,
    )


def problem_type() -> Any:
    """A problem by reference, to compiled code."""
    from numba import float64, types

    contacts, _, matrix, _, integers, *_ = coupled_signature().args
    own = reference_to(problem_scratch(1, 1, 1, 1))
    kinds = {"contacts": contacts, "step": float64, "still": float64, "memory": matrix, "force": matrix}
    kinds |= {"mode": integers} | {name: own.field(name) for name in ProblemScratch._fields}
    return Reference(types.NamedTuple([kinds[name] for name in Problem._fields], Problem))
