"""Machine code of GPUs on disk, in the same folder and by the same rules as that of CPUs (:mod:`.cache`).

Numba's own cache for CUDA checks only the file of the outermost function, and keeps NVVM's input and output, a hundred
times the size of the machine code.
"""

from __future__ import annotations

import ctypes
import hashlib
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba

from footfall.compiled.cache import classes_of, own_version, prune, read_file, say_once, write_file
from footfall.compiled.gpu_loops import rolled
from footfall.compiled.known_types import known_types
from footfall.compiled.progress import compiling
from footfall.compiled.stamp import kernel_stamp
from footfall.errors import SimulationError
from footfall.process.cache_folder import cache_folder
from footfall.process.garbage import no_garbage_search
from footfall.process.interrupts import while_compiling

#: How the package appears in the names of its compiled functions.
OWN = "8footfall"
#: Attributes of a kernel that are kept with its machine code.
_STATES = ("cooperative", "name", "debug", "lineinfo", "shared_memory_carveout", "launch_config_sensitive")


class CubinCache:
    """The cache of a GPU kernel, with the methods that Numba's CUDA calls before and after compiling."""

    def __init__(self, dispatcher: Any) -> None:
        self.function = dispatcher.py_func
        self.options = sorted((name, str(value)) for name, value in dispatcher.targetoptions.items())
        self.stamp = kernel_stamp(self.function, modules=True)

    @property
    def cache_path(self) -> Path | None:
        """The folder of the files."""
        return cache_folder("compiled")

    def load_overload(self, kinds: Any, context: Any) -> Any:
        """The kernel for arguments of these types on this GPU from disk, or ``None``."""
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
        except Exception:  # another version of Numba or of the driver: compile again, whatever the reason
            return None

    def save_overload(self, kinds: Any, kernel: Any) -> None:
        """Keep the machine code of a kernel; if that is impossible, say so once."""
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

        versions = (numba.__version__, numba_cuda.__version__, own_version(gpu=True))
        parts = (self.stamp, self.options, str(kinds), classes_of(kinds), versions, capability)
        key = hashlib.sha256(repr(parts).encode()).hexdigest()
        return folder / f"gpu-{self.function.__name__}-{self.stamp[:16]}-{key[:24]}.kernel", key


def capability_of_gpu() -> Any:
    """The compute capability that machine code is compiled for, in Numba's form."""
    from numba.cuda.codegen import CUDACodeLibrary

    return CUDACodeLibrary._ensure_cc(None, None)


def kept_on_disk(dispatcher: Any) -> Any:
    """The same kernel with its machine code kept on disk; in Numba's simulator there is none."""
    if hasattr(dispatcher, "targetoptions"):
        dispatcher._cache = CubinCache(dispatcher)
    return dispatcher


def prepare(dispatcher: Any, arguments: Any) -> None:
    """Compile a kernel for such arguments, or read it from disk."""
    if hasattr(dispatcher, "targetoptions"):
        compile_for(dispatcher, kinds_of(dispatcher, arguments))


def kinds_of(dispatcher: Any, arguments: Any) -> tuple[Any, ...]:
    """The types that a kernel is compiled for."""
    return tuple(dispatcher.typeof_pyval(one) for one in arguments)


def compile_for(dispatcher: Any, kinds: tuple[Any, ...]) -> None:
    """Compile a kernel for arguments of these types, or read it from disk. The garbage collector is off meanwhile: it
    took an eighth of the time and found nothing.
    """
    if kinds not in dispatcher.overloads:
        with (
            while_compiling(),
            compiling(dispatcher.py_func),
            no_garbage_search(),
            known_types(),
            _one_translation(),
            _short_addresses(),
        ):
            dispatcher.compile(kinds)


def is_missing(dispatcher: Any, kinds: tuple[Any, ...]) -> bool:
    """Whether a kernel for arguments of these types could be on disk and is not."""
    path = dispatcher._cache._path(kinds, capability_of_gpu())
    return path is not None and not path[0].exists()


