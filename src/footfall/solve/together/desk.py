"""One contact problem in the memory that the lanes of a warp share, and the motions under forces there.

In contact frames throughout: there a foot's points need nothing but what a unit force along each axis does to the foot.
Where indices are spread over lanes, rows go in steps of ``DOWN`` and columns in steps of ``ACROSS``: whole numbers are
slow to divide on a GPU.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from footfall.compiled import inlined
from footfall.solve.contact_guess import DIRECTION, MISSES, MODE, SIZE
from footfall.solve.contact_lean import WITHOUT_GUESSES
from footfall.solve.contacts import OPEN, SLIDE, STICK, coulomb
from footfall.solve.problem import RAISED

#: Lanes that work together: a warp; and how they share a matrix.
LANES, DOWN, ACROSS = 32, 4, 8

#: Numba's module, once there is a card: global, for its simulator to replace.
cuda: Any = None


class Desk(NamedTuple):
    """What the lanes share of a problem of n points on F feet, n <= P and F <= K; N = 6K."""

    mobility: Any  # (N, N + 1) motions of the feet per unit wrench: L times the step
    rows: Any  # (3P, 6) what a unit force along an axis of a point's contact frame does to its foot
    free: Any  # (3P,) motions without forces
    target: Any  # (P,) least normal motions
    static: Any  # (P,) coefficients of friction
    dynamic: Any  # (P,)
    force: Any  # (3P,)
    kept: Any  # (3P,) forces that are kept aside
    end: Any  # (3P,) motions under the forces
    slip: Any  # (P, 5) of points that slide: direction of friction (2), its size, how it was turned (2)
    wrench: Any  # (N,)
    moved: Any  # (N,) motions of the feet
    share: Any  # (P,) what each point contributes to a sum
    system: Any  # (2, N, N + 1) equations, their right side last, and the same while they are eliminated
    gram: Any  # (2, N, 6) matrices of the feet, one below the other, and the same while they are inverted
    felt: Any  # (N, 6) C of each foot, see :mod:`footfall.solve.minimum_norm`
    bases: Any  # (N, 6) T of each foot
    acting: Any  # (N, 6) W^T W, with what friction does; then A
    z: Any  # (3P,) Newton's impulses, over their size
    centre: Any  # (3P,)
    step: Any  # (3P,)
    trial: Any  # (3P,)
    phi: Any  # (3P,)
    best: Any  # (3P,)
    ease: Any  # (P,)
    about: Any  # (P, 5) E of each point
    turned: Any  # (3P, 7) E times the rows, and last the step without what the feet do
    begin: Any  # (K + 1,) integers: the first point of each foot
    body: Any  # (K,) the feet's numbers
    pick: Any  # (K,) pivots
    rank: Any  # (K,)
    order: Any  # (N,) rows of pivots
    owner: Any  # (N,) the foot of each of the feet's motions
    foot: Any  # (3P,) the foot of each axis of a point
    kind: Any  # (P,) OPEN, STICK or SLIDE
    last: Any  # (P,) what it did in the step before
    wrong: Any  # (P,)


#: Which arrays of a desk have whole numbers.
WHOLE = ("begin", "body", "pick", "rank", "order", "owner", "foot", "kind", "last", "wrong")
#: Which of them Newton alone uses, and guesses alone.
OF_NEWTON = ("z", "centre", "step", "trial", "best", "ease", "about", "turned")
OF_GUESSES = ("felt", "bases", "acting", "pick", "rank", "wrong")


def desk_shapes(points: int, feet: int) -> dict[str, tuple[int, ...]]:
    """The shapes of its arrays."""
    n = 6 * feet
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(Desk._fields, (3 * points,))
    shapes |= {"mobility": (n, n + 1), "system": (2, n, n + 1), "gram": (2, n, 6)}
    shapes |= dict.fromkeys(("felt", "bases", "acting"), (n, 6))
    shapes |= {"rows": (3 * points, 6), "turned": (3 * points, 7)}
    shapes |= dict.fromkeys(("target", "static", "dynamic", "share", "ease"), (points,))
    shapes |= dict.fromkeys(("kind", "last", "wrong"), (points,))
    shapes |= dict.fromkeys(("wrench", "moved", "order", "owner"), (n,))
    shapes |= dict.fromkeys(("slip", "about"), (points, 5))
    return shapes | {"begin": (feet + 1,), "body": (feet,), "pick": (feet,), "rank": (feet,)}


def desk_bytes(points: int, feet: int) -> int:
    """Memory that lanes share for a desk, bytes."""
    return 8 * sum(math.prod(shape) for shape in desk_shapes(points, feet).values())


@inlined
def wait():
    """Let the lanes of a warp wait for each other; here they are all of a block."""
    cuda.syncthreads()


@inlined
def wait_for_warp():
    """The same, where the simulator does not have to know it."""
    cuda.syncwarp()


@inlined
def largest_row(lane, n, column, used):
    """The row of the largest number in a column (n,), the first of equals, among those whose bits are not in ``used``,
    and its size; below zero if there is none.
    """
    best, largest = 0, -1.0
    for i in range(n):
        value = abs(column[i])
        if value > largest and (used >> i) & 1 == 0:
            best, largest = i, value
    return best, largest


@inlined
def largest_row_by_lanes(lane, n, column, used):
    """The same by lanes that tell each other, which the simulator does not know: each looks at a quarter."""
    best, largest = 0, -1.0
    for i in range(lane // ACROSS, n, DOWN):
        value = abs(column[i])
        if value > largest and (used >> i) & 1 == 0:
            best, largest = i, value
    for distance in (ACROSS, 2 * ACROSS):
        row, value = cuda.shfl_xor_sync(-1, best, distance), cuda.shfl_xor_sync(-1, largest, distance)
        if value > largest or (value == largest and row < best):
            best, largest = row, value
    return best, largest


@inlined
def largest_unused(lane, n, values, used):
    """The place of the largest of n numbers, of those that are not ``used``, and its size; below zero if there is none.

    Each lane looks at all of them, as Numba's simulator does not know how lanes tell each other.
    """
    best, largest = 0, -1.0
    for i in range(n):
        value = abs(values[i])
        if value > largest and used[i] == 0:
            best, largest = i, value
    return best, largest


@inlined
def largest_unused_by_lanes(lane, n, values, used):
    """The same by lanes that tell each other."""
    best, largest = 0, -1.0
    for i in range(lane, n, LANES):
        value = abs(values[i])
        if value > largest and used[i] == 0:
            best, largest = i, value
    for distance in (16, 8, 4, 2, 1):
        place, value = cuda.shfl_xor_sync(-1, best, distance), cuda.shfl_xor_sync(-1, largest, distance)
        if value > largest or (value == largest and place < best):
            best, largest = place, value
    return best, largest


@inlined
def told_lowest_of_lanes(lane, desk, count, place, rank):
    """Stands for :func:`footfall.solve.together.selection.lowest_of_lanes`, by lanes that tell each other."""
    for distance in (16, 8, 4, 2, 1):
        q, lower = cuda.shfl_xor_sync(-1, place, distance), cuda.shfl_xor_sync(-1, rank, distance)
        if q >= 0 and (place < 0 or lower < rank or (lower == rank and q < place)):
            place, rank = q, lower
    cuda.syncwarp()
    return place


@inlined
def told_any_lane(lane, desk, count, known):
    """Stands for :func:`footfall.solve.together.selection.any_lane`, the same way."""
    cuda.syncwarp()
    return cuda.any_sync(-1, known == 1)


@inlined
def fetch(lane, problem, step, desk):
    """Bring a problem to the desk: how many points and feet it has."""
    contacts, count, feet = problem.contacts, problem.contacts.number[0], 0
    for b in range(contacts.near.size - 1):
        if contacts.near[b + 1] > contacts.near[b]:
            if lane == 0:
                desk.begin[feet], desk.body[feet] = contacts.near[b], b
            feet += 1
    if lane == 0:
        desk.begin[feet] = count
    wait()
    for b in range(feet):
        for c in range(feet):
            for i in range(lane // ACROSS, 6, DOWN):
                for j in range(lane % ACROSS, 6, ACROSS):
                    value = contacts.mobility[6 * desk.body[b] + i, 6 * desk.body[c] + j]
                    desk.mobility[6 * b + i, 6 * c + j] = step * value
        for e in range(3 * desk.begin[b] + lane, 3 * desk.begin[b + 1], LANES):
            desk.foot[e] = b
        for k in range(lane, 6, LANES):
            desk.owner[6 * b + k] = b
    for i in range(lane // ACROSS, count, DOWN):
        p = contacts.points[i]
        for k in range(lane % ACROSS, 3, ACROSS):
            axis, arm, f = contacts.frame[p, k], contacts.arm[p], problem.friction[p]
            x, y, z, rx, ry, rz = axis[0], axis[1], axis[2], arm[0], arm[1], arm[2]
            fx, fy, fz, free, force = f[0], f[1], f[2], problem.free[p, k], problem.force[p, k]
            row = desk.rows[3 * i + k]
            row[0], row[1], row[2] = x, y, z
            row[3], row[4], row[5] = ry * z - rz * y, rz * x - rx * z, rx * y - ry * x
            desk.free[3 * i + k], desk.kept[3 * i + k] = free, force
            if k < 2:  # the direction of friction
                desk.slip[i, k] = fx * x + fy * y + fz * z
    for i in range(lane, count, LANES):
        p = contacts.points[i]
        target, static, dynamic = problem.target[p], contacts.static_friction[p], contacts.dynamic_friction[p]
        kind, last = problem.kind[p], int(problem.memory[p, MODE])
        desk.target[i], desk.static[i], desk.dynamic[i] = target, static, dynamic
        desk.kind[i], desk.last[i], desk.slip[i, 3] = kind, last, 0.0
    wait()
    return count, feet


@inlined
def raise_points(lane, count, problem, desk):
    """Move points along the normal to the height of their state's friction, see :mod:`.vertices`."""
    for i in range(lane, count, LANES):
        rise = problem.friction[problem.contacts.points[i], RAISED]
        for k in range(3):
            desk.rows[3 * i, 3 + k] += rise * desk.rows[3 * i + 1, k]
            desk.rows[3 * i + 1, 3 + k] -= rise * desk.rows[3 * i, k]
    wait()


