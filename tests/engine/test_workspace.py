"""Runs of one simulation share what they compute in, and nothing of what they compute."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import footfall as ff
from footfall.record import COLUMNS
from footfall.simulation.setup import composed
from footfall.simulation.workspace import Workspace, prepared

PUSH = ff.Push("trunk", force=(60.0, 30.0, 0.0), start=0.005, duration=0.01)
#: Height of the trunk of a quadruped that falls on its back at once, m.
LYING = 0.06


def same(a: ff.Recording, b: ff.Recording) -> bool:
    arrays = all(np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in COLUMNS)
    return arrays and all(np.array_equal(a.signals[name], b.signals[name]) for name in a.signals)


def short_run(sim: ff.Simulation, height: float = 0.005) -> ff.Recording:
    qpos = sim.robot.home.copy()
    qpos[2] += height
    return sim.run(0.03, controller="posture", qpos=qpos, pushes=PUSH)


def on_its_back(sim: ff.Simulation, height: float = 0.2) -> ff.Recording:
    """A fall in which legs and trunk meet the ground and each other, under a controller written in Python."""
    qpos = sim.robot.home.copy()
    qpos[2], qpos[3:7] = height, (0.0, 1.0, 0.0, 0.0)
    phases = np.arange(sim.robot.model.nu)
    return sim.run(0.05, controller=lambda t, state: 5.0 * np.sin(40.0 * t + phases), qpos=qpos)


@pytest.mark.parametrize("law", ff.laws())
def test_a_run_is_the_same_whatever_ran_before_it(law):
    composed.cache_clear()  # so that nothing ran before
    robot = ff.load_robot("quadruped")
    first = short_run(ff.Simulation(robot, law=law))
    sim = ff.Simulation(robot, law=law)
    on_its_back(sim)
    assert len(prepared(sim).spare) == 1
    assert same(short_run(sim), first)
    assert len(prepared(sim).spare) == 1


@pytest.mark.parametrize("law", ff.laws())
def test_simulations_of_one_robot_have_a_ground_of_their_own(law):
    grounds = ff.Ground.plane(friction=0.9), ff.Ground.plane(friction=(0.3, 0.2)), ff.Ground.slope(0.1, friction=0.6)
    composed.cache_clear()
    robot = ff.load_robot("quadruped")
    sims = [ff.Simulation(robot, ground=ground, law=law, dt=1e-3) for ground in grounds]
    together = [(short_run(sim), on_its_back(sim, LYING)) for sim in sims]
    for ground, found in zip(grounds, together, strict=True):
        composed.cache_clear()  # the next one shares nothing
        alone = ff.Simulation(robot, ground=ground, law=law, dt=1e-3)
        assert same(found[0], short_run(alone))
        assert same(found[1], on_its_back(alone, LYING))


@pytest.mark.parametrize(
    ("law", "options"),
    [
        ("spring-damper", [{"k": 2e4}, {"k": 8e4, "c": 50.0}]),
        (
            "time-stepping",
            [{"correction": 0.5}, {"restitution": 0.5}],
        ),
        ("linearizing-penalty", [{"kp": 500.0}, {"kp": 100.0}]),
        ("acceleration-complementarity", [{"tolerance": 1e-5}, {"tolerance": 1e-8}]),
        ("mujoco", [{"impratio": 1.0}, {"impratio": 5.0}]),
    ],
)
def test_simulations_of_one_robot_have_a_law_of_their_own(law, options):
    composed.cache_clear()
    robot = ff.load_robot("quadruped")
    together = [short_run(ff.Simulation(robot, law=ff.law(law, **own))) for own in options]
    assert not any(same(together[0], other) for other in together[1:])
    for own, found in zip(options, together, strict=True):
        composed.cache_clear()
        assert same(found, short_run(ff.Simulation(robot, law=ff.law(law, **own))))


@pytest.mark.parametrize("law", ff.laws())
def test_room_for_more_bodies_is_laid_out_once_and_found_as_new(law, monkeypatch):
    composed.cache_clear()  # so that nothing ran before
    robot = ff.load_robot("quadruped")
    first = on_its_back(ff.Simulation(robot, law=law), LYING)
    assert first.other_points.size > 0
    sim = ff.Simulation(robot, law=law)
    short_run(sim)
    on_its_back(sim, LYING)
    monkeypatch.delattr(Workspace, "_make_room")
    assert same(on_its_back(sim, LYING), first)


def test_runs_in_several_threads_are_independent():
    sim = ff.Simulation("quadruped")
    heights = [0.001 * i for i in range(12)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda height: short_run(sim, height), heights))
    for height, recording in zip(heights, together, strict=True):
        assert same(short_run(ff.Simulation(sim.robot), height), recording)


def test_a_recording_stays_as_it_is_while_others_run():
    sim = ff.Simulation("quadruped")
    first = short_run(sim)
    kept = {name: getattr(first, name).copy() for name in COLUMNS}
    short_run(sim, 0.01)
    assert all(np.array_equal(getattr(first, name), kept[name]) for name in COLUMNS)


def test_a_run_inside_a_controller_has_a_workspace_of_its_own():
    sim = ff.Simulation("quadruped")

    def ahead(t, state):
        seen = state.qpos.copy()
        sim.run(0.002, controller=None, qpos=state.qpos, qvel=state.qvel)
        assert np.array_equal(seen, state.qpos)
        return np.zeros(state.robot.model.nu)

    alone = sim.run(0.005, controller=lambda t, state: np.zeros(state.robot.model.nu))
    assert same(sim.run(0.005, controller=ahead), alone)


def test_a_controller_that_changes_the_model_it_computes_with_changes_no_simulation():
    def weightless(t, state):
        state.data.model.opt.gravity[:] = 0.0
        return np.zeros(state.robot.model.nu)

    robot = ff.load_robot("quadruped")
    alone = ff.Simulation(robot).run(0.01, controller=lambda t, state: np.zeros(state.robot.model.nu))
    for _ in range(2):
        assert same(ff.Simulation(robot).run(0.01, controller=weightless), alone)


def test_short_runs_record_what_long_ones_do():
    """Those of few samples are recorded into arrays that the next run gets, too."""
    sim = ff.Simulation("quadruped")
    long = sim.run(128 * sim.dt, controller=None, pushes=PUSH)
    for samples in (63, 7, 128, 20):
        short = sim.run((samples - 1) * sim.dt, controller=None, pushes=PUSH)
        assert len(short) == samples
        assert all(np.array_equal(getattr(short, name)[:-1], getattr(long, name)[: samples - 1]) for name in COLUMNS)


def test_no_controller_is_kept_when_its_run_has_ended():
    class Hold:
        def __call__(self, t, state):
            return state.robot.home_ctrl

    sim, controller = ff.Simulation("quadruped"), Hold()
    sim.run(0.005, controller=controller)
    alive = weakref.ref(controller)
    del controller
    gc.collect()
    assert alive() is None
