"""Pairs of a law and a robot, a ground or a way, where all combinations would take long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

First = TypeVar("First")
Second = TypeVar("Second")


def paired(first: Sequence[First], second: Sequence[Second], shift: int = 0) -> list[tuple[First, Second]]:
    """As many pairs as the longer of both has values, each of which is in one; another ``shift`` gives other pairs."""
    count = max(len(first), len(second))
    return [(first[k % len(first)], second[(k + shift) % len(second)]) for k in range(count)]
