"""A rocking block (Housner 1963): what each impact leaves of its energy, and how long it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bounds import close, near
from physics.laws import GRAVITY, log
from physics.rigid import newtons_laws
from scipy.integrate import quad
from scipy.optimize import brentq

import footfall as ff

HALF_WIDTH, HALF_HEIGHT = 0.05, 0.2  # m
ALPHA = math.atan2(HALF_WIDTH, HALF_HEIGHT)
RADIUS = math.hypot(HALF_WIDTH, HALF_HEIGHT)  # m
P = math.sqrt(3.0 * GRAVITY / (4.0 * RADIUS))  # 1/s, of a block that turns about its corner, I = 4/3 m R^2
#: Part of the kinetic energy that is left when the block changes corners.
LEFT = (1.0 - 1.5 * math.sin(ALPHA) ** 2) ** 2


def lift(tilt: float, fallen: float) -> float:
    """How much higher the mass is at a tilt than ``fallen`` (rad) later, of R: a difference of cosines."""
    return 2.0 * math.sin(ALPHA - tilt + 0.5 * fallen) * math.sin(0.5 * fallen)


def fall_time(tilt: float) -> float:
    """s, from rest at a tilt to the impact: I theta'' = -m g R sin(alpha - theta), by its first integral."""

    def slowness(root: float) -> float:
        fallen = root * root  # which takes the pole at the start away
        return 2.0 * root / (P * math.sqrt(2.0 * lift(tilt, fallen)))

    return quad(slowness, 0.0, math.sqrt(tilt), epsabs=1e-12)[0]


def next_tilt(tilt: float) -> float:
    """The tilt after an impact, from the energy that is left."""
    left = LEFT * lift(tilt, tilt)
    return brentq(lambda new: lift(new, new) - left, 0.0, tilt, xtol=1e-30)


def rocked(law: str, dt: float, duration: float, tilt: float) -> ff.Recording:
    block = ff.load_robot("brick", length=2 * HALF_WIDTH, width=0.1, height=2 * HALF_HEIGHT)
    sim = ff.Simulation(block, law=law, ground=ff.Ground.plane(2.0), dt=dt)
    qpos = sim.place()
    qpos[3:7] = [math.cos(tilt / 2.0), 0.0, math.sin(tilt / 2.0), 0.0]
    qpos[2] = HALF_HEIGHT * math.cos(tilt) + HALF_WIDTH * math.sin(tilt)
    return sim.run(duration, qpos=qpos)


def impacts(rec: ff.Recording) -> tuple[np.ndarray, np.ndarray]:
    """When the block changed corners, s, and its energy over that at rest, J, before the first and after each."""
    pitch = 2.0 * np.arctan2(rec.qpos[:, 5], rec.qpos[:, 3])
    at = np.flatnonzero(pitch[:-1] * pitch[1:] < 0.0)
    rate, pull = np.abs(rec.qvel[at, 4]), P**2 * math.sin(ALPHA)  # which is nearly constant over a step
    when = rec.time[at] + (np.sqrt(rate**2 + 2.0 * pull * np.abs(pitch[at])) - rate) / pull
    energy = ff.measure.energy(rec).mechanical - rec.robot.weight * HALF_HEIGHT
    return when, energy[[0, *(at + 2)]]


@newtons_laws
@pytest.mark.parametrize("share", [0.25, 0.5])
def test_impacts_come_when_they_should_and_take_the_energy_they_should(law, share):
    """Three impacts, without restitution. In time steps of 0.1 ms an impact takes 1 % too much or too little of the
    energy, as the block arrives within a step, and times follow energies.
    """
    tilt = share * ALPHA
    exact = ff.law(law).event_driven
    rec = rocked(law, 1e-3 if exact else 1e-4, 1.1, tilt)
    when, energy = impacts(rec)
    closed, now = [], 0.0
    for n in range(3):
        now += fall_time(tilt) if n == 0 else 2.0 * fall_time(tilt)
        closed.append(now)
        tilt = next_tilt(tilt)
    ratio = energy[1:4] / energy[:3]
    log(law, time=float(np.abs(when[:3] - closed).max()), ratio=float(np.abs(ratio / LEFT - 1.0).max()))
    close(when[:3], closed, rtol=0.0 if exact else 1e-2, atol=1e-6)
    close(ratio, LEFT, rtol=1e-6 if exact else 2e-2)


def test_the_period_is_housners_for_a_slender_block():
    """T = (4 / p) arccosh(1 / (1 - theta / alpha)), of small angles: to alpha^2 / 6, 1 %."""
    for share in (0.25, 0.5, 0.75):
        housner = math.acosh(1.0 / (1.0 - share)) / P
        near(fall_time(share * ALPHA), housner, rel=ALPHA**2 / 6.0)


def test_rocking_that_accumulates_ends_at_rest():
    """Impacts without end end within a finite time. They are found one by one up to the period in which they do."""
    dt, tilt, now, closed = 1e-3, 0.5 * ALPHA, 0.0, []
    rec = rocked("acceleration-complementarity", dt, 4.0, tilt)
    assert rec.failure is None and (rec.status == 0).all()
    assert np.abs(rec.qvel[-1]).max() < 1e-12 and (rec.mode[-1] == 1).all()
    while tilt > 1e-15:
        now += fall_time(tilt) if not closed else 2.0 * fall_time(tilt)
        closed.append(now)
        tilt = next_tilt(tilt)
    impacts, in_steps = rec.signals["impacts"].ravel(), np.flatnonzero(rec.signals["time_steps"])
    last = int(in_steps[0]) if in_steps.size else int(np.flatnonzero(impacts)[-1])
    assert in_steps.size <= 1 and abs(last - now / dt) < 2  # that period, or the next: 1 in 3,500
    near(impacts[:last].sum(), np.searchsorted(closed, last * dt), rel=0.1)
