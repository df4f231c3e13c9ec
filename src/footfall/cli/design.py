"""`footfall design`: vary parameters of robot, foot and gait, and show the front of best compromises."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from footfall.cli.shared.output import (
    keep_plot,
    kept_if_interrupted,
    print_json,
    print_table,
    progress_bar,
    say,
    seconds,
)
from footfall.cli.shared.usage import UsageError
from footfall.cli.sweep import read_toml

if TYPE_CHECKING:
    from footfall.study.design import Design

SECTIONS = ("simulation", "vary", "goals", "cases", "rounds", "seed")
#: Rows of the front that are printed.
SHOWN = 12
#: Characters of a line in a column's head, where its name has parts.
WIDEST = 12


@dataclass(frozen=True, kw_only=True)
class Command:
    """Vary parameters of robot, foot and gait, and show the best compromises between several measures (the Pareto
    front).

    footfall design feet.toml --out feet --plot feet.png

    The file has a table [simulation] as a sweep has it, [vary] with lower and upper bound of each input, as in
    "robot.foot_length" = [0.16, 0.3], [goals] with a weight for each measure (negative: larger is better), cases per
    round and rounds. A design whose robot falls is left out. Each finished case is written to disk at once: if the
    command is killed, the same command continues.
    """

    study: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DESIGN.toml")]
    """the file of the design"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="(default: beside the file)")] = None
    """folder of the rounds and their tables"""
    workers: Annotated[int | None, tyro.conf.arg(metavar="N", help_behavior_hint="(default: one per core)")] = None
    """processes at a time"""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="ADDRESS", help_behavior_hint="")] = None
    """run on the cluster of this Dask scheduler, as in tcp://node1:8786"""
    plot: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    """draw the goals against each other and the front: .png, .svg or .pdf"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from time import perf_counter

        from footfall.study.design import design

        given = _read(self.study)
        cases, rounds = given.get("cases", 32), given.get("rounds", 3)
        out = self.out or self.study.with_suffix("")
        started = perf_counter()
        with kept_if_interrupted(out), progress_bar(self.study.stem, cases * rounds, "designs") as bar:
            found = design(
                given["simulation"],
                given["vary"],
                given["goals"],
                cases=cases,
                rounds=rounds,
                seed=given.get("seed", 0),
                out=out,
                workers=self.workers,
                scheduler=self.scheduler,
                progress=None if bar is None else lambda done, total: bar(done),
            )
        keep_plot(found.plot, self.plot if found.front.size else None)
        if self.json:
            print_json(found.to_dict() | {"folder": str(out), "seconds": perf_counter() - started})
        else:
            _show(found)
            say(f"{len(found)} designs in {seconds(perf_counter() - started)}; their tables are in {out}")
        return int(not found.front.size)


def _read(path: Path) -> dict[str, Any]:
    given = read_toml(path, SECTIONS)
    for owed in ("simulation", "vary", "goals"):
        if not isinstance(given.get(owed), dict):
            raise UsageError(f"{path} has no table [{owed}]")
    for name in ("cases", "rounds", "seed"):
        if name in given and (isinstance(given[name], bool) or not isinstance(given[name], int)):
            raise UsageError(f"{path}: {name} is a whole number, not {given[name]!r}")
    return given


def _show(found: Design) -> None:
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
    """A name broken where its parts meet, so that a table of many columns fits."""
    lines = [""]
    for part in re.findall(r"[^._]+[._]?", name):
        if lines[-1] and len(lines[-1]) + len(part) > WIDEST:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)
