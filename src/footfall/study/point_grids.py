"""Grids of testing points and what each gets wrong, as a table and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from footfall.show.style import BLUE, GREEN, GREY, VERMILION, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class GridRow:
    """One grid and what it gets wrong, root mean square over all placements.

    ``force`` is relative to the load, ``centre`` (of pressure) to the sole's sides, ``tilt`` (stiffness) to itself.
    """

    grid: tuple[int, int]
    count: int  # points per foot
    spacing: float  # m, the larger one
    force: float
    centre: float
    tilt: float

    @property
    def worst(self) -> float:
        return max(self.force, self.centre, self.tilt)


@dataclass(frozen=True, repr=False)
class Enough:
    """The smallest grid from which on every finer one is within the tolerance, and all that were tried."""

    grid: tuple[int, int]
    count: int
    spacing: float  # m
    points: dict[str, np.ndarray]  # as Robot.with_points takes them
    tolerance: float
    wavelength: float | None  # m
    table: tuple[GridRow, ...]
    title: str

    def __str__(self) -> str:
        lines = [f"{self.title}: {self.grid[0]} x {self.grid[1]} points per foot, {1e3 * self.spacing:.3g} mm apart"]
        lines.append(f"{'grid':>9} {'points':>6} {'spacing':>9} {'force':>8} {'centre':>8} {'tilt':>8}")
        for row in self.table:
            name = f"{row.grid[0]} x {row.grid[1]}"
            errors = " ".join(f"{100 * error:7.2f}%" for error in (row.force, row.centre, row.tilt))
            mark = "  <- enough" if row.grid == self.grid else ""
            lines.append(f"{name:>9} {row.count:6d} {1e3 * row.spacing:6.2f} mm {errors}{mark}")
        return "\n".join(lines)

    __repr__ = __str__  # what prompts and notebooks show

    def plot(self) -> Figure:
        """Errors against the number of points, with the tolerance and the grid that is enough."""
        return _convergence(self)


def _convergence(enough: Enough) -> Figure:
    rows = enough.table
    count = [row.count for row in rows]
    curves = {
        "resultant force": (BLUE, "o", [row.force for row in rows]),
        "centre of pressure": (VERMILION, "s", [row.centre for row in rows]),
        "tilt stiffness": (GREEN, "^", [row.tilt for row in rows]),
    }
    with new_figure(3.4) as figure:
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
