"""What a compiled controller sees: live arrays of the engine and of MuJoCo."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import inlined

if TYPE_CHECKING:
    from footfall.engine.other_bodies.points import Points
    from footfall.solve.contacts import Contacts


class Senses(NamedTuple):
    """Names are MuJoCo's where the array is MuJoCo's; spatial vectors turn about the centre of mass of the tree."""

    qpos: np.ndarray
    qvel: np.ndarray
    xpos: np.ndarray
    xmat: np.ndarray
    cdof: np.ndarray
    cdof_dot: np.ndarray
    cvel: np.ndarray
    subtree_com: np.ndarray
    M: np.ndarray
    M_rownnz: np.ndarray
    M_rowadr: np.ndarray
    M_colind: np.ndarray
    qfrc_bias: np.ndarray
    qfrc_passive: np.ndarray
    position: np.ndarray  # (P, 3) m, contact points, world frame
    gap: np.ndarray  # (P,) m
    mode: np.ndarray  # (P,) of the step before
    force: np.ndarray  # (P, 3) N, of the step before, contact frame
    frame: np.ndarray  # (P, 3, 3) rows tangent, tangent, normal


def senses_of(data: mujoco.MjData, points: Points, contacts: Contacts) -> Senses:
    """Views of MuJoCo's data and of the engine's contact points; they must outlive the result."""
    own = {
        "position": points.position,
        "gap": contacts.gap[: len(points.mode)],
        "mode": points.mode,
        "force": points.force,
        "frame": contacts.frame[: len(points.mode)],
    }
    for name in Senses._fields:
        if name not in own:
            own[name] = getattr(data, name) if hasattr(data, name) else getattr(data.model, name)
    return Senses(**own)


def no_senses() -> Senses:
    """Before a world is joined."""
    return Senses(*[np.zeros(0)] * len(Senses._fields))


@inlined
def dense_inertia(senses, inertia):
    """Write the mass matrix (nv, nv), whose zeros stay as they are."""
    for i in range(inertia.shape[0]):
        first = senses.M_rowadr[i]
        for k in range(first, first + senses.M_rownnz[i]):
            j = senses.M_colind[k]
            inertia[i, j] = inertia[j, i] = senses.M[k]


@inlined
def translation(senses, tree, body, point, at, jacobian, velocity, drift):
    """Write Jacobian (3, nv), velocity (3,) and acceleration at q'' = 0 (3,) of a contact point ``at`` (3,) of a body.

    ``tree`` says which coordinates move the point; the Jacobian of others stays zero.
    """
    com, v = senses.subtree_com[tree.root], senses.cvel[body]
    rx, ry, rz = at[0] - com[0], at[1] - com[1], at[2] - com[2]
    ax, ay, az = 0.0, 0.0, 0.0
    for c in range(3):
        drift[c] = 0.0
    for j in range(senses.qvel.size):
        if tree.moves[point, j]:
            s, rate, speed = senses.cdof[j], senses.cdof_dot[j], senses.qvel[j]
            jacobian[0, j] = s[3] + s[1] * rz - s[2] * ry
            jacobian[1, j] = s[4] + s[2] * rx - s[0] * rz
            jacobian[2, j] = s[5] + s[0] * ry - s[1] * rx
            for c in range(3):
                drift[c] += speed * rate[3 + c]
            ax, ay, az = ax + speed * rate[0], ay + speed * rate[1], az + speed * rate[2]
    velocity[0] = v[3] + v[1] * rz - v[2] * ry
    velocity[1] = v[4] + v[2] * rx - v[0] * rz
    velocity[2] = v[5] + v[0] * ry - v[1] * rx
    # of the point of the body that is there now: the frame's, the turning's, and w x v of its way
    drift[0] += ay * rz - az * ry + v[1] * velocity[2] - v[2] * velocity[1]
    drift[1] += az * rx - ax * rz + v[2] * velocity[0] - v[0] * velocity[2]
    drift[2] += ax * ry - ay * rx + v[0] * velocity[1] - v[1] * velocity[0]


@inlined
def rotation_of(senses, tree, body, point, jacobian, velocity, drift):
    """The same of its body's turning, rad/s and rad/s2."""
    for c in range(3):
        velocity[c], drift[c] = senses.cvel[body, c], 0.0
    for j in range(senses.qvel.size):
        if tree.moves[point, j]:
            for c in range(3):
                jacobian[c, j] = senses.cdof[j, c]
                drift[c] += senses.qvel[j] * senses.cdof_dot[j, c]
