"""What is drawn at a moment is what the recording says of it."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from show_recordings import standing

import footfall as ff
from footfall.errors import RecordingError
from footfall.measure import momentum, overall_cop
from footfall.record import COLUMNS
from footfall.show import frames as show
from footfall.show.panels import decimated


@pytest.fixture(scope="module")
def rec():
    return standing()


@pytest.fixture(scope="module")
def scene(rec):
    return show.make_scene(rec)


def test_frames_are_samples_of_the_recording(rec, scene):
    assert scene.samples[0] == 0
    assert scene.samples[-1] == len(rec) - 1
    assert np.diff(scene.frames.time) == pytest.approx(1 / 60, abs=rec.dt)
    for name, array in {"force": rec.force, "point": rec.position, "mode": rec.mode}.items():
        assert np.array_equal(getattr(scene.frames, name), array[scene.samples])
    assert np.array_equal(scene.frames.cop, rec.cop[scene.samples], equal_nan=True)


def test_measures_of_frames_are_those_of_the_whole_recording(rec, scene):
    # The same arithmetic on the same rows; the last has no successor and takes that of the one before.
    inner = slice(None, -1)
    assert scene.frames.zmp[inner] == pytest.approx(rec.zmp[scene.samples][inner], abs=1e-12, nan_ok=True)
    assert scene.frames.overall_cop == pytest.approx(overall_cop(rec)[scene.samples], abs=1e-12, nan_ok=True)
    assert scene.frames.com == pytest.approx(momentum(rec).com[scene.samples], abs=1e-12)


def test_bodies_are_where_mujoco_has_them(rec, scene):
    model, frame = rec.robot.model, type(scene.frames)(*(array[7] for array in scene.frames))
    data = mujoco.MjData(model)
    data.qpos[:] = rec.qpos[scene.samples[7]]
    mujoco.mj_kinematics(model, data)
    bodies = list(scene.meshes)
    assert np.array_equal(frame.body_position, data.xpos[bodies])
    assert np.array_equal(frame.body_quaternion, data.xquat[bodies])


@pytest.mark.parametrize("count", [1, 2])
def test_very_short_recordings_can_be_shown(rec, count):
    short = replace(rec, **{name: getattr(rec, name)[:count] for name in COLUMNS}, signals={})
    assert len(show.make_scene(short).samples) == count


def test_an_empty_recording_is_refused(rec):
    with pytest.raises(RecordingError, match="no samples"):
        show.make_scene(rec.slice(5.0))


def test_a_long_recording_has_no_more_frames_than_asked_for():
    assert len(show.make_scene(standing(duration=10.0), most=100).samples) == 100


def test_decimation_keeps_every_peak_and_every_gap():
    rng = np.random.default_rng(0)
    values = np.sin(np.linspace(0, 30, 10_000)) + 0.01 * rng.normal(size=10_000)
    values[4321], values[7777] = 50.0, -60.0
    values[5000:5400] = np.nan
    kept = decimated(values, 1000)
    assert len(kept) <= 1000 + 250 * 1.1  # four a stretch, and one more where there is a gap
    assert {0, 4321, 7777, 9999} <= set(kept)
    assert np.isnan(values[kept]).any()
    assert np.nanmax(values[kept]) == 50.0
    assert np.array_equal(decimated(values[:900], 1000), np.arange(900))


@pytest.mark.parametrize("side", [1e-3, 1.0])
def test_a_tiny_robot_fills_its_picture_as_a_large_one_does(side):
    """It was a dot: nothing counted as smaller than 5 cm."""
    cube = f'<body name="cube"><freejoint/><geom type="box" size="{side / 2} {side / 2} {side / 2}" mass="1"/></body>'
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{cube}</worldbody></mujoco>")
    rec = ff.Simulation(ff.load_robot(spec, name="cube"), law="time-stepping").run(0.002)
    assert show.make_scene(rec).sizes.size == pytest.approx(side)
