"""Newton's restitution: a ball's bounces to their end, bricks on four points, and no energy from friction."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from bounds import below, close, near
from physics.laws import GRAVITY, log
from physics.rigid import NEWTONS, exactness, newtons_laws

import footfall as ff
from footfall.errors import LawError

HEIGHT = 0.5  # m
EVENT_DRIVEN = [law for law in ff.laws() if ff.law(law).event_driven]


def bounced(law: str, restitution: float, duration: float, dt: float = 1e-4) -> ff.Recording:
    sim = ff.Simulation("ball", law=ff.law(law, restitution=restitution), dt=dt)
    return sim.run(duration, qpos=sim.place() + HEIGHT * np.eye(7)[2])


def bounces(height: float, restitution: float) -> float:
    """s, from the drop to the end of all bounces: the first fall, and flights that shrink as a geometric series."""
    fall = math.sqrt(2.0 * height / GRAVITY)
    return fall * (1.0 + restitution) / (1.0 - restitution)


def apex(rec: ff.Recording) -> list[float]:
    """m, the heights of the bounces: of the parabola through each sample that is highest."""
    gap, speed = rec.gap[:, 0], rec.qvel[:, 2]
    top = [k for k in range(1, len(gap) - 1) if speed[k] > 0.0 >= speed[k + 1]]
    return [float(gap[k] + speed[k] ** 2 / (2.0 * GRAVITY)) for k in top]


@newtons_laws
@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.8])
def test_the_nth_rebound_is_e_to_the_2n_of_the_height(law, restitution):
    rec = bounced(law, restitution, bounces(HEIGHT, restitution))
    heights = apex(rec)[:3]
    speed = math.sqrt(2.0 * GRAVITY * HEIGHT)
    for n, found in enumerate(heights, start=1):
        closed = HEIGHT * restitution ** (2 * n)
        log(law, e=restitution, bounce=n, error=found / closed - 1.0)
        # It goes in by up to a step's way at the speed of its fall before it bounces, at each bounce.
        near(found, closed, rel=n * exactness(law, rec.dt, speed * restitution ** (n - 1), closed))
    assert len(heights) == 3


@pytest.mark.parametrize("law", EVENT_DRIVEN)
@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.8, 0.9])
def test_bounces_that_accumulate_end_at_rest_at_the_time_of_the_series(law, restitution):
    """To 1e-6: a rebound of 1 um/s or less is none, and what is left of the series then is shorter."""
    closed = bounces(HEIGHT, restitution)
    rec = bounced(law, restitution, 1.05 * closed, dt=1e-3)
    impacts = rec.signals["impacts"]
    last = int(np.flatnonzero(impacts)[-1])
    # Gravity takes, from the drop to the end, what all impulses of the bounces gave: the rest is carried weight.
    struck = float(rec.signals["impulse"].sum())
    found = struck / rec.robot.weight
    log(law, e=restitution, time=found / closed - 1.0, impacts=float(impacts.sum()))
    near(found, closed, rel=1e-6)
    near(rec.time[last], closed, abs=2e-3)
    assert impacts.sum() == pytest.approx(
        math.log(1e-6 / math.sqrt(2 * GRAVITY * HEIGHT)) / math.log(restitution), abs=1.5
    )
    rest = rec.slice(rec.time[last + 2])
    assert np.abs(rest.qvel).max(initial=0.0) < 1e-12
    close(rest.gap, 0.0, atol=1e-12)
    close(rest.force[:, 0, 2], rec.robot.weight, rtol=1e-9)


@newtons_laws
def test_a_box_that_lands_flat_without_restitution_is_at_rest_at_once(law):
    """On four points together: no bounce, no rotation, and the impulse is the momentum.

    In time steps it takes two: to the ground, and no further.
    """
    sim = ff.Simulation("brick", law=law, dt=1e-3)
    rec = sim.run(0.5, qpos=sim.place() + 0.1 * np.eye(7)[2])
    landed = int(np.flatnonzero(rec.mode.any(axis=1))[0])
    two = slice(landed, landed + 2)
    after = rec.slice(rec.time[landed + (1 if ff.law(law).event_driven else 2)])
    below(np.abs(after.qvel).max(), 1e-9)
    close(after.gap, 0.0, atol=1e-9)
    close(after.qpos[:, 3:], np.broadcast_to([1.0, 0, 0, 0], (len(after), 4)), atol=1e-9)
    given = float(rec.force[two, :, 2].sum()) * rec.dt
    near(given, rec.robot.mass * (-rec.qvel[landed, 2] + 2.0 * GRAVITY * rec.dt), rel=1e-6)
    close(rec.force[two, :, 2], np.broadcast_to(rec.force[two, :1, 2], (2, 4)), rtol=1e-6)


@newtons_laws
def test_a_box_that_lands_flat_bounces_flat(law):
    sim = ff.Simulation("brick", law=ff.law(law, restitution=0.5), dt=1e-4)
    rec = sim.run(0.25, qpos=sim.place() + 0.1 * np.eye(7)[2])
    below(np.abs(rec.qvel[:, 3:]).max(), 1e-9)
    near(apex(rec)[0], 0.025, rel=exactness(law, rec.dt, 0.7, 0.025))


@pytest.mark.parametrize("law", EVENT_DRIVEN)
@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_no_impact_creates_energy(law, restitution, friction):
    """Oblique impacts of a spinning brick on corners, where Newton's law with friction can create energy."""
    rng = np.random.default_rng(1)
    for _ in range(6):
        sim = ff.Simulation(
            "brick", law=ff.law(law, restitution=restitution), ground=ff.Ground.plane(friction), dt=1e-3
        )
        qpos = sim.place()
        axis = np.array([*rng.normal(size=2), 0.0])
        mujoco.mju_axisAngle2Quat(qpos[3:7], axis / np.linalg.norm(axis), rng.uniform(0.1, 0.8))
        qpos[2] += 0.12
        rec = sim.run(0.3, qpos=qpos, qvel=[*rng.normal(size=2), -1.0, *(4.0 * rng.normal(size=3))])
        energy = ff.measure.energy(rec).mechanical
        assert rec.signals["impacts"].sum() > 0
        below(np.diff(energy).max(), 1e-7 * (energy[0] - energy.min() + 1.0))


def test_laws_with_newtons_restitution_are_found():
    assert {"time-stepping", "acceleration-complementarity"} <= set(NEWTONS)


@newtons_laws
@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan])
def test_restitution_is_between_nothing_and_all(law, value):
    with pytest.raises(LawError, match=f"{law}: restitution = {value}, but it must be a number between 0 and 1$"):
        ff.law(law, restitution=value)
