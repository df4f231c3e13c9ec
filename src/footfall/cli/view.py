"""`footfall view`: recordings in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from footfall.cli.recordings import loaded


@dataclass(frozen=True, kw_only=True)
class Command:
    """Show recordings in the browser, with their contact forces; Ctrl-C ends it."""

    recordings: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RECORDING...")]
    """directories that footfall run --out wrote"""
    ghosts: bool = False
    """several in one place, translucent, instead of side by side"""
    host: Annotated[str, tyro.conf.arg(metavar="ADDRESS")] = "127.0.0.1"
    """address to serve at; the default is this machine alone"""
    port: int = 8080
    """0 takes any free one"""
    no_browser: bool = False
    """do not open the browser, only print the address"""

    def run(self) -> int:
        from footfall.show.viewer import view

        recordings = loaded(self.recordings, "view")
        view(recordings, host=self.host, port=self.port, ghosts=self.ghosts, open_browser=not self.no_browser)
        return 0
