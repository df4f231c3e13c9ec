"""Single impacts: velocities after a collision with friction, by Newton's, Poisson's or Stronge's restitution.

With generalised velocity v and mass matrix M a point moves at ``u = J v`` in its contact frame (tangent, tangent,
normal), and an impulse p changes u by ``W p``, ``W = J inv(M) J^T``.

- ``newton``: the normal velocity after is ``-e`` times that before (Coulomb's law on impulses, any number of points).
- ``poisson``: the normal impulse of expansion is ``e`` times that of compression.
- ``energetic`` (Stronge 1990): the work of the normal impulse in expansion is ``e**2`` times that in compression.

The last two follow the sliding of one point through the impact (Routh 1905): over the normal impulse as the independent
variable, friction ``-mu u_t / |u_t|`` changes the slip until the point leaves. A point whose slip vanishes sticks, if
the cone allows that, or slides on. Newton's rule may gain energy where the point slides (Kane and Levinson 1985),
Stronge's never does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.errors import SolveError, did_you_mean
from footfall.solve.numpy_api import ContactProblem, newton_impulse
from footfall.solve.solution import STATUSES, as_floats, as_square

RULES = ("newton", "poisson", "energetic")
#: Slip speed, as a share of the point's speed before the impact, below which the point sticks.
STOPPED = 1e-9
#: Relative tolerance of the integration over the path of a sliding point.
ACCURACY = 1e-10
#: Rate of turning of the slip per normal impulse, as a share of the largest entry of W, below which it is rounding.
TURNING = 1e-14
ENDLESS = "the impact does not end: the mass matrix is nearly singular"


@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact does.

    Attributes:
        velocity: (nv,) generalised velocity after it.
        impulse: (P, 3) N s in the contact frames (tangent, tangent, normal).
        before, after: (P, 3) m/s, velocities of the points.
        energy_lost: J; negative if the rule gains energy.
        rule: of restitution.
    """

    velocity: np.ndarray
    impulse: np.ndarray
    before: np.ndarray
    after: np.ndarray
    energy_lost: float
    rule: str


@public
def impact(
    mass_matrix: Any,
    jacobian: Any,
    velocity: ArrayLike,
    *,
    friction: ArrayLike,
    restitution: float,
    rule: str = "newton",
) -> Impact:
    """The velocity after an impact of a body or robot with the ground.

    ``mass_matrix`` (nv, nv), ``jacobian`` (3P, nv) of the points that touch, rows (tangent, tangent, normal) for each,
    normals out of the ground; ``velocity`` (nv,) before. ``friction`` is one number or (P,). Points that leave take no
    part in the impact. Poisson's and the energetic rule need a single approaching point: they are not defined for
    several at once.
    """
    return collide(collision(mass_matrix, jacobian, velocity), friction, restitution, rule)


class Collision(NamedTuple):
    """The checked inputs of an impact, for any friction and restitution."""

    mass_matrix: np.ndarray  # (nv, nv)
    jacobian: np.ndarray  # (3P, nv)
    velocity: np.ndarray  # (nv,) before
    moved: np.ndarray  # (nv, 3P) change of velocity by impulses
    W: np.ndarray  # (3P, 3P) the same of the points
    before: np.ndarray  # (P, 3) m/s, velocities of the points


def collision(mass_matrix: Any, jacobian: Any, velocity: Any) -> Collision:
    """The arguments of :func:`impact` as arrays of the right shapes, or an error that says what is wrong with them."""
    M = as_square(mass_matrix, "mass_matrix")
    v = as_floats(velocity, "velocity", (len(M),))
    J = as_floats(jacobian, "jacobian", (None, len(M)))
    points, rest = divmod(len(J), 3)
    if rest or not points:
        raise SolveError(f"jacobian must have three rows per point, but has {len(J)} rows")
    try:
        moved = np.linalg.solve(M, J.T)
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(M).min())
        raise SolveError(f"mass_matrix must be positive definite, but its least eigenvalue is {least:.3g}") from None
    W = J @ moved
    return Collision(M, J, v, moved, 0.5 * (W + W.T), (J @ v).reshape(points, 3))


