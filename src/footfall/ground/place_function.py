"""Heights and friction coefficients given as Python functions of x and y, compiled for the engine.

Functions that differ only in the values of their numbers share machine code. Numba would freeze these values into
machine code, which is never freed: a thousand grounds of ``lambda x, y: a * x`` would be compiled a thousand times and
keep a gigabyte. Here the numbers that a function takes from an enclosing function or from the defaults of its arguments
become elements of an array, which is passed in every call. All other values it refers to stay frozen.
"""

from __future__ import annotations

import inspect
import math
import textwrap
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from numba import float64, types
from numba.core.errors import NumbaError

from footfall.compiled import (
    as_python,
    cause_of,
    checked,
    function_pointer,
    generated,
    kernel,
    kernel_stamp,
    plain_function,
    raises,
)
from footfall.errors import GroundError
from footfall.ground.surface import REACH, SURFACE_SIGNATURE, over_height
from footfall.kinds import Bool, Float

GRADIENT_STEP = 1e-5  # m; the best for central differences of O(1) functions is eps^(1/3) ~ 6e-6
#: Tolerance of the nearest point of a surface, m, and iteration limit, which the search reaches at a kink.
FOOT, LOOKS = 1e-7, 20
#: Largest gap, m, at which the surface straight below a point may be taken as the nearest: assumes that hollows are
#: wider.
NARROW = 1e-3
#: Step away from a saddle or a maximum of the distance, as a share of the distance.
ASIDE = 0.25
#: (x, y, corner, table) -> (static, dynamic), see :mod:`footfall.ground.friction`.
FRICTION_SIGNATURE = types.UniTuple(float64, 2)(float64, float64, float64[::1], types.float64[:, :, ::1])


class Role(NamedTuple):
    """The use of a function of x and y: the signature that the engine calls, and the adapter between the two."""

    what: str
    signature: Any
    #: The source of ``adapter`` by the count of numbers that ``given`` returns, 1 or 2, with a placeholder ``{more}``
    #: for a last argument.
    sources: dict[int, str]
    numbers: str  # the adapter's argument that is passed as this last argument
    namespace: dict[str, Any]
    nothing: str  # the result if the function fails, as by an index outside of an array
    nowhere: str  # advice for places where it has no value
    instead: str  # advice if it cannot be compiled


@kernel
def is_under(plane: tuple[Float, Float, Float, Float]) -> Bool:
    """Whether the nearest point of the surface is straight below a point, as for all points on the surface."""
    gap, nx, ny, _ = plane
    return abs(gap) < NARROW and gap * gap * (nx * nx + ny * ny) < FOOT * FOOT


@kernel
def way_to_foot(
    x: Float, y: Float, z: Float, slope_x: Float, slope_y: Float, bend_x: Float, bend_y: Float, twist: Float
) -> tuple[Float, Float]:
    """Step along x and y (m) towards the nearest place, from a place with the point at (x, y, z) relative to it.

    It is a step of Newton's method, without curvature where the squared distance is not convex.
    """
    p, q = 1.0 + slope_x * slope_x - z * bend_x, 1.0 + slope_y * slope_y - z * bend_y
    r, gu, gv = slope_x * slope_y - z * twist, x + z * slope_x, y + z * slope_y
    if not (p > 0.0 and q > 0.0 and r * r < p * q):
        if gu * gu + gv * gv < FOOT * FOOT:  # places beside it are nearer
            aside = ASIDE * abs(z)
            return 0.0 if p > 0.0 and not q > 0.0 else aside, 0.0 if not p > 0.0 else -math.copysign(aside, r)
        p, q, r = 1.0 + slope_x * slope_x, 1.0 + slope_y * slope_y, slope_x * slope_y
    scale = 1.0 / (p * q - r * r)
    return (q * gu - r * gv) * scale, (p * gv - r * gu) * scale


