"""The contact problem that rigid and prescribed-acceleration laws share, on the exact Coulomb cone.

Motions of the points (velocities at the end of a step, or accelerations less the wanted ones) are ``u = free + step G
f`` with the Delassus matrix G. A solution has ``0 <= u_n - target _|_ f_n >= 0`` and friction inside the cone; where
``u_t`` is not zero, friction opposes it and lies on the cone. A law writes ``free``, ``target`` and, where it knows
which way a point slides, ``slip``; the solvers find the forces (:mod:`footfall.solve.contact_problem`).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from footfall.compiled import inlined
from footfall.kinds import Bool, Float, Int, IntMatrix, Ints, Matrix, Named, Tensor, Vector, zeros
from footfall.solve.contacts import Contacts
from footfall.solve.gather import gather
from footfall.solve.held_feet import HeldScratch, held_scratch

#: Target (least normal motion) of points that are not constrained.
ANY = -1e12
#: Compliance of contacts, relative to the mobility of the most mobile point. It makes the forces of points that share a
#: body unique, those of least norm, and leaves them nine digits of accuracy.
COMPLIANCE = 1e-9
#: Column of a point's memory with its mode in the last step, and the number of columns.
MODE = 0
MEMORY_SIZE = 1


class Size(NamedTuple):
    """The numbers that determine the size of a law's scratch arrays."""

    points: int
    bodies: int  # that carry points
    columns: int  # of ``contacts.response``: the robot's degrees of freedom, and constraint rows

    def lengths(self) -> dict[str, int]:
        """Lengths of arrays by the names in their annotations."""
        points, bodies, columns = self
        return {"P": points, "3P": 3 * points, "K": bodies, "6K": 6 * bodies, "N": columns}


class NewtonScratch(NamedTuple):
    """Scratch of Newton's method for P points on K bodies of a robot with N degrees of freedom.

    See :mod:`footfall.solve.newton`.
    """

    number: Annotated[Ints, "N"]  # column of S that each column of ``contacts.response`` becomes, or -1
    sign: Annotated[Vector, "N"]  # of each column of S, 1 or -1
    motions: Annotated[Tensor, "K", 6, "N"]  # S of each body, without zero columns
    support: Annotated[IntMatrix, "K", "N"]  # indices of these columns
    width: Annotated[Ints, "K"]  # number of these columns
    moved: Annotated[Matrix, "K", 6]  # motion of each body
    delassus: Annotated[Matrix, "N", "N"]  # W, if it has at most N rows
    matrix: Annotated[Matrix, "N", "N"]  # of the linear system of a step
    right: Annotated[Vector, "N"]  # its right side and its solution
    block: Annotated[Matrix, 6, 6]  # G^T E G of one body
    lifted: Annotated[Matrix, 6, "N"]  # that times S
    levers: Annotated[Matrix, "3P", 6]  # G
    turned: Annotated[Matrix, "3P", 6]  # E G
    impulse: Annotated[Matrix, "P", 3]  # z, in units of ``Scale.size``
    motion: Annotated[Matrix, "P", 3]  # u, likewise
    residual: Annotated[Matrix, "P", 3]  # z less its projection
    step: Annotated[Matrix, "P", 3]
    centre: Annotated[Matrix, "P", 3]  # the iterate about which the problem is softened
    best: Annotated[Matrix, "P", 3]
    slope: Annotated[Matrix, "P", 5]  # E: across and along the slip, normal; direction of friction, zero if it sticks
    weight: Annotated[Vector, "P"]  # r, the impulse per motion that stops a point alone
    friction: Annotated[Vector, "P"]  # coefficient
    shrink: Annotated[Vector, "P"]  # friction of a point over the friction that would hold it, at most one
    pressed: Annotated[Ints, "P"]  # 1 for points whose normal impulse is positive


def newton_scratch(size: Size) -> NewtonScratch:
    """The arrays of :class:`NewtonScratch`."""
    return zeros(NewtonScratch, size.lengths())


class ProblemScratch(NamedTuple):
    """The arrays of a contact problem of P points on K bodies, see :class:`Problem`."""

    free: Annotated[Matrix, "P", 3]
    target: Annotated[Vector, "P"]
    slip: Annotated[Matrix, "P", 2]
    end: Annotated[Matrix, "P", 3]
    wanted: Annotated[Matrix, "P", 3]
    kind: Annotated[Ints, "P"]
    moved: Annotated[Vector, "6K"]
    other: Annotated[Vector, "6K"]
    rows: Annotated[Matrix, 3, 6]
    local: Annotated[Matrix, 3, 3]
    report: Annotated[Matrix, 2, 3]
    friction: Annotated[Matrix, "P", 2]
    held: HeldScratch
    newton: NewtonScratch


class Problem(NamedTuple):
    """A contact problem: data, unknowns and scratch; in contact frames, unless noted otherwise."""

    contacts: Contacts
    step: float  # change of a motion per unit acceleration
    still: float  # motions smaller than this count as rest
    memory: Matrix  # (P, M) of each point, from the last step
    force: Matrix  # (P, 3) N, unknown; holds the forces of the last step as a start
    mode: Ints  # (P,) unknown
    free: Matrix  # (P, 3) motions without contact forces
    target: Vector  # (P,) least normal motions
    slip: Matrix  # (P, 2) direction in which a point slides, where the law knows it, and zero elsewhere
    end: Matrix  # (P, 3) motions under the forces, unknown
    wanted: Matrix  # (P, 3) accelerations that would stop every point, world frame; forces of a trial
    kind: Ints  # (P,) scratch
    moved: Vector  # (6K,) accelerations of the bodies under the forces
    other: Vector  # (6K,) scratch
    rows: Matrix  # (3, 6) wrenches of unit forces on a point
    local: Matrix  # (3, 3) motion of a point per unit force on it
    report: Matrix  # (2, 3) of a problem queued on a GPU: step, still, tries; found, iterations, residual
    friction: Matrix  # (P, 2) of such a problem: static and dynamic friction, which the law may have changed
    held: HeldScratch
    newton: NewtonScratch


def problem_scratch(size: Size) -> ProblemScratch:
    """The arrays of a contact problem."""
    return zeros(ProblemScratch, size.lengths(), held=held_scratch(size.bodies), newton=newton_scratch(size))


class ContactScratch(NamedTuple):
    """Scratch of a law that solves a contact problem and needs no other."""

    problem: ProblemScratch


_given = ("contacts", "step", "still", "memory", "force", "mode")
#: Makes a problem from its arguments and the scratch arrays ``own`` of a law.
problem_in = gather(Problem, {**dict.fromkeys(_given), "own": ProblemScratch})


@inlined
def begin_problem(
    contacts: Contacts, step: Float, still: Float, memory: Matrix, force: Matrix, mode: Ints, scratch: Named
) -> Problem:
    """The problem of a law in ``scratch.problem``; the law writes ``free`` and ``target``, and may write ``slip``."""
    return problem_in(contacts, step, still, memory, force, mode, scratch.problem)


@inlined
def known_slip(problem: Problem, p: Int) -> Bool:
    """Whether the law knows which way a point slides."""
    return problem.slip[p, 0] != 0.0 or problem.slip[p, 1] != 0.0
