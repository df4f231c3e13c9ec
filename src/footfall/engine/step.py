"""The step: joint state -> contact points -> law -> forces -> acceleration -> state, as one compiled loop."""

from __future__ import annotations

from typing import Any, NamedTuple

from footfall.compiled import kernel
from footfall.contact.base import OPEN, SLIDE, STICK
from footfall.engine.bridge import (
    address_of,
    mj_add_contact,
    mj_apply_ft,
    mj_collision,
    mj_com_pos,
    mj_com_vel,
    mj_contact_force,
    mj_factor_m,
    mj_flex,
    mj_fwd_actuation,
    mj_fwd_constraint,
    mj_fwd_velocity,
    mj_integrate_pos,
    mj_island,
    mj_kinematics,
    mj_make_constraint,
    mj_make_m,
    mj_passive,
    mj_project_constraint,
    mj_reference_constraint,
    mj_rne,
    mj_tendon,
    mj_transmission,
    pointer_to,
)
from footfall.engine.mobility import (
    add_half_solved_forces,
    finish_solve,
    free_acceleration,
    gather,
    half_solve,
    mobility,
)
from footfall.engine.points import add_forces, locate, point_forces, release_far, roll_anchors, velocities

# How a run of the loop ends.
DONE, DIVERGED, NO_GROUND, STOPPED = 0, 1, 2, 3
#: Accelerations beyond this (m/s2 or rad/s2) are no motion of a robot.
RUNAWAY = 1e8
#: Times a coupled law and MuJoCo's constraint solver (joint limits and the like) may alternate in one step.
SWEEPS = 50
#: They agree when the constraint forces change by less than this share.
AGREEMENT = 1e-6


class Plan(NamedTuple):
    """What does not change during a run."""

    dt: float  # s
    margin: float  # m
    coupled: int
    operator: int  # the coupled law needs the Delassus operator
    native: int
    rich: int  # tendons, flexes: let MuJoCo do all of its velocity stage
    stages: int  # 1 semi-implicit Euler, 4 Runge-Kutta
    total: int  # steps
    control: int  # 0 nobody, 1 a Python function, 2 a compiled one
    control_every: int  # steps
    record_every: int  # steps


class Laws(NamedTuple):
    """The law of a run: one of the two functions is asked, the other stands idle."""

    point: Any
    coupled: Any
    values: Any  # its parameters


class Surface(NamedTuple):
    """The ground of a run, see :mod:`footfall.surface`."""

    surface: Any
    shape: Any
    table: Any


class Control(NamedTuple):
    """Who sets the controls: a Python function of time, or a compiled one of the state."""

    python: Any
    compiled: Any
    gains: Any


@kernel
def copy(target, source):
    for i in range(source.size):
        target[i] = source[i]


@kernel
def needs_constraints(world, guard):
    """Whether any joint is at its limit or any body but the feet near the ground."""
    if guard.always == 1:
        return True
    for i in range(guard.joint.size):
        q = world.qpos[guard.joint[i]]
        if q < guard.low[i] or q > guard.high[i]:
            return True
    for i in range(guard.geom.size):
        if world.geom_xpos[guard.geom[i], 2] - guard.reach[i] <= guard.highest:
            return True
    return False


@kernel
def position_stage(world, rich):
    model, data = world.model, world.data
    mj_kinematics(model, data)
    mj_com_pos(model, data)
    if rich:
        mj_flex(model, data)
        mj_tendon(model, data)
    mj_make_m(model, data)


@kernel
def factor_inertia(world, dt):
    """Factor M + dt D: joint damping acts on the velocity at the end of the step."""
    for j in range(world.damping.size):
        world.M[world.M_rowadr[j] + world.M_rownnz[j] - 1] += dt * world.damping[j]
    mj_factor_m(world.model, world.data)


@kernel
def velocity_stage(world, rich, constrained):
    model, data = world.model, world.data
    if rich:
        mj_fwd_velocity(model, data)
        return
    for a in range(world.actuator_velocity.size):
        value = 0.0
        for e in range(world.moment_rowadr[a], world.moment_rowadr[a] + world.moment_rownnz[a]):
            value += world.actuator_moment[e] * world.qvel[world.moment_colind[e]]
        world.actuator_velocity[a] = value
    mj_com_vel(model, data)
    mj_passive(model, data)
    mj_rne(model, data, 0, pointer_to(world.qfrc_bias))
    if constrained:
        mj_reference_constraint(model, data)


