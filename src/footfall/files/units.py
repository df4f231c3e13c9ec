"""Units of measurements: what each is in SI."""

from __future__ import annotations

import re

import numpy as np

#: What a unit of a file is in SI, by its name in lower case without dots, stars, blanks and lines.
SCALES = {
    "mm": (1e-3, "m"),
    "cm": (1e-2, "m"),
    "m": (1.0, "m"),
    "in": (0.0254, "m"),
    "deg": (np.pi / 180.0, "rad"),
    "rad": (1.0, "rad"),
    "s": (1.0, "s"),
    "ms": (1e-3, "s"),
    "us": (1e-6, "s"),
    "ns": (1e-9, "s"),
    "m/s": (1.0, "m/s"),
    "mm/s": (1e-3, "m/s"),
    "cm/s": (1e-2, "m/s"),
    "m/s2": (1.0, "m/s2"),
    "mm/s2": (1e-3, "m/s2"),
    "rad/s": (1.0, "rad/s"),
    "deg/s": (np.pi / 180.0, "rad/s"),
    "n": (1.0, "N"),
    "kn": (1e3, "N"),
    "mn": (1e-3, "N"),
    "kgf": (9.80665, "N"),
    "lbf": (4.4482216152605, "N"),
    "nmm": (1e-3, "N m"),
    "ncm": (1e-2, "N m"),
    "nm": (1.0, "N m"),
    "knm": (1e3, "N m"),
    "": (1.0, ""),
}
#: Units that are kept as they are: nothing here computes with them.
KEPT = ("V", "mV", "uV", "W", "J", "kg", "g", "Hz", "%", "N/kg", "Nm/kg", "BW", "1", "-")
_NAMES = {
    "newton": "n",
    "kp": "kgf",
    "newtons": "n",
    "meter": "m",
    "meters": "m",
    "metre": "m",
    "metres": "m",
    "millimeter": "mm",
    "millimeters": "mm",
    "millimetres": "mm",
    "degree": "deg",
    "degrees": "deg",
    "degs": "deg",
    "°": "deg",
    "°/s": "deg/s",
    "radian": "rad",
    "radians": "rad",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "newtonmeters": "nm",
    "newtonmetres": "nm",
    "m/s^2": "m/s2",
    "m/s²": "m/s2",
}
_KEPT = {name.lower(): name for name in KEPT} | {"µv": "uV", "μv": "uV", "volt": "V", "volts": "V"}


def known_unit(text: str) -> tuple[float, str] | None:
    """Factor and SI unit of a unit as people write it (``N.mm``, ``N mm``, ``Nmm``), None where it is not known."""
    key = re.sub(r"[.·*⋅ _-]", "", text.strip().lower())
    key = _NAMES.get(key, key)
    if key in SCALES and (key or not text.strip()):
        return SCALES[key]
    kept = _KEPT.get(text.strip().lower())
    return None if kept is None else (1.0, kept)


def scale_of(text: str, column: str = "") -> tuple[float, str]:
    """Factor and SI unit; a ``ValueError`` names a unit that is not known, and its column."""
    found = known_unit(text)
    if found is None:
        of = f"of column '{column}' " if column else ""
        known = ", ".join([*(name for name in SCALES if name), *KEPT])
        raise ValueError(f"its unit '{text.strip()}' {of}is not known; known: {known}")
    return found
