"""Time stamps of logs: their rate, how they jitter, their gaps; and samples at even times by them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from footfall.errors import optional_package

#: Longest step without missing samples, in median steps: jitter of a network is one or two.
GAP = 5.0
#: Largest distance of samples from even times, as a share of a step: files round 1/600 s to 0.0017 s.
UNEVEN = 0.1
#: Fewest samples for a filter forwards and backwards.
FEWEST = 16


class Stamps(NamedTuple):
    """Properties of stamps (T,): samples per second, distance from even times, and gaps."""

    rate: float  # of the median step
    shortest: float  # s, of all steps
    longest: float
    gaps: tuple[tuple[float, float], ...]  # s: begin and length of each
    even: bool

    def __str__(self) -> str:
        text = f"{self.rate:.4g} samples per second"
        if not self.even:
            text += f", {1e3 * self.shortest:.3g} to {1e3 * self.longest:.3g} ms apart"
        if self.gaps:
            begin, length = max(self.gaps, key=lambda one: one[1])
            count = f"{len(self.gaps)} gaps, the longest" if len(self.gaps) > 1 else "a gap"
            text += f", with {count} of {length:.3g} s at {begin:.3g} s"
        return text


def stamps_of(time: np.ndarray) -> Stamps:
    """The rate, jitter and gaps of times (T,) that increase, s."""
    step = np.diff(time)
    usual = float(np.median(step))
    mean = float((time[-1] - time[0]) / step.size)
    off = float(np.abs(time - (time[0] + mean * np.arange(time.size))).max())
    gaps = tuple((float(time[k]), float(step[k])) for k in np.flatnonzero(step > GAP * usual))
    return Stamps(1.0 / usual, float(step.min()), float(step.max()), gaps, off <= UNEVEN * mean)


def at_times(when: np.ndarray, time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (T, ...) at other times; between samples by cubics that do not overshoot, outside as at the nearer end.

    Splines would: two samples 0.2 ms apart make noise of 1 mrad a slope of 5 rad/s.
    """
    interpolate = optional_package("scipy.interpolate")
    inside = np.clip(when, time[0], time[-1])
    found: np.ndarray = interpolate.PchipInterpolator(time, values, axis=0)(inside)
    return found


def evened(time: np.ndarray, values: np.ndarray, rate: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Even times at a rate (1/s), that of the median step if left out, and the values (T, ...) there."""
    step = float(np.median(np.diff(time))) if rate is None else 1.0 / rate
    when = time[0] + step * np.arange(int(np.floor((time[-1] - time[0]) / step + 1e-6)) + 1)
    return when, at_times(when, time, values)


def low_passed(values: np.ndarray, rate: float, cutoff: float, *, causal: bool = False) -> np.ndarray:
    """Values (T, ...) at a rate (1/s), low-passed at ``cutoff`` (Hz) by a second-order Butterworth filter: forwards and
    backwards, without delay, or forwards alone; as they are where they are too few or too slow for it.
    """
    if 2.2 * cutoff >= rate or (len(values) < FEWEST and not causal):
        return values
    signal = optional_package("scipy.signal")
    sections = signal.butter(2, cutoff, fs=rate, output="sos")
    if not causal:
        return np.asarray(signal.sosfiltfilt(sections, values, axis=0))
    first = signal.sosfilt_zi(sections)[:, :, None]
    return np.asarray(signal.sosfilt(sections, values, axis=0, zi=first * values[None, :1])[0])
