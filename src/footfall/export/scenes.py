"""Scenes for viewers: the robot, the ground and the contact forces in 3D, and numbers to plot, in two formats.

MCAP for Foxglove, in JSON messages:

| topic | holds |
|---|---|
| /tf | pose of every body (``foxglove.FrameTransforms``) |
| /robot, /ground | their shapes, once (``foxglove.SceneUpdate``) |
| /contacts | an arrow for every force (``foxglove.SceneUpdate``) |
| /numbers | the numbers of Rerun's entities below, nested: ``/numbers.grf.left.z`` |

Rerun's .rrd:

| entity | holds |
|---|---|
| /robot/BODY | shape of a body, once, and its pose |
| /ground | its surface, once |
| /contacts | an arrow for every force, coloured by the mode of its point |
| /grf/FOOT/x, y, z and /grf/total/... | force on each foot and on all, N |
| /cop/x, y, z, /zmp/..., /com/... | pressure centre, zero moment point and centre of mass, m |
| /joints/NAME/position, velocity | by joint |
| /control/NAME | by actuator |
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from footfall.errors import optional_package
from footfall.export.tables import joint_positions, joint_velocities
from footfall.files.json_values import json_value
from footfall.measure import momentum, overall_cop, zmp
from footfall.measure.audit_errors import scales
from footfall.record import Record
from footfall.show.frames import MODE_COLORS, RATE, body_meshes, body_poses, display_samples

WORLD = "world"
#: Length of an arrow for a force equal to the robot's weight, relative to the robot's size.
LENGTH = 0.5
#: Shortest arrow that is drawn, m; length of the head of an arrow, m, and its largest share of the arrow.
SHORTEST, HEAD, HEAD_SHARE = 1e-4, 0.03, 0.3
GROUND_COLOR = (190, 190, 190, 255)
UNMOVED = {"position": {"x": 0.0, "y": 0.0, "z": 0.0}, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}
SCHEMAS = {
    "/tf": "foxglove.FrameTransforms",
    "/robot": "foxglove.SceneUpdate",
    "/ground": "foxglove.SceneUpdate",
    "/contacts": "foxglove.SceneUpdate",
    "/numbers": "footfall.Numbers",
}


def _ground(rec: Record) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of the ground around what happened."""
    reach = float(np.abs(rec.position[..., :2]).max(initial=0.0))
    return rec.ground.mesh(min(2.0 * reach + 4.0 * scales(rec.robot).size, 20.0))


def _metres_per_newton(rec: Record) -> float:
    return LENGTH * scales(rec.robot).size / scales(rec.robot).weight


def _name(model: mujoco.MjModel, body: int) -> str:
    return model.body(body).name or f"body{body}"


# ---- MCAP, with the messages of Foxglove's 3D panel as its JSON schemas have them -----------------------------------


def write_mcap(rec: Record, path: Path, rate: float = RATE) -> None:
    """Numbers of every sample, the scene ``rate`` times a second. Needs ``mcap``."""
    writing = optional_package("mcap.writer", "a file .mcap")
    with path.open("wb") as file:
        out = writing.Writer(file)
        out.start(profile="", library="footfall")
        known: dict[str, int] = {}
        for name in dict.fromkeys(SCHEMAS.values()):
            schema = json.dumps({"title": name, "type": "object"}).encode()
            known[name] = out.register_schema(name=name, encoding="jsonschema", data=schema)
        channels = {
            topic: out.register_channel(topic=topic, message_encoding="json", schema_id=known[name])
            for topic, name in SCHEMAS.items()
        }

        def put(topic: str, k: int, message: Any) -> None:
            stamp = round(1e9 * float(rec.time[k]))
            data = json.dumps(json_value(message), separators=(",", ":"), allow_nan=False).encode()
            out.add_message(channel_id=channels[topic], log_time=stamp, publish_time=stamp, data=data)

        vertices, faces = _ground(rec)
        shapes = {
            f"body {body}": (_frame(rec, body), mesh.vertices, mesh.faces, mesh.colors)
            for body, mesh in body_meshes(rec.robot.model).items()
        }
        put("/robot", 0, _update(*(_shape(rec, name, *shape) for name, shape in shapes.items())))
        put("/ground", 0, _update(_shape(rec, "ground", WORLD, vertices, faces, np.array([GROUND_COLOR]))))
        shown = set(display_samples(rec.time, rate).tolist())
        numbers = _plotted(rec)
        for k in range(len(rec)):
            if k in shown:
                put("/tf", k, {"transforms": _transforms(rec, k)})
                put("/contacts", k, _update(_arrows(rec, k)))
            put("/numbers", k, _nested({name: float(values[k]) for name, values in numbers.items()}))
        out.add_metadata("footfall", {"robot": rec.robot.name, "law": str(rec.law), "ground": str(rec.ground)})
        out.finish()


