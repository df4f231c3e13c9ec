"""The phases of a walk, both feet stand or one swings, and what it wants of its body in them: accelerations of the
centre of mass, of the feet, of the trunk and of the joints.
"""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.control.inside import LATE, OUT_OF_REACH, see_episode
from footfall.control.senses import critical_gains, rotation_between, turn_axes, write_flat_on
from footfall.control.walk.footholds import (
    find_foothold,
    from_stance,
    keep_to_points,
    learn_slope,
    learn_trim,
)
from footfall.control.walk.ground import ground_at, slope_under, trust_landing, within_grip
from footfall.control.walk.state import HORIZON, LIMIT_ZONE, Gait, Walker
from footfall.control.whole_body import COM, TURN
from footfall.gait.footsteps import (
    ACCELERATION,
    POSITION,
    VELOCITY,
    Footstep,
    add_segment,
    advance_swing,
    begin_swing,
    dcm_at,
    end_at,
    landing,
)
from footfall.kinds import Bool, Float, Int
from footfall.solve.dense import copy

#: Part of the swing after which the ground may be met.
SOONEST = 0.6


@inlined
def step_of(gait: Gait, number: Int) -> Footstep:
    """A step of the plan, after it one in place."""
    last = gait.steps.shape[0] - 1
    row = gait.steps[min(number, last)]
    if number > last:
        side = row[0] if (number - last) % 2 == 0 else -row[0]
        return Footstep(side, 0.0, 0.0, row[3], row[4], row[5], 0.0)
    return Footstep(row[0], row[1], row[2], row[3], row[4], row[5], row[6])


@inlined
def all_taken(walk: Walker) -> Bool:
    """Whether all steps are; on points the last is never taken."""
    return walk.now.step[0] >= walk.now.steps[0]


@inlined
def moving_foot(walk: Walker) -> Int:
    """The foot of the present step."""
    return 0 if step_of(walk.gait, walk.now.step[0]).side > 0 else 1


@inlined
def begin_walk(walk: Walker, time: Float) -> None:
    """Take over where the robot stands."""
    now, body = walk.now, walk.body
    now.begun[0], now.since[0] = 1, time
    now.pressure[0], now.pressure[1] = body.problem.com[0], body.problem.com[1]
    now.com_height[0] = body.problem.com[2] - 0.5 * (body.place[0, 2] + body.place[1, 2])
    now.slope[0], now.slope[1] = slope_under(body.rotation, 0, 1)
    now.width[0] = math.hypot(body.place[0, 0] - body.place[1, 0], body.place[0, 1] - body.place[1, 1])
    now.heading[0] = now.headings[0] = now.headings[1] = math.atan2(now.trunk[1, 0], now.trunk[0, 0])
    plan_dcm(walk)


@inlined
def change_phase(walk: Walker, time: Float) -> None:
    """Land where the ground is met, and lift a foot when its time has come."""
    now = walk.now
    spent = time - now.since[0]
    if now.swinging[0]:
        falling = now.swing.motion[2, VELOCITY] < 0.0
        if now.touching[moving_foot(walk)] and spent > SOONEST * now.lasts[0] and falling:
            land(walk, time)
    elif (now.step[0] == 0 or all_taken(walk)) and topples(walk):
        now.steps[0] = max(now.steps[0], now.step[0] + 2)  # one to catch it, and one to close
        lift(walk, time)
    elif not all_taken(walk) and spent > now.lasts[0] - 0.5 * walk.gait.dt:
        lift(walk, time)


@inlined
def topples(walk: Walker) -> Bool:
    """Whether the divergent component is off both soles to one side: no pressure centre within them brings it back."""
    ahead, behind, left, right = True, True, True, True
    for k in range(2):
        length, width, at = walk.body.soles.half_length[k], walk.body.soles.half_width[k], walk.body.place[k]
        x, y = from_stance(walk, k, 1.0, walk.signals.dcm[0] - at[0], walk.signals.dcm[1] - at[1])
        ahead, behind = ahead and x > length, behind and x < -length
        left, right = left and y > width, right and y < -width
    return (ahead or behind or left or right) and not walk.gait.points


