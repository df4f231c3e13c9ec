"""PNG pictures as grey levels, read by Pillow.

Terrain is stored as 16-bit grey, which MuJoCo's own reader reduces to 8: 256 steps of height would be stairs under a
foot. Pillow does that to 16-bit colours, which are refused.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from footfall.errors import optional_package

LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601


def read_grey(path: Path, largest: int) -> np.ndarray:
    """(rows, columns) grey levels from 0 (black) to 1 (white), the top row first; transparency is ignored.

    A ``ValueError`` says what is wrong; pictures of more than ``largest`` pixels are refused before they are unpacked.
    """
    Image = optional_package("PIL.Image", "a picture as terrain")
    try:
        with Image.open(path, formats=["PNG"]) as picture:
            if math.prod(picture.size) > largest:
                raise ValueError(f"it has {' x '.join(map(str, picture.size))} pixels, and {largest} are read at most")
            grey = picture.mode.startswith("I")  # of 16 bits
            if not grey and "16" in str(picture.tile[0].args):
                raise ValueError("it has 16 bits per colour; save it as 16-bit grey")
            return np.asarray(picture) / 65535.0 if grey else np.asarray(picture.convert("RGB")) @ LUMA / 255.0
    except Image.UnidentifiedImageError as error:
        raise ValueError("it is not a PNG") from error
    except (SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"its pixels are damaged, or too many: {error}") from error
