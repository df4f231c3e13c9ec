"""Derivatives of steps of many worlds on a GPU.

The worlds take a step, as many at a time as there are lanes; then each lane differentiates that of its world, and the
worlds are set back to its beginning.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from footfall.compiled.gpu_cache import launcher, prepare
from footfall.compiled.gpu_tiles import TILE
from footfall.engine.step import DONE, idle_control
from footfall.engine.worlds.arrays import WorldState
from footfall.engine.worlds.derivative import Before, Own, Shared
from footfall.engine.worlds.gpu import BLOCK, SHARE, Gpu, Tapes
from footfall.engine.worlds.gpu_kernels import Arrays, build_derivative
from footfall.engine.worlds.step import Plan, Span
from footfall.engine.worlds.tiles import lay_out_tuple
from footfall.errors import SimulationError


class Found(NamedTuple):
    """Derivatives of steps, on the device."""

    slopes: Any  # (R, C, W) of the state after the step, NaN where there is none
    why: np.ndarray  # (W,) the number of the reason why there is none, on the host


class Derivatives:
    """Room for the derivatives of worlds on a GPU; ``own`` is that of one lane."""

    def __init__(self, gpu: Gpu, plan: Plan, shared: Shared, own: Own, tapes: Tapes) -> None:
        self.gpu, self.plan, self.given = gpu, plan, gpu.given
        plot, self.shape = lay_out_tuple(own, TILE), own.slopes.out.shape
        self.lanes = self._lanes_that_fit(8 * sum(plot.numbers))
        self.room, self.shared = gpu.tiles(plot, self.lanes), gpu.constant(shared)
        self.kept = WorldState(*map(gpu.cuda.device_array_like, gpu.state))
        self.go_on = gpu.setter_of(gpu.state.end, gpu.constant(np.full((1, 1), DONE)), gpu.everybody)
        self.steps = Arrays(gpu.robot, gpu.given, gpu.state, gpu.space, tapes.feet, tapes.others, tapes.chosen)
        self.step = gpu.stepper(plan, idle_control, self.steps)
        law: Any = type(gpu.law)
        self.entry = build_derivative(law, shared.kind, gpu.plot, plot)

    def _lanes_that_fit(self, lane: int) -> int:
        """Lanes that differentiate at once, of so many bytes each; an error if the derivatives do not fit."""
        gpu, free = self.gpu, SHARE * self.gpu.free_memory()
        world = 8 * int(np.prod(self.shape))
        left = free - gpu.count * world - sum(array.nbytes for array in gpu.state)
        lanes = min(float(gpu.lanes), left // (lane * BLOCK) * BLOCK)
        if lanes < 1:
            raise SimulationError(
                f"derivatives of {gpu.count} worlds take {world / 1e3:.3g} kB each, more than the GPU has left, "
                f"{free / 1e9:.3g} GB: take fewer worlds"
            )
        return int(lanes)

    def find(self, softness: np.ndarray) -> Found:
        """Differentiate the next step of all worlds; ``softness`` is ``soft`` of the kernels."""
        gpu = self.gpu
        self.shared.soft.copy_to_device(softness)
        slopes = gpu.cuda.device_array((*self.shape, gpu.count), np.float64)
        why = gpu.cuda.device_array(gpu.count, np.int64)
        before = Before(*(getattr(self.kept, name) for name in Before._fields))
        arguments = self.steps, before, self.shared, self.room, slopes, why, (self.lanes, gpu.lanes)
        prepare(self.entry, (*arguments, 0, 0))
        differentiate = launcher(self.entry, (-(-self.lanes // BLOCK), BLOCK), arguments)
        for array, kept in zip(gpu.state, self.kept, strict=True):
            kept.copy_to_device(array)
        try:
            self.go_on()
            for first in range(0, gpu.count, gpu.lanes):
                self.step(Span(1, 0, 0), first)
                for begin in range(0, gpu.lanes, self.lanes):
                    differentiate(first, begin)
        finally:
            for array, kept in zip(gpu.state, self.kept, strict=True):
                array.copy_to_device(kept)
        return Found(slopes, why.copy_to_host())
