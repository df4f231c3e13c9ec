"""Which constraint rows hold, slip or are open: an active set that is guessed, checked and corrected.

A row's force is ``D (a_ref - J a)``, cut off at the row's bounds: none for an equality, plus and minus the largest
friction, or zero for limits and contacts. With the states fixed all rows are linear, and one solution gives an
acceleration. Either its rows agree with their states, or the states become those of an acceleration between the last
one and this, and it is solved again. That is Newton's method on a convex, piecewise quadratic cost, as MuJoCo's solver
has it (its manual, Computation, "Newton"), with the contact law inside; the search along the line makes it end.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined

# States: no force; D (a_ref - J a); the largest friction along the row, and against it.
OPEN, HOLDS, SLIPS_UP, SLIPS_DOWN = 0, 1, 2, 3
# Kinds of rows, numbered as MuJoCo's mjtConstraint: friction of tendons is 2, and all from limits on are one-sided.
EQUALITY, FRICTION, LIMIT = 0, 1, 3
#: Most rounds of a step; mostly one is enough.
ROUNDS = 100
#: Tolerances relative to the row's force: rounding, and after some rounds the residual of laws.
EXACT, ENOUGH, SOME = 1e-10, 1e-7, 8
#: How much less of that is allowed of the force that would stop what all forces but those of contacts accelerate: at
#: rest they cancel, and a row at its bound is left with their rounding alone.
CANCELLED = 1e-2
#: Rounds after which a law starts from its last solution, and the share of a line below which a line search stalls.
FEW, STALLED = 3, 1e-6
#: Rounds after which steps that find no lower cost go a part of the way only, since whole ones come round in a cycle.
CYCLE, DAMPED = 16, 0.5
#: Bisections of the line search.
HALVINGS = 40


@inlined
def state_for(kind, value, loss):
    """The state that a row's ``value = D (a_ref - J a)`` calls for."""
    if kind == EQUALITY:
        return HOLDS
    if kind >= LIMIT:
        return HOLDS if value > 0.0 else OPEN
    if value > loss:
        return SLIPS_UP
    return SLIPS_DOWN if value < -loss else HOLDS


@inlined
def violates(kind, state, value, loss, tolerance):
    """Whether ``value = D (a_ref - J a)`` is beyond the bounds of a row's state by more than ``tolerance``."""
    if kind == EQUALITY:
        return False
    if kind >= LIMIT:
        return value < -tolerance if state == HOLDS else value > tolerance
    if state == SLIPS_UP:
        return value < loss - tolerance
    if state == SLIPS_DOWN:
        return value > tolerance - loss
    return abs(value) > loss + tolerance


@inlined
def bounded(kind, value, loss):
    """f(v): the force of a row."""
    if kind == EQUALITY:
        return value
    if kind >= LIMIT:
        return max(0.0, value)
    return min(max(value, -loss), loss)


@inlined
def strongest_pull(world):
    """The largest of all smooth forces in the metric of the inverse inertia, sqrt(1/D_j) |tau_j|, (m/s2) sqrt(kg).

    By Cauchy and Schwarz no coordinate with the mobility w (1/kg or 1/(kg m2)) is accelerated by one of them alone by
    more than sqrt(w) times this.
    """
    strongest = 0.0
    for j in range(world.qfrc_smooth.size):
        strongest = max(strongest, abs(world.qfrc_smooth[j]) * math.sqrt(world.qLDiagInv[j]))
    return strongest
