"""Single impacts that restitution and friction are fitted to: velocities measured before and after each."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from footfall.errors import SolveError, StudyError
from footfall.files.delimited import read_columns
from footfall.measure.common import once
from footfall.measure.trajectory import velocity_error
from footfall.simulation import Simulation

if TYPE_CHECKING:
    from footfall.solve.impacts import Collision

#: What ``follow_impact`` measures, with its weight in the loss.
IMPACT_WEIGHTS = {"velocity_energy": 1.0}
#: Columns of a table of planar impacts, before and after; the vertical one may be called z or y.
_WHEN = {"before": ("before", "pre", "minus", "0", "in"), "after": ("after", "post", "plus", "1", "out")}


@dataclass(frozen=True, eq=False)
class ImpactTrial:
    """One impact of a body or robot at one point.

    Attributes:
        name: such as "impact 7".
        mass_matrix: (nv, nv).
        jacobian: (3, nv) of the point that touches: two tangents and the normal out of the ground.
        before, after: (nv,) measured velocities.
        rule: of restitution, ``"newton"``, ``"poisson"`` or ``"energetic"``, see ``footfall.solve.impact``.
    """

    name: str
    mass_matrix: np.ndarray
    jacobian: np.ndarray
    before: np.ndarray
    after: np.ndarray
    rule: str = "newton"


def follow_impact(sim: Simulation, trial: ImpactTrial) -> dict[str, float]:
    """Error of the velocity after an impact in the norm of the kinetic energy, relative to that before it."""
    if not hasattr(sim.law, "restitution"):
        raise StudyError(f"{sim.law.name} has no restitution to fit to impacts: take time-stepping")
    from footfall.solve.impacts import collide  # on first use, with SciPy

    try:
        found = collide(_collision(trial), sim.ground.dynamic_friction, sim.law.restitution, trial.rule)
    except SolveError as error:
        raise StudyError(f"{trial.name}: {error}") from error
    return {"velocity_energy": velocity_error(found.velocity, trial.after, trial.mass_matrix, trial.before)}


@once
def _collision(trial: ImpactTrial) -> Collision:
    """Of a trial, which a fit follows thousands of times."""
    from footfall.solve.impacts import collision

    return collision(trial.mass_matrix, trial.jacobian, trial.before)


def planar_impact(
    arm: Sequence[float],
    before: Sequence[float],
    after: Sequence[float],
    *,
    mass: float,
    inertia: float,
    rule: str = "newton",
    name: str = "impact",
) -> ImpactTrial:
    """An impact in a vertical plane: ``arm`` (x, z) from centre to contact, m; velocities (x, z in m/s, spin in rad/s).

    The spin turns x towards z, so that the contact moves with (vx - w z, vz + w x).
    """
    x, z = (float(one) for one in arm)
    # Sideways there is a mass too, at rest: a contact has two tangents.
    jacobian = np.array([[1.0, 0.0, 0.0, -z], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, x]])
    pre, post = (np.array([v[0], 0.0, v[1], v[2]], dtype=float) for v in (before, after))
    return ImpactTrial(name, np.diag([mass, mass, mass, inertia]), jacobian, pre, post, rule)


def ellipse_arm(semi_axes: Sequence[float], angle: float) -> tuple[float, float]:
    """(x, z) from the centre to the lowest point of an ellipse, m, turned by ``angle`` (rad, x towards z)."""
    a, b = (float(one) for one in semi_axes)
    s, c = float(np.sin(angle)), float(np.cos(angle))
    down = np.array([-s, -c])  # of the ground, in the ellipse's axes
    own = np.array([a * a * down[0], b * b * down[1]]) / np.hypot(a * down[0], b * down[1])
    return c * own[0] - s * own[1], s * own[0] + c * own[1]


def load_impacts(
    path: str | os.PathLike[str],
    *,
    mass: float,
    inertia: float,
    semi_axes: Sequence[float] | None = None,
    rule: str = "newton",
) -> list[ImpactTrial]:
    """Planar impacts of a table, one a row: vx_before, vz_before, w_before, vx_after, vz_after, w_after and rx, rz.

    ``rx``, ``rz``, m, lead from the centre of mass to the contact; of an ellipse with ``semi_axes`` (m, along its own x
    and z) a column ``angle`` does. The vertical may be called y instead of z, the spin omega; pre and post are before
    and after. Impacts that part before they touch are refused, with their row.
    """
    source = Path(path).expanduser()
    try:
        table = read_columns(source)
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read impacts from '{source}': {error}") from error
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): values for name, values in table.values.items()}

    def column(*names: str) -> np.ndarray:
        found = next((plain[name] for name in names if name in plain), None)
        if found is None:
            raise StudyError(f"{source} has no column '{names[0]}'; its columns are {', '.join(table.values)}")
        return found

    def velocity(when: str) -> np.ndarray:
        parts = (("vx",), ("vz", "vy"), ("w", "omega", "wy", "wz", "spin", "thetadot", "dtheta"))
        return np.column_stack([column(*(part + end for part in own for end in _WHEN[when])) for own in parts])

    before, after = velocity("before"), velocity("after")
    if semi_axes is not None:
        arms = np.array([ellipse_arm(semi_axes, angle) for angle in column("angle", "theta", "th", "phi")])
    else:
        arms = np.column_stack([column("rx", "cx", "contactx"), column("rz", "ry", "cz", "cy", "contactz", "contacty")])
    found = []
    for k, (arm, pre, post) in enumerate(zip(arms, before, after, strict=True), start=1):
        if not np.isfinite([*arm, *pre, *post]).all():
            raise StudyError(f"{source}: row {k} has a gap")
        if pre[1] + pre[2] * arm[0] >= 0.0:
            raise StudyError(
                f"{source}: in row {k} the contact leaves the ground before the impact, with "
                f"{pre[1] + pre[2] * arm[0]:.3g} m/s: is the spin's sign that of x towards z, and z up?"
            )
        found.append(planar_impact(arm, pre, post, mass=mass, inertia=inertia, rule=rule, name=f"impact {k}"))
    return found
