"""The plots of the report's page, with as many samples as a screen can show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from footfall.files.measured import Measured
from footfall.record import Record
from footfall.show.panels import Band, Curve, Panel, decimated, stretches
from footfall.show.plots import panels_of
from footfall.show.replay import pack

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
