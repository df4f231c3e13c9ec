"""Recordings that the tests of the audit share, and changes to their forces."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import footfall as ff

OPEN, STICK, SLIDE = 0, 1, 2
GROUND = ff.Ground.plane(friction=(0.8, 0.6))


def brick(law, duration=0.4, *, lift=0.0, qvel=None, ground=GROUND, **options):
    sim = ff.Simulation("brick", ground=ground, law=law)
    qpos = sim.place(align=True)
    qpos[2] += lift
    return sim.run(duration, qpos=qpos, qvel=qvel, **options)


def biped(law, pushes=(), name="spatial-biped", dt=1e-3, *, duration=0.5, controller="posture"):
    return ff.Simulation(name, law=law, dt=dt).run(duration, controller=controller, pushes=pushes)


@cache
def standing_brick():
    return brick("linearizing-penalty")


@cache
def sliding_brick():
    """Under friction that claims to oppose the slip at every instant, which a spring's does not."""
    return brick(ff.law("spring-damper", friction="regularised"), 0.05, qvel=[2.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def with_force(rec, change):
    force = rec.force.copy()
    change(force)
    return replace(rec, force=force)
