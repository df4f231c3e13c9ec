"""The largest push by bisection: against an experiment whose limit is known, and on a robot."""

from __future__ import annotations

import json
import math

import pytest

import footfall as ff
from footfall.cli import main
from footfall.errors import SimulationError, StudyError
from footfall.study.largest_push import largest_pushes, search

BLOCK = """<mujoco><option gravity="{}"/><worldbody><body name="block" pos="0 0 .1">{}
  <geom type="box" size=".1 .1 .1"/><body name="arm" pos="0 0 .2"><joint/><geom size=".05"/></body></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("gravity", "joint", "sentence"),
    [
        ("0 0 -9.81", "", "its body 'block' is held in the world"),
        ("0 0 -9.81", "<joint axis='0 1 0'/>", "its body 'block' is held in the world"),  # as an arm is by its shoulder
        ("0 0 0", "<freejoint/>", "its model has no gravity"),
    ],
)
@pytest.mark.filterwarnings("ignore:body 'block'")
def test_robots_that_no_push_lets_fall_are_refused(gravity, joint, sentence, tmp_path, capsys):
    """They were told to survive no push at all, or to give one that is not zero."""
    path = tmp_path / "block.xml"
    path.write_text(BLOCK.format(gravity, joint))
    robot = ff.load_robot(path, feet=["block"])
    with pytest.raises(SimulationError, match=f"^no push lets block fall: {sentence}$"):
        largest_pushes(robot, [ff.Push("arm", (1, 0, 0))])
    assert main(["push-limit", str(path), "--feet", "sole=block"]) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("limit", [0.3, 7.0, 70.0, 71.0, 4000.0])
@pytest.mark.parametrize("factor", [1.05, 1.6])
def test_a_known_limit_is_enclosed(limit, factor):
    *_, found = search(lambda size: "fell" if size > limit else "", 70.0, factor, 0.05)
    assert found.survived <= limit < found.failed
    assert found.failed - found.survived <= 0.05 * found.failed
    assert found.why == "fell"
    assert found.runs < 25


def test_a_limit_that_is_never_met_or_always_exceeded_is_told():
    *_, free = search(lambda size: "", 1.0, 1.6, 0.05)
    *_, hopeless = search(lambda size: "fell", 1.0, 1.6, 0.05)
    assert (free.survived > 100.0, free.failed) == (True, math.inf)
    assert (hopeless.survived, hopeless.failed < 0.01) == (0.0, True)


def test_an_interrupted_search_tells_how_far_it_came():
    """Also within the first law: what was survived until then, and nothing of the try that was interrupted."""

    def interrupt(law, i, size, survived):
        if size > 50.0:
            raise KeyboardInterrupt

    push = ff.Push("trunk", (40.0, 0.0, 0.0), start=0.05, duration=0.1)
    with pytest.raises(KeyboardInterrupt) as told:
        largest_pushes("spatial-biped", [push], laws="spring-damper", wait=0.3, progress=interrupt)
    (((found,),),) = (told.value.found,)
    assert (found.law, found.survived, found.failed, found.runs) == ("spring-damper", 40.0, math.inf, 1)


def test_what_is_no_direction_is_refused():
    for push in (ff.Push("trunk"), ff.Push("trunk", (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))):
        with pytest.raises(SimulationError, match="along a force or a torque"):
            largest_pushes("torque-biped", [push])
    with pytest.raises(StudyError, match="but it must be a number > 0 and"):
        largest_pushes("torque-biped", [ff.Push("trunk", (1.0, 0.0, 0.0))], within=0.0)


@pytest.mark.parametrize(("law", "controller"), [("spring-damper", "posture"), ("time-stepping", "balance")])
def test_pushes_side_by_side_have_the_limits_of_pushes_one_by_one(law, controller):
    pushes = [ff.Push("trunk", force, start=0.05, duration=0.1) for force in ((40.0, 0.0, 0.0), (0.0, 40.0, 0.0))]
    options = {"laws": law, "controller": controller, "wait": 0.8, "within": 0.2}
    together = largest_pushes("spatial-biped", pushes, **options)
    alone = [largest_pushes("spatial-biped", [push], **options)[0] for push in pushes]
    for (one,), (other,) in zip(together, alone, strict=True):
        assert (one.survived, one.failed, one.why, one.runs) == (other.survived, other.failed, other.why, other.runs)


@pytest.mark.slow
def test_a_biped_survives_the_papers_push_and_falls_under_a_tenfold_one():
    tries = []
    push = ff.Push("trunk", (0.0, 400.0, 0.0), start=0.05, duration=0.05)
    ((found,),) = largest_pushes(
        "torque-biped",
        [push],
        laws="time-stepping",
        controller="balance",
        within=0.2,
        progress=lambda *t: tries.append(t),
    )
    assert 70.0 < found.survived < found.failed < 700.0
    assert found.unit == "N" and found.why
    assert len(tries) == found.runs and {(law, i) for law, i, _, _ in tries} == {("time-stepping", 0)}
    assert str(found).startswith("time-stepping: ")


@pytest.mark.slow
def test_the_command_tells_the_limit_of_each_law(capsys):
    push = ["--push", "450 N y hip 0.05 s at 0.05 s", "--within", "0.3", "--wait", "1.5"]
    laws = ["--laws", "time-stepping", "spring-damper"]
    assert main(["push-limit", "torque-biped", "--controller", "balance", *push, *laws, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["law"] for one in told] == ["time-stepping", "spring-damper"]
    assert all(one["survived"] > 70.0 for one in told)


def test_of_a_robot_that_walks_only_the_fall_counts():
    """Its capture point leaves the support in every step, also without a push."""
    walk = ff.control.QuadrupedWalk(speed=0.3, steps=20).scaled(ff.load_robot("quadruped"))
    push = ff.Push("trunk", (0.0, 15.0, 0.0), start=0.4, duration=0.1)
    settings = {"laws": "spring-damper", "wait": 0.5, "within": 0.6}
    ((limit,),) = largest_pushes("quadruped", [push], controller=walk, **settings)
    assert 15.0 < limit.survived < limit.failed < 1500.0 and limit.why.startswith("fell at")


def test_a_robot_that_falls_without_a_push_survives_none():
    push = ff.Push("trunk", (0.0, 15.0, 0.0), start=0.1, duration=0.1)
    ((limit,),) = largest_pushes("spatial-biped", [push], laws="spring-damper", controller=None)
    assert limit.survived == limit.failed == 0.0 and limit.why.startswith("without a push: fell at") and limit.runs == 1
