"""Errors of a simulated motion against a measured one: the metrics of the field.

Positions are compared in widths of the body, attitudes by the angle of the rotation between them, velocities after an
impact in the norm of the kinetic energy, forces in body weights.
"""

from __future__ import annotations

import numpy as np


def position_error(simulated: np.ndarray, measured: np.ndarray, width: float) -> np.ndarray:
    """(T,) distance between two places (T, 3) in m, in ``width`` (m)."""
    return np.linalg.norm(np.asarray(simulated) - np.asarray(measured), axis=-1) / width


def rotation_error(simulated: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """(T,) angle in degrees of the rotation between two attitudes (T, 4), quaternions w, x, y, z of any length."""
    a, b = np.asarray(simulated, dtype=float), np.asarray(measured, dtype=float)
    a, b = a / np.linalg.norm(a, axis=-1, keepdims=True), b / np.linalg.norm(b, axis=-1, keepdims=True)
    b = np.where((a * b).sum(axis=-1, keepdims=True) < 0.0, -b, b)
    # Of half the angle, sine and cosine: exact for small angles too, where an arc cosine is not.
    return np.degrees(4.0 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)))


def velocity_error(simulated: np.ndarray, measured: np.ndarray, inertia: np.ndarray, before: np.ndarray) -> float:
    """Error of a velocity (nv,) after an impact in the norm of the kinetic energy, relative to that ``before`` it.

    ``inertia`` (nv, nv) is the mass matrix: sqrt((v - w)' M (v - w)) / sqrt(u' M u), a pure number.
    """
    miss = np.asarray(simulated, dtype=float) - np.asarray(measured, dtype=float)
    u = np.asarray(before, dtype=float)
    return float(np.sqrt((miss @ inertia @ miss) / (u @ inertia @ u)))


def force_error(simulated: np.ndarray, measured: np.ndarray, weight: float) -> float:
    """Root mean square of the difference of two forces (T, ...) in N, in body weights (``weight`` in N)."""
    miss = (np.asarray(simulated, dtype=float) - np.asarray(measured, dtype=float)) / weight
    return float(np.sqrt(np.mean(np.sum(miss.reshape(len(miss), -1) ** 2, axis=1))))
