"""Kernels for a GPU from those of the CPU: the same Python functions, translated once more.

A GPU has no function pointers or symbols, and its compiler lacks some options of the CPU's. So a kernel and everything
that it calls are copied as plain functions, each compiled as a device function; some may be replaced by others.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import CellType, FunctionType
from typing import Any

import numpy as np

from footfall.compiled.gpu_loops import HIDDEN, counted, hidden
from footfall.compiled.stamp import codes_of
from footfall.errors import SimulationError


class Device:
    """Translates kernels; ``replaced`` maps functions to their replacements. A kernel with an attribute ``on_gpu`` is
    replaced by that everywhere.
    """

    def __init__(self, replaced: Mapping[Any, Any] | None = None) -> None:
        self.replaced = {plain(old): new for old, new in (replaced or {}).items()}
        self.made: dict[FunctionType, Any] = {}

    def function(self, kernel: Any) -> Any:
        """A kernel, or any function that kernels may call, as a device function."""
        own = plain(getattr(kernel, "on_gpu", kernel))
        own = plain(self.replaced.get(own, own))
        if own not in self.made:
            self.made[own] = None  # a recursive kernel would never end
            self.made[own] = cuda().jit(device=True)(self.copy(own))
        return self.made[own]

    def copy(self, own: FunctionType) -> FunctionType:
        """The same function, with copies of what it uses."""
        names = {name for code in codes_of(own.__code__) for name in code.co_names}
        known = {name: self.value(value) for name, value in own.__globals__.items() if name in names}
        cells = tuple(CellType(self.value(cell.cell_contents)) for cell in own.__closure__ or ())
        known["__builtins__"] = own.__globals__["__builtins__"]
        simulated = is_simulated()
        if not simulated:
            known[HIDDEN] = hidden()
        code = counted(own, simulated=simulated)
        made = FunctionType(code, known, own.__name__, own.__defaults__, cells or None)
        made.__module__, made.__qualname__ = own.__module__, own.__qualname__
        return made

    def value(self, value: Any) -> Any:
        """The value of a global on the device."""
        known = hasattr(value, "py_func") or value in self.replaced.values()
        return self.function(value) if known else value


def plain(kernel: Any) -> FunctionType:
    """The Python function under a kernel or a function pointer."""
    function = getattr(kernel, "py_func", None) or getattr(kernel, "__wrapped__", None) or kernel
    if not isinstance(function, FunctionType):
        raise SimulationError(f"{kernel!r} is no function that can be compiled for a GPU")
    return function


def cuda() -> Any:
    """Numba's CUDA module; an error says what is missing."""
    try:
        from numba import cuda
    except (ImportError, AttributeError) as error:  # the latter with a NumPy that numba-cuda does not know yet
        raise SimulationError(f"device='cuda' needs numba-cuda: pip install 'footfall[cuda]' ({error})") from error
    return cuda


def is_simulated() -> bool:
    """Whether kernels run in Numba's simulator."""
    return not hasattr(cuda(), "syncwarp")


def checked_cuda() -> Any:
    """Numba's CUDA module, after a check that there is a GPU."""
    found = cuda()
    if not found.is_available():
        raise SimulationError(
            "device='cuda' needs an NVIDIA GPU, and numba-cuda finds none here: use device='cpu', "
            "or look at the output of `numba -s`"
        )
    try:
        import_module("numba.cuda.np.arrayobj")  # else first imported while a kernel is compiled
    except AttributeError as error:
        raise SimulationError(
            f"the installed numba-cuda does not know NumPy {np.__version__} ({error}): "
            "pip install 'footfall[cuda]' brings one that it knows"
        ) from error
    return found
