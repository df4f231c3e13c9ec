"""The force distribution of Ott 2011 against another solver, its limits, and what it does when it cannot."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, minimize

from footfall.compiled import ByReference
from footfall.control.contact_forces import distribute, force_problem, friction_pyramid
from footfall.errors import ControllerError

FEET = np.array([[x, y, -0.65] for y in (-0.16, -0.04, 0.04, 0.16) for x in (-0.11, 0.11)])
LEVEL = np.broadcast_to(np.eye(3), (8, 3, 3)).copy()
WEIGHT = 490.5  # N
WEIGHTS = (1.0, 1e-3, 1e-6)


class ContactForces:
    """A force distribution that is called from Python."""

    def __init__(self, count: int, friction: float, **options: object) -> None:
        problem = force_problem(count, friction, **options)
        self.place, self.force, self.missed, self.solved = ByReference(problem), problem.force, problem.missed, False

    def distribute(self, wrench: np.ndarray, arms: np.ndarray, frames: np.ndarray) -> np.ndarray:
        self.solved = distribute(self.place, wrench, arms, frames)
        return self.force


def wrench_of(force: np.ndarray, arms: np.ndarray) -> np.ndarray:
    return np.concatenate([force.sum(axis=0), np.cross(arms, force).sum(axis=0)])


def cost(force: np.ndarray, wrench: np.ndarray, arms: np.ndarray) -> float:
    """Eq. (18), written out."""
    missed = wrench - wrench_of(force, arms)
    a1, a2, a3 = WEIGHTS
    return float(a1 * missed[:3] @ missed[:3] + a2 * missed[3:] @ missed[3:] + a3 * (force**2).sum())


def tilted(angle: float) -> np.ndarray:
    """Contact frames, rows tangent, tangent, normal, of ground that rises along x."""
    c, s = math.cos(angle), math.sin(angle)
    return np.broadcast_to(np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]), (8, 3, 3)).copy()


# ---- the pyramid -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", [3, 4, 5, 8, 16])
def test_the_pyramid_lies_in_the_cone_and_touches_it_with_its_edges(sides):
    rows = friction_pyramid(0.6, sides)
    assert rows.shape == (sides, 3)
    angle = 2.0 * math.pi * np.arange(sides) / sides
    edges = np.stack([0.6 * np.cos(angle), 0.6 * np.sin(angle), np.ones(sides)])
    np.testing.assert_allclose((rows @ edges).max(axis=0), 0.0, atol=1e-14)  # on the pyramid
    around = np.linspace(0.0, 2.0 * math.pi, 400)
    beyond = np.stack([0.601 * np.cos(around), 0.601 * np.sin(around), np.ones(400)])
    assert ((rows @ beyond).max(axis=0) > 0.0).all()
    inner = 0.6 * math.cos(math.pi / sides) - 1e-9
    within = np.stack([inner * np.cos(around), inner * np.sin(around), np.ones(400)])
    assert ((rows @ within).max(axis=0) <= 0.0).all()


def test_a_problem_without_a_point_is_refused():
    with pytest.raises(ControllerError, match="at least one contact point"):
        ContactForces(0, 0.6)


# ---- the distribution ------------------------------------------------------------------------------------------


def test_without_limits_in_the_way_the_wrench_is_met_by_the_smallest_forces():
    """Then (17) is the answer, to what the weight a3 = 1e-7 takes away from forces of 50 N."""
    wrench = np.array([10.0, -15.0, WEIGHT, 5.0, -3.0, 2.0])
    forces = ContactForces(8, 0.7, weights=(1.0, 1.0, 1e-7))
    force = forces.distribute(wrench, FEET, LEVEL)
    grasp = np.concatenate([np.hstack([np.eye(3)] * 8), np.hstack([np.cross(np.eye(3), r).T * -1.0 for r in FEET])])
    np.testing.assert_allclose(grasp @ force.ravel(), wrench_of(force, FEET), atol=1e-9)
    np.testing.assert_allclose(force.ravel(), np.linalg.pinv(grasp) @ wrench, atol=1e-3)
    np.testing.assert_allclose(forces.missed, 0.0, atol=1e-3)


def test_at_rest_every_point_carries_the_same():
    force = ContactForces(8, 0.7).distribute(np.array([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0]), FEET, LEVEL)
    np.testing.assert_allclose(force[:, 2], WEIGHT / 8.0, rtol=1e-6)
    np.testing.assert_allclose(force[:, :2], 0.0, atol=1e-6)


@pytest.mark.parametrize(
    "wrench",
    [
        [30.0, -60.0, WEIGHT, 40.0, 5.0, 3.0],
        [0.0, 0.0, WEIGHT, 120.0, 0.0, 0.0],  # more than the feet can give
        [450.0, 0.0, WEIGHT, 0.0, 0.0, 0.0],  # more than friction allows
        [0.0, 0.0, 10.0, 0.0, 0.0, 0.0],  # less than the floors of all points
    ],
)
def test_the_solution_is_that_of_another_solver(wrench):
    wrench = np.array(wrench)
    forces = ContactForces(8, 0.7, sides=4, minimum=4.0)
    force = forces.distribute(wrench, FEET, LEVEL).copy()
    assert forces.solved
    rows = np.kron(np.eye(8), friction_pyramid(0.7, 4))
    lower = np.tile([-np.inf, -np.inf, 4.0], 8)
    found = minimize(
        lambda f: cost(f.reshape(8, 3), wrench, FEET),
        np.tile([0.0, 0.0, WEIGHT / 8.0], 8),
        method="SLSQP",
        bounds=Bounds(lower, np.inf),
        constraints=LinearConstraint(rows, -np.inf, 0.0),
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert cost(force, wrench, FEET) <= found.fun * (1.0 + 1e-6) + 1e-9
    # SLSQP ends within a millionth of the weight's square; forces of 0.1 N along the flat valley of a3 cost less.
    np.testing.assert_allclose(wrench_of(force, FEET), wrench_of(found.x.reshape(8, 3), FEET), atol=0.05)


@given(
    asked=st.lists(st.floats(-400.0, 400.0), min_size=6, max_size=6),
    sides=st.integers(3, 9),
    friction=st.floats(0.0, 1.2),
    floor=st.floats(0.0, 30.0),
    angle=st.floats(-0.5, 0.5),
)
def test_friction_and_floor_are_obeyed_whatever_is_asked_for(asked, sides, friction, floor, angle):
    frames = tilted(angle)
    forces = ContactForces(8, friction, sides=sides, minimum=floor)
    wrench = np.array(asked) + np.array([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0])
    force = forces.distribute(wrench, FEET, frames)
    assert forces.solved
    local = np.einsum("pij,pj->pi", frames, force)
    slack = 1e-5 * (1.0 + np.abs(local).max())  # the solver's tolerance is 1e-6 of a row of size one
    assert local[:, 2].min() >= floor - slack
    assert (np.linalg.norm(local[:, :2], axis=1) <= friction * local[:, 2] + slack).all()
    np.testing.assert_allclose(forces.missed, wrench - wrench_of(force, FEET), atol=1e-9)


def test_force_comes_before_torque():
    """A torque that the feet cannot give is given up, the force is not."""
    forces = ContactForces(8, 0.7)
    forces.distribute(np.array([0.0, 20.0, WEIGHT, 150.0, 0.0, 0.0]), FEET, LEVEL)
    assert np.abs(forces.missed[:3]).max() < 0.2
    assert abs(forces.missed[3]) > 50.0


def test_a_warm_start_changes_nothing():
    warm = ContactForces(8, 0.7)
    for k in range(50):
        wrench = np.array([40.0 * math.sin(k), 60.0 * math.cos(k), WEIGHT, 50.0 * math.sin(2 * k), 5.0, 0.1 * k])
        arms = FEET + 1e-3 * math.sin(k)
        cold = ContactForces(8, 0.7).distribute(wrench, arms, LEVEL)
        np.testing.assert_allclose(warm.distribute(wrench, arms, LEVEL), cold, atol=1e-4)
        assert warm.solved
