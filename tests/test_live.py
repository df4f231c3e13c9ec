"""A run in the browser while it is under way is the run that it would be without: pushes by hand are on record."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
import time
from urllib.parse import urlsplit

import numpy as np
import pytest
from browser import clipped, is_todays, overlapping

import footfall as ff
from footfall.contact import law as make_law
from footfall.errors import FootfallError
from footfall.live import LiveView
from footfall.live.frame import at_rest, frame, panels
from footfall.live.view import Drag, Requests, _Pushable, options_of
from footfall.show import viewer
from footfall.simulation.run import Run
from footfall.simulation.task import Task

PATIENCE = 180.0  # s until a test that waits in vain fails
PUSH = ff.Push("trunk", force=(0.0, 60.0, 0.0), start=0.05, duration=0.1)


@pytest.fixture(scope="module")
def sim():
    return ff.Simulation("spatial-biped", law="linearizing-penalty")


def command(address, asked, headers=None):
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    connection.request("POST", f"{urlsplit(address).path}command", json.dumps(asked), headers or {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_a_live_run_gives_the_recording_that_a_plain_run_gives(sim):
    told = []
    with LiveView(sim, port=0, speed=None) as live:
        seen = live.run(0.2, controller="posture", pushes=[PUSH], progress=told.append)
    plain = sim.run(0.2, controller="posture", pushes=[PUSH])
    assert np.array_equal(seen.qpos, plain.qpos)
    assert np.array_equal(seen.force, plain.force)
    assert seen.pushes == plain.pushes
    assert told[-1] == pytest.approx(0.2)


def test_pushes_by_hand_are_on_record_and_a_plain_run_repeats_them(sim):
    live = _Pushable(sim, 0.3, Task(controller="posture", pushes=[PUSH]))
    pulls = [
        None,
        Drag("trunk", (40.0, 0.0, 5.0)),
        Drag("trunk", (40.0, 0.0, 5.0)),
        Drag("left_thigh", (0.0, -30.0, 0.0)),
        None,
    ]
    for i in range(20):
        live.advance(15, pulls[min(i, 4)])
    rec = live.run.finish()
    assert [push.body for push in rec.pushes] == ["trunk", "trunk", "left_thigh"]
    assert [(push.start, push.duration) for push in rec.pushes[1:]] == [
        pytest.approx((0.015, 0.03)),
        pytest.approx((0.045, 0.015)),
    ]
    plain = sim.run(0.3, controller="posture", pushes=rec.pushes)
    assert np.array_equal(rec.qpos, plain.qpos)
    assert np.array_equal(rec.force, plain.force)
    assert not np.array_equal(rec.qpos, sim.run(0.3, controller="posture", pushes=[PUSH]).qpos)


def test_what_is_asked_wrongly_is_told(sim):
    requests = Requests(["trunk"], 1.0)
    for asked, said in (
        ({"fly": 1}, "no command is called 'fly'"),
        ({"speed": 0}, "between 0.001 and 1000"),
        ({"push": {"body": "wing", "force": [1, 2, 3]}}, "no body is called 'wing': known: trunk"),
        ({"push": {"body": "trunk", "force": [1, 2, float("inf")]}}, "three finite numbers"),
        ({"law": {"name": "no-such-law"}}, "no contact law is called"),
        ({"friction": -1}, "friction = -1 but it must be between 0 and 10"),
        ({"restart": -1}, "restart = -1 but it must be between"),
        ({"step": float("inf")}, "whole number of pictures"),
        ({"step": -1}, "whole number of pictures"),
    ):
        with pytest.raises(FootfallError, match=said):
            requests.command(asked)
    with LiveView(sim, port=0) as live:
        status, text = command(live.address, {"speed": -1})
        assert (status, "error" in json.loads(text)) == (200, True)
        assert command(live.address, {"pause": True}, {"Origin": "http://elsewhere.example"})[0] == 403
        assert command(live.address, "no object")[0] == 200
        assert "Infinity" in json.loads(command(live.address, {"step": float("inf")})[1])["error"]


def answer(address, lines, body=b""):
    """The first line that comes back for a request, as it is."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        return connection.recv(100).partition(b"\r\n")[0].decode()


