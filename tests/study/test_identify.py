"""Friction from pull data: what a simulated drag was made with is what the regression gives back."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import footfall as ff
from footfall.cli import main
from footfall.errors import FootfallError
from footfall.study.identify import identify_friction

STATIC, DYNAMIC = 0.45, 0.36
RAMP = 0.5  # s, in which the pull reaches static friction
STEP = 0.002  # s


@cache
def dragged(law: str, mass: float, static: float = STATIC, dynamic: float = DYNAMIC) -> ff.Recording:
    """A brick pulled in small steps up to 10 % above static friction, and on for 0.1 s.

    The rope runs along the ground: one through the brick's centre would load its points unevenly, and the least
    loaded would go first, with all others after it where sliding friction is the smaller.
    """
    robot = ff.load_robot("brick", mass=mass)
    rest = 0.3  # s, to settle on the law's springs
    steps = np.arange(STEP, 1.1 * RAMP + 0.1, STEP)
    pushes = []
    for t in steps:
        force = float(robot.weight * static * min(t / RAMP, 1.1))
        torque = -force * float(robot.home[2])
        pushes.append(ff.Push(robot.feet[0].body, (force, 0, 0), (0, torque, 0), start=rest + float(t), duration=STEP))
    sim = ff.Simulation(robot, ground=ff.Ground.plane(friction=(static, dynamic)), law=law, dt=1e-3)
    return sim.run(rest + float(steps[-1]), pushes=pushes)


def columns(rec: ff.Recording, noise: float = 0.0, seed: int = 0) -> dict[str, np.ndarray]:
    """What a force plate would write, with noise in N."""
    random = np.random.default_rng(seed)
    force = rec.total_force + noise * random.standard_normal((len(rec), 3))
    late = rec.time >= 0.3
    return {"time": rec.time[late], "normal": force[late, 2], "tangential": force[late, 0]}


def write_csv(path, pulls, head=("time (s)", "Fz (N)", "Fx", "Fy", "trial")):
    """Pulls as a force plate's file, the pull along y."""
    lines = [",".join(head)]
    for number, one in enumerate(pulls):
        rows = zip(one["time"], one["normal"], one["tangential"], strict=True)
        lines += [f"{t:.6g},{n:.6g},0,{f:.6g},{number}" for t, n, f in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("law", ["time-stepping", "spring-damper"])
@pytest.mark.parametrize(("static", "dynamic"), [(STATIC, DYNAMIC), (0.13, 0.13)])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_friction_of_the_ground_comes_back_within_a_percent(law, static, dynamic, noise):
    pulls = [columns(dragged(law, mass, static, dynamic), noise, seed=int(mass)) for mass in (4.0, 8.0, 12.0)]
    fit = identify_friction(pulls)
    assert fit.static is not None
    assert fit.static.value == pytest.approx(static, rel=0.01)
    assert fit.kinetic.value == pytest.approx(dynamic, rel=0.01)
    assert fit.static.count == 3
    assert fit.kinetic.low <= fit.kinetic.value <= fit.kinetic.high
    assert min(fit.static.r2, fit.kinetic.r2) > 0.99
    assert fit.friction[0] >= fit.friction[1] == fit.kinetic.value


@pytest.mark.parametrize("law", ["time-stepping", "spring-damper", "linearizing-penalty"])
def test_a_recording_tells_the_friction_of_its_ground(law):
    fit = identify_friction(dragged(law, 8.0))
    assert fit.static.value == pytest.approx(STATIC, rel=0.01)
    assert fit.kinetic.value == pytest.approx(DYNAMIC, rel=0.01)
    assert np.isnan(fit.static.low)  # one pull has no spread


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    """Of 200 noisy pulls of known friction, 95 % of the intervals hold it; 88 % is 4 standard errors below."""
    random = np.random.default_rng(1)
    ratio = np.where(np.arange(300) < 200, np.arange(300) / 200 * 0.5, 0.4)
    held = 0
    for _ in range(200):
        normal = np.full(300, 50.0)
        data = {
            "time": np.arange(300) * 0.01,
            "normal": normal,
            "tangential": ratio * normal + random.standard_normal(300),
        }
        kinetic = identify_friction(data).kinetic
        held += kinetic.low < 0.4 < kinetic.high
    assert held / 200 > 0.88


def test_r2_and_interval_are_those_of_a_regression_through_the_origin():
    """Loads 1, 2, 3 with forces 1.1, 1.9, 3.1 give slope 14.2 / 14, by hand."""
    from footfall.study.identify import _through_origin

    load, force = np.array([1.0, 2.0, 3.0]), np.array([1.1, 1.9, 3.1])
    one = _through_origin(load, force)
    squares = np.sum((force - 14.2 / 14 * load) ** 2)
    assert one.value == pytest.approx(14.2 / 14)
    assert one.r2 == pytest.approx(1 - squares / np.sum(force**2))
    assert one.high - one.value == pytest.approx(4.302652729911275 * np.sqrt(squares / 2 / 14))


def test_a_column_of_speeds_tells_what_slides():
    data = columns(dragged("time-stepping", 8.0), noise=0.3)
    data["speed"] = np.abs(dragged("time-stepping", 8.0).qvel[:, 0])[-len(data["time"]) :]
    fit = identify_friction(data)
    assert fit.static.value == pytest.approx(STATIC, rel=0.01)
    assert fit.kinetic.value == pytest.approx(DYNAMIC, rel=0.01)


def test_what_slides_from_the_start_has_no_static_friction():
    time = np.arange(100) * 0.01
    fit = identify_friction({"time": time, "normal": 30 + np.sin(time), "tangential": 0.2 * (30 + np.sin(time))})
    assert fit.static is None
    assert fit.kinetic.value == pytest.approx(0.2)
    assert fit.friction == (fit.kinetic.value,) * 2


def test_the_command_prints_a_table_and_json(tmp_path, capsys):
    path = write_csv(tmp_path / "pulls.csv", [columns(dragged("time-stepping", m), 0.3) for m in (4.0, 8.0, 12.0)])
    assert main(["identify", "friction", str(path)]) == 0
    out = capsys.readouterr().out
    assert "static" in out and "kinetic" in out and "--ground.friction" in out
    assert main(["identify", "friction", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["static"]["value"] == pytest.approx(STATIC, rel=0.01)
    assert told["kinetic"]["value"] == pytest.approx(DYNAMIC, rel=0.01)
    assert len(told["pulls"]) == told["static"]["count"] == 3


def test_the_command_takes_recordings(tmp_path, capsys):
    dragged("time-stepping", 8.0).save(tmp_path / "drag")
    assert main(["identify", "friction", str(tmp_path / "drag"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kinetic"]["value"] == pytest.approx(DYNAMIC, rel=0.01)


def test_columns_of_names_that_nobody_knows_are_told(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("# from the laboratory\nuhr;druck;zug\n0;40;0\n0,01;40;0,1\n")
    with pytest.raises(FootfallError, match=r"no column 'time' \(s\), nor one of t; .*uhr, druck, zug"):
        identify_friction(path)


def test_units_and_decimal_commas_of_a_table_count_and_parquet_is_a_table(tmp_path):
    import pyarrow
    import pyarrow.parquet

    time = 0.01 * np.arange(200)
    pull = np.minimum(10.0 * time, 8.0)
    path = tmp_path / "pulls.csv"
    rows = [f"{1e3 * t:.1f};0,04;{f:.3f}".replace(".", ",") for t, f in zip(time, pull, strict=True)]
    path.write_text("Time [ms];Fz [kN];Fx [N];Fy [N]\n" + "\n".join(f"{row};0,0" for row in rows))
    table = pyarrow.table({"time_s": time, "normal (kN)": np.full(200, 0.04), "tangential": pull})
    pyarrow.parquet.write_table(table, tmp_path / "pulls.parquet")
    for source in (path, tmp_path / "pulls.parquet"):
        assert identify_friction(source).kinetic.value == pytest.approx(0.2)
    path.rename(tmp_path / "no.parquet")
    with pytest.raises(FootfallError, match="it is not a Parquet table"):
        identify_friction(tmp_path / "no.parquet")


RISE = np.linspace(0.0, 5.0, 100)
LEVEL = {"time": np.arange(100) * 0.01, "normal": np.full(100, 20.0), "tangential": np.minimum(RISE, 3.0)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"normal": np.full(100, -20.0)}, "normal force is negative in 100 of 100 samples.*turn the column's sign"),
        ({"tangential": RISE}, "nothing slides .* static friction is at least 0.25"),
        ({"tangential": np.zeros(100)}, "nothing is pulled"),
        ({"time": np.zeros(100)}, "time does not increase.*'trial'"),
        ({"normal": np.full(99, 20.0)}, "differ in length: time 100, normal 99"),
        ({"tangential": np.where(np.arange(100) == 7, np.nan, RISE)}, "tangential is not a number in sample 7"),
        ({key: values[:12] for key, values in LEVEL.items()}, "12 samples under load are too few, 20 are needed"),
        ({"normal": None}, "'normal' is missing"),
    ],
)
def test_data_that_tell_nothing_are_refused_with_a_reason(change, message):
    with pytest.raises(FootfallError, match=message):
        identify_friction(LEVEL | change)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,fn,ft\n", "holds no samples"),
        ("time,fn,ft\n0,1,2\n0,1,x\n", "'x' to a number, in line 3, column 'ft'"),
        ("time,fn,ft\n0,1\n", r"has 2 values and not 3, as its head has \(line 2\)"),
        ("time,fn [m],ft\n0,1,2\n", "column 'fn' is in m, and not in N"),
    ],
)
def test_broken_files_are_refused_with_the_line(tmp_path, text, message):
    path = tmp_path / "pull.csv"
    path.write_text(text)
    with pytest.raises(FootfallError, match=message):
        identify_friction(path)


def test_other_mistakes_are_told(tmp_path, capsys):
    with pytest.raises(FootfallError, match=r"cannot read '.*nowhere.csv'"):
        identify_friction(tmp_path / "nowhere.csv")
    with pytest.raises(FootfallError, match="cannot read pulls from a int"):
        identify_friction([3])
    with pytest.raises(FootfallError, match="no pull was given"):
        identify_friction([])
    assert main(["identify", "friction", str(tmp_path / "nowhere.csv")]) == 1
    assert "cannot read" in capsys.readouterr().err
