"""The Delassus operator, against dense J M^-1 J^T."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from engine import reference
from engine.test_points import buried, everywhere
from plain_python import plainly

import footfall as ff
from footfall.engine import mobility

EXACT = 1e-12  # relative: rounding of sums over some twenty joints


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def foot_rows(run: reference.Run) -> np.ndarray:
    """(3n, 6K) how the points of the feet move with the six motions of their centroids, from arms."""
    rows = np.zeros((len(reference.near(run)), 3, 6 * len(run.points.body)))
    for row, p in zip(rows, reference.near(run), strict=True):
        k, (x, y, z) = 6 * run.contacts.body[p], run.contacts.arm[p]
        row[:, k : k + 3] = np.eye(3)
        row[:, k + 3 : k + 6] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    return rows.reshape(-1, rows.shape[-1])


@everywhere
def test_the_mobility_of_the_feet_gives_the_delassus_matrix_of_the_points(robot, seed):
    run = buried(robot, seed)
    data = reference.mujoco_data(run)
    jacobian = reference.point_jacobian(run, data).reshape(-1, run.model.nv)
    expected = jacobian @ np.linalg.solve(reference.inertia(run, data), jacobian.T)
    rows = foot_rows(run)
    assert relative(rows @ run.contacts.mobility @ rows.T, expected) < EXACT
    # The menagerie has armature and damping, so that this compares the effective inertia.
    assert (run.model.dof_damping > 0).any() == (robot == "menagerie")


@everywhere
def test_the_mobility_is_symmetric_and_never_negative(robot, seed):
    found = buried(robot, seed).contacts.mobility
    np.testing.assert_array_equal(found, found.T)
    assert np.linalg.eigvalsh(found).min() > -EXACT * np.abs(found).max()


@everywhere
def test_half_and_whole_solves_are_mujocos(robot, seed):
    run = buried(robot, seed)
    given = np.random.default_rng(seed).normal(size=run.model.nv)
    expected = np.zeros((1, given.size))
    mujoco.mj_solveM(run.model, run.data, expected, given[None])
    x = given.copy()
    plainly(mobility.half_solve)(run.workspace.world, x)
    # D^-1 is the metric of half-solved vectors: the energy of an impulse is that of its half solution.
    assert x @ (run.workspace.world.qLDiagInv * x) == pytest.approx(given @ expected[0], rel=EXACT)
    plainly(mobility.finish_solve)(run.workspace.world, x)
    assert relative(x, expected[0]) < EXACT


@everywhere
def test_the_factored_inertia_holds_armature_and_the_damping_of_the_step(robot, seed):
    run = buried(robot, seed)
    solved = np.zeros((run.model.nv, run.model.nv))
    mujoco.mj_solveM(run.model, run.data, solved, reference.inertia(run, reference.mujoco_data(run)))
    # Rounding times the condition of M, some thousands.
    np.testing.assert_allclose(solved, np.eye(run.model.nv), atol=1e-11)


def test_a_foot_off_the_ground_leaves_the_others_mobility_alone():
    robot = ff.load_robot("spatial-biped")
    sim = ff.Simulation(robot, ground=ff.Ground.plane(height=1e-4))
    both = reference.evaluated(sim, robot.home)
    lifted = robot.home.copy()
    lifted[robot.model.joint("left_hip_roll").qposadr] += 0.3
    one = reference.evaluated(sim, lifted)
    assert list(reference.near(both)) == list(range(8))
    assert set(one.contacts.body[reference.near(one)]) == {1}
    data = reference.mujoco_data(one)
    jacobian = reference.point_jacobian(one, data).reshape(-1, one.model.nv)
    expected = jacobian @ np.linalg.solve(reference.inertia(one, data), jacobian.T)
    rows = foot_rows(one)[:, 6:]
    assert relative(rows @ one.contacts.mobility[6:, 6:] @ rows.T, expected) < EXACT
