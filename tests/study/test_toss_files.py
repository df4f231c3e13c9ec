"""Tosses of other bodies from other files: the same flights, however they were written down."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import footfall as ff
from footfall.errors import StudyError
from footfall.study.fit import box, fit, follow, load_tosses
from footfall.study.fit.tosses import Toss, check_poses, step_of
from footfall.study.fit.trials import kind_of

SIZE, MASS = (0.12, 0.08, 0.05), 0.6
MOMENTS = tuple(MASS / 12.0 * (np.sum(np.square(SIZE)) - np.square(SIZE)))


def flown(number, rate, noise=0.0, seed=4, seconds=0.4):
    """Poses (T, 7) and starts (6,) of a box in MuJoCo, that falls, tumbling, onto a hard ground and is followed on."""
    xml = f"""<mujoco><option timestep="0.0005" cone="elliptic"/><worldbody><geom type="plane" size="0 0 1"/>
    <body><freejoint/><geom type="box" size="0.06 0.04 0.025" mass="{MASS}"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    steps = round(1.0 / (rate * model.opt.timestep))
    model.opt.timestep = 1.0 / (rate * steps)
    data = mujoco.MjData(model)
    random = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        mujoco.mj_resetData(model, data)
        turn = random.normal(size=4)
        data.qpos[:] = [0, 0, 0.25, *(turn / np.linalg.norm(turn))]
        data.qvel[:] = [*random.normal(0, 0.5, 3), *random.normal(0, 6, 3)]
        start, poses = data.qvel.copy(), []
        for _ in range(round(seconds * rate)):
            poses.append(data.qpos + np.r_[random.normal(0, noise, 3), random.normal(0, 5 * noise, 4)])
            for _ in range(steps):
                mujoco.mj_step(model, data)
        found.append((np.array(poses), start))
    return found


def table(tosses, rate, order="wxyz", scale=1.0, delimiter=",", decimal="."):
    head = ["toss", "time", "x", "y", "z", *(f"q{axis}" for axis in order)]
    lines = [delimiter.join(head)]
    for number, (poses, _) in enumerate(tosses):
        for k, pose in enumerate(poses):
            turn = dict(zip("wxyz", pose[3:], strict=True))
            values = [number, k / rate, *(scale * pose[:3]), *(turn[axis] for axis in order)]
            lines.append(delimiter.join(f"{value:.6f}" for value in values).replace(".", decimal))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("rate", "way"),
    [(100.0, {}), (250.0, {"order": "xyzw", "delimiter": ";", "decimal": ","}), (100.0, {"scale": 1e3})],
)
def test_flights_of_a_box_are_found_in_any_table(rate, way, tmp_path):
    tosses = flown(6, rate, noise=1e-4)
    (tmp_path / "tosses.csv").write_text(table(tosses, rate, **way))
    unit = "mm" if "scale" in way else "m"
    found = load_tosses(tmp_path / "tosses.csv", size=SIZE, mass=MASS, inertia=MOMENTS, unit=unit)
    assert len(found) == 6 and found[0].rate == pytest.approx(rate, rel=1e-4)
    assert found[0].width == pytest.approx(np.mean(SIZE)) and found[0].gravity == pytest.approx(9.81, rel=0.01)
    miss = np.array([one.qvel - start for one, (_, start) in zip(found, tosses, strict=True)])
    # 0.1 mm and 0.05 deg at 15 frames over 0.15 s and more: some mm/s and 0.02 rad/s by the formula of a line's slope.
    assert np.sqrt(np.mean(miss[:, :3] ** 2)) < 8e-3 and np.sqrt(np.mean(miss[:, 3:] ** 2)) < 0.1


def test_a_spin_about_unequal_moments_follows_euler(tmp_path):
    """Without noise the spin at the first frame is exact, where a constant spin is off by tenths of rad/s."""
    tosses = flown(3, 200.0)
    for k, (poses, start) in enumerate(tosses):
        (tmp_path / f"{k}.csv").write_text(table([(poses, start)], 200.0).replace("toss,", "number,"))
    files = sorted(tmp_path.glob("*.csv"))
    found = load_tosses(files, size=SIZE, mass=MASS, inertia=MOMENTS)
    even = load_tosses(files, width=0.08, mass=MASS, inertia=1e-3)
    assert [one.name for one in found] == ["0", "1", "2"]
    miss, rough = (
        max(np.abs(one.qvel[3:] - start[3:]).max() for one, (_, start) in zip(own, tosses, strict=True))
        for own in (found, even)
    )
    assert miss < 0.02 < 0.2 < rough


