"""Following a motion, step by step: where it is, what its points shall bear, what is wanted, and the torques."""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.control.body.rotations import rotation_between
from footfall.control.contact_places import place_contacts
from footfall.control.episode_log import MORE, note, see_episode
from footfall.control.follow.moment import moment_at
from footfall.control.whole_body.on_points import COM, POINTS, TURN, see_points, solve_points
from footfall.robot.motors import write_controls
from footfall.solve.quadratic_program import UNBOUNDED

#: Kinds of episodes that are reported.
UNSOLVED, FALLEN, KINDS = 0, 1, 2
#: Weights of the accelerations of points that stand and that swing, 1/(m/s2)^2.
STANCE_WEIGHT, SWING_WEIGHT = 1000.0, 30.0
#: Stiffness (1/s2) and damping (1/s) of trunk, joints and swinging points; 1/s, how fast the divergent component of
#: motion comes back; damping of points that stand. All for a centre of mass at ``COM_HEIGHT``, as what is in m and s.
TRUNK_GAINS, JOINT_GAINS, POINT_GAINS, HEIGHT_GAINS = (200.0, 28.0), (150.0, 24.0), (600.0, 49.0), (100.0, 20.0)
DCM_DECAY, STANCE_DAMPING = 4.0, 20.0
#: s in which load comes on a point, and goes before it is lifted; s before its time from which a point may land.
LOADING, EARLY = 0.06, 0.1
#: Share of its load that a point may bear as soon as it comes.
FIRST_LOAD = 0.05
#: Body weights that a point may bear, and that the points together may bear at any time.
MOST_LOAD, LEAST_SUM = 2.0, 1.5
#: m over the ground at which a point touches it, before the first step of a run.
TOUCHES = 2e-3
#: m/s at which a point that should stand comes down to find the ground.
DESCENT = 0.1
#: rad that the trunk, and part of its height that the centre of mass, may be off before the robot has fallen.
FALLEN_TILT, FALLEN_HEIGHT = 1.0, 0.4
#: N m s/rad per N of weight, by which the motors of a robot that fell brake.
BRAKE = 0.01


@inlined
def follow_tick(follow, time, ctrl):
    """Write the controls for this instant; 0."""
    senses, body, contacts = follow.senses, follow.body, follow.contacts
    place_contacts(senses, contacts)
    see_points(senses, contacts.position, body)
    moment_at(follow.table, time)
    find_stances(follow, time)
    lead_com(follow)
    lead_joints_and_trunk(follow)
    lead_points(follow)
    if not solve_points(body, contacts.frames):
        see_episode(follow.log, time, UNSOLVED, 1.0)
    report(follow)
    if not follow.fallen[0]:
        look_for_fall(follow, time)
    torque = follow.motor_torque
    for k in range(follow.helping.size):
        torque[follow.helping[k]] = 0.0
    for k in range(follow.own.size):
        value = body.torque[k]
        if follow.fallen[0]:
            value = -BRAKE * follow.sizes.weight * senses.qvel[body.driven[k]]
        torque[follow.own[k]] = min(max(value, -body.limit[k]), body.limit[k])
    write_controls(follow.drives, torque, senses.qpos, senses.qvel, ctrl)
    for k in range(follow.helping.size):
        if follow.fallen[0]:
            body.help[k] = 0.0
        ctrl[follow.helping[k]] = body.help[k]
    return 0


@inlined
def find_stances(follow, time):
    """Which points shall rest on the ground or come down to it, which of these touch and bear load, and how much."""
    senses, body, table, sizes = follow.senses, follow.body, follow.stances, follow.sizes
    row = min(max(math.floor(time / table.every + 0.5), 0), table.stands.shape[0] - 1)
    for f in range(follow.foot_touches.size):
        follow.foot_touches[f] = 0
    for p in range(follow.touching.size):
        # What the law found is of the step before; before the first one, what lies on the ground touches it.
        touches = senses.mode[p] > 0 if follow.begun[0] else senses.gap[p] < TOUCHES * sizes.size
        follow.touching[p] = 1 if touches else 0
        if touches:
            follow.foot_touches[follow.foot[p]] = 1
    follow.begun[0] = 1
    total, ramp = 0.0, LOADING * sizes.pace
    for p in range(follow.touching.size):
        stands = table.stands[row, p]
        early = table.wait[row, p] < EARLY * sizes.pace and follow.touching[p]
        bears = early or (stands and follow.foot_touches[follow.foot[p]])
        body.bearing[p] = 1 if bears else 0
        follow.standing[p] = 1 if stands or early else 0
        share = min(FIRST_LOAD + table.since[row, p] / ramp, table.left[row, p] / ramp if stands else FIRST_LOAD)
        body.load[p] = MOST_LOAD * sizes.weight * min(max(share, 0.0), 1.0)
        if bears:
            total += body.load[p]
    # Where feet come as others go, as in a trot, someone must carry the robot all the same.
    more = max(1.0, LEAST_SUM * sizes.weight / max(total, 1e-9))
    for p in range(body.load.size):
        full = body.load[p] >= MOST_LOAD * sizes.weight
        body.load[p] = UNBOUNDED if full else more * body.load[p]


