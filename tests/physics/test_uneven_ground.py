"""Ground that bends, under every law: closed forms of balls in bowls and valleys, and a field that is a slope."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bounds import below, near
from physics.laws import GRAVITY, every_law, log
from physics.rigid import newtons_laws

import footfall as ff


def bowl(x, y):
    return 0.5 * (x * x + y * y)


def valley(x, y):
    return 0.5 * x * x


@every_law
def test_a_ball_that_circles_in_an_icy_bowl_is_pushed_inwards_by_its_circle(law):
    """Where the bowl rises by s it pushes with m g sqrt(1 + s^2), and the ball circles with w^2 r = g s."""
    rise, radius = 0.4, 0.05
    sim = ff.Simulation(
        ff.load_robot("ball", radius=radius),
        law=law,
        ground=ff.Ground.function(bowl, friction=0.0),
        body_contacts=False,
    )
    steep = math.hypot(1.0, rise)
    circle = rise - radius * rise / steep  # m, of the centre
    rate = math.sqrt(GRAVITY * rise / circle)
    start = [circle, 0.0, 0.5 * rise**2 + radius / steep, 1.0, 0.0, 0.0, 0.0]
    rec = sim.run(1.0, qpos=start, qvel=[0.0, circle * rate, 0.0, 0.0, 0.0, 0.0])
    force = np.linalg.norm(rec.force[:, 0], axis=1)[500:].mean()
    away = np.linalg.norm(rec.qpos[:, :2], axis=1)
    log(law, force=force / (rec.robot.weight * steep) - 1.0, gap=rec.gap.min(), away=np.ptp(away))
    near(float(force), rec.robot.weight * steep, rel=1e-3)
    # Springs give by a millimetre under the weight, and swing to twice that as they are loaded.
    soft = law in ("spring-damper", "hunt-crossley", "distributed", "mujoco")
    below(float(-rec.gap.min()), 3e-3 if soft else 2e-5)
    below(float(rec.gap.max()), 2e-5)
    angle = np.unwrap(np.arctan2(rec.qpos[:, 1], rec.qpos[:, 0]))[-1]
    log(law, angle=angle - rate)
    near(float(angle), rate, abs=0.05 if soft else 0.01)


@every_law
def test_a_ball_that_rolls_down_a_valley_has_five_sevenths_of_its_energy_in_its_way(law):
    """v^2 = 10 / 7 g h at the bottom, but for what it takes soft laws to sink in: the weight times twice the depth."""
    sim = ff.Simulation("ball", law=law, ground=ff.Ground.function(valley, friction=2.0), body_contacts=False)
    rec = sim.run(0.6, qpos=sim.place((0.4, 0.0)))
    bottom = int(np.argmin(rec.qpos[:, 2]))
    speed, fall = np.linalg.norm(rec.qvel[bottom, :3]), rec.qpos[0, 2] - rec.qpos[bottom, 2]
    ratio = speed**2 / (10.0 / 7.0 * GRAVITY * fall)
    log(law, ratio=ratio - 1.0, gap=rec.gap.min(), high=rec.gap.max())
    near(float(ratio), 1.0, abs=2e-4 + 2.0 * float(-rec.gap.min()) / fall)


@newtons_laws
def test_a_ball_that_comes_to_a_riser_stops_before_it_and_is_not_thrown_up(law):
    sim = ff.Simulation("ball", law=law, ground=ff.Ground.stairs(rise=0.2, run=1.0, start=0.3, friction=0.0))
    rec = sim.run(0.25, qvel=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    # Time steps let it in by up to the way of a step, in which it sinks as deep: a corner has one normal at a time.
    near(rec.qpos[-1], sim.place((0.2, 0.0)), abs=1.5e-3)
    below(float(rec.qvel[:, 2].max()), 1e-3)
    below(float(np.abs(rec.qvel[-1, 0])), 1e-3)


@every_law
def test_a_height_field_that_is_a_slope_is_one(law):
    x = np.linspace(-3.0, 3.0, 121)
    field = ff.Ground.heightfield(np.tile(math.tan(0.2) * x, (121, 1)), size=(6.0, 6.0), friction=0.3)
    slope, ways = ff.Ground.slope(0.2, friction=0.3), []
    start = ff.Simulation("brick", ground=slope).place((0.013, 0.007)) + 1e-3 * np.eye(7)[2]
    for ground in (slope, field):
        sim = ff.Simulation("brick", ground=ground, law=law)
        ways.append(sim.run(0.2, qpos=start, qvel=[0.3, 0.2, 0.0, 0.0, 0.0, 0.0]).qpos)
    apart = float(np.abs(ways[0] - ways[1]).max())
    log(law, apart=apart)
    below(apart, 1e-6)  # rounding, and then what solvers leave: 1e-6 m/s or m/s2


@pytest.mark.parametrize("law", ["spring-damper", "linearizing-penalty", "time-stepping"])
def test_worlds_on_height_fields_of_their_own_go_as_single_runs_do(law):
    rough = np.random.default_rng(0).uniform(-0.5e-3, 0.5e-3, (81, 81))
    x = np.linspace(0.0, 2.0 * np.pi, 81)
    fields = [ff.Ground.heightfield(0.03 * np.outer(np.cos(k * x), np.sin(k * x)) + rough, size=(4, 4)) for k in (1, 3)]
    sims = [ff.Simulation("ball", ground=field, law=law) for field in fields]
    qpos, qvel = np.array([sim.place((0.1, 0.2)) for sim in sims]), np.tile([0.4, 0.1, 0.0, 0.0, 0.0, 0.0], (2, 1))
    worlds = ff.Worlds(sims[0], 2, ground=fields, qpos=qpos, qvel=qvel, fall=0.0)
    worlds.step(n=100)
    alone = [sim.run(0.1, qpos=q, qvel=v).qpos[-1] for sim, q, v in zip(sims, qpos, qvel, strict=True)]
    below(float(np.abs(worlds.qpos - alone).max()), 1e-12)  # rounding
