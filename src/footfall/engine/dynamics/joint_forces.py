"""Forces in the joints: motors and servos, springs and dampers."""

from __future__ import annotations

from footfall.compiled import inlined
from footfall.engine.dynamics.rotation import normalised, rotation_vector
from footfall.robot.model import BALL, FREE


@inlined
def joint_forces(tree, bodies):
    """``qfrc_smooth`` of actuators, springs and dampers."""
    qpos, qvel, out = bodies.qpos, bodies.qvel, bodies.qfrc_smooth
    for d in range(out.size):
        out[d] = 0.0
    for i in range(tree.actuator_dof.size):
        d, gear, limits = tree.actuator_dof[i], tree.actuator_gear[i], tree.actuator_range[i]
        length, speed = gear * qpos[tree.actuator_qpos[i]], gear * qvel[d]
        gain, offset = tree.actuator_gain[i], tree.actuator_bias[i]
        control = min(max(bodies.ctrl[i], limits[0]), limits[1])
        force = (gain[0] + gain[1] * length + gain[2] * speed) * control
        force += offset[0] + offset[1] * length + offset[2] * speed
        out[d] += gear * min(max(force, limits[2]), limits[3])
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
