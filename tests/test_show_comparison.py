"""The report of a comparison: verdicts, a table to sort, differences to a reference, robots in cells of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from browser import clipped, ink_at_the_edge, is_todays, overlapping
from show_recordings import standing

import footfall as ff
from footfall.files.measured import Measured
from footfall.measure import settled
from footfall.measure.comparison import ComparisonRow, compared
from footfall.measure.summary import number
from footfall.show import write_report
from footfall.show.frames import make_scene
from footfall.show.report import page_plots
from footfall.show.tables import differences

LAWS = ("linearizing-penalty", "spring-damper", "mujoco")


@pytest.fixture(scope="module")
def runs():
    hard = ff.Push("trunk", force=(190.0, 30.0, 0.0), start=0.3, duration=0.15)
    fallen = ff.Simulation("spatial-biped", law="hunt-crossley").run(1.5, controller="posture", pushes=[hard])
    return [*(standing(law) for law in LAWS), fallen]


@pytest.fixture(scope="module")
def page(runs, tmp_path_factory):
    return write_report(runs, tmp_path_factory.mktemp("comparison") / "laws.html")


@pytest.fixture
def shown(browser, page):
    """The report from its start on; tests leave it as they found it, but for the time."""
    browser.open_report(page.as_uri(), width=1440, height=1000)
    yield browser
    assert browser.errors == []
    assert browser.requests == [page.as_uri()]


def test_numbers_are_written_in_units_that_suit_their_size():
    assert number(1.7e-15, "m") == "0 m"
    assert number(2.43e-3, "m", 3) == "2.43 mm"
    assert number(2.2e-5, "m") == "22 µm"
    assert number(9.99999e-7, "m") == "1 µm"
    assert number(-0.00051, "J", 2) == "−0.51 mJ"
    assert number(4148.0, "µs", 3) == "4.15 ms"
    assert number(441.3, "N") == "441.3 N"
    assert number(5.4e-13, "N") == "0 N"
    assert number(float("nan"), "m") == "–"


def test_the_start_is_over_when_the_ground_carries_the_weight(runs):
    assert settled(runs[1]) == 0.0  # it is pushed before it has settled
    fallen = runs[3]
    begin = settled(fallen)
    quiet = (fallen.time > begin + fallen.dt) & (fallen.time < begin + 0.1)
    assert np.abs(fallen.total_force[quiet, 2] / fallen.robot.weight - 1.0).max() <= 0.1
    assert abs(fallen.total_force[fallen.time <= begin, 2] / fallen.robot.weight - 1.0).max() > 0.1


@pytest.mark.parametrize("law", ["distributed", "hunt-crossley"])
def test_feet_put_on_the_ground_settle_also_where_they_are_open_at_first(law):
    rec = ff.Simulation("quadruped", law=law).run(0.3)
    assert 0.0 < settled(rec) < 0.1 and rec.summary()["start_force_N"] > 1.2 * rec.robot.weight
    assert rec.summary()["peak_vertical_force_bw"] < 1.11  # NEAR


def test_a_ball_that_drops_has_no_start_transient():
    sim = ff.Simulation("ball", law="hunt-crossley")
    qpos = sim.place()
    qpos[2] += 0.05
    assert settled(sim.run(0.3, qpos=qpos)) == 0.0


def test_figures_are_those_of_the_recording(runs):
    fallen = runs[3]
    found = compared(fallen, "x", None)
    summary = fallen.summary()
    assert found.outcome == "fell"
    assert f"{summary['fell_at_s']:.4g} s" in found.why
    assert (found.slip_m, found.penetration_m) == (summary["slip_distance_m"], summary["max_penetration_m"])
    assert max(found.peak_force_N, found.start_force_N) == fallen.peak_total_force[:, 2].max()


def test_how_laws_differ_is_said_first_then_the_robots_are_shown_then_the_table(page):
    text = page.read_text(encoding="utf-8")
    assert text.index('class="differences"') < text.index('id="view"') < text.index('class="ranking"')
    assert text.count("<tr data-run=") == 4


def test_the_sentences_on_differences_are_those_of_the_measures():
    still: Any = {"slip_m": 0.0, "penetration_m": 0.0}
    runs = [
        ComparisonRow("soft", "stayed up", peak_force_N=500.0, peak_when="at 1 s", **still | {"penetration_m": 2e-3}),
        ComparisonRow("hard", "fell", peak_force_N=1500.0, peak_when="at 2 s, as left lands", **still),
        ComparisonRow("middle", "stayed up", peak_force_N=600.0, **still),
    ]
    assert differences(runs) == [
        "The robot stayed up under soft and middle; it fell under hard.",
        "Peak force differs by 3 times: 1500 N under hard (at 2 s, as left lands), 500 N under soft (at 1 s).",
        "Penetration: 2 mm under soft, none under hard.",
    ]
    assert differences(runs[::2])[0].startswith("Peak force differs by 1.2 times")
    brief, long = (replace(run, peak_lasts_s=lasts) for run, lasts in ((runs[1], 1e-3), (runs[0], 0.02)))
    assert differences([long, brief])[1].endswith(
        "(at 1 s), because a force of at least half of it lasts 1 ms under hard and 20 ms under soft."
    )
    assert "because" not in differences([replace(long, peak_lasts_s=1e-3), brief])[1]
    assert differences([runs[0], runs[0]]) == ["No outcome, peak force, slip or penetration differs by a tenth."]


def test_a_peak_is_explained_by_what_happened_then(runs):
    pushed = compared(runs[0], "x", None)
    assert pushed.peak_when.startswith("at ") and float(pushed.peak_when.split()[1]) <= runs[0].time[-1]


def test_a_landing_on_rigid_ground_is_shorter_than_one_on_springs():
    lasts = {}
    for law in ("time-stepping", "spring-damper"):
        sim = ff.Simulation("ball", law=law, dt=1e-3)
        qpos = sim.place()
        qpos[2] += 0.05
        lasts[law] = compared(sim.run(0.2, qpos=qpos), law, None).peak_lasts_s
    assert 0.0 < 3.0 * lasts["time-stepping"] < lasts["spring-damper"]
    coarse = sim.run(0.2, qpos=qpos, record_dt=0.02)
    assert np.isnan(compared(coarse, "coarse", None).peak_lasts_s)


def test_a_law_without_a_recording_has_its_verdict_too(runs, tmp_path):
    why = "no idea <b>"
    several = write_report(runs[:2], tmp_path / "two.html", failed={"rubber": why}).read_text(encoding="utf-8")
    card = several[several.index('<th scope="row">rubber</th>') :]
    assert "did not run" in card[:100] and "no idea &lt;b&gt;" in card[:200]
    alone = write_report(runs[0], tmp_path / "one.html", failed={"rubber": why}).read_text(encoding="utf-8")
    assert "rubber did not run:</strong> no idea &lt;b&gt;" in alone


def choose(browser, what, value):
    """Choose a value of one of the lists of the page."""
    browser.evaluate(f"document.querySelector('#{what}').value = '{value}'")
    browser.evaluate(f"document.querySelector('#{what}').dispatchEvent(new Event('change'))")


@pytest.mark.browser
def test_the_picture_in_the_documentation_is_of_todays_comparison(shown):
    """If not: python tools/make_screenshots.py."""
    assert is_todays(shown, "report-comparison.png")


@pytest.mark.browser
def test_the_table_is_sorted_by_what_is_asked(shown):
    rows = "[...document.querySelectorAll('.ranking tbody [data-key=%s]')].map(c => Number(c.dataset.value))"
    for key in ("peak_force_N", "slip_m", "penetration_m", "us_per_step"):
        choose(shown, "sort", key)
        values = shown.evaluate(rows % key)
        assert len(values) == 4 and values == sorted(values, reverse=True)
    shown.click("[data-sort=peak_force_N]")
    shown.click("[data-sort=peak_force_N]")
    assert (values := shown.evaluate(rows % "peak_force_N")) == sorted(values)
    order = shown.evaluate("[...document.querySelectorAll('.ranking tr[data-run]')].map(c => Number(c.dataset.run))")
    shown.wait(f"JSON.stringify(footfall.cells().map(c => c.runs[0])) === JSON.stringify({order})")
    choose(shown, "sort", "")
    shown.wait("JSON.stringify(footfall.cells().map(c => c.runs[0])) === '[0,1,2,3]'")


@pytest.mark.browser
def test_differences_are_those_to_the_reference(shown, runs):
    shown.evaluate("footfall.seek(0.3)")
    own = dict(tuple(pair) for pair in shown.evaluate("footfall.values()[0]"))
    choose(shown, "reference", "1")
    differences = dict(tuple(pair) for pair in shown.evaluate("footfall.values()[0]"))
    assert differences["spring-damper"] == 0.0
    for law, value in differences.items():
        assert value == pytest.approx(own[law] - own["spring-damper"], abs=1e-3)
    # Soft and rigid differ in their forces; it is not a row of zeros.
    assert abs(differences["linearizing-penalty"]) > 0.1
    assert "less that of spring-damper" in shown.evaluate("document.querySelector('.plot h3').textContent")
    deltas = shown.evaluate("[...document.querySelectorAll('[data-key=peak_force_N] .delta')].map(d => d.textContent)")
    assert deltas[1] == ""
    assert all(delta.endswith(("%", "same")) for i, delta in enumerate(deltas) if i not in (1, 3))
    assert deltas[3].endswith(" N")  # its trunk hits the ground: more than ten times as much
    for value, reference, unit, said in (
        (1.5, 1.0, "N", "+50 %"),
        (0.98, 1.0, "N", "−2.0 %"),
        (2.43e-3, 0.0, "m", "+2.43 mm"),
        (0.424, -5.1e-4, "J", "+0.425 J"),
        (4150.0, 30.0, "µs", "+4.12 ms"),
        (1.0001, 1.0, "N", "same"),
        (3, 0, "", "+3"),
    ):
        assert shown.evaluate(f"difference({value}, {reference}, {unit!r})") == said
    choose(shown, "reference", "")
    assert dict(tuple(pair) for pair in shown.evaluate("footfall.values()[0]")) == own


@pytest.mark.browser
def test_recordings_are_compared_side_by_side(shown, runs):
    shown.evaluate(f"footfall.seek({float(make_scene(runs[0]).frames.time[18])})")
    for r, rec in enumerate(runs):
        sample = shown.evaluate(f"footfall.sample({r})")
        drawn = shown.evaluate(f"footfall.arrow(0, {r})")
        expected = rec.force[sample, 0] if rec.mode[sample, 0] else None
        assert (drawn and drawn["force"]) == (expected if expected is None else pytest.approx(expected, abs=1e-4))
    names = shown.evaluate("[...document.querySelectorAll('.robot-label .name')].map(l => l.textContent)")
    assert names == [rec.law.name for rec in runs]


@pytest.mark.browser
def test_robots_have_cells_of_their_own_and_one_camera(shown):
    cells = shown.evaluate("footfall.cells()")
    assert [cell["runs"] for cell in cells] == [[0], [1], [2], [3]]
    for i, a in enumerate(cells):
        for b in cells[i + 1 :]:
            apart = (a["x"] + a["width"] <= b["x"] + 1e-6) or (a["y"] + a["height"] <= b["y"] + 1e-6)
            assert apart or b["x"] + b["width"] <= a["x"] + 1e-6
    shown.click("[data-layer=overlay]")
    shown.wait("footfall.cells().length === 1")
    assert shown.evaluate("footfall.cells()[0].runs") == [0, 1, 2, 3]
    shown.click("[data-layer=overlay]")
    shown.wait("footfall.cells().length === 4")


@pytest.mark.browser
def test_a_law_that_is_hidden_is_hidden_everywhere(shown):
    shown.click("#shared-legend button:nth-child(2)")
    shown.wait("footfall.cells().length === 3")
    assert [1] not in [cell["runs"] for cell in shown.evaluate("footfall.cells()")]
    shown.click("#shared-legend button:nth-child(2)")
    shown.wait("footfall.cells().length === 4")


@pytest.mark.browser
def test_start_transient_and_falls_are_left_out_of_the_axes_until_asked_for(shown, runs):
    low, high = shown.evaluate("footfall.range(0)")
    shown.click("#trim")
    whole = shown.evaluate("footfall.range(0)")
    peak = max(rec.total_force[:, 2].max() for rec in runs)
    assert whole[1] > peak > high
    assert whole[0] <= low
    shown.click("#trim")
    assert shown.evaluate("footfall.range(0)") == [low, high]


def nothing_overlaps_and_nothing_is_cut(browser):
    browser.evaluate("footfall.seek(1.45)")
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert clipped(browser) == []
    assert overlapping(browser) == []
    assert ink_at_the_edge(browser) == []
    states = browser.evaluate("[...document.querySelectorAll('.robot-label .state')].map(l => l.textContent)")
    assert states[3].startswith("fell at ")


@pytest.mark.browser
def test_nothing_overlaps_and_nothing_is_cut_on_a_light_screen(shown):
    nothing_overlaps_and_nothing_is_cut(shown)


@pytest.mark.browser
def test_nothing_overlaps_and_nothing_is_cut_on_a_dark_phone(shown):
    shown.show_on(width=390, height=844, dark=True, phone=True)
    shown.wait("window.innerWidth === 390")
    nothing_overlaps_and_nothing_is_cut(shown)


def plates(rec: ff.Recording, offset: float, *names: str) -> Measured:
    """What force plates may have measured beside a recording: its forces and an offset upwards."""
    force = {"total": rec.total_force} | {foot.name: rec.foot_force[:, f] for f, foot in enumerate(rec.robot.feet)}
    channels = {f"{n}.force.{a}": (force[n] + [0, 0, offset])[:, i] for n in names for i, a in enumerate("xyz")}
    return Measured(rec.time, channels, dict.fromkeys(channels, "N"), "z", "plates.csv")


def test_beside_several_recordings_the_measured_sum_is_a_curve_of_its_own(runs):
    two = dict(zip("ab", runs, strict=False))
    for names in (("total",), ("left", "right"), ("left", "right", "total")):
        panel = page_plots(two, plates(runs[0], 5.0, *names))[0]
        (own,) = (curve for curve in panel["curves"] if curve["run"] not in (0, 1))
        assert (own["name"], own["run"], own["color"], own["of"]) == ("total, measured", -1, -1, "")
    panel = page_plots(two, plates(runs[0], 5.0, "left"))[0]
    assert [(c["name"], c["color"]) for c in panel["curves"] if c["run"] == -1] == [("left, measured", -1)]
    alone = page_plots({"a": runs[0]}, plates(runs[0], 5.0, "left", "right"))[0]["curves"]
    colors = {curve["name"]: curve["color"] for curve in alone}
    assert colors["left, measured"] == colors["left"] and colors["right, measured"] == colors["right"]


@pytest.mark.browser
def test_the_measured_curve_stays_when_a_law_is_hidden_and_is_compared_with_the_reference(runs, tmp_path, browser):
    page = write_report(runs[:3], tmp_path / "laws.html", measured=plates(runs[0], 5.0, "total"))
    browser.open(page.as_uri(), width=1440, height=1000)
    browser.wait("window.footfall !== undefined")
    browser.evaluate("footfall.seek(0.5)")
    keys = "[...document.querySelectorAll('.plot')][0].querySelectorAll('.legend button')"
    assert browser.evaluate(f"[...{keys}].map(b => b.querySelector('span').textContent)") == ["total, measured"]
    high = browser.evaluate("footfall.range(0)[1]")
    browser.click("#shared-legend button:nth-child(1)")
    assert browser.evaluate("footfall.range(0)[1]") == pytest.approx(high, abs=1e-6)  # it is the highest
    choose(browser, "reference", "0")
    differences = dict(tuple(pair) for pair in browser.evaluate("footfall.values()[0]"))
    assert differences["total, measured"] == pytest.approx(5.0, abs=1e-2)
    assert browser.errors == []
