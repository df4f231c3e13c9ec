"""How Footfall turns Python functions into machine code.

Three things are decided here, once: the compiler options of a *kernel* (a plain function over arrays that
also runs, slowly, as ordinary Python); that compiled code is kept on disk and thrown away when any kernel of
the package changes; and that the user is told when he waits for the compiler.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache

PACKAGE = Path(__file__).parent
KERNEL_ROOMS = ("compiled.py", "engine", "solve", "contact", "surface.py", "fingerprint.py", "control")

# No reassociation and no assumption that NaN is absent: divergence is detected by looking for it.
FAST = {"contract", "arcp", "nsz", "reassoc"}


@cache
def kernel_stamp() -> str:
    """A fingerprint of every source file that holds kernels.

    Numba's own cache looks only at the file of the outermost function; a change in a function it calls
    would go unnoticed.
    """
    digest = hashlib.sha256()
    for room in KERNEL_ROOMS:
        path = PACKAGE / room
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()


class _KernelCache(FunctionCache):
    """Numba's disk cache, fresh only while *all* kernels are unchanged."""

    def __init__(self, function: FunctionType) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = (self._cache_file._source_stamp, kernel_stamp())


def _keep_on_disk(compiled: Any, function: FunctionType) -> None:
    with contextlib.suppress(RuntimeError, OSError):  # typed at a prompt, or no writable folder: compile every time
        compiled._cache = _KernelCache(function)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function of arrays and numbers on first use: no interpreter, no GIL, no allocation, kept on disk."""
    return _compile(function, inline=False)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that becomes part of its caller: for small ones, and for those that take whole worlds as arguments."""
    return _compile(function, inline=True)


def _compile(function: Any, *, inline: bool) -> Any:
    compiled = numba.njit(nogil=True, error_model="numpy", fastmath=FAST, _nrt=False, forceinline=inline)(function)
    _keep_on_disk(compiled, function)
    return compiled


def function_pointer(signature: Any, function: Callable[..., Any]) -> Any:
    """Compile a function of one fixed signature to something compiled loops take as an argument."""
    from numba.core.ccallback import CFunc
    from numba.core.sigutils import normalize_signature

    args, result = normalize_signature(signature)
    pointer = CFunc(function, (args, result), {}, {"error_model": "numpy", "fastmath": FAST, "_nrt": False})
    _keep_on_disk(pointer, function)  # type: ignore[arg-type]
    pointer.compile()
    return pointer


def generated(source: str, name: str, namespace: dict[str, Any], home: FunctionType) -> FunctionType:
    """Make a function from source text that the disk cache files beside ``home``, the function it serves."""
    code = compile(source, home.__code__.co_filename, "exec")
    exec(code, namespace)
    function = namespace[name]
    function.__module__ = home.__module__
    function.__qualname__ = f"{home.__qualname__}.{name}"
    return function


class _Announcer(event.Listener):
    """Says once, on stderr, that compilation has begun."""

    def __init__(self) -> None:
        self.said = False
        self.lock = threading.Lock()

    def on_start(self, event: event.Event) -> None:
        dispatcher = event.data.get("dispatcher") if isinstance(event.data, dict) else None
        module = getattr(getattr(dispatcher, "py_func", None), "__module__", "") or ""
        with self.lock:
            if self.said or not module.startswith("footfall"):
                return
            self.said = True
        print("footfall: compiling (once; kept for the next start) ...", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Announcer())
