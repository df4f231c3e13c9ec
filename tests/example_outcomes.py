"""What the examples of the README, the documentation and the help must come to, by how they begin."""

from __future__ import annotations

import json
import math
import re
import shlex
import shutil
import sys
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from urllib.request import urlopen

import numpy as np
import pytest
from a_guest import BALL
from lab_walks import walker, write_mot, write_trc
from motions import swaying
from robot_logs import sensed, write_bag
from shared_files import shared_file

import footfall as ff
from footfall.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def stood_or_walked(rec):
    """Not fallen, carried by the ground on average over the last second, and audited."""
    summary = rec.summary()
    assert not summary["failed"], summary["failure"]
    assert not summary["fell"], summary["fell_because"]
    late = rec.time >= rec.time[-1] - min(1.0, 0.5 * rec.duration)
    # A walk's second is not a whole number of its steps, so that its mean is within a few percent only.
    still = np.abs(rec.qvel[late]).max() < 0.05
    assert rec.total_force[late, 2].mean() / rec.robot.weight == pytest.approx(1.0, abs=0.005 if still else 0.05)
    audit = rec.audit()
    assert audit.passed, audit


def snippets(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S)


def a_run(command):
    kept = command[command.index("--out") + 1] if "--out" in command else "kept"
    assert main([*command, *([] if "--out" in command else ["--out", kept]), "--json"]) == 0
    stood_or_walked(ff.load_recording(kept))


def a_robot_of_ones_own(command):
    for text in snippets(ROOT / "docs" / "start" / "your-robot.md"):
        exec(compile(text, "your-robot.md", "exec"), {"ff": ff})
    if command[0] == "run":
        a_run(command)
    else:
        assert main(command) == 0
        for law in command[command.index("--laws") + 1 : command.index("--out")]:
            stood_or_walked(ff.load_recording(Path("runs/hopper") / law))


def a_urdf():
    """The file of the page on robots of one's own."""
    exec(compile(snippets(ROOT / "docs" / "start" / "your-robot.md")[0], "your-robot.md", "exec"), {})


def a_walk_from_a_urdf(command):
    a_urdf()
    a_run([*command, "--controller", "posture"] if command[0] == "run" else command)


def a_demo(command):
    """Five steps, with a report."""
    if "robot.urdf" in command:
        a_urdf()
    assert main([*command, "--out", "kept", "--json"]) == 0
    stood_or_walked(ff.load_recording("kept"))
    assert Path("kept/report.html").stat().st_size > 1000


