"""How the cases of a study are computed: in threads, in processes, or on a cluster.

What other processes need travels from this one to them, and rows travel back: nothing that is run is read from the
study's folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np

from footfall.errors import StudyError, optional_package
from footfall.process.workers import Worker, WorkerDied
from footfall.study.sweep.folder import Cases, Plan, Row
from footfall.study.sweep.work import Work, run_case
from footfall.version import versions

#: Most processes that may die during a case before it is given up.
DEATHS = 2
#: Interval of reports of progress, and time limit for the answer of a Dask scheduler, s.
PAUSE, ANSWER_S = 0.2, 10.0
Progress = Callable[[int, int], None]


class Part(NamedTuple):
    """A case of a study as another process needs it."""

    work: Work
    measures: list[str]
    case: int
    inputs: dict[str, Any]
    seed: int  # of the case, which depends only on the study's seed and the case's number


def parts(work: Work, plan: Plan, waiting: Iterable[int]) -> Iterator[Part]:
    """The cases of these numbers."""
    for case in waiting:
        seed = np.random.SeedSequence(plan.seed, spawn_key=(case,)).generate_state(1)[0]
        yield Part(work, plan.work["measures"], case, plan.case_inputs(case), int(seed))


def do_part(part: Part) -> Row:
    """The row of a case."""
    start = time.perf_counter()
    row = run_case(*part)
    return row | {"seconds": time.perf_counter() - start, "versions": versions()}


def by_workers(
    tasks: Iterator[Part], journal: Cases, total: int, workers: int, progress: Progress, *, apart: bool
) -> None:
    """Compute in processes of their own if ``apart``, one that dies is replaced, else in as many threads of this one.
    In threads compiled steps run in parallel; a Python controller or function does not.
    """
    stopped, turn = Event(), Lock()
    helpers = [Worker() for _ in range(workers)]

    def labour(helper: Worker) -> None:
        while not stopped.is_set():
            with turn:
                part = next(tasks, None)
            if part is None:
                return
            row = _in_process(helper, part) if apart else do_part(part)
            with turn:
                journal.finish([row])

    with ThreadPoolExecutor(len(helpers)) as pool:
        jobs = {pool.submit(labour, helper) for helper in helpers}
        try:
            while jobs:
                done, jobs = wait(jobs, PAUSE, FIRST_COMPLETED)
                for job in done:
                    job.result()
                progress(len(journal.rows), total)
        finally:
            stopped.set()
            for helper in helpers:
                helper.end()


def _in_process(helper: Worker, part: Part) -> Row:
    """The row of a case by another process; a case in which several die is given up."""
    for _ in range(DEATHS):
        try:
            row: Row = helper.call(do_part, part)
            return row
        except WorkerDied:
            try:
                helper.call(os.getpid)
            except WorkerDied as died:
                raise StudyError(f"the workers die before they finish a case: they end {died}") from None
    row = {"case": part.case, "inputs": part.inputs, "seed": part.seed, "status": "failed", "outputs": {}}
    return row | {"message": f"the process died in this case, {DEATHS} times", "versions": versions()}


def by_dask(tasks: Iterator[Part], journal: Cases, total: int, address: str, progress: Progress) -> None:
    """Compute on a Dask cluster."""
    distributed = optional_package("distributed", "a cluster")
    try:
        client = distributed.Client(address, timeout=ANSWER_S)
    except (OSError, ValueError, AssertionError) as error:  # Dask asserts what an address is made of
        raise StudyError(f"no Dask scheduler answers at {address}: {str(error) or 'this is no address'}") from error
    try:
        with client:
            jobs = client.map(do_part, list(tasks), retries=5, pure=False, key=f"footfall-{time.time_ns()}")
            for _, row in distributed.as_completed(jobs, with_results=True):
                journal.finish([row])
                progress(len(journal.rows), total)
    except (OSError, distributed.CancelledError, distributed.KilledWorker, TimeoutError) as error:
        raise StudyError(
            f"the cluster at {address} went away ({type(error).__name__}): {len(journal.rows)} of {total} cases are "
            "finished and kept; the same command goes on from there"
        ) from error