HEIGHT = Role(
    "height",
    SURFACE_SIGNATURE,
    {
        1: """
def adapter(x, y, z, parameters, table):
    u, v = x, y
    found = (0.0, 0.0, 0.0, 1.0)
    least, at_u, at_v, up = math.inf, x, y, 1.0
    for i in range(LOOKS):
        h, ahead, behind = given(u, v{more}), given(u + STEP, v{more}), given(u - STEP, v{more})
        left, right = given(u, v + STEP{more}), given(u, v - STEP{more})
        slope_x, slope_y = (ahead - behind) / (2.0 * STEP), (left - right) / (2.0 * STEP)
        plane = over_height(z - h - slope_x * (x - u) - slope_y * (y - v), slope_x, slope_y)
        if i == 0 and (is_under(plane) or not abs(plane[0]) < max(REACH, parameters[parameters.size - 1])):
            return plane
        square = (x - u) ** 2 + (y - v) ** 2 + (z - h) ** 2
        if not square < least:  # too far along: half as far
            u, v = 0.5 * (u + at_u), 0.5 * (v + at_v)
            continue
        across = given(u + STEP, v + STEP{more})
        bend = ((ahead - 2.0 * h + behind) / STEP**2, (left - 2.0 * h + right) / STEP**2)
        twist = (across - ahead - left + h) / STEP**2
        du, dv = way_to_foot(x - u, y - v, z - h, slope_x, slope_y, bend[0], bend[1], twist)
        if du * du + dv * dv < FOOT * FOOT:
            return plane
        if i == 0:
            up = math.copysign(1.0, z - h)
        distance = up * math.sqrt(square)
        found = (distance, (x - u) / distance, (y - v) / distance, (z - h) / distance)
        least, at_u, at_v = square, u, v
        u, v = u + du, v + dv
    return found
"""
    },
    "parameters",
    {
        "math": math,
        "over_height": over_height,
        "is_under": is_under,
        "way_to_foot": way_to_foot,
        "STEP": GRADIENT_STEP,
        "FOOT": FOOT,
        "LOOKS": LOOKS,
        "REACH": REACH,
    },
    "NAN, 0.0, 0.0, 1.0",
    "return math.nan where there is no ground, and the run stops there with a sentence",
    "sample it instead: Ground.heightfield(np.array([[f(x, y) for x in xs] for y in ys]), size=(sx, sy))",
)
FRICTION = Role(
    "friction",
    FRICTION_SIGNATURE,
    {
        1: """
def adapter(x, y, corner, table):
    both = float(given(x, y{more}))
    return both, both
""",
        2: """
def adapter(x, y, corner, table):
    static, dynamic = given(x, y{more})
    return float(static), float(dynamic)
""",
    },
    "corner",
    {},
    "NAN, NAN",
    "return a coefficient everywhere",
    "sample it instead: FrictionTable(np.array([[f(x, y) for x in xs] for y in ys]), size=(sx, sy))",
)
#: Machine code by role and content, for the life of the process.
_compiled: dict[tuple[str, str], Any] = {}
#: The pointers in use, by role and identity of the function: equal functions have one.
_pointers: WeakValueDictionary[tuple[str, str], SharedPointer] = WeakValueDictionary()


class SharedPointer:
    """Shared machine code as the pointer of one function, with its plain Python for a GPU."""

    def __init__(self, code: Any, plain: FunctionType, role: Role) -> None:
        self._plain, self._role = _as_it_is_now(plain), role
        self.address = code.address
        self._numba_type_ = code._numba_type_

    def __wrapper_address__(self) -> int:
        return int(self.address)

    @cached_property
    def __wrapped__(self) -> FunctionType:
        """The adapter with all values frozen, as plain Python."""
        return _adapter(_frozen(self._plain), self._plain, self._role)


@dataclass(frozen=True)
class PlaceFunction:
    """A user's ``f(x, y)``, compiled. Two are equal when their code and the values it uses are."""

    identity: str
    function: Callable[..., Any] = field(compare=False)
    pointer: Any = field(compare=False, repr=False)
    role: Role = field(compare=False, repr=False)
    #: The values of the pointer's array of numbers.
    numbers: tuple[float, ...] = field(default=(0.0,), compare=False, repr=False)

    @property
    def source(self) -> str | None:
        """The source of the function, or ``None`` if Python does not know it (at some prompts)."""
        try:
            return textwrap.dedent(inspect.getsource(plain_function(self.function)))
        except (OSError, TypeError):
            return None

    def fault(self, x: float, y: float) -> str:
        """The error of the function at a place (m) as plain Python, "" if there is none."""
        try:
            as_python(self.function)(x, y)
        except Exception as error:
            return f"{self.role.what} function '{self.function.__name__}': {type(error).__name__}: {error}"
        return ""

    def __reduce__(self) -> tuple[Any, ...]:
        # Machine code does not travel between processes.
        return compile_height if self.role is HEIGHT else compile_friction, (self.function,)


