"""A coupled law written by a user, which computes in named arrays of its own."""

from __future__ import annotations

import numpy as np
import pytest
from contact.mean_depth import MeanDepth, WithOperator

import footfall as ff

LAWS = pytest.mark.parametrize("law", [MeanDepth(), WithOperator()], ids=["motion", "operator"])


@LAWS
def test_its_arrays_are_those_it_named(law):
    rec = ff.Simulation("brick", law=law).run(1.0)
    assert rec.total_force[-1, 2] == pytest.approx(rec.robot.weight, rel=1e-6)
    loads = rec.force[-1, :, 2]
    np.testing.assert_allclose(loads, rec.robot.weight / len(loads), rtol=1e-6)


@LAWS
def test_many_worlds_have_arrays_of_their_own(law):
    sim = ff.Simulation("spatial-biped", law=law)
    speeds = np.zeros((6, sim.robot.model.nv))
    speeds[:, 0] = np.linspace(0.0, 1.0, 6)
    ran = [ff.Worlds(sim, 6, qvel=speeds, fall=0.0, threads=threads) for threads in (1, 3)]
    for worlds in ran:
        worlds.run(0.3, controller=None)
    np.testing.assert_array_equal(ran[0].qpos, ran[1].qpos)
    alone = sim.run(0.3, controller=None, qvel=speeds[-1])
    np.testing.assert_allclose(ran[0].qpos[-1], alone.qpos[-1], atol=1e-9)


ON_A_GPU = """
import json
import numpy as np
import footfall as ff
from contact.mean_depth import MeanDepth, WithOperator

worst, least = 0.0, np.inf
for law in (MeanDepth(), WithOperator()):
    sim = ff.Simulation("brick", law=law)
    cpu, gpu = (ff.Worlds(sim, 2, device=device) for device in ("cpu", "cuda"))
    for worlds in (cpu, gpu):
        worlds.step(n=4)
    worst = max(worst, float(np.abs(gpu._engine.host("qpos") - cpu.qpos).max()))
    least = min(least, float(cpu.force[:, :, 2].sum(axis=1).min()))
print(json.dumps([worst, least]))
"""


def test_on_a_gpu_every_lane_has_arrays_of_its_own(simulated):
    """In Numba's simulator, which runs kernels as plain Python."""
    worst, least = simulated(ON_A_GPU)
    assert worst < 1e-12 and least > 0.0
