"""Errors of simulated trials, in memory and in a file, from which a fit that was interrupted goes on.

The same search comes to the same places, so that a fit which finds its runs in the file is as good as one that ran
through.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from footfall.errors import StudyError
from footfall.study.journal import Journal

#: Largest relative difference between errors of the first place and those of the file: rounding.
SAME = 1e-6


class Kept:
    """Errors by name of trials at places (d,) of the search; with a path each is written down as it is found.

    The first line of the file says of which ``problem`` it is; trials and robot are known by the errors of the first
    place, which is simulated again.
    """

    def __init__(self, path: Path | None, problem: Mapping[str, Any]) -> None:
        self.path, self._checked = path, path is None
        self._found: dict[tuple[bytes, int], Mapping[str, float]] = {}
        self._journal: Journal | None = None
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._journal = Journal(path, problem)
            if self._journal.same:
                self._found = dict(map(_run_of, self._journal.lines))
                return
        except (OSError, ValueError) as error:
            raise StudyError(f"{path} is no file with the runs of a fit: {error}") from error
        self.close()
        raise self._of_another()

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._journal is not None:
            self._journal.close()

    def _of_another(self) -> StudyError:
        return StudyError(f"{self.path} has the runs of another fit: its trials, robot, ranges or steps are others")

    def lacking(self, shares: np.ndarray, trials: Sequence[int]) -> list[int]:
        """The trials to be simulated at a place: at the first place all, for comparison with the file."""
        place = shares.tobytes()
        return [i for i in trials if not self._checked or (place, i) not in self._found]

    def put(self, shares: np.ndarray, trials: Sequence[int], errors: Sequence[Mapping[str, float]]) -> None:
        """Keep what was simulated."""
        place, rows = shares.tobytes(), []
        for i, one in zip(trials, errors, strict=True):
            before = self._found.get((place, i))
            if before is None:
                rows.append({"at": shares.tolist(), "trial": i, "errors": {name: float(one[name]) for name in one}})
                self._found[place, i] = one
            elif before.keys() != one.keys() or not np.allclose([*before.values()], [*one.values()], SAME, 0.0, True):
                raise self._of_another()
        self._checked = True
        if self._journal is not None:
            self._journal.write(rows)

    def errors(self, shares: np.ndarray, trial: int) -> Mapping[str, float]:
        """The errors of a trial at a place that was tried; none where its simulation failed, or was not asked for."""
        return self._found.get((shares.tobytes(), trial), {})


def _run_of(line: Mapping[str, Any]) -> tuple[tuple[bytes, int], Mapping[str, float]]:
    """Place, trial and errors of a run, from its line in the file."""
    at, trial, errors = (line.get(name) for name in ("at", "trial", "errors"))
    if type(at) is list and type(trial) is int and type(errors) is dict:
        if all(type(one) is float for one in (*at, *errors.values())):
            return (np.array(at).tobytes(), trial), errors
    raise ValueError(f"{json.dumps(line)[:60]} is no run")
