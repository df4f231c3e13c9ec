"""The inner workings of Numba and numba-cuda that Footfall relies on: all of them are here, for the versions that
:mod:`.kernels` and :mod:`.gpu` know.

In another version, or with ``FOOTFALL_NUMBA=public`` in the environment, kernels are compiled through Numba's public
interfaces alone (:mod:`.kernels`): they compute the same, but a first start takes some three times as long, and nothing
is kept on disk for the next one. What each part would need to become public, as a request to Numba:

- *Kernels without machine code of their own* (:class:`Part`): an option of ``jit`` that stops at intermediate code,
  which callers link in and optimise with their own. Numba optimises and assembles every function that another one
  calls, and then its caller with all of it again.
- *A cache of one's own* (:class:`KernelCache`): ``jit(cache=...)`` and ``cfunc(cache=...)`` that take an object with
  ``load_overload`` and ``save_overload``. Numba's cache looks at the file of the outermost function only; the
  documented locator may choose the folder and a stamp, but is not told the types, of which the fields of named tuples
  matter.
- *Calls resolved once* (:class:`_Resolved`): a memory of the signature of a built-in function by the types of its
  arguments. Numba asks one template after the other at every call, and writes down why each does not fit.
- *The machine code of a GPU kernel without what it was made from* (:class:`CubinCache`): the same for ``cuda.jit``.
- *Indices that are never negative* (:func:`for_gpus`): an option of ``cuda.jit``.
"""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cached_property, lru_cache
from types import CodeType, FunctionType
from typing import Any, ClassVar

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.typed_passes import AnnotateTypes, DumpParforDiagnostics, InlineOverloads, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes, MakeFunctionToJitFunction
from numba.types import Function

from footfall.compiled.cache import COMPILING, CodeFile, late_calls, note_calls, say_once
from footfall.compiled.stamp import flags_of
from footfall.errors import SimulationError
from footfall.process.garbage import no_garbage_search
from footfall.process.interrupts import while_compiling

#: An ``inlined`` kernel with more instructions, including what is inlined in it, stays a function. LLVM's time for a
#: function grows faster than its size, and a call per step costs nothing. A third of Numba's instructions vanish at the
#: first optimisation.
LARGEST_PART = 4800
#: Passes that are skipped: rewrites of whole-array expressions, which kernels do not have; annotated source and
#: diagnostics, which nobody reads; and early inlining, which LLVM does later.
_OF_NO_USE = (NopythonRewrites, AnnotateTypes, DumpParforDiagnostics, InlineOverloads)
#: Those that are skipped for functions in which no other function is defined.
_OF_CLOSURES = (InlineClosureLikes, MakeFunctionToJitFunction)

#: How the package appears in the names of its compiled functions.
OWN = "8footfall"
#: Attributes of a GPU kernel that are kept with its machine code.
_STATES = ("cooperative", "name", "debug", "lineinfo", "shared_memory_carveout", "launch_config_sensitive")


class KernelCache(NullCache):
    """The disk cache of a kernel, with the methods that Numba calls before and after compiling."""

    def __init__(self, function: FunctionType, flags: str) -> None:
        self._file = CodeFile(function, flags)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled code for these types from disk, or ``None``.

        Numba's own cache first loads everything that Numba can compile (``context.refresh``), which takes a third of a
        second. Machine code needs only Numba's runtime, which its wrappers call.
        """
        rtsys.initialize(context)

        def rebuilt(payload: bytes) -> Any:
            calls, parts = pickle.loads(payload)
            note_calls(calls)
            return self.rebuild(context, parts)

        return self._file.read(signature, context.codegen().magic_tuple(), rebuilt)

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep what was compiled."""
        if not data.library.has_dynamic_globals and all(one.can_cache for one in data.lifted):
            payload = dumps((late_calls(self._file.function), data._reduce()))
            self._file.write(signature, data.codegen.magic_tuple(), payload)

    def rebuild(self, context: Any, parts: Any) -> Any:
        """Compiled code from what was in its file."""
        return CompileResult._rebuild(context, *parts)

    def kept(self) -> bool:
        """Whether the function as it stands is on disk, for some types."""
        return self._file.is_kept()


