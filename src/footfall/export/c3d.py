"""C3D: an ideal force plate under each foot, and the contact points as markers, as a gait laboratory records them.

Plates are of type 2: three forces and three moments about the middle of the plate's surface, those of the plate on the
foot, in the plate's axes (x as the laboratory's, z down). A plate is as large as what its foot walks over, so plates
overlap. On stairs and uneven ground they lie level at the mean height of the loaded points, and a centre of pressure
that a reader derives lies in that plane.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from footfall.errors import RecordingError
from footfall.measure.common import feet, flat, load_centre

if TYPE_CHECKING:
    from footfall.recording import Recording

#: Room around what a foot treads on, m.
RIM = 0.1
CHANNELS = (("F", "N"), ("M", "Nmm"))


class Plate(NamedTuple):
    """A force plate: its axes as rows and its middle, in the world, and half its sides along its x and y, m."""

    axes: np.ndarray
    middle: np.ndarray
    half: np.ndarray

    def corners(self) -> np.ndarray:
        """(3, 4) mm, world frame, in C3D's order: the plate's quadrants (+, +), (-, +), (-, -), (+, -)."""
        signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
        return 1e3 * (self.middle + (signs * self.half) @ self.axes[:2]).T


def write(rec: Recording, path: Path) -> None:
    """Markers in mm, forces in N, moments in N mm, as the format has it. Needs ``ezc3d``."""
    import ezc3d

    step = np.diff(rec.time)
    if len(step) and not np.allclose(step, step[0], rtol=1e-3):
        raise RecordingError("C3D has one frame rate, and the samples of this recording are not evenly spaced")
    rate = 1.0 / step[0] if len(step) else 1.0 / rec.dt
    file = ezc3d.c3d()
    _markers(file, rec, rate)
    _plates(file, rec, rate)
    file.write(str(path))


def _markers(file: Any, rec: Recording, rate: float) -> None:
    points = np.ones((4, rec.robot.point_count, len(rec)))
    points[:3] = 1e3 * rec.position.transpose(2, 1, 0)
    labels = [f"{foot.name}_{i}" for foot in rec.robot.feet for i in range(len(foot.points))]
    parameters = file["parameters"]["POINT"]
    parameters["RATE"]["value"] = [rate]
    parameters["LABELS"]["value"] = labels
    parameters["UNITS"]["value"] = ["mm"]
    file["data"]["points"] = points


def _plates(file: Any, rec: Recording, rate: float) -> None:
    plates = [_plate(rec, points) for points in feet(rec)]
    wrenches = []
    for plate, points in zip(plates, feet(rec), strict=True):
        force = rec.force[:, points]
        moment = np.cross(rec.position[:, points] - plate.middle, force).sum(axis=1)
        wrenches.append(np.hstack([force.sum(axis=1) @ plate.axes.T, 1e3 * moment @ plate.axes.T]))
    count = len(plates)
    analog = np.hstack(wrenches).T[None]  # (1, channels, frames)
    parameters = file["parameters"]
    parameters["ANALOG"]["RATE"]["value"] = [rate]
    parameters["ANALOG"]["LABELS"]["value"] = [
        f"{kind}{axis}{i + 1}" for i in range(count) for kind, _ in CHANNELS for axis in "xyz"
    ]
    parameters["ANALOG"]["UNITS"]["value"] = [unit for _ in range(count) for _, unit in CHANNELS for _ in range(3)]
    parameters["ANALOG"]["SCALE"]["value"] = [1.0] * (6 * count)
    parameters["ANALOG"]["OFFSET"]["value"] = [0] * (6 * count)
    file["data"]["analogs"] = analog
    given = {
        "USED": [count],
        "TYPE": [2] * count,
        "ZERO": [1, 0],
        "CORNERS": np.stack([plate.corners() for plate in plates], axis=2),
        "ORIGIN": np.zeros((3, count)),
        "CHANNEL": np.arange(1, 6 * count + 1).reshape(count, 6).T,
    }
    for name, value in given.items():
        parameters["FORCE_PLATFORM"][name]["value"] = value


def _plate(rec: Recording, points: slice) -> Plate:
    """The plate under a foot, large enough for every place it treads on."""
    place = rec.position[:, points]
    if flat(rec):
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
