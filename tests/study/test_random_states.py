"""Every law, robot and ground from random states: nothing diverges, pulls, leaves the cone or makes energy."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
from bounds import below
from real_robots import real_robot

import footfall as ff
from footfall.simulation.run import Run
from footfall.simulation.task import Task
from footfall.standing import point_gaps
from footfall.study.bench.stress import (
    DT,
    Outcome,
    chance_robot,
    coulomb_laws,
    judge_forces,
    random_start,
    random_states,
    rough_grounds,
    try_start,
)

LAWS = coulomb_laws()
#: Runs of each robot on each ground, and their steps; few of the law that integrates from event to event.
RUNS, STEPS = 2, 30
SLOW_RUNS, SLOW_STEPS = 1, 8
#: Share of steps that may be unsolved: the work of a step is bounded, and then the status says so.
UNSOLVED = 1e-3
#: The same of real robots that lie deep in the ground. Jammed by friction, some have next to no solution: of 120 heaps
#: two cost more in every step than one may.
HEAPS = 0.027
#: Work of the contact forces on a robot that started clear of the ground, of what it had to lose: in steps of 1 ms,
#: springs that are hit at several m/s give back a little more than they took.
ENERGY = 0.02


@cache
def robots() -> tuple[ff.Robot, ...]:
    return tuple(ff.load_robot(name) for name in ff.robots())


grounds = cache(rough_grounds)


@pytest.mark.parametrize("name", LAWS)
def test_from_any_state_a_law_answers_within_its_own_rules(name):
    law = LAWS[name]
    count, steps = (SLOW_RUNS, SLOW_STEPS) if law.event_driven else (RUNS, STEPS)
    total = Outcome()
    for case in random_states({name: law}, robots(), grounds(), count, seed=1, steps=steps, timed=False):
        found = case.outcome
        assert (found.cone, found.pull) == (0, 0), case
        assert found.diverged == 0 or law.native, case  # MuJoCo throws what starts deep inside a height field
        total += found
    assert total.runs == count * len(robots()) * len(grounds())
    assert law.native or total.steps >= steps * total.runs
    assert total.unsolved <= UNSOLVED * total.steps, total
    if not law.native:
        below(total.energy, ENERGY)


@pytest.mark.parametrize("name", ["time-stepping", "linearizing-penalty", "constraint-selection"])
def test_heaps_of_real_robots_are_solved_within_the_effort_of_a_step(name):
    """Six bodies inside the ground, with joint friction and limits: rows and contacts change each other's answers."""
    heaps, total = [real_robot("g1"), real_robot("op3")], Outcome()
    for case in random_states({name: LAWS[name]}, heaps, grounds(), 6, seed=20, timed=False):
        assert (case.outcome.cone, case.outcome.pull, case.outcome.diverged) == (0, 0, 0), case
        total += case.outcome
    below(total.unsolved, HEAPS * total.steps)


def recording_of_a_brick(law: str = "spring-damper"):
    sim = ff.Simulation("brick", ground=ff.Ground.plane(0.5), law=law, dt=DT)
    start = random_start(sim.robot, sim.ground, np.random.default_rng(3))
    run = Run(sim, 20 * sim.dt, Task(qpos=start.qpos, qvel=start.qvel))
    run.advance(21)
    return run.recording()


@pytest.mark.parametrize("name", ["time-stepping", "constraint-selection"])
def test_three_points_of_a_foot_that_nearly_slide_are_solved(name):
    """Where the residual was least, at 1e-6, there was no solution: from there every softened problem led back."""
    robot, ground = chance_robot(13), replace(grounds()["function"], static_friction=1.0, dynamic_friction=1.0)
    rng = np.random.default_rng((0, 28, 4))
    rng.integers(4)
    start = [random_start(robot, ground, rng) for _ in range(2)][1]
    found = try_start(ff.Simulation(robot, law=LAWS[name], ground=ground, dt=DT), start, 8, timed=False)
    assert found.unsolved == 0 and found.steps == 9


def test_forces_of_law_mujoco_without_friction_are_those_of_the_motion():
    """Its pyramids have almost no width there, and forces are known from accelerations to few digits."""
    robot, ground = ff.load_robot("spatial-biped"), ff.Ground.plane(0.0)
    rng = np.random.default_rng((1, ff.robots().index("spatial-biped"), 0))
    rng.integers(4)
    start = [random_start(robot, ground, rng) for _ in range(2)][1]
    rec = ff.Simulation(robot, law="mujoco", ground=ground, dt=DT).run(
        0.02, controller=None, qpos=start.qpos, qvel=start.qvel
    )
    assert np.abs(rec.force).max() > 5.0 * robot.weight and not ff.audit(rec).failed


@pytest.mark.parametrize(("row", "expected"), [((0, 0, 1), (False, False)), ((0.6, 0, 1), (True, False))])
def test_friction_beyond_the_cone_is_noticed(row, expected):
    rec = recording_of_a_brick()
    force, mode = np.broadcast_to(np.array(row, dtype=float), rec.force.shape), np.ones_like(rec.mode)
    assert judge_forces(replace(rec, force=force, mode=mode)) == expected


