"""The report: one HTML file about a run or a comparison, with plots and a 3D replay that share one time.

The page is self-contained. Its 3D replay is drawn by the page's own small renderer, which also serves the viewer and
live runs (``footfall.show.viewer``, ``footfall.live``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from footfall.arguments import public
from footfall.errors import FootfallError, RecordingError
from footfall.files.atomic_write import atomic_write
from footfall.files.measured import Measured
from footfall.measure import Audit
from footfall.record import Record
from footfall.show.frames import labels_of, make_scene
from footfall.show.replay import most_frames, page_plots, replay_data
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

SCRIPTS = ("common.js", "stage.js", "camera.js", "replay.js", "plots.js", "comparison.js", "live.js", "app.js")


@public
def write_report(
    recordings: Record | Sequence[Record],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    labels: Sequence[str] | None = None,
    audit: Sequence[Audit] | None = None,
    failed: Mapping[str, str] | None = None,
    measured: Measured | None = None,
) -> Path:
    """Write a report of a recording, or of several to be compared, and return its path.

    ``labels`` name the recordings (their laws if left out). ``audit`` holds the audit of each
    recording; left out, they are made, and an empty list leaves the section out. ``failed`` says, by label, why
    something that should be compared has no recording. ``measured`` forces (``footfall.load_forces``) are laid over the
    simulated ones, with a table of errors.

    Example:
        >>> write_report(rec, "standing.html")                         # doctest: +SKIP
        >>> write_report([soft, hard], "laws.html", title="Two laws")  # doctest: +SKIP
    """
    runs, names, own_title = chosen(recordings, labels, "a report")
    target = Path(path).expanduser()
    text = render_report(
        runs, names, title or own_title, audits_of(runs, audit), failed=failed or {}, measured=measured
    )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FootfallError(f"cannot write the report to '{target}': {error.strerror or error}") from error
    return target


def chosen(
    recordings: Record | Sequence[Record], labels: Sequence[str] | None, what: str
) -> tuple[list[Record], list[str], str]:
    """The recordings to show, their labels, and a title."""
    runs = [recordings] if isinstance(recordings, Record) else list(recordings)
    if not runs:
        raise RecordingError(f"{what} needs at least one recording")
    names = labels_of(runs) if labels is None else [str(label) for label in labels]
    if len(names) != len(runs):
        raise RecordingError(f"{len(names)} labels were given for {len(runs)} recordings")
    return runs, names, _title(runs)


def render_report(
    runs: Sequence[Record],
    labels: Sequence[str],
    title: str,
    audits: Sequence[Audit],
    *,
    options: Mapping[str, Any] | None = None,
    failed: Mapping[str, str] | None = None,
    measured: Measured | None = None,
) -> str:
    """The report as text; see ``write_report``. ``options`` are settings that the page begins with."""
    missing = failed or {}
    scenes = [make_scene(rec, most=most_frames(len(runs))) for rec in runs]
    data = {**replay_data(scenes, labels), "panels": page_plots(runs, labels, measured), **(options or {})}
    alone = len(runs) == 1
    tables = [
        measured_table(runs, labels, measured),
        summary_table(runs[0]) if alone else "",
        facts_table(runs, labels),
        audit_table(audits, labels),
    ]
    return render_page(
        data,
        title=title,
        lead=_lead(runs),
        failures=_failures(runs, labels, missing if alone else {}),
        kind="single" if alone else "several",
        figures=key_figures(runs[0], audits[0] if audits else None) if alone else "",
        compared="" if alone else comparison(runs, labels, audits, missing),
        tables="\n".join(filter(None, tables)),
    )


def render_live(rest: Record, title: str, figures: str, data: Mapping[str, Any]) -> str:
    """The page of a live run, which begins with one sample of the robot at rest."""
    scene = make_scene(rest)
    return render_page(
        {**replay_data([scene], [rest.law.name]), **data},
        title=title,
        lead=f"{rest.ground.kind}, friction {rest.ground.dynamic_friction:g}, step {1000 * rest.dt:.4g} ms",
        kind="live",
        brand="live",
        figures=figures,
        tables=facts_table([rest], [rest.law.name]),
        connect=" connect-src 'self';",
    )


def render_page(data: Mapping[str, Any], *, title: str, lead: str, **parts: str) -> str:
    """The page with its data; ``parts`` are HTML, empty where left out."""
    return _fill(
        _file("report.html"),
        {
            **dict.fromkeys(("failures", "figures", "compared", "connect"), ""),
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


def _failures(runs: Sequence[Record], labels: Sequence[str], missing: Mapping[str, str]) -> str:
    ended = {label: rec.failure.message for rec, label in zip(runs, labels, strict=True) if rec.failure is not None}
    return "\n".join(
        f'<p class="failure"><strong>{escape(label)} did not {verb}:</strong> {escape(why)}</p>'
        for verb, said in (("finish", ended), ("run", missing))
        for label, why in said.items()
    )
