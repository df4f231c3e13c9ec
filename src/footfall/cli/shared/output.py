"""What commands print: tables, audits and JSON on stdout, progress and warnings on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footfall.cli.shared.usage import Command, option
from footfall.files.json_values import json_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from footfall.files.measured import Measured
    from footfall.measure.audit import Audit, AuditRow
    from footfall.record import Record


PIPE_WIDTH = 120  # columns where the output is no terminal


def print_json(value: Any) -> None:
    """One line of JSON, at once; numbers that JSON cannot hold become null, NumPy's values plain ones."""
    print(json.dumps(json_value(value), ensure_ascii=False), flush=True)


def given(options: Any, *names: str) -> dict[str, Any]:
    """Some options of a command by name, for a function that has arguments of the same names."""
    return {name: getattr(options, name) for name in names}


def tell(json: bool, told: Any, shown: str | Callable[[], object]) -> int:
    """Print something as JSON, or as people read it; returns the exit code 0."""
    if json:
        print_json(told)
    elif isinstance(shown, str):
        print(shown)
    else:
        shown()
    return 0


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", one_line: bool = False
) -> None:
    """A table with a head. Columns whose name ends in ``>`` are aligned to the right.

    Names and numbers stay whole; where a line is too long for them, heads are broken into words. With ``one_line`` each
    row is one line, and what does not fit into the last column is cut off.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    rows = list(rows)
    widths = [max([len(name.rstrip(">")), *(len(row[i]) for row in rows)]) for i, name in enumerate(columns)]
    long = sum(widths) > _console().width - 3 * len(columns) - 1  # without bars and blanks
    for i, column in enumerate(columns):
        right, name = column.endswith(">"), column.rstrip(">")
        whole = right or not any(" " in row[i] for row in rows)
        head = name.replace(" ", "\n") if long and whole and not one_line else name
        table.add_column(head, justify="right" if right else "left", no_wrap=whole, overflow="fold")
    cut: dict[str, Any] = {"no_wrap": True, "overflow": "ellipsis"} if one_line else {}
    for row in rows:
        table.add_row(*(Text(cell, **cut) for cell in row))
    _print(table)


def print_rows(
    rows: Sequence[Any], columns: Mapping[str, str | Callable[[Any], str]] | None = None, *, title: str = ""
) -> None:
    """Print values as the rows of a table; by the head of each column its field and, after a colon, format or unit, or
    a function that gives its text.

    Without ``columns``, rows that are mappings have one for each of their names.
    """

    def cell(row: Any, what: str | Callable[[Any], str]) -> str:
        if not isinstance(what, str):
            return what(row)
        name, _, form = what.partition(":")
        value = row[name] if isinstance(row, Mapping) else getattr(row, name)
        if value is None or value != value:  # there is no such number
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return quantity(value, form) if form.isalpha() else format(value, form * isinstance(value, float))

    if columns is None:
        numbers = {name: isinstance(value, int | float) for name, value in rows[0].items()}
        columns = {f"{name.replace('_', ' ')}{'>' * numbers[name]}": f"{name}:.4g" for name in numbers}
    print_table(tuple(columns), [[cell(row, what) for what in columns.values()] for row in rows], title=title)


def print_facts(facts: Mapping[str, str], *, title: str = "") -> None:
    """Print names and values, one per line."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", title_style="bold", box=None, show_header=False)
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, Text(value))
    _print(table)


def print_text(docstring: str) -> None:
    """Print a docstring as plain text, paragraphs filled."""
    import inspect

    from rich.text import Text

    for block in without_markup(inspect.cleandoc(docstring)).split("\n\n"):
        is_prose = not any(line.startswith((" ", "-")) for line in block.splitlines())
        _print(Text(" ".join(block.split()) if is_prose else block))
        print()


def without_markup(text: str) -> str:
    """Text without Sphinx markup: roles, backquotes, stars of emphasis."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("`", "")
    text = re.sub(r"(?<![\w*])\*{1,2}(\w[^*\n]*?\w|\w)\*{1,2}(?![\w*])", r"\1", text)
    return re.sub(r"::$", ":", text, flags=re.M)


def text_of(file: str, /, **values: Any) -> str:
    """A text that a command writes, with values in its places."""
    text = (Path(__file__).parents[1] / "texts" / file).read_text(encoding="utf-8")
    return text.format(**values)


def say(sentence: str) -> None:
    """A warning on stderr."""
    print(f"footfall: {sentence}", file=sys.stderr, flush=True)


def keep_plot(draw: Callable[[], Figure], path: Path | None) -> None:
    """Draw a plot and write it, if a path was given for it, and say so."""
    if path is not None:
        from footfall.show.plots import save_plot

        say(f"wrote {save_plot(draw(), path)}")


@contextmanager
def kept_if_interrupted(folder: os.PathLike[str]) -> Iterator[None]:
    """Say, when a study is interrupted, that the finished cases are kept."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"what is finished is kept in {os.fspath(folder)}: the same command goes on with the rest")
        raise


