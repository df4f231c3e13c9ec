"""Motions of robots: every format that is read gives the coordinates that were written."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import footfall as ff
from footfall.control.follow_reference import MotionReference
from footfall.errors import FootfallError

FPS = 25.0


@pytest.fixture(scope="module")
def robot() -> ff.Robot:
    return ff.load_robot("quadruped")


@pytest.fixture(scope="module")
def qpos(robot) -> np.ndarray:
    """(T, nq): the quadruped bends its legs and turns left while it wanders off."""
    time = np.arange(0.0, 2.0, 1.0 / FPS)
    values = np.tile(robot.home, (len(time), 1))
    values[:, 0] += 0.1 * time
    values[:, 1] -= 0.05 * time
    values[:, 3], values[:, 6] = np.cos(0.2 * time), np.sin(0.2 * time)
    values[:, 7:] += 0.1 * np.sin(time)[:, None] * np.linspace(0.5, 1.0, robot.model.nq - 7)
    return values


def write_text(path: Path, names: list[str] | None, values: np.ndarray) -> Path:
    path.write_text("".join(f"{','.join(map(repr, row))}\n" for row in values.tolist()), encoding="utf-8")
    if names is not None:
        path.write_text(",".join(names) + "\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    return path


def lafan(path: Path, robot: ff.Robot, qpos: np.ndarray) -> Path:
    return write_text(path / "lafan.csv", None, qpos[:, [0, 1, 2, 4, 5, 6, 3, *range(7, qpos.shape[1])]])


def named(path: Path, robot: ff.Robot, qpos: np.ndarray) -> Path:
    names = ["time", *(f"root_{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz")), *robot.joint_names[1:]]
    return write_text(path / "named.csv", names, np.column_stack([np.arange(len(qpos)) / FPS, qpos]))


def logged(path: Path, robot: ff.Robot, qpos: np.ndarray) -> Path:
    """Milliseconds since 1970, mm and degrees."""
    names = ["timestamp_ms", *(f"root_{axis} [mm]" for axis in "xyz"), *(f"root_q{part}" for part in "wxyz")]
    names += [f"{name} [deg]" for name in robot.joint_names[1:]]
    time = 1_700_000_000_000 + 1e3 / FPS * np.arange(len(qpos))
    columns = [time, 1e3 * qpos[:, :3], qpos[:, 3:7], np.degrees(qpos[:, 7:])]
    return write_text(path / "logged.csv", names, np.column_stack(columns))


def ros(path: Path, robot: ff.Robot, qpos: np.ndarray) -> Path:
    """As PlotJuggler writes ROS' messages: velocities are no joints."""
    names = ["__time", *(f"root_{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz"))]
    names += [f"/joint_states/{name}/{what}" for what in ("position", "velocity") for name in robot.joint_names[1:]]
    time = 1_700_000_000 + np.arange(len(qpos)) / FPS
    return write_text(path / "ros.csv", names, np.column_stack([time, qpos, qpos[:, 7:]]))


def gmr(path: Path, robot: ff.Robot, qpos: np.ndarray) -> Path:
    file = path / "gmr.npz"
    np.savez(file, fps=FPS, root_pos=qpos[:, :3], root_rot=qpos[:, [4, 5, 6, 3]], dof_pos=qpos[:, 7:])
    return file


def isaac(path: Path, robot: ff.Robot, qpos: np.ndarray) -> Path:
    """Joints in another order, with their names."""
    file = path / "isaac.npz"
    order = np.arange(robot.model.nq - 7)[::-1]
    names = np.array(robot.joint_names[1:])[order]
    np.savez(
        file,
        fps=np.int64(FPS),
        dof_names=names,
        dof_positions=qpos[:, 7:][:, order],
        body_positions=np.repeat(qpos[:, None, :3], 2, axis=1),
        body_rotations=np.repeat(qpos[:, None, 3:7], 2, axis=1),
    )
    return file


def mujoco_npz(path: Path, robot: ff.Robot, qpos: np.ndarray) -> Path:
    np.savez(path / "mujoco.npz", time=np.arange(len(qpos)) / FPS, qpos=qpos)
    return path / "mujoco.npz"


