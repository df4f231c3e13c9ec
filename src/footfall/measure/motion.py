"""The motion of the robot as a whole, its energy, and its errors against a measured one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from footfall.arguments import public
from footfall.engine.replay import ACTUATION, MOTION, Activations, States, replay
from footfall.measure.common import once
from footfall.record import Record
from footfall.robot.model import moving_bodies
from footfall.standing import scratch_data


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


@public
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
    # MuJoCo sums the forces that accelerate all bodies, less gravity, from the tips to the root.
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
    # MuJoCo's centre of mass includes bodies fixed to the world.
    fixed = np.flatnonzero(~moving & (model.body_mass > 0))
    mass = rec.robot.mass
    com = (centre * model.body_subtreemass[0] - model.body_mass[fixed] @ data.xipos[fixed]) / mass
    return Motion(
        com=com,
        velocity=linear / mass,
        momentum=linear,
        angular_momentum=spin + np.cross(centre - com, linear),
        force=wrench[..., 3:].sum(axis=1),
        moment=(wrench[..., :3] + np.cross(about, wrench[..., 3:])).sum(axis=1),
    )


def generalised_acceleration(rec: Record) -> np.ndarray:
    """(T, nv) m/s2 or rad/s2, forward differences of ``qvel``, the last one repeated; NaN for a single sample."""
    if len(rec) < 2:
        return np.full(rec.qvel.shape, np.nan)
    difference = np.diff(rec.qvel, axis=0) / np.diff(rec.time)[:, None]
    return np.concatenate([difference, difference[-1:]])


@public
def com_height(rec: Record) -> np.ndarray:
    """(T,) m, height of the centre of mass above the ground below it."""
    com = momentum(rec).com
    return com[:, 2] - rec.ground.height(com[:, 0], com[:, 1])


# ---- energy ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Actuation:
    """What MuJoCo computes from state and controls, T samples.

    Attributes:
        torque: (T, nv) N or N m, all actuators together on each degree of freedom.
        force: (T, nu) N or N m, of each actuator.
        passive: (T, nv) N or N m, springs, dampers, a fluid and compensated gravity.
        power: (T, nu) W, that each actuator puts in.
        kinetic, potential: (T,) J; potential of gravity and of springs.
    """

    torque: np.ndarray
    force: np.ndarray
    passive: np.ndarray
    power: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray


@public
@once
def actuation(rec: Record) -> Actuation:
    """Actuator forces and energies of a recording. Evaluated once per recording.

    Limitations: activations of actuators that have a state are not recorded; they are integrated anew, from
    zero at the first sample.
    """
    model = rec.robot.model
    data = scratch_data(model)
    low, high = np.full(model.na, -np.inf), np.full(model.na, np.inf)
    for i in np.flatnonzero(model.actuator_actlimited & (model.actuator_actnum > 0)):
        own = slice(model.actuator_actadr[i], model.actuator_actadr[i] + model.actuator_actnum[i])
        low[own], high[own] = model.actuator_actrange[i]
    step = np.diff(rec.time, append=rec.time[-1:])
    torque, passive, force, speed, energy = replay(
        data,
        ACTUATION,
        States(rec.qpos, rec.qvel, rec.ctrl),
        (data.qfrc_actuator, data.qfrc_passive, data.actuator_force, data.actuator_velocity, data.energy),
        Activations(step, low, high),
    )
    return Actuation(torque, force, passive, force * speed, kinetic=energy[:, 1], potential=energy[:, 0])


@public
def joint_torques(rec: Record) -> np.ndarray:
    """(T, nv) N or N m, force of all actuators on each degree of freedom, from state and controls."""
    return actuation(rec).torque


@dataclass(frozen=True, eq=False)
class Energy:
    """Where the energy is and where it went, T samples. Works count from the first sample.

    Attributes:
        kinetic: (T,) J, rotors (armature) included.
        potential: (T,) J, of gravity and of springs.
        contact_work: (T,) J, of the ground on the robot.
        actuator_work: (T,) J, of all actuators.
        dissipated: (T,) J, work of the actuators less the gain of mechanical energy: lost in contacts, joint damping,
            friction and limits. The work of pushes counts as a negative loss, the integrator's error as a loss.
    """

    kinetic: np.ndarray
    potential: np.ndarray
    contact_work: np.ndarray
    actuator_work: np.ndarray
    dissipated: np.ndarray

    @property
    def mechanical(self) -> np.ndarray:
        """(T,) J, kinetic and potential."""
        return self.kinetic + self.potential


@public
def energy(rec: Record) -> Energy:
    """Energies and works of a recording.

    Work is the force of row k times the mean velocity of rows k and k + 1 times the interval between them, which is
    the change of kinetic energy in a step of semi-implicit Euler, also in an impact.
    """
    own = actuation(rec)
    put_in = _work(own.torque, rec.qvel, rec.time)
    mechanical = own.kinetic + own.potential
    return Energy(
        kinetic=own.kinetic,
        potential=own.potential,
        contact_work=_work(rec.force, rec.velocity, rec.time),
        actuator_work=put_in,
        dissipated=put_in - (mechanical - mechanical[:1]),
    )


@public
def cost_of_transport(rec: Record) -> float:
    """Positive work of the actuators per weight and horizontal distance of the centre of mass, a number without unit.

    Joints that brake give nothing back. NaN for a robot that came less than 1 mm far, or without gravity.
    """
    if len(rec) < 2 or not rec.robot.weight:
        return math.nan
    com = momentum(rec).com[:, :2]
    distance = float(np.linalg.norm(com[-1] - com[0]))
    if distance < 1e-3:
        return math.nan
    spent = np.maximum(_steps(joint_torques(rec), rec.qvel, rec.time), 0.0).sum()
    return float(spent) / (rec.robot.weight * distance)


def _steps(force: np.ndarray, velocity: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(T - 1, ...) J, work of each component in each interval."""
    interval = np.diff(time).reshape(-1, *[1] * (force.ndim - 1))
    return 0.5 * force[:-1] * (velocity[:-1] + velocity[1:]) * interval


def _work(force: np.ndarray, velocity: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(T,) J, work of all components since the first sample."""
    done = np.zeros(len(time))
    done[1:] = np.cumsum(_steps(force, velocity, time).sum(axis=tuple(range(1, force.ndim))))
    return done


# ---- errors against a measured motion -------------------------------------------------------------------------------


def position_error(simulated: np.ndarray, measured: np.ndarray, width: float) -> np.ndarray:
    """(T,) distance between two positions (T, 3) in m, in units of ``width`` (m)."""
    return np.linalg.norm(np.asarray(simulated) - np.asarray(measured), axis=-1) / width


def turned(simulated: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """(T, 4) the rotation between two attitudes (T, 4), quaternions w, x, y, z of any length: their difference, made as
    long as the angle in rad.
    """
    a, b = np.asarray(simulated, dtype=float), np.asarray(measured, dtype=float)
    a, b = a / np.linalg.norm(a, axis=-1, keepdims=True), b / np.linalg.norm(b, axis=-1, keepdims=True)
    b = np.where((a * b).sum(axis=-1, keepdims=True) < 0.0, -b, b)
    # The arc tangent is accurate also for small angles, where an arc cosine is not.
    apart, sums = (np.linalg.norm(one, axis=-1, keepdims=True) for one in (a - b, a + b))
    return (a - b) * np.divide(4.0 * np.arctan2(apart, sums), apart, out=np.full_like(apart, 2.0), where=apart > 0.0)