def collide(given: Collision, friction: Any, restitution: float, rule: str) -> Impact:
    """The outcome of a collision with friction, one number or (P,), and restitution by a rule."""
    if rule not in RULES:
        raise SolveError(f"no rule of restitution is called '{rule}': {did_you_mean(rule, RULES)}")
    if not 0.0 <= restitution <= 1.0:
        raise SolveError(f"restitution = {restitution} but it must be between 0 and 1")
    before, points = given.before, len(given.before)
    mu = as_floats(np.full(points, friction) if np.ndim(friction) == 0 else friction, "friction", (points,))
    if (mu < 0.0).any():
        raise SolveError(f"friction must be >= 0, but is {mu.min()}")
    impulse = np.zeros((points, 3))
    coming = before[:, 2] < 0.0
    if rule == "newton":
        target = np.where(coming, -restitution * before[:, 2], 0.0)
        impulse, status, _ = newton_impulse(ContactProblem(given.W, before, mu, target, impulse))
        if status:
            raise SolveError(f"the impact was not solved: {STATUSES[status].sentence}")
    elif coming.any():
        if points > 1:
            raise SolveError(f"the {rule} rule follows one point through the impact, not {points}: take 'newton'")
        impulse[0] = _followed(given.W, before[0], mu[0], restitution, rule)
    change = given.moved @ impulse.ravel()
    after = given.velocity + change
    lost = -float(change @ given.mass_matrix @ (after - 0.5 * change))
    return Impact(after, impulse, before, (given.jacobian @ after).reshape(points, 3), lost, rule)


class _State(NamedTuple):
    """The state of an impact: impulses (N s) of friction (2,) and normal force, and the work (J) of the latter."""

    friction: np.ndarray
    normal: float
    work: float


def _followed(W: np.ndarray, before: np.ndarray, mu: float, restitution: float, rule: str) -> np.ndarray:
    """(3,) impulse of one point, by its path over the normal impulse (Routh's method)."""
    state = _State(np.zeros(2), 0.0, 0.0)
    compressed, still = False, STOPPED * float(np.linalg.norm(before))
    ends = math.inf  # normal impulse (Poisson) or work (energetic) at which the point leaves
    slides = np.hypot(before[0], before[1]) > still
    while True:
        u = before + W @ [*state.friction, state.normal]
        goal = _Goal(compressed, rule, ends)
        state, done = _slide(W, before, mu, state, goal, still) if slides else _straight(W, u, mu, state, goal)
        if not done:
            slides = False  # from here on the direction of friction is constant
            continue
        if compressed or restitution == 0.0:
            return np.array([*state.friction, state.normal])
        compressed = True
        ends = (1.0 + restitution) * state.normal if rule == "poisson" else (1.0 - restitution**2) * state.work


class _Goal(NamedTuple):
    """Where a phase ends: compression at zero normal speed, expansion at a given normal impulse or work."""

    compressed: bool
    rule: str
    ends: float

    def missing(self, normal: float, work: float, speed: float) -> float:
        """Event function: negative until the phase ends."""
        return speed if not self.compressed else (normal if self.rule == "poisson" else work) - self.ends


def _straight(W: np.ndarray, u: np.ndarray, mu: float, state: _State, goal: _Goal) -> tuple[_State, bool]:
    """A point without slip sticks or slides off in one direction: friction over normal impulse is constant."""
    ratio = _ratio_from_rest(W, mu)
    gain = float(W[2] @ [*ratio, 1.0])  # normal velocity per normal impulse; positive, since W is positive definite
    return _gone_on(state, ratio, u[2], gain, _until_end(state, goal, u[2], gain)), True


def _until_end(state: _State, goal: _Goal, speed: float, gain: float) -> float:
    """Normal impulse to the end of a phase, N s, if the normal velocity grows by ``gain`` per impulse; inf if never."""
    if not goal.compressed:
        return -speed / gain if gain > 0.0 else math.inf
    if goal.rule == "poisson":
        return goal.ends - state.normal
    work = max(goal.ends - state.work, 0.0)  # speed s + gain s^2 / 2
    square = speed**2 + 2.0 * gain * work
    if work == 0.0 or square < 0.0 or speed + math.sqrt(square) <= 0.0:
        return 0.0 if work == 0.0 else math.inf
    return 2.0 * work / (speed + math.sqrt(square))


def _gone_on(state: _State, ratio: np.ndarray, speed: float, gain: float, more: float) -> _State:
    """The state after ``more`` normal impulse with friction ``ratio`` times that."""
    work = state.work + speed * more + 0.5 * gain * more**2
    return _State(state.friction + ratio * more, state.normal + more, work)


