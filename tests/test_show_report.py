"""The report is one file that needs nothing else, tells the run, and shows what the recording says."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from browser import clipped, ink_at_the_edge, is_todays, overlapping
from show_recordings import standing

from footfall import Push, Simulation, load_robot
from footfall.errors import FootfallError, RecordingError
from footfall.measure.summary import FLOORS
from footfall.record import Failure
from footfall.show import write_report
from footfall.show.frames import make_scene

LAWS = ("linearizing-penalty", "spring-damper")


@pytest.fixture(scope="module")
def rec():
    return standing()


@pytest.fixture(scope="module")
def page(rec, tmp_path_factory):
    return write_report(rec, tmp_path_factory.mktemp("report") / "new" / "report.html")


def test_the_report_tells_what_was_run(rec, page):
    text = page.read_text()
    for said in ("spatial-biped", "linearizing-penalty", rec.law.citation, "Ground.plane(friction=0.7)", "posture"):
        assert said in text
    assert "trunk: force (0, 60, 0) N, from 0.1 s for 0.1 s" in text
    assert "kp = 500" in text
    assert f"mujoco {rec.info['versions']['mujoco']}" in text
    assert "{{" not in re.sub(r"<script>.*</script>", "", text, flags=re.S)


def test_the_report_names_nothing_outside_itself(page):
    text = page.read_text()
    assert not re.search(r"https?://|<link[^>]+stylesheet|\bsrc=|@import|url\(", text)
    assert "default-src 'none'" in text


def test_a_report_of_ten_seconds_is_small(tmp_path):
    page = write_report(standing(duration=10.0), tmp_path / "ten.html")
    assert page.stat().st_size < 5e6


def test_a_comparison_has_a_column_for_each_law(tmp_path):
    text = write_report([standing(law) for law in LAWS], tmp_path / "laws.html").read_text()
    assert all(f'<th scope="col">{law}</th>' in text for law in LAWS)


def test_a_failure_is_told_at_the_top(rec, tmp_path):
    failed = replace(rec, failure=Failure(0.4, "diverged", "left_knee", "diverged at t = 0.4 s, joint left_knee"))
    text = write_report(failed, tmp_path / "failed.html").read_text()
    assert "did not finish:</strong> diverged at t = 0.4 s, joint left_knee" in text


def test_what_users_write_cannot_break_the_page(rec, tmp_path):
    wild = "</script><script>alert(1)</script>"
    text = write_report([rec, rec], tmp_path / "wild.html", title=wild, labels=[wild, "b & c"]).read_text()
    assert wild not in text
    assert "b &amp; c" in text


NAMES = ("front__sole", "a<!--<script>b", "</script><img src=x>", "x{{title}}y", "__proto__", "quo'te\"s", "_______")


def run_of(*names):
    """Bricks on legs whose bodies, and so feet, have these names."""
    spec = mujoco.MjSpec()
    trunk = spec.worldbody.add_body(name="trunk", pos=(0, 0, 0.3))
    trunk.add_freejoint()
    trunk.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=(0.2 * len(names), 0.1, 0.05), mass=1.0)
    for i, name in enumerate(names):
        body = trunk.add_body(name=name, pos=(0.4 * (i - (len(names) - 1) / 2), 0, -0.2))
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=(0.1, 0.1, 0.1), mass=1.0)
    return Simulation(load_robot(spec, feet=list(names)), law="spring-damper").run(0.02)


@pytest.mark.browser
def test_names_of_any_kind_reach_the_page_as_they_are(browser, tmp_path):
    rec = run_of(*NAMES)
    browser.open(write_report(rec, tmp_path / "names.html").as_uri())
    browser.wait("window.footfall !== undefined")
    for name in NAMES:
        assert browser.evaluate(f"footfall.body({json.dumps(name)}) !== undefined")
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    assert browser.errors == []


def test_a_report_of_names_of_any_kind_is_written(tmp_path):
    text = write_report(run_of(*NAMES), tmp_path / "names.html").read_text()
    data = text[text.index('id="footfall-data">') :]
    data = data[data.index(">") + 1 : data.index("</script>")]
    assert "<" not in data
    assert set(NAMES) <= {name for robot in json.loads(data)["robots"] for name in robot["names"]}


def test_an_interrupted_report_leaves_the_one_that_was_there(rec, tmp_path, monkeypatch):
    page = tmp_path / "report.html"
    page.write_text("before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FootfallError, match="No space left on device"):
        write_report(rec, page)
    assert [one.read_text() for one in tmp_path.iterdir()] == ["before"]


def test_an_audit_can_be_given_or_left_out(rec, tmp_path):
    own = rec.audit()
    planted = replace(own, rows=(*own.rows, replace(own.rows[0], name="planted error", verdict="fail")))
    text = write_report(rec, tmp_path / "audit.html", audit=[planted]).read_text()
    assert "planted error" in text
    assert '<span class="verdict bad">fail</span>' in text
    assert "<h2>Audit</h2>" not in write_report(rec, tmp_path / "none.html", audit=[]).read_text()
    with pytest.raises(RecordingError, match="1 audits were given for 2 recordings"):
        write_report([rec, rec], tmp_path / "few.html", audit=[own])


def test_mistakes_are_told_in_a_sentence(rec, tmp_path):
    with pytest.raises(RecordingError, match="at least one recording"):
        write_report([], tmp_path / "none.html")
    with pytest.raises(RecordingError, match="2 labels were given for 1 recordings"):
        write_report(rec, tmp_path / "labels.html", labels=["a", "b"])
    with pytest.raises(FootfallError, match="cannot write the report to"):
        write_report(rec, tmp_path)


# ---- in a browser ----------------------------------------------------------------------------------------------


@pytest.fixture
def shown(browser, page):
    """The report from its start on; tests leave it as they found it, but for the time."""
    browser.open_report(page.as_uri())
    yield browser
    assert browser.errors == []
    assert browser.requests == [page.as_uri()]


@pytest.mark.browser
def test_the_picture_in_the_documentation_is_of_todays_report(shown):
    """If not: python tools/make_screenshots.py."""
    assert is_todays(shown, "report.png")


@pytest.mark.browser
def test_every_axis_has_two_numbers_at_least(shown):
    """One alone gives no scale; an axis of no length, as of a single sample, has none."""
    fewest = "Math.min(...[-1, -5.9, -8.6, 0].map((low) => ticks(low, 9, 3.3).values.length))"
    assert shown.evaluate(fewest) >= 2 and shown.evaluate("ticks(1, 1, 3).values.length") == 0


@pytest.mark.browser
def test_play_lets_time_advance_and_pause_stops_it(shown):
    assert shown.evaluate("footfall.time") == 0.0
    shown.evaluate("document.querySelector('#speed').value = '0.1'")
    # Inside the page: a busy machine could let the record end before a test that asks from outside.
    shown.evaluate(
        """(async () => { const play = document.querySelector('#play'); play.click();
           while (footfall.time <= 0.01) await new Promise(requestAnimationFrame); play.click(); })()"""
    )
    assert shown.evaluate("footfall.playing") is False
    stopped = shown.evaluate("footfall.time")
    assert shown.evaluate("new Promise(r => setTimeout(() => r(footfall.time), 200))") == stopped
    assert shown.evaluate("document.querySelector('#clock').textContent").startswith(f"{stopped:.3f} / 0.500 s")
    shown.evaluate("document.querySelector('#speed').value = '1'")


@pytest.mark.browser
@pytest.mark.parametrize("when", [0.0, 0.2, 0.35, 0.5])
def test_what_is_drawn_after_scrubbing_is_what_was_recorded(shown, rec, when):
    scene = make_scene(rec)
    index = int(np.abs(scene.frames.time - when).argmin())
    sample, moment = int(scene.samples[index]), float(scene.frames.time[index])
    shown.evaluate(f"document.querySelector('#scrub').value = {moment!r}")
    shown.evaluate("document.querySelector('#scrub').dispatchEvent(new Event('input'))")
    shown.wait(f"Math.abs(footfall.time - {moment}) < 1e-9")
    assert shown.evaluate("document.querySelector('#clock').textContent").startswith(f"{moment:.3f} /")
    assert shown.evaluate("footfall.sample()") == sample
    for point in range(rec.robot.point_count):
        drawn = shown.evaluate(f"footfall.arrow({point})")
        if rec.mode[sample, point] == 0:
            assert drawn is None
            continue
        # The page holds single precision: 7 digits of forces of some 100 N and places of some m.
        assert drawn["force"] == pytest.approx(rec.force[sample, point], abs=1e-4)
        assert drawn["base"] == pytest.approx(rec.position[sample, point], abs=1e-6)
        assert drawn["mode"] == rec.mode[sample, point]
    bodies = list(scene.meshes)
    for name in ("trunk", rec.robot.feet[0].body):
        body = bodies.index(rec.robot.model.body(name).id)
        drawn = shown.evaluate(f"footfall.body('{name}')")
        assert drawn["position"] == pytest.approx(scene.frames.body_position[index, body], abs=1e-6)
        turned = abs(np.dot(drawn["quaternion"], scene.frames.body_quaternion[index, body]))
        assert turned == pytest.approx(1.0, abs=1e-6)


@pytest.mark.browser
def test_the_plots_say_at_the_cursor_what_was_recorded(shown, rec):
    shown.evaluate("footfall.seek(0.3)")
    sample = int(np.searchsorted(rec.time, 0.3 - 1e-9))
    values = dict(tuple(pair) for pair in shown.evaluate("footfall.values()[0]"))
    for f, foot in enumerate(rec.robot.feet):
        assert values[foot.name] == pytest.approx(rec.foot_force[sample, f, 2], abs=1e-3)
    assert values["total"] == pytest.approx(rec.total_force[sample, 2], abs=1e-3)


@pytest.mark.browser
def test_without_the_layer_no_arrow_is_drawn(shown, rec):
    assert shown.evaluate("footfall.arrows()") == int((rec.mode[0] > 0).sum())
    shown.click("[data-layer=forces]")
    shown.wait("footfall.arrows() === 0")
    shown.click("[data-layer=forces]")
    shown.wait("footfall.arrows() > 0")


@pytest.mark.browser
def test_a_push_is_drawn_while_it_acts_and_says_how_hard(shown):
    for when, acts in ((0.05, False), (0.15, True), (0.25, False)):
        shown.evaluate(f"footfall.seek({when})")
        assert shown.evaluate("footfall.pushes()") == (["trunk"] if acts else [])
        label = shown.evaluate("document.querySelector('.robot-label .state').textContent")
        assert label == ("push 60.0 N on trunk" if acts else "")


def test_a_fall_is_red_and_says_when_and_why(tmp_path):
    rec = Simulation("spatial-biped", law="spring-damper").run(
        1.5, controller="posture", pushes=[Push("trunk", force=(190.0, 0.0, 0.0), start=0.2, duration=0.15)]
    )
    summary, text = rec.summary(), write_report(rec, tmp_path / "fall.html").read_text()
    card = text[text.index('<div class="bad"><dt>Outcome') :]
    assert f"fell at {summary['fell_at_s']:.3f} s" in card[:200]
    assert str(summary["fell_because"]) in card[:300]


@pytest.mark.browser
def test_something_is_drawn_and_it_moves(shown, tmp_path):
    read = """(() => { footfall.seek(%s);
      const c = document.querySelector('#view'), p = document.createElement('canvas');
      p.width = c.width; p.height = c.height; const g = p.getContext('2d'); g.drawImage(c, 0, 0);
      const d = g.getImageData(0, 0, c.width, c.height).data; let sum = 0, seen = new Set();
      for (let i = 0; i < d.length; i += 4) { seen.add(d[i] >> 4); sum = (sum * 31 + d[i]) %% 1000003; }
      return [seen.size, sum]; })()"""
    (shades, before), (_, after) = shown.evaluate(read % 0.0), shown.evaluate(read % 0.35)
    assert shades > 6
    assert before != after
    pictures = [shown.screenshot(tmp_path / "after.png").read_bytes()]
    shown.evaluate("footfall.seek(0)")
    pictures.append(shown.screenshot(tmp_path / "before.png").read_bytes())
    assert pictures[0] != pictures[1]


@pytest.mark.browser
def test_edges_are_smooth_where_a_graphics_card_draws(shown):
    smooth = "document.querySelector('#view').getContext('webgl2').getContextAttributes().antialias"
    assert shown.evaluate(smooth) is not shown.evaluate("drawnBySoftware()")
    known = (
        ("ANGLE (NVIDIA, NVIDIA GeForce RTX 3060, OpenGL 4.5)", False),
        ("ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)", True),
        ("llvmpipe (LLVM 15.0.6, 128 bits)", True),
    )
    for name, software in known:
        asked = f"""(() => {{ const known = WebGL2RenderingContext.prototype, real = known.getParameter;
          known.getParameter = () => {json.dumps(name)};
          try {{ return drawnBySoftware(); }} finally {{ known.getParameter = real; }} }})()"""
        assert shown.evaluate(asked) is software


@pytest.mark.browser
def test_keys_step_and_play(shown, rec):
    shown.press("ArrowRight")
    shown.wait("footfall.time > 0.01")
    assert shown.evaluate("footfall.sample()") == make_scene(rec).samples[1]
    shown.press("ArrowLeft")
    shown.wait("footfall.time === 0")
    shown.press(" ", "Space")
    shown.wait("footfall.playing || footfall.time > 0")


@pytest.mark.browser
def test_a_drag_over_a_plot_zooms_all_plots_and_a_click_seeks(shown):
    left, top, width = shown.evaluate(
        "(() => { const a = document.querySelector('.area'); a.scrollIntoView({block: 'center'});"
        " const r = a.getBoundingClientRect(); return [r.x, r.y + r.height / 2, r.width]; })()"
    )

    def mouse(kind, part):
        button = "none" if kind == "mouseMoved" else "left"
        x = left + 54 + part * (width - 64)
        shown.ask("Input.dispatchMouseEvent", type=kind, x=x, y=top, button=button, buttons=1, clickCount=1)

    mouse("mousePressed", 0.2)
    mouse("mouseMoved", 0.4)
    mouse("mouseMoved", 0.6)
    mouse("mouseReleased", 0.6)
    assert shown.evaluate("footfall.window") == pytest.approx([0.1, 0.3], abs=0.002)  # 0.5 s over some 500 pixels
    mouse("mousePressed", 0.5)
    mouse("mouseReleased", 0.5)
    shown.wait("footfall.time > 0.1")
    assert shown.evaluate("footfall.time") == pytest.approx(0.2, abs=0.002)
    shown.click("#unzoom")
    assert shown.evaluate("footfall.window") == [0.0, 0.5]


@pytest.mark.browser
def test_each_error_of_the_audit_leads_to_its_sample(shown, rec):
    seen = [row for row in rec.audit().rows if row.worst > FLOORS.get(row.unit, 0.0)]
    assert seen and shown.evaluate("document.querySelectorAll('td a').length") == len(seen)
    for _ in range(2):  # also after one has looked elsewhere
        shown.click("td a")
        shown.wait(f"Math.abs(footfall.time - {seen[0].when}) < 1e-6")
        shown.evaluate("footfall.seek(0.5)")
    shown.evaluate("history.replaceState(null, '', location.pathname)")


def fits_its_window(browser, *, dark):
    browser.evaluate("footfall.seek(0.15)")
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    scrolls = "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1).length"
    assert browser.evaluate(scrolls) == 0  # tables wrap at words
    assert clipped(browser) == []
    assert overlapping(browser) == []
    assert ink_at_the_edge(browser) == []
    assert browser.errors == []
    light = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (int(re.findall(r"\d+", light)[0]) < 128) is dark


@pytest.mark.browser
def test_the_page_fits_a_light_screen(shown):
    fits_its_window(shown, dark=False)


@pytest.mark.browser
def test_the_page_fits_a_dark_phone(shown):
    shown.show_on(width=390, height=844, dark=True, phone=True)
    shown.wait("window.innerWidth === 390")
    fits_its_window(shown, dark=True)


@pytest.mark.browser
def test_forces_between_bodies_are_drawn(browser, tmp_path):
    """A box of 1 kg on another: the arrows between them add up to its weight."""
    spec = mujoco.MjSpec()
    for name, size, height in (("base", 0.2, 0.05), ("top", 0.1, 0.1501)):
        body = spec.worldbody.add_body(name=name, pos=(0, 0, height))
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=(size, size, 0.05), mass=1.0)
    rec = Simulation(load_robot(spec), law="time-stepping", dt=1e-3).run(0.1)
    browser.open_report(write_report(rec, tmp_path / "stack.html").as_uri())
    browser.evaluate("document.querySelector('#scrub').value = 0.09")
    browser.evaluate("document.querySelector('#scrub').dispatchEvent(new Event('input'))")
    browser.wait("Math.abs(footfall.time - 0.09) < 1e-9")
    drawn = browser.evaluate("footfall.touches()")
    assert len(drawn) == 4 and sum(drawn) == pytest.approx(9.81, rel=1e-3)
    assert browser.errors == []
