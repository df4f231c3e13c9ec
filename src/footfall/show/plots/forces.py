"""Ground reaction forces over time."""

from __future__ import annotations

import numpy as np

from footfall.files.measured import Measured
from footfall.measure.forces import measured_feet
from footfall.record import Record
from footfall.show.panels import FEET, GREY, NO_RUN, Curve, Limit, Panel, Runs, each_foot, each_run

AXES = ((2, "vertical", "z"), (0, "forward", "x"), (1, "sideways", "y"))


#: Line styles of what was measured, and of peaks between samples.
DOTTED, PEAK = 2, 3


def grf(runs: Runs, *, brief: bool = False, measured: Measured | None = None) -> list[Panel]:
    """Vertical, forward and sideways force: each foot and their sum of one recording, the sums of several.

    Where steps were left out the curves are means until the next sample, and beside them stands the force at the peak
    load. ``measured`` forces (see ``footfall.load_forces``) are laid over them, dotted.
    """
    first = next(iter(runs.values()))
    theirs = _measured(first, measured, alone=len(runs) == 1) if measured is not None else []
    weight = first.robot.weight
    found = []
    for axis, way, letter in AXES:
        if len(runs) == 1:
            curves = [curve._replace(values=rec.foot_force[:, f, axis]) for rec, f, curve in each_foot(runs)]
            curves += [
                curve._replace(name=f"{curve.name}, peak", values=rec.peak_foot_force[:, f, axis], dash=PEAK, width=0.8)
                for rec, f, curve in each_foot(runs)
                if not rec.every_step
            ]
            if len(first.robot.feet) > 1:
                curves.append(Curve("total", first.time, first.total_force[:, axis], GREY, width=0.8))
        else:
            curves = [curve._replace(values=rec.total_force[:, axis]) for rec, curve in each_run(runs)]
            curves += [
                curve._replace(name=f"{curve.name}, peak", values=rec.peak_total_force[:, axis], dash=PEAK, width=0.8)
                for rec, curve in each_run(runs)
                if not rec.every_step
            ]
        curves += [curve._replace(values=force[:, axis]) for curve, force in theirs]
        up = axis == 2 and weight > 0.0
        panel = Panel(
            title=f"{way.capitalize()} ground reaction force, {letter}",
            label=f"{way}, {letter}",
            unit="N",
            curves=tuple(curves),
            limits=(Limit(weight, "weight"),) if up else (),
            zero=up,
            narrow=0.02 * (weight or 1.0),
            whole=(weight, "of weight") if up else None,
        )
        found.append(panel)
    return found


def _measured(rec: Record, measured: Measured, *, alone: bool) -> list[tuple[Curve, np.ndarray]]:
    """A curve without values, and the measured force (T, 3) N, for each foot that was measured, in its colour.

    Beside several recordings, which show their sums, it is the sum alone, in a colour of none; single feet where it is
    not known.
    """
    names = [foot.name for foot in rec.robot.feet]
    force = {name: measured.vector(f"{name}.force") for name, _ in measured_feet(rec, measured)}
    if not alone and "total" not in force and set(names) <= set(force):
        force["total"] = np.sum([force[name] for name in names], axis=0)
    shown = ["total"] if not alone and "total" in force else list(force)
    found = []
    for name in shown:
        color = FEET[names.index(name) % len(FEET)] if alone and name in names else GREY
        curve = Curve(f"{name}, measured", measured.time, np.empty(0), color, DOTTED, run=NO_RUN, measured=True)
        found.append((curve._replace(part="" if name == "total" else f", {name}"), force[name]))
    return found
