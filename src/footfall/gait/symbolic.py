"""Rigid-body dynamics as CasADi expressions, read from a robot's MuJoCo model: no second description of the robot.

Bodies on hinges and slides; recursive Newton-Euler in the world frame. Zeros of the model fold away, so that a planar
robot gives planar expressions.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from footfall.errors import GaitError, optional_package
from footfall.robot import Robot
from footfall.robot.model import HINGE, SLIDE


def casadi() -> Any:
    """The package CasADi, or an error that says how to get it."""
    return optional_package("casadi", 'optimising a gait needs CasADi: pip install "footfall[gait]"')


class Body:
    """Where a body is and how it moves, as expressions in the world frame."""

    def __init__(self, rotation: Any, origin: Any, spin: Any, velocity: Any, turning: Any, acceleration: Any) -> None:
        self.rotation, self.origin = rotation, origin  # of its frame
        self.spin, self.velocity = spin, velocity  # angular, and of its origin
        self.turning, self.acceleration = turning, acceleration  # their rates

    def point(self, local: Any) -> Any:
        """Where a point of the body is."""
        return self.origin + self.rotation @ local

    def acceleration_of(self, local: Any) -> Any:
        """The acceleration of a point of the body."""
        arm = self.rotation @ local
        return self.acceleration + _cross(self.turning, arm) + _cross(self.spin, _cross(self.spin, arm))


def bodies(robot: Robot, q: Any, v: Any, a: Any) -> list[Body]:
    """All bodies of a robot at coordinates ``q``, rates ``v`` and accelerations ``a`` (nv each)."""
    ca, model = casadi(), robot.model
    zero = ca.SX.zeros(3)
    found = [Body(ca.SX.eye(3), zero, zero, zero, zero, zero)]
    for b in range(1, model.nbody):
        parent = found[model.body_parentid[b]]
        offset = ca.SX(ca.DM(model.body_pos[b]))
        arm = parent.rotation @ offset
        rotation = parent.rotation @ _constant_rotation(model.body_quat[b])
        origin = parent.origin + arm
        velocity = parent.velocity + _cross(parent.spin, arm)
        acceleration = parent.acceleration_of(offset)
        spin, turning = parent.spin, parent.turning
        for j in range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b]):
            kind, k = model.jnt_type[j], int(model.jnt_dofadr[j])
            axis = rotation @ ca.SX(ca.DM(model.jnt_axis[j]))
            value = q[k] - float(model.qpos0[model.jnt_qposadr[j]])
            if kind == SLIDE:
                acceleration = acceleration + axis * a[k] + 2 * _cross(spin, axis) * v[k]
                acceleration = acceleration + value * (_cross(turning, axis) + _cross(spin, _cross(spin, axis)))
                velocity = velocity + axis * v[k] + value * _cross(spin, axis)
                origin = origin + axis * value
            elif kind == HINGE and not model.jnt_pos[j].any():
                turning = turning + axis * a[k] + _cross(spin, axis) * v[k]
                spin = spin + axis * v[k]
                rotation = rotation @ _rotation(model.jnt_axis[j], value)
            else:
                raise GaitError(
                    f"joint '{model.joint(j).name}' of {robot.name}: a gait is optimised for robots of slides, and of "
                    "hinges at their bodies' origins"
                )
        found.append(Body(rotation, origin, spin, velocity, turning, acceleration))
    return found


def inverse_dynamics(robot: Robot) -> Any:
    """The function (q, v, a) -> A(q) a + H(q, v), the generalised forces (nv) a motion takes: Bravo 2021 (1)."""
    ca, model = casadi(), robot.model
    q, v, a = (ca.SX.sym(name, model.nv) for name in "qva")
    moving = bodies(robot, q, v, a)
    gravity = ca.SX(ca.DM(model.opt.gravity))
    force = ca.SX(ca.DM(model.dof_armature)) * a + ca.SX(ca.DM(model.dof_damping)) * v
    # Every body's inertial force and moment, pulled back to the coordinates by the velocities they give it.
    for b, body in enumerate(moving):
        if model.body_mass[b] == 0.0:
            continue
        local = ca.SX(ca.DM(model.body_ipos[b]))
        frame = body.rotation @ _constant_rotation(model.body_iquat[b])
        inertia = frame @ ca.diag(ca.SX(ca.DM(model.body_inertia[b]))) @ frame.T
        push = float(model.body_mass[b]) * (body.acceleration_of(local) - gravity)
        moment = inertia @ body.turning + _cross(body.spin, inertia @ body.spin)
        velocity = body.velocity + _cross(body.spin, body.rotation @ local)
        force = force + ca.jtimes(velocity, v, push, True) + ca.jtimes(body.spin, v, moment, True)
    return ca.Function("inverse_dynamics", [q, v, a], [force])


def _cross(a: Any, b: Any) -> Any:
    return casadi().cross(a, b)


def _constant_rotation(quaternion: np.ndarray) -> Any:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    matrix[np.abs(matrix) < 1e-15] = 0.0
    ca = casadi()
    return ca.sparsify(ca.SX(ca.DM(matrix.reshape(3, 3))))


def _rotation(axis: np.ndarray, angle: Any) -> Any:
    """Rodrigues' formula."""
    ca = casadi()
    k = ca.sparsify(ca.SX(ca.DM([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])))
    return ca.SX.eye(3) + ca.sin(angle) * k + (1 - ca.cos(angle)) * (k @ k)
