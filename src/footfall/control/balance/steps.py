"""Balance control, step by step: the state, the wrench, its contact forces, torques, and warnings of what is short."""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.control.balance.unloaded import begin_unloaded, feel_bearing, hold_unloaded
from footfall.control.body.com_coordinates import carrying_torques, com_motion
from footfall.control.contact_forces import distribute
from footfall.control.contact_places import place_contacts
from footfall.control.episode_log import MORE, note, see_episode
from footfall.engine.bridge import nanoseconds
from footfall.robot.motors import write_controls

#: Kinds of episodes that are reported.
UNSOLVED, INFEASIBLE, SATURATED, UNREACHABLE, FALLEN, KINDS = 0, 1, 2, 3, 4, 5
#: A wrench is missed if more than this share of the weight, or of the weight times the height of the mass, is lacking.
MISSED = 0.01
#: A robot whose centre of mass is below this part of its height at the start has fallen.
FALLEN_HEIGHT = 0.5
#: A robot that is at rest (m/s) for this long (s) this far (m) from the reference does not get there.
AT_REST, A_WHILE, FAR = 5e-3, 0.5, 5e-3
#: Whether a robot could stand at its reference is asked this often, s.
ASK_EVERY = 0.05
#: First detail of an unreachable reference: the contacts could not carry the robot there, or it rests elsewhere.
NO_STAND, ELSEWHERE = 0, 1


@inlined
def balance_tick(balance, time, ctrl):
    """Write the controls for this instant; 0."""
    see_balance(balance, time)
    if not balance.watched.fallen[0]:
        balance_torques(balance)
    balance_controls(balance, time, ctrl)
    return 0


@inlined
def see_balance(balance, time):
    """Read the state; the pose at the first call is the one to keep."""
    senses, contacts, watched, wanted = balance.senses, balance.contacts, balance.watched, balance.wanted
    place_contacts(senses, contacts)
    com, trunk = senses.subtree_com[balance.tree.root], senses.xmat[balance.trunk]
    height = -math.inf
    for p in range(contacts.arms.shape[0]):
        for c in range(3):
            contacts.arms[p, c] = contacts.position[p, c] - com[c]
        height = max(height, -contacts.arms[p, 2])
    if not watched.begun[0]:
        drop = math.inf  # a robot that starts in the air is to stand where it comes down
        for p in range(contacts.feet):
            drop = min(drop, senses.gap[p])
        for c in range(3):
            wanted.com[c] = com[c]
            for k in range(3):
                wanted.orientation[c, k] = trunk[3 * c + k]
        wanted.com[2] -= max(0.0, drop)
        begin_unloaded(balance.unloaded, senses)
        watched.begun[0], watched.height[0] = 1, height
    else:
        program = balance.problem.program
        feel_bearing(balance.unloaded, senses, balance.gains.weight[2], program.lower, program.upper)
    if not watched.fallen[0] and height < FALLEN_HEIGHT * watched.height[0]:
        watched.fallen[0] = 1
        note(balance.log, time, FALLEN, height)


@inlined
def balance_torques(balance):
    """Write contact forces, and the torques (nv,) that produce them."""
    senses, tree, contacts, problem = balance.senses, balance.tree, balance.contacts, balance.problem
    com_motion(senses, tree, balance.jacobian, balance.velocity)
    com, trunk, spin = senses.subtree_com[tree.root], senses.xmat[balance.trunk], senses.cvel[balance.trunk]
    desired_wrench(balance.gains, balance.wanted, com, balance.velocity, trunk, spin, balance.error, balance.wrench)
    begin = nanoseconds(balance.clock)
    solved = distribute(problem, balance.wrench, contacts.arms, contacts.frames)
    last = balance.signals.size
    balance.signals[last - 2] = 1e-3 * (nanoseconds(balance.clock) - begin)
    balance.signals[last - 1] = 1.0 if solved else 0.0
    carrying_torques(senses.cdof, balance.jacobian, tree, contacts.arms, problem.force, balance.torque)
    hold_unloaded(balance.unloaded, senses, tree, contacts.arms, lack(problem, balance)[0], balance.torque)


