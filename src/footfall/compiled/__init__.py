"""How Footfall turns Python functions into machine code.

Decided here, once: the compiler options of a *kernel* (a plain function over arrays that also runs, slowly, as ordinary
Python); which kernels get machine code of their own and which only become part of their callers (``inline_only``);
how tuples of arrays are handed over (``by_reference``); that compiled code is kept on disk (``cache``) until the kernel
or anything it uses changes (``stamp``); and what is reported while it is compiled (``progress``).
"""

from __future__ import annotations

import _thread
import ctypes
import dis
import inspect
import threading
import time
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import _Intrinsic
from numba.core.registry import CPUDispatcher

from footfall.compiled.by_reference import ByReference, Reference
from footfall.compiled.cache import KernelCache
from footfall.compiled.inline_only import InlineOnly, InlineOnlyCache, KernelCompiler
from footfall.compiled.stamp import flags_of, kernel_stamp, values_reached

__all__ = [
    "ByReference",
    "Reference",
    "checked",
    "cold",
    "function_pointer",
    "generated",
    "inlined",
    "kernel",
    "kernel_stamp",
    "raises",
    "separate",
    "separate_kernels",
    "waited_for_code",
]

# Sums may be reordered and products fused, so that loops run on vectors. NaN and infinity are not assumed absent:
# divergence is detected by looking for them.
FAST = {"contract", "arcp", "nsz", "reassoc"}


def _own_copy(function: Any) -> FunctionType:
    """The same function, which may be renamed without the user's noticing."""
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(copy, function)
    return copy


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function of arrays and numbers on first use: no interpreter, no GIL, no allocation, kept on disk."""
    return _compile(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that becomes part of its caller: for small ones, and for parts of a large loop."""
    return _compile(function, forceinline=True)


def checked(function: Callable[..., Any]) -> Any:
    """A kernel of a user: the same, but an index outside an array is an exception, not a write into foreign memory."""
    return _compile(getattr(function, "py_func", function), boundscheck=True)


def raises(function: Any) -> bool:
    """Whether a function has a ``raise`` or an ``assert`` in it, which compiled code cannot pass on."""
    plain = getattr(function, "py_func", function)
    return any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(plain))


def cold(function: Callable[..., Any]) -> Any:
    """A part of the engine's loop that is seldom reached: not inlined."""
    return _compile(function)


def _compile(function: Any, **flags: bool) -> Any:
    if numba.config.DISABLE_JIT:
        return function
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "fastmath": FAST, "_nrt": False, **flags}

    def ordinary() -> Any:
        copy = _own_copy(function)
        made = CPUDispatcher(copy, targetoptions=options, pipeline_class=KernelCompiler)
        made._cache = KernelCache(copy, flags_of(made))
        return made

    copy = _own_copy(function)
    made = InlineOnly(copy, options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}, ordinary)
    made._cache = InlineOnlyCache(copy, "intermediate " + flags_of(made))
    return made


def function_pointer(signature: Any, function: Callable[..., Any]) -> Any:
    """Compile a function of one fixed signature to something compiled loops take as an argument."""
    from numba.core.ccallback import CFunc
    from numba.core.sigutils import normalize_signature

    function = _own_copy(function)
    args, result = normalize_signature(signature)
    options = {"error_model": "numpy", "fastmath": FAST, "_nrt": False}
    pointer: Any = CFunc(function, (args, result), {}, options, pipeline_class=KernelCompiler)
    pointer._cache = KernelCache(function, flags_of(pointer))
    pointer.compile()
    pointer._numba_type_ = types.FunctionType(pointer._sig)  # found once, not in every run
    return pointer


class _Waited(threading.local):
    seconds = 0.0


_waited = _Waited()


def waited_for_code() -> float:
    """Seconds that this thread has waited, in the midst of compiled code, for kernels to be compiled or fetched."""
    return _waited.seconds


