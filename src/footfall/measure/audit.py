"""The audit: can a ground give the forces of a recording?

    audit = ff.audit(rec)
    print(audit)        # a table
    audit.check()       # in a test: raises with a sentence if a row fails

The rules are the same for all laws, see :mod:`footfall.measure.audit_errors`: up to its tolerance a row passes, up to
its limit it is a note, beyond that it fails. Soft laws may sink in up to the limit of penetration. Where a law does not
claim a rule (:attr:`footfall.contact.base.Law.unclaimed`), an error above the tolerance is by design: the row gives the
law's reason, and the audit still passes. A row is not known where the recording lacks its data: the steps between
samples, the forces on bodies other than feet, or all samples.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.errors import RecordingError, did_you_mean
from footfall.files.html_table import html_table
from footfall.files.json_values import json_value
from footfall.measure.audit_errors import EVERYTHING, FAULTS, NOTHING, PROOFS, RULES, Bounds, Rule, turning
from footfall.measure.common import once
from footfall.record import Record

#: From best to worst; a recording passes with the first three.
VERDICTS = ("pass", "by design", "note", "not known", "fail")


@dataclass(frozen=True)
class AuditRow:
    """One line of an audit.

    Attributes:
        name: what is asked.
        worst: the largest error of all samples, in ``unit``.
        rms: root mean square of the worst point or foot, over the samples that could be judged.
        unit: SI, or degrees for angles.
        tolerance: up to here the row passes.
        limit: up to here it is a note, beyond it fails.
        verdict: "pass", "by design", "note", "not known" or "fail".
        meaning: what the row asks, one sentence.
        when: s, the time of the worst sample; NaN without an error.
    """

    name: str
    worst: float
    rms: float
    unit: str
    tolerance: float
    limit: float
    verdict: str
    meaning: str
    when: float


HEAD = ("", "worst", "rms", "unit", "limit", "at s", "verdict", "meaning")


@public
@dataclass(frozen=True, repr=False)
class Audit:
    """What an audit found.

    Attributes:
        title: what was audited.
        rows: one per question.
        series: (T,) the error in each sample, by the row's name; NaN where there is nothing to judge.
        remedy: why rows are not known and what to do about it, "" if all are.
    """

    title: str
    rows: tuple[AuditRow, ...]
    series: Mapping[str, np.ndarray] = field(repr=False, compare=False)
    remedy: str = ""

    @property
    def passed(self) -> bool:
        """Whether every row passes or has a note; a row that is not known does not pass."""
        return not self.failed and not self.unknown

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the rows that fail."""
        return tuple(row.name for row in self.rows if row.verdict == "fail")

    @property
    def noted(self) -> tuple[str, ...]:
        """Names of the rows with a note."""
        return tuple(row.name for row in self.rows if row.verdict == "note")

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names of the rows that are not known."""
        return tuple(row.name for row in self.rows if row.verdict == "not known")

    @property
    def verdict(self) -> str:
        """The worst verdict of all rows; "pass" also where some are by design."""
        worst = max((row.verdict for row in self.rows), key=VERDICTS.index)
        return "pass" if worst == "by design" else worst

    @property
    def summary(self) -> str:
        """The rows that do not pass, by verdict, such as ``note: normal energy``; or ``pass``."""
        named = {"fail": self.failed, "not known": self.unknown, "note": self.noted}
        return "; ".join(f"{verdict}: {', '.join(rows)}" for verdict, rows in named.items() if rows) or "pass"

    def __getitem__(self, name: str) -> AuditRow:
        for row in self.rows:
            if row.name == name:
                return row
        raise RecordingError(f"the audit has no row '{name}': {did_you_mean(name, [row.name for row in self.rows])}")

    def check(self) -> Audit:
        """This audit; raises a ``RecordingError`` that names the rows that fail or are not known, if there are any."""
        if self.failed:
            failures = "; ".join(
                f"{row.name} {_number(row.worst)} {row.unit} at t = {row.when:.4g} s "
                f"(limit {_number(row.limit)} {row.unit}: {row.meaning})"
                for row in self.rows
                if row.verdict == "fail"
            )
            raise RecordingError(f"the audit of {self.title} fails: {failures}")
        if self.unknown:
            raise RecordingError(f"the audit of {self.title} does not know of {', '.join(self.unknown)}: {self.remedy}")
        return self

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold, without the series; None for numbers that are not finite."""
        rows = [json_value(asdict(row)) for row in self.rows]
        return {"title": self.title, "passed": self.passed, "verdict": self.verdict, "rows": rows}

    def _lines(self) -> list[tuple[str, ...]]:
        return [
            (r.name, _number(r.worst), _number(r.rms), r.unit, _number(r.limit), _time(r.when), r.verdict, r.meaning)
            for r in self.rows
        ]

    def _heading(self) -> str:
        verdict = "passes"
        if self.failed:
            verdict = f"fails: {', '.join(self.failed)}"
        elif self.unknown:
            verdict = f"does not know of {', '.join(self.unknown)}: {self.remedy}"
        return f"Audit of {self.title}: {verdict}"

    def __str__(self) -> str:
        return f"{self._heading()}\n" + text_table(HEAD, self._lines(), right=(1, 2, 4, 5))

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_table(self._heading(), HEAD, self._lines())

    __repr__ = __str__  # what prompts and notebooks show


