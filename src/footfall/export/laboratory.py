"""Files of gait laboratories: C3D, and OpenSim's .mot.

C3D has an ideal force plate under each foot, and the contact points as markers. Plates are of type 2: forces and
moments of the plate on the foot, about the middle of the plate's surface, in the plate's axes (x as the laboratory's,
z down). A plate covers all the ground that its foot walks over, so plates overlap. On stairs and uneven ground plates
are level at the mean height of the loaded points, and so is the plane of the centre of pressure that a reader derives.

OpenSim's file holds ground reaction forces. Its ground frame has x forward, y up and z to the right;
Footfall's has x forward, y to the left and z up. So x, y, z there are x, z, -y here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from footfall.errors import RecordingError
from footfall.files import c3d
from footfall.measure import cop, grf
from footfall.measure.common import feet, load_centre
from footfall.record import Record

#: Margin of a plate around the places under a foot, m.
RIM = 0.1
CHANNELS = (("F", "N"), ("M", "Nmm"))


# ---- C3D ------------------------------------------------------------------------------------------------------------


class Plate(NamedTuple):
    """A force plate: its axes as rows and its middle, in the world, and half its sides along its x and y, m."""

    axes: np.ndarray
    middle: np.ndarray
    half: np.ndarray

    def corners(self) -> np.ndarray:
        """(3, 4) mm, world frame, in C3D's order: the plate's quadrants (+, +), (-, +), (-, -), (+, -)."""
        signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
        return 1e3 * (self.middle + (signs * self.half) @ self.axes[:2]).T


def write_c3d(rec: Record, path: Path) -> None:
    """Markers in mm, forces in N, moments in N mm, as the format has it."""
    step = np.diff(rec.time)
    if len(step) and not np.allclose(step, step[0], rtol=1e-3):
        raise RecordingError("C3D has one frame rate, and the samples of this recording are not evenly spaced")
    rate = 1.0 / step[0] if len(step) else 1.0 / rec.dt
    plates = [_plate(rec, points) for points in feet(rec)]
    count = len(plates)
    file = c3d.C3D(
        rate=float(rate),
        labels=tuple(f"{foot.name}_{i}" for foot in rec.robot.feet for i in range(len(foot.points))),
        points=1e3 * rec.position[:, : rec.robot.point_count],
        channels=tuple(f"{kind}{axis}{i + 1}" for i in range(count) for kind, _ in CHANNELS for axis in "xyz"),
        channel_units=tuple(unit for _ in range(count) for _, unit in CHANNELS for _ in range(3)),
        analog=_wrenches(rec, plates),
        platform=_platform(plates),
    )
    try:
        c3d.write_c3d(path, file)
    except ValueError as error:
        raise RecordingError(f"C3D cannot hold this recording: {error}") from error


def _wrenches(rec: Record, plates: Sequence[Plate]) -> np.ndarray:
    """(T, 6 plates) force (N) and moment (N mm) about the middle of each plate, in its axes."""
    found = []
    for plate, points in zip(plates, feet(rec), strict=True):
        force = rec.force[:, points]
        moment = np.cross(rec.position[:, points] - plate.middle, force).sum(axis=1)
        found.append(np.hstack([force.sum(axis=1) @ plate.axes.T, 1e3 * moment @ plate.axes.T]))
    return np.hstack(found)


def _platform(plates: Sequence[Plate]) -> dict[str, np.ndarray]:
    count = len(plates)
    return {
        "USED": np.array(count, np.int16),
        "TYPE": np.full(count, 2, np.int16),
        "ZERO": np.array([1, 0], np.int16),
        "CORNERS": np.stack([plate.corners() for plate in plates], axis=2),
        "ORIGIN": np.zeros((3, count)),
        "CHANNEL": np.arange(1, 6 * count + 1, dtype=np.int16).reshape(count, 6).T,
    }


def _plate(rec: Record, points: slice) -> Plate:
    """The plate under a foot, large enough for all its places on the ground."""
    place = rec.position[:, points]
    if rec.ground.flat:
        gap, normal = rec.ground.gap(np.zeros(3))
        at = place - (np.einsum("tpi,i->tp", place, normal) + float(gap))[..., None] * normal
    else:
        normal = np.array([0.0, 0.0, 1.0])
        height = load_centre(rec, points)[0][:, 2]
        level = float(np.nanmean(height)) if np.isfinite(height).any() else 0.0
        at = np.concatenate([place[..., :2], np.full((*place.shape[:2], 1), level)], axis=-1)
    x = np.array([1.0, 0.0, 0.0]) - normal[0] * normal
    x /= np.linalg.norm(x)
    axes = np.stack([x, np.cross(-normal, x), -normal])
    along = at.reshape(-1, 3) @ axes.T
    low, high = along.min(axis=0), along.max(axis=0)
    return Plate(axes, 0.5 * (low + high) @ axes, 0.5 * (high - low)[:2] + RIM)


#: Rows are OpenSim's axes in Footfall's frame.
TO_OPENSIM = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])

# ---- OpenSim --------------------------------------------------------------------------------------------------------


def write_opensim(rec: Record, path: Path) -> None:
    """Ground reaction forces as a file of OpenSim's class Storage, version 1: of each foot force (N), centre of
    pressure (m) and moment about it (N m); zero where it carries no load.
    """
    own, centre = grf(rec), cop(rec)
    names, parts = ["time"], [rec.time[:, None]]
    for f, foot in enumerate(rec.robot.feet):
        name = foot.name.replace(" ", "_")
        for kind, values in (("force_v", own.force), ("force_p", centre), ("torque_", own.moment_at_cop)):
            names += [f"{name}_ground_{kind}{axis}" for axis in "xyz"]
            parts.append(np.where(np.isfinite(values[:, f]), values[:, f], 0.0) @ TO_OPENSIM.T)
    title, sizes = f"{rec.robot.name} {rec.law.name} grf", (f"nRows={len(rec)}", f"nColumns={len(names)}")
    with path.open("w", encoding="ascii", errors="replace", newline="\n") as file:
        file.write("\n".join([title, "version=1", *sizes, "inDegrees=no", "endheader", "\t".join(names)]) + "\n")
        np.savetxt(file, np.hstack(parts), fmt="%.12g", delimiter="\t")
