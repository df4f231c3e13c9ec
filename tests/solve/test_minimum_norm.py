"""Forces of least norm by the wrench route, against a pseudo-inverse of the whole Delassus matrix."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from plain_python import plainly

from footfall.compiled import ByReference
from footfall.engine.world import make_contacts
from footfall.solve.contacts import ALL, KNOWN, OPEN, SLIDE, STICK, Contacts
from footfall.solve.held_feet import spread_over_held_feet
from footfall.solve.minimum_norm import least_scratch, spread

SHAPES = {"free": [1, 1, 1], "flat": [1, 1, 0], "line": [1, 0, 0], "point": [0, 0, 0]}


def random_problem(feet: list[tuple[str, list[int]]], coordinates: int, seed: int):
    """Feet of a shape and near points that stick, slide or are open, which move each other, and accelerations wanted.

    The robot has so many coordinates, at most six per foot: planar robots cannot move sideways.
    """
    counts = [len(kinds) for _, kinds in feet]
    rng = np.random.default_rng(seed)
    arms = []
    for shape, kinds in feet:
        count = len(kinds)
        arm = rng.uniform(-0.2, 0.2, (count, 3)) * SHAPES[shape]
        arms.append(arm - arm.mean(axis=0) if count else arm)
    arm = np.concatenate([np.zeros((0, 3)), *arms])
    kind = np.array([kind for _, kinds in feet for kind in kinds], dtype=np.int64)
    jacobian = rng.normal(size=(6 * len(feet), min(coordinates, 6 * len(feet))))
    normal = rng.normal(size=(len(arm), 3)) * 0.1 + [0, 0, 1]
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return SimpleNamespace(
        counts=counts,
        arm=arm,
        kind=kind,
        mobility=jacobian @ jacobian.T,
        normal=normal,
        wanted=rng.normal(size=(len(arm), 3)),
    )


def problems(kinds=(STICK,), shapes=tuple(SHAPES)):
    """Robots of one to three feet of up to six points each."""
    foot = st.tuples(st.sampled_from(shapes), st.lists(st.sampled_from(kinds), max_size=6))
    feet = st.lists(foot, min_size=1, max_size=3)
    return st.builds(random_problem, feet=feet, coordinates=st.integers(1, 18), seed=st.integers(0, 2**32 - 1))


def contacts(problem) -> Contacts:
    begin = np.concatenate([[0], np.cumsum(problem.counts)]).astype(np.int64)
    places = np.zeros_like(problem.arm)
    feet = len(problem.counts)
    points = SimpleNamespace(
        local=places, position=places, anchor=places, body=np.zeros(feet), begin=begin, chain=np.zeros((feet, 1))
    )
    made = make_contacts(points, 1.0, 1.0)
    made.number[0], made.number[KNOWN], made.points[:], made.near[:] = len(places), ALL, np.arange(len(places)), begin
    made.frame[:, 2], made.arm[:], made.mobility[:] = problem.normal, problem.arm, problem.mobility
    return made


def rows(problem) -> tuple[np.ndarray, np.ndarray, list[tuple[int, np.ndarray]]]:
    """Motions of the held directions per motion of the feet, what is wanted of them, and (point, direction) of each."""
    found, wanted, held = [], [], []
    foot = np.repeat(np.arange(len(problem.counts)), problem.counts)
    for p, kind in enumerate(problem.kind):
        for direction in {STICK: np.eye(3), SLIDE: problem.normal[p][None], OPEN: np.zeros((0, 3))}[int(kind)]:
            row = np.zeros(6 * len(problem.counts))
            row[6 * foot[p] : 6 * foot[p] + 6] = [*direction, *np.cross(problem.arm[p], direction)]
            found.append(row)
            wanted.append(direction @ problem.wanted[p])
            held.append((p, direction))
    return np.array(found).reshape(-1, 6 * len(problem.counts)), np.array(wanted), held


def spread_forces(problem) -> np.ndarray:
    force = problem.wanted.copy()
    scratch = least_scratch(len(problem.counts))
    for array in (*scratch.held, *scratch[1:]):  # nothing of it is read before it is written
        array[...] = np.nan if array.dtype == float else np.iinfo(int).max
    spread(ByReference(contacts(problem)), problem.kind, force, ByReference(scratch))  # as laws do
    return force


def has_one_answer(problem) -> bool:
    """Whether nothing lies between what counts as zero and what does not, where there is no one answer.

    The kernel asks it of W and, where points of a foot depend on each other, of the squares of what they can move.
    """
    w, _, _ = rows(problem)
    values = np.linalg.eigvalsh(w @ problem.mobility @ w.T) if len(w) else np.zeros(1)
    largest = max(values.max(initial=0.0), 1e-300)
    squares = np.linalg.svd(w, compute_uv=False) ** 2
    most = squares.max(initial=0.0)
    return not (
        ((values > 1e-13 * largest) & (values < 1e-6 * largest)).any()
        or ((squares > 1e-14 * most) & (squares < 1e-8 * most)).any()
    )


def check(problem) -> None:
    w, wanted, held = rows(problem)
    delassus = w @ problem.mobility @ w.T
    solution = np.linalg.pinv(delassus, rcond=1e-8, hermitian=True) @ wanted if len(w) else wanted
    expected = np.zeros_like(problem.wanted)
    for (p, direction), value in zip(held, solution, strict=True):
        expected[p] += value * direction
    # Rounding times a condition of up to 1e6, squared where a basis is orthogonalised.
    size = max(np.abs(expected).max(initial=0.0), 1e-9)
    np.testing.assert_allclose(spread_forces(problem), expected, atol=1e-6 * size)


@given(problem=problems())
def test_points_that_stick_get_the_forces_of_the_pseudo_inverse(problem):
    assume(has_one_answer(problem))
    check(problem)


@given(problem=problems(shapes=("flat", "free")))
def test_flat_feet_get_the_forces_of_the_pseudo_inverse(problem):
    assume(has_one_answer(problem))
    check(problem)


@given(problem=problems(kinds=(STICK, SLIDE, OPEN)))
def test_points_that_slide_or_left_are_held_along_their_normal_or_not_at_all(problem):
    assume(has_one_answer(problem))
    check(problem)


@pytest.mark.parametrize("seed", [10849, 11405])
def test_a_foot_that_lacks_one_motion_gets_the_forces_of_the_pseudo_inverse(seed):
    """Of 60,000 random robots of five coordinates these have a small pivot before the one that is rounding alone."""
    rng = np.random.default_rng(seed)
    arm = rng.uniform(-0.2, 0.2, (5, 3)) * [1, 1, 0]
    jacobian = rng.normal(size=(12, rng.integers(1, 7)))
    problem = SimpleNamespace(
        counts=[0, 5],
        arm=arm - arm.mean(axis=0),
        kind=np.full(5, STICK),
        mobility=jacobian @ jacobian.T,
        normal=np.tile([0.0, 0.0, 1.0], (5, 1)),
        wanted=rng.normal(size=(5, 3)),
    )
    assert has_one_answer(problem)
    check(problem)


@pytest.mark.parametrize("points", [1, 2, 4])
def test_feet_that_cannot_be_moved_apart_are_held_by_their_compliance(points):
    """Legs that swing fore and aft alone: what presses the four feet sideways against each other moves nothing."""
    rng = np.random.default_rng(points)
    at = np.array([[x, y, -0.3] for x in (-0.2, 0.2) for y in (-0.1, 0.1)])
    jacobian = np.zeros((24, 18))
    for foot, (x, y, z) in enumerate(at):
        own = slice(6 * foot, 6 * foot + 6)
        turn = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])
        jacobian[own, :6] = np.block([[np.eye(3), turn], [np.zeros((3, 3)), np.eye(3)]])  # the trunk
        for joint in range(3):  # hip, knee and ankle
            jacobian[own, 6 + 3 * foot + joint] = [
                *np.cross([0, 1, 0], [0.2 * joint**2, 0, -0.3 + 0.1 * joint]),
                0,
                1,
                0,
            ]
    arm = np.tile([[0.0, 0, 0], [0.2, 0.3, 0], [-0.2, -0.3, 0], [0.5, -0.1, 0]][:points], (4, 1))
    arm -= np.tile(arm[:points].mean(axis=0), (4 * points, 1))
    root = jacobian * rng.uniform(0.5, 2.0, 18)
    problem = SimpleNamespace(
        counts=[points] * 4,
        arm=arm,
        kind=np.full(len(arm), STICK),
        mobility=root @ root.T,
        normal=np.tile([0.0, 0.0, 1.0], (len(arm), 1)),
        wanted=rng.normal(size=(len(arm), 3)),
    )
    assert has_one_answer(problem)
    check(problem)
    w, _, _ = rows(problem)  # motions that forces produce
    problem.wanted[:] = (w @ problem.mobility @ w.T @ rng.normal(size=3 * len(arm))).reshape(-1, 3)
    force, scratch = problem.wanted.copy(), least_scratch(4).held
    assert not plainly(spread_over_held_feet)(contacts(problem), force, False, scratch)
    assert plainly(spread_over_held_feet)(contacts(problem), force, True, scratch)
    expected = spread_forces(problem)
    # The compliance is 1e-9 of the largest mobility; the least that counts may be a millionth of that.
    np.testing.assert_allclose(force, expected, atol=1e-3 * np.abs(expected).max())


def test_one_point_on_a_free_body_gets_mass_times_acceleration():
    mass = 2.0
    mobility = np.diag([1 / mass] * 3 + [10.0] * 3)
    problem = SimpleNamespace(
        counts=[1],
        arm=np.zeros((1, 3)),
        kind=np.array([STICK]),
        mobility=mobility,
        normal=np.array([[0.0, 0.0, 1.0]]),
        wanted=np.array([[1.0, 2.0, 3.0]]),
    )
    np.testing.assert_allclose(spread_forces(problem), [[2.0, 4.0, 6.0]])
