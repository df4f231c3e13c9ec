"""Heights from files: tables as .npy, .csv or .txt in m, pictures as .png with the height of white."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from footfall.errors import GroundError
from footfall.files.png import read_grey
from footfall.ground.numbers import LARGEST_TABLE, number

PICTURES = (".png",)


def read_heights(path: Path, height: float | None) -> np.ndarray:
    """(rows along y, columns along x) m; a picture is seen from above, its top row at the largest y."""
    path = path.expanduser()
    picture = path.suffix.lower() in PICTURES
    if picture and height is None:
        raise GroundError(f"'{path}' is a picture: give height, the m of its white pixels (black is 0)")
    if height is not None and not picture:
        raise GroundError(f"height is for pictures (.png); the numbers in '{path}' are heights in m already")
    try:
        if picture:
            return read_grey(path, LARGEST_TABLE)[::-1] * number("height", height)
        if path.suffix.lower() == ".npy":
            return np.load(path, allow_pickle=False)
        return np.loadtxt(path, delimiter="," if path.suffix.lower() == ".csv" else None, ndmin=2)
    except (OSError, ValueError) as error:
        raise GroundError(f"cannot read heights from '{path}': {getattr(error, 'strerror', None) or error}") from error
