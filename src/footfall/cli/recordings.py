"""Commands that read recordings: audit, export, plot, report and video."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from footfall.cli.shared.output import (
    MeasuredOptions,
    against_measured,
    given,
    print_json,
    print_table,
    say,
    show_audit,
    show_notes,
    tell,
)
from footfall.cli.shared.result import loaded
from footfall.cli.shared.usage import FileOptions, JsonOption, UsageError, argument, option
from footfall.errors import FootfallError, did_you_mean
from footfall.given_numbers import Positive


class Audit(JsonOption):
    """Check whether a ground can give the forces of recordings. Exits with 1 if a row fails."""

    recordings: tuple[Path, ...] = argument("RECORDING...", "directories that footfall run --out wrote")

    def run(self) -> int:
        from footfall.measure.audit import audit

        recordings = loaded(self.recordings, "audit")
        audits = {str(folder): audit(rec) for folder, rec in zip(self.recordings, recordings, strict=True)}
        if self.json:
            print_json({folder: one.to_dict() for folder, one in audits.items()})
        elif len(audits) == 1:
            show_audit(next(iter(audits.values())))
        else:
            print_table(("recording", "audit"), [[folder, one.verdict] for folder, one in audits.items()])
            show_notes(audits)
        return int(not all(one.passed for one in audits.values()))


class Export(FileOptions):
    """Write a recording for other tools: .csv, .parquet, .npz, .mot, .c3d, .mcap or .rrd.

    .mot has forces for OpenSim, .c3d has force plates and markers, .mcap is for Foxglove, .rrd for Rerun.
    """

    recording: Path = argument("RECORDING", "directory that footfall run --out wrote")
    file: Path = argument("FILE", "its ending chooses the format")

    def run(self) -> int:
        from footfall.recording import load_recording

        self.check_file(self.file)
        path = load_recording(self.recording).export(self.file)
        size = path.stat().st_size
        return tell(self.json, {"file": str(path), "bytes": size}, f"Wrote {path} ({size / 1e6:.3g} MB).")


class Plot(MeasuredOptions, FileOptions):
    """Draw a plot of a recording, or of several overlaid. The last word is the plot's name, and list shows them all.

    footfall plot runs/walk grf --out grf.pdf
    """

    words: tuple[str, ...] = argument(
        "RECORDING... NAME",
        "directories that footfall run --out wrote, then the plot's name, grf if left out (footfall plot list: "
        "which there are)",
    )
    out: Path | None = option(None, ".png, .svg or .pdf (left out: NAME.png in the first recording's directory)")
    start: float | None = option(None, "from this time on", unit="s")
    stop: float | None = option(None, "up to this time", unit="s")

    def run(self) -> int:
        from footfall.show.plots import PLOTS, plot, save_plot

        if not self.words:
            raise UsageError("which plot of which recording? footfall plot RECORDING... NAME; footfall plot list names")
        *folders, name = self.words
        if not folders and name == "list":
            about = {key: one.about for key, one in PLOTS.items()}
            return tell(self.json, about, lambda: print_table(("plot", "shows"), list(about.items())))
        if name not in PLOTS and Path(name).is_dir():  # a recording: its forces
            folders, name = [*folders, name], "grf"
        if name not in PLOTS:  # before anything slow
            raise FootfallError(f"no plot and no recording is called '{name}': {did_you_mean(name, PLOTS)}")
        if not folders:
            raise UsageError(f"which recording? footfall plot RECORDING {name}")
        if self.measured is not None and name != "grf":
            raise UsageError(f"measured forces are laid over the plot 'grf', not over '{name}'")
        self.check_file(self.out)
        measured = self.measured_forces()
        recordings = loaded(folders, "plot")
        options: dict[str, Any] = {} if measured is None else {"measured": measured}
        figure = plot(recordings, name, start=self.start, stop=self.stop, **options)
        path = save_plot(figure, self.out or Path(folders[0]) / f"{name}.png")
        return tell(self.json, {"plot": name, "file": str(path)}, f"The plot is {path}.")


class Report(MeasuredOptions, FileOptions):
    """Write one HTML file about a recording, or about several compared: tables, plots, a 3D replay. Opens offline."""

    recordings: tuple[Path, ...] = argument("RECORDING...", "directories that footfall run --out wrote")
    out: Path | None = option(None, "where to write it (left out: report.html in the first recording's directory)")
    title: str | None = option(None, "heading of the page")

    def run(self) -> int:
        from footfall.show.frames import labelled
        from footfall.show.report import write_report

        self.check_file(self.out)
        recordings = loaded(self.recordings, "report")
        path = self.out or self.recordings[0] / "report.html"
        measured = self.measured_forces()
        write_report(recordings, path, title=self.title, measured=measured)
        told = {"report": str(path)}
        if measured is not None:
            told |= against_measured(labelled(recordings, "a report"), measured, show=not self.json)
        return tell(self.json, told, f"The report is {path} ({path.stat().st_size / 2**20:.2f} MiB).")


class Video(FileOptions):
    """Write a video of a recording, or of several side by side, with the forces of the ground as arrows.

    footfall video runs/walk --out walk.mp4

    MP4 needs ffmpeg, the program or the package imageio-ffmpeg (the extra video); GIF and WebP need Pillow.
    """

    recordings: tuple[Path, ...] = argument("RECORDING...", "directories that footfall run --out wrote")
    out: Path | None = option(None, ".mp4, .gif or .webp", "FILE", note="(default: RECORDING.mp4)")
    start: float | None = option(None, "from this time on", unit="s")
    stop: float | None = option(None, "up to this time", unit="s")
    fps: Positive = option(30.0, "pictures per second of the video")
    speed: Positive = option(1.0, "simulated seconds per second")
    size: tuple[int, int] = option((960, 540), "width and height in pixels")

    def run(self) -> int:
        from footfall.show.video import write_video

        self.check_file(self.out)
        runs = loaded(self.recordings, "video")
        target = self.out or self.recordings[0].with_suffix(".mp4")
        made = write_video(runs, target, **given(self, "fps", "speed", "size", "start", "stop"))
        return tell(self.json, {"video": str(made)}, lambda: say(f"wrote {made}"))
