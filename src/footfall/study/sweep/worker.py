"""One process that works on a study, a program of its own.

No one distributes the work: each worker takes the next batch that is neither finished nor locked.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from footfall.study.sweep.in_worlds import Computed, compute_cases
from footfall.study.sweep.journal import Batch, open_batch
from footfall.study.sweep.plan import Plan, read_plan
from footfall.study.sweep.work import fetch, run_case
from footfall.version import versions

#: Processes that may die during a case before it is given up.
DEATHS = 2


def do_batch(folder: Path, plan: Plan, number: int, work: Any = None, *, wait: bool = True) -> list[dict[str, Any]]:
    """Do the unfinished cases of a batch and return all its rows.

    If another process holds it, wait for that one, or return None if not ``wait``.
    """
    work = fetch(plan.work) if work is None else work
    made_with = versions()
    with open_batch(folder, number, wait=wait) as batch:
        if batch is None:
            return []
        computed = _side_by_side(plan, work, number, batch)
        for case in plan.cases(number):
            if case in batch.rows:
                continue
            seed, ahead = plan.case_seed(case), computed.get(case, Computed())
            if ahead.recording is None and batch.begun.get(case, 0) >= DEATHS:
                row = {"case": case, "seed": seed, "status": "failed", "outputs": {}}
                row["message"] = f"the process died in this case, {DEATHS} times"
            else:
                if case not in computed:
                    batch.begin(case)
                start = time.perf_counter()
                row = run_case(work, plan.work["measures"], case, plan.case_inputs(case), seed, ahead.recording)
                row["seconds"] = ahead.seconds + time.perf_counter() - start
                row |= {"worlds": ahead.recording is not None, "alone": ahead.alone}
            batch.finish(row | {"versions": made_with})
        return [batch.rows[case] for case in plan.cases(number)]


def _side_by_side(plan: Plan, work: Any, number: int, batch: Batch) -> dict[int, Computed]:
    """What worlds compute of a batch. Cases in which a process died are left to run on their own."""
    if not plan.worlds:
        return {}
    waiting = [case for case in plan.cases(number) if case not in batch.rows and not batch.begun.get(case)]
    for case in waiting:
        batch.begin(case)
    return compute_cases(work, {case: plan.case_inputs(case) for case in waiting})


def main() -> None:
    """Do batches of the study in the folder that is the argument until none is left that nobody works on."""
    folder = Path(sys.argv[1])
    plan = read_plan(folder)
    for number in range(plan.batches):
        do_batch(folder, plan, number, wait=False)