@inlined
def move_feet(lane, feet, desk, force):
    """Motions of the feet under forces (3n,)."""
    n = 6 * feet
    for t in range(lane, n, LANES):
        b = desk.owner[t]
        k, value = t - 6 * b, 0.0
        for e in range(3 * desk.begin[b], 3 * desk.begin[b + 1]):
            value += desk.rows[e, k] * force[e]
        desk.wrench[t] = value
    wait()
    for t in range(lane, n, LANES):
        value = 0.0
        for c in range(n):
            value += desk.mobility[t, c] * desk.wrench[c]
        desk.moved[t] = value
    wait()


@inlined
def motion_of(desk, e):
    """What the motion of its foot is along one axis of a point."""
    row, first = desk.rows[e], 6 * desk.foot[e]
    value = 0.0
    for k in range(6):
        value += row[k] * desk.moved[first + k]
    return value


@inlined
def end_motions(lane, count, feet, desk):
    """Motions of the points under the forces."""
    move_feet(lane, feet, desk, desk.force)
    for e in range(lane, 3 * count, LANES):
        desk.end[e] = desk.free[e] + motion_of(desk, e)
    wait()


@inlined
def copy_together(lane, count, target, source):
    for e in range(lane, 3 * count, LANES):
        target[e] = source[e]
    wait()


