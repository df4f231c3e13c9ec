"""The motion of the robot as a whole: centre of mass, momentum, and the force that the motion requires."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from footfall.engine.replay import MOTION, States, replay
from footfall.measure.common import cross, once
from footfall.robot.model import moving_bodies
from footfall.standing import scratch_data

if TYPE_CHECKING:
    from footfall.record import Record


@dataclass(frozen=True, eq=False)
class Motion:
    """How a robot moves as a whole, T samples, world frame.

    Attributes:
        com: (T, 3) m, centre of mass.
        velocity: (T, 3) m/s, of the centre of mass.
        momentum: (T, 3) kg m/s.
        angular_momentum: (T, 3) kg m2/s, about the centre of mass.
        force: (T, 3) N, sum of the external forces, without gravity, that this motion requires.
        moment: (T, 3) N m, their moment about the world's origin.
    """

    com: np.ndarray
    velocity: np.ndarray
    momentum: np.ndarray
    angular_momentum: np.ndarray
    force: np.ndarray
    moment: np.ndarray


@once
def momentum(rec: Record) -> Motion:
    """Centre of mass and momenta of a recording, and the force that its motion requires; evaluated once.

    The force follows from the accelerations ``(qvel[k+1] - qvel[k]) / (time[k+1] - time[k])`` by Newton and
    Euler for all bodies; the last row repeats the last acceleration. With semi-implicit Euler and every step
    recorded that is the acceleration of the step itself, so that force and moment match what acted in row k
    to rounding; with Runge-Kutta or fewer samples they are means over the interval.

    Limitations: the force includes everything that acts from outside, also pushes and joints that tie the root to the
    world (those of a planar robot hold it in its plane).
    """
    model, count = rec.robot.model, len(rec)
    data = scratch_data(model)
    moving = moving_bodies(model)
    tops = np.flatnonzero(moving & ~moving[model.body_parentid])
    roots = model.body_rootid[tops]
    # The forces that give all bodies their acceleration, less gravity, are summed from the tips to the root.
    every, velocity, spin, internal = replay(
        data,
        MOTION,
        States(rec.qpos, rec.qvel, generalised_acceleration(rec)),
        (data.subtree_com, data.subtree_linvel[0], data.subtree_angmom[0], data.cfrc_int),
    )
    centres = every.reshape(count, model.nbody, 3)
    centre, about = centres[:, 0], centres[:, roots]
    wrench = internal.reshape(count, model.nbody, 6)[:, tops]
    linear = velocity * model.body_subtreemass[0]
    # MuJoCo also counts bodies fixed to the world.
    fixed = np.flatnonzero(~moving & (model.body_mass > 0))
    mass = rec.robot.mass
    com = (centre * model.body_subtreemass[0] - model.body_mass[fixed] @ data.xipos[fixed]) / mass
    return Motion(
        com=com,
        velocity=linear / mass,
        momentum=linear,
        angular_momentum=spin + cross(centre - com, linear),
        force=wrench[..., 3:].sum(axis=1),
        moment=(wrench[..., :3] + cross(about, wrench[..., 3:])).sum(axis=1),
    )


def generalised_acceleration(rec: Record) -> np.ndarray:
    """(T, nv) m/s2 or rad/s2, forward differences of ``qvel``; the last row repeats, one sample has NaN."""
    if len(rec) < 2:
        return np.full(rec.qvel.shape, np.nan)
    difference = np.diff(rec.qvel, axis=0) / np.diff(rec.time)[:, None]
    return np.concatenate([difference, difference[-1:]])


def com_height(rec: Record) -> np.ndarray:
    """(T,) m, height of the centre of mass above the ground below it."""
    com = momentum(rec).com
    return com[:, 2] - rec.ground.height(com[:, 0], com[:, 1])
