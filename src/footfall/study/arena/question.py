"""A question of the arena: runs with an error each, to judge and to tune on; ``questions.toml`` says what is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from footfall.record import Record
from footfall.study.arena.task import Task


class Case(NamedTuple):
    """A task, and how far a recording of it is from the truth, 0 where it is right."""

    label: str
    task: Task
    error: Callable[[Record], float]


class Question(NamedTuple):
    """Cases that engines are judged on, and others that they are tuned on."""

    name: str
    cases: tuple[Case, ...]
    training: tuple[Case, ...] = ()
    unknown: bool = False  # whether friction and restitution of the ground are not known, and may be tuned
