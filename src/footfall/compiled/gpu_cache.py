"""GPU kernels: compiled ahead of their first launch, kept on disk like those of CPUs (:mod:`.cache`), and launched."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from importlib import import_module
from typing import Any

from footfall.compiled import kernels
from footfall.process.garbage import no_garbage_search
from footfall.process.interrupts import while_compiling

#: The version of numba-cuda, without its last number, whose inner workings are known; ``pyproject.toml`` asks for it.
NUMBA_CUDA = (0, 30)


@cache
def _private() -> Any:
    """The inner workings of numba-cuda, or ``None`` in a version that is not known; then no machine code is kept."""
    import numba_cuda  # type: ignore[import-untyped]

    if not kernels.KNOWN or tuple(map(int, numba_cuda.__version__.split(".")[:2])) != NUMBA_CUDA:
        return None
    return import_module("footfall.compiled.private_numba")


def kept_on_disk(dispatcher: Any) -> Any:
    """The same kernel with its machine code kept on disk; in Numba's simulator there is none."""
    if hasattr(dispatcher, "targetoptions") and _private() is not None:
        dispatcher._cache = _private().CubinCache(dispatcher)
    return dispatcher


def prepare(dispatcher: Any, arguments: Any) -> None:
    """Compile a kernel for such arguments, or read it from disk."""
    if not hasattr(dispatcher, "targetoptions"):  # in the simulator
        return
    kinds = tuple(map(dispatcher.typeof_pyval, arguments))
    if kinds not in dispatcher.overloads:
        lean = nullcontext() if _private() is None else _private().for_gpus()
        with while_compiling(), no_garbage_search(), lean:
            dispatcher.compile(kinds)


def launcher(dispatcher: Any, shape: tuple[Any, ...], arguments: Any) -> Callable[..., None]:
    """A function that launches a kernel with these first ``arguments`` and its own, on a grid of this ``shape`` (with
    the stream last, if it is not the default). The first arguments are unpacked once: for some hundred arrays this
    takes longer than a short kernel. A kernel that was compiled for several kinds of arguments must be given all of
    them.
    """
    if not hasattr(dispatcher, "targetoptions") or _private() is None:
        return lambda *last: dispatcher[shape](*arguments, *last)
    launch: Callable[..., None] = _private().launch_of(dispatcher, shape, arguments)
    return launch
