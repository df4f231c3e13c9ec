"""How many testing points are enough: against closed forms, and against a finer answer to the same question."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import footfall as ff
from footfall.cli import main
from footfall.errors import FootfallError, GroundError, LawError, RobotError
from footfall.robot.feet import grid_on_sole
from footfall.study.testing_points import enough_points, equilibrium, put_down, resultant, rough, scattered


def flat(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.zeros_like(x)


def sole(nx: int, ny: int, layout: str = "even") -> np.ndarray:
    """(P, 2) points under a brick of 0.2 x 0.1 m."""
    return grid_on_sole(ff.load_robot("brick").feet[0], nx, ny, layout=layout)[:, :2]


def places(samples: int = 4, seed: int = 0):
    return scattered(1.0, samples, np.random.default_rng(seed))


# ---- the sole under its load ---------------------------------------------------------------------------------


def test_a_sole_loaded_in_its_middle_third_sinks_and_tilts_as_a_beam_on_a_foundation():
    """Linear springs, no lift-off: depth F / K, slope F e / (K L^2 / 12)."""
    at = np.array([[0.02, 0.0], [-0.01, 0.005]])
    press = put_down(sole(7, 4), flat, places(2), 1e4, 1.0)
    pose = equilibrium(press, 10.0, at)
    np.testing.assert_allclose(pose[:, 0], 1e-3, rtol=1e-8)
    np.testing.assert_allclose(pose[:, 1:], 10.0 * at / (1e4 / 12 * np.array([0.2, 0.1]) ** 2), atol=1e-12)
    np.testing.assert_allclose(resultant(press, pose).centre, at, atol=1e-9)


def test_a_sole_loaded_beyond_its_middle_third_lifts_an_edge():
    """At e = L / 3 half of it touches, with a triangle of pressure: at the edge four times the mean of the sole."""
    press = put_down(sole(400, 2), flat, places(1), 1e4, 1.0)
    pose = equilibrium(press, 10.0, np.array([[0.2 / 3, 0.0]]))
    depths = press.depths(pose)[0]
    assert np.mean(depths > 0) == pytest.approx(0.5, abs=0.01)
    assert depths.max() == pytest.approx(4e-3, rel=0.01)


@pytest.mark.parametrize("alpha", [1.0, 1.2, 1.5])
def test_on_the_roughest_ground_the_load_is_carried_where_it_stands(alpha):
    rng = np.random.default_rng(3)
    press = put_down(sole(60, 30), rough(0.02, 0.05, rng), places(8), 1e4, alpha)
    at = rng.uniform(-0.02, 0.02, (8, 2))
    found = resultant(press, equilibrium(press, 10.0, at))
    np.testing.assert_allclose(found.force, 10.0, rtol=1e-7)
    np.testing.assert_allclose(found.centre, at, atol=1e-8)


def test_roughness_has_the_root_mean_square_of_a_sine_and_its_wavelength():
    heights = rough(2e-3, 0.05, np.random.default_rng(0))
    x, y = np.random.default_rng(1).uniform(-5, 5, (2, 200_000))
    z = heights(x, y)
    assert np.std(z) == pytest.approx(2e-3 / math.sqrt(2), rel=0.02)
    step = 1e-4
    curvature = (
        heights(x + step, y) + heights(x - step, y) + heights(x, y + step) + heights(x, y - step) - 4 * z
    ) / step**2
    assert np.std(curvature) / np.std(z) == pytest.approx((2 * math.pi / 0.05) ** 2, rel=1e-3)


# ---- layouts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 8])
def test_even_points_have_the_second_moment_of_the_sole_and_edges_too_much(n):
    even, edges = sole(n, n), sole(n, n, "edges")
    np.testing.assert_allclose((even**2).mean(axis=0), np.array([0.2, 0.1]) ** 2 / 12, rtol=1e-12)
    np.testing.assert_allclose((edges**2).mean(axis=0) / (even**2).mean(axis=0), (n + 1) / (n - 1), rtol=1e-12)
    assert (np.abs(even) < [0.1, 0.05]).all()


# ---- enough --------------------------------------------------------------------------------------------------

#: The ground of Bruneau and Ouezdou 1999, into which a sole sinks by 6 mm: few points are enough on its waves.
SOFT = ff.law("distributed", kn=9950.0)
CASES = [
    ("hanavan", SOFT, (2e-3, 0.03)),
    ("spatial-biped", "spring-damper", (1e-3, 0.05)),
    ("spatial-biped", "hunt-crossley", (3e-3, 0.05)),
]


@pytest.mark.parametrize(("robot", "law", "roughness"), CASES)
def test_errors_fall_as_points_are_added(robot, law, roughness):
    found = enough_points(robot, roughness=roughness, law=law, samples=16)
    worst = np.array([row.worst for row in found.table])
    assert (worst[4:] < 0.75 * worst[:-4]).mean() > 0.8  # chance may favour a coarse grid, not four in a row
    assert worst[-1] < 0.01 < 0.1 < worst[0]
    assert worst[[row.grid for row in found.table].index(found.grid) :].max() <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "law", "roughness"), CASES)
def test_what_is_enough_is_so_on_other_ground_of_the_kind_against_a_finer_sole(robot, law, roughness):
    """Other waves, other placements, another reference of 6500 points: the error may differ by its sampling alone."""
    found = enough_points(robot, roughness=roughness, law=law, tolerance=0.04)
    robot = ff.load_robot(robot)
    foot, load = robot.feet[0], robot.weight / 2
    chosen = ff.law(law)
    total = chosen.stiffness(load / len(foot.points)) * len(foot.points)
    alpha = chosen.options().get("alpha", 1.0)
    rng = np.random.default_rng(99)
    heights, where = rough(*roughness, rng), scattered(3.0, 32, rng)
    middle = foot.polygon.mean(axis=0)[:2]
    sides = np.ptp(foot.polygon[:, :2], axis=0)
    fine = (grid_on_sole(foot, 120, 54, layout="even")[:, :2]) - middle
    coarse = found.points[foot.name][:, :2] - middle
    exact = put_down(fine, heights, where, total, alpha)
    pose = equilibrium(exact, load, 0.5 * sides * where.load_at)
    got, true = resultant(put_down(coarse, heights, where, total, alpha), pose), resultant(exact, pose)

    def rms(error: np.ndarray) -> float:
        return float(np.sqrt(np.mean(error**2, axis=0)).max())

    errors = (
        rms(got.force / load - 1),
        rms((got.centre - true.centre) / sides),
        rms(got.tilt_stiffness / true.tilt_stiffness - 1),
    )
    print(found.grid, errors)
    assert max(errors) < 1.25 * 0.04


@pytest.mark.slow
def test_rougher_ground_and_tighter_tolerances_want_more_points():
    count = [enough_points("hanavan", roughness=(a, 0.04), law=SOFT, samples=8).count for a in (1e-3, 1e-2, 5e-2)]
    assert count[0] < count[1] < count[2]
    # The middle one had a tolerance of 0.02, which is the default.
    looser = [
        enough_points("hanavan", roughness=(1e-2, 0.04), law=SOFT, samples=8, tolerance=t).count for t in (0.1, 0.05)
    ]
    assert looser[0] < looser[1] < count[1]


def test_gains_belong_to_the_points_the_robot_has_so_that_asking_again_changes_nothing():
    first = enough_points("spatial-biped", roughness=(1e-3, 0.05), law=ff.law("spring-damper", k=5e4), samples=8)
    robot = ff.load_robot("spatial-biped").with_points(first.points)
    law = ff.law("spring-damper", k=5e4 * 4 / first.count)
    assert enough_points(robot, roughness=(1e-3, 0.05), law=law, samples=8).table == first.table


def test_any_ground_will_do_and_a_foot_with_a_load():
    x = np.linspace(-2, 2, 201)
    waves = ff.Ground.heightfield(3e-3 * np.sin(2 * np.pi / 0.2 * x)[None] + 0 * x[:, None], size=(4.0, 4.0))
    foot = ff.load_robot("hanavan").feet[1]
    found = enough_points(foot, roughness=waves, load=300.0, tolerance=0.05, samples=16)
    assert list(found.points) == ["right"] and len(found.points["right"]) == found.count
    assert "right under distributed" in str(found) and "<- enough" in str(found)


def test_the_robot_stands_on_the_points_that_are_enough():
    found = enough_points("spatial-biped", roughness=(1e-3, 0.05), tolerance=0.1, samples=8)
    robot = ff.load_robot("spatial-biped").with_points(found.points)
    assert robot.point_count == 2 * found.count


def test_the_plot_shows_three_errors_and_the_tolerance():
    found = enough_points("hanavan", roughness=(2e-3, 0.05), tolerance=0.05, samples=8)
    ax = found.plot().axes[0]
    names = ax.get_legend_handles_labels()[1]
    assert names[:3] == ["resultant force", "centre of pressure", "tilt stiffness"]
    assert names[3] == "tolerance 5 %" and names[4].startswith(f"enough: {found.grid[0]} x {found.grid[1]}, ")
    assert ax.get_xlabel() == "testing points per foot"


def test_the_command_tells_the_grid(capsys):
    assert main(["points", "hanavan", "--roughness", "0.002", "0.05", "--tolerance", "0.05", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["points"]["left"]) == told["count"]
    assert main(["points", "ball", "--roughness", "0.002", "0.05"]) == 1
    assert "points or lines" in capsys.readouterr().err


# ---- what is refused -----------------------------------------------------------------------------------------


def test_what_cannot_be_answered_is_refused_with_a_sentence():
    with pytest.raises(RobotError, match="points or lines"):
        enough_points("ball", roughness=(1e-3, 0.05))
    with pytest.raises(RobotError, match="give the load on foot"):
        enough_points(ff.load_robot("brick").feet[0], roughness=(1e-3, 0.05))
    with pytest.raises(LawError, match="no springs"):
        enough_points("brick", roughness=(1e-3, 0.05), law="linearizing-penalty")
    with pytest.raises(GroundError, match="wavelength"):
        enough_points("brick", roughness=(1e-3, 0.0))
    with pytest.raises(FootfallError, match="tolerance"):
        enough_points("brick", roughness=(1e-3, 0.1), tolerance=0.0)
    with pytest.raises(FootfallError, match="are not enough for"):
        enough_points("brick", roughness=(1e-2, 0.05), tolerance=1e-3, limit=50, samples=4)


def test_a_point_outside_the_sole_is_refused():
    with pytest.raises(RobotError, match=r"the point \(0.3, 0, -0.03\) lies 0.2 m outside its sole"):
        ff.load_robot("brick", points={"brick": [[0.3, 0, -0.03], [0, 0, -0.03]]})
    ff.load_robot("ball", points={"ball": [[0.3, 0, 0]]})  # it has no sole to lie on
