"""How many testing points a sole needs, and how far apart they may be.

    enough = enough_points("hanavan", roughness=(2e-3, 0.04), law="distributed", tolerance=0.02)
    print(enough)
    robot = ff.load_robot("hanavan").with_points(enough.points)
    enough.plot()

A load, placed anywhere in the middle half of a rigid sole, presses it onto rough ground at many places and headings. A
sole of very many points gives depth and tilt in equilibrium; grids of fewer points are then evaluated in the same pose,
and their errors are those of the resultant force, the centre of pressure and the stiffness against tilting. All have
the same stiffness per area.

A rule of thumb from it, for wavelengths of a seventh of the sole and the three spring laws. What matters is the height
of the waves relative to the depth of the sole on smooth ground, and the spacing relative to the wavelength:

    waves / depth      0.3      1       3      10
    spacing for 2 %    0.5     0.33    0.2    0.12    wavelengths
    spacing for 5 %    0.85    0.55    0.35   0.22    wavelengths

Points farther apart than a wavelength sample the waves at random; where only summits touch, each needs several points.
Shorter waves allow up to 1.5 times this spacing, longer ones need as much less. Even smooth ground needs 6 (Hertz's
exponent) to 13 (linear springs) points along the sole for 2 %, because a sole that is loaded off its middle lifts an
edge.

Limitations: depths are measured vertically, so slopes of the ground should be gentle; every point represents the same
area of the sole, as under Footfall's laws.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from footfall.contact import law as make_law
from footfall.contact.base import Law
from footfall.contact.springs.material import spring_law
from footfall.errors import FootfallError, RobotError
from footfall.given_numbers import check_seed
from footfall.ground import Ground
from footfall.robot import Foot, Robot
from footfall.robot.foot import grid_on_sole, sole_frame
from footfall.robot.load import AnyRobot, as_robot
from footfall.study.point_grids import Enough, GridRow
from footfall.study.pressed_sole import Heights, Placements, Press, equilibrium, put_down, resultant, rough, scattered

FINEST = 1.0 / 20.0  # of the wavelength: spacing beyond which no grid is tried
SMOOTH = 24  # points along a sole on ground without a wavelength, beyond which no grid is tried
REFERENCE = 3.0  # times finer than the finest grid is what they are judged by
GROWTH = 1.12  # from one grid to the next

Layout = Literal["even", "edges"]


def enough_points(
    robot: AnyRobot | Foot,
    *,
    roughness: tuple[float, float] | Ground,
    law: Law | str = "distributed",
    tolerance: float = 0.02,
    load: float | None = None,
    layout: Layout = "even",
    limit: int = 4000,
    samples: int = 32,
    seed: int = 0,
) -> Enough:
    """How many testing points are enough for a foot on a ground.

    Args:
        robot: a robot, whose first foot with a sole represents all, or a foot.
        roughness: amplitude and wavelength of the ground's waves, m (a random surface with the root mean square
            of a sine of this amplitude), or a ``Ground``.
        law: a spring law; gains given to it are those of the contact points that the foot has now.
        tolerance: of each error, see :class:`GridRow`.
        load: on the foot, N; a robot's weight is shared by its feet if left out.
        layout: "even" spreads points so that each represents its own piece of sole; "edges" is the grid of
            ``load_robot(points=(nx, ny))``, for soles whose very edge must touch: it is stiffer against tilting, by ``2
            / (n - 1)`` for n points along a side.
        limit: points per foot beyond which nothing is tried.
        samples: placements of the sole.
        seed: of the waves and of the placements.
    """
    check_seed(seed)
    found = robot if isinstance(robot, Foot) else as_robot(robot)
    feet, load = _soles(found), _load(found, load)
    if not 0 < tolerance < 1:
        raise FootfallError(f"tolerance = {tolerance} but it must be between 0 and 1")
    if samples < 1 or limit < 4:
        raise FootfallError(f"samples = {samples}, limit = {limit}, but at least 1 placement and 4 points are needed")
    if layout not in ("even", "edges"):
        raise FootfallError(f"layout = '{layout}' but it must be 'even' or 'edges'")

    foot, law = feet[0], make_law(law)
    total = spring_law(law).stiffness(load / len(foot.points)) * len(foot.points)
    alpha = float(law.options().get("alpha", 1.0))
    rng = np.random.default_rng(seed)
    wavelength, where = None, str(roughness)
    if isinstance(roughness, Ground):
        heights: Heights = roughness.height
        places = scattered(roughness, samples, rng)
    else:
        amplitude, wavelength = map(float, roughness)
        heights = rough(amplitude, wavelength, rng)
        places = scattered(100.0 * wavelength, samples, rng)
        where = f"waves of {1e3 * amplitude:g} mm, {1e3 * wavelength:g} mm long"
    rows = _judged(foot, _grids(foot, wavelength, limit), layout, heights, places, total, alpha, load)
    chosen = _chosen(rows, tolerance)
    return Enough(
        grid=chosen.grid,
        count=chosen.count,
        spacing=chosen.spacing,
        points={one.name: grid_on_sole(one, *chosen.grid, layout=layout) for one in feet},
        tolerance=tolerance,
        wavelength=wavelength,
        table=tuple(rows),
        title=f"{found.name} under {law.name}, {where}, to {100 * tolerance:g} %",
    )


def _soles(found: Robot | Foot) -> list[Foot]:
    """The feet that have a sole."""
    feet = [foot for foot in (found.feet if isinstance(found, Robot) else (found,)) if len(foot.polygon) > 2]
    if not feet:
        raise RobotError(f"the feet of {found.name} are points or lines; only a sole can have too few testing points")
    return feet


def _load(found: Robot | Foot, load: float | None) -> float:
    """The load on a foot, N, given or the robot's weight shared by its feet."""
    if load is None:
        if isinstance(found, Foot):
            raise RobotError(f"give the load on foot '{found.name}', N")
        load = found.weight / len(found.feet)
    if not (math.isfinite(load) and load > 0):
        raise RobotError(f"load = {load} but it must be a positive number of N")
    return load


