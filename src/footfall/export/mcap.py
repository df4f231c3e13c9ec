"""MCAP for Foxglove: the robot and its contact forces as a 3D scene, numbers for its plots. JSON messages.

| topic | holds |
|---|---|
| /tf | pose of every body (``foxglove.FrameTransforms``) |
| /robot, /ground | their shapes, once (``foxglove.SceneUpdate``) |
| /contacts | an arrow for every force (``foxglove.SceneUpdate``) |
| /grf | force, centre of pressure of each foot and of all, N and m |
| /joints | position, velocity and control by name |
| /points | gap (m), normal force (N) and mode of every contact point |
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from footfall.export.tables import joint_positions, joint_velocities
from footfall.files.json_values import json_value
from footfall.measure import cop, momentum, overall_cop, zmp
from footfall.measure.audit_errors import scales
from footfall.measure.common import normal_force
from footfall.show.frames import MODE_COLORS, RATE, Mesh, body_meshes, body_poses, display_samples

if TYPE_CHECKING:
    from footfall.record import Record


# ---- messages of Foxglove's 3D panel, as its JSON schemas have them -------------------------------------------------


WORLD = "world"
#: Length of an arrow for a force equal to the robot's weight, relative to the robot's size.
LENGTH = 0.5
GROUND_COLOR = (190, 190, 190, 255)
UNMOVED = {"position": {"x": 0.0, "y": 0.0, "z": 0.0}, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}


def body_entities(rec: Record) -> list[dict[str, Any]]:
    """The shape of every body in the body's own frame, for all time."""
    model = rec.robot.model
    return [
        _entity(f"body {body}", _frame(model, body), rec, triangles=[_triangles(mesh)])
        for body, mesh in body_meshes(model).items()
    ]


def ground_entity(rec: Record) -> dict[str, Any]:
    """The ground around what happened."""
    reach = float(np.abs(rec.position[..., :2]).max(initial=0.0))
    vertices, faces = rec.ground.mesh(min(2.0 * reach + 4.0 * scales(rec.robot).size, 20.0))
    surface = {
        "pose": UNMOVED,
        "points": _points(vertices),
        "color": _color(GROUND_COLOR),
        "colors": [],
        "indices": faces.ravel().tolist(),
    }
    return _entity("ground", WORLD, rec, triangles=[surface])


def transforms(rec: Record, k: int) -> list[dict[str, Any]]:
    """Where every body is in sample ``k``."""
    model = rec.robot.model
    bodies = list(range(1, model.nbody))
    position, quaternion = body_poses(model, rec.qpos[k : k + 1], bodies)
    return [
        {
            "timestamp": _stamp(float(rec.time[k])),
            "parent_frame_id": WORLD,
            "child_frame_id": _frame(model, body),
            "translation": _xyz(at),
            "rotation": dict(zip("wxyz", turn.tolist(), strict=True)),
        }
        for body, at, turn in zip(bodies, position[0], quaternion[0], strict=True)
    ]


def arrows(rec: Record, k: int) -> dict[str, Any]:
    """An arrow for the force on every point in sample ``k``, coloured by mode; it replaces the last sample's."""
    scale = LENGTH * scales(rec.robot).size / scales(rec.robot).weight
    found = []
    for force, at, mode in zip(rec.force[k], rec.position[k], rec.mode[k], strict=True):
        size = float(np.linalg.norm(force))
        if not np.isfinite(size) or size * scale < 1e-4:
            continue
        head = min(0.03, 0.3 * size * scale)
        found.append(
            {
                "pose": {"position": _xyz(at), "orientation": _along(force / size)},
                "shaft_length": size * scale - head,
                "shaft_diameter": 0.012,
                "head_length": head,
                "head_diameter": 0.025,
                "color": _color((*MODE_COLORS[int(mode)], 255)),
            }
        )
    return _entity("contact forces", WORLD, rec, k=k, arrows=found)


