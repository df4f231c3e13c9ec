"""The quadratic program of :mod:`footfall.control.whole_body.on_soles`, put together in compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from footfall.compiled import inlined
from footfall.solve.dense import cholesky
from footfall.solve.quadratic_program import UNBOUNDED, ActiveSet, QuadraticProgram, active_set, empty_program

SINGULAR = 1e-12


class Dynamics(NamedTuple):
    """The state, as the equations of motion have it."""

    inertia: np.ndarray  # (nv, nv)
    bias: np.ndarray  # (nv,) what is left of the forces at rest, N m
    driven: np.ndarray  # (nu,) degrees of freedom with a motor
    free: np.ndarray  # (6,) those of the base
    jacobian: np.ndarray  # (2, 6, nv) of the soles' middles, world frame
    drift: np.ndarray  # (2, 6) their accelerations at q'' = 0
    rotation: np.ndarray  # (2, 3, 3) of the soles


class Targets(NamedTuple):
    """Accelerations to come near to, each with its weight."""

    feet: np.ndarray  # (2, 6) m/s2 and rad/s2, of the soles' middles, world frame
    trunk: np.ndarray  # (3,) rad/s2, about the axes of the trunk that point forward, left and up at home
    trunk_axes: np.ndarray  # (3, 3) rows: these axes in the trunk's frame; constant
    com: np.ndarray  # (3,) m/s2, less gravity
    joints: np.ndarray  # (nu,) rad/s2
    feet_weight: np.ndarray  # (2, 6)
    trunk_weight: np.ndarray  # (3,)
    com_weight: np.ndarray  # (3,)
    joint_weight: np.ndarray  # (nu,)
    wrench_weight: np.ndarray  # (6,) of small wrenches, sole's frame


class Limits(NamedTuple):
    """What torques and wrenches must obey."""

    least_torque: np.ndarray  # (nu,) N m, that motors can give now
    most_torque: np.ndarray  # (nu,) N m
    wrench: np.ndarray  # (2, R, 6) rows whose product with a sole's wrench is >= 0
    frictionless: np.ndarray  # (2, 3, R, 6) the same without friction, on the heel's edge, the sole and the toes' edge
    by_friction: np.ndarray  # (2, 3, R, 6) what they gain per friction coefficient
    friction: np.ndarray  # (2,) the coefficients that they are for now
    edge: np.ndarray  # (2,) and what they are for: -1 the heel's edge, 0 the sole, 1 the toes' edge
    least_load: float  # N, of a standing foot
    load: np.ndarray  # (2,) N, the largest of each foot


class Problem(NamedTuple):
    """The program whose unknowns are joint accelerations and wrenches: torque = (first rows of C) x + torque_bias."""

    program: QuadraticProgram  # rows of C are torques, then the limits of the wrenches
    work: ActiveSet
    torque_bias: np.ndarray  # (nu,)
    rows: np.ndarray  # (3, n) scratch: a target by the unknowns
    wanted: np.ndarray  # (3,) scratch: what it shall be
    weight: np.ndarray  # (3,) scratch
    answer: np.ndarray  # (6, n + 1) scratch: the base's acceleration per unknown, and without any
    factor: np.ndarray  # (6, 6) scratch
    block: np.ndarray  # (6, 6) scratch


def empty_problem(nu: int, feet: int, limits: int) -> Problem:
    """Room for a problem with this many standing feet, each with ``limits`` rows."""
    return unknowns(nu, nu + 6 * feet, nu + limits * feet, 6)


def unknowns(nu: int, n: int, m: int, base: int) -> Problem:
    """Scratch arrays for a problem of ``n`` unknowns and ``m`` rows with ``nu`` motors, on a base of this many dofs."""
    return Problem(
        program=empty_program(n, n, m),
        work=active_set(n, n, m),
        torque_bias=np.zeros(nu),
        rows=np.zeros((3, n)),
        wanted=np.zeros(3),
        weight=np.zeros(3),
        answer=np.zeros((base, n + 1)),
        factor=np.zeros((base, base)),
        block=np.zeros((base, base)),
    )


@inlined
def keep_to_friction(limits, foot, friction, edge):
    """Let the wrench of a foot keep to another friction coefficient, and to what it stands on: -1 the heel's edge, 0
    the sole, 1 the toes' edge.
    """
    if friction != limits.friction[foot] or edge != limits.edge[foot]:
        limits.friction[foot], limits.edge[foot] = friction, edge
        none, gain = limits.frictionless[foot, 1 + edge], limits.by_friction[foot, 1 + edge]
        for r in range(limits.wrench.shape[1]):
            for c in range(6):
                limits.wrench[foot, r, c] = none[r, c] + friction * gain[r, c]


@inlined
def base_motion(motion, standing, problem):
    """The base's acceleration by the joints' and by each wrench, from its rows of the equations of motion."""
    M, driven, free = motion.inertia, motion.driven, motion.free
    nu, base, answer = driven.size, free.size, problem.answer
    n = problem.program.shape[0]
    feet = (n - nu) // 6
    for i in range(base):
        own = answer[i]
        for j in range(base):
            problem.block[i, j] = M[free[i], free[j]]
        for k in range(nu):
            own[k] = -M[free[i], driven[k]]
        for s in range(feet):
            J, R = motion.jacobian[standing[s]], motion.rotation[standing[s]]
            for half in range(2):
                for c in range(3):
                    value = 0.0
                    for r in range(3):
                        value += J[3 * half + r, free[i]] * R[r, c]
                    own[nu + 6 * s + 3 * half + c] = value
        own[n] = -motion.bias[free[i]]
    return solve_base(problem)


@inlined
def solve_base(problem):
    """Solve the rows of the base for its acceleration by every unknown. False if it has no inertia."""
    answer, L, base = problem.answer, problem.factor, problem.block.shape[0]
    last = problem.program.shape[0] + 1
    if not cholesky(problem.block, base, SINGULAR, L):
        return False
    for i in range(base):  # all columns at once: L y = b, then L^T x = y
        for k in range(i):
            for j in range(last):
                answer[i, j] -= L[i, k] * answer[k, j]
        for j in range(last):
            answer[i, j] *= L[i, i]
    for i in range(base - 1, -1, -1):
        for k in range(i + 1, base):
            for j in range(last):
                answer[i, j] -= L[k, i] * answer[k, j]
        for j in range(last):
            answer[i, j] *= L[i, i]
    return True


@inlined
def joint_row(row, driven, free, answer, target, n):
    """Write a row (nv,) of joint space as one of the ``n`` unknowns; returns what is there at x = 0."""
    rest = 0.0
    for j in range(n):
        target[j] = 0.0
    for i in range(free.size):
        share = row[free[i]]
        rest += share * answer[i, n]
        for j in range(n):
            target[j] += share * answer[i, j]
    for k in range(driven.size):
        target[k] += row[driven[k]]
    return rest


@inlined
def assemble(motion, mass, standing, targets, limits, problem):
    """Write the problem of the first feet of ``standing``, as many as it has room for, of a robot of ``mass`` kg.

    False if the base has no inertia.
    """
    if not base_motion(motion, standing, problem):
        return False
    H, f = problem.program.H, problem.program.f
    for i in range(problem.program.shape[0]):
        f[i] = 0.0
        for j in range(i + 1):
            H[i, j] = 0.0
    add_motion_targets(motion, targets, problem)
    add_force_targets(motion, mass, standing, targets, problem)
    write_torque_rows(motion, standing, limits, problem)
    write_wrench_rows(motion, standing, limits, problem)
    return True


@inlined
def add_motion_targets(motion, targets, problem):
    """What feet and trunk shall do: A x + a0 is what they do, the target less a0 what x shall give."""
    A, answer, n = problem.rows, problem.answer, problem.program.shape[0]
    for k in range(5):  # motion and rotation of each foot, then the trunk
        for r in range(3):
            if k < 4:
                foot, at = k // 2, 3 * (k % 2) + r
                rest = joint_row(motion.jacobian[foot, at], motion.driven, motion.free, answer, A[r], n)
                problem.wanted[r] = targets.feet[foot, at] - motion.drift[foot, at] - rest
                problem.weight[r] = targets.feet_weight[foot, at]
            else:
                x, y, z = targets.trunk_axes[r]
                for j in range(n):
                    A[r, j] = x * answer[3, j] + y * answer[4, j] + z * answer[5, j]
                problem.wanted[r] = targets.trunk[r] - (x * answer[3, n] + y * answer[4, n] + z * answer[5, n])
                problem.weight[r] = targets.trunk_weight[r]
        add_three_rows(problem)


@inlined
def add_force_targets(motion, mass, standing, targets, problem):
    """What the centre of mass shall do, by the sum of forces, and the weights of joints and of small wrenches."""
    H, f = problem.program.H, problem.program.f
    nu, n = motion.driven.size, problem.program.shape[0]
    for s in range((n - nu) // 6):
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


@inlined
def write_torque_rows(motion, standing, limits, problem):
    """The torques by the unknowns, within the limits of the motors; unknowns themselves have no bounds yet."""
    M, driven, free = motion.inertia, motion.driven, motion.free
    C, lower, upper = problem.program.C, problem.program.lower, problem.program.upper
    nu, n = driven.size, problem.program.shape[0]
    for i in range(n):
        lower[i], upper[i] = -UNBOUNDED, UNBOUNDED
    for k in range(nu):
        d = driven[k]
        bias = motion.bias[d] + joint_row(M[d], driven, free, problem.answer, C[k], n)
        for s in range((n - nu) // 6):
            J, R = motion.jacobian[standing[s]], motion.rotation[standing[s]]
            for half in range(2):
                x, y, z = J[3 * half, d], J[3 * half + 1, d], J[3 * half + 2, d]
                for c in range(3):
                    C[k, nu + 6 * s + 3 * half + c] -= x * R[0, c] + y * R[1, c] + z * R[2, c]
        problem.torque_bias[k] = bias
        lower[n + k], upper[n + k] = limits.least_torque[k] - bias, limits.most_torque[k] - bias


@inlined
def write_wrench_rows(motion, standing, limits, problem):
    """The limits of the wrenches: friction and pressure as rows, the load of each foot as bounds."""
    C, lower, upper = problem.program.C, problem.program.lower, problem.program.upper
    nu, n = motion.driven.size, problem.program.shape[0]
    row = nu
    for s in range((n - nu) // 6):
        own = limits.wrench[standing[s]]
        for r in range(own.shape[0]):
            for c in range(6):
                C[row, nu + 6 * s + c] = own[r, c]
            lower[n + row], upper[n + row] = 0.0, UNBOUNDED
            row += 1
        lower[nu + 6 * s + 2] = limits.least_load
        upper[nu + 6 * s + 2] = max(limits.load[standing[s]], 2.0 * limits.least_load)


@inlined
def add_three_rows(problem):
    """Add the squares of three weighted rows to the program: three at once, for H is read and written once for them."""
    A, wanted, weight = problem.rows, problem.wanted, problem.weight
    H, f = problem.program.H, problem.program.f
    for i in range(problem.program.shape[0]):
        a, b, c = weight[0] * A[0, i], weight[1] * A[1, i], weight[2] * A[2, i]
        f[i] -= a * wanted[0] + b * wanted[1] + c * wanted[2]
        for j in range(i + 1):
            H[i, j] += a * A[0, j] + b * A[1, j] + c * A[2, j]