@inlined
def land(walk: Walker, time: Float) -> None:
    """Both feet stand."""
    now, gait = walk.now, walk.gait
    if gait.points:
        learn_trim(walk, moving_foot(walk), step_of(gait, now.step[0]))
        learn_slope(walk, moving_foot(walk))
    now.headings[moving_foot(walk)] = now.landing[2]
    now.width[0] = now.next_width[0]
    trust_landing(walk, moving_foot(walk))
    now.swinging[0] = 0
    now.step[0] += 1
    now.since[0] = time
    support = step_of(gait, now.step[0]).double_support
    now.lasts[0] = 2.0 * support if all_taken(walk) else support
    plan_dcm(walk)


@inlined
def lift(walk: Walker, time: Float) -> None:
    """The next foot swings."""
    now, gait, foot = walk.now, walk.gait, moving_foot(walk)
    duration = step_of(gait, now.step[0]).swing
    begin_swing(now.swing, walk.body.place[foot], duration, gait.step_height, gait.descent)
    now.swinging[0], now.stumbled[0] = 1, 0
    for r in range(3):
        copy(now.lifted[r], walk.body.rotation[foot, r])
    now.since[0], now.lasts[0] = time, duration
    plan_dcm(walk)


@inlined
def plan_dcm(walk: Walker) -> None:
    """Plan the divergent component from now over the next steps, as if they were the last."""
    now, gait, body, plan = walk.now, walk.gait, walk.body, walk.now.dcm_plan
    poses = now.poses
    for k in range(2):  # where it should point: a foot that turned on the ground does not turn the walk
        poses[k, 0], poses[k, 1], poses[k, 2] = body.place[k, 0], body.place[k, 1], now.headings[k]
    plan.count[0] = 0
    at = (now.pressure[0], now.pressure[1])
    width = now.width[0]
    left = 0.0 if now.swinging[0] else now.lasts[0]
    for i in range(now.step[0], min(now.step[0] + HORIZON, now.steps[0])):
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
        add_segment(plan, step.swing, at, at)
        if first:
            now.lands_after[0] = plan.count[0]
    middle = (0.5 * (poses[0, 0] + poses[1, 0]), 0.5 * (poses[0, 1] + poses[1, 1]))
    add_segment(plan, 2.0 * step_of(gait, gait.steps.shape[0]).double_support, at, middle)
    end_at(plan, middle)


# Lengths are in legs, times in units sqrt(leg / g), the time in which a pendulum as long as the leg swings by a radian
# of its phase: so numbers hold for any size and gravity, by Froude's number.
#: Rate at which an error of the divergent component decays, per unit: a little faster than it would grow.
DCM_DECAY = 1.1
#: rad per leg's length of a step that the toe hangs down in the swing, and at most: ankles cannot hold the foot flat
#: there.
TOE_DOWN, MOST_TOE_DOWN = 0.74, 0.4
#: Part of the swing after which the foot lies as it shall land.
TURNED = 0.8
#: Largest load of a foot, in weights: more would throw the robot off the ground.
MOST_LOAD = 1.25
#: Weight, at its limit, of leading a joint back.
LIMIT_WEIGHT = 3.0
#: Units after its time from which a landing is late, and legs out of reach from which a foothold is reported.
LATE_BY, BEYOND = 0.37, 0.027
#: Units before the landing from which on a foothold moves as if there were that long: exp(w t) - 1 would vanish.
SHORTEST = 0.07
# Frequencies, critically damped, in radians per unit, at which references are followed: a foot faster than a trunk, for
# it swings in two units; a trunk faster than the pendulum (1) that it tips like; joints that nothing else needs
# slowest.
HEIGHT_RATE, TRUNK_RATE, FOOT_RATE, JOINT_RATE = 2.7, 3.9, 6.7, 1.9
#: Damping of feet that stand, per unit.
STANCE_DAMPING = 5.5


