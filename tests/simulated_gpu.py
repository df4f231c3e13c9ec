"""Numba's simulator of GPUs with lanes that take turns, and a process that runs one program after the other in it.

The simulator asks all its threads in a loop whether they wait at a barrier, and takes Python's lock from them to ask;
it also looks for its own module at every call of a function of the device. Here one lane runs at a time, up to its
next barrier. Lanes run in order and against it by turns, so that a missing barrier is seen.
"""

from __future__ import annotations

import io
import json
import sys
import threading
import traceback
from contextlib import redirect_stdout
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda import types
from numba.cuda.np.numpy_support import as_dtype
from numba.cuda.simulator import kernel
from numba.cuda.simulator.kernelapi import FakeCUDAModule, FakeCUDAShared


def taken() -> threading.Lock:
    """A lock that whoever asks for it waits for."""
    lock = threading.Lock()
    lock.acquire()
    return lock


class Lane(kernel.BlockThread):
    """A thread that runs when it is its turn, and hands over at barriers."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.turn, self.done = taken(), False

    def run(self) -> None:
        self.turn.acquire()
        super().run()
        self.done = True
        self._manager.handed_over.release()

    def syncthreads(self) -> None:
        self._manager.handed_over.release()
        self.turn.acquire()


class Block(kernel.BlockManager):
    """Lanes that run one after the other from barrier to barrier."""

    def run(self, place: Any, *arguments: Any) -> None:
        self.handed_over = taken()
        lanes = [
            Lane(lambda: self._f(*arguments), self, place, (lane, 0, 0), False) for lane in range(self._block_dim[0])
        ]
        for lane in lanes:
            lane.start()
        while lanes:
            for lane in lanes:
                lane.turn.release()
                self.handed_over.acquire()
                if lane.exception:  # the others wait for their turn until this process ends
                    raise lane.exception[0].with_traceback(lane.exception[1])
            lanes = [lane for lane in reversed(lanes) if not lane.done]


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
