"""Conditions that come and go, reported once for each time they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from footfall.record import RunWarning


@dataclass
class _Episode:
    place: int  # in the list of warnings
    start: float
    last: float
    worst: float


class Watch:
    """Keeps ``warnings``: one for every episode of a condition, from its first moment to its last.

    Two episodes of the same kind are one if less than ``calm`` (s) lies between them.
    """

    def __init__(self, calm: float = 0.1) -> None:
        self.warnings: list[RunWarning] = []
        self._calm = calm
        self._episodes: dict[str, _Episode] = {}

    def note(self, time: float, kind: str, message: str) -> None:
        """Something that happened once."""
        self.warnings.append(RunWarning(time, kind, f"{message} (t = {time:.4g} s)"))

    def see(self, time: float, kind: str, size: float, describe: Callable[[], str]) -> None:
        """The condition ``kind`` holds at ``time``, to the extent of ``size``; ``describe`` words its worst moment."""
        episode = self._episodes.get(kind)
        if episode is None or time - episode.last > self._calm:
            episode = self._episodes[kind] = _Episode(len(self.warnings), time, time, size)
            self.warnings.append(RunWarning(time, kind, f"{describe()} (t = {time:.4g} s)"))
            return
        episode.last = time
        said = self.warnings[episode.place].message.rpartition(" (t = ")[0]
        if size > episode.worst:
            episode.worst = size
            said = describe()
        when = f"(t = {episode.start:.4g} s to {time:.4g} s)"
        self.warnings[episode.place] = RunWarning(episode.start, kind, f"{said} {when}")
