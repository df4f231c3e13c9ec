"""Numbers for people: few digits, a fitting unit, and 0 for rounding errors."""

from __future__ import annotations

import math

#: Below this a value of a unit is rounding, and written as 0: a nanometre, a micronewton, a microjoule.
FLOORS = {"m": 1e-9, "N": 1e-6, "N m": 1e-6, "J": 1e-6, "s": 1e-9}
#: From which size on a value is written in which unit, the largest first.
SCALES = {
    "m": ((1.0, 1.0, "m"), (1e-3, 1e3, "mm"), (1e-6, 1e6, "µm"), (0.0, 1e9, "nm")),
    "N": ((0.1, 1.0, "N"), (1e-4, 1e3, "mN"), (0.0, 1e6, "µN")),
    "N m": ((0.1, 1.0, "N m"), (1e-4, 1e3, "mN m"), (0.0, 1e6, "µN m")),
    "J": ((0.1, 1.0, "J"), (1e-4, 1e3, "mJ"), (0.0, 1e6, "µJ")),
    "µs": ((1e6, 1e-6, "s"), (1e3, 1e-3, "ms"), (0.0, 1.0, "µs")),
}


def number(value: float, unit: str = "", digits: int = 4) -> str:
    """A number with some digits in a unit that suits its size; 0 where it is below what the unit can mean."""
    if isinstance(value, int):
        return f"{value} {unit}".strip()
    if math.isnan(value):
        return "–"
    if value == 0.0 or abs(value) < FLOORS.get(unit, 0.0):
        return f"0 {unit}".strip()
    rounded = abs(float(f"{value:.{digits}g}"))  # a micrometre less the last digit is no 1000 nm
    for least, factor, name in SCALES.get(unit, ()):
        if rounded >= least:
            value, unit = factor * value, name
            break
    text = f"{value:.{digits}g}"
    if "e+" in text and abs(value) < 1e7:
        text = f"{value:.0f}"
    return f"{text} {unit}".replace("-", "−").strip()
