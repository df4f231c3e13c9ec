"""The links of docs/equations.md: every numbered equation of the papers, to the line of code that computes it.

    python tools/equation_links.py          # writes the links anew, after lines have moved
    python tools/equation_links.py --check  # says where they are not what the code says

A comment such as ``# Rengifo 2009, eq. 17-18; Ott 2011, eq. 2`` marks its line of code, or the next one where it has a
line of its own. The page lists equations and parts of papers, and gives the reason where there is no code; the places
are written here.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE, SOURCE = ROOT / "docs" / "equations.md", ROOT / "src" / "footfall"
MARK = re.compile(r"(\w+ \d{4}), (eq\. \d+(?:(?:-|, )\d+)*|Table I\b|sec\. [IV]+(?:[.-][A-D])?)")
COMMENT = re.compile(r"(?:^|\s)# (.*)$")
ROW = re.compile(r"^\| ([^|]*) \| ([^|]*) \| ([^|]*) \|$")


class Place(NamedTuple):
    """A line of code that is marked with an equation or a part of a paper."""

    paper: str  # as "Ott 2011"
    part: str  # as "eq. 18" or "sec. III"
    file: str
    line: int
    function: str


def links(places: list[Place]) -> str:
    """Links to some lines; where they are of several equations, each with the numbers of its own."""
    by_line: dict[str, list[str]] = {}
    for one in places:
        link = f"[`{one.file}:{one.line}`](../src/footfall/{one.file}#L{one.line}) in `{one.function}`"
        by_line.setdefault(link, []).append(one.part.replace("eq. ", "(") + ")")
    several = len({one.part for one in places}) > 1
    return "<br>".join(f"{', '.join(parts)}: {link}" if several else link for link, parts in by_line.items())


def numbers(text: str) -> list[int]:
    """The numbers of "eq. 4, 7-9", and of "(4), (7)-(9)"."""
    found: list[int] = []
    for first, last in re.findall(r"(\d+)(?:\)?-\(?(\d+))?", text):
        found += range(int(first), int(last or first) + 1)
    return found


def places() -> Iterator[Place]:
    """All marked lines of the source, in the order of files and lines."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not MARK.search(text):
            continue
        functions = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef | ast.ClassDef)]
        lines = text.splitlines()
        for i, line in enumerate(lines):
            comment = COMMENT.search(line)
            for paper, parts in MARK.findall(comment[1]) if comment else ():
                at = i + 1
                while lines[at - 1].lstrip().startswith("#"):
                    at += 1
                around = [one for one in functions if one.lineno <= at <= (one.end_lineno or 0)]
                name = max(around, key=lambda one: one.lineno).name if around else path.stem
                each = [f"eq. {one}" for one in numbers(parts)] if parts.startswith("eq.") else [parts]
                file = path.relative_to(SOURCE).as_posix()
                yield from (Place(paper, part, file, at, name) for part in each)


def key(heading: str) -> str:
    """The paper of a heading such as "## Ott, Roa and Hirzinger 2011", as comments name it."""
    words = heading.split()
    return f"{words[1].rstrip(',')} {words[-1]}"


def page(text: str, marked: list[Place]) -> tuple[str, list[str]]:
    """The page with the links that the code asks for, and what is wrong with its rows."""
    lines, paper, told, wrong = text.splitlines(), "", set[tuple[str, str]](), []
    papers = {key(line) for line in lines if line.startswith("## ")}
    marked = [one for one in marked if one.paper in papers]  # of other papers, which the page does not list
    for i, line in enumerate(lines):
        if line.startswith("## "):
            paper = key(line)
        row = ROW.match(line)
        if row is None or row[1] in ("equation", "part") or row[1].startswith("-"):
            continue
        parts = [f"eq. {one}" for one in numbers(row[1])] if row[1].startswith("(") else [row[1]]
        told |= {(paper, part) for part in parts}
        own = [one for one in marked if one.paper == paper and one.part in parts]
        if row[3].startswith("none: "):
            wrong += [f"{paper}, {one.part} has code after all: {one.file}:{one.line}" for one in own]
            continue
        wrong += [f"{paper}, {part}: no line of code is marked" for part in set(parts) - {one.part for one in own}]
        lines[i] = f"| {row[1]} | {row[2]} | {links(sorted(own, key=lambda one: numbers(one.part)))} |"
    wrong += [
        f"{one.file}:{one.line}: the page has no {one.paper}, {one.part}" for one in marked if one[:2] not in told
    ]
    return "\n".join(lines) + "\n", wrong


def main() -> int:
    before = PAGE.read_text(encoding="utf-8")
    after, wrong = page(before, list(places()))
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(after, encoding="utf-8")
    elif before != after:
        wrong.append("links of docs/equations.md are stale: python tools/equation_links.py")
    print("\n".join(wrong) or "every equation leads to its line")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
