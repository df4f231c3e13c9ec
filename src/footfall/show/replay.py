"""The stand-alone 3D replay: what the page's own renderer (``page/replay.js``) needs, as JSON.

Arrays travel as little-endian numbers in base64, which every browser turns into typed arrays at once.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from footfall.files.measured import Measured
from footfall.ground import Ground
from footfall.measure import fall, settled
from footfall.measure.common import flat
from footfall.record import Push, Record
from footfall.robot import Robot
from footfall.show.frames import Mesh, Scene, extent, force_scale, simplified
from footfall.show.panels import Band, Curve, Panel, decimated, stretches
from footfall.show.plots import panels_of

#: Triangles of a robot, and of a ground: what a phone draws fluently and a page carries easily.
ROBOT_TRIANGLES, GROUND_TRIANGLES = 40_000, 20_000
#: Frames of all recordings together, and of each at least and at most.
FRAMES, FEWEST, MOST = 4800, 300, 1200


def most_frames(recordings: int) -> int:
    """How many frames each of this many recordings may have."""
    return min(MOST, max(FEWEST, FRAMES // recordings))


def replay_data(scenes: Sequence[Scene], labels: Sequence[str]) -> dict[str, Any]:
    """What the page's renderer draws: robots, grounds, and the frames of each recording."""
    side = extent(scenes)
    robots: list[Robot] = []
    places: list[Ground] = []
    models, grounds, runs = [], [], []
    for scene, label in zip(scenes, labels, strict=True):
        rec = scene.recording
        if rec.robot not in robots:
            robots.append(rec.robot)
            models.append(_robot(scene))
        if rec.ground not in places:
            places.append(rec.ground)
            grounds.append(_ground(scene, side))
        runs.append({**_run(scene, label), "robot": robots.index(rec.robot), "ground": places.index(rec.ground)})
    return {
        "robots": models,
        "grounds": grounds,
        "runs": runs,
        "scale": force_scale(scenes),
        "size": max(s.size for s in scenes),
        "girth": max(s.girth for s in scenes),
        "height": max(s.height for s in scenes),
        "reach": max(s.reach for s in scenes),
        "start": max(settled(scene.recording) for scene in scenes),
    }


def pack(array: np.ndarray, kind: str = "<f4") -> dict[str, Any]:
    """An array for ``unpack`` of the page: type, shape and base64."""
    numbers = np.ascontiguousarray(array, dtype=kind)
    return {
        "type": kind[1:],
        "shape": numbers.shape,
        "data": base64.b64encode(numbers.tobytes()).decode("ascii"),
    }


def _run(scene: Scene, label: str) -> dict[str, Any]:
    rec, frames = scene.recording, scene.frames
    level, fallen = flat(rec), fall(rec)
    return {
        "label": label,
        "feet": [foot.name for foot in rec.robot.feet],
        "pointFoot": rec.robot.point_foot.tolist() + [-1] * len(rec.other_points),
        "friction": rec.ground.static_friction,
        "failure": None if rec.failure is None else f"{rec.failure.cause} at {rec.failure.time:.4g} s",
        "fall": None if fallen is None else fallen.time,
        "pushes": [_push(push) for push in rec.pushes],
        "pushPoint": pack(frames.push),
        "sample": pack(scene.samples, "<u4"),
        "time": pack(scene.time, "<f8"),
        "bodyPosition": pack(frames.body_position),
        "bodyQuaternion": pack(frames.body_quaternion),
        "point": pack(frames.point),
        "force": pack(frames.force),
        "mode": pack(frames.mode, "|u1"),
        # On a plane, level or sloped, one normal says it all.
        "normal": pack(frames.normal[:1, :1] if level else frames.normal),
        "cop": pack(frames.cop),
        "overallCop": pack(frames.overall_cop),
        "zmp": pack(frames.zmp),
        "com": pack(frames.com),
        "comGround": pack(frames.com_ground),
    }


def _push(push: Push) -> dict[str, Any]:
    return {"body": push.body, "force": push.force, "start": push.start, "end": push.start + push.duration}


def _robot(scene: Scene) -> dict[str, Any]:
    total = sum(len(mesh.faces) for mesh in scene.meshes.values())
    share = min(1.0, ROBOT_TRIANGLES / max(total, 1))
    names = [scene.recording.robot.model.body(body).name for body in scene.meshes]
    meshes = [simplified(mesh, max(64, int(share * len(mesh.faces)))) for mesh in scene.meshes.values()]
    return {"names": names, "bodies": [_mesh(mesh) for mesh in meshes]}


