"""The selection of states (Moraud 2008): rules of valid contact, and the search for states that break none.

All feet are searched together, since forces on one move the others. A trial sets the states of all feet, solves for the
forces that hold the clamped vertices, and checks every vertex. A vertex that breaks a rule should change between
clamped and free. The rules are, in order of priority, with the paper's sections:

1. friction (II.C): a foot stays inside the static friction cone; else it slides;
2. centre of pressure (III): it lies within the clamped vertices; else the vertices away from it are released;
3. geometry (II.C): a vertex above ``+d`` is free, one below ``-d`` clamped;
4. force (II.C): no clamped vertex pulls;
5. kinematics (II.C): a free vertex below ``+d`` is clamped, unless it separates (``a_z > a_t`` and ``v_z > -v_t``);
6. fewest constraints (II.C): of the states that obey rules 1 to 5, the one that clamps fewer vertices. It applies only
   if another rule has changed the states: without a violation the thresholds are meant to keep the states (III).

Rules 3 and 5 clamp a free vertex only if the clamp would push, since rule 4 forbids pulling. Rule 5 does not apply
beside a clamped edge if another vertex is above ``+d``, since rule 3 forbids the face. Under the rules of ``landing``,
a free vertex is clamped if it would end the step inside the ground, whatever ``d``, ``a_t`` and ``v_t``; rules 3 and 6
do not apply.

A foot that slides is no matter of the search, which only tells of it (``Workspace.fault``): the law then solves the
problem of all points on the exact cone.

The search begins with the last states. Each trial queues new ones: every vertex votes for being clamped or free, with a
weight that falls from rule to rule, and the state with the most votes other than the present one is queued, for all
feet at once and foot by foot. The state whose parent ranks best is tried next (the paper's priority queue). When the
queue is empty, the best trial queues every change of a single foot that has votes for it, then the next best trial,
until the queue is full. The one-step mode (section IV) votes on the motions before the step, and applies the result
without a search.
"""

from __future__ import annotations

import math

from numba import types

from footfall.compiled import cold, inlined, kernel
from footfall.kinds import Bool, Float, Int, Matrix, Named
from footfall.solve.contacts import Contacts
from footfall.solve.problem import MODE
from footfall.solve.selection.forces import (
    EDGE,
    FACE,
    INDEX,
    LOAD,
    NONE,
    STILL,
    VERTEX,
    affine_load,
    area,
    clamped,
    evaluate,
    hold,
    spread_load,
    state_of,
    vertex,
)
from footfall.solve.selection.soles import Workspace

#: The rules in order, as numbers.
GOOD, FRICTION, PRESSURE, GEOMETRY, PULL, KINEMATICS, FEWEST = 0, 1, 2, 3, 4, 5, 6
#: Bits per field of a rank. Its fields count the violations of each rule, the first rule highest, and, in the lowest
#: field, the clamped vertices.
BITS = 10
#: Tolerances: of pulling, relative to the largest force; of friction per load; of the centre of pressure, m.
NO_PULL, IN_CONE, INSIDE = 1e-10, 1e-9, 1e-9
#: Capacity of the queue; further states are dropped.
PLACES = 128
#: Stages of states in the queue.
QUEUED, TRIED, WIDENED = 0, 1, 2


@inlined
def broken(rule: Int) -> Int:
    """The increase of a rank by one violation of a rule."""
    return 1 << BITS * (KINEMATICS - rule + 1)


@inlined
def is_clean(rank: Int) -> Bool:
    """Whether states of this rank break no rule."""
    return rank >> BITS == 0


@inlined
def read_rank(rank: Int) -> tuple[Int, Int]:
    """The number of violations in a rank, over all vertices and feet, and the first rule violated."""
    count, first = 0, GOOD
    for rule in range(KINEMATICS, GOOD, -1):
        often = rank // broken(rule) % (1 << BITS)
        count, first = count + often, rule if often > 0 else first
    return count, first


@inlined
def try_states(contacts: Contacts, dt: Float, work: Workspace, rules: Named) -> Int:
    """Evaluate and judge the states in ``work.code``. Returns their rank."""
    evaluate(contacts, dt, work)
    return judge(contacts, dt, work, rules)


