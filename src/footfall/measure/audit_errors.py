"""What an audit looks at: the errors a contact law can make, each as a number per sample.

Every quantity is a function of a recording that gives (T,) numbers >= 0, the worst point or foot of each sample,
NaN where there is nothing to judge. None asks which law was at work, so that laws can be compared.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from footfall.measure.common import (
    contact_bodies,
    feet,
    flat,
    normal_force,
    once,
    reference_plane,
    runs,
    tangential,
    threshold,
)
from footfall.measure.pressure import cop, overall_cop
from footfall.measure.support import margins
from footfall.solve.contacts import OPEN, SLIDE

if TYPE_CHECKING:
    from footfall.record import Record


class Scales(NamedTuple):
    """What errors are compared with."""

    weight: float  # N
    size: float  # m, the longest side of the box around the robot at home
    energy: float  # J, weight times size
    speed: float  # m/s, sqrt(g size): that of a fall over half its size


@once
def scales(rec: Record) -> Scales:
    """Weight, size, energy and speed of the robot; 1 N where there is no gravity."""
    model = rec.robot.model
    data = mujoco.MjData(model)
    data.qpos[:] = rec.robot.home
    mujoco.mj_kinematics(model, data)
    moving = np.flatnonzero((model.body_weldid[model.geom_bodyid] != 0) & (model.geom_rbound > 0))
    at, reach = data.geom_xpos[moving], model.geom_rbound[moving, None]
    box = np.abs(data.geom_xmat[moving].reshape(-1, 3, 3)) @ model.geom_aabb[moving, 3:, None]
    reach = np.minimum(reach, box[..., 0])
    corners = np.concatenate([at - reach, at + reach, rec.position[:1].reshape(-1, 3), data.xpos[1:]])
    size = max(float(np.ptp(corners, axis=0).max()), 1e-3)
    weight = rec.robot.weight or 1.0
    gravity = weight / rec.robot.mass if rec.robot.mass else 9.81
    return Scales(weight, size, weight * size, math.sqrt(gravity * size))


# ---- contact -----------------------------------------------------------------------------------------------


def gap_times_force(rec: Record) -> np.ndarray:
    """(T,) J, normal force times the gap that is left when the step is over, of points above the ground.

    Laws that work on velocities push in the step in which a point arrives, so the gap that counts is the
    smallest of now, of one step ahead at the present speed, and of the next sample.
    """
    ahead = rec.gap + rec.dt * np.einsum("tpi,tpi->tp", rec.velocity, rec.normal)
    gap = np.minimum(rec.gap, ahead)
    gap[:-1] = np.minimum(gap[:-1], rec.gap[1:])
    return _worst(np.maximum(gap, 0.0) * np.maximum(normal_force(rec), 0.0))


def force_on_open_points(rec: Record) -> np.ndarray:
    """(T,) N, force on points that the law calls open."""
    return _worst(np.where(rec.mode == OPEN, np.linalg.norm(rec.force, axis=-1), 0.0))


def pull(rec: Record) -> np.ndarray:
    """(T,) N, force that holds a point down."""
    return _worst(np.maximum(-normal_force(rec), 0.0))


def depth(rec: Record) -> np.ndarray:
    """(T,) m, inside the ground."""
    return _worst(np.maximum(-rec.gap, 0.0))


# ---- friction ----------------------------------------------------------------------------------------------


def outside_the_cone(rec: Record) -> np.ndarray:
    """(T,) N, tangential force beyond friction times normal force: the dynamic coefficient where a point slides,
    the static one where it sticks or may have stuck between two samples; NaN where the normal turns under a mean.
    """
    ground = rec.ground
    static, dynamic = ground.friction_at(rec.position)
    friction = np.where((rec.mode == SLIDE) & rec.every_step, dynamic, static)
    size = np.linalg.norm(tangential(rec, rec.force), axis=-1)
    excess = np.maximum(size - friction * np.maximum(normal_force(rec), 0.0), 0.0)
    return np.where(turning(rec), np.nan, _worst(np.where(rec.mode == OPEN, 0.0, excess)))


def turning(rec: Record) -> np.ndarray:
    """(T,) samples whose force is a mean over more than one step, in which the normal of a closed point turns."""
    found = np.zeros(len(rec), dtype=bool)
    if not flat(rec) and (rec.law.event_driven or not rec.every_step):
        turned = np.abs(np.diff(rec.normal, axis=0)).max(axis=2, initial=0.0) > 1e-9
        found[:-1] = (turned & (rec.mode[:-1] != OPEN)).any(axis=1)
    return found


def friction_angle(rec: Record) -> np.ndarray:
    """(T,) degrees between friction and what opposes the slip, of sliding points; NaN where none slides.

    Explicit laws oppose the slip at the beginning of the step and implicit ones that at its end: the smaller
    angle counts. Points that slide slower than 1e-3 of the robot's speed at either (such as those that come to rest
    where they land), or carry less than 1e-3 of its weight as friction, have no direction worth judging.
    """
    own = scales(rec)
    force, velocity = tangential(rec, rec.force), tangential(rec, rec.velocity)
    size = np.linalg.norm(force, axis=-1)
    angle = _angle(force, -velocity)
    angle[:-1] = np.minimum(angle[:-1], _angle(force[:-1], -velocity[1:]))
    fast = np.linalg.norm(velocity, axis=-1) > 1e-3 * own.speed
    slides = (rec.mode == SLIDE) & fast & (size > 1e-3 * own.weight)
    slides[:-1] &= fast[1:]
    worst = np.where(slides, angle, -1.0).max(axis=1, initial=-1.0)
    return np.where(slides.any(axis=1), worst, np.nan)


# ---- energy ------------------------------------------------------------------------------------------------


def normal_energy(rec: Record) -> np.ndarray:
    """(T,) J that the ground's normal forces gave out beyond what they took in, see ``energy_created``."""
    return energy_created(rec, normal_force(rec)[..., None] * rec.normal)


