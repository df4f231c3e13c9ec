"""One instant of a step as CasADi functions: a planar biped whose stance foot is held flat (Bravo 2021, section 4.1).

Holding the foot (11) makes the base a function of the joints, q = q(q_a). Its derivative is M of (35); the torques are
M^T (A q'' + H), (37), and the rows of the base are the ground's force and moment. Joints come as stance leg, swing leg;
the stance foot is the robot's first, its middle at the origin.
"""

from __future__ import annotations

from typing import Any

from footfall.gait.legs import Legs
from footfall.gait.symbolic import bodies, casadi, inverse_dynamics
from footfall.robot import Robot


class StepModel:
    """Functions of the joints of a robot in single support.

    ``instant(q, v, a)`` gives torques (2 n), horizontal and vertical ground force (N), the moment of the vertical force
    about the middle of the sole (zero moment point times force, N m), heights of the swing foot's heel and toe (m),
    place of its middle (x, z, pitch), the rate of that, coordinates (nv) and velocities (nv) of the robot.
    ``impact(q)`` gives, of the whole robot, inertia, Jacobian of the swing foot (x, z, pitch), and that of the stance
    foot's heel and toe heights.
    """

    def __init__(self, robot: Robot, legs: Legs) -> None:
        ca = casadi()
        n = 2 * legs.size
        self.robot, self.legs = robot, legs
        self.dynamics = inverse_dynamics(robot)
        joints, rates, accelerations = (ca.SX.sym(name, n) for name in ("q", "v", "a"))
        q = self._held(joints)
        v = ca.jtimes(q, joints, rates)
        a = ca.jtimes(v, ca.vertcat(joints, rates), ca.vertcat(rates, accelerations))
        needed = self.dynamics(q, v, a)
        torque = ca.jacobian(q, joints).T @ needed  # (37)
        forward, upward, moment = needed[0], needed[1], needed[2]
        # What the base's pitch takes is the moment of the ground force about the base's origin.
        lever = q[0] * upward - q[1] * forward - moment  # p_x f_z of (45)
        heights, place = self._foot(1, q)
        self.instant = ca.Function(
            "instant",
            [joints, rates, accelerations],
            [torque, forward, upward, lever, heights, place, ca.jtimes(place, joints, rates), q, v],
        )
        self.impact = self._impact()

    def _held(self, joints: Any) -> Any:
        """All coordinates when the stance foot is flat and its middle at the origin."""
        ca = casadi()
        pitch = -ca.sum1(joints[: self.legs.size])
        loose = ca.vertcat(0, 0, pitch, joints)
        place = self._foot(0, loose)[1]
        return ca.vertcat(-place[0], -place[1], pitch, joints)

    def _foot(self, foot: int, q: Any) -> tuple[Any, Any]:
        """Heights of heel and toe, and (x, z, pitch) of the sole's middle."""
        ca = casadi()
        still = ca.SX.zeros(self.robot.model.nv)
        body = bodies(self.robot, q, still, still)[self.legs.body[foot]]
        points = [body.point(ca.SX(ca.DM(p))) for p in self.legs.ends[foot]]
        middle = sum(points) / len(points)
        first = 3 + foot * self.legs.size
        pitch = q[2] + ca.sum1(q[first : first + self.legs.size])
        return ca.vertcat(*(p[2] for p in points)), ca.vertcat(middle[0], middle[2], pitch)

    def _impact(self) -> Any:
        ca = casadi()
        nv = self.robot.model.nv
        q, v, a = (ca.SX.sym(name, nv) for name in "qva")
        inertia = ca.jacobian(self.dynamics(q, v, a), a)
        landing = ca.jacobian(self._foot(1, q)[1], q)
        leaving = ca.jacobian(self._foot(0, q)[0], q)
        return ca.Function("impact", [q], [inertia, landing, leaving])
