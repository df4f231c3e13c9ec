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

import numpy as np

from footfall.export.columns import joint_positions, joint_velocities
from footfall.export.mcap_scene import arrows, body_entities, ground_entity, transforms
from footfall.files.json_values import json_value
from footfall.measure import cop, momentum, overall_cop, zmp
from footfall.measure.common import normal_force
from footfall.show.frames import RATE, display_samples

if TYPE_CHECKING:
    from footfall.record import Record

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


def _xyz(vector: np.ndarray) -> dict[str, float]:
    return dict(zip("xyz", vector.tolist(), strict=True))
