"""Compare: the same robot, ground, controller and push under several contact laws.

found = ff.compare("spatial-biped", controller="posture", pushes=[ff.Push("trunk", (70, 0, 0), start=1.0)])
print(found)
found.plot("grf")
found.report("laws.html")
"""

from __future__ import annotations

import math
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.contact.base import Law
from footfall.contact.registry import chosen_laws
from footfall.contact.trial import is_foreign
from footfall.control import chosen_controller
from footfall.errors import FootfallError, LawError, StudyError, did_you_mean, without_warnings
from footfall.files.html_table import html_table
from footfall.files.json_values import json_value
from footfall.given_numbers import Count
from footfall.ground import Ground
from footfall.ground.ground import as_ground
from footfall.measure import Audit, audit
from footfall.measure.audit import audit_table, text_table
from footfall.measure.comparison import ComparisonRow, compared
from footfall.process.machine import cores
from footfall.process.workers import Worker, WorkerDied
from footfall.record import Push
from footfall.recording import Recording
from footfall.robot import Robot
from footfall.robot.load import AnyRobot, as_robot
from footfall.show.style import Figure
from footfall.simulation import Simulation
from footfall.simulation.controls import Controller

#: Called after each law with the number done, the total, and the law's label.
Progress = Callable[[int, int, str], None]

#: Time for which this process works alone before others are started, s: about the time to start one.
WORTH_A_PROCESS = 1.0
#: Default simulated time of a comparison, s.
DURATION = 3.0


@dataclass(frozen=True, eq=False)
class Task:
    """A robot on a ground under a law, and further arguments of ``Simulation`` and ``Simulation.run``."""

    robot: Robot
    ground: Ground
    law: Law
    duration: float
    setup: Mapping[str, Any]
    options: Mapping[str, Any]

    def packed(self) -> bytes:
        """The task as bytes for another process. Raises what ``pickle`` raises for a law, ground or controller that
        cannot be sent.
        """
        data = pickle.dumps(self)
        if b"__main__" in data:  # a function of a script or a notebook: the other process has another __main__
            raise pickle.PicklingError("something in it is defined in __main__")
        made = type(self.law)
        if getattr(sys.modules.get(made.__module__), made.__name__, None) is not made:  # it is pickled by its name
            raise pickle.PicklingError(f"'{self.law.name}' is known to this process alone")
        return data


@dataclass(frozen=True, eq=False)
class Answer:
    """The recording, if there is one, and why the run failed, if it did."""

    recording: Recording | None
    why: str = ""


def simulate(task: Task) -> Answer:
    """Run the task in this process; a failure is in the answer."""
    try:
        with without_warnings():  # the recording says the same
            sim = Simulation(task.robot, ground=task.ground, law=task.law, **task.setup)
            sim.run(0.0, **{**task.options, "record_dt": None})  # compiles, so that the wall time is of the run
            rec = sim.run(task.duration, **task.options)
    except FootfallError as error:
        kept = getattr(error, "recording", None)
        return Answer(kept if kept is not None and len(kept) else None, str(error))
    except Exception as error:
        return Answer(None, f"{type(error).__name__}: {error}")
    return Answer(rec, "" if rec.failure is None else rec.failure.message)


def _simulate_packed(packed: bytes) -> Answer:
    return simulate(pickle.loads(packed))


def elsewhere(worker: Worker, task: Task, packed: bytes) -> Answer:
    """Run the task in another process."""
    try:
        answer: Answer = worker.call(_simulate_packed, packed)
    except WorkerDied as died:
        return Answer(None, f"the process of law {task.law.name} ended {died}")
    if answer.recording is None:
        return answer
    return replace(answer, recording=replace(answer.recording, robot=task.robot, ground=task.ground, law=task.law))


HEAD = (
    "law",
    "outcome",
    "peak N",
    "x weight",
    "mean N",
    "slip mm",
    "penetration mm",
    "loss J",
    "audit",
    "us/step",
)


