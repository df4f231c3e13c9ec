"""The effort of a step and its bound, counted in operations, so that they are the same on every machine.

The unit is about a nanosecond on one core of a server (Neoverse N1). Each kind of work was timed there on small and
large problems, and most take 0.8 to 1.2 times what is counted. A step may cost ``STANDING_STEPS`` steps of the same
robot at rest (36 as counted, at most 50 by time), and no more than ``EFFORT``. What the evaluation leaves of that is
for the solvers: every guess, step, pivot, sweep and round subtracts its cost from ``contacts.effort[0]``, and a problem
that is not solved when nothing is left counts as unsolved.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.solve.contacts import SLIDE, STICK

#: Bound of a step: in steps of the robot standing on a plane, and in units; and the share of it that solvers always
#: get.
STANDING_STEPS, EFFORT, SOLVING = 36.0, 1.3e6, 0.4
#: Bound of a period that is integrated from event to event, per millisecond (at least one): in steps of the robot
#: standing on a plane, but no less than ``LEAST_PERIOD`` and no more than ``PERIOD`` units. A single body always gets
#: ``PERIOD``, because all of its bounces are followed.
STANDING_PERIODS, LEAST_PERIOD, PERIOD = 60.0, 7e5, 1.1e6
#: Degrees of freedom of a single body.
BODY = 6
#: Reserve of a period for the time step that may replace it: per near point and body, at most per squared number of
#: bodies, and at most in all; an evaluation comes on top.
OF_POINTS, OF_BODIES, MOST_KEPT = 6e3, 5e4, 1.25e6
#: Evaluations without contacts that a period may always cost: as much as some ten with contacts, which a period without
#: events takes.
PLAIN = 30.0
#: Cost of finding the gap of one place: to a plane, to another ground, and to a user's function.
FLAT, UNEVEN, OF_A_FUNCTION = 230.0, 550.0, 1000.0
#: No bound in practice: a minute.
UNBOUNDED = 6e10


@inlined
def bodies_near(contacts):
    """Number of bodies with points near the ground, as a float."""
    n = 0.0
    for b in range(contacts.near.size - 1):
        if contacts.near[b + 1] > contacts.near[b]:
            n += 1.0
    return n


@inlined
def guess_cost(problem):
    """Cost of solving for one guess of the active set; points that slide with friction cost more.

    A foot costs by the number of constrained motions: three for a point that sticks, one for a point that slides, at
    most six.
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
    """Cost of a Newton step with n unknowns, line search included."""
    return 0.5 * n * n * n + 14.0 * n * n


@inlined
def dense_cost(points, bodies):
    """Cost of assembling the dense Delassus matrix."""
    return points * (40.0 * points + 50.0 * bodies)


@inlined
def factor_cost(n, rank):
    """Cost of factoring the matrix of n forces into ``rank`` columns."""
    return 200.0 + n * rank * (4.4 + 0.13 * rank)


@inlined
def low_rank_cost(n, rank):
    """Cost of a Newton step on n forces in ``rank`` unknowns, without its line search."""
    return 400.0 + n * rank * (3.2 + 0.16 * rank) + rank * rank * (3.6 + 0.12 * rank)


@inlined
def interior_cost(n, rank):
    """Cost of an interior-point step."""
    return low_rank_cost(n, rank) + trial_cost(n) + n * (45.0 + 0.9 * rank)


@inlined
def trial_cost(n):
    """Cost of one evaluation of the residual in the line search."""
    return 180.0 + 6.5 * n + 0.25 * n * n


@inlined
def pivot_cost(n):
    """Cost of a pivot of Lemke's method with n unknowns."""
    return 0.7 * n * n


@inlined
def state_cost(slides, agreed):
    """Cost of evaluating one state of the feet: more if a foot slides, and most if its friction is not found."""
    return (15e3 if agreed else 6e4) if slides else 6e3


@inlined
def sweep_cost(points, bodies):
    """Cost of a Gauss-Seidel sweep, if many points slide."""
    return points * (400.0 + 10.0 * bodies)


@inlined
def answer_cost(dofs, bodies):
    """Cost of the inverse inertia of the bodies in contact, through the joints between each and the root."""
    return bodies * (900.0 + 63.0 * max(0.0, dofs - 6.0))


@inlined
def round_cost(dofs, points, bodies):
    """Cost of a round between contact forces and constraint rows, without what the law itself counts."""
    n = 6.0 * bodies
    return 1000.0 + 110.0 * dofs + 30.0 * points + 0.1 * n * n * n + answer_cost(dofs, bodies)


@inlined
def look_cost(dofs, looks, price):
    """Cost of the kinematics and of ``looks`` gaps at ``price`` each."""
    return 60.0 * dofs + price * looks


@inlined
def rows_cost(dofs, rows, holding, bodies):
    """Cost of eliminating constraint rows, some of them active, from the motion of the bodies in contact."""
    cost = rows * (80.0 + 14.0 * dofs)
    if holding > dofs:
        return cost + dofs * dofs * (0.4 * holding + 4.0 * bodies)
    return cost + holding * holding * (64.0 + 1.2 * dofs + 4.0 * bodies)


@inlined
def made_cost(dofs, rows, touching, sought):
    """Cost of MuJoCo's constraint rows with ``touching`` contacts of bodies, and of ``sought`` searches for them."""
    return 300.0 * rows + 3000.0 * touching + 800.0 * dofs * sought


@inlined
def impact_cost(dofs, rows, bodies):
    """Cost of the inverse inertia of the bodies in contact, constraint rows eliminated, half of them active."""
    return rows_cost(dofs, rows, 0.5 * rows, bodies) + answer_cost(dofs, bodies)


@inlined
def evaluation_cost(dofs, made, rows, bodies, looks, price):
    """Cost of an evaluation without what the law counts; ``made`` is the cost of its constraint rows."""
    return made + 105.0 * dofs + look_cost(dofs, looks, price) + impact_cost(dofs, rows, bodies)


@inlined
def standing_cost(dofs, rows, feet, looks):
    """Cost of a step of the robot standing on a plane; ``rows`` are those of its loops."""
    return evaluation_cost(dofs, made_cost(dofs, rows, 0.0, 0.0), rows, feet, looks, FLAT)


@inlined
def step_cost(standing, steps):
    """Bound of a step, if a step of the robot at rest costs ``standing``."""
    return min(EFFORT, steps * standing)


@inlined
def solving_cost(most, left, evaluation):
    """Bound of the solvers in a step of bound ``most``, if ``left`` is left for them and the ``evaluation``."""
    return max(SOLVING * most, left - evaluation)


@inlined
def period_cost(standing, dofs, dt, instead):
    """Bound of a period of ``dt`` seconds that is integrated from event to event.

    ``instead`` is the cost of the time step that replaced the last period, if one did: this one may need it again.
    """
    least = PERIOD if dofs <= BODY else LEAST_PERIOD
    most = min(PERIOD, max(least, STANDING_PERIODS * standing)) * max(1.0, 1e3 * dt)
    return max(most - instead, min(most, PLAIN * evaluation_cost(dofs, 0.0, 0.0, 0.0, 0.0, 0.0)))


@inlined
def kept_for_time_step(contacts):
    """Reserve of a period for the time step that may replace it; ``contacts`` are all that are near."""
    bodies = bodies_near(contacts)
    return min(MOST_KEPT, OF_BODIES * bodies**2, OF_POINTS * contacts.number[0] * bodies)


@inlined
def affordable(left, cost, most):
    """How many operations of this cost fit into what is left, at most ``most``."""
    return int(max(0.0, min(float(most), left / cost)))
