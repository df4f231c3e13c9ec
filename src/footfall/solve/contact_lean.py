"""What stands for solving a contact problem inside a law on a GPU: it is laid out, and solved where lanes can wait.

A law is asked by each lane for its own world. What follows is done by the lanes of a warp together
(:mod:`footfall.solve.together`), and in one place, for what is called in three is compiled three times.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.solve.contact_guess import MISSES, MODE
from footfall.solve.contacts import SLIDE
from footfall.solve.problem import begin_problem

#: Status of a law whose problem is laid out and not solved yet; that guesses did not solve; that Newton solved, so that
#: guesses from its forces remain; and the same where it did not.
DEFERRED, HARD, NEAR, NOT_NEAR = 2, 3, 4, 5
#: Status of a law whose states of the feet are still to be found; and the same after Newton, which suggests states.
SEARCHING, SUGGESTING = 6, 7
#: Status of a world whose step is not begun yet, as other bodies than feet are near the ground.
LYING = 8
# Where the step, the motion that is none and by how much Newton's best forces miss stand in the first row of ``local``
# while a problem waits.
STEP, STILL, LOWEST = 0, 1, 2
#: Steps that begin with Newton after one in which guesses missed: as friction turns on, they would mostly miss again.
WITHOUT_GUESSES = 2
#: What stands in the place of their number after a step that Newton did not solve either.
UNSOLVED = WITHOUT_GUESSES + 1


@inlined
def defer(problem):
    """Replaces :func:`footfall.solve.contact_problem.solve_from_guess`.

    Where a point slid in the last step, two guesses would miss the direction of its friction: of 26,000 steps of
    restless humanoids with one that slid they did in 85 of 100, and in 16 of 100 where none slid.
    """
    problem.local[0, STEP], problem.local[0, STILL] = problem.step, problem.still
    contacts, memory = problem.contacts, problem.memory
    hard = contacts.number[0] > 0 and memory[contacts.points[0], MISSES] > 0.0
    for i in range(contacts.number[0]):
        hard = hard or memory[contacts.points[i], MODE] == SLIDE
    return HARD if hard else DEFERRED, 1


@inlined
def deferred_problem(points, contacts, scratch):
    """A problem that was laid out, without its step and the motion that is none: those are :func:`step_and_still`."""
    return begin_problem(contacts, 0.0, 0.0, points.memory, points.force, points.mode, scratch)


@inlined
def step_and_still(problem):
    return problem.local[0, STEP], problem.local[0, STILL]
