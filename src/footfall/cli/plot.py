"""`footfall plot`: a plot of recordings as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from footfall.cli.shared.measured import MeasuredOptions
from footfall.cli.shared.output import print_json, print_table
from footfall.cli.shared.recordings import loaded


@dataclass(frozen=True, kw_only=True)
class Command(MeasuredOptions):
    """Draw a plot of a recording, or of several overlaid. The last word is the plot's name; list shows them all.

    footfall plot runs/walk grf --out grf.pdf
    """

    words: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RECORDING... NAME")]
    """directories that footfall run --out wrote, then the plot's name (footfall plot list: which there are)"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    """.png, .svg or .pdf (left out: NAME.png in the first recording's directory)"""
    start: Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint="")] = None
    """from this time on, s"""
    stop: Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint="")] = None
    """up to this time, s"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.cli.shared.usage import UsageError
        from footfall.errors import did_you_mean
        from footfall.show.plots import PLOTS, plot, save_plot

        if not self.words:
            raise UsageError(
                "which plot of which recording? footfall plot RECORDING... NAME; footfall plot list names them"
            )
        *folders, name = self.words
        if not folders and name == "list":
            about = {key: one.about for key, one in PLOTS.items()}
            if self.json:
                print_json(about)
            else:
                print_table(("plot", "shows"), list(about.items()))
            return 0
        if name not in PLOTS:  # before anything slow
            raise UsageError(f"no plot is called '{name}': {did_you_mean(name, PLOTS)}")
        if not folders:
            raise UsageError(f"which recording? footfall plot RECORDING {name}")
        if self.measured is not None and name != "grf":
            raise UsageError(f"measured forces are laid over the plot 'grf', not over '{name}'")
        measured = self.measured_forces()
        recordings = loaded(folders, "plot")
        options: dict[str, Any] = {} if measured is None else {"measured": measured}
        figure = plot(recordings, name, start=self.start, stop=self.stop, **options)
        path = save_plot(figure, self.out or Path(folders[0]) / f"{name}.png")
        if self.json:
            print_json({"plot": name, "file": str(path)})
        else:
            print(f"The plot is {path}.")
        return 0
