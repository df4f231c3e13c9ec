"""Restitution and friction from single impacts: what made them is found, by the rule that made them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from footfall.cli import main
from footfall.errors import StudyError
from footfall.solve import impact
from footfall.study.fit import ellipse_arm, fit, load_impacts, planar_impact

MASS, INERTIA, AXES = 0.0364, 1.36e-5, (0.035, 0.025)


def bounced(number, rule, restitution=0.6, friction=0.25, noise=0.0, seed=1):
    """Rows of a table: an ellipse at any angle, falling and sliding, and what the rule makes of it."""
    random = np.random.default_rng(seed)
    rows = []
    while len(rows) < number:
        angle = random.uniform(-1.5, 1.5)
        before = np.array([random.uniform(-1, 1), random.uniform(-2, -1), random.uniform(-15, 15)])
        arm = ellipse_arm(AXES, angle)
        if before[1] + before[2] * arm[0] > -0.2:
            continue
        trial = planar_impact(arm, before, before, mass=MASS, inertia=INERTIA)
        found = impact(
            trial.mass_matrix, trial.jacobian, trial.before, friction=friction, restitution=restitution, rule=rule
        )
        after = found.velocity[[0, 2, 3]] + noise * random.normal(size=3) * [1, 1, 40]
        rows.append([angle, *before, *after])
    return rows


def write(path, rows, head="angle [rad],vx_pre,vy_pre,omega_pre,vx_post,vy_post,omega_post"):
    path.write_text("\n".join([head, *(",".join(f"{v:.6f}" for v in row) for row in rows)]) + "\n")
    return path


PLAIN = "angle,vx_pre,vy_pre,omega_pre,vx_post,vy_post,omega_post"


def test_the_lowest_point_of_an_ellipse():
    assert np.allclose(ellipse_arm((2.0, 1.0), 0.0), [0.0, -1.0])
    assert np.allclose(ellipse_arm((2.0, 1.0), np.pi / 2), [0.0, -2.0])
    angle = 0.7
    around = np.linspace(0, 2 * np.pi, 200001)
    x, z = 2.0 * np.cos(around), np.sin(around)
    height = np.sin(angle) * x + np.cos(angle) * z
    lowest = int(height.argmin())
    found = [np.cos(angle) * x[lowest] - np.sin(angle) * z[lowest], height[lowest]]
    assert np.allclose(ellipse_arm((2.0, 1.0), angle), found, atol=1e-4)


@pytest.mark.parametrize(("rule", "seed", "number"), [("newton", 5, 24), ("energetic", 1, 8)])
def test_what_made_the_impacts_is_in_the_interval(rule, seed, number, tmp_path):
    """Where most impacts stick, the loss is a plateau in friction, and the search alone may end on it."""
    path = write(tmp_path / "a.csv", bounced(number, rule, noise=0.01, seed=seed))
    trials = load_impacts(path, mass=MASS, inertia=INERTIA, semi_axes=AXES, rule=rule)
    found = fit("time-stepping", trials, evaluations=60 if rule == "newton" else 30, workers=1)
    restitution, friction = found.parameters
    # Eight impacts with this noise tell restitution to 0.02, half the width of its interval; 24 to half of that.
    tolerance = 0.02 if number == 8 else 0.01
    assert restitution.low < 0.6 < restitution.high and restitution.value == pytest.approx(0.6, abs=tolerance)
    assert friction.low < 0.25 < friction.high
    assert not found.kept_defaults and found.loss < 0.2 * found.default_loss


def test_friction_of_impacts_that_stick_is_not_identifiable(tmp_path):
    """Bodies that fall straight down onto their lowest point below the centre do not slide."""
    rows = [[0.0, 0.0, v, 0.0, 0.0, -0.5 * v, 0.0] for v in np.linspace(-2, -1, 8)]
    found = fit(
        "time-stepping",
        load_impacts(write(tmp_path / "a.csv", rows), mass=MASS, inertia=INERTIA, semi_axes=AXES),
        evaluations=30,
    )
    assert found.parameters[0].value == pytest.approx(0.5, abs=0.01)
    assert found.parameters[1].note == "not identifiable from these data"


def test_the_command_fits_each_rule(tmp_path, capsys):
    path = write(tmp_path / "a.csv", bounced(4, "newton"))
    command = ["identify", "impacts", str(path), "--mass", str(MASS), "--inertia", str(INERTIA)]
    assert main([*command, "--semi-axes", "0.035", "0.025", "--evaluations", "8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"newton", "poisson", "energetic"}
    assert found["newton"]["parameters"]["law.restitution"]["value"] == pytest.approx(0.6, abs=0.05)
    assert main(command) == 1
    assert "no column 'rx'" in " ".join(capsys.readouterr().err.split())


def test_impacts_that_are_none_are_refused_with_their_row(tmp_path):
    rows = bounced(3, "newton")
    rows[1][2] = 2.0
    with pytest.raises(StudyError, match="in row 2 the contact leaves the ground before the impact"):
        load_impacts(write(tmp_path / "a.csv", rows), mass=MASS, inertia=INERTIA, semi_axes=AXES)
    with pytest.raises(StudyError, match="no column 'vxafter'"):
        load_impacts(
            write(tmp_path / "a.csv", [row[:4] for row in rows], "angle,vx_pre,vy_pre,omega_pre"),
            mass=MASS, inertia=INERTIA, semi_axes=AXES,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "likely"),
    [
        ({3: -1.0, 6: -1.0}, "the spin is positive from z towards x"),
        ({3: 180 / np.pi, 6: 180 / np.pi}, "the spin is in deg/s"),
        ({0: 180 / np.pi}, "the angle is in degrees"),
        ({0: -1.0}, "the angle or rx has the other sign"),
        ({0: 180 / np.pi, 3: 180 / np.pi, 6: 180 / np.pi}, "the spin is in deg/s, and the angle in degrees"),
        ({1: 1e3, 2: 1e3, 4: 1e3, 5: 1e3}, "velocities are in mm/s"),
        ({2: -1.0, 5: -1.0}, "z points down"),
        ({3: np.pi / 180, 6: np.pi / 180}, "the spin is in rad/s, whatever the head says"),
        ({column: np.pi / 180 for column in (0, 3, 6)}, "spin and angle are in radians, whatever the head says"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_wrong_sign_or_unit_is_told_by_where_impulses_act(change, likely, seed, tmp_path):
    rows = np.array(bounced(40, "newton", noise=0.05, seed=seed))
    load_impacts(write(tmp_path / "a.csv", rows, PLAIN), mass=MASS, inertia=INERTIA, semi_axes=AXES)
    for column, factor in change.items():
        rows[:, column] *= factor
    with pytest.raises(StudyError) as told:
        load_impacts(write(tmp_path / "a.csv", rows, PLAIN), mass=MASS, inertia=INERTIA, semi_axes=AXES)
    # A mirror turns a reversed angle with a reversed spin into a reversed vx: then either sentence is true.
    same = {"the angle or rx has the other sign": "vx has the other sign"}
    assert f"if {likely}" in str(told.value) or f"if {same.get(likely)}" in str(told.value)


@pytest.mark.parametrize("order", [[0, 2, 1, 3, 5, 4, 6], [0, 4, 5, 6, 1, 2, 3]])
def test_columns_in_another_order_are_told(order, tmp_path):
    rows = np.array(bounced(40, "newton", noise=0.05))[:, order]
    likely = "interchanged"
    with pytest.raises(StudyError, match=likely):
        load_impacts(write(tmp_path / "a.csv", rows, PLAIN), mass=MASS, inertia=INERTIA, semi_axes=AXES)


def test_semi_axes_in_millimetres_are_told(tmp_path):
    path = write(tmp_path / "a.csv", bounced(40, "newton", noise=0.05), PLAIN)
    with pytest.raises(StudyError, match="if the semi-axes are in mm"):
        load_impacts(path, mass=MASS, inertia=INERTIA, semi_axes=[1e3 * one for one in AXES])
