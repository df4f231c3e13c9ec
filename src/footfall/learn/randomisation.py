"""Domain randomisation of learning environments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from footfall.contact.base import Law
from footfall.errors import SimulationError


@dataclass(frozen=True)
class Randomisation:
    """Domain randomisation: ranges of friction coefficients and of factors on all masses, and contact laws.

    Friction and mass are drawn for every episode. ``law`` names one law or several, which are assigned to the worlds in
    turn.
    """

    friction: tuple[float, float] | None = None
    mass: tuple[float, float] | None = None
    law: Law | str | Sequence[Law | str] = ()

    def __post_init__(self) -> None:
        for name in ("friction", "mass"):
            value = getattr(self, name)
            if value is not None and not (np.shape(value) == (2,) and 0 <= value[0] <= value[1] < np.inf):
                raise SimulationError(f"{name} = {value!r}, but it must be a range (lowest, highest), neither negative")

    @property
    def laws(self) -> list[Law | str]:
        return [self.law] if isinstance(self.law, (str, Law)) else list(self.law)