def test_arrays_in_the_other_order_and_in_millimetres_are_told(tmp_path):
    tosses = flown(5, 100.0, seconds=1.2)
    state = np.vstack([np.hstack([p[:, [4, 5, 6, 3]], p[:, :3]]) for p, _ in tosses])  # x, y, z, w
    number = np.repeat(np.arange(5), len(tosses[0][0]))
    body = {"size": SIZE, "mass": MASS, "inertia": MOMENTS, "rate": 100.0}
    np.savez(tmp_path / "a.npz", state=state, toss=number)
    with pytest.raises(StudyError, match="give the order xyzw"):
        load_tosses(tmp_path / "a.npz", **body)
    found = load_tosses(tmp_path / "a.npz", quaternion="xyzw", **body)
    assert np.abs(found[0].qvel - tosses[0][1]).max() < 0.02  # as exact as steps of 0.5 ms are
    np.savez(tmp_path / "b.npz", state=state * np.r_[np.ones(4), np.full(3, 1e3)], toss=number)
    with pytest.raises(StudyError, match=r"places are in m|are places in m"):
        load_tosses(tmp_path / "b.npz", quaternion="xyzw", **body)
    assert np.allclose(load_tosses(tmp_path / "b.npz", quaternion="xyzw", unit="mm", **body)[0].qpos, found[0].qpos)
    with pytest.raises(StudyError, match="the rate in frames per second right"):
        load_tosses(tmp_path / "a.npz", quaternion="xyzw", **(body | {"rate": 200.0}))


def rise(turns):
    """How far the axes of bodies with attitudes (N, 4) point upwards."""
    w, x, y, z = turns.T
    return np.array([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z])


@pytest.mark.parametrize(("noise", "number"), [(0.0, 4), (1e-4, 4), (1e-4, 1)])
def test_another_axis_up_and_other_units_are_told_and_read(noise, number, tmp_path):
    """A frame with y up is the same world turned about x: what is upright in it is what was upright before."""
    tosses = flown(number, 100.0, noise=noise)
    turn = Rotation.from_rotvec([-0.5 * np.pi, 0.0, 0.0])  # z to y
    turned = []
    for poses, start in tosses:
        own = (turn * Rotation.from_quat(poses[:, 3:], scalar_first=True)).as_quat(scalar_first=True)
        turned.append((np.hstack([poses[:, [0, 2, 1]] * [1, 1, -1], own]), start))
    body = {"size": SIZE, "mass": MASS, "inertia": MOMENTS}
    (tmp_path / "y.csv").write_text(table(turned, 100.0))
    with pytest.raises(StudyError, match="heights in z"):
        load_tosses(tmp_path / "y.csv", **body)
    (tmp_path / "z.csv").write_text(table(tosses, 100.0))
    for one, other in zip(
        load_tosses(tmp_path / "y.csv", up="y", **body), load_tosses(tmp_path / "z.csv", **body), strict=True
    ):
        assert np.allclose(one.qpos[:, 2], other.qpos[:, 2], atol=2e-6)  # six digits in the table
        assert np.linalg.norm(one.qvel[:2]) == pytest.approx(np.linalg.norm(other.qvel[:2]), rel=1e-3)
        assert np.allclose(one.qvel[2:], other.qvel[2:], atol=1e-2)
        assert np.allclose(rise(one.qpos[:, 3:]), rise(other.qpos[:, 3:]), atol=1e-5)
    (tmp_path / "mm.csv").write_text(table(tosses, 100.0, scale=1e3))
    with pytest.raises(StudyError, match=r"places are in m|are places in m"):
        load_tosses(tmp_path / "mm.csv", **body)


