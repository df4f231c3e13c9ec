"""Estimates of a walk: the feet that the ground carries, its slope, obstacles, its friction, and a fall.

A walk assumes the stated friction of the ground until a foot slips: then the ratio of tangential to normal force on it
is the friction of that place, forces are limited to it, and steps are made that need no more. The next foothold is
assumed to be little better than the worst one known.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.control.inside import STUMBLED, note
from footfall.control.senses import is_carried, turned
from footfall.control.walk.soles import keep_to_friction
from footfall.control.walk.state import FRICTION_USED, Walker
from footfall.control.walk.stature import APART
from footfall.control.whole_body import COM
from footfall.gait.footsteps import ACCELERATION, POSITION, VELOCITY, Footstep, stumble
from footfall.kinds import Float, Int, Tensor
from footfall.solve.contacts import SLIDE

#: Largest estimate of the slope (tangent).
STEEPEST = 0.3
#: Distance of the load from the middle of a sole, in half soles, above which its tilt is not used for the slope of the
#: ground once the sole has sunk in by ``TILTS`` half widths: soft ground yields under pressure at an edge.
AMID, TILTS = 0.5, 0.01
#: Share of the swing after which a contact that carries the foot is ground and no obstacle.
CARRIED = 0.6
#: Height, as a share of the step's, above which a contact of a swinging foot is an obstacle; and the additional height,
#: as a share of the step's, to which the foot is then lifted.
OBSTACLE, HIGHER = 0.3, 1.2


@inlined
def feel_trunk(walk: Walker) -> None:
    """Find where the axes of the trunk point, and how it turns about them."""
    now, axes = walk.now, walk.body.soles.trunk_axes
    xmat = walk.senses.xmat[walk.body.soles.trunk]
    for k in range(3):
        x, y, z = axes[k]
        now.spin[k] = x * walk.senses.qvel[3] + y * walk.senses.qvel[4] + z * walk.senses.qvel[5]
        now.trunk[0, k], now.trunk[1, k], now.trunk[2, k] = turned(xmat, axes[k])


@inlined
def feel_contacts(walk: Walker) -> None:
    """Note which feet meet something, and which of them are carried by it: a wall is no ground to stand on."""
    senses, points, now = walk.senses, walk.body.soles.points, walk.now
    for k in range(2):
        now.meeting[k] = now.touching[k] = 0
        for p in range(points[k, 0], points[k, 1]):
            if senses.mode[p] > 0:
                now.meeting[k] = 1
                if is_carried(senses, p):
                    now.touching[k] = 1


@inlined
def slope_under(rotation: Tensor, foot: Int, other: Int) -> tuple[Float, Float]:
    """dz/dx and dz/dy of the ground under two soles that stand, or under one, counted twice."""
    x = rotation[foot, 0, 2] + rotation[other, 0, 2]
    y = rotation[foot, 1, 2] + rotation[other, 1, 2]
    z = max(rotation[foot, 2, 2] + rotation[other, 2, 2], 0.5 if foot != other else 1.0)
    return min(max(-x / z, -STEEPEST), STEEPEST), min(max(-y / z, -STEEPEST), STEEPEST)


@inlined
def trust_in(walk: Walker, foot: Int) -> Float:
    """How far the tilt of a sole is that of the ground, 0 to 1: less on soft ground with the load off the middle."""
    senses, soles, place, R = walk.senses, walk.body.soles, walk.body.place[foot], walk.body.rotation[foot]
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
def feel_slope(walk: Walker, standing: Int) -> None:
    """Follow the slope of the ground, slowly; ``standing`` is the foot that stands, or -1 for both."""
    now = walk.now
    if walk.gait.points:  # a point does not feel it; footholds do, one after the other
        return
    first, second = max(standing, 0), 1 if standing < 0 else standing
    part = walk.gait.slope_slowly * min(trust_in(walk, first), trust_in(walk, second))
    x, y = slope_under(walk.body.rotation, first, second)
    if walk.gait.tips:  # the roll of a foot that tips on its edge is none of the ground's
        ahead_x, ahead_y = math.cos(now.heading[0]), math.sin(now.heading[0])
        rise = x * ahead_x + y * ahead_y
        x, y = rise * ahead_x, rise * ahead_y
    now.slope[0] += part * (x - now.slope[0])
    now.slope[1] += part * (y - now.slope[1])


@inlined
def ground_at(walk: Walker, standing: Int, x: Float, y: Float) -> Float:
    """Height of the ground (m) at a place: the plane through what stands."""
    slope, place = walk.now.slope, walk.body.place
    first, second = max(standing, 0), 1 if standing < 0 else standing
    bx, by = 0.5 * (place[first, 0] + place[second, 0]), 0.5 * (place[first, 1] + place[second, 1])
    return 0.5 * (place[first, 2] + place[second, 2]) + slope[0] * (x - bx) + slope[1] * (y - by)


@inlined
def feel_obstacle(walk: Walker, time: Float, foot: Int) -> None:
    """A foot that meets something on its way, or a wall at the end of it, is lifted over it."""
    now, swing, height = walk.now, walk.now.swing, walk.gait.step_height
    ground = now.touching[foot] and swing.time[0] > CARRIED * swing.duration[0]
    lifted = swing.motion[2, POSITION] - swing.start_height[0]
    again = not now.stumbled[0] or swing.time[0] > swing.top[0]
    if now.meeting[foot] and not ground and lifted > OBSTACLE * height and again:
        now.stumbled[0] = 1
        stumble(swing, HIGHER * height)
        for c in range(2):  # from where it was held up, for it would be pressed against what it met
            swing.motion[c, POSITION] = walk.body.place[foot, c]
            swing.motion[c, VELOCITY] = swing.motion[c, ACCELERATION] = 0.0
        now.lasts[0] = time - now.since[0] + swing.duration[0] - swing.time[0]
        note(walk.log, time, STUMBLED, 1.0)


#: Least speed, in sqrt(g leg), and least load, as a share of the weight, of a foot whose slip measures the friction.
SLIPS, LOADED = 0.019, 0.2
#: Least estimate of a friction coefficient; and the ratio of the coefficient assumed at the next foothold to the worst
#: one known.
LEAST, TRUST = 0.03, 1.2
#: Friction coefficient below which the centre of mass gets more weight than the swinging foot and the trunk: the small
#: torsion that a sole then bears would be used up by swinging a leg forward.
AMPLE = 0.5
#: Largest share of the friction that a step may need across the walk, above which feet are set nearer to each other;
#: and share of the friction that it may always need along the walk.
ACROSS, ALONG = 0.7, 0.5


@inlined
def feel_grip(walk: Walker) -> None:
    """Find the friction under points that slide on feet that slip, and let the forces wanted of these keep to it."""
    senses, body, gait, now = walk.senses, walk.body, walk.gait, walk.now
    for k in range(2):
        normal, tangential = 0.0, 0.0
        for p in range(body.soles.points[k, 0], body.soles.points[k, 1]):
            if senses.mode[p] == SLIDE:
                normal += senses.force[p, 2]
                tangential += math.hypot(senses.force[p, 0], senses.force[p, 1])
        slips = math.hypot(body.problem.velocity[k, 0], body.problem.velocity[k, 1]) > SLIPS * gait.leg / gait.unit
        if slips and normal > LOADED * gait.weight and tangential < now.grip[k] * normal:
            now.grip[k] = max(tangential / normal, LEAST)
        keep_to_friction(body, k, FRICTION_USED * now.grip[k])
    scarce = max(1.0, AMPLE / min(now.grip[0], now.grip[1]))
    weight = body.problem.weight
    weight[COM] = weight[COM + 1] = scarce * body.com_weight


@inlined
def trust_landing(walk: Walker, foot: Int) -> None:
    """A foot came down where the ground may be better than under either foot before."""
    grip = walk.now.grip
    grip[foot] = min(walk.gait.friction, TRUST * min(grip[0], grip[1]))


@inlined
def within_grip(walk: Walker, step: Footstep) -> Footstep:
    """The step, shorter and narrower where it would need more friction than there is.

    As one foot takes over from the other, the centre of mass is half a step from it, and half the width to its side.
    The force of an inverted pendulum points from the pressure centre to the centre of mass: tangential over normal, it
    is that distance over the height.
    """
    soles, gait, grip = walk.body.soles, walk.gait, walk.now.grip
    within = FRICTION_USED * min(grip[0], grip[1]) * gait.height
    nearest = 2.0 * max(soles.half_width[0], soles.half_width[1]) + APART * min(soles.leg[0], soles.leg[1])
    width = min(step.width, max(nearest, 2.0 * ACROSS * within))
    room = 2.0 * math.sqrt(max(within * within - 0.25 * width * width, 0.0))
    way = math.hypot(step.length, step.aside)
    share = min(1.0, max(room, 2.0 * ALONG * within) / way) if way > 0.0 else 1.0
    return Footstep(
        step.side, share * step.length, step.turn, width, step.double_support, step.swing, share * step.aside
    )
