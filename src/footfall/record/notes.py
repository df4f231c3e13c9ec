"""What is noted of a run beside its arrays: how it ended, what was said of a moment, and signals."""

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
    """What a controller, the law or MuJoCo reports of a moment: ``kind`` is a word, ``message`` the sentence."""

    time: float  # s
    kind: str
    message: str