def _shape(
    rec: Record, name: str, frame: str, vertices: np.ndarray, faces: np.ndarray, colors: np.ndarray
) -> dict[str, Any]:
    """A body in its own frame, or the ground, for all time."""
    surface = {
        "pose": UNMOVED,
        "points": [_xyz(vertex) for vertex in np.round(vertices, 5)],
        "color": _color(colors[0]),
        "colors": [_color(color) for color in colors] if len(np.unique(colors, axis=0)) > 1 else [],
        "indices": faces.ravel().tolist(),
    }
    return _entity(rec, name, frame, triangles=[surface])


def _transforms(rec: Record, k: int) -> list[dict[str, Any]]:
    """Where every body is in sample ``k``."""
    bodies = list(range(1, rec.robot.model.nbody))
    position, quaternion = body_poses(rec.robot.model, rec.qpos[k : k + 1], bodies)
    return [
        {
            "timestamp": _stamp(rec, k),
            "parent_frame_id": WORLD,
            "child_frame_id": _frame(rec, body),
            "translation": _xyz(at),
            "rotation": dict(zip("wxyz", turn.tolist(), strict=True)),
        }
        for body, at, turn in zip(bodies, position[0], quaternion[0], strict=True)
    ]


def _arrows(rec: Record, k: int) -> dict[str, Any]:
    """An arrow for the force on every point in sample ``k``, coloured by mode; it replaces the last sample's."""
    found, scale = [], _metres_per_newton(rec)
    for force, at, mode in zip(rec.force[k], rec.position[k], rec.mode[k], strict=True):
        size = float(np.linalg.norm(force))
        length = size * scale
        if not np.isfinite(length) or length < SHORTEST:
            continue
        head = min(HEAD, HEAD_SHARE * length)
        found.append(
            {
                "pose": {"position": _xyz(at), "orientation": _along(force / size)},
                "shaft_length": length - head,
                "shaft_diameter": 0.012,
                "head_length": head,
                "head_diameter": 0.025,
                "color": _color((*MODE_COLORS[int(mode)], 255)),
            }
        )
    return _entity(rec, "contact forces", WORLD, k, arrows=found)


def _entity(rec: Record, name: str, frame: str, k: int = 0, **shapes: Any) -> dict[str, Any]:
    kinds = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")
    return {
        "timestamp": _stamp(rec, k),
        "frame_id": frame,
        "id": name,
        "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": True,
        "metadata": [],
        **{kind: [] for kind in kinds},
        **shapes,
    }


def _update(*entities: dict[str, Any]) -> dict[str, Any]:
    return {"deletions": [], "entities": list(entities)}


def _frame(rec: Record, body: int) -> str:
    return WORLD if body == 0 else _name(rec.robot.model, body)


def _along(direction: np.ndarray) -> dict[str, float]:
    """The attitude whose x axis, that of an arrow, is ``direction``."""
    quaternion, turn = np.zeros(4), np.zeros(4)
    mujoco.mju_quatZ2Vec(quaternion, np.ascontiguousarray(direction))
    mujoco.mju_axisAngle2Quat(turn, np.array([0.0, 1.0, 0.0]), -np.pi / 2)  # brings x to z
    mujoco.mju_mulQuat(quaternion, quaternion.copy(), turn)
    return dict(zip("wxyz", quaternion.tolist(), strict=True))


def _xyz(vector: np.ndarray) -> dict[str, float]:
    return dict(zip("xyz", vector.tolist(), strict=True))


def _color(rgba: Any) -> dict[str, float]:
    return {key: round(int(value) / 255, 4) for key, value in zip("rgba", rgba, strict=True)}


