"""In flight: momentum and energy, to the order of the integrator."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bounds import below, close
from physics.laws import every_law, log, mechanical_energy

import footfall as ff

GRAVITY = np.array([0.0, 0.0, -9.81])


def thrown(dt: float, law: str = "spring-damper", name="spatial-biped") -> ff.Recording:
    """A biped in the air, every joint in small motion, none near its limit, and nobody at the controls."""
    # The inertia of rotors is not that of bodies: momentum is conserved without it.
    robot = ff.load_robot(name, **({"armature": 0.0} if name == "planar-biped" else {}))
    free = robot.model.nq - robot.model.nu  # coordinates of the base
    rng = np.random.default_rng(3)
    qpos = robot.home.copy()
    qpos[2 if free == 7 else 1] += 3.0
    qpos[free:] += rng.uniform(0.05, 0.15, robot.model.nu)
    qvel = rng.uniform(-1.0, 1.0, robot.model.nv)
    qvel[-robot.model.nu :] *= 0.5
    rec = ff.Simulation(robot, law=law, dt=dt).run(0.2, controller=None, qpos=qpos, qvel=qvel)
    limits, angles = robot.model.jnt_range[-robot.model.nu :], rec.qpos[:, free:]
    assert ((angles > limits[:, 0]) & (angles < limits[:, 1])).all()
    assert not rec.force.any() and not rec.mode.any()
    return rec


@every_law
def test_linear_momentum_changes_by_weight_times_time(law):
    rec = thrown(1e-3, law=law)
    motion = ff.measure.momentum(rec)
    expected = motion.momentum[0] + rec.robot.mass * GRAVITY * rec.time[:, None]
    # Euler's steps in joint coordinates are not those of the centre of mass: an error of the order of the step.
    close(motion.momentum, expected, atol=rec.robot.mass * 2e-3)


def halving(measure, coarse: float, robot: str) -> tuple[float, float]:
    """Error of a conserved quantity with a step and with half of it."""
    error = []
    for dt in (coarse, coarse / 2.0):
        value = measure(thrown(dt, name=robot))
        error.append(float(np.abs(value - value[0]).max()))
    return error[0], error[1]


def linear_less_gravity(rec: ff.Recording) -> np.ndarray:
    return ff.measure.momentum(rec).momentum - rec.robot.mass * GRAVITY * rec.time[:, None]


def angular(rec: ff.Recording) -> np.ndarray:
    """About the centre of mass; of a planar robot, whose plane takes the rest, about y."""
    planar = rec.robot.name == "planar-biped"
    return ff.measure.momentum(rec).angular_momentum[:, 1:2] if planar else ff.measure.momentum(rec).angular_momentum


CONSERVED = {"linear momentum": linear_less_gravity, "angular momentum": angular, "energy": mechanical_energy}


@pytest.mark.parametrize("quantity", CONSERVED)
@pytest.mark.parametrize("robot", ["spatial-biped", "planar-biped"])
def test_what_flight_conserves_errs_by_the_order_of_the_step(quantity, robot):
    first, second = halving(CONSERVED[quantity], 1e-3, robot)
    log("euler", order=math.log2(first / second), error=second)
    assert math.log2(first / second) > 0.5


def test_a_spinning_brick_keeps_its_momentum_and_energy():
    """Free rotation about no principal axis; the brick tumbles."""
    sim = ff.Simulation("brick", dt=1e-4)
    rec = sim.run(0.5, qpos=sim.place() + 5.0 * np.eye(7)[2], qvel=[1, 2, 3, 4, 5, 6])
    angular = ff.measure.momentum(rec).angular_momentum
    size = np.linalg.norm(angular[0])
    # Semi-implicit Euler of a rotation: dt times the spin, 1e-4 * 9 /s, times some half second of it.
    close(angular, np.broadcast_to(angular[0], angular.shape), atol=5e-3 * size)
    energy = mechanical_energy(rec)
    close(energy, energy[0], rtol=1e-3)


def test_flight_is_the_same_whatever_the_law():
    """But for laws that are driven by events, which bring an integrator of their own."""
    reference = thrown(1e-3, law="spring-damper")
    for law in ff.laws():
        if ff.law(law).event_driven:
            continue
        close(thrown(1e-3, law=law).qpos, reference.qpos, atol=1e-13)


@pytest.mark.parametrize("law", [law for law in ff.laws() if ff.law(law).event_driven])
@pytest.mark.parametrize("robot", ["spatial-biped", "planar-biped"])
@pytest.mark.parametrize("quantity", CONSERVED)
def test_an_integrator_with_a_tolerance_keeps_it_in_flight(law, robot, quantity):
    """Steps that err by 1e-9, relative, as long as they may be; rotations are integrated as quaternions."""
    rec = thrown(1e-2, law=law, name=robot)
    value = CONSERVED[quantity](rec)
    below(np.abs(value - value[0]).max(), 1e-7 * rec.robot.mass)
