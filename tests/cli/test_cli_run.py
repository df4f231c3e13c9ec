"""`footfall run` and what other commands take of it: options, bad input, what is left, and pushes."""

from __future__ import annotations

import inspect
import json
import math
from pathlib import Path

import numpy as np
import pytest
from commands import one_line
from robot_models import HOPPER

from footfall.cli import main
from footfall.cli.shared.options import ground_options
from footfall.cli.shared.task import parse_push
from footfall.cli.shared.usage import UsageError
from footfall.ground import Ground
from footfall.recording import load_recording
from footfall.robot import load_robot


def test_run_prints_a_table_and_saves_nothing_unasked(capsys, tmp_path):
    assert main(["run", "ball", "--duration", "0.1"]) == 0
    out = capsys.readouterr().out
    for word in (
        "linearizing-penalty",
        "100 steps of 1 ms",
        "µs per step",
        "x weight",
        "penetration",
        "slip",
        "not saved",
    ):
        assert word in out
    assert not list(tmp_path.iterdir())


def test_run_saves_a_recording_that_loads(capsys):
    args = ["run", "spatial-biped", "--duration", "0.2", "--record-dt", "0.01", "--out", "kept/run", "--json"]
    assert main(args) == 0
    told = json.loads(capsys.readouterr().out)
    rec = load_recording(told["recording"])
    assert len(rec) == told["samples"] == 21
    assert told["steps"] == 200
    assert told["controller"] == "posture"
    assert told["final_vertical_force_bw"] == pytest.approx(rec.total_force[-1, 2] / rec.robot.weight)
    assert told["us_per_step"] > 0
    assert told["failed"] is False


def test_run_takes_the_options_of_law_ground_and_robot(capsys):
    args = ["run", "brick", "--law", "spring-damper", "--law.k", "2e4", "--law.adhesive", "--robot.mass", "3"]
    args += ["--ground", "slope", "--ground.angle", "20deg", "--ground.friction=0.5", "--ground.static_friction=0.6"]
    assert main([*args, "--align", "--duration", "0.05", "--out", "r"]) == 0
    rec = load_recording("r")
    assert (rec.law.k, rec.law.adhesive) == (2e4, True)
    assert rec.robot.mass == pytest.approx(3.0)
    assert rec.ground == Ground.slope(math.radians(20), friction=(0.6, 0.5))
    assert np.ptp(rec.gap[0]) < 1e-9  # aligned: all four points touch


def test_lengths_of_a_robot_follow_its_height_from_the_command_line_too():
    assert main(["run", "spatial-biped", "--robot.height", "1.8", "--duration", "0.01", "--out", "r"]) == 0
    assert load_recording("r").robot == load_robot("spatial-biped", height=1.8)


def test_run_takes_a_file_feet_and_a_grid_of_points(tmp_path):
    (tmp_path / "mine.xml").write_text(load_robot("spatial-biped").mjcf)
    feet = ["--feet", "l=left_foot", "--feet", "r=right_foot"]
    assert main(["run", "mine.xml", *feet, "--points", "3x2", "--duration", "0.01", "--out", "r"]) == 0
    rec = load_recording("r")
    assert [foot.name for foot in rec.robot.feet] == ["l", "r"]
    assert rec.robot.point_count == 12


@pytest.mark.parametrize("command", ["run", "compare", "push-limit", "gait", "robots"])
def test_every_command_that_takes_a_robot_has_its_options(command, capsys):
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    for option in ("--pose", "--feet", "--points", "--actuators"):
        assert option in text


def test_pose_and_actuators_are_typed(capsys, tmp_path):
    (tmp_path / "hopper.xml").write_text(HOPPER)
    code = main(["run", "hopper.xml", "--pose", "hip=0.2,knee=-0.3", "--actuators", "motor", "--duration", "0.002",
                 "--out", "kept"])  # fmt: skip
    assert code == 0
    rec = load_recording("kept")
    np.testing.assert_allclose(rec.qpos[0, 7:], [0.2, -0.3])
    assert not rec.robot.model.actuator_biasprm.any()
    assert main(["robots", "hopper.xml", "--pose", "lie", "--json"]) == 0
    capsys.readouterr()
    for pose, told in (("walk", "no keyframe 'walk'"), ("1,x", "cannot read the pose"), ("0,1", "9 numbers")):
        assert main(["robots", "hopper.xml", "--pose", pose]) in (1, 2)
        assert told in capsys.readouterr().err


