"""A rigid sole of many points pressed onto rough ground: its equilibrium pose, and its resultant in a given pose.

Sole frame: x along the longer side, y across, m. S placements, P points; vectorised over both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from footfall.compiled import kernel
from footfall.errors import FootfallError, GroundError
from footfall.ground import Ground

#: Height of the ground (m) at world x and y (m), arrays of one shape.
Heights = Callable[[np.ndarray, np.ndarray], np.ndarray]

WAVES = 24
ECCENTRIC = 0.5  # how far from the middle the load stands at most, in halves of the sides
ROUNDS = 200
BLOCK = 256  # places whose waves are summed together: they stay in the fastest memory
#: Taylor's series of sin(pi h), from h to h^21: exact to rounding up to a quarter turn.
SERIES = tuple((-1) ** n * math.pi ** (2 * n + 1) / math.factorial(2 * n + 1) for n in range(11))


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
    """What a sole feels in a pose: (S,) N, (S, 2) m, (S, 2) N m/rad about y and x."""

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
    waves = np.column_stack([np.cos(direction) / wavelength, np.sin(direction) / wavelength, phase / (2.0 * math.pi)])

    def heights(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        total = np.empty(np.shape(x))
        _sum_of_waves(waves, np.ravel(x), np.ravel(y), total.reshape(-1))
        return amplitude / math.sqrt(WAVES) * total

    return heights


@kernel
def _sum_of_waves(waves: np.ndarray, x: np.ndarray, y: np.ndarray, total: np.ndarray) -> None:
    """Sum of sines at places (N,) m, of waves (W, 3): turns per m along x and y, and turns at the origin.

    sin(2 pi t) = 1 - 2 sin^2(pi (t - 1/4)): no branch, so that several places are computed at once.
    """
    for first in range(0, len(x), BLOCK):
        here, there, found = x[first : first + BLOCK], y[first : first + BLOCK], total[first : first + BLOCK]
        found[:] = 0.0
        for w in range(len(waves)):
            along, across, shift = waves[w, 0], waves[w, 1], waves[w, 2] - 0.25
            for i in range(len(found)):
                turns = along * here[i] + across * there[i] + shift
                turns -= np.floor(turns + 0.5)
                square, sine = turns * turns, SERIES[-1]
                for n in range(len(SERIES) - 2, -1, -1):
                    sine = sine * square + SERIES[n]
                sine *= turns
                found[i] += 1.0 - 2.0 * sine * sine


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
    """What the sole feels in these poses (S, 3); its centre of pressure is NaN where it does not touch."""
    depths = press.depths(pose)
    forces = press.forces(depths)
    slopes = press.slopes(depths, forces)
    force = forces.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = forces @ press.points / force[:, None]
    return Resultant(force, centre, slopes @ press.points**2)
