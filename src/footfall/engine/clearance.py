"""Clearance between the bodies of a robot: collision detection is skipped until its joints have moved far enough.

The distance between two bodies depends on joint positions alone, and no point moves farther than the sum over all
joints of the joint's motion times its longest lever. So one collision detection with wide margins (a look) bounds the
joint motion before bodies can touch, and most steps need no detection.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined, kernel
from footfall.engine import bridge
from footfall.engine.bridge import doubles_at, mj_collision
from footfall.engine.world import MjWorld
from footfall.kinds import Bool, Float, Ints, Named, Vector

#: Range of a look, relative to the longest lever.
REACH = 0.005
#: Safety factor on a distance found by MuJoCo, and the share of a look's range that is subtracted from it: with wide
#: margins, MuJoCo reported up to 0.78 mm (G1) and 0.5 mm (Talos) between touching bodies, 0.19 and 0.08 of the range.
SAFE, SLACK = 0.9, 0.2
#: Least evaluations that a look, which costs as much as two detections, should save; after one that saves fewer, the
#: next look waits for 1, 3, 7, ... evaluations, at most ``LONGEST_PAUSE``.
WORTH, LONGEST_PAUSE = 4, 127
#: Entries of ``looks``: evaluations that the last look served, evaluations until the next, and the last pause.
SERVED, WAIT, PAUSE = 0, 1, 2

#: Numbers from one contact of MuJoCo to the next, and where among them its distance is.
_STRIDE, _DIST = bridge.CONTACT.itemsize // 8, bridge.CONTACT.fields["dist"][1] // 8
#: The fields of :class:`Clearance` that change from step to step.
LEARNT = ("place", "room", "looks")


class Clearance(NamedTuple):
    """The motion that the joints of a run may make before bodies can touch each other."""

    never: int  # 1 if no two bodies of the model can touch
    wide: int  # address of the model with wide margins; 0 if distances do not follow from joint positions alone
    lever: Vector  # (nq,) m, largest motion of a point of the robot per unit of each joint position
    place: Vector  # (nq,) joint positions at the last look
    room: Vector  # (2,) m, lower bounds then of the distances between bodies, and of those that were not found
    looks: Ints  # (3,) see SERVED
    widest: float  # m, range of a look
    margin: float  # m, the largest margin of two geoms in the model


@kernel
def look(world: Named, clearance: Clearance) -> Bool:
    """Measure the distances between bodies, where that is worth its cost. Returns whether the bodies are apart."""
    looks, room = clearance.looks, clearance.room
    if looks[WAIT] > 0:
        looks[WAIT] -= 1
        return False
    mj_collision(clearance.wide, world.data)
    least = clearance.widest
    numbers = doubles_at(world.contact[0], _STRIDE * world.ncon[0])
    for i in range(world.ncon[0]):
        least = min(least, numbers[_STRIDE * i + _DIST] - clearance.margin)
    world.ncon[0] = 0
    room[0], room[1] = SAFE * least - SLACK * clearance.widest, (SAFE - SLACK) * clearance.widest
    for k in range(world.qpos.size):
        clearance.place[k] = world.qpos[k]
    looks[PAUSE] = 0 if looks[SERVED] >= WORTH else min(2 * looks[PAUSE] + 1, LONGEST_PAUSE)
    looks[SERVED], looks[WAIT] = 0, looks[PAUSE]
    return room[0] > 0.0


@inlined
def way(world: Named, clearance: Clearance) -> Float:
    """Upper bound of the approach of bodies since the last look, m."""
    moved = 0.0
    for k in range(world.qpos.size):
        moved += clearance.lever[k] * abs(world.qpos[k] - clearance.place[k])
    return moved


@inlined
def stay_apart(world: Named, clearance: Clearance) -> Bool:
    """Whether bodies cannot touch: by the joint motion since the last look, or by a new look."""
    moved = way(world, clearance)
    if moved < clearance.room[1]:
        clearance.looks[SERVED] += 1
        return moved < clearance.room[0]
    return look(world, clearance)


@inlined
def bodies_are_apart(world: Named, clearance: Clearance) -> Bool:
    """Whether certainly no two bodies touch."""
    return clearance.never == 1 or (clearance.wide != 0 and stay_apart(world, clearance))


@inlined
def bodies_stay_apart(world: MjWorld, clearance: Clearance, flow: Named, dt: Float) -> Bool:
    """Whether no two bodies can touch within ``dt`` (s) at the present joint velocities and accelerations."""
    if clearance.never == 1:
        return True
    if clearance.wide == 0:
        return False
    lever, ahead = clearance.lever, 0.0
    for j in range(world.qvel.size):
        if flow.scalar[j] >= 0:
            ahead += lever[flow.scalar[j]] * dt * (abs(world.qvel[j]) + dt * abs(world.qacc[j]))
    for i in range(flow.turn.shape[0]):
        for k in range(3):  # four components of the quaternion change by at most half the angle each
            j = flow.turn[i, 1] + k
            ahead += 2.0 * lever[flow.turn[i, 0]] * dt * (abs(world.qvel[j]) + dt * abs(world.qacc[j]))
    if way(world, clearance) + ahead < clearance.room[0]:
        return True
    return world.ncon[0] == 0 and look(world, clearance) and ahead < clearance.room[0]


def colliding(model: mujoco.MjModel) -> np.ndarray:
    """(ngeom,) whether each geom can collide, by its type and affinity or in an explicit pair."""
    found = (model.geom_contype | model.geom_conaffinity).astype(bool)
    found[model.pair_geom1] = True
    found[model.pair_geom2] = True
    return found


def may_touch(model: mujoco.MjModel) -> bool:
    """Whether two bodies of a model may touch each other."""
    solids = np.flatnonzero(colliding(model))
    among = (model.geom_contype[solids][:, None] & model.geom_conaffinity[solids][None, :]) != 0
    body = model.body_weldid[model.geom_bodyid[solids]]
    among &= body[:, None] != body[None, :]
    return bool(model.npair or model.nflex or among.any())


def levers(model: mujoco.MjModel) -> np.ndarray:
    """(nq,) m, largest motion of a colliding point per unit of each joint position, in any pose.

    Infinite for joints that turn an unlimited slide.
    """
    solid, turn, slide = colliding(model), np.pi, int(mujoco.mjtJoint.mjJNT_SLIDE)
    trees = len(set(model.body_rootid[model.geom_bodyid[solid]].tolist()))
    # Largest distance of a colliding point of each body's subtree from the origin of the body.
    far = np.zeros(model.nbody)
    for geom in np.flatnonzero(solid):
        body = model.geom_bodyid[geom]
        far[body] = max(far[body], np.linalg.norm(model.geom_pos[geom]) + model.geom_rbound[geom])
    found = np.zeros(model.nq)
    for body in range(model.nbody - 1, 0, -1):
        if far[body] == 0.0:
            continue
        first = model.body_jntadr[body]
        for joint in range(first + model.body_jntnum[body] - 1, first - 1, -1):  # each turns those after it
            at, kind = model.jnt_qposadr[joint], model.jnt_type[joint]
            anchor = float(np.linalg.norm(model.jnt_pos[joint]))
            if kind == slide:
                found[at] = 1.0
                # A slide goes up to twice its limits, which are soft, from its zero; without limits any distance.
                far[body] += 2.0 * np.abs(model.jnt_range[joint]).max() if model.jnt_limited[joint] else np.inf
            elif kind == int(mujoco.mjtJoint.mjJNT_HINGE):
                found[at] = anchor + far[body]
                far[body] += 2.0 * anchor
            elif kind == int(mujoco.mjtJoint.mjJNT_BALL):
                found[at : at + 4] = turn * (anchor + far[body])  # bounds the angle between unit quaternions
                far[body] += 2.0 * anchor
            elif trees > 1:  # the position of a single tree does not matter
                found[at : at + 3], found[at + 3 : at + 7] = 1.0, turn * far[body]
        parent = model.body_parentid[body]
        far[parent] = max(far[parent], np.linalg.norm(model.body_pos[body]) + far[body])
    return found


class Widened(NamedTuple):
    """The constant part of clearances, shared by all runs of a model."""

    never: bool  # whether no two bodies can touch
    model: mujoco.MjModel | None  # with wide margins; None if distances do not follow from joint positions alone
    lever: np.ndarray  # (nq,) m, see :func:`levers`
    margin: float  # m, the largest margin of two geoms


def widen(model: mujoco.MjModel) -> Widened:
    """The constant part of clearances, with a model with wide margins if distances follow from joint positions."""
    margin = max(2.0 * float(model.geom_margin.max(initial=0.0)), float(model.pair_margin.max(initial=0.0)))
    lever, touch, wide = levers(model), may_touch(model), None
    if touch and not (model.nflex or model.nmocap) and np.isfinite(lever).all():
        wide = copy.copy(model)
        for margins in (wide.geom_margin, wide.body_margin, wide.pair_margin):
            margins += REACH * lever.max(initial=0.0)
    return Widened(not touch, wide, lever, margin)


def make_clearance(widened: Widened) -> Clearance:
    """The clearance of a run."""
    return Clearance(
        never=int(widened.never),
        wide=0 if widened.model is None else widened.model._address,
        lever=widened.lever,
        place=np.zeros_like(widened.lever),
        room=np.zeros(2),
        looks=np.array([WORTH, 0, 0]),
        widest=REACH * float(widened.lever.max(initial=0.0)),
        margin=widened.margin,
    )
