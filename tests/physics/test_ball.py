"""A ball that bounces, rests and rings: closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bounds import below, close, near
from physics.laws import GRAVITY, coulombs, every_law, expected, log

import footfall as ff
from footfall.papers.rengifo2009.ball import closed_form

GAINS = [(500.0, 250.0), (1e4, 10.0), (1e4, 0.0)]  # kp 1/s2, kv 1/s


def landed(kp: float, kv: float, mass: float = 1.0, dt: float = 1e-5, duration: float = 0.1) -> ff.Recording:
    """A ball that arrives at the ground with 1 m/s."""
    robot = ff.load_robot("ball", mass=mass)
    law = ff.law("linearizing-penalty", kp=kp, kv=kv, eps=0.0)
    return ff.Simulation(robot, law=law, dt=dt).run(duration, qvel=[0, 0, -1, 0, 0, 0])


@pytest.mark.parametrize(("kp", "kv"), GAINS)
def test_restitution_and_deepest_point_are_those_of_the_closed_form(kp, kv):
    restitution, depth, when = closed_form(kp, kv)
    rec = landed(kp, kv, duration=0.4 if kp < 1e3 else 0.1)
    measured, deepest = float(rec.qvel[:, 2].max()), -float(rec.gap.min())
    log("linearizing-penalty", kp=kp, kv=kv, e=measured / restitution - 1.0, depth=deepest / depth - 1.0)
    # Semi-implicit Euler errs by dt kv / 2 = 0.13 % at kv = 250, and less at smaller gains.
    near(measured, restitution, rel=2e-3)
    near(deepest, depth, rel=2e-3)
    near(rec.time[rec.gap[:, 0].argmin()], when, abs=2e-5)


@pytest.mark.parametrize(("kp", "kv"), GAINS)
def test_restitution_does_not_depend_on_mass(kp, kv):
    light, middle, heavy = (landed(kp, kv, mass, dt=1e-4, duration=0.4) for mass in (1e-3, 1.0, 100.0))
    for other in (light, heavy):
        close(other.qpos[:, 2], middle.qpos[:, 2], atol=1e-12)
        close(other.force / other.robot.mass, middle.force, atol=1e-9)


@pytest.mark.parametrize(("kp", "kv"), GAINS)
def test_touch_down_force_is_weight_and_the_jump_of_the_damper(kp, kv):
    """Weight and m kv v0, the gain applied as (1 - exp(-kv dt)) / dt."""
    rec = landed(kp, kv, mass=2.0, duration=0.0)
    near(rec.force[0, 0, 2], 2.0 * (GRAVITY - math.expm1(-kv * rec.dt) / rec.dt), rel=1e-9)


@pytest.mark.parametrize("eps", [0.0, 1e-6, 1e-4])
@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_a_ball_that_came_to_rest_is_inside_the_ground_by_eps(eps, dt):
    """To the depth of the smallest impact there is: a fall that lasts a step and begins up to half a step before."""
    sim = ff.Simulation("ball", law=ff.law("linearizing-penalty", eps=eps), dt=dt)
    rec = sim.run(6.0, qvel=[0, 0, -0.3, 0, 0, 0])
    rest = rec.slice(5.0)
    smallest = closed_form(500, 250)[1] * GRAVITY * dt
    log("linearizing-penalty", eps=eps, dt=dt, depth=-rest.gap.mean(), most=-rest.gap.min())
    below(np.abs(-rest.gap - eps).max(), 1.5 * smallest + 1e-9)
    near(rest.force[:, 0, 2].mean(), rec.robot.weight, rel=1e-3)


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_no_false_impacts_where_eps_is_half_the_smallest_impacts_depth(dt):
    """What eps is for (Rengifo 2009, section V): the way up, which nothing damps, must end below the surface."""
    eps = 0.55 * closed_form(500, 250)[1] * GRAVITY * dt
    rec = ff.Simulation("ball", law=ff.law("linearizing-penalty", eps=eps), dt=dt).run(8.0, qvel=[0, 0, -0.3, 0, 0, 0])
    rest = rec.slice(7.0)
    assert (rest.mode == 1).all()
    close(rest.force[:, 0, 2], rec.robot.weight, rtol=2e-2)


@every_law
def test_a_ball_at_rest_is_carried_by_its_weight(law):
    rec = ff.Simulation("ball", law=law).run(6.0)
    mean = rec.total_force[-1000:].mean(axis=0) / rec.robot.weight
    close(mean, [0.0, 0.0, 1.0], atol=expected(law).weight)


@every_law
def test_a_rolling_ball_keeps_rolling_as_deep_as_it_rests(law):
    """Speed v = omega r needs no force along the ground; friction must neither brake nor drive it.

    What touches goes up and away again, by omega^2 r = 12.5 m/s2 here, but the gap does not change.
    """
    sim = ff.Simulation("ball", law=law)
    rec = sim.run(2.0, qpos=settled(sim), qvel=[1.0, 0.5, 0.0, -5.0, 10.0, 0.0])
    end = rec.qvel[-1]
    close(end[:2], [1.0, 0.5], rtol=1e-3)
    close(rec.qpos[-1, :2] - rec.qpos[0, :2], [2.0, 1.0], rtol=1e-3)
    close(rec.gap[-1], rec.gap[0], atol=1e-5)


@every_law
def test_a_sliding_ball_ends_rolling_at_five_sevenths(law):
    """A solid sphere thrown without spin loses 2/7 of its speed to friction, whatever the coefficient."""
    sim = ff.Simulation("ball", law=law, ground=ff.Ground.plane(0.3))
    rec = sim.run(1.5, qpos=settled(sim), qvel=[2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    spin = np.linalg.norm(rec.qvel[-1, 3:])
    log(law, speed=rec.qvel[-1, 0] * 0.7 - 1.0, rolling=rec.qvel[-1, 0] - 0.1 * spin)
    near(rec.qvel[-1, 0], 2.0 * 5.0 / 7.0, rel=2e-3)  # what an Euler step of friction leaves over
    near(0.1 * spin, rec.qvel[-1, 0], rel=1e-3)


def settled(sim: ff.Simulation) -> np.ndarray:
    """The pose in which a robot has come to rest."""
    return sim.run(4.0, record_dt=4.0).qpos[-1]


# ---- laws of spring and damper -----------------------------------------------------------------------------

SPRINGS = [law for law in ff.laws() if "rest_penetration" in ff.law(law).options()]


def test_a_ball_that_tips_over_a_nosing_is_a_pendulum_on_it():
    """It turns about the edge with (2/5 + 1) m R^2, and presses on it by m (g cos a - R w^2): exact to the integration,
    so that no period is a time step.
    """
    radius, angle, rate = 0.1, 0.1, 0.5  # m, rad from upright, rad/s
    ground = ff.Ground.stairs(rise=1.0, run=1.0, count=1, start=0.0, friction=2.0)
    sim = ff.Simulation("ball", ground=ground, law="acceleration-complementarity")
    sine, cosine = radius * math.sin(angle), radius * math.cos(angle)
    rec = sim.run(0.15, qpos=[-sine, 0, 1 + cosine, 1, 0, 0, 0], qvel=[-rate * cosine, 0, -rate * sine, 0, -rate, 0])
    x, z, turn = rec.qpos[:, 0], rec.qpos[:, 2] - 1.0, rec.qvel[:, 4]
    assert not rec.signals["time_steps"].any()
    close(np.hypot(x, z), radius, atol=1e-9)
    energy = 0.7 * (radius * turn) ** 2 + GRAVITY * z
    close(energy, energy[0], rtol=1e-8)
    load = GRAVITY * z / radius - radius * turn**2
    pressed = 0.5 * (rec.force[:-1] * (rec.normal[1:] + rec.normal[:-1])).sum(axis=(1, 2))
    turned = rec.dt * float(np.abs(turn).max())
    close(pressed, 0.5 * (load[1:] + load[:-1]), rtol=turned**2)  # means over the period


@pytest.mark.parametrize("law", SPRINGS)
@pytest.mark.parametrize("depth", [5e-4, 2e-3])
def test_the_rest_penetration_asked_for_is_the_one_found(law, depth):
    for robot in ("ball", "brick"):
        sim = ff.Simulation(robot, law=ff.law(law, rest_penetration=depth), dt=1e-4)
        rec = sim.run(4.0, record_dt=1e-2)
        close(-rec.gap[-1], depth, rtol=1e-2, err_msg=robot)


@pytest.mark.parametrize("law", SPRINGS)
@pytest.mark.parametrize("ratio", [0.02, 0.1, 0.3])
def test_the_damping_ratio_asked_for_is_the_logarithmic_decrement_found(law, ratio):
    sim = ff.Simulation("ball", law=ff.law(law, rest_penetration=1e-3, damping_ratio=ratio), dt=1e-5)
    rest = 1e-3
    start = sim.place() - np.eye(7)[2] * 1.01 * rest  # a hundredth more than at rest: small, and never off the ground
    rec = sim.run(0.4, qpos=start)
    swing = -rec.gap[:, 0] - rest
    peaks = [k for k in range(1, len(swing) - 1) if swing[k - 1] < swing[k] >= swing[k + 1] and swing[k] > 1e-9]
    decrement = np.log(rest * 0.01 / swing[peaks[0]])
    found = decrement / math.hypot(2.0 * math.pi, decrement)
    log(law, asked=ratio, found=found)
    near(found, ratio, rel=2e-2)  # the swing, 1 % of the depth, and Euler's dt omega / 2 = 0.05 %


def linear_swing(time: float, sim: ff.Simulation, start: float) -> float:
    """Depth (m) of a ball on a linear spring and damper, from rest at depth ``start``."""
    p, mass = sim.law.resolve(sim.setting), sim.robot.mass
    rest, decay = mass * GRAVITY / p.k, p.c / (2.0 * mass)
    omega = math.sqrt(p.k / mass - decay**2)
    swing = math.cos(omega * time) + decay / omega * math.sin(omega * time)
    return rest + (start - rest) * math.exp(-decay * time) * swing


def test_steps_converge_at_the_first_order_on_a_smooth_bounce():
    error = []
    for dt in (2e-3, 1e-3):
        law = ff.law("spring-damper", damping_ratio=0.1, adhesive=True)
        sim = ff.Simulation("ball", law=law, dt=dt)
        rec = sim.run(0.1, qpos=sim.place() - np.eye(7)[2] * 1.5e-3)
        error.append(abs(-rec.gap[-1, 0] - linear_swing(0.1, sim, 1.5e-3)))
    found = math.log2(error[0] / error[1])
    log("euler", order=found, error=error[1])
    near(found, 1, abs=0.5)
    below(error[1], 1e-4)


@every_law
def test_a_thrown_ball_that_stops_sliding_is_not_driven_on(law):
    """A ball that lands sliding is braked, and no friction gives back what it took; static friction is no larger."""
    sim = ff.Simulation("ball", law=coulombs(law), ground=ff.Ground.plane(1.0))
    drop = sim.place() + 0.004 * np.eye(7)[2]
    rec = sim.run(0.1, qpos=drop, qvel=[-1.04, -2.65, -1.75, 2.1, -0.92, -1.12])
    slip = np.linalg.norm(rec.velocity[:, 0, :2], axis=1)
    work = (
        0.5 * rec.dt * np.einsum("ti,ti->t", rec.force[:-1, 0, :2], rec.velocity[:-1, 0, :2] + rec.velocity[1:, 0, :2])
    )
    log(str(law), slip=slip[-1] / slip[0], work=work.cumsum().max())
    assert slip[-1] < 0.5 * slip[0]
    below(work.cumsum().max(), 1e-3 * 0.5 * rec.robot.mass * slip[0] ** 2)


def hill(x, y):
    return -0.5 * x * x


@every_law
def test_a_ball_that_slides_down_a_hill_stays_on_it(law):
    """It is driven off by v^2 times a curvature of 1 / m, at most 3 m/s2, and held on by 8 m/s2 of its weight."""
    sim = ff.Simulation("ball", law=law, ground=ff.Ground.function(hill, friction=0.0))
    rec = sim.run(0.5, qvel=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert rec.qpos[-1, 0] > 0.6
    # Laws of springs are made to rest a millimetre deep, and swing to twice that as they are put down.
    below(-float(rec.gap.min()), 2.5e-3)
    below(float(rec.gap[1:].max()), 2e-4)
    fall = rec.qpos[0, 2] - rec.qpos[-1, 2]
    near(float(rec.qvel[-1, :3] @ rec.qvel[-1, :3]), 1.0 + 2.0 * GRAVITY * fall, rel=0.01)
