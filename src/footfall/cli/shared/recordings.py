"""The recordings that a command was given, loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from footfall.cli.shared.usage import UsageError

if TYPE_CHECKING:
    from footfall.recording import Recording


def loaded(folders: Sequence[Path | str], command: str) -> list[Recording]:
    """The recordings, at least one; none is an error of usage."""
    from footfall.recording import load_recording

    if not folders:
        raise UsageError(f"which recording? footfall {command} RECORDING..., a directory that footfall run --out wrote")
    return [load_recording(folder) for folder in folders]
