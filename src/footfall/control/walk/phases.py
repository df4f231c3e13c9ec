"""The phases of a walk: both feet stand, or one swings; when they change, and what is planned then."""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.control.walk.footholds import learn_slope, learn_trim, note_turn
from footfall.control.walk.ground import slope_under, trust_landing, within_grip
from footfall.control.walk.heel_off import land_on_edge, lift_from_edge, part_of_longest, see_level_place
from footfall.control.walk.state import HEEL_RISES, HORIZON, TO_TOES
from footfall.gait.dcm import add_segment, end_at
from footfall.gait.footsteps import Footstep, landing
from footfall.gait.swing import VELOCITY, begin_swing

#: Speed, in sqrt(g leg), at which a foot comes down, and looks for ground that is not where it was expected.
DESCENT = 0.037
#: The same on points: sooner, for a landing that comes late moves the next foothold by exp(w t).
POINT_DESCENT = 0.093
#: Part of the swing after which the ground may be met.
SOONEST = 0.6


@inlined
def step_of(gait, number):
    """A step of the plan; the last one after it, or a step in place where feet stand on points."""
    last = gait.steps.shape[0] - 1
    row = gait.steps[min(number, last)]
    if gait.points and number > last:
        side = row[0] if (number - last) % 2 == 0 else -row[0]
        return Footstep(side, 0.0, 0.0, row[3], row[4], row[5], 0.0)
    return Footstep(row[0], row[1], row[2], row[3], row[4], row[5], row[6])


@inlined
def descent_of(gait):
    """m/s, at which a foot comes down."""
    return (POINT_DESCENT if gait.points else DESCENT) * gait.leg / gait.unit


@inlined
def all_taken(walk):
    """Whether all steps are; on points the last is never taken."""
    return not walk.gait.points and walk.now.step[0] >= walk.gait.steps.shape[0]


@inlined
def moving_foot(walk):
    """The foot of the present step; of the last one when all are taken."""
    return 0 if step_of(walk.gait, walk.now.step[0]).side > 0 else 1


@inlined
def begin_walk(walk, time):
    """Take over where the robot stands."""
    now, body = walk.now, walk.body
    now.begun[0], now.since[0] = 1, time
    now.pressure[0], now.pressure[1] = body.com[0], body.com[1]
    for k in range(2):
        see_level_place(walk, k)
    now.com_height[0] = body.com[2] - 0.5 * (body.place[0, 2] + body.place[1, 2])
    now.slope[0], now.slope[1] = slope_under(body.rotation, 0, 1)
    now.width[0] = math.hypot(body.place[0, 0] - body.place[1, 0], body.place[0, 1] - body.place[1, 1])
    now.heading[0] = now.headings[0] = now.headings[1] = math.atan2(now.trunk[1, 0], now.trunk[0, 0])
    plan_dcm(walk)


@inlined
def change_phase(walk, time):
    """Land where the ground is met, and lift a foot when its time has come."""
    now = walk.now
    spent = time - now.since[0]
    if now.swinging[0]:
        falling = now.swing.motion[2, VELOCITY] < 0.0
        if now.touching[moving_foot(walk)] and spent > SOONEST * now.lasts[0] and falling:
            land(walk, time)
    elif not all_taken(walk) and spent > now.lasts[0] - 0.5 * walk.gait.dt:
        lift(walk, time)


@inlined
def land(walk, time):
    """Both feet stand."""
    now, gait = walk.now, walk.gait
    if gait.points:
        learn_trim(walk, moving_foot(walk), step_of(gait, now.step[0]))
        learn_slope(walk, moving_foot(walk))
        note_turn(walk)
    now.headings[moving_foot(walk)] = now.landing[2]
    now.width[0] = now.next_width[0]
    trust_landing(walk, moving_foot(walk))
    land_on_edge(walk, moving_foot(walk))
    now.swinging[0] = 0
    now.step[0] += 1
    now.since[0] = time
    support = step_of(gait, now.step[0]).double_support
    now.lasts[0] = 2.0 * support if all_taken(walk) else support
    plan_dcm(walk)


@inlined
def lift(walk, time):
    """The next foot swings."""
    now, gait, foot = walk.now, walk.gait, moving_foot(walk)
    duration = step_of(gait, now.step[0]).swing
    begin_swing(now.swing, walk.body.place[foot], duration, gait.step_height, descent_of(gait))
    now.swinging[0], now.stumbled[0] = 1, 0
    for r in range(3):
        for c in range(3):
            now.lifted[r, c] = walk.body.rotation[foot, r, c]
    if now.on_edge[foot] != 0:
        lift_from_edge(walk, foot)
    else:
        now.pitch[foot, 0] = now.pitch[foot, 1] = now.pitch[foot, 2] = 0.0
    now.since[0], now.lasts[0] = time, duration
    plan_dcm(walk)


@inlined
def plan_dcm(walk):
    """Plan the divergent component from now over the next steps, as if they were the last."""
    now, gait, body, plan = walk.now, walk.gait, walk.body, walk.now.dcm_plan
    poses = now.poses
    for k in range(2):  # where it should point: a foot that turned on the ground does not turn the walk
        poses[k, 0], poses[k, 1], poses[k, 2] = now.level_place[k, 0], now.level_place[k, 1], now.headings[k]
    plan.count[0] = 0
    at = (now.pressure[0], now.pressure[1])
    width = now.width[0]
    left = 0.0 if now.swinging[0] else now.lasts[0]
    last = now.step[0] + HORIZON
    for i in range(now.step[0], last if gait.points else min(last, gait.steps.shape[0])):
        step = within_grip(walk, step_of(gait, i))
        foot = 0 if step.side > 0 else 1
        stance = (poses[1 - foot, 0], poses[1 - foot, 1], poses[1 - foot, 2])
        first = i == now.step[0]
        poses[foot, 0], poses[foot, 1], poses[foot, 2] = landing(step, stance, width)
        width = step.width
        if first:
            now.next_width[0] = step.width
            now.landing[0], now.landing[1], now.landing[2] = poses[foot, 0], poses[foot, 1], poses[foot, 2]
        there = (stance[0], stance[1])
        if left > 0.0:
            add_segment(plan, left, at, there)
        at, left = there, step.double_support
        toes = part_of_longest(gait, step.length) * gait.toe_off
        if toes > 0.0 and i + 1 < gait.steps.shape[0]:  # the foot that stands is behind when the other one lands
            ahead = body.soles.half_length[1 - foot] - gait.edge
            add_segment(plan, TO_TOES * step.swing, at, at)
            at = (at[0] + ahead * math.cos(stance[2]), at[1] + ahead * math.sin(stance[2]))
            add_segment(plan, (HEEL_RISES - TO_TOES) * step.swing, there, at)
            add_segment(plan, (1.0 - HEEL_RISES) * step.swing, at, at)
        else:
            add_segment(plan, step.swing, at, at)
        if first:
            now.lands_after[0] = plan.count[0]
    middle = (0.5 * (poses[0, 0] + poses[1, 0]), 0.5 * (poses[0, 1] + poses[1, 1]))
    add_segment(plan, 2.0 * step_of(gait, gait.steps.shape[0]).double_support, at, middle)
    end_at(plan, middle)
