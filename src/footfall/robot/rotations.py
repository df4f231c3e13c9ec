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


def quaternions_of(vectors: np.ndarray) -> np.ndarray:
    """(..., 4) the unit quaternions of rotation vectors (..., 3)."""
    half = 0.5 * np.sqrt(np.square(vectors).sum(axis=-1, keepdims=True))
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors], axis=-1)


def vectors_of(quaternions: np.ndarray) -> np.ndarray:
    """(..., 3) the rotation vectors, of at most half a turn, of unit quaternions (..., 4)."""
    cosine, axis = np.abs(quaternions[..., :1]), quaternions[..., 1:]
    sine = np.sqrt(np.square(axis).sum(axis=-1, keepdims=True))
    scale = np.divide(2.0 * np.arctan2(sine, cosine), sine, out=np.full_like(sine, 2.0), where=sine > 0.0)
    return axis * np.copysign(scale, quaternions[..., :1])


def product_of(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(..., 4) the products of quaternions (..., 4): the second turn is made first."""
    w, x, y, z = np.moveaxis(first, -1, 0)
    a, b, c, d = np.moveaxis(second, -1, 0)
    real = w * a - x * b - y * c - z * d
    i, j, k = w * b + x * a + y * d - z * c, w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a
    return np.stack([real, i, j, k], axis=-1)