def test_a_force_that_pulls_is_noticed():
    rec = recording_of_a_brick()
    force = rec.force.copy()
    force[5, 2] = (0.0, 0.0, -1.0)
    assert judge_forces(replace(rec, force=force))[1]


@pytest.mark.filterwarnings("ignore:spring-damper.* is unstable")
def test_a_start_that_is_said_to_be_clear_of_the_ground_is():
    """A ball in the corner of a stair touches the riser wherever it is put: it would be thrown out, with energy."""
    robot, ground, clear = ff.load_robot("ball"), grounds()["stairs"], 0
    for seed in range(300):
        start = random_start(robot, ground, np.random.default_rng(seed))
        data = mujoco.MjData(robot.model)
        data.qpos[:] = start.qpos
        mujoco.mj_kinematics(robot.model, data)
        clear += start.clear
        assert not start.clear or point_gaps(robot, ground, data)[0].min() > 0.0
    assert clear > 50


@pytest.mark.filterwarnings("ignore:spring-damper.* is unstable")
def test_a_run_that_diverges_and_one_that_gains_energy_are_counted():
    """Springs some thirty times as stiff as a step of 1 ms can bear: energy grows from step to step, or leaps."""
    law = ff.law("spring-damper", k=3e6, c=0.0, kt=1.0, ct=0.0)
    sim = ff.Simulation("brick", ground=ff.Ground.plane(0.5), law=law, dt=DT)
    rng = np.random.default_rng(0)
    starts = [random_start(sim.robot, sim.ground, rng) for _ in range(20)]
    found = sum((try_start(sim, start, timed=False) for start in starts), Outcome())
    assert found.diverged > 0
    assert found.energy > 1.0


def test_all_laws_start_from_the_same_states():
    laws = {name: LAWS[name] for name in ("spring-damper", "time-stepping")}
    places = {"plane": ff.Ground.plane()}
    cases = list(random_states(laws, [ff.load_robot("brick")], places, 3, seed=5))
    again = list(random_states(laws, [ff.load_robot("brick")], places, 3, seed=5))
    assert [case.law for case in cases] == list(laws)
    assert [c.outcome.energy for c in cases] == [c.outcome.energy for c in again]


def test_the_command_prints_a_row_for_every_law(capsys):
    from footfall.cli import main

    assert main(["stress", "1", "--laws", "spring-damper", "time-stepping", "--robots", "brick"]) == 0
    printed = capsys.readouterr().out
    for word in (
        "unsolved",
        "diverged",
        "cone",
        "pull",
        "energy",
        "slowest",
        "standing",
        "audit",
        "spring-damper",
        "time-stepping",
    ):
        assert word in printed
    assert main(["stress", "0"]) == 1
    assert "COUNT takes a whole number > 0, and not '0'" in capsys.readouterr().err


def test_robots_made_by_chance_follow_from_their_seed_and_differ():
    first, again, other = chance_robot(3), chance_robot(3), chance_robot(4)
    assert first == again and first != other
    made = [chance_robot(seed) for seed in range(12)]
    assert len({(one.model.nv, len(one.feet), one.point_count) for one in made}) > 4
    assert {int(kind) for one in made for kind in one.model.jnt_type} == {0, 1, 2, 3}  # free, ball, slide, hinge


def test_a_fallen_robot_lies_on_the_ground_with_any_of_its_bodies():
    robot, ground = ff.load_robot("hanavan"), ff.Ground.plane()
    for seed in range(5):
        start = random_start(robot, ground, np.random.default_rng(seed), fallen=True)
        data = mujoco.MjData(robot.model)
        data.qpos[:] = start.qpos
        mujoco.mj_kinematics(robot.model, data)
        assert data.xmat[1].reshape(3, 3)[2, 2] < np.cos(0.3 * np.pi)  # its trunk leans by more than 54 degrees
        sim = ff.Simulation(robot, ground=ground, law="time-stepping", dt=DT)
        run = Run(sim, DT, Task(qpos=start.qpos, qvel=start.qvel))
        run.advance(2)
        heights = run.recording().gap[0]
        assert heights.min() > -2e-3


def test_the_page_says_what_was_tried_and_what_failed(tmp_path, capsys):
    from footfall.cli import main

    page = tmp_path / "stress.md"
    command = ["stress", "2", "--laws", "spring-damper", "--robots", "brick", "chance", "--chance", "1"]
    main([*command, "--grounds", "plane", "--json", "--out", str(page)])
    cases = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["robot"], one["runs"]) for one in cases] == [("brick", 2), ("chance-0", 2)]
    text = page.read_text()
    assert "2 starts of each robot" in text and "| `spring-damper` | 4 |" in text
    assert "1 are built in, 0 are given model files and 1 are made by chance" in text