def a_robot_described(command, capsys):
    """Its feet, which way it faces and by what; a picture of its soles where one is asked for."""
    for text in snippets(ROOT / "docs" / "start" / "your-robot.md"):
        exec(compile(text, "your-robot.md", "exec"), {"ff": ff})
    Path("robot.xml").write_text(Path("hopper.xml").read_text(encoding="utf-8"), encoding="utf-8")
    capsys.readouterr()
    assert main(["hopper.xml" if word == "FILE" else word for word in command]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert ("left (body left_foot, 4 points)" if "robot.urdf" in command else "foot (body foot, 4 points)") in told
    assert re.search(r"faces:? .* of the world in its home pose, by ", told)
    if "--soles" in command:
        assert Path(command[command.index("--soles") + 1]).stat().st_size > 1000


def plates():
    """The file of the guide on measured data."""
    (text,) = [one for one in snippets(ROOT / "docs" / "guides" / "measured.md") if 'Path("plates.csv")' in one]
    exec(compile(text, "measured.md", "exec"), {})


def of_a_recording(command):
    if "plates.csv" in command:  # which lasts from 1.5 s on
        plates()
        ff.Simulation("spatial-biped").run(2.0, controller="posture", record_dt=0.01).save(command[1])
    else:
        ff.Simulation("ball").run(0.5).save(command[1])
    assert main(command) == 0


def a_comparison(command, capsys):
    """The robot stays up, and no audit objects; where a table follows the command, it says what comes of it.

    Under every law where a table follows the command or a push is in it, else under one law of each kind.
    """
    if "plates.csv" in command:
        plates()
        capsys.readouterr()
    every = bool(tabled(command)) or "--push" in command
    laws = list(ff.laws() if every else ("spring-damper", "distributed", "time-stepping", "mujoco"))
    if "walk" in command and "acceleration-complementarity" in laws:
        laws.remove("acceleration-complementarity")  # minutes
    fewer = (
        command[: command.index("--laws")] + command[command.index("--laws") + 2 :] if "--laws" in command else command
    )
    assert main([*fewer, "--laws", *laws, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["law"] for row in rows} == set(laws)
    assert {row["law"]: row["outcome"] for row in rows if row["outcome"] != "stayed up"} == {}
    assert [row["law"] for row in rows if row["audit_failed"]] == []
    for row in rows if tabled(command) else ():
        outcome, peak, audit = tabled(command)[row["law"]]
        assert (outcome, audit) == (row["outcome"], row["audit"]), row["law"]
        if row["penetration_m"] > 1e-4:  # of rigid laws it is an impulse in one step, which differs by processors
            assert peak == pytest.approx(row["peak_force_bw"], rel=0.05), row["law"]


def tabled(command):
    """By law the outcome, peak force (weights) and audit in the table that follows a command."""
    for page in PAGES:
        for shown, after in re.findall(
            r"```sh\nfootfall ([^\n]*)\n```(.*?)(?=\n## |\Z)", page.read_text("utf-8"), flags=re.S
        ):
            if shlex.split(shown) == command:
                found = re.findall(r"^\| `([\w-]+)` \| ([\w ]+) \| ([\d.]+) \|.* \| (\w+) \|$", after, flags=re.M)
                return {law: (outcome, float(peak), audit) for law, outcome, peak, audit in found}
    return {}


def a_controller_of_ones_own(command, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "hold", None)  # that of another example is in another folder
    assert main(["new", "controller", "hold"]) == 0
    capsys.readouterr()
    a_run(command) if command[0] == "run" else a_comparison(command, capsys)


def a_gait(command):
    assert main([*command, "--json"]) == 0  # 1 if a constraint is not met


def laboratory_walk():
    """The files of the examples: a walk by markers and plates."""
    time, fine, joints = walker()
    write_trc(Path("walk.trc"), time, joints, "y up")
    write_mot(Path("walk_grf.mot"), fine, joints, "y up")


def a_recorded_walk(command):
    """The recording that Footfall's own table comes from, under the name of the examples, or a laboratory's."""
    if "walk.trc" in command:
        laboratory_walk()
        assert main(command) == 0
        return
    shutil.copytree(shared_file("data/human_walk"), "recording")
    assert main(command) == 0
    assert "Marcos Duarte" in Path(command[-1]).read_text(encoding="utf-8")


def a_walk_of_ones_own(command):
    laboratory_walk()
    assert main(["human-walk", "walk.trc", "--forces", "walk_grf.mot", "--out", "walk.json"]) == 0
    assert main(command) == 0


def a_gait_walked(command):
    assert main(["gait", "planar-biped", "--speed", "0.5", "--out", "walk.json"]) == 0
    a_run(command)


def a_motion(command, capsys):
    """A squat under the names of the examples."""
    motion = swaying(ff.load_robot("spatial-biped"), bend=0.1, lean=0.0, duration=0.6)
    turned = motion.rotation[:, [1, 2, 3, 0]]
    for name in ("squat.npz", "walk.npz", "MOTION.npz"):
        np.savez(name, fps=50, root_pos=motion.position, root_rot=turned, dof_pos=motion.joints)
    named = dict(zip(motion.names, motion.joints.T, strict=True))
    root = dict(zip(("x", "y", "z", "qx", "qy", "qz", "qw"), np.column_stack([motion.position, turned]).T, strict=True))
    columns = {"time": motion.time, **{f"root_{part}": values for part, values in root.items()}, **named}
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in np.column_stack(list(columns.values())).tolist())]
    Path("squat.csv").write_text("\n".join(lines), encoding="utf-8")
    assert main([*(word.replace("MOTION", "MOTION.npz") for word in command), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["root_worst"] < 0.01


def friction(command, capsys):
    times = np.arange(0.0, 1.0, 0.01)
    lines = ["time,normal,tangential,trial"]
    for trial, load in enumerate((20.0, 40.0, 60.0)):
        force = np.where(times < 0.5, load * 0.5 * times / 0.5, 0.4 * load)
        lines += [f"{t:.3f},{load},{f:.6f},{trial}" for t, f in zip(times, force, strict=True)]
    Path("pulls.csv").write_text("\n".join(lines))
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["static"]["value"] == pytest.approx(0.5, rel=0.03)  # the last sample before it breaks away: 2 % below
    assert told["kinetic"]["value"] == pytest.approx(0.4, rel=1e-6)


def tosses(command, capsys):
    Path("tosses.npz").write_bytes(shared_file("data/cube_tosses/tosses.npz").read_bytes())
    fewer = ["--laws", "spring-damper", "--trials", "2", "--judge", "2", "--evaluations", "2"]
    what = command[: next(i for i, part in enumerate(command) if part.startswith("--"))]
    if what[-1].endswith(".csv"):  # the same as a table, at ContactNets' rate
        with np.load("tosses.npz") as data:
            state, toss = data["state"], data["toss"]
        few = toss < np.unique(toss)[8]
        table = np.column_stack([toss[few], state[few, 4:7], state[few, :4]])
        np.savetxt(what[-1], table, delimiter=",", header="toss,x [m],y [m],z [m],qw,qx,qy,qz", comments="")
        fewer += ["--rate", "148"]
    kept = ["--out", "fits"] if "--out" in command else []
    assert main([*what, *fewer, *kept, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["law"]["name"] == "spring-damper" and told["judged"]["position_widths"] > 0.0
    assert Path("fits/spring-damper.json").exists() is bool(kept)


def forces(command, capsys):
    """Landings on springs that let the brick in by 0.4 mm at rest."""
    sim = ff.Simulation("brick", law=ff.law("spring-damper", rest_penetration=4e-4))
    for name, height in zip("abc", (0.005, 0.01, 0.02), strict=True):
        rec = sim.run(0.2, qpos=sim.place() + np.eye(7)[2] * height)
        table = np.column_stack([rec.time, rec.total_force])
        np.savetxt(f"{name}.csv", table, delimiter=",", header="time [s],fx [N],fy [N],fz [N]", comments="")
    assert main([*command, "--evaluations", "80", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["parameters"]
    assert found["law.rest_penetration"]["value"] == pytest.approx(4e-4, rel=0.1)


def impacts(command, capsys):
    """Bodies that fall straight down onto their lowest point, and come back with half their speed."""
    head = "angle [rad],rx,ry,vx_pre,vy_pre,omega_pre,vx_post,vy_post,omega_post"
    rows = [f"0,0,-0.025,0,{v:.3f},0,0,{-0.5 * v:.4f},0" for v in np.linspace(-2.0, -1.0, 8)]
    Path("impacts.csv").write_text("\n".join([head, *rows]) + "\n")
    assert main([*command, "--evaluations", "8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["newton"]["parameters"]
    assert found["law.restitution"]["value"] == pytest.approx(0.5, abs=0.05)


def a_paper(command):
    assert main(command) == 0  # 1 if a claim that is said to be reproduced does not hold


def a_plot(command):
    ff.Simulation("ball").run(0.1).save(command[1])
    assert main(command) == 0
    assert Path(command[command.index("--out") + 1]).stat().st_size > 1000


def push_limits(command, capsys):
    assert main([*command, "--laws", "linearizing-penalty", "--within", "0.3", "--json"]) == 0
    for one in json.loads(capsys.readouterr().out):
        assert 0.0 < one["survived"] < one["failed"] < math.inf
        assert one["why"]


def a_sweep(command, capsys):
    """Twice the stiffness, half the depth."""
    Path(command[1]).write_text(
        'measures = ["max_penetration_m"]\n[simulation]\nrobot = "brick"\nlaw = "spring-damper"\nduration = 0.5\n'
        '[grid]\n"law.k" = [1e4, 2e4]\n'
    )
    if "--scheduler" in command:
        pytest.skip("needs a cluster; the tests of sweeps start one")
    assert main([*command, "--workers", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cases"] == 2


def a_design(command, capsys):
    """The stiffest ground is the least deep."""
    Path(command[1]).write_text(
        'cases = 4\nrounds = 2\n[simulation]\nrobot = "brick"\nlaw = "spring-damper"\nduration = 0.2\n'
        '[vary]\n"law.k" = [1e4, 5e4]\n[goals]\nmax_penetration_m = 1.0\n'
    )
    assert main([*command, "--workers", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["designs"], told["admissible"], len(told["front"])) == (8, 8, 1)
    assert told["best"]["law.k"] > 4e4


def speeds(command, monkeypatch, capsys):
    if "--worlds" in command:
        # Eight worlds in place of thousands, on the CPU: a GPU has its own check in the tests of worlds.
        assert main(["bench", "--worlds", "8", "--laws", "spring-damper", "--json"]) == 0
        (told,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert (told["worlds"], told["unsolved"]) == (8, 0.0) and told["standing"] > 0.0 and told["restless"] > 0.0
        return
    if "--check" in command:
        assert main(["bench", "--derivatives", "--check", "24", "--robots", "ball", "--json"]) == 0
        told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert sum(row["states"] for row in told) == sum(row["exact"] for row in told) == 24
        assert sum(row["judged"] for row in told) > 12 and all(row["missed"] == row["told"] for row in told)
        return
    if "--derivatives" in command:
        assert main([*command, "--quick", "--json", "--laws", "time-stepping"]) == 0
        (told,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert told["robot"] == "quadruped" and told["us_per_jacobian"] > 0.0 and told["us_per_differences"] > 0.0
        return
    Path("robot.xml").write_text(ff.load_robot("small-humanoid").mjcf)
    names = command[command.index("--robots") + 1 :]
    fewer = ["--laws", "time-stepping", "mujoco"]  # all of them in the tests of the bench
    assert main([*command, "--quick", "--json", *fewer]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    named = {ff.load_robot(name).name for name in names}  # a file called "robot" says nothing: its model's name does
    assert {one["robot"] for one in told} == named
    assert all(one.get("stands", True) and one["us_per_step"] > 0.0 for one in told)


def beginnings(command):
    assert main(command) == 0  # the files that it writes are run by the tests of the command line


def a_video(command, capsys):
    ff.Simulation("ball").run(0.2).save(command[1])
    code, told = main(command), capsys.readouterr().err
    if code and ("OpenGL" in told or "ffmpeg" in told):
        pytest.skip(f"needs OpenGL and ffmpeg: {told}")
    assert code == 0
    assert Path(command[command.index("--out") + 1]).stat().st_size > 1000


def a_view(command, monkeypatch, capsys):
    """Served until Ctrl-C, which comes at once, or when the run has ended."""

    def interrupt(*_):
        raise KeyboardInterrupt

    def watch(address):
        Thread(target=lambda: urlopen(f"{address}events").read(), daemon=True).start()

    here = ["--port", "0", "--no-browser"]
    if "--live" in command:
        monkeypatch.setattr("footfall.live.LiveView._wait_for_change", interrupt)
        monkeypatch.setattr("footfall.live.view.webbrowser.open", watch)
        assert (
            main([*command, *here[:2], "--duration", "1", "--pace", "100", "--record-dt", "0.001", "--out", "kept"])
            == 0
        )
        stood_or_walked(ff.load_recording("kept"))
    else:
        ff.Simulation("ball").run(0.1).save(command[1])
        monkeypatch.setattr("footfall.show.viewer.clock", SimpleNamespace(sleep=interrupt))
        assert main([*command, *here]) == 0
    assert "view is at http://127.0.0.1:" in capsys.readouterr().out


def a_stress(command):
    assert main(["stress", "1", *command[2:], "--grounds", "plane"]) == 0


def of_a_law(command, capsys):
    assert main(command) == 0
    assert "unit and meaning" in capsys.readouterr().out


def a_walk(args):
    assert main(args) == 0


def a_survey(args, monkeypatch):
    """One row a law, in which it stands and walks; the largest push is searched for where grounds are not asked of."""
    if "--grounds" in args:
        monkeypatch.setattr("footfall.study.outcomes._largest", lambda sim: 0.05)
    assert main(args) == 0
    lines = Path(args[-1]).read_text(encoding="utf-8").splitlines()
    for law in args[args.index("--laws") + 1 : args.index("--steps")]:
        row, *elsewhere = [line for line in lines if line.startswith(f"| quadruped | {law} | ")]
        assert row.count("| yes |") == 2
        assert len(elsewhere) == ("--grounds" in args) and all(" m/s | " in line for line in elsewhere)


#: What the examples must come to, by how they begin.
def a_log():
    """``walk.mcap``: what the joints and the IMU of the walking ``robot.urdf`` would have read."""
    a_urdf()
    robot = ff.load_robot("robot.urdf")
    rec = ff.Simulation(robot, law="time-stepping").run(1.0, controller="walk", record_dt=0.004)
    write_bag(Path("walk.mcap"), sensed(rec), robot.actuated)


def an_estimate(command, capsys):
    """Feet bear the weight between them, and nearly nothing is left unexplained."""
    a_log()
    capsys.readouterr()
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["feet"]) == {"left", "right"} and found["residual_weights"] < 0.1
    if "--report" in command:
        assert Path(command[-1]).stat().st_size > 10_000


def a_replay(command, capsys):
    """Torques of a walk, run again: joints stay near the log at first."""
    a_log()
    capsys.readouterr()
    code = main([*command, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert code == 0 and found["within"] > 0.05, found
    if "--report" in command:
        assert Path(command[-1]).stat().st_size > 10_000


def an_engine(command, monkeypatch, capsys):
    """It answers one question, and is kept."""
    from footfall.study.arena import running

    Path("my_engine.py").write_text(BALL)
    Path("cache").mkdir()
    monkeypatch.setattr(running, "cache_folder", lambda purpose: Path("cache").absolute())
    assert main(command) == 0
    assert "footfall arena run --engines my-engine" in capsys.readouterr().out


def the_help(command, capsys):
    """Commands in groups."""
    assert main(command) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in ("walk", "compare", "audit", "doctor"))


OUTCOMES = {
    "--help": the_help,
    "arena add": an_engine,
    "estimate": an_estimate,
    "replay": a_replay,
    "demo": a_demo,
    "run robot.urdf": a_walk_from_a_urdf,
    "walk robot.urdf": a_walk_from_a_urdf,
    "walk": a_walk,
    "follow": a_motion,
    "survey": a_survey,
    "run planar-biped --controller gait": a_gait_walked,
    "run hanavan --robot.assist --controller human-walk --controller.data": a_walk_of_ones_own,
    "run hopper.xml": a_robot_of_ones_own,
    "run spatial-biped --controller hold.py": a_controller_of_ones_own,
    "compare spatial-biped --controller hold.py": a_controller_of_ones_own,
    "compare hopper.xml": a_robot_of_ones_own,
    "audit": of_a_recording,
    "report": of_a_recording,
    "stress": a_stress,
    "view": a_view,
    "video": a_video,
    "run": a_run,
    "compare": a_comparison,
    "gait": a_gait,
    "human-walk": a_recorded_walk,
    "identify friction": friction,
    "identify tosses": tosses,
    "identify forces": forces,
    "identify impacts": impacts,
    "paper": a_paper,
    "plot": a_plot,
    "push-limit": push_limits,
    "sweep": a_sweep,
    "design": a_design,
    "bench": speeds,
    "new": beginnings,
    "laws": of_a_law,
    "robots": a_robot_described,
}
