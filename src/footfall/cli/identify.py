"""`footfall identify`: parameters from measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from footfall.cli.shared.output import keep_plot, print_json, print_table
from footfall.cli.shared.usage import UsageError
from footfall.errors import did_you_mean

if TYPE_CHECKING:
    from footfall.study.identify import Coefficient, FrictionFit

KINDS = ("friction", "pulls", "forces", "impacts", "tosses")


@dataclass(frozen=True, kw_only=True)
class Command:
    """Find static and kinetic friction coefficients from pull data, by regression.

    footfall identify friction pulls.csv --plot pulls.png

    Each file is a table (.csv, .tsv, .txt, .parquet) with columns for time, normal and tangential force (or two, fx and
    fy), and optionally speed and trial (the number of the pull, where a file holds several); or the folder of a
    recording. Units are read from the names, as in "Fz [kN]"; without one, columns are in s, N and m/s.

    Static friction comes from the force at which each pull breaks away, one point per pull; kinetic friction from all
    samples while sliding.
    """

    what: Annotated[tyro.conf.Positional[Literal["friction"]], tyro.conf.arg(metavar="friction")]
    """what to identify"""
    data: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="DATA...")]
    """tables or recordings, one pull or several each"""
    time: Annotated[str | None, tyro.conf.arg(metavar="COLUMN", help_behavior_hint="")] = None
    """name of the column of times, s"""
    normal: Annotated[str | None, tyro.conf.arg(metavar="COLUMN", help_behavior_hint="")] = None
    """name of the column of normal forces, N, pressing positive"""
    tangential: Annotated[str | None, tyro.conf.arg(metavar="COLUMN", help_behavior_hint="")] = None
    """name of the column of tangential forces, N"""
    speed: Annotated[str | None, tyro.conf.arg(metavar="COLUMN", help_behavior_hint="")] = None
    """name of the column of sliding speeds, m/s"""
    trial: Annotated[str | None, tyro.conf.arg(metavar="COLUMN", help_behavior_hint="")] = None
    """name of the column that numbers the pulls"""
    foot: Annotated[str | None, tyro.conf.arg(metavar="FOOT", help_behavior_hint="")] = None
    """which foot of a recording slides"""
    plot: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    """draw the regression: .png, .svg or .pdf"""
    json: bool = False
    """print one JSON object"""

    def run(self) -> int:
        from footfall.study.identify import identify_friction

        if not self.data:
            raise UsageError("which data? footfall identify friction DATA..., tables or recordings")
        fit = identify_friction(
            self.data,
            time=self.time,
            normal=self.normal,
            tangential=self.tangential,
            speed=self.speed,
            pull=self.trial,
            foot=self.foot,
        )
        keep_plot(fit.plot, self.plot)
        if self.json:
            print_json(fit.to_dict())
        else:
            _show(fit)
        return 0


def _show(fit: FrictionFit) -> None:
    columns = ("friction", "coefficient>", "95 % interval>", "r2, %>", "samples>")
    rows = [_row("static", fit.static)] if fit.static else []
    print_table(columns, [*rows, _row("kinetic", fit.kinetic)])
    if fit.static is None:
        print("No pull breaks away from rest, so that static friction is not known.")
    static, kinetic = fit.friction
    print(f"footfall run ROBOT --ground.friction {kinetic:.4g} --ground.static-friction {static:.4g} uses them.")


def _row(name: str, one: Coefficient) -> list[str]:
    interval = f"{one.low:.4f} .. {one.high:.4f}" if one.count >= 3 else "needs three pulls"
    return [name, f"{one.value:.4f}", interval, f"{100 * one.r2:.2f}", str(one.count)]


@dataclass(frozen=True, kw_only=True)
class Overview:
    """Find friction, restitution and parameters of contact laws from measurements: five kinds, each with its own help.

    friction: coefficients from pulls, by regression.

    pulls: a law and its friction from the same pulls.

    forces: a law from measured ground forces of a robot, such as drops.

    impacts: restitution and friction from velocities before and after single planar impacts.

    tosses: laws from tosses of a body that were filmed, judged on others and ranked.
    """

    what: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="|".join(KINDS))]
    """what to identify, or from what: footfall identify KIND --help says more"""

    def run(self) -> int:
        raise UsageError(f"nothing is identified from '{self.what}': {did_you_mean(self.what, KINDS)}")


def shape(args: Sequence[str]) -> type:
    """The command for what is to be identified."""
    if not args or args[0] not in KINDS:
        return Overview
    if args[0] == "tosses":
        from footfall.cli.identify_tosses import Command as Tosses

        return Tosses
    if args[0] == "impacts":
        from footfall.cli.identify_impacts import Command as Impacts

        return Impacts
    if args[0] in ("forces", "pulls"):
        from footfall.cli.identify_forces import Forces, Pulls

        return Forces if args[0] == "forces" else Pulls
    return Command