def test_run_drops_a_robot_from_above_whatever_lifts_it():
    for robot in ("ball", "planar-biped"):
        assert main(["run", robot, "--drop", "0.05", "--duration", "0.01", "--out", robot]) == 0
        assert load_recording(robot).gap[0].min() == pytest.approx(0.05)


def test_run_reads_a_height_field(tmp_path):
    np.savetxt(tmp_path / "h.csv", np.full((4, 5), 0.1), delimiter=",")
    ground = ["--ground", "heightfield", "--ground.heights", "h.csv", "--ground.size", "4", "3"]
    assert main(["run", "ball", *ground, "--duration", "0.01", "--out", "r"]) == 0
    assert load_recording("r").ground == Ground.heightfield(np.full((4, 5), 0.1), size=(4, 3))


def test_a_height_file_that_is_missing_is_named(capsys):
    ground = ["--ground", "heightfield", "--ground.heights", "none.npy", "--ground.size", "4", "3"]
    assert main(["run", "ball", *ground]) == 1
    assert "none.npy" in one_line(capsys.readouterr().err)


def test_run_needs_no_controller_for_servos(capsys):
    args = ["run", "spatial-biped", "--robot.actuators", "position", "--duration", "0.01", "--json"]
    assert main(args) == 0
    assert json.loads(capsys.readouterr().out)["controller"] == "none"


def test_a_law_of_the_users_own_runs_with_its_options(capsys, tmp_path):
    (tmp_path / "laws_of_mine.py").write_text(
        "import footfall\n"
        "@footfall.point_law('spongy', k=1e4, c=100.0)\n"
        "def spongy(depth, depth_rate, slip, slip_velocity, memory, parameters):\n"
        "    '''A sponge.'''\n"
        "    return max(0.0, parameters.k * depth + parameters.c * depth_rate)\n"
    )
    own = ["--import", "laws_of_mine.py", "--law", "spongy", "--law.k=2e4"]
    assert main(["run", "ball", *own, "--duration", "0.01", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["law"] == {"name": "spongy", "k": 2e4, "c": 100.0}


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["run", "spatial-bipd"], 1, "did you mean 'spatial-biped'"),
        (["run", "missing.xml"], 1, "no file 'missing.xml'"),
        (["run", "ball", "--law", "spring-dampr"], 1, "did you mean 'spring-damper'"),
        (["run", "ball", "--law", "spring-damper", "--law.k", "-1"], 1, "--law.k takes a number > 0, and not"),
        (["run", "ball", "--dt", "-1"], 1, "--dt takes a number > 0"),
        (["run", "ball", "--duration", "-1"], 1, "--duration takes a number >= 0"),
        (["run", "ball", "--controller", "postur"], 1, "did you mean 'posture'"),
        (["run", "ball", "--ground.friction", "-1"], 1, "must be a number >= 0"),
        (["run", "ball", "--points", "many"], 2, "a grid such as 4x6"),
        (["run", "ball", "--feet", "left"], 2, "NAME=BODY"),
        (["run", "ball", "--push", "70 N y"], 2, "FORCE N DIRECTION BODY"),
        (["run", "spatial-biped", "--push", "70 N y trnk 0.05 s at 1 s"], 1, "did you mean 'trunk'"),
        (["run", "ball", "--import", "nothing.py"], 1, "cannot import 'nothing.py'"),
        (["run", "ball", "--import", ".."], 1, "cannot import '..': neither a Python file, FILE.py, nor the name of a"),
        (["run", "ball", "--import", ""], 1, "cannot import '': neither"),
        (["run", "ball", "--import"], 2, "--import needs"),
        (["report", "nowhere"], 1, "no recording 'nowhere'"),
        (["run", "ball", "--law", ""], 1, "no contact law is called ''"),
        (["run", "ball", "--drop", "-1cm"], 1, "--drop takes a number >= 0, and not '-1cm'"),
        (["run", "ball", "--drop", "inf"], 1, "--drop takes a finite number >= 0, and not 'inf'"),
        (["run", "ball", "--duration", "nan"], 1, "--duration takes a number, and not 'nan'"),
        (
            ["run", "ball", "--law", "spring-damper", "--law.k=inf"],
            1,
            "--law.k takes a number > 0, and finite, and not",
        ),
        (
            ["run", "ball", "--points", "0x3"],
            2,
            "cannot read the points '0x3': write vertices, a grid",
        ),
        (["walk", "ball", "--turn", "nan"], 1, "--turn takes a number, and not 'nan'"),
        (["push-limit", "ball", "--within", "2"], 1, "--within takes a number > 0 and <= 1, and not '2'"),
        (["survey", "quadruped", "--steps", "0"], 1, "--steps takes a whole number > 0, and not '0'"),
        (["view", "ball", "--live", "--pace", "-1"], 1, "--pace takes a number between 0.001 and 1000, and not '-1'"),
        (["stress", "many"], 2, "COUNT takes a whole number, and not 'many'"),
        (["train", "stand", "--slope", "5foot"], 2, "--slope takes a number in rad, or one with its unit"),
        (["identify", "tosses", "a.csv", "--side", "-3cm"], 1, "--side takes a number > 0, and not '-3cm'"),
        (["new", "law", "class"], 2, "'class' is not a valid name"),
        (["report"], 2, "which recording? footfall report RECORDING..."),
        (["audit"], 2, "which recording? footfall audit RECORDING..."),
        (["view"], 2, "which recording? footfall view RECORDING..."),
        (["plot"], 2, "which plot of which recording? footfall plot RECORDING... NAME"),
        (["identify", "friction"], 2, "which data? footfall identify friction DATA..."),
        (["bench", "--robots", "spatial-bipd"], 1, "did you mean 'spatial-biped'"),
        (["survey", "quadruped", "--out", "."], 1, "'.': Is a directory"),
        (["survey", "quadruped", "--out", "no/such/place.md"], 1, "'no/such/place.md': No such file or directory"),
        (["bench", "--worlds", "0"], 1, "--worlds takes a whole number > 0, and not '0'"),
        (["stress", "1", "--seed", "-1"], 1, "--seed takes a whole number >= 0, and not '-1'"),
        (["view", "nowhere"], 1, "no recording 'nowhere'"),
    ],
)
def test_bad_input_gives_one_sentence(args, code, told, capsys):
    assert main(args) == code
    assert told in one_line(capsys.readouterr().err)


