"""Plots of recordings, by name: SI units, colour-blind safe, the size of a journal page.

    figure = rec.plot("grf")
    plot({"soft": a, "hard": b}, "grf", stop=1.0)     # overlaid
    save_plot(figure, "grf.pdf")

To add one: write a function ``(figure, runs) -> None`` in a file of this room and add its line to ``PLOTS``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footfall.errors import FootfallError, RecordingError, did_you_mean
from footfall.files.aside import written_aside
from footfall.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PLOTS", "plot", "save_plot"]

#: Where each plot lives, and what it shows.
PLOTS = {
    "grf": ("forces", "ground reaction forces"),
    "normal": ("points", "normal force at each contact point"),
    "friction": ("points", "tangential over normal force at each contact point"),
    "penetration": ("points", "depth of each contact point in the ground"),
    "heights": ("points", "height of each contact point over the ground"),
    "modes": ("modes", "open, stick and slide of each contact point"),
    "cop": ("pressure", "path of the centre of pressure on each sole"),
    "zmp": ("pressure", "zero moment point with the limits of the support, over time and in plan"),
    "tracking": ("joints", "joint positions, with what their servos aim at"),
    "torque": ("joints", "torques of the actuators at the joints"),
    "energy": ("energy", "energies, and works of actuators and ground"),
}
FORMATS = (".png", ".svg", ".pdf")

Runs = Record | Sequence[Record] | Mapping[str, Record]


def plot(
    recordings: Runs,
    name: str,
    *,
    title: str | None = None,
    start: float | None = None,
    stop: float | None = None,
    size: tuple[float, float] | None = None,
) -> Figure:
    """A plot of a recording, or of several overlaid, as a matplotlib ``Figure``.

    ``name`` is one of ``PLOTS``. Several recordings are given as a sequence, named after their laws, or as a mapping
    from names. ``start`` and ``stop`` (s) cut out an interval, ``size`` is in inches.
    """
    if name not in PLOTS:
        raise FootfallError(f"no plot is called '{name}': {did_you_mean(name, PLOTS)}")
    runs = _named(recordings)
    if start is not None or stop is not None:
        whole = (-float("inf"), float("inf"))
        runs = {
            key: rec.slice(whole[0] if start is None else start, whole[1] if stop is None else stop)
            for key, rec in runs.items()
        }
    empty = [key for key, rec in runs.items() if not len(rec)]
    if empty:
        raise RecordingError(f"the recording '{empty[0]}' has no samples there, so there is nothing to plot")
    matplotlib = _matplotlib()
    from footfall.show.style import RC

    draw = getattr(import_module(f"footfall.show.plots.{PLOTS[name][0]}"), name)
    with matplotlib.rc_context(RC):
        figure = matplotlib.figure.Figure(layout="constrained")
        figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05)
        draw(figure, runs)
        if size is not None:
            figure.set_size_inches(*size)
        figure.suptitle(_title(runs) if title is None else title, x=0.01, ha="left", fontweight="bold")
    return figure


def save_plot(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure as .png, .svg or .pdf, by the ending of its path, which it gives back."""
    target = Path(path).expanduser()
    if target.suffix.lower() not in FORMATS:
        raise FootfallError(f"cannot write a plot to '{target}': give a name that ends in {', '.join(FORMATS)}")
    from footfall.show.style import RC

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _matplotlib().rc_context(RC), written_aside(target) as part:
            figure.savefig(part)
    except OSError as error:
        raise FootfallError(f"cannot write the plot to '{target}': {error.strerror or error}") from error
    return target


def _matplotlib() -> Any:
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError as error:
        raise FootfallError('plots need matplotlib: pip install "footfall[plot]"') from error
    if "IPython" in sys.modules:
        import matplotlib.pyplot  # tells notebooks how to show a figure
    return matplotlib


def _named(recordings: Runs) -> dict[str, Record]:
    from footfall.show.frames import labels_of

    if isinstance(recordings, Mapping):
        runs = dict(recordings)
    else:
        listed = [recordings] if isinstance(recordings, Record) else list(recordings)
        runs = dict(zip(labels_of(listed), listed, strict=True))
    if not runs:
        raise RecordingError("a plot needs at least one recording")
    return runs


def _title(runs: Mapping[str, Record]) -> str:
    first = next(iter(runs.values()))
    robots = " and ".join(dict.fromkeys(rec.robot.name for rec in runs.values()))
    return f"{robots} under {first.law.name}" if len(runs) == 1 else f"{robots} under {len(runs)} laws"
