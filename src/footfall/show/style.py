"""The look of plots: colours that colour-blind readers tell apart (Okabe and Ito 2008), sizes of a journal page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

from footfall.errors import optional_package
from footfall.show.frames import COM_COLOR, COP_COLOR, MODE_COLORS, PUSH_COLOR, ZMP_COLOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:  # types alone: matplotlib, which is optional, is loaded for the first figure
    Axes = Figure = Any

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#7F7F7F"
#: In the order in which curves take them; yellow is left out, it does not show on white.
COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)))

#: Width of a figure over two columns of a journal, inches.
WIDTH = 7.0

RC = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Arial", "Helvetica", "Liberation Sans", "DejaVu Sans"],
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # no ticks are above a panel, which would be measured to keep the title clear of them
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0.0,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "lines.linewidth": 1.2,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 1.8,
    "figure.titlesize": 10,
    "figure.dpi": 120,
    "savefig.dpi": 200,
    "svg.fonttype": "none",  # text stays text
    "pdf.fonttype": 42,
}


def load_matplotlib() -> Any:
    """Matplotlib, or a sentence that says what to install."""
    optional_package("matplotlib.figure", "a plot")
    return optional_package("matplotlib")


def empty_figure(**options: Any) -> Figure:
    """A figure of Matplotlib, with options of its class, that notebooks show below its cell, whatever the backend."""
    figure: Any = load_matplotlib().figure.Figure(layout="constrained", **options)
    figure._repr_png_ = partial(_as_png, figure)  # by default notebooks show only figures made by ``pyplot``
    return cast("Figure", figure)


def _as_png(figure: Figure) -> bytes:
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=figure.dpi)
    return picture.getvalue()


@contextmanager
def new_figure(height: float, width: float = WIDTH) -> Iterator[Figure]:
    """An empty figure, inches, and the look of all plots for as long as it is drawn."""
    matplotlib = load_matplotlib()
    with matplotlib.rc_context(RC):
        yield empty_figure(figsize=(width, height))


def hexadecimal(color: tuple[int, ...]) -> str:
    """A colour of the 3D view, as plots want it."""
    return "#" + "".join(f"{part:02X}" for part in color[:3])


#: The same in plots and in the 3D view: by mode (open, stick, slide), and of the special points.
MODES = tuple(hexadecimal(color) for color in MODE_COLORS)
COP, ZMP, COM, PUSH = map(hexadecimal, (COP_COLOR, ZMP_COLOR, COM_COLOR, PUSH_COLOR))