@public
@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several laws on the same task.

    Attributes:
        rows: one per law, in the order asked for.
        recordings: by the rows' names; a law that failed before its first sample has none.
        audits: of each recording.
        warnings: notes on how it was run.
    """

    rows: tuple[ComparisonRow, ...]
    recordings: Mapping[str, Recording]
    audits: Mapping[str, Audit] = field(repr=False)
    warnings: tuple[str, ...] = ()

    def __getitem__(self, law: str) -> ComparisonRow:
        for row in self.rows:
            if row.law == law:
                return row
        raise StudyError(f"no law '{law}' was compared: {did_you_mean(law, [row.law for row in self.rows])}")

    def _lines(self) -> list[tuple[str, ...]]:
        lines: list[tuple[str, ...]] = []
        for row in self.rows:
            forces = (_number(row.peak_force_N), _number(row.peak_force_bw, 3), _number(row.mean_force_N))
            others = (1e3 * row.slip_m, 1e3 * row.penetration_m, row.ground_loss_J, row.us_per_step)
            slip, depth, loss, time = (_number(value, 3) for value in others)
            lines.append((row.law, row.outcome, *forces, slip, depth, loss, row.audit_summary, time))
        return lines

    def _repr_html_(self) -> str:
        """What notebooks show."""
        why = " ".join(f"{row.law}: {row.why}." for row in self.rows if row.why)
        return html_table(f"{len(self.rows)} contact laws compared", HEAD, self._lines(), why)

    def table(self) -> str:
        """The rows as text, then the audits side by side, then what failed and why."""
        parts = [text_table(HEAD, self._lines(), right=(2, 3, 4, 5, 6, 7, 9))]
        if self.audits:
            parts.append("Audit, worst of each:\n" + audit_table(self.audits))
        summary = [f"{row.law}: {row.why}" for row in self.rows if row.why] + list(self.warnings)
        return "\n\n".join([*parts, "\n".join(summary)] if summary else parts)

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__  # what prompts and notebooks show

    def plot(self, name: str, **options: Any) -> Figure:
        """The recordings overlaid, see ``footfall.show.plots``."""
        from footfall.show.plots import plot

        return plot(self._some(), name, **options)

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """One HTML file with the replays side by side, see ``footfall.show.write_report``."""
        from footfall.show.report import write_report

        runs = self._some()
        failed = {row.law: row.why for row in self.rows if row.law not in runs}
        given = {"labels": list(runs), "audit": [self.audits[label] for label in runs], "failed": failed, **options}
        return write_report(list(runs.values()), path, **given)

    def save(self, folder: str | os.PathLike[str]) -> dict[str, Path]:
        """Save every recording as a directory of its own in ``folder``; where each is."""
        names = {label: re.sub(r"[^\w.=-]", "_", label).strip("_") for label in self.recordings}
        return {label: rec.save(Path(folder) / names[label]) for label, rec in self.recordings.items()}

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold; None for numbers that are not known."""
        rows = [json_value(asdict(row)) for row in self.rows]
        audits = {label: one.to_dict() for label, one in self.audits.items()}
        return {"rows": rows, "audits": audits, "warnings": list(self.warnings)}

    def _some(self) -> Mapping[str, Recording]:
        if not self.recordings:
            raise FootfallError("no law gave a recording: " + "; ".join(f"{r.law}: {r.why}" for r in self.rows))
        return self.recordings


