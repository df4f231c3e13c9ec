"""Numba's simulator of GPUs with lanes that take turns, and a process that runs one program after the other in it.

The simulator has a thread for each lane, asks all of them in a loop whether they wait at a barrier, and takes Python's
lock from them to ask; it also looks for its own module at every call of a function of the device. Here lanes are
coroutines: one runs at a time, up to its next barrier. They run in order and against it by turns, so that a missing
barrier is seen.
"""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from contextlib import redirect_stdout
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from greenlet import getcurrent
from numba import cuda
from numba.cuda import types
from numba.cuda.np.numpy_support import as_dtype
from numba.cuda.simulator import kernel, kernelapi
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, FakeWithinKernelCUDAArray
from numba.cuda.simulator.kernelapi import Dim3, FakeCUDAModule, FakeCUDAShared
from taking_turns import Lane, take_turns

from footfall.compiled import gpu


def bare(given: Any) -> Any:
    """Arrays as NumPy's own, also those in tuples: the simulator's look at what every element is."""
    if isinstance(given, FakeWithinKernelCUDAArray):
        given = given._item
    if isinstance(given, FakeCUDAArray):
        return given._ary
    if isinstance(given, tuple):
        return type(given)(*map(bare, given)) if hasattr(given, "_fields") else tuple(map(bare, given))
    return given


class Block(kernel.BlockManager):
    """Lanes that run one after the other from barrier to barrier."""

    def run(self, place: Any, *arguments: Any) -> None:
        given = [bare(one) for one in arguments]
        lanes = [Lane(lambda: self._f(*given), number) for number in range(self._block_dim[0])]
        for lane in lanes:
            lane.threadIdx, lane.blockIdx, lane.thread_id = Dim3(lane.number, 0, 0), Dim3(*place), lane.number
        take_turns(lanes)


def call(self: Any, *arguments: Any, launch: Any = kernel.FakeCUDAKernel.__call__) -> Any:
    """Call a function of the device, whose module is put in place once per launch, or launch a kernel."""
    running = kernel._get_kernel_context()
    if running is None:
        return launch(self, *arguments)
    if getattr(self, "known_to", None) is not running:
        self.known_to, known = running, self.fn.__globals__
        known.update(
            {name: running for name, value in known.items() if value is cuda or isinstance(value, FakeCUDAModule)}
        )
    return self.fn(*arguments)


def shared_array(self: Any, shape: Any, dtype: Any) -> np.ndarray:
    """What the lanes of a block share: one array for each line that asks for one."""
    asking = sys._getframe(1)
    line = asking.f_code, asking.f_lineno
    if line not in self._allocations:
        self._allocations[line] = np.empty(shape, as_dtype(dtype) if isinstance(dtype, types.Type) else dtype)
    return self._allocations[line]


kernel.BlockManager, kernel.FakeCUDAKernel.__call__, FakeCUDAShared.array = Block, call, shared_array
gpu.counted = cache(gpu.counted)  # programs of one process share most functions
kernelapi.threading = SimpleNamespace(current_thread=getcurrent)


if __name__ == "__main__":  # a line in is a program and its arguments, a line out what its last line says
    for line in sys.stdin:
        program, *sys.argv[1:] = json.loads(line)
        said = io.StringIO()
        try:
            with redirect_stdout(said):
                exec(program, {"__name__": "program"})
            print(said.getvalue().splitlines()[-1], flush=True)
        except Exception:
            print(json.dumps({"error": traceback.format_exc()}), flush=True)
    os._exit(0)  # to give back piece by piece what was made would take a second