@kernel
def tell_mujoco(world, points, contacts, native):
    """Add one native contact for every near point."""
    contact = native.contact
    for k in range(points.body.size):
        for i in range(contacts.near[k], contacts.near[k + 1]):
            p = contacts.points[i]
            frame, at, gap = contacts.frame[p], points.position[p], contacts.gap[p]
            contact[0].dist = gap
            for j in range(3):
                contact[0].pos[j] = at[j] - 0.5 * gap * frame[2, j]
                contact[0].frame[j] = frame[2, j]
                contact[0].frame[3 + j] = frame[0, j]
                contact[0].frame[6 + j] = frame[1, j]
            for j in range(2):
                contact[0].friction[j] = contacts.dynamic_friction[p]
            contact[0].geom1 = native.ground_geom
            contact[0].geom2 = native.foot_geom[k]
            contact[0].geom[0] = native.ground_geom
            contact[0].geom[1] = native.foot_geom[k]
            native.contact_id[p] = world.ncon[0]
            if mj_add_contact(world.model, world.data, address_of(contact)) != 0:
                native.contact_id[p] = -1


@kernel
def ask_mujoco(world, points, contacts, native, wrench):
    """Read the forces of the contacts that were added; a point whose friction is below its limit sticks."""
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        if native.contact_id[p] < 0:
            continue
        mj_contact_force(world.model, world.data, native.contact_id[p], pointer_to(wrench))
        force = points.force[p]
        force[0], force[1], force[2] = wrench[1], wrench[2], wrench[0]
        limit = contacts.dynamic_friction[p] * force[2]
        if force[2] <= 0.0:
            points.mode[p] = OPEN
        elif force[0] ** 2 + force[1] ** 2 >= (0.999 * limit) ** 2:
            points.mode[p] = SLIDE
        else:
            points.mode[p] = STICK


@kernel
def smooth_force(world, pushes, step):
    """All generalised forces but those of contacts and constraints, into qfrc_smooth."""
    for j in range(world.qfrc_smooth.size):
        world.qfrc_smooth[j] = (
            world.qfrc_passive[j] - world.qfrc_bias[j] + world.qfrc_applied[j] + world.qfrc_actuator[j]
        )
    for i in range(pushes.body.size):
        if pushes.start[i] <= step < pushes.stop[i]:
            wrench = pushes.wrench[i]
            mj_apply_ft(
                world.model,
                world.data,
                pointer_to(wrench[:3]),
                pointer_to(wrench[3:]),
                pointer_to(world.xipos[pushes.body[i]]),
                pushes.body[i],
                pointer_to(world.qfrc_smooth),
            )


@kernel
def solve(world, x, y):
    """M^-1 y, into x."""
    copy(x, y)
    half_solve(world, x)
    finish_solve(world, x)


@kernel
def coupled_step(world, points, contacts, scratch, law, values, dt):
    """Forces of a coupled law and the acceleration they give."""
    release_far(points, contacts)
    copy(world.qacc, world.qfrc_smooth)
    half_solve(world, world.qacc)
    status = 0
    if contacts.number[0] > 0:
        velocities(world.cvel, world.subtree_com, points, contacts)
        gather(points, contacts, scratch.centroid)
        mobility(world, points, contacts, scratch.centroid, scratch.half, scratch.block)
        free_acceleration(world, points, contacts, scratch.centroid, scratch.half, world.qacc)
        status = law(contacts, dt, points.memory, points.force, points.mode, scratch.work, scratch.marks, values)
        add_half_solved_forces(points, contacts, scratch.half, world.qacc)
    finish_solve(world, world.qacc)
    return status


@kernel
def foot_step(world, points, contacts, scratch, law, values, dt):
    """Forces of a coupled law that looks at the motion alone, added to ``qfrc_smooth``."""
    release_far(points, contacts)
    if contacts.number[0] == 0:
        return 0
    velocities(world.cvel, world.subtree_com, points, contacts)
    status = law(contacts, dt, points.memory, points.force, points.mode, scratch.work, scratch.marks, values)
    add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
    return status


