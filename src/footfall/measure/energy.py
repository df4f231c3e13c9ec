"""Energy: what the robot has, what its actuators put in, what the ground takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from footfall.engine.replay import ACTUATION, Activations, States, replay
from footfall.errors import RecordingError, did_you_mean
from footfall.measure.common import once
from footfall.measure.motion import momentum
from footfall.standing import scratch_data

if TYPE_CHECKING:
    from footfall.record import Record


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


def joint_torques(rec: Record) -> np.ndarray:
    """(T, nv) N or N m, force of all actuators on each degree of freedom, from state and controls."""
    return actuation(rec).torque


@dataclass(frozen=True, eq=False)
class Energy:
    """Where the energy is and where it went, T samples. Works count from the first sample.

    Attributes:
        kinetic: (T,) J, rotors (armature) included.
        potential: (T,) J, of gravity and of springs.
        contact_power: (T,) W, sum of force times velocity over the contact points; negative: into the ground.
        contact_work: (T,) J.
        actuator_power: (T, nu) W, that each actuator puts in.
        actuator_work: (T,) J, of all actuators.
        dissipated: (T,) J, what the actuators put in and the robot no longer has: lost in contacts, joint
            damping, friction and limits. The work of pushes counts as a negative loss, the integrator's error
            as a loss.
    """

    kinetic: np.ndarray
    potential: np.ndarray
    contact_power: np.ndarray
    contact_work: np.ndarray
    actuator_power: np.ndarray
    actuator_work: np.ndarray
    dissipated: np.ndarray

    @property
    def mechanical(self) -> np.ndarray:
        """(T,) J, kinetic and potential."""
        return self.kinetic + self.potential


def energy(rec: Record) -> Energy:
    """Energies, powers and works of a recording.

    Works hold the force of row k over the interval to row k + 1 and take the mean of the two velocities,
    which is the change of kinetic energy that a step of semi-implicit Euler makes, also in an impact.
    """
    own = actuation(rec)
    put_in = _work(own.torque, rec.qvel, rec.time)
    mechanical = own.kinetic + own.potential
    return Energy(
        kinetic=own.kinetic,
        potential=own.potential,
        contact_power=np.einsum("tpi,tpi->t", rec.force, rec.velocity),
        contact_work=_work(rec.force, rec.velocity, rec.time),
        actuator_power=own.power,
        actuator_work=put_in,
        dissipated=put_in - (mechanical - mechanical[:1]),
    )


def cost_of_transport(rec: Record, work: str = "positive") -> float:
    """Work of the actuators per weight and horizontal distance of the centre of mass, a number without unit.

    ``work`` is "positive" (joints that brake give nothing back), "absolute" (braking costs as much as
    driving) or "net". NaN for a robot that came less than 1 mm far, or without gravity.
    """
    shares: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "positive": lambda w: np.maximum(w, 0.0),
        "absolute": np.abs,
        "net": lambda w: w,
    }
    if work not in shares:
        raise RecordingError(f"no cost of transport by '{work}' work: {did_you_mean(work, shares)}")
    if len(rec) < 2 or not rec.robot.weight:
        return math.nan
    com = momentum(rec).com[:, :2]
    distance = float(np.linalg.norm(com[-1] - com[0]))
    if distance < 1e-3:
        return math.nan
    spent = shares[work](_steps(joint_torques(rec), rec.qvel, rec.time)).sum()
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