@kernel
def judge(contacts: Contacts, dt: Float, work: Workspace, rules: Named) -> Int:
    """Rank of the states in ``work.code``, less is better; writes the rules that feet and vertices break."""
    feet, rank, largest = contacts.near.size - 1, 0, 0.0
    for b in range(feet):
        largest = max(largest, abs(work.pressure[b, 0]), abs(work.pressure[b, 3]), abs(work.pressure[b, 4]))
    for b in range(feet):
        code, n = work.code[b], work.begin[b + 1] - work.begin[b]
        count = clamped(code, n)
        rank += count
        work.fault[b] = GOOD
        for j in range(n):
            work.flaw[vertex(work, b, code, j)] = GOOD
        if count > 0:
            judge_clamped(contacts, work, b, count, rules, NO_PULL * largest)
        no_face = is_high(contacts, work, b, rules)
        for j in range(n):
            p = vertex(work, b, code, j)
            if j >= count:
                v = work.end[p, 2]
                flaw = free_flaw(contacts, work, p, rules, v, (v - contacts.velocity[p, 2]) / dt)
                # Moraud 2008, sec. II.C
                work.flaw[p] = GOOD if flaw == KINEMATICS and no_face and code & 3 == EDGE else flaw
            elif rules.paper == 1.0 and contacts.gap[p] > rules.d and work.flaw[p] != PRESSURE:
                work.flaw[p] = GEOMETRY
            if work.flaw[p] != GOOD:
                rank += broken(work.flaw[p])
    return rank


@inlined
def is_high(contacts: Contacts, work: Workspace, b: Int, rules: Named) -> Bool:
    """Whether a vertex of a foot is above the paper's threshold."""
    for j in range(work.begin[b], work.begin[b + 1]):
        if rules.paper == 1.0 and contacts.gap[work.ring[j]] > rules.d:
            return True
    return False


@inlined
def free_flaw(contacts: Contacts, work: Workspace, p: Int, rules: Named, v: Float, a: Float) -> Int:
    """The rule that a free vertex breaks at a normal velocity (m/s) and acceleration (m/s2)."""
    gap = contacts.gap[p]
    if v >= work.place[p, 3] - STILL:  # a clamp would pull
        return GOOD
    if rules.paper == 0.0:
        return KINEMATICS
    if gap < -rules.d:
        return GEOMETRY
    return GOOD if gap > rules.d or (a > rules.a_t and v > -rules.v_t) else KINEMATICS


@inlined
def judge_clamped(contacts: Contacts, work: Workspace, b: Int, count: Int, rules: Named, pull: Float) -> None:
    """Write the rules that clamped vertices of a foot break, their loads and their friction."""
    code, found, kind = work.code[b], work.pressure[b], work.code[b] & 3
    if found[0] < -pull:
        for j in range(count):
            work.flaw[vertex(work, b, code, j)] = PULL
        return
    spread_load(work, b)
    drags = abs(found[3]) + abs(found[4]) > 10.0 * pull
    if (found[0] <= pull and drags) or hold(contacts, work, b) > IN_CONE:
        work.fault[b] = FRICTION
    if kind == FACE and rules.cop_rule == 0.0:
        x, y = found[0] * (found[1] - work.joint[b, 0]), found[0] * (found[2] - work.joint[b, 1])
        for j in range(count):
            p = vertex(work, b, code, j)
            load = affine_load(work, b, p, found[0], x, y)
            if load < -max(pull, rules.pull):
                work.flaw[p] = PULL
            if rules.pull > 0.0:
                work.push[p, 2] = load
    elif kind >= EDGE:
        out, nearest = beyond(work, b, count)
        if out > INSIDE and out * found[0] > INSIDE * pull:
            for j in range(count):
                if j != nearest and (kind == EDGE or j != (nearest + 1) % count):
                    work.flaw[vertex(work, b, code, j)] = PRESSURE if rules.cop_rule == 1.0 else PULL


@inlined
def beyond(work: Workspace, b: Int, count: Int) -> tuple[Float, Int]:
    """Distance (m) of the centre of pressure outside the clamped face or edge, negative inside, and the clamped vertex
    nearest to it: the first vertex of the nearest edge of a face, or the nearer end of an edge.
    """
    code, found = work.code[b], work.pressure[b]
    worst, which = -1e300, 0
    for j in range(count):
        a = work.place[vertex(work, b, code, j)]
        e = work.place[vertex(work, b, code, j + 1 if j + 1 < count else 0)]
        length = math.sqrt((e[0] - a[0]) ** 2 + (e[1] - a[1]) ** 2)
        if code & 3 == EDGE:
            out = ((e[0] - a[0]) * (a[0] - found[1]) + (e[1] - a[1]) * (a[1] - found[2])) / length
        else:
            out = -area(a, e, found[1], found[2]) / length
        if out > worst:
            worst, which = out, j
    return worst, which


