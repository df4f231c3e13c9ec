"""DART: rigid contacts by a boxed linear complementarity problem (Dantzig's method), as ``World`` has them by default.

Bodies at rest would be put to sleep and report no forces: that is switched off. Spheres and a box touch exactly in
DART's own collision detection; the default detector makes meshes of them. The variant "nsgs" solves for exact cones.
"""

import dartpy as dart
import numpy as np
from guest_side import to_matrix, to_quaternion

PACKAGES = ["dartpy"]
SETTINGS = {"": {}, "nsgs": {"solver": "nsgs"}}
TUNED = {}
RESTITUTION = True
#: m, sides of the box that is the ground.
WIDE, THICK = 100.0, 1.0


class World:
    def __init__(self, task):
        self.world = world = dart.simulation.World()
        world.setTimeStep(task.dt)
        world.setGravity(task.gravity)
        asleep = world.getDeactivationOptions()
        asleep.mEnabled = False
        world.setDeactivationOptions(asleep)
        world.setCollisionDetector(dart.collision.DARTCollisionDetector())
        if task.settings.get("solver") == "nsgs":
            world.getConstraintSolver().setBoxedLcpSolver(dart.constraint.NsgsFrictionSolver())
        self.robot = robot = dart.utils.DartLoader().parseSkeleton(dart.common.Uri(task.urdf))
        robot.disableSelfCollisionCheck()
        robot.setGravity(task.gravity)
        ground = dart.dynamics.Skeleton("ground")
        _, plate = ground.createWeldJointAndBodyNodePair()
        node = plate.createShapeNode(dart.dynamics.BoxShape([WIDE, WIDE, THICK]))
        node.createCollisionAspect()
        node.setRelativeTranslation([0.0, 0.0, -0.5 * THICK])
        node.createDynamicsAspect()
        node.getDynamicsAspect().setFrictionCoeff(task.friction)  # the smaller of both counts
        node.getDynamicsAspect().setRestitutionCoeff(1.0)  # both are multiplied
        self.sphere = {}
        for body in task.bodies:
            own = [i for i, name in enumerate(task.sphere_body) if name == body]
            link = robot.getBodyNode(body)
            for i in range(len(own)):
                node = link.getShapeNode(i)
                at = node.getRelativeTransform().translation()
                sphere = own[int(np.linalg.norm(task.at[own] - at, axis=1).argmin())]
                node.setName(f"sphere {sphere}")
                if not node.hasDynamicsAspect():
                    node.createDynamicsAspect()
                node.getDynamicsAspect().setFrictionCoeff(task.friction)
                node.getDynamicsAspect().setRestitutionCoeff(task.restitution)
        world.addSkeleton(ground)
        world.addSkeleton(robot)
        self.base = robot.getBodyNode(task.bodies[0])
        self.dofs = [robot.getDof(name) for name in task.joints]
        turned, frame = to_matrix(task.qpos[3:7]), dart.math.Isometry3()
        frame.set_rotation(turned)
        frame.set_translation(task.qpos[:3])
        joint = robot.getRootJoint()
        joint.setRelativeTransform(frame)
        joint.setRelativeSpatialVelocity(np.concatenate([task.qvel[3:6], turned.T @ task.qvel[:3]]))
        for dof, q, v in zip(self.dofs, task.qpos[7:], task.qvel[6:], strict=True):
            dof.setPosition(q)
            dof.setVelocity(v)
        self.mass, self.dt = robot.getMass(), world.getTimeStep()

    def step(self, torque, pull):
        for dof, value in zip(self.dofs, torque, strict=True):
            dof.setForce(value)
        if pull.any():
            self.base.addExtForce(pull, self.base.getLocalCOM(), False, True)
        self.world.step()

    def state(self):
        frame = self.base.getWorldTransform()
        turned = frame.rotation()
        return (
            np.array([*frame.translation(), *to_quaternion(turned), *(dof.getPosition() for dof in self.dofs)]),
            np.array(
                [
                    *self.base.getLinearVelocity(),
                    *(turned.T @ self.base.getAngularVelocity()),
                    *(dof.getVelocity() for dof in self.dofs),
                ]
            ),
        )

    def contacts(self):
        found = []
        for one in self.world.getLastCollisionResult().getContacts():
            first, second = (each.getShapeFrame().getName() for each in (one.collisionObject1, one.collisionObject2))
            if first.startswith("sphere "):
                found.append((int(first.split()[1]), one.point, one.force))
            elif second.startswith("sphere "):
                found.append((int(second.split()[1]), one.point, -np.asarray(one.force)))
        return found