@pytest.mark.parametrize("write", [lafan, named, logged, ros, gmr, isaac, mujoco_npz])
def test_what_a_format_holds_are_the_coordinates_of_the_robot(write, robot, qpos, tmp_path):
    # Where a file has times they count: those since 1970 would be good to 2.4e-7 s.
    motion = ff.files.load_joint_motion(write(tmp_path, robot, qpos), fps=None if write in (named, logged) else FPS)
    assert len(repr(motion)) < 120 and motion.duration == pytest.approx((len(qpos) - 1) / FPS)
    reference = MotionReference(robot, motion, cutoff=100.0)  # beyond the rate of the samples: none is smoothed
    for k in (0, 7, len(qpos) - 1):
        wanted = qpos[k].copy()
        wanted[2] += reference.lift
        np.testing.assert_allclose(reference.at(k / FPS).qpos, wanted, atol=1e-9)


@pytest.mark.parametrize("ending", [".npz", ".csv"])
def test_an_exported_recording_is_a_motion(ending, tmp_path):
    robot = ff.load_robot("spatial-biped")
    rec = ff.Simulation(robot, law="time-stepping").run(0.2, controller="balance", record_dt=0.01)
    motion = ff.files.load_joint_motion(rec.export(tmp_path / f"stands{ending}"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ff.FootfallWarning)  # a table has columns of other things too
        reference = MotionReference(robot, motion, cutoff=1e3)
    wanted = rec.qpos[5].copy()
    wanted[2] += reference.lift
    np.testing.assert_allclose(reference.at(rec.time[5]).qpos, wanted, atol=1e-6)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"fps": 30.0, "poses": np.zeros((5, 3))}, "these sets are known"),
        ({"fps": 30.0, "joint_pos": np.zeros((5, 3)), "body_pos_w": np.zeros((5, 2, 3))}, "in which order its joints"),
        ({"qpos": np.array([{"a": 1}], dtype=object)}, "cannot be read as a motion of a robot"),
        ({"qpos": np.full((5, 3), np.nan)}, "gap or no number at sample 0"),
        ({"qpos": np.zeros((1, 3))}, "two samples or more"),
        (
            {"root_pos": np.zeros((5, 3)), "root_rot": np.ones((5, 4)), "dof_pos": np.zeros((5, 3))},
            "not a unit quaternion",
        ),
    ],
)
def test_what_is_no_motion_is_refused_in_a_sentence(content, sentence, tmp_path):
    np.savez(tmp_path / "wrong.npz", **content)
    with pytest.raises(FootfallError, match=sentence):
        ff.files.load_joint_motion(tmp_path / "wrong.npz")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "it holds no samples"),
        ("1,2,3\n4,5,6\n", "too few for a root and joints"),
        ("time,root_x,root_y,root_z,knee\n0,1,2,3,4\n1,1,2,3,4\n", "a place and no quaternion"),
        ("time,root_qw,root_x,knee\n0,1,2,3\n1,1,2,3\n", "lacks the columns root_y"),
        ("time,knee\n0,1\n1\n", "row 2 has 1 values and not 2"),
        ("time,left.force.x\n0,1\n1,1\n", "none of its columns is a joint"),
    ],
)
def test_a_table_that_lacks_something_is_refused_in_a_sentence(text, sentence, tmp_path):
    (tmp_path / "wrong.csv").write_text(text, encoding="utf-8")
    with pytest.raises(FootfallError, match=sentence):
        ff.files.load_joint_motion(tmp_path / "wrong.csv")


def test_stances_of_a_motion_are_found(robot):
    """A leg is lifted between 0.5 s and 1.5 s of a motion of 2 s that hovers 3 cm over the ground."""
    time = np.arange(0.0, 2.0 + 1e-9, 0.02)
    qpos = np.tile(robot.home, (len(time), 1))
    qpos[:, 2] += 0.03
    up = np.clip((time - 0.5) / 1.0, 0.0, 1.0)
    knee = robot.joint_names.index("FL_knee_pitch")
    qpos[:, robot.model.jnt_qposadr[knee]] -= 0.5 * np.sin(np.pi * up) ** 2
    reference = MotionReference(robot, ff.files.JointMotion(time, qpos, None, None, None), cutoff=6.0)
    assert reference.lift == pytest.approx(-0.03, abs=1e-4)
    stances = reference.table
    early, before, midway, after, late = (round(time / stances.every) for time in (0.2, 0.3, 1.0, 1.2, 1.9))
    moved = int(np.flatnonzero(stances.stands[midway] == 0)[0])
    assert (stances.stands[midway] == 0).sum() == 1 and stances.stands[early].all()
    assert stances.stands[late].all()
    left, wait = stances.left[before], stances.wait[after]
    assert 0.2 < left[moved] < 0.5 and np.isinf(np.delete(left, moved)).all()
    assert 0.0 < wait[moved] < 0.4
