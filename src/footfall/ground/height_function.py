"""Heights given as a Python function, compiled to a surface."""

from __future__ import annotations

import dis
import inspect
import textwrap
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from numba import types
from numba.core.errors import NumbaError

from footfall.compiled import function_pointer, generated, kernel, kernel_stamp
from footfall.errors import GroundError
from footfall.ground.surface import SURFACE_SIGNATURE, over_height

GRADIENT_STEP = 1e-5  # m; the best for central differences of O(1) functions is eps^(1/3) ~ 6e-6


@dataclass(frozen=True)
class HeightFunction:
    """A user's ``f(x, y) -> height``, compiled. Two are equal when their code and the values it uses are."""

    identity: str
    function: Callable[..., Any] = field(compare=False)
    pointer: Any = field(compare=False, repr=False)

    @property
    def source(self) -> str | None:
        """The text of the function, or ``None`` where Python does not know it (some prompts)."""
        try:
            return textwrap.dedent(inspect.getsource(_plain(self.function)))
        except (OSError, TypeError):
            return None

    def __reduce__(self) -> tuple[Any, ...]:
        return compile_height, (self.function,)  # machine code does not travel between processes


_SURFACE_OF_FUNCTION = """
def surface(x, y, z, parameters, table):
    slope_x = (height(x + STEP, y) - height(x - STEP, y)) / (2.0 * STEP)
    slope_y = (height(x, y + STEP) - height(x, y - STEP)) / (2.0 * STEP)
    return over_height(z - height(x, y), slope_x, slope_y)
"""
_compiled_heights: dict[str, Any] = {}


def compile_height(function: Callable[..., Any]) -> HeightFunction:
    """Compile ``function(x, y) -> height`` (m) to a surface; what was compiled before comes from disk.

    What it refers to (globals, closure) is frozen at this moment.
    """
    plain = _plain(function)
    if not isinstance(plain, FunctionType):
        raise _uncompilable(function, f"a {type(function).__name__} is not a plain Python function")
    if any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(plain)):
        raise GroundError(
            f"the height function '{plain.__name__}' raises (or asserts), which a compiled ground cannot: "
            "return math.nan where there is no ground, and the run stops there with a sentence"
        )
    content = kernel_stamp(plain)
    identity = content or uuid.uuid4().hex  # not comparable: equal to itself only
    if content not in _compiled_heights:
        height = kernel(plain)
        namespace = {"height": height, "over_height": over_height, "STEP": GRADIENT_STEP}
        surface = generated(_SURFACE_OF_FUNCTION, "surface", namespace, plain)
        try:
            compiled = function_pointer(SURFACE_SIGNATURE, surface)
        except (NumbaError, NotImplementedError, TypeError) as error:
            returned = [one.signature.return_type for one in height.overloads.values()]
            if returned and not isinstance(returned[-1], types.Float | types.Integer | types.Boolean):
                raise _uncompilable(function, f"it returns {returned[-1]}, not a number") from error
            raise _uncompilable(function, _first_reason(error)) from error
        if not content:
            return HeightFunction(identity, function, compiled)
        _compiled_heights[content] = compiled
    return HeightFunction(identity, function, _compiled_heights[content])


def _plain(function: Any) -> Any:
    return getattr(function, "py_func", function)  # what lies under numba.njit


def _uncompilable(function: Any, reason: str) -> GroundError:
    name = getattr(function, "__name__", repr(function))
    return GroundError(
        f"the height function '{name}' cannot be compiled: {reason}; "
        "sample it instead: Ground.heightfield(np.array([[f(x, y) for x in xs] for y in ys]), size=(sx, sy))"
    )


def _first_reason(error: Exception) -> str:
    """The sentence in Numba's report that names the cause."""
    noise = ("Failed in", "During:", "File ", "No conversion", "Invalid use of type(CPUDispatcher")
    lines = [line.strip() for line in str(error).splitlines()]
    return next((line for line in lines if line and not line.startswith(noise)), str(error)).rstrip(".")
