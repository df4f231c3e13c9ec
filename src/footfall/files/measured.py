"""A measurement: named channels over time, with units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from footfall.arguments import public
from footfall.errors import FootfallError, did_you_mean, optional_package
from footfall.files.stamps import stamps_of
from footfall.frozen_values import made_again
from footfall.given_numbers import Positive
from footfall.process.machine import machine_memory

#: Samples by which a filter extends each end of a signal, those of SciPy's ``sosfiltfilt`` for a second order.
PADDING = 9


@public
@dataclass(frozen=True, eq=False, repr=False)
class Measured:
    """Channels of one measurement over time.

    Attributes:
        time: (T,) s, increasing.
        channels: (T,) numbers by name; NaN where there are none. Three whose names differ only in an x, y, z are a
            vector: heel.x, heel.y, heel.z, or FX1, FY1, FZ1.
        units: of each channel: m, rad, N, N m, ... or "".
        up: which axis of vectors is up, "y" or "z".
        source: the file.
        done: what was done to it since it was read, in order, such as "low-passed at 6 Hz".
    """

    time: np.ndarray
    channels: Mapping[str, np.ndarray]
    units: Mapping[str, str]
    up: str
    source: str
    done: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        time = np.asarray(self.time, dtype=float)
        if time.ndim != 1 or not time.size or not np.isfinite(time).all():
            raise FootfallError(f"{self.source}: its times are not (T,) finite numbers")
        channels = {name: np.asarray(values, dtype=float) for name, values in self.channels.items()}
        if wrong := [name for name, values in channels.items() if values.shape != time.shape]:
            shape = channels[wrong[0]].shape
            raise FootfallError(f"{self.source}: '{wrong[0]}' has shape {shape}, and there are {time.size} times")
        late = np.flatnonzero(np.diff(time) <= 0.0)
        if late.size:
            at = int(late[0]) + 1
            raise FootfallError(
                f"{self.source}: time does not increase in sample {at}: {time[at]:g} s after {time[at - 1]:g} s"
            )
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "channels", MappingProxyType(channels))
        object.__setattr__(self, "units", MappingProxyType(dict(self.units)))

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.channels:
            raise FootfallError(f"{self.source} has no '{name}': {did_you_mean(name, self.channels)}")
        return self.channels[name]

    def __len__(self) -> int:
        return len(self.time)

    def __reduce__(self) -> Any:
        return made_again(self)

    def __repr__(self) -> str:
        more = f"; {', '.join(self.done)}" if self.done else ""
        return f"Measured('{self.source}', {len(self)} samples, {len(self.channels)} channels{more})"

    @property
    def rate(self) -> float:
        """Samples per second; refused where they are not evenly spaced."""
        if len(self) < 2:
            raise FootfallError(f"{self.source}: one sample has no rate")
        stamps = stamps_of(self.time)
        if not stamps.even:
            raise FootfallError(
                f"{self.source}: its samples are not evenly spaced ({stamps}); resample it first: resampled(rate)"
            )
        return float((len(self) - 1) / (self.time[-1] - self.time[0]))

    @property
    def vectors(self) -> tuple[str, ...]:
        """Names of the vectors: those of their channels without x, y, z, and without a dot or line left at the end."""
        return tuple(self._triples())

    def vector(self, name: str) -> np.ndarray:
        """(T, 3) a vector by its name, such as a marker."""
        return np.column_stack([self.channels[one] for one in self.channels_of(name)])

    def vector_unit(self, name: str) -> str:
        """The unit of a vector."""
        return self.units[self.channels_of(name)[0]]

    def z_up(self) -> Measured:
        """The same with vectors in Footfall's frame, x forward, y to the left, z up."""
        if self.up == "z":
            return self
        channels = dict(self.channels)
        for _, y, z in self._triples().values():
            channels[y], channels[z] = -self.channels[z], self.channels[y]
        return replace(self, channels=channels, up="z", done=(*self.done, "turned to z up"))

    def renamed(self, names: Mapping[str, str]) -> Measured:
        """The same with new names for some channels or vectors: ``{new: old}``."""
        whole: dict[str, str] = {}
        triples = self._triples()
        for new, old in names.items():
            if old in self.channels:
                whole[old] = new
            elif old.rstrip("._/ ") in triples:
                whole |= {name: f"{new}.{axis}" for name, axis in zip(triples[old.rstrip("._/ ")], "xyz", strict=True)}
            else:
                raise FootfallError(f"{self.source} has no '{old}': {did_you_mean(old, [*self.channels, *triples])}")
        channels: dict[str, np.ndarray] = {}
        for old, values in self.channels.items():
            new = whole.get(old, old)
            if new in channels:
                raise FootfallError(f"{self.source}: two channels would be called '{new}': rename the other as well")
            channels[new] = values
        return replace(self, channels=channels, units={whole.get(n, n): unit for n, unit in self.units.items()})

    def slice(self, start: float, stop: float) -> Measured:
        """The samples from ``start`` up to ``stop`` (s)."""
        inside = (self.time >= start) & (self.time <= stop)
        if not inside.any():
            raise FootfallError(f"{self.source} has no sample between {start:g} and {stop:g} s")
        return replace(self, time=self.time[inside], channels={n: v[inside] for n, v in self.channels.items()})

    def shifted(self, by: float) -> Measured:
        """The same, later by ``by`` s; ``shifted(-measured.time[0])`` lets it begin at 0."""
        return replace(self, time=self.time + by, done=(*self.done, f"shifted by {by:g} s"))

    def resampled(self, rate: Positive) -> Measured:
        """The same at ``rate`` samples per second, by cubic splines between samples; gaps (NaN) stay gaps."""
        CubicSpline = optional_package("scipy.interpolate").CubicSpline

        wanted = float(self.time[-1] - self.time[0]) * rate
        if 8 * wanted * (len(self.channels) + 8) > machine_memory():  # bytes; of the time, and of one spline
            raise FootfallError(f"{self.source} would have {wanted:.3g} samples at {rate:g} Hz, more than memory holds")
        count = math.floor(wanted + 1e-9) + 1
        time = self.time[0] + np.arange(count) / rate
        channels = {}
        for name, values in self.channels.items():
            known = np.isfinite(values)
            found = np.full(count, np.nan)
            if known.sum() > 3:
                near = np.interp(time, self.time, known.astype(float)) > 1.0 - 1e-9
                found[near] = CubicSpline(self.time[known], values[known])(time[near])
            channels[name] = found
        return replace(self, time=time, channels=channels, done=(*self.done, f"resampled at {rate:g} Hz"))

    def low_passed(self, cutoff: float) -> Measured:
        """The same, low-passed at ``cutoff`` (Hz) by a second-order Butterworth filter applied forwards and backwards,
        without delay.
        """
        signal = optional_package("scipy.signal")

        rate = self.rate
        if len(self) <= PADDING:
            raise FootfallError(f"{self.source} has {len(self)} samples, and a filter needs more than {PADDING}")
        if not 0.0 < cutoff < 0.5 * rate:
            raise FootfallError(f"a cut-off of {cutoff:g} Hz is not between 0 and half of {rate:g} Hz")
        gaps = [name for name, values in self.channels.items() if not np.isfinite(values).all()]
        if gaps:
            raise FootfallError(f"{self.source}: '{gaps[0]}' has gaps, which a filter would spread: slice or fill them")
        sections = signal.butter(2, cutoff, fs=rate, output="sos")
        channels = {name: signal.sosfiltfilt(sections, values) for name, values in self.channels.items()}
        return replace(self, channels=channels, done=(*self.done, f"low-passed at {cutoff:g} Hz"))

    def channels_of(self, name: str) -> tuple[str, str, str]:
        """The names of a vector's three channels."""
        triples = self._triples()
        found = triples.get(name) or triples.get(name.rstrip("._/ "))
        if found is None:
            raise FootfallError(f"{self.source} has no vector '{name}': {did_you_mean(name, triples)}")
        return found

    def _triples(self) -> dict[str, tuple[str, str, str]]:
        """The channels of each vector by its name. The last x of a name that has its y and z decides."""
        found: dict[str, tuple[str, str, str]] = {}
        for name in self.channels:
            for i in reversed(range(len(name))):
                axes = {"x": "xyz", "X": "XYZ"}.get(name[i])
                if axes is None:
                    continue
                one, two, three = (name[:i] + axis + name[i + 1 :] for axis in axes)
                if two in self.channels and three in self.channels:
                    plain = (name[:i] + name[i + 1 :]).rstrip("._/ ") or "xyz"
                    found.setdefault(plain, (one, two, three))
                    break
        return found
