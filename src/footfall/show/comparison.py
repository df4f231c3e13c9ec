"""The head of a report that compares recordings: a verdict on each, and their figures in a table to sort."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from footfall.measure import Audit, energy, settled, summarise
from footfall.record import Record
from footfall.show.numbers import FLOORS, number

#: Verdict cards in one line of a wide page.
MOST_BESIDE = 6


class Figures(NamedTuple):
    """What is compared of a run."""

    label: str
    outcome: str  # "stood", "fell" or "failed"
    why: str
    peak: float  # N, the greatest vertical force after the start transient
    start_peak: float  # N, within it; NaN where there is none
    weight: float  # N
    slip: float  # m
    depth: float  # m
    loss: float  # J, energy that went into the ground
    cost: float  # us of wall time a step
    unsolved: int  # samples
    audit: Audit | None


class Quantity(NamedTuple):
    """A column: its key, its heading, its unit, what is read of a run, and what the extremes are called."""

    key: str
    heading: str
    unit: str
    value: Callable[[Figures], float]
    most: str
    least: str


QUANTITIES = (
    Quantity("peak", "Peak force", "N", lambda run: run.peak, "highest peak", "lowest peak"),
    Quantity("slip", "Slip", "m", lambda run: run.slip, "most slip", "least slip"),
    Quantity("depth", "Penetration", "m", lambda run: run.depth, "deepest in the ground", ""),
    Quantity("loss", "Lost in the ground", "J", lambda run: run.loss, "", ""),
    Quantity("cost", "Cost of a step", "µs", lambda run: run.cost, "slowest", "fastest"),
    Quantity("unsolved", "Unsolved samples", "", lambda run: run.unsolved, "most unsolved", ""),
)


def figures_of(rec: Record, label: str, audit: Audit | None) -> Figures:
    """What is compared of one recording."""
    summary = summarise(rec)
    begin = settled(rec)
    at_start = rec.time < begin
    force = rec.peak_total_force[:, 2]
    steps, wall = round(rec.duration / rec.dt), rec.info.get("wall_time")
    failed = rec.failure is not None
    fallen = f"at {summary['fell_at_s']:.3f} s, it {summary['fell_because']}" if summary["fell"] else ""
    return Figures(
        label=label,
        outcome="failed" if failed else "fell" if summary["fell"] else "stood",
        why=rec.failure.message if rec.failure is not None else fallen.replace("it its", "its"),
        peak=float(force[~at_start].max(initial=0.0)),
        start_peak=float(force[at_start].max()) if at_start.any() else math.nan,
        weight=rec.robot.weight,
        slip=float(summary["slip_distance_m"]),
        depth=float(summary["max_penetration_m"]),
        loss=-float(energy(rec).contact_work[-1]) if len(rec) else math.nan,
        cost=1e6 * float(wall) / steps if wall and steps else math.nan,
        unsolved=int(summary["unsolved_samples"]),
        audit=audit,
    )


def comparison(
    runs: Sequence[Record], labels: Sequence[str], audits: Sequence[Audit], failed: Mapping[str, str]
) -> str:
    """The verdict cards, then the table, as HTML; ``failed`` says of what has no recording why."""
    given: Sequence[Audit | None] = audits or [None] * len(runs)
    found = [figures_of(rec, label, audit) for rec, label, audit in zip(runs, labels, given, strict=True)]
    sorts = "".join(f'<option value="{q.key}">{q.heading.lower()}</option>' for q in QUANTITIES)
    count = len(runs) + len(failed)
    beside = math.ceil(count / math.ceil(count / MOST_BESIDE))
    cards = "".join(_card(run, r, found) for r, run in enumerate(found)) + "".join(
        f'<article class="card bad"><h3>{escape(label)}</h3><p class="outcome verdict bad">did not run</p>'
        f'<p class="why">{escape(why)}</p></article>'
        for label, why in failed.items()
    )
    names = "".join(f'<option value="{r}">{escape(label)}</option>' for r, label in enumerate(labels))
    return (
        '<section class="compared" aria-label="Comparison"><div class="asked">'
        f'<label>Sort by <select id="sort"><option value="">order given</option>{sorts}</select></label>'
        f'<label>Difference to <select id="reference"><option value="">none</option>{names}</select></label></div>'
        f'<div class="cards" style="--cards: {beside}">{cards}</div>'
        f"{_table(found)}</section>"
    )


def _card(run: Figures, index: int, found: Sequence[Figures]) -> str:
    verdict = {"stood": "good", "fell": "bad", "failed": "bad"}[run.outcome]
    said = {"stood": "stayed up", "fell": "fell", "failed": "did not finish"}[run.outcome]
    why = f'<p class="why">{escape(run.why)}</p>' if run.why else ""
    extremes = ", ".join(_extremes(run, found))
    extreme = f'<p class="extreme">{escape(extremes)}</p>' if extremes else ""
    return (
        f'<article class="card {verdict}" data-run="{index}"><h3><i class="swatch"></i>{escape(run.label)}</h3>'
        f'<p class="outcome verdict {verdict}">{said}</p>{why}{extreme}{_audit(run)}</article>'
    )


def _extremes(run: Figures, found: Sequence[Figures]) -> list[str]:
    """Where a run stands out from all others: it has the greatest or the least of something, by a tenth or more."""
    extremes = []
    for quantity in QUANTITIES:
        own = quantity.value(run)
        others = [quantity.value(one) for one in found if one is not run]
        others = [value for value in others if math.isfinite(value)]
        floor = FLOORS.get(quantity.unit, 0.0)
        if not others or not math.isfinite(own):
            continue
        if quantity.most and own > max(1.1 * max(others), floor):
            extremes.append(f"{quantity.most} ({number(own, quantity.unit, 3)})")
        elif quantity.least and own < 0.9 * min(others) and min(others) > floor:
            extremes.append(f"{quantity.least} ({number(own, quantity.unit, 3)})")
    return extremes


def _audit(run: Figures) -> str:
    if run.audit is None:
        return ""
    failed = ", ".join(run.audit.failed)
    if failed:
        return f'<p class="audit">audit: <span class="verdict bad">fails</span> {escape(failed)}</p>'
    said = {"pass": "passed", "note": "passed with notes"}.get(run.audit.verdict, run.audit.verdict)
    return f'<p class="audit">audit: {escape(said)}</p>'


def _table(found: Sequence[Figures]) -> str:
    heads = "".join(
        f'<th scope="col"><button type="button" data-sort="{q.key}">{q.heading}</button></th>' for q in QUANTITIES
    )
    rows = "".join(_row(run, r) for r, run in enumerate(found))
    started = any(math.isfinite(run.start_peak) for run in found)
    note = "Peaks are those after the start, in which a robot put on the ground settles. " if started else ""
    return (
        '<div class="scroll"><table class="ranking"><thead><tr><th scope="col">Law</th><th scope="col">Outcome</th>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        f'<p class="note">{note}Cost is wall time with whatever else the machine did.</p>'
    )


def _row(run: Figures, index: int) -> str:
    cells = "".join(_cell(run, quantity) for quantity in QUANTITIES)
    said = {"stood": "stayed up", "fell": "fell", "failed": "did not finish"}[run.outcome]
    kind = "good" if run.outcome == "stood" else "bad"
    return (
        f'<tr data-run="{index}"><th scope="row"><i class="swatch"></i>{escape(run.label)}</th>'
        f'<td><span class="verdict {kind}">{said}</span></td>{cells}</tr>'
    )


def _cell(run: Figures, quantity: Quantity) -> str:
    value = quantity.value(run)
    shown = number(value, quantity.unit, 3)
    beside = ""
    if quantity.key == "peak":
        if run.weight:
            beside = f"{number(run.peak / run.weight, '', 3)} × weight"
        if run.start_peak > 1.02 * run.peak:
            beside += f", {number(run.start_peak, 'N', 3)} at the start"
    exact = "" if not math.isfinite(value) else f"{0.0 if abs(value) < FLOORS.get(quantity.unit, 0.0) else value:.9g}"
    return (
        f'<td data-key="{quantity.key}" data-unit="{quantity.unit}" data-value="{exact}">{shown}'
        f'<small class="beside">{beside}</small><small class="delta"></small></td>'
    )
