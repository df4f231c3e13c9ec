"""Loops over ranges in a form that suits a GPU's compiler.

Numba's range iterator has two counters and checks their sign. The CPU's compiler removes that, the GPU's does not: five
instructions per iteration. So functions for a GPU are compiled from a source in which ``for i in range(...)`` is a
``while`` loop. Loops are unrolled only if their ends are literals: long code overflows the instruction cache, needs
more registers and compiles more slowly.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from types import CodeType, FunctionType
from typing import Any

#: Name of the device function in the new source that takes each new value of a counter.
HIDDEN = "hidden_from_the_compiler"


@cache
def hidden() -> Any:
    """A device function that returns its 32-bit integer in a way that the compiler cannot see through."""
    from llvmlite import ir
    from numba.cuda import types
    from numba.cuda.extending import intrinsic

    def typed(_: Any, number: Any) -> Any:
        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            short = ir.IntType(32)
            copy = ir.InlineAsm(ir.FunctionType(short, [short]), "mov.b32 $0, $1;", "=r,r")
            return builder.sext(builder.call(copy, [builder.trunc(arguments[0], short)]), ir.IntType(64))

        return types.int64(types.int64), lower

    made = intrinsic(typed)
    made.linkage = lambda: HIDDEN  # for :mod:`.stamp`
    return made


def counted(function: FunctionType, *, simulated: bool) -> CodeType:
    """The code of a function with its loops over ranges replaced; its own code if there is no source.

    The counters of loops whose ends are not literals are hidden from the compiler, so that it does not unroll them; the
    function's globals must contain ``HIDDEN``. The simulator does not need it.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return function.__code__
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return function.__code__
    definition.decorator_list, definition.returns = [], None
    for node in ast.walk(definition.args):
        if isinstance(node, ast.arg):
            node.annotation = None
    own = _compiled(definition, function)
    if own is None or not _same(own, function.__code__):
        return function.__code__  # made from text: the file contains another function
    changed = _Counting(function, simulated=simulated).visit(definition)
    made = _compiled(ast.fix_missing_locations(changed), function)
    return function.__code__ if made is None else made


def _compiled(definition: ast.FunctionDef, function: FunctionType) -> CodeType | None:
    """The code of a definition, with the function's closure variables."""
    free = function.__code__.co_freevars
    outer = ast.parse(f"def outer({', '.join(free)}):\n    pass").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [definition]
    module = compile(
        ast.Module(body=[outer], type_ignores=[]), function.__code__.co_filename, "exec", dont_inherit=True
    )
    around = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    inner = [constant for constant in around.co_consts if isinstance(constant, CodeType)]
    return inner[0] if len(inner) == 1 and inner[0].co_freevars == free else None


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects have the same source, except for docstrings, whose indentation differs."""
    names = one.co_names == other.co_names and one.co_varnames == other.co_varnames
    return names and one.co_consts[1:] == other.co_consts[1:]


class _Counting(ast.NodeTransformer):
    """Replaces loops over ranges."""

    def __init__(self, function: FunctionType, *, simulated: bool) -> None:
        self.simulated = simulated
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        self.known = function.__globals__ | dict(zip(function.__code__.co_freevars, cells, strict=True))
        self.number = 0

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        call = node.iter
        ranged = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not (ranged and isinstance(node.target, ast.Name) and not node.orelse):
            return node
        assert isinstance(call, ast.Call)
        start = call.args[0] if len(call.args) > 1 else ast.Constant(0)
        stop = call.args[1] if len(call.args) > 1 else call.args[0]
        step = self.step(call.args[2]) if len(call.args) > 2 else 1
        if step is None:
            return node
        self.number += 1
        at, end = f"at_{self.number}", f"end_{self.number}"
        fixed = isinstance(start, ast.Constant) and isinstance(stop, ast.Constant)
        low, high = (at, end) if isinstance(step, str) or step > 0 else (end, at)
        seen = fixed or self.simulated
        head = ast.parse(f"{at} = 0\n{end} = 0\nwhile {low} < {high}:\n    pass").body
        following = f"{at} + {step}" if seen else f"{HIDDEN}({at} + {step})"
        body = ast.parse(f"{node.target.id} = {at}\n{at} = {following}").body
        first, last, loop = head
        assert isinstance(first, ast.Assign) and isinstance(last, ast.Assign) and isinstance(loop, ast.While)
        first.value, last.value, loop.body = start, stop, [*body, *node.body]
        return head

    def step(self, node: ast.expr) -> int | str | None:
        """The step of a range, if it is known; that of lanes which share a loop as source text."""
        if isinstance(node, ast.Call):
            return ast.unparse(node) if isinstance(node.func, ast.Name) and node.func.id == "lanes" else None
        try:
            value = eval(compile(ast.Expression(node), "range", "eval"), dict(self.known))
        except NameError:
            return None
        return value if isinstance(value, int) and value != 0 else None
