"""Errors of usage, and pairs NAME=VALUE as they are typed."""

from __future__ import annotations

from collections.abc import Iterable

from footfall.errors import FootfallError


class UsageError(FootfallError):
    """An option cannot be understood; the command exits with 2."""


def pairs(texts: Iterable[str], what: str, form: str) -> dict[str, str]:
    """Texts ``NAME=VALUE`` as a mapping; any other text is refused, naming ``what`` it should be and its ``form``."""
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not (name and value):
            raise UsageError(f"cannot read {what} '{text}': write {form}")
        found[name] = value
    return found
