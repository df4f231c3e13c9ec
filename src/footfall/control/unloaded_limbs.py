"""Unloaded limbs: feet off the ground are led back to where they stood, arms and waist keep their pose.

Contact forces cannot control them. A point in the air must get no load, since the torques for a load without contact
swing the leg away; and joints that move no contact point would be neither held nor damped.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined
from footfall.control.senses import Senses, Tree, at_arm
from footfall.kinds import Float, Ints, Matrix, Tensor, Vector
from footfall.robot import Robot
from footfall.robot.model import HINGE, SLIDE
from footfall.robot.motors import Drives
from footfall.solve.dense import copy
from footfall.solve.quadratic_program import UNBOUNDED
from footfall.standing import in_pose, inertia_of, point_jacobian

#: Duration of the load ramp of a point, in sqrt(h/g).
LOADING = 0.1
#: Frequencies, critically damped, in sqrt(g/h): of a foot that is led back, and of joints that keep their pose.
FOOT_FREQUENCY, JOINT_FREQUENCY = 5.0, 2.0
#: Largest gap of a point that is on the ground, as a share of the height of the centre of mass.
NEAR = 1e-3
#: Missing part of the wrench, as a share of weight or of weight times height, above which feet in the air are not held:
#: the robot then needs the swinging leg as a counterweight.
COUNTERWEIGHT = 0.1
#: Ratio of a leg's effective mass in a direction to its least one, above which the leg hardly moves in that direction.
HEAVIEST = 20.0


class Unloaded(NamedTuple):
    """The control of limbs without load; world frame."""

    foot: Ints  # (P,) the foot of each point
    touches: Ints  # (feet,) 1 if any point of a foot is on the ground; the foot then turns until the others are
    bearing: Vector  # (feet,) 0 in the air to 1 on the ground
    place: Matrix  # (P, 3) m, position of each point when its foot stood last
    mass: Tensor  # (P, 3, 3) kg, effective mass of its leg at home, shared among the points of the foot
    joint: Ints  # (n,) degrees of freedom of motors that move no contact point
    address: Ints  # (n,) their addresses in qpos
    home: Vector  # (n,) rad or m, their pose at the start
    inertia: Matrix  # (n, n) kg m2, at home
    foot_rate: float  # 1/s, at which a foot is led back
    joint_rate: float  # 1/s, at which joints are led back
    loading: float  # change of a point's load in one call, as a share of its full load
    near: float  # m, largest gap of a point on the ground


def unloaded(robot: Robot, tree: Tree, drives: Drives, rate: float, height: float, dt: float, hold: bool) -> Unloaded:
    """The control of a robot's unloaded limbs; of none unless ``hold``.

    ``rate`` is sqrt(g/h) in 1/s, ``dt`` (s) the time between two calls.
    """
    model = robot.model
    data = in_pose(robot, robot.home)
    inertia = inertia_of(data)
    single = np.isin(model.jnt_type[model.dof_jntid], (HINGE, SLIDE)) & (model.body_parentid[model.dof_bodyid] != 0)
    bodies, foot = np.unique(robot.point_body if hold else [], return_inverse=True)
    joint = np.unique(drives.dof if hold else []).astype(np.int64)
    joint = joint[(single & ~np.logical_or.reduce(tree.moves))[joint]]
    return Unloaded(
        foot=foot.astype(np.int64),
        touches=np.ones(len(bodies), dtype=np.int64),
        bearing=np.ones(len(bodies)),
        place=np.zeros((len(foot), 3)),
        mass=_resisting(robot, data, inertia, tree),
        joint=joint,
        address=model.jnt_qposadr[model.dof_jntid[joint]].astype(np.int64),
        home=np.zeros(len(joint)),
        inertia=np.ascontiguousarray(inertia[np.ix_(joint, joint)]),
        foot_rate=FOOT_FREQUENCY * rate,
        joint_rate=JOINT_FREQUENCY * rate,
        loading=min(1.0, dt * rate / LOADING),
        near=NEAR * height,
    )


def _resisting(robot: Robot, data: mujoco.MjData, inertia: np.ndarray, tree: Tree) -> np.ndarray:
    """(P, 3, 3) kg, the mass (J M^-1 J^T)^-1 of a leg at each point, with the root at rest, over its foot's points."""
    model = robot.model
    rows = point_jacobian(robot, data).reshape(-1, 3, model.nv)
    root = model.body_parentid[model.dof_bodyid] == 0
    found = np.zeros((robot.point_count, 3, 3))
    for p, body in enumerate(robot.point_body):
        leg = np.flatnonzero(tree.moves[p] & ~root)
        if not leg.size:
            continue
        mobility = rows[p][:, leg] @ np.linalg.solve(inertia[np.ix_(leg, leg)], rows[p][:, leg].T)
        values, vectors = np.linalg.eigh(mobility)
        mass = 1.0 / np.maximum(values, max(values.max() / HEAVIEST, 1e-12))
        found[p] = (vectors * mass) @ vectors.T / np.count_nonzero(robot.point_body == body)
    return found


