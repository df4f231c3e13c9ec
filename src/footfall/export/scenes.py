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
from typing import Any, NamedTuple

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
SCHEMAS = {
    "/tf": "foxglove.FrameTransforms",
    "/robot": "foxglove.SceneUpdate",
    "/ground": "foxglove.SceneUpdate",
    "/contacts": "foxglove.SceneUpdate",
    "/numbers": "footfall.Numbers",
}


class _Shape(NamedTuple):
    """A surface in the frame of its body, or of the world."""

    vertices: np.ndarray  # (V, 3) m
    faces: np.ndarray  # (F, 3)
    colors: np.ndarray  # (V, 4), 0 to 255


class _Scene:
    """What is shown of a recording ``rate`` times a second."""

    def __init__(self, rec: Record, rate: float) -> None:
        model, size = rec.robot.model, scales(rec.robot).size
        self.rec, self.samples = rec, display_samples(rec.time, rate)
        self.names = [model.body(body).name or f"body{body}" for body in range(model.nbody)]
        self.shapes = {body: _Shape(m.vertices, m.faces, m.colors) for body, m in body_meshes(model).items()}
        #: (samples, bodies, 3) m and (samples, bodies, 4)
        self.position, self.quaternion = body_poses(model, rec.qpos[self.samples], range(model.nbody))
        reach = float(np.abs(rec.position[..., :2]).max(initial=0.0))
        vertices, faces = rec.ground.mesh(min(2.0 * reach + 4.0 * size, 20.0))
        self.ground = _Shape(vertices, faces, np.tile(np.array(GROUND_COLOR, np.uint8), (len(vertices), 1)))
        self.scale = LENGTH * size / scales(rec.robot).weight

    def arrows(self, k: int) -> tuple[np.ndarray, np.ndarray, list[tuple[int, ...]]]:
        """Of the forces in a sample: where they act (N, 3) and their arrows (N, 3), m, and colours by mode."""
        along = self.scale * self.rec.force[k]
        seen = np.linalg.norm(along, axis=1) >= SHORTEST  # not where it is NaN
        return self.rec.position[k][seen], along[seen], [MODE_COLORS[int(mode)] for mode in self.rec.mode[k][seen]]


def _numbers(rec: Record) -> dict[str, np.ndarray]:
    """What is plotted, (T,) each, by the name of its entity."""
    vectors = {f"/grf/{foot.name}": rec.foot_force[:, f] for f, foot in enumerate(rec.robot.feet)}
    vectors |= {"/grf/total": rec.total_force, "/cop": overall_cop(rec), "/zmp": zmp(rec), "/com": momentum(rec).com}
    found = {f"{name}/{axis}": values[:, k] for name, values in vectors.items() for k, axis in enumerate("xyz")}
    for what, columns in (("position", joint_positions(rec)), ("velocity", joint_velocities(rec))):
        found |= {f"/joints/{column.name}/{what}": column.values for column in columns}
    return found | {f"/control/{name}": rec.ctrl[:, i] for i, name in enumerate(rec.robot.actuator_names)}


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

        scene, numbers = _Scene(rec, rate), _numbers(rec)
        bodies = [
            _entity(rec, f"body {body}", scene.names[body] if body else WORLD, triangles=[_triangles(shape)])
            for body, shape in scene.shapes.items()
        ]
        put("/robot", 0, _update(bodies))
        put("/ground", 0, _update([_entity(rec, "ground", WORLD, triangles=[_triangles(scene.ground)])]))
        shown = {int(k): row for row, k in enumerate(scene.samples)}
        for k in range(len(rec)):
            if k in shown:
                put("/tf", k, {"transforms": _transforms(scene, shown[k])})
                arrows = [_arrow(*one) for one in zip(*scene.arrows(k), strict=True)]
                put("/contacts", k, _update([_entity(rec, "contact forces", WORLD, k, arrows=arrows)]))
            put("/numbers", k, _nested({name: float(values[k]) for name, values in numbers.items()}))
        out.add_metadata("footfall", {"robot": rec.robot.name, "law": str(rec.law), "ground": str(rec.ground)})
        out.finish()


