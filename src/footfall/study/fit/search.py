"""The search for parameters, and between which bounds the data say that each lies.

The search goes over the whole box first, then downhill from the best places: by least squares (Gauss-Newton) where
errors are vectors, else with a simplex. Whether fitting helps is judged by separate searches that never see the trials
on which they are judged: tosses are chaotic, and among hundreds of parameters some follow thirty tosses well by chance.

An interval covers the values at which the trials are not significantly worse, with the other parameters unchanged or
moved along so that the loss rises least, as the matrix of least squares has it: of two parameters that make up for each
other each is as uncertain as their sum lets it be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from footfall.errors import StudyError, optional_package
from footfall.study.sweep.cases import unit_samples


@dataclass(frozen=True)
class Range:
    """A parameter between two bounds, searched on a linear or a logarithmic scale; ``start`` is the first guess."""

    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"
    start: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise StudyError(f"the bounds {self.low} and {self.high} do not make an interval")
        if self.scale not in ("linear", "log"):
            raise StudyError(f"a parameter is searched on a 'linear' or a 'log' scale, not '{self.scale}'")
        if self.scale == "log" and self.low <= 0.0:
            raise StudyError(f"a logarithmic scale needs a positive lower bound, not {self.low:g}")
        if self.start is not None and not self.low <= self.start <= self.high:
            raise StudyError(f"the first guess {self.start:g} is not between {self.low:g} and {self.high:g}")

    def value(self, share: float) -> float:
        """The parameter at a share (0 to 1) of the range."""
        share = min(1.0, max(0.0, float(share)))
        if self.scale == "log":
            return self.low * (self.high / self.low) ** share
        return self.low + share * (self.high - self.low)

    def share(self, value: float) -> float:
        """The share (0 to 1) of the range at a value."""
        value = min(self.high, max(self.low, value))
        if self.scale == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def first(self) -> float:
        """The share at which the search starts."""
        return 0.5 if self.start is None else self.share(self.start)


def as_ranges(parameters: Mapping[str, Any]) -> dict[str, Range]:
    """Ranges from ``Range`` values or tuples (low, high), (low, high, "log"), (low, high, "log", start)."""
    found = {}
    for name, given in parameters.items():
        try:
            found[name] = given if isinstance(given, Range) else Range(*given)
        except TypeError:
            raise StudyError(f"'{name}' = {given!r}: a range is (low, high) or (low, high, 'log')") from None
        except StudyError as error:
            raise StudyError(f"'{name}': {error}") from None
    if not found:
        raise StudyError("there is nothing to fit: no parameter was given")
    return found


#: The error of a trial: a number, or the vectors whose lengths add up to it, none where it failed.
Error = float | list[np.ndarray]
#: Errors of those trials that are asked for by their numbers, for parameters (d,) as shares of their ranges.
Errors = Callable[[np.ndarray, np.ndarray], Sequence[Error] | np.ndarray]
#: The loss at a place, and the errors of all trials there.
Look = Callable[[np.ndarray], tuple[float, Any]]
#: Error of a trial whose simulation fails, in units of the loss.
FAILED = 10.0
#: Multiple of the typical error above which the logarithm of the error counts, so that one toss that lands on another
#: face does not outweigh all others.
OUTLIER = 3.0
#: Share of the evaluations over the whole box, places of it from which the search goes downhill, and fewest evaluations
#: of each way down, with which a simplex of one parameter has turned once.
GLOBAL, DESCENTS, FEWEST = 0.5, 2, 5
#: First width of a simplex or of differences, as a share of the ranges, and of those from the best of all.
WIDTH, FINE = 0.1, 0.02
#: Where a search downhill ends: width of its simplex or box, and difference of losses as a share of a typical error.
NARROWEST, FINEST = 1e-4, 1e-6


def lengths(found: Sequence[Error] | np.ndarray) -> np.ndarray:
    """(N,) errors of trials as numbers."""
    return np.array(
        [(sum(map(np.linalg.norm, own)) if own else FAILED) if isinstance(own, list) else own for own in found]
    )


@dataclass(eq=False)
class Evaluations:
    """All parameters that a search tried, with the errors of each trial."""

    points: np.ndarray  # (N, d) shares of the ranges
    errors: np.ndarray  # (N, trials)
    scale: float  # a typical error

    def losses(self) -> np.ndarray:
        """(N,) loss over all trials."""
        return robust(self.errors, self.scale)

    def best(self) -> int:
        return int(np.argmin(self.losses()))


def robust(errors: np.ndarray, scale: float) -> np.ndarray:
    """(N,) mean over trials of errors (N, trials), in which outliers count by their logarithm."""
    limit = OUTLIER * scale
    return np.where(errors <= limit, errors, limit * (1.0 + np.log(np.maximum(errors, limit) / limit))).mean(axis=-1)


def search(
    errors: Errors,
    first: np.ndarray,
    trials: int,
    evaluations: int,
    seed: int,
    free: np.ndarray | None = None,
    scale: float | None = None,
    starts: np.ndarray | None = None,
) -> Evaluations:
    """Try some ``evaluations`` of all trials. Parameters that are not ``free`` (d,) stay at their ``first`` share.

    It goes over the box and over ``starts`` (S, d), then downhill from the best.
    """
    free = np.ones(first.size, dtype=bool) if free is None else free
    everyone = np.arange(trials)
    begin = errors(first, everyone)
    points, losses = [first.copy()], [lengths(begin)]
    vectors = any(isinstance(own, list) and own for own in begin)
    typical = float(np.median(losses[0])) if scale is None else scale

    def look(x: np.ndarray) -> tuple[float, Any]:
        full = first.copy()
        full[free] = np.clip(x, 0.0, 1.0)
        own = errors(full, everyone)
        points.append(full)
        losses.append(lengths(own))
        return float(robust(losses[-1], typical)), own

    if free.any():
        over = np.empty((0, int(free.sum()))) if starts is None else starts[:, free]
        for place in (*over, *unit_samples(int(free.sum()), max(1, round(GLOBAL * evaluations)), "sobol", seed)):
            look(place)
        lowest = [*np.argsort([robust(one, typical) for one in losses])[:DESCENTS]]
        end = max(len(points) + FEWEST * (DESCENTS + 1), evaluations)
        for k in range(DESCENTS, -1, -1):  # and last, more finely, from the best of all
            place = points[lowest.pop(0) if lowest else int(np.argmin([robust(one, typical) for one in losses]))]
            left = end - len(points)  # least squares end by themselves, a simplex hardly ever does
            _descend(look, place[free], WIDTH if k else FINE, left if vectors else left // (k + 1), typical, vectors)
    return Evaluations(np.array(points), np.array(losses), typical)


def _descend(look: Look, start: np.ndarray, width: float, evaluations: int, scale: float, vectors: bool) -> None:
    """Minimise from a place (d,), with a first simplex or differences of this width towards the farther bounds."""
    if evaluations < 1:
        return
    if vectors:
        _gauss_newton(look, start, width, evaluations, scale)
        return
    minimize = optional_package("scipy.optimize").minimize

    aside = np.where(start < 0.5, width, -width) * np.eye(start.size)
    simplex = np.vstack([start, start + aside])
    options = {"maxfev": evaluations, "initial_simplex": simplex, "xatol": NARROWEST, "fatol": FINEST * scale}
    minimize(lambda x: look(x)[0], start, method="Nelder-Mead", bounds=[(0.0, 1.0)] * start.size, options=options)


def _gauss_newton(look: Look, start: np.ndarray, width: float, evaluations: int, scale: float) -> None:
    """Minimise from a place (d,), by least squares within the bounds and a box about the best.

    Slopes are differences over ``width``, half of the box, so that they see past kinks; steps correct them (Broyden
    1965) until one gains too little. Then they are taken anew, and if even those mislead, the box shrinks. Lengths are
    minimised by squares, weighted with the inverse of each length.
    """
    lsq_linear = optional_package("scipy.optimize").lsq_linear
    (least, at), best, slopes, left = look(start), start, np.empty(0), evaluations - 1
    while width > NARROWEST and any(at) and left > (0 if slopes.size else start.size):
        fresh = not slopes.size
        if fresh:
            inward = np.where(best < 0.5, width, -width)
            moved = [_change(at, look(best + move)[1]) for move in np.diag(inward)]
            slopes, left = np.column_stack(moved) / inward, left - start.size
        rows, weights = _weighted(at, scale)
        root = np.sqrt(weights)
        q, r = np.linalg.qr(root[:, None] * slopes)
        box = np.maximum(-2.0 * width, -best), np.minimum(2.0 * width, 1.0 - best)
        step = lsq_linear(r, -q.T @ (root * rows), box, method="bvls").x
        promised = 0.5 * float(weights @ (rows**2 - (rows + slopes @ step) ** 2))
        if promised < FINEST * scale:
            if fresh:
                break
            slopes = np.empty(0)
            continue
        place = np.clip(best + step, 0.0, 1.0)
        (loss, there), left = look(place), left - 1
        change, gain = _change(at, there), least - loss
        if gain > 0.0:
            best, least, at = place, loss, there
        if gain < 0.25 * promised or sum(v.size for own in at for v in own) != len(slopes):
            slopes, width = np.empty(0), 0.25 * width if fresh else width
            continue
        slopes += np.outer(change - slopes @ step, step) / (step @ step)
        if gain > 0.75 * promised and np.abs(step).max() > 1.99 * width:
            width = min(2.0 * width, 0.25)


def _change(at: list[list[np.ndarray]], there: list[list[np.ndarray]]) -> np.ndarray:
    """(m,) how vectors of trials change from one place to another, zero where either failed."""
    pairs = ((a, b if len(a) == len(b) else a) for a, b in zip(at, there, strict=True))
    return np.concatenate([v - u for a, b in pairs for u, v in zip(a, b, strict=True)])


def _weighted(at: list[list[np.ndarray]], scale: float) -> tuple[np.ndarray, np.ndarray]:
    """(m,) the vectors of all trials in a row, and weights of their squares in whose sum half the loss changes."""
    weights = []
    for own in at:
        lengths = [max(float(np.linalg.norm(v)), FINEST * scale) for v in own]
        share = min(1.0, OUTLIER * scale / sum(lengths)) if own else 0.0
        weights += [np.full(v.size, share / length / len(at)) for v, length in zip(own, lengths, strict=True)]
    return np.concatenate([v for own in at for v in own]), np.concatenate(weights)


@dataclass(eq=False)
class Crossed:
    """Cross-validation of several searches: what each finds without each part of the trials, judged on that part."""

    points: np.ndarray  # (folds, searches, d)
    missed: np.ndarray  # (searches, trials) loss of each trial under parameters that were searched for without it
    fold: np.ndarray  # (trials,) which of the points these are


def cross_validated(
    errors: Errors, searched: Callable[[Errors, int], np.ndarray], trials: int, folds: int, seed: int, scale: float
) -> Crossed:
    """Search without each part of the trials, and judge on that part; ``searched`` returns the best (searches, d) of
    errors of so many trials.
    """
    order = np.random.default_rng(seed).permutation(trials)
    points, losses, part = [], [], np.zeros(trials, dtype=int)
    for fold, left_out in enumerate(np.array_split(order, folds)):
        seen = np.setdiff1d(order, left_out)

        def of_seen(x: np.ndarray, which: np.ndarray, seen: np.ndarray = seen) -> Sequence[Error] | np.ndarray:
            return errors(x, seen[which])

        points.append(searched(of_seen, seen.size))
        losses.append([robust(lengths(errors(one, left_out))[:, None], scale) for one in points[-1]])
        part[left_out] = fold
    missed = np.empty((len(points[0]), trials))
    missed[:, order] = np.hstack(losses)
    return Crossed(np.array(points), missed, part)


def better(fitted: np.ndarray, default: np.ndarray) -> bool:
    """Whether losses (trials,) are below those of the defaults by more than the standard error of their difference."""
    gain = default - fitted
    if gain.size < 2:
        return bool(gain.mean() > 0.0)
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(gain.size))


#: Widest interval of an identifiable parameter, as a share of its range.
UNKNOWN = 0.5
#: Distance from a bound, as a share of the range, below which the estimate is at the bound.
AT_BOUND = 0.01
#: Halvings of the distance to a bound in the search for the end of an interval.
HALVINGS = 8
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """One parameter: its value, an interval of 95 %, and a note."""

    name: str
    value: float
    low: float
    high: float
    note: str


def quantile(trials: int) -> float:
    """The quantile of Student's distribution for the mean of this many trials."""
    stdtrit = optional_package("scipy.special").stdtrit

    return float(stdtrit(trials - 1, 0.5 + CONFIDENCE / 2.0))