@inlined
def begin_unloaded(limbs: Unloaded, senses: Senses) -> None:
    """Take over where the limbs are; every foot is taken to stand."""
    for p in range(limbs.foot.size):
        copy(limbs.place[p], senses.position[p])
    for i in range(limbs.joint.size):
        limbs.home[i] = senses.qpos[limbs.address[i]]


@inlined
def feel_bearing(limbs: Unloaded, senses: Senses, weight: Float, lower: Vector, upper: Vector) -> None:
    """Follow which feet the ground carries, and write the largest normal force (P,) in N that each point may be given.

    A foot in the air keeps the least force, ``lower``, with which it is pressed down to the ground again.
    """
    foot, touches, bearing = limbs.foot, limbs.touches, limbs.bearing
    touches[:] = 0
    for p in range(foot.size):
        if senses.mode[p] > 0 or senses.gap[p] < limbs.near:
            touches[foot[p]] = 1
    for k in range(touches.size):
        bearing[k] = min(1.0, max(0.0, bearing[k] + (limbs.loading if touches[k] else -limbs.loading)))
    for p in range(foot.size):
        share = bearing[foot[p]]
        upper[p] = UNBOUNDED if share == 1.0 else lower[p] + share * weight
        if touches[foot[p]]:
            copy(limbs.place[p], senses.position[p])


@inlined
def hold_unloaded(limbs: Unloaded, senses: Senses, tree: Tree, arms: Matrix, lack: Float, torque: Vector) -> None:
    """Add to the torques (nv,) those that lead feet in the air back and keep the pose of other joints.

    ``arms`` (P, 3) in m lead from the centre of mass to the points; ``lack`` is the share of the weight, or of weight
    times height, by which contact forces miss the wrench.
    """
    stiff, damp = limbs.foot_rate * limbs.foot_rate, 2.0 * limbs.foot_rate
    for p in range(limbs.foot.size):
        share = (1.0 - limbs.bearing[limbs.foot[p]]) * max(0.0, 1.0 - lack / COUNTERWEIGHT)
        if share > 0.0:
            mass, place = limbs.mass[p], limbs.place[p]
            vx, vy, vz = 0.0, 0.0, 0.0
            for j in range(torque.size):
                if tree.moves[p, j]:
                    speed, (x, y, z) = senses.qvel[j], at_arm(senses.cdof[j], arms[p])
                    vx, vy, vz = vx + speed * x, vy + speed * y, vz + speed * z
            ax = share * (stiff * (place[0] - senses.position[p, 0]) - damp * vx)
            ay = share * (stiff * (place[1] - senses.position[p, 1]) - damp * vy)
            az = share * (stiff * (place[2] - senses.position[p, 2]) - damp * vz)
            fx = mass[0, 0] * ax + mass[0, 1] * ay + mass[0, 2] * az
            fy = mass[1, 0] * ax + mass[1, 1] * ay + mass[1, 2] * az
            fz = mass[2, 0] * ax + mass[2, 1] * ay + mass[2, 2] * az
            for j in range(torque.size):
                if tree.moves[p, j]:
                    x, y, z = at_arm(senses.cdof[j], arms[p])
                    torque[j] += fx * x + fy * y + fz * z
    stiff, damp = limbs.joint_rate * limbs.joint_rate, 2.0 * limbs.joint_rate
    for i in range(limbs.joint.size):
        for k in range(limbs.joint.size):
            off = limbs.home[k] - senses.qpos[limbs.address[k]]
            torque[limbs.joint[i]] += limbs.inertia[i, k] * (stiff * off - damp * senses.qvel[limbs.joint[k]])
