"""Runs from slightly perturbed starts: does a result depend on the last digits of the initial state?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.errors import SimulationError
from footfall.given_numbers import is_number


class _Noise(NamedTuple):
    seed: int
    size: float


_noise: ContextVar[_Noise | None] = ContextVar("noise", default=None)


@contextmanager
def perturbed_starts(seed: int, size: float = 1e-9) -> Iterator[None]:
    """Perturb the start of every run in this context, each coordinate and speed by up to ``size`` (m, rad, m/s, rad/s).

    All runs of one robot get the same perturbation, drawn with ``seed``, so that compared runs start alike. A run that
    continues from another's state is not perturbed. The context holds for the current thread.
    """
    if not (is_number(size) and size > 0.0):
        raise SimulationError(f"size = {size!r} but starts must be off by a positive number")
    token = _noise.set(_Noise(seed, size))
    try:
        yield
    finally:
        _noise.reset(token)


def perturb(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Perturb the start in ``data`` if the context asks for it."""
    noise = _noise.get()
    if noise is None:
        return
    off = np.random.default_rng(noise.seed).uniform(-noise.size, noise.size, size=(2, model.nv))
    mujoco.mj_integratePos(model, data.qpos, off[0], 1.0)
    data.qvel += off[1]
