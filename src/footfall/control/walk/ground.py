"""What a walk feels: which feet the ground carries, its slope, obstacles, and a fall."""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.control.episode_log import MORE, note
from footfall.control.walk.state import FALLEN, STUMBLED
from footfall.gait.swing import POSITION, stumble

#: The steepest slope that is believed.
STEEPEST = 0.3
#: s, of the estimates of slope, of the height of the centre of mass and of the heading; for legs of
#: ``walk_stature.LEG``.
SLOW = 0.2
#: Part of half a sole, along and across, that the weight is from its middle where it no longer tells the slope, if the
#: sole may tilt by this angle (rad) as it sinks in: on soft ground it does so under pressure at its edge.
AMID, TILTS = 0.5, 0.01
#: Part of the swing after which what carries a foot is ground and no obstacle.
CARRIED = 0.6
#: Part of the step's height over which what a swinging foot meets is an obstacle, and by how much more it is lifted.
OBSTACLE, HIGHER = 0.3, 1.2
#: rad of the trunk, and part of the height of the centre of mass, at which the robot has fallen.
FALLEN_TILT, FALLEN_HEIGHT = 1.0, 0.6


@inlined
def feel_contacts(walk):
    """Note which feet meet something, and which of them are carried by it: a wall is no ground to stand on."""
    senses, points, now = walk.senses, walk.body.soles.points, walk.now
    for k in range(2):
        now.meeting[k] = now.touching[k] = 0
        for p in range(points[k, 0], points[k, 1]):
            if senses.mode[p] > 0:
                now.meeting[k] = 1
                frame, force = senses.frame[p], senses.force[p]
                x = frame[0, 0] * force[0] + frame[1, 0] * force[1] + frame[2, 0] * force[2]
                y = frame[0, 1] * force[0] + frame[1, 1] * force[1] + frame[2, 1] * force[2]
                z = frame[0, 2] * force[0] + frame[1, 2] * force[1] + frame[2, 2] * force[2]
                if z >= math.hypot(x, y):
                    now.touching[k] = 1


@inlined
def slope_under(rotation, foot, other):
    """dz/dx and dz/dy of the ground under two soles that stand, or under one, counted twice."""
    x = rotation[foot, 0, 2] + rotation[other, 0, 2]
    y = rotation[foot, 1, 2] + rotation[other, 1, 2]
    z = max(rotation[foot, 2, 2] + rotation[other, 2, 2], 0.5 if foot != other else 1.0)
    return min(max(-x / z, -STEEPEST), STEEPEST), min(max(-y / z, -STEEPEST), STEEPEST)


@inlined
def part_of(gait, slow):
    """How much of the way to its new value an estimate goes in one call."""
    return gait.dt / (slow * gait.pace + gait.dt)


@inlined
def trust_in(walk, foot):
    """How far the tilt of a sole is that of the ground, 0 to 1: less on soft ground with the load off the middle."""
    senses, soles, place, R = walk.senses, walk.body.soles, walk.body.place[foot], walk.body.motion.rotation[foot]
    ahead, aside, depth = 0.0, 0.0, 0.0
    for p in range(soles.points[foot, 0], soles.points[foot, 1]):
        load = senses.force[p, 2]
        depth = max(depth, -senses.gap[p])
        for c in range(3):
            arm = senses.position[p, c] - place[c]
            ahead += load * R[c, 0] * arm
            aside += load * R[c, 1] * arm
    off = max(abs(ahead) / soles.half_length[foot], abs(aside) / soles.half_width[foot]) / walk.gait.weight
    return 1.0 - min(1.0, depth / (TILTS * soles.half_width[foot])) * min(1.0, off / AMID)


@inlined
def feel_slope(walk, standing):
    """Follow the slope of the ground, slowly; ``standing`` is the foot that stands, or -1 for both."""
    now = walk.now
    if walk.gait.points:  # a point does not feel it; footholds do, one after the other
        return
    first, second = max(standing, 0), 1 if standing < 0 else standing
    if now.on_edge[first] != 0:
        first = second
    if now.on_edge[first] != 0:  # no sole lies on the ground
        return
    if now.on_edge[second] != 0:
        second = first
    part = part_of(walk.gait, SLOW) * min(trust_in(walk, first), trust_in(walk, second))
    x, y = slope_under(walk.body.motion.rotation, first, second)
    if walk.gait.tips:  # the roll of a foot that tips on its edge is none of the ground's
        ahead_x, ahead_y = math.cos(now.heading[0]), math.sin(now.heading[0])
        rise = x * ahead_x + y * ahead_y
        x, y = rise * ahead_x, rise * ahead_y
    now.slope[0] += part * (x - now.slope[0])
    now.slope[1] += part * (y - now.slope[1])


@inlined
def ground_at(walk, standing, x, y):
    """Height of the ground (m) at a place: the plane through what stands."""
    slope, place = walk.now.slope, walk.now.lying
    first, second = max(standing, 0), 1 if standing < 0 else standing
    bx, by = 0.5 * (place[first, 0] + place[second, 0]), 0.5 * (place[first, 1] + place[second, 1])
    return 0.5 * (place[first, 2] + place[second, 2]) + slope[0] * (x - bx) + slope[1] * (y - by)


@inlined
def feel_obstacle(walk, time, foot):
    """A foot that meets something on its way, or a wall at the end of it, is lifted over it."""
    now, swing, height = walk.now, walk.now.swing, walk.gait.step_height
    ground = now.touching[foot] and swing.time[0] > CARRIED * swing.duration[0]
    lifted = swing.motion[2, POSITION] - swing.start_height[0]
    if now.meeting[foot] and not ground and lifted > OBSTACLE * height and not now.stumbled[0]:
        now.stumbled[0] = 1
        stumble(swing, HIGHER * height)
        now.lasts[0] = time - now.since[0] + swing.duration[0] - swing.time[0]
        note(walk.log, time, STUMBLED, 1.0)


@inlined
def look_for_fall(walk, time, standing):
    """Note a trunk that tilts too far, or a centre of mass that is too low."""
    com, home, gait, now = walk.body.com, walk.gait.home_trunk, walk.gait, walk.now
    trunk = walk.senses.xmat[walk.body.soles.trunk]
    upright = home[2, 0] * trunk[6] + home[2, 1] * trunk[7] + home[2, 2] * trunk[8]
    tilt = math.acos(min(1.0, max(-1.0, upright)))
    height = com[2] - ground_at(walk, standing, com[0], com[1])
    if tilt < FALLEN_TILT and height > FALLEN_HEIGHT * gait.height:
        return
    now.fallen[0] = 1
    row = note(walk.log, time, FALLEN, 1.0)
    if row >= 0:
        details = walk.log.rows[row, MORE:]
        details[0], details[1], details[2], details[3] = now.step[0], tilt, height, now.lasts[0]
