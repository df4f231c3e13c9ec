"""Recordings made by hand, for tests of what is read from them."""

from __future__ import annotations

import mujoco
import numpy as np

from footfall.contact import law
from footfall.ground import Ground
from footfall.recording import Recording

OPEN, STICK, SLIDE = 0, 1, 2
DT = 1e-3


def blank(robot, samples=5, **given):
    """A robot that rests in its home pose and touches nothing; arrays in ``given`` replace parts."""
    model, points = robot.model, robot.point_count
    arrays = {
        "time": DT * np.arange(samples),
        "qpos": np.tile(robot.home, (samples, 1)),
        "qvel": np.zeros((samples, model.nv)),
        "ctrl": np.zeros((samples, model.nu)),
        "force": np.zeros((samples, points, 3)),
        "position": np.zeros((samples, points, 3)),
        "velocity": np.zeros((samples, points, 3)),
        "gap": np.ones((samples, points)),
        "mode": np.zeros((samples, points)),
        "status": np.zeros(samples),
    }
    others = {"ground": Ground.plane(), "law": law("spring-damper"), "dt": DT}
    return Recording(**{"robot": robot, **others, **arrays, **given})


def at_rest(robot, samples=5, **given):
    """A robot that stands still with its weight spread evenly over its contact points."""
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_kinematics(robot.model, data)
    bodies = robot.point_body
    corners = data.xpos[bodies] + np.einsum("pij,pj->pi", data.xmat[bodies].reshape(-1, 3, 3), robot.point_position)
    corners[:, 2] -= robot.point_radius
    force = np.zeros((samples, robot.point_count, 3))
    force[..., 2] = robot.weight / robot.point_count
    held = {
        "force": force,
        "position": np.tile(corners, (samples, 1, 1)),
        "mode": np.ones((samples, robot.point_count)),
        "gap": np.zeros((samples, robot.point_count)),
    }
    return blank(robot, samples, **{**held, **given})


def stepped(robot, ground, samples=40, *, dt=DT, effort=1.0, flight=()):
    """A robot in wild motion, by semi-implicit Euler, with random forces of the ground.

    They act on points of the ground, not of the feet: momentum does not ask.
    """
    model, rng = robot.model, np.random.default_rng(0)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = robot.home, 0.5 * rng.normal(size=model.nv)
    points = robot.point_count
    rows = {"qpos": [], "qvel": [], "ctrl": [], "force": [], "position": [], "mode": []}
    for k in range(samples):
        xy = rng.normal(size=(points, 2)) * 0.2
        position = np.column_stack([xy, ground.height(*xy.T)])
        normal = ground.gap(position)[1]
        share = robot.weight / points
        force = share * (normal * rng.uniform(0, 2, (points, 1)) + 0.1 * rng.normal(size=(points, 3)))
        if k in flight:
            force[:] = 0.0
        data.ctrl[:] = effort * rng.normal(size=model.nu)
        data.qfrc_applied[:] = 0.0
        mujoco.mj_fwdPosition(model, data)
        body = robot.point_body
        for p in range(points):
            mujoco.mj_applyFT(model, data, force[p], np.zeros(3), position[p], body[p], data.qfrc_applied)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fwdActuation(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        closed = np.full(points, OPEN if k in flight else STICK)
        state = (data.qpos, data.qvel, data.ctrl, force, position, closed)
        for name, value in zip(rows, state, strict=True):
            rows[name].append(np.array(value))
        data.qvel += dt * data.qacc_smooth
        mujoco.mj_integratePos(model, data.qpos, data.qvel, dt)
    arrays = {name: np.array(value) for name, value in rows.items()}
    return blank(robot, samples, ground=ground, dt=dt, time=dt * np.arange(samples), **arrays)
