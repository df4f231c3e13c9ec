"""Force plates of a C3D file: force, moment and centre of pressure in the laboratory's axes.

Types 1 to 4 of the format's FORCE_PLATFORM group: 1 gives force and centre of pressure, 2 force and moment, 3 the
eight forces of a plate on four posts, 4 is 2 with a calibration matrix. The plate's axes follow from its corners, z
into the floor. The group's baseline (ZERO) is not subtracted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from footfall.files.c3d import C3D

CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6}


class PlateRecord(NamedTuple):
    """What one plate measured, laboratory's axes, in the units of the file's channels and markers."""

    corners: np.ndarray  # (4, 3)
    force: np.ndarray  # (S, 3)
    moment: np.ndarray  # (S, 3), about the middle of the surface
    cop: np.ndarray  # (S, 3), in the surface; NaN where nothing presses
    force_unit: str
    moment_unit: str


def force_plates(file: C3D) -> list[PlateRecord]:
    """The plates of a file, none if it has none; a ``ValueError`` says what cannot be read."""
    group = file.parameters.get("FORCE_PLATFORM", {})
    used = np.atleast_1d(group.get("USED", 0)).ravel()
    count = int(used[0]) if used.size else 0
    if not 0 <= count <= 100:
        raise ValueError(f"it announces {count} force plates")
    return [_plate(file, i) for i in range(count)]


def _plate(file: C3D, i: int) -> PlateRecord:
    """The forces on plate ``i`` in the frame of the laboratory."""
    group = file.parameters["FORCE_PLATFORM"]
    try:
        kind = int(np.atleast_1d(group["TYPE"])[i])
        if kind not in CHANNELS:
            raise ValueError(f"its force plate {i + 1} is of type {kind}; types 1 to 4 are read")
        channel = np.asarray(group["CHANNEL"]).reshape(-1, _plates(group), order="F")[: CHANNELS[kind], i]
        corners = np.asarray(group["CORNERS"], float).reshape(3, 4, -1, order="F")[:, :, i].T
        origin = np.asarray(group["ORIGIN"], float).reshape(3, -1, order="F")[:, i]
        signals = file.analog[:, channel.astype(int) - 1]
        if kind == 4:
            matrix = np.asarray(group["CAL_MATRIX"], float).reshape(6, 6, -1, order="F")[:, :, i]
            signals = signals @ matrix.T
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"its force plate {i + 1} lacks parameters or channels: {error}") from error
    names = [file.channel_units[c - 1] for c in channel.astype(int)]
    force, moment = _at_surface(kind, signals, origin)
    axes, middle = _axes(corners), corners.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cop = np.stack([-moment[:, 1] / force[:, 2], moment[:, 0] / force[:, 2], 0.0 * force[:, 2]], axis=1)
    cop[force[:, 2] == 0.0] = np.nan
    turning = names[5] if kind != 3 else f"{names[0]}{file.unit}"
    return PlateRecord(corners, force @ axes, moment @ axes, cop @ axes + middle, names[0], turning)


def _plates(group: object) -> int:
    shape = np.asarray(group["CHANNEL"]).shape  # type: ignore[index]
    return shape[1] if len(shape) > 1 else 1


def _axes(corners: np.ndarray) -> np.ndarray:
    """(3, 3) the plate's axes as rows; corners lie in its quadrants (+, +), (-, +), (-, -), (+, -)."""
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    z = np.cross(x, y)
    if not (np.linalg.norm(x) > 0 and np.linalg.norm(z) > 0):
        raise ValueError("the corners of a force plate span no plane")
    y = np.cross(z, x)
    return np.stack([v / np.linalg.norm(v) for v in (x, y, z)])


def _at_surface(kind: int, signals: np.ndarray, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about the middle of the surface, (S, 3) each, plate's axes.

    ``origin`` leads from where the plate measures to the middle of its surface, which lies above (z down): some files
    have its sign reversed. Of type 3 it holds the posts' distances from the middle and the surface's height.
    """
    if kind == 3:
        x12, x34, y14, y23, z1, z2, z3, z4 = signals.T
        a, b = abs(origin[0]), abs(origin[1])
        force = np.stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4], axis=1)
        moment = np.stack(
            [b * (z1 + z2 - z3 - z4), a * (-z1 + z2 + z3 - z4), b * (-x12 + x34) + a * (y14 - y23)], axis=1
        )
        return force, moment + np.cross(force, [0.0, 0.0, -abs(origin[2])])
    force = signals[:, :3]
    if kind == 1:  # channels 4 and 5 are the centre of pressure in the surface, 6 the free moment
        x, y, free = signals[:, 3], signals[:, 4], signals[:, 5]
        fx, fy, fz = force.T
        return force, np.stack([y * fz, -x * fz, free + x * fy - y * fx], axis=1)
    offset = -origin if origin[2] > 0 else origin
    return force, signals[:, 3:6] + np.cross(force, offset)
