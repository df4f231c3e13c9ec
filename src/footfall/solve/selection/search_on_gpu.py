"""The search of :mod:`.search` for GPUs, with one place where a state is evaluated.

That is the greatest part of the code: five times in it, it takes minutes to compile. And lanes of a warp whose searches
differ evaluate their states together.
"""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.solve.selection.rules import CLAMPED_BITS, evaluate, judge
from footfall.solve.selection.search import (
    PLACES,
    add_corrections,
    add_neighbours,
    comes_to_rest,
    is_slow,
    next_untried,
    recall,
    remember,
)
from footfall.solve.selection.sliding import ROUNDS
from footfall.solve.selection.states import SLIDING

#: States that are tried, beside the best once more and those of feet that come to rest: of the steps of a biped on its
#: servos with random targets and pushes, 8 in 10,000 need more, and 31 other worlds would wait for each of these.
TRIES = 32
# What a state is evaluated for: it is the first; it comes from the queue; none is left in it, and it was the best; feet
# come to rest in it; and they cannot, so that it is the one before.
FIRST, QUEUED, BEST, RESTING, BEFORE = range(5)


@inlined
def search_on_gpu(contacts, dt, memory, desk, rules):
    """Stands for :func:`footfall.solve.selection.search.search`."""
    feet, count, tried, best, widened, place, what = contacts.near.size - 1, 0, 1, 0, 0, 0, FIRST
    while True:
        agreed = evaluate(contacts, dt, memory, desk, ROUNDS)
        rank = judge(contacts, dt, memory, desk, rules)
        right = agreed and rank >> CLAMPED_BITS == 0
        if what == BEFORE or (what == RESTING and right):
            return rank, tried, True
        if what == RESTING:
            recall(desk, 0, feet)
            what = BEFORE
        elif right and comes_to_rest(contacts, desk):
            remember(desk, 0, feet)
            for b in range(feet):
                if desk.code[b] & SLIDING and is_slow(desk, b):
                    desk.code[b] -= SLIDING
            tried += 1
            what = RESTING
        elif right or what == BEST:
            return rank, tried, agreed
        else:
            if what == FIRST:
                remember(desk, 0, feet)
                count, what = 1, QUEUED
            desk.rank[place], desk.tried[place] = rank if agreed else rank | 1 << 60, 1
            if desk.rank[place] < desk.rank[best]:
                best = place
            count = add_corrections(contacts, dt, desk, feet, desk.rank[place], count)
            place = next_untried(desk, count)
            widen = place < 0
            while place < 0 and widened < count:
                count = add_neighbours(desk, feet, widened, count)
                widened += 1
                place = next_untried(desk, count)
            if place < 0 or (widen and count >= PLACES) or tried == TRIES:
                recall(desk, best, feet)
                what = BEST
            else:
                recall(desk, place, feet)
                tried += 1


def no_prediction(contacts, dt, memory, desk, rules):
    """Stands for :func:`footfall.solve.selection.prediction.predict`, which is not offered there."""
    return 0
