"""Energy: what the robot has, what goes in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footfall import measure
from footfall.show.plots.common import Runs, at_least, each_run, legend, line, stack
from footfall.show.style import BLUE, GREEN, ORANGE, PURPLE, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def energy(figure: Figure, runs: Runs) -> None:
    """Kinetic and potential energy, works since the first sample; of several recordings a panel for each quantity."""
    if len(runs) == 1:
        rec = next(iter(runs.values()))
        own = measure.energy(rec)
        axes = stack(figure, runs, 2, height=1.9)
        line(axes[0], rec, own.kinetic, color=BLUE, label="kinetic")
        line(axes[0], rec, own.potential - own.potential[0], color=GREEN, label="potential, since the start")
        line(axes[1], rec, own.actuator_work, color=ORANGE, label="work of actuators")
        line(axes[1], rec, own.contact_work, color=VERMILION, label="work of the ground")
        line(axes[1], rec, own.dissipated, color=PURPLE, linestyle=(0, (4, 1.5)), label="lost")
        axes[0].set_ylabel("energy (J)")
        axes[1].set_ylabel("since the start (J)")
    else:
        axes = stack(figure, runs, 3)
        for curve in each_run(runs):
            own = measure.energy(curve.rec)
            quantities = (own.mechanical - own.mechanical[0], own.contact_work, own.actuator_work)
            for ax, values in zip(axes, quantities, strict=True):
                line(ax, curve.rec, values, label=curve.name, **curve.style)
        for ax, name in zip(axes, ("mechanical", "work of ground", "work of actuators"), strict=True):
            ax.set_ylabel(f"{name} (J)")
    for ax in axes:
        at_least(ax, 1e-3)
    legend(figure, axes)
