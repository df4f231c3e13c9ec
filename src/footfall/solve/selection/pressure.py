"""Spread a foot's normal force over its vertices without pulling at any, for a given centre of pressure."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from footfall.compiled import inlined, kernel

#: Most rounds in which vertices are unloaded or loaded again.
ROUNDS = 12


class Outline(NamedTuple):
    """A foot's polygon: the points ``ring[begin:end]``, counter-clockwise, at ``place[:, :2]`` (m)."""

    ring: np.ndarray
    begin: int
    end: int
    place: np.ndarray


class Load(NamedTuple):
    """A foot's normal force and its centre of pressure."""

    force: float  # N
    x: float  # m
    y: float  # m


@inlined
def beyond(outline, x, y):
    """Distance (m) of a point beyond the outline's worst edge, negative inside, and the number of that edge."""
    ring, begin, end, place = outline
    worst, which = -1e300, begin
    for j in range(begin, end):
        a = place[ring[j]]
        b = place[ring[j + 1 if j + 1 < end else begin]]
        u, v = b[0] - a[0], b[1] - a[1]
        out = (v * (x - a[0]) - u * (y - a[1])) / math.sqrt(u * u + v * v)
        if out > worst:
            worst, which = out, j
    return worst, which


@inlined
def affine_load(outline, load, push):
    """Put the shares (N) of least norm of a load into ``push[:, 2]``: an affine function of the place, which may be
    negative.

    Gives the least share, and whether there is a solution: there is none if the vertices lie on a line.
    """
    ring, begin, end, place = outline
    force, x, y = load
    n = end - begin
    cx, cy = 0.0, 0.0
    for j in range(begin, end):
        cx += place[ring[j], 0]
        cy += place[ring[j], 1]
    cx, cy = cx / n, cy / n
    xx, yy, xy = 0.0, 0.0, 0.0
    for j in range(begin, end):
        u, v = place[ring[j], 0] - cx, place[ring[j], 1] - cy
        xx += u * u
        yy += v * v
        xy += u * v
    determinant = xx * yy - xy * xy
    if not determinant > 1e-12 * (xx + yy) ** 2:
        return 0.0, False
    mx, my = force * (x - cx) / determinant, force * (y - cy) / determinant
    gx, gy = yy * mx - xy * my, xx * my - xy * mx
    least = 1e300
    for j in range(begin, end):
        p = ring[j]
        share = force / n + gx * (place[p, 0] - cx) + gy * (place[p, 1] - cy)
        push[p, 2] = share
        least = min(least, share)
    return least, True


@inlined
def spread_load(outline, load, push):
    """Put the shares >= 0 (N) of least norm of a load inside the outline into ``push[:, 2]``.

    Where the affine function would pull, it is cut off at zero. At the rim, and where no such function is found, three
    vertices around the centre of pressure carry the load.
    """
    if load.force <= 0.0:
        for j in range(outline.begin, outline.end):
            push[outline.ring[j], 2] = 0.0
        return
    least, plane = affine_load(outline, load, push)
    if not (plane and least >= 0.0):
        cut_load(outline, load, plane, push)


@kernel
def cut_load(outline, load, plane, push):
    """The rest of :func:`spread_load`, if the affine function pulls; ``plane``: whether the vertices span one."""
    ring, begin, end, place = outline
    force, x, y = load
    if plane:
        for _ in range(ROUNDS):
            n, sx, sy, sxx, syy, sxy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for j in range(begin, end):
                if push[ring[j], 2] > 0.0:
                    u, v = place[ring[j], 0] - x, place[ring[j], 1] - y
                    n += 1.0
                    sx += u
                    sy += v
                    sxx += u * u
                    syy += v * v
                    sxy += u * v
            # a n + gx sx + gy sy = force; no moment about (x, y)
            d = sxx * syy - sxy * sxy
            if not d > 1e-12 * (sxx + syy) ** 2:
                break
            kx, ky = (syy * sx - sxy * sy) / d, (sxx * sy - sxy * sx) / d
            rest = n - kx * sx - ky * sy
            if not rest > 1e-9 * n:
                break
            a = force / rest
            gx, gy = -a * kx, -a * ky
            changed = False
            for j in range(begin, end):
                p = ring[j]
                share = a + gx * (place[p, 0] - x) + gy * (place[p, 1] - y)
                if (share > 0.0) != (push[p, 2] > 0.0):
                    changed = True
                push[p, 2] = share
            if not changed:
                for j in range(begin, end):
                    push[ring[j], 2] = max(0.0, push[ring[j], 2])
                return
    on_three(outline, load, push)


@inlined
def on_three(outline, load, push):
    """Put the load on the triangle of the outline's fan that contains its place, or the nearest one."""
    ring, begin, end, place = outline
    force, x, y = load
    for j in range(begin, end):
        push[ring[j], 2] = 0.0
    if end - begin == 1:
        push[ring[begin], 2] = force
        return
    if end - begin == 2:
        on_two(place, ring[begin], ring[begin + 1], load, push)
        return
    a = place[ring[begin]]
    best, which = -1e300, begin + 1
    for j in range(begin + 1, end - 1):
        least = least_share(a, place[ring[j]], place[ring[j + 1]], x, y)
        if least > best:
            best, which = least, j
    b, c = place[ring[which]], place[ring[which + 1]]
    d = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    share_b = max(0.0, ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / d)
    share_c = max(0.0, ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / d)
    share_a = max(0.0, 1.0 - share_b - share_c)
    scale = force / (share_a + share_b + share_c)
    push[ring[begin], 2] = share_a * scale
    push[ring[which], 2] = share_b * scale
    push[ring[which + 1], 2] = share_c * scale


@inlined
def on_two(place, p, q, load, push):
    """Put the load on two vertices; if its place is beyond them, on the nearer one."""
    force, x, y = load
    a, b = place[p], place[q]
    u, v = b[0] - a[0], b[1] - a[1]
    share = min(1.0, max(0.0, (u * (x - a[0]) + v * (y - a[1])) / (u * u + v * v)))
    push[p, 2] = (1.0 - share) * force
    push[q, 2] = share * force


@inlined
def least_share(a, b, c, x, y):
    """The least barycentric coordinate of a point in a triangle."""
    d = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    if d == 0.0:
        return -1e300
    share_b = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / d
    share_c = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / d
    return min(share_b, share_c, 1.0 - share_b - share_c)
