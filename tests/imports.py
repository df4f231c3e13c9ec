"""What a file imports, anywhere in its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path


def statements(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Every statement, also those inside others; expressions, most of a file, hold none and are left out."""
    for one in body:
        yield one
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(one, part, ()))


@cache
def imports_in(file: Path) -> tuple[list[ast.Import], list[ast.ImportFrom]]:
    """The statements ``import a`` and the statements ``from a import b`` of a file."""
    found = list(statements(ast.parse(file.read_text(encoding="utf-8")).body))
    return [one for one in found if isinstance(one, ast.Import)], [
        one for one in found if isinstance(one, ast.ImportFrom)
    ]
