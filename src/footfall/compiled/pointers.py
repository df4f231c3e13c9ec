"""Functions of fixed types that compiled loops take as arguments, and the compiler options of all kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any

from numba.core import types

from footfall.compiled.cache import KernelCache
from footfall.compiled.inline_only import KernelCompiler
from footfall.compiled.stamp import flags_of

# Sums may be reordered and products fused, so that loops are vectorised. NaN and infinity stay: they reveal divergence.
FAST = {"contract", "arcp", "nsz", "reassoc"}


def own_copy(function: Any) -> FunctionType:
    """A copy of a function, which may be renamed without changing the user's."""
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(copy, function)
    return copy


def function_pointer(signature: Any, function: Callable[..., Any]) -> Any:
    """Compile a function of one fixed signature to a pointer that compiled loops take as an argument."""
    from numba.core.ccallback import CFunc
    from numba.core.sigutils import normalize_signature

    function = own_copy(function)
    args, result = normalize_signature(signature)
    options = {"error_model": "numpy", "fastmath": FAST, "_nrt": False}
    pointer: Any = CFunc(function, (args, result), {}, options, pipeline_class=KernelCompiler)
    pointer._cache = KernelCache(function, flags_of(pointer))
    pointer.compile()
    pointer._numba_type_ = types.FunctionType(pointer._sig)  # found once, not in every run
    return pointer
