"""`footfall demo`: the spatial biped walks five steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from footfall.cli.shared.output import print_table, say, show_audit
from footfall.cli.shared.result import conclude, simulate

if TYPE_CHECKING:
    from footfall.recording import Recording


@dataclass(frozen=True)
class Demo:
    """Let the spatial biped walk five steps under linearizing-penalty, and report what happened."""

    out: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("runs/demo")
    """where the recording and the report go"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.contact import law
        from footfall.control import Walk
        from footfall.measure.audit import audit
        from footfall.simulation import Simulation

        walk = Walk(speed=0.4, steps=5)
        sim = Simulation("spatial-biped", law=law("linearizing-penalty", kp=500.0, kv=250.0))
        rec = simulate(sim, walk.duration, folder=self.out, controller=walk)
        code = conclude(rec, self.out, json=self.json)
        examined = audit(rec)
        if not self.json:
            _show_stances(rec)
            show_audit(examined)
        try:
            from footfall.show.report import write_report
        except ImportError as missing:  # an extra that is not installed
            say(f"no report was written: {missing}")
            return code
        say(f"the report is {write_report(rec, self.out / 'report.html', audit=[examined])}: open it in a browser")
        return code


def _show_stances(rec: Recording) -> None:
    """When each foot stood and where."""
    from footfall.measure import phases

    rows = []
    for stance in phases(rec).stances:
        middle = rec.time.searchsorted(0.5 * (stance.start + stance.end))
        x, y, _ = rec.position[middle, rec.foot(stance.foot)].mean(axis=0)
        rows.append((stance.foot, f"{stance.start:.3f} s", f"{stance.end:.3f} s", f"{x:.3f} m", f"{y:+.3f} m"))
    print_table(("foot", "down>", "up>", "x>", "y>"), rows, title="Where the feet stood")
