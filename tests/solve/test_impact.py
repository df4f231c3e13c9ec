"""Impacts alone: three rules of restitution against closed forms, energy, and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bounds import near

import footfall as ff
from footfall.solve.impacts import RULES, impact

POINT = np.eye(3)  # a mass point: its velocity is that of the contact


def rod(angle):
    """A rod of 1 kg and 1 m in the plane x, z that lands on its end, leaning by ``angle``: M and J in 6 dimensions."""
    x, z = -0.5 * math.cos(angle), -0.5 * math.sin(angle)
    J = np.hstack([np.eye(3), np.array([[0.0, z, 0.0], [-z, 0.0, x], [0.0, -x, 0.0]])])
    return np.diag([1.0, 1.0, 1.0, 1.0, 1.0 / 12.0, 1.0]), J


def body(random):
    """A random rigid body that touches with a random point: M and J in 6 dimensions."""
    factors = random.normal(size=(3, 3))
    inertia = factors @ factors.T + 0.2 * np.eye(3)
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = random.uniform(0.5, 3.0) * np.eye(3), inertia
    x, y, z = random.uniform(-1.0, 1.0, 3)
    return M, np.hstack([np.eye(3), np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])])


@pytest.mark.parametrize("rule", RULES)
def test_a_mass_point_bounces_and_slides_in_closed_form(rule):
    before, mu, e = np.array([3.0, 1.0, -2.0]), 0.2, 0.6
    found = impact(2.0 * POINT, POINT, before, friction=mu, restitution=e, rule=rule)
    slip = before[:2] - mu * (1.0 + e) * 2.0 * before[:2] / np.linalg.norm(before[:2])
    near(found.velocity, [*slip, e * 2.0], rel=1e-8)
    near(found.impulse[0, 2], 2.0 * (1.0 + e) * 2.0, rel=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_a_mass_point_that_stops_sliding_sticks(rule):
    found = impact(POINT, POINT, [0.3, 0.1, -2.0], friction=0.5, restitution=0.5, rule=rule)
    near(found.velocity, [0.0, 0.0, 1.0], abs=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_a_point_that_leaves_is_not_in_the_impact(rule):
    found = impact(POINT, POINT, [1.0, 0.0, 0.5], friction=0.5, restitution=0.5, rule=rule)
    assert (found.impulse == 0.0).all() and found.energy_lost == 0.0


@pytest.mark.parametrize("angle", [0.4, 0.8, 1.2])
def test_a_rod_without_friction_bounces_the_same_by_every_rule(angle):
    M, J = rod(angle)
    before = [0.5, 0.0, -1.0, 0.0, 0.3, 0.0]
    found = [impact(M, J, before, friction=0.0, restitution=0.7, rule=rule).velocity for rule in RULES]
    near(found[1], found[0], abs=1e-7)
    near(found[2], found[0], abs=1e-7)


def planar_rod(angle, before, mu, e, rule):
    """The same by hand, in the plane (Wang and Mason 1992): straight pieces, sliding, sticking and reverse sliding."""
    M, J = rod(angle)
    J = J[[0, 2]]
    W = J @ np.linalg.solve(M, J.T)
    a, b, c = W[0, 0], W[0, 1], W[1, 1]
    u = J @ before
    work = p = 0.0
    ends = math.inf
    compressed = False
    while True:
        slip = np.sign(u[0]) if abs(u[0]) > 1e-13 else 0.0
        if slip == 0.0:
            ratio = -b / a if abs(b / a) <= mu else -mu * np.sign(b)
        else:
            ratio = -mu * slip
        rate = np.array([a * ratio + b, b * ratio + c])
        stop = -u[0] / rate[0] if slip and rate[0] * u[0] < 0.0 else math.inf
        if not compressed:
            end = -u[1] / rate[1] if rate[1] > 0.0 else math.inf
        elif rule == "poisson":
            end = ends - p
        else:
            end = (-u[1] + math.sqrt(u[1] ** 2 + 2.0 * rate[1] * (ends - work))) / rate[1]
        s = min(stop, end)
        work += u[1] * s + 0.5 * rate[1] * s**2
        p += s
        u = u + rate * s
        if stop <= end:
            u[0] = 0.0
        elif compressed:
            return u
        else:
            compressed = True
            ends = (1.0 + e) * p if rule == "poisson" else (1.0 - e**2) * work


@pytest.mark.parametrize("rule", ["poisson", "energetic"])
@pytest.mark.parametrize("mu", [0.1, 0.4, 1.5])
@pytest.mark.parametrize("angle", [0.5, 0.9, 1.3])
@pytest.mark.parametrize("sideways", [0.0, 1e-10])
def test_a_rod_that_slides_and_sticks_is_followed_as_by_hand(rule, mu, angle, sideways):
    """In its plane, where slip keeps its direction, and a little across it, where its path is bent."""
    M, J = rod(angle)
    for slide in (-2.0, -0.5, 0.4, 1.5):
        before = np.array([slide, sideways, -1.0, 0.0, 0.7, 0.0])
        expected = planar_rod(angle, before, mu, 0.6, rule)
        found = impact(M, J, before, friction=mu, restitution=0.6, rule=rule).after[0]
        near(found[[0, 2]], expected, abs=2e-7)
        near(found[1], 0.0, abs=1e-9)


def test_energy_is_never_gained_by_the_energetic_rule_and_friction_stays_in_its_cone():
    random = np.random.default_rng(3)
    for _ in range(30):
        M, J = body(random)
        v = random.normal(size=6)
        if (J @ v)[2] >= 0.0:
            v = -v
        mu, e = random.uniform(0.0, 1.2), random.uniform(0.0, 1.0)
        size = 0.5 * v @ M @ v
        for rule in RULES:
            found = impact(M, J, v, friction=mu, restitution=e, rule=rule)
            x, y, n = found.impulse[0]
            assert n > 0.0 and math.hypot(x, y) <= mu * n * (1.0 + 1e-6)
            near(found.energy_lost, size - 0.5 * found.velocity @ M @ found.velocity, abs=1e-9 * size)
            if rule == "newton":
                near(found.after[0, 2], -e * found.before[0, 2], abs=1e-9)
            else:
                assert found.after[0, 2] >= -1e-9
            if rule == "energetic":
                assert found.energy_lost >= -1e-7 * size


def test_newtons_rule_may_gain_energy_where_the_others_lose_it():
    M, J = rod(0.8)
    before = np.array([0.0, 0.0, -1.0, 0.0, -3.0, 0.0])
    lost = {rule: impact(M, J, before, friction=0.6, restitution=0.95, rule=rule).energy_lost for rule in RULES}
    assert lost["newton"] < -0.3 * (0.5 * before @ M @ before)
    assert lost["energetic"] > 0.0


def test_several_points_land_by_newtons_rule():
    """A block dropped flat on four corners bounces as one point under its centre."""
    M = np.diag([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])
    corners = [(0.1 * a, 0.1 * b, -0.05) for a in (-1, 1) for b in (-1, 1)]
    J = np.vstack([np.hstack([np.eye(3), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]]) for x, y, z in corners])
    found = impact(M, J, [0.0, 0.0, -2.0, 0.0, 0.0, 0.0], friction=0.5, restitution=0.5)
    near(found.velocity, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], abs=1e-9)
    near(found.impulse[:, 2].sum(), 3.0, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rule": "newtons"}, "did you mean 'newton'"),
        ({"restitution": 1.5}, "between 0 and 1"),
        ({"friction": -1.0}, "friction must be >= 0"),
        ({"velocity": [1.0, 2.0]}, "velocity has the shape"),
        ({"mass_matrix": np.zeros((3, 3))}, "positive definite"),
        ({"jacobian": np.eye(3)[:2]}, "three rows per point"),
        ({"jacobian": np.vstack([np.eye(3)] * 2), "rule": "poisson"}, "one point"),
    ],
)
def test_what_is_no_impact_is_refused_in_a_sentence(change, sentence):
    given = {"mass_matrix": POINT, "jacobian": POINT, "velocity": [1.0, 0.0, -1.0], "friction": 0.5, "restitution": 0.5}
    given |= change
    with pytest.raises(ff.FootfallError, match=sentence):
        impact(**given)
