"""Which constraint rows hold, slip or are open: an active set that is guessed, checked and corrected.

A row's force is ``D (a_ref - J a)``, clipped to the row's bounds: none for an equality, plus and minus the largest
friction for friction, zero from below for limits and contacts. With the states fixed all rows are linear, and one
solution gives an acceleration. If all rows agree with their states there, the step is solved; otherwise a line search
between the last acceleration and this one gives new states, and the problem is solved again. That is Newton's method on
a convex, piecewise quadratic cost, as in MuJoCo's solver (its manual, Computation, "Newton"), with the contact law
inside; the line search makes it terminate.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.kinds import Bool, Float, Int, Named

# States by their force: none; D (a_ref - J a); the largest friction along the row; the largest friction against it.
OPEN, HOLDS, SLIPS_UP, SLIPS_DOWN = 0, 1, 2, 3
# Kinds of rows, numbered as MuJoCo's mjtConstraint: friction of tendons is 2, and LIMIT and above are unilateral.
EQUALITY, FRICTION, LIMIT = 0, 1, 3
#: Iteration limit of a step; one iteration usually suffices.
ROUNDS = 100
#: Tolerances of a row's force, relative to ``D (|a_ref| + |J a|)``: rounding, and after ``SOME`` iterations the
#: residual of laws.
EXACT, ENOUGH, SOME = 1e-10, 1e-7, 8
#: Weight, in the scale of that tolerance, of the force that would balance the row's acceleration by the smooth forces:
#: at rest they cancel the others, and ``J a`` holds only their rounding error.
CANCELLED = 1e-2
#: Iterations after which a law is warm-started from its last solution, and the step length below which a line search
#: has stalled.
FEW, STALLED = 3, 1e-6
#: Iterations after which contacts and rows are solved in turn, since together they may cycle.
CYCLE = 16
#: Most steps of the line search, and the rounding error of a slope, as a share of its change along the line.
HALVINGS, LEVEL = 40, 1e-12


@inlined
def state_for(kind: Int, value: Float, loss: Float) -> Int:
    """The state that agrees with a row's ``value = D (a_ref - J a)``."""
    if kind == EQUALITY:
        return HOLDS
    if kind >= LIMIT:
        return HOLDS if value > 0.0 else OPEN
    if value > loss:
        return SLIPS_UP
    return SLIPS_DOWN if value < -loss else HOLDS


@inlined
def violates(kind: Int, state: Int, value: Float, loss: Float, tolerance: Float) -> Bool:
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
def bounded(kind: Int, value: Float, loss: Float) -> Float:
    """The force of a row: ``value = D (a_ref - J a)`` clipped to its bounds."""
    if kind == EQUALITY:
        return value
    if kind >= LIMIT:
        return max(0.0, value)
    return min(max(value, -loss), loss)


@inlined
def strongest_pull(world: Named) -> Float:
    """The largest smooth force in the metric of the inverse inertia, sqrt(1/D_j) |tau_j|, (m/s2) sqrt(kg).

    By Cauchy and Schwarz a single smooth force accelerates a coordinate with the mobility w (1/kg or 1/(kg m2)) by at
    most sqrt(w) times this.
    """
    strongest = 0.0
    for j in range(world.qfrc_smooth.size):
        strongest = max(strongest, abs(world.qfrc_smooth[j]) * math.sqrt(world.qLDiagInv[j]))
    return strongest
