"""A contact problem as the solvers share it: what is given, what is sought, and the space to find it in."""

from __future__ import annotations

from typing import Any, NamedTuple

from footfall.compiled import Reference, inlined
from footfall.solve.contacts import coupled_signature

#: Points that may be chosen to carry the feet, see :mod:`footfall.solve.contact_search`.
MOST = 32


class Problem(NamedTuple):
    """Forces f are sought under which the motions ``u = free + step G f`` of P points are those of contact.

    In contact frames, but where it says otherwise.
    """

    contacts: Any  # :class:`footfall.solve.contacts.Contacts`
    step: float  # what a unit of acceleration adds to a motion
    still: float  # the size below which a motion is none
    memory: Any  # (P, M) what each point did, see :mod:`footfall.solve.contact_guess`
    force: Any  # (P, 3) N, sought
    mode: Any  # (P,) sought
    free: Any  # (P, 3) motions without contact forces
    target: Any  # (P,) least normal motions
    missing: Any  # (P, 3) accelerations that would stop every point, world frame
    friction: Any  # (P, 6) of points that slide: unit vector (world frame), size in N, and how it was turned
    end: Any  # (P, 6) motions under the forces, then forces that are kept aside
    kind: Any  # (P,) what each point is guessed to do: OPEN, STICK or SLIDE
    chosen: Any  # (MOST,) points that carry the feet
    integers: Any  # scratch for the solution of the chosen points
    work: Any  # (rows, 6K) scratch


class Dense(NamedTuple):
    """The problem of n points with its Delassus matrix written out, and the space to solve it in."""

    matrix: Any  # (3n, 3n)
    free: Any  # (n, 3)
    target: Any  # (n,)
    friction: Any  # (n,) coefficients
    impulse: Any  # (n, 3) sought; solvers begin with what it holds
    rest: Any  # (floats,) scratch
    integers: Any  # scratch


@inlined
def begin_problem(contacts, step, still, memory, force, mode, work, marks):
    """The problem of a law in its scratch space; the law writes ``free`` and ``target``."""
    points = contacts.gap.size
    rows = work.shape[0] - 5 * points
    return Problem(
        contacts,
        step,
        still,
        memory,
        force,
        mode,
        work[rows + 2 * points : rows + 3 * points],
        work[rows + 3 * points : rows + 4 * points, 0],
        work[rows : rows + points],
        work[rows + points : rows + 2 * points],
        work[rows + 4 * points :],
        marks[:points],
        marks[points : points + MOST],
        marks[points + MOST :],
        work,
    )


def problem_type() -> Any:
    """A problem by reference, to compiled code."""
    from numba import float64, types

    contacts, _, matrix, _, integers, *_ = coupled_signature().args
    target = types.Array(float64, 1, "A")
    kinds = {"contacts": contacts, "step": float64, "still": float64, "target": target}
    kinds |= dict.fromkeys(("mode", "kind", "chosen", "integers"), integers)
    return Reference(types.NamedTuple([kinds.get(name, matrix) for name in Problem._fields], Problem))
