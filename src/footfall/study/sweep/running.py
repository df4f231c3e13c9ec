"""How the cases of a study are computed: as worlds side by side where they can be, in threads, processes or a cluster.

Cases that differ only in pushes, friction, ground, and numbers of law or controller run as worlds; those with different
robots, laws or times form separate groups of worlds. Cases that worlds cannot compute like a single run, and cases that
end early, run on their own, with the reason. What other processes need travels from this one to them, and rows travel
back: nothing that is run is read from the study's folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np

from footfall.control import controller_class, default_controller
from footfall.control.base import StatefulController
from footfall.errors import FootfallError, StudyError, optional_package, without_warnings
from footfall.process.workers import Worker, WorkerDied
from footfall.recording import Recording
from footfall.simulation.worlds import Worlds
from footfall.study.as_worlds import Variant, controller_refusal, refusal, run_batched
from footfall.study.sweep.folder import Cases, Plan, Row
from footfall.study.sweep.settings import ground_of, law_of, put_in, run_options, simulation_of
from footfall.study.sweep.work import Work, fetch, run_case
from footfall.version import versions

#: Cases that run as worlds side by side, which take as long to set up as one case, if each worker still has so many
#: such companies; cases that a cluster is given at a time, and the fewest such tasks of a study.
COMPANY, EACH, LARGEST_TASK, FEWEST_TASKS = 8, 4, 50, 64
#: Most processes that may die during a case before it is given up.
DEATHS = 2
#: Interval of reports of progress, and time limit for the answer of a Dask scheduler, s.
PAUSE, ANSWER_S = 0.2, 10.0
Progress = Callable[[int, int], None]


class Part(NamedTuple):
    """Cases of a study that are computed in one go, as another process needs them."""

    work: Mapping[str, Any]  # described
    inputs: Mapping[int, dict[str, Any]]  # of each case, by its number
    seed: int  # of the study
    worlds: bool  # whether cases run as worlds where they can

    def case_seed(self, case: int) -> int:
        """The seed of a case, which depends only on the study's seed and the case's number."""
        return int(np.random.SeedSequence(self.seed, spawn_key=(case,)).generate_state(1)[0])


def parts(plan: Plan, waiting: Sequence[int], worlds: bool, size: int) -> Iterator[Part]:
    """Cases that are not finished, so many at a time."""
    for first in range(0, len(waiting), size):
        inputs = {case: plan.case_inputs(case) for case in waiting[first : first + size]}
        yield Part(plan.work, inputs, plan.seed, worlds)


def company(cases: int, workers: int) -> int:
    """How many cases of a study run as worlds side by side."""
    return max(1, min(COMPANY, cases // (EACH * workers)))


def do_part(part: Part, work: Work | None = None) -> list[Row]:
    """The rows of some cases."""
    work = fetch(part.work) if work is None else work
    computed: Mapping[int, Computed] = {}
    if part.worlds and isinstance(work, Mapping):
        computed = compute_cases(work, part.inputs)
    made_with, rows = versions(), []
    for case, inputs in part.inputs.items():
        ahead, start = computed.get(case, Computed()), time.perf_counter()
        row = run_case(work, part.work["measures"], case, inputs, part.case_seed(case), ahead.recording)
        row["seconds"] = ahead.seconds + time.perf_counter() - start
        rows.append(row | {"worlds": ahead.recording is not None, "alone": ahead.alone, "versions": made_with})
    return rows


def by_workers(
    tasks: Iterator[Part], journal: Cases, total: int, workers: int, work: Work | None, progress: Progress
) -> None:
    """Compute in threads of this process if ``work`` is given, else in as many other processes; one that dies is
    replaced. In threads compiled steps run in parallel; a Python controller or function does not.
    """
    stopped, turn = Event(), Lock()
    helpers = [Worker() for _ in range(workers)]

    def labour(helper: Worker) -> None:
        while not stopped.is_set():
            with turn:
                part = next(tasks, None)
            if part is None:
                return
            rows = _in_process(helper, part) if work is None else do_part(part, work)
            with turn:
                journal.finish(rows)

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


def _in_process(helper: Worker, part: Part) -> list[Row]:
    """The rows of some cases by another process. If it dies each case is tried on its own, and then given up."""
    alone = len(part.inputs) == 1
    for _ in range(DEATHS if alone else 1):
        try:
            rows: list[Row] = helper.call(do_part, part)
            return rows
        except WorkerDied:
            try:
                helper.call(os.getpid)
            except WorkerDied as died:
                raise StudyError(f"the workers die before they finish a case: they end {died}") from None
    if not alone:
        each = (part._replace(inputs={case: own}, worlds=False) for case, own in part.inputs.items())
        return [row for one in each for row in _in_process(helper, one)]
    ((case, inputs),) = part.inputs.items()
    row = {"case": case, "inputs": inputs, "seed": part.case_seed(case), "status": "failed", "outputs": {}}
    return [row | {"message": f"the process died in this case, {DEATHS} times", "versions": versions()}]


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
            for _, rows in distributed.as_completed(jobs, with_results=True):
                journal.finish(rows)
                progress(len(journal.rows), total)
    except (OSError, distributed.CancelledError, distributed.KilledWorker, TimeoutError) as error:
        raise StudyError(
            f"the cluster at {address} went away ({type(error).__name__}): {len(journal.rows)} of {total} cases are "
            "finished and kept; the same command goes on from there"
        ) from error


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
    for one in companies.values():
        try:
            with without_warnings():  # the rows say the same
                found |= _compute(one)
        except (FootfallError, ValueError, TypeError, MemoryError) as error:
            found |= dict.fromkeys(one, Computed(alone=str(error)))
    return found


def compile_ahead(settings: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Compile the loop of many worlds here once, and not in every process at the same time."""
    full = put_in(settings, inputs)
    sim = simulation_of(full)
    if not refusal(sim, run_options(full)["controller"]):
        with without_warnings():
            Worlds(sim, 1, threads=1).step()