class _Resolved:
    """While it is entered, built-in functions are typed once for the same types: a fifth of the time to compile.

    Overloads are not: their implementations are compiled for the options of each caller.
    """

    usual = Function.get_call_type
    signatures: ClassVar[dict[Any, Any]] = {}
    depth = 0  # of kernels that are compiled, under Numba's lock

    def __enter__(self) -> None:
        _Resolved.depth += 1
        Function.get_call_type = self.resolve

    def __exit__(self, *_: object) -> None:
        _Resolved.depth -= 1
        if _Resolved.depth == 0:
            Function.get_call_type = _Resolved.usual

    @staticmethod
    def resolve(kind: Any, context: Any, args: Any, kws: Any) -> Any:
        """The signature of a call."""
        found = None if kws else _Resolved.signatures.get((kind, context, args))
        if found is None:
            found = _Resolved.usual(kind, context, args, kws)
            overloads = (getattr(one, "_compiled_overloads", ()) for one in kind.templates)
            if not (kws or any(found.args in known for known in overloads)):
                _Resolved.signatures[kind, context, args] = found
        return found


class _Compiler(Compiler):
    """Numba's compiler, without the passes that kernels do not need."""

    def compile_extra(self, function: Any) -> Any:
        """Compile a Python function."""
        say_once(COMPILING)
        with _Resolved():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        """The passes that kernels need."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        needed = PassManager(usual.pipeline_name)
        encloses = any(isinstance(one, CodeType) for one in self.state.bc.co_consts)
        for one, description in usual.passes:
            if one not in _OF_NO_USE and (encloses or one not in _OF_CLOSURES):
                needed.add_pass(one, description)
        needed.finalize()
        return [needed]


class Whole(CPUDispatcher):
    """A kernel with machine code of its own. Compiling it is not interrupted half way."""

    def __init__(self, function: FunctionType, options: dict[str, Any], *, pipeline: Any = _Compiler) -> None:
        super().__init__(py_func=function, targetoptions=options, pipeline_class=pipeline)
        self._cache = KernelCache(function, flags_of(self))

    def compile(self, signature: Any) -> Any:
        """The machine code for arguments of these types."""
        with while_compiling(), no_garbage_search():
            return super().compile(signature)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The kernel as it is called by another: for integers and flags of any value, not once for each constant."""
        plain = (types.IntegerLiteral, types.BooleanLiteral)
        return super().get_call_template([types.unliteral(x) if isinstance(x, plain) else x for x in args], kws)


class Part(Whole):
    """A kernel that only becomes part of its callers: typed and lowered, without machine code of its own. Called from
    Python, it is compiled as a :class:`Whole`.
    """

    def __init__(self, function: FunctionType, options: dict[str, Any], whole: FunctionType) -> None:
        bare = options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, bare, pipeline=_PartCompiler)
        self._cache = _PartCache(function, "intermediate " + flags_of(self))
        self._whole, self._options = whole, options

    @cached_property
    def ordinary(self) -> Any:
        """The same kernel with machine code of its own."""
        return Whole(self._whole, self._options)

    def kept(self) -> bool:
        """Whether its machine code is on disk, for some types."""
        kept: bool = self.ordinary._cache.kept()
        return kept

    def __call__(self, *arguments: Any) -> Any:
        return self.ordinary(*arguments)


class _PartCompiler(_Compiler):
    """The same compiler, whose result stays intermediate code."""

    def define_pipelines(self) -> list[Any]:
        """The same."""
        state = self.state
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class _Library(JITCodeLibrary):
    """Intermediate code that callers link in and optimise with their own."""

    def __init__(self, codegen: Any, name: str) -> None:
        without_environments = copy(codegen)  # which functions without machine code do not have
        without_environments.set_env = lambda name, environment: None
        super().__init__(without_environments, name)
        self.inlined: dict[str, int] = {}  # sizes of functions that become part of their callers, in instructions

    def add_ir_module(self, ir_module: Any) -> None:
        """Add functions; those that are too large are no longer marked for inlining."""
        known = {name: size for one in self._linking_libraries for name, size in getattr(one, "inlined", {}).items()}
        for function in ir_module.functions:
            if function.blocks and "alwaysinline" in function.attributes:
                size = sum(_size(instruction, known) for block in function.blocks for instruction in block.instructions)
                if size > LARGEST_PART:
                    function.attributes.discard("alwaysinline")
                else:
                    self.inlined[function.name] = size
        super().add_ir_module(ir_module)

    def finalize(self) -> None:
        """Link the called functions."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code."""
        return 0

    def serialize_using_object_code(self) -> tuple[str, bytes, dict[str, int]]:
        """What is kept on disk: the intermediate code, and the sizes of inlined functions."""
        return self.name, self._get_module_for_linking().as_bitcode(), self.inlined

    @classmethod
    def read(cls, codegen: Any, name: str, code: bytes, inlined: dict[str, int]) -> _Library:
        """A library from the disk."""
        library = cls(codegen, name)
        library.inlined = inlined
        library._final_module = library._shared_module = llvm.parse_bitcode(code)
        library._finalize_dynamic_globals()
        library._finalized = True
        return library


