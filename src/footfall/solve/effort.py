"""What a step may cost: a bound counted in operations, so that it is the same on every machine.

The unit is about a nanosecond on one core of a server (Neoverse N1), where each kind of work was timed over small and
large problems: most take 0.8 to 1.2 of it. A step may cost so many steps of the robot as it stands (by what is counted
36, by time at most 50), and no more than ``EFFORT``. What is left of that beside the evaluation is for solving: every
guess, step, pivot, sweep and round takes its cost off ``contacts.effort[0]``, and what is not solved when that is used
up is called unsolved.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.solve.contacts import SLIDE, STICK

#: What a step may cost: so many of the robot as it stands on a plane, and no more than so much; and the share of that
#: which solving has in any case.
STANDING_STEPS, EFFORT, SOLVING = 36.0, 1.3e6, 0.4
#: What one period of a motion that is integrated from event to event may cost, for each millisecond, of which it has
#: one at least: so many steps of the robot as it stands on a plane, no less than so much, and no more than that. A body
#: alone may cost the most in any case: its bounces without end are followed to the last.
STANDING_PERIODS, LEAST_PERIOD, PERIOD = 60.0, 7e5, 1.1e6
#: Dofs of a body alone.
BODY = 6
#: What of this is kept for the time step that may follow instead: so much for each near point and body, at most so much
#: times the square of the bodies, up to a bound, and as much as one evaluation.
OF_POINTS, OF_BODIES, MOST_KEPT = 6e3, 5e4, 1.25e6
#: Evaluations without contacts that a period may cost in any case: some ten with them, what one without events takes.
PLAIN = 30.0
#: What a look costs at how far a place is from a plane, from another ground, and from a function of a user's.
FLAT, UNEVEN, OF_A_FUNCTION = 230.0, 550.0, 1000.0
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
def guess_cost(problem):
    """What a guess costs of what every near point does, and more where some are braked by friction.

    A foot costs by the motions that its points feel: of one that is held three, of one that slides one, six at most.
    """
    contacts, braked, n = problem.contacts, False, 0
    for b in range(contacts.near.size - 1):
        felt = 0
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            felt += 3 if problem.kind[p] == STICK else 1 if problem.kind[p] == SLIDE else 0
            braked = braked or (problem.kind[p] == SLIDE and contacts.dynamic_friction[p] > 0.0)
        n += min(6, felt)
    return 200.0 * contacts.number[0] + n * (100.0 + n * (8.0 + (0.45 if braked else 0.3) * n))


@inlined
def newton_cost(n):
    """What a step of Newton with n unknowns costs, with the search along it."""
    return 0.5 * n * n * n + 14.0 * n * n


@inlined
def dense_cost(points, bodies):
    """What it costs to write out the problem of some points."""
    return points * (40.0 * points + 50.0 * bodies)


@inlined
def factor_cost(n, rank):
    """What it costs to factor the matrix of n forces in as many columns as it has rank."""
    return 200.0 + n * rank * (4.4 + 0.13 * rank)


@inlined
def low_rank_cost(n, rank):
    """What a step of Newton on n forces costs in as many unknowns as the matrix has rank, beside trials."""
    return 400.0 + n * rank * (3.2 + 0.16 * rank) + rank * rank * (3.6 + 0.12 * rank)


@inlined
def interior_cost(n, rank):
    """What a step inside the cone costs."""
    return low_rank_cost(n, rank) + trial_cost(n) + n * (45.0 + 0.9 * rank)


@inlined
def trial_cost(n):
    """What it costs to try such a step."""
    return 180.0 + 6.5 * n + 0.25 * n * n


@inlined
def short_trial_cost(n):
    """What it costs to try a shorter one."""
    return 150.0 + 2.3 * n


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
    """What a sweep of Gauss-Seidel over so many points costs, of which many slide."""
    return points * (400.0 + 10.0 * bodies)


@inlined
def answer_cost(dofs, bodies):
    """What it costs to find how so many bodies answer to forces: each by the joints between it and the root."""
    return bodies * (900.0 + 63.0 * max(0.0, dofs - 6.0))


@inlined
def round_cost(dofs, points, bodies):
    """What a round costs in which a law is asked and constraint rows are checked, beside what the law itself counts."""
    n = 6.0 * bodies
    return 1000.0 + 110.0 * dofs + 30.0 * points + 0.1 * n * n * n + answer_cost(dofs, bodies)


@inlined
def look_cost(dofs, looks, price):
    """What it costs to find how a robot moves, and by so many looks how far it is from a ground of that price."""
    return 60.0 * dofs + price * looks


@inlined
def rows_cost(dofs, rows, bodies):
    """What it costs to eliminate so many constraint rows, of which half hold, from the motion of bodies in contact."""
    if rows > 2.0 * dofs:
        return rows * (80.0 + 14.0 * dofs) + dofs * dofs * (0.2 * rows + 4.0 * bodies)
    return rows * (80.0 + 14.0 * dofs + rows * (16.0 + 0.3 * dofs + bodies))


@inlined
def made_cost(dofs, rows, touching, sought):
    """What it costs MuJoCo to make so many constraint rows of bodies that touch at so many places, and to find out
    which do, if it was asked ``sought`` times.
    """
    return 300.0 * rows + 3000.0 * touching + 800.0 * dofs * sought


@inlined
def impact_cost(dofs, rows, bodies):
    """What it costs to find how so many bodies in contact answer to forces, with so many constraint rows."""
    return rows_cost(dofs, rows, bodies) + answer_cost(dofs, bodies)


@inlined
def evaluation_cost(dofs, made, rows, bodies, looks, price):
    """What an evaluation costs, beside what the law counts, whose constraint rows cost ``made`` to make."""
    return made + 105.0 * dofs + look_cost(dofs, looks, price) + impact_cost(dofs, rows, bodies)


@inlined
def standing_cost(dofs, rows, feet, looks):
    """What a step costs of a robot that stands on a plane and whose loops have so many constraint rows."""
    return evaluation_cost(dofs, made_cost(dofs, rows, 0.0, 0.0), rows, feet, looks, FLAT)


@inlined
def step_cost(standing, steps):
    """What a step may cost of a robot of which one costs so much where it stands: as much as so many of these."""
    return min(EFFORT, steps * standing)


@inlined
def solving_cost(most, left, evaluation):
    """What solving may cost in a step that may cost ``most``, where so much is ``left`` for it and its
    ``evaluation``.
    """
    return max(SOLVING * most, left - evaluation)


@inlined
def period_cost(standing, dofs, dt, instead):
    """What a period of ``dt`` seconds may cost that is integrated from event to event.

    Where the last one was a time step instead, this may be one, too, and has less by what that cost.
    """
    least = PERIOD if dofs <= BODY else LEAST_PERIOD
    most = min(PERIOD, max(least, STANDING_PERIODS * standing)) * max(1.0, 1e3 * dt)
    return max(most - instead, min(most, PLAIN * evaluation_cost(dofs, 0.0, 0.0, 0.0, 0.0, 0.0)))


@inlined
def kept_for_time_step(contacts):
    """What a period keeps of that for the time step that may follow instead; ``contacts`` are all that are near."""
    bodies = bodies_near(contacts)
    return min(MOST_KEPT, OF_BODIES * bodies**2, OF_POINTS * contacts.number[0] * bodies)


@inlined
def affordable(left, cost, most):
    """How many things of a cost can be had."""
    return int(max(0.0, min(float(most), left / cost)))
