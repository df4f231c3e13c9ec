"""Tables as HTML, for what notebooks show of a value, and as Markdown, for pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(title: str, head: Sequence[str], lines: Sequence[Sequence[str]], below: str = "") -> str:
    """A table with its title above and a text below."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in lines)
    end = f"<p>{escape(below)}</p>" if below else ""
    return f"<p><b>{escape(title)}</b></p><table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>{end}"


def markdown_row(cells: Iterable[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with its head, a line each."""
    return "".join(map(markdown_row, [head, ["---"] * len(head), *rows]))
