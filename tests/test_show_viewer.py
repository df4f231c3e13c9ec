"""The viewer is the report's page, served on this machine: it shows what was recorded, and says why it cannot."""

from __future__ import annotations

import http.client
import json
import socket
from urllib.parse import urlsplit

import pytest
from show_recordings import standing

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
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_the_page_is_served_and_nothing_else(viewer):
    status, text = ask(viewer.address, "GET", "/")
    assert status == 200
    assert "spatial-biped under linearizing-penalty" in text
    assert ask(viewer.address, "GET", "/etc/passwd")[0] == 404
    assert ask(viewer.address, "GET", "/events")[0] == 404
    assert ask(viewer.address, "POST", "/command", json.dumps({"pause": True}))[0] == 403


def test_a_minute_is_shown_at_the_pace_of_the_screen_and_not_of_its_samples():
    """What is prepared for the browser grows with the pictures of a screen; samples are a thousand a second."""
    assert len(make_scene(standing(duration=60.0)).samples) == round(60 * RATE) + 1


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


@pytest.mark.browser
def test_the_view_plays_steps_and_follows(browser, viewer, rec):
    browser.open(viewer.address)
    browser.wait("window.footfall !== undefined")
    browser.click("#next")
    browser.wait("footfall.time > 0.01")
    assert browser.evaluate("footfall.sample()") == make_scene(rec).samples[1]
    browser.click("#back")
    browser.wait("footfall.time === 0")
    browser.click("#play")
    browser.wait("footfall.time === 0.5")
    assert browser.evaluate("footfall.layers.follow") is True
    assert browser.errors == []
    assert {address.rstrip("/") for address in browser.requests} == {viewer.address}


@pytest.mark.browser
@pytest.mark.parametrize("ghosts", [False, True], ids=["side by side", "ghosts"])
def test_several_recordings_share_one_time(browser, rec, ghosts):
    with Viewer([rec, standing("spring-damper")], port=0, ghosts=ghosts) as viewer:
        browser.open(viewer.address)
        browser.wait("window.footfall !== undefined")
        browser.evaluate("footfall.seek(0.25)")
        assert [cell["runs"] for cell in browser.evaluate("footfall.cells()")] == ([[0, 1]] if ghosts else [[0], [1]])
        assert browser.evaluate("footfall.sample(0)") == browser.evaluate("footfall.sample(1)")
        assert browser.errors == []
