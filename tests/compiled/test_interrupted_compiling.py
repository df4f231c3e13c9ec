"""Ctrl-C while a kernel is compiled: Numba comes to an end of it first, and the next run compiles as ever."""

from __future__ import annotations

import signal

import pytest
from numba.core.compiler import Compiler

from footfall.compiled import kernel


def test_ctrl_c_waits_until_what_is_being_compiled_is_done(monkeypatch, tmp_path):
    """Broken off, Numba forgets types that it was about to learn, and no later kernel of the process compiles."""
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path))  # what an earlier run of this test kept is not compiled
    ended, begin, compile_extra = [], Compiler.__init__, Compiler.compile_extra

    def interrupted(part):
        def does(self, *arguments):
            signal.raise_signal(signal.SIGINT)
            result = part(self, *arguments)
            ended.append(part)
            return result

        return does

    @kernel
    def halved(x):
        return 0.5 * x

    with monkeypatch.context() as during:
        during.setattr(Compiler, "__init__", interrupted(begin))
        with pytest.raises(KeyboardInterrupt):
            halved(3.0)
    with monkeypatch.context() as during:
        during.setattr(Compiler, "compile_extra", interrupted(compile_extra))
        with pytest.raises(KeyboardInterrupt):
            halved(3.0)
    assert ended == [begin, compile_extra]
    assert halved(3.0) == 1.5
