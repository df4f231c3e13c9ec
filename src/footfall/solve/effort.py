"""What solving may cost in one step: a bound counted in operations, so that it is the same on every machine.

The unit is about a nanosecond on a desktop core. A step begins with ``EFFORT``; every guess, Newton step, pivot, sweep
and round takes its cost off ``contacts.effort[0]``, and what is not solved when that is used up is called unsolved.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.solve.contacts import SLIDE

#: What solving may cost in one step.
EFFORT = 1.6e6
#: Bodies on the ground that this is for. Of more of them it is more by the square, so that a heap is solved at all.
USUAL_BODIES = 8.0
#: What one period of a motion that is integrated from event to event may cost, evaluations included: so much for each
#: millisecond, of which it has one at least; of large robots so many evaluations.
PERIOD, EVALUATIONS = 1.7e6, 40.0
#: What of this is kept for the time step that may follow instead: so much times the square of the bodies near the
#: ground, up to a bound. In random states 49 of 50 such steps cost less.
OF_BODIES, MOST_KEPT = 5e4, 1.2e6
#: Evaluations without contacts that a period may cost in any case: some ten with them, what one without events takes.
PLAIN = 30.0
#: What it costs to find the distance of a place from a plane, from another ground, and from a function of a user's.
FLAT, UNEVEN, OF_A_FUNCTION = 300.0, 500.0, 800.0
#: What is as good as no bound: a minute.
UNBOUNDED = 6e10


@inlined
def bodies_near(contacts):
    """How many bodies have points near the ground, as a float."""
    n = 0.0
    for b in range(contacts.near.size - 1):
        if contacts.near[b + 1] > contacts.near[b]:
            n += 1.0
    return n


@inlined
def for_bodies(contacts):
    """How many times the effort of a step may be had, by the bodies that are near the ground."""
    return max(1.0, (bodies_near(contacts) / USUAL_BODIES) ** 2)


@inlined
def guess_cost(problem):
    """What a guess costs of what every near point does, and more where some are braked by friction."""
    contacts, braked = problem.contacts, False
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        braked = braked or (problem.kind[p] == SLIDE and contacts.dynamic_friction[p] > 0.0)
    n = 6.0 * bodies_near(contacts)
    return 120.0 * contacts.number[0] + 100.0 * n + 6.0 * n * n + (0.6 if braked else 0.2) * n * n * n


@inlined
def newton_cost(n):
    """What a step of Newton with n unknowns costs, with the search along it."""
    return 0.5 * n * n * n + 14.0 * n * n


@inlined
def low_rank_cost(n, rank):
    """What a step of Newton on n forces costs in as many unknowns as the matrix has rank, beside trials."""
    return 200.0 + 12.0 * n + 0.12 * n * rank * rank + 0.15 * rank * rank * rank


@inlined
def trial_cost(n):
    """What it costs to try such a step."""
    return 15.0 * n + 0.3 * n * n


@inlined
def short_trial_cost(n):
    """What it costs to try a shorter one."""
    return 15.0 * n


@inlined
def pivot_cost(n):
    """What a pivot of Lemke with n unknowns costs."""
    return 0.7 * n * n


@inlined
def state_cost(slides, agreed):
    """What it costs to try a state of the feet: more where some slide, and most where their friction is not found."""
    return (15e3 if agreed else 6e4) if slides else 6e3


@inlined
def sweep_cost(points, bodies):
    """What a sweep of Gauss-Seidel over so many points costs."""
    return points * (300.0 + 20.0 * bodies)


@inlined
def round_cost(dofs, points, bodies):
    """What a round costs in which a law is asked and constraint rows are checked, beside what the law itself counts."""
    n = 6.0 * bodies
    return 1000.0 + 50.0 * dofs + 30.0 * points + 0.1 * n * n * n


@inlined
def look_cost(dofs, places, price):
    """What it costs to find how a robot moves, and how far so many places of it are from a ground of that price."""
    return 60.0 * dofs + price * places


@inlined
def rows_cost(dofs, rows, bodies):
    """What it costs to eliminate so many constraint rows, of which half hold, from the motion of bodies in contact."""
    return rows * (100.0 + 18.0 * dofs + rows * (20.0 + 0.4 * dofs + bodies))


@inlined
def impact_cost(dofs, rows, bodies):
    """What it costs to find how so many bodies in contact answer to forces, with so many constraint rows.

    A body in contact costs by the joints between it and the root.
    """
    return rows_cost(dofs, rows, bodies) + bodies * (800.0 + 85.0 * max(0.0, dofs - 6.0))


@inlined
def evaluation_cost(dofs, rows, sought, bodies, places, price):
    """What an evaluation costs, beside what the law counts; ``sought``: 1 if MuJoCo was asked which bodies touch."""
    made = 300.0 * rows + 800.0 * dofs * sought
    return 190.0 * dofs + look_cost(dofs, places, price) + impact_cost(dofs, rows, bodies) + made


@inlined
def period_cost(dofs, dt, instead):
    """What a period of ``dt`` seconds may cost that is integrated from event to event.

    Where the last one was a time step instead, this may be one, too, and has less by what that cost.
    """
    evaluation = evaluation_cost(dofs, 0.0, 0, 0.0, 0.0, 0.0)
    most = max(PERIOD, EVALUATIONS * evaluation) * max(1.0, 1e3 * dt)
    return max(most - instead, min(most, PLAIN * evaluation))


@inlined
def kept_for_time_step(contacts):
    """What a period keeps of that for the time step that may follow instead; ``contacts`` are all that are near."""
    return min(MOST_KEPT, OF_BODIES * bodies_near(contacts) ** 2)


@inlined
def affordable(left, cost, most):
    """How many things of a cost can be had."""
    return int(max(0.0, min(float(most), left / cost)))