class Separate(_Intrinsic):  # type: ignore[misc]
    """A kernel of one fixed signature that its callers reach through a pointer, and that is compiled once for all.

    A kernel that calls another one is compiled together with it, and so is its own caller: what is deep down is
    compiled again at every level. What is big and seldom called is better put apart.
    """

    def __init__(self, function: FunctionType, signature: Callable[[], Any], rare: bool) -> None:
        self.py_func, self.signature, self.rare = function, signature, rare
        self.symbol = f"{function.__module__}.{function.__qualname__}"
        self._linked: Any = None
        self._lock = threading.Lock()
        self._find = ctypes.CFUNCTYPE(ctypes.c_size_t)(self._address)
        llvm.add_symbol(self.symbol, ctypes.cast(self._find, ctypes.c_void_p).value)

        def definition(context: Any, *arguments: Any) -> Any:
            signature = self.signature()
            wanted, given = (
                [getattr(kind, "tuple_type", kind) for kind in kinds] for kinds in (signature.args, arguments)
            )
            return (signature, self._call) if given == wanted else None

        own = inspect.signature(function)
        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_ONLY)
        definition.__signature__ = own.replace(parameters=[context, *own.parameters.values()])  # type: ignore[attr-defined]
        super().__init__(function.__name__, definition)

    def linkage(self) -> str:
        """What its callers are compiled against."""
        return f"{self.symbol} {self.signature()}"

    def link(self) -> Any:
        """Compile it, or fetch it from the disk."""
        with self._lock:
            if self._linked is None:
                self._linked = function_pointer(self.signature(), self.py_func)
        return self._linked

    def _address(self) -> int:
        """Where compiled code finds it, asked for when it is first called; Ctrl-C waits until that is known."""
        interrupted, begin = False, time.perf_counter()
        while True:
            try:
                address: int = self.link().address
            except KeyboardInterrupt:
                interrupted = True
                continue
            _waited.seconds += time.perf_counter() - begin
            if interrupted:
                _thread.interrupt_main()
            return address

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    def _call(self, context: Any, builder: Any, signature: Any, values: Any) -> Any:
        """Emit a call through an address that each caller keeps once it has asked for it."""
        word = context.get_value_type(types.uintp)
        kept = cgutils.add_global_variable(builder.module, word, f"{self.symbol}.address")
        kept.linkage, kept.initializer = "internal", ir.Constant(word, 0)
        place = cgutils.alloca_once_value(builder, builder.load_atomic(kept, "acquire", 8))
        with cgutils.if_unlikely(builder, builder.icmp_unsigned("==", builder.load(place), ir.Constant(word, 0))):
            find = cgutils.get_or_insert_function(builder.module, ir.FunctionType(word, []), self.symbol)
            builder.store(builder.call(find, []), place)
            builder.store_atomic(builder.load(place), kept, "release", 8)
        kinds = [context.get_value_type(kind) for kind in signature.args]
        kind = ir.FunctionType(context.get_value_type(signature.return_type), kinds)
        return builder.call(builder.inttoptr(builder.load(place), kind.as_pointer()), values)


def separate(signature: Callable[[], Any], *, rare: bool = False) -> Callable[[Callable[..., Any]], Separate]:
    """Compile a kernel apart from its callers; ``signature`` is asked for when it is needed.

    One that is ``rare`` is not compiled before it is called; the others as soon as it is known that they will be.
    """

    def put(function: Any) -> Separate:
        made = Separate(function, signature, rare)
        made._register()
        return made

    return put


def separate_kernels(function: Any) -> list[Separate]:
    """The separate kernels that a function calls, directly or not."""
    found: list[Separate] = []
    waiting = [getattr(function, "py_func", function)]
    while waiting:
        for one in values_reached(waiting.pop()):
            if isinstance(one, Separate) and one not in found:
                found.append(one)
                waiting.append(one.py_func)
    return found


def generated(source: str, name: str, namespace: dict[str, Any], home: FunctionType) -> FunctionType:
    """Make a function from source text that the disk cache files beside ``home``, the function it serves."""
    code = compile(source, home.__code__.co_filename, "exec")
    exec(code, namespace)
    function = namespace[name]
    function.__module__ = home.__module__
    function.__qualname__ = f"{home.__qualname__}.{name}"
    return function
