"""What is public stays: public_names.txt lists it, a line each, and grows with every release (docs/stability.md)."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import footfall as ff
from footfall.cli import COMMANDS

LISTED = [line.split() for line in (Path(__file__).parent / "public_names.txt").read_text().splitlines()]
FOUND = {"command": COMMANDS, "law": ff.laws(), "robot": ff.robots()}


@pytest.mark.parametrize("kind", sorted({kind for kind, _ in LISTED}))
def test_public_names_are_those_that_are_listed(kind):
    """None disappears, and a new one is kept from its first day."""
    listed, room = {name for of, name in LISTED if of == kind}, None if kind in FOUND else import_module(kind)
    found = set(FOUND[kind] if room is None else getattr(room, "__all__", listed))
    assert not listed - found, f"deprecate first, as docs/stability.md says: {sorted(listed - found)}"
    assert not found - listed, f"new public names: add them to public_names.txt: {sorted(found - listed)}"
    assert room is None or all(hasattr(room, name) for name in listed)


def test_the_first_page_needs_few_names():
    """``ff.`` is what a beginner reads in completion: the rest is in its rooms."""
    assert len([name for name in ff.__all__ if name in ff._HOMES]) <= 24
