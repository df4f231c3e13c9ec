"""The report's tables: the run, its results, its audit, and the head of a report that compares recordings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from footfall import measure
from footfall.contact.base import Law
from footfall.contact.setting import make_setting
from footfall.errors import FootfallError, RecordingError
from footfall.files.measured import Measured
from footfall.measure import Audit, AuditRow, summarise
from footfall.measure.comparison import ComparisonRow, compared
from footfall.measure.forces import forces_against
from footfall.measure.summary import FLOORS, number
from footfall.record import Push, Record

#: How the names in ``Recording.summary`` end, and the unit that means.
UNITS = {"_N": "N", "_m": "m", "_s": "s", "_bw": "× weight", "_J": "J"}
#: Columns of errors against a measurement, and their units.
ERRORS = (
    ("rms", "N"),
    ("peak", "N"),
    ("measured peak", "N"),
    ("impulse", "N s"),
    ("measured impulse", "N s"),
    ("peak later by", "s"),
)
LABELS = {
    "fell": "fell over",
    "fell_because": "why it fell",
    "failed": "ended early",
    "samples": "samples",
    "unsolved_samples": "samples the law did not solve",
}


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, wide: bool = False) -> str:
    """An HTML table in a card; cells are HTML already, the first of each row is its heading.

    The last cell of a row that is too short spans the remaining columns.
    """
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = []
    for row in rows:
        span = f' colspan="{len(head) - 1}"' if len(row) == 2 and len(head) > 2 else ""
        cells = "".join(f"<td{span}>{cell}</td>" for cell in row[1:])
        lines.append(f'<tr><th scope="row">{row[0]}</th>{cells}</tr>')
    body = "\n".join(lines)
    heading = f"<thead><tr>{top}</tr></thead>" if head else ""
    above = f"<h2>{title}</h2>" if title else ""
    return (
        f'<section class="table{" wide" if wide else ""}">{above}<div class="scroll">'
        f"<table>{heading}<tbody>\n{body}\n</tbody></table></div></section>"
    )


# ---- what came of it -------------------------------------------------------------------------------------------


def summary_table(rec: Record) -> str:
    """The summary of a recording."""
    summary, rows = summarise(rec), []
    unsaid = {"failure", "failed", "fell"} | (set() if summary["fell"] else {"fell_at_s", "fell_because"})
    for key, value in summary.items():
        if key not in unsaid and not key.endswith("_bw"):
            name, unit = name_and_unit(key)
            weights = summary.get(key.removesuffix("_N") + "_bw") if key.endswith("_N") else None
            beside = "" if weights is None else f" ({_cell(weights, UNITS['_bw'])})"
            rows.append([escape(name), _cell(value, unit) + beside])
    return table("Summary", [], rows)


def key_figures(rec: Record, audit: Audit | None = None) -> str:
    """The few numbers that a reader looks for first."""
    summary = summarise(rec)
    bad = rec.failure is not None or bool(summary["fell"])
    chosen = {"Outcome": _mark(str(summary["outcome"]), "good")}
    if rec.failure is not None:
        chosen["Outcome"] = _mark(f"ended early at {rec.failure.time:.3f} s", "bad")
    elif bad:
        fell = _mark(f"fell at {summary['fell_at_s']:.3f} s", "bad")
        chosen["Outcome"] = f"{fell}<small>{escape(str(summary['fell_because']))}</small>"
    for key in ("peak_vertical_force_bw", "max_penetration_m", "slip_distance_m", "creep_distance_m", "duration_s"):
        if key in summary:
            name, unit = name_and_unit(key)
            chosen[name.capitalize()] = _cell(summary[key], unit, digits=3)
    if audit is not None:
        failed, unknown = (sum(row.verdict == one for row in audit.rows) for one in ("fail", "not known"))
        chosen["Audit"] = _mark("passed", "good")
        if failed or unknown:
            said = f"{failed} of {len(audit.rows)} fail" if failed else f"{unknown} of {len(audit.rows)} not known"
            chosen["Audit"] = _mark(said, "bad" if failed else "")
    kinds = {"Outcome": ' class="bad"'} if bad else {}
    cells = "".join(
        f"<div{kinds.get(name, '')}><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in chosen.items()
    )
    return f'<dl class="figures">{cells}</dl>'


def _mark(text: str, kind: str) -> str:
    """An outcome or a verdict; its kind is good, bad, note or none of these."""
    return f'<span class="{f"verdict {kind}".rstrip()}">{escape(text)}</span>'


def name_and_unit(key: str) -> tuple[str, str]:
    """The name of a measure for people, and its unit, from its name in ``Recording.summary``."""
    for ending, unit in UNITS.items():
        if key.endswith(ending):
            return key.removesuffix(ending).replace("_", " "), unit
    return LABELS.get(key, key.replace("_", " ")), ""


def _cell(value: Any, unit: str, digits: int = 4) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value, unit, digits) if isinstance(value, int | float) else escape(str(value))


# ---- what was run ----------------------------------------------------------------------------------------------


def facts_table(runs: Mapping[str, Record], only: Sequence[str] = ()) -> str:
    """What was run: what all recordings share in one table, what is the own of each in one of its own.

    ``only`` names the facts that are shown; all if left out.
    """
    columns = [{key: cell for key, cell in _facts(rec).items() if not only or key in only} for rec in runs.values()]
    shared = [key for key in columns[0] if len({column[key] for column in columns}) == 1]
    tables = [table("What was run", [], [[key, columns[0][key]] for key in shared if columns[0][key]])]
    for column, label in zip(columns, runs, strict=True):
        own = [[key, cell] for key, cell in column.items() if key not in shared and cell]
        if own:
            tables.append(f'<details class="own"><summary>{escape(label)}</summary>{table("", [], own)}</details>')
    return "\n".join(tables)


def _facts(rec: Record) -> dict[str, str]:
    info = rec.info
    robot = rec.robot
    feet = ", ".join(f"{foot.name} ({len(foot.points)} points)" for foot in robot.feet)
    versions = info.get("versions") or {}
    return {
        "Robot": escape(f"{robot.name}: {number(robot.mass, 'kg')}, {robot.model.nv} degrees of freedom"),
        "Feet": escape(feet),
        "Ground": escape(str(rec.ground)),
        "Law": escape(str(rec.law)),
        "Parameters used": escape(_parameters(rec)),
        "Source of the law": escape(rec.law.citation),
        "Step": escape(f"{number(1000 * rec.dt)} ms, integrator {info.get('integrator', 'unknown')}"),
        "Recorded": f"{len(rec)} samples over {number(rec.duration, 's')}" if len(rec) > 1 else "",
        "Controller": escape(str(info.get("controller", ""))),
        "Pushes": "<br>".join(_push(push) for push in rec.pushes),
        "Warnings": "<br>".join(
            escape(f"{one.get('kind', '')}: {one.get('message', '')}") for one in info.get("warnings") or ()
        ),
        "Computed": escape(_computed(rec)),
        "Versions": escape(", ".join(f"{name} {version}" for name, version in versions.items())),
    }


def _parameters(rec: Record) -> str:
    """The numbers the law worked with, those derived from robot, ground and step included."""
    if type(rec.law).resolve is Law.resolve:
        return ""
    try:
        values = rec.law.resolve(make_setting(rec.robot, rec.ground, rec.dt))
    except FootfallError:  # a law that is not known here
        return ""
    if not hasattr(values, "_asdict"):
        return ""
    return ", ".join(f"{name} = {_value(value)}" for name, value in values._asdict().items())


def _value(value: Any) -> str:
    return number(float(value)) if isinstance(value, int | float) else str(value)


def _push(push: Push) -> str:
    parts = []
    for key, vector, unit in (("force", push.force, "N"), ("torque", push.torque, "N m")):
        if any(vector):
            parts.append(f"{key} ({', '.join(number(x) for x in vector)}) {unit}")
    what = f"{push.body}: {', '.join(parts) or 'nothing'}"
    return escape(f"{what}, from {number(push.start, 's')} for {number(push.duration, 's')}")


def _computed(rec: Record) -> str:
    wall, created = rec.info.get("wall_time"), rec.info.get("created")
    parts = [str(created)] if created else []
    if wall:
        steps = max(1, round(rec.duration / rec.dt))
        parts.append(f"{number(wall, 's')}, {number(1e6 * wall / steps)} µs a step")
    return ", ".join(parts)


# ---- the audit -------------------------------------------------------------------------------------------------


def audits_of(runs: Mapping[str, Record], given: Sequence[Audit] | None) -> dict[str, Audit]:
    """The audit of each recording: those that were given, or made now; none of them if none shall be shown."""
    found = [measure.audit(rec) for rec in runs.values()] if given is None else list(given)
    if found and len(found) != len(runs):
        raise RecordingError(f"{len(found)} audits were given for {len(runs)} recordings")
    return dict(zip(runs, found, strict=False))


def measured_table(runs: Mapping[str, Record], measured: Measured | None) -> str:
    """How far the simulated forces are from measured ones, or nothing."""
    if measured is None:
        return ""
    head = ["force", *(escape(f"{name} ({unit})") for name, unit in ERRORS)]
    rows = []
    for label, rec in runs.items():
        for one in forces_against(rec, measured):
            name = f"{one.foot} {one.axis}" if len(runs) == 1 else f"{label}, {one.foot} {one.axis}"
            values = (one.rms, one.peak, one.measured_peak, one.impulse, one.measured_impulse, one.timing)
            rows.append([escape(name), *(f"{value:.4g}" for value in values)])
    return table(f"Against {escape(measured.source)}", head, rows, wide=True)


def audit_table(audits: Mapping[str, Audit]) -> str:
    """The audit, with what each row means; of several recordings a column each."""
    if not audits:
        return ""
    head = ["", *(["found", "verdict"] if len(audits) == 1 else map(escape, audits))]
    rows = []
    known = [{row.name: row for row in audit.rows} for audit in audits.values()]
    for name in dict.fromkeys(name for audit in known for name in audit):
        found = [audit.get(name) for audit in known]
        meaning = escape(next(row.meaning for row in found if row is not None))
        cells = ["–" if row is None else _audited(row) for row in found]
        if len(found) == 1 and found[0] is not None:
            cells = [_worst(found[0]), _verdict(found[0].verdict)]
        rows.append([f"{escape(name)}<small>{meaning}</small>", *cells])
    return table("Audit", head, rows, wide=True)


def _audited(row: AuditRow) -> str:
    """A cell of several audits: the largest error, and the verdict where it is not a pass."""
    return _worst(row, digits=2) + ("" if row.verdict == "pass" else f"<br>{_verdict(row.verdict)}")


def _worst(row: AuditRow, digits: int = 4) -> str:
    """The largest error, and a link to its sample in the replay and the plots."""
    value = _cell(row.worst, row.unit, digits)
    seen = row.worst > FLOORS.get(row.unit, 0.0) and math.isfinite(row.when)
    return f'{value}<br><a href="#t={row.when:.6f}">at {row.when:.4g} s</a>' if seen else value


def _verdict(verdict: str) -> str:
    return _mark(verdict, KINDS.get(verdict, ""))


# ---- several recordings: how they differ, and their figures in a table to sort --------------------------------------


#: How outcomes are judged, and verdicts of audits.
OUTCOMES = {"stayed up": "good", "fell": "bad", "failed": "bad"}
KINDS = {"pass": "good", "note": "note", "fail": "bad"}
#: Least ratio between figures that is mentioned.
WORTH_SAYING = 1.1


class Quantity(NamedTuple):
    """A column: a number of a :class:`ComparisonRow`, its heading and its unit."""

    name: str
    heading: str
    unit: str

    def of(self, run: ComparisonRow) -> float:
        value: float = getattr(run, self.name)
        return value


PEAK = Quantity("peak_force_N", "Peak force", "N")
QUANTITIES = (
    PEAK,
    Quantity("slip_m", "Slip", "m"),
    Quantity("penetration_m", "Penetration", "m"),
    Quantity("ground_loss_J", "Ground loss", "J"),
    Quantity("us_per_step", "Cost of a step", "µs"),
    Quantity("unsolved_samples", "Unsolved samples", ""),
)


def differences(found: Sequence[ComparisonRow]) -> list[str]:
    """Sentences on what differs between runs, from their measures."""
    said = []
    by_outcome = {one: [run.law for run in found if run.outcome == one] for one in OUTCOMES}
    if sum(map(bool, by_outcome.values())) > 1:
        parts = [f"{one} under {_listed(labels)}" for one, labels in by_outcome.items() if labels]
        said.append(f"The robot {'; it '.join(parts)}.".replace("failed under", "did not finish under"))
    for quantity in QUANTITIES[:3]:
        runs = sorted((run for run in found if math.isfinite(quantity.of(run))), key=quantity.of)
        if len(runs) < 2:
            continue
        (least, low), (most, high) = ((run, quantity.of(run)) for run in (runs[0], runs[-1]))
        floor = FLOORS.get(quantity.unit, 0.0)
        if high <= floor or high < WORTH_SAYING * low:
            continue
        ends = [
            f"{number(value, quantity.unit, 3) if value > floor else 'none'} under {run.law}"
            + (f" ({run.peak_when})" if quantity is PEAK and run.peak_when else "")
            for run, value in ((most, high), (least, low))
        ]
        by = f" differs by {number(high / low, '', 2)} times" if low > floor else ""
        why = ""
        if quantity is PEAK and WORTH_SAYING * most.peak_lasts_s < least.peak_lasts_s:
            lasted = [f"{1e3 * run.peak_lasts_s:.3g} ms under {run.law}" for run in (most, least)]
            why = f", because a force of at least half of it lasts {' and '.join(lasted)}"
        said.append(f"{quantity.heading}{by}: {', '.join(ends)}{why}.")
    return said or ["No outcome, peak force, slip or penetration differs by a tenth."]


def _listed(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def comparison(runs: Mapping[str, Record], audits: Mapping[str, Audit], failed: Mapping[str, str]) -> tuple[str, str]:
    """How the runs differ in sentences, and the table of their figures, as HTML; ``failed`` says of what has no
    recording why.
    """
    found = [compared(rec, label, audits.get(label)) for label, rec in runs.items()]
    columns = QUANTITIES if any(run.unsolved_samples for run in found) else QUANTITIES[:-1]
    sorts = "".join(f'<option value="{q.name}">{q.heading.lower()}</option>' for q in columns)
    names = "".join(f'<option value="{r}">{escape(label)}</option>' for r, label in enumerate(runs))
    told = "".join(f"<li>{escape(sentence)}</li>" for sentence in differences(found))
    return f'<ul class="differences">{told}</ul>', (
        '<section class="compared" aria-label="Comparison"><div class="asked">'
        f'<label>Sort by <select id="sort"><option value="">order given</option>{sorts}</select></label>'
        f'<label>Difference to <select id="reference"><option value="">none</option>{names}</select></label></div>'
        f"{_table(found, failed, columns)}</section>"
    )


def _audit(run: ComparisonRow) -> str:
    if not run.audit:
        return "–"
    return f"{_verdict(run.audit)}<small>{escape(', '.join(run.audit_failed))}</small>"


def _table(found: Sequence[ComparisonRow], failed: Mapping[str, str], columns: Sequence[Quantity]) -> str:
    heads = "".join(
        f'<th scope="col"><button type="button" data-sort="{q.name}">{q.heading}</button></th>' for q in columns
    )
    rows = "".join(_row(run, r, columns) for r, run in enumerate(found)) + "".join(
        f'<tr><th scope="row">{escape(label)}</th><td colspan="{len(columns) + 2}">'
        f'{_mark("did not run", "bad")}<small class="why">{escape(why)}</small></td></tr>'
        for label, why in failed.items()
    )
    started = any(math.isfinite(run.start_force_N) for run in found)
    note = "Peaks are those after the start, in which a robot put on the ground settles. " if started else ""
    return (
        '<div class="scroll"><table class="ranking"><thead><tr><th scope="col">Law</th><th scope="col">Outcome</th>'
        f'<th scope="col">Audit</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
        f'<p class="note">{note}Cost is wall time with whatever else the machine did.</p>'
    )


def _row(run: ComparisonRow, index: int, columns: Sequence[Quantity]) -> str:
    cells = "".join(_figure(run, quantity) for quantity in columns)
    return (
        f'<tr data-run="{index}"><th scope="row"><i class="swatch"></i>{escape(run.law)}</th>'
        f"<td>{_mark(run.outcome, OUTCOMES[run.outcome])}"
        f'<small class="why">{escape(run.why)}</small></td><td>{_audit(run)}</td>{cells}</tr>'
    )


def _figure(run: ComparisonRow, quantity: Quantity) -> str:
    value = quantity.of(run)
    shown = number(value, quantity.unit, 3)
    beside = title = ""
    if quantity is PEAK:
        if math.isfinite(run.peak_force_bw):
            beside = f"{number(run.peak_force_bw, '', 3)} × weight"
        if run.start_force_N > 1.02 * run.peak_force_N:
            title = f' title="{number(run.start_force_N, "N", 3)} at the start"'
    exact = "" if not math.isfinite(value) else f"{0.0 if abs(value) < FLOORS.get(quantity.unit, 0.0) else value:.9g}"
    return (
        f'<td data-key="{quantity.name}" data-unit="{quantity.unit}" data-value="{exact}"{title}>{shown}'
        f'<small class="beside">{beside}</small><small class="delta"></small></td>'
    )
