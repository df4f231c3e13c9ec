"""Quaternions (w, x, y, z) as four numbers: in registers, not in arrays."""

from __future__ import annotations

import math

from footfall.compiled import inlined
from footfall.kinds import Float


@inlined
def quaternion_product(
    a0: Float, a1: Float, a2: Float, a3: Float, b0: Float, b1: Float, b2: Float, b3: Float
) -> tuple[Float, Float, Float, Float]:
    return (
        a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3,
        a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2,
        a0 * b2 - a1 * b3 + a2 * b0 + a3 * b1,
        a0 * b3 + a1 * b2 - a2 * b1 + a3 * b0,
    )


@inlined
def rotate(q0: Float, q1: Float, q2: Float, q3: Float, x: Float, y: Float, z: Float) -> tuple[Float, Float, Float]:
    """The vector (x, y, z) turned by a unit quaternion."""
    tx, ty, tz = 2.0 * (q2 * z - q3 * y), 2.0 * (q3 * x - q1 * z), 2.0 * (q1 * y - q2 * x)
    return x + q0 * tx + q2 * tz - q3 * ty, y + q0 * ty + q3 * tx - q1 * tz, z + q0 * tz + q1 * ty - q2 * tx


@inlined
def normalised(q0: Float, q1: Float, q2: Float, q3: Float) -> tuple[Float, Float, Float, Float]:
    scale = 1.0 / math.sqrt(q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3)
    return q0 * scale, q1 * scale, q2 * scale, q3 * scale


@inlined
def turned(
    q0: Float, q1: Float, q2: Float, q3: Float, wx: Float, wy: Float, wz: Float, time: Float
) -> tuple[Float, Float, Float, Float]:
    """A quaternion after turning for ``time`` (s) at the body-frame rate (wx, wy, wz), rad/s."""
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    half = 0.5 * time * speed
    # sin(half) / speed, by its series where the quotient would lose digits
    share = 0.5 * time * (1.0 - half * half / 6.0) if half < 1e-4 else math.sin(half) / speed
    q0, q1, q2, q3 = quaternion_product(q0, q1, q2, q3, math.cos(half), share * wx, share * wy, share * wz)
    return normalised(q0, q1, q2, q3)


@inlined
def rotation_vector(
    a0: Float, a1: Float, a2: Float, a3: Float, b0: Float, b1: Float, b2: Float, b3: Float
) -> tuple[Float, Float, Float]:
    """The rotation (rad, body frame) that leads from quaternion b to quaternion a, the shorter way."""
    q0, q1, q2, q3 = quaternion_product(b0, -b1, -b2, -b3, a0, a1, a2, a3)
    if q0 < 0.0:
        q0, q1, q2, q3 = -q0, -q1, -q2, -q3
    sine = math.sqrt(q1 * q1 + q2 * q2 + q3 * q3)
    share = 2.0 if sine < 1e-8 else 2.0 * math.atan2(sine, q0) / sine
    return share * q1, share * q2, share * q3