@public
@once
def audit(rec: Record) -> Audit:
    """Check the forces of a recording: complementarity, friction, energy, momentum, centres of pressure, solver.

    Limitations: momentum is judged to rounding for semi-implicit Euler with every step recorded; with other integrators
    changes between samples are allowed for. Where steps are left out (``record_dt`` above ``dt``) most rows are not
    known. Forces of air and of obstacles in the robot's own model are not recorded. Energy is counted per body from
    touch-down on: a law that first dissipates energy and then creates as much in the same stance is not detected.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # a run that diverged ends in NaN
        series = {rule.name: _judged(rule, rec) for rule in RULES}
        rows = tuple(_row(rule, series[rule.name], rec) for rule in RULES)
    title = f"{rec.robot.name} on {rec.ground.kind}, law {rec.law.name}, {rec.duration:.4g} s"
    return Audit(title, rows, series, _remedy(rec) if any(row.verdict == "not known" for row in rows) else "")


def audit_table(audits: Mapping[str, Audit]) -> str:
    """Several audits as one table, a column each: the worst errors, with verdicts other than pass."""
    names = list(dict.fromkeys(row.name for one in audits.values() for row in one.rows))
    units = {row.name: row.unit for one in audits.values() for row in one.rows}
    lines = []
    for name in names:
        cells = [one[name] for one in audits.values()]
        marks = [_number(row.worst) + ("" if row.verdict == "pass" else f" {row.verdict}") for row in cells]
        lines.append((name, units[name], *marks))
    lines.append(("verdict", "", *(one.verdict for one in audits.values())))
    return text_table(("", "unit", *audits), lines, right=range(2, 2 + len(audits)))


def text_table(head: Sequence[str], lines: Sequence[Sequence[str]], right: Container[int] = ()) -> str:
    """Columns of text, those in ``right`` aligned to the right."""
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]

    def row(line: Sequence[str]) -> str:
        cells = (c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))
        return "  ".join(cells).rstrip()

    return "\n".join([row(head), "  ".join("-" * w for w in widths), *map(row, lines)])


def _judged(rule: Rule, rec: Record) -> np.ndarray:
    """(T,) a rule's error, NaN where it cannot be judged."""
    if len(rec) and (rec.every_step or rule.between_samples != NOTHING):
        return rule.quantity(rec)
    return np.full(len(rec), np.nan)


def _known(rule: Rule, worst: float, bounds: Bounds, rec: Record) -> bool:
    """Whether a row that does not fail may pass or have a note."""
    if not len(rec) or (rule.unknown is not None and bool(rule.unknown(rec).any())):
        return False
    if rec.every_step or rule.between_samples == EVERYTHING:
        return True
    noted = worst > bounds.tolerance
    return noted if rule.between_samples == FAULTS else not noted and rule.between_samples == PROOFS


def _remedy(rec: Record) -> str:
    """Why rows are not known, and what to do about it."""
    if not len(rec):
        return "the recording is empty"
    if not rec.every_step:
        return f"only every {rec.record_dt:g} s of steps of {rec.dt:g} s was recorded; leave record_dt out to know"
    if len(rec) == 1:
        return "one sample has no acceleration"
    if turning(rec).any():
        return "forces are means over periods in which the ground's normal turns under a point"
    return "there is no second sample to tell the acceleration"


def _row(rule: Rule, values: np.ndarray, rec: Record) -> AuditRow:
    """The row of a rule, from its error in every sample."""
    bounds = rule.bounds(rec)
    judged = values[np.isfinite(values)]
    worst = float(judged.max(initial=0.0))
    rms = float(np.sqrt(np.mean(judged**2))) if judged.size else 0.0
    verdict, meaning = "fail", rule.meaning
    not_claimed = {**rec.law.unclaimed, **rec.info.get("unclaimed", {})}  # by the law, or by the source of the record
    unclaimed = not_claimed.get(rule.name)
    reason = rec.law.by_design.get(rule.name) if unclaimed is None else f"does not claim that: {unclaimed}"
    if reason is not None and worst > bounds.tolerance:
        meaning = f"{meaning}; {rec.law.name}{':' if unclaimed is None else ''} {reason}"
    if not worst > bounds.limit or unclaimed is not None:
        known = _known(rule, worst, bounds, rec)
        above = "note" if reason is None else "by design"
        verdict = "not known" if not known else above if worst > bounds.tolerance else "pass"
    return AuditRow(
        name=rule.name,
        worst=worst,
        rms=rms,
        unit=rule.unit,
        tolerance=bounds.tolerance,
        limit=bounds.limit,
        verdict=verdict,
        meaning=meaning,
        when=float(rec.time[values == worst][0]) if worst > 0.0 else math.nan,
    )


def _number(value: float) -> str:
    return "-" if not math.isfinite(value) else "0" if value == 0.0 else f"{value:.2g}"


def _time(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"
