"""Plots of recordings, by name: SI units, colour-blind safe, the size of a journal page.

    figure = rec.plot("grf")
    plot({"soft": a, "hard": b}, "grf", stop=1.0)     # overlaid
    save_plot(figure, "grf.pdf")

To add one: write a function ``(runs) -> list[Panel]`` in a file of this room, or one that draws a whole
figure, ``(figure, runs) -> None``, and add its line to ``PLOTS``. The report shows those of
``footfall.show.report.SHOWN``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from footfall.arguments import public
from footfall.errors import FootfallError, RecordingError, did_you_mean
from footfall.files.atomic_write import new_file
from footfall.record import Record
from footfall.show.frames import labelled
from footfall.show.panels import Panel
from footfall.show.style import RC, Figure, empty_figure, load_matplotlib

__all__ = ["PLOTS", "plot", "save_plot"]


class Plot(NamedTuple):
    """A plot: the file of this room that has its function, what it shows, and how its panels stand.

    ``layout`` is "stack", "grid", or "figure" for a function that draws a whole figure itself. ``of_several`` is what
    it shows of several recordings, where that is less.
    """

    module: str
    about: str
    layout: str = "stack"
    of_several: str = ""


PLOTS = {
    "grf": Plot("over_time", "ground reaction forces"),
    "normal": Plot("over_time", "normal force at the most loaded point of each foot"),
    "friction": Plot("over_time", "largest tangential over normal force at a point of each foot"),
    "penetration": Plot("over_time", "depth of the deepest point of each foot in the ground"),
    "heights": Plot("over_time", "height of the lowest point of each foot over the ground"),
    "modes": Plot("over_time", "open, stick and slide of each contact point"),
    "pressure": Plot(
        "pressure",
        "centre of pressure and zero moment point with the limits of the support, over time",
        of_several="zero moment points with the limits of the support, over time",
    ),
    "cop": Plot("pressure", "path of the centre of pressure on each sole", "figure"),
    "tracking": Plot("over_time", "joint positions, with their references", "grid"),
    "torque": Plot("over_time", "torques of the actuators at the joints", "grid"),
    "energy": Plot("over_time", "energies, and works of actuators and ground"),
}
#: Characters of a title that fit over a figure.
ONE_LINE = 85
FORMATS = (".png", ".svg", ".pdf")

Runs = Record | Sequence[Record] | Mapping[str, Record]


@public
def plot(
    recordings: Runs,
    name: str,
    *,
    title: str | None = None,
    start: float | None = None,
    stop: float | None = None,
    size: tuple[float, float] | None = None,
    **options: Any,
) -> Figure:
    """A plot of a recording, or of several overlaid, as a matplotlib ``Figure``.

    ``name`` is one of ``PLOTS``. Several recordings are given as a sequence, named after their laws, or as a mapping
    from names. ``start`` and ``stop`` (s) cut out an interval, ``size`` is in inches. ``options`` are those of the
    plot's own function: "grf" takes ``measured`` forces to lay over the simulated ones.
    """
    if name not in PLOTS:
        raise FootfallError(f"no plot is called '{name}': {did_you_mean(name, PLOTS)}")
    known = signature(_function(name)).parameters
    for option in options:
        if option not in known:
            raise FootfallError(f"the plot '{name}' has no option '{option}': {did_you_mean(option, list(known)[2:])}")
    runs = labelled(recordings, "a plot")
    if start is not None or stop is not None:
        begin, end = -float("inf") if start is None else start, float("inf") if stop is None else stop
        runs = {key: rec.slice(begin, end) for key, rec in runs.items()}
    empty = [key for key, rec in runs.items() if not len(rec)]
    if empty:
        raise RecordingError(f"the recording '{empty[0]}' has no samples there, so there is nothing to plot")
    matplotlib = load_matplotlib()
    from footfall.show.plots.drawing import draw_panels

    with matplotlib.rc_context(RC):
        figure = empty_figure()
        engine: Any = figure.get_layout_engine()
        engine.set(w_pad=0.06, h_pad=0.05)
        if PLOTS[name].layout == "figure":
            _function(name)(figure, runs, **options)
        else:
            draw_panels(figure, runs, panels_of(name, runs, **options), grid=PLOTS[name].layout == "grid")
        if size is not None:
            figure.set_size_inches(*size)
        figure.suptitle(_title(name, runs) if title is None else title, x=0.01, ha="left", fontweight="bold")
    return figure


def panels_of(name: str, runs: Mapping[str, Record], **options: Any) -> list[Panel]:
    """The panels of a plot that has some."""
    return _function(name)(runs, **options)


def _function(name: str) -> Callable[..., Any]:
    return getattr(import_module(f"footfall.show.plots.{PLOTS[name].module}"), name)


def save_plot(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure as .png, .svg or .pdf, by the ending of its path, and return that path."""
    target = Path(path).expanduser()
    if target.suffix.lower() not in FORMATS:
        raise FootfallError(f"cannot write a plot to '{target}': give a name that ends in {', '.join(FORMATS)}")
    with load_matplotlib().rc_context(RC), new_file(target, "the plot") as part:
        figure.savefig(part)
    return target


def _title(name: str, runs: Mapping[str, Record]) -> str:
    """What a plot shows, and of whom; in two lines where it would not fit into one."""
    first = next(iter(runs.values()))
    robots = " and ".join(dict.fromkeys(rec.robot.name for rec in runs.values()))
    about = (len(runs) > 1 and PLOTS[name].of_several) or PLOTS[name].about
    what = about.capitalize()
    whose = f"{robots} under {first.law.name}" if len(runs) == 1 else f"{robots} under {len(runs)} laws"
    return f"{what}: {whose}" if len(what) + len(whose) < ONE_LINE else f"{what}\n{whose}"