@inlined
def vote(work: Workspace, b: Int, j: Int, share: Float) -> Float:
    """The vote of the j-th vertex of a foot's outline for being clamped; negative for being free.

    Weights fall by a factor N + 1 from rule to rule, so that N violations of one rule weigh less than one of the rule
    above. With the paper's factor N (section IV.C) they could tie. A vertex that breaks no rule votes for its present
    state: a clamped one with more weight than the kinematics of others, and with more the larger its load. A vertex
    that should be clamped votes with more weight the faster (m/s) it enters the ground.
    """
    code, n, p = work.code[b], work.begin[b + 1] - work.begin[b], work.ring[work.begin[b] + j]
    k, flaw = j - (code >> INDEX), work.flaw[p]
    holds = (k if k >= 0 else k + n) < clamped(code, n)
    if flaw == GOOD:
        load = work.push[p, 2] / max(work.pressure[b, 0], 1e-300) if holds else 0.0
        return share**3 * (0.5 + 0.5 * min(1.0, load)) if holds else -(share**4)
    size = share ** (flaw - PRESSURE) if flaw != KINEMATICS else share**4  # Moraud 2008, sec. IV.C
    if holds:
        return -size
    short = work.place[p, 3] - work.end[p, 2]
    return size * (0.5 + 0.5 * short / (1.0 + short))


@inlined
def elected(work: Workspace, b: Int, other: Bool) -> Int:
    """The state of a foot with the most votes, among ties the one with fewest clamped vertices; with ``other``, not the
    present state.
    """
    n, present = work.begin[b + 1] - work.begin[b], work.code[b] if other else -1
    share, found, total = 1.0 / (n + 1.0), NONE, 0.0
    best = -1e300 if present == NONE else 0.0
    for j in range(n):
        gain = vote(work, b, j, share)
        total += gain
        code = VERTEX | j << INDEX
        if gain > best and code != present:
            best, found = gain, code
    for j in range(n if n > 2 else n - 1):
        gain = vote(work, b, j, share) + vote(work, b, j + 1 if j + 1 < n else 0, share)
        code = EDGE | j << INDEX
        if gain > best and code != present:
            best, found = gain, code
    return FACE if n > 2 and total > best and present != FACE else found


@inlined
def slides(work: Workspace) -> Bool:
    """Whether a foot exceeds its friction in the states that were evaluated last."""
    for b in range(work.code.size):
        if work.fault[b] == FRICTION:
            return True
    return False


@inlined
def search(contacts: Contacts, dt: Float, work: Workspace, rules: Named) -> tuple[Int, Int, Int]:
    """Find states that break no rule, beginning with those in ``work.code``. Returns (rank, states tried, the first
    rule for which the states changed).
    """
    rank, tried = try_states(contacts, dt, work, rules), 1
    _, reason = read_rank(rank)
    if not is_clean(rank):
        rank, tried = search_on(contacts, dt, work, rules, rank)  # Moraud 2008, sec. II.D
    if is_clean(rank) and rules.paper == 1.0 and reason != GOOD and not slides(work):
        more, released = release(contacts, dt, work, rules)
        tried, reason = tried + more, FEWEST if released else reason
    return rank, tried, reason


@cold(types.Tuple([types.int64, types.int64]), soon=True)
def search_on(contacts: Contacts, dt: Float, work: Workspace, rules: Named, rank: Int) -> tuple[Int, Int]:
    """The rest of :func:`search`, from the states in ``work.code``, which have been tried and have this ``rank``.

    Returns the rank of the states found, and the number of states tried.
    """
    feet, tried, count = contacts.near.size - 1, 1, 1
    remember(work, 0, feet)
    work.rank[0], work.tried[0] = rank, TRIED
    count = add_elected(work, feet, rank, count)
    while True:
        following = first_of(work, count, QUEUED)
        widen = following < 0
        if widen:
            following = first_of(work, count, TRIED)
            if following < 0:
                break
        recall(work, following, feet)
        rank = try_states(contacts, dt, work, rules)
        tried += 1
        if is_clean(rank):
            return rank, tried
        work.rank[following] = rank
        if widen:
            work.tried[following] = WIDENED
            count = add_neighbours(work, feet, rank, count)
        else:
            work.tried[following] = TRIED
            count = add_elected(work, feet, rank, count)
    recall(work, first_of(work, count, WIDENED), feet)
    return try_states(contacts, dt, work, rules), tried


@cold(types.boolean)
def replaced(contacts: Contacts, dt: Float, work: Workspace, rules: Named, b: Int, code: Int) -> Bool:
    """Change the state of a foot to ``code`` if that breaks no rule; returns whether it was changed."""
    kept, work.code[b] = work.code[b], code
    if is_clean(try_states(contacts, dt, work, rules)) and not slides(work):
        return True
    work.code[b] = kept
    try_states(contacts, dt, work, rules)
    return False


