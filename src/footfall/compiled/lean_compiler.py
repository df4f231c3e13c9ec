"""Numba's compiler without the work that kernels do not need; their machine code is the same."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from types import CodeType, SimpleNamespace
from typing import Any

from llvmlite import ir
from numba.core import base, byteflow, config, errors, event, interpreter, postproc, ssa, transforms, typeinfer
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, _pass_registry
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import (
    AnnotateTypes,
    DumpParforDiagnostics,
    InlineOverloads,
    NativeLowering,
    NopythonRewrites,
)
from numba.core.typing import context as typing_context
from numba.core.untyped_passes import InlineClosureLikes

from footfall.compiled.lean_lowering import KernelLowering, lean_arrays
from footfall.compiled.replaced import put

#: Passes that are skipped: rewrites of whole-array expressions, which kernels do not have; annotated source and
#: diagnostics, which nobody reads; and early inlining, which LLVM does later.
_OF_NO_USE = (NopythonRewrites, AnnotateTypes, DumpParforDiagnostics, InlineOverloads)


class _Passes(PassManager):
    """Passes that run without timing, events and checks."""

    def run(self, state: Any) -> None:
        """Run them all."""
        code = state.func_id.code
        closed = not any(isinstance(one, CodeType) for one in code.co_consts)
        for one, description in self.passes:
            if one is InlineClosureLikes and closed:  # no nested function
                continue
            made = _pass_registry.get(one).pass_inst
            made.analysis = self._analysis
            try:
                made.run_pass(state)
            except errors.NumbaError as error:
                self._patch_error(f"Failed in {self.pipeline_name} mode pipeline (step: {description})", error)
                raise


@cache
def _passes(no_rewrites: bool, enable_ssa: bool) -> _Passes:
    parallel = SimpleNamespace(enabled=False)
    flags = SimpleNamespace(no_rewrites=no_rewrites, enable_ssa=enable_ssa, auto_parallel=parallel)
    usual = DefaultPassBuilder.define_nopython_pipeline(SimpleNamespace(func_ir=None, flags=flags))
    made = _Passes(usual.pipeline_name)
    for one, description in usual.passes:
        if one not in _OF_NO_USE:
            made.add_pass(KernelLowering if one is NativeLowering else one, description)
    made.finalize()
    return made


def lean_passes(state: Any) -> PassManager:
    """Numba's passes from Python to intermediate code, without the needless ones."""
    return _passes(state.flags.no_rewrites, state.flags.enable_ssa)


@contextmanager
def lean() -> Iterator[None]:
    """While a kernel is compiled, under Numba's global lock, switch off: garbage collection, coloured messages of
    failed overloads, reloading of environment variables and registries for each function, events and logging, and the
    analysis of when variables die, since none is freed.
    """
    if config.reload_config is _keep_config:
        yield
        return
    with ExitStack() as undo:
        if gc.isenabled():
            gc.disable()
            undo.callback(gc.enable)
        put(undo, errors.termcolor(), "_markup", _plain_text)
        put(undo, config, "reload_config", _keep_config)
        put(undo, event, "start_event", _no_news)
        put(undo, event, "end_event", _no_news)
        put(undo, postproc.PostProcessor, "run", _post_process)
        put(undo, ir.Type, "get_abi_size", _known_size)
        _known.clear()
        for context in (base.BaseContext, typing_context.BaseContext):
            put(undo, context, "refresh", _refresh_if_new)
        for module in (byteflow, interpreter, ssa, typeinfer):
            put(undo, module._logger, "debug", _no_news)
        lean_arrays(undo)
        yield


def _keep_config() -> None:
    """Do nothing: the environment was read when the outermost function began."""


def _plain_text(message: str, *style: Any) -> str:
    return message


def _no_news(*_: Any, **__: Any) -> None:
    """Do nothing with an event or a log message."""


_full_post_process = postproc.PostProcessor.run


def _post_process(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Numba's clean-up after a pass; lifetimes of variables are computed only if a later pass asks."""
    flags = ConfigStack.top_or_none()
    function = self.func_ir
    if function.is_generator or (emit_dels and (flags is None or flags.nrt)):
        _full_post_process(self, emit_dels, extend_lifetimes)
        return
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = postproc.VariableLifetime(function.blocks)
    function.generator_info = None


_sizes: dict[str, int] = {}
_find_size = ir.Type.get_abi_size


def _known_size(self: Any, target_data: Any, context: Any = None) -> int:
    """The size of a type, remembered: LLVM parses a module to find it."""
    key = str(self)
    if key not in _sizes:
        _sizes[key] = _find_size(self, target_data, context)
    return _sizes[key]


_refreshes = {kind: kind.refresh for kind in (base.BaseContext, typing_context.BaseContext)}
_known: dict[type, int] = {}


def _refresh_if_new(self: Any) -> None:
    """Refresh a context if Numba's registries have grown since the last time."""
    kind = next(one for one in _refreshes if isinstance(self, one))
    if _known.get(kind) != _learned(self):
        _refreshes[kind](self)
        _known[kind] = _learned(self)


def _learned(context: Any) -> int:
    """The number of implementations in a context's registries."""
    registries = context._registries.items()
    return sum(len(getattr(registry, name)) for registry, loader in registries for name in loader.registry_items)
