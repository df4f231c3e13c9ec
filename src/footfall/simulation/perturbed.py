"""Runs that start a little beside where they should: does an answer hang on the last digits of its start?"""

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
    """Every run begun in this context starts off by up to ``size`` in each coordinate and speed (m, rad, m/s, rad/s).

    Runs of one robot are all off by the same, drawn with ``seed``, so that what is compared starts alike. A run that
    goes on from a state of another is left as it is. The context is that of the thread.
    """
    if not (is_number(size) and size > 0.0):
        raise SimulationError(f"size = {size!r} but starts must be off by a positive number")
    token = _noise.set(_Noise(seed, size))
    try:
        yield
    finally:
        _noise.reset(token)


def perturb(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Move the start in ``data`` as the context has it, if it does."""
    noise = _noise.get()
    if noise is None:
        return
    off = np.random.default_rng(noise.seed).uniform(-noise.size, noise.size, size=(2, model.nv))
    mujoco.mj_integratePos(model, data.qpos, off[0], 1.0)
    data.qvel += off[1]
