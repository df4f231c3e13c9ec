"""Rotation matrices and rotation vectors (axis times angle, rad)."""

from __future__ import annotations

import math

import numpy as np

from footfall.compiled import inlined


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """(3,) the rotation vector of a matrix (3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    x, y, z = h - f, c - g, d - b
    sine, cosine = 0.5 * math.sqrt(x * x + y * y + z * z), 0.5 * (a + e + i - 1.0)
    scale = 0.5 * math.atan2(sine, cosine) / sine if sine > 1e-9 else 0.5
    return np.array([scale * x, scale * y, scale * z])


@inlined
def write_flat_on(slope, heading, axes):
    """Write the axes (3, 3) of a sole that lies on ground of this slope (dz/dx, dz/dy) and points along ``heading``."""
    c, s = math.cos(heading), math.sin(heading)
    rise = c * slope[0] + s * slope[1]
    long = math.sqrt(1.0 + rise * rise)
    ax, ay, az = c / long, s / long, rise / long
    tall = math.sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1])
    nx, ny, nz = -slope[0] / tall, -slope[1] / tall, 1.0 / tall
    axes[0, 0], axes[1, 0], axes[2, 0] = ax, ay, az
    axes[0, 1], axes[1, 1], axes[2, 1] = ny * az - nz * ay, nz * ax - nx * az, nx * ay - ny * ax
    axes[0, 2], axes[1, 2], axes[2, 2] = nx, ny, nz


@inlined
def rotation_between(axes, others):
    """The rotation vector (x, y, z) from ``others`` (3, 3) to ``axes`` (3, 3): that of axes @ others.T."""
    x, y, z, trace = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        x += axes[2, k] * others[1, k] - axes[1, k] * others[2, k]
        y += axes[0, k] * others[2, k] - axes[2, k] * others[0, k]
        z += axes[1, k] * others[0, k] - axes[0, k] * others[1, k]
        trace += axes[0, k] * others[0, k] + axes[1, k] * others[1, k] + axes[2, k] * others[2, k]
    sine, cosine = 0.5 * math.sqrt(x * x + y * y + z * z), 0.5 * (trace - 1.0)
    scale = 0.5 * math.atan2(sine, cosine) / sine if sine > 1e-9 else 0.5
    return scale * x, scale * y, scale * z


@inlined
def turn_axes(vector, axes, turned):
    """Write ``axes`` (3, 3) turned by a rotation vector (x, y, z): Rodrigues' formula for each column."""
    x, y, z = vector
    angle = math.sqrt(x * x + y * y + z * z)
    first = math.sin(angle) / angle if angle > 1e-9 else 1.0
    second = (1.0 - math.cos(angle)) / (angle * angle) if angle > 1e-9 else 0.5
    for k in range(3):
        ux, uy, uz = axes[0, k], axes[1, k], axes[2, k]
        cx, cy, cz = y * uz - z * uy, z * ux - x * uz, x * uy - y * ux
        turned[0, k] = ux + first * cx + second * (y * cz - z * cy)
        turned[1, k] = uy + first * cy + second * (z * cx - x * cz)
        turned[2, k] = uz + first * cz + second * (x * cy - y * cx)
