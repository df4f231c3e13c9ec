"""`footfall identify tosses`: every law fitted to measured tosses, judged on others and ranked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from footfall.cli.shared.output import print_json, print_table, say, share_bar
from footfall.cli.shared.usage import UsageError

if TYPE_CHECKING:
    from footfall.study.fit import Fit, Toss


@dataclass(frozen=True, kw_only=True)
class Command:
    """Fit contact laws to motion-captured tosses of a body, judge them on other tosses, and rank them.

    footfall identify tosses tosses.npz --laws all --trials 30 --judge 100 --out fits

    A file .npz holds state (N, 13) and toss (N,): quaternion, place, angular velocity in the body's frame, velocity. A
    table (.csv) has columns x, y, z, qw, qx, qy, qz, time, and toss where it holds several; or give a table for each.
    For a body other than ContactNets' cube, give --side or --size, --mass and --inertia.

    The fit finds the law's own parameters, friction and height of the ground, and side (of a box: rounding) and inertia
    of the body. Initial velocities and gravity are taken from the free flight of the tosses; --start frame takes the
    velocities of the file. With --out each fit is kept as NAME.json, which ff.law reads, with the profile of its loss
    as NAME.png and the errors of single tosses as NAME-residuals.png.
    """

    what: Annotated[tyro.conf.Positional[Literal["tosses"]], tyro.conf.arg(metavar="tosses")]
    """what to identify from"""
    data: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="FILE...")]
    """the tosses: .npz or .csv"""
    laws: Annotated[tuple[str, ...], tyro.conf.arg(metavar="all|NAME...")] = ("all",)
    """which laws, see footfall laws"""
    trials: int = 30
    """tosses to fit on"""
    judge: int = 100
    """other tosses to judge on"""
    evaluations: int = 200
    """how often a search simulates all tosses of the fit, about"""
    seed: int = 0
    """of the split and the search"""
    rate: Annotated[float | None, tyro.conf.arg(metavar="HZ", help_behavior_hint="")] = None
    """frames per second; that of the times of a table, or 148, ContactNets'"""
    side: float = 0.1048
    """side of a cube, m; what errors are counted in"""
    size: Annotated[tuple[float, float, float] | None, tyro.conf.arg(metavar="X Y Z", help_behavior_hint="")] = None
    """sides of a box, m, along the axes of its quaternions; errors are counted in their mean"""
    mass: float = 0.37
    """kg"""
    inertia: Annotated[tuple[float, ...], tyro.conf.arg(metavar="I | IX IY IZ")] = (0.00081,)
    """about each axis, kg m2; one for all, or three"""
    quaternion: Literal["wxyz", "xyzw"] = "wxyz"
    """their order in a file .npz; a table names its columns"""
    unit: str = "m"
    """of places, where a table does not state it"""
    up: Literal["z", "y", "x", "-z", "-y", "-x"] = "z"
    """the axis of places and quaternions that is up"""
    start: Literal["flight", "frame"] = "flight"
    """where velocities at the first frame are taken from"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = None
    """keep the fits and their plots here"""
    json: bool = False
    """print JSON"""

    def run(self) -> int:
        from footfall.contact import laws as all_laws
        from footfall.study.fit import fit, split

        fitted_on, others = split(self._tosses(), self.trials, self.judge, self.seed)
        found = []
        for name in tuple(all_laws()) if self.laws == ("all",) else self.laws:
            with share_bar(name, "of the runs") as bar:
                one = fit(name, fitted_on, judge=others, evaluations=self.evaluations, seed=self.seed, progress=bar)
            found.append(one)
            if self.out is not None:
                _keep(one, name, self.out)
        found.sort(key=lambda one: one.judged["position_widths"])
        if self.json:
            print_json([one.to_dict() for one in found])
        else:
            self._show(found)
        return 0

    def _tosses(self) -> list[Toss]:
        """The tosses of the files."""
        from footfall.study.fit import load_tosses

        if len(self.inertia) not in (1, 3):
            raise UsageError(f"--inertia has {len(self.inertia)} numbers: give one, or three")
        return load_tosses(
            self.data[0] if len(self.data) == 1 else self.data,
            rate=self.rate,
            width=None if self.size is not None else self.side,
            size=self.size,
            mass=self.mass,
            inertia=self.inertia if len(self.inertia) == 3 else self.inertia[0],
            start=self.start,
            quaternion=self.quaternion,
            unit=self.unit,
            up=self.up,
        )

    def _show(self, found: list[Fit]) -> None:
        """Print the laws, the best first, and the notes on their parameters."""
        rows = [
            [
                one.law.name,
                f"{one.judged['position_widths']:.3f}",
                f"{one.judged_default['position_widths']:.3f}",
                f"{one.judged['rotation_deg']:.1f}",
                f"{one.judged_default['rotation_deg']:.1f}",
                ", ".join(f"{p.name.partition('.')[2]} {p.value:.3g}" for p in one.parameters),
                "no better by fitting: defaults kept" if one.kept_defaults else "",
            ]
            for one in found
        ]
        columns = ("law", "position>", "default>", "rotation, deg>", "default>", "parameters", "")
        title = f"fitted on {self.trials} tosses, judged on {self.judge} others; position in widths"
        print_table(columns, rows, title=title)
        for one in found:
            for p in one.parameters:
                if p.note and not one.kept_defaults:
                    say(f"{one.law.name}: {p.name} is {p.note}")


def _keep(one: Fit, name: str, folder: Path) -> None:
    """Write a fit and its plots."""
    from footfall.show.plots import save_plot

    folder.mkdir(parents=True, exist_ok=True)
    one.save(folder / f"{name}.json")
    save_plot(one.plot(), folder / f"{name}.png")
    save_plot(one.plot("residuals"), folder / f"{name}-residuals.png")
