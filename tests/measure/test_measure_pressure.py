"""Where the ground pushes: centres of pressure and moments, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from blank_recordings import at_rest, blank

from footfall import measure
from footfall.ground import Ground

TIGHT = 1e-9  # rounding of a few hundred N and m of order 1, with room


def test_cop_is_where_known_forces_balance(biped):
    position, force = np.zeros((5, 8, 3)), np.zeros((5, 8, 3))
    position[:, 0], position[:, 1] = [0.1, 0.2, 0.0], [0.3, 0.2, 0.0]
    force[:, 0, 2], force[:, 1] = 10.0, [7.0, -4.0, 30.0]  # tangential forces do not move it
    rec = blank(biped, position=position, force=force)
    assert rec.cop.shape == (5, 2, 3)
    assert rec.cop[0, 0] == pytest.approx([0.25, 0.2, 0.0])
    assert np.isnan(rec.cop[:, 1]).all()  # the right foot carries nothing
    assert measure.overall_cop(rec)[0] == pytest.approx([0.25, 0.2, 0.0])


def test_cop_on_a_slope_weighs_by_the_force_along_the_normal(biped):
    ground = Ground.slope(0.3)
    normal, downhill = ground.gap(np.zeros(3))[1], np.array([math.cos(0.3), 0.0, math.sin(0.3)])
    position, force = np.zeros((5, 8, 3)), np.zeros((5, 8, 3))
    position[:, 0], position[:, 1] = 0.1 * downhill, 0.5 * downhill
    force[:, 0], force[:, 1] = 10.0 * normal + 50.0 * downhill, 30.0 * normal
    rec = blank(biped, position=position, force=force, ground=ground)
    assert rec.cop[0, 0] == pytest.approx(0.4 * downhill)
    assert measure.overall_cop(rec)[0] == pytest.approx(0.4 * downhill)


def test_overall_cop_lies_between_the_feet_as_their_loads_do(biped):
    rec = at_rest(biped)
    load = rec.foot_force[:, :, 2:]
    between = (rec.cop * load).sum(axis=1) / load.sum(axis=1)
    assert measure.overall_cop(rec) == pytest.approx(between, abs=TIGHT)


def test_ground_reaction_has_moments_about_the_origin_and_the_cop(biped):
    position, force = np.zeros((5, 8, 3)), np.zeros((5, 8, 3))
    position[:, 0], position[:, 4] = [0.1, 0.2, 0.0], [0.0, -0.2, 0.0]
    force[:, 0], force[:, 4] = [3.0, 0.0, 20.0], [0.0, 0.0, 10.0]
    grf = measure.grf(blank(biped, position=position, force=force))
    assert grf.force[0] == pytest.approx(np.array([[3.0, 0.0, 20.0], [0.0, 0.0, 10.0]]))
    assert grf.moment[0, 0] == pytest.approx(np.cross([0.1, 0.2, 0.0], [3.0, 0.0, 20.0]))
    assert grf.moment_at_cop[0] == pytest.approx(np.zeros((2, 3)), abs=TIGHT)
