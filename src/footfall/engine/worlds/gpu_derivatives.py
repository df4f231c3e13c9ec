"""Derivatives of steps of many worlds on a GPU.

Copies of the worlds take a step, as many at a time as there are lanes; then each lane differentiates that of its copy.
The worlds themselves stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from footfall.compiled.gpu import is_simulated
from footfall.compiled.gpu_cache import launcher
from footfall.engine.step import idle_control
from footfall.engine.worlds.arrays import Given, WorldState
from footfall.engine.worlds.derivative import Before, Own, Shared
from footfall.engine.worlds.gpu import BLOCK, SHARE, Gpu, Tapes, in_rows
from footfall.engine.worlds.gpu_kernels import Arrays, build_derivative
from footfall.engine.worlds.step import Plan, Span
from footfall.engine.worlds.tiles import Plot, Tiles, lay_out_rows, zeros
from footfall.errors import SimulationError

#: What a step reads of the state of a world; the rest counts and measures.
READ = (
    *("qpos", "qvel", "ctrl", "anchor", "force", "mode", "memory", "step", "row_state", "row_inertia"),
    *("seated", "touching", "touched", "held"),
)


class Found(NamedTuple):
    """Derivatives of steps, on the device."""

    slopes: Any  # (R, C, W) of the state after the step, NaN where there is none
    why: np.ndarray  # (W,) the number of the reason why there is none, on the host


class Derivatives:
    """Room for the derivatives of worlds on a GPU, and copies of the worlds that take the steps; ``own`` is the room of
    one lane.
    """

    def __init__(self, gpu: Gpu, plan: Plan, shared: Shared, own: Own, tapes: Tapes) -> None:
        self.gpu, self.plan, self.given, self.to_device = gpu, plan, gpu.given, gpu.cuda.to_device
        layout, numbers = lay_out_rows(own)
        plot, self.shape = Plot(layout, None, numbers), own.slopes.out.shape
        self.lanes = self._lanes_that_fit(8 * sum(numbers))
        room = zeros(plot, self.lanes, np.float64, simulated=is_simulated())
        self.room, self.shared = Tiles(*map(self.to_device, room)), gpu.constant(shared)
        self.soft = self.shared.soft
        given, state = Given(*map(self._of_chunk, gpu.given)), WorldState(*map(self._copy, gpu.state))
        chosen = self.to_device(np.full(gpu.lanes, -1))
        self.steps = Arrays(gpu.robot, given, state, gpu.space, tapes.feet, tapes.others, chosen)
        self.step = gpu.stepper(plan, idle_control, self.steps)
        self.before = Before(*(getattr(gpu.state, name) for name in Before._fields))
        self.begin = {first: self._setters(first) for first in range(0, gpu.count, gpu.lanes)}
        law: Any = type(gpu.law)
        self.entry = build_derivative(law, shared.kind, gpu.plot, plot)

    def _lanes_that_fit(self, lane: int) -> int:
        """Lanes that differentiate at once, of so many bytes each; an error if the derivatives do not fit."""
        gpu, free = self.gpu, SHARE * self.gpu.free_memory()
        world = 8 * int(np.prod(self.shape))
        left = free - gpu.count * world - gpu.lanes * sum(array.nbytes // gpu.count for array in gpu.state)
        lanes = min(float(gpu.lanes), left // (lane * BLOCK) * BLOCK)
        if lanes < 1:
            raise SimulationError(
                f"derivatives of {gpu.count} worlds take {world / 1e3:.3g} kB each, more than the GPU has left, "
                f"{free / 1e9:.3g} GB: take fewer worlds"
            )
        return int(lanes)

    def _copy(self, array: Any) -> Any:
        """Room for an array, the world last, of as many worlds as there are lanes."""
        *shape, _ = array.shape
        return self.to_device(np.zeros((*shape, self.gpu.lanes), dtype=array.dtype))

    def _of_chunk(self, array: Any) -> Any:
        """An input as all worlds share it, or room for a copy of that of the worlds under way."""
        *_, worlds = array.shape
        return array if worlds in (1, self.gpu.lanes) else self._copy(array)

    def _setters(self, first: int) -> list[Callable[[], None]]:
        """Functions that copy the worlds from ``first`` on."""
        gpu, steps = self.gpu, self.steps
        pairs = [(getattr(steps.state, name), getattr(gpu.state, name)) for name in READ]
        pairs += [(to, one) for to, one in zip(steps.given, gpu.given, strict=True) if to is not one]
        still = self.to_device(np.zeros((1, 1), dtype=np.int64))
        found = [gpu.setter_of(steps.state.end, still, gpu.everybody)]
        for to, one in pairs:
            if one.size == 0:
                continue
            chunk = in_rows(one) if gpu.count == gpu.lanes else in_rows(one)[:, first : first + gpu.lanes]
            found.append(gpu.setter_of(to, chunk, gpu.everybody))
        return found

    def find(self, softness: np.ndarray) -> Found:
        """Differentiate the next step of all worlds; ``softness`` is ``soft`` of the kernels."""
        gpu = self.gpu
        self.soft.copy_to_device(softness)
        slopes = gpu.cuda.device_array((*self.shape, gpu.count), np.float64)
        why = gpu.cuda.device_array(gpu.count, np.int64)
        arguments = self.steps, self.before, self.shared, self.room, slopes, why
        gpu.prepare(self.entry, (*arguments, 0, 0))
        differentiate = launcher(self.entry, (-(-self.lanes // BLOCK), BLOCK), arguments)
        for first, setters in self.begin.items():
            for copy in setters:
                copy()
            self.step(Span(1, 0, 0))
            for begin in range(0, gpu.lanes, self.lanes):
                differentiate(first, begin)
        return Found(slopes, why.copy_to_host())
