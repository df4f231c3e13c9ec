"""A walk on four legs, step by step: feet that lift and land, the wrench that leads the trunk, forces and torques."""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.control.body.com_coordinates import carrying_torques, com_motion
from footfall.control.body.rotations import rotation_between
from footfall.control.contact_forces import distribute
from footfall.control.contact_places import place_contacts
from footfall.control.episode_log import MORE, note, see_episode
from footfall.control.quadruped.state import BEFORE_FORCES, FALLEN, SATURATED, SIGNALS
from footfall.control.senses import dense_inertia, translation
from footfall.gait.swing import ACCELERATION, POSITION, VELOCITY, Swing, advance_swing, begin_swing, stumble
from footfall.robot.motors import write_controls
from footfall.solve.contacts import OPEN
from footfall.solve.dense import cholesky, cholesky_solve

#: Stiffness in g/h and damping in sqrt(g/h): of the horizontal way, the height, the attitude.
ALONG, UPWARD, ATTITUDE = (0.5, 1.4), (4.0, 3.0), (4.0, 3.0)
#: The same of a swinging foot, as those of a biped's: 1/s2 and 1/s.
FOOT = (900.0, 60.0)
#: Share of sqrt(h/g) by which a foot steps farther per speed that is off, and of the leg that it goes at most.
CAPTURE, FARTHEST = 0.5, 0.45
#: m, that the way's reference may be ahead of the robot, per height.
AHEAD = 0.15
#: Part of the swing after which the ground may be met, and m/s of descent per root of the height in m.
SOONEST, DESCENT = 0.6, 0.15
#: Part of the step's height over which what a swinging foot meets is an obstacle, and by how much more it is lifted.
OBSTACLE, HIGHER = 0.3, 1.0
#: Cycles in which the speed is taken up and given back.
RAMP = 1.0
#: rad of the trunk, and part of the height, at which the robot has fallen.
FALLEN_TILT, FALLEN_HEIGHT = 1.0, 0.6
#: Damping of the inverse of a leg's Jacobian, as a share of its size: a straight leg is not asked for the impossible.
DAMPED = 1e-3


@inlined
def quadruped_tick(walk, time, ctrl):
    """Write the controls for this instant; 0."""
    senses, gait, now, scratch = walk.senses, walk.gait, walk.now, walk.scratch
    see_trunk(walk)
    cycles = (time - gait.begin) / gait.period
    walking = 0.0 <= cycles < gait.cycles
    lead_way(walk, cycles, walking)
    feel_feet(walk)
    standing = change_feet(walk, cycles, walking)
    height = height_of_feet(walk, standing)
    if not now.fallen[0]:
        look_for_fall(walk, time, height)
    torque = scratch.motor_torque
    if now.fallen[0]:
        for i in range(torque.size):
            torque[i] = 0.0
        for p in range(4):
            for c in range(3):
                scratch.force[p, c] = 0.0
    else:
        lead_trunk(walk, height)
        carry(walk, standing)
        if standing < 4:
            dense_inertia(senses, scratch.inertia)
            for foot in range(4):
                if now.swings[foot]:
                    swing_leg(walk, foot)
        limit_torques(walk, time)
    write_controls(walk.drives, torque, senses.qpos, senses.qvel, ctrl)
    write_signals(walk, min(max(cycles, 0.0), gait.cycles))
    return 0


@inlined
def see_trunk(walk):
    """Take over the state; where the trunk points at the first call is straight ahead."""
    senses, tree, now, scratch, home = walk.senses, walk.tree, walk.now, walk.scratch, walk.robot.trunk
    place_contacts(senses, walk.contacts)
    com_motion(senses, tree, scratch.com_jacobian, scratch.com_velocity)
    for c in range(3):
        for k in range(3):
            scratch.trunk[c, k] = senses.xmat[tree.root, 3 * c + k]
    if not now.begun[0]:
        now.begun[0] = 1
        ahead, aside = 0.0, 0.0  # of trunk home^T, the first column
        for k in range(3):
            ahead += scratch.trunk[0, k] * home[0, k]
            aside += scratch.trunk[1, k] * home[0, k]
        now.heading[0] = math.atan2(aside, ahead)
        for c in range(2):
            now.way[c] = senses.subtree_com[tree.root, c]


