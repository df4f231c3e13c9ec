"""Where a point stands relative to the ground: one small compiled function per kind of surface.

Every surface answers the same question with the same signature, so that one compiled engine serves them all:

    surface(x, y, z, parameters, table) -> (gap, nx, ny, nz)

``x, y, z`` is a point in the world frame (m, z up), ``gap`` its signed distance to the surface (m, negative
inside the ground) and ``n`` the unit normal that points out of the ground. The surfaces are plain Python:
they are compiled to function pointers here, run as they stand in a debugger, and hold nothing a GPU thread
could not do. A NaN in what decides the answer comes out as a NaN gap.
"""

from __future__ import annotations

import dis
import inspect
import math
import textwrap
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType
from typing import Any

from numba import types
from numba.core.caching import NullCache
from numba.core.errors import NumbaError

from footfall.compiled import function_pointer, generated, kernel
from footfall.errors import GroundError
from footfall.fingerprint import content_hash

SURFACE_SIGNATURE = types.UniTuple(types.float64, 4)(
    types.float64, types.float64, types.float64, types.float64[::1], types.float64[:, ::1]
)

NEARLY_ALONG_X = 0.9  # |nx| beyond which world x is too close to the normal to give a tangent
GRADIENT_STEP = 1e-5  # m; the best for central differences of O(1) functions is eps^(1/3) ~ 6e-6


def plane(x, y, z, parameters, table):
    """Level ground. ``parameters``: height (m)."""
    return z - parameters[0], 0.0, 0.0, 1.0


def slope(x, y, z, parameters, table):
    """A tilted plane through the origin. ``parameters``: its unit normal."""
    nx, ny, nz = parameters[0], parameters[1], parameters[2]
    return nx * x + ny * y + nz * z, nx, ny, nz


def stairs(x, y, z, parameters, table):
    """Euclidean signed distance to a flight of stairs: treads, risers, nosings and inner corners.

    ``parameters``: rise, run, count, start (m, m, -, m), cosine and sine of the heading. With s the distance
    along the heading, the level is 0 before ``start`` and changes by ``rise`` there and every ``run`` after,
    ``count`` times. A negative rise is the same staircase seen from its other end.
    """
    rise, run, count, start = parameters[0], parameters[1], parameters[2], parameters[3]
    along_x, along_y = parameters[4], parameters[5]
    s = x * along_x + y * along_y - start
    if s != s:  # or the search below would take it for a point before the first step
        return s, 0.0, 0.0, 1.0
    if rise < 0.0:
        rise = -rise
        s = (count - 1.0) * run - s
        z = z + count * rise
        along_x, along_y = -along_x, -along_y

    # From here on the stairs climb along s, with risers at s = 0, run, ..., (count - 1) run.
    step = float(math.floor(min(max(s / run + 1.0, 0.0), count)))
    above = z - step * rise
    gap, ns, nz = above, 0.0, 1.0
    if above >= 0.0:
        # In the air nothing behind is nearer than the tread below, so look ahead, as far as could matter.
        riser = step
        while riser < count and riser * run - s < gap:
            ahead = riser * run - s
            over_nosing = z - (riser + 1.0) * rise
            if over_nosing <= 0.0:
                gap, ns, nz = ahead, -1.0, 0.0
            else:
                distance = math.hypot(ahead, over_nosing)
                if distance < gap:
                    gap, ns, nz = distance, -ahead / distance, over_nosing / distance
            riser += 1.0
    else:
        # Inside, nothing ahead is nearer than the tread overhead, so look back.
        riser = step - 1.0
        while riser >= 0.0 and s - riser * run < -gap:
            behind = s - riser * run
            below_corner = riser * rise - z
            if below_corner <= 0.0:
                gap, ns, nz = -behind, -1.0, 0.0
            else:
                distance = math.hypot(behind, below_corner)
                if distance < -gap:
                    gap, ns, nz = -distance, -behind / distance, below_corner / distance
            riser -= 1.0
    return gap, ns * along_x, ns * along_y, nz


@kernel
def over_height(clearance, slope_x, slope_y):
    """Gap and normal of a point ``clearance`` (m) straight above a surface of the given gradient.

    The gap is the distance to the tangent plane under the point: exact on planes, first order elsewhere.
    """
    nz = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    return clearance * nz, -slope_x * nz, -slope_y * nz, nz