@inlined
def desired_wrench(gains, wanted, com, velocity, trunk, spin, error, wrench):
    """Write the wrench (6,) of (19)-(22) at the centre of mass, world frame, and the error (3,) in m.

    ``trunk`` is its rotation matrix, flat, ``spin`` begins with its angular velocity. With one stiffness for all axes
    the torque of (21) is ``-2 kr delta epsilon`` with the quaternion (delta, epsilon) from the wanted orientation to
    the actual one, and ``2 delta epsilon`` is the axial part of that rotation's matrix.
    """
    for c in range(3):
        error[c] = com[c] - wanted.com[c]
        wrench[c] = gains.weight[c] - gains.stiffness[c] * error[c]  # (19), (20)
        wrench[c] -= gains.damping[c] * (velocity[c] - wanted.velocity[c])
        wrench[3 + c] = -gains.dr * (spin[c] - wanted.spin[c])  # (22)
    for i in range(3):
        # (21): half the sum over the axes of wanted x actual is the axial part, in the world frame
        dx, dy, dz = wanted.orientation[0, i], wanted.orientation[1, i], wanted.orientation[2, i]
        bx, by, bz = trunk[i], trunk[3 + i], trunk[6 + i]
        wrench[3] -= 0.5 * gains.kr * (dy * bz - dz * by)
        wrench[4] -= 0.5 * gains.kr * (dz * bx - dx * bz)
        wrench[5] -= 0.5 * gains.kr * (dx * by - dy * bx)


@inlined
def balance_controls(balance, time, ctrl):
    """Write the controls for the torques, within the limits of the motors; none after a fall."""
    drives, problem, torque = balance.drives, balance.problem, balance.motor_torque
    if balance.watched.fallen[0]:
        for i in range(torque.size):
            torque[i] = 0.0
        for p in range(problem.force.shape[0]):
            for c in range(3):
                problem.force[p, c] = 0.0
    else:
        for i in range(torque.size):
            torque[i] = balance.torque[drives.dof[i]]
        report_lack(balance, time)
        report_reference(balance, time)
        for i in range(torque.size):
            torque[i] = min(max(torque[i], -drives.limit[i]), drives.limit[i])
    write_controls(drives, torque, balance.senses.qpos, balance.senses.qvel, ctrl)
    signals, first = balance.signals, problem.force.size
    for p in range(problem.force.shape[0]):
        for c in range(3):
            signals[3 * p + c] = problem.force[p, c]
    for c in range(6):
        signals[first + c], signals[first + 6 + c] = balance.wrench[c], problem.missed[c]
    for c in range(3):
        signals[first + 12 + c] = balance.error[c]


@inlined
def lack(problem, balance):
    """How much of a wrench is missed as a share of the weight, and the force (N) and moment (N m) that are."""
    missed, weight = problem.missed, balance.gains.weight
    force = math.sqrt(missed[0] ** 2 + missed[1] ** 2 + missed[2] ** 2)
    moment = math.sqrt(missed[3] ** 2 + missed[4] ** 2 + missed[5] ** 2)
    size = math.sqrt(weight[0] ** 2 + weight[1] ** 2 + weight[2] ** 2)
    return max(force, moment / balance.watched.height[0]) / size, force, moment


@inlined
def report_lack(balance, time):
    """Report a wrench or a torque that is out of reach."""
    log, limit, torque = balance.log, balance.drives.limit, balance.motor_torque
    if balance.signals[balance.signals.size - 1] == 0.0:
        see_episode(log, time, UNSOLVED, 1.0)
    short, force, moment = lack(balance.problem, balance)
    if short > MISSED:
        row = see_episode(log, time, INFEASIBLE, short)
        if row >= 0:
            log.rows[row, MORE], log.rows[row, MORE + 1] = force, moment
    worst, most = -1, 1.0
    for i in range(torque.size):
        if abs(torque[i]) > most * limit[i]:
            worst, most = i, abs(torque[i]) / limit[i]
    if worst >= 0:
        row = see_episode(log, time, SATURATED, most)
        if row >= 0:
            log.rows[row, MORE], log.rows[row, MORE + 1] = worst, abs(torque[worst])


@inlined
def report_reference(balance, time):
    """Report a reference at which the contacts cannot carry the robot, or that it does not reach."""
    watched, contacts, log, wanted = balance.watched, balance.contacts, balance.log, balance.wanted.com
    if time >= watched.next_question[0]:
        watched.next_question[0] = time + ASK_EVERY
        com = balance.senses.subtree_com[balance.tree.root]
        for p in range(contacts.arms.shape[0]):
            for c in range(3):
                contacts.arms[p, c] += com[c] - wanted[c]
        distribute(balance.question, balance.still, contacts.arms, contacts.frames)
        short, force, moment = lack(balance.question, balance)
        if short > MISSED:
            row = see_episode(log, time, UNREACHABLE, short)
            if row >= 0:
                details = log.rows[row, MORE:]
                details[0], details[4], details[5] = NO_STAND, force, moment
                for c in range(3):
                    details[1 + c] = wanted[c]
    v, off = balance.velocity, balance.error
    moves = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) >= AT_REST
    watched.rest_since[0] = math.inf if moves else min(watched.rest_since[0], time)
    away = math.sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2])
    if time - watched.rest_since[0] > A_WHILE and away > FAR:
        row = see_episode(log, time, UNREACHABLE, away)
        if row >= 0:
            log.rows[row, MORE], log.rows[row, MORE + 1] = ELSEWHERE, away
