"""Which points of a contact problem carry the feet: those chosen first, and those that join them."""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.solve.delassus import ANY
from footfall.solve.problem import MOST, NO_MORE

#: Points chosen of one foot at the beginning, and the most bodies for which that holds; with more bodies it is one
#: point each, since few points carry a heap, and missing ones join.
OF_A_FOOT, FEW_BODIES = 4, 3
#: Points of each body of a heap that are chosen because they carried it in the last step.
CARRY = 3


@inlined
def is_chosen(chosen, count, p):
    for i in range(count):
        if chosen[i] == p:
            return True
    return False


@inlined
def farthest(problem, b, first, count):
    """The point of a foot that may touch the ground and is farthest from those already chosen; -1 if all are chosen, or
    lie at the same places.
    """
    contacts, target, chosen = problem.contacts, problem.target, problem.chosen
    best, distance = -1, 0.0
    for i in range(contacts.near[b], contacts.near[b + 1]):
        p = contacts.points[i]
        if target[p] == ANY:
            continue
        nearest = 1e300
        for j in range(first, count):
            r, q = contacts.arm[p], contacts.arm[chosen[j]]
            nearest = min(nearest, (r[0] - q[0]) ** 2 + (r[1] - q[1]) ** 2 + (r[2] - q[2]) ** 2)
        if nearest > distance:
            best, distance = p, nearest
    return best


@inlined
def most_loaded(problem, b, first, count):
    """The point of a foot with the largest load that is not among those already chosen; -1 if none has any."""
    contacts, chosen = problem.contacts, problem.chosen
    best, load = -1, 0.0
    for i in range(contacts.near[b], contacts.near[b + 1]):
        p = contacts.points[i]
        chosen_already = is_chosen(chosen[first:], count - first, p)
        if problem.force[p, 2] > load and problem.target[p] != ANY and not chosen_already:
            best, load = p, problem.force[p, 2]
    return best


@kernel
def choose_few(problem, again):
    """Choose points of every foot: the one that enters the ground fastest, and others far from it. Gives their number.

    Where the law is solved again in the same step, take those that carried the feet in its last solution. In a heap of
    many bodies that is searched ``again``, as in the last step, take the points that carried each body most then: few
    feet would be held by three points each, and so by other ones from step to step.
    """
    contacts, free, target = problem.contacts, problem.free, problem.target
    count, bodies = 0, 0
    while contacts.number[1] > 0 and count < MOST and problem.chosen[count] != NO_MORE:
        count += 1
    if count > 0:
        return count
    for b in range(contacts.near.size - 1):
        bodies += 1 if contacts.near[b + 1] > contacts.near[b] else 0
    for b in range(contacts.near.size - 1 if again and bodies > FEW_BODIES else 0):
        first, best = count, most_loaded(problem, b, count, count)
        while best >= 0 and count < MOST and count - first < CARRY:
            problem.chosen[count] = best
            count += 1
            best = most_loaded(problem, b, first, count)
    if count > 0:
        return count
    most = OF_A_FOOT if bodies <= FEW_BODIES else 1
    for b in range(contacts.near.size - 1):
        first, worst, fastest = count, -1, 0.0
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            if target[p] != ANY and (worst < 0 or free[p, 2] - target[p] < fastest):
                worst, fastest = p, free[p, 2] - target[p]
        while worst >= 0 and count < MOST and count - first < most:
            problem.chosen[count] = worst
            count += 1
            worst = farthest(problem, b, first, count)
    return count


@inlined
def mark_end(problem, count):
    """End the list of points that are chosen."""
    if count < MOST:
        problem.chosen[count] = NO_MORE


@kernel
def join(problem, slack, count):
    """Add the point of each foot that enters the ground fastest, and drop those that carry nothing. Gives the number of
    chosen points, and whether any joined: if none, nothing has changed.
    """
    contacts, target, force, end = problem.contacts, problem.target, problem.force, problem.end
    chosen, before, joined = problem.chosen, count, False
    for b in range(contacts.near.size - 1):
        worst, deepest = -1, -slack
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            if end[p, 2] - target[p] < deepest and not is_chosen(chosen, before, p):
                worst, deepest = p, end[p, 2] - target[p]
        if worst < 0:
            continue
        if not joined:
            joined, count = True, 0
            for i in range(before):
                if force[chosen[i], 2] > 0.0:
                    chosen[count] = chosen[i]
                    count += 1
            before = count
        if count < MOST:
            chosen[count] = worst
            count += 1
    return count, joined