def _entity(name: str, frame: str, rec: Record, k: int = 0, **shapes: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {
        key: [] for key in ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")
    }
    return {
        "timestamp": _stamp(float(rec.time[k])),
        "frame_id": frame,
        "id": name,
        "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": True,
        "metadata": [],
        **empty,
        **shapes,
    }


def _triangles(mesh: Mesh) -> dict[str, Any]:
    return {
        "pose": UNMOVED,
        "points": _points(mesh.vertices),
        "color": _color(tuple(mesh.colors[0].tolist())),
        "colors": [_color(tuple(color)) for color in mesh.colors.tolist()]
        if len(np.unique(mesh.colors, axis=0)) > 1
        else [],
        "indices": mesh.faces.ravel().tolist(),
    }


def _frame(model: mujoco.MjModel, body: int) -> str:
    return WORLD if body == 0 else model.body(body).name or f"body{body}"


def _along(direction: np.ndarray) -> dict[str, float]:
    """The attitude whose x axis, that of an arrow, is ``direction``."""
    quaternion, turn = np.zeros(4), np.zeros(4)
    mujoco.mju_quatZ2Vec(quaternion, np.ascontiguousarray(direction))
    mujoco.mju_axisAngle2Quat(turn, np.array([0.0, 1.0, 0.0]), -np.pi / 2)  # brings x to z
    mujoco.mju_mulQuat(quaternion, quaternion.copy(), turn)
    return dict(zip("wxyz", quaternion.tolist(), strict=True))


def _points(vertices: np.ndarray) -> list[dict[str, float]]:
    return [_xyz(vertex) for vertex in np.round(vertices, 5)]


def _xyz(vector: np.ndarray) -> dict[str, float]:
    return dict(zip("xyz", vector.tolist(), strict=True))


def _color(rgba: tuple[int, ...]) -> dict[str, float]:
    return {key: round(value / 255, 4) for key, value in zip("rgba", rgba, strict=True)}


def _stamp(time: float) -> dict[str, int]:
    nanoseconds = round(1e9 * time)
    return {"sec": nanoseconds // 10**9, "nsec": nanoseconds % 10**9}


SCHEMAS = {
    "/tf": "foxglove.FrameTransforms",
    "/robot": "foxglove.SceneUpdate",
    "/ground": "foxglove.SceneUpdate",
    "/contacts": "foxglove.SceneUpdate",
    "/grf": "footfall.GroundReaction",
    "/joints": "footfall.Joints",
    "/points": "footfall.Points",
}


def write(rec: Record, path: Path, rate: float = RATE) -> None:
    """Numbers of every sample, the scene ``rate`` times a second. Needs ``mcap``."""
    from mcap.writer import Writer

    with path.open("wb") as file:
        out = Writer(file)
        out.start(profile="", library="footfall")
        known: dict[str, int] = {}
        for name in dict.fromkeys(SCHEMAS.values()):
            schema = json.dumps({"title": name, "type": "object"}).encode()
            known[name] = out.register_schema(name=name, encoding="jsonschema", data=schema)
        channels = {
            topic: out.register_channel(topic=topic, message_encoding="json", schema_id=known[name])
            for topic, name in SCHEMAS.items()
        }

        def put(topic: str, time: float, message: Any) -> None:
            stamp = round(1e9 * time)
            data = json.dumps(json_value(message), separators=(",", ":"), allow_nan=False).encode()
            out.add_message(channel_id=channels[topic], log_time=stamp, publish_time=stamp, data=data)

        begin = float(rec.time[0])
        put("/robot", begin, {"deletions": [], "entities": body_entities(rec)})
        put("/ground", begin, {"deletions": [], "entities": [ground_entity(rec)]})
        shown = set(display_samples(rec.time, rate).tolist())
        numbers = _Numbers(rec)
        for k, time in enumerate(rec.time.tolist()):
            if k in shown:
                put("/tf", time, {"transforms": transforms(rec, k)})
                put("/contacts", time, {"deletions": [], "entities": [arrows(rec, k)]})
            put("/grf", time, numbers.grf(k))
            put("/joints", time, numbers.joints(k))
            put("/points", time, numbers.points(k))
        out.add_metadata("footfall", {"robot": rec.robot.name, "law": str(rec.law), "ground": str(rec.ground)})
        out.finish()


class _Numbers:
    """The messages of numbers, sample by sample."""

    def __init__(self, rec: Record) -> None:
        self.rec = rec
        self.cop, self.com, self.load = overall_cop(rec), momentum(rec).com, normal_force(rec)
        self.foot_cop, self.zmp = cop(rec), zmp(rec)
        self.position, self.velocity = joint_positions(rec), joint_velocities(rec)
        self.actuators = [rec.robot.model.actuator(i).name or f"actuator{i}" for i in range(rec.robot.model.nu)]

    def grf(self, k: int) -> dict[str, Any]:
        rec = self.rec
        feet = {
            foot.name: {"force": _xyz(rec.foot_force[k, f]), "cop": _xyz(self.foot_cop[k, f])}
            for f, foot in enumerate(rec.robot.feet)
        }
        whole = {"total": _xyz(rec.total_force[k]), "cop": _xyz(self.cop[k]), "zmp": _xyz(self.zmp[k])}
        return {**whole, "com": _xyz(self.com[k]), "feet": feet}

    def joints(self, k: int) -> dict[str, Any]:
        return {
            "position": {column.name: float(column.values[k]) for column in self.position},
            "velocity": {column.name: float(column.values[k]) for column in self.velocity},
            "control": dict(zip(self.actuators, self.rec.ctrl[k].tolist(), strict=True)),
        }

    def points(self, k: int) -> dict[str, Any]:
        rec = self.rec
        return {"gap": rec.gap[k].tolist(), "normal_force": self.load[k].tolist(), "mode": rec.mode[k].tolist()}
