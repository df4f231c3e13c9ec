"""What runs the cases of a study: threads of this process, processes of this machine, or a Dask cluster."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from footfall.errors import StudyError, optional_package
from footfall.study.sweep.journal import count_finished, open_batch
from footfall.study.sweep.plan import STUDY, Plan
from footfall.study.sweep.worker import do_batch
from footfall.study.worker_program import own_program

Progress = Callable[[int, int], None]
#: s between two checks of progress.
PAUSE = 0.2
#: Workers in a row that may die without finishing a case before the study gives up.
IDLE_DEATHS = 3
#: s within which a Dask scheduler must answer.
ANSWER_S = 10.0


def by_threads(folder: Path, plan: Plan, workers: int, work: Any, progress: Progress) -> None:
    """Run in this process. Compiled steps run in parallel; a Python controller or function does not."""
    known: dict[Path, tuple[int, int]] = {}
    looked = -math.inf
    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(do_batch, folder, plan, number, work) for number in range(plan.batches)]
        try:
            for number, job in enumerate(as_completed(jobs), 1):
                job.result()
                if number == len(jobs) or time.monotonic() > looked + PAUSE:
                    looked = time.monotonic()
                    progress(count_finished(folder, known), plan.number)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def by_processes(folder: Path, plan: Plan, workers: int, progress: Progress) -> None:
    """Run in processes of this machine, started as programs, so that a user's script is not run again. One that dies is
    replaced.
    """
    known: dict[Path, tuple[int, int]] = {}
    paths = os.pathsep.join(path for path in (*sys.path, os.getcwd()) if path)
    environment = {**os.environ, "PYTHONPATH": paths}

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            own_program("footfall.study.sweep.worker", str(folder)),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    running = [start() for _ in range(min(workers, plan.batches))]
    idle, last = 0, 0
    try:
        while running:
            time.sleep(PAUSE)
            done = count_finished(folder, known)
            progress(done, plan.number)
            for process in [one for one in running if one.poll() is not None]:
                running.remove(process)
                said = (process.communicate()[1] or "").strip().splitlines()
                if process.returncode == 0:
                    continue
                idle, last = (idle + 1 if done == last else 0), done
                if idle >= IDLE_DEATHS:
                    why = said[-1] if said else f"they end with code {process.returncode}"
                    raise StudyError(f"the workers of {folder} die before they finish a case: {why}")
                running.append(start())
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def by_dask(folder: Path, plan: Plan, address: str, progress: Progress) -> None:
    """Run on a Dask cluster, one task per batch. A worker that does not see the study's folder returns its rows."""
    distributed = optional_package("distributed", 'a cluster needs Dask: pip install "footfall[cluster]"')
    try:
        client = distributed.Client(address, timeout=ANSWER_S)
    except (OSError, ValueError, TimeoutError) as error:
        raise StudyError(f"no Dask scheduler answers at {address}: {error}") from error
    known: dict[Path, tuple[int, int]] = {}
    try:
        with client:
            jobs = client.map(
                _batch_elsewhere,
                range(plan.batches),
                folder=str(folder),
                plan=plan,
                retries=5,
                pure=False,
                key=f"footfall-{plan.key[:12]}-{time.time_ns()}",
            )
            for _, (number, rows) in distributed.as_completed(jobs, with_results=True):
                if rows is not None:
                    _keep(folder, number, rows)
                progress(count_finished(folder, known), plan.number)
    except (OSError, distributed.CancelledError, distributed.KilledWorker, TimeoutError) as error:
        done = count_finished(folder, known)
        raise StudyError(
            f"the cluster at {address} went away ({type(error).__name__}): {done} of {plan.number} cases are finished "
            f"and kept in {folder}; the same command goes on from there"
        ) from error


def _keep(folder: Path, number: int, rows: list[dict[str, Any]]) -> None:
    """Put rows that a worker returned into their batch, unless they are there already."""
    with open_batch(folder, number) as batch:
        for row in rows:
            if batch is not None and row["case"] not in batch.rows:
                batch.finish(row)


def _batch_elsewhere(number: int, *, folder: str, plan: Plan) -> tuple[int, list[dict[str, Any]] | None]:
    """A batch on a worker of a cluster: its rows, or None if they are in the study's folder."""
    home = Path(folder)
    seen = home / STUDY
    if seen.exists() and plan.key in seen.read_text(encoding="utf-8"):
        do_batch(home, plan, number)
        return number, None
    import tempfile

    with tempfile.TemporaryDirectory(prefix="footfall-study-") as aside:
        return number, do_batch(Path(aside), plan, number)
