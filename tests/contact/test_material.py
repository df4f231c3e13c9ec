"""Gains from materials and from behaviour: what theory says, and what a simulation finds."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.contact import Distributed, HuntCrossley, SpringDamper
from footfall.contact.springs.derived_gains import restitution
from footfall.errors import LawError

LAYER = {"youngs_modulus": 2e5, "poisson_ratio": 0.3, "thickness": 0.01}
LAYERS = [SpringDamper, Distributed]
BOUNCING = [SpringDamper, HuntCrossley, Distributed]


def rest_depths(robot: ff.Robot, law: ff.contact.Law) -> np.ndarray:
    rec = ff.Simulation(robot, law=law, dt=1e-4).run(2.0, record_dt=0.5)
    assert rec.failure is None
    return -rec.gap[-1]


# ---- theory, in simulation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAYERS)
@pytest.mark.parametrize("points", ["vertices", (5, 3)])
def test_a_plate_sinks_into_an_elastic_foundation_by_its_pressure_times_h_over_m(law, points):
    brick = ff.load_robot("brick", points=points)
    confined = 2e5 * 0.7 / (1.3 * 0.4)
    depth = brick.weight / (0.2 * 0.1) * 0.01 / confined
    found = rest_depths(brick, law.from_material(**LAYER, robot=brick, damping_ratio=0.3))
    np.testing.assert_allclose(found, depth, rtol=1e-3)  # it has all but stopped after 2 s


@pytest.mark.parametrize("law", LAYERS)
def test_a_plate_that_is_pulled_sideways_shears_the_layer(law):
    """By the force over G A / h, once the damper has given way: well below the friction of 0.7."""
    brick = ff.load_robot("brick")
    sim = ff.Simulation(brick, law=law.from_material(**LAYER, robot=brick, damping_ratio=0.3), dt=1e-4)
    start = sim.run(1.0, record_dt=1.0).qpos[-1]
    pull = ff.Push("brick", (0.2 * brick.weight, 0, 0), start=0.0, duration=2.0)
    rec = sim.run(2.0, qpos=start, pushes=[pull], record_dt=0.5)
    shear = 2e5 / (2 * 1.3) * 0.02 / 0.01
    contact = rec.qpos[-1] - start
    turned = 2.0 * contact[5] * 0.03  # the pull is at the middle of the brick, so it pitches as well
    assert contact[0] - turned == pytest.approx(0.2 * brick.weight / shear, rel=1e-2)


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5, 0.9])
def test_a_swing_of_a_damped_spring_bounces_as_its_closed_form_says(ratio):
    """exp(-ratio pi / sqrt(1 - ratio^2)); a hundred steps may each miss 1e-9 of the speed of landing."""
    stiffness, mass = 1e4, 2.0
    damping = 2.0 * ratio * math.sqrt(stiffness * mass)
    found = restitution(lambda depth, rate: stiffness * depth + damping * rate, mass, 0.7)
    assert found == pytest.approx(math.exp(-ratio * math.pi / math.sqrt(1.0 - ratio**2)), abs=1e-7)


@pytest.mark.parametrize("exponent", [1.0, 1.2, 1.5])
def test_without_damping_a_mass_leaves_as_fast_as_it_landed(exponent):
    assert restitution(lambda depth, rate: 1e5 * depth**exponent, 3.0, 0.5, 9.81) == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("speed", [1e-4, 0.7])
@pytest.mark.parametrize("ratio", [1.0, 5.0])
def test_a_mass_that_is_damped_beyond_swinging_does_not_leave(ratio, speed):
    damping = 2.0 * ratio * math.sqrt(2e4)
    assert restitution(lambda depth, rate: max(0.0, 1e4 * depth + damping * rate), 2.0, speed, 9.81) == 0.0


@pytest.mark.parametrize("law", BOUNCING)
@pytest.mark.parametrize("wanted", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_the_restitution_asked_for_is_the_one_measured(law, wanted):
    rebound = bounce(law(restitution=wanted, impact_speed=0.8), 0.8)
    assert rebound == pytest.approx(wanted, abs=5e-3)  # half of what is promised; Euler's steps cost 1e-3


@pytest.mark.parametrize("law", LAYERS)
def test_a_material_with_a_restitution_bounces_with_it(law):
    ball = ff.load_robot("ball")
    made = law.from_material(5e5, 0.4, thickness=0.02, area=1e-3, restitution=0.6, impact_speed=1.5)
    assert bounce(made, 1.5, ball) == pytest.approx(0.6, abs=5e-3)


def bounce(law: ff.contact.Law, speed: float, ball: ff.Robot | str = "ball") -> float:
    """Speed at which a ball that lands at ``speed`` leaves the ground, over that speed."""
    sim = ff.Simulation(ball, law=law, dt=1e-5)
    rec = sim.run(0.2, qvel=[0, 0, -speed, 0, 0, 0], record_dt=1e-4)
    left = np.flatnonzero((rec.gap[:-1, 0] < 0) & (rec.gap[1:, 0] >= 0))
    # From the first moment in the air back to the one at which it left.
    after = int(left[0]) + 1
    return math.sqrt(rec.qvel[after, 2] ** 2 + 2 * 9.81 * rec.gap[after, 0]) / speed


@pytest.mark.parametrize("ahead", [0.0, 0.06, 0.09])
def test_no_point_of_a_sole_rests_deeper_than_a_millimetre_wherever_the_mass_is(ahead):
    """The toes of a block of 0.2 m carry 0.8 and 0.95 of its weight in the second and the third case."""
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="block" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.02"/>'
        f'<inertial pos="{ahead} 0 0.05" mass="20" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>'
    )
    rec = ff.Simulation(ff.load_robot(spec), law="distributed").run(2.0)
    assert ff.measure.fall(rec) is None
    # What the toes sink in more than the heel tilts the block, and brings the mass further ahead by less than that.
    assert 0.9e-3 < -rec.gap[-1].min() < 1.15e-3


# ---- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAYERS)
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"youngs_modulus": 0.0}, "youngs_modulus = 0.0, but it must be a number > 0"),
        ({"youngs_modulus": math.nan}, "youngs_modulus"),
        ({"poisson_ratio": -0.1}, "poisson_ratio = -0.1, but it must be a number between 0 and 0.5"),
        ({"poisson_ratio": 0.5}, "does not give way"),
        ({"thickness": -1.0}, "thickness"),
        ({"area": 0.0}, "area"),
        ({"area": None}, "give robot="),
        ({"restitution": 0.0}, "restitution = 0.0, but it must be a number > 0 and <= 1"),
        ({"restitution": 1.1}, "restitution"),
        ({"restitution": 0.5, "damping_ratio": 0.1}, "damping_ratio and restitution both settle the damping"),
    ],
)
def test_a_layer_that_cannot_be_is_refused_with_a_sentence(law, changes, sentence):
    with pytest.raises(LawError, match=sentence):
        law.from_material(**(LAYER | {"area": 1e-3} | changes))


def test_soles_without_an_area_are_refused_with_a_sentence():
    with pytest.raises(LawError, match="points or lines"):
        SpringDamper.from_material(**LAYER, robot=ff.load_robot("quadruped"))


@pytest.mark.parametrize(
    ("law", "options"),
    [
        ("spring-damper", {"k": 1e4, "rest_penetration": 2e-3}),
        ("spring-damper", {"k": 1e4, "rest_penetration": 1e-3}),
        ("spring-damper", {"c": 10.0, "restitution": 0.5}),
        ("hunt-crossley", {"k": 1e4, "rest_penetration": 2e-3}),
        ("hunt-crossley", {"c": 10.0, "damping_ratio": 0.5}),
        ("distributed", {"kn": 1e4, "rest_penetration": 2e-3}),
        ("distributed", {"mun": 10.0, "restitution": 0.5}),
    ],
)
def test_a_gain_and_an_option_that_settles_the_same_are_refused(law, options):
    with pytest.raises(LawError, match=f"{law}: {' and '.join(options)} both settle"):
        ff.law(law, **options)


@pytest.mark.parametrize("law", ["spring-damper", "hunt-crossley"])
def test_descriptions_that_hold_one_millimetre_beside_a_stiffness_are_read(law):
    """So recordings and fits kept a depth that was left out."""
    assert ff.law({"name": law, "k": 1e4, "rest_penetration": 1e-3}) == ff.law(law, k=1e4)


def test_a_sole_on_two_points_is_refused_and_feet_that_are_lines_or_balls_are_not():
    with pytest.raises(LawError, match="only two testing points, and fewer than three carry no moment"):
        ff.Simulation(ff.load_robot("brick", points=2), law="distributed").run(0.01)
    in_the_plane = ff.load_robot("hanavan", planar=True).with_points((2, 1))  # figure 8 of Bruneau 1999
    for robot in ("ball", "planar-biped", "quadruped", in_the_plane):
        sim = ff.Simulation(robot, law="distributed")
        sim.law.resolve(sim.setting)
