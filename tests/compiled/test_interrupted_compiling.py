"""Ctrl-C while a kernel is compiled: Numba comes to an end of it first, and the next run compiles as ever."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from numba import float64
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from footfall.compiled import function_pointer, kernel


@pytest.mark.parametrize(
    "owner, part", [(Compiler, "__init__"), (Compiler, "compile_extra"), (JITCodeLibrary, "finalize")]
)
@pytest.mark.parametrize("pointed", [False, True])
def test_ctrl_c_waits_until_what_is_being_compiled_is_done(monkeypatch, tmp_path, owner, part, pointed):
    """Broken off, Numba forgets types that it was about to learn, and no later kernel of the process compiles; broken
    off while LLVM works, the interrupt was lost and Numba had "no compiled object yet".
    """
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path))  # what an earlier run of this test kept is not compiled
    monkeypatch.setattr("footfall.compiled.cache._in_use", {})
    usual, ended = getattr(owner, part), []

    def interrupted(self, *arguments):
        signal.raise_signal(signal.SIGINT)
        result = usual(self, *arguments)
        ended.append(part)
        return result

    @kernel
    def halved(x):
        return 0.5 * x

    def use():
        return function_pointer(float64(float64), halved.py_func).ctypes(3.0) if pointed else halved(3.0)

    with monkeypatch.context() as during:
        during.setattr(owner, part, interrupted)
        with pytest.raises(KeyboardInterrupt):
            use()
    assert ended and use() == 1.5


PENDING = """
import sys
from numba import types
from footfall.compiled import cold, kernel
from footfall.process.interrupts import end_as_by_ctrl_c

if sys.argv[1] == "own":
    end_as_by_ctrl_c()
send = types.ExternalFunction("raise", types.int32(types.int32))

@cold(types.float64)
def doubled(x):
    return 2.0 * x

@kernel
def interrupted(x):
    send(2)
    return doubled(x)

found = 0.0
try:
    found = interrupted(21.0)
    while True:
        pass
except KeyboardInterrupt:
    print("interrupted", found)
"""


@pytest.mark.parametrize("program", ["own", "others"])
def test_ctrl_c_before_compiled_code_looks_up_a_kernel_waits_until_it_returns(program):
    """Python raises it as soon as compiled code calls Python for the address; signal 11 followed."""
    done = subprocess.run([sys.executable, "-c", PENDING, program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "interrupted 42.0\n"), done.stderr
