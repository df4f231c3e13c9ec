"""Grip: friction found under slipping feet, forces limited to it, and steps that need no more.

A walk assumes the stated friction of the ground until a foot slips: then the ratio of tangential to normal force on it
is the friction of that place. The next foothold is assumed to be little better than the worst one known.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.control.body.sole_edges import edge_velocity
from footfall.control.walk.foothold import APART
from footfall.control.walk.state import FRICTION_USED
from footfall.control.whole_body.problem import keep_to_friction
from footfall.gait.footsteps import Footstep
from footfall.solve.contacts import SLIDE

#: m/s at which a foot slips, for legs of ``walk_stature.LEG``, and the share of the weight that it bears at least then.
SLIPS, LOADED = 0.05, 0.2
#: The least coefficient that is believed, and how much better than the worst known one the next foothold may be.
LEAST, TRUST = 0.03, 1.2
#: Friction below which the centre of mass comes before the swinging foot and the trunk: of the torsion that a sole
#: bears, what a leg swung forward takes is missed by what carries the robot.
AMPLE = 0.5
#: Share of the friction that a step may need across the walk before feet are set nearer to each other, and share that
#: it may need along the walk in any case.
ACROSS, ALONG = 0.7, 0.5


@inlined
def feel_grip(walk):
    """Find the friction under points that slide on feet that slip, and let the forces wanted of these keep to it."""
    senses, body, gait, now = walk.senses, walk.body, walk.gait, walk.now
    for k in range(2):
        normal, tangential = 0.0, 0.0
        for p in range(body.soles.points[k, 0], body.soles.points[k, 1]):
            if senses.mode[p] == SLIDE:
                normal += senses.force[p, 2]
                tangential += math.hypot(senses.force[p, 0], senses.force[p, 1])
        vx, vy = edge_velocity(body, k, now.on_edge[k])[:2]
        slips = math.hypot(vx, vy) > SLIPS * gait.pace
        if slips and normal > LOADED * gait.weight and tangential < now.grip[k] * normal:
            now.grip[k] = max(tangential / normal, LEAST)
        keep_to_friction(body.limits, k, FRICTION_USED * now.grip[k], now.on_edge[k])
    scarce = max(1.0, AMPLE / min(now.grip[0], now.grip[1]))
    body.targets.com_weight[0] = body.targets.com_weight[1] = scarce * body.com_weight


@inlined
def trust_landing(walk, foot):
    """A foot came down where the ground may be better than under either foot before."""
    grip = walk.now.grip
    grip[foot] = min(walk.gait.friction, TRUST * min(grip[0], grip[1]))


@inlined
def within_grip(walk, step):
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
