"""Whatever a simulation is given, it answers with a run or with one sentence: no traceback of its own, no hang."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

import footfall as ff
from footfall.control import Posture, Walk
from footfall.errors import FootfallWarning

SIM = ff.Simulation("brick")


@pytest.mark.parametrize(
    ("do", "sentence"),
    [
        (lambda: SIM.run(1e9), r"1e\+12 samples of \d+ bytes.*use a larger record_dt"),
        (lambda: SIM.run(1e300), "more steps of 0.001 s than can be counted"),
        (lambda: SIM.run("long"), "duration = 'long'"),
        (lambda: SIM.run(None), "duration = None"),
        (lambda: SIM.run(1.0, record_dt="often"), "record_dt = 'often'"),
        (lambda: SIM.run(1.0, record_dt=1e300), "record_dt"),
        (lambda: SIM.run(1.0, progress=5), "progress = 5, but it must be a function or None"),
        (lambda: ff.audit(5), "audit: rec = 5, but it must be a Recording"),
        (lambda: SIM.run(1.0, qpos="home"), "qpos = 'home', but it must be .* numbers"),
        (
            lambda: SIM.run(1.0, start=SIM.run(0.0)),
            r"start = Recording.*, but it must be a state of world.state\(\) or rec.state\(time\) or None",
        ),
        (
            lambda: SIM.run(1.0, start=SIM.start().state(), qvel=np.ones(6)),
            "start has coordinates and velocities of its own",
        ),
        (lambda: ff.Worlds("brick", 2), "Worlds: simulation = 'brick', but it must be a Simulation"),
        (
            lambda: ff.load_robot("brick", feet=4),
            "feet = 4, but it must be a text or a sequence, each a text or a mapping or None",
        ),
        (lambda: ff.fit("time-stepping", [1, 2]), "a trial is a Toss, measured forces, .* and not a int"),
        (lambda: ff.Simulation("brick", dt=1e-300).run(1.0), "more steps"),
        (
            lambda: ff.Simulation(5),
            "robot = 5, but it must be Robot or a text or a path or MjModel or MjSpec",
        ),
        (lambda: ff.Simulation(None), "robot = None"),
        (lambda: ff.Simulation("brick", ground=5), "ground = 5, but it must be Ground or a text or None"),
        (lambda: ff.Simulation("brick", ground="plain"), "no ground is called 'plain': did you mean 'plane'"),
        (lambda: ff.Simulation("brick", ground="heightfield"), "ground heightfield needs heights and size"),
        (lambda: SIM.run(0.1, pushes=5), "pushes = 5, but it must be Push or a sequence, each Push"),
        (lambda: SIM.run(0.1, pushes=["hard"]), r"pushes = \['hard'\], but it must be Push"),
        (
            lambda: ff.Push("brick", force=(0, 0), torque=(0, 5, 0, 0)),
            r"force = \(0, 0\), but it must be \(a number, a number, a number\)",
        ),
        (
            lambda: ff.Push("brick", torque=(0, 5, 0, 0)),
            r"torque = \(0, 5, 0, 0\), but it must be \(a number, a number, a number\)",
        ),
        (lambda: ff.Push("brick", force=None), "force = None"),
        (lambda: ff.Push("brick", force="abc"), "force = 'abc'"),
        (lambda: ff.Push("brick", start="soon"), "start = 'soon'"),
        (lambda: ff.Push("brick", start=math.inf), "start = inf"),
        (lambda: ff.Push("brick", duration=-1.0), "duration = -1.0, but it must be a number >= 0"),
        (lambda: SIM.run(0.1, controller=Posture), r"controller=Posture is the class: write Posture\(\)"),
        (lambda: SIM.run(0.1, controller=Walk), r"controller=Walk is the class"),
        (lambda: ff.load_robot(__file__), "is not a model of a robot: its name must end in .xml"),
        (lambda: ff.load_robot("brick", points=10**9), "points"),
        (lambda: ff.load_robot("brick", points=(10**5, 10**5)), "points"),
        (lambda: Walk(steps=10**9), "steps"),
        (lambda: Walk(speed="fast"), "Walk: speed = 'fast', but it must be a number or None"),
        (lambda: ff.Ground.stairs(count=10**9), "stairs"),
        (lambda: ff.Simulation("brick", dt=1e300), "dt = 1e[+]300, but it must be .* <= 1"),
        (lambda: ff.Worlds(SIM, 2).run(1e300), "more steps of 0.001 s than can be counted"),
        (lambda: ff.Worlds(SIM, 2).run(1e9, record=[0]), "use a larger record_dt"),
        (lambda: ff.Worlds(SIM, 10**12), r"1000000000000 worlds need .* GB of memory.*: \d+ worlds fit"),
        (lambda: ff.sweep({"robot": "brick"}, grid={"ground.friction": [0.5]}, seed=-1), "seed = -1, but it must be"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(do, sentence):
    with pytest.raises(ff.FootfallError, match=sentence):
        do()


def test_one_push_needs_no_list_and_a_kind_of_ground_no_call():
    push = ff.Push("brick", force=(1.0, 0.0, 0.0))
    one, several = (ff.Simulation("brick", ground="plane").run(0.1, pushes=given) for given in (push, [push]))
    np.testing.assert_array_equal(one.qpos, several.qpos)
    assert one.pushes == (push,) and one.qvel[-1, 0] != 0.0


def test_a_push_after_the_end_does_not_act_and_says_so():
    with pytest.warns(FootfallWarning, match=r"push on brick at 1e\+300 s does not act: the run ends at 0.01 s"):
        rec = SIM.run(0.01, pushes=ff.Push("brick", force=(1.0, 0.0, 0.0), start=1e300))
    assert rec.audit().passed


def test_a_warning_is_of_the_line_that_a_user_wrote():
    hanging = '<mujoco><worldbody><body name="arm"><joint/><geom size="0.1"/></body></worldbody></mujoco>'
    spec = mujoco.MjSpec.from_string(hanging)
    late = ff.Push("brick", force=(1.0, 0.0, 0.0), start=1.0)
    for do in (lambda: ff.load_robot(spec, feet=["arm"]), lambda: SIM.run(0.01, pushes=late)):
        with pytest.warns(FootfallWarning) as caught:
            do()
        assert {one.filename for one in caught} == {__file__}


@pytest.mark.parametrize("law", ff.laws())
@pytest.mark.parametrize("off", ['<option gravity="0 0 0"/>', '<option><flag gravity="disable"/></option>'])
def test_without_gravity_a_brick_stays_where_it_is(law, off):
    text = ff.load_robot("brick").mjcf.replace("<worldbody>", f"{off}<worldbody>", 1)
    robot = ff.load_robot(mujoco.MjSpec.from_string(text), feet={"brick": "brick"})
    assert robot.weight == 0.0
    sim = ff.Simulation(robot, law=law)
    rec = sim.run(0.1)
    np.testing.assert_allclose(rec.qpos[-1], rec.qpos[0], atol=1e-9)
    landing = sim.run(0.1, qvel=[0.0, 0.0, -0.1, 0.0, 0.0, 0.0])
    assert landing.total_force[:, 2].max() > 0.0 and landing.audit().passed


@pytest.mark.filterwarnings("ignore:Inertia matrix is too close to singular")
def test_a_robot_whose_bodies_are_too_far_apart_is_refused():
    with pytest.raises(ff.FootfallError, match="inertia matrix of planar-biped is singular"):
        ff.Simulation(ff.load_robot("planar-biped", shank=1e9))


def test_a_robot_that_weighs_nothing_is_refused():
    model = mujoco.MjModel.from_xml_string(ff.load_robot("brick").mjcf)
    model.body_mass[1], model.body_inertia[1] = 1e-300, 1e-305
    with pytest.raises(ff.FootfallError, match=r"weighs 1e-300 kg, next to nothing"):
        ff.Simulation(ff.load_robot(model, feet={"brick": "brick"}))
    with pytest.raises(ff.FootfallError, match="mass"):
        ff.load_robot("brick", mass=1e-300)
