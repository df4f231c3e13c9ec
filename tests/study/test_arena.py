"""The arena: guests answer questions with known answers, and what goes wrong in one is a row with its reason."""

from __future__ import annotations

import json
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from a_guest import BALL
from commands import footfall_process, one_line
from scipy.optimize import linprog

from footfall.cli import main
from footfall.robot import load_robot
from footfall.standing import in_pose, lowest_places
from footfall.study.arena import arena, closed_forms, load_rows, robots, running
from footfall.study.arena.page import draw_cost
from footfall.study.arena.running import Process, errors_of, guest, guests, made, played
from footfall.study.arena.task import parts_of


@pytest.fixture
def ball(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(running, "cache_folder", lambda purpose: tmp_path / "cache")
    file = tmp_path / "plain_ball.py"
    file.write_text(BALL)
    return str(file)


def test_a_guest_in_plain_python_bounces_as_the_formula_says(ball, tmp_path):
    of_defaults = arena([f"{ball}:default"], ["closed-forms"], tmp_path / "out", questions=["bounce", "slope"])
    bounces = [row for row in of_defaults if row.question == "bounce"]
    # Each of up to twenty bounces comes up to a step of 1 ms early: 20 ms of 1 s, and as much of the height.
    assert len(bounces) == 4 and all(abs(row.error) < 0.03 for row in bounces)
    assert all("gap times force" in row.audit for row in bounces)  # pushed before it touches
    blank = [row for row in of_defaults if row.question == "slope"]
    assert {(row.status, row.reason) for row in blank} == {("blank", "a ball is no block")}
    assert np.isnan([row.error for row in blank]).all()


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        ("crash", "crashed", "crashed with code 3: it said nothing"),
        ("hang", "hangs", "hangs: no answer within 1 s"),
        ("spin", "slow", "slow: no answer within 1 s of processor time"),
        ("light", "other task", "its mass is 0.9 kg, and 1 kg was asked for"),
        ("strong", "other forces", "its contact forces miss"),
        ("away", "other task", "a contact is reported 500 mm from sphere 0"),
        ("wild", "diverged", "at t = 0.001 s"),
    ],
)
def test_a_guest_that_fails_is_a_row_with_the_reason(ball, fault, status, reason, monkeypatch):
    monkeypatch.setattr(running, "PATIENCE", 1.0 if fault == "hang" else 1e3)
    case = next(closed_forms.bounces(0.5, 0.05))
    process = Process(guest(ball))
    try:
        outcome = played(process, case.task, guest(ball).settings[fault], 1.0 if fault in ("hang", "spin") else 60.0)
        assert outcome.status == status and outcome.reason.startswith(reason)
        assert np.isnan(errors_of(outcome, [case])).all()
        assert played(process, case.task, {}, 60.0).status == "done"  # the next task is not harmed
    finally:
        process.end()


def test_the_search_finds_the_setting_that_is_right(ball, tmp_path):
    rows = arena([f"{ball}:away"], ["closed-forms"], tmp_path, questions=["bounce"], evaluations=6)
    # The truth is 0, the default 0.25; a few evaluations come a good part of the way.
    assert json.loads((tmp_path / "tuned-plain-ball-closed-forms.json").read_text())["loss"] < 0.125
    assert max(abs(row.error) for row in rows if row.setting == "tuned") < 0.3


def test_what_is_known_is_not_asked_again(ball, tmp_path):
    first = arena([f"{ball}:light"], ["closed-forms"], tmp_path, questions=["bounce"])
    said: list[str] = []
    again = arena([f"{ball}:light"], ["closed-forms"], tmp_path, questions=["bounce"], say=said.append)
    assert len(again) == len(first) == 4 and not said


def test_the_page_shows_every_question_and_every_reason(ball, tmp_path):
    engines = [f"{ball}:default", f"{ball}:light"]
    arena(engines, ["closed-forms"], tmp_path, questions=["bounce"])
    rows = load_rows(tmp_path)
    assert main(["arena", "page", "--from", str(tmp_path), "--out", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    assert "Can an impact be neither dead nor endless?" in text and "its mass is 0.9 kg" in text
    assert (tmp_path / "images" / "arena-bounce.png").stat().st_size > 5000
    costs = [replace(row, group="cost", dt=dt) for row in rows for dt in (1e-3, 5e-4)]
    assert len(draw_cost(costs).axes[0].lines) == 1  # the others have no error


def test_a_guest_is_added_if_it_answers(ball, tmp_path, capsys):
    assert main(["arena", "add", ball]) == 0
    capsys.readouterr()
    assert main(["arena", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"mujoco", "drake", "pinocchio", "footfall", "plain-ball"} <= {one["name"] for one in listed}
    broken = tmp_path / "broken_ball.py"
    broken.write_text(BALL.replace("self.mass =", "self.weight ="))
    assert main(["arena", "add", str(broken)]) == 1
    assert "was not added" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["arena", "run", "--engines", "mujocoo"], "no guest is called 'mujocoo': did you mean 'mujoco'"),
        (["arena", "run", "--groups", "robot"], "no group of questions is called 'robot'"),
        (["arena", "run", "--engines", "footfall:soft"], "footfall has no variant 'soft'"),
        (["arena", "page", "--from", "nowhere"], "there are no results in 'nowhere'"),
        (["arena", "add", "nowhere.py"], "nowhere.py"),
        (["arena", "fight"], "the arena cannot 'fight'"),
    ],
)
def test_bad_input_is_one_sentence(args, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(args) in (1, 2)
    assert sentence in one_line(capsys.readouterr().err)


def _inertia(model, qpos):
    data = mujoco.MjData(model)
    data.qpos = qpos
    mujoco.mj_forward(model, data)
    matrix = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, matrix)
    return matrix, data.qfrc_bias


