"""Which inputs an output depends on: Sobol indices over a sweep.

The variance of an output over the box of inputs is decomposed (Sobol 1993): the first-order index of an input is the
share that it explains alone; the total index is the share that involves it, alone or with others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.errors import StudyError, did_you_mean, optional_package
from footfall.given_numbers import Whole
from footfall.show.style import Figure, new_figure
from footfall.study.sweep import sweep
from footfall.study.sweep.cases import Samples, unit_samples


@public
@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Sobol indices of one output, (inputs,) each, with intervals (inputs, 2) of 95 % by bootstrap."""

    output: str
    inputs: tuple[str, ...]
    first: np.ndarray
    total: np.ndarray
    first_interval: np.ndarray
    total_interval: np.ndarray
    cases: int

    def to_dict(self) -> dict[str, Any]:
        rows = {
            name: {
                "first": self.first[i],
                "first_interval": self.first_interval[i].tolist(),
                "total": self.total[i],
                "total_interval": self.total_interval[i].tolist(),
            }
            for i, name in enumerate(self.inputs)
        }
        return {"output": self.output, "cases": self.cases, "inputs": rows}

    def plot(self) -> Figure:
        """Bars of both indices with their intervals."""
        with new_figure(0.9 + 0.55 * len(self.inputs)) as figure:
            ax = figure.subplots()
            places = np.arange(len(self.inputs))
            for shift, label, value, interval in (
                (-0.2, "alone (first order)", self.first, self.first_interval),
                (0.2, "with others (total)", self.total, self.total_interval),
            ):
                error = np.abs(interval.T - value)
                ax.barh(places + shift, value, 0.36, xerr=error, label=label, error_kw={"elinewidth": 1.0})
            ax.set_yticks(places, self.inputs)
            ax.invert_yaxis()
            ax.set_xlabel(f"share of the variance of {self.output}")
            figure.legend(loc="outside lower center", ncols=2)
        return figure


@public
def sensitivity(
    work: Callable[..., Any] | Mapping[str, Any],
    bounds: Mapping[str, tuple[float, float]],
    output: str,
    *,
    samples: int = 256,
    seed: Whole = 0,
    **options: Any,
) -> Sensitivity:
    """Sobol indices of ``output`` with respect to the inputs in ``bounds``, by Saltelli's scheme.

    ``samples`` is a power of two; the study has ``samples * (inputs + 2)`` cases. ``work`` and ``options`` are those of
    ``sweep``. A case that fails, or whose output is not a number, is refused: give bounds within which it is one.
    """
    sobol_indices = optional_package("scipy.stats").sobol_indices

    names = tuple(bounds)
    if samples < 2 or samples & (samples - 1):
        raise StudyError(f"samples = {samples}, but Sobol indices need a power of two")
    Samples(samples, bounds).columns(seed)  # refuses bounds that are none
    d = len(names)
    unit = unit_samples(2 * d, samples, "sobol", seed)
    a, b = unit[:, :d], unit[:, d:]
    mixed = np.repeat(a[None], d, axis=0)
    for i in range(d):
        mixed[i, :, i] = b[:, i]
    low, high = np.array([bounds[name] for name in names], dtype=float).T
    points = low + np.vstack([a, b, *mixed]) * (high - low)
    found = sweep(work, table={name: points[:, i].tolist() for i, name in enumerate(names)}, seed=seed, **options)
    if output not in found.outputs:
        raise StudyError(f"the study has no output '{output}': {did_you_mean(output, found.outputs)}")
    values = found[output].astype(float)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        why = found.columns["message"][int(bad[0])] or "it is not a number"
        raise StudyError(f"'{output}' is missing in {bad.size} of {len(found)} cases, the first: {why}")
    parts = values.reshape(d + 2, 1, samples)
    if np.ptp(values) == 0.0:
        raise StudyError(f"'{output}' is the same in all {len(found)} cases: it depends on none of the inputs")
    indices = sobol_indices(func={"f_A": parts[0], "f_B": parts[1], "f_AB": parts[2:]}, n=samples)
    intervals = indices.bootstrap(confidence_level=0.95, n_resamples=500)
    return Sensitivity(
        output=output,
        inputs=names,
        first=indices.first_order.ravel(),
        total=indices.total_order.ravel(),
        first_interval=np.column_stack([x.ravel() for x in intervals.first_order.confidence_interval]),
        total_interval=np.column_stack([x.ravel() for x in intervals.total_order.confidence_interval]),
        cases=len(found),
    )
