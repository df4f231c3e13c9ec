"""`footfall arena`: every engine on the same questions, with the truth beside it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from footfall.cli.shared.output import (
    kept_if_interrupted,
    print_json,
    print_rows,
    print_table,
    say,
    sentences_bar,
    tell,
    text_of,
)
from footfall.cli.shared.usage import Command, JsonOption, argument, option
from footfall.errors import UsageError, did_you_mean
from footfall.files.atomic_write import write_text
from footfall.given_numbers import Positive, Whole


class Run(Command):
    """Ask engines questions with known answers, and keep what they answer.

    footfall arena run --engines mujoco drake pybullet footfall --groups closed-forms

    Each engine is installed by its package name in an environment of its own, once, and runs in a process of its own.
    What is in the folder is not asked again; footfall arena page draws it.
    """

    engines: tuple[str, ...] = option(
        ("mujoco", "footfall"), "names of guests, see footfall arena", "ENGINE[:VARIANT]..."
    )
    groups: tuple[str, ...] = option(("closed-forms",), "closed-forms, robots, measured, cost", "GROUP...")
    data: Path | None = option(None, "a folder with robots/ and cube_tosses/, for the questions that need them", "DIR")
    tune: Whole = option(0, "tune each engine, too, by N evaluations of the same search on training cases", "N")
    limit: Positive = option(120.0, "most processor time that an engine may take for one run", unit="s")
    out: Path = option(Path("arena"), "where rows and recordings are kept", "DIR")
    json: bool = option(False, "print a JSON object for each row")

    def run(self) -> int:
        from footfall.study.arena import arena

        with kept_if_interrupted(self.out), sentences_bar("arena") as report:
            given: dict[str, Any] = {"data": self.data, "evaluations": self.tune, "limit": self.limit}
            rows = arena(self.engines, self.groups, self.out, **given, say=report)
        names = {name.partition(":")[0] for name in self.engines}
        mine = [asdict(row) for row in rows if row.engine in names and row.group in self.groups]
        if self.json:
            for row in mine:
                print_json(row)
        elif mine:
            print_rows(mine, COLUMNS)
        return 0 if any(row["status"] == "done" for row in mine) else 1


COLUMNS = {
    "engine": "engine",
    "setting": "setting",
    "question": "question",
    "case": "case",
    "row": "status",
    "error>": "error:.2g",
    "µs/step>": "us_per_step:.3g",
    "audit": "audit",
    "reason": "reason",
}


class Add(Command):
    """Add an engine of your own: a Python file with a class World, see docs/arena-rules.md.

    footfall arena add my_engine.py

    It is asked one question whose answer is known, then kept under its name.
    """

    file: Path = argument("FILE.py", "the guest")

    def run(self) -> int:
        import tempfile

        from footfall.study.arena import arena
        from footfall.study.arena.running import add

        with tempfile.TemporaryDirectory() as out:
            rows = arena([f"{self.file}:default"], ["closed-forms"], out, questions=["throw"], say=say)
        print_rows([asdict(row) for row in rows], COLUMNS)
        if not any(row.status == "done" for row in rows):
            say(f"'{self.file}' does not answer yet, and was not added")
            return 1
        print(f"added: footfall arena run --engines {add(str(self.file)).name}")
        return 0


class Page(Command):
    """Write the page of all answers: a picture and a sentence for each question.

    footfall arena page --from arena --out docs/arena.md
    """

    source: Path = option(Path("arena"), "where footfall arena run has kept its rows", "DIR", name="from")
    out: Path = option(Path("arena.md"), "the page; its pictures go to images/ beside it", "FILE.md")

    def run(self) -> int:
        from footfall.study.arena import load_rows
        from footfall.study.arena.page import parts_of_page

        parts = parts_of_page(load_rows(self.source), self.out.parent / "images")
        print(f"wrote {write_text(self.out, text_of('arena.md.txt', **parts))}")
        return 0


class Arena(JsonOption):
    """Compare engines: footfall arena run, add FILE.py or page; without these, they are listed."""

    what: str | None = argument("[run|add|page]", "what to do", None)

    def run(self) -> int:
        from footfall.study.arena.running import guest, guests, made

        if self.what is not None:
            raise UsageError(f"the arena cannot '{self.what}': {did_you_mean(self.what, SUBCOMMANDS)}")
        found = [one._asdict() | {"file": str(one.file), "installed": made(one)} for one in map(guest, guests())]
        rows = [[o["name"], ", ".join(o["packages"]), "yes" if o["installed"] else "no", o["about"]] for o in found]
        return tell(self.json, found, lambda: print_table(("engine", "packages", "installed", "what it is"), rows))


SUBCOMMANDS: dict[str, type] = {"run": Run, "add": Add, "page": Page}