def test_tosses_have_names_and_bodies_are_grouped_as_motive_writes_them(tmp_path):
    poses, _ = flown(1, 100.0)[0]
    lines = ["Format Version,1.23,Capture Frame Rate,100,Rotation Type,Quaternion", "", ",," + "box," * 7]
    lines += [",,Rotation,Rotation,Rotation,Rotation,Position,Position,Position", "Frame,Time (Seconds),X,Y,Z,W,X,Y,Z"]
    for k, pose in enumerate(poses):
        lines.append(",".join(str(one) for one in (k, k / 100.0, *pose[[4, 5, 6, 3, 0, 1, 2]])))
    (tmp_path / "motive.csv").write_text("\n".join(lines))
    found = load_tosses(tmp_path / "motive.csv", size=SIZE, mass=MASS, inertia=MOMENTS)
    assert np.allclose(found[0].qpos, poses, atol=1e-6)
    text = (
        table([(poses, None), (poses, None)], 100.0)
        .replace("\n0.000000,", "\nleft,")
        .replace("\n1.000000,", "\nright,")
    )
    (tmp_path / "named.csv").write_text(text.replace("toss,", "trial_id,").replace("time,", "stamp,"))
    assert [one.name for one in load_tosses(tmp_path / "named.csv", size=SIZE)] == ["left", "right"]


def test_tosses_behind_each_other_without_a_number_are_refused(tmp_path):
    text = table(flown(2, 100.0), 100.0)
    (tmp_path / "a.csv").write_text("\n".join(",".join(line.split(",")[2:]) for line in text.splitlines()))
    with pytest.raises(StudyError, match=r"m/s from frame 39 to frame 40: number the tosses in a column 'toss'"):
        load_tosses(tmp_path / "a.csv", size=SIZE, mass=MASS, inertia=MOMENTS, rate=100.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text.replace("qw", "w0"), r"no columns qw, qx, qy, qz .*its columns are toss, x, y, z, w0"),
        (lambda text: text.replace("toss,", "number,"), "number the tosses in a column 'toss'"),
        (lambda text: "\n".join(text.splitlines()[:1] + text.splitlines()[2:3]), "single frame"),
        (lambda text: text.replace("time,", "when,"), "neither times nor a rate"),
    ],
)
def test_tables_that_are_no_tosses_are_refused_in_a_sentence(change, sentence, tmp_path):
    (tmp_path / "a.csv").write_text(change(table(flown(2, 100.0), 100.0)))
    with pytest.raises(StudyError, match=sentence):
        load_tosses(tmp_path / "a.csv", size=SIZE, mass=MASS, inertia=MOMENTS)


def test_a_box_is_fitted_as_a_box():
    """Its robot has these sides and moments, and rounding and inertia are fitted where nothing else is said."""
    robot = box(SIZE, MASS, rounding=0.001, inertia_scale=2.0)
    assert np.allclose(np.abs(robot.feet[0].points), np.array(SIZE) / 2 - 0.001)
    assert np.allclose(robot.model.body_inertia[-1], 2.0 * np.array(MOMENTS)) and robot.mass == pytest.approx(MASS)
    with pytest.raises(StudyError, match="no corners"):
        box(SIZE, MASS, rounding=0.03)


