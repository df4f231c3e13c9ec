"""Grounds made of planes: level, sloped, and a flight of stairs."""

from __future__ import annotations

import math
from typing import Annotated

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.errors import GroundError
from footfall.given_numbers import Bounds, Finite, Positive
from footfall.ground.friction import Coefficients, Friction
from footfall.ground.geometry import Array, Geoms, Grid, square
from footfall.ground.kind import Form, Kind, Option
from footfall.kinds import Float, Matrix, Vector


@public
def plane(
    friction: Friction = 0.7, *, static_friction: float | None = None, height: Annotated[Finite, Option("m")] = 0.0
) -> Form:
    """Level ground at z = ``height`` (m).

    ``friction`` is the dynamic coefficient, and the static one too unless ``static_friction`` says otherwise; a pair is
    (static, dynamic); a function ``f(x, y)`` or a :class:`FrictionTable` of either is evaluated at every contact point.
    This holds for every kind.
    """
    return Form(Coefficients.of(friction, static_friction), (("height", float(height)),))


def level_surface(x: Float, y: Float, z: Float, parameters: Vector, table: Matrix) -> tuple[Float, Float, Float, Float]:
    """Level ground. ``parameters``: height (m)."""
    return z - parameters[0], 0.0, 0.0, 1.0


PLANE = Kind(
    name="plane",
    make=plane,
    surface=level_surface,
    parameters=lambda form: (form.option("height"),),
    highest=lambda form: form.option("height"),
    grid=lambda form, extent: (*square(extent), np.full((2, 2), form.option("height"))),
    geoms=lambda form, extent, add: add.plane(np.array([0.0, 0.0, 1.0]), form.option("height"), extent),
    flat=True,
)


@public
def slope(
    angle: Annotated[Finite, Option("rad", "how steeply it rises")],
    *,
    heading: Annotated[Finite, Option("rad", "the way up, from the x axis")] = 0.0,
    friction: Friction = 0.7,
    static_friction: float | None = None,
) -> Form:
    """A plane through the origin that rises by ``angle`` (rad) along ``heading`` (rad, in xy, from x)."""
    if abs(angle) >= math.pi / 2:
        raise GroundError(
            f"a slope of {angle:g} rad is a wall or an overhang: |angle| must be below pi/2 radians"
            + (f" (did you mean {angle:g} degrees?)" if 2.0 < abs(angle) < 90.0 else "")
        )
    return Form(Coefficients.of(friction, static_friction), (("angle", float(angle)), ("heading", float(heading))))


def sloped_surface(
    x: Float, y: Float, z: Float, parameters: Vector, table: Matrix
) -> tuple[Float, Float, Float, Float]:
    """A tilted plane through the origin. ``parameters``: its unit normal."""
    nx, ny, nz = parameters[0], parameters[1], parameters[2]
    return nx * x + ny * y + nz * z, nx, ny, nz


def normal(form: Form) -> tuple[float, float, float]:
    """The unit normal that points out of the ground."""
    angle, heading = form.option("angle"), form.option("heading")
    return -math.sin(angle) * math.cos(heading), -math.sin(angle) * math.sin(heading), math.cos(angle)


def sloped_grid(form: Form, extent: float) -> Grid:
    (x, y), (nx, ny, nz) = square(extent), normal(form)
    return x, y, -(nx * x + ny * y) / nz + 0.0  # no -0.0


SLOPE = Kind(
    name="slope",
    make=slope,
    surface=sloped_surface,
    parameters=normal,
    highest=lambda form: 0.0 if form.option("angle") == 0.0 else math.inf,
    grid=sloped_grid,
    geoms=lambda form, extent, add: add.plane(np.array(normal(form)), 0.0, extent),
    flat=True,
)


#: Most steps of stairs: each is a geom for MuJoCo.
MOST_STEPS = 10_000


