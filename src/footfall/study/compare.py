"""Compare: the same robot, ground, controller and push under several contact laws.

found = ff.compare("spatial-biped", controller="posture", pushes=[ff.Push("trunk", (70, 0, 0), start=1.0)])
print(found)
found.plot("grf")
found.report("laws.html")
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.contact.base import Law
from footfall.contact.registry import chosen_laws
from footfall.control import chosen_controller
from footfall.errors import FootfallError, LawError, StudyError, did_you_mean, without_warnings
from footfall.files.html_table import html_table
from footfall.files.json_values import json_value
from footfall.ground import Ground
from footfall.ground.ground import as_ground
from footfall.measure import Audit, audit
from footfall.measure.audit import audit_table, text_table
from footfall.measure.comparison import ComparisonRow, compared
from footfall.record import Push
from footfall.recording import Recording
from footfall.robot.load import AnyRobot, as_robot
from footfall.show.style import Figure
from footfall.simulation import Simulation
from footfall.simulation.controls import Controller

#: Called after each law with the number done, the total, and the law's label.
Progress = Callable[[int, int, str], None]

#: Default simulated time of a comparison, s.
DURATION = 3.0


#: The recording of a run, if there is one, and why the run failed, if it did.
Answer = tuple[Recording | None, str]


def simulated(sim: Callable[[], Simulation], duration: float, options: Mapping[str, Any]) -> Answer:
    """Make a simulation and run it; a failure is in the answer."""
    try:
        with without_warnings():  # the recording says the same
            made = sim()
            made.run(0.0, **{**options, "record_dt": None})  # compiles, so that the wall time is of the run
            rec = made.run(duration, **options)
    except FootfallError as error:
        kept = getattr(error, "recording", None)
        return kept if kept is not None and len(kept) else None, str(error)
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
    return rec, "" if rec.failure is None else rec.failure.message


#: Columns of the table.
HEAD = ("law", "outcome", "peak N", "x weight", "mean N", "slip mm", "penetration mm", "loss J", "audit", "us/step")


@public
@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several laws on the same task.

    Attributes:
        rows: one per law, in the order asked for.
        recordings: by the rows' names; a law that failed before its first sample has none.
        audits: of each recording.
    """

    rows: tuple[ComparisonRow, ...]
    recordings: Mapping[str, Recording]
    audits: Mapping[str, Audit]

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

    def __str__(self) -> str:
        """The rows as text, then the audits side by side, then what failed and why."""
        parts = [text_table(HEAD, self._lines(), right=(2, 3, 4, 5, 6, 7, 9))]
        if self.audits:
            parts.append("Audit, worst of each:\n" + audit_table(self.audits))
        summary = [f"{row.law}: {row.why}" for row in self.rows if row.why]
        return "\n\n".join([*parts, "\n".join(summary)] if summary else parts)

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
        audits = [self.audits[label] for label in runs]
        return write_report(runs, path, **{"audit": audits, "failed": failed, **options})

    def save(self, folder: str | os.PathLike[str]) -> dict[str, Path]:
        """Save every recording as a directory of its own in ``folder``; where each is."""
        names = {label: re.sub(r"[^\w.=-]", "_", label).strip("_") for label in self.recordings}
        return {label: rec.save(Path(folder) / names[label]) for label, rec in self.recordings.items()}

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold; None for numbers that are not known."""
        rows = [json_value(asdict(row)) for row in self.rows]
        audits = {label: one.to_dict() for label, one in self.audits.items()}
        return {"rows": rows, "audits": audits}

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
    progress: Progress | None = None,
) -> Comparison:
    """Run the same task under several contact laws.

        found = ff.compare("spatial-biped", laws=["spring-damper", "time-stepping"], controller="posture")
        print(found)
        found.report("laws.html")

    A law that fails is a row that says why.

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
    answers: dict[str, Answer] = {}
    for label, law in chosen.items():
        answers[label] = simulated(partial(Simulation, robot, ground=ground, law=law, dt=dt), duration, options)
        if progress is not None:
            progress(len(answers), len(chosen), label)
    recordings = {label: rec for label, (rec, _) in answers.items() if rec is not None}
    audits = {label: audit(rec) for label, rec in recordings.items()}
    rows = []
    for label, (recording, why) in answers.items():
        row = ComparisonRow(label, "failed", why) if recording is None else compared(recording, label, audits[label])
        rows.append(replace(row, outcome="failed", why=why) if why else row)
    return Comparison(tuple(rows), recordings, audits)


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


def _number(value: float, digits: int = 4) -> str:
    return "-" if not math.isfinite(value) else f"{value:.{digits}g}"
