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
def test_no_public_name_disappears(kind):
    names = {name for of, name in LISTED if of == kind}
    if kind in FOUND:
        assert names <= set(FOUND[kind])
        return
    room = import_module(kind)
    gone = {name for name in names if not hasattr(room, name)} | (names - set(getattr(room, "__all__", names)))
    assert not gone, f"deprecate first, as docs/stability.md says: {sorted(gone)}"


def test_the_first_page_needs_few_names():
    """``ff.`` is what a beginner reads in completion: the rest is in its rooms."""
    assert len([name for name in ff.__all__ if name in ff._HOMES]) <= 24
