"""Heel-off and heel strike of a walk in long steps.

The foot behind stands on the edge at its toes before it is lifted, and its heel rises; the foot in front lands on its
heel, and comes level. Of such a foot only the points of that edge carry: its wrench is taken there.
Edges are counted -1 the heel's, 0 the whole sole, 1 the toes'.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.control.senses import cross, rotation_between, turn_axes
from footfall.control.walk.soles import SoleBody, keep_to_friction
from footfall.control.walk.state import HEEL_RISES, Gait, Walker
from footfall.control.walk.stature import LONGER
from footfall.control.whole_body import CONTACTS
from footfall.gait.footsteps import ACCELERATION, POSITION, VELOCITY, Footstep, head_for
from footfall.kinds import Float, Int, Matrix, Vector


@inlined
def edge_arm(body: SoleBody, foot: Int, edge: Int) -> tuple[Float, Float, Float]:
    """(x, y, z) m, world frame: from the middle of a sole to that of its edge."""
    R, at = body.rotation[foot], body.soles.edges[foot, 1 + edge]
    return (
        R[0, 0] * at[0] + R[0, 1] * at[1],
        R[1, 0] * at[0] + R[1, 1] * at[1],
        R[2, 0] * at[0] + R[2, 1] * at[1],
    )


@inlined
def edge_velocity(body: SoleBody, foot: Int, edge: Int) -> tuple[Float, Float, Float]:
    """(x, y, z) m/s of the middle of a sole, or of its edge."""
    v = body.velocity[foot]
    if edge == 0:
        return v[0], v[1], v[2]
    x, y, z = cross((v[3], v[4], v[5]), edge_arm(body, foot, edge))
    return v[0] + x, v[1] + y, v[2] + z


@inlined
def write_level(slope: Vector, rotation: Matrix, axes: Matrix) -> None:
    """Write the axes (3, 3) of a sole that lies on ground of this slope, its edge along that of one that is pitched."""
    tall = math.sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1])
    up = (-slope[0] / tall, -slope[1] / tall, 1.0 / tall)
    x, y, z = cross((rotation[0, 1], rotation[1, 1], rotation[2, 1]), up)
    long = math.sqrt(x * x + y * y + z * z)
    ahead = (x / long, y / long, z / long)
    aside = cross(up, ahead)
    for r in range(3):
        axes[r, 0], axes[r, 1], axes[r, 2] = ahead[r], aside[r], up[r]


@inlined
def pitch_of(rotation: Matrix, level: Matrix) -> Float:
    """rad, by which the heel of a sole is higher than its toes, over ``level`` axes (3, 3)."""
    up, ahead = 0.0, 0.0
    for r in range(3):
        up += rotation[r, 0] * level[r, 2]
        ahead += rotation[r, 0] * level[r, 0]
    return math.atan2(-up, ahead)


@inlined
def write_level_place(body: SoleBody, foot: Int, edge: Int, level: Matrix, level_place: Vector) -> None:
    """Write where (3,) in m the middle of a pitched sole would be if it lay on the ground."""
    arm, at = edge_arm(body, foot, edge), body.soles.edges[foot, 1 + edge]
    for r in range(3):
        level_place[r] = body.place[foot, r] + arm[r] - level[r, 0] * at[0] - level[r, 1] * at[1]


@inlined
def stand_on_edge(body: SoleBody, foot: Int, edge: Int, level: Matrix) -> None:
    """Let Jacobian, drift and wrench of a foot be those of its edge, the wrench in ``level`` axes (3, 3).

    For v + w x r of the edge at r from the middle: the acceleration is a + w' x r + w x (w x r).
    """
    motion, v, start = body.problem.motion, body.velocity[foot], CONTACTS + 6 * foot
    arm = edge_arm(body, foot, edge)
    J, drift, turning = motion.rows[start : start + 6], motion.drift[start : start + 6], (v[3], v[4], v[5])
    for j in range(J.shape[1]):
        x, y, z = cross((J[3, j], J[4, j], J[5, j]), arm)
        J[0, j] += x
        J[1, j] += y
        J[2, j] += z
    first = cross((drift[3], drift[4], drift[5]), arm)
    second = cross(turning, cross(turning, arm))
    for c in range(3):
        drift[c] += first[c] + second[c]
        for r in range(3):
            body.frames[foot, c, r] = level[r, c]


#: Pitch, rad, below which the height of a swinging foot's lower edge is smoothed.
ROUNDED = 0.05
#: Least pitch, rad, of a foot that stands on an edge.
LEAST_PITCH = 0.05
#: Share of the double support in which a foot that landed on its heel comes level.
LEVEL = 0.8
#: Speed of the heel's rise when the foot is lifted, as a ratio to its mean, so that the foot moves on with the hips.
RISING = 1.5
#: Share of the swing in which a foot reaches its pitch for the landing.
SWUNG = 0.8


@inlined
def part_of_longest(gait: Gait, apart: Float) -> Float:
    """How far apart feet are, in parts of the longest step, from 0 to a bit over 1."""
    return min(max(apart / gait.longest, 0.0), LONGER) if gait.longest > 0.0 else 0.0


@inlined
def apart_along(walk: Walker, behind: Int, x: Float, y: Float) -> Float:
    """m, by which a place is ahead of the foot behind, along that foot."""
    level_place, heading = walk.now.level_place[behind], walk.now.headings[behind]
    return (x - level_place[0]) * math.cos(heading) + (y - level_place[1]) * math.sin(heading)


@inlined
def see_level_place(walk: Walker, foot: Int) -> None:
    """Find where a foot would lie if it were level."""
    body, now = walk.body, walk.now
    if now.on_edge[foot] == 0:
        for c in range(3):
            now.level_place[foot, c] = body.place[foot, c]
        return
    write_level(now.slope, body.rotation[foot], now.level[foot])
    write_level_place(body, foot, now.on_edge[foot], now.level[foot], now.level_place[foot])


@inlined
def begin_pitch(walk: Walker, foot: Int, edge: Int) -> None:
    """Let a foot stand on an edge, as it is pitched."""
    body, now = walk.body, walk.now
    R = body.rotation[foot]
    write_level(now.slope, R, now.level[foot])
    one = now.pitch[foot]
    one[POSITION], one[VELOCITY], one[ACCELERATION] = pitch_of(R, now.level[foot]), 0.0, 0.0
    for c in range(3):
        one[VELOCITY] += now.level[foot, c, 1] * body.velocity[foot, 3 + c]
    now.on_edge[foot] = edge
    see_level_place(walk, foot)


@inlined
def land_on_edge(walk: Walker, foot: Int) -> None:
    """A foot came down: on its heel where that was planned."""
    now = walk.now
    if walk.gait.heel_first > 0.0:
        level = now.level[foot]
        write_level(now.slope, walk.body.rotation[foot], level)
        if pitch_of(walk.body.rotation[foot], level) < -LEAST_PITCH:
            begin_pitch(walk, foot, -1)


@inlined
def lead_edges(walk: Walker, spent: Float, behind: Int, step: Footstep) -> None:
    """Lead feet that pitch: ``behind`` is the one that is lifted next in ``step``, or -1; ``spent`` (s) of the phase is
    over.
    """
    now, gait = walk.now, walk.gait
    if gait.toe_off == 0.0 and gait.heel_first == 0.0:
        return
    support, swing = step.double_support, step.swing
    if behind >= 0:
        goal = now.swing.goal
        place = now.level_place[1 - behind]
        x, y = (goal[0], goal[1]) if now.swinging[0] else (place[0], place[1])
        rise = gait.toe_off * part_of_longest(gait, apart_along(walk, behind, x, y))
        left = max(now.lasts[0] - spent, 0.0) + (support if now.swinging[0] else 0.0)
        soon = not now.swinging[0] or spent > HEEL_RISES * now.lasts[0]
        if now.on_edge[behind] == 0 and soon and rise > LEAST_PITCH:
            begin_pitch(walk, behind, 1)
        if now.on_edge[behind] == 1:
            rate = RISING * rise / (support + (1.0 - HEEL_RISES) * swing)
            head_for(now.pitch[behind], rise, rate, left, gait.dt)
    for k in range(2):
        if now.on_edge[k] < 0:
            left = LEVEL * now.lasts[0] - spent
            head_for(now.pitch[k], 0.0, 0.0, left, gait.dt)
            if now.swinging[0] or left <= 0.0:
                now.on_edge[k] = 0
        see_level_place(walk, k)
        keep_to_friction(walk.body, k, walk.body.limits.friction[k], now.on_edge[k])


@inlined
def lift_from_edge(walk: Walker, foot: Int) -> None:
    """A foot is lifted from its toes: it goes on as it moves. Its height is that of its lower edge from now on."""
    body, now, swing = walk.body, walk.now, walk.now.swing
    swing.motion[2, POSITION] = swing.start_height[0] = now.level_place[foot, 2]
    for c in range(2):
        swing.motion[c, VELOCITY] = body.velocity[foot, c]
    for r in range(3):
        for c in range(3):
            now.lifted[r, c] = now.level[foot, r, c]
    now.on_edge[foot] = 0
    see_level_place(walk, foot)


@inlined
def swing_pitch(
    walk: Walker, foot: Int, left: Float, toes_up: Float
) -> tuple[tuple[Float, Float, Float], tuple[Float, Float, Float]]:
    """The pitch of a foot that swings and lands with its toes up by ``toes_up`` (rad) in ``left`` (s): rad, rad/s,
    rad/s2; and how much higher its middle is for it than its lower edge: m, m/s, m/s2.
    """
    one = walk.now.pitch[foot]
    head_for(one, -toes_up, 0.0, left, walk.gait.dt)
    angle, rate, push = one[POSITION], one[VELOCITY], one[ACCELERATION]
    # |s|, s = sin a, rounded off where the lower edge changes: g = s tanh(s / e), with its derivatives by s.
    s, c = math.sin(angle), math.cos(angle)
    part, bend = s / ROUNDED, math.tanh(s / ROUNDED)
    first = bend + part * (1.0 - bend * bend)
    second = 2.0 / ROUNDED * (1.0 - bend * bend) * (1.0 - part * bend)
    half, s_rate, s_push = walk.body.soles.half_length[foot], c * rate, c * push - s * rate * rate
    return (
        (angle, rate, push),
        (half * s * bend, half * first * s_rate, half * (first * s_push + second * s_rate * s_rate)),
    )


@inlined
def lead_foot_on_edge(walk: Walker, foot: Int, damping: Float, gains: tuple[Float, Float]) -> None:
    """The acceleration of a foot on an edge that leads its pitch, the edge itself at rest."""
    now, body = walk.now, walk.body
    R, goal, velocity, one = body.rotation[foot], body.feet[foot], body.velocity[foot], now.pitch[foot]
    level, wanted = now.level[foot], now.axes[0]
    v = edge_velocity(body, foot, now.on_edge[foot])
    angle = one[POSITION]
    turn_axes((angle * level[0, 1], angle * level[1, 1], angle * level[2, 1]), level, wanted)
    off = rotation_between(wanted, R)
    for c in range(3):
        goal[c] = -damping * v[c]
        rate = one[VELOCITY] * level[c, 1]
        goal[3 + c] = one[ACCELERATION] * level[c, 1] + gains[0] * off[c] + gains[1] * (rate - velocity[3 + c])


@inlined
def take_edges(walk: Walker) -> None:
    """Let the whole-body problem see feet on edges as such."""
    for k in range(2):
        if walk.now.on_edge[k] != 0:
            stand_on_edge(walk.body, k, walk.now.on_edge[k], walk.now.level[k])
