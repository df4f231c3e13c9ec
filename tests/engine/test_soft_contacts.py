"""Contacts of law mujoco as inertia: the same solution as MuJoCo's own solver, whatever the state."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from engine import reference
from engine.test_joint_constraints import EQUALITIES, puppet, real
from pairs import paired
from real_robots import FILES

import footfall as ff
from footfall.engine.soft_contacts import folds
from footfall.simulation.setup import compose

# Of the largest acceleration. Both solve the same equations: what is left is rounding times the condition of M and of
# rows, the stiffest of which are pyramids' edges on slippery ground.
SAME = 1e-9
#: Of the cost: rounding.
ROUNDING = 1e-12
CONES = [("pyramidal", 1.0), ("pyramidal", 10.0), ("elliptic", 1.0), ("elliptic", 10.0)]
ROBOTS = ("spatial-biped", "quadruped", "planar-biped", "small-humanoid")
MOTIONS = ("standing", "sliding", "heap")


def cost(model: mujoco.MjModel, data: mujoco.MjData, qacc: np.ndarray) -> float:
    """MuJoCo's cost of an acceleration, 1/2 (a - a_0)^T M (a - a_0) + s(J a - a_ref)."""
    along, momentum, rows = np.zeros(data.nefc), np.zeros(model.nv), np.zeros(1)
    mujoco.mj_mulJacVec(model, data, along, qacc)
    mujoco.mj_constraintUpdate(model, data, along - data.efc_aref, rows, 0)
    mujoco.mj_mulM(model, data, momentum, qacc - data.qacc_smooth)
    return float(0.5 * (qacc - data.qacc_smooth) @ momentum + rows[0])


def agree(run: reference.Run) -> int:
    """Compare the evaluated step of a run with MuJoCo's own solver. Gives how many points bear a load."""
    asked = run.data.solver_niter[0] > 0
    model = run.model if asked else reference.exact(run.model)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = run.data.qpos, run.data.qvel, run.data.ctrl
    reference.solve_on_points(run, model, data)
    near, found = reference.near(run), run.data.qacc_warmstart
    if model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL or data.ncon == len(near):
        assert not asked  # only where bodies touch each other with round cones is MuJoCo's own solver
    scale = np.abs(data.qacc).max()
    np.testing.assert_allclose(found, data.qacc, atol=SAME * scale)
    force = np.zeros(6)
    first = data.ncon - len(near)
    # A force is the inertia of its row times a difference of accelerations: their rounding is multiplied by it.
    jacobian = np.zeros((data.nefc, model.nv))
    if data.nefc:
        mujoco.mju_sparse2dense(jacobian, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    sums = data.efc_D * (np.abs(data.efc_aref) + np.abs(jacobian) @ np.abs(data.qacc))
    total = SAME * np.abs(data.qfrc_constraint).max() + 4.0 * np.finfo(float).eps * sums.max(initial=0.0)
    for i, p in enumerate(near):
        mujoco.mj_contactForce(model, data, first + i, force)
        np.testing.assert_allclose(run.points.force[p], force[[1, 2, 0]], atol=total)
    np.testing.assert_allclose(run.data.qfrc_constraint, data.qfrc_constraint, atol=total)
    if data.nefc:
        least = cost(model, data, data.qacc.copy())
        assert cost(model, data, found.copy()) <= least + ROUNDING * (abs(least) + 1.0)
    return int(np.count_nonzero(run.points.force[near, 2]))


def states(sim: ff.Simulation, motion: str, duration: float = 0.04) -> list[tuple[np.ndarray, np.ndarray]]:
    """States of a run that stands still, that slides over the ground, or that ends in a heap."""
    model, qvel = sim.robot.model, np.zeros(sim.robot.model.nv)
    if motion == "sliding":
        qvel[0] = 1.5
    if motion == "heap":
        rng, duration = np.random.default_rng(1), 0.6
        qvel[:] = rng.normal(size=model.nv)
        qvel[min(2, model.nv - 1)] = -2.0
    run = reference.Run(sim, duration, reference.Task(qpos=sim.place(), qvel=qvel))
    found, every = [], max(1, round(duration / sim.dt) // 12)
    while run.advance(every):
        found.append((run.data.qpos.copy(), run.data.qvel.copy()))
    return found


def agree_in_all(sim: ff.Simulation, motion: str) -> None:
    """In all states of a motion, in some of which points bear a load."""
    loaded = 0
    for qpos, qvel in states(sim, motion):
        run = reference.evaluated(sim, qpos, qvel)
        loaded += agree(run)
        reference.done(run)
    assert loaded > 5


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize(("robot", "law"), [pair for shift in (0, 1) for pair in paired(ROBOTS, CONES, shift)])
def test_every_step_is_that_of_mujocos_own_solver(robot, law, motion):
    """From no knowledge of the step before: states, forces and the least cost are found all the same."""
    cone, impratio = law
    sim = ff.Simulation(robot, law=ff.law("mujoco", cone=cone, impratio=impratio))
    assert folds(sim.scene.model)
    agree_in_all(sim, motion)


@pytest.mark.parametrize(("name", "cone"), paired(list(FILES), ["pyramidal", "elliptic"]))
def test_real_robots_fall_as_by_mujocos_own_solver(name, cone):
    """Loops, friction and limits of joints, and bodies that strike each other."""
    sim = ff.Simulation(real(name), law=ff.law("mujoco", cone=cone))
    assert folds(sim.scene.model)
    agree_in_all(sim, "heap")


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("equality", EQUALITIES)
def test_every_constraint_beside_contacts_is_that_of_mujocos_own_solver(equality, cone):
    sim = ff.Simulation(puppet(equality), law=ff.law("mujoco", cone=cone))
    agree_in_all(sim, "heap")


@pytest.mark.parametrize("friction", [0.0, 1e-3, 2.0])
def test_contacts_agree_with_mujoco_on_slippery_and_on_rough_ground(friction):
    """Edges of a pyramid are the stiffer the less friction there is: at MuJoCo's least by ten orders of magnitude."""
    sim = ff.Simulation("spatial-biped", law="mujoco", ground=ff.Ground.plane(friction))
    agree_in_all(sim, "heap")


ASKED = {
    "another solver": '<option solver="CG"/>',
    "a dual solver": '<option solver="PGS"/>',
    "friction without slip": '<option noslip_iterations="3"/>',
    "contacts of one kind": '<option><flag override="enable"/></option>',
    "exact diagonals": '<option><flag diagexact="enable"/></option>',
}


@pytest.mark.parametrize("option", ASKED)
def test_models_that_ask_for_another_solution_are_left_to_mujoco(option):
    own = ff.load_robot("spatial-biped")
    spec = mujoco.MjSpec.from_string(own.mjcf.replace("<worldbody>", f"{ASKED[option]}<worldbody>", 1))
    robot = ff.load_robot(spec, pose=own.home)
    assert folds(compose(own, ff.law("mujoco"), 1e-3, body_contacts=True).model)
    sim = ff.Simulation(robot, law="mujoco")
    assert not folds(sim.scene.model)
    run = reference.evaluated(sim, sim.place() - 1e-3 * (np.arange(robot.model.nq) == 2))
    assert run.data.solver_niter[0] > 0
    assert run.points.force[:, 2].max() > 0.05 * robot.weight


def test_a_lone_body_whose_inertia_is_diagonal_is_left_to_mujoco():
    assert not folds(ff.Simulation("brick", law="mujoco").scene.model)
    assert not folds(ff.Simulation(reference.menagerie(), law="mujoco").scene.model)
