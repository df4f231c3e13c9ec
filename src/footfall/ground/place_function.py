"""Heights and friction coefficients given as Python functions of x and y, compiled for the engine.

The values that a function refers to (globals, variables of enclosing functions) are frozen when it is compiled.
"""

from __future__ import annotations

import inspect
import math
import textwrap
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NamedTuple

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
    #: The source of ``adapter`` by the count of numbers that ``given`` returns, 1 or 2.
    sources: dict[int, str]
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
        h, ahead, behind = given(u, v), given(u + STEP, v), given(u - STEP, v)
        left, right = given(u, v + STEP), given(u, v - STEP)
        slope_x, slope_y = (ahead - behind) / (2.0 * STEP), (left - right) / (2.0 * STEP)
        plane = over_height(z - h - slope_x * (x - u) - slope_y * (y - v), slope_x, slope_y)
        if i == 0 and (is_under(plane) or not abs(plane[0]) < max(REACH, parameters[parameters.size - 1])):
            return plane
        square = (x - u) ** 2 + (y - v) ** 2 + (z - h) ** 2
        if not square < least:  # too far along: half as far
            u, v = 0.5 * (u + at_u), 0.5 * (v + at_v)
            continue
        across = given(u + STEP, v + STEP)
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
    both = float(given(x, y))
    return both, both
""",
        2: """
def adapter(x, y, corner, table):
    static, dynamic = given(x, y)
    return float(static), float(dynamic)
""",
    },
    {},
    "NAN, NAN",
    "return a coefficient everywhere",
    "sample it instead: FrictionTable(np.array([[f(x, y) for x in xs] for y in ys]), size=(sx, sy))",
)
ROLES = {role.what: role for role in (HEIGHT, FRICTION)}
#: Machine code by role and content, for the life of the process.
_compiled: dict[tuple[str, str], Any] = {}


@dataclass(frozen=True)
class PlaceFunction:
    """A user's ``f(x, y)``, compiled. Two are equal when their code and the values it uses are."""

    identity: str
    function: Callable[..., Any] = field(compare=False)
    pointer: Any = field(compare=False, repr=False)
    role: Role = field(compare=False, repr=False)

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
        return compile_place, (self.function, self.role.what)


def compile_place(function: Callable[..., Any], what: str) -> PlaceFunction:
    """Compile ``function(x, y)`` to a surface ("height", m) or to coefficients ("friction"), or read it from disk.

    The values it refers to (globals, closure) are frozen at this moment.
    """
    role, plain = ROLES[what], plain_function(function)
    if not isinstance(plain, FunctionType):
        raise _uncompilable(role, function, f"a {type(function).__name__} is not a plain Python function")
    if raises(plain):
        raise GroundError(
            f"the {role.what} function '{plain.__name__}' raises (or asserts), which a compiled ground cannot: "
            f"{role.nowhere}"
        )
    identity = kernel_stamp(plain) or uuid.uuid4().hex  # without a hash of its content: equal only to itself
    key = (role.what, identity)
    if key not in _compiled:
        try:
            _compiled[key] = _guarded(_adapter(plain, role), role)
        except (NumbaError, NotImplementedError, TypeError) as error:
            raise _uncompilable(role, function, cause_of(error)) from error
    return PlaceFunction(identity, function, _compiled[key], role)


def _adapter(plain: FunctionType, role: Role) -> FunctionType:
    """The function that the engine calls, around a user's, which may have further arguments with defaults."""
    source = "def asked(x, y):\n    return given(x, y)\n"
    asked: Any = kernel(generated(source, "asked", {"given": checked(plain)}, plain))
    asked.compile((float64, float64))
    returned = asked.nopython_signatures[-1].return_type
    if _numbers(returned) not in role.sources:
        raise _uncompilable(role, plain, f"it returns {returned}, not a number")
    return generated(role.sources[_numbers(returned)], "adapter", {"given": asked, **role.namespace}, plain)


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
    guarded = generated(source, "guarded", {"answer": checked(adapter), "NAN": math.nan}, adapter)
    pointer = function_pointer(role.signature, guarded)
    pointer.__wrapped__ = adapter  # for a GPU, which catches no exceptions
    return pointer


def _numbers(returned: Any) -> int:
    """Count of the numbers in a type, 0 if it contains anything else."""
    parts = tuple(returned) if isinstance(returned, types.BaseTuple) else (returned,)
    good = all(isinstance(part, types.Float | types.Integer | types.Boolean) for part in parts)
    return len(parts) if good else 0


def _uncompilable(role: Role, function: Any, reason: str) -> GroundError:
    name = getattr(function, "__name__", repr(function))
    return GroundError(f"the {role.what} function '{name}' cannot be compiled: {reason}; {role.instead}")
