"""How Footfall turns Python functions into machine code.

Four things are decided here, once: the compiler options of a *kernel* (a plain function over arrays that
also runs, slowly, as ordinary Python); how kernels are compiled apart from their callers; that compiled code is
kept on disk and thrown away when the kernel or anything it uses changes; and that the user is told when he waits
for the compiler.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import cgutils, event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.extending import _Intrinsic
from numba.core.types import ExternalFunction

# No reassociation and no assumption that NaN is absent: divergence is detected by looking for it.
FAST = {"contract", "arcp", "nsz", "reassoc"}


def kernel_stamp(function: Any) -> str:
    """A fingerprint of a kernel and of all it uses: the code of every function it reaches, and its constants.

    Numba's own cache looks only at the file of the outermost function: a change in a function it calls would go
    unnoticed, and a change in its neighbour would throw it away.
    """
    digest = hashlib.sha256(repr(sorted(FAST)).encode())
    for one, used in _reached(function):
        digest.update(f"{one.__module__}.{one.__qualname__}".encode())
        for part in _codes(one.__code__):
            digest.update(part.co_code)
            digest.update(repr([c for c in part.co_consts if not isinstance(c, CodeType)]).encode())
            digest.update(repr((part.co_names, part.co_varnames)).encode())
        for name, value in used.items():
            digest.update(_flags(value).encode())
            if _function_of(value) is None:
                digest.update(f"{name} = {_described(value)}".encode())
    return digest.hexdigest()


def _reached(function: Any) -> Iterator[tuple[FunctionType, dict[str, Any]]]:
    """A function and all that it calls, directly or not, each with the globals it uses."""
    seen: set[int] = set()
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        cells = [cell.cell_contents for cell in one.__closure__ or ()]
        known = one.__globals__ | dict(zip(one.__code__.co_freevars, cells, strict=True))
        names = [name for part in _codes(one.__code__) for name in (*part.co_names, *part.co_freevars)]
        used = {name: known.get(name) for name in names}
        yield one, used
        waiting += [inner for inner in map(_function_of, used.values()) if inner is not None]


def _flags(value: Any) -> str:
    """How a kernel is compiled, "" for what is none."""
    if isinstance(value, Separate):
        return f"{value.symbol} {value.signature()}"
    options = getattr(value, "targetoptions", {})
    return " ".join(sorted(name for name, chosen in options.items() if chosen is True))


def _function_of(value: Any) -> FunctionType | None:
    """The Python function behind a global, if there is one."""
    inner = getattr(value, "py_func", value)
    return inner if isinstance(inner, FunctionType) else None


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _described(value: Any) -> str:
    """What of a global a kernel is compiled against."""
    if isinstance(value, ModuleType | type):
        return f"{value.__name__} {getattr(value, '_fields', '')}"
    if isinstance(value, ExternalFunction):
        return f"{value.symbol} {value.sig}"
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


class _KernelFiles(CompileResultCacheImpl):
    """Cache files named after the kernel alone: one that moves down its file is still itself."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        base: str = super().get_filename_base(fullname, abiflags)
        return base if "<locals>" in fullname else base.replace(f"-{self.locator.get_disambiguator()}.", ".", 1)


class _KernelCache(FunctionCache):
    """Numba's disk cache, fresh only while the kernel and all it uses are unchanged."""

    _impl_class = _KernelFiles
    _stamped: str | None = None
    flags: str = ""

    def load_overload(self, signature: Any, context: Any) -> Any:
        self._stamp()
        return super().load_overload(signature, context)

    def save_overload(self, signature: Any, data: Any) -> None:
        self._stamp()
        super().save_overload(signature, data)

    def _stamp(self) -> None:
        # Not before first use: a kernel may name others that are defined after it.
        if self._stamped is None:
            self._stamped = self._cache_file._source_stamp = kernel_stamp(self._py_func) + self.flags
            # The version stands in the head of the index: what is stale is not unpickled, for a class may have moved.
            self._cache_file._version = f"{numba.__version__} {self._stamped}"
            for _, used in _reached(self._py_func):
                for value in used.values():
                    if isinstance(value, Separate):
                        value.link()


def _keep_on_disk(compiled: Any, function: FunctionType) -> None:
    with contextlib.suppress(RuntimeError, OSError):  # typed at a prompt, or no writable folder: compile every time
        compiled._cache = _KernelCache(function)
        compiled._cache.flags = _flags(compiled)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function of arrays and numbers on first use: no interpreter, no GIL, no allocation, kept on disk."""
    return _compile(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that becomes part of its caller: for small ones."""
    return _compile(function, forceinline=True)


#: To be called from Python, a function of whole worlds needs more machine code than to do its work.
_FOR_COMPILED_CODE_ONLY = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def engine_part(function: Callable[..., Any]) -> Any:
    """A part of the engine's loop: inlined, and for compiled code alone to call."""
    return _compile(function, forceinline=True, **_FOR_COMPILED_CODE_ONLY)


def cold(function: Callable[..., Any]) -> Any:
    """A part of the engine's loop that is seldom reached: the same, but not inlined."""
    return _compile(function, **_FOR_COMPILED_CODE_ONLY)


def _compile(function: Any, **flags: bool) -> Any:
    compiled = numba.njit(nogil=True, error_model="numpy", fastmath=FAST, _nrt=False, **flags)(function)
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