def test_friction_of_a_second_engine_is_recovered(tmp_path):
    """Boxes that slide on a face in MuJoCo, friction 0.3, noise 0.1 mm, to rest: 0.3 lies in the interval."""
    xml = f"""<mujoco><option timestep="0.0005" cone="elliptic" impratio="20"/><worldbody>
    <geom type="plane" size="0 0 1" friction="0.3 0 0"/><body><freejoint/>
    <geom type="box" size="0.06 0.04 0.025" mass="{MASS}" friction="0.3 0 0"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data, random, tosses = mujoco.MjData(model), np.random.default_rng(1), []
    for _ in range(4):
        mujoco.mj_resetData(model, data)
        data.qpos[:] = [0, 0, 0.06, 1, 0, 0, 0]
        data.qvel[:] = [*random.uniform(-1, 1, 2), 0, 0, 0, random.uniform(-2, 2)]
        poses = []
        for _ in range(35):
            poses.append(data.qpos + np.r_[random.normal(0, 1e-4, 3), random.normal(0, 1e-4, 4)])
            for _ in range(20):
                mujoco.mj_step(model, data)
        tosses.append((np.array(poses), None))
    (tmp_path / "slides.csv").write_text(table(tosses, 100.0))
    found = load_tosses(tmp_path / "slides.csv", size=SIZE, mass=MASS, inertia=MOMENTS)
    assert "robot.rounding" in kind_of(found, False).beside
    friction = fit("time-stepping", found, {"ground.friction": (0.05, 1.0, "log")}, evaluations=16).parameters[0]
    assert friction.low < 0.3 < friction.high and friction.value == pytest.approx(0.3, rel=0.08)


@pytest.mark.parametrize("digits", [3, 4, 6])
def test_rounded_times_are_those_of_one_rate_for_all_tosses(digits, tmp_path):
    """148 frames per second written to the millisecond are 6 and 7 ms apart; tosses of other lengths average others."""
    tosses = [(poses[: len(poses) - 7 * k], start) for k, (poses, start) in enumerate(flown(3, 148.0, noise=1e-4))]
    lines = ["toss,time,x,y,z,qw,qx,qy,qz"]
    for number, (poses, _) in enumerate(tosses):
        for k, pose in enumerate(poses):
            lines.append(f"{number},{k / 148.0:.{digits}f}," + ",".join(f"{value:.6f}" for value in pose))
    path = tmp_path / "tosses.csv"
    path.write_text("\n".join(lines) + "\n")
    body = {"size": SIZE, "mass": MASS, "inertia": MOMENTS}
    found = load_tosses(path, **body)
    assert [one.rate for one in found] == [148.0] * 3
    sim = ff.Simulation(box(SIZE, MASS, MOMENTS), law="time-stepping", dt=step_of(148.0, 1e-3))
    assert all(follow(sim, one)["position_widths"] < 10.0 for one in found)
    # A step that does not divide the time between frames follows them all the same, to half a step.
    near = ff.Simulation(box(SIZE, MASS, MOMENTS), law="time-stepping", dt=1e-3)
    assert follow(near, found[0])["position_widths"] == pytest.approx(follow(sim, found[0])["position_widths"], rel=0.1)
    assert load_tosses(path, rate=148.2, **body)[0].rate == 148.2
    with pytest.raises(StudyError, match=r"its times are those of 1\d\d.*, and rate= says 240: which is it"):
        load_tosses(path, rate=240.0, **body)


def test_times_that_frames_share_need_the_rate(tmp_path):
    """148 frames per second written to a hundredth of a second: some frames have the same time."""
    poses = flown(1, 148.0)[0][0]
    rows = [f"{k / 148.0:.2f}," + ",".join(f"{value:.6f}" for value in pose) for k, pose in enumerate(poses)]
    (tmp_path / "toss.csv").write_text("\n".join(["time,x,y,z,qw,qx,qy,qz", *rows]) + "\n")
    body = {"size": SIZE, "mass": MASS, "inertia": MOMENTS}
    assert load_tosses(tmp_path / "toss.csv", rate=148.0, **body)[0].rate == 148.0
    for other in ({}, {"rate": 160.0}):
        with pytest.raises(StudyError, match=r"give the rate .* of frames whose times are rounded"):
            load_tosses(tmp_path / "toss.csv", **other, **body)


def test_the_order_of_quaternions_is_told_where_most_bodies_come_to_rest_nearly_upright_in_both():
    """Read in the other order eight cubes at rest are tilted by 0, 0, 0, 9, 10, 10, 32 and 40 degrees."""
    tilts = np.radians([0.0, 0.0, 0.0, 9.0, 10.0, 10.0, 32.0, 40.0])
    wrong = np.column_stack([0.0 * tilts, 0.0 * tilts, np.sin(tilts / 2.0), np.cos(tilts / 2.0)])  # turned about z
    tosses = [Toss("cube", 100.0, np.tile([0.0, 0.0, 0.05, *turn], (8, 1)), np.zeros(6), 0.1) for turn in wrong]
    with pytest.raises(StudyError, match="give the order xyzw"):
        check_poses(tosses, "tosses.csv")


def test_trials_that_cannot_be_judged_end_in_a_sentence():
    def fails(sim, trial):
        if trial > 1:
            raise StudyError("this one has no end")
        return {"miss": 1.0}

    with pytest.raises(
        StudyError, match="none of the 2 trials to judge on can be followed under time-stepping: this one"
    ):
        fit("time-stepping", [0, 1], {"ground.friction": (0.1, 1.0)}, judge=[2, 3], simulate=fails, evaluations=4)