def compile_height(function: Callable[..., Any]) -> PlaceFunction:
    """Compile ``function(x, y) -> height`` (m) to a surface, or read it from disk.

    The values it refers to (globals, closure) are frozen at this moment.
    """
    return _compile(function, HEIGHT)


def compile_friction(function: Callable[..., Any]) -> PlaceFunction:
    """Compile ``function(x, y)`` -> coefficient, or static and dynamic coefficient."""
    return _compile(function, FRICTION)


def _compile(function: Callable[..., Any], role: Role) -> PlaceFunction:
    plain = plain_function(function)
    if not isinstance(plain, FunctionType):
        raise _uncompilable(role, function, f"a {type(function).__name__} is not a plain Python function")
    if raises(plain):
        raise GroundError(
            f"the {role.what} function '{plain.__name__}' raises (or asserts), which a compiled ground cannot: "
            f"{role.nowhere}"
        )
    content = kernel_stamp(plain)
    identity = content or uuid.uuid4().hex  # without a hash of its content: equal only to itself
    numbers = numbers_of(plain) if content else None
    shared = None if numbers is None else _shared(plain, numbers, role, identity)
    if numbers is not None and shared is not None:
        return PlaceFunction(identity, function, shared, role, numbers.values)
    key = (role.what, identity)
    if key not in _compiled:
        try:
            pointer = SharedPointer(_guarded(_adapter(_frozen(plain), plain, role), role), plain, role)
        except (NumbaError, NotImplementedError, TypeError) as error:
            raise _uncompilable(role, function, cause_of(error)) from error
        if not content:
            return PlaceFunction(identity, function, pointer, role)
        _compiled[key] = pointer
    return PlaceFunction(identity, function, _compiled[key], role)


def _shared(plain: FunctionType, numbers: Numbers, role: Role, identity: str) -> SharedPointer | None:
    """The pointer to machine code that takes the function's numbers; ``None`` if it cannot be compiled."""
    known = _pointers.get((role.what, identity))
    if known is not None:
        return known
    asked = with_numbers(plain, numbers)
    key = (role.what, str(kernel_stamp(asked.py_func)))
    if key not in _compiled:
        try:
            _compiled[key] = _guarded(_adapter(asked, plain, role, float64[::1]), role)
        except (NumbaError, NotImplementedError, TypeError, GroundError):
            _compiled[key] = None
    if _compiled[key] is None:
        return None
    made = _pointers[role.what, identity] = SharedPointer(_compiled[key], plain, role)
    return made


def _frozen(plain: FunctionType) -> Any:
    """A kernel of x and y alone, for a function that may have further arguments with defaults."""
    return kernel(generated("def asked(x, y):\n    return given(x, y)\n", "asked", {"given": checked(plain)}, plain))


def _adapter(asked: Any, plain: FunctionType, role: Role, *more: Any) -> FunctionType:
    """The function that the engine calls, around a kernel of x, y and perhaps an array of numbers."""
    asked.compile((float64, float64, *more))
    returned = asked.nopython_signatures[-1].return_type
    if _numbers(returned) not in role.sources:
        raise _uncompilable(role, plain, f"it returns {returned}, not a number")
    source = role.sources[_numbers(returned)].format(more=f", {role.numbers}" if more else "")
    return generated(source, "adapter", {"given": asked, **role.namespace}, plain)


def _guarded(adapter: FunctionType, role: Role) -> Any:
    """The adapter as a pointer, which returns NaN if the function raises."""
    arguments = ", ".join(adapter.__code__.co_varnames[: adapter.__code__.co_argcount])
    source = f"""
def guarded({arguments}):
    try:
        return answer({arguments})
    except Exception:
        return {role.nothing}
"""
    return function_pointer(
        role.signature, generated(source, "guarded", {"answer": checked(adapter), "NAN": math.nan}, adapter)
    )


