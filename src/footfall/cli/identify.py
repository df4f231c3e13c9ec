"""`footfall identify`: friction, restitution and parameters of laws from measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from footfall.cli.logs import LogOptions
from footfall.cli.shared.output import (
    LawsOptions,
    given,
    print_table,
    say,
    share_bar,
    tell,
)
from footfall.cli.shared.usage import Command, JsonOption, UsageError, argument, option
from footfall.errors import did_you_mean
from footfall.given_numbers import Count, NotNegative, Positive, Whole

if TYPE_CHECKING:
    from footfall.study.fit import Fit, Toss
    from footfall.study.identify import Coefficient, FrictionFit


class _Search(JsonOption):
    evaluations: Count = option(200, "how often a search simulates all trials, about")
    seed: Whole = option(0, "of the search, and of the trials to judge on where these are drawn")

    def fitted(self, law: str, trials: Sequence[Any], ranges: Mapping[str, Any] | None = None, **given: Any) -> Fit:
        """A law fitted to trials, with a bar."""
        from footfall.study.fit import fit

        with share_bar(law, "of the runs") as bar:
            return fit(law, trials, ranges, evaluations=self.evaluations, seed=self.seed, progress=bar, **given)


class _Ranked(LawsOptions, _Search):
    out: Path | None = option(None, "keep the fits here", "DIR")

    unit_of_loss: ClassVar[str]

    def ranked(
        self, metrics: Mapping[str, tuple[str, int]], trials: Sequence[Any], title: str, *given: Any, **more: Any
    ) -> int:
        """Fit laws, keep them, and show the best first by the first of the ``metrics``: heading and digits of each."""
        found: list[Fit] = []

        def told() -> int:
            found.sort(key=lambda one: one.judged[next(iter(metrics))])
            return tell(self.json, [one.to_dict() for one in found], lambda: self._show(found, metrics, title))

        for name in self.chosen_laws():
            try:
                found.append(one := self.fitted(name, trials, *given, **more))
            except KeyboardInterrupt:
                told()
                raise
            if self.out is not None:
                self.out.mkdir(parents=True, exist_ok=True)
                one.save(self.out / f"{name}.json")
        return told()

    def _show(self, found: list[Fit], metrics: Mapping[str, tuple[str, int]], title: str) -> None:
        """Print the laws, the best first, and the notes on their parameters."""
        if not found:
            return
        rows = []
        for one in found:
            cells = [one.law.name]
            for name, (_, digits) in metrics.items():
                cells.append(f"{one.judged[name]:.{digits}f} ± {one.standard_error[name]:.{digits}f}")
                cells.append(f"{one.judged_default[name]:.{digits}f}")
            cells.append(", ".join(f"{p.name.partition('.')[2]} {p.value:.3g}" for p in one.parameters))
            kept = "defaults kept" if one.kept_defaults else ""
            rows.append([*cells, kept, told_apart(one, found[0], next(iter(metrics)))])
        heads = [head for heading, _ in metrics.values() for head in (f"{heading}>", "default>")]
        print_table(("law", *heads, "parameters", "", "against the first"), rows, title=title)
        for one in found:
            for p in one.parameters:
                if p.note and not one.kept_defaults:
                    say(f"{one.law.name}: {p.name} is {p.note}")
        _show_fit(found[0], self.unit_of_loss)


class _Options(_Search):
    law: str = option("spring-damper", "which law, see footfall laws", "NAME")
    fit: tuple[str, ...] = option(
        (),
        "what is fitted and between which bounds, as law.k=1e3:1e6:log or ground.friction=0.1:1; left out, a preset",
        "PATH=LOW:HIGH[:log]",
    )
    friction: NotNegative = option(0.7, "of the ground, where it is not fitted")
    out: Path | None = option(None, "keep the fit here; ff.law reads it", "FILE.json")

    def _report(self, trials: list[Any], unit: str, **given: Any) -> int:
        """Fit, keep and show."""
        found = self.fitted(self.law, trials, _ranges(self.fit), ground={"friction": self.friction}, **given)
        if self.out is not None:
            say(f"wrote {found.save(self.out)}")
        return tell(self.json, found.to_dict(), lambda: _show_fit(found, unit))


class Forces(_Options):
    """Fit a contact law to measured ground forces of a robot: drops, landings, a stance.

    footfall identify forces a.csv b.csv c.csv --robot brick --foot total=f --drop 0.005 0.01 0.02 --law spring-damper

    Each file is one trial (CSV, Parquet, MOT, STO or C3D, see ff.load_forces), with times from the start of the run.
    The robot starts in its home pose, raised by --drop.
    """

    data: tuple[Path, ...] = argument("FILE...", "the forces, a trial each")
    robot: str = option(..., "whose forces: a name or a model file", "ROBOT")
    foot: dict[str, str] | None = option(
        None,
        "which vector of the files is the force on which foot; total is the sum of all",
        pair=("the vector of a foot", "FOOT=VECTOR, as in total=f"),
    )
    drop: tuple[float, ...] = option(
        (0.0,), "how much higher than home each trial starts, m; one for all, or one for each"
    )
    controller: str | None = option(None, "what the robot did, such as posture", "NAME")
    motion: Path | None = option(None, "the motion that it followed, see footfall follow", "MOTION")
    assist: bool = option(False, "virtual motors between world and root help it, where the ground cannot")

    def run(self) -> int:
        from footfall.control import Follow
        from footfall.files.motion import load_forces
        from footfall.robot import load_robot
        from footfall.robot.motors import assisted
        from footfall.study.fit import ForceTrial

        if len(self.data) < 2:
            raise UsageError("a fit needs at least two trials: footfall identify forces FILE FILE ...")
        if len(self.drop) not in (1, len(self.data)):
            raise UsageError(
                f"--drop has {len(self.drop)} heights for {len(self.data)} files: give one, or one for each"
            )
        robot = assisted(load_robot(self.robot)) if self.assist else load_robot(self.robot)
        controller = self.controller if self.motion is None else Follow(self.motion)
        heights = self.drop * len(self.data) if len(self.drop) == 1 else self.drop
        trials = [
            ForceTrial(load_forces(path, self.foot), drop=height, controller=controller)
            for path, height in zip(self.data, heights, strict=True)
        ]
        return self._report(trials, "body weights", robot=robot)


def _ranges(texts: Sequence[str]) -> dict[str, Any] | None:
    """``law.k=1e3:1e6:log`` as a range by its name; None where there is none."""
    found: dict[str, Any] = {}
    for text in texts:
        name, _, bounds = text.partition("=")
        low, _, rest = bounds.partition(":")
        high, _, scale = rest.partition(":")
        try:
            found[name] = (float(low), float(high), scale or "linear")
        except ValueError:
            raise UsageError(f"--fit {text}: a parameter is PATH=LOW:HIGH or PATH=LOW:HIGH:log") from None
    return found or None


def _show_fit(found: Fit, unit: str) -> None:
    columns = ("parameter", "value>", "95 % interval>", "")
    rows = [[p.name, f"{p.value:.4g}", f"{p.low:.4g} .. {p.high:.4g}", p.note] for p in found.parameters]
    print_table(columns, rows, title=f"{found.law.name}, fitted to {found.trials} trials")
    print(f"On trials left out: {found.loss:.4g} {unit}, with the law's defaults {found.default_loss:.4g}.")
    if found.kept_defaults:
        print("Fitting gains the law nothing beyond chance: its defaults are kept.")


RULES = ("newton", "poisson", "energetic")


class Impacts(_Search):
    """Fit restitution and friction to measured planar impacts, by Newton's, Poisson's and the energetic rule.

    footfall identify impacts impacts.csv --mass 0.0364 --inertia 1.36e-5 --semi-axes 0.035 0.025

    A table has one impact a row: vx_before, vz_before, w_before, vx_after, vz_after, w_after (m/s, rad/s, x towards z)
    and rx, rz from the centre to the contact (m), or angle (rad) of an ellipse. Errors are those of the velocity after
    the impact in the norm of the kinetic energy, relative to that before, on impacts left out.
    """

    data: Path = argument("FILE.csv", "the impacts")
    mass: Positive = option(..., "of the body", unit="kg")
    inertia: Positive = option(..., "about its centre, kg m2")
    semi_axes: tuple[float, float] | None = option(
        None, "of an ellipse, m, along its own x and z; left out, columns rx and rz say where it touches", "A B"
    )
    evaluations: Count = option(60, "how often a search computes all impacts, about")

    def run(self) -> int:
        from footfall.study.fit import load_impacts

        trials = load_impacts(self.data, mass=self.mass, inertia=self.inertia, semi_axes=self.semi_axes)
        rules = {rule: [replace(one, rule=rule) for one in trials] for rule in RULES}
        found = {rule: self.fitted("time-stepping", own) for rule, own in rules.items()}
        told = {rule: one.to_dict() for rule, one in found.items()}
        return tell(self.json, told, lambda: self._show(found, len(trials)))

    def _show(self, found: Mapping[str, Fit], trials: int) -> None:
        rows = []
        for rule, one in sorted(found.items(), key=lambda item: item[1].loss):
            cells = [
                f"{p.value:.3g} ({p.low:.3g} .. {p.high:.3g}){'' if not p.note else f', {p.note}'}"
                for p in one.parameters
            ]
            rows.append([rule, *cells, f"{one.loss:.4f}", f"{one.default_loss:.4f}"])
        columns = ("rule", "restitution", "friction", "error>", "without restitution>")
        print_table(columns, rows, title=f"{trials} impacts; errors in the norm of the kinetic energy, left out")


class Tosses(_Ranked):
    """Fit contact laws to motion-captured tosses of a body, judge them on other tosses, and rank them.

    footfall identify tosses tosses.npz --laws all --trials 30 --judge 100 --out fits

    A file .npz holds state (N, 13) and toss (N,): quaternion, place, angular velocity in the body's frame, velocity. A
    table (.csv) has columns x, y, z, qw, qx, qy, qz, time, and toss where it holds several; or give a table for each.
    For a body other than ContactNets' cube, give --side or --size, --mass and --inertia.

    The fit finds the law's own parameters, friction and height of the ground, and side (of a box: rounding) and inertia
    of the body. Initial velocities and gravity are taken from the free flight of the tosses. With --out each fit is
    kept as NAME.json, which ff.law reads.
    """

    unit_of_loss = "widths"

    data: tuple[Path, ...] = argument("FILE...", "the tosses: .npz or .csv")
    trials: Count = option(30, "tosses to fit on")
    judge: Count = option(100, "other tosses to judge on")
    rate: float | None = option(None, "frames per second; that of the times of a table, or 148, ContactNets'", "HZ")
    side: Positive = option(0.1048, "side of a cube; what errors are counted in", unit="m")
    size: tuple[float, float, float] | None = option(
        None, "sides of a box, m, along the axes of its quaternions; errors are counted in their mean", "X Y Z"
    )
    mass: Positive = option(0.37, "of the cube", unit="kg")
    inertia: tuple[float, ...] = option((0.00081,), "about each axis, kg m2; one for all, or three", "I | IX IY IZ")
    quaternion: Literal["wxyz", "xyzw"] = option("wxyz", "their order in a file .npz; a table names its columns")
    unit: str = option("m", "of places, where a table does not state it", "UNIT")
    up: Literal["z", "y", "x", "-z", "-y", "-x"] = option("z", "the axis of places and quaternions that is up")
    half_turn: NotNegative = option(1.0, "widths that a fit counts half a turn as; 0 fits the place alone")

    def run(self) -> int:
        from footfall.study.fit import split

        fitted_on, others = split(self._tosses(), self.trials, self.judge, self.seed)
        title = (
            f"fitted on {self.trials} tosses, judged on {self.judge} others; position in widths, ± one standard error"
        )
        metrics = {"position_widths": ("position", 3), "rotation_deg": ("rotation, deg", 1)}
        return self.ranked(metrics, fitted_on, title, judge=others)

    def _tosses(self) -> list[Toss]:
        """The tosses of the files."""
        from footfall.study.fit import load_tosses

        if len(self.inertia) not in (1, 3):
            raise UsageError(f"--inertia has {len(self.inertia)} numbers: give one, or three")
        width = None if self.size is not None else self.side
        inertia = self.inertia if len(self.inertia) == 3 else self.inertia[0]
        others = given(self, "rate", "size", "mass", "quaternion", "unit", "up", "half_turn")
        return load_tosses(self.data[0] if len(self.data) == 1 else self.data, width=width, inertia=inertia, **others)


def told_apart(one: Fit, first: Fit, metric: str) -> str:
    """Whether a fit is worse than another on the same other trials by more than chance, in words."""
    from footfall.study.fit import gain_of

    if one is first:
        return "first"
    gain = gain_of(first.others_errors[metric], one.others_errors[metric])
    more = f"+{gain.mean:.3g} ± {gain.error:.2g}"
    return f"worse, {more}" if gain.told else f"cannot be told apart, {more}"


class LogFit(_Ranked, LogOptions):
    """Fit contact laws, the ground and the robot to its own logs, judge them on other parts of these, and rank them.

    footfall identify log walk.mcap --robot robot.urdf --laws time-stepping hunt-crossley --out fits

    Logs are cut into windows. Every second one is replayed to fit friction, the law's own parameters, masses, friction
    and damping of joints and the delay of motors; the others judge. The state of the base is estimated first,
    also where its pose was measured: odometry alone knows its velocity too badly for a window to begin with.
    """

    unit_of_loss = "heights and rad"

    data: tuple[Path, ...] = argument("LOG...", "the robot's logs")
    window: Positive = option(0.3, "s, of the parts", unit="s")
    fit: tuple[str, ...] = option(
        (),
        "what is fitted and between which bounds, as in footfall identify forces; left out, a preset",
        "PATH=LOW:HIGH[:log]",
    )
    evaluations: Count = option(60, "how often a search simulates all parts, about")

    def run(self) -> int:
        from functools import partial

        from footfall.logs.estimate import estimate
        from footfall.study.fit import varied, windows

        logs = [self.load(path) for path in self.data]
        logs = [
            estimate(log, friction=self.friction).completed if log.has_imu or log.position is None else log
            for log in logs
        ]
        parts, ranges = windows(logs, self.window), _ranges(self.fit)
        given: dict[str, Any] = {"ground": {"friction": self.friction}, "judge": parts[1::2]}
        if ranges:
            given["robot"] = partial(varied, logs[0].robot)
        title = f"fitted on every second of {len(parts)} parts, judged on the others"
        metrics = {"place_heights": ("place, heights", 4), "joints_rad": ("joints, rad", 4)}
        return self.ranked(metrics, parts[::2], title, ranges, **given)


class Friction(JsonOption):
    """Find static and kinetic friction coefficients from pull data, by regression.

    footfall identify friction pulls.csv

    Each file is a table (.csv, .tsv, .txt, .parquet) with columns for time, normal and tangential force (or two, fx and
    fy), and optionally speed and trial (the number of the pull, where a file holds several); or the folder of a
    recording. Units are read from the names, as in "Fz [kN]"; without one, columns are in s, N and m/s.

    Static friction comes from the force at which each pull breaks away, one point per pull; kinetic friction from all
    samples while sliding.
    """

    data: tuple[Path, ...] = argument("DATA...", "tables or recordings, one pull or several each")
    foot: str | None = option(None, "which foot of a recording slides", "FOOT")

    def run(self) -> int:
        from footfall.study.identify import identify_friction

        if not self.data:
            raise UsageError("which data? footfall identify friction DATA..., tables or recordings")
        fit = identify_friction(self.data, foot=self.foot)
        return tell(self.json, fit.to_dict(), lambda: _show_friction(fit))


def _show_friction(fit: FrictionFit) -> None:
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


class Identify(Command):
    """Find friction, restitution and parameters of contact laws from measurements: five kinds, each with its own help.

    friction: coefficients from pulls, by regression.

    forces: a law from measured ground forces of a robot, such as drops.

    impacts: restitution and friction from velocities before and after single planar impacts.

    tosses: laws from tosses of a body that were filmed, judged on others and ranked.

    log: laws, the ground and the robot from its own log, judged on other parts of it and ranked.
    """

    what: str = argument(
        "friction|forces|impacts|tosses|log",
        "what to identify, or from what: footfall identify KIND --help says more",
    )

    def run(self) -> int:
        raise UsageError(f"nothing is identified from '{self.what}': {did_you_mean(self.what, SUBCOMMANDS)}")


SUBCOMMANDS: dict[str, type] = {
    "friction": Friction,
    "forces": Forces,
    "impacts": Impacts,
    "tosses": Tosses,
    "log": LogFit,
}
