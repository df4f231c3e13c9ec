"""The start of a toss from its free flight: velocities at the first frame, and gravity as the cameras see it.

Until it touches, the centre of a thrown body follows a parabola, and a body with equal moments of inertia keeps its
spin. Over ten or more frames that gives the velocity at the first frame ten times as accurately as the difference of
two frames. The acceleration of falling bodies shows errors of the cameras' scale and clock.

The spin of a body with unequal moments of inertia changes: Euler's equations are fitted to its attitudes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: m/s2, where the flights do not say otherwise.
GRAVITY = 9.81
#: A second difference of the height above this multiple of gravity is a push by the ground.
PUSHED = 1.0
#: Standard deviations of a second difference's noise that are below a push.
QUIET = 3.0
#: Frames of flight below which the velocities of the file are kept, and frames before the touch that are left out.
FEWEST, LEFT_OUT = 5, 1
#: Steps of Euler's equations between two frames.
SUBSTEPS = 4
#: Most Gauss-Newton steps for the spin, and the tolerance of a step, rad and rad/s, of which cameras see six digits
#: less; the rotation over a flight is below a turn, so that each gains a digit or so.
GAUSS_NEWTON, SETTLED = 30, 1e-10


@dataclass(frozen=True, eq=False)
class Flight:
    """The frames before the first touch: time (s), place (T, 3) in m, quaternion (T, 4) w, x, y, z."""

    time: np.ndarray
    place: np.ndarray
    turn: np.ndarray


def flight_of(qpos: np.ndarray, rate: float) -> Flight | None:
    """The free flight at the beginning of a motion (T, 7) at some frames per second; None where it is too short."""
    z = qpos[:, 2]
    apart = _apart(z, rate)
    if len(z) <= 2 * apart:
        return None
    pushed = (z[2 * apart :] - 2.0 * z[apart:-apart] + z[: -2 * apart]) * (rate / apart) ** 2 > PUSHED * GRAVITY
    # The difference at k reaches from frame k to k + 2 apart: the frame before that is the last that may be free.
    frames = (int(np.argmax(pushed)) + 2 * apart if pushed.any() else len(qpos)) - LEFT_OUT * apart
    if frames < FEWEST:
        return None
    return Flight(np.arange(frames) / rate, qpos[:frames, :3], qpos[:frames, 3:7])


def _apart(z: np.ndarray, rate: float) -> int:
    """How many frames apart heights are differenced so that their noise is no push; a faster camera needs more."""
    if len(z) < 8:
        return 1
    # Fourth differences of a smooth motion vanish; those of noise of standard deviation s have sqrt(70) s.
    noise = float(np.median(np.abs(np.diff(z, n=4)))) / (0.6745 * np.sqrt(70.0))
    return max(1, int(np.ceil(rate * np.sqrt(QUIET * np.sqrt(6.0) * noise / (PUSHED * GRAVITY)) - 1e-9)))


def start_velocity(flight: Flight, gravity: float, measured: np.ndarray) -> np.ndarray:
    """(6,) velocity (m/s, world) and spin (rad/s, body frame) at the first frame, by least squares over the flight."""
    design = np.stack([np.ones_like(flight.time), flight.time], axis=1)
    place = flight.place + 0.5 * gravity * flight.time[:, None] ** 2 * np.array([0.0, 0.0, 1.0])
    velocity = np.linalg.lstsq(design, place, rcond=None)[0][1]
    spin = np.array(measured[3:], dtype=float)
    first = flight.turn[0]
    inverse = np.linalg.pinv(design)
    for _ in range(GAUSS_NEWTON):
        expected = product(first, _turned(flight.time[:, None] * spin))
        left = inverse @ _rotation(_relative(expected, flight.turn))
        first = product(first, _turned(left[0]))
        spin = spin + left[1]
        if np.abs(left).max() < SETTLED:
            break
    return np.concatenate([velocity, spin])


def free_spin(flight: Flight, start: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """(6,) the start with the spin by which a body of unequal moments (3,), kg m2, turns freely as measured."""
    from scipy.optimize import least_squares

    a, b, c = moments.tolist()
    of_x, of_y, of_z = (b - c) / a, (c - a) / b, (a - b) / c  # Euler's equations: x' = of_x y z, and so on

    def attitudes(unknowns: np.ndarray) -> np.ndarray:
        turn = product(flight.turn[0], _turned(unknowns[:3]))
        x, y, z = unknowns[3:].tolist()
        steps = []  # rotation vectors from substep to substep; plain numbers, as arrays of three take ten times as long
        for step in np.diff(flight.time).tolist():
            h = step / SUBSTEPS
            for _ in range(SUBSTEPS):  # the midpoint rule
                p, q, r = x + 0.5 * h * of_x * y * z, y + 0.5 * h * of_y * z * x, z + 0.5 * h * of_z * x * y
                steps.append((h * p, h * q, h * r))
                x, y, z = x + h * of_x * q * r, y + h * of_y * r * p, z + h * of_z * p * q
        found = [turn.tolist()]
        for W, X, Y, Z in _turned(np.array(steps)).tolist():
            w, x, y, z = found[-1]
            found.append([
                w * W - x * X - y * Y - z * Z,
                w * X + x * W + y * Z - z * Y,
                w * Y + y * W + z * X - x * Z,
                w * Z + z * W + x * Y - y * X,
            ])  # fmt: skip
        return np.array(found[::SUBSTEPS])

    def miss(unknowns: np.ndarray) -> np.ndarray:
        return _rotation(_relative(attitudes(unknowns), flight.turn)).ravel()

    solved = least_squares(miss, np.concatenate([np.zeros(3), start[3:]]), method="lm")
    return np.concatenate([start[:3], solved.x[3:]])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of quaternions (..., 4) w, x, y, z."""
    (w, x, y, z), (W, X, Y, Z) = a.T, b.T  # the rows of the transposed, so that a single one and many are read alike
    found = np.array([
        w * W - x * X - y * Y - z * Z,
        w * X + x * W + y * Z - z * Y,
        w * Y + y * W + z * X - x * Z,
        w * Z + z * W + x * Y - y * X,
    ])  # fmt: skip
    return found.T


def _relative(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation from attitude ``a`` to ``b`` (..., 4), in the frame of ``a``."""
    return product(a * np.array([1.0, -1.0, -1.0, -1.0]), b)


def _turned(rotation: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4) of rotation vectors (..., 3) in rad."""
    half = 0.5 * np.linalg.norm(rotation, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * rotation * np.sinc(half / np.pi)], axis=-1)


def _rotation(turn: np.ndarray) -> np.ndarray:
    """Rotation vectors (..., 3) in rad of quaternions (..., 4), at most half a turn."""
    turn = np.where(turn[..., :1] < 0.0, -turn, turn)
    sine = np.linalg.norm(turn[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, turn[..., :1])
    return np.where(sine > 1e-12, angle / np.maximum(sine, 1e-12), 2.0) * turn[..., 1:]
