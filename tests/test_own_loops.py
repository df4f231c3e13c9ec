"""Loops of one's own: threads, processes, copies, and numbers as NumPy has them."""

from __future__ import annotations

import copy
import pickle
from threading import Thread

import numpy as np
import pytest

import footfall as ff
from footfall.files.measured import Measured
from footfall.gait.polynomial import PolynomialGait

LAW = "spring-damper"


def slide(x, y):
    return 0.1 * x


def test_threads_that_step_one_world_take_turns():
    """Two hundred steps are two hundred steps, whoever takes them."""
    sim = ff.Simulation("brick", law=LAW)
    alone, shared = (sim.start(qvel=[0.3, 0, 0, 0, 0, 0]) for _ in range(2))
    alone.step(n=200)

    def fifty():
        for _ in range(50):
            shared.step()

    threads = [Thread(target=fifty) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert shared.time == alone.time
    assert np.array_equal(shared.qpos, alone.qpos) and np.array_equal(shared.record().force, alone.record().force)


def test_threads_that_step_the_same_worlds_take_turns():
    sim = ff.Simulation("brick", law=LAW)
    alone, shared = (ff.Worlds(sim, 3, qvel=[0.3, 0, 0, 0, 0, 0], threads=2) for _ in range(2))
    alone.step(n=100)
    threads = [Thread(target=lambda: [shared.step(n=5) for _ in range(5)]) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert np.array_equal(shared.qpos, alone.qpos)


def test_a_controller_cannot_step_its_own_world():
    robot = ff.load_robot("spatial-biped")
    world = ff.Simulation(robot, law=LAW).start(controller=lambda t, state: world.step() or robot.home_ctrl)
    with pytest.raises(ff.FootfallError, match="its controller cannot step it, too"):
        world.step()


@pytest.mark.parametrize("travel", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])
@pytest.mark.parametrize("ground", [ff.Ground.plane(0.3), ff.Ground.function(slide)])
def test_a_simulation_and_its_recording_travel_between_processes(travel, ground):
    sim = ff.Simulation("brick", law=ff.law(LAW, rest_penetration=2e-3), ground=ground, dt=5e-4)
    there = travel(sim)
    rec = there.run(0.01)
    assert (there.robot, there.ground, there.law, there.dt) == (sim.robot, sim.ground, sim.law, sim.dt)
    assert np.array_equal(rec.qpos, sim.run(0.01).qpos)
    back = travel(rec)
    assert np.array_equal(back.force, rec.force) and back.robot == rec.robot and dict(back.info) == dict(rec.info)
    with pytest.raises(ValueError, match="read-only"):
        back.qpos[0, 0] = 1.0


def test_a_law_of_ones_own_travels_by_its_name(monkeypatch):
    """To a process in which it is registered, too."""
    monkeypatch.setattr("footfall.contact.registry._registered", {})

    @ff.point_law("soft", k=1e4, c=50.0)
    def soft(depth, depth_rate, slip, slip_velocity, memory, parameters):
        return max(0.0, parameters.k * depth + parameters.c * depth_rate)

    sim = ff.Simulation("brick", law=ff.law("soft", k=2e4))
    written = pickle.dumps(sim)
    assert pickle.loads(written).law == sim.law
    monkeypatch.setattr("footfall.contact.registry._registered", {})
    with pytest.raises(ff.FootfallError, match="no contact law is called 'soft'"):
        pickle.loads(written)


def test_measured_data_and_gaits_travel_too():
    data = Measured([0.0, 0.1], {"x": np.array([1.0, 2.0])}, {"x": "m"}, "z", "a table")
    assert np.array_equal(pickle.loads(pickle.dumps(data))["x"], data["x"])
    gait = PolynomialGait("biped", (("knee",), ("other_knee",)), np.zeros((4, 2)), 0.5, 0.3, {"speed": 0.6})
    assert pickle.loads(pickle.dumps(gait)) == gait


def test_what_is_under_way_is_not_copied_but_its_state_travels():
    sim = ff.Simulation("brick", law=LAW)
    world = sim.start(qvel=[0.3, 0, 0, 0, 0, 0])
    world.step(n=10)
    for one in (world, ff.Worlds(sim, 2)):
        for travel in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"cannot be pickled or copied: send its simulation"):
                travel(one)
    other = sim.start()
    other.restore(pickle.loads(pickle.dumps(world.state())))
    for one in (world, other):
        one.step(n=10)
    assert np.array_equal(world.qpos, other.qpos)
    with pytest.raises(ff.FootfallError, match=r"must be a state of world.state\(\) or rec.state\(time\)"):
        world.restore(world.qpos)


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("law", [LAW, "acceleration-complementarity"])
def test_a_world_may_go_back_to_its_first_state_ever_again(law, recorded):
    """As a search over actions does: each return made a sample, for which an unrecorded world had no room."""
    world = ff.Simulation("brick", law=law).start(qvel=[0.3, 0, 0, 0, 0, 0], recorded=recorded)
    first = world.state()
    world.step(n=2)
    there = world.qpos.copy()
    for _ in range(200):
        world.restore(first)
        world.step(n=2)
        assert np.array_equal(world.qpos, there)
        assert world._run.outcome.samples[0] <= len(world._run.tape.time)
    assert not recorded or len(world.record()) == 2 * 201


def test_whole_numbers_of_numpy_count():
    sim = ff.Simulation("brick", law=LAW, dt=np.float32(1e-3))
    world, worlds = sim.start(), ff.Worlds(sim, np.int64(2))
    world.step(n=np.int32(3))
    worlds.step(n=np.uint8(3))
    assert world.time == pytest.approx(3e-3) and len(worlds.qpos) == 2
    for one in (world, worlds):
        for steps in (-1, 1.5, True, "3"):
            with pytest.raises(ff.FootfallError, match="must be a whole number"):
                one.step(n=steps)
