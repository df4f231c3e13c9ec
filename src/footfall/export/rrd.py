"""Rerun's .rrd: the robot, its contact forces and the ground as a 3D scene, numbers for its plots.

| entity | holds |
|---|---|
| /robot/BODY | shape of a body, once, and its pose |
| /ground | its surface, once |
| /contacts | an arrow for every force, coloured by the mode of its point |
| /grf/FOOT/x, y, z and /grf/total/... | force on each foot and on all, N |
| /joints/NAME/position, velocity | by joint |
| /control/NAME | by actuator |
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.errors import optional_package
from footfall.export.mcap import GROUND_COLOR, LENGTH
from footfall.export.tables import joint_positions, joint_velocities
from footfall.measure.audit_errors import scales
from footfall.show.frames import MODE_COLORS, RATE, body_meshes, body_poses, display_samples

if TYPE_CHECKING:
    from footfall.record import Record

TIMELINE = "time"


def write(rec: Record, path: Path, rate: float = RATE) -> None:
    """Numbers of every sample, the scene ``rate`` times a second. Needs ``rerun-sdk``."""
    rerun = optional_package("rerun", ".rrd files need Rerun's SDK: pip install rerun-sdk")
    out = rerun.RecordingStream("footfall", recording_id=f"{rec.robot.name} {rec.law.name}")
    out.save(path)
    out.log("/", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    _scene(rerun, out, rec, rate)
    time = rerun.TimeColumn(TIMELINE, duration=rec.time)
    for name, values in _numbers(rec).items():
        out.send_columns(name, indexes=[time], columns=rerun.Scalars.columns(scalars=values))
    out.flush()
    out.disconnect()


def _scene(rerun: Any, out: Any, rec: Record, rate: float) -> None:
    """Shapes once, poses and arrows at the samples that are shown."""
    model = rec.robot.model
    samples = display_samples(rec.time, rate)
    time = rerun.TimeColumn(TIMELINE, duration=rec.time[samples])
    meshes = body_meshes(model)
    position, quaternion = body_poses(model, rec.qpos[samples], list(meshes))
    for i, (body, mesh) in enumerate(meshes.items()):
        name = f"/robot/{model.body(body).name or f'body{body}'}"
        colors = np.asarray(mesh.colors)
        shape = rerun.Mesh3D(
            vertex_positions=mesh.vertices,
            triangle_indices=mesh.faces,
            vertex_colors=colors if len(colors) == len(mesh.vertices) else np.tile(colors[:1], (len(mesh.vertices), 1)),
        )
        out.log(f"{name}/shape", shape, static=True)
        turn = quaternion[:, i][:, [1, 2, 3, 0]]  # Rerun has w last
        out.send_columns(
            name, indexes=[time], columns=rerun.Transform3D.columns(translation=position[:, i], quaternion=turn)
        )
    size = scales(rec.robot)
    reach = float(np.abs(rec.position[..., :2]).max(initial=0.0))
    vertices, faces = rec.ground.mesh(min(2.0 * reach + 4.0 * size.size, 20.0))
    color = np.tile(np.array(GROUND_COLOR, dtype=np.uint8), (len(vertices), 1))
    ground = rerun.Mesh3D(vertex_positions=vertices, triangle_indices=faces, vertex_colors=color)
    out.log("/ground", ground, static=True)
    for k in samples:
        shown = np.isfinite(rec.force[k]).all(axis=1) & (np.linalg.norm(rec.force[k], axis=1) > 0.0)
        out.set_time(TIMELINE, duration=float(rec.time[k]))
        out.log(
            "/contacts",
            rerun.Arrows3D(
                origins=rec.position[k][shown],
                vectors=rec.force[k][shown] * (LENGTH * size.size / size.weight),
                colors=[MODE_COLORS[int(mode)] for mode in rec.mode[k][shown]],
            ),
        )
    out.reset_time()


def _numbers(rec: Record) -> dict[str, np.ndarray]:
    """What is plotted, (T,) each, by the name of its entity."""
    found = {f"/grf/total/{axis}": rec.total_force[:, k] for k, axis in enumerate("xyz")}
    for f, foot in enumerate(rec.robot.feet):
        found |= {f"/grf/{foot.name}/{axis}": rec.foot_force[:, f, k] for k, axis in enumerate("xyz")}
    for what, columns in (("position", joint_positions(rec)), ("velocity", joint_velocities(rec))):
        found |= {f"/joints/{column.name}/{what}": column.values for column in columns}
    for i in range(rec.robot.model.nu):
        found[f"/control/{rec.robot.model.actuator(i).name or f'actuator{i}'}"] = rec.ctrl[:, i]
    return found