@contextmanager
def _bar(what: str, total: float | None, *columns: Any) -> Iterator[Callable[..., None]]:
    """A bar on stderr with these columns; what is yielded changes it."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield partial(bar.update, bar.add_task(what, total=total))


@contextmanager
def progress_bar(what: str, unit: str) -> Iterator[Callable[[float, float], None] | None]:
    """A progress bar on stderr, called with how much is done and how much there is; None where stderr is not a
    terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    digits = ".2f" if unit == "s" else ".0f"  # seconds of simulated time, or things that are counted
    amount = TextColumn(f"{{task.completed:{digits}}} / {{task.total:g}} {unit}")
    with _bar(what, 0.0, TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn()) as change:
        yield lambda done, total: change(completed=done, total=total)


@contextmanager
def share_bar(what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """The same; where stderr is not a terminal, a line for every tenth."""
    tenths = [0]

    def line(done: float, total: float) -> None:
        if (tenth := int(10.0 * done / total)) > tenths[-1]:
            tenths.append(tenth)
            say(f"{what}: {10 * tenth} % {unit}")

    with progress_bar(what, unit) as bar:
        yield bar or line


@contextmanager
def sentences_bar(what: str) -> Iterator[Callable[[str], None]]:
    """A bar on stderr for work of unknown length, which shows the last sentence; plain lines where it is not a
    terminal.
    """
    if not sys.stderr.isatty():
        yield say
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with _bar(what, None, *columns) as change:
        yield lambda sentence: change(description=sentence)


def quantity(value: float, unit: str) -> str:
    """A value in a unit that suits its size, as reports write it: rounding errors are 0."""
    from footfall.measure.summary import number

    return number(value, unit)


def seconds(value: float) -> str:
    """A time in the unit that fits it."""
    return quantity(1e6 * value, "µs")


def _console() -> Any:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)


def _print(item: Any) -> None:
    _console().print(item)


AUDIT: dict[str, str | Callable[[AuditRow], str]] = {
    "row": "name",
    "worst>": lambda row: quantity(row.worst, row.unit),
    "limit>": lambda row: quantity(row.limit, row.unit),
    "at>": lambda row: _at(row),
    "verdict": "verdict",
}


def show_audit(audit: Audit) -> None:
    """Every row of an audit, with what it asks."""
    verdict = "passes" if audit.passed else audit.summary + (f" ({audit.remedy})" if audit.remedy else "")
    print_rows(audit.rows, AUDIT | {"what it asks": "meaning"}, title=f"Audit of {audit.title}: {verdict}")


def show_notes(audits: Mapping[str, Audit]) -> None:
    """The rows of several audits that have a note, are not known or fail."""
    notes = [(a, row) for a, one in audits.items() for row in one.rows if row.verdict not in ("pass", "by design")]
    of = {id(row): label for label, row in notes}
    if notes:
        print_rows([row for _, row in notes], {"audit": lambda row: of[id(row)], **AUDIT})


def _at(row: AuditRow) -> str:
    """The time of the worst sample; empty where the error is zero or rounding."""
    nothing = row.when != row.when or quantity(row.worst, row.unit) == quantity(0.0, row.unit)
    return "" if nothing else f"{row.when:.4g} s"


class LawsOptions(Command):
    """Several laws."""

    laws: tuple[str, ...] = option(("all",), "which laws, see footfall laws", "all|NAME...")

    def chosen_laws(self) -> tuple[str, ...]:
        from footfall.contact import laws

        return tuple(laws()) if self.laws == ("all",) else self.laws


class MeasuredOptions(Command):
    """Which file of forces, and what is what in it."""

    measured: Path | None = option(
        None,
        "measured ground forces to lay over the simulated ones: .mot, .sto, .c3d or .csv, in the time of the recording",
    )
    measured_feet: dict[str, str] | None = option(
        None,
        "which vector of the file is the force on which foot, where names differ: left=ground_force_v",
        pair=("the vector of a foot", "FOOT=VECTOR, as in left=ground_force_v"),
    )

    def measured_forces(self) -> Measured | None:
        """The forces, or None where no file was given."""
        from footfall.files.motion import load_forces

        return None if self.measured is None else load_forces(self.measured, self.measured_feet)


def against_measured(runs: Mapping[str, Record], measured: Measured, *, show: bool) -> dict[str, Any]:
    """The errors of each measured force by recording, for JSON; if ``show``, they are printed as a table."""
    from footfall.measure.forces import forces_against

    found = {label: [one._asdict() for one in forces_against(rec, measured)] for label, rec in runs.items()}
    if show:
        columns = ("", "force", "rms N>", "peak N>", "measured>", "impulse N s>", "measured>", "peak later by s>")
        keys = ("rms", "peak", "measured_peak", "impulse", "measured_impulse", "timing")
        rows = [
            [label, f"{one['foot']} {one['axis']}", *(f"{one[key]:.4g}" for key in keys)]
            for label, errors in found.items()
            for one in errors
        ]
        print_table(columns, rows, title=f"against {measured.source}")
    return {"against_measured": found} if found else {}
