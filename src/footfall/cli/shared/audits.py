"""Audits as commands print them: one audit in full, or of several the rows that do not simply pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from footfall.cli.shared.output import print_table, quantity

if TYPE_CHECKING:
    from footfall.measure.audit import Audit, AuditRow


def show_audit(audit: Audit) -> None:
    """Every row of an audit, with what it asks."""
    rows = [[row.name, *_numbers(row), _at(row), row.verdict, row.meaning] for row in audit.rows]
    verdict = "passes" if audit.passed else audit.summary + (f" ({audit.remedy})" if audit.remedy else "")
    columns = ("row", "worst>", "limit>", "at>", "verdict", "what it asks")
    print_table(columns, rows, title=f"Audit of {audit.title}: {verdict}")


def show_notes(audits: Mapping[str, Audit]) -> None:
    """The rows of several audits that have a note, are not known or fail."""
    rows = [
        [label, row.name, *_numbers(row), _at(row), row.verdict]
        for label, audit in audits.items()
        for row in audit.rows
        if row.verdict != "pass"
    ]
    if rows:
        print_table(("audit", "row", "worst>", "limit>", "at>", "verdict"), rows)


def _numbers(row: AuditRow) -> tuple[str, str]:
    return quantity(row.worst, row.unit), quantity(row.limit, row.unit)


def _at(row: AuditRow) -> str:
    """The time of the worst sample; empty where the error is zero or rounding."""
    nothing = row.when != row.when or quantity(row.worst, row.unit) == quantity(0.0, row.unit)
    return "" if nothing else f"{row.when:.4g} s"
