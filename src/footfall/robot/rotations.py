"""Rotations as matrices (3, 3), quaternions w, x, y, z, and rotation vectors: axis times angle, rad."""

from __future__ import annotations

import math

import mujoco
import numpy as np


def matrix_of(quaternion: np.ndarray) -> np.ndarray:
    """(3, 3) the matrix of a unit quaternion (4,)."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def rotation_matrix(vector: np.ndarray) -> np.ndarray:
    """(3, 3) the matrix of a rotation vector (3,)."""
    quaternion = np.array([1.0, 0.0, 0.0, 0.0])
    mujoco.mju_quatIntegrate(quaternion, vector, 1.0)
    return matrix_of(quaternion)


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """(3,) the rotation vector of a matrix (3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    x, y, z = h - f, c - g, d - b
    sine, cosine = 0.5 * math.sqrt(x * x + y * y + z * z), 0.5 * (a + e + i - 1.0)
    scale = 0.5 * math.atan2(sine, cosine) / sine if sine > 1e-9 else 0.5
    return np.array([scale * x, scale * y, scale * z])
