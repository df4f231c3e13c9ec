"""What commands print: tables and JSON on stdout, progress and remarks on stderr."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

PIPE_WIDTH = 120  # columns where the output is no terminal


def print_json(value: Any) -> None:
    """One line of JSON, at once; numbers that JSON cannot hold become null, NumPy's values plain ones."""
    print(json.dumps(_plain(value), ensure_ascii=False), flush=True)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> None:
    """A table with a head. Columns whose name ends in ``>`` are aligned to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in columns:
        right = column.endswith(">")
        table.add_column(column.rstrip(">"), justify="right" if right else "left", no_wrap=right)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    _print(table)


def print_facts(facts: Mapping[str, str], *, title: str = "") -> None:
    """Names and values, one a line."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", title_style="bold", box=None, show_header=False)
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, Text(value))
    _print(table)


def print_text(docstring: str) -> None:
    """A docstring as text for people: without backquotes, paragraphs filled."""
    import inspect

    from rich.text import Text

    for block in inspect.cleandoc(docstring).replace("`", "").split("\n\n"):
        is_prose = not any(line.startswith((" ", "-")) for line in block.splitlines())
        _print(Text(" ".join(block.split()) if is_prose else block))
        print()


def say(sentence: str) -> None:
    """A remark on stderr."""
    print(f"footfall: {sentence}", file=sys.stderr, flush=True)


@contextmanager
def progress_bar(what: str, total: float, unit: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on stderr, moved by calling with the amount done; None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    amount = TextColumn(f"{{task.completed:.4g}} / {{task.total:.4g}} {unit}")
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def length(metres: float) -> str:
    """A length in the unit that fits it."""
    return _scaled(metres, (("m", 1.0), ("mm", 1e-3), ("µm", 1e-6), ("nm", 1e-9)))


def seconds(value: float) -> str:
    """A time in the unit that fits it."""
    return _scaled(value, (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)))


def _scaled(value: float, units: Sequence[tuple[str, float]]) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {units[0][0]}"
    unit, size = next((one for one in units if abs(value) >= 0.9999 * one[1]), units[-1])
    return f"{value / size:.4g} {unit}"


def _print(item: Any) -> None:
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False).print(item)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers, which need not be imported to be known
        return _plain(value.tolist())
    return value