@inlined
def lead_way(walk, cycles, walking):
    """Move the reference of the centre of mass on; it waits where the robot does not keep up."""
    gait, now, com = walk.gait, walk.now, walk.senses.subtree_com[walk.tree.root]
    share = 0.0
    if walking:
        share = min(1.0, max(0.0, cycles / RAMP), max(0.0, (gait.cycles - cycles) / RAMP))
    c, s = math.cos(now.heading[0]), math.sin(now.heading[0])
    now.wanted[0] = share * (c * gait.speed - s * gait.sideways)
    now.wanted[1] = share * (s * gait.speed + c * gait.sideways)
    now.heading[0] += share * gait.turn * gait.dt
    x = now.way[0] + gait.dt * now.wanted[0] - com[0]
    y = now.way[1] + gait.dt * now.wanted[1] - com[1]
    far, most = math.hypot(x, y), AHEAD * walk.robot.height
    held = most / far if far > most else 1.0
    now.way[0], now.way[1] = com[0] + held * x, com[1] + held * y


@inlined
def feel_feet(walk):
    """Which feet touch anything, and which are pressed to it from above: a wall is no ground to stand on."""
    senses, now = walk.senses, walk.now
    for foot in range(4):
        p = walk.robot.point[foot]
        f, frame = senses.force[p], senses.frame[p]
        x = frame[0, 0] * f[0] + frame[1, 0] * f[1] + frame[2, 0] * f[2]
        y = frame[0, 1] * f[0] + frame[1, 1] * f[1] + frame[2, 1] * f[2]
        z = frame[0, 2] * f[0] + frame[1, 2] * f[1] + frame[2, 2] * f[2]
        now.meets[foot] = 1 if senses.mode[p] != OPEN else 0
        now.touches[foot] = 1 if now.meets[foot] and z >= math.hypot(x, y) else 0


@inlined
def swing_of(swings, foot):
    """The swing of one foot."""
    return Swing(
        swings.motion[foot],
        swings.goal[foot],
        swings.time[foot],
        swings.duration[foot],
        swings.top[foot],
        swings.clearance[foot],
        swings.start_height[foot],
        swings.descent[foot],
    )


@inlined
def change_feet(walk, cycles, walking):
    """Lift and set down feet by the schedule; how many stand, and write which."""
    gait, now, height = walk.gait, walk.now, walk.robot.height
    free = 1.0 - gait.duty
    lasts, standing = free * gait.period, 0
    for foot in range(4):
        swing = swing_of(now.swing, foot)
        part = (cycles - gait.lift[foot]) % 1.0 / free  # of its swing
        if not now.swings[foot]:
            if walking and part < 0.5:
                place = walk.contacts.position[walk.robot.point[foot]]
                begin_swing(swing, place, lasts, gait.step_height, DESCENT * math.sqrt(height))
                now.swings[foot] = 1
        elif now.touches[foot] and swing.time[0] > SOONEST * lasts:
            now.swings[foot] = 0
        elif now.meets[foot] and swing.motion[2, POSITION] - swing.start_height[0] > OBSTACLE * gait.step_height:
            stumble(swing, HIGHER * gait.step_height)  # over what it met
        if not now.swings[foot]:
            now.standing[standing] = foot
            standing += 1
    return standing


@inlined
def height_of_feet(walk, standing):
    """m, the mean of those that stand, or of all where none does."""
    position, point, total = walk.contacts.position, walk.robot.point, 0.0
    if not standing:
        for foot in range(4):
            total += position[point[foot], 2]
        return total / 4.0
    for i in range(standing):
        total += position[point[walk.now.standing[i]], 2]
    return total / standing