def _ridges(errors: Errors, best: np.ndarray, trials: int, scale: float, fitted: np.ndarray) -> np.ndarray:
    """(d, d) By parameter, how all change with it so that the loss rises least; it alone where errors are numbers."""
    found, everyone = np.eye(best.size), np.arange(trials)
    at: Any = errors(best, everyone)
    if not any(isinstance(own, list) and own for own in at):
        return found
    inward = np.where(best < 0.5, FINE, -FINE)
    moved: Any = [errors(best + move, everyone) for move in np.diag(inward)]
    slopes = np.column_stack([_change(at, one) for one in moved]) / inward
    root = np.sqrt(_weighted(at, scale)[1])[:, None] * slopes
    for i in range(best.size):
        others = np.flatnonzero(fitted & (np.arange(best.size) != i))
        found[i, others] = np.linalg.lstsq(root[:, others], -root[:, i])[0]
    return found


def estimates(
    errors: Errors,
    ranges: Mapping[str, Range],
    best: np.ndarray,
    at_best: np.ndarray,
    scale: float,
    fitted: np.ndarray,
) -> tuple[tuple[Estimate, ...], np.ndarray | None]:
    """The estimate of each parameter at the ``best``, where errors are ``at_best`` (trials,). Its interval ends where
    the trials are significantly worse; ``fitted`` (d,) are those that were searched for. And a place (d,) that is
    better by more than chance, if one was come across.
    """
    trials, lower = at_best.size, []
    base, along = robust(at_best[:, None], scale), _ridges(errors, best, trials, scale, fitted)

    def worse(i: int, share: float) -> bool:
        ways = np.unique([along[i], np.eye(best.size)[i]], axis=0)
        return all(worse_at(np.clip(best + (share - best[i]) * way, 0.0, 1.0)) for way in ways)

    def worse_at(at: np.ndarray) -> bool:
        own = robust(lengths(errors(at, np.arange(trials)))[:, None], scale)
        rise = own - base
        if better(own, base):
            lower.append((float(own.mean()), at))
        return bool(rise.mean() > quantile(trials) * rise.std(ddof=1) / np.sqrt(trials))

    def end(i: int, beyond: float) -> float:
        inside = float(best[i])
        if inside == beyond or not worse(i, beyond):
            return beyond
        for _ in range(HALVINGS):
            middle = 0.5 * (inside + beyond)
            inside, beyond = (inside, middle) if worse(i, middle) else (middle, beyond)
        return beyond

    found = []
    for i, (name, own) in enumerate(ranges.items()):
        low, high, note = end(i, 0.0), end(i, 1.0), ""
        if not fitted[i]:
            note = "the law's default, kept"
        elif high - low > UNKNOWN:
            note = "not identifiable from these data"
        elif best[i] < AT_BOUND or best[i] > 1.0 - AT_BOUND:
            note = "at its bound"
        found.append(Estimate(name, own.value(best[i]), own.value(low), own.value(high), note))
    return tuple(found), min(lower, key=lambda one: one[0])[1] if lower else None
