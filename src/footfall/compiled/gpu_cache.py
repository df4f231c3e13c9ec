"""Machine code of GPUs on disk, in the same folder and under the same rules as that of CPUs (:mod:`.cache`).

Numba's own cache for CUDA looks at the file of the outermost function alone, and keeps what NVVM read and wrote, a
hundred times the size of the machine code.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba

from footfall.cache_folder import cache_folder
from footfall.compiled.cache import classes_of, own_version, prune, read_file, say_once, write_file
from footfall.compiled.known_types import known_types
from footfall.compiled.progress import compiling
from footfall.compiled.stamp import kernel_stamp

#: What is kept of a kernel beside its machine code.
_STATES = ("cooperative", "name", "debug", "lineinfo", "shared_memory_carveout", "launch_config_sensitive")


class CubinCache:
    """What Numba's CUDA asks for machine code before it compiles, and hands it to afterwards."""

    def __init__(self, dispatcher: Any) -> None:
        self.function = dispatcher.py_func
        self.options = sorted((name, str(value)) for name, value in dispatcher.targetoptions.items())
        self.stamp = kernel_stamp(self.function, modules=True)

    @property
    def cache_path(self) -> Path | None:
        """The folder of the files."""
        return cache_folder("compiled")

    def load_overload(self, kinds: Any, context: Any) -> Any:
        """The kernel for arguments of these kinds on this GPU, from the disk, or ``None``."""
        from cuda.core import ObjectCode  # type: ignore[import-untyped]
        from numba.cuda import types
        from numba.cuda.codegen import CUDACodeLibrary
        from numba.cuda.dispatcher import _Kernel
        from numba.cuda.typing import signature

        capability = capability_of_gpu()
        path = self._path(kinds, capability)
        payload = None if path is None else read_file(*path)
        if payload is None:
            return None
        try:
            states, code = pickle.loads(payload)
            library = CUDACodeLibrary(None, self.function.__name__, entry_name=states["name"])
            library._cubin_cache[capability] = ObjectCode.from_cubin(code)
            library._finalized = True
            own = signature(types.void, *kinds)
            made = _Kernel._rebuild(signature=own, codelibrary=library, call_helper=None, extensions=[], **states)
            made.bind()
            return made
        except Exception:  # of another make of Numba or of the driver: compiled again, whatever the reason
            return None

    def save_overload(self, kinds: Any, kernel: Any) -> None:
        """Keep the machine code of a kernel; where that is impossible, say so once."""
        capability = capability_of_gpu()
        path = self._path(kinds, capability)
        if path is None:
            return
        own = kernel._reduce_states()
        states = {name: own[name] for name in _STATES if name in own}
        try:
            write_file(*path, pickle.dumps((states, bytes(kernel.library.get_cubin(capability).code))))
            prune(path[0].parent)
        except OSError as error:
            say_once(f"compiled code cannot be kept in {path[0].parent}: {error.strerror or error}")

    def flush(self) -> None:
        """Files stay: they are named after their content."""

    def _path(self, kinds: Any, capability: Any) -> tuple[Path, str] | None:
        folder = self.cache_path
        if folder is None or self.stamp is None:
            return None
        import numba_cuda  # type: ignore[import-untyped]

        versions = (numba.__version__, numba_cuda.__version__, own_version())
        parts = (self.stamp, self.options, str(kinds), classes_of(kinds), versions, capability)
        key = hashlib.sha256(repr(parts).encode()).hexdigest()
        return folder / f"gpu-{self.function.__name__}-{self.stamp[:16]}-{key[:24]}.kernel", key


def capability_of_gpu() -> Any:
    """What machine code is compiled for, as Numba's libraries name it."""
    from numba.cuda.codegen import CUDACodeLibrary

    return CUDACodeLibrary._ensure_cc(None, None)


def kept_on_disk(dispatcher: Any) -> Any:
    """The same kernel, whose machine code is looked for on disk and kept there; in Numba's simulator there is none."""
    if hasattr(dispatcher, "targetoptions"):
        dispatcher._cache = CubinCache(dispatcher)
    return dispatcher


def prepare(dispatcher: Any, arguments: Any) -> None:
    """Compile a kernel for such arguments, or fetch it from the disk."""
    if not hasattr(dispatcher, "targetoptions"):
        return
    kinds = tuple(dispatcher.typeof_pyval(one) for one in arguments)
    if kinds not in dispatcher.overloads:
        with compiling(dispatcher.py_func), known_types(), _one_translation():
            dispatcher.compile(kinds)


@contextmanager
def _one_translation() -> Iterator[None]:
    """Let NVVM translate a kernel once: Numba does it a first time only to search the result for names of functions,
    which its own code has as well.
    """
    from numba.cuda.codegen import CUDACodeLibrary

    usual = CUDACodeLibrary.get_asm_str
    CUDACodeLibrary.get_asm_str = lambda self, *_: self.get_llvm_str()
    try:
        yield
    finally:
        CUDACodeLibrary.get_asm_str = usual