def _sides(foot: Foot) -> np.ndarray:
    return np.ptp(sole_frame(foot.polygon)[3], axis=0)


def _grids(foot: Foot, wavelength: float | None, limit: int) -> list[tuple[int, int]]:
    """Grids of nearly square cells, from 2 x 2 to the finest worth trying."""
    length, width = _sides(foot)
    most = SMOOTH if wavelength is None else max(SMOOTH, math.ceil(length / (FINEST * wavelength)))
    grids, size = [], 2.0
    while round(size) <= most:
        nx = round(size)
        grid = (nx, max(2, round(nx * width / length)))
        if grid[0] * grid[1] > limit:
            break
        if grid not in grids:
            grids.append(grid)
        size = max(size * GROWTH, size + 1.0)
    return grids


def _flat(foot: Foot, points: np.ndarray) -> np.ndarray:
    """(P, 2) points of a sole in its own frame, from the middle of what they cover."""
    origin, along, across, outline = sole_frame(foot.polygon)
    flat = np.column_stack([(points - origin) @ along, (points - origin) @ across])
    return flat - 0.5 * (outline.min(axis=0) + outline.max(axis=0))


def _judged(
    foot: Foot,
    grids: list[tuple[int, int]],
    layout: Layout,
    heights: Heights,
    places: Placements,
    total: float,
    alpha: float,
    load: float,
) -> list[GridRow]:
    """Every grid against a much finer one in its equilibrium."""

    def pressed(grid: tuple[int, int], layout: Layout) -> Press:
        return put_down(_flat(foot, grid_on_sole(foot, *grid, layout=layout)), heights, places, total, alpha)

    sides = _sides(foot)
    nx, ny = grids[-1]
    fine = pressed((math.ceil(REFERENCE * nx), math.ceil(REFERENCE * ny)), "even")
    pose = equilibrium(fine, load, 0.5 * sides * places.load_at)
    true = resultant(fine, pose)
    rows = []
    for grid in grids:
        press = pressed(grid, layout)
        got = resultant(press, pose)
        centre = np.nan_to_num((got.centre - true.centre) / sides, nan=1.0)  # a sole that does not touch has none
        errors = ((got.force - true.force) / load, centre, got.tilt_stiffness / true.tilt_stiffness - 1.0)
        force, middle, tilt = (float(np.sqrt(np.mean(error**2, axis=0)).max()) for error in errors)
        rows.append(GridRow(grid, len(press.points), _spacing(sides, grid, layout), force, middle, tilt))
    return rows


def _spacing(sides: np.ndarray, grid: tuple[int, int], layout: Layout) -> float:
    """The larger of the distances between neighbours along both sides, m."""
    steps = [n - 1.0 if layout == "edges" else math.sqrt(n * n - 1.0) for n in grid]
    return float((sides / steps).max())


def _chosen(rows: list[GridRow], tolerance: float) -> GridRow:
    """The first row from which on all are good: a single good one among bad ones is luck."""
    good = len(rows)
    while good and rows[good - 1].worst <= tolerance:
        good -= 1
    if good == len(rows):
        last = rows[-1]
        raise FootfallError(
            f"{last.grid[0]} x {last.grid[1]} points are not enough for {100 * tolerance:g} %: force off by "
            f"{100 * last.force:.2g} %, centre of pressure by {100 * last.centre:.2g} %, tilt stiffness by "
            f"{100 * last.tilt:.2g} %; allow more (limit=) or a larger tolerance"
        )
    return rows[good]
