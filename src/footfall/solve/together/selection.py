"""The search for states of the feet by the lanes of a warp, as :mod:`footfall.solve.selection.search` does it.

States are evaluated in one place, which is most of the code. A long search continues in the next turn, while other
worlds take their next step.
"""

from __future__ import annotations

from typing import NamedTuple

from footfall.compiled import inlined
from footfall.solve.selection.prediction import ROUNDS as PREDICTED_ROUNDS
from footfall.solve.selection.prediction import nearest
from footfall.solve.selection.rules import CLAMPED_BITS, correction
from footfall.solve.selection.search import IDEAS, PLACES, comes_to_rest, is_slow
from footfall.solve.selection.sliding import NEWTON, ROUNDS
from footfall.solve.selection.states import EDGE, INDEX, NONE, SLIDING, VERTEX
from footfall.solve.together.desk import LANES, wait
from footfall.solve.together.states import Rounds, evaluate_together, judge_together

#: Most linear problems of a search: if points are clamped or free one by one when it fails, and if it has to find a
#: state. At the end of a call other worlds wait for a long search. With states that Newton suggests, one in 5,000
#: restless steps of bipeds on a CPU would exceed the first.
IN_A_SEARCH, ALL_ALONE = 32, 128
#: Rounds for the sliding friction of the last states, if Newton suggests others: if the last states are right, slip and
#: loads of Newton are close.
DOUBTED = 6
# Why a state is evaluated: it is the first; it comes from the queue; the queue is empty, and it was the best; feet come
# to rest in it; they cannot, so the one before is restored; it is the predicted one, of one-step mode.
FIRST, QUEUED, BEST, RESTING, BEFORE, PREDICTED = range(6)


class Found(NamedTuple):
    """The progress of a search."""

    ended: bool
    rank: int
    tried: int
    right: bool  # no rule is broken


class Portion(NamedTuple):
    """The portion of a search that is done in a turn."""

    going_on: bool  # whether it began in an earlier turn
    suggested: bool  # whether Newton has suggested states, next in the queue, and loads and slip to begin with
    most: int  # linear problems


@inlined
def search_together(lane, contacts, dt, memory, desk, own, rules, portion):
    """Find states that break no rule, beginning with those in ``desk.code``; ``own`` has the queue and the progress of
    a continued search. It stops after its portion for this turn.
    """
    feet, count, tried, best, widened, place, what = contacts.near.size - 1, 0, 1, 0, 0, 0, FIRST
    spent, begin, known, has_points = 0, 0, portion.suggested, rules.cop_rule == 1.0
    enough = IN_A_SEARCH if has_points else ALL_ALONE
    if portion.going_on:
        count, tried, best, widened = own.stand[0], own.stand[1], own.stand[2], own.stand[3]
        place, what, spent, begin = own.stand[4], own.stand[5], own.stand[6], own.stand[7]
    elif rules.one_step == 1.0:
        what = PREDICTED
        for b in range(lane, feet, LANES):
            desk.code[b] = nearest(contacts, memory, desk, b, rules)
    stop, other = spent + portion.most, False
    for b in range(feet if portion.suggested else 0):
        other = other or own.queue[feet + b] != desk.code[b]
    while True:
        wait()
        end = PREDICTED_ROUNDS if what == PREDICTED else NEWTON if has_points else ROUNDS
        if other and what == FIRST:
            end = DOUBTED
        rounds = Rounds(begin, end, stop - spent, known)
        agreed, solved, stopped = evaluate_together(lane, contacts, dt, memory, desk, own, rounds)
        spent, begin, known = spent + solved, begin + solved if stopped else 0, False
        if stopped:
            break
        rank = judge_together(lane, contacts, dt, memory, desk, rules)
        right = agreed and rank >> CLAMPED_BITS == 0
        rests = right and comes_to_rest(contacts, desk)
        wait()
        if what >= BEFORE or (what == RESTING and right):
            return Found(True, rank, tried, right)
        if what == RESTING:
            recall_together(lane, desk, own, 0, feet)
            what = BEFORE
        elif rests:
            if lane == 0:
                for b in range(feet):
                    own.queue[b] = desk.code[b]
                    if desk.code[b] & SLIDING and is_slow(desk, b):
                        desk.code[b] -= SLIDING
            tried += 1
            what = RESTING
        elif right or what == BEST:
            return Found(True, rank, tried, right)
        else:
            if what == FIRST:
                if lane == 0:
                    for b in range(feet):
                        own.queue[b] = desk.code[b]
                count, what = 1, QUEUED
                if portion.suggested:
                    count = add_together(lane, desk, own, feet, rank, count)
            rank = rank if agreed else rank | 1 << 60
            if lane == 0:
                own.rank[place], own.tried[place] = rank, 1
            wait()
            if rank < own.rank[best]:
                best = place
            count = add_corrections_together(lane, contacts, dt, desk, own, feet, rank, count)
            place = next_untried_together(lane, desk, own, count)
            widen = place < 0
            while place < 0 and widened < count:
                count = add_neighbours_together(lane, desk, own, feet, widened, count)
                widened += 1
                place = next_untried_together(lane, desk, own, count)
            if place < 0 or (widen and count >= PLACES) or spent >= enough:
                if has_points:
                    return Found(True, rank, tried, False)
                recall_together(lane, desk, own, best, feet)
                what = BEST
            else:
                recall_together(lane, desk, own, place, feet)
                tried += 1
        if spent >= stop:
            break
    wait()
    if lane == 0:
        own.stand[0], own.stand[1], own.stand[2], own.stand[3] = count, tried, best, widened
        own.stand[4], own.stand[5], own.stand[6], own.stand[7] = place, what, spent, begin
        for b in range(feet):
            own.code[b] = desk.code[b]
    return Found(False, 0, tried, False)


