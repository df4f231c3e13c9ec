"""Commands as processes of their own, and what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import footfall

HOME = Path(footfall.__file__).parents[1]


def footfall_process(*args: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(HOME)}
    command = [sys.executable, "-m", "footfall", *args]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def one_line(text: str) -> str:
    """A sentence on stderr, apart from the warning that code is being compiled."""
    lines = [line for line in text.splitlines() if "compiling" not in line]
    assert len(lines) == 1, text
    assert lines[0].startswith("footfall: ")
    return lines[0]
