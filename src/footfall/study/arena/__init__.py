"""The arena: every engine on the same questions, with the truth beside it.

    rows = arena(["mujoco", "drake", "footfall"], ["closed forms"], "arena")

An engine is a guest: one file that reads a task and answers with samples, run in an environment and a process of its
own. What it answers becomes a recording; measures, audit and plots are those of Footfall.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.errors import StudyError, did_you_mean, without_warnings
from footfall.files.atomic_write import write_text
from footfall.files.json_values import json_value
from footfall.study.arena import closed_forms, measured, robots
from footfall.study.arena.running import Outcome, Process, errors_of, guest, guests, played
from footfall.study.arena.task import Case, Question, Task
from footfall.study.fit.search import Range, search
from footfall.study.sweep.folder import whole_lines

__all__ = ["GROUPS", "Row", "arena", "guests", "load_rows"]


@dataclass(frozen=True)
class Row:
    """The result of one engine in one case: its error, or why there is none."""

    engine: str
    setting: str  # "" with its defaults, a variant that its file names, or "tuned"
    group: str
    question: str
    case: str
    dt: float  # s
    status: str  # "done", or the kind of failure
    reason: str
    error: float  # NaN without a valid result
    us_per_step: float  # processor time of a step, called from Python
    audit: str
    version: str

    @property
    def name(self) -> str:
        return f"{self.engine} {self.setting}".strip()


#: Steps for the measurement of cost against error, s.
STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1e-4)
#: Closed forms for the measurement of cost: impacts, sliding in all directions and rolling, without restitution.
COSTED = ("slide", "rock", "disc")


def _costs(data: Path | None) -> Iterator[Question]:
    for dt in STEPS:
        for one in closed_forms.questions(data):
            if one.name in COSTED:
                every = max(1, round(1e-3 / dt))  # samples are a millisecond apart, or a step
                tasks = {id(case.task): replace(case.task, dt=dt, every=every) for case in one.cases}
                yield one._replace(cases=tuple(case._replace(task=tasks[id(case.task)]) for case in one.cases))


Say = Callable[[str], None]
#: A question with its group.
Wanted = tuple[str, Question]
#: The file of rows in a folder, a line of JSON each.
ROWS = "rows.jsonl"
#: The groups of questions, made on demand.
GROUPS: Mapping[str, Callable[[Path | None], Iterable[Question]]] = {
    "closed-forms": closed_forms.questions,
    "robots": robots.questions,
    "measured": measured.questions,
    "cost": _costs,
}


@public
def arena(
    engines: Sequence[str],
    groups: Sequence[str],
    out: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    questions: Sequence[str] = (),
    evaluations: int = 0,
    limit: float = 120.0,
    say: Say = lambda text: None,
) -> list[Row]:
    """Ask engines the questions of some groups; returns all rows of the folder ``out``.

    Args:
        engines: names of guests, "ENGINE:VARIANT" for one variant alone ("default" is one), or files of guests.
        groups: "closed-forms", "robots", "measured", "cost".
        out: a folder for the rows, ``rows.jsonl``, and the recordings. What is there is not asked again.
        data: a folder with ``robots/`` and ``cube_tosses/`` of the user's; questions that need them are left out
            without it.
        questions: names of questions, all of the groups if left out.
        evaluations: how often the search for better settings tries all training cases; 0 tunes nothing.
        limit: s of processor time, most that an engine may take for one run.
        say: called with a sentence on what goes on.
    """
    wanted: list[Wanted] = []
    for group in groups:
        if group not in GROUPS:
            raise StudyError(f"no group of questions is called '{group}': {did_you_mean(group, GROUPS)}")
        own = [
            one for one in GROUPS[group](None if data is None else Path(data)) if one.name in (questions or (one.name,))
        ]
        if not own:
            raise StudyError(
                f"nothing of {group} can be asked: its data are not in '{data}', or no question has that name"
            )
        wanted += [(group, one) for one in own]
    chosen = [(guest(name.partition(":")[0]), name.partition(":")[2]) for name in engines]
    for one, variant in chosen:
        if variant not in ("", "default", *one.settings):
            raise StudyError(f"{one.name} has no variant '{variant}': {did_you_mean(variant, one.settings)}")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for one, variant in chosen:
        names = list(one.settings) if not variant else [variant.replace("default", "")]
        process = Process(one, say)
        try:
            _compete(process, {name: dict(one.settings[name]) for name in names}, wanted, folder, limit, say)
            for group in dict.fromkeys(group for group, _ in wanted) if evaluations else ():
                pairs = [pair for pair in wanted if pair[0] == group]
                file = folder / f"tuned-{one.name}-{group}.json"
                say(f"{one.name}: tuning on {group}")
                tuned = _tuned(process, [question for _, question in pairs], evaluations, limit, file)
                if tuned is not None:
                    _compete(process, {"tuned": tuned}, pairs, folder, limit, say)
        finally:
            process.end()
    return load_rows(folder)


def load_rows(out: str | os.PathLike[str]) -> list[Row]:
    """The rows of a folder, the last where a case was asked several times."""
    file = Path(out) / ROWS
    if not file.exists():
        raise StudyError(f"there are no results in '{out}': footfall arena run --out {out} makes some")
    try:
        lines = whole_lines(file.read_bytes())
        known: list[Any] = [{key: math.nan if value is None else value for key, value in one.items()} for one in lines]
        rows = [Row(**one) for one in known]
    except (ValueError, TypeError) as error:
        raise StudyError(f"'{file}' is damaged: {error}") from error
    return list({_key(row): row for row in rows}.values())


def _key(row: Row) -> tuple[Any, ...]:
    return row.engine, row.setting, row.group, row.question, row.case, row.dt


def _compete(
    process: Process, settings: dict[str, dict[str, Any]], wanted: list[Wanted], out: Path, limit: float, say: Say
) -> None:
    """Run the missing cases of one engine under some settings, and store each row at once."""
    name = process.guest.name
    known = {_key(row) for row in load_rows(out)} if (out / ROWS).exists() else set()
    for setting, values in settings.items():
        runs: dict[int, Outcome] = {}  # several questions ask the same run
        for group, question in wanted:
            for cases in _by_task(question.cases):
                if all((name, setting, group, question.name, c.label, c.task.dt) in known for c in cases):
                    continue
                task = cases[0].task
                outcome = runs[id(task)] = runs.get(id(task)) or _asked(process, task, values, limit)
                verdict = ""
                if outcome.recording is not None and group != "cost":
                    folder = f"{name} {setting}".strip(), question.name, cases[0].label
                    outcome.recording.save(out.joinpath("recordings", *(one.replace(" ", "-") for one in folder)))
                    verdict = outcome.recording.audit().summary
                told = outcome.status, outcome.reason
                about = name, setting, group, question.name
                measured: Any = outcome.us_per_step, verdict, process.version
                errors = zip(cases, errors_of(outcome, cases), strict=True)
                rows = [Row(*about, c.label, task.dt, *told, error, *measured) for c, error in errors]
                with (out / ROWS).open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(json_value(asdict(row))) + "\n" for row in rows)
                say(f"{name} {setting}: {question.name}, {cases[0].label}: {' '.join(told)}")


def _asked(process: Process, task: Task, values: Mapping[str, Any], limit: float) -> Outcome:
    """The outcome of a task in an engine; friction and restitution may be among its settings."""
    own = {name: values[name] for name in ("friction", "restitution") if name in values}
    with without_warnings():
        return played(process, replace(task, **own) if own else task, values, limit)


def _by_task(cases: Iterable[Case]) -> list[list[Case]]:
    """Cases of the same run."""
    found: dict[int, list[Case]] = {}
    for case in cases:
        found.setdefault(id(case.task), []).append(case)
    return list(found.values())


#: The error of a failed run in the search for settings, and upper bound of all errors: 1 is the whole of a
#: displacement.
WRONG = 1.0


def _tuned(process: Process, questions: Sequence[Question], evaluations: int, limit: float, file: Path) -> Any:
    """The best settings that a search finds on the training cases, stored in a file; None if nothing can be tuned.

    Of measurements, friction and restitution of the ground are searched as well. What an engine cannot express it
    cannot be tuned on.
    """
    if file.exists():
        return json.loads(file.read_text(encoding="utf-8"))
    given = dict(process.guest.tuned)
    if any(one.unknown for one in questions):
        given |= {"friction": (0.05, 1.0, "log", 0.2)}
        given |= {"restitution": (0.0, 0.6, "linear", 0.1)} if process.guest.restitution else {}
    ranges: dict[str, Any] = {name: Range(*bounds) for name, bounds in given.items()}  # type: ignore[arg-type]

    def values(shares: np.ndarray) -> dict[str, float]:
        return {name: ranges[name].value(share) for name, share in zip(ranges, shares, strict=True)}

    def errors(shares: np.ndarray, which: np.ndarray) -> np.ndarray:
        missed = [errors_of(_asked(process, tasks[i][0].task, values(shares), limit), tasks[i]) for i in which]
        return np.array([np.nan_to_num(np.abs(one), nan=WRONG).clip(max=WRONG).mean() for one in missed])

    first = np.array([own.share(own.start) for own in ranges.values()])
    tasks = _by_task([case for one in questions for case in one.training])
    tasks = [cases for cases in tasks if _asked(process, cases[0].task, values(first), limit).status != "blank"]
    if not ranges or not tasks:
        return None
    tried = search(errors, first, len(tasks), evaluations, seed=0)
    best = values(tried.points[tried.best()])
    write_text(file, json.dumps(best))
    return best
