"""Sweeps: thousands of cases of one function or one simulation, in one table with a row per case.

    table = ff.sweep(
        {"robot": "spatial-biped", "controller": "posture", "push": {"body": "trunk", "duration": 0.1}},
        samples=ff.study.Samples(1000, {"push.size": (20, 200), "push.angle": (0, 360)}),
        grid={"law": ["spring-damper", "time-stepping"]},
        out="pushes",
    )
    table["fell"], table.to_pandas()

Each finished case is written to disk at once: a sweep that was killed continues when it is started again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from footfall.arguments import public
from footfall.errors import StudyError
from footfall.process.machine import cores
from footfall.study.sweep import work as working
from footfall.study.sweep.cases import Samples, make_cases
from footfall.study.sweep.folder import TABLE, Plan, finished_rows, forget_failed, make_plan, open_folder, write_columns
from footfall.study.sweep.running import by_dask, by_workers, compile_ahead
from footfall.study.sweep.table import SweepTable, from_rows, load_table
from footfall.study.sweep.work import DEFAULT, check_measures

__all__ = ["Samples", "SweepTable", "load_table", "sweep"]


@public
def sweep(
    work: Callable[..., Any] | Mapping[str, Any],
    *,
    grid: Mapping[str, Iterable[Any]] | None = None,
    samples: Samples | None = None,
    table: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | str | os.PathLike[str] | None = None,
    measures: Iterable[str] = DEFAULT,
    out: str | os.PathLike[str] | None = None,
    seed: int = 0,
    workers: int | None = None,
    scheduler: str | None = None,
    worlds: bool | None = None,
    retry: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> SweepTable:
    """Run every case and return the table, one row per case: inputs, outputs, status, message, seed, versions.

    A case that fails is a finished row with status "failed" and a message. The table is the same for any number of
    workers.

    Args:
        work: the settings of a simulation (see :mod:`footfall.study.sweep.settings`), or a function of the inputs that
            returns a mapping of numbers and texts, one number, or a ``Recording``. A function that has an argument
            ``seed`` is given the case's own.
        grid: values of each input by its path ("law.k", "push.size"); every combination is a case.
        samples: inputs between bounds, crossed with the grid.
        table: inputs as columns, as rows, or in a CSV or Parquet file, crossed with the grid.
        measures: names of the measures taken of each recording.
        out: folder of the study: the same call again continues with what is not finished; another study in it is
            refused. If left out, only the returned table is kept.
        seed: of samples and cases.
        workers: processes, one per core if left out; a function that other processes cannot import, or a user's own
            law, runs in as many threads.
        scheduler: address of a Dask scheduler, on whose cluster cases run.
        worlds: whether cases that differ only in pushes, friction or numbers of ground, law or controller run as worlds
            side by side (see :class:`footfall.Worlds`), where the controller is compiled, worlds offer the law, and
            only feet touch; all others run one by one. Over a second of stable motion both agree to a billionth. If
            left out, worlds are used from a hundred cases on. The table's ``in_worlds`` says how many ran so.
        retry: repeat the cases that failed before.
        progress: called with the cases finished and their number.
    """
    cases = Path(table) if isinstance(table, os.PathLike) else table
    inputs = make_cases(grid, samples, cases, seed)
    working.check(work, {name: values[0] for name, values in inputs.items()})
    team = Team(_workers(workers), scheduler, working.travels(work, inputs), progress or (lambda done, total: None))
    plan = make_plan(work, check_measures(measures), inputs, seed, worlds=worlds, workers=team.workers)
    with tempfile.TemporaryDirectory(prefix="footfall-sweep-") as aside:
        folder = Path(aside) / "study" if out is None else Path(out).expanduser().absolute()
        plan = open_folder(folder, plan)
        if retry:
            forget_failed(folder)
        if len(finished_rows(folder)) < plan.number:
            _compute(folder, plan, work, team)
        rows = finished_rows(folder)
        if len(rows) < plan.number:
            raise StudyError(
                f"{len(rows)} of {plan.number} cases are finished and kept in {folder}; the same call goes on"
            )
        team.progress(plan.number, plan.number)
        found = from_rows(plan, [rows[case] for case in range(plan.number)])
        write_columns(folder / TABLE, found.columns)
    return found


class Team(NamedTuple):
    """Who computes the cases of a study."""

    workers: int
    scheduler: str | None  # of a Dask cluster, which is used in their place
    travels: bool  # whether other processes find the work
    progress: Callable[[int, int], None]


def _compute(folder: Path, plan: Plan, work: Callable[..., Any] | Mapping[str, Any], team: Team) -> None:
    """Do the cases that are not finished."""
    if team.scheduler is not None:
        if not team.travels:
            raise StudyError(
                "a cluster knows Footfall's own laws, and functions that it can import: put yours into a module"
            )
        by_dask(folder, plan, team.scheduler, team.progress)
        return
    if plan.worlds:
        compile_ahead(plan.work["settings"], plan.case_inputs(0))
    elsewhere = team.travels and team.workers > 1
    by_workers(folder, plan, team.workers, None if elsewhere else work, team.progress)


def _workers(asked: int | None) -> int:
    if asked is None:
        return cores()
    if asked < 1:
        raise StudyError(f"workers = {asked}, but a study needs at least one")
    return asked
