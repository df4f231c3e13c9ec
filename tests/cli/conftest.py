"""Where commands are tried."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Commands leave recordings under the current directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FOOTFALL_DEBUG", raising=False)
