"""`footfall view`: recordings in the browser, or a robot while it is simulated."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from footfall.cli.run import Run
from footfall.cli.shared.result import loaded, save
from footfall.cli.shared.usage import Command, argument, option
from footfall.given_numbers import Bounds


class Place(Command):
    """Where a view is served."""

    port: Annotated[int, Bounds(0, 65535)] = option(8080, "0 takes any free one")
    no_browser: bool = option(False, "do not open the browser, only print the address")


class View(Place):
    """Show recordings in the browser, with their contact forces; Ctrl-C ends it.

    footfall view runs/push

    footfall view spatial-biped --live

    With --live the robot is simulated while you watch, with the options of footfall run: drag a body to push it.
    """

    recordings: tuple[Path, ...] = argument("RECORDING...", "directories that footfall run --out wrote")
    live: bool = option(
        False, "simulate a robot and show it meanwhile; write it after ROBOT to see its options with --help"
    )

    def run(self) -> int:
        from footfall.show.viewer import view

        recordings = loaded(self.recordings, "view")
        view(recordings, port=self.port, open_browser=not self.no_browser)
        return 0


class LiveView(Place, Run):
    """Simulate a robot in the browser: drag a body to push it, pause, step, reset, change law, friction or
    speed; Ctrl-C ends it.

    footfall view spatial-biped --live --law time-stepping --controller balance
    """

    live: bool = option(False, "simulate a robot and show it meanwhile")
    pace: Annotated[float, Bounds(0.001, 1000.0)] = option(
        1.0, "simulated seconds per second, where the law is fast enough"
    )

    usual_duration = 600.0

    def run(self) -> int:
        from footfall.live import LiveView as LiveRun

        self.check_place(self.out)
        sim, duration, options = self.prepared()
        # A live run is long: a hundred samples a second are kept of it, unless asked otherwise.
        options["record_dt"] = self.record_dt or max(1, round(0.01 / sim.dt)) * sim.dt
        place: dict[str, Any] = {"port": self.port, "open_browser": not self.no_browser}
        with LiveRun(sim, **place, speed=self.pace, pause_unwatched=True) as live, suppress(KeyboardInterrupt):
            live.run(duration, stay=True, **options)
        if self.out is not None and (rec := live.recording()) is not None:
            save(rec, self.out)
        return 0


def shape(args: Sequence[str]) -> type[View] | type[LiveView]:
    """The command for recordings, or the one for a robot."""
    return LiveView if "--live" in args else View
