"""Kernels that are compiled apart from their callers, which call them through a pointer.

A kernel is compiled together with all kernels that it calls, and its caller again with both, so the innermost are
compiled once per level. Large kernels with several callers, or that are seldom called, are better compiled apart.
"""

from __future__ import annotations

import _thread
import ctypes
import hashlib
import inspect
import os
import pickle
import threading
import traceback
from collections.abc import Callable, Collection
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import cloudpickle, types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from footfall.compiled.by_reference import Reference
from footfall.compiled.cache import asked, named
from footfall.compiled.kernels import function_pointer

#: s until an interruption is raised again: by then compiled code has its address.
SOON = 0.01


class Apart:
    """A kernel that its callers call through a pointer, which they look up at the first call. It is compiled for the
    types of its arguments, as each caller has them.
    """

    def __init__(self, function: FunctionType, returns: Any, *, soon: bool) -> None:
        self.py_func, self.returns, self.soon = function, returns, soon
        self.symbol = f"{function.__module__}.{function.__qualname__}"
        self._linked: dict[bytes, Any] = {}
        self._lock = threading.Lock()
        self._find = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)(self._address)
        llvm.add_symbol(self.symbol, ctypes.cast(self._find, ctypes.c_void_p).value)

        def typer(*arguments: Any) -> Any:
            return self.signature_for(arguments)

        typer.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        type_callable(self)(lambda context: typer)
        lower_builtin(self, types.VarArg(types.Any))(self._call)

    def signature_for(self, arguments: tuple[Any, ...]) -> Any:
        """Its signature in a call with arguments of these types, tuples by reference."""
        named = types.BaseNamedTuple
        return self.returns(*[Reference(one) if isinstance(one, named) else types.unliteral(one) for one in arguments])

    def linkage(self) -> str:
        """A text that changes when its callers must be compiled again."""
        return f"{self.symbol} cold {self.returns}"

    def written(self, signature: Any) -> bytes:
        """The signature as bytes, with which a caller, perhaps in another process, looks up the address."""
        return bytes(cloudpickle.dumps(signature))

    def linked(self, written: bytes) -> Any:
        """Compile it for a signature as bytes, or read it from disk."""
        with self._lock:
            if written not in self._linked:
                self._linked[written] = function_pointer(pickle.loads(written), self.py_func)
        return self._linked[written]

    def note(self, kinds: tuple[Any, ...]) -> None:
        """Note that it will be called with arguments of these types."""
        asked[self.symbol, self.written(self.signature_for(kinds))] = None

    def _address(self, start: int, size: int, again: int) -> int:
        """Its address, looked up by compiled code at the first call.

        An exception, as of Ctrl-C, that is raised before or after the ``try`` is lost, and compiled code gets 0: it
        then asks ``again``. Interruptions are raised when compiled code has returned.
        """
        interrupted, failed = again == 1, False
        while True:
            try:
                address: int = self.linked(ctypes.string_at(start, size)).address
            except BaseException as error:
                if isinstance(error, Exception) and failed:  # not by a signal: it cannot be compiled
                    traceback.print_exc()
                    os._exit(1)  # compiled code has nothing to call
                interrupted, failed = True, isinstance(error, Exception)
                continue
            if interrupted:
                later = threading.Timer(SOON, _thread.interrupt_main)
                later.daemon = True
                later.start()
            return address

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    def _call(self, context: Any, builder: Any, signature: Any, values: Any) -> Any:
        """Emit a call through an address that each caller keeps after its first look-up."""
        word = context.get_value_type(types.uintp)
        written = self.written(signature)
        asked[self.symbol, written] = None
        kept = cgutils.add_global_variable(builder.module, word, f"{self.symbol}.address")
        kept.linkage, kept.initializer = "internal", ir.Constant(word, 0)
        place = cgutils.alloca_once_value(builder, builder.load_atomic(kept, "acquire", 8))
        with cgutils.if_unlikely(builder, builder.icmp_unsigned("==", builder.load(place), ir.Constant(word, 0))):
            text = cgutils.global_constant(builder, f"{self.symbol}.types", cgutils.make_bytearray(written))
            find = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(word, [text.type, word, word]), self.symbol
            )
            size, again = ir.Constant(word, len(written)), cgutils.alloca_once_value(builder, ir.Constant(word, 0))
            ask, found = builder.append_basic_block("ask"), builder.append_basic_block("found")
            builder.branch(ask)
            builder.position_at_end(ask)
            address = builder.call(find, [text, size, builder.load(again)])
            builder.store(address, place)
            builder.store(ir.Constant(word, 1), again)
            builder.cbranch(builder.icmp_unsigned("==", address, ir.Constant(word, 0)), ask, found)
            builder.position_at_end(found)
            builder.store_atomic(builder.load(place), kept, "release", 8)
        kinds = [context.get_value_type(kind) for kind in signature.args]
        kind = ir.FunctionType(context.get_value_type(signature.return_type), kinds)
        return builder.call(builder.inttoptr(builder.load(place), kind.as_pointer()), values)


def compile_cold(
    claim: Callable[[str], bool] = lambda name: True, *, soon: bool = False, beside: Collection[Apart] = ()
) -> None:
    """Compile all cold kernels that loaded code may call, and those that they call; if ``soon``, only those that are
    marked so, and those in ``beside``. ``claim(name)`` says whether this process is to compile a kernel.
    """
    done: set[Any] = set()
    while waiting := [one for one in asked if one not in done]:
        for symbol, written in waiting:
            kernel = named(symbol)
            wanted = kernel.soon or not soon or kernel in beside
            if wanted and claim(f"{symbol}-{hashlib.sha256(written).hexdigest()[:16]}"):
                kernel.linked(written)
            done.add((symbol, written))


def cold(returns: Any, *, soon: bool = False) -> Callable[[Callable[..., Any]], Apart]:
    """Compile a kernel apart from its callers, at its first call; ``returns`` is its return type.

    One that most runs call is marked ``soon`` and compiled ahead of its first call.
    """
    return lambda function: Apart(function, returns, soon=soon)  # type: ignore[arg-type]
