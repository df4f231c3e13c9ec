"""Friction coefficients from pull data, by regression (Moraud, Hale and Cheng 2008, section V-C).

A load is pulled along the ground until it slides. The static coefficient is the slope of the tangential force at onset
against the normal force, through the origin, with one point per pull; the kinetic coefficient is the slope over all
samples while it slides.

A table (:mod:`footfall.files.tables`) has the time, the normal force (pressing is positive), the tangential force
(one column, or two for its components), and, if there are, the sliding speed and the number of the pull, where one file
holds several. Columns without a unit are in s, N and m/s.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.errors import FootfallError, optional_package
from footfall.files.tables import read_columns
from footfall.measure.common import normal_force, tangential, threshold
from footfall.recording import Recording, load_recording
from footfall.solve.contacts import OPEN, SLIDE

# Names of columns without units, in order of preference.
KNOWN = {
    "time": ("time", "t"),
    "normal": ("normal", "normal_force", "fn", "f_n", "fz", "f_z", "load"),
    "tangential": ("tangential", "tangential_force", "ft", "f_t", "friction", "pull", "pull_force"),
    "speed": ("speed", "slip_speed", "velocity", "v"),
    "pull": ("trial", "run", "pull_number"),
}
COMPONENTS = (("fx", "fy"), ("f_x", "f_y"), ("tangential_x", "tangential_y"))
UNITS = {"time": "s", "normal": "N", "tangential": "N", "speed": "m/s", "pull": ""}
SPELLED = re.compile(r"_(n|s|m_s|m_per_s)$")  # SI units at the end of a name, as some write them
SLIP_SPEED = 1e-3  # m/s, measured speed above which the load slides
NEGATIVE = 0.02  # largest negative normal force, which noise may cause, as a share of the largest force


@dataclass(frozen=True, eq=False)
class Pull:
    """One pull: time (s), normal and tangential force (N), (N,) each; where it slides, if that was seen."""

    name: str
    time: np.ndarray
    normal: np.ndarray
    tangential: np.ndarray
    sliding: np.ndarray | None = None


def read_pulls(path: Path) -> list[Pull]:
    """The pulls of a table, whose columns have names of ``KNOWN``."""
    try:
        values, units, *_ = read_columns(path.expanduser())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FootfallError(f"cannot read '{path}': {reason}") from error
    plain = {SPELLED.sub("", name.strip().lower()).strip().replace(" ", "_"): name for name in reversed(values)}

    def checked(name: str, unit: str) -> np.ndarray:
        own = plain[name]
        if units[own] not in ("", unit):
            raise FootfallError(f"{path}: column '{own}' is in {units[own]}, and not in {unit or 'no unit'}")
        return values[own]

    found = {what: next((name for name in names if name in plain), None) for what, names in KNOWN.items()}
    columns = {what: None if name is None else checked(name, UNITS[what]) for what, name in found.items()}
    pair = next((pair for pair in COMPONENTS if pair[0] in plain and pair[1] in plain), None)
    if columns["tangential"] is None and pair is not None:
        columns["tangential"] = np.hypot(*(checked(name, "N") for name in pair))
    for what in ("time", "normal", "tangential"):
        if columns[what] is None:
            raise FootfallError(
                f"{path} has no column '{what}' ({UNITS[what]}), nor one of {', '.join(KNOWN[what][1:])}; its columns "
                f"are {', '.join(values)}"
            )
    return pulls_of(path.name, columns)


def pulls_of(name: str, columns: Mapping[str, Any]) -> list[Pull]:
    """Pulls from arrays called time, normal, tangential and, if there are, speed and pull."""
    for what in ("time", "normal", "tangential"):
        if columns.get(what) is None:
            raise FootfallError(f"{name}: '{what}' is missing; pulls need time (s), normal and tangential force (N)")
    arrays = {what: np.asarray(values, dtype=float).ravel() for what, values in columns.items() if values is not None}
    if len({array.size for array in arrays.values()}) != 1:
        sizes = ", ".join(f"{what} {array.size}" for what, array in arrays.items())
        raise FootfallError(f"{name}: columns differ in length: {sizes}")
    for what, array in arrays.items():
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise FootfallError(f"{name}: {what} is not a number in sample {bad[0]}, and in {bad.size} samples in all")
    number = arrays.pop("pull", np.zeros(arrays["time"].size))
    found = []
    for value in np.unique(number):
        chosen = number == value
        one = {what: array[chosen] for what, array in arrays.items()}
        label = name if np.all(chosen) else f"{name}, pull {value:g}"
        _check(label, one)
        sliding = np.abs(one["speed"]) > SLIP_SPEED if "speed" in one else None
        found.append(Pull(label, one["time"], one["normal"], np.abs(one["tangential"]), sliding))
    return found


def pull_of_recording(rec: Recording, foot: str | None) -> Pull:
    """What a foot, or the only one, was dragged with: sliding where every point that touches slides."""
    if foot is None and len(rec.robot.feet) > 1:
        known = ", ".join(one.name for one in rec.robot.feet)
        raise FootfallError(f"{rec.robot.name} has several feet ({known}): say which, foot=NAME or --foot NAME")
    points = rec.foot(foot or rec.robot.feet[0].name)
    along = tangential(rec, rec.force)[:, points].sum(axis=1)
    normal = normal_force(rec)[:, points].sum(axis=1)
    mode = rec.mode[:, points]
    sliding = ((mode == SLIDE) | (mode == OPEN)).all(axis=1) & (normal > threshold(rec))
    name = f"{rec.robot.name} under {rec.law.name}"
    return Pull(name, rec.time, normal, np.linalg.norm(along, axis=1), sliding)


def _check(name: str, one: Mapping[str, np.ndarray]) -> None:
    if np.any(np.diff(one["time"]) <= 0):
        at = int(np.flatnonzero(np.diff(one["time"]) <= 0)[0]) + 1
        raise FootfallError(
            f"{name}: time does not increase in sample {at}; several pulls in one file need a column 'trial'"
        )
    normal = one["normal"]
    low = np.flatnonzero(normal < -NEGATIVE * np.abs(normal).max())
    if low.size:
        raise FootfallError(
            f"{name}: the normal force is negative in {low.size} of {normal.size} samples ({normal[low[0]]:.4g} N at "
            f"t = {one['time'][low[0]]:.4g} s); ground only presses: turn the column's sign, or take out its offset"
        )


LOADED = 0.05  # of the largest normal force: below, nothing stands on the ground
RISING, BEGUN = 0.7, 0.3  # of the largest ratio: where a pull is under way, and where it began or ended
FEWEST = 20  # samples of a pull
FEWEST_SLIDING = 5
NEAR_ONSET = 0.4  # of the rise: the part before onset that the tangential force is extrapolated from
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Coefficient:
    """A friction coefficient with its confidence interval (95 %), r2 and number of samples.

    r2 is that of a regression through the origin, 1 - sum of squared residuals / sum of squared forces. The interval
    takes samples as independent; it is nan with fewer than three.
    """

    value: float
    low: float
    high: float
    r2: float
    count: int


@dataclass(frozen=True, eq=False)
class Onset:
    """What one pull shows: when it broke away (s), with which forces (N), and its samples while sliding (N)."""

    name: str
    sliding_normal: np.ndarray
    sliding_tangential: np.ndarray
    time: float | None = None
    normal: float | None = None
    tangential: float | None = None


@public
@dataclass(frozen=True)
class FrictionFit:
    """Static and kinetic friction of some pulls; ``static`` is None where none of them broke away from rest."""

    static: Coefficient | None
    kinetic: Coefficient
    pulls: tuple[Onset, ...]

    @property
    def friction(self) -> tuple[float, float]:
        """Static and dynamic coefficient as ``Ground.plane(friction=...)`` takes them, static the larger."""
        kinetic = self.kinetic.value
        return max(kinetic, self.static.value if self.static else kinetic), kinetic

    def to_dict(self) -> dict[str, Any]:
        pulls = [
            {
                "name": one.name,
                "onset_time_s": one.time,
                "onset_normal_N": one.normal,
                "onset_tangential_N": one.tangential,
                "sliding_samples": len(one.sliding_normal),
            }
            for one in self.pulls
        ]
        static = asdict(self.static) if self.static else None
        return {"static": static, "kinetic": asdict(self.kinetic), "confidence": CONFIDENCE, "pulls": pulls}


@public
def identify_friction(
    data: str | os.PathLike[str] | Recording | Mapping[str, Any] | Sequence[Any],
    *,
    foot: str | None = None,
) -> FrictionFit:
    """Static and kinetic friction coefficient from pull data.

    ``data`` is a table, see the head of this module, a ``Recording`` or the folder of one, a mapping of arrays
    with time (s), normal and tangential force (N), or a sequence of these, one pull each. ``foot`` is the foot of a
    recording that slides.

    Forces must be those at the contact; a load cell in the rope also measures the inertia of the load. Where neither a
    column of speeds nor a recording tells when the load slides, onset is the break between a rising line and a constant
    in the ratio of the forces. So a pull should rise steadily and then keep sliding: one that sticks and slips many
    times gives a kinetic coefficient between the two. A peak below twice the noise is ignored. Pull along the ground: a
    rope that tips the load makes its least loaded corner slide first.

    Example:
        >>> rise = np.minimum(np.linspace(0, 10, 200), 6.0)
        >>> fit = identify_friction({"time": np.arange(200) * 0.01, "normal": np.full(200, 20.0), "tangential": rise})
        >>> round(fit.kinetic.value, 3)
        0.3
    """
    sources = [data] if isinstance(data, str | os.PathLike | Recording | Mapping) else data
    pulls = [found for source in sources for found in _pulls(source, foot)]
    onsets = tuple(_onset(found) for found in pulls)
    if not onsets:
        raise FootfallError("no pull was given: friction needs at least one")
    loads = np.concatenate([found.sliding_normal for found in onsets])
    if loads.size < FEWEST_SLIDING:
        ratio = max(float(np.max(p.tangential / np.maximum(p.normal, LOADED * p.normal.max()))) for p in pulls)
        raise FootfallError(
            f"nothing slides in {onsets[0].name}{' and others' * (len(onsets) > 1)}: the tangential force rises to the "
            f"end; static friction is at least {ratio:.3g}; pull further, or give a column of speeds"
        )
    kinetic = _through_origin(loads, np.concatenate([found.sliding_tangential for found in onsets]))
    broke = [(found.normal, found.tangential) for found in onsets if found.time is not None]
    static = _through_origin(*np.array(broke, dtype=float).T) if broke else None  # Moraud 2008, sec. V-C
    return FrictionFit(static, kinetic, onsets)


def _pulls(source: Any, foot: str | None) -> Sequence[Pull]:
    if isinstance(source, Recording):
        return [pull_of_recording(source, foot)]
    if isinstance(source, Mapping):
        return pulls_of("the data", source)
    if not isinstance(source, str | os.PathLike):
        kind = type(source).__name__
        raise FootfallError(f"cannot read pulls from a {kind}; give a CSV file, a recording or a mapping of arrays")
    path = Path(source).expanduser()
    return [pull_of_recording(load_recording(path), foot)] if path.is_dir() else read_pulls(path)


def _onset(pull: Pull) -> Onset:
    """When a pull breaks away, with which forces, and what it slides with."""
    loaded = _loaded(pull)
    time, normal, along = pull.time[loaded], pull.normal[loaded], pull.tangential[loaded]
    ratio = along / normal
    if pull.sliding is None:
        begin, broke, end = _parts(pull, time, ratio)
        slides = np.zeros(ratio.size, dtype=bool)
        slides[broke:end] = True
        if end - broke < FEWEST_SLIDING:
            slides[:] = False
    else:
        slides = pull.sliding[loaded]
        broke = int(np.argmax(slides)) if slides.any() else ratio.size
        before = np.flatnonzero(ratio[:broke] < BEGUN * ratio[:broke].max(initial=0.0))
        begin = int(before[-1]) + 1 if before.size else 0
    sliding = normal[slides], along[slides]
    start = max(begin, broke - max(3, round(NEAR_ONSET * (broke - begin))))
    if broke - start < 3 or broke >= ratio.size or not slides.any():
        return Onset(pull.name, *sliding)
    # Onset lies between the last sample at rest and the first that slides; the forces there by the line before it.
    when = 0.5 * (time[broke - 1] + time[broke])
    slope, level = np.polyfit(time[start:broke] - when, ratio[start:broke], 1)
    if slope * (time[broke - 1] - time[start]) < 0.05 * level:  # no rise: it slid from the first sample on
        return Onset(pull.name, *sliding)
    rest = ratio[slides]
    scatter = ratio[start:broke] - np.polyval([slope, level], time[start:broke] - when)
    noise = np.sqrt(0.5 * (scatter.var() + rest.var()))
    if pull.sliding is None and level - rest.mean() < 2 * noise:  # no peak: the line ends where it meets the level
        when, level = when + (rest.mean() - level) / slope, rest.mean()
    load = float(normal[start:broke].mean())
    return Onset(pull.name, *sliding, float(when), load, float(level) * load)


def _loaded(pull: Pull) -> np.ndarray:
    """(T,) whether something stands on the ground in a sample."""
    loaded = pull.normal > LOADED * pull.normal.max(initial=0.0)
    if loaded.sum() < FEWEST:
        raise FootfallError(f"{pull.name}: {int(loaded.sum())} samples under load are too few, {FEWEST} are needed")
    return loaded


def _parts(pull: Pull, time: np.ndarray, ratio: np.ndarray) -> tuple[int, int, int]:
    """The samples at which a pull begins, breaks away and is released, by the ratio of its forces."""
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(np.pad(ratio, 2, mode="edge"), 5), axis=1)
    most = float(np.quantile(smooth, 0.98))
    if most <= 0:
        raise FootfallError(f"{pull.name}: the tangential force is zero throughout, so nothing is pulled")
    rising = int(np.argmax(smooth >= RISING * most))
    before = np.flatnonzero(smooth[:rising] < BEGUN * most)
    begin, end = (int(before[-1]) + 1 if before.size else 0), int(np.flatnonzero(smooth > BEGUN * most)[-1]) + 1
    return begin, begin + _break(time[begin:end], ratio[begin:end]), end


def _break(time: np.ndarray, ratio: np.ndarray) -> int:
    """The first sample of the level part: least squares of a line up to it and a constant from it on."""
    t = time - time.mean()
    n = np.arange(1, t.size + 1)
    st, sr, stt, str_, srr = (np.cumsum(x) for x in (t, ratio, t * t, t * ratio, ratio * ratio))
    vtt, vtr, vrr = stt - st * st / n, str_ - st * sr / n, srr - sr * sr / n
    line = vrr - np.divide(vtr * vtr, vtt, out=np.zeros(t.size), where=vtt > 0)
    rest = np.maximum(t.size - n, 1)
    level = (srr[-1] - srr) - (sr[-1] - sr) ** 2 / rest
    # Squares are differences of sums, so that less than rounding of these means nothing.
    total = np.maximum(line, 0.0) + np.maximum(level, 0.0) + 1e-12 * srr[-1] * (n < 3)
    return int(np.argmin(total[:-1])) + 1


def _through_origin(load: np.ndarray, force: np.ndarray) -> Coefficient:
    """Regression of force on load through the origin."""
    stdtrit = optional_package("scipy.special").stdtrit

    count = load.size
    value = float(load @ force / (load @ load))
    residual = force - value * load
    spread = np.nan
    if count >= 3:
        error = np.sqrt(residual @ residual / (count - 1) / (load @ load))
        spread = float(error * stdtrit(count - 1, 0.5 + CONFIDENCE / 2))
    r2 = 1.0 - float(residual @ residual / (force @ force))
    return Coefficient(value, value - spread, value + spread, r2, count)