def friction_energy(rec: Record) -> np.ndarray:
    """(T,) J that friction gave out beyond what it took in, see ``energy_created``."""
    return energy_created(rec, tangential(rec, rec.force))


def energy_created(rec: Record, force: np.ndarray) -> np.ndarray:
    """(T,) J that forces (T, P, 3) of the ground created, all feet together.

    A foot above the ground has stored nothing in it. So however elastic the ground is, the work
    it has done on the foot since touch-down must not be positive, at no time of the stance: what it gives back
    it took before. Where it is positive, that much was created. Normal forces and friction are asked apart, lest
    the heat of a slide pay for a jump; feet, and not points, because laws may spread a foot's wrench over its
    points as they like. A foot that stands on the ground already when the recording begins may have stored
    force times depth, which bounds a spring's energy.

    Work is that of ``measure.energy``: the force of row k with the mean of the velocities of rows k and k + 1.
    """
    velocity = 0.5 * (rec.velocity[:-1] + rec.velocity[1:])
    step = np.einsum("tpi,tpi->tp", force[:-1], velocity) * np.diff(rec.time)[:, None]
    found = np.zeros(len(rec))
    for points in contact_bodies(rec):
        work = step[:, points].sum(axis=1)
        touching = (rec.gap[:, points] <= 0.0) | (rec.force[:, points] != 0.0).any(axis=-1)
        for a, b in runs(touching.any(axis=1)):
            stored = 0.0
            if a == 0:
                size = np.linalg.norm(force[0, points], axis=-1)
                stored = float(size @ np.maximum(-rec.gap[0, points], 0.0))
            end = min(b, len(rec) - 1)
            found[a + 1 : end + 1] += np.maximum(np.cumsum(work[a:end]) - stored, 0.0)
    return found


# ---- centres of pressure -----------------------------------------------------------------------------------


def cop_outside(rec: Record) -> np.ndarray:
    """(T,) m, distance of the worst foot's centre of pressure from the hull of its loaded points, seen from above."""
    worst, centre = np.zeros(len(rec)), cop(rec)
    for foot, points in enumerate(feet(rec)):
        place = np.ascontiguousarray(rec.position[:, points, :2])
        count = place.shape[1]
        margin = np.empty(len(rec))
        loaded = normal_force(rec)[:, points] > 0.0
        scratch = np.zeros((count, 2)), np.zeros((2, count + 1), dtype=np.int64)
        margins(place, loaded, np.ascontiguousarray(centre[:, foot, :2]), *scratch, margin)
        worst = np.fmax(worst, -margin)
    return worst


def cop_disagreement(rec: Record) -> np.ndarray:
    """(T,) m between the overall centre of pressure and the mean, weighted by load, of where each point's force
    pierces its plane.

    For points in the plane that is where they are. On level ground and slopes only: elsewhere the loads are not
    parallel, and such a mean means nothing.
    """
    if not flat(rec):
        return np.full(len(rec), np.nan)
    normal, distance = reference_plane(rec)
    load = normal_force(rec)
    height = np.einsum("tpi,ti->tp", rec.position, normal) - distance[:, None]
    moment = np.einsum("tp,tpi->ti", load, rec.position) - np.einsum("tp,tpi->ti", height, rec.force)
    total = load.sum(axis=1)
    mean = moment / np.where(total > threshold(rec), total, np.nan)[:, None]
    return np.linalg.norm(overall_cop(rec) - mean, axis=-1)


# ---- the solver --------------------------------------------------------------------------------------------


def unsolved(rec: Record) -> np.ndarray:
    """(T,) the part of all samples up to here whose forces the law could not solve for, or that are no numbers."""
    bad = (rec.status != 0) | ~np.isfinite(rec.force).all(axis=(1, 2)) | ~np.isfinite(rec.qvel).all(axis=1)
    return np.cumsum(bad) / max(1, len(rec))


def _worst(values: np.ndarray) -> np.ndarray:
    return values.max(axis=1, initial=0.0)


def _angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), np.einsum("tpi,tpi->tp", a, b)))
