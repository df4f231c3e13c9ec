"""The 3D viewer shows what was recorded, opens quickly, and says plainly why it cannot."""

from __future__ import annotations

import socket
import sys

import numpy as np
import pytest
from browser import Browser, find_chromium
from show_recordings import standing

from footfall.errors import FootfallError, RecordingError
from footfall.simulation import Simulation

viser = pytest.importorskip("viser", reason="the 3D viewer needs the extra 'view'")

from footfall.live import LiveView  # noqa: E402
from footfall.show import Viewer, view  # noqa: E402
from footfall.show.frames import RATE  # noqa: E402


@pytest.fixture(scope="module")
def rec():
    return standing()


@pytest.fixture
def viewer(rec):
    with Viewer(rec, port=0) as running:
        yield running


def test_seeking_shows_the_nearest_sample(viewer, rec):
    viewer.seek(0.3)
    scene, frame = viewer.scenes[0], viewer.painters[0].frame
    sample = scene.samples[scene.index(0.3)]
    assert np.array_equal(frame.force, rec.force[sample])
    closed = rec.mode[sample] > 0
    arrows = viewer.painters[0].arrows.points
    drawn = (arrows[:, 1] - arrows[:, 0]) / viewer.painters[0].scale
    assert drawn == pytest.approx(rec.force[sample, closed], abs=1e-3)  # viser draws in single precision
    trunk = list(scene.meshes).index(rec.robot.model.body("trunk").id)
    assert viewer.painters[0].bodies[trunk].handle.position == pytest.approx(frame.body_position[trunk])


def test_layers_can_be_switched_off_and_forces_scaled(viewer):
    painter = viewer.painters[0]
    before = np.array(painter.arrows.points)
    painter.show(force_gain=2.0, com=False)
    after = np.array(painter.arrows.points)
    assert after[:, 1] - after[:, 0] == pytest.approx(2 * (before[:, 1] - before[:, 0]), abs=1e-6)
    assert not painter.com.visible
    painter.show(forces=False, cones=True, clear=True)
    assert not painter.arrows.visible
    assert painter.cones.visible


def test_friction_cones_reach_as_high_as_the_normal_force(viewer, rec):
    painter = viewer.painters[0]
    painter.show(cones=True)
    normal = rec.force[0, rec.mode[0] > 0, 2]
    assert painter.cones.batched_scales[:, 2] == pytest.approx(painter.scale * normal, rel=1e-5)
    assert painter.cones.batched_scales[:, 0] == pytest.approx(
        rec.ground.static_friction * painter.scale * normal, rel=1e-5
    )


@pytest.mark.parametrize("ghosts", [False, True], ids=["side by side", "ghosts"])
def test_several_recordings_share_one_time(rec, ghosts):
    with Viewer([rec, standing("spring-damper")], port=0, ghosts=ghosts) as viewer:
        viewer.seek(0.25)
        assert [painter.frame.time for painter in viewer.painters] == pytest.approx([0.25, 0.25], abs=0.01)


def test_a_minute_is_shown_at_the_pace_of_the_screen_and_not_of_its_samples():
    """What is prepared for the browser grows with the pictures of a screen; samples are a thousand a second."""
    with Viewer(standing(duration=60.0), port=0) as viewer:
        assert [len(scene.samples) for scene in viewer.scenes] == [round(60 * RATE) + 1]


def test_an_occupied_port_is_told_in_a_sentence(rec):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(FootfallError, match=f"cannot be served at 127.0.0.1:{port} .*choose another port"):
            view(rec, port=port, open_browser=False, block=False)


def test_a_missing_viser_is_told_with_the_command_that_helps(rec, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(FootfallError, match=r'pip install "footfall\[view\]"'):
        view(rec, open_browser=False)


def test_nothing_to_view_is_told():
    with pytest.raises(RecordingError, match="at least one recording"):
        view([], open_browser=False)


def test_a_live_run_gives_the_recording_that_a_plain_run_gives(rec):
    sim = Simulation("spatial-biped", law="linearizing-penalty")
    told = []
    with LiveView(sim, port=0, speed=None) as live:
        seen = live.run(0.2, controller="posture", progress=told.append)
        assert live.painters[0].frame.time == pytest.approx(0.2)
        assert np.array_equal(live.painters[0].frame.force, seen.force[-1])
    plain = sim.run(0.2, controller="posture")
    assert np.array_equal(seen.qpos, plain.qpos)
    assert np.array_equal(seen.force, plain.force)
    assert told[-1] == pytest.approx(0.2)


# ---- in a browser ----------------------------------------------------------------------------------------------

BUTTON = "[...document.querySelectorAll('button')].find(b => b.textContent.trim() === %r)"


@pytest.mark.browser
def test_the_view_plays_and_scrubs_in_a_browser(viewer):
    if (executable := find_chromium()) is None:
        pytest.skip("no chromium was found; install it or set CHROMIUM to its path")
    with Browser(executable) as browser:
        browser.open(viewer.address)
        browser.wait(f"Boolean({BUTTON % 'Play'})", 30)
        browser.evaluate(f"{BUTTON % 'Play'}.click()")
        browser.wait(lambda: viewer.time > 0.05)
        browser.wait(lambda: viewer.time == viewer.span[1])
        browser.wait(f"Boolean({BUTTON % 'Play'})")  # it stopped at the end
        browser.wait("document.body.textContent.includes('0.500 s of 0.500 s')")
        browser.evaluate("document.querySelector('[role=slider]').focus()")
        browser.press("Home")
        browser.wait(lambda: viewer.time == 0.0)
        browser.wait("document.body.textContent.includes('0.000 s of 0.500 s')")
        assert viewer.painters[0].frame.time == 0.0
        assert browser.errors == []
        outside = [
            a for a in browser.requests if not a.startswith(("data:", "blob:", viewer.address, "ws://127.0.0.1"))
        ]
        assert outside == []
