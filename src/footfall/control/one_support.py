"""The motions of a robot that stands on one body, compiled: computed torque needs them at every step."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import kernel
from footfall.engine.bridge import (
    mj_com_pos,
    mj_com_vel,
    mj_full_m,
    mj_jac,
    mj_jac_dot,
    mj_kinematics,
    mj_make_m,
    mj_passive,
    mj_rne,
    pointer_to,
)
from footfall.solve.dense import cholesky, cholesky_solve

#: Least over largest pivot of the base's constraints above which they determine its motion.
REGULAR = 1e-4


class Held(NamedTuple):
    """Points of one body that shall not move, R rows of constraints, and what follows for the nf base coordinates."""

    model: int  # MuJoCo's, by their addresses
    data: int
    body: int
    local: np.ndarray  # (P, 3) m, the points in the body's frame
    at: np.ndarray  # (3,) m, where one of them is
    free: np.ndarray  # (nf,) coordinates without motors
    actuated: np.ndarray  # (nu,)
    xpos: np.ndarray  # (3,) of the body
    xmat: np.ndarray  # (9,)
    qvel: np.ndarray  # (nv,) in: any, out: with the points at rest
    passive: np.ndarray  # (nv,)
    inertia: np.ndarray  # (nv, nv)
    jacobian: np.ndarray  # (R, nv)
    rates: np.ndarray  # (R, nv) of the Jacobian, 1/s
    basis: np.ndarray  # (nv, nu) of motions that hold the points, the joints' rows ones
    inverse: np.ndarray  # (nv, R) of the constraints, the joints' rows zeros
    follows: np.ndarray  # (nf, nu) how the base follows the joints
    turning: np.ndarray  # (nv,) N of (35)
    bias: np.ndarray  # (nv,)
    gram: np.ndarray  # (n, n), n the larger of nf and nu
    factor: np.ndarray  # (n, n)
    moved: np.ndarray  # (nv, nu)
    row: np.ndarray  # (max of n and R,)


def make_held(data: mujoco.MjData, body: int, local: np.ndarray, free: np.ndarray, actuated: np.ndarray) -> Held:
    """Room to hold these points (P, 3), m in the frame of a body."""
    model = data.model
    nv, rows, most = model.nv, 3 * len(local), max(len(free), len(actuated))
    basis = np.zeros((nv, len(actuated)))
    basis[actuated] = np.eye(len(actuated))
    return Held(
        model=model._address,
        data=data._address,
        body=body,
        local=np.array(local, dtype=float),
        at=np.zeros(3),
        free=free,
        actuated=actuated,
        xpos=data.xpos[body],
        xmat=data.xmat[body],
        qvel=data.qvel,
        passive=data.qfrc_passive,
        inertia=np.zeros((nv, nv)),
        jacobian=np.zeros((rows, nv)),
        rates=np.zeros((rows, nv)),
        basis=basis,
        inverse=np.zeros((nv, rows)),
        follows=np.zeros((len(free), len(actuated))),
        turning=np.zeros(nv),
        bias=np.zeros(nv),
        gram=np.zeros((most, most)),
        factor=np.zeros((most, most)),
        moved=np.zeros((nv, len(actuated))),
        row=np.zeros(max(most, rows)),
    )


@kernel
def hold(held):
    """Compute them for the state in MuJoCo's data: whatever the joints do, the base can follow, Bravo 2021, (34).

    False where the constraints of the base are near singular, as with points of a robot in space that lie on a line.
    """
    model, data, body = held.model, held.data, held.body
    nf, nu, nv, rows = held.free.size, held.actuated.size, held.qvel.size, len(held.jacobian)
    mj_kinematics(model, data)
    mj_com_pos(model, data)
    mj_make_m(model, data)
    mj_full_m(model, data, pointer_to(held.inertia))
    for p in range(len(held.local)):
        _place(held, p)
        mj_jac(model, data, pointer_to(held.jacobian[3 * p]), 0, pointer_to(held.at), body)
    for i in range(nf):
        for j in range(i + 1):
            value = 0.0
            for r in range(rows):
                value += held.jacobian[r, held.free[i]] * held.jacobian[r, held.free[j]]
            held.gram[i, j] = value
    if not cholesky(held.gram, nf, 0.0, held.factor):
        return False
    least, largest = held.factor[0, 0], held.factor[0, 0]  # inverse pivots
    for i in range(nf):
        least, largest = min(least, held.factor[i, i]), max(largest, held.factor[i, i])
    if least < REGULAR * largest:
        return False
    for r in range(rows):
        for i in range(nf):
            held.row[i] = held.jacobian[r, held.free[i]]
        cholesky_solve(held.factor, nf, held.row)
        for i in range(nf):
            held.inverse[held.free[i], r] = held.row[i]
    for i in range(nf):
        for j in range(nu):
            value = 0.0
            for r in range(rows):
                value -= held.inverse[held.free[i], r] * held.jacobian[r, held.actuated[j]]
            held.follows[i, j] = value
            held.basis[held.free[i], j] = value
    _bring_to_rest(held)
    mj_com_vel(model, data)
    for p in range(len(held.local)):
        _place(held, p)
        mj_jac_dot(model, data, pointer_to(held.rates[3 * p]), 0, pointer_to(held.at), body)
    for r in range(rows):
        value = 0.0
        for i in range(nv):
            value -= held.rates[r, i] * held.qvel[i]
        held.row[r] = value
    for i in range(nv):
        value = 0.0
        for r in range(rows):
            value += held.inverse[i, r] * held.row[r]
        held.turning[i] = value
    mj_passive(model, data)
    mj_rne(model, data, 0, pointer_to(held.bias))
    for i in range(nv):
        held.bias[i] -= held.passive[i]
    return True


@kernel
def _place(held, p):
    """Where a point is."""
    for i in range(3):
        held.at[i] = held.xpos[i]
        for j in range(3):
            held.at[i] += held.xmat[3 * i + j] * held.local[p, j]


@kernel
def _bring_to_rest(held):
    """The velocity after a plastic impact with the points held (22)."""
    nu, nv = held.actuated.size, held.qvel.size
    for i in range(nv):
        for j in range(nu):
            value = 0.0
            for k in range(nv):
                value += held.inertia[i, k] * held.basis[k, j]
            held.moved[i, j] = value
    for i in range(nu):
        for j in range(i + 1):
            value = 0.0
            for k in range(nv):
                value += held.basis[k, i] * held.moved[k, j]
            held.gram[i, j] = value
        value = 0.0
        for k in range(nv):
            value += held.moved[k, i] * held.qvel[k]
        held.row[i] = value
    cholesky(held.gram, nu, 0.0, held.factor)
    cholesky_solve(held.factor, nu, held.row)
    for i in range(nv):
        value = 0.0
        for j in range(nu):
            value += held.basis[i, j] * held.row[j]
        held.qvel[i] = value
