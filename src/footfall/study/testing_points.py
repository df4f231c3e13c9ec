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

Sole frame: x along the longer side, y across, m. S placements, P points; vectorised over both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from footfall.arguments import public
from footfall.contact import law as make_law
from footfall.contact.base import Law
from footfall.contact.springs.material import spring_law
from footfall.errors import FootfallError, GroundError, RobotError
from footfall.given_numbers import Accuracy, Bounds, Count, Positive, Whole
from footfall.ground import Ground
from footfall.robot import Foot, Robot
from footfall.robot.feet import grid_on_sole, sole_frame
from footfall.robot.load import AnyRobot, as_robot
from footfall.show.style import BLUE, GREEN, GREY, VERMILION, Figure, new_figure

#: What is drawn of each grid: its name, the field of a row, colour and marker.
CURVES = (
    ("resultant force", "force", BLUE, "o"),
    ("centre of pressure", "centre", VERMILION, "s"),
    ("tilt stiffness", "tilt", GREEN, "^"),
)


@dataclass(frozen=True)
class GridRow:
    """One grid and its errors, root mean square over all placements.

    ``force`` is relative to the load, ``centre`` (of pressure) to the sole's sides, ``tilt`` (stiffness) to itself.
    """

    grid: tuple[int, int]
    count: int  # points per foot
    spacing: float  # m, the larger one
    force: float
    centre: float
    tilt: float

    @property
    def worst(self) -> float:
        return max(self.force, self.centre, self.tilt)


@public
@dataclass(frozen=True, repr=False)
class Enough:
    """The smallest grid from which on every finer one is within the tolerance, and all that were tried."""

    grid: tuple[int, int]
    count: int
    spacing: float  # m
    points: dict[str, np.ndarray]  # as Robot.with_points takes them
    tolerance: float
    wavelength: float | None  # m
    table: tuple[GridRow, ...]
    title: str

    def __str__(self) -> str:
        lines = [f"{self.title}: {self.grid[0]} x {self.grid[1]} points per foot, {1e3 * self.spacing:.3g} mm apart"]
        lines.append(f"{'grid':>9} {'points':>6} {'spacing':>9} {'force':>8} {'centre':>8} {'tilt':>8}")
        for row in self.table:
            name = f"{row.grid[0]} x {row.grid[1]}"
            errors = " ".join(f"{100 * error:7.2f}%" for error in (row.force, row.centre, row.tilt))
            mark = "  <- enough" if row.grid == self.grid else ""
            lines.append(f"{name:>9} {row.count:6d} {1e3 * row.spacing:6.2f} mm {errors}{mark}")
        return "\n".join(lines)

    __repr__ = __str__  # what prompts and notebooks show

    def plot(self) -> Figure:
        """Errors against the number of points, with the tolerance and the grid that is enough."""
        rows, count = self.table, [row.count for row in self.table]
        apart = f"{1e3 * self.spacing:.3g} mm apart"
        if self.wavelength is not None:
            apart += f", {self.spacing / self.wavelength:.2g} of the wavelength"
        with new_figure(3.4) as figure:
            ax = figure.subplots()
            for name, what, color, marker in CURVES:
                shown = [100 * max(getattr(row, what), 1e-6) for row in rows]
                ax.plot(count, shown, color=color, marker=marker, markersize=3.5, label=name)
            dashes: Any = {"color": GREY, "linewidth": 0.8}
            ax.axhline(100 * self.tolerance, linestyle="--", label=f"tolerance {100 * self.tolerance:g} %", **dashes)
            ax.axvline(self.count, linestyle=":", label=f"enough: {self.grid[0]} x {self.grid[1]}, {apart}", **dashes)
            ax.set(xscale="log", yscale="log", xlabel="testing points per foot", ylabel="error (%)")
            ax.margins(x=0.03)
            ax.legend(loc="lower left")
            ax.set_title(self.title, fontweight="bold")
        return figure


#: Height of the ground (m) at world x and y (m), arrays of one shape.
Heights = Callable[[np.ndarray, np.ndarray], np.ndarray]

WAVES = 24
ECCENTRIC = 0.5  # largest distance of the load from the middle, in halves of the sides
ROUNDS = 200