@public
def compare(
    robot: AnyRobot,
    *,
    laws: str | Sequence[str | Law] = "all",
    ground: Ground | str | None = None,
    controller: Controller | str | None = "default",
    pushes: Iterable[Push] = (),
    duration: float | None = None,
    dt: float | None = None,
    qpos: Sequence[float] | np.ndarray | None = None,
    qvel: Sequence[float] | np.ndarray | None = None,
    control_dt: float | None = None,
    record_dt: float | None = None,
    workers: Count | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run the same task under several contact laws, in several processes.

        found = ff.compare("spatial-biped", laws=["spring-damper", "time-stepping"], controller="posture")
        print(found)
        found.report("laws.html")

    A law that fails is a row that says why. A controller, ground or law that cannot be sent to another process (a
    function of a script or a notebook) runs in this one, with a warning.

    Args:
        robot: as in :class:`footfall.Simulation`.
        laws: names or laws with options; "all" are those of ``footfall.laws()``.
        ground: of all runs; a level plane if left out.
        controller: as in :meth:`footfall.Simulation.run`.
        pushes: as in :meth:`footfall.Simulation.run`.
        duration: s; left out, what the controller takes, as a walk does, or 3 s.
        dt: step of all runs, s; if left out each law's default: 1 ms, or less where its springs need it for light feet.
        qpos: (nq,) where they start; home on the ground if left out.
        qvel: (nv,) velocities there; at rest if left out.
        control_dt: s between two calls of the controller.
        record_dt: s between two samples.
        workers: if left out, laws run in this process for a second, and what is left, or a user's own law, in one
            process per core. If given, all laws run in that many other processes; 1 means this one.
        progress: called after each run with the runs done, their number and the law's label.
    """
    robot = as_robot(robot)
    ground = as_ground(ground)
    chosen = _chosen(laws)
    if duration is None:
        duration = float(getattr(chosen_controller(controller, robot), "duration", DURATION))
    options = {
        "controller": controller,
        "pushes": tuple(pushes),
        "qpos": qpos,
        "qvel": qvel,
        "control_dt": control_dt,
        "record_dt": record_dt,
    }
    tasks = {label: Task(robot, ground, law, duration, {"dt": dt}, options) for label, law in chosen.items()}
    answers, warnings = _run(tasks, workers, progress)
    recordings = {label: a.recording for label in tasks if (a := answers[label]).recording is not None}
    audits = {label: audit(rec) for label, rec in recordings.items()}
    rows = tuple(_row(label, answers[label], audits.get(label)) for label in tasks)
    return Comparison(rows, recordings, audits, tuple(warnings))


def _chosen(laws: str | Sequence[str | Law]) -> dict[str, Law]:
    """Laws by label: the name, or name and options where names repeat."""
    found = chosen_laws(laws)
    if not found:
        raise LawError("no law to compare was given")
    names = [one.name for one in found]
    labels = [one.name if names.count(one.name) == 1 else str(one) for one in found]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise LawError(f"the law {twice} is given twice")
    return dict(zip(labels, found, strict=True))


def _run(
    tasks: Mapping[str, Task], workers: int | None, progress: Progress | None
) -> tuple[dict[str, Answer], list[str]]:
    """The answer of each task by label, computed here and in other processes; and notes on where it ran."""
    count = min(len(tasks), cores()) if workers is None else int(workers)
    packed, warnings = _packed(tasks) if count > 1 and len(tasks) > 1 else ({}, [])
    if packed:
        # Code that all laws share is compiled here once, and not in every process at the same time.
        simulate(replace(tasks[next(iter(packed))], duration=0.0))
    answers: dict[str, Answer] = {}

    def take(label: str, answer: Answer) -> None:
        answers[label] = answer
        if progress is not None:
            progress(len(answers), len(tasks), label)

    begin = perf_counter()
    for label, task in tasks.items():
        quick = workers is None and not _is_foreign(task.law) and perf_counter() - begin < WORTH_A_PROCESS
        if label in packed and quick:
            take(label, simulate(task))
    left = [label for label in packed if label not in answers]
    helpers = [Worker() for _ in range(min(count, len(left)))]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for helper in helpers:
        idle.put(helper)

    def apart(label: str) -> tuple[str, Answer]:
        helper = idle.get()
        try:
            return label, elsewhere(helper, tasks[label], packed[label])
        finally:
            idle.put(helper)

    with ThreadPoolExecutor(max(1, len(helpers))) as pool:
        jobs = [pool.submit(apart, label) for label in left]
        try:
            for label, task in tasks.items():
                if label not in packed:
                    take(label, simulate(task))
            for job in as_completed(jobs):
                take(*job.result())
        finally:
            for job in jobs:
                job.cancel()
            for helper in helpers:
                helper.end()
    return answers, warnings


def _is_foreign(law: Law) -> bool:
    """Whether a law is a user's: its compiled code could end a process, and with it all other laws."""
    kernel = getattr(law, "kernel", None)
    return not type(law).__module__.startswith("footfall.") or (kernel is not None and is_foreign(kernel))


def _packed(tasks: Mapping[str, Task]) -> tuple[dict[str, bytes], list[str]]:
    """The tasks that can be sent to another process, and a warning for each reason why others cannot."""
    packed: dict[str, bytes] = {}
    kept: dict[str, list[str]] = {}
    for label, task in tasks.items():
        try:
            packed[label] = task.packed()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            kept.setdefault(str(error), []).append(label)
    return packed, [
        f"{', '.join(labels)} ran in this process, one after the other: what they need cannot be sent to "
        f"another ({why})"
        for why, labels in kept.items()
    ]


def _row(label: str, answer: Answer, audited: Audit | None) -> ComparisonRow:
    """A law in the table of a comparison."""
    if answer.recording is None:
        return ComparisonRow(label, "failed", answer.why)
    row = compared(answer.recording, label, audited)
    return replace(row, outcome="failed", why=answer.why) if answer.why else row


def _number(value: float, digits: int = 4) -> str:
    return "-" if not math.isfinite(value) else f"{value:.{digits}g}"