def _mesh(mesh: Mesh) -> dict[str, Any]:
    return {
        "vertices": pack(mesh.vertices),
        "normals": pack(np.round(127 * mesh.normals), "|i1"),
        "colors": pack(mesh.colors, "|u1"),
        "faces": pack(mesh.faces, "<u2" if len(mesh.vertices) <= 1 << 16 else "<u4"),
    }


def _ground(scene: Scene, side: float) -> dict[str, Any]:
    vertices, faces = scene.recording.ground.mesh(side)
    # Every triangle with its own corners, so that a stair's edges are sharp.
    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    normals = np.repeat(normal / np.where(size > 0.0, size, 1.0), 3, axis=0)
    if len(faces) > 1000:  # a smooth surface: vertices are shared, normals their mean
        shared = np.zeros_like(vertices)
        np.add.at(shared, faces.ravel(), np.repeat(normal, 3, axis=0))
        shared /= np.maximum(np.linalg.norm(shared, axis=1, keepdims=True), 1e-12)
        mesh = Mesh(vertices, shared, faces, np.zeros((len(vertices), 4), np.uint8))
        return _mesh(simplified(mesh, GROUND_TRIANGLES))
    count = 3 * len(faces)
    return _mesh(Mesh(corners.reshape(-1, 3), normals, np.arange(count).reshape(-1, 3), np.zeros((count, 4), np.uint8)))


# ---- plots, with as many samples as a screen can show ---------------------------------------------------------------


#: Samples of a curve that are kept, of all recordings together, and of each at least.
SAMPLES, FEWEST = 3200, 300
#: Moments of a row of modes.
MOMENTS = 2000
#: The plots of a report, in its order.
SHOWN = ("grf", "pressure", "heights", "friction", "energy", "modes")


def page_plots(
    recordings: Sequence[Record], labels: Sequence[str], measured: Measured | None = None
) -> list[dict[str, Any]]:
    """The plots of a report as the page takes them, with measured forces laid over the simulated ones."""
    runs = dict(zip(labels, recordings, strict=True))
    most = max(FEWEST, SAMPLES // len(recordings))
    options = {"grf": {"measured": measured}}
    return [
        _panel(panel, most) for name in SHOWN for panel in panels_of(name, runs, brief=True, **options.get(name, {}))
    ]


def _panel(panel: Panel, most: int) -> dict[str, Any]:
    rows = []
    for row in panel.rows:
        start, end, mode = stretches(row, MOMENTS)
        rows.append({"name": row.name, "start": pack(start), "end": pack(end), "mode": pack(mode, "|u1")})
    kept = _common([curve for curve in panel.curves if not curve.measured], most)
    return {
        "title": panel.title,
        "unit": panel.unit,
        "curves": [_curve(curve, most, kept) for curve in panel.curves],
        "bands": [_band(band, most) for band in panel.bands],
        "lines": [{"y": limit.value, "label": limit.name} for limit in panel.limits if limit.name],
        "zero": panel.zero,
        "narrow": panel.narrow,
        **({"rows": rows} if rows else {}),
    }


def _common(curves: Sequence[Curve], most: int) -> np.ndarray | None:
    """Samples that all curves keep, if they share their times: then their differences are exact."""
    if len({curve.run for curve in curves}) < 2:
        return None
    longest = max((curve.time for curve in curves), key=len)
    if not all(np.array_equal(curve.time, longest[: len(curve.time)]) for curve in curves):
        return None
    return np.unique(np.concatenate([decimated(curve.values, most) for curve in curves]))


def _curve(curve: Curve, most: int, common: np.ndarray | None) -> dict[str, Any]:
    shared = None if curve.measured else common
    kept = decimated(curve.values, most) if shared is None else shared[shared < len(curve.values)]
    look = {"name": curve.name, "color": curve.color, "dash": curve.dash, "width": curve.width, "role": curve.role}
    part = {"of": curve.part} if curve.measured else {}
    return {**look, **part, "run": curve.run, "x": pack(curve.time[kept]), "y": pack(curve.values[kept])}


def _band(band: Band, most: int) -> dict[str, Any]:
    kept = np.union1d(decimated(band.low, most // 2), decimated(band.high, most // 2))
    sides = {"low": pack(band.low[kept]), "high": pack(band.high[kept])}
    return {"name": band.name, "run": band.run, "x": pack(band.time[kept]), **sides}
