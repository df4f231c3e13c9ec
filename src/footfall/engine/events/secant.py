"""Accelerations at the corrected end of a stride, from those evaluated at its predicted end.

A correction (``correction``, ``kinks``) moves the end of a stride by little, and accelerations and forces change
linearly with it. Where both ends are evaluated, that gives a pair: how velocities were corrected, and what this
changed. Corrections of strides that follow one another are alike. As far as one is a combination of those of the last
two pairs, what it changes is the same combination of what they did: a secant method. If what is left is too small to
matter, the next stride begins without an evaluation of its own, as in the PEC mode of predictors and correctors.
"""

from __future__ import annotations

from footfall.compiled import inlined, kernel
from footfall.engine.events.contact_set import show
from footfall.engine.events.flow import PAIRS, PUSHED, SECANT
from footfall.engine.events.in_step import look
from footfall.engine.other_bodies.near import too_small
from footfall.engine.step import DONE, TOO_SMALL
from footfall.solve.dense import copy, dot

#: What is known of the corrected end of a stride: nothing, what the next evaluation is to be compared with, or all that
#: it would tell.
IDLE, PENDING, READY = 0, 1, 2
#: Largest error of accelerations that are foretold so, over a stride and relative to the tolerance: differences of high
#: order multiply it.
AS_GOOD = 0.04
#: Square of the sine of the angle between two corrections below which the older one says nothing more.
ALIKE = 0.01


@kernel
def begin_pair(world, points, contacts, flow):
    """Keep accelerations and forces of this evaluation, to be compared with those of the next one, after the correction
    in ``flow.moved[0]``.
    """
    copy(flow.answer[0], world.qacc)
    for i in range(contacts.number[0]):
        copy(flow.answer_force[0, contacts.points[i]], points.force[contacts.points[i]])
    flow.tally[SECANT] = PENDING


@kernel
def end_pair(world, points, contacts, flow):
    """If one was begun, keep a correction and what it changed in place of the older of two such pairs."""
    if flow.tally[SECANT] != PENDING:
        return
    moved, answer, force = flow.moved, flow.answer, flow.answer_force
    for j in range(world.qacc.size):
        moved[2, j], answer[2, j] = moved[1, j], answer[1, j]
        moved[1, j], answer[1, j] = moved[0, j], world.qacc[j] - answer[0, j]
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            force[2, p, c], force[1, p, c] = force[1, p, c], points.force[p, c] - force[0, p, c]
    flow.tally[PAIRS] = min(2, flow.tally[PAIRS] + 1)


@kernel
def rate(flow, k):
    """Largest change of an acceleration in a pair, relative to the largest correction, 1/s."""
    moved, answer = 0.0, 0.0
    for j in range(flow.moved.shape[1]):
        moved, answer = max(moved, abs(flow.moved[k, j])), max(answer, abs(flow.answer[k, j]))
    return answer / max(moved, 1e-300)


@inlined
def combine(flow):
    """Factors on the two pairs whose sum is nearest to the last correction, by least squares."""
    last, newer, older, n = flow.moved[0], flow.moved[1], flow.moved[2], flow.moved.shape[1]
    own, along = dot(newer, newer, n), dot(last, newer, n)
    if flow.tally[PAIRS] == 2:
        other, mixed, beside = dot(older, older, n), dot(newer, older, n), dot(last, older, n)
        area = own * other - mixed * mixed
        if area > ALIKE * own * other:
            return (along * other - beside * mixed) / area, (beside * own - along * mixed) / area
    return along / max(own, 1e-300), 0.0


@inlined
def foretell_end(points, contacts, flow, dt):
    """Let accelerations and forces at the end of a stride of ``dt`` seconds be those of its last evaluation, and what
    its correction changes, if that is as good as an evaluation.
    """
    moved, answer, force = flow.moved, flow.answer, flow.answer_force
    if flow.tally[PAIRS] == 0:
        return
    newer, older = combine(flow)
    left = 0.0
    for j in range(moved.shape[1]):
        left = max(left, abs(moved[0, j] - newer * moved[1, j] - older * moved[2, j]))
    if dt * left * max(rate(flow, 1), rate(flow, 2) if older != 0.0 else 0.0) > AS_GOOD * flow.tolerance:
        return
    for j in range(moved.shape[1]):
        answer[0, j] += newer * answer[1, j] + older * answer[2, j]
    flow.tally[SECANT] = READY
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        for c in range(3):
            force[0, p, c] += newer * force[1, p, c] + older * force[2, p, c]
        if force[0, p, 2] < 0.0:  # it lifts off, or others carry its load
            flow.tally[SECANT] = IDLE


@inlined
def pushes_go_on(flow, pushes, step):
    """Whether bodies are pushed in a period as they were in the last one; how they are is kept for the next."""
    acting, did, does, same = flow.acting, flow.tally[PUSHED], 0, True
    for i in range(pushes.body.size):
        if pushes.start[i] <= step < pushes.stop[i]:
            does = 1
            for c in range(6):
                acting[pushes.body[i], c] -= pushes.wrench[i, c]
    if did == 0 and does == 0:
        return True
    for b in range(acting.shape[0]):
        for c in range(6):
            same = same and acting[b, c] == 0.0
            acting[b, c] = 0.0
    for i in range(pushes.body.size):
        if pushes.start[i] <= step < pushes.stop[i]:
            for c in range(6):
                acting[pushes.body[i], c] += pushes.wrench[i, c]
    flow.tally[PUSHED] = does
    return same


@inlined
def is_as_it_ended(world, flow, pushes, step):
    """Whether a period begins as the last one ended, of which something is known, with the same controls and pushes."""
    nq = world.qpos.size
    if not pushes_go_on(flow, pushes, step) or flow.tally[SECANT] == IDLE or world.act.size > 0:
        return False
    for i in range(nq):
        if world.qpos[i] != flow.ended[i]:
            return False
    for j in range(world.qvel.size):
        if world.qvel[j] != flow.ended[nq + j]:
            return False
    for i in range(world.ctrl.size):
        if world.ctrl[i] != flow.ctrl[i]:
            return False
    return True


@inlined
def begin_as_foretold(loop, flow):
    """Begin a stride with the accelerations and forces that were foretold, and a look at where points are and how they
    move: how that ended.
    """
    world, points, contacts = loop.world, loop.points, loop.contacts
    look(world, points, contacts, loop.conditions)
    if too_small(points, -1):
        return TOO_SMALL
    show(points, contacts, flow.touching)
    copy(world.qacc, flow.answer[0])
    for i in range(contacts.number[0]):
        copy(points.force[contacts.points[i]], flow.answer_force[0, contacts.points[i]])
    return DONE