def test_a_file_does_not_take_the_place_of_a_module(tmp_path, capsys):
    (tmp_path / "json.py").write_text("loads = None\n")
    assert main(["laws", "--import", str(tmp_path / "json.py")]) == 1
    assert "another module is called 'json'; rename the file" in one_line(capsys.readouterr().err)
    assert json.loads("1") == 1


@pytest.mark.parametrize("option", ["--law.kk=1", "--ground=wall", "--ground.angle=1", "--dt=fast"])
def test_options_that_do_not_exist_are_usage_errors(option, capsys):
    assert main(["run", "ball", option]) == 2
    assert capsys.readouterr().err


def test_a_run_that_creates_energy_exits_1_and_keeps_its_recording(capsys):
    args = ["run", "spatial-biped", "--law", "spring-damper", "--law.k", "1e9", "--duration", "1"]
    assert main([*args, "--json"]) == 1
    out, err = capsys.readouterr()
    assert err.count("unstable in steps") == 1 and err.count("energy from nowhere") == 1 and "Traceback" not in err
    told = json.loads(out)
    assert told["failed"]
    assert told["recording"] == str(Path("runs") / "spatial-biped-spring-damper")
    rec = load_recording(told["recording"])
    assert rec.failure.cause == "energy"
    assert len(rec) > 1
    assert main([*args, "--out", "there"]) == 1
    assert load_recording("there").failure == rec.failure


def test_what_was_simulated_before_an_error_is_saved(capsys, monkeypatch):
    from footfall.errors import ControllerError
    from footfall.simulation import Simulation

    rec = Simulation("ball").run(0.01)

    def fails(self, duration, **options):
        if duration:
            raise ControllerError("it broke", rec)

    monkeypatch.setattr(Simulation, "run", fails)
    assert main(["run", "ball"]) == 1
    assert "it broke" in capsys.readouterr().err
    assert len(load_recording("runs/ball-linearizing-penalty")) == len(rec)


