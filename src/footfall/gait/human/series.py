"""Fourier series over the gait cycle."""

from __future__ import annotations

from typing import Any

import numpy as np


def basis(phase: np.ndarray, harmonics: int, derivative: int = 0) -> np.ndarray:
    """(N, 2 H + 1) one, cos(2 pi k phase), sin(2 pi k phase) for k = 1..H, or a derivative by the phase (cycles)."""
    phase = np.asarray(phase, dtype=float)
    rate = 2 * np.pi * np.arange(1, harmonics + 1)
    angle = phase[:, None] * rate + 0.5 * np.pi * derivative
    constant = np.full((len(phase), 1), 1.0 if derivative == 0 else 0.0)
    return np.hstack([constant, rate**derivative * np.cos(angle), rate**derivative * np.sin(angle)])


def fit(phase: np.ndarray, values: np.ndarray, harmonics: int) -> np.ndarray:
    """(2 H + 1, ...) coefficients of the series nearest to values (N, ...) at the phases (N,), cycles."""
    return np.linalg.lstsq(basis(phase, harmonics), values, rcond=None)[0]


def evaluate(coefficients: Any, phase: np.ndarray, derivative: int = 0) -> np.ndarray:
    """(N, ...) the series at the phases (N,), cycles, or its derivative by the phase."""
    coefficients = np.asarray(coefficients, dtype=float)
    return basis(phase, (len(coefficients) - 1) // 2, derivative) @ coefficients
