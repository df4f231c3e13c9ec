"""Motions of a robot: the pose of its root and the angles of its joints over time, from files of motion retargeting.

| file | holds |
|---|---|
| .csv with a head | ``time`` (s), ``root_x`` ... ``root_z`` (m), ``root_qx`` ... ``root_qw``, joints by name (rad) |
| .csv without a head, LAFAN1 | x, y, z, qx, qy, qz, qw, joints in the order of the robot |
| .npz of GMR and AMASS | ``fps``, ``root_pos``, ``root_rot`` (x, y, z, w), ``dof_pos`` |
| .npz of Isaac Lab | ``fps``, ``dof_names``, ``dof_positions``, ``body_positions``, ``body_rotations`` (w, x, y, z) |
| .npz of whole-body tracking | ``fps``, ``joint_names``, ``joint_pos``, ``body_pos_w``, ``body_quat_w`` (w, x, y, z) |
| .npz of MuJoCo, Footfall | ``qpos``, with ``time`` or ``fps`` |

A file of Python objects (.pkl, .npy of objects) is not read: it could run any program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.errors import FootfallError
from footfall.files.tables import is_number, read_by_ending, read_columns, time_column
from footfall.given_numbers import Positive

#: Frames per second where neither the file nor the caller gives them: LAFAN1 and most retargeted sets.
FPS = 30.0


@public
@dataclass(frozen=True, eq=False, repr=False)
class JointMotion:
    """Samples of a motion. World frame with z up; m and rad.

    Attributes:
        time: (T,) s, from zero.
        joints: (T, J).
        names: of the joints; None where they are in the order of the robot.
        position: (T, 3) of the root; None where the joints are all there is.
        rotation: (T, 4) quaternions w, x, y, z of the root.
        source: where it comes from, for messages.
    """

    time: np.ndarray
    joints: np.ndarray
    names: tuple[str, ...] | None
    position: np.ndarray | None
    rotation: np.ndarray | None
    source: str = "motion"

    def __post_init__(self) -> None:
        for name in ("time", "joints", "position", "rotation"):
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, np.asarray(values, dtype=float))
        count = self.time.size
        if self.time.shape != (count,):
            raise FootfallError(f"{self.source}: its times have shape {self.time.shape}, not (T,)")
        for name in ("joints", "position", "rotation"):
            values = getattr(self, name)
            if values is not None and (values.ndim != 2 or len(values) != count):
                raise FootfallError(f"{self.source}: {name} has shape {values.shape} and there are {count} samples")
            if values is not None and not np.isfinite(values).all():
                bad = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
                raise FootfallError(f"{self.source}: {name} has a gap or no number at sample {bad}")
        if count < 2 or not (np.diff(self.time) > 0.0).all():
            raise FootfallError(f"{self.source}: a motion needs two samples or more, at times that increase")
        if self.names is not None and len(self.names) != self.joints.shape[1]:
            raise FootfallError(f"{self.source}: {len(self.names)} names of joints for {self.joints.shape[1]} columns")
        if (self.position is None) != (self.rotation is None):
            raise FootfallError(f"{self.source}: the root has a position or a rotation but not both")
        if self.rotation is not None and not (np.abs(np.linalg.norm(self.rotation, axis=1) - 1.0) < 0.05).all():
            raise FootfallError(f"{self.source}: the rotation of the root is not a unit quaternion in every sample")

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        what = f"{'' if self.position is None else 'root and '}{self.joints.shape[1]} joints"
        return f"JointMotion('{self.source}', {what}, {len(self)} samples, {self.duration:g} s)"

    @property
    def duration(self) -> float:
        """s, from the first sample to the last."""
        return float(self.time[-1])


@public
def load_joint_motion(
    path: str | os.PathLike[str],
    *,
    fps: Positive | None = None,
    quaternion: Literal["xyzw", "wxyz"] | None = None,
    joints: Sequence[str] | None = None,
) -> JointMotion:
    """Read a motion by the ending of its file: .csv or .npz.

    ``fps`` (1/s), ``quaternion`` ("xyzw" or "wxyz") and ``joints`` (names, in the order of the file) are for what the
    file leaves open.
    """
    given = _Given(None if fps is None else float(fps), quaternion)
    readers = {".csv": partial(_read_csv, given=given), ".npz": partial(_read_npz, given=given)}
    found = read_by_ending(Path(path).expanduser(), readers, "a motion of a robot")
    return found if joints is None else replace(found, names=tuple(joints))


class _Given(NamedTuple):
    fps: float | None
    quaternion: str | None

    def times(self, count: int) -> np.ndarray:
        return np.arange(count) / (FPS if self.fps is None else self.fps)

    def scalar_first(self, values: np.ndarray, usual: str) -> np.ndarray:
        """Quaternions (T, 4) as w, x, y, z."""
        order = self.quaternion or usual
        return values if order == "wxyz" else values[:, [3, 0, 1, 2]]


# ---- tables --------------------------------------------------------------------------------------------------------


def _read_csv(path: Path, given: _Given) -> JointMotion:
    """A table with a head, or LAFAN1 without: the root's place, its quaternion, and the joints."""
    first = next((line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()), "")
    if not first or not all(map(is_number, first.split(","))):
        return _named(path, given)
    table = np.loadtxt(path, delimiter=",", ndmin=2, encoding="utf-8-sig")
    if table.shape[1] < 8:
        raise ValueError(f"its {table.shape[1]} columns have no names, and are too few for a root and joints")
    rotation = given.scalar_first(table[:, 3:7], "xyzw")
    return JointMotion(given.times(len(table)), table[:, 7:], None, table[:, :3], rotation, path.name)