def test_a_place_that_cannot_be_written_is_one_sentence(capsys, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert main(["run", "ball", "--duration", "0.01", "--out", "file"]) == 1
    assert "in the way" in one_line(capsys.readouterr().err)


def test_figures_of_a_robot_without_weight_are_json(capsys, tmp_path):
    from footfall.cli.shared.output import print_json

    print_json({"a": math.nan, "b": [math.inf, 1.0]})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.0]}


def test_values_of_numpy_are_json_in_every_command(capsys, tmp_path):
    from footfall.cli.shared.output import print_json

    given = {"met": np.bool_(True), "n": np.int64(3), "x": np.float64(math.nan), "v": np.arange(2.0), "at": tmp_path}
    print_json([given, (np.float32(0.5), {"deep": np.array([[True, False]])})])
    plain = {"met": True, "n": 3, "x": None, "v": [0.0, 1.0], "at": str(tmp_path)}
    assert json.loads(capsys.readouterr().out) == [plain, [0.5, {"deep": [[True, False]]}]]


def test_push_limit_needs_no_push(capsys):
    laws = ["--laws", "spring-damper"]
    assert main(["push-limit", "spatial-biped", *laws, "--within", "0.3", "--wait", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["push"].split()[2] for one in told] == ["x", "-x", "y", "-y"]
    for one in told:
        assert 0.0 < one["survived"] < one["failed"] < math.inf
        assert one["failed"] - one["survived"] <= 0.3 * one["failed"]
        assert one["why"]
    left, right = (next(one["survived"] for one in told if f" {way} " in one["push"]) for way in ("y", "-y"))
    assert left == pytest.approx(right, rel=0.3)  # the biped is symmetric; the search stops within 30 %


def test_ground_options_have_the_defaults_of_the_grounds():
    for kind, options in ground_options().items():
        known = inspect.signature(getattr(Ground, kind)).parameters
        for one in options:
            default = known[one.key.removeprefix("ground.")].default
            assert one.default == (... if default is inspect.Parameter.empty else default), one.key


# ---- pushes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "force", "start", "duration"),
    [
        ("70 N y trunk 0.05 s at 1 s", (0, 70, 0), 1.0, 0.05),
        ("70N -x trunk 0.05s at 1s", (-70, 0, 0), 1.0, 0.05),
        ("-1.5e2 N +z hip .1 s at 0 s", (0, 0, -150), 0.0, 0.1),
        ("70 N y base 1 s at 0.5 s", (0, 70, 0), 0.5, 1.0),
    ],
)
def test_a_push_is_read(text, force, start, duration):
    push = parse_push(text, load_robot("spatial-biped"))
    assert push.body == "trunk"
    assert push.force == force
    assert (push.start, push.duration) == (start, duration)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "70 y trunk 0.05 s at 1 s",
        "70 N w trunk 0.05 s at 1 s",
        "70 N y 0.05 s at 1 s",
        "70 N y trunk 0.05 at 1 s",
        "70 N y trunk 0.05 s",
        "70 N y trunk 0 s at 1 s",
        "70 N y trunk 0.05 s at -1 s",
        "x N y trunk 0.05 s at 1 s",
        "70 N yaw trunk 0.05 s at 1 s",
    ],
)
def test_a_push_that_cannot_be_read_is_a_usage_error(text):
    with pytest.raises(UsageError):
        parse_push(text, load_robot("spatial-biped"))


def test_a_push_may_be_a_torque():
    push = parse_push("-10 N m yaw hip 0.1 s at 2 s", load_robot("spatial-biped"))
    assert (push.force, push.torque) == ((0, 0, 0), (0, 0, -10))
    assert parse_push("3Nm -x trunk 0.1 s at 2 s", load_robot("spatial-biped")).torque == (-3, 0, 0)


def test_a_push_gives_its_momentum():
    """In flight a body of mass m gains F t / m, whatever the law: 2 N s on 1 kg is 2 m/s."""
    push = ["--push", "20 N x base 0.1 s at 0 s"]
    assert main(["run", "ball", "--drop", "1", *push, "--duration", "0.3", "--out", "r"]) == 0
    rec = load_recording("r")
    assert rec.qvel[-1, 0] == pytest.approx(2.0, rel=1e-9)  # rounding alone
    assert rec.pushes[0].body == "ball"
