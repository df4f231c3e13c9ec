"""Contact problems of many points on Coulomb's exact cone: stacks and walls, hundreds of contacts.

The Delassus matrix of many bodies consists of 3x3 blocks, most of them zero. Gauss-Seidel on the non-zero blocks comes
near a solution; Newton's method on Alart and Curnier's equations (:mod:`footfall.solve.newton_on_cone`), without the
points that carry nothing and with LAPACK, makes it exact. They take turns.

Bodies have fewer degrees of freedom than their points have forces: W = J inv(M) J^T has the rank of J at most. Newton's
equations are therefore solved in as many unknowns as W has rank (Woodbury 1950), a third of all in a wall of bricks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, lu_factor, lu_solve
from scipy.linalg.lapack import dpstrf
from threadpoolctl import threadpool_limits

from footfall.compiled import kernel
from footfall.solve.gauss_seidel import solve_point

#: Least number of points for these methods.
MANY = 40
#: Turns of Gauss-Seidel and Newton, sweeps of the first of them, and steps of Newton in each.
TURNS, SWEEPS, STEPS = 8, 400, 40
#: Steps within which Newton must halve its merit function; otherwise sweeps are the better use of time.
PATIENCE = 6
#: Residuals that are aimed at and accepted, relative to the largest impulse that would stop a point alone.
TOLERANCE, ACCEPTED = 1e-13, 1e-10
#: Bounds of what is added to the diagonal of W, which is singular under a flat body; Armijo's share of the decrease,
#: and how often a step is halved.
LEAST, MOST, SHARE, HALVINGS = 1e-9, 1e-4, 1e-4, 20
#: Share of the unknowns up to which a rank is low, and by how much W, with ones for its diagonal, may miss its factors.
LOW, MISSED = 0.5, 1e-9


class Blocks(NamedTuple):
    """A matrix of 3x3 blocks, row by row, those that are zero left out."""

    begin: np.ndarray  # (P + 1,) where the blocks of each row begin
    column: np.ndarray  # (B,)
    value: np.ndarray  # (B, 3, 3)


def blocks(W: np.ndarray) -> Blocks:
    """The blocks of a (3P, 3P) matrix that are not zero; the diagonal's are kept in any case."""
    points = len(W) // 3
    cells = W.reshape(points, 3, points, 3)
    used = np.abs(cells).max(axis=(1, 3), initial=0.0) > 0.0
    np.fill_diagonal(used, True)
    row, column = np.nonzero(used)
    return Blocks(np.searchsorted(row, np.arange(points + 1)), column, np.ascontiguousarray(cells[row, :, column]))


class Iterate(NamedTuple):
    """Impulses of all points, and the velocities under them."""

    impulse: np.ndarray  # (P, 3)
    velocity: np.ndarray  # (P, 3)


@kernel
def sweep(matrix, target, friction, iterate, last_iterate, local, sweeps, tolerance):
    """Gauss-Seidel with momentum on ``iterate``, in place; ``last_iterate`` and ``local`` (3, 3) are scratch.

    Gives the last relative change and the sweeps taken; see :func:`footfall.solve.gauss_seidel.gauss_seidel`.
    """
    begin, column, value = matrix
    impulse, velocity = iterate
    before, velocity_before = last_iterate
    points = friction.size
    for p in range(points):
        for k in range(3):
            before[p, k], velocity_before[p, k] = impulse[p, k], velocity[p, k]
    momentum, last = 1.0, 1e300
    for count in range(sweeps):
        change, largest, back = 0.0, 0.0, 0.0
        for p in range(points):
            for b in range(begin[p], begin[p + 1]):
                if column[b] == p:
                    for k in range(3):
                        for m in range(3):
                            local[k, m] = value[b, k, m]
            old_x, old_y, old_z = impulse[p, 0], impulse[p, 1], impulse[p, 2]
            x, y, z = velocity[p, 0], velocity[p, 1], velocity[p, 2] - target[p]
            x -= local[0, 0] * old_x + local[0, 1] * old_y + local[0, 2] * old_z
            y -= local[1, 0] * old_x + local[1, 1] * old_y + local[1, 2] * old_z
            z -= local[2, 0] * old_x + local[2, 1] * old_y + local[2, 2] * old_z
            fx, fy, fz = solve_point(local, x, y, z, friction[p])
            dx, dy, dz = fx - old_x, fy - old_y, fz - old_z
            largest = max(largest, abs(fx), abs(fy), abs(fz))
            if dx == 0.0 and dy == 0.0 and dz == 0.0:
                continue
            impulse[p, 0], impulse[p, 1], impulse[p, 2] = fx, fy, fz
            for b in range(begin[p], begin[p + 1]):  # the matrix is symmetric: its column is its row
                q, w = column[b], value[b]
                for k in range(3):
                    velocity[q, k] += w[0, k] * dx + w[1, k] * dy + w[2, k] * dz
            change = max(change, abs(dx), abs(dy), abs(dz))
            back -= dx * (fx - before[p, 0]) + dy * (fy - before[p, 1]) + dz * (fz - before[p, 2])
        if change <= tolerance * largest or count == sweeps - 1:
            return change / max(largest, 1e-300), count + 1
        following = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum) ** 0.5)
        further = (momentum - 1.0) / following
        if back > 0.0 or change > last:
            further, following = 0.0, 1.0
        momentum, last = following, change
        for p in range(points):
            for k in range(3):
                now = impulse[p, k]
                impulse[p, k] = now + further * (now - before[p, k])
                before[p, k] = now
                now = velocity[p, k]
                velocity[p, k] = now + further * (now - velocity_before[p, k])
                velocity_before[p, k] = now
    return 0.0, 0


