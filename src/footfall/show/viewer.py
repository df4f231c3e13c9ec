"""Recordings in the browser: the page of the report, served on this machine."""

from __future__ import annotations

import time as clock
import webbrowser
from collections.abc import Sequence
from typing import Any

from footfall.record import Record
from footfall.show.report import chosen, render_report
from footfall.show.server import PageServer
from footfall.show.tables import audits_of


def view(
    recordings: Record | Sequence[Record],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    ghosts: bool = False,
    labels: Sequence[str] | None = None,
    open_browser: bool = True,
    block: bool = True,
) -> Viewer:
    """Show recordings in the browser, side by side or, with ``ghosts``, translucent in one place.

    ``port`` 0 takes any free one. With ``block`` it returns when the user presses Ctrl-C; without, the viewer
    is handed back at once and runs until its ``stop()``.
    """
    viewer = Viewer(recordings, host=host, port=port, ghosts=ghosts, labels=labels)
    print(f"footfall: the view is at {viewer.address}" + (" (Ctrl-C ends it)" if block else ""), flush=True)
    if open_browser:
        webbrowser.open(viewer.address)
    if block:
        try:
            while True:
                clock.sleep(3600)
        except KeyboardInterrupt:
            viewer.stop()
    return viewer


class Viewer:
    """Recordings at an address of this machine, until ``stop()``: replay, plots and tables of the report."""

    def __init__(
        self,
        recordings: Record | Sequence[Record],
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        ghosts: bool = False,
        labels: Sequence[str] | None = None,
    ) -> None:
        runs, names, title = chosen(recordings, labels, "the view")
        options: dict[str, Any] = {"overlay": True} if ghosts else {}
        page = render_report(runs, names, title, audits_of(runs, None), options=options)
        self.server = PageServer(page, host, port)
        self.address = self.server.address

    def stop(self) -> None:
        """End the view."""
        self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