def heightfield(x, y, z, parameters, table):
    """Bilinear interpolation of ``table`` (rows along y, columns along x, m), constant beyond its edges.

    ``parameters``: x and y of entry [0, 0], spacing of the columns and of the rows (m).
    """
    if x != x or y != y:  # or it would be taken for an index
        return x + y, 0.0, 0.0, 1.0
    dx, dy = parameters[2], parameters[3]
    last_row, last_column = table.shape[0] - 1, table.shape[1] - 1
    u = (x - parameters[0]) / dx
    v = (y - parameters[1]) / dy
    inside_x = 1.0 if 0.0 <= u <= last_column else 0.0
    inside_y = 1.0 if 0.0 <= v <= last_row else 0.0
    u = min(max(u, 0.0), float(last_column))
    v = min(max(v, 0.0), float(last_row))
    column = min(int(u), last_column - 1)
    row = min(int(v), last_row - 1)
    u -= column
    v -= row
    h00, h01 = table[row, column], table[row, column + 1]
    h10, h11 = table[row + 1, column], table[row + 1, column + 1]
    lower = h00 + u * (h01 - h00)
    upper = h10 + u * (h11 - h10)
    slope_x = inside_x * ((1.0 - v) * (h01 - h00) + v * (h11 - h10)) / dx
    slope_y = inside_y * (upper - lower) / dy
    return over_height(z - (lower + v * (upper - lower)), slope_x, slope_y)


SURFACES = {"plane": plane, "slope": slope, "stairs": stairs, "heightfield": heightfield}


@cache
def pointer(kind: str) -> Any:
    """The compiled surface of a built-in kind, as an argument for compiled loops."""
    return function_pointer(SURFACE_SIGNATURE, SURFACES[kind])


@kernel
def tangent_frame(nx, ny, nz, out):
    """Write the contact frame of a unit normal to ``out`` (3, 3): rows tangent 1, tangent 2, normal (world).

    Tangent 1 is world x laid onto the tangent plane, or world y where the normal is nearly along x; tangent 2
    is normal x tangent 1. On level ground the frame is the world's.
    """
    tx, ty, tz = 1.0 - nx * nx, -nx * ny, -nx * nz
    if abs(nx) > NEARLY_ALONG_X:
        tx, ty, tz = -ny * nx, 1.0 - ny * ny, -ny * nz
    scale = 1.0 / math.sqrt(tx * tx + ty * ty + tz * tz)
    tx, ty, tz = tx * scale, ty * scale, tz * scale
    out[0, 0], out[0, 1], out[0, 2] = tx, ty, tz
    out[1, 0], out[1, 1], out[1, 2] = ny * tz - nz * ty, nz * tx - nx * tz, nx * ty - ny * tx
    out[2, 0], out[2, 1], out[2, 2] = nx, ny, nz


@kernel
def gaps(surface, parameters, table, points, gap, normal):
    """Fill ``gap`` (N,) and ``normal`` (N, 3) for ``points`` (N, 3)."""
    for i in range(points.shape[0]):
        gap[i], normal[i, 0], normal[i, 1], normal[i, 2] = surface(
            points[i, 0], points[i, 1], points[i, 2], parameters, table
        )


# ---- heights given as a Python function --------------------------------------------------------------------


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
def {name}(x, y, z, parameters, table):
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
    content = content_hash(plain)
    identity = content or uuid.uuid4().hex  # not comparable: equal to itself only
    if content not in _compiled_heights:
        height = kernel(plain)
        # Numba's key leaves out constants, so that two lambdas on one line would be one on disk.
        height._cache = NullCache()
        namespace = {"height": height, "over_height": over_height, "STEP": GRADIENT_STEP}
        name = f"surface_{(content or 'unnamed')[:16]}"
        source = _SURFACE_OF_FUNCTION.format(name=name)
        if content:
            surface = generated(source, name, namespace, plain)
        else:  # what cannot be told apart must not be filed: code from no file is not
            exec(compile(source, "<height function>", "exec"), namespace)
            surface = namespace[name]
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
