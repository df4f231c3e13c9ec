"""The viewer is the report's page, served on this machine: it shows what was recorded, and says why it cannot."""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from show_recordings import standing

import footfall as ff
import footfall.show
from footfall.errors import FootfallError, RecordingError
from footfall.show import Viewer, view
from footfall.show.frames import RATE, make_scene


@pytest.fixture(scope="module")
def rec():
    return standing()


@pytest.fixture(scope="module")
def viewer(rec):
    with Viewer(rec, port=0) as running:
        yield running


def ask(address, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=180)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_the_page_is_served_and_nothing_else(viewer):
    home = urlsplit(viewer.address).path
    status, text = ask(viewer.address, "GET", home)
    assert status == 200
    assert "spatial-biped under linearizing-penalty" in text
    assert ask(viewer.address, "GET", "/etc/passwd")[0] == 404
    assert ask(viewer.address, "GET", "/")[0] == 404
    assert ask(viewer.address, "GET", f"{home}events")[0] == 404
    assert ask(viewer.address, "POST", f"{home}command", json.dumps({"pause": True}))[0] == 403


def test_a_minute_is_shown_at_the_pace_of_the_screen_and_not_of_its_samples():
    """What is prepared for the browser grows with the pictures of a screen; samples are a thousand a second."""
    assert len(make_scene(ff.Simulation("ball").run(60.0)).samples) == round(60 * RATE) + 1


def test_an_occupied_port_is_told_in_a_sentence(rec):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(FootfallError, match=f"cannot be served at 127.0.0.1:{port} .*choose another port"):
            view(rec, port=port, open_browser=False, block=False)


def test_nothing_to_view_is_told():
    with pytest.raises(RecordingError, match="at least one recording"):
        view([], open_browser=False)


# ---- in a browser ----------------------------------------------------------------------------------------------


# How far the corners of a box that stands on the ground are from the middle of the picture, as shares of its halves.
CORNERS = """((sides, com, aspect) => {
  class Stage {}
  %s
  const camera = new Camera(), [x, y, height] = sides, corners = [], girth = Math.max(x, y);
  camera.data = { size: Math.max(girth, height), girth, height, reach: 0.5 * Math.hypot(x, y) };
  Object.assign(camera, { layers: {}, runs: [{ time: [0], com_ground: [0, 0, 0] }], at: () => 0 });
  camera.blend = () => [0, 0, com * height];
  camera.face("quarter");
  const { yaw, pitch, fov } = camera.camera, half = Math.tan(fov / 2), far = camera.distance(aspect);
  const out = [Math.cos(yaw) * Math.cos(pitch), Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch)];
  const right = [-Math.sin(yaw), Math.cos(yaw), 0], up = vec.cross(out, right), middle = camera.centre([0]);
  for (const i of [-0.5, 0.5]) for (const j of [-0.5, 0.5]) for (const k of [0, 1]) {
    const p = vec.sub([i * x, j * y, k * height], middle), deep = far - vec.dot(p, out);
    corners.push(Math.abs(vec.dot(p, right)) / (deep * half * aspect), Math.abs(vec.dot(p, up)) / (deep * half));
  }
  return Math.max(...corners);
})"""


@pytest.mark.browser
def test_no_part_of_a_robot_is_cut_off_by_the_edge_of_the_picture(browser):
    """Tall, flat, long and square ones, heavy above or below, in pictures of a desk and of a phone."""
    folder = Path(footfall.show.__file__).parent / "page"
    code = CORNERS % "\n".join((folder / name).read_text(encoding="utf-8") for name in ("common.js", "camera.js"))
    for sides in (
        [0.4, 0.3, 1.2],
        [0.64, 0.44, 0.44],
        [0.6, 0.6, 0.1],
        [1.0, 0.2, 0.4],
        [0.2, 1.0, 0.9],
        [1.0, 1.0, 1.0],
    ):
        for com in (0.2, 0.9):
            shares = [browser.evaluate(f"{code}({sides}, {com}, {aspect})") for aspect in (0.75, 1.2, 1.8)]
            assert 0.4 < max(shares) < 1.0, (sides, com, shares)


@pytest.fixture(scope="module")
def two(rec):
    with Viewer([rec, standing("spring-damper")], port=0) as running:
        yield running


@pytest.mark.browser
def test_the_view_plays_steps_and_follows(browser, two, rec):
    browser.open_report(two.address)
    browser.click("#next")
    browser.wait("footfall.time > 0.01")
    assert browser.evaluate("footfall.sample()") == make_scene(rec).samples[1]
    browser.click("#back")
    browser.wait("footfall.time === 0")
    browser.click("#play")
    browser.wait("footfall.time === 0.5")
    assert browser.evaluate("footfall.layers.follow") is True
    assert browser.errors == []
    assert set(browser.requests) == {two.address}


@pytest.mark.browser
def test_several_recordings_share_one_time(browser, two):
    """Side by side, and as ghosts in one place."""
    browser.open_report(two.address)
    browser.evaluate("footfall.seek(0.25)")
    places = "JSON.stringify(footfall.cells().map(cell => cell.runs))"
    assert browser.evaluate(places) == "[[0],[1]]"
    for drawn in ("[[0,1]]", "[[0],[1]]"):
        browser.click("[data-layer=overlay]")
        browser.wait(f"{places} === '{drawn}'")
        assert browser.evaluate("footfall.sample(0)") == browser.evaluate("footfall.sample(1)")
    assert browser.errors == []
