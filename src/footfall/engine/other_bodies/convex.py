"""Contacts of two convex shapes, for GPUs, on which MuJoCo does not run.

A shape is the hull of some corners, swept by an ellipsoid and by a ball: a sphere is a corner with a ball, a capsule
two, a box has eight corners, a mesh those of its hull; a cylinder is its axis swept by a disc. So one support function
serves all. The *core* of a shape is the shape without the ball.

The gap of two shapes along a direction n is that between two planes with this normal, ``min n.b - max n.a`` over their
points, negative where they overlap. The distance is the largest gap of all directions. Where the cores are apart, it
is found by Wolfe's method for the point of least norm in the hull of the differences b - a (Wolfe 1976, "Finding the
nearest point in a polytope"). Where they overlap, B is moved out along n first, and the shortest vector w from A to the
moved B is the next n: with a move s its gap is ``|w| - s n.w/|w|``, never less than before. The iteration ends at the
least depth near its initial direction; it begins with the line of the centres, and with the best axis of both shapes.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from footfall.compiled import inlined
from footfall.kinds import Bool, Float, Int, Ints, Matrix, Tensor, Vector

# Shares of the size of the smaller shape: least distance of cores in which directions are computed; spots that are
# nearer than this are one; how far beyond the edges of a face another may be that rests on it.
APART, ONE, BEYOND = 1e-3, 0.05, 1e-3
#: Tangent of the angle up to which two faces count as parallel; ends of a curve are nearer than ``ONE`` then.
FLAT = 0.03
#: Tangent of the angle by which directions across the normal are turned, to break the tie between both ends of an edge.
ASIDE = 0.1
#: Relative tolerance of a distance.
EXACT = 1e-9
# Iteration limits, which bound the time of a step: corners added to a shortest vector; moves out of an overlap.
STEPS, MOVES = 64, 16
#: Weights of corners below this are rounding.
NONE = 1e-12
#: Lower bound of denominators.
TINY = 1e-30
#: Most spots of two shapes.
SPOTS = 4


class Shapes(NamedTuple):
    """The shapes of G geoms with C corners in all, constant; those that collide with nothing have no corners."""

    body: Ints  # (G,)
    place: Matrix  # (G, 3) m, body frame
    turn: Matrix  # (G, 9) body frame from the frame of the shape
    begin: Ints  # (G + 1,) first corner of each
    corner: Matrix  # (C, 3) m, frame of the shape
    axes: Matrix  # (G, 3) m, semi-axes of the ellipsoid, along those of the shape
    ball: Vector  # (G,) m
    size: Vector  # (G,) m, of a ball around it


class Probe(NamedTuple):
    """Scratch for comparing two shapes, A and B."""

    place: Annotated[Matrix, 2, 3]  # m, world frame
    turn: Annotated[Matrix, 2, 9]
    normal: Annotated[Vector, 3]  # from A to B
    way: Annotated[Matrix, 4, 3]  # m, corners of the hull of differences, B less A, whose hull has the shortest way
    start: Annotated[Matrix, 4, 3]  # m, world frame, their points on A
    share: Annotated[Matrix, 4, 2]  # of each in the shortest way: as it is; on the plane, or line, of all
    touch: Annotated[Vector, 3]  # m, world frame, where the core of A is nearest to that of B
    around: Annotated[Matrix, 4, 3]  # unit vectors across the normal, a right angle from one to the next
    face: Annotated[Tensor, 2, 4, 3]  # m, world frame, corners of the cores' faces, in order
    ring: Annotated[Tensor, 2, 8, 3]  # m, world frame, of a face that is cut
    spot: Annotated[Matrix, 4, 4]  # m, world frame, middle of both surfaces; gap


@inlined
def put(xpos: Matrix, xmat: Matrix, shapes: Shapes, g: Int, probe: Probe, side: Int) -> None:
    """Write position and orientation of a shape from those of its body."""
    b, u, t = shapes.body[g], shapes.place[g], shapes.turn[g]
    x, r, at, out = xpos[b], xmat[b], probe.place[side], probe.turn[side]
    for i in range(3):
        at[i] = x[i] + r[3 * i] * u[0] + r[3 * i + 1] * u[1] + r[3 * i + 2] * u[2]
        for j in range(3):
            out[3 * i + j] = r[3 * i] * t[j] + r[3 * i + 1] * t[3 + j] + r[3 * i + 2] * t[6 + j]


@inlined
def farthest(
    shapes: Shapes, g: Int, probe: Probe, side: Int, x: Float, y: Float, z: Float
) -> tuple[Float, Float, Float]:
    """The point (m, world frame) of a core that is farthest in a direction (x, y, z)."""
    r, at, e = probe.turn[side], probe.place[side], shapes.axes[g]
    u, v, w = r[0] * x + r[3] * y + r[6] * z, r[1] * x + r[4] * y + r[7] * z, r[2] * x + r[5] * y + r[8] * z
    best, far = shapes.begin[g], -math.inf
    for i in range(shapes.begin[g], shapes.begin[g + 1]):
        p = shapes.corner[i]
        along = p[0] * u + p[1] * v + p[2] * w
        if along > far:
            best, far = i, along
    a, b, c = shapes.corner[best, 0], shapes.corner[best, 1], shapes.corner[best, 2]
    if e[0] > 0.0:
        size = math.sqrt((e[0] * u) ** 2 + (e[1] * v) ** 2 + (e[2] * w) ** 2)
        if size > 0.0:
            a, b, c = a + e[0] * e[0] * u / size, b + e[1] * e[1] * v / size, c + e[2] * e[2] * w / size
    return (
        at[0] + r[0] * a + r[1] * b + r[2] * c,
        at[1] + r[3] * a + r[4] * b + r[5] * c,
        at[2] + r[6] * a + r[7] * b + r[8] * c,
    )


@inlined
def gap_along(shapes: Shapes, g: Int, h: Int, probe: Probe, x: Float, y: Float, z: Float) -> Float:
    """The gap (m) of two cores along a direction."""
    ax, ay, az = farthest(shapes, g, probe, 0, x, y, z)
    bx, by, bz = farthest(shapes, h, probe, 1, -x, -y, -z)
    return (bx - ax) * x + (by - ay) * y + (bz - az) * z


@inlined
def add_corner(shapes: Shapes, g: Int, h: Int, probe: Probe, k: Int, move: tuple[Float, Float, Float]) -> Float:
    """Put the difference of the cores that is least along ``probe.normal`` at k, B moved; returns how far that is."""
    x, y, z = probe.normal[0], probe.normal[1], probe.normal[2]
    ax, ay, az = farthest(shapes, g, probe, 0, x, y, z)
    bx, by, bz = farthest(shapes, h, probe, 1, -x, -y, -z)
    a, w = probe.start[k], probe.way[k]
    a[0], a[1], a[2] = ax, ay, az
    w[0], w[1], w[2] = bx - ax + move[0], by - ay + move[1], bz - az + move[2]
    return w[0] * x + w[1] * y + w[2] * z


@inlined
def share_out(probe: Probe, count: Int) -> None:
    """The shares, negative ones too, with which corners give the point of least norm on their line, plane or space."""
    w, share = probe.way, probe.share
    p, t1, t2, t3 = w[0], 0.0, 0.0, 0.0
    if count > 1:
        ax, ay, az = w[1, 0] - p[0], w[1, 1] - p[1], w[1, 2] - p[2]
        if count == 2:
            t1 = -(p[0] * ax + p[1] * ay + p[2] * az) / max(ax * ax + ay * ay + az * az, TINY)
        else:
            bx, by, bz = w[2, 0] - p[0], w[2, 1] - p[1], w[2, 2] - p[2]
            nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx  # a x b
            ux, uy, uz = p[1] * bz - p[2] * by, p[2] * bx - p[0] * bz, p[0] * by - p[1] * bx  # p x b
            vx, vy, vz = ay * p[2] - az * p[1], az * p[0] - ax * p[2], ax * p[1] - ay * p[0]  # a x p
            if count == 3:
                square = max(nx * nx + ny * ny + nz * nz, TINY)
                t1 = -(ux * nx + uy * ny + uz * nz) / square
                t2 = -(vx * nx + vy * ny + vz * nz) / square
            else:
                cx, cy, cz = w[3, 0] - p[0], w[3, 1] - p[1], w[3, 2] - p[2]
                volume = nx * cx + ny * cy + nz * cz
                volume = volume if abs(volume) > TINY else TINY
                t1 = -(ux * cx + uy * cy + uz * cz) / volume
                t2 = -(vx * cx + vy * cy + vz * cz) / volume
                t3 = -(nx * p[0] + ny * p[1] + nz * p[2]) / volume
    share[0, 1], share[1, 1], share[2, 1], share[3, 1] = 1.0 - t1 - t2 - t3, t1, t2, t3


@inlined
def leave_out(probe: Probe, count: Int) -> Int:
    """Keep the corners whose hull has the point of least norm of all inside; the last is new. Gives their number."""
    w, a, share = probe.way, probe.start, probe.share
    share[count - 1, 0] = 0.0
    for _ in range(4):
        share_out(probe, count)
        step = 1.0
        for i in range(count):
            if not share[i, 1] > NONE:  # nor where all lie on a line or in a plane
                step = min(step, share[i, 0] / max(share[i, 0] - share[i, 1], NONE))
        kept = 0
        for i in range(count):
            value = share[i, 0] + step * (share[i, 1] - share[i, 0])
            if value > NONE:
                share[kept, 0] = value
                for k in range(3):
                    w[kept, k], a[kept, k] = w[i, k], a[i, k]
                kept += 1
        if kept == count or kept == 0:
            return count - (1 if kept == 0 else 0)
        count = kept
        if step == 1.0:
            return count
    return count


@inlined
def shortest_way(
    shapes: Shapes, g: Int, h: Int, probe: Probe, move: tuple[Float, Float, Float], least: Float, far: Float
) -> tuple[Float, Bool]:
    """The distance (m) of the cores, B moved, from ``probe.normal`` on, which becomes that from A to B.

    Less than ``least`` counts as none. It stops, and the second answer is True, where they are certainly more than
    ``far`` apart; then it returns a lower bound.
    """
    n, w, a, share = probe.normal, probe.way, probe.start, probe.share
    size, count = math.inf, 0
    for _ in range(STEPS):
        along = add_corner(shapes, g, h, probe, count, move)
        if along > far:
            return along, True
        if count > 0 and size - along <= EXACT * size:
            break
        count = leave_out(probe, count + 1)
        x, y, z = 0.0, 0.0, 0.0
        for i in range(count):
            x, y, z = x + share[i, 0] * w[i, 0], y + share[i, 0] * w[i, 1], z + share[i, 0] * w[i, 2]
        before, size = size, math.sqrt(x * x + y * y + z * z)
        if size < least:
            break
        n[0], n[1], n[2] = x / size, y / size, z / size
        if not size < before or count == 4:  # what is left is rounding
            break
    touch = probe.touch
    for k in range(3):
        touch[k] = 0.0
        for i in range(count):
            touch[k] += share[i, 0] * a[i, k]
    return size, False


@inlined
def best_beginning(shapes: Shapes, g: Int, h: Int, probe: Probe, x: Float, y: Float, z: Float, first: Int) -> Float:
    """The largest gap (m) of two cores along some directions, which becomes ``probe.normal``: from number 15 on, the
    direction (x, y, z) alone; before, the axes of both shapes and what is across an axis of each, all towards the side
    of (x, y, z). Of two boxes that overlap none is larger.
    """
    gap, n = -math.inf, probe.normal
    for k in range(first, 15 if first == 0 else 16):
        r, i = probe.turn[min(1, k // 3)], k % 3
        u, v, w = r[i], r[3 + i], r[6 + i]
        if k > 5:
            r, i = probe.turn[0], min(2, (k - 6) // 3)
            a, b, c = r[i], r[3 + i], r[6 + i]
            u, v, w = v * c - w * b, w * a - u * c, u * b - v * a
        size = math.sqrt(u * u + v * v + w * w)
        if k == 15:
            u, v, w, size = x, y, z, 1.0
        if size < FLAT:
            continue
        side = 1.0 / size if u * x + v * y + w * z >= 0.0 else -1.0 / size
        u, v, w = side * u, side * v, side * w
        along = gap_along(shapes, g, h, probe, u, v, w)
        if along > gap:
            gap, n[0], n[1], n[2] = along, u, v, w
    return gap


@inlined
def apart(shapes: Shapes, g: Int, h: Int, probe: Probe, reach: Float) -> tuple[Float, Bool]:
    """The distance (m) of two shapes that are put in their places, negative where they overlap.

    The second answer is True where they are certainly more than ``reach`` (m) apart; then the first is a lower bound.
    Otherwise ``probe.normal`` points from A to B, and ``probe.touch`` is where the core of A touches.
    """
    n, at, touch, balls = probe.normal, probe.place, probe.touch, shapes.ball[g] + shapes.ball[h]
    least, best = APART * min(shapes.size[g], shapes.size[h]), -math.inf
    x, y, z = at[1, 0] - at[0, 0], at[1, 1] - at[0, 1], at[1, 2] - at[0, 2]
    size = math.sqrt(x * x + y * y + z * z)
    x, y, z = (x / size, y / size, z / size) if size > 0.0 else (0.0, 0.0, 1.0)
    n[0], n[1], n[2] = x, y, z
    nx, ny, nz, tx, ty, tz = x, y, z, 0.0, 0.0, 0.0
    for climb in range(3):  # as they are; then up from the middles, and from the best axis
        gap = least if climb == 0 else best_beginning(shapes, g, h, probe, x, y, z, 15 if climb == 1 else 0)
        for _ in range(MOVES):
            move, u, v, w, limit = max(0.0, least - gap), n[0], n[1], n[2], reach + balls if climb == 0 else math.inf
            none = least if climb == 0 else 0.5 * least
            distance, far = shortest_way(shapes, g, h, probe, (move * u, move * v, move * w), none, limit)
            if climb == 0:
                if far or distance >= least:
                    return distance - balls, far
                break
            before, gap = gap, distance - move * (n[0] * u + n[1] * v + n[2] * w)
            if gap - before <= EXACT * least or move == 0.0:
                break
        if climb > 0 and gap > best:
            best, nx, ny, nz, tx, ty, tz = gap, n[0], n[1], n[2], touch[0], touch[1], touch[2]
    n[0], n[1], n[2], touch[0], touch[1], touch[2] = nx, ny, nz, tx, ty, tz
    return best - balls, False


@inlined
def find_spots(shapes: Shapes, g: Int, h: Int, probe: Probe, gap: Float) -> Int:
    """Write where two shapes touch, whose ``gap`` (m) and normal are known, to ``probe.spot``; returns the number of
    spots: one, or corners of the part that flat faces have in common, four at most.
    """
    n, ball = probe.normal, shapes.ball
    count = 0
    if shapes.begin[g + 1] - shapes.begin[g] > 1 and shapes.begin[h + 1] - shapes.begin[h] > 1:
        count = common_face(shapes, g, h, probe, gap)
    if count < 2:
        way = ball[g] + 0.5 * gap
        for k in range(3):
            probe.spot[0, k] = probe.touch[k] + way * n[k]
        probe.spot[0, 3] = gap
        return 1
    return count


@inlined
def set_around(probe: Probe) -> None:
    """Directions across the normal, the first almost to where A touches: on the rim of a tilted disc that is lowest."""
    n, at, touch, around = probe.normal, probe.place[0], probe.touch, probe.around
    x, y, z = touch[0] - at[0], touch[1] - at[1], touch[2] - at[2]
    along, square = x * n[0] + y * n[1] + z * n[2], x * x + y * y + z * z
    x, y, z = x - along * n[0], y - along * n[1], z - along * n[2]
    if x * x + y * y + z * z <= FLAT * FLAT * square:  # right below its middle
        x, y, z = (0.0, -n[2], n[1]) if abs(n[0]) < 0.5 else (n[2], 0.0, -n[0])
    u, v, w = n[1] * z - n[2] * y, n[2] * x - n[0] * z, n[0] * y - n[1] * x
    x, y, z = x + ASIDE * u, y + ASIDE * v, z + ASIDE * w
    size = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / size, y / size, z / size
    u, v, w = n[1] * z - n[2] * y, n[2] * x - n[0] * z, n[0] * y - n[1] * x
    around[0, 0], around[0, 1], around[0, 2], around[1, 0], around[1, 1], around[1, 2] = x, y, z, u, v, w
    around[2, 0], around[2, 1], around[2, 2], around[3, 0], around[3, 1], around[3, 2] = -x, -y, -z, -u, -v, -w


@inlined
def find_face(shapes: Shapes, g: Int, probe: Probe, side: Int) -> Float:
    """Write the corners of the face that a core turns to the other; returns how far apart (m) opposite ones are."""
    n, around, face, sign = probe.normal, probe.around, probe.face[side], 1.0 - 2.0 * side
    for i in range(4):
        d, out = around[i], face[i]
        x, y, z = sign * n[0] + FLAT * d[0], sign * n[1] + FLAT * d[1], sign * n[2] + FLAT * d[2]
        out[0], out[1], out[2] = farthest(shapes, g, probe, side, x, y, z)
    square = 0.0
    for i in range(2):
        a, b = face[i], face[i + 2]
        square = max(square, (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)
    return math.sqrt(square)


@inlined
def cut(probe: Probe, small: Int, beyond: Float) -> Int:
    """Cut the smaller face by the edges of the other, seen along the normal, and write what is left to the first ring
    (Sutherland and Hodgman); returns the number of its corners. The other reaches ``beyond`` (m) its corners.
    """
    n, around, large, count = probe.normal, probe.around, probe.face[1 - small], 4
    for i in range(4):
        for k in range(3):
            probe.ring[0, i, k] = probe.face[small, i, k]
    for e in range(4):
        a, b, c, d = large[e], large[(e + 1) % 4], around[e], around[(e + 1) % 4]
        px, py, pz = a[0] + beyond * c[0], a[1] + beyond * c[1], a[2] + beyond * c[2]
        x, y, z = b[0] + beyond * d[0] - px, b[1] + beyond * d[1] - py, b[2] + beyond * d[2] - pz
        x, y, z = y * n[2] - z * n[1], z * n[0] - x * n[2], x * n[1] - y * n[0]  # outward
        old, new, kept = probe.ring[e % 2], probe.ring[1 - e % 2], 0
        for i in range(count):
            p, q = old[i], old[(i + 1) % count]
            here = x * (p[0] - px) + y * (p[1] - py) + z * (p[2] - pz)
            there = x * (q[0] - px) + y * (q[1] - py) + z * (q[2] - pz)
            if here <= 0.0:
                new[kept, 0], new[kept, 1], new[kept, 2] = p[0], p[1], p[2]
                kept += 1
            if (here <= 0.0) != (there <= 0.0):
                t = here / (here - there)
                for k in range(3):
                    new[kept, k] = p[k] + t * (q[k] - p[k])
                kept += 1
        count = kept
    return count


@inlined
def level(probe: Probe, side: Int) -> tuple[Float, Float, Float]:
    """The plane nearest to the corners of a face: its height along the normal at the origin of the world, seen along
    the normal, and its slopes in the first two directions across.
    """
    n, around, face = probe.normal, probe.around, probe.face[side]
    u, v, mu, mv, mz = around[0], around[1], 0.0, 0.0, 0.0
    for i in range(4):
        p = face[i]
        mu += 0.25 * (p[0] * u[0] + p[1] * u[1] + p[2] * u[2])
        mv += 0.25 * (p[0] * v[0] + p[1] * v[1] + p[2] * v[2])
        mz += 0.25 * (p[0] * n[0] + p[1] * n[1] + p[2] * n[2])
    uu, uv, vv, uz, vz = TINY, 0.0, TINY, 0.0, 0.0
    for i in range(4):
        p = face[i]
        a = p[0] * u[0] + p[1] * u[1] + p[2] * u[2] - mu
        b = p[0] * v[0] + p[1] * v[1] + p[2] * v[2] - mv
        c = p[0] * n[0] + p[1] * n[1] + p[2] * n[2] - mz
        uu, uv, vv, uz, vz = uu + a * a, uv + a * b, vv + b * b, uz + a * c, vz + b * c
    more = FLAT * FLAT * APART * (uu + vv)  # so that an edge is a plane, too: level across it
    uu, vv = uu + more, vv + more
    det = uu * vv - uv * uv
    su, sv = (uz * vv - vz * uv) / det, (vz * uu - uz * uv) / det
    return mz - su * mu - sv * mv, su, sv


@inlined
def common_face(shapes: Shapes, g: Int, h: Int, probe: Probe, gap: Float) -> Int:
    """The same where both turn a face or an edge to the other; returns less than two where they do not."""
    n, around, ring, spot = probe.normal, probe.around, probe.ring[0], probe.spot
    least = min(shapes.size[g], shapes.size[h])
    set_around(probe)
    width, small = math.inf, 0
    for side in range(2):
        own = find_face(shapes, g if side == 0 else h, probe, side)
        if own < width:
            width, small = own, side
    if width < ONE * least:
        return 0
    corners, sign = cut(probe, small, BEYOND * least), 1.0 - 2.0 * small
    height, su, sv = level(probe, 1 - small)
    u, v, count, deepest = around[0], around[1], 0, math.inf
    for i in range(4):
        best, far = -1, -math.inf
        for j in range(corners):
            along = ring[j, 0] * around[i, 0] + ring[j, 1] * around[i, 1] + ring[j, 2] * around[i, 2]
            if along > far:
                best, far = j, along
        for j in range(count):  # those that are taken
            p, q = ring[best], spot[j]
            if (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2 < (ONE * least) ** 2:
                best = -1
                break
        if best < 0:
            continue
        p, out = ring[best], spot[count]
        out[0], out[1], out[2] = p[0], p[1], p[2]
        a, b = p[0] * u[0] + p[1] * u[1] + p[2] * u[2], p[0] * v[0] + p[1] * v[1] + p[2] * v[2]
        out[3] = sign * (height + su * a + sv * b - p[0] * n[0] - p[1] * n[1] - p[2] * n[2])
        deepest = min(deepest, out[3])
        count += 1
    ball = shapes.ball[g if small == 0 else h]
    for i in range(count):
        out = spot[i]
        out[3] += gap - deepest
        way = sign * (ball + 0.5 * out[3])
        out[0], out[1], out[2] = out[0] + way * n[0], out[1] + way * n[1], out[2] + way * n[2]
    return count