def _size(instruction: Any, inlined: dict[str, int]) -> int:
    """The size of an instruction: for a call of an inlined function, with that function's."""
    return 1 + (inlined.get(instruction.callee.name, 0) if isinstance(instruction, ir.CallInstr) else 0)


class _PartCache(KernelCache):
    """The disk cache of kernels without machine code."""

    def rebuild(self, context: Any, parts: Any) -> Any:
        """As ``CompileResult._rebuild``, without machine code."""
        names = ("fndesc", "environment", "signature", "objectmode", "lifted", "type_annotation", "reload_init")
        code, *others, environments = parts
        known = dict(zip(names, others, strict=True))
        library = _Library.read(context.codegen(), *code)
        return CompileResult(
            target_context=context,
            typing_context=context.typing_context,
            library=library,
            entry_point=context.get_executable(library, known["fndesc"], known["environment"]),
            typing_error=None,
            call_helper=None,
            metadata=None,
            referenced_envs=environments,
            **known,
        )


def pointer(signature: Any, function: FunctionType, options: dict[str, Any]) -> Any:
    """A function of fixed types as machine code with a C interface, read from disk if it is there."""
    made: Any = CFunc(function, (signature.args, signature.return_type), {}, options, pipeline_class=_Compiler)
    made._cache = KernelCache(function, flags_of(made))
    made.compile()
    return made


class CubinCache(NullCache):
    """The disk cache of a GPU kernel, with the methods that Numba's CUDA calls before and after compiling.

    Numba's own cache for CUDA checks only the file of the outermost function, and keeps NVVM's input and output, a
    hundred times the size of the machine code.
    """

    def __init__(self, dispatcher: Any) -> None:
        import numba_cuda  # type: ignore[import-untyped]

        options = sorted((name, str(value)) for name, value in dispatcher.targetoptions.items())
        self._file = CodeFile(dispatcher.py_func, f"{numba_cuda.__version__} {options}", "gpu-")

    def load_overload(self, kinds: Any, context: Any) -> Any:
        """The kernel for arguments of these types on this GPU from disk, or ``None``."""
        from cuda.core import ObjectCode  # type: ignore[import-untyped]
        from numba.cuda import types
        from numba.cuda.codegen import CUDACodeLibrary
        from numba.cuda.dispatcher import _Kernel
        from numba.cuda.typing import signature

        capability = capability_of_gpu()

        def rebuilt(payload: bytes) -> Any:
            states, code = pickle.loads(payload)
            library = CUDACodeLibrary(None, self._file.function.__name__, entry_name=states["name"])
            library._cubin_cache[capability] = ObjectCode.from_cubin(code)
            library._finalized = True
            own = signature(types.void, *kinds)
            made = _Kernel._rebuild(signature=own, codelibrary=library, call_helper=None, extensions=[], **states)
            made.bind()
            return made

        found = self._file.read(kinds, capability, rebuilt)
        if found is None:
            say_once(COMPILING)
        return found

    def save_overload(self, kinds: Any, kernel: Any) -> None:
        """Keep the machine code of a kernel; if that is impossible, say so once."""
        capability = capability_of_gpu()
        own = kernel._reduce_states()
        states = {name: own[name] for name in _STATES if name in own}
        payload = pickle.dumps((states, bytes(kernel.library.get_cubin(capability).code)))
        self._file.write(kinds, capability, payload)


def capability_of_gpu() -> Any:
    """The compute capability that machine code is compiled for, in Numba's form."""
    from numba.cuda.codegen import CUDACodeLibrary

    return CUDACodeLibrary._ensure_cc(None, None)


def launch_of(dispatcher: Any, shape: tuple[Any, ...], arguments: Any) -> Callable[..., None]:
    """A function that launches a GPU kernel, see :func:`footfall.compiled.gpu_cache.launcher`."""
    from cuda.bindings import driver  # type: ignore[import-untyped]

    kernels = dispatcher.overloads
    kernel = (
        next(iter(kernels.values())) if len(kernels) == 1 else kernels[tuple(map(dispatcher.typeof_pyval, arguments))]
    )
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
def for_gpus() -> Iterator[None]:
    """While a GPU kernel is compiled, do not check the indices of our own functions for a negative sign: none counts
    from the end, and the check would be a third of all instructions. Other people's code and constant indices are
    compiled as usual.
    """
    from llvmlite import ir
    from numba.cuda import types
    from numba.cuda.np import arrayobj

    usual = arrayobj.fix_integer_index

    def as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        if isinstance(index, ir.Constant) or OWN not in builder.function.name:
            return usual(context, builder, kind, index, size)
        return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)

    arrayobj.fix_integer_index = as_it_is
    try:
        yield
    finally:
        arrayobj.fix_integer_index = usual
