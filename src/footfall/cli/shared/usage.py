"""The error of a command that was typed wrongly."""

from __future__ import annotations

from footfall.errors import FootfallError


class UsageError(FootfallError):
    """An option cannot be understood; the command exits with 2."""
