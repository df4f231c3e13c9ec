"""Matplotlib's figure, as a notebook shows it: below its cell, whatever backend it has."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure that is a picture in notebooks by itself: Matplotlib shows those alone that ``pyplot`` made."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=self.dpi)
        return picture.getvalue()