@public
def stairs(
    rise: Annotated[Finite, Option("m", "negative goes down")] = 0.15,
    run: Annotated[Positive, Option("m")] = 0.3,
    count: Annotated[int, Bounds(1, MOST_STEPS), Option("", "number of steps")] = 5,
    *,
    start: Annotated[Finite, Option("m", "where the first riser stands")] = 0.3,
    heading: Annotated[Finite, Option("rad", "the way up, from the x axis")] = 0.0,
    friction: Friction = 0.7,
    static_friction: float | None = None,
) -> Form:
    """A flight of ``count`` steps of ``rise`` and ``run`` (m) along ``heading`` (rad, in xy, from x).

    The first riser stands at ``start`` (m). The ground is level at 0 before it and at ``count * rise``
    after the last; a negative ``rise`` goes down. The gap is the Euclidean signed distance to the
    profile, so a toe that runs into a riser is pushed back, not up.

    Limitations: one normal per point. A point nearer to a nosing than it is deep leaves by the riser, so
    keep contact points of a standing foot a little (more than the penetration) behind the nosing.
    """
    sizes = (("rise", float(rise)), ("run", float(run)), ("count", int(count)))
    options = (*sizes, ("start", float(start)), ("heading", float(heading)))
    return Form(Coefficients.of(friction, static_friction), options)


def stairs_surface(
    x: Float, y: Float, z: Float, parameters: Vector, table: Matrix
) -> tuple[Float, Float, Float, Float]:
    """Euclidean signed distance to a flight of stairs: treads, risers, nosings and inner corners.

    ``parameters``: rise, run, count, start (m, m, -, m), cosine and sine of the heading. With s the distance
    along the heading, the level is 0 before ``start`` and changes by ``rise`` there and every ``run`` after,
    ``count`` times. A negative rise is the same staircase seen from its other end.
    """
    rise, run, count, start = parameters[0], parameters[1], parameters[2], parameters[3]
    along_x, along_y = parameters[4], parameters[5]
    s = x * along_x + y * along_y - start
    if s != s:  # NaN would count as a point before the first step
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
        # In the air nothing behind is nearer than the tread below: search ahead only, up to the gap so far.
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
        # Inside, nothing ahead is nearer than the tread overhead: search back only.
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


def stairs_parameters(form: Form) -> tuple[float, ...]:
    heading = form.option("heading")
    return (*(form.option(name) for name in ("rise", "run", "count", "start")), math.cos(heading), math.sin(heading))


def tread_height(parameters: Array, x: Array, y: Array) -> Array:
    """The heights of treads; at a riser, of the tread behind it."""
    rise, run, count, start, cos, sin = parameters
    return np.clip(np.floor((x * cos + y * sin - start) / run) + 1.0, 0.0, count) * rise


def stairs_grid(form: Form, extent: float) -> Grid:
    edges = np.repeat(form.option("start") + form.option("run") * np.arange(form.option("count")), 2)
    s = np.concatenate([[edges[0] - extent / 2], edges, [edges[-1] + extent / 2]])
    z = np.repeat(form.option("rise") * np.arange(form.option("count") + 1), 2)
    side = np.array([[-extent / 2], [extent / 2]])
    cos, sin = math.cos(form.option("heading")), math.sin(form.option("heading"))
    return s * cos - side * sin, s * sin + side * cos, np.broadcast_to(z, (2, len(z)))


def tread_geoms(form: Form, extent: float, add: Geoms) -> list[mujoco.MjsGeom]:
    """One box per tread."""
    import mujoco

    heading, count, rise = form.option("heading"), form.option("count"), form.option("rise")
    edges = form.option("start") + form.option("run") * np.arange(count)
    edges = np.concatenate([[edges[0] - extent], edges, [edges[-1] + extent]])
    bottom = min(0.0, count * rise) - 1.0
    quat = np.array([math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)])
    boxes = []
    for step in range(count + 1):
        s, top = (edges[step] + edges[step + 1]) / 2, step * rise
        size = [(edges[step + 1] - edges[step]) / 2, extent / 2, (top - bottom) / 2]
        pos = [s * math.cos(heading), s * math.sin(heading), (top + bottom) / 2]
        boxes.append(add(f"_{step}", mujoco.mjtGeom.mjGEOM_BOX, size, pos=pos, quat=quat))
    return boxes


STAIRS = Kind(
    name="stairs",
    make=stairs,
    surface=stairs_surface,
    parameters=stairs_parameters,
    highest=lambda form: max(0.0, form.option("count") * form.option("rise")),
    grid=stairs_grid,
    geoms=tread_geoms,
    height=tread_height,
)
