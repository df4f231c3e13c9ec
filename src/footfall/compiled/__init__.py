"""How Footfall turns Python functions into machine code.

Four things are decided here, once: the compiler options of a *kernel* (a plain function over arrays that
also runs, slowly, as ordinary Python); how kernels are compiled apart from their callers; that compiled code is
kept on disk and thrown away when the kernel or anything it uses changes; and that the user is told when he waits
for the compiler.
"""

from __future__ import annotations

import dis
import inspect
import sys
import threading
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import cgutils, event
from numba.core.extending import _Intrinsic

from footfall.compiled.cache import KernelCache
from footfall.compiled.stamp import flags_of, kernel_stamp, reached, used_values

__all__ = [
    "checked",
    "cold",
    "engine_part",
    "function_pointer",
    "generated",
    "inlined",
    "kernel",
    "kernel_stamp",
    "raises",
    "separate",
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


def _keep_on_disk(compiled: Any, function: FunctionType) -> None:
    compiled._cache = _LinkingCache(function, flags_of(compiled))


class _LinkingCache(KernelCache):
    """The cache, which also links the separate kernels that are called: their symbols must be there first."""

    def load_overload(self, signature: Any, context: Any) -> Any:
        for part in reached(self._function):
            for value in used_values(part).values():
                if isinstance(value, Separate):
                    value.link()
        return super().load_overload(signature, context)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function of arrays and numbers on first use: no interpreter, no GIL, no allocation, kept on disk."""
    return _compile(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that becomes part of its caller: for small ones."""
    return _compile(function, forceinline=True)


def checked(function: Callable[..., Any]) -> Any:
    """A kernel of a user: the same, but an index outside an array is an exception, not a write into foreign memory."""
    return _compile(getattr(function, "py_func", function), boundscheck=True)


def raises(function: Any) -> bool:
    """Whether a function has a ``raise`` or an ``assert`` in it, which compiled code cannot pass on."""
    plain = getattr(function, "py_func", function)
    return any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(plain))


#: To be called from Python, a function of whole worlds needs more machine code than to do its work.
_FOR_COMPILED_CODE_ONLY = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def engine_part(function: Callable[..., Any]) -> Any:
    """A part of the engine's loop: inlined, and for compiled code alone to call."""
    return _compile(function, forceinline=True, **_FOR_COMPILED_CODE_ONLY)


def cold(function: Callable[..., Any]) -> Any:
    """A part of the engine's loop that is seldom reached: the same, but not inlined."""
    return _compile(function, **_FOR_COMPILED_CODE_ONLY)


def _compile(function: Any, **flags: bool) -> Any:
    function = _own_copy(function)
    compiled = numba.njit(nogil=True, error_model="numpy", fastmath=FAST, _nrt=False, **flags)(function)
    _keep_on_disk(compiled, function)
    return compiled


def function_pointer(signature: Any, function: Callable[..., Any]) -> Any:
    """Compile a function of one fixed signature to something compiled loops take as an argument."""
    from numba.core.ccallback import CFunc
    from numba.core.sigutils import normalize_signature

    function = _own_copy(function)
    args, result = normalize_signature(signature)
    pointer = CFunc(function, (args, result), {}, {"error_model": "numpy", "fastmath": FAST, "_nrt": False})
    _keep_on_disk(pointer, function)
    pointer.compile()
    return pointer


class Separate(_Intrinsic):  # type: ignore[misc]
    """A kernel of one fixed signature that its callers reach through a pointer, and that is compiled once for all.

    A kernel that calls another one is compiled together with it, and so is its own caller: what is deep down is
    compiled again at every level. What is big and seldom called is better put apart.
    """

    def __init__(self, function: FunctionType, signature: Callable[[], Any]) -> None:
        self.py_func, self.signature = function, signature
        self.symbol = f"{function.__module__}.{function.__qualname__}"
        self._linked: Any = None

        def definition(context: Any, *arguments: Any) -> Any:
            signature = self.signature()
            return (signature, self._call) if arguments == signature.args else None

        own = inspect.signature(function)
        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_ONLY)
        definition.__signature__ = own.replace(parameters=[context, *own.parameters.values()])  # type: ignore[attr-defined]
        super().__init__(function.__name__, definition)

    def linkage(self) -> str:
        """What its callers are compiled against."""
        return f"{self.symbol} {self.signature()}"

    def link(self) -> None:
        """Compile it, or fetch it from the disk, and make it known by its symbol."""
        if self._linked is None:
            self._linked = function_pointer(self.signature(), self.py_func)
            llvm.add_symbol(self.symbol, self._linked.address)

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    def _call(self, context: Any, builder: Any, signature: Any, values: Any) -> Any:
        self.link()
        kinds = [context.get_value_type(kind) for kind in signature.args]
        kind = ir.FunctionType(context.get_value_type(signature.return_type), kinds)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, self.symbol), values)


def separate(signature: Callable[[], Any]) -> Callable[[Callable[..., Any]], Separate]:
    """Compile a kernel apart from its callers; ``signature`` is asked for when it is needed."""

    def put(function: Any) -> Separate:
        made = Separate(function, signature)
        made._register()
        return made

    return put


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