def _stamp(rec: Record, k: int) -> dict[str, int]:
    seconds, nanoseconds = divmod(round(1e9 * float(rec.time[k])), 10**9)
    return {"sec": seconds, "nsec": nanoseconds}


def _nested(values: dict[str, float]) -> dict[str, Any]:
    """Numbers by paths ("/grf/left/z") as objects in objects."""
    found: dict[str, Any] = {}
    for path, value in values.items():
        inner, *parts = found, *path.strip("/").split("/")
        for part in parts[:-1]:
            inner = inner.setdefault(part, {})
        inner[parts[-1]] = value
    return found


# ---- Rerun ----------------------------------------------------------------------------------------------------------


def write_rrd(rec: Record, path: Path, rate: float = RATE) -> None:
    """Numbers of every sample, the scene ``rate`` times a second. Needs ``rerun-sdk``."""
    rerun = optional_package("rerun", "a file .rrd")
    out = rerun.RecordingStream("footfall", recording_id=f"{rec.robot.name} {rec.law.name}")
    out.save(path)
    out.log("/", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    _log_scene(rerun, out, rec, rate)
    time = rerun.TimeColumn("time", duration=rec.time)
    for name, values in _plotted(rec).items():
        out.send_columns(name, indexes=[time], columns=rerun.Scalars.columns(scalars=values))
    out.flush()
    out.disconnect()


def _log_scene(rerun: Any, out: Any, rec: Record, rate: float) -> None:
    """Shapes once, poses and arrows at the samples that are shown."""
    model = rec.robot.model
    samples = display_samples(rec.time, rate)
    time = rerun.TimeColumn("time", duration=rec.time[samples])
    meshes = body_meshes(model)
    position, quaternion = body_poses(model, rec.qpos[samples], list(meshes))

    def log_shape(name: str, vertices: np.ndarray, faces: np.ndarray, colors: np.ndarray) -> None:
        each = colors if len(colors) == len(vertices) else np.tile(colors[:1], (len(vertices), 1))
        shape = rerun.Mesh3D(vertex_positions=vertices, triangle_indices=faces, vertex_colors=each)
        out.log(name, shape, static=True)

    for i, (body, mesh) in enumerate(meshes.items()):
        name = f"/robot/{_name(model, body)}"
        log_shape(f"{name}/shape", mesh.vertices, mesh.faces, np.asarray(mesh.colors))
        turn = quaternion[:, i][:, [1, 2, 3, 0]]  # Rerun has w last
        out.send_columns(
            name, indexes=[time], columns=rerun.Transform3D.columns(translation=position[:, i], quaternion=turn)
        )
    log_shape("/ground", *_ground(rec), np.array([GROUND_COLOR], dtype=np.uint8))
    scale = _metres_per_newton(rec)
    for k in samples:
        shown = np.isfinite(rec.force[k]).all(axis=1) & (np.linalg.norm(rec.force[k], axis=1) > 0.0)
        out.set_time("time", duration=float(rec.time[k]))
        arrows = rerun.Arrows3D(
            origins=rec.position[k][shown],
            vectors=rec.force[k][shown] * scale,
            colors=[MODE_COLORS[int(mode)] for mode in rec.mode[k][shown]],
        )
        out.log("/contacts", arrows)
    out.reset_time()


def _plotted(rec: Record) -> dict[str, np.ndarray]:
    """What is plotted, (T,) each, by the name of its entity."""
    vectors = {f"/grf/{foot.name}": rec.foot_force[:, f] for f, foot in enumerate(rec.robot.feet)}
    vectors |= {"/grf/total": rec.total_force, "/cop": overall_cop(rec), "/zmp": zmp(rec), "/com": momentum(rec).com}
    found = {f"{name}/{axis}": values[:, k] for name, values in vectors.items() for k, axis in enumerate("xyz")}
    for what, columns in (("position", joint_positions(rec)), ("velocity", joint_velocities(rec))):
        found |= {f"/joints/{column.name}/{what}": column.values for column in columns}
    return found | {f"/control/{name}": rec.ctrl[:, i] for i, name in enumerate(rec.robot.actuator_names)}
