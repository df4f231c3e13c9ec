"""Text files of other programs: their encodings, and numbers as their countries write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

#: What stands for a missing number.
MISSING = frozenset(("", "nan", "na", "n/a", "null", "none", "-", "--", "#n/a", "missing"))
_COMMA = re.compile(r"^[+-]?\d[\d.]*,\d+([eE][+-]?\d+)?$|^[+-]?\d+,\d+$")


def read_text(path: Path) -> str:
    """The text of a file: UTF-8 or UTF-16, with or without a byte order mark, or else Windows' Western encoding."""
    content = path.read_bytes()
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    if b"\0" in content[:4096]:
        raise ValueError("it is binary, and not text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def number(cell: str, comma: bool = False) -> float:
    """A number, NaN where it is missing; with ``comma`` as 1.234,5. A ``ValueError`` where it is none."""
    text = cell.strip().strip('"').strip()
    if text.lower() in MISSING:
        return float("nan")
    if comma and "," in text:
        text = text.replace(".", "").replace(",", ".")
    if "_" in text:  # Python reads 1_000 as a number
        raise ValueError(f"could not convert '{text}' to a number")
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"could not convert '{text}' to a number") from None


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, written with a point or a comma; a missing one is none."""
    text = cell.strip().strip('"').strip()
    if text.lower() in MISSING:
        return False
    try:
        number(text, comma=bool(_COMMA.match(text)))
    except ValueError:
        return False
    return True


def has_commas(cells: Iterable[str]) -> bool:
    """Whether numbers are written with a comma: some are, and none with a point alone."""
    found = False
    for cell in cells:
        text = cell.strip().strip('"').strip()
        if _COMMA.match(text):
            found = True
        elif re.match(r"^[+-]?\d+\.\d+$", text):
            return False
    return found


def unique(names: Iterable[str]) -> list[str]:
    """The names, a second one of the same with its number after it."""
    found: list[str] = []
    for i, name in enumerate(names):
        found.append(name if name not in found else f"{name}#{i + 1}")
    return found