#: Columns of the root: ``root_x`` and ``root_qw``, ``base.x`` and ``base.qw``, ``root_pos_x`` and ``root_quat_w``.
_PARTS = {part: part for part in ("x", "y", "z", "qw", "qx", "qy", "qz")}
_LONG_PARTS = {part: f"quat_{part[1:]}" if part.startswith("q") else f"pos_{part}" for part in _PARTS}
#: A column that is no joint: ``foot.force``, ``cop.x``; and others that a table of a motion may have.
_ROS_JOINT = re.compile(r"^.*/([^/]+)/position$")  # as PlotJuggler writes ROS' joint states
_NO_JOINT = re.compile(r"\.(?!position$)|^(frame|index|status|)$", re.IGNORECASE)


def _named(path: Path, given: _Given) -> JointMotion:
    """A head names what is in each column; a unit may follow in brackets."""
    columns, units, *_ = read_columns(path, lenient=True)
    time = time_column(columns, units, [])
    root = _root_columns(columns)
    wanted = {name: name for name in columns if units[name] in ("", "rad", "m") and not _NO_JOINT.search(name)}
    of_ros = {name: found[1] for name in columns if (found := _ROS_JOINT.match(name))}
    names = {name: joint for name, joint in (of_ros or wanted).items() if name not in root.values()}
    if not names:
        raise ValueError(f"none of its columns is a joint: {', '.join(list(columns)[:6])} ...")
    joints = np.column_stack([columns[name] for name in names])
    time = given.times(len(joints)) if time is None or given.fps is not None else time - time[0]
    place = rotation = None
    if root:
        place = np.column_stack([columns[root[part]] for part in "xyz"])
        rotation = np.column_stack([columns[root[f"q{part}"]] for part in "wxyz"])
    called = tuple(joint.removesuffix(".position") for joint in names.values())
    return JointMotion(time, joints, called, place, rotation, path.name)


def _root_columns(columns: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Which column is which part of the root's pose; empty where there is none."""
    for parts in (_PARTS, _LONG_PARTS):
        for name in columns:
            if not name.endswith(parts["qw"]):
                continue
            found = {part: name.removesuffix(parts["qw"]) + ending for part, ending in parts.items()}
            lacking = [one for one in found.values() if one not in columns]
            if lacking:
                raise ValueError(f"the pose of its root lacks the columns {', '.join(lacking)}")
            return found
    if any(re.match(r"(root|base|pelvis)[._]?(pos_)?[xyz]$", name) for name in columns):
        raise ValueError("its root has a place and no quaternion (root_qx, root_qy, root_qz, root_qw)")
    return {}


# ---- NumPy ---------------------------------------------------------------------------------------------------------


class _Layout(NamedTuple):
    """Names of the arrays of a format, and the order of its quaternions."""

    joints: str
    position: str
    rotation: str
    order: str
    ordered: bool  # whether joints without names are in the order of the robot's model


_LAYOUTS = (
    _Layout("dof_pos", "root_pos", "root_rot", "xyzw", True),
    _Layout("dof_positions", "body_positions", "body_rotations", "wxyz", False),
    _Layout("joint_pos", "body_pos_w", "body_quat_w", "wxyz", False),
)
_NAMES = ("joint_names", "dof_names", "joints_list")
_RATES = ("fps", "framerate", "mocap_framerate", "mocap_frame_rate", "frequency")


def _read_npz(path: Path, given: _Given) -> JointMotion:
    with np.load(path, allow_pickle=False) as file:
        key = next((key for key in _NAMES if key in file), None)
        names = None if key is None else tuple(str(name) for name in np.ravel(file[key]))
        rate = next((float(np.ravel(file[key])[0]) for key in _RATES if key in file), None)
        given = given._replace(fps=rate if given.fps is None else given.fps)
        if "qpos" in file:
            return _whole(file, path.name, given)
        layout = next((one for one in _LAYOUTS if one.joints in file and one.position in file), None)
        if layout is None:
            known = "; ".join(f"{one.joints}, {one.position}, {one.rotation}" for one in _LAYOUTS)
            raise ValueError(f"it holds {', '.join(file.files)}, and these sets are known: qpos; {known}")
        if names is None and not layout.ordered:
            raise ValueError("it does not say in which order its joints are (joint_names): give their names (joints)")
        joints, place, turned = (
            np.asarray(file[key], dtype=float) for key in (layout.joints, layout.position, layout.rotation)
        )
    if place.ndim == 3:  # of all bodies, the first of which is the root
        place, turned = place[:, 0], turned[:, 0]
    rotation = given.scalar_first(turned, layout.order)
    return JointMotion(given.times(len(joints)), joints, names, place, rotation, path.name)


def _whole(file: Mapping[str, np.ndarray], source: str, given: _Given) -> JointMotion:
    """All coordinates of a MuJoCo model: the whole of qpos stands as joints without names."""
    qpos = np.asarray(file["qpos"], dtype=float)
    time = given.times(len(qpos))
    if "time" in file and given.fps is None:
        time = np.asarray(file["time"], dtype=float)
    return JointMotion(time - time[0], qpos, None, None, None, source)
