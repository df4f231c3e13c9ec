"""Videos through MuJoCo's renderer, where one works."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from show_recordings import standing

import footfall as ff
from footfall.errors import FootfallError
from footfall.show import video, write_video
from footfall.show.frames import make_scene
from footfall.show.video import write_picture


@pytest.fixture(scope="module")
def rec():
    return standing(duration=0.1)


@pytest.fixture(scope="module")
def images(rec):
    try:
        return list(video.pictures(make_scene(rec, rate=20.0), (160, 120)))
    except FootfallError as error:
        pytest.skip(f"needs pictures off screen: {error}")


def test_pictures_show_the_robot_with_its_forces(rec, images):
    assert len(images) == len(make_scene(rec, rate=20.0).samples)
    assert images[0].shape == (120, 160, 3)
    middle = images[0][20:100, 60:100].reshape(-1, 3).astype(int)
    assert np.ptp(middle, axis=0).max() > 80  # not one grey
    bare = next(video.pictures(make_scene(rec, rate=20.0), (160, 120), forces=False))
    assert not np.array_equal(bare, images[0])


def test_a_gif_can_be_read_back(rec, images, tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = write_video(rec, tmp_path / "run.gif", fps=20, size=(160, 120))
    with image.open(path) as read:
        assert read.size == (160, 120)


def test_a_picture_shows_one_moment(rec, images, tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = write_picture(rec, 0.05, tmp_path / "moment.png", size=(160, 120))
    with image.open(path) as read:
        assert read.size == (160, 120) and len(read.convert("RGB").getcolors(160 * 120)) > 10
    for wrong in ({"time": 9.0, "path": tmp_path / "late.png"}, {"time": 0.05, "path": tmp_path / "moment.jpg"}):
        with pytest.raises(FootfallError, match=r"no sample at 9 s|a picture is \.png"):
            write_picture(rec, **wrong)


@pytest.mark.parametrize(("name", "options"), [("run.avi", {}), ("run.gif", {"fps": 0}), ("run.mp4", {"speed": -1})])
def test_what_cannot_be_written_is_told(rec, tmp_path, name, options):
    with pytest.raises(FootfallError, match=r"a video is \.mp4, \.gif or \.webp|must be a number > 0"):
        write_video(rec, tmp_path / name, **options)


def test_a_missing_ffmpeg_is_told_with_the_way_out(rec, images, tmp_path, monkeypatch):
    monkeypatch.setattr(video.shutil, "which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(FootfallError, match=r'pip install "footfall\[video\]", or write a \.gif'):
        write_video(rec, tmp_path / "run.mp4", fps=20, size=(160, 120))


def test_without_any_opengl_the_reasons_are_told(rec, tmp_path, monkeypatch):
    def broken(name):
        raise ImportError(f"{name} is not here")

    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(video, "import_module", broken)
    with pytest.raises(FootfallError, match=r"OpenGL does not work here .*egl: mujoco\.egl is not here"):
        write_video(rec, tmp_path / "run.gif")


@pytest.mark.parametrize("side", [0.2, 20.0])
def test_a_cube_of_any_size_is_in_its_picture_whole_and_on_the_ground(side, images):
    half = side / 2
    cube = f'<body name="cube"><freejoint/><geom type="box" size="{half} {half} {half}" rgba="1 0 0 1"/></body>'
    robot = ff.load_robot(mujoco.MjSpec.from_string(f"<mujoco><worldbody>{cube}</worldbody></mujoco>"), name="cube")
    rec = ff.Simulation(robot, law="time-stepping").run(0.01)
    picture = next(video.pictures(make_scene(rec, rate=1e3), (120, 120), forces=False)).astype(int)
    red = picture[..., 0] > 1.5 * picture[..., 2]
    assert red.mean() > 0.2 and not (red[[0, -1]].any() or red[:, [0, -1]].any())
    sky, ground = picture[0].mean(axis=0), picture[-1].mean(axis=0)
    assert np.abs(sky - ground).max() > 20  # of 255
