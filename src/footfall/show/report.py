"""The report: one HTML file about a run or a comparison, with plots and a 3D replay that share one time.

The page is self-contained. Its 3D replay is drawn by the page's own small renderer, which also serves the viewer and
live runs (``footfall.show.viewer``, ``footfall.live``). What it draws travels as JSON, arrays as little-endian numbers
in base64, which every browser turns into typed arrays at once.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.files.atomic_write import write_text
from footfall.files.measured import Measured
from footfall.ground import Ground
from footfall.measure import Audit, fall, settled
from footfall.record import Push, Record
from footfall.robot import Robot
from footfall.show.frames import Mesh, Scene, extent, force_scale, labelled, make_scene, simplified
from footfall.show.panels import Band, Curve, Panel, decimated, stretches
from footfall.show.plots import panels_of
from footfall.show.tables import (
    audit_table,
    audits_of,
    comparison,
    facts_table,
    key_figures,
    measured_table,
    summary_table,
)
from footfall.version import __version__

#: Triangles of a robot, and of a ground: what a phone draws fluently and a page carries easily.
ROBOT_TRIANGLES, GROUND_TRIANGLES = 40_000, 20_000
#: Frames of all recordings together, and of each at least and at most.
FRAMES, FEWEST_FRAMES, MOST = 4800, 300, 1200


def replay_data(scenes: Mapping[str, Scene]) -> dict[str, Any]:
    """What the page's renderer draws: robots, grounds, and the frames of each recording."""
    shown = list(scenes.values())
    side = extent(shown)
    robots: list[Robot] = []
    places: list[Ground] = []
    models, grounds, runs = [], [], []
    for label, scene in scenes.items():
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
        "scale": force_scale(shown),
        "size": max(one.sizes.size for one in shown),
        "girth": max(one.sizes.girth for one in shown),
        "height": max(one.sizes.height for one in shown),
        "reach": max(one.sizes.reach for one in shown),
        "start": max(settled(one.recording) for one in shown),
    }


def pack(array: np.ndarray, kind: str = "<f4") -> dict[str, Any]:
    """An array for ``unpack`` of the page: type, shape and base64."""
    numbers = np.ascontiguousarray(array, dtype=kind)
    return {
        "type": kind[1:],
        "shape": numbers.shape,
        "data": base64.b64encode(numbers.tobytes()).decode("ascii"),
    }


#: What the arrays of frames are packed as, where it is not as 4-byte floats.
KINDS = {"time": "<f8", "mode": "|u1"}


def _run(scene: Scene, label: str) -> dict[str, Any]:
    rec, frames, fallen = scene.recording, scene.frames, fall(scene.recording)
    if rec.ground.flat:  # level or sloped, one normal says it all
        frames = frames._replace(normal=frames.normal[:1, :1])
    return {
        "label": label,
        "feet": [foot.name for foot in rec.robot.feet],
        "pointFoot": rec.robot.point_foot.tolist() + [-1] * len(rec.other_points),
        "friction": rec.ground.static_friction,
        "failure": None if rec.failure is None else f"{rec.failure.cause} at {rec.failure.time:.4g} s",
        "fall": None if fallen is None else fallen.time,
        "pushes": [_push(push) for push in rec.pushes],
        "sample": pack(scene.samples, "<u4"),
        **{name: pack(array, KINDS.get(name, "<f4")) for name, array in frames._asdict().items()},
        **_touching(scene),
    }