def _as_it_is_now(plain: FunctionType) -> FunctionType:
    """A copy that keeps the present values of the variables it refers to."""
    code = plain.__code__
    known = {name: value for name, value in plain.__globals__.items() if name in (*code.co_names, "__builtins__")}
    cells = tuple(CellType(cell.cell_contents) for cell in plain.__closure__ or ())
    copy = FunctionType(code, known, plain.__name__, plain.__defaults__, cells or None)
    copy.__module__, copy.__qualname__ = plain.__module__, plain.__qualname__
    return copy


def _numbers(returned: Any) -> int:
    """Count of the numbers in a type, 0 if it contains anything else."""
    parts = tuple(returned) if isinstance(returned, types.BaseTuple) else (returned,)
    good = all(isinstance(part, types.Float | types.Integer | types.Boolean) for part in parts)
    return len(parts) if good else 0


def _uncompilable(role: Role, function: Any, reason: str) -> GroundError:
    name = getattr(function, "__name__", repr(function))
    return GroundError(f"the {role.what} function '{name}' cannot be compiled: {reason}; {role.instead}")


# ---- numbers that functions refer to --------------------------------------------------------------------------------


#: Flags of code objects: *args, **options, generators and coroutines.
_NOT_PLAIN = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200
_LARGEST_WHOLE = 2**53  # floats hold every whole number up to here


class Numbers(NamedTuple):
    """The numbers that a function refers to."""

    enclosed: tuple[str, ...]  # variables of enclosing functions
    defaults: int  # count of the last arguments with a default
    whole: tuple[bool, ...]  # which of all values, enclosed ones first, are integers
    values: tuple[float, ...]


def numbers_of(function: FunctionType) -> Numbers | None:
    """The numbers that can be passed, ``None`` if there are none or the function is not simple enough."""
    code, defaults = function.__code__, function.__defaults__ or ()
    nested = any(isinstance(constant, CodeType) for constant in code.co_consts)
    if nested or code.co_flags & _NOT_PLAIN or code.co_kwonlyargcount or code.co_argcount != 2 + len(defaults):
        return None
    if not all(map(_is_number, defaults)):
        return None
    cells = _cells(function)
    enclosed = tuple(name for name, value in cells.items() if _is_number(value))
    values = (*(cells[name] for name in enclosed), *defaults)
    whole = tuple(isinstance(value, int) for value in values)
    return Numbers(enclosed, len(defaults), whole, tuple(map(float, values))) if values else None


def _is_number(value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST_WHOLE
    return whole or isinstance(value, float)


def with_numbers(function: FunctionType, numbers: Numbers) -> Any:
    """The kernel ``asked(x, y, numbers)`` of a function; ``numbers`` replace the values of its own.

    It contains the function's code as an inner function, which Numba inlines, with local variables in place of those of
    enclosing functions.
    """
    code, cells = function.__code__, _cells(function)
    elements = [f"_whole(_numbers[{i}])" if whole else f"_numbers[{i}]" for i, whole in enumerate(numbers.whole)]
    own = dict(zip(numbers.enclosed, elements, strict=False))
    last = elements[len(elements) - numbers.defaults :]
    lines = [
        "def asked(_x, _y, _numbers):",
        f"    {str(numbers[:3])!r}",  # so that no frozen function has the same text
        *(f"    {name} = {own.get(name, '_frozen_' + name)}" for name in cells),
        f"    def given({', '.join(code.co_varnames[: code.co_argcount])}):",
        f"        return ({''.join(name + ', ' for name in cells)})",
        f"    return given({', '.join(['_x', '_y', *last])})",
    ]
    frozen = {f"_frozen_{name}": value for name, value in cells.items() if name not in own}
    outer = generated("\n".join(lines), "asked", function.__globals__ | frozen | {"_whole": int}, function)
    constants = outer.__code__.co_consts
    outer.__code__ = outer.__code__.replace(
        co_consts=tuple(code if isinstance(one, CodeType) else one for one in constants)
    )
    return checked(outer)


def _cells(function: FunctionType) -> dict[str, Any]:
    """The variables of enclosing functions that a function reads, in the order of its closure."""
    contents = [cell.cell_contents for cell in function.__closure__ or ()]
    return dict(zip(function.__code__.co_freevars, contents, strict=True))
