"""Tables as HTML, for what notebooks show of a value."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def html_table(title: str, head: Sequence[str], lines: Sequence[Sequence[str]], below: str = "") -> str:
    """A table with its title above and a text below."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in lines)
    end = f"<p>{escape(below)}</p>" if below else ""
    return f"<p><b>{escape(title)}</b></p><table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>{end}"