@inlined
def look_for_fall(walk, time, height):
    """Note a trunk that tilted or sank too far."""
    home, trunk = walk.robot.trunk, walk.scratch.trunk
    upright = home[2, 0] * trunk[2, 0] + home[2, 1] * trunk[2, 1] + home[2, 2] * trunk[2, 2]
    tilt = math.acos(min(1.0, max(-1.0, upright)))
    tall = walk.senses.subtree_com[walk.tree.root, 2] - height
    if tilt >= FALLEN_TILT or tall <= FALLEN_HEIGHT * walk.robot.height:
        walk.now.fallen[0] = 1
        row = note(walk.log, time, FALLEN, tilt)
        if row >= 0:
            walk.log.rows[row, MORE] = tall


@inlined
def lead_trunk(walk, height):
    """Write the wrench at the centre of mass that leads it and the trunk."""
    senses, robot, now, scratch = walk.senses, walk.robot, walk.now, walk.scratch
    com, v, wrench = senses.subtree_com[walk.tree.root], scratch.com_velocity, scratch.wrench
    spin, w = senses.cvel[walk.tree.root], math.sqrt(robot.rate)
    for c in range(3):
        wrench[c] = -robot.gravity[c]
    for c in range(2):
        wrench[c] += ALONG[0] * robot.rate * (now.way[c] - com[c]) + ALONG[1] * w * (now.wanted[c] - v[c])
    wrench[2] += UPWARD[0] * robot.rate * (height + robot.height - com[2]) - UPWARD[1] * w * v[2]
    cosine, sine = math.cos(now.heading[0]), math.sin(now.heading[0])
    for k in range(3):
        scratch.axes[0, k] = cosine * robot.trunk[0, k] - sine * robot.trunk[1, k]
        scratch.axes[1, k] = sine * robot.trunk[0, k] + cosine * robot.trunk[1, k]
        scratch.axes[2, k] = robot.trunk[2, k]
    off = rotation_between(scratch.axes, scratch.trunk)
    for c in range(3):
        wrench[c] *= robot.mass
    stiff, damped = robot.inertia * ATTITUDE[0] * robot.rate, robot.inertia * ATTITUDE[1] * w
    wrench[3], wrench[4], wrench[5] = (
        stiff * off[0] - damped * spin[0],
        stiff * off[1] - damped * spin[1],
        stiff * off[2] - damped * spin[2],
    )


@inlined
def problem_of(forces, standing):
    """The force problem of this many standing feet."""
    if standing == 1:
        return forces.one
    if standing == 2:
        return forces.two
    if standing == 3:
        return forces.three
    return forces.four


@inlined
def carry(walk, standing):
    """Share the wrench out among the feet that stand, and write the torques with which they carry the robot."""
    senses, contacts, scratch = walk.senses, walk.contacts, walk.scratch
    com = senses.subtree_com[walk.tree.root]
    for p in range(4):
        for c in range(3):
            scratch.force[p, c] = 0.0
            contacts.arms[p, c] = contacts.position[p, c] - com[c]
    if standing:
        for i in range(standing):
            p = walk.robot.point[walk.now.standing[i]]
            for c in range(3):
                scratch.arms[i, c] = contacts.arms[p, c]
                for k in range(3):
                    scratch.frames[i, c, k] = contacts.frames[p, c, k]
        problem = problem_of(walk.forces, standing)
        distribute(problem, scratch.wrench, scratch.arms[:standing], scratch.frames[:standing])
        for i in range(standing):
            p = walk.robot.point[walk.now.standing[i]]
            for c in range(3):
                scratch.force[p, c] = problem.force[i, c]
    carrying_torques(senses.cdof, scratch.com_jacobian, walk.tree, contacts.arms, scratch.force, scratch.torque)
    for j in range(scratch.torque.size):
        scratch.torque[j] -= senses.qfrc_passive[j]  # the damping of joints slows a walk


