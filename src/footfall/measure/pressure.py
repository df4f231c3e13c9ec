"""Centres of pressure, from the contact forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footfall.measure.common import cross, feet, load_centre, pierce, reference_plane, threshold

if TYPE_CHECKING:
    from footfall.record import Record


def cop(rec: Record) -> np.ndarray:
    """(T, feet, 3) m, world frame: centre of pressure of each foot, NaN where the foot carries no load.

    The mean of the foot's contact points, weighted by the force on each along the ground's normal there. On a
    plane this is the point about which the foot's pressures have no moment; on uneven ground, where the
    points do not lie in one plane, it is their load centre.
    """
    return np.stack([load_centre(rec, points)[0] for points in feet(rec)], axis=1)


def overall_cop(rec: Record) -> np.ndarray:
    """(T, 3) m, world frame: centre of pressure of all feet together, NaN in flight.

    The point of the reference plane (see ``reference_plane``: the ground where it is a plane) about which all
    contact forces have no moment in that plane. So it is what the zero moment point must be when nothing but
    the ground and gravity acts on the robot. It differs from the load-weighted mean of the feet's centres
    only where points lie off that plane: by penetration times friction on a plane, by more on stairs.
    """
    load = load_centre(rec, slice(None))[2]
    moment = cross(rec.position, rec.force).sum(axis=1)
    found = pierce(rec.total_force, moment, *reference_plane(rec))
    found[~(load > threshold(rec))] = np.nan
    return found


def free_moment(rec: Record) -> np.ndarray:
    """(T, feet) N m: moment of each foot's forces about its centre of pressure, along the ground's normal.

    Positive turns the robot counter-clockwise seen from above; NaN where the foot carries no load.
    """
    found = []
    for points in feet(rec):
        centre, normal, _ = load_centre(rec, points)
        arm = rec.position[:, points] - centre[:, None]
        found.append(np.einsum("tpi,ti->t", cross(arm, rec.force[:, points]), normal))
    return np.stack(found, axis=1)
