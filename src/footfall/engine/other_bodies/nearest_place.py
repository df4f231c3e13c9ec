"""Where a body is nearest to the ground: how far its points are from it, and whether they will touch soon."""

from __future__ import annotations

from typing import Any, NamedTuple

from footfall.compiled import inlined
from footfall.engine.other_bodies.points import FAR

#: Points that have come farther than this from the ground give their place back, m, or than what comes that fast, m/s,
#: goes in a step.
KEEP, FASTEST = 0.02, 10.0
#: A disc whose normal is nearer to the ground's than this (sine) stands on its fixed points.
LEVEL = 0.1
#: A point is about to touch if its gap is less than this many times its way in a step, and a slack, m.
AHEAD, SLACK = 3.0, 2e-4


class Below(NamedTuple):
    """The ground under points that are looked at, and how near to it they are shown to the law."""

    surface: Any
    shape: Any
    table: Any
    margin: float  # m


@inlined
def support(turn, axes, nx, ny, nz, roll):
    """Where an ellipsoid touches, from its centre, world frame, and whether it does so in one place.

    With W the semi-axes in the world and y = W^T n that is -W y / |y|; ``roll`` (3, 3) becomes the derivative of its
    place by the turning of the normal, W W^T / |y| - (W y)(W y)^T / |y|^3, which for a ball is its radius.
    """
    ax, ay, az, bx, by, bz, cx, cy, cz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):  # the columns of W are a, b, c
        ax += turn[k] * axes[k, 0]
        ay += turn[3 + k] * axes[k, 0]
        az += turn[6 + k] * axes[k, 0]
        bx += turn[k] * axes[k, 1]
        by += turn[3 + k] * axes[k, 1]
        bz += turn[6 + k] * axes[k, 1]
        cx += turn[k] * axes[k, 2]
        cy += turn[3 + k] * axes[k, 2]
        cz += turn[6 + k] * axes[k, 2]
    u, v, w = ax * nx + ay * ny + az * nz, bx * nx + by * ny + bz * nz, cx * nx + cy * ny + cz * nz
    longest = max(ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz, cx * cx + cy * cy + cz * cz)
    size = (u * u + v * v + w * w) ** 0.5
    if size * size < LEVEL * LEVEL * longest:
        return 0.0, 0.0, 0.0, False
    x, y, z = ax * u + bx * v + cx * w, ay * u + by * v + cy * w, az * u + bz * v + cz * w
    s, t = 1.0 / size, 1.0 / size**3
    roll[0, 0] = (ax * ax + bx * bx + cx * cx) * s - x * x * t
    roll[0, 1] = (ax * ay + bx * by + cx * cy) * s - x * y * t
    roll[0, 2] = (ax * az + bx * bz + cx * cz) * s - x * z * t
    roll[1, 1] = (ay * ay + by * by + cy * cy) * s - y * y * t
    roll[1, 2] = (ay * az + by * bz + cy * cz) * s - y * z * t
    roll[2, 2] = (az * az + bz * bz + cz * cz) * s - z * z * t
    roll[1, 0], roll[2, 0], roll[2, 1] = roll[0, 1], roll[0, 2], roll[1, 2]
    return -x * s, -y * s, -z * s, True


@inlined
def kept_within(dt):
    """The gap (m) beyond which a point has no place among the contact points in steps of ``dt`` (s)."""
    return max(KEEP, FASTEST * dt)


@inlined
def is_far(world, others, b, surface, shape, table, reach):
    """Whether no point of a body can be near the ground: by the box around them all, on uneven ground by the ball.

    Near is what keeps a place, or, of a body that has none, what may touch within ``AHEAD`` steps; where the law is
    shown points before that, what is within ``reach`` (m).
    """
    body = others.body[b]
    x, r, u, h = world.xpos[body], world.xmat[body], others.centre[b], others.half[b]
    pz = x[2] + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]
    low = pz - others.highest - (abs(r[6]) * h[0] + abs(r[7]) * h[1] + abs(r[8]) * h[2])
    if low > kept_within(others.dt):
        return True
    px = x[0] + r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
    py = x[1] + r[3] * u[0] + r[4] * u[1] + r[5] * u[2]
    gap, nx, ny, nz = surface(px, py, pz, shape, table)
    if others.flat == 1:
        extent = 0.0
        for c in range(3):
            extent += abs(r[c] * nx + r[3 + c] * ny + r[6 + c] * nz) * h[c]
        low = gap - extent
    else:
        low = gap / others.lipschitz - others.size[b]
    if low > kept_within(others.dt):
        return True
    if low <= SLACK or others.seated[b] > 0:
        return False
    if others.patient == 1:
        return low > reach
    v, com = world.cvel[body], world.subtree_com[others.root[b]]
    away = ((px - com[0]) ** 2 + (py - com[1]) ** 2 + (pz - com[2]) ** 2) ** 0.5 + others.size[b]
    spin = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) ** 0.5
    speed = (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]) ** 0.5 + spin * away
    return low > SLACK + AHEAD * others.dt * speed


@inlined
def touching_place(x, r, u, smooth, axes, roll, below):
    """Where a point ``u`` of a body at ``x``, turned by ``r``, or the ellipsoid around it, is nearest to the ground:
    its gap, place and normal, without its radius. The gap is ``FAR`` for a disc that stands on fixed points.
    """
    px = x[0] + r[0] * u[0] + r[1] * u[1] + r[2] * u[2]
    py = x[1] + r[3] * u[0] + r[4] * u[1] + r[5] * u[2]
    pz = x[2] + r[6] * u[0] + r[7] * u[1] + r[8] * u[2]
    gap, nx, ny, nz = below.surface(px, py, pz, below.shape, below.table)
    if smooth == 1:
        # First from the normal under the centre, then from that under the place found.
        touches, dx, dy, dz = True, 0.0, 0.0, 0.0
        for _ in range(2):
            dx, dy, dz, touches = support(r, axes, nx, ny, nz, roll)
            if not touches:
                break
            gap, nx, ny, nz = below.surface(px + dx, py + dy, pz + dz, below.shape, below.table)
        if touches:
            px, py, pz = px + dx, py + dy, pz + dz
        else:
            gap = FAR
    return gap, px, py, pz, nx, ny, nz


@inlined
def touches_soon(gap, at, v, com, dt):
    """Whether a point at the place ``at`` (3) of a body that moves with ``v`` about ``com`` is about to touch."""
    if gap <= SLACK:
        return True
    rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
    vx = v[3] + v[1] * rz - v[2] * ry
    vy = v[4] + v[2] * rx - v[0] * rz
    vz = v[5] + v[0] * ry - v[1] * rx
    return gap <= SLACK + AHEAD * dt * (vx * vx + vy * vy + vz * vz) ** 0.5