def _triangles(shape: _Shape) -> dict[str, Any]:
    one_color = len(np.unique(shape.colors, axis=0)) == 1
    return {
        "pose": _pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])),
        "points": [_named("xyz", vertex) for vertex in np.round(shape.vertices, 5)],
        "color": _color(shape.colors[0]),
        "colors": [] if one_color else [_color(color) for color in shape.colors],
        "indices": shape.faces.ravel().tolist(),
    }


def _transforms(scene: _Scene, row: int) -> list[dict[str, Any]]:
    """Where every body is in a sample that is shown."""
    return [
        {
            "timestamp": _stamp(scene.rec, scene.samples[row]),
            "parent_frame_id": WORLD,
            "child_frame_id": scene.names[body],
            "translation": _named("xyz", scene.position[row, body]),
            "rotation": _named("wxyz", scene.quaternion[row, body]),
        }
        for body in range(1, len(scene.names))
    ]


def _arrow(at: np.ndarray, along: np.ndarray, color: tuple[int, ...]) -> dict[str, Any]:
    length = float(np.linalg.norm(along))
    head = min(HEAD, HEAD_SHARE * length)
    quaternion, turn = np.zeros(4), np.zeros(4)
    mujoco.mju_quatZ2Vec(quaternion, np.ascontiguousarray(along / length))
    mujoco.mju_axisAngle2Quat(turn, np.array([0.0, 1.0, 0.0]), -np.pi / 2)  # brings x, which arrows have, to z
    mujoco.mju_mulQuat(quaternion, quaternion.copy(), turn)
    return {
        "pose": _pose(at, quaternion),
        "shaft_length": length - head,
        "shaft_diameter": 0.012,
        "head_length": head,
        "head_diameter": 0.025,
        "color": _color((*color, 255)),
    }


def _entity(rec: Record, name: str, frame: str, k: int = 0, **shapes: Any) -> dict[str, Any]:
    """Something in a frame, from a sample on until it is replaced."""
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


def _update(entities: list[dict[str, Any]]) -> dict[str, Any]:
    return {"deletions": [], "entities": entities}


def _pose(at: np.ndarray, quaternion: np.ndarray) -> dict[str, Any]:
    return {"position": _named("xyz", at), "orientation": _named("wxyz", quaternion)}


def _named(names: str, vector: np.ndarray) -> dict[str, float]:
    return dict(zip(names, vector.tolist(), strict=True))


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
    scene = _Scene(rec, rate)
    out = rerun.RecordingStream("footfall", recording_id=f"{rec.robot.name} {rec.law.name}")
    out.save(path)
    out.log("/", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    surfaces = {f"/robot/{scene.names[body]}/shape": shape for body, shape in scene.shapes.items()}
    for name, shape in {**surfaces, "/ground": scene.ground}.items():
        mesh = rerun.Mesh3D(
            vertex_positions=shape.vertices, triangle_indices=shape.faces, vertex_colors=np.asarray(shape.colors)
        )
        out.log(name, mesh, static=True)
    time = rerun.TimeColumn("time", duration=rec.time[scene.samples])
    for body in scene.shapes:
        turn = scene.quaternion[:, body][:, [1, 2, 3, 0]]  # Rerun has w last
        poses = rerun.Transform3D.columns(translation=scene.position[:, body], quaternion=turn)
        out.send_columns(f"/robot/{scene.names[body]}", indexes=[time], columns=poses)
    for k in scene.samples:
        origins, vectors, colors = scene.arrows(k)
        out.set_time("time", duration=float(rec.time[k]))
        out.log("/contacts", rerun.Arrows3D(origins=origins, vectors=vectors, colors=colors))
    out.reset_time()
    time = rerun.TimeColumn("time", duration=rec.time)
    for name, values in _numbers(rec).items():
        out.send_columns(name, indexes=[time], columns=rerun.Scalars.columns(scalars=values))
    out.flush()
    out.disconnect()
