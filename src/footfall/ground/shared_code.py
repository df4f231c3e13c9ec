"""Machine code shared by functions of x and y that differ in the values of their numbers alone.

Numba freezes what a function refers to into its machine code, which is never freed: a thousand grounds of ``lambda x,
y: a * x`` would be compiled a thousand times and keep a gigabyte. Here the numbers that a function takes from an
enclosing function, from its module or from the defaults of its arguments become elements of an array, which is passed
in every call. Everything else it refers to stays frozen.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any, NamedTuple

from numba.core import ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions, mk_unique_var, remove_dels
from numba.core.postproc import PostProcessor
from numba.core.untyped_passes import InlineClosureLikes

from footfall.compiled import checked, generated

#: Flags of code objects: *args, **options, generators and coroutines.
_NOT_PLAIN = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200
#: The value of a module's number in the shared function, until the compiler puts the array's element in its place; a
#: text, so that arithmetic with it fails wherever that does not happen.
_MARK, _WHOLE_MARK = "footfall: number ", "footfall: whole number "
_LARGEST_WHOLE = 2**53  # beyond it an array of floats does not hold every whole number


class Numbers(NamedTuple):
    """The numbers that a function refers to."""

    enclosed: tuple[str, ...]  # variables of enclosing functions
    module: tuple[str, ...]  # globals
    defaults: int  # how many of the last arguments have one
    whole: tuple[bool, ...]  # of all of them, in this order
    values: tuple[float, ...]


def numbers_of(function: FunctionType) -> Numbers | None:
    """The numbers that can be passed, ``None`` where there are none or the function is not simple enough."""
    code, defaults = function.__code__, function.__defaults__ or ()
    nested = any(isinstance(constant, CodeType) for constant in code.co_consts)
    if nested or code.co_flags & _NOT_PLAIN or code.co_kwonlyargcount or code.co_argcount != 2 + len(defaults):
        return None
    if not all(map(_is_number, defaults)):
        return None
    cells, known = _cells(function), function.__globals__
    enclosed = tuple(name for name, value in cells.items() if _is_number(value))
    module = tuple(dict.fromkeys(name for name in code.co_names if _is_number(known.get(name))))
    values = (*(cells[name] for name in enclosed), *(known[name] for name in module), *defaults)
    whole = tuple(isinstance(value, int) for value in values)
    return Numbers(enclosed, module, len(defaults), whole, tuple(map(float, values))) if values else None


def _is_number(value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST_WHOLE
    return whole or isinstance(value, float)


def with_numbers(function: FunctionType, numbers: Numbers) -> Any:
    """The kernel ``asked(x, y, numbers)`` of a function; ``numbers`` are the values of those that it refers to.

    The function's own code stands in it as that of an inner function, which Numba inlines: there the variables of
    enclosing functions are ordinary ones.
    """
    code, cells = function.__code__, _cells(function)
    elements = [f"_whole(_numbers[{i}])" if whole else f"_numbers[{i}]" for i, whole in enumerate(numbers.whole)]
    own = dict(zip(numbers.enclosed, elements, strict=False))
    last = elements[len(elements) - numbers.defaults :]
    lines = [
        "def asked(_x, _y, _numbers):",
        f"    {str(numbers[:4])!r}",  # so that no frozen function has the same text
        *(f"    {name} = {own.get(name, '_frozen_' + name)}" for name in cells),
        f"    def given({', '.join(code.co_varnames[: code.co_argcount])}):",
        f"        return ({''.join(name + ', ' for name in cells)})",
        f"    return given({', '.join(['_x', '_y', *last])})",
    ]
    frozen = {f"_frozen_{name}": value for name, value in cells.items() if name not in own}
    namespace = function.__globals__ | frozen | {"_whole": int}
    for i, name in enumerate(numbers.module, len(own)):
        namespace[name] = f"{_WHOLE_MARK if numbers.whole[i] else _MARK}{i}"
    outer = generated("\n".join(lines), "asked", namespace, function)
    constants = outer.__code__.co_consts
    outer.__code__ = outer.__code__.replace(
        co_consts=tuple(code if isinstance(one, CodeType) else one for one in constants)
    )
    made = checked(outer)
    made._compiler.pipeline_class = _with_pass(made._compiler.pipeline_class)
    return made


def _cells(function: FunctionType) -> dict[str, Any]:
    """The variables of enclosing functions that a function reads, in the order of its closure."""
    contents = [cell.cell_contents for cell in function.__closure__ or ()]
    return dict(zip(function.__code__.co_freevars, contents, strict=True))


@register_pass(mutates_CFG=False, analysis_only=False)
class _NumbersOfTheModule(FunctionPass):
    """Replaces each mark of a number of the module by the element of the array that it stands for."""

    _name = "footfall_numbers_of_the_module"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Rewrite Numba's intermediate representation before types are inferred."""
        blocks = state.func_ir.blocks
        remove_dels(blocks)
        for block in blocks.values():
            block.body = [new for step in block.body for new in _rewritten(step, block.scope)]
        state.func_ir._definitions = build_definitions(blocks)
        PostProcessor(state.func_ir).run()
        return True


def _rewritten(step: Any, scope: Any) -> list[Any]:
    """A step of the intermediate representation, and before it those that it now needs."""
    read = step.value if isinstance(step, ir.Assign) and isinstance(step.value, ir.Global) else None
    mark = "" if read is None else str(read.value)
    if not mark.startswith((_MARK, _WHOLE_MARK)):
        return [step]
    place = step.loc
    before: list[Any] = []

    def assigned(value: Any) -> Any:
        target = ir.Var(scope, mk_unique_var("$number"), place)
        before.append(ir.Assign(value, target, place))
        return target

    index = assigned(ir.Const(int(mark.rpartition(" ")[2]), place))
    element = ir.Expr.getitem(ir.Var(scope, "_numbers", place), index, place)
    if mark.startswith(_WHOLE_MARK):
        element = ir.Expr.call(assigned(ir.Global("int", int, place)), [assigned(element)], (), place)
    step.value = element
    return [*before, step]


def _with_pass(compiler: Any) -> Any:
    class WithNumbers(compiler):
        def define_pipelines(self) -> list[Any]:
            """The usual ones and the pass."""
            pipelines: list[Any] = super().define_pipelines()
            for one in pipelines:
                one.add_pass_after(_NumbersOfTheModule, InlineClosureLikes)
                one._finalized = False
                one.finalize()
            return pipelines

    return WithNumbers