def launcher(dispatcher: Any, shape: tuple[Any, ...], arguments: Any) -> Callable[..., None]:
    """A function that launches a kernel with these first ``arguments`` and its own, on a grid of this ``shape`` (with
    the stream last, if it is not the default). The first arguments are unpacked once: for some hundred arrays this
    takes longer than a short kernel. A kernel that was compiled for several kinds of arguments must be given all of
    them.
    """
    if not hasattr(dispatcher, "targetoptions"):
        return lambda *last: dispatcher[shape](*arguments, *last)
    from cuda.bindings import driver  # type: ignore[import-untyped]

    kernels = dispatcher.overloads
    kernel = next(iter(kernels.values())) if len(kernels) == 1 else kernels[kinds_of(dispatcher, arguments)]
    stream = dispatcher[shape].stream
    function = driver.CUfunction(int(kernel._codelibrary.get_cufunc().handle))
    queue = driver.CUstream(int(stream.handle))
    own: list[Any] = []
    for kind, value in zip(kernel.argument_types, arguments, strict=False):
        kernel._prepare_args(kind, value, stream, [], own)
    known = [_cell(value) for value in own]

    @lru_cache(maxsize=64)
    def parameters(last: tuple[Any, ...]) -> tuple[Any, list[Any]]:
        """The addresses of all arguments, and the objects that keep the last ones alive."""
        more: list[Any] = []
        for kind, value in zip(kernel.argument_types[len(arguments) :], last, strict=True):
            kernel._prepare_args(kind, value, stream, [], more)
        cells = [_cell(value) for value in more]
        places = [ctypes.addressof(cell) for cell in (*known, *cells)]
        return (ctypes.c_void_p * len(places))(*places), cells

    def go(*last: Any) -> None:
        places = ctypes.addressof(parameters(last)[0])
        (error,) = driver.cuLaunchKernel(function, shape[0], 1, 1, shape[1], 1, 1, 0, queue, places, 0)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise SimulationError(f"the GPU does not start {dispatcher.py_func.__name__}: {error.name}")

    return go


def _cell(value: Any) -> Any:
    """An argument's number as a C object; integers of any size are the first bytes of a 64-bit one."""
    return value if isinstance(value, ctypes._SimpleCData) else ctypes.c_int64(value)


@contextmanager
def _one_translation() -> Iterator[None]:
    """Let NVVM translate a kernel once. Numba does it a first time only to search the result for names of functions,
    which the LLVM code contains too, and verifies the code, a twelfth of the time. Later stages unroll no loop.
    """
    from numba.cuda.codegen import CUDACodeLibrary
    from numba.cuda.cudadrv.nvvm import CompilationUnit

    usual, all_usual = CUDACodeLibrary.get_asm_str, CUDACodeLibrary.get_asm_strs
    verified = CompilationUnit.verify
    CUDACodeLibrary.get_asm_str = lambda self, *_: self.get_llvm_str()
    CUDACodeLibrary.get_asm_strs = lambda self, cc=None: [rolled(ptx) for ptx in all_usual(self, cc)]
    CompilationUnit.verify = lambda self: None
    try:
        yield
    finally:
        CUDACodeLibrary.get_asm_str, CUDACodeLibrary.get_asm_strs = usual, all_usual
        CompilationUnit.verify = verified


@contextmanager
def _short_addresses() -> Iterator[None]:
    """Compile our own kernels with short address computations.

    Indices are not checked for a negative sign: none counts from the end, and the check would be a third of all
    instructions. Other people's code and constant indices are compiled as usual. Addresses stay pointers, from which
    the compiler knows the kind of memory; Numba turns them into integers.
    """
    from llvmlite import ir
    from numba.cuda import cgutils, types
    from numba.cuda.np import arrayobj

    usual, usual_sum = arrayobj.fix_integer_index, cgutils.pointer_add

    def as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        if isinstance(index, ir.Constant) or OWN not in builder.function.name:
            return usual(context, builder, kind, index, size)
        return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)

    def as_pointer(builder: Any, pointer: Any, offset: Any, return_type: Any = None) -> Any:
        if isinstance(offset, int):
            offset = cgutils.intp_t(offset)
        moved = builder.gep(builder.bitcast(pointer, cgutils.voidptr_t), [offset])
        return builder.bitcast(moved, return_type or pointer.type)

    arrayobj.fix_integer_index, cgutils.pointer_add = as_it_is, as_pointer
    try:
        yield
    finally:
        arrayobj.fix_integer_index, cgutils.pointer_add = usual, usual_sum
