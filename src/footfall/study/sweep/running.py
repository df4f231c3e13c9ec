"""How the cases of a study are computed: as worlds side by side where they can be, in threads, processes or a cluster.

Cases that differ only in pushes, friction, ground, and numbers of law or controller run as worlds; those with different
robots, laws or times form separate groups of worlds. Cases that worlds cannot compute like a single run, and cases that
end early, run on their own, with the reason. What other processes need travels from this one to them: nothing that is
run is read from the study's folder.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from footfall.control import controller_class
from footfall.control.base import StatefulController
from footfall.errors import FootfallError, StudyError, optional_package, without_warnings
from footfall.process.workers import Worker, WorkerDied
from footfall.recording import Recording
from footfall.simulation.worlds import Worlds
from footfall.study.as_worlds import (
    Variant,
    apart_until,
    controller_refusal,
    refusal,
    run_batched,
)
from footfall.study.sweep.folder import STUDY, Batch, Part, Plan, count_finished, finished_in, open_batch
from footfall.study.sweep.settings import ground_of, law_of, put_in, run_options, simulation_of
from footfall.study.sweep.work import fetch, run_case
from footfall.version import versions

MET = "two bodies of the robot touched"
ENDED = "the run ended early"


class Computed(NamedTuple):
    """A case that ran as a world: its recording and computing time (s), or why it must run on its own."""

    recording: Recording | None = None
    seconds: float = 0.0
    alone: str = ""


def compute_cases(settings: Mapping[str, Any], cases: Mapping[int, Mapping[str, Any]]) -> dict[int, Computed]:
    """The cases that worlds can compute, by number. Errors of a case are left to its own run."""
    companies: dict[str, dict[int, dict[str, Any]]] = {}
    for case, inputs in cases.items():
        try:
            full = put_in(settings, inputs)
        except FootfallError:  # its own run says so
            continue
        companies.setdefault(_company(full), {})[case] = full
    found: dict[int, Computed] = {}
    for company in companies.values():
        try:
            with without_warnings():  # the rows say the same
                found |= _compute(company)
        except (FootfallError, ValueError, TypeError, MemoryError) as error:
            found |= dict.fromkeys(company, Computed(alone=str(error)))
    return found


def compile_ahead(settings: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Compile the loop of many worlds here once, and not in every process at the same time."""
    full = put_in(settings, inputs)
    sim = simulation_of(full)
    if not refusal(sim, run_options(full)["controller"]):
        with without_warnings():
            Worlds(sim, 1, threads=1).step()


def _company(full: Mapping[str, Any]) -> str:
    """What cases must share to be worlds of one simulation."""
    ground = {name: None if _number(value) else value for name, value in full["ground"].items()}
    law = {name: None if isinstance(value, float) else value for name, value in full["law"].items()}
    controller = full.get("controller", {})
    if controller and not issubclass(controller_class(controller["name"]), StatefulController):
        controller = {name: None if _number(value) else value for name, value in controller.items()}
    same = {name: value for name, value in full.items() if name != "push"}
    return json.dumps({**same, "ground": ground, "law": law, "controller": controller}, sort_keys=True)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compute(company: Mapping[int, Mapping[str, Any]]) -> dict[int, Computed]:
    begin = time.perf_counter()
    fulls = list(company.values())
    sim, options = simulation_of(fulls[0]), [run_options(full) for full in fulls]
    controller, duration = options[0]["controller"], options[0]["duration"]
    why = controller_refusal(sim, controller)  # worlds that cannot be say so themselves
    if why:
        return dict.fromkeys(company, Computed(alone=why))
    grounds = _made(fulls, "ground", ground_of)
    if any(ground.friction_field is not None for ground in grounds):
        return dict.fromkeys(company, Computed(alone="many worlds have one friction each"))
    if any(one["duration"] != duration for one in options):
        return dict.fromkeys(company, Computed(alone="the cases last different times"))
    varied = [name for name, value in fulls[0]["law"].items() if isinstance(value, float)]
    recordings = run_batched(
        sim,
        [Variant(ground, one["controller"], one["pushes"]) for ground, one in zip(grounds, options, strict=True)],
        duration,
        record_dt=options[0].get("record_dt"),
        law_options={name: np.array([full["law"][name] for full in fulls]) for name in varied},
        threads=1,
    )
    found = {}
    each = (time.perf_counter() - begin) / len(fulls)
    laws = _made(fulls, "law", law_of)
    for case, rec, ground, law in zip(company, recordings, grounds, laws, strict=True):
        start = time.perf_counter()
        own = replace(rec, ground=ground, law=law)
        alone = ENDED if own.failure is not None else MET if apart_until(sim, own) < np.inf else ""
        took = each + time.perf_counter() - start
        found[case] = Computed(None if alone else own, took, alone)
    return found