@kernel
def constrained_coupled_step(world, points, contacts, scratch, law, values, dt):
    """The same where MuJoCo's constraints are at work: law and constraints in turn, until they agree.

    What the constraints give is fed back to the law with Aitken's relaxation, since a limit and a foot on the ground
    can depend so strongly on each other that taking turns alone gets nowhere.
    """
    nv = world.qacc.size
    smooth, known, miss = scratch.generalised[0], scratch.generalised[1], scratch.generalised[2]
    copy(smooth, world.qfrc_smooth)
    for j in range(nv):
        known[j] = 0.0
        miss[j] = 0.0
    relaxation = 1.0
    for sweep in range(SWEEPS):
        for j in range(nv):
            world.qfrc_smooth[j] = smooth[j] + known[j]
        status = coupled_step(world, points, contacts, scratch, law, values, dt)
        copy(world.qfrc_smooth, smooth)
        add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
        solve(world, world.qacc_smooth, world.qfrc_smooth)
        mj_fwd_constraint(world.model, world.data)
        error, size, along, change = 0.0, 1e-9, 0.0, 0.0
        for j in range(nv):
            now = world.qfrc_constraint[j] - known[j]
            error = max(error, abs(now))
            size = max(size, abs(world.qfrc_constraint[j]))
            along += miss[j] * (now - miss[j])
            change += (now - miss[j]) ** 2
            miss[j] = now
        if contacts.number[0] == 0 or error <= AGREEMENT * size:
            return status
        if sweep > 0 and change > 0.0:
            relaxation *= -along / change
        for j in range(nv):
            known[j] += relaxation * miss[j]
    return 1


@kernel
def forces_and_acceleration(world, points, contacts, scratch, plan, native, laws, constrained):
    """The law's forces and ``qacc``, from ``qfrc_smooth``. Gives the law's status."""
    if plan.operator:
        if constrained:
            return constrained_coupled_step(world, points, contacts, scratch, laws.coupled, laws.values, plan.dt)
        return coupled_step(world, points, contacts, scratch, laws.coupled, laws.values, plan.dt)
    status = 0
    if plan.coupled:
        status = foot_step(world, points, contacts, scratch, laws.coupled, laws.values, plan.dt)
    elif not plan.native:
        velocities(world.cvel, world.subtree_com, points, contacts)
        point_forces(points, contacts, laws.point, laws.values, scratch.slip)
        add_forces(world.cdof, world.subtree_com, points, contacts, world.qfrc_smooth)
    if constrained:
        solve(world, world.qacc_smooth, world.qfrc_smooth)
        mj_fwd_constraint(world.model, world.data)  # limits, equalities, contacts of other bodies
    else:
        solve(world, world.qacc, world.qfrc_smooth)
    if plan.native:
        release_far(points, contacts)
        if constrained:
            ask_mujoco(world, points, contacts, native, scratch.wrench)
    return status


@kernel
def evaluate(world, points, contacts, scratch, plan, guard, native, pushes, laws, ground, control, step, act, outcome):
    """Everything that follows from the state: contacts, controls (if ``act``), forces, ``qacc``. Gives how it ended."""
    position_stage(world, plan.rich)
    factor_inertia(world, plan.dt)
    bad = locate(world.xpos, world.xmat, points, contacts, ground.surface, ground.shape, ground.table, plan.margin)
    if bad >= 0:
        outcome[2] = bad
        return NO_GROUND
    constrained = needs_constraints(world, guard) or (plan.native == 1 and contacts.number[0] > 0)
    if constrained:
        mj_collision(world.model, world.data)
        if plan.native:
            tell_mujoco(world, points, contacts, native)
        mj_make_constraint(world.model, world.data)
        mj_island(world.model, world.data)
        mj_project_constraint(world.model, world.data)
    mj_transmission(world.model, world.data)
    velocity_stage(world, plan.rich, constrained)
    if act:
        failed = 0
        if plan.control == 1:
            failed = control.python(step * plan.dt)
        elif plan.control == 2:
            failed = control.compiled(step * plan.dt, world.qpos, world.qvel, world.ctrl, control.gains)
        if failed != 0:
            outcome[2] = failed
            return STOPPED
    mj_fwd_actuation(world.model, world.data)
    smooth_force(world, pushes, step)
    outcome[3] = forces_and_acceleration(world, points, contacts, scratch, plan, native, laws, constrained)
    for j in range(world.qacc.size):
        if not abs(world.qacc[j]) < RUNAWAY:
            outcome[2] = j
            return DIVERGED
    return DONE


