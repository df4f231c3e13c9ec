"""What a run notes besides its arrays: its failure, warnings with their times, and signals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Failure:
    """Why a run ended early.

    Attributes:
        time: when, s.
        cause: one word, such as "diverged" or "ground".
        joint: the degree of freedom or contact point concerned, or "".
        message: the whole sentence, with what to do about it.
    """

    time: float
    cause: str
    joint: str
    message: str

    def __str__(self) -> str:
        return self.message


class Signal(NamedTuple):
    """An array that a controller overwrites at every call, to be recorded."""

    values: np.ndarray
    unit: str


class RunWarning(NamedTuple):
    """A warning of a controller, the law or MuJoCo at one instant: ``kind`` is a word, ``message`` a sentence."""

    time: float  # s
    kind: str
    message: str