def sweep_to(
    W: np.ndarray,
    free: np.ndarray,
    target: np.ndarray,
    friction: np.ndarray,
    impulse: np.ndarray,
    sweeps: int,
    tolerance: float,
) -> tuple[float, int]:
    """Improve impulses (P, 3) in place by Gauss-Seidel: the last relative change and the sweeps taken."""
    velocity = free + (W @ impulse.ravel()).reshape(impulse.shape)
    last = Iterate(np.empty_like(impulse), np.empty_like(impulse))
    return sweep(blocks(W), target, friction, Iterate(impulse, velocity), last, np.zeros((3, 3)), sweeps, tolerance)


class Equations:
    """Alart and Curnier's equations of a problem, in units of the largest impulse that would stop a point alone."""

    def __init__(self, W: np.ndarray, free: np.ndarray, target: np.ndarray, friction: np.ndarray) -> None:
        trace = np.diag(W).reshape(-1, 3).sum(axis=1)
        self.ease = np.where(trace > 0.0, 3.0 / np.where(trace > 0.0, trace, 1.0), 1.0)
        self.size = max(1e-300, (self.ease[:, None] * np.abs(free)).max(), (self.ease * np.abs(target)).max())
        self.W, self.free, self.target, self.friction = W, free / self.size, target / self.size, friction
        root = np.sqrt(np.repeat(self.ease, 3))
        self.factor = _low_rank(root[:, None] * W * root)

    def shifted(self, z: np.ndarray) -> np.ndarray:
        """(P, 3) z less the velocity, by a factor of each point."""
        u = self.free + (self.W @ z.ravel()).reshape(z.shape)
        u[:, 2] -= self.target
        return z - self.ease[:, None] * u

    def projected(self, a: np.ndarray) -> np.ndarray:
        """(P, 3) the right-hand sides."""
        normal = np.maximum(a[:, 2], 0.0)
        length = np.hypot(a[:, 0], a[:, 1])
        limit = self.friction * normal
        shrink = np.where(length > limit, limit / np.where(length > 0.0, length, 1.0), 1.0)
        return np.column_stack([a[:, 0] * shrink, a[:, 1] * shrink, normal])

    def slope(self, a: np.ndarray) -> np.ndarray:
        """(P, 3, 3) derivative of the right-hand sides by a."""
        pressed = a[:, 2] > 0.0
        length = np.hypot(a[:, 0], a[:, 1])
        limit = self.friction * np.maximum(a[:, 2], 0.0)
        slides = length > limit
        inverse = 1.0 / np.where(length > 0.0, length, 1.0)
        tx, ty = np.where(slides, a[:, 0] * inverse, 0.0), np.where(slides, a[:, 1] * inverse, 0.0)
        shrink = np.where(slides, limit * inverse, 1.0)
        out = np.zeros((len(a), 3, 3))
        out[:, 0, 0], out[:, 1, 1] = shrink * (1.0 - tx * tx), shrink * (1.0 - ty * ty)
        out[:, 0, 1] = out[:, 1, 0] = -shrink * tx * ty
        out[:, 0, 2], out[:, 1, 2] = self.friction * tx * pressed, self.friction * ty * pressed
        out[:, 2, 2] = pressed
        return out

    def step(self, z: np.ndarray, a: np.ndarray, phi: np.ndarray, damping: float) -> np.ndarray:
        """(P, 3) Newton's step. Points whose right-hand side does not move go where it is."""
        moves = a[:, 2] > 0.0
        if not moves.any():
            return -phi
        return self._dense(a, phi, moves, damping) if self.factor is None else self._low(a, phi, moves, damping)

    def _low(self, a: np.ndarray, phi: np.ndarray, moves: np.ndarray, damping: float) -> np.ndarray:
        """By W = L L^T, in units of the root of r: with H = D + B L L^T, D of 3x3 blocks, and y = L^T step,
        (1 + L^T inv(D) B L) y = -L^T inv(D) phi.
        """
        assert self.factor is not None
        slope = self.slope(a)[moves]
        inverse = np.linalg.inv(np.eye(3) - (1.0 - damping) * slope)
        out = -phi / np.sqrt(self.ease)[:, None]
        out[moves] = np.einsum("pij,pj->pi", inverse, out[moves])
        part = self.factor[np.repeat(moves, 3)]
        turned = ((inverse @ slope) @ part.reshape(len(slope), 3, -1)).reshape(part.shape)
        small = part.T @ turned
        small.flat[:: len(small) + 1] += 1.0
        y = lu_solve(lu_factor(small, overwrite_a=True, check_finite=False), self.factor.T @ out.ravel())
        out[moves] -= (turned @ y).reshape(-1, 3)
        return out * np.sqrt(self.ease)[:, None]

    def _dense(self, a: np.ndarray, phi: np.ndarray, moves: np.ndarray, damping: float) -> np.ndarray:
        """With all unknowns of the points that move."""
        out = -phi.copy()
        rows = np.flatnonzero(np.repeat(moves, 3))
        still = np.flatnonzero(~np.repeat(moves, 3))
        slope, weight = self.slope(a)[moves], np.repeat(self.ease, 3)
        scaled = weight[rows, None] * self.W[rows]
        # H = 1 - B (1 - r W), of the points that move; what the others do is known.
        known = scaled[:, still] @ out.ravel()[still]
        turned = (slope @ scaled[:, rows].reshape(len(slope), 3, -1)).reshape(len(rows), -1)
        at = np.arange(len(slope))
        cells = turned.reshape(len(slope), 3, len(slope), 3)
        cells[at, :, at, :] += np.eye(3) - slope
        right = -phi.ravel()[rows] - (slope @ known.reshape(-1, 3, 1)).ravel()
        cells[at, :, at, :] += damping * slope
        factor = lu_factor(turned, overwrite_a=True, check_finite=False)
        out.ravel()[rows] = lu_solve(factor, right, check_finite=False)
        return out