@inlined
def recall_together(lane, desk, own, place, feet):
    """Take states from the queue."""
    for b in range(lane, feet, LANES):
        desk.code[b] = own.queue[place * feet + b]


@inlined
def lowest_of_lanes(lane, desk, count, place, rank):
    """The place with the lowest rank of all lanes, the first of equals; negative places do not count."""
    desk.first[lane], desk.second[lane] = place, rank
    wait()
    best, lowest = -1, 0
    for o in range(min(LANES, count)):
        q = desk.first[o]
        if q >= 0 and (best < 0 or desk.second[o] < lowest or (desk.second[o] == lowest and q < best)):
            best, lowest = q, desk.second[o]
    wait()
    return best


@inlined
def any_lane(lane, desk, count, known):
    """Whether the value is 1 in any lane."""
    desk.first[lane] = known
    wait()
    found = 0
    for o in range(min(LANES, count)):
        found |= desk.first[o]
    wait()
    return found == 1


@inlined
def next_untried_together(lane, desk, own, count):
    """The state not yet evaluated whose parent ranks best, the oldest of equals; -1 if there is none."""
    best, lowest = -1, 0
    for q in range(lane, count, LANES):
        if own.tried[q] == 0 and (best < 0 or own.rank[q] < lowest):
            best, lowest = q, own.rank[q]
    return lowest_of_lanes(lane, desk, count, best, lowest)


@inlined
def add_together(lane, desk, own, feet, rank, count):
    """Keep the state that one lane wrote at the end of the queue, ``count``, unless the queue has it already."""
    if count >= PLACES - 1:
        return count
    wait()
    known = 0
    for q in range(lane, count, LANES):
        same = 1
        for b in range(feet):
            if own.queue[q * feet + b] != own.queue[count * feet + b]:
                same = 0
        known |= same
    if any_lane(lane, desk, count, known):
        return count
    if lane == 0:
        own.rank[count], own.tried[count] = rank, 0
    wait()
    return count + 1


@inlined
def add_corrections_together(lane, contacts, dt, desk, own, feet, rank, count):
    """Queue the corrections of the state that was evaluated last: all feet at once, then one by one."""
    for idea in range(-1, IDEAS):
        for b in range(1 if idea < 0 else feet):
            any_foot = False
            if lane == 0:
                for o in range(feet):
                    own.queue[count * feet + o] = desk.code[o]
            for o in range(0 if idea < 0 else b, feet if idea < 0 else b + 1):
                code = correction(contacts, dt, desk, o, max(idea, 0))
                if code >= 0:
                    any_foot = True
                    if lane == 0:
                        own.queue[count * feet + o] = code
            if any_foot or idea < 0:
                count = add_together(lane, desk, own, feet, rank, count)
    return count


@inlined
def add_neighbours_together(lane, desk, own, feet, place, count):
    """Queue every state that differs from one in the queue by one foot."""
    rank = own.rank[place]
    for b in range(feet):
        n = desk.begin[b + 1] - desk.begin[b]
        for kind in range(4 if n > 2 else n + 1):
            for j in range(n if kind in (VERTEX, EDGE) else 1):
                for slides in range(1 if kind == NONE else 2):
                    if lane == 0:
                        for o in range(feet):
                            own.queue[count * feet + o] = own.queue[place * feet + o]
                        own.queue[count * feet + b] = kind | slides * SLIDING | j << INDEX
                    count = add_together(lane, desk, own, feet, rank, count)
    return count