@inlined
def lead_foot(walk, foot, swing):
    """Let the reference of a swinging foot go on to where the trunk will be, half a stance ahead."""
    robot, gait, now = walk.robot, walk.gait, walk.now
    com, v = walk.senses.subtree_com[walk.tree.root], walk.scratch.com_velocity
    left = max(0.0, swing.duration[0] - swing.time[0])
    stance, capture = 0.5 * gait.duty * gait.period, CAPTURE / math.sqrt(robot.rate)
    x = stance * now.wanted[0] + capture * (v[0] - now.wanted[0])
    y = stance * now.wanted[1] + capture * (v[1] - now.wanted[1])
    share = min(1.0, FARTHEST * robot.height / max(math.hypot(x, y), 1e-9))
    turned = now.heading[0] + gait.turn * left
    c, s, hip = math.cos(turned), math.sin(turned), robot.offset[foot]
    x = com[0] + v[0] * left + c * hip[0] - s * hip[1] + share * x
    y = com[1] + v[1] * left + s * hip[0] + c * hip[1] + share * y
    advance_swing(swing, (x, y, swing.start_height[0]), gait.dt)


@inlined
def swing_leg(walk, foot):
    """Torques of the leg of a swinging foot: its inertia times the acceleration that the reference needs."""
    senses, robot, scratch = walk.senses, walk.robot, walk.scratch
    swing = swing_of(walk.now.swing, foot)
    lead_foot(walk, foot, swing)
    point, leg, J = robot.point[foot], robot.leg[foot], scratch.jacobian
    at = walk.contacts.position[point]
    translation(senses, walk.tree, robot.body[foot], point, at, J, scratch.velocity, scratch.drift)
    size = 0.0
    for r in range(3):
        for c in range(3):
            value = 0.0
            for j in range(3):
                value += J[r, leg[j]] * J[c, leg[j]]
            scratch.gram[r, c] = value
        size += scratch.gram[r, r]
    needed = scratch.velocity  # turned into the acceleration that is needed, and then into its shares
    for c in range(3):
        one = swing.motion[c]
        needed[c] = one[ACCELERATION] + FOOT[0] * (one[POSITION] - at[c]) + FOOT[1] * (one[VELOCITY] - needed[c])
        needed[c] -= scratch.drift[c]
        scratch.gram[c, c] += DAMPED * DAMPED * size
    cholesky(scratch.gram, 3, 0.0, scratch.factor)
    cholesky_solve(scratch.factor, 3, needed)
    for j in range(3):
        scratch.joints[j] = J[0, leg[j]] * needed[0] + J[1, leg[j]] * needed[1] + J[2, leg[j]] * needed[2]
    for i in range(3):
        value = senses.qfrc_bias[leg[i]] - senses.qfrc_passive[leg[i]]
        for j in range(3):
            value += scratch.inertia[leg[i], leg[j]] * scratch.joints[j]
        scratch.torque[leg[i]] = value


@inlined
def limit_torques(walk, time):
    """Take the torques of the motors, within their limits, and report the one that is most beyond its own."""
    drives, torque = walk.drives, walk.scratch.motor_torque
    worst, most = -1, 1.0
    for i in range(torque.size):
        torque[i] = walk.scratch.torque[drives.dof[i]]
        if abs(torque[i]) > most * drives.limit[i]:
            worst, most = i, abs(torque[i]) / drives.limit[i]
    if worst >= 0:
        row = see_episode(walk.log, time, SATURATED, most)
        if row >= 0:
            walk.log.rows[row, MORE], walk.log.rows[row, MORE + 1] = worst, abs(torque[worst])
    for i in range(torque.size):
        torque[i] = min(max(torque[i], -drives.limit[i]), drives.limit[i])


@inlined
def write_signals(walk, phase):
    """Write what is recorded of a walk."""
    signals, scratch = walk.signals, walk.scratch
    for c in range(3):
        signals[c] = walk.senses.subtree_com[walk.tree.root, c]
        signals[3 + c] = scratch.com_velocity[c]
        for p in range(4):
            signals[BEFORE_FORCES + 3 * p + c] = scratch.force[p, c]
    signals[SIGNALS - 1] = phase
