"""OpenSim's .mot and .sto: ground reaction forces, or joint motion.

OpenSim's ground frame has x forward, y up and z to the right; Footfall's has x forward, y to the left and z up. So
x, y, z there are x, z, -y here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from footfall.errors import FootfallError, did_you_mean
from footfall.export.tables import FREE
from footfall.measure import cop, grf

if TYPE_CHECKING:
    from footfall.record import Record

#: Rows are OpenSim's axes in Footfall's frame.
TO_OPENSIM = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
WHAT = {".mot": "grf", ".sto": "motion"}


def write(rec: Record, path: Path, what: str | None = None) -> None:
    """``what`` is "grf" (.mot if left out) or "motion" (.sto if left out)."""
    tables = {"grf": _forces, "motion": _motion}
    chosen = WHAT[path.suffix.lower()] if what is None else what
    if chosen not in tables:
        raise FootfallError(f"OpenSim files hold no '{chosen}': {did_you_mean(chosen, tables)}")
    names, values = tables[chosen](rec)
    write_storage(
        path, f"{rec.robot.name} {rec.law.name} {chosen}", ["time", *names], np.column_stack([rec.time, values])
    )


def write_storage(path: Path, title: str, names: Sequence[str], values: np.ndarray) -> None:
    """A file of OpenSim's class Storage, version 1; angles in rad."""
    head = [title, "version=1", f"nRows={len(values)}", f"nColumns={len(names)}", "inDegrees=no", "endheader"]
    with path.open("w", encoding="ascii", errors="replace", newline="\n") as file:
        file.write("\n".join([*head, "\t".join(names)]) + "\n")
        np.savetxt(file, values, fmt="%.12g", delimiter="\t")


def _forces(rec: Record) -> tuple[list[str], np.ndarray]:
    """Of each foot: force (N), centre of pressure (m) and moment about it (N m); zero where it carries no load."""
    own, centre = grf(rec), cop(rec)
    names, parts = [], []
    for f, foot in enumerate(rec.robot.feet):
        name = foot.name.replace(" ", "_")
        for kind, values in (("force_v", own.force), ("force_p", centre), ("torque_", own.moment_at_cop)):
            names += [f"{name}_ground_{kind}{axis}" for axis in "xyz"]
            parts.append(np.where(np.isfinite(values[:, f]), values[:, f], 0.0) @ TO_OPENSIM.T)
    return names, np.hstack(parts)


def _motion(rec: Record) -> tuple[list[str], np.ndarray]:
    """Joints by name; of a free joint tilt, list and rotation, and its place.

    These angles are body-fixed rotations about OpenSim's z, x and y in this order, as those of its pelvis.
    """
    model = rec.robot.model
    names: list[str] = []
    parts = []
    for j, name in enumerate(rec.robot.joint_names):
        at, kind = int(model.jnt_qposadr[j]), int(model.jnt_type[j])
        if kind == FREE:
            names += [f"{name}_{part}" for part in ("tilt", "list", "rotation", "tx", "ty", "tz")]
            parts += [_tilt_list_rotation(rec.qpos[:, at + 3 : at + 7]), rec.qpos[:, at : at + 3] @ TO_OPENSIM.T]
        elif kind == int(mujoco.mjtJoint.mjJNT_BALL):
            names += [f"{name}_{part}" for part in ("tilt", "list", "rotation")]
            parts.append(_tilt_list_rotation(rec.qpos[:, at : at + 4]))
        else:
            names.append(name)
            parts.append(rec.qpos[:, at : at + 1])
    return names, np.hstack(parts)


def _tilt_list_rotation(quaternions: np.ndarray) -> np.ndarray:
    """(T, 3) rad, body-fixed rotations about OpenSim's z, x, y that give the attitude (T, 4) w, x, y, z."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_quat(quaternions, scalar_first=True)
    axes = Rotation.from_matrix(TO_OPENSIM)
    angles = (axes * turn * axes.inv()).as_euler("ZXY")
    return np.unwrap(angles, axis=0)