def _low_rank(W: np.ndarray) -> np.ndarray | None:
    """(3P, rank) L of W = L L^T by Cholesky's method with pivots, or ``None`` where its rank is not low."""
    packed, pivots, rank, _ = dpstrf(W, lower=1)
    if rank > LOW * len(W):
        return None
    out = np.empty((len(W), rank))
    out[pivots - 1] = np.tril(packed)[:, :rank]
    return out if np.abs(W - out @ out.T).max() <= MISSED else None  # indefinite, it would miss


def newton(equations: Equations, impulse: np.ndarray) -> tuple[bool, int]:
    """Improve impulses (P, 3) in place: whether they solve the problem, and the steps taken."""
    z = impulse / equations.size
    a = equations.shifted(z)
    phi = z - equations.projected(a)
    merit, steps = 0.5 * float((phi * phi).sum()), 0
    merits = [merit]
    while np.abs(phi).max() > TOLERANCE and steps < STEPS:
        try:
            direction = equations.step(z, a, phi, max(LEAST, min(MOST, merit)))
        except LinAlgError:
            break
        length, trial = 1.0, z + direction
        for _ in range(HALVINGS):
            a_trial = equations.shifted(trial)
            miss = trial - equations.projected(a_trial)
            new = 0.5 * float((miss * miss).sum())
            if new < (1.0 - SHARE * length) * merit:
                z, a, phi, merit = trial, a_trial, miss, new
                break
            length *= 0.5
            trial = z + length * direction
        else:
            break
        steps += 1
        merits.append(merit)
        if steps >= PATIENCE and merit > 0.5 * merits[-1 - PATIENCE]:
            break
    impulse[:] = equations.size * equations.projected(a)
    return bool(np.abs(phi).max() <= ACCEPTED), steps


def solve_many(
    W: np.ndarray, free: np.ndarray, target: np.ndarray, friction: np.ndarray, impulse: np.ndarray
) -> tuple[bool, int]:
    """Improve impulses (P, 3) in place until they solve a problem: whether they do, and the steps and sweeps."""
    # On a busy machine several BLAS threads wait for each other, ten times as long as a single thread would take.
    with threadpool_limits(1, user_api="blas"):
        return _take_turns(W, free, target, friction, impulse)


def _take_turns(
    W: np.ndarray, free: np.ndarray, target: np.ndarray, friction: np.ndarray, impulse: np.ndarray
) -> tuple[bool, int]:
    equations = Equations(W, free, target, friction)
    found, iterations = newton(equations, impulse) if impulse.any() else (False, 0)
    sweeps = SWEEPS
    for _ in range(TURNS):
        if found:
            break
        _, taken = sweep_to(W, free, target, friction, impulse, sweeps, TOLERANCE)
        rough = impulse.copy()
        found, steps = newton(equations, impulse)
        iterations += taken + steps
        if not found:
            impulse[:] = rough
            sweeps *= 2
    return found, iterations
