"""MuJoCo's accelerations are the same with dense and with sparse Jacobians, which the engine asks for."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import footfall as ff

#: Both solve the same problem to rounding; Newton's tolerance is set below it.
SAME = 1e-9


@pytest.mark.parametrize("name", ff.robots())
@pytest.mark.parametrize("cone", [mujoco.mjtCone.mjCONE_PYRAMIDAL, mujoco.mjtCone.mjCONE_ELLIPTIC])
def test_sparse_and_dense_jacobians_lead_to_the_same_accelerations(name, cone):
    spec = mujoco.MjSpec.from_string(ff.load_robot(name).to_dict()["mjcf"])
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=1, conaffinity=3)
    model, rng = spec.compile(), np.random.default_rng(0)
    model.opt.cone, model.opt.tolerance, model.opt.iterations = cone, 1e-14, 300
    home, rows = ff.load_robot(name).home, 0
    for turn in range(5):
        qpos, qvel = home + 0.1 * turn * rng.normal(size=model.nq), rng.normal(size=model.nv)
        found = []
        for jacobian in (mujoco.mjtJacobian.mjJAC_DENSE, mujoco.mjtJacobian.mjJAC_SPARSE):
            model.opt.jacobian = jacobian
            data = mujoco.MjData(model)
            data.qpos[:], data.qvel[:] = qpos, qvel
            mujoco.mj_forward(model, data)
            found.append(data.qacc.copy())
            rows += data.nefc
        np.testing.assert_allclose(found[0], found[1], rtol=0.0, atol=SAME * np.abs(found[0]).max())
    assert rows > 0
