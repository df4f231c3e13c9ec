"""Earlier fits of the human walk, in the user's cache: a fit takes seconds.

A walk is filed under a hash of everything that affects it: the body, the measured walk, the ground, and the code of the
fit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from footfall.files.atomic_write import atomic_write
from footfall.gait.human.fit import WalkSeries
from footfall.process.cache_folder import cache_folder

#: The modules that decide what comes of a fit; one that changes makes earlier fits others.
METHOD = ("body", "fit", "series", "soft_ground")


def kept(given: Any, fit: Callable[[], WalkSeries]) -> WalkSeries:
    """The walk that was fitted to what is ``given`` (values that JSON holds, arrays), or ``fit()``, then kept."""
    digest = hashlib.sha256(_method())
    digest.update(json.dumps(given, default=np.ndarray.tolist).encode())
    folder = cache_folder("walks")
    place = None if folder is None else folder / f"{digest.hexdigest()[:32]}.json"
    if place is not None and place.is_file():
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):  # damaged: it is fitted anew
            found = json.loads(place.read_text(encoding="utf-8"))
            series = {name: np.array(values, dtype=float) for name, values in found.pop("coefficients").items()}
            return WalkSeries(series, **found)
    walk = fit()
    if place is not None:
        with suppress(OSError), atomic_write(place) as part:
            part.write_text(json.dumps(asdict(walk), default=np.ndarray.tolist) + "\n", encoding="utf-8")
    return walk


@cache
def _method() -> bytes:
    here = files("footfall.gait.human")
    return b"".join((here / f"{name}.py").read_bytes() for name in METHOD)
