"""`footfall identify forces` and `footfall identify pulls`: a law fitted to measured ground forces, or to pulls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from footfall.cli.shared.output import print_json, print_table, say, share_bar
from footfall.cli.shared.usage import UsageError, pairs

if TYPE_CHECKING:
    from footfall.study.fit import Fit

Ranges = Annotated[tuple[str, ...], tyro.conf.arg(metavar="PATH=LOW:HIGH[:log]")]


@dataclass(frozen=True, kw_only=True)
class _Options:
    law: str = "spring-damper"
    """which law, see footfall laws"""
    fit: Ranges = ()
    """what is fitted and between which bounds, as law.k=1e3:1e6:log or ground.friction=0.1:1; left out, a preset"""
    friction: float = 0.7
    """of the ground, where it is not fitted"""
    evaluations: int = 200
    """how often a search simulates all trials, about"""
    seed: int = 0
    """of the search"""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE.json", help_behavior_hint="")] = None
    """keep the fit here; ff.law reads it"""
    json: bool = False
    """print JSON"""

    def _report(self, trials: list[Any], unit: str, **given: Any) -> int:
        """Fit, keep and show."""
        from footfall.study.fit import fit

        ranges = dict(_range(text) for text in self.fit) or None
        with share_bar(self.law, "of the runs") as bar:
            found = fit(self.law, trials, ranges, evaluations=self.evaluations, seed=self.seed, progress=bar, **given)
        if self.out is not None:
            say(f"wrote {found.save(self.out)}")
        if self.json:
            print_json(found.to_dict())
        else:
            _show(found, unit)
        return 0


@dataclass(frozen=True, kw_only=True)
class Forces(_Options):
    """Fit a contact law to measured ground forces of a robot: drops, landings, a stance.

    footfall identify forces a.csv b.csv c.csv --robot brick --foot total=f --drop 0.005 0.01 0.02 --law spring-damper

    Each file is one trial (CSV, Parquet, MOT, STO or C3D, see ff.load_forces), with times from the start of the run.
    The robot starts in its home pose, raised by --drop, or with --velocity.
    """

    what: Annotated[tyro.conf.Positional[Literal["forces"]], tyro.conf.arg(metavar="forces")]
    """what to identify from"""
    data: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="FILE...")]
    """the forces, a trial each"""
    robot: str
    """whose forces: a name or a model file"""
    foot: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FOOT=VECTOR")] = ()
    """which vector of the files is the force on which foot; total is the sum of all"""
    drop: tuple[float, ...] = (0.0,)
    """how much higher than home each trial starts, m; one for all, or one for each"""
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """of the root at the start, m/s"""
    controller: Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = None
    """what the robot did, such as posture"""

    def run(self) -> int:
        import numpy as np

        from footfall.files.motion import load_forces
        from footfall.robot import load_robot
        from footfall.study.fit import ForceTrial

        if len(self.data) < 2:
            raise UsageError("a fit needs at least two trials: footfall identify forces FILE FILE ...")
        if len(self.drop) not in (1, len(self.data)):
            raise UsageError(
                f"--drop has {len(self.drop)} heights for {len(self.data)} files: give one, or one for each"
            )
        feet = pairs(self.foot, "the vector of a foot", "FOOT=VECTOR, as in total=f") or None
        robot = load_robot(self.robot)
        qvel = np.zeros(robot.model.nv)
        if any(self.velocity):
            qvel[:3] = self.velocity
        heights = self.drop * len(self.data) if len(self.drop) == 1 else self.drop
        trials = [
            ForceTrial(load_forces(path, feet), qvel=qvel, drop=height, controller=self.controller)
            for path, height in zip(self.data, heights, strict=True)
        ]
        return self._report(trials, "body weights", robot=robot, ground={"friction": self.friction})


@dataclass(frozen=True, kw_only=True)
class Pulls(_Options):
    """Fit a contact law and friction to pulls: a sled of the same load is drawn until it slides.

    footfall identify pulls pulls.csv --law time-stepping

    Files are those of footfall identify friction, which finds the same coefficients by regression, without a law.
    """

    what: Annotated[tyro.conf.Positional[Literal["pulls"]], tyro.conf.arg(metavar="pulls")]
    """what to identify from"""
    data: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="DATA...")]
    """tables, one pull or several each"""

    def run(self) -> int:
        from footfall.study.pull_data import read_pulls

        trials = [pull for path in self.data for pull in read_pulls(path.expanduser(), {})]
        return self._report(trials, "weights of the load", ground={"friction": self.friction})


def _range(text: str) -> tuple[str, Any]:
    """``law.k=1e3:1e6:log`` as a name and a range."""
    name, _, bounds = text.partition("=")
    low, _, rest = bounds.partition(":")
    high, _, scale = rest.partition(":")
    try:
        return name, (float(low), float(high), scale or "linear")
    except ValueError:
        raise UsageError(f"--fit {text}: a parameter is PATH=LOW:HIGH or PATH=LOW:HIGH:log") from None


def _show(found: Fit, unit: str) -> None:
    columns = ("parameter", "value>", "95 % interval>", "")
    rows = [[p.name, f"{p.value:.4g}", f"{p.low:.4g} .. {p.high:.4g}", p.note] for p in found.parameters]
    print_table(columns, rows, title=f"{found.law.name}, fitted to {found.trials} trials")
    print(f"On trials left out: {found.loss:.4g} {unit}, with the law's defaults {found.default_loss:.4g}.")
    if found.kept_defaults:
        print("Fitting gains the law nothing beyond chance: its defaults are kept.")
