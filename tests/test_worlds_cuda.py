"""The CUDA path in Numba's simulator, which runs kernels as plain Python, and on a GPU where there is one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from worlds_on_a_gpu import (
    DERIVED,
    LAID,
    LYING,
    ON_EDGE,
    PROGRAM,
    REFUSED,
    ROLLING,
    TILTED,
    TOUCHING,
    TUMBLING,
)

import footfall as ff

pytest.importorskip("numba_cuda")


@pytest.mark.parametrize("law", ["spring-damper", "time-stepping", "constraint-selection"])
def test_the_kernels_of_a_gpu_are_those_of_the_cpu(law, simulated):
    found = simulated(PROGRAM, law, "simulated")
    assert found["force"] > 1.0  # they stand on the ground, some of them
    assert max(found["qpos"], found["recording"], found["kept"]) < 1e-9
    assert found["reset"] == 0.0 and found["unsolved"] == 0


@pytest.mark.parametrize(
    ("law", "turns"),
    [
        ({"name": "constraint-selection"}, 1),
        ({"name": "constraint-selection", "mode": "one-step"}, 2),
        ({"name": "time-stepping"}, 2),
        ({"name": "time-stepping", "impact_friction": 0.5}, 1),
    ],
    ids=["exact", "one-step", "time-stepping", "friction of impacts"],
)
def test_a_brick_that_tips_and_slides_on_a_gpu_is_that_on_the_cpu(law, turns, simulated):
    """It slides on a corner: states are searched, and sliding friction is found, by a warp.

    Not longer: a face that slides may be carried in several ways, of which solvers may find one or the other.
    """
    found = simulated(TUMBLING, json.dumps(law), str(turns))
    assert found["slid"] and found["force"] > 1.0
    assert found["worst"] < 1e-9 and found["unsolved"] == 0


def test_a_brick_that_slides_on_an_edge_on_a_gpu_does_so_as_on_the_cpu(simulated):
    """Its vertices are not at one height, as the brick turns."""
    found = simulated(ON_EDGE)
    assert found["sliding"] == [2, 2, 2]
    assert found["speed"] < 1e-9 and found["force"] < 1e-7  # both find friction to 1e-9 of it


def test_a_brick_that_lands_tilted_on_a_gpu_is_that_on_the_cpu(simulated):
    """A flat sole whose corners are to arrive at unlike speeds: all of them carry what lands on a corner first."""
    found = simulated(TILTED, "time-stepping")
    assert found["some"] and found["standing"] == 8
    # Points carry up to 190 N together. How they share it only the compliance decides: with residuals up to 2e-10 of
    # the largest force and a compliance of 1e-9, one digit of that is certain.
    assert found["speed"] < 1e-9 and found["force"] < 1e-6 and found["unsolved"] == 0


@pytest.mark.parametrize("who", ["feet", "every body"])
def test_a_ball_that_rolls_in_a_bowl_on_a_gpu_does_so_as_on_the_cpu(who, simulated):
    """The normal turns under it, on a height field."""
    found = simulated(ROLLING, "linearizing-penalty", who, "10")
    assert found["moved"] > 3e-3 and found["load"] > 0.5
    assert found["worst"] < 1e-9


#: Laws that worlds on a GPU are offered under, and those of them that solve a contact problem.
SOLVING = ("time-stepping", "linearizing-penalty", "constraint-selection")
OFFERED = ("spring-damper", "hunt-crossley", "distributed", *SOLVING)


@pytest.mark.parametrize("law", OFFERED)
def test_a_brick_that_lands_on_its_back_on_a_gpu_is_that_on_the_cpu(law, simulated):
    """On springs for 30 ms, as it bounces; where it is stopped at once, for six."""
    found = simulated(LYING, law, "lands" if law in SOLVING else "bounces")
    assert found["lying"] == 2 and found["unsolved"] == 0
    assert max(found["qpos"], found["again"]) < 1e-9
    assert max(found["body_force"], found["recording"]) < 1e-9 * found["weight"]


@pytest.mark.parametrize("law", SOLVING)
def test_a_robot_that_falls_on_its_feet_and_back_on_a_gpu_does_so_as_on_the_cpu(law, simulated):
    found = simulated(LAID, law, "300")
    assert found["feet"] > 1.0 and found["load"] > 0.2 * found["weight"] and found["unsolved"] == 0
    assert found["speed"] < 1e-9 and found["force"] < 1e-6 * found["weight"]


@pytest.mark.parametrize(
    ("scene", "law"),
    [
        ("folded", "spring-damper"),
        ("folded", "time-stepping"),
        ("stack", "spring-damper"),
        ("stack", "linearizing-penalty"),
    ],
)
def test_bodies_touch_each_other_on_a_gpu_as_on_the_cpu(scene, law, simulated):
    """Hands of one robot that meet; a box that slides down another, from a state in which the law remembers it."""
    found = simulated(TOUCHING, law, scene, "32")
    own, other = found["bodies"]
    assert own == other == [["right", "left"] if scene == "folded" else ["top", "base"]]
    assert found["unsolved"] == 0 and found["speed"] < 1e-11
    assert found["force"] > 1.0 and found["worst"] < 1e-8 * found["force"]


def test_a_step_that_lacks_room_for_a_contact_between_bodies_is_unsolved(simulated):
    found = simulated(TOUCHING, "spring-damper", "stack", "3")
    assert found["unsolved"] == 4  # all of them: a box stands on four corners


@pytest.mark.parametrize(
    ("law", "who", "smoothing", "close"),
    [
        # The law's function is differenced by steps of a millionth: rounding over that.
        ("spring-damper", "every body", "0", (1e-9, 1e-9, 1e-9)),
        # A sliding point's force, to which friction is proportional, is known to 1e-9 of all.
        ("time-stepping", "feet", "0", (1e-12, 1e-6, 1e-12)),
        ("linearizing-penalty", "every body", "1e-6", (1e-12, 1e-6, None)),
    ],
)
def test_derivatives_on_a_gpu_are_those_on_the_cpu(law, who, smoothing, close, simulated):
    """Of a brick that stands, one that is pushed and slides, and one on its back."""
    found = simulated(DERIVED, law, who, smoothing)
    assert found["modes"] == [[1] * 4, [2] * 4] and found["kept"]
    for off, bound, why in zip(found["off"], close, found["why"], strict=True):
        assert ("beside" in why or "other than a foot" in why) if bound is None else why == "" and off < bound
    assert "A (3, 12, 12)" in found["repr"]


def test_derivatives_that_a_gpu_does_not_have_are_refused_in_a_sentence(simulated):
    reasons = ("the forces of distributed", "the ground is curved", "parameters", "smoothing =")
    for said, reason in zip(simulated(REFUSED), reasons, strict=True):
        assert reason in said


def has_gpu() -> bool:
    from footfall.compiled.gpu import cuda

    return bool(cuda().is_available())


@pytest.fixture(scope="module")
def gpu() -> None:
    """Asked for when a test runs: to look for one takes half a second."""
    if not has_gpu():
        pytest.skip("needs an NVIDIA GPU and its driver")


def said_on_gpu(program: str, *arguments: str) -> dict[str, Any]:
    """What a program says in its last line, with the GPU that there is."""
    command = [sys.executable, "-W", "ignore", "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    "law", ["spring-damper", "hunt-crossley", "linearizing-penalty", "time-stepping", "constraint-selection"]
)
def test_worlds_on_a_gpu_are_those_on_the_cpu(law):
    found = said_on_gpu(PROGRAM, law, "real")
    assert max(found["qpos"], found["recording"]) < 0.8e-6


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("law", OFFERED)
def test_robots_that_fall_on_a_gpu_lie_as_on_the_cpu(law):
    """For a second where a force is a smooth function of the motion. Under the other laws for 100 ms from 5 mm above
    the ground: on a CPU alone, robots moved by 1e-14 m at the start are 2e-7 m apart then under the linearizing penalty
    and 2e-12 under the others, and 3e-6 m after 240 ms under constraint selection.
    """
    found = said_on_gpu(LYING, law, "lies" if law in SOLVING else "falls")
    assert found["lying"] > 16 and found["unsolved"] == 0  # of 64
    assert max(found["qpos"], found["again"]) < 0.8e-6
    # Under the linearizing penalty a point that is off by that much in a step is braked with kv, 250 per second.
    share = 0.8e-6 * 250.0 / 9.81 / 1e-3 if law == "linearizing-penalty" else 0.8e-6
    assert max(found["body_force"], found["recording"]) < share * found["weight"]


def test_without_a_gpu_a_sentence_says_so():
    if has_gpu():
        pytest.skip("needs a machine without a GPU")
    with pytest.raises(ff.FootfallError, match="needs an NVIDIA GPU"):
        ff.Worlds(ff.Simulation("brick", law="spring-damper"), 2, device="cuda")
