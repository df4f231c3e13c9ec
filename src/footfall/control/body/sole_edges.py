"""Soles that stand on the edge at their toes or at their heel: where it is, how it moves, and the frame of its wrench.

Edges are counted -1 the heel's, 0 the whole sole, 1 the toes'.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined


@inlined
def edge_arm(body, foot, edge):
    """(x, y, z) m, world frame: from the middle of a sole to that of its edge."""
    R, at = body.motion.rotation[foot], body.soles.edges[foot, 1 + edge]
    return (
        R[0, 0] * at[0] + R[0, 1] * at[1],
        R[1, 0] * at[0] + R[1, 1] * at[1],
        R[2, 0] * at[0] + R[2, 1] * at[1],
    )


@inlined
def across(a, b):
    """The vector product of two triples."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def edge_velocity(body, foot, edge):
    """(x, y, z) m/s of the middle of a sole, or of its edge."""
    v = body.velocity[foot]
    if edge == 0:
        return v[0], v[1], v[2]
    x, y, z = across((v[3], v[4], v[5]), edge_arm(body, foot, edge))
    return v[0] + x, v[1] + y, v[2] + z


@inlined
def write_level(slope, rotation, axes):
    """Write the axes (3, 3) of a sole that lies on ground of this slope, its edge along that of one that is pitched."""
    tall = math.sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1])
    up = (-slope[0] / tall, -slope[1] / tall, 1.0 / tall)
    x, y, z = across((rotation[0, 1], rotation[1, 1], rotation[2, 1]), up)
    long = math.sqrt(x * x + y * y + z * z)
    ahead = (x / long, y / long, z / long)
    aside = across(up, ahead)
    for r in range(3):
        axes[r, 0], axes[r, 1], axes[r, 2] = ahead[r], aside[r], up[r]


@inlined
def pitch_of(rotation, level):
    """rad, by which the heel of a sole is higher than its toes, over ``level`` axes (3, 3)."""
    up, ahead = 0.0, 0.0
    for r in range(3):
        up += rotation[r, 0] * level[r, 2]
        ahead += rotation[r, 0] * level[r, 0]
    return math.atan2(-up, ahead)


@inlined
def write_lying(body, foot, edge, level, lying):
    """Write where (3,) in m the middle of a pitched sole would be if it lay on the ground."""
    arm, at = edge_arm(body, foot, edge), body.soles.edges[foot, 1 + edge]
    for r in range(3):
        lying[r] = body.place[foot, r] + arm[r] - level[r, 0] * at[0] - level[r, 1] * at[1]


@inlined
def stand_on_edge(body, foot, edge, level):
    """Let Jacobian, drift and wrench of a foot be those of its edge, the wrench in ``level`` axes (3, 3).

    For v + w x r of the edge at r from the middle: the acceleration is a + w' x r + w x (w x r).
    """
    motion, v = body.motion, body.velocity[foot]
    arm = edge_arm(body, foot, edge)
    J, drift, turning = motion.jacobian[foot], motion.drift[foot], (v[3], v[4], v[5])
    for j in range(J.shape[1]):
        x, y, z = across((J[3, j], J[4, j], J[5, j]), arm)
        J[0, j] += x
        J[1, j] += y
        J[2, j] += z
    first = across((drift[3], drift[4], drift[5]), arm)
    second = across(turning, across(turning, arm))
    for c in range(3):
        drift[c] += first[c] + second[c]
        for r in range(3):
            motion.rotation[foot, r, c] = level[r, c]
