"""The exact mode: a best-first search that corrects states where they break a rule.

All feet are searched together, since forces on one move the other. A queue holds all candidate states, each with the
rank of its parent until it is evaluated itself. When no correction is left, every change of a single foot is queued.
The search fails when its queue is full.
"""

from __future__ import annotations

from numba import types

from footfall.compiled import cold, inlined
from footfall.solve.selection.rules import CLAMPED_BITS, correction, evaluate, judge
from footfall.solve.selection.sliding import ROUNDS
from footfall.solve.selection.states import EDGE, INDEX, NONE, SLIDING, SLOW, VERTEX, clamped, vertex

#: Size of the queue. A search that fills it fails.
PLACES = 512
#: Corrections considered for each foot.
IDEAS = 4


@inlined
def search(contacts, dt, memory, desk, rules):
    """Find states that break no rule, beginning with those in ``desk.code``. Gives (rank, states evaluated, whether
    friction was found).
    """
    agreed = evaluate(contacts, dt, memory, desk, ROUNDS)
    rank = judge(contacts, dt, memory, desk, rules)
    tried = 1
    if not agreed or rank >> CLAMPED_BITS != 0:
        rank, tried, agreed = search_on(contacts, dt, memory, desk, rules, rank, agreed)
    if agreed and rank >> CLAMPED_BITS == 0 and comes_to_rest(contacts, desk):
        rank = rest(contacts, dt, memory, desk, rules)
        tried += 1
    return rank, tried, agreed


@inlined
def comes_to_rest(contacts, desk):
    """Whether a sliding foot has almost stopped at the end of the step."""
    for b in range(contacts.near.size - 1):
        if desk.code[b] & SLIDING and is_slow(desk, b):
            return True
    return False


@inlined
def is_slow(desk, b):
    code = desk.code[b]
    for j in range(clamped(code, desk.begin[b + 1] - desk.begin[b])):
        v = desk.end[vertex(desk, b, code, j)]
        if v[0] * v[0] + v[1] * v[1] > SLOW * SLOW:
            return False
    return True


@cold(types.int64)
def rest(contacts, dt, memory, desk, rules):
    """Make feet that come to rest static, if friction suffices; otherwise change nothing. Gives the rank."""
    feet = contacts.near.size - 1
    remember(desk, 0, feet)
    for b in range(feet):
        if desk.code[b] & SLIDING and is_slow(desk, b):
            desk.code[b] -= SLIDING
    agreed = evaluate(contacts, dt, memory, desk, ROUNDS)
    rank = judge(contacts, dt, memory, desk, rules)
    if not agreed or rank >> CLAMPED_BITS != 0:
        recall(desk, 0, feet)
        evaluate(contacts, dt, memory, desk, ROUNDS)
        rank = judge(contacts, dt, memory, desk, rules)
    return rank


@cold(types.Tuple([types.int64, types.int64, types.boolean]), soon=True)
def search_on(contacts, dt, memory, desk, rules, rank, agreed):
    """The search proper, from the state in ``desk.code``, which was evaluated and has this ``rank``."""
    feet, count, tried, best, widened = contacts.near.size - 1, 1, 1, 0, 0
    remember(desk, 0, feet)
    desk.rank[0], desk.tried[0] = rank if agreed else rank | 1 << 60, 1
    count = add_corrections(contacts, dt, desk, feet, desk.rank[0], count)
    while True:
        following = next_untried(desk, count)
        if following < 0:
            while following < 0 and widened < count:
                count = add_neighbours(desk, feet, widened, count)
                widened += 1
                following = next_untried(desk, count)
            if following < 0 or count >= PLACES:
                break
        recall(desk, following, feet)
        agreed = evaluate(contacts, dt, memory, desk, ROUNDS)
        rank = judge(contacts, dt, memory, desk, rules)
        tried += 1
        if agreed and rank >> CLAMPED_BITS == 0:
            return rank, tried, True
        desk.rank[following] = rank if agreed else rank | 1 << 60
        desk.tried[following] = 1
        if desk.rank[following] < desk.rank[best]:
            best = following
        count = add_corrections(contacts, dt, desk, feet, desk.rank[following], count)
    recall(desk, best, feet)
    agreed = evaluate(contacts, dt, memory, desk, ROUNDS)
    return judge(contacts, dt, memory, desk, rules), tried, agreed


@inlined
def remember(desk, place, feet):
    for b in range(feet):
        desk.queue[place * feet + b] = desk.code[b]


@inlined
def recall(desk, place, feet):
    for b in range(feet):
        desk.code[b] = desk.queue[place * feet + b]


@inlined
def next_untried(desk, count):
    """The state not yet evaluated whose parent ranks best, the oldest of equals; -1 if there is none."""
    best = -1
    for q in range(count):
        if desk.tried[q] == 0 and (best < 0 or desk.rank[q] < desk.rank[best]):
            best = q
    return best


@inlined
def add(desk, feet, rank, count):
    """Keep the state that was written at the end of the queue, ``count``, unless the queue has it already."""
    if count >= PLACES - 1:
        return count
    for q in range(count):
        same = True
        for b in range(feet):
            if desk.queue[q * feet + b] != desk.queue[count * feet + b]:
                same = False
                break
        if same:
            return count
    desk.rank[count], desk.tried[count] = rank, 0
    return count + 1


@inlined
def add_corrections(contacts, dt, desk, feet, rank, count):
    """Queue the corrections of the last evaluated state: of all feet at once, then one by one."""
    remember(desk, count, feet)
    for b in range(feet):
        code = correction(contacts, dt, desk, b, 0)
        if code >= 0:
            desk.queue[count * feet + b] = code
    count = add(desk, feet, rank, count)
    for idea in range(IDEAS):
        for b in range(feet):
            code = correction(contacts, dt, desk, b, idea)
            if code >= 0:
                remember(desk, count, feet)
                desk.queue[count * feet + b] = code
                count = add(desk, feet, rank, count)
    return count


@inlined
def add_neighbours(desk, feet, place, count):
    """Queue every state that differs from one in the queue by one foot."""
    rank = desk.rank[place]
    for b in range(feet):
        n = desk.begin[b + 1] - desk.begin[b]
        for kind in range(4 if n > 2 else n + 1):
            for j in range(n if kind in (VERTEX, EDGE) else 1):
                for sliding in range(1 if kind == NONE else 2):
                    for o in range(feet):
                        desk.queue[count * feet + o] = desk.queue[place * feet + o]
                    desk.queue[count * feet + b] = kind | sliding * SLIDING | j << INDEX
                    count = add(desk, feet, rank, count)
    return count