def _touching(scene: Scene) -> dict[str, Any]:
    """Where bodies touch each other in the frames: places, forces on the first of two and modes of those that do."""
    found = scene.recording.body_contacts
    if found is None:
        return {}
    mode = found.mode[scene.samples].astype(int)
    ever = (mode > 0).any(axis=0)
    place, force = (np.nan_to_num(array[scene.samples][:, ever]) for array in (found.position, found.force))
    return {"touchPlace": pack(place), "touchForce": pack(force), "touchMode": pack(mode[:, ever], "|u1")}


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
    runs: Mapping[str, Record], measured: Measured | None = None, shown: Sequence[str] = SHOWN
) -> list[dict[str, Any]]:
    """The plots of a report as the page takes them, with measured forces laid over the simulated ones."""
    most = max(FEWEST, SAMPLES // len(runs))
    options = {"grf": {"measured": measured}}
    return [_panel(panel, most) for name in shown for panel in panels_of(name, runs, **options.get(name, {}))]


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


SCRIPTS = ("common.js", "stage.js", "camera.js", "replay.js", "plots.js", "comparison.js", "live.js", "app.js")


@public
def write_report(
    recordings: Record | Sequence[Record] | Mapping[str, Record],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    labels: Sequence[str] | None = None,
    audit: Sequence[Audit] | None = None,
    failed: Mapping[str, str] | None = None,
    measured: Measured | None = None,
    above: str = "",
    options: Mapping[str, Any] | None = None,
) -> Path:
    """Write a report of a recording, or of several to be compared, and return its path.

    ``labels`` name the recordings (their laws if left out). ``audit`` holds the audit of each
    recording; left out, they are made, and an empty list leaves the section out. ``failed`` says, by label, why
    something that should be compared has no recording. ``measured`` forces (``footfall.load_forces``) are laid over the
    simulated ones, with a table of errors. ``above`` is HTML that comes before all else, and ``options`` are settings
    that the page begins with: ``begin``, the time (s) of its replay.

    Example:
        >>> write_report(rec, "standing.html")                         # doctest: +SKIP
        >>> write_report([soft, hard], "laws.html", title="Two laws")  # doctest: +SKIP
    """
    runs = labelled(recordings, "a report", labels)
    text = render_report(runs, title=title, audit=audit, failed=failed, measured=measured, above=above, options=options)
    return write_text(Path(path).expanduser(), text, "the report")


def render_report(
    runs: Mapping[str, Record],
    *,
    title: str | None = None,
    audit: Sequence[Audit] | None = None,
    failed: Mapping[str, str] | None = None,
    measured: Measured | None = None,
    above: str = "",
    options: Mapping[str, Any] | None = None,
) -> str:
    """The report of recordings by their labels as text; see ``write_report``."""
    missing, audits = failed or {}, audits_of(runs, audit)
    most = min(MOST, max(FEWEST_FRAMES, FRAMES // len(runs)))
    scenes = {label: make_scene(rec, most=most) for label, rec in runs.items()}
    first, alone = next(iter(runs.values())), len(runs) == 1
    differ, compared = ("", "") if alone else comparison(runs, audits, missing)
    tables = [
        measured_table(runs, measured),
        summary_table(first) if alone else "",
        facts_table(runs),
        audit_table(audits),
    ]
    return render_page(
        {**replay_data(scenes), "panels": page_plots(runs, measured), **(options or {})},
        title=title or _title(list(runs.values())),
        lead=_lead(list(runs.values())),
        above=above,
        failures=_failures(runs, missing if alone else {}),
        kind="single" if alone else "several",
        figures=key_figures(first, next(iter(audits.values()), None)) if alone else differ,
        compared=compared,
        tables="\n".join(filter(None, tables)),
    )


def render_live(rest: Record, title: str, figures: str, data: Mapping[str, Any]) -> str:
    """The page of a live run, which begins with one sample of the robot at rest."""
    return render_page(
        {**replay_data({rest.law.name: make_scene(rest)}), **data},
        title=title,
        lead=f"{rest.ground.kind}, step {1000 * rest.dt:.4g} ms",
        kind="live",
        brand="live",
        figures=figures,
        tables=facts_table({rest.law.name: rest}, only=("Robot", "Feet", "Step")),
        connect=" connect-src 'self';",
    )


def render_page(data: Mapping[str, Any], *, title: str, lead: str, **parts: str) -> str:
    """The page with its data; ``parts`` are HTML, empty where left out."""
    return _fill(
        _file("report.html"),
        {
            **dict.fromkeys(("above", "failures", "figures", "compared", "connect"), ""),
            "brand": "report",
            **parts,
            "title": escape(title),
            "lead": escape(lead),
            "rows": str(-(-len(data["runs"]) // 2)),
            "version": escape(__version__),
            "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "style": _file("report.css"),
            "script": "\n".join(_file(name) for name in SCRIPTS),
            # "</script>" within a text would end the element, and "<!--<script" would keep it from ending.
            "data": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        },
    )


def _file(name: str) -> str:
    return resources.files("footfall.show").joinpath("page", name).read_text(encoding="utf-8")


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Put each value where the template says {{its name}}; what a value contains is left alone."""
    parts = template.split("{{")
    filled = [parts[0]]
    for part in parts[1:]:
        name, rest = part.split("}}", 1)
        filled += [values[name], rest]
    return "".join(filled)


def _title(runs: Sequence[Record]) -> str:
    robots = list(dict.fromkeys(rec.robot.name for rec in runs))
    laws = {rec.law.name for rec in runs}
    subject = " and ".join(robots)
    if len(runs) == 1:
        return f"{subject} under {runs[0].law.name}"
    if len(laws) == len(runs) and len(robots) == 1:
        return f"{subject} under {len(runs)} contact laws"
    return f"{subject}: {len(runs)} recordings compared"


def _lead(runs: Sequence[Record]) -> str:
    first = runs[0]
    controller = str(first.info.get("controller", "unknown"))
    held = "no controller" if controller == "none" else f"controller {controller}"
    same = all(rec.ground == first.ground for rec in runs)
    where = f"{first.ground.kind}, friction {first.ground.dynamic_friction:g}" if same else "different grounds"
    longest = max(rec.duration for rec in runs)
    pushes = len(first.pushes)
    pushed = f", {pushes} push{'es' if pushes > 1 else ''}" if pushes else ""
    return f"{longest:.4g} s on {where}, {held}{pushed}, step {1000 * first.dt:.4g} ms"


def _failures(runs: Mapping[str, Record], missing: Mapping[str, str]) -> str:
    ended = {label: rec.failure.message for label, rec in runs.items() if rec.failure is not None}
    return "\n".join(
        f'<p class="failure"><strong>{escape(label)} did not {verb}:</strong> {escape(why)}</p>'
        for verb, said in (("finish", ended), ("run", missing))
        for label, why in said.items()
    )
