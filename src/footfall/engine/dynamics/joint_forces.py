"""Forces in the joints: motors and servos, springs and dampers."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.dynamics.kinematics import normalised, rotation_vector
from footfall.engine.dynamics.tree import Bodies, Tree
from footfall.engine.stages import damps
from footfall.kinds import Float, Int, Vector
from footfall.robot.model import BALL, FREE


@inlined
def actuator_force(tree: Tree, bodies: Bodies, i: Int) -> Float:
    """N or N m, of actuator ``i``, before its gear."""
    d, gear, limits = tree.actuator_dof[i], tree.actuator_gear[i], tree.actuator_range[i]
    length, speed = gear * bodies.qpos[tree.actuator_qpos[i]], gear * bodies.qvel[d]
    gain, offset = tree.actuator_gain[i], tree.actuator_bias[i]
    control = min(max(bodies.ctrl[i], limits[0]), limits[1])
    force = (gain[0] + gain[1] * length + gain[2] * speed) * control
    force += offset[0] + offset[1] * length + offset[2] * speed
    return min(max(force, limits[2]), limits[3])


@inlined
def actuator_forces(tree: Tree, bodies: Bodies, force: Vector, at_dof: Vector) -> None:
    """Write the forces of all actuators (nu,), N or N m, before their gears, and their sums at the dofs (nv,)."""
    for d in range(at_dof.size):
        at_dof[d] = 0.0
    for i in range(tree.actuator_dof.size):
        force[i] = actuator_force(tree, bodies, i)
        at_dof[tree.actuator_dof[i]] += tree.actuator_gear[i] * force[i]


@inlined
def damp_servos(tree: Tree, bodies: Bodies, dt: Float) -> None:
    """Add the damping of servos in a step to the inertia, dt D, where they are within their limits."""
    for s in range(tree.servo.size):
        own = tree.servo[s]
        d, at_joint = tree.actuator_dof[own], 0.0
        for i in range(tree.actuator_dof.size):
            if tree.actuator_dof[i] == d:
                at_joint += tree.actuator_gear[i] * actuator_force(tree, bodies, i)
        if damps(tree.servo_limit[s], actuator_force(tree, bodies, own), at_joint):
            bodies.qLD[tree.M_rowadr[d] + tree.M_rownnz[d] - 1] += dt * tree.servo_damping[s]


@inlined
def joint_forces(tree: Tree, bodies: Bodies) -> None:
    """``qfrc_smooth`` of actuators, springs and dampers."""
    qpos, qvel, out = bodies.qpos, bodies.qvel, bodies.qfrc_smooth
    for d in range(out.size):
        out[d] = 0.0
    for i in range(tree.actuator_dof.size):
        d, gear = tree.actuator_dof[i], tree.actuator_gear[i]
        out[d] += gear * actuator_force(tree, bodies, i)
    for d in range(out.size):
        out[d] = min(max(out[d], tree.dof_force[d, 0]), tree.dof_force[d, 1]) - tree.dof_damping[d] * qvel[d]
    for j in range(tree.jnt_type.size):
        k = tree.jnt_stiffness[j]
        if k == 0.0:
            continue
        a, d, kind = tree.jnt_qposadr[j], tree.jnt_dofadr[j], tree.jnt_type[j]
        rest = tree.qpos_spring
        if kind == FREE:
            for c in range(3):
                out[d + c] -= k * (qpos[a + c] - rest[a + c])
            a, d = a + 3, d + 3
        if kind in (FREE, BALL):
            q0, q1, q2, q3 = normalised(qpos[a], qpos[a + 1], qpos[a + 2], qpos[a + 3])
            x, y, z = rotation_vector(q0, q1, q2, q3, rest[a], rest[a + 1], rest[a + 2], rest[a + 3])
            out[d] -= k * x
            out[d + 1] -= k * y
            out[d + 2] -= k * z
        else:
            out[d] -= k * (qpos[a] - rest[a])
