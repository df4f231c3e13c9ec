"""Robots and measured data that lie beside the project where they are there at all; no test fetches them."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"


def _sentence(path: str) -> str:
    return f"needs ../shared/{path}, which is not part of the project; nothing fetches it"


def needs(path: str) -> pytest.MarkDecorator:
    """Skip a test where a file or folder is missing, saying which."""
    return pytest.mark.skipif(not (SHARED / path).exists(), reason=_sentence(path))


def shared_file(path: str) -> Path:
    """A file or folder; the test that asks for it is skipped where it is missing."""
    if not (SHARED / path).exists():
        pytest.skip(_sentence(path))
    return SHARED / path