def test_mjcf_and_urdf_are_the_same_robot(tmp_path):
    robot = load_robot("quadruped")
    task = robots.standing("quadruped", parts_of(robot), robot.home, 1.0)
    task.write(tmp_path, {})
    written = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    spec = mujoco.MjSpec.from_file(str(tmp_path / "robot.urdf"))
    spec.compiler.discardvisual, spec.compiler.fusestatic = False, False
    spec.bodies[1].add_freejoint()
    other = spec.compile()
    assert [other.joint(j).name for j in range(1, other.njnt)] == task.joints
    random = np.random.default_rng(0)
    for _ in range(5):
        qpos = np.concatenate([random.normal(size=7), random.uniform(-1, 1, len(task.joints))])
        qpos[3:7] /= np.linalg.norm(qpos[3:7])
        for one, two in zip(_inertia(written, qpos), _inertia(other, qpos), strict=True):
            assert np.allclose(one, two, atol=1e-9)


def test_the_parts_of_a_robot_weigh_and_hang_as_the_robot():
    robot = load_robot("quadruped")
    task = robots.standing("quadruped", parts_of(robot), robot.home, 1.0)
    assert task.mass == pytest.approx(robot.mass, rel=1e-12)
    bent = robot.home + np.array([*[0.0] * 7, *0.1 * np.arange(len(task.joints))])
    assert np.allclose(_inertia(robot.model, bent)[1], _inertia(task.robot.model, bent)[1], atol=1e-9)  # of gravity


def test_a_push_is_a_quarter_of_the_largest_that_forces_in_cones_can_balance():
    robot = load_robot("quadruped")
    stand = robots.standing("quadruped", parts_of(robot), robot.home, 1.0)
    data = in_pose(stand.robot, stand.qpos)
    places, weight = lowest_places(stand.robot, data), stand.robot.weight
    count = len(places)
    # Unknowns: the forces on the feet, and the push to the left. They balance the weight and its moments.
    lever = np.hstack([np.cross(place, np.eye(3)).T for place in places])
    balance = np.zeros((6, 3 * count + 1))
    balance[:3, :-1], balance[3:, :-1] = np.tile(np.eye(3), count), lever
    balance[:3, -1], balance[3:, -1] = [0, 1, 0], np.cross(data.xipos[1], [0, 1, 0])
    load = np.array([0, 0, weight, *np.cross(data.subtree_com[1], [0, 0, weight])])
    angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    side = np.column_stack([np.cos(angles), np.sin(angles), np.full(16, -stand.friction * np.cos(np.pi / 16))])
    cones = np.hstack([np.kron(np.eye(count), side), np.zeros((16 * count, 1))])
    free = [(None, None)] * (3 * count + 1)
    most = linprog([0] * 3 * count + [-1], cones, np.zeros(16 * count), balance, load, free).x[-1]
    given = max(force[1] for _, _, force in robots.pushed(stand).pulls)
    # The formula has stiff legs and a straight edge; the sine's peak lies between two pieces of 20 ms.
    assert given == pytest.approx(0.25 * most, rel=2e-3)


@pytest.mark.parametrize("name", sorted(guests()))
def test_each_guest_knows_the_answer_of_a_sliding_block(name):
    one = guest(name)
    if not made(one):
        pytest.skip(f"the environment of {name} is not made: footfall arena run --engines {name} makes it")
    process, case = Process(one), next(closed_forms.slides(0.5, 1.0, (0.0,)))
    try:
        outcome = played(process, case.task, {}, 300.0)
    finally:
        process.end()
    assert outcome.status == "done", outcome.reason
    # Half a step at 1 m/s is 0.5 mm of 102 mm; a soft engine sinks first, and has half of a per cent more.
    assert abs(case.error(outcome.recording)) < 0.01


def test_the_truth_of_a_pulled_block_is_that_of_tiny_steps():
    forces, piece, most, h = 7.0 * np.sin(np.arange(40)), 0.02, 4.0, 1e-5
    x = v = 0.0
    for force in np.repeat(forces, round(piece / h)):
        free = v + h * force
        v = np.sign(free) * max(0.0, abs(free) - h * most)
        x += h * v
    assert closed_forms._pulled(forces, piece, most)[0] == pytest.approx(x, abs=1e-4)


def test_the_command_prints_its_help():
    done = footfall_process("arena", "run", "--help")
    assert done.returncode == 0 and "--engines" in done.stdout