@inlined
def lead_com(walk: Walker, time: Float, standing: Int) -> None:
    """The acceleration of the centre of mass that leads the divergent component to its reference."""
    now, gait, body, goal = walk.now, walk.gait, walk.body, walk.body.problem.wanted
    w = now.dcm_plan.omega
    spent = time - now.since[0]
    if now.swinging[0]:  # until the foot lands the other one carries
        spent = min(spent, now.lasts[0] - 1e-9)
    dcm_at(now.dcm_plan, spent, now.pressure, walk.signals.dcm_reference)
    for c in range(2):
        # With xi' = w (xi - p) an error decays as exp(-k t) for p = p_ref + (1 + k/w) (xi - xi_ref).
        off = walk.signals.dcm[c] - walk.signals.dcm_reference[c]
        walk.signals.cop_reference[c] = now.pressure[c] + (1.0 + DCM_DECAY / (gait.unit * w)) * off
    if gait.points:
        keep_to_points(walk, standing)
    for c in range(2):
        goal[COM + c] = w * w * (body.problem.com[c] - walk.signals.cop_reference[c])
    steep = math.hypot(now.slope[0], now.slope[1])
    wanted = gait.height - gait.reach * steep  # uphill, the leg behind must reach farther down
    now.com_height[0] += gait.slowly * (wanted - now.com_height[0])
    stiff, damp = critical_gains(HEIGHT_RATE / gait.soft)
    rise = now.slope[0] * body.problem.com_velocity[0] + now.slope[1] * body.problem.com_velocity[1]
    height = ground_at(walk, standing, body.problem.com[0], body.problem.com[1]) + now.com_height[0]
    goal[COM + 2] = stiff * (height - body.problem.com[2]) + damp * (rise - body.problem.com_velocity[2])


@inlined
def lead_standing_feet(walk: Walker, time: Float) -> None:
    """Standing feet rest; load comes and goes slowly, so that feet are neither stamped nor torn off."""
    now, gait, body = walk.now, walk.gait, walk.body
    spent, foot = time - now.since[0], moving_foot(walk)
    load, weight = body.problem.load, gait.weight
    load[0] = load[1] = MOST_LOAD * weight
    for k in range(2):
        body.problem.bearing[k] = 0 if now.swinging[0] and k == foot else 1
    if not now.swinging[0]:
        if now.step[0] > 0:
            load[1 - foot] = weight * (0.1 + MOST_LOAD * min(1.0, spent / now.lasts[0]))
        if not all_taken(walk):
            left = (now.lasts[0] - spent) / step_of(gait, now.step[0]).double_support
            load[foot] = weight * min(MOST_LOAD, max(0.0, left))
    damping = STANCE_DAMPING / gait.unit
    for k in range(2):
        if not body.problem.bearing[k]:
            continue
        for c in range(6):
            body.feet[k, c] = -damping * body.problem.velocity[k, c]
        if not now.touching[k]:
            body.feet[k, 2] -= damping * gait.descent


