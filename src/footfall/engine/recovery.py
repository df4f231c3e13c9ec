"""Recovery from MuJoCo's errors, which would otherwise end the process.

MuJoCo's functions assume that an error never returns: its Python bindings turn errors into exceptions, but called from
compiled code the default handler exits. To continue, the manual (Programming, "Error recovery") prescribes a jump with
``longjmp`` from a log handler to a point set before. Every entry of the compiled loop sets such a point on its own
stack, which the handler finds by its thread; warnings are stored there too, instead of in a file in the user's folder.
For threads without a point the previous handler is called.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from footfall.kinds import Ints
from footfall.process.mujoco_library import library

#: Parts of a return point, bytes: ``jmp_buf`` (at most 312 on the systems we know), error, warning.
ERROR, WARNING, SIZE = 1024, 2048, 3072
#: Levels and layout of ``mjLogMessage``: level, topic, then the text.
LEVEL_WARNING, LEVEL_ERROR, SUBJECT, LONGEST = 2, 3, 8, 1000

pthread_getspecific = types.ExternalFunction("pthread_getspecific", types.intp(types.intp))
pthread_setspecific = types.ExternalFunction("pthread_setspecific", types.int32(types.intp, types.intp))


class ReturnPoint(NamedTuple):
    """Where compiled code returns to when MuJoCo gives up, and what MuJoCo said."""

    place: NDArray[np.uint8]  # (SIZE,)
    key: Ints  # (1,) under which a thread finds its own


def make_return_point() -> ReturnPoint:
    """Room for a return point, aligned as ``jmp_buf`` must be."""
    memory = np.zeros(SIZE + 64, dtype=np.uint8)
    return ReturnPoint(memory[-memory.ctypes.data % 64 :][:SIZE], np.array([_install()]))


def said(point: ReturnPoint, part: int) -> str:
    """The text that MuJoCo left at ``ERROR`` or ``WARNING``, on one line."""
    text = point.place[part : part + LONGEST].tobytes().split(b"\0")[0].decode(errors="replace")
    return " ".join(text.split())


@intrinsic
def mark_return(typing_context, place):
    """Mark this frame as the one to return to: 0 now, and not 0 when it is returned to."""

    def generate(context, builder, signature, arguments):
        value = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.IntType(32), [byte])
        function = cgutils.get_or_insert_function(builder.module, kind, "_setjmp")
        function.attributes.add("returns_twice")
        return builder.call(function, [builder.bitcast(value.data, byte)])

    return types.int32(place), generate


@cache
def _install() -> int:
    """Set the handler, once in a process; returns the key under which threads find their return points."""
    system = ctypes.CDLL(None)
    key = ctypes.c_int64(0)  # pthread_key_t has 4 bytes on Linux, 8 on macOS
    if system.pthread_key_create(ctypes.byref(key), None) != 0:
        raise OSError("no thread-specific storage is left")
    set_handler = library().mju_setLogHandler
    set_handler.restype, set_handler.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    before = set_handler(None)  # never NULL; the old one stays at work until ours is ready
    set_handler(before)
    set_handler(_handler(key.value, before, system))
    return key.value


def _handler(key: int, before: int, system: ctypes.CDLL) -> int:
    """Compile ``void handler(const mjLogMessage*)``: constants of this process are part of it, so it is not kept."""
    byte, word, number = ir.IntType(8).as_pointer(), ir.IntType(64), ir.IntType(32)
    module = ir.Module("footfall_recovery")
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [byte]), "footfall_mujoco_message")
    entry, ours, elsewhere = (function.append_basic_block(name) for name in ("entry", "ours", "elsewhere"))
    warning, perhaps, error = (function.append_basic_block(name) for name in ("warning", "perhaps", "error"))
    message = function.args[0]

    def call(builder: Any, address: int, result: Any, *arguments: Any) -> Any:
        kind = ir.FunctionType(result, [one.type for one in arguments])
        return builder.call(builder.inttoptr(ir.Constant(word, address), kind.as_pointer()), arguments)

    def keep(builder: Any, part: int) -> None:
        target = builder.gep(place, [ir.Constant(word, part)])
        subject = builder.gep(message, [ir.Constant(word, SUBJECT)])
        call(builder, _address(system.strncpy), byte, target, subject, ir.Constant(word, LONGEST))

    builder = ir.IRBuilder(entry)
    place = call(builder, _address(system.pthread_getspecific), byte, ir.Constant(word, key))
    level = builder.load(builder.bitcast(message, number.as_pointer()))
    builder.cbranch(builder.icmp_unsigned("==", place, ir.Constant(byte, None)), elsewhere, ours)
    builder = ir.IRBuilder(ours)
    builder.cbranch(builder.icmp_signed(">=", level, ir.Constant(number, LEVEL_ERROR)), error, perhaps)
    builder = ir.IRBuilder(perhaps)
    builder.cbranch(builder.icmp_signed("==", level, ir.Constant(number, LEVEL_WARNING)), warning, elsewhere)
    builder = ir.IRBuilder(warning)
    keep(builder, WARNING)
    builder.ret_void()
    builder = ir.IRBuilder(error)
    keep(builder, ERROR)
    call(builder, _address(system.longjmp), ir.VoidType(), place, ir.Constant(number, 1))
    builder.unreachable()
    builder = ir.IRBuilder(elsewhere)
    call(builder, before, ir.VoidType(), message)
    builder.ret_void()

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    _kept.append(engine)
    return int(engine.get_function_address("footfall_mujoco_message"))


_kept: list[Any] = []  # the handler lives as long as the process


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