class Placements(NamedTuple):
    """Where a sole is put down, (S, 2) m and (S,) rad, and where its load stands, (S, 2) in halves of its sides."""

    at: np.ndarray
    heading: np.ndarray
    load_at: np.ndarray


class Press(NamedTuple):
    """The points of a sole over the ground: their places (P, 2) m, ground heights (S, P) m, and their spring."""

    points: np.ndarray
    heights: np.ndarray
    stiffness: float  # N/m^alpha of each point
    alpha: float

    def depths(self, pose: np.ndarray) -> np.ndarray:
        """(S, P) m, never negative, for poses (S, 3): depth of the middle m, slopes along x and y."""
        return np.maximum(0.0, pose[:, :1] + pose[:, 1:] @ self.points.T + self.heights)

    def forces(self, depths: np.ndarray) -> np.ndarray:
        return self.stiffness * depths**self.alpha

    def slopes(self, depths: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """(S, P) N/m, 0 where a point does not touch."""
        return self.alpha * np.divide(forces, depths, out=np.zeros_like(depths), where=depths > 0.0)


class Resultant(NamedTuple):
    """Reaction of the ground on a sole in a pose: (S,) N, (S, 2) m, (S, 2) N m/rad about y and x."""

    force: np.ndarray
    centre: np.ndarray
    tilt_stiffness: np.ndarray


def rough(amplitude: float, wavelength: float, rng: np.random.Generator) -> Heights:
    """Waves of one length from all directions, with the root mean square of a sine of this amplitude."""
    for name, value in (("amplitude", amplitude), ("wavelength", wavelength)):
        if not (math.isfinite(value) and value >= 0.0) or (name == "wavelength" and value == 0.0):
            raise GroundError(f"the {name} of a roughness must be a positive number of m, got {value}")
    direction = math.pi * (np.arange(WAVES) + rng.uniform()) / WAVES  # the other way round is a matter of phase
    phase = rng.uniform(0.0, 2.0 * math.pi, WAVES)
    turns = 2.0 * math.pi / wavelength * np.column_stack([np.cos(direction), np.sin(direction)])

    def heights(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        total = sum(np.sin(a * x + b * y + c) for (a, b), c in zip(turns, phase, strict=True))
        return amplitude / math.sqrt(WAVES) * np.asarray(total)

    return heights


def scattered(ground: Ground | float, samples: int, rng: np.random.Generator) -> Placements:
    """Random places and headings: over a height field; on other grounds within 1 m of the origin, or this distance."""
    options = dict(ground.options) if isinstance(ground, Ground) else {}
    reach = ground if isinstance(ground, float) else 1.0
    half = 0.4 * np.array(options["size"]) if "size" in options else np.full(2, reach)
    at = np.array(options.get("center", (0.0, 0.0))) + half * rng.uniform(-1.0, 1.0, (samples, 2))
    heading = rng.uniform(0.0, 2.0 * math.pi, samples)
    return Placements(at, heading, rng.uniform(-ECCENTRIC, ECCENTRIC, (samples, 2)))


def put_down(points: np.ndarray, heights: Heights, placements: Placements, total: float, alpha: float) -> Press:
    """A sole of these points (P, 2), which share a ``total`` stiffness, over the ground at these places."""
    cos, sin = np.cos(placements.heading)[:, None], np.sin(placements.heading)[:, None]
    x = placements.at[:, :1] + cos * points[:, 0] - sin * points[:, 1]
    y = placements.at[:, 1:] + sin * points[:, 0] + cos * points[:, 1]
    return Press(points, heights(x, y), total / len(points), alpha)


def equilibrium(press: Press, load: float, at: np.ndarray) -> np.ndarray:
    """(S, 3) poses in which the sole carries ``load`` (N) at these points (S, 2) of it, m.

    The potential of the springs less that of the load is convex in the pose, so a descending Newton method finds its
    only minimum.
    """
    scale = np.concatenate([[1.0], 1.0 / np.abs(press.points).max(axis=0)])
    basis = np.column_stack([np.ones(len(press.points)), press.points]) * scale
    products = (basis[:, :, None] * basis[:, None, :]).reshape(-1, 9)
    flat = (load / (press.stiffness * len(press.points))) ** (1.0 / press.alpha)
    pose = np.zeros((len(press.heights), 3))
    pose[:, 0] = flat - press.heights.mean(axis=1)
    wanted = load * np.column_stack([np.ones(len(at)), at]) * scale

    def evaluated(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Depths, forces and potential."""
        depths = press.depths(pose)
        forces = press.forces(depths)
        stored = (forces * depths).sum(axis=1) / (press.alpha + 1.0)
        return depths, forces, stored - (wanted / scale * pose).sum(axis=1)

    depths, forces, energy = evaluated(pose)
    for _ in range(ROUNDS):
        miss = forces @ basis - wanted
        if np.abs(miss).max() < 1e-8 * load:
            return pose
        curvature = (press.slopes(depths, forces) @ products).reshape(-1, 3, 3)
        curvature += 1e-9 * load / flat * np.eye(3)
        step = -np.linalg.solve(curvature, miss[..., None])[..., 0]
        downhill = (miss * step).sum(axis=1)
        length = np.ones((len(pose), 1))
        while True:
            trial = pose + length * step * scale
            depths, forces, found = evaluated(trial)
            climbs = found > energy + 1e-4 * length[:, 0] * downhill + 1e-13 * load * flat
            if not climbs.any() or length.min() < 1e-12:
                break
            length[climbs] *= 0.5
        pose, energy = trial, found
    raise FootfallError("no equilibrium of the sole on this ground was found: is it rougher than the sole is large?")


def resultant(press: Press, pose: np.ndarray) -> Resultant:
    """The reaction in these poses (S, 3); the centre of pressure is NaN where the sole does not touch."""
    depths = press.depths(pose)
    forces = press.forces(depths)
    slopes = press.slopes(depths, forces)
    force = forces.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = forces @ press.points / force[:, None]
    return Resultant(force, centre, slopes @ press.points**2)


FINEST = 1.0 / 20.0  # smallest spacing of a grid that is tried, as a share of the wavelength
SMOOTH = 24  # most points along a sole of a grid that is tried, on ground without a wavelength
REFERENCE = 3.0  # ratio of the finest grid's spacing to that of the reference
GROWTH = 1.12  # factor on the points along a side from one grid to the next

Layout = Literal["even", "edges"]


@public
def enough_points(
    robot: AnyRobot | Foot,
    *,
    roughness: tuple[float, float] | Ground,
    law: Law | str = "distributed",
    tolerance: Accuracy = 0.02,
    load: Positive | None = None,
    layout: Layout = "even",
    limit: Annotated[int, Bounds(4)] = 4000,
    samples: Count = 32,
    seed: Whole = 0,
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
    found = robot if isinstance(robot, Foot) else as_robot(robot)
    feet, load = _soles(found), _load(found, load)
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

    def pressed(grid: tuple[int, int], layout: Layout = layout) -> Press:
        return put_down(_flat(foot, grid_on_sole(foot, *grid, layout=layout)), heights, places, total, alpha)

    grids, sides = _grids(foot, wavelength, limit), _sides(foot)
    fine = pressed((math.ceil(REFERENCE * grids[-1][0]), math.ceil(REFERENCE * grids[-1][1])), "even")
    pose = equilibrium(fine, load, 0.5 * sides * places.load_at)
    true = resultant(fine, pose)
    rows = []
    for grid in grids:
        press = pressed(grid)
        errors = _errors(resultant(press, pose), true, load, sides)
        rows.append(GridRow(grid, len(press.points), _spacing(sides, grid, layout), *errors))
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


def _errors(got: Resultant, true: Resultant, load: float, sides: np.ndarray) -> list[float]:
    """Root mean squares over all placements: of force, centre of pressure and tilt stiffness, see ``GridRow``."""
    centre = np.nan_to_num((got.centre - true.centre) / sides, nan=1.0)  # a sole that does not touch has none
    errors = ((got.force - true.force) / load, centre, got.tilt_stiffness / true.tilt_stiffness - 1.0)
    return [float(np.sqrt(np.mean(error**2, axis=0)).max()) for error in errors]


def _spacing(sides: np.ndarray, grid: tuple[int, int], layout: Layout) -> float:
    """The larger of the distances between neighbours along both sides, m."""
    steps = [n - 1.0 if layout == "edges" else math.sqrt(n * n - 1.0) for n in grid]
    return float((sides / steps).max())


def _chosen(rows: list[GridRow], tolerance: float) -> GridRow:
    """The first row from which all later ones are within the tolerance: a single one may be by chance."""
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