@inlined
def lead_com(follow):
    """The centre of mass: the error of its divergent component decays, and its height is led by a spring."""
    body, sizes, com = follow.body, follow.sizes, follow.table.moment.com
    w, k = sizes.omega, DCM_DECAY / sizes.pace
    for c in range(3):
        off = com[0, c] - body.com[c] + (sizes.lift if c == 2 else 0.0)
        rate = com[1, c] - body.com_velocity[c]
        stiff, damp = w * k, w + k
        if c == 2:
            stiff, damp = HEIGHT_GAINS[0] / sizes.size, HEIGHT_GAINS[1] / sizes.pace
        body.wanted[COM + c] = com[2, c] + stiff * off + damp * rate - body.com_drift[c]


@inlined
def lead_joints_and_trunk(follow):
    """Joints and the root's attitude as in the motion."""
    body, sizes, senses, moment = follow.body, follow.sizes, follow.senses, follow.table.moment
    stiff, damp = JOINT_GAINS[0] / sizes.size, JOINT_GAINS[1] / sizes.pace
    for k in range(body.driven.size):
        d, at = body.driven[k], follow.drives.place[follow.own[k]]
        off, rate = moment.qpos[at] - senses.qpos[at], moment.qvel[d] - senses.qvel[d]
        body.joint_wanted[k] = moment.qacc[d] + stiff * off + damp * rate
    if not follow.sizes.free_root:
        return
    R, wanted = follow.axes, moment.trunk
    for r in range(3):
        for c in range(3):
            R[r, c] = senses.xmat[body.tree.root, 3 * r + c]
    x, y, z = rotation_between(wanted, R)
    stiff, damp = TRUNK_GAINS[0] / sizes.size, TRUNK_GAINS[1] / sizes.pace
    for k in range(3):
        off = R[0, k] * x + R[1, k] * y + R[2, k] * z
        rate, push = 0.0, 0.0
        for i in range(3):  # velocity and acceleration of the motion are in its trunk's frame, which is nearly this one
            turn = R[0, k] * wanted[0, i] + R[1, k] * wanted[1, i] + R[2, k] * wanted[2, i]
            rate += turn * moment.qvel[3 + i]
            push += turn * moment.qacc[3 + i]
        body.wanted[TURN + k] = push + stiff * off + damp * (rate - senses.qvel[3 + k])


@inlined
def lead_points(follow):
    """Points that stand rest, or come down to the ground; the others go as in the motion."""
    body, sizes, points, place = follow.body, follow.sizes, follow.table.moment.points, follow.contacts.position
    stiff, damp = POINT_GAINS[0] / sizes.size, POINT_GAINS[1] / sizes.pace
    rest = STANCE_DAMPING / sizes.pace
    for p in range(place.shape[0]):
        for c in range(3):
            if follow.standing[p]:
                wanted = -rest * body.velocity[p, c]
                if c == 2 and not body.bearing[p]:
                    wanted -= rest * DESCENT * sizes.pace
            else:
                goal = points[0, p, c] + (sizes.lift - follow.point_radius[p] if c == 2 else 0.0)
                wanted = points[2, p, c] + stiff * (goal - place[p, c])
                wanted += damp * (points[1, p, c] - body.velocity[p, c])
            row = POINTS + 3 * p + c
            body.wanted[row] = wanted - body.drift[p, c]
            body.weight[row] = STANCE_WEIGHT if follow.standing[p] else SWING_WEIGHT


@inlined
def report(follow):
    """Write the signals: errors of joints (rad), root (m), tilt (rad) and centre of mass (m), and forces (N)."""
    body, senses, moment, signals = follow.body, follow.senses, follow.table.moment, follow.signals
    joints, lift = body.driven.size, follow.sizes.lift
    for k in range(joints):
        at = follow.drives.place[follow.own[k]]
        signals[k] = senses.qpos[at] - moment.qpos[at]
    for c in range(3):
        up = lift if c == 2 else 0.0
        signals[joints + 4 + c] = body.com[c] - moment.com[0, c] - up
        if follow.sizes.free_root:
            signals[joints + c] = senses.qpos[c] - moment.qpos[c] - up
    if follow.sizes.free_root:
        x, y, z = rotation_between(moment.trunk, follow.axes)
        signals[joints + 3] = math.sqrt(x * x + y * y + z * z)
    for p in range(body.force.shape[0]):
        for c in range(3):
            signals[joints + 7 + 3 * p + c] = body.force[p, c]


@inlined
def look_for_fall(follow, time):
    """Note a trunk that tilts too far off the motion, or a centre of mass that is too low."""
    joints = follow.body.driven.size
    tilt, low = follow.signals[joints + 3], -follow.signals[joints + 6]
    if tilt > FALLEN_TILT or low > FALLEN_HEIGHT * follow.table.moment.com[0, 2]:
        follow.fallen[0] = 1
        row = note(follow.log, time, FALLEN, tilt)
        if row >= 0:
            follow.log.rows[row, MORE] = low