def test_only_this_machine_and_whoever_knows_the_address_may_command(sim):
    with LiveView(sim, port=0) as live:
        path, host = urlsplit(live.address).path, urlsplit(live.address).netloc
        assert len(path) > 20

        def post(path, host, size="2"):
            return answer(live.address, [f"POST {path} HTTP/1.1", f"Host: {host}", f"Content-Length: {size}"], b"{}")

        for name in (host, f"localhost:{host.rpartition(':')[2]}", "127.0.0.1", "[::1]:80"):
            assert " 200 " in post(f"{path}command", name)
            assert " 200 " in answer(live.address, [f"GET {path} HTTP/1.1", f"Host: {name}"])
        for name in ("elsewhere.example", "elsewhere.example:8080", "localhost.elsewhere.example", ""):
            assert " 403 " in post(f"{path}command", name)
            assert " 403 " in answer(live.address, [f"GET {path} HTTP/1.1", f"Host: {name}"])
        assert " 403 " in post("/command", host) and " 403 " in post("/guess/command", host)
        assert " 404 " in answer(live.address, ["GET / HTTP/1.1", f"Host: {host}"])
        for size in ("-1", "1e9", "100001", "9" * 40, ""):
            assert " 413 " in post(f"{path}command", host, size)


def test_idle_connections_are_closed_and_their_number_is_bounded(sim, monkeypatch):
    monkeypatch.setattr(viewer._Handler, "timeout", 0.3)
    monkeypatch.setattr(viewer, "CONNECTIONS", 3)
    with LiveView(sim, port=0) as live:
        place = urlsplit(live.address)
        idle = [socket.create_connection((place.hostname, place.port), timeout=PATIENCE) for _ in range(8)]
        assert [one.recv(1) for one in idle] == [b""] * 8  # at once, or when nothing has come for a while
        for one in idle:
            one.close()
        assert command(live.address, {"pause": True})[0] == 200


def test_the_options_of_a_law_that_are_numbers_can_be_changed():
    names = {option["name"]: option["value"] for option in options_of(make_law("spring-damper", k=2e4))}
    assert names["k"] == 2e4
    assert names["rest_penetration"] is None  # derived
    assert names["impact_speed"] == 1.0
    assert "friction" not in names  # a name


