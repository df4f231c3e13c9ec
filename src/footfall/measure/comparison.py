"""The row of a run in a comparison: of a law in ``footfall.compare``, or of a recording in a report."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from footfall.measure.audit import Audit
from footfall.measure.motion import energy
from footfall.measure.summary import settled, summarise
from footfall.record import Record

#: s, longest time between touch-down of a foot, or the end of a push, and a peak force that is attributed to it.
LANDING = 0.05


@dataclass(frozen=True)
class ComparisonRow:
    """The outcome of one law. Numbers are NaN where the law has no recording.

    Attributes:
        law: its name, with its options where two laws share it.
        outcome: "stayed up", "fell" (see ``measure.has_fallen``) or "failed".
        why: the sentence of the failure, when and why it fell, or "".
        duration_s: simulated time reached, s.
        peak_force_N, peak_force_bw: the largest vertical force after the start transient (``measure.settled``), N and
            times the robot's weight.
        peak_when: its time, and what happened then.
        peak_lasts_s: how long the vertical force is at least half of it around that time, s; NaN where samples are too
            far apart to tell.
        start_force_N: the largest within the start transient; NaN where there is none.
        mean_force_N: its mean over time, N.
        slip_m: longest distance that a contact point slid, m.
        penetration_m: the deepest, m.
        ground_loss_J: energy that went into the ground, J.
        audit: worst verdict of the audit, "" without a recording.
        audit_failed: the rows of the audit that fail.
        us_per_step: wall time per step, microseconds, while other laws may run at the same time.
        unsolved_samples: samples of steps that the law did not solve.
    """

    law: str
    outcome: str
    why: str = ""
    duration_s: float = 0.0
    peak_force_N: float = math.nan
    peak_force_bw: float = math.nan
    peak_when: str = ""
    peak_lasts_s: float = math.nan
    start_force_N: float = math.nan
    mean_force_N: float = math.nan
    slip_m: float = math.nan
    penetration_m: float = math.nan
    ground_loss_J: float = math.nan
    audit: str = ""
    audit_failed: tuple[str, ...] = ()
    us_per_step: float = math.nan
    unsolved_samples: int = 0

    @property
    def audit_summary(self) -> str:
        """The verdict of the audit, with the rows that fail."""
        return self.audit + (f": {', '.join(self.audit_failed)}" if self.audit_failed else "")


def compared(rec: Record, label: str, audited: Audit | None) -> ComparisonRow:
    """The row of a recording, with its audit if there is one."""
    summary, own = summarise(rec), energy(rec)
    peak_when, peak_lasts = _peak(rec, float(summary["fell_at_s"])) if len(rec) else ("", math.nan)
    fell = f"fell at t = {summary['fell_at_s']:.4g} s: {summary['fell_because']}" if summary["fell"] else ""
    steps, wall = round(rec.duration / rec.dt), rec.info.get("wall_time")
    return ComparisonRow(
        law=label,
        outcome=str(summary["outcome"]),
        why=rec.failure.message if rec.failure is not None else fell,
        duration_s=rec.duration,
        peak_force_N=float(summary["peak_vertical_force_N"]),
        peak_force_bw=float(summary["peak_vertical_force_bw"]),
        peak_when=peak_when,
        peak_lasts_s=peak_lasts,
        start_force_N=float(summary["start_force_N"]),
        mean_force_N=float(summary["mean_vertical_force_N"]),
        slip_m=float(summary["slip_distance_m"]),
        penetration_m=float(summary["max_penetration_m"]),
        ground_loss_J=-float(own.contact_work[-1]) if len(rec) else math.nan,
        audit="" if audited is None else audited.verdict,
        audit_failed=() if audited is None else audited.failed,
        us_per_step=1e6 * float(wall) / steps if wall and steps else math.nan,
        unsolved_samples=int(summary["unsolved_samples"]),
    )


def _peak(rec: Record, fell: float) -> tuple[str, float]:
    """When the vertical force is greatest after the start and what happens then, and how long half of it acts, s."""
    force = np.where(rec.time < settled(rec), 0.0, rec.peak_total_force[:, 2])
    k = int(np.argmax(force))
    below = np.flatnonzero(force < 0.5 * force[k])
    first, after = int(below[below < k].max(initial=-1)) + 1, int(below[below > k].min(initial=len(force) - 1))
    lasts = float(rec.time[after] - rec.time[first])
    if after - first < 2 and lasts > 1.5 * rec.dt:  # within one sample of many steps
        lasts = math.nan
    when = float(rec.time[k])
    begin = int(np.searchsorted(rec.time, when - LANDING))
    loads = rec.foot_force[:, :, 2]
    foot = int(np.argmax(loads[k])) if loads.shape[1] else -1
    if when >= fell:
        what = ", as it lies on the ground"
    elif any(push.start <= when <= push.start + push.duration + LANDING for push in rec.pushes):
        what = ", as it is pushed"
    elif foot >= 0 and loads[k, foot] > 0.0 and not loads[begin : k + 1, foot].all():
        what = f", as {rec.robot.feet[foot].name} lands"
    else:
        what = ""
    return f"at {when:.3g} s{what}", lasts
