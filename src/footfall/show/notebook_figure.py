"""A Matplotlib figure that notebooks show below its cell, whatever the backend."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure that notebooks show as a picture; by default they do so only for figures made by ``pyplot``."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=self.dpi)
        return picture.getvalue()
