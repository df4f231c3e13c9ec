"""`footfall compare`: one task under several contact laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footfall.cli.shared.output import (
    LawsOptions,
    MeasuredOptions,
    against_measured,
    given,
    print_json,
    print_rows,
    progress_bar,
    say,
    show_notes,
)
from footfall.cli.shared.task import TaskOptions
from footfall.cli.shared.usage import UsageError

if TYPE_CHECKING:
    from footfall.study.compare import Comparison


class Compare(TaskOptions, LawsOptions, MeasuredOptions):
    """Run the same robot, ground, controller and push under several contact laws.

    footfall compare spatial-biped --laws all --push '70 N x trunk 0.1 s at 1 s' --out runs/laws

    Options of the ground, the controller and the robot are written as in footfall run. With --out the recordings are
    kept, and a report with the replays side by side. Exits with 1 if the robot falls or the run fails under any law.
    """

    def run(self) -> int:
        from footfall.study.compare import compare

        measured = self.measured_forces()  # before anything slow
        if self.out is not None and not self.overwrite and any(self.out.glob("**/manifest.json")):
            raise UsageError(
                f"recordings are in '{self.out}' already: give another --out, or --overwrite to replace them"
            )
        robot, ground, chosen = self.chosen_robot(), self.chosen_ground(), self.chosen_laws()
        with progress_bar(f"{len(chosen)} laws", "done") as bar:
            found = compare(
                robot,
                laws=chosen,
                ground=ground,
                controller=self.chosen_controller(),
                pushes=self.chosen_pushes(robot),
                qpos=self.start(robot, ground),
                progress=None if bar is None else lambda done, total, _: bar(done, total),
                **given(self, "duration", "dt"),
            )
        if self.out is not None and found.recordings:
            found.save(self.out)  # nothing computed is lost, whatever the measurement
        if not self.json:
            _show(found)
        errors = {} if measured is None else against_measured(found.recordings, measured, show=not self.json)
        if self.json:
            print_json(found.to_dict() | errors)
        if self.out is not None and found.recordings:
            page = found.report(self.out / "report.html", measured=measured)
            say(f"the recordings and their report are in {page.parent}")
        return int(any(row.outcome != "stayed up" for row in found.rows))


COLUMNS = {
    "law": "law",
    "outcome": "outcome",
    "peak N>": "peak_force_N:.4g",
    "x weight>": "peak_force_bw:.3g",
    "slip>": "slip_m:m",
    "penetration>": "penetration_m:m",
    "ground loss>": "ground_loss_J:J",
    "audit": "audit_summary",
    "µs/step>": "us_per_step:.3g",
}


def _show(found: Comparison) -> None:
    print_rows(found.rows, COLUMNS)
    show_notes(found.audits)
    for row in found.rows:
        if row.why:
            say(f"{row.law}: {row.why}")
