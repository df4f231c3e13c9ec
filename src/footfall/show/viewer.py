"""The 3D viewer in the browser: recordings side by side or as ghosts."""

from __future__ import annotations

import threading
import time as clock
import webbrowser
from collections.abc import Sequence
from typing import Any

import numpy as np

from footfall.errors import RecordingError
from footfall.record import Record
from footfall.show.frames import labels_of, make_scene
from footfall.show.server import add_layers, paint, start_server, stop_server

#: Pictures a second that are sent to the browser.
PACE = 40.0
SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4")


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
    """Recordings in a viser server, with a time that plays. Times in s."""

    def __init__(
        self,
        recordings: Record | Sequence[Record],
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        ghosts: bool = False,
        labels: Sequence[str] | None = None,
    ) -> None:
        runs = [recordings] if isinstance(recordings, Record) else list(recordings)
        if not runs:
            raise RecordingError("the view needs at least one recording")
        names = labels_of(runs) if labels is None else list(labels)
        if len(names) != len(runs):
            raise RecordingError(f"{len(names)} labels were given for {len(runs)} recordings")
        self.scenes = [make_scene(rec) for rec in runs]
        self.server = start_server(host, port, f"Footfall: {', '.join(names)}")
        self.address = f"http://{self.server.get_host()}:{self.server.get_port()}"
        self.painters = paint(self.server, self.scenes, names, ghosts)
        self.span = (min(float(s.time[0]) for s in self.scenes), max(float(s.time[-1]) for s in self.scenes))
        self.time, self.playing = self.span[0], False
        self._shown: list[int] = [-1] * len(self.scenes)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._add_controls()
        self.seek(self.time)
        self._thread = threading.Thread(target=self._play, name="footfall-view", daemon=True)
        self._thread.start()

    def seek(self, time: float) -> None:
        """Show the samples nearest to a time, s."""
        self._show(time)
        self._slider.value = self.time

    def _show(self, time: float) -> None:
        self.time = float(np.clip(time, *self.span))
        with self._lock, self.server.atomic():
            for i, (scene, painter) in enumerate(zip(self.scenes, self.painters, strict=True)):
                index = scene.index(self.time)
                if index != self._shown[i]:
                    self._shown[i] = index
                    painter.draw(scene.frame(index))
        text = f"**{self.time:.3f} s** of {self.span[1]:.3f} s, sample {self.scenes[0].samples[self._shown[0]]}"
        self._clock.content = text

    def play(self, on: bool = True) -> None:
        """Let time run, from the beginning if it is at its end, or stop it."""
        if on and self.time >= self.span[1]:
            self.time = self.span[0]
        self.playing = on
        self._button.label = "Pause" if on else "Play"

    def stop(self) -> None:
        """End the view."""
        self._stopped.set()
        self._thread.join(2.0)
        stop_server(self.server)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _add_controls(self) -> None:
        gui = self.server.gui
        self._clock = gui.add_markdown("")
        self._button = gui.add_button("Play")
        low, high = self.span
        step = max((high - low) / 2000, 1e-3)
        self._slider = gui.add_slider("Time (s)", low, max(high, low + step), step, low)
        self._speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        add_layers(self.server, self.painters)

        self._button.on_click(lambda _: self.play(not self.playing))
        self._slider.on_update(self._scrub)

    def _scrub(self, event: Any) -> None:
        if event.client is not None:  # moved by a person, not by the clock
            self.play(False)
            self._show(float(self._slider.value))

    def _play(self) -> None:
        last = clock.perf_counter()
        while not self._stopped.wait(1.0 / PACE):
            now = clock.perf_counter()
            if self.playing:
                self.seek(self.time + (now - last) * float(self._speed.value))
                if self.time >= self.span[1]:
                    self.play(False)
            last = now
