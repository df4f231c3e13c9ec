"""`footfall sweep` and `footfall design`: many simulations from one study file into tables."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from footfall.cli.shared.output import (
    keep_plot,
    kept_if_interrupted,
    print_json,
    print_table,
    progress_bar,
    say,
    seconds,
)
from footfall.cli.shared.usage import JsonOption, UsageError, argument, option
from footfall.errors import did_you_mean

if TYPE_CHECKING:
    from footfall.study.design import Design as Designs
    from footfall.study.sweep import SweepTable


SECTIONS = ("simulation", "grid", "samples", "table", "measures", "seed")
DESIGN_SECTIONS = ("simulation", "vary", "goals", "cases", "rounds", "seed")
#: Rows of a table that are printed.
SHOWN = 12
#: Characters of a line in a column's head, where its name has words.
WIDEST = 12


class StudyOptions(JsonOption):
    """A study file, and where and by whom its cases are done."""

    study: Path = argument("STUDY.toml", "the study file")
    out: Path | None = option(None, "folder of the study and its tables", "DIR", note="(default: beside the file)")
    workers: int | None = option(None, "processes at a time", "N", note="(default: one per core)")
    scheduler: str | None = option(None, "run on the cluster of this Dask scheduler, as in tcp://node1:8786", "ADDRESS")
    plot: Path | None = option(
        None, "draw the first measure over the first input, or the goals against each other: .png, .svg or .pdf"
    )

    @property
    def folder(self) -> Path:
        return self.out or self.study.with_suffix("")

    def read(self, sections: tuple[str, ...], owed: tuple[str, ...]) -> dict[str, Any]:
        """The study file; keys other than ``sections`` are refused, and tables that are ``owed`` must be there."""
        path = self.study
        if path.suffix.lower() in (".yaml", ".yml", ".json"):
            raise UsageError(f"'{path}': a study is a TOML file, with the ending .toml; footfall new study writes one")
        try:
            given = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"cannot read the study '{path}': {getattr(error, 'strerror', None) or error}") from error
        _check(str(path), given, sections)
        for name in owed:
            if not isinstance(given.get(name), dict):
                raise UsageError(f"{path} has no table [{name}]")
        return given

    def done(self, work: Callable[..., Any], *given: Any, what: str, **options: Any) -> tuple[Any, float]:
        """What a study finds with a progress bar, and the s that it takes."""
        begin, places = perf_counter(), {"out": self.folder, "workers": self.workers, "scheduler": self.scheduler}
        with kept_if_interrupted(self.folder), progress_bar(self.study.stem, what) as bar:
            found = work(*given, **options, **places, progress=bar)
        return found, perf_counter() - begin


class Sweep(StudyOptions):
    """Run every case of a study file and write one table with a row per case, as Parquet and as CSV.

    footfall sweep pushes.toml --out pushes

    The file has a table [simulation] (robot, law, ground, controller, push, duration, ...), inputs in [grid] (lists,
    every combination) or [samples] (number, method = "sobol" or "random", and [samples.bounds] with lower and upper
    bounds) or table = "cases.csv", and measures = [...]. An input is the path of a setting, as in "law.k",
    "ground.friction" or "push.size". Each finished case is written to disk at once: if the command is killed, the same
    command continues. Exits with 1 if every case failed.
    """

    retry: bool = option(False, "repeat the cases that failed when the study ran before")

    def run(self) -> int:
        from footfall.study.sweep import Samples, sweep
        from footfall.study.sweep.work import DEFAULT

        given = self.read(SECTIONS, ("simulation",))
        samples = given.get("samples")
        if samples is not None:
            _check(f"{self.study}, [samples]", samples, ("number", "method", "bounds"))
            for owed in ("number", "bounds"):
                if owed not in samples:
                    raise UsageError(f"{self.study}: [samples] needs '{owed}'")
            samples = Samples(**samples)
        beside = None if given.get("table") is None else self.study.parent / given["table"]
        options = {"measures": given.get("measures", DEFAULT), "seed": given.get("seed", 0), "retry": self.retry}
        inputs = {"grid": given.get("grid"), "samples": samples, "table": beside}
        table, took = self.done(sweep, given["simulation"], what="cases", **inputs, **options)
        keep_plot(lambda: table.plot(table.outputs[0]), self.plot)
        file = str(self.folder / "table.parquet")
        about = {"cases": len(table), "failed": table.failed, "table": file, "seconds": took}
        if self.json:
            print_json(about | {"inputs": table.inputs, "outputs": table.outputs})
        else:
            _show_table(table)
            say(f"{len(table)} cases in {seconds(took)}; the table is {file}, and table.csv beside it")
        return int(0 < len(table) == table.failed)


def _check(where: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in table:
        if name not in known:
            raise UsageError(f"{where} has a key '{name}' that means nothing: {did_you_mean(name, known)}")


def _show_table(table: SweepTable) -> None:
    from footfall.study.sweep import titled

    names = ["case", *table.inputs, *table.outputs]
    cells = zip(*(table.columns[name][:SHOWN] for name in names), strict=True)
    shown = [["" if v is None else f"{v:.4g}" if isinstance(v, float) else str(v) for v in row] for row in cells]
    first = f"the first {SHOWN} of {len(table)} cases" if len(table) > SHOWN else ""
    print_table(tuple(f"{_in_lines(name)}>" for name in names), shown, title=first)
    rows = []
    for name in table.outputs:
        values = table[name]
        if values.dtype.kind in "ifb":
            numbers = values.astype(float)[values == values]  # without NaN
            if numbers.size:
                rows.append([titled(name), *(f"{x:.4g}" for x in (numbers.min(), numbers.mean(), numbers.max()))])
                continue
        found = sorted(set(map(str, values)))
        rows.append([titled(name), ", ".join(found[:4]) + (", ..." if len(found) > 4 else ""), "", ""])
    title = f"{len(table)} cases, {table.failed} failed"
    if rows:
        print_table(("output", "least>", "mean>", "largest>"), rows, title=title)
    else:  # each case ended before there was anything to measure
        print(title)
    for message in sorted({str(m) for m in table.columns["message"] if m})[:5]:
        say(message)


class Design(StudyOptions):
    """Vary parameters of robot, foot and gait, and show the best compromises between several measures (the Pareto
    front).

    footfall design feet.toml --out feet --plot feet.png

    The file has a table [simulation] as a sweep has it, [vary] with lower and upper bound of each input, as in
    "robot.foot_length" = [0.16, 0.3], [goals] with a weight for each measure (negative: larger is better), cases per
    round and rounds. A design whose robot falls is left out. Each finished case is written to disk at once: if the
    command is killed, the same command continues.
    """

    def run(self) -> int:
        from footfall.study.design import design

        given = self.read(DESIGN_SECTIONS, ("simulation", "vary", "goals"))
        numbers = {"cases": 32, "rounds": 3, "seed": 0} | {
            name: given[name] for name in DESIGN_SECTIONS[3:] if name in given
        }
        for name, value in numbers.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"{self.study}: {name} is a whole number, not {value!r}")
        work = partial(design, **numbers)
        tables = (given["simulation"], given["vary"], given["goals"])
        found, took = self.done(work, *tables, what="designs")
        keep_plot(found.plot, self.plot if found.front.size else None)
        if self.json:
            print_json(found.to_dict() | {"folder": str(self.folder), "seconds": took})
        else:
            _show_front(found)
            say(f"{len(found)} designs in {seconds(took)}; their tables are in {self.folder}")
        return int(not found.front.size)


def _show_front(found: Designs) -> None:
    if not found.front.size:
        say(f"none of the {len(found)} designs is admissible: {found.why_not()}")
        return
    rows = found.rows()
    columns = list(rows[0])
    fell = len(found) - int(found.admissible.sum())
    left_out = f", {fell} left out because the robot fell or the run failed" if fell else ""
    print_table(
        tuple(f"{_in_lines(name)}>" for name in columns),
        [[f"{row[name]:.4g}" for name in columns] for row in rows[:SHOWN]],
        title=f"{len(rows)} best compromises of {len(found)} designs{left_out}; best by the weights first",
    )


def _in_lines(name: str) -> str:
    """A column for people, broken between words, so that a table of many columns fits."""
    from footfall.study.sweep import titled

    words, bracket, unit = titled(name).partition(" (")
    return textwrap.fill(words, WIDEST) + (f"\n({unit}" if bracket else "")
