"""Every measure of recordings that are short or end in NaN; and what is remembered."""

from __future__ import annotations

import gc
import math
import weakref

import numpy as np
import pytest
from blank_recordings import DT, at_rest

from footfall import measure
from footfall.ground import Ground
from footfall.robot import load_robot

GROUNDS = {
    "plane": Ground.plane(height=0.05),
    "slope": Ground.slope(0.2, heading=0.7),
    "uneven": Ground.function(lambda x, y: 0.05 * math.sin(3.0 * x) + 0.1 * y),
    "stairs": Ground.stairs(rise=0.1, run=0.3, start=0.05),
}

#: They need more than a record, or a record with a command.
OTHERS = ("support_polygon", "course")
EVERY = [
    name for name in measure.__all__ if callable(getattr(measure, name)) and name[0].islower() and name not in OTHERS
]


@pytest.mark.parametrize("samples", [0, 1, 2])
@pytest.mark.parametrize("name", EVERY)
def test_short_recordings_are_measured_without_fuss(name, samples, biped, recwarn):
    getattr(measure, name)(at_rest(biped, samples))
    assert not recwarn.list


@pytest.mark.parametrize("name", EVERY)
def test_a_recording_that_ends_in_nan_is_measured_up_to_there(name, biped):
    qpos, force = np.tile(biped.home, (5, 1)), np.ones((5, 8, 3))
    whole = getattr(measure, name)(at_rest(biped, qpos=qpos, force=force, position=force))
    broken, bad = qpos.copy(), force.copy()
    broken[-1], bad[-1] = np.nan, np.nan
    found = getattr(measure, name)(at_rest(biped, qpos=broken, force=bad, position=bad))
    assert type(found) is type(whole)
    if isinstance(found, np.ndarray) and len(found) == 5:  # rates look one sample ahead
        np.testing.assert_array_equal(found[:3], whole[:3])


def test_what_is_remembered_of_a_recording_goes_with_it(brick):
    rec = at_rest(brick)
    assert measure.momentum(rec) is measure.momentum(rec)
    gone = weakref.ref(measure.momentum(rec))
    del rec
    gc.collect()
    assert gone() is None


@pytest.mark.slow
def test_zmp_and_cop_agree_in_a_simulation():
    """A brick dropped on its edge: impacts, stick and slide, by the engine itself."""
    from footfall.contact import law
    from footfall.simulation import Simulation

    robot = load_robot("brick")
    qpos = robot.home.copy()
    qpos[2] += 0.1
    qpos[3:7] = [math.cos(0.2), math.sin(0.2), 0.0, 0.0]
    qvel = np.array([0.5, 0.0, 0.0, 0.0, 1.0, 2.0])
    for ground in GROUNDS.values():
        rec = Simulation(robot, ground=ground, law=law("linearizing-penalty"), dt=DT).run(0.5, qpos=qpos, qvel=qvel)
        cop = measure.overall_cop(rec)
        both = ~(np.isnan(rec.zmp) | np.isnan(cop)).any(axis=1)[:-1]
        assert both.sum() > 50
        assert rec.zmp[:-1][both] == pytest.approx(cop[:-1][both], abs=1e-8)