def _made(fulls: Sequence[Mapping[str, Any]], name: str, make: Any) -> list[Any]:
    """A ground or law for each case, those that are alike the same one."""
    known: dict[str, Any] = {}
    return [known.setdefault(json.dumps(full[name], sort_keys=True), make(full)) for full in fulls]


#: Processes that may die during a case before it is given up.
DEATHS = 2
Progress = Callable[[int, int], None]
#: s between two checks of progress.
PAUSE = 0.2
#: Deaths in a row of the processes of a batch, without a case finished between them, before the study gives up.
IDLE_DEATHS = 3
#: s within which a Dask scheduler must answer.
ANSWER_S = 10.0


def do_batch(folder: Path, part: Part, work: Any = None) -> list[dict[str, Any]]:
    """Do the unfinished cases of a batch and return all its rows; waits while another process works on it."""
    work = fetch(part.work) if work is None else work
    made_with = versions()
    with open_batch(folder, part.number) as batch:
        computed = _side_by_side(part, work, batch)
        for case, inputs in part.inputs.items():
            if case in batch.rows:
                continue
            seed, ahead = part.case_seed(case), computed.get(case, Computed())
            if ahead.recording is None and batch.begun.get(case, 0) >= DEATHS:
                row = {"case": case, "seed": seed, "status": "failed", "outputs": {}}
                row["message"] = f"the process died in this case, {DEATHS} times"
            else:
                if case not in computed:
                    batch.begin(case)
                start = time.perf_counter()
                row = run_case(work, part.work["measures"], case, inputs, seed, ahead.recording)
                row["seconds"] = ahead.seconds + time.perf_counter() - start
                row |= {"worlds": ahead.recording is not None, "alone": ahead.alone}
            batch.finish(row | {"versions": made_with})
        return [batch.rows[case] for case in part.inputs]


def _side_by_side(part: Part, work: Any, batch: Batch) -> dict[int, Computed]:
    """What worlds compute of a batch. Cases in which a process died are left to run on their own."""
    if not part.worlds:
        return {}
    waiting = [case for case in part.inputs if case not in batch.rows and not batch.begun.get(case)]
    for case in waiting:
        batch.begin(case)
    return compute_cases(work, {case: part.inputs[case] for case in waiting})


def by_workers(folder: Path, plan: Plan, workers: int, work: Any, progress: Progress) -> None:
    """Run in threads of this process if ``work`` is given, else in as many other processes; one that dies is replaced.

    In threads compiled steps run in parallel; a Python controller or function does not.
    """
    waiting, stopped = deque(range(plan.batches)), Event()
    helpers = [Worker() for _ in range(min(workers, plan.batches))]

    def labour(helper: Worker) -> None:
        while waiting and not stopped.is_set():
            try:
                part = plan.part(waiting.popleft())
            except IndexError:  # another took the last one
                return
            if work is None:
                _in_process(helper, folder, part)
            else:
                do_batch(folder, part, work)

    known: dict[Path, tuple[int, int]] = {}
    with ThreadPoolExecutor(len(helpers)) as pool:
        jobs = {pool.submit(labour, helper) for helper in helpers}
        try:
            while jobs:
                done, jobs = wait(jobs, PAUSE, FIRST_COMPLETED)
                for job in done:
                    job.result()
                progress(count_finished(folder, known), plan.number)
        finally:
            stopped.set()
            for helper in helpers:
                helper.end()


def _in_process(helper: Worker, folder: Path, part: Part) -> None:
    """Let another process do a batch; if it dies, a new one goes on."""
    idle, last = 0, finished_in(folder, part.number)
    why: object = ""
    while idle < IDLE_DEATHS:
        try:
            helper.call(do_batch, folder, part)
            return
        except WorkerDied as died:
            done, why = finished_in(folder, part.number), died
            idle, last = (idle + 1 if done == last else 1), done
    raise StudyError(f"the workers of {folder} die before they finish a case: they end {why}")


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
                [plan.part(number) for number in range(plan.batches)],
                folder=str(folder),
                key_of_study=plan.key,
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
            if row["case"] not in batch.rows:
                batch.finish(row)


def _batch_elsewhere(part: Part, *, folder: str, key_of_study: str) -> tuple[int, list[dict[str, Any]] | None]:
    """A batch on a worker of a cluster: its rows, or None if they are in the study's folder."""
    seen = Path(folder) / STUDY
    if seen.exists() and key_of_study in seen.read_text(encoding="utf-8"):
        do_batch(Path(folder), part)
        return part.number, None
    with tempfile.TemporaryDirectory(prefix="footfall-study-") as aside:
        return part.number, do_batch(Path(aside), part)
