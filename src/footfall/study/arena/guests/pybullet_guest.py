"""PyBullet: multibodies in reduced coordinates, sequential impulses of 50 iterations.

Its default drag of 0.04 per second on every body is no part of a task, and is switched off. The variant "at touch" lets
the solver see contacts only when they touch (``contactProcessingThreshold`` 0), without which balls do not bounce.
"""

import numpy as np
import pybullet as bullet
from guest_side import nearest, to_matrix

PACKAGES = ["pybullet"]
SETTINGS = {"": {}, "200 iterations": {"iterations": 200}, "at touch": {"threshold": 0.0}}
TUNED = {"iterations": (10.0, 500.0, "log", 50.0), "erp": (0.05, 0.9, "linear", 0.2)}
RESTITUTION = True


def wxyz(turn):
    return np.array(turn)[[3, 0, 1, 2]]


class World:
    def __init__(self, task):
        bullet.connect(bullet.DIRECT)
        bullet.resetSimulation()
        self.task = task
        erp = (
            {"contactERP": task.settings["erp"], "frictionERP": task.settings["erp"]} if "erp" in task.settings else {}
        )
        bullet.setPhysicsEngineParameter(
            fixedTimeStep=task.dt, numSolverIterations=round(task.settings.get("iterations", 50)), **erp
        )
        bullet.setGravity(*task.gravity)
        ground = bullet.createMultiBody(0, bullet.createCollisionShape(bullet.GEOM_PLANE))
        bullet.changeDynamics(ground, -1, lateralFriction=1.0, restitution=1.0)  # coefficients are multiplied
        self.robot = robot = bullet.loadURDF(task.urdf, flags=bullet.URDF_USE_INERTIA_FROM_FILE)
        count = bullet.getNumJoints(robot)
        told = [bullet.getJointInfo(robot, j) for j in range(count)]
        self.links = {-1: task.bodies[0]} | {j: told[j][12].decode() for j in range(count)}
        by_name = {told[j][1].decode(): j for j in range(count)}
        self.joints = [by_name[name] for name in task.joints]
        seen = {"contactProcessingThreshold": task.settings["threshold"]} if "threshold" in task.settings else {}
        for link in self.links:
            bullet.changeDynamics(
                robot, link, lateralFriction=task.friction, restitution=task.restitution, linearDamping=0.0,
                angularDamping=0.0, jointDamping=0.0, maxJointVelocity=1e6, **seen,
            )  # fmt: skip
        if self.joints:
            bullet.setJointMotorControlArray(
                robot, self.joints, bullet.VELOCITY_CONTROL, forces=[0.0] * len(self.joints)
            )
        # PyBullet places the base by its principal axes of inertia.
        self.inner = bullet.getDynamicsInfo(robot, -1)[3:5]
        turn = task.qpos[[4, 5, 6, 3]]
        place, turned = bullet.multiplyTransforms(task.qpos[:3], turn, *self.inner)
        bullet.resetBasePositionAndOrientation(robot, place, turned)
        spin = to_matrix(task.qpos[3:7]) @ task.qvel[3:6]
        bullet.resetBaseVelocity(robot, task.qvel[:3] + np.cross(spin, np.array(place) - task.qpos[:3]), spin)
        for joint, q, v in zip(self.joints, task.qpos[7:], task.qvel[6:], strict=True):
            bullet.resetJointState(robot, joint, q, v)
        self.mass = sum(bullet.getDynamicsInfo(robot, link)[0] for link in self.links)
        self.dt = bullet.getPhysicsEngineParameters()["fixedTimeStep"]

    def step(self, torque, pull):
        if self.joints:
            bullet.setJointMotorControlArray(self.robot, self.joints, bullet.TORQUE_CONTROL, forces=torque)
        if pull.any():
            centre = bullet.getBasePositionAndOrientation(self.robot)[0]
            bullet.applyExternalForce(self.robot, -1, pull, centre, bullet.WORLD_FRAME)
        bullet.stepSimulation()

    def state(self):
        place, turn = bullet.getBasePositionAndOrientation(self.robot)
        velocity, spin = map(np.array, bullet.getBaseVelocity(self.robot))
        origin, turned = bullet.multiplyTransforms(place, turn, *bullet.invertTransform(*self.inner))
        quaternion = wxyz(turned)
        velocity = velocity + np.cross(spin, np.array(origin) - place)
        joints = bullet.getJointStates(self.robot, self.joints) if self.joints else []
        return (
            np.array([*origin, *quaternion, *(one[0] for one in joints)]),
            np.array([*velocity, *(to_matrix(quaternion).T @ spin), *(one[1] for one in joints)]),
        )

    def contacts(self):
        found = []
        for one in bullet.getContactPoints(bodyA=self.robot):
            force = one[9] * np.array(one[7]) + one[10] * np.array(one[11]) + one[12] * np.array(one[13])
            if one[3] < 0:
                frame = bullet.multiplyTransforms(
                    *bullet.getBasePositionAndOrientation(self.robot), *bullet.invertTransform(*self.inner)
                )
            else:
                frame = bullet.getLinkState(self.robot, one[3], computeForwardKinematics=1)[4:6]
            local = bullet.multiplyTransforms(*bullet.invertTransform(*frame), one[5], (0, 0, 0, 1))[0]
            found.append((nearest(self.task, self.links[one[3]], np.array(local)), one[5], force))
        return found
