"""The quadratic program of :mod:`footfall.control.whole_body`, put together in compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from footfall.compiled import kernel
from footfall.solve.dense import cholesky, cholesky_solve

SINGULAR = 1e-12


class Dynamics(NamedTuple):
    """The state, as the equations of motion have it."""

    inertia: Any  # (nv, nv)
    bias: Any  # (nv,) what is left of the forces at rest, N m
    driven: Any  # (nu,) degrees of freedom with a motor
    free: Any  # (6,) those of the base
    jacobian: Any  # (2, 6, nv) of the soles' middles, world frame
    drift: Any  # (2, 6) their accelerations at q'' = 0
    rotation: Any  # (2, 3, 3) of the soles


class Targets(NamedTuple):
    """Accelerations to come near to, each with its weight."""

    feet: Any  # (2, 6) m/s2 and rad/s2, of the soles' middles, world frame
    trunk: Any  # (3,) rad/s2, trunk's frame
    com: Any  # (3,) m/s2, less gravity
    joints: Any  # (nu,) rad/s2
    feet_weight: Any  # (2, 6)
    trunk_weight: Any  # (3,)
    com_weight: Any  # (3,)
    joint_weight: Any  # (nu,)
    wrench_weight: Any  # (6,) of small wrenches, sole's frame


class Limits(NamedTuple):
    """What torques and wrenches must obey."""

    torque: Any  # (nu,) N m, the largest
    wrench: Any  # (2, R, 6) rows whose product with a sole's wrench is >= 0
    least_load: Any  # N, of a standing foot
    load: Any  # (2,) N, the largest of each foot


class QuadraticProgram(NamedTuple):
    """min x'Hx/2 + f'x with lower <= (x, C x) <= upper, and torque = T x + torque_bias."""

    H: Any  # (n, n)
    f: Any  # (n,)
    C: Any  # (m, n) torques, then the limits of the wrenches
    lower: Any  # (n + m,)
    upper: Any
    torque_bias: Any  # (nu,)
    rows: Any  # (15, n) scratch: what the targets weigh
    solved: Any  # (n + 1, 6) scratch: the base's acceleration per unknown, and without any
    factor: Any  # (6, 6) scratch
    block: Any  # (6, 6) scratch


def empty_problem(nu: int, feet: int, limits: int) -> QuadraticProgram:
    """Room for a problem with this many standing feet, each with ``limits`` rows."""
    n, m, base = nu + 6 * feet, nu + limits * feet, 6
    return QuadraticProgram(
        H=np.zeros((n, n)),
        f=np.zeros(n),
        C=np.zeros((m, n)),
        lower=np.zeros(n + m),
        upper=np.zeros(n + m),
        torque_bias=np.zeros(nu),
        rows=np.zeros((15, n)),
        solved=np.zeros((n + 1, base)),
        factor=np.zeros((base, base)),
        block=np.zeros((base, base)),
    )


@kernel
def base_motion(motion, standing, problem):
    """The base's acceleration by the joints' and by each wrench, from its rows of the equations of motion."""
    M, driven, free = motion.inertia, motion.driven, motion.free
    nu, base = driven.size, free.size
    for i in range(base):
        for j in range(base):
            problem.block[i, j] = M[free[i], free[j]]
        for k in range(nu):
            problem.solved[k, i] = -M[free[i], driven[k]]
        for s in range(standing.size):
            J, R = motion.jacobian[standing[s]], motion.rotation[standing[s]]
            for half in range(2):
                for c in range(3):
                    value = 0.0
                    for r in range(3):
                        value += J[3 * half + r, free[i]] * R[r, c]
                    problem.solved[nu + 6 * s + 3 * half + c, i] = value
        problem.solved[problem.solved.shape[0] - 1, i] = -motion.bias[free[i]]
    if not cholesky(problem.block, base, SINGULAR, problem.factor):
        return False
    for k in range(problem.solved.shape[0]):
        cholesky_solve(problem.factor, base, problem.solved[k])
    return True


@kernel
def assemble(motion, mass, standing, targets, limits, problem):
    """Write the problem of the ``standing`` feet of a robot of ``mass`` kg. False if the base has no inertia."""
    if not base_motion(motion, standing, problem):
        return False
    M, driven, free = motion.inertia, motion.driven, motion.free
    nu, base, n = driven.size, free.size, problem.f.size
    H, f, A, solved = problem.H, problem.f, problem.rows, problem.solved
    for i in range(n):
        f[i] = 0.0
        for j in range(n):
            H[i, j] = 0.0

    # feet and trunk: A x + a0 is what they do, the target less a0 what x shall give
    for k in range(3):
        count = 6 if k < 2 else 3
        for r in range(count):
            if k < 2:
                J = motion.jacobian[k, r]
                wanted, weight = targets.feet[k, r] - motion.drift[k, r], targets.feet_weight[k, r]
                for j in range(n):
                    value = J[driven[j]] if j < nu else 0.0
                    for i in range(base):
                        value += J[free[i]] * solved[j, i]
                    A[r, j] = value
                for i in range(base):
                    wanted -= J[free[i]] * solved[n, i]
            else:
                wanted, weight = targets.trunk[r] - solved[n, 3 + r], targets.trunk_weight[r]
                for j in range(n):
                    A[r, j] = solved[j, 3 + r]
            for i in range(n):
                scaled = weight * A[r, i]
                f[i] -= scaled * wanted
                for j in range(i + 1):
                    H[i, j] += scaled * A[r, j]

    # centre of mass: the sum of forces
    for s in range(standing.size):
        Rs = motion.rotation[standing[s]]
        for c in range(3):
            i = nu + 6 * s + c
            for axis in range(3):
                f[i] -= targets.com_weight[axis] * Rs[axis, c] / mass * targets.com[axis]
            for q in range(s + 1):
                Rq = motion.rotation[standing[q]]
                for d in range(3):
                    j = nu + 6 * q + d
                    for axis in range(3):
                        H[i, j] += targets.com_weight[axis] * Rs[axis, c] * Rq[axis, d] / (mass * mass)
    for i in range(n):
        weight = targets.joint_weight[i] if i < nu else targets.wrench_weight[(i - nu) % 6]
        H[i, i] += weight
        if i < nu:
            f[i] -= weight * targets.joints[i]
        for j in range(i):
            H[j, i] = H[i, j]

    # torques
    C, lower, upper = problem.C, problem.lower, problem.upper
    for i in range(n):
        lower[i], upper[i] = -1e30, 1e30
    for k in range(nu):
        d = driven[k]
        bias = motion.bias[d]
        for i in range(base):
            bias += M[d, free[i]] * solved[n, i]
        problem.torque_bias[k] = bias
        lower[n + k], upper[n + k] = -limits.torque[k] - bias, limits.torque[k] - bias
        for j in range(n):
            value = M[d, driven[j]] if j < nu else 0.0
            for i in range(base):
                value += M[d, free[i]] * solved[j, i]
            if j >= nu:
                s, c = (j - nu) // 6, (j - nu) % 6
                J, R = motion.jacobian[standing[s]], motion.rotation[standing[s]]
                for r in range(3):
                    value -= J[3 * (c // 3) + r, d] * R[r, c % 3]
            C[k, j] = value

    # wrenches
    row = nu
    for s in range(standing.size):
        own = limits.wrench[standing[s]]
        for r in range(own.shape[0]):
            for c in range(6):
                C[row, nu + 6 * s + c] = own[r, c]
            lower[n + row], upper[n + row] = 0.0, 1e30
            row += 1
        lower[nu + 6 * s + 2] = limits.least_load
        upper[nu + 6 * s + 2] = max(limits.load[standing[s]], 2.0 * limits.least_load)
    return True