@cold(types.Tuple([types.int64, types.boolean]))
def release(contacts: Contacts, dt: Float, work: Workspace, rules: Named) -> tuple[Int, Bool]:
    """The rule of fewest constraints: release edges and vertices while no rule is broken.

    Returns the number of states tried, and whether the states changed.
    """
    tried, found = 0, False
    for b in range(contacts.near.size - 1):
        n = work.begin[b + 1] - work.begin[b]
        taken = True
        while taken and work.code[b] & 3 >= EDGE:
            code, taken = work.code[b], False
            count = clamped(code, n)
            out, near = beyond(work, b, count)
            for j in range(count):
                if taken or (rules.cop_rule == 1.0 and (out <= -INSIDE or j != near)):
                    continue
                k = (code >> INDEX) + j
                fewer = (EDGE if code & 3 == FACE else VERTEX) | (k if k < n else k - n) << INDEX
                taken = replaced(contacts, dt, work, rules, b, fewer)
                tried += 1
                found = found or taken
    return tried, found


@inlined
def remember(work: Workspace, place: Int, feet: Int) -> None:
    for b in range(feet):
        work.queue[place * feet + b] = work.code[b]


@inlined
def recall(work: Workspace, place: Int, feet: Int) -> None:
    for b in range(feet):
        work.code[b] = work.queue[place * feet + b]


@inlined
def first_of(work: Workspace, count: Int, stage: Int) -> Int:
    """The oldest of the best-ranked states of this stage (untried ones have their parent's rank); -1 if none."""
    best = -1
    for q in range(count):
        if work.tried[q] == stage and (best < 0 or work.rank[q] < work.rank[best]):
            best = q
    return best


@inlined
def add(work: Workspace, feet: Int, rank: Int, count: Int) -> Int:
    """Keep the states written at the end of the queue unless it is full or has them already; returns its new length."""
    if count >= PLACES - 1:
        return count
    for q in range(count):
        same = True
        for b in range(feet):
            same = same and work.queue[q * feet + b] == work.queue[count * feet + b]
        if same:
            return count
    work.rank[count], work.tried[count] = rank, QUEUED
    return count + 1


@inlined
def add_elected(work: Workspace, feet: Int, rank: Int, count: Int) -> Int:
    """Queue corrections of the states tried last: of all feet at once, then foot by foot."""
    for only in range(-1, feet):
        remember(work, count, feet)
        for b in range(feet):
            if only < 0 or b == only:
                work.queue[count * feet + b] = corrected(work, b)
        count = add(work, feet, rank, count)
    return count


@inlined
def corrected(work: Workspace, b: Int) -> Int:
    """The state that corrects the violations of a foot; its present one if it breaks no rule."""
    for j in range(work.begin[b], work.begin[b + 1]):
        if work.flaw[work.ring[j]] != GOOD:
            return elected(work, b, True)
    return work.code[b]


@inlined
def add_neighbours(work: Workspace, feet: Int, rank: Int, count: Int) -> Int:
    """Queue all states that differ from those tried last in one foot and clamp vertices with a positive vote."""
    for b in range(feet):
        n = work.begin[b + 1] - work.begin[b]
        share = 1.0 / (n + 1.0)
        for kind in range(4 if n > 2 else n + 1):
            for j in range(n if kind in (VERTEX, EDGE) else 1):
                gain = vote(work, b, j, share) if kind in (VERTEX, EDGE) else 1.0
                if kind == EDGE:
                    gain += vote(work, b, j + 1 if j + 1 < n else 0, share)
                if gain > 0.0:
                    remember(work, count, feet)
                    work.queue[count * feet + b] = kind | j << INDEX
                    count = add(work, feet, rank, count)
    return count


@cold(types.int64)
def predict(contacts: Contacts, dt: Float, memory: Matrix, work: Workspace, rules: Named) -> Int:
    """The one-step mode: elect the states of all feet from the motions before the step. Returns the rank."""
    for b in range(contacts.near.size - 1):
        code = state_of(memory[:, MODE], work, b)
        work.code[b], work.pressure[b, 0] = code, 0.0
        n = work.begin[b + 1] - work.begin[b]
        for j in range(n):
            p = vertex(work, b, code, j)
            work.push[p, 2], work.end[p, 2] = memory[p, LOAD], contacts.velocity[p, 2]
            v, a = contacts.velocity[p, 2], contacts.acceleration[p, 2]
            if j >= clamped(code, n):
                work.flaw[p] = free_flaw(contacts, work, p, rules, v, a)
            elif memory[p, LOAD] < 0.0:
                work.flaw[p] = PRESSURE
            else:
                work.flaw[p] = GEOMETRY if contacts.gap[p] > rules.d else GOOD
        work.code[b] = elected(work, b, False)  # Moraud 2008, sec. IV
    return try_states(contacts, dt, work, rules)
