"""The convergence of testing points, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footfall.errors import FootfallError
from footfall.show.style import BLUE, GREEN, GREY, RC, VERMILION, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from footfall.study.testing_points import Enough


def convergence(enough: Enough) -> Figure:
    """Errors of every grid against its number of points, with the tolerance and the grid that is enough."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise FootfallError('plots need matplotlib: pip install "footfall[plot]"') from error

    rows = enough.table
    count = [row.count for row in rows]
    curves = {
        "resultant force": (BLUE, "o", [row.force for row in rows]),
        "centre of pressure": (VERMILION, "s", [row.centre for row in rows]),
        "tilt stiffness": (GREEN, "^", [row.tilt for row in rows]),
    }
    look: Any = RC  # matplotlib types its keys one by one
    with matplotlib.rc_context(look):
        figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
        ax = figure.subplots()
        for name, (color, marker, errors) in curves.items():
            shown = [100 * max(error, 1e-6) for error in errors]
            ax.plot(count, shown, color=color, marker=marker, markersize=3.5, label=name)
        ax.axhline(100 * enough.tolerance, color=GREY, linewidth=0.8, linestyle=(0, (6, 3)))
        ax.axvline(enough.count, color=GREY, linewidth=0.8, linestyle=(0, (1, 1.2)))
        ax.set(xscale="log", yscale="log", xlabel="testing points per foot", ylabel="error (%)")
        ax.margins(x=0.03)
        nx, ny = enough.grid
        apart = f"{1e3 * enough.spacing:.3g} mm apart"
        if enough.wavelength is not None:
            apart += f", {enough.spacing / enough.wavelength:.2g} of the wavelength"
        ax.annotate(
            f"enough: {nx} x {ny} points\n{apart}",
            (enough.count, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            fontsize=8,
        )
        ax.annotate(
            f"tolerance {100 * enough.tolerance:g} %",
            (0.0, 100 * enough.tolerance),
            xycoords=("axes fraction", "data"),
            xytext=(3, 2),
            textcoords="offset points",
            fontsize=8,
            color="#555555",
        )
        ax.legend(loc="lower left")
        ax.set_title(enough.title, fontweight="bold")
    return figure