@inlined
def lead_swinging_foot(walk: Walker, time: Float, foot: Int) -> None:
    """Lead the foot to its foothold, toe down on the way and flat when it lands."""
    now, gait, body, swing = walk.now, walk.gait, walk.body, walk.now.swing
    stance, soles = 1 - foot, walk.body.soles
    spent = time - now.since[0]
    left = now.lasts[0] - spent
    if left < 0.0:
        swing.descent[0] = gait.looking
    if left < -LATE_BY * gait.unit:
        see_episode(walk.log, time, LATE, -left)
    step = step_of(gait, now.step[0])
    x, y, beyond = find_foothold(walk, step, stance, max(left, SHORTEST * gait.unit))
    if beyond > BEYOND * gait.leg:
        see_episode(walk.log, time, OUT_OF_REACH, beyond)
    advance_swing(swing, (x, y, ground_at(walk, stance, x, y)), gait.dt)
    stiff, damp = critical_gains(FOOT_RATE / gait.unit)
    place, velocity, goal = body.place[foot], body.problem.velocity[foot], body.feet[foot]
    for i in range(3):
        one = swing.motion[i]
        goal[i] = one[ACCELERATION] + stiff * (one[POSITION] - place[i]) + damp * (one[VELOCITY] - velocity[i])
    # Toe down, and the middle higher for it.
    tilt, tilt_rate, tilt_push = toe_down(spent / now.lasts[0], now.lasts[0], TOE_DOWN * step.length / gait.leg)
    goal[2] += soles.half_length[foot] * (tilt_push + stiff * tilt + damp * tilt_rate)
    # From how it lay to how it shall lie, before it lands.
    part = min(1.0, spent / (TURNED * now.lasts[0]))
    part = part**3 * (10.0 - 15.0 * part + 6.0 * part * part)
    final, flat, tilted = now.axes[0], now.axes[1], now.axes[2]
    write_flat_on(now.slope, now.landing[2], final)
    x, y, z = rotation_between(final, now.lifted)
    turn_axes((part * x, part * y, part * z), now.lifted, flat)
    turn_axes((tilt * flat[0, 1], tilt * flat[1, 1], tilt * flat[2, 1]), flat, tilted)
    x, y, z = rotation_between(tilted, body.rotation[foot])
    goal[3], goal[4], goal[5] = stiff * x, stiff * y, stiff * z
    for c in range(3):
        across = flat[c, 1]
        goal[3 + c] += tilt_push * across + damp * (tilt_rate * across - velocity[3 + c])


@inlined
def toe_down(part: Float, lasts: Float, hanging: Float) -> tuple[Float, Float, Float]:
    """The tilt of a foot that swings forward after a part s of its swing, as s^3 (1 - s)^5: rad, rad/s, rad/s2.

    ``lasts`` (s) is the swing, ``hanging`` (rad) the most that is wanted.
    """
    if not 0.0 < part < 1.0:
        return 0.0, 0.0, 0.0
    most = min(max(hanging, 0.0), MOST_TOE_DOWN) / (0.375**3 * 0.625**5)  # it is largest at s = 3/8
    s, r = part, 1.0 - part
    rate = most * s * s * r**4 * (3.0 - 8.0 * s) / lasts
    return most * s**3 * r**5, rate, most * s * r**3 * (6.0 - 42.0 * s + 56.0 * s * s) / (lasts * lasts)


@inlined
def lead_posture(walk: Walker) -> None:
    """The trunk upright and along the feet; joints as at home as far as nothing else is asked of them."""
    now, gait, body, senses = walk.now, walk.gait, walk.body, walk.senses
    now.heading[0] += gait.slowly * (0.5 * (now.headings[0] + now.headings[1]) - now.heading[0])
    wanted, trunk = now.axes[0], now.trunk
    write_flat_on((0.0, 0.0), now.heading[0], wanted)
    x, y, z = rotation_between(wanted, trunk)
    stiff, damp = critical_gains(TRUNK_RATE / gait.soft)
    for k in range(3):
        off = trunk[0, k] * x + trunk[1, k] * y + trunk[2, k] * z
        body.problem.wanted[TURN + k] = stiff * off - damp * now.spin[k]
    stiff, damp = critical_gains(JOINT_RATE / gait.unit)
    for i in range(gait.joint_place.size):
        joint = senses.qpos[gait.joint_place[i]]
        inside = min(max(joint, gait.joint_low[i]), gait.joint_high[i])
        near = min(abs(joint - inside) / LIMIT_ZONE, 2.0)
        target = inside if near > 0.0 else gait.home_joints[i]
        body.problem.joint_wanted[i] = stiff * (target - joint) - damp * senses.qvel[body.motors[i]]
        body.problem.joint_weight[i] = body.posture_weight[i] + LIMIT_WEIGHT * near * near