@inlined
def bring_back(lane, count, problem, still, near, desk):
    """The forces to their owner, clipped to the cone, and what each point did, as ``conclude`` of
    :mod:`footfall.solve.contact_problem` does; and, if they are ``near``, from Newton, how many steps will begin so.
    """
    contacts, memory = problem.contacts, problem.memory
    without = 0.0
    if near:
        missed, slid = memory[contacts.points[0], MISSES], False
        for i in range(count):
            slid = slid or desk.last[i] == SLIDE
        without = 0.0 if slid else float(WITHOUT_GUESSES)  # where one slid, nobody guessed
        if missed > 0.0:
            without = missed - 1.0
    wait()
    for i in range(lane, count, LANES):
        p, frame = contacts.points[i], contacts.frame[contacts.points[i]]
        x, y, normal = desk.force[3 * i], desk.force[3 * i + 1], max(0.0, desk.force[3 * i + 2])
        u, v = desk.end[3 * i], desk.end[3 * i + 1]
        slides = math.sqrt(u * u + v * v) > still
        limit = desk.dynamic[i] if slides else desk.static[i]
        x, y, _ = coulomb(x, y, limit * normal)
        problem.force[p, 0], problem.force[p, 1], problem.force[p, 2] = x, y, normal
        mode = OPEN if normal == 0.0 else SLIDE if slides else STICK
        problem.mode[p] = mode
        memory[p, MODE], memory[p, MISSES] = mode, without
        if mode == SLIDE:
            size = math.sqrt(x * x + y * y)
            memory[p, SIZE] = size
            for k in range(3):
                along = (x * frame[0, k] + y * frame[1, k]) / size if size > 0.0 else 0.0
                memory[p, DIRECTION + k] = along
    wait()


@inlined
def bring_near(lane, count, problem, desk):
    """Forces that are nearly right to their owner, motions under them, and what each point seems to do."""
    contacts = problem.contacts
    for i in range(lane, count, LANES):
        p, frame = contacts.points[i], contacts.frame[contacts.points[i]]
        problem.kind[p] = desk.kind[i]
        for k in range(3):
            problem.force[p, k], problem.end[p, k] = desk.force[3 * i + k], desk.end[3 * i + k]
            problem.friction[p, k] = desk.slip[i, 0] * frame[0, k] + desk.slip[i, 1] * frame[1, k]


@inlined
def put_aside(lane, count, problem, desk):
    """Forces and the best forces, until Newton goes on."""
    for i in range(lane // ACROSS, count, DOWN):
        p = problem.contacts.points[i]
        for k in range(lane % ACROSS, 3, ACROSS):
            problem.end[p, k], problem.end[p, 3 + k] = desk.force[3 * i + k], desk.best[3 * i + k]


@inlined
def take_up(lane, count, problem, desk):
    """The same, from where they were put."""
    for i in range(lane // ACROSS, count, DOWN):
        p = problem.contacts.points[i]
        for k in range(lane % ACROSS, 3, ACROSS):
            desk.force[3 * i + k], desk.best[3 * i + k] = problem.end[p, k], problem.end[p, 3 + k]
    wait()
