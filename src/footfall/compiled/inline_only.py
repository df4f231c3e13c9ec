"""Kernels that only become part of their callers: typed and lowered, but without machine code of their own."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite.ir import CallInstr
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher
from numba.core.types import BooleanLiteral, IntegerLiteral
from numba.core.types.misc import unliteral

from footfall.compiled.cache import KernelCache
from footfall.compiled.known_types import known_types
from footfall.compiled.progress import compiling
from footfall.process.interrupts import while_compiling

#: The version of Numba whose internals are known, so that needless work can be skipped.
KNOWN_NUMBA = (0, 68)
if numba.version_info.short == KNOWN_NUMBA:
    from footfall.compiled.lean_compiler import lean, lean_passes
else:
    from footfall.compiled.usual_compiler import lean, lean_passes

#: An ``inlined`` kernel with more instructions, including what is inlined in it, stays a function. LLVM's time for a
#: function grows faster than its size, and a call per step costs nothing.
LARGEST_PART = 2800


class _Library(JITCodeLibrary):
    """Intermediate code that callers link in and optimise with their own."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
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
        seen = set()
        for library in self._linking_libraries:
            if library not in seen:
                seen.add(library)
                self._reload_init.update(library._reload_init)
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

    @property
    def codegen(self) -> Any:
        """The code generator, without environments."""
        return _Quiet(self._codegen)


def _size(instruction: Any, inlined: dict[str, int]) -> int:
    """The size of an instruction: for a call of an inlined function, with that function's."""
    return 1 + (inlined.get(instruction.callee.name, 0) if isinstance(instruction, CallInstr) else 0)


class _Quiet:
    """A code generator that sets up no environment."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: without machine code there is no environment."""


class KernelCompiler(Compiler):
    """Numba's compiler, without the work that kernels do not need."""

    def __init__(self, *parts: Any) -> None:
        with while_compiling():
            super().__init__(*parts)

    def compile_extra(self, function: Any) -> Any:
        """Compile a Python function."""
        with while_compiling(), compiling(function), known_types(), lean():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        """The passes that kernels need."""
        return [lean_passes(self.state)]


class _InlineOnlyCompiler(KernelCompiler):
    """The same compiler, whose result stays intermediate code."""

    def define_pipelines(self) -> list[Any]:
        """The same."""
        state = self.state
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class InlineOnlyCache(KernelCache):
    """The disk cache of kernels without machine code."""

    def rebuild(self, context: Any, parts: Any) -> Any:
        """As ``CompileResult._rebuild``, without machine code."""
        names = ("fndesc", "environment", "signature", "objectmode", "lifted", "type_annotation", "reload_init")
        code, *others, environments = parts
        known = dict(zip(names, others, strict=True))
        for start in known["reload_init"]:
            start()
        library = _Library.read(context.codegen(), *code)
        library._reload_init.update(known["reload_init"])  # callers inherit it
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


def _plain(kind: Any) -> Any:
    """The type of a literal, without its value."""
    return unliteral(kind) if isinstance(kind, IntegerLiteral | BooleanLiteral) else kind


class InlineOnly(CPUDispatcher):
    """A kernel that compiled code calls; called from Python, it gets machine code of its own."""

    def __init__(self, function: Any, options: dict[str, Any], ordinary: Any) -> None:
        super().__init__(py_func=function, targetoptions=options, pipeline_class=_InlineOnlyCompiler)
        self._make_ordinary = ordinary

    @cached_property
    def ordinary(self) -> Any:
        """The same kernel with machine code of its own."""
        return self._make_ordinary()

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        """Compile it for the types of a call.

        A kernel that is not always inlined is compiled once for all values of literal arguments, unless typing needs
        these, as for the index of an element of a mixed tuple.
        """
        plain = tuple(map(_plain, arguments)), {name: _plain(kind) for name, kind in keywords.items()}
        if not self.targetoptions.get("forceinline") and plain != (tuple(arguments), keywords):
            with suppress(TypingError):
                return super().get_call_template(*plain)
        return super().get_call_template(arguments, keywords)

    def kept(self) -> bool:
        """Whether its machine code is on disk, for some types."""
        kept: bool = self.ordinary._cache.kept()
        return kept

    def __call__(self, *arguments: Any) -> Any:
        return self.ordinary(*arguments)