@pytest.fixture
def running(sim):
    """A live run that goes on for as long as a test looks at it."""
    with LiveView(sim, port=0, speed=1.0) as live:
        found = []

        def run():
            found.append(live.run(1.5, controller="posture", record_dt=0.01))

        live.requests.command({"pause": True})
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield live, found
        live.requests.command({"pause": False, "speed": 1000})
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.browser
def test_a_run_is_paused_stepped_pushed_and_gets_another_law_on_its_page(running, browser):
    live, _ = running
    browser.open(live.address, width=1440, height=900)
    browser.wait("window.footfall !== undefined")
    browser.wait(lambda: live.server.listeners)
    command(live.address, {"step": 3})
    browser.wait("footfall.frames === 3")
    browser.wait("Math.abs(footfall.time - 0.07) < 1e-9")  # three pictures of 25 ms, samples of 10 ms

    x, y, wide, high = browser.evaluate(
        "(() => { const r = document.querySelector('#view').getBoundingClientRect();"
        " return [r.x, r.y, r.width, r.height]; })()"
    )
    assert browser.evaluate(f"footfall.pick({wide / 2}, {0.35 * high}).name") == "trunk"
    assert browser.evaluate("footfall.pick(3, 3)") is None

    def mouse(kind, dx):
        at = {"x": x + wide / 2 + dx, "y": y + 0.35 * high}
        browser.ask("Input.dispatchMouseEvent", type=kind, button="left", buttons=1, clickCount=1, **at)

    mouse("mousePressed", 0)
    mouse("mouseMoved", 40)
    browser.wait(lambda: live.requests.drag is not None)
    assert live.requests.drag.body == "trunk"
    # Dragged to the right of the picture, by 40 pixels: along the camera's right, and level.
    force = np.array(live.requests.drag.force)
    assert force @ [-np.sin(-0.75), np.cos(-0.75), 0.0] == pytest.approx(np.linalg.norm(force))
    command(live.address, {"step": 1})
    browser.wait("footfall.pushes().length === 1")
    mouse("mouseReleased", 40)
    browser.wait(lambda: live.requests.drag is None)

    assert browser.evaluate("document.querySelector('#law').value") == "linearizing-penalty"
    assert "kp = 500" in browser.evaluate("document.querySelector('#used').textContent")
    browser.evaluate(
        "(() => { const s = document.querySelector('#law'); s.value = 'spring-damper';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    browser.wait("document.querySelector('#used').textContent.includes('c = ')")
    assert live.simulation.law.name == "spring-damper"
    browser.wait(lambda: len(live.recordings) == 1)
    for slider, value in (("friction", 0.4), ("push", 25.0)):
        browser.evaluate(
            f"(() => {{ const s = document.querySelector('#{slider}'); s.value = {value};"
            " s.dispatchEvent(new Event('change')); })()"
        )
    browser.wait("document.querySelector('output[for=friction]').textContent === '0.4 '")  # as the run says
    assert len(live.recordings) == 2 and live.simulation.ground.dynamic_friction == 0.4
    browser.click(".shove")
    browser.wait(lambda: live.requests.shove is not None)
    command(live.address, {"step": 1})
    browser.wait("footfall.pushes().length === 1")
    command(live.address, {"step": 5})
    browser.wait("footfall.pushes().length === 0")
    assert live.recording().pushes[-1].force == pytest.approx((0.0, 25.0, 0.0))  # to its left
    for on_a_phone in (False, True):
        if on_a_phone:
            browser.show_on(width=390, height=900, dark=True, phone=True)
            browser.wait("window.innerWidth === 390")
        before = browser.evaluate("footfall.frames")
        command(live.address, {"step": 2})
        browser.wait(f"footfall.frames === {before + 2}")
        assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert clipped(browser) == []
        assert overlapping(browser) == []
    assert browser.errors == []
    assert all(address.startswith(live.address) for address in browser.requests)


def test_a_push_by_hand_ends_with_the_page_it_came_from(running):
    live, found = running
    connection = http.client.HTTPConnection(urlsplit(live.address).netloc, timeout=PATIENCE)
    connection.request("GET", f"{urlsplit(live.address).path}events")
    stream = connection.getresponse()
    while not live.server.listeners:
        time.sleep(0.01)
    command(live.address, {"push": {"body": "trunk", "force": [0.0, 20.0, 0.0]}})
    command(live.address, {"step": 2})
    while live.requests.steps:
        time.sleep(0.01)
    stream.close()
    connection.close()
    while live.server.listeners:  # until a picture does not reach it
        live.requests.command({"step": 1})
        time.sleep(0.01)
    held = live.recording().time[-1]
    live.requests.command({"pause": False, "speed": 1000})
    while not found:
        time.sleep(0.01)
    (push,) = found[0].pushes
    assert 0.05 <= push.duration < held + 0.1 < 1.5


def test_a_browser_that_goes_away_does_not_stop_a_run(sim):
    with LiveView(sim, port=0, speed=None) as live:
        connection = http.client.HTTPConnection(urlsplit(live.address).netloc, timeout=PATIENCE)
        connection.request("GET", f"{urlsplit(live.address).path}events")
        connection.getresponse()
        while not live.server.listeners:
            time.sleep(0.01)
        connection.close()
        assert live.run(0.1, controller="posture").duration == pytest.approx(0.1)


def test_a_page_says_that_code_is_compiled_until_the_first_picture_and_how_a_run_ended(sim):
    """Also to a browser that comes when it was said already."""

    def listen(live, count):
        connection = http.client.HTTPConnection(urlsplit(live.address).netloc, timeout=PATIENCE)
        connection.request("GET", f"{urlsplit(live.address).path}events")
        stream, found = connection.getresponse(), []
        while len(found) < count:
            line = stream.readline()
            if line.startswith(b"data: "):
                found.append(json.loads(line[6:]))
        connection.close()
        return found

    with LiveView(sim, port=0, speed=None) as live:
        live.server.send({"note": "kept"}, kind="note")
        seen = []
        thread = threading.Thread(target=lambda: seen.extend(listen(live, 4)), daemon=True)
        thread.start()
        while not live.server.listeners:
            time.sleep(0.01)
        live.run(0.05, controller="posture")
        thread.join(PATIENCE)
        ready = f"making {sim.law.name} ready; its first start compiles"
        assert [one.get("note") for one in seen] == ["kept", None, ready, None]
        assert seen[1] == {"walk": None} and "arrays" in seen[3]
        _, note, last, end = listen(live, 4)
        assert note == {"note": ready} and end == {"ended": "the run ended at 0.05 s"}
        assert last["time"] == pytest.approx(0.05, abs=2 * sim.dt)  # where it ended is drawn, too


def test_a_page_that_is_opened_later_is_told_the_law_in_use(sim):
    live = LiveView(sim, port=0, speed=None)
    with live:
        live.requests.command({"pause": True})
        thread = threading.Thread(target=lambda: live.run(0.05, controller="posture"), daemon=True)
        thread.start()
        while "ready" not in live.server.kept:
            time.sleep(0.01)
        live.requests.command({"law": {"name": "spring-damper", "options": {}}})
        live.requests.command({"pause": False})
        thread.join(PATIENCE)
        told = json.loads(live.server.kept["law"][len("data: ") :])
    assert told["law"]["name"] == "spring-damper"


def once(live, when, *asked):
    """A progress that gives the page's commands, one after the other, each when the run comes to ``when`` (s)."""
    left = list(asked)

    def progress(time):
        if left and time >= when:
            live.requests.command(left.pop(0))

    return progress


def test_a_run_goes_back_to_a_state_that_was_kept_and_repeats_itself(sim):
    plain = sim.run(0.6, controller="posture", pushes=[PUSH])
    for back, then in ((0.3, 0.25), (0.0, 0.0)):
        with LiveView(sim, port=0, speed=None) as live:
            again = live.run(0.6, controller="posture", pushes=[PUSH], progress=once(live, 0.5, {"restart": back}))
            assert json.loads(live.server.kept["restart"][len("data: ") :])["restart"] == pytest.approx(then)
        assert [rec.time[-1] for rec in live.recordings] == pytest.approx([0.5, 0.6], abs=0.03)
        assert again.time[0] == pytest.approx(then)
        assert np.array_equal(again.qpos[-1], plain.qpos[-1]) and np.array_equal(again.force[-1], plain.force[-1])


def test_a_walking_robot_walks_on_under_another_law_and_falls_on_ice():
    sim, walk = ff.Simulation("spatial-biped"), ff.control.Walk(speed=0.4, steps=4)
    law = {"law": {"name": "time-stepping", "options": {}}}
    with LiveView(sim, port=0, speed=None) as live:
        after = live.run(walk.duration, controller=walk, progress=once(live, 1.2, law))
    assert (live.recordings[0].law.name, after.law.name) == ("linearizing-penalty", "time-stepping")
    assert after.time[0] == pytest.approx(1.2, abs=0.03) and after.time[-1] == pytest.approx(walk.duration)
    assert after.summary()["outcome"] == "stayed up" and after.com[-1, 0] - after.com[0, 0] > 0.3
    with LiveView(sim, port=0, speed=None) as live:
        slid = live.run(walk.duration, controller=walk, progress=once(live, 1.2, {"friction": 0.03}))
        told = json.loads(live.server.kept["fell"][len("data: ") :])["fell"]
    assert slid.ground.dynamic_friction == 0.03 and slid.summary()["outcome"] == "fell"
    assert re.fullmatch(r"fell at \d\.\d+ s: .*", told)


def test_a_walk_begins_again_with_another_speed():
    sim, walk = ff.Simulation("spatial-biped"), ff.control.Walk(speed=0.4, steps=2)
    with LiveView(sim, port=0, speed=None) as live:
        slower = live.run(1.5, controller=walk, progress=once(live, 0.3, {"walk": 0.2}))
    assert slower.time[0] == 0.0 and "speed=0.2" in slower.info["controller"]


def test_a_shove_lasts_as_long_as_it_says_and_is_on_record(sim):
    shove = {"shove": {"body": "trunk", "force": [0.0, 30.0, 0.0], "duration": 0.1}}
    with LiveView(sim, port=0, speed=None) as live:
        rec = live.run(0.4, controller="posture", progress=once(live, 0.1, shove))
    (push,) = rec.pushes
    assert push.force == (0.0, 30.0, 0.0) and push.duration == pytest.approx(0.1)
    assert np.array_equal(rec.qpos, sim.run(0.4, controller="posture", pushes=[push]).qpos)


def test_a_run_waits_while_nobody_watches(sim):
    with LiveView(sim, port=0, speed=None, pause_unwatched=True) as live:
        thread = threading.Thread(target=lambda: live.run(0.05, controller="posture"), daemon=True)
        thread.start()
        thread.join(1.0)
        assert thread.is_alive() and "frame" not in live.server.kept
        connection = http.client.HTTPConnection(urlsplit(live.address).netloc, timeout=PATIENCE)
        connection.request("GET", f"{urlsplit(live.address).path}events")
        stream = connection.getresponse()  # open as long as there is a name for it
        thread.join(PATIENCE)
        assert not thread.is_alive() and "frame" in live.server.kept
        stream.close()
        connection.close()


@pytest.mark.browser
def test_a_page_resets_restarts_and_tells_why_the_robot_fell(browser):
    hard = ff.Push("trunk", force=(300.0, 0.0, 0.0), start=0.1, duration=0.2)
    with LiveView(ff.Simulation("spatial-biped"), port=0, speed=None) as live:
        live.requests.command({"pause": True})
        options = {"controller": "posture", "pushes": [hard], "record_dt": 0.01, "stay": True}
        thread = threading.Thread(target=lambda: live.run(1.2, **options), daemon=True)
        thread.start()
        browser.open(live.address, width=1440, height=900)
        browser.wait("window.footfall !== undefined")
        browser.wait(lambda: live.server.listeners)
        command(live.address, {"pause": False})
        browser.wait("footfall.said.startsWith('fell at ') || footfall.said.startsWith('the run ended')")
        browser.wait(lambda: "end" in live.server.kept)
        assert json.loads(live.server.kept["fell"][len("data: ") :])["fell"].startswith("fell at ")
        browser.evaluate("footfall.seek(0.3)")
        command(live.address, {"pause": True})
        browser.evaluate("document.querySelector('#here').click()")
        browser.wait(lambda: len(live.recordings) == 2 and "end" in live.server.kept)  # run to its end again
        assert live.recordings[-1].time[0] == pytest.approx(0.25)
        browser.ask("Input.dispatchKeyEvent", type="keyDown", key="r", text="r")
        browser.wait(lambda: len(live.recordings) == 3 and "end" in live.server.kept)
        assert live.recordings[-1].time[0] == 0.0
        assert browser.evaluate("document.querySelector('#friction').value") == "0.7"
        assert is_todays(browser, "live.webp")  # if not: python tools/make_screenshots.py
        assert browser.errors == []


def test_the_curves_of_many_feet_differ_in_colour_or_dash():
    feet = {f"leg{i}": ("brick", [[0.01 * i, 0.0, -0.025]]) for i in range(8)}
    model = ff.load_robot("brick").model
    curves = panels(at_rest(sim := ff.Simulation(ff.load_robot(model, feet=feet)), sim.robot.home))[0]["curves"]
    looks = {(curve["color"], curve["dash"]) for curve in curves}
    assert len(looks) == len(curves) == 9


def test_other_bodies_on_the_ground_are_drawn_and_in_the_total():
    sim = ff.Simulation("quadruped", law="spring-damper")
    run = Run(sim, 1.2)
    rest = at_rest(sim, sim.robot.home)
    assert not any(frame(rest, run, 0, None)["arrays"]["mode"])
    while run.advance(100):  # its legs give way, and it lies on its belly
        pass
    shown = frame(rest, run, run.step - 1, None)
    mode, force = np.array(shown["arrays"]["mode"]), np.reshape(shown["arrays"]["force"], (-1, 3))
    feet = sim.robot.point_count
    assert mode[feet:].any()
    assert force[feet:, 2].sum() > 0.5 * sim.robot.weight
    assert shown["values"][0][-1] == pytest.approx(sim.robot.weight, rel=0.05)


def test_the_zero_moment_point_of_the_row_before_is_drawn(sim):
    """While it is pushed, it is not the pressure centre."""
    live = _Pushable(sim, 0.2, Task(controller="posture", pushes=[PUSH]))
    rest, shown = at_rest(sim, sim.robot.home), {}
    along = [panel["title"] for panel in panels(rest)].index("Centre of pressure and zero moment point, x")
    for _ in range(10):
        live.advance(15, None)
        row = live.row()
        shown[row] = frame(rest, live.run, row, None)
    rec = live.run.finish()
    for row, one in shown.items():
        np.testing.assert_allclose(one["arrays"]["zmp"], rec.zmp[row - 1], atol=1e-6)
        assert one["values"][along][2] == one["arrays"]["zmp"][0]
    apart = [np.linalg.norm(np.subtract(one["arrays"]["zmp"], one["arrays"]["overall_cop"])) for one in shown.values()]
    assert max(apart) > 0.01
    assert frame(rest, live.run, 0, None)["arrays"]["zmp"] == [None] * 3