def _ratio_from_rest(W: np.ndarray, mu: float) -> np.ndarray:
    """(2,) friction over normal impulse of a point without slip, which sticks or, beyond the cone, slides off."""
    holding = -np.linalg.solve(W[:2, :2], W[:2, 2])
    if np.hypot(*holding) <= mu:
        return holding
    from scipy.optimize import brentq

    def across(angle: float) -> float:
        slip = np.array([math.cos(angle), math.sin(angle)])
        growth = W[:2, 2] - mu * W[:2, :2] @ slip
        return float(slip[0] * growth[1] - slip[1] * growth[0])

    # The direction of incipient slip: the slip that grows under friction against it must grow along itself. All
    # directions are searched. If W_tt is isotropic, the root is the direction of W_tn: the grid starts 0.1 rad off it.
    angles = math.atan2(W[1, 2], W[0, 2]) + 0.1 + np.linspace(-math.pi, math.pi, 181)
    x, y = slips = np.array([np.cos(angles), np.sin(angles)])
    growth = W[:2, 2:] - mu * W[:2, :2] @ slips
    values = x * growth[1] - y * growth[0]
    found = []
    for k in np.flatnonzero(values[:-1] * values[1:] <= 0.0):
        angle = angles[k] if values[k] == 0.0 else brentq(across, angles[k], angles[k + 1], xtol=1e-14)
        slip = np.array([math.cos(angle), math.sin(angle)])
        found.append((float(slip @ (W[:2, 2] - mu * W[:2, :2] @ slip)), -mu * slip))
    return max(found, key=lambda one: one[0])[1]


def _slide(
    W: np.ndarray, before: np.ndarray, mu: float, state: _State, goal: _Goal, still: float
) -> tuple[_State, bool]:
    """A point slides until its slip vanishes (False) or the phase ends (True).

    Where the slip keeps its direction, as in planar motion, the path is straight. Otherwise the rates are integrated
    over s with dp = |u_t| ds: vanishing slip then decays smoothly, and no rate divides by it. The state y is the
    velocity (3), the impulse of friction (2), the normal impulse, and its work.
    """
    u = before + W @ [*state.friction, state.normal]
    slip = u[:2] / math.hypot(u[0], u[1])
    growth = W @ [*(-mu * slip), 1.0]
    if abs(slip[0] * growth[1] - slip[1] * growth[0]) <= TURNING * np.abs(W).max():
        ends, slower = _until_end(state, goal, u[2], growth[2]), -float(slip @ growth[:2])
        stops = math.hypot(u[0], u[1]) / slower if slower > 0.0 else math.inf
        if min(ends, stops) == math.inf:
            raise SolveError(ENDLESS)
        return _gone_on(state, -mu * slip, u[2], growth[2], min(ends, stops)), ends <= stops
    from scipy.integrate import solve_ivp  # its import takes half a second, and few programs need it

    rows = W.tolist()  # plain numbers are faster than arrays of three
    mu = float(mu)

    def rates(_: float, y: np.ndarray) -> list[float]:
        x, across, up = y[:3].tolist()
        size = math.hypot(x, across)
        a, b = -mu * x, -mu * across
        return [*(row[0] * a + row[1] * b + row[2] * size for row in rows), a, b, size, up * size]

    def ended(_: float, y: np.ndarray) -> float:
        return goal.missing(y[5], y[6], y[2])

    def stopped(_: float, y: np.ndarray) -> float:
        return math.hypot(y[0], y[1]) - still

    ended.terminal = stopped.terminal = True  # type: ignore[attr-defined]
    ended.direction, stopped.direction = 1.0, -1.0  # type: ignore[attr-defined]
    speed = still / STOPPED
    impulse = speed / W[2, 2]
    sizes = np.array([speed, speed, speed, impulse, impulse, impulse, speed * impulse])
    # An upper bound of s: the largest possible impulse over the slowest slip.
    longest = float(np.linalg.norm(np.linalg.inv(W), 2)) / STOPPED
    run = solve_ivp(
        rates,
        (0.0, longest),
        [*u, *state.friction, state.normal, state.work],
        method="DOP853",
        events=[ended, stopped],
        rtol=ACCURACY,
        atol=1e-3 * ACCURACY * sizes,
    )
    if run.status != 1:
        raise SolveError(ENDLESS)
    y = run.y[:, -1]
    return _State(y[3:5].copy(), float(y[5]), float(y[6])), bool(run.t_events[0].size)
