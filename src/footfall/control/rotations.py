"""Rotation matrices and rotation vectors (axis times angle, rad)."""

from __future__ import annotations

import math

import numpy as np


def about_z(angle: float) -> np.ndarray:
    """(3, 3) rotation about the vertical."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def flat_on(slope: np.ndarray, heading: float) -> np.ndarray:
    """(3, 3) axes of a sole that lies on ground of this slope (dz/dx, dz/dy) and points along ``heading`` (rad)."""
    gx, gy = float(slope[0]), float(slope[1])
    c, s = math.cos(heading), math.sin(heading)
    rise = c * gx + s * gy
    long = math.sqrt(1.0 + rise * rise)
    ax, ay, az = c / long, s / long, rise / long
    tall = math.sqrt(1.0 + gx * gx + gy * gy)
    nx, ny, nz = -gx / tall, -gy / tall, 1.0 / tall
    return np.array([[ax, ny * az - nz * ay, nx], [ay, nz * ax - nx * az, ny], [az, nx * ay - ny * ax, nz]])


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """(3,) the rotation vector of a matrix (3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    x, y, z = h - f, c - g, d - b
    sine, cosine = 0.5 * math.sqrt(x * x + y * y + z * z), 0.5 * (a + e + i - 1.0)
    scale = 0.5 * math.atan2(sine, cosine) / sine if sine > 1e-9 else 0.5
    return np.array([scale * x, scale * y, scale * z])


def rotation(vector: np.ndarray) -> np.ndarray:
    """(3, 3) the matrix of a rotation vector (Rodrigues)."""
    x, y, z = vector.tolist()
    angle = math.sqrt(x * x + y * y + z * z)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    first = math.sin(angle) / angle if angle > 1e-9 else 1.0
    second = (1.0 - math.cos(angle)) / (angle * angle) if angle > 1e-9 else 0.5
    return np.eye(3) + first * K + second * (K @ K)
