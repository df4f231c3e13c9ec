"""A contact law written by a user, in a file of his own."""

from __future__ import annotations

import importlib.util
import math
import pickle
import sys

import numpy as np
import pytest

import footfall as ff
from footfall.contact import registry
from footfall.contact.base import parameters_of
from footfall.errors import LawError

MODULE = """
import footfall as ff

@ff.point_law("kelvin-voigt", k=2e4, c=100.0, v_s=1e-3)
def kelvin_voigt(depth, depth_rate, slip, slip_velocity, memory, parameters):
    "A spring and a damper, and friction that is stiff in the slip velocity."
    normal = max(0.0, parameters.k * depth + parameters.c * depth_rate)
    gain = parameters.dynamic_friction * normal / parameters.v_s
    limit = parameters.dynamic_friction * normal
    x, y, mode = ff.contact.coulomb(-gain * slip_velocity[0], -gain * slip_velocity[1], limit)
    return normal, x, y, mode

@ff.point_law("anchored", k=2e4, c=100.0)
def anchored(depth, depth_rate, slip, slip_velocity, memory, parameters):
    normal = max(0.0, parameters.k * depth + parameters.c * depth_rate)
    x = -parameters.k * slip[0] - parameters.c * slip_velocity[0]
    y = -parameters.k * slip[1] - parameters.c * slip_velocity[1]
    size = (x * x + y * y) ** 0.5
    limit = parameters.dynamic_friction * normal
    if size > limit:
        x, y = x * limit / size, y * limit / size
        slip[0] = -(x + parameters.c * slip_velocity[0]) / parameters.k
        slip[1] = -(y + parameters.c * slip_velocity[1]) / parameters.k
    return normal, x, y

@ff.point_law("ice", k=2e4, c=100.0)
def ice(depth, depth_rate, slip, slip_velocity, memory, parameters):
    return max(0.0, parameters.k * depth + parameters.c * depth_rate)

@ff.point_law("wearing", memory=2, k=2e4, c=100.0)
def wearing(depth, depth_rate, slip, slip_velocity, memory, parameters):
    memory[0] += 1.0                        # steps in touch
    memory[1] = max(memory[1], depth)       # deepest so far
    return max(0.0, parameters.k * memory[1] + parameters.c * depth_rate)
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """A module outside the package that registers laws; they are gone when this file is done."""
    path = tmp_path_factory.mktemp("user") / "my_contact_laws.py"
    path.write_text(MODULE)
    spec = importlib.util.spec_from_file_location("my_contact_laws", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["my_contact_laws"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["my_contact_laws"]
    for name in ("kelvin-voigt", "anchored", "ice", "wearing"):
        registry._registered.pop(name, None)


@pytest.fixture
def forget():
    """Take back the laws a test registers."""
    before = dict(registry._registered)
    yield
    registry._registered.clear()
    registry._registered.update(before)


def test_a_law_of_a_script_or_notebook_goes_to_processes_that_do_not_know_it(outside, forget):
    """As joblib and Dask send what __main__ defines, by value; it went by its name, which they have never heard of."""
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(outside)
    sim = ff.Simulation("brick", law=ff.law("anchored", k=3e4))
    data = cloudpickle.dumps(sim)
    cloudpickle.unregister_pickle_by_value(outside)
    registry._registered.clear()
    again = pickle.loads(data)
    assert again.law == sim.law and "anchored" in ff.laws()
    assert np.array_equal(again.run(0.05).force, sim.run(0.05).force)


def test_a_law_from_within_a_function_is_pickled_by_its_name(forget):
    @ff.point_law("inner", k=2e4)
    def inner(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return parameters.k * depth

    assert pickle.loads(pickle.dumps(inner(k=3e4))) == inner(k=3e4)


def test_a_registered_law_is_a_law_like_any_other(outside):
    assert {"kelvin-voigt", "anchored", "ice", "wearing"} <= set(ff.laws())
    law = ff.law("kelvin-voigt", k=3e4)
    assert law.options() == {"k": 3e4, "c": 100.0, "v_s": 1e-3}
    assert "friction that is stiff" in type(law).__doc__
    with pytest.raises(LawError, match="kelvin-voigt: k = -1"):
        ff.law("kelvin-voigt", k=-1)
    with pytest.raises(LawError, match="kelvin-voigt has no option 'kk'"):
        ff.law("kelvin-voigt", kk=1)
    assert outside.kelvin_voigt is type(law)


def test_compiled_code_on_disk_means_the_class_of_a_laws_numbers_and_no_copy(outside):
    numbers = parameters_of(outside.kelvin_voigt)
    assert numbers._fields == ("k", "c", "v_s", "static_friction", "dynamic_friction")
    assert pickle.loads(pickle.dumps(numbers)) is numbers


@pytest.mark.parametrize("law", ["kelvin-voigt", "anchored", "ice"])
def test_a_ball_rests_where_the_spring_carries_it(outside, law):
    rec = ff.Simulation("ball", law=law).run(3.0)
    assert -rec.gap[-1, 0] == pytest.approx(9.81 / 2e4, rel=1e-3)
    assert rec.total_force[-1] == pytest.approx([0, 0, 9.81], abs=1e-3)


def test_four_values_three_or_one_are_forces_with_and_without_mode_and_friction(outside):
    angle, g = math.radians(20.0), 9.81
    for law, friction, acceleration, mode in [
        ("kelvin-voigt", 0.2, g * (math.sin(angle) - 0.2 * math.cos(angle)), 2),
        ("anchored", 0.2, g * (math.sin(angle) - 0.2 * math.cos(angle)), 2),
        ("ice", 0.2, g * math.sin(angle), 1),
    ]:
        sim = ff.Simulation("brick", law=law, ground=ff.Ground.slope(angle, friction=friction), dt=1e-4)
        rec = sim.run(1.0, qpos=sim.place(align=True), record_dt=1e-2)
        speed = np.linalg.norm(rec.qvel[:, :3], axis=1)
        assert (speed[-1] - speed[50]) / 0.5 == pytest.approx(acceleration, rel=1e-3), law
        assert (rec.mode[-1] == mode).all(), law


def test_a_brick_held_by_anchors_does_not_drift(outside):
    sim = ff.Simulation("brick", law="anchored", ground=ff.Ground.slope(math.radians(20.0), friction=0.5), dt=2e-4)
    rec = sim.run(5.5, qpos=sim.place(align=True), record_dt=0.1)
    assert np.linalg.norm(rec.qpos[-1, :3] - rec.qpos[5, :3]) < 1e-6
    assert (rec.mode[-1] == 1).all()


def test_memory_is_kept_while_a_point_touches_and_cleared_when_it_lands_again(outside):
    """The force of a ball that bounces on a spring which never relaxes stays at its peak, and starts anew."""
    sim = ff.Simulation("ball", law=ff.law("wearing", c=0.0), dt=1e-4)
    rec = sim.run(1.0, qvel=[0, 0, -0.5, 0, 0, 0])
    force, landings = rec.force[:, 0, 2], np.flatnonzero(np.diff((rec.mode[:, 0] != 0).astype(int), prepend=0) == 1)
    assert len(landings) >= 2
    first, second = landings[:2]
    touching = force[first : first + np.flatnonzero(rec.mode[first:, 0] == 0)[0]]
    assert (np.diff(touching) >= 0.0).all()
    assert touching[-1] == pytest.approx(2e4 * -rec.gap[first:second].min())
    assert force[second] < 0.1 * touching[-1]


def test_the_law_is_saved_with_a_recording_and_comes_back(outside, tmp_path):
    rec = ff.Simulation("ball", law=ff.law("ice", k=5e4)).run(0.01)
    rec.save(tmp_path / "run")
    assert ff.load_recording(tmp_path / "run").law == ff.law("ice", k=5e4)


def test_laws_that_differ_only_in_what_they_close_over_are_told_apart(forget):
    """Made in a loop, by one line of source: the disk cache must not take one for the other."""

    def make(name: str, stiffness: float) -> None:
        @ff.point_law(name)
        def spring(depth, depth_rate, slip, slip_velocity, memory, parameters):
            return stiffness * depth

    make("soft-spring", 1e4)
    make("hard-spring", 2e4)
    for law, stiffness in (("soft-spring", 1e4), ("hard-spring", 2e4)):
        rec = ff.Simulation("ball", law=law).run(0.02, qvel=[0, 0, -1, 0, 0, 0])
        np.testing.assert_allclose(rec.force[:, 0, 2], stiffness * np.maximum(0.0, -rec.gap[:, 0]), rtol=1e-12)


def test_a_function_of_other_arguments_is_refused_at_once(forget):
    with pytest.raises(LawError, match=r"takes \(depth, rate\), but a point law takes \(depth, depth_rate, slip"):

        @ff.point_law("short")
        def short(depth, rate):
            return depth


def test_a_function_that_cannot_be_compiled_says_why(forget):
    @ff.point_law("texts")
    def texts(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return parameters.k_that_is_not_there * depth

    with pytest.raises(LawError, match=r"law 'texts' cannot be compiled: .*k_that_is_not_there"):
        ff.Simulation("ball", law="texts").run(0.01)

    @ff.point_law("lists")
    def lists(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return [1e4 * depth, 0.0, 0.0]

    with pytest.raises(LawError, match=r"law 'lists' cannot be compiled: it makes a list, .* return a tuple"):
        ff.Simulation("ball", law="lists").run(0.01)


def test_a_function_that_returns_something_else_is_told_what_to_return(forget):
    @ff.point_law("pair")
    def pair(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return depth, depth

    with pytest.raises(LawError, match=r"law 'pair' returns .*; a point law returns \(normal, tangent_1, tangent_2\)"):
        ff.Simulation("ball", law="pair").run(0.01)


def test_names_and_options_that_are_taken_are_refused(forget):
    def law(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return depth

    with pytest.raises(LawError, match="built-in law; give yours another name"):
        ff.point_law("mujoco")(law)
    with pytest.raises(LawError, match="dynamic_friction belongs to the ground"):
        ff.point_law("rubber", dynamic_friction=2.0)(law)


def test_a_user_may_replace_his_own_law(forget):
    def spring(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return parameters.k * depth

    ff.point_law("mine", k=1e4)(spring)
    ff.point_law("mine", k=2e4)(spring)
    assert ff.law("mine").k == 2e4


@pytest.mark.parametrize("option", ["options", "kernel", "resolve", "pointer", "class", "_k", "a b", "", "1"])
def test_an_option_with_a_name_that_is_taken_is_refused(option):
    with pytest.raises(ff.errors.LawError, match=f"no option can be called '{option}'"):

        @ff.point_law("own", **{option: 1.0})
        def law(depth, depth_rate, slip, slip_velocity, memory, parameters):
            return depth


def test_a_law_that_cannot_be_compiled_says_why_in_one_plain_line(forget):
    @ff.point_law("forgotten")
    def forgotten(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return stiffness * depth  # noqa: F821 - what is tested

    with pytest.raises(ff.FootfallError, match=r"compiled: NameError: name 'stiffness' is not defined$"):
        ff.Simulation("brick", law="forgotten").run(0.01)