def _company(full: Mapping[str, Any]) -> str:
    """The settings that cases must share to be worlds of one simulation."""
    ground = {name: None if _number(value) else value for name, value in full["ground"].items()}
    law = {name: None if isinstance(value, float) else value for name, value in full["law"].items()}
    controller = full.get("controller") or {"name": "none"}
    name = controller["name"]
    if name == "default":
        name = default_controller(simulation_of(full).robot)
    if name not in (None, "none") and not issubclass(controller_class(name), StatefulController):
        controller = {name: None if _number(value) else value for name, value in controller.items()}
    same = {name: value for name, value in full.items() if name != "push"}
    return json.dumps({**same, "ground": ground, "law": law, "controller": controller}, sort_keys=True)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compute(cases: Mapping[int, Mapping[str, Any]]) -> dict[int, Computed]:
    begin = time.perf_counter()
    fulls = list(cases.values())
    sim, options = simulation_of(fulls[0]), [run_options(full) for full in fulls]
    duration, grounds = options[0]["duration"], _made(fulls, "ground", ground_of)
    why = controller_refusal(sim, options[0]["controller"])  # worlds that cannot be say so themselves
    if any(ground.friction_field is not None for ground in grounds):
        why = why or "many worlds have one friction each"
    if any(one["duration"] != duration for one in options):
        why = why or "the cases last different times"
    if why:
        return dict.fromkeys(cases, Computed(alone=why))
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
    for case, rec, ground, law in zip(cases, recordings, grounds, laws, strict=True):
        start = time.perf_counter()
        own = replace(rec, ground=ground, law=law)
        alone = "" if own.failure is None else "the run ended early"
        found[case] = Computed(None if alone else own, each + time.perf_counter() - start, alone)
    return found


def _made(fulls: Sequence[Mapping[str, Any]], name: str, make: Any) -> list[Any]:
    """A ground or law for each case, those that are alike the same one."""
    known: dict[str, Any] = {}
    return [known.setdefault(json.dumps(full[name], sort_keys=True), make(full)) for full in fulls]
