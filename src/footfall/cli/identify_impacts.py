"""`footfall identify impacts`: restitution and friction from velocities before and after single impacts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import tyro

from footfall.cli.shared.output import print_json, print_table, share_bar

RULES = ("newton", "poisson", "energetic")


@dataclass(frozen=True, kw_only=True)
class Command:
    """Fit restitution and friction to measured planar impacts, by Newton's, Poisson's and the energetic rule.

    footfall identify impacts impacts.csv --mass 0.0364 --inertia 1.5e-5 --semi-axes 0.035 0.025

    A table has one impact a row: vx_before, vz_before, w_before, vx_after, vz_after, w_after (m/s, rad/s, x towards z)
    and rx, rz from the centre to the contact (m), or angle (rad) of an ellipse. Errors are those of the velocity after
    the impact in the norm of the kinetic energy, relative to that before, on impacts left out.
    """

    what: Annotated[tyro.conf.Positional[Literal["impacts"]], tyro.conf.arg(metavar="impacts")]
    """what to identify from"""
    data: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE.csv")]
    """the impacts"""
    mass: float
    """of the body, kg"""
    inertia: float
    """about its centre, kg m2"""
    semi_axes: Annotated[tuple[float, float] | None, tyro.conf.arg(metavar="A B", help_behavior_hint="")] = None
    """of an ellipse, m, along its own x and z; left out, columns rx and rz say where it touches"""
    evaluations: int = 60
    """how often a search computes all impacts, about"""
    seed: int = 0
    """of the search"""
    json: bool = False
    """print JSON"""

    def run(self) -> int:
        from footfall.study.fit import fit, load_impacts

        trials = load_impacts(self.data, mass=self.mass, inertia=self.inertia, semi_axes=self.semi_axes)
        found = {}
        for rule in RULES:
            own = [replace(one, rule=rule) for one in trials]
            with share_bar(rule, "of the impacts") as bar:
                found[rule] = fit("time-stepping", own, evaluations=self.evaluations, seed=self.seed, progress=bar)
        if self.json:
            print_json({rule: one.to_dict() for rule, one in found.items()})
            return 0
        rows = []
        for rule, one in sorted(found.items(), key=lambda item: item[1].loss):
            cells = [
                f"{p.value:.3g} ({p.low:.3g} .. {p.high:.3g}){'' if not p.note else f', {p.note}'}"
                for p in one.parameters
            ]
            rows.append([rule, *cells, f"{one.loss:.4f}", f"{one.default_loss:.4f}"])
        columns = ("rule", "restitution", "friction", "error>", "without restitution>")
        print_table(columns, rows, title=f"{len(trials)} impacts; errors in the norm of the kinetic energy, left out")
        return 0
