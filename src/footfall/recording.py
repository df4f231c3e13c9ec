"""Recordings: what happened in a simulation, with methods for its measures, pictures and files.

A recording is a value. It is saved as a directory of two files, ``manifest.json`` (what everything is, with
the robot, the ground and the law) and ``samples.parquet`` (one row per sample), which other tools read as
well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from footfall.arguments import public
from footfall.errors import RecordingError
from footfall.record import Record, read_only

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure

    from footfall.measure import Audit
    from footfall.show.viewer import Viewer


@public
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Recording(Record):
    """What happened in a run, with methods for its measures, pictures and files.

        rec.time, rec.qpos               # (T,) s and (T, nq)
        rec.force[:, rec.foot("left")]   # (T, points, 3) N, of the ground on a foot
        rec.foot_force, rec.total_force  # (T, feet, 3) and (T, 3) N, their sums
        rec.summary(), rec.audit()       # a few numbers; can the forces be believed?
        rec.plot("grf"), rec.report("run.html"), rec.save("run")

    :class:`footfall.record.Record` says what each array holds; ``footfall.measure`` has functions of a recording.
    """

    _simulation: ClassVar[Any] = None  # the simulation that made it, in the same process

    def state(self, time: float) -> Any:
        """The complete state of the world at ``time`` (s), for ``sim.run(start=...)``; every step must be recorded.

        See :meth:`footfall.Simulation.state`, which also finds states of recordings that were loaded.
        """
        if self._simulation is None:
            raise RecordingError("this recording does not know its simulation, as it was loaded: use sim.state(rec, t)")
        return self._simulation.state(self, time)

    def linearize(self, time: float, *, to: str | Iterable[str] = (), smoothing: float = 0.0) -> Any:
        """The derivative of the step at ``time`` (s) with the controls recorded there; every step must be recorded.

        See :meth:`footfall.Simulation.linearize`.
        """
        state, sample = self.state(time), int(np.searchsorted(self.time, time - 0.5 * self.dt))
        return self._simulation.linearize(state, self.ctrl[sample], pushes=self.pushes, to=to, smoothing=smoothing)

    def gradient(self, loss: Callable[..., float], *, to: str | Iterable[str] = ()) -> Any:
        """The derivative of ``loss(time, qpos, qvel, ctrl)``, summed over all samples, by start, controls and those
        parameters that ``to`` names.

        See :meth:`footfall.Simulation.along`, which also takes recordings that were loaded.
        """
        if self._simulation is None:
            raise RecordingError("this recording does not know its simulation, as it was loaded: use sim.along(rec)")
        return self._simulation.along(self, to=to).gradient(loss)

    @cached_property
    def cop(self) -> np.ndarray:
        """(T, feet, 3) m, centre of pressure of each foot, NaN where unloaded; see ``measure.cop``."""
        from footfall.measure import cop

        return read_only(cop(self))

    @cached_property
    def zmp(self) -> np.ndarray:
        """(T, 3) m, zero moment point from the motion, NaN in flight. See ``footfall.measure.zmp``."""
        from footfall.measure import zmp

        return read_only(zmp(self))

    @cached_property
    def com(self) -> np.ndarray:
        """(T, 3) m, centre of mass in the world frame."""
        from footfall.measure import momentum

        return read_only(momentum(self).com)

    def summary(self) -> dict[str, float | int | bool | str]:
        """A few numbers that sum up the run, with units in their names (``bw``: times the robot's weight)."""
        from footfall.measure import summarise

        return summarise(self)

    def audit(self) -> Audit:
        """Check whether the ground can have given these forces; see ``footfall.audit``."""
        from footfall.measure import audit

        return audit(self)

    # ---- showing -------------------------------------------------------------------------------------------

    def plot(self, name: str, **options: Any) -> Figure:
        """A matplotlib figure, such as ``rec.plot("grf")``; names and options as in ``footfall.show.plots``."""
        from footfall.show.plots import plot

        return plot(self, name, **options)

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write one HTML file about this run, see ``footfall.show.write_report``."""
        from footfall.show.report import write_report

        return write_report(self, path, **options)

    def video(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write a video, .mp4, .gif or .webp; options as in ``footfall.show.video.write_video``."""
        from footfall.show.video import write_video

        return write_video(self, path, **options)

    def view(self, **options: Any) -> Viewer:
        """Show this run in the browser until Ctrl-C; options as in ``footfall.show.viewer.view``."""
        from footfall.show.viewer import view

        return view(self, **options)

    def _repr_html_(self) -> str:
        """The report itself, replay and all, in a notebook's cell."""
        from html import escape

        from footfall.show.report import render_report

        page = render_report({self.law.name: self}, title=repr(self))
        style = "width: 100%; height: 720px; border: 0"
        return f'<iframe srcdoc="{escape(page, quote=True)}" style="{style}" sandbox="allow-scripts"></iframe>'

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row per sample, indexed by time (s); see ``footfall.export.tables``."""
        from footfall.export.tables import to_pandas

        return to_pandas(self)

    def to_xarray(self) -> xarray.Dataset:
        """A dataset with named axes, coordinates and units; see ``footfall.export.tables``."""
        from footfall.export.tables import to_xarray

        return to_xarray(self)

    # ---- keeping -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, progress: Callable[[float], None] | None = None) -> Path:
        """Write this recording as the directory ``path``, and return that path; ``load_recording`` reads it.

        A recording at ``path`` is replaced in one step; other files in that directory are kept. A directory that is not
        a recording is refused, and so is a file. ``progress`` is called with the share of samples that is written, 0 to
        1.
        """
        from footfall.recording_file import write

        return write(self, path, progress)

    def export(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write this recording for another tool: .csv, .npz, .mot, .c3d or .mcap; see ``footfall.export``."""
        from footfall.export import export

        return export(self, path, **options)


@public
def load_recording(path: str | os.PathLike[str]) -> Recording:
    """Read what ``Recording.save`` wrote: the same arrays to the last bit, an equal robot, ground and law.

    A law that is not registered in this process comes back as an ``UnknownLaw``, and a ground made from a function as a
    table of samples (see ``Ground.to_dict``). A damaged recording raises a ``RecordingError`` that says what is
    damaged.
    """
    from footfall.recording_file import read

    return as_recording(read(path))


def as_recording(record: Record) -> Recording:
    """A record as a ``Recording``, with methods for measures, plots, reports and files."""
    return Recording(**{one.name: getattr(record, one.name) for one in fields(record)})