@kernel
def record(world, points, contacts, tape, row, time, status):
    """Write one sample."""
    tape.time[row] = time
    tape.status[row] = status
    copy(tape.qpos[row], world.qpos)
    copy(tape.qvel[row], world.qvel)
    copy(tape.ctrl[row], world.ctrl)
    for k in range(points.body.size):
        v, com = world.cvel[points.body[k]], world.subtree_com[points.root[k]]
        for p in range(points.begin[k], points.begin[k + 1]):
            at, f, frame = points.position[p], points.force[p], contacts.frame[p]
            rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
            tape.velocity[row, p, 0] = v[3] + v[1] * rz - v[2] * ry
            tape.velocity[row, p, 1] = v[4] + v[2] * rx - v[0] * rz
            tape.velocity[row, p, 2] = v[5] + v[0] * ry - v[1] * rx
            for c in range(3):
                tape.position[row, p, c] = at[c]
                tape.force[row, p, c] = frame[0, c] * f[0] + frame[1, c] * f[1] + frame[2, c] * f[2]
            tape.gap[row, p] = contacts.gap[p]
            tape.mode[row, p] = points.mode[p]


@kernel
def integrate_activations(world, dt):
    for i in range(world.act.size):
        value = world.act[i] + dt * world.act_dot[i]
        world.act[i] = min(max(value, world.act_range[i, 0]), world.act_range[i, 1])


@kernel
def integrate_positions(world, velocity, dt):
    mj_integrate_pos(world.model, pointer_to(world.qpos), pointer_to(velocity), dt)


@kernel
def keep_memory(points, scratch):
    """Set aside what the points remember, while trial states are evaluated."""
    m = points.memory.shape[1]
    for p in range(points.mode.size):
        copy(scratch.memory[p, :m], points.memory[p])
        copy(scratch.memory[p, m:], points.anchor[p])
        scratch.mode[p] = points.mode[p]


@kernel
def restore_memory(points, scratch):
    m = points.memory.shape[1]
    for p in range(points.mode.size):
        copy(points.memory[p], scratch.memory[p, :m])
        copy(points.anchor[p], scratch.memory[p, m:])
        points.mode[p] = scratch.mode[p]


@kernel
def advance(
    world, points, contacts, scratch, plan, guard, native, pushes, laws, ground, control, tape, first, last, outcome
):
    """Take the steps ``first`` to ``last`` (exclusive); step number ``plan.total`` is the end: only evaluated.

    Writes (how it ended, step, dof or point or code, law's status) into ``outcome``.
    """
    dt = plan.dt
    nq, nv = world.qpos.size, world.qvel.size
    kept = scratch.runge_kutta
    for step in range(first, last):
        time = step * dt
        world.time[0] = time
        outcome[1] = step
        act = plan.control > 0 and step % plan.control_every == 0
        # The stages of Runge-Kutta 4, of which the first alone is semi-implicit Euler.
        for stage in range(plan.stages):
            end = evaluate(
                world,
                points,
                contacts,
                scratch,
                plan,
                guard,
                native,
                pushes,
                laws,
                ground,
                control,
                step,
                act and stage == 0,
                outcome,
            )
            if stage == 0 and (step % plan.record_every == 0 or end == DIVERGED):
                record(world, points, contacts, tape, step // plan.record_every, time, outcome[3])
            if end != DONE:
                outcome[0] = end
                return
            if stage == 0:
                copy(world.qacc_warmstart, world.qacc)
                if step == plan.total:
                    return
                integrate_activations(world, dt)
            if plan.stages == 1:
                break
            weight = 1.0 if stage == 0 or stage == 3 else 2.0
            ahead = dt if stage == 2 else 0.5 * dt
            if stage == 0:
                keep_memory(points, scratch)
                copy(kept[0, :nq], world.qpos)
                copy(kept[1, :nv], world.qvel)
                kept[2, :nv] = 0.0
                kept[3, :nv] = 0.0
            else:
                restore_memory(points, scratch)
            for j in range(nv):
                kept[2, j] += weight / 6.0 * world.qvel[j]
                kept[3, j] += weight / 6.0 * world.qacc[j]
            if stage < 3:
                copy(world.qpos, kept[0, :nq])
                integrate_positions(world, world.qvel, ahead)
                for j in range(nv):
                    world.qvel[j] = kept[1, j] + ahead * world.qacc[j]
        if plan.stages == 1:
            for j in range(nv):
                world.qvel[j] += dt * world.qacc[j]
            integrate_positions(world, world.qvel, dt)
        else:
            copy(world.qpos, kept[0, :nq])
            integrate_positions(world, kept[2, :nv], dt)
            for j in range(nv):
                world.qvel[j] = kept[1, j] + dt * kept[3, j]
        roll_anchors(world.cvel, points, contacts, dt)
