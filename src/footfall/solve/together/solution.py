"""A world's contact problem by the lanes of a warp: a guess from the last step, Newton, and a guess from its forces.

In parts, for kernels of their own: most problems are solved by guesses alone, whose code stays in the cache.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.solve.contact_guess import MISSES
from footfall.solve.contact_lean import LOWEST, UNSOLVED, step_and_still
from footfall.solve.contact_search import ENOUGH
from footfall.solve.contacts import OPEN, SLIDE
from footfall.solve.newton_on_cone import ACCEPTED
from footfall.solve.together.desk import (
    LANES,
    bring_back,
    bring_near,
    copy_together,
    end_motions,
    fetch,
    put_aside,
    raise_points,
    take_up,
    wait,
)
from footfall.solve.together.guess import hold_touching, least_forces, mend_together, read_kinds_together
from footfall.solve.together.newton import AGREED, FROM_NOTHING, STAGES, newton_together

#: Guesses before Newton, and after it.
GUESSES, NEAR_GUESSES = 2, 3


@inlined
def guess_together(lane, count, feet, still, most, desk):
    """Forces, and motions under them, of a guess that holds: whether one was found among the first ``most``."""
    for _ in range(most):
        if not least_forces(lane, count, feet, desk):
            return False
        end_motions(lane, count, feet, desk)
        if not mend_together(lane, count, still, desk):
            return True
    return False


@inlined
def solve_by_guesses(lane, problem, near, desk):
    """Forces, modes and memory of a problem that was laid out, or whose forces are ``near``, from Newton: whether a
    guess holds. Where none does, near forces are taken as they are, and for others nothing is done.
    """
    step, still = step_and_still(problem)
    count, feet = fetch(lane, problem, step, desk)
    found = guess_together(lane, count, feet, still, NEAR_GUESSES if near else GUESSES, desk)
    if near and not found:
        copy_together(lane, count, desk.force, desk.kept)
        end_motions(lane, count, feet, desk)
    if near or found:
        bring_back(lane, count, problem, still, near, desk)
    return found


@inlined
def tell_unsolved(lane, problem):
    """Let the next step know that neither guesses nor Newton solved this one."""
    contacts = problem.contacts
    for i in range(lane, contacts.number[0], LANES):
        problem.memory[contacts.points[i], MISSES] = float(UNSOLVED)


@inlined
def are_the_only_forces(feet, still, desk):
    """Whether no other forces than these do the same: every foot stands on one point, or slides on two. There guesses,
    which find the least of all forces that do, would find no others: of 100 restless steps that Newton solves, 87.
    """
    for b in range(feet):
        held, sliding = 0, 0
        for i in range(desk.begin[b], desk.begin[b + 1]):
            u, v, kind = desk.end[3 * i], desk.end[3 * i + 1], desk.kind[i]
            if kind == OPEN:
                if desk.force[3 * i + 2] > 0.0 or desk.end[3 * i + 2] < desk.target[i] - still:
                    return False
            else:
                slides = 1 if u * u + v * v > still * still else 0
                held, sliding = held + 1, sliding + slides
                if desk.force[3 * i + 2] <= 0.0 or slides != (1 if kind == SLIDE else 0):
                    return False
        if held > 1 and (held > 2 or sliding < held):
            return False
    return True


@inlined
def near_by_newton(lane, problem, stage, at_once, most, desk):
    """Forces by Newton from one of its stages on, and what each point seems to do under them. Gives the stage that
    follows, ``STAGES`` if there is none, whether the problem is solved, and whether nothing is left to do: forces that
    are the only ones are brought back as those of a guess are. What takes more evaluations than ``most`` stops after a
    stage. Where the step before was unsolved there are no stages about nothing: as long as the feet stand so, these
    find nothing either. What is wanted ``at_once`` is that of the first stage, however near; there points without load
    that touch the ground count as held or sliding, and nothing is left to do where Newton is through.
    """
    step, still = step_and_still(problem)
    count, feet = fetch(lane, problem, step, desk)
    if at_once:
        raise_points(lane, count, problem, desk)
    lowest = math.inf
    if stage == 0:
        copy_together(lane, count, desk.force, desk.kept)
        copy_together(lane, count, desk.best, desk.kept)
    else:
        take_up(lane, count, problem, desk)
        lowest = problem.local[0, LOWEST]
    end = 1 if at_once else STAGES
    if not at_once and problem.memory[problem.contacts.points[0], MISSES] == UNSOLVED:
        end = FROM_NOTHING
    stage, lowest = newton_together(lane, count, feet, stage, end, lowest, most, desk)
    if stage < end:
        put_aside(lane, count, problem, desk)
        if lane == 0:
            problem.local[0, LOWEST] = lowest
        return stage, False, False
    copy_together(lane, count, desk.force, desk.best)
    done = lowest <= (AGREED if at_once else ACCEPTED)
    if not at_once:
        end_motions(lane, count, feet, desk)
    read_kinds_together(lane, count, still, desk)
    if at_once:
        hold_touching(lane, count, still, desk)
    else:
        done = done and are_the_only_forces(feet, still, desk)
        wait()
    if done and not at_once:
        bring_back(lane, count, problem, still, True, desk)
    else:
        bring_near(lane, count, problem, desk)
    return max(stage, STAGES), lowest <= ENOUGH, done
