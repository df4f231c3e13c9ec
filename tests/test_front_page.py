"""The front page: what it shows of numbers and pictures is what comes of its commands today."""

from __future__ import annotations

import json
import re
import runpy
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from real_robots import FILES, robot_file

import footfall as ff
from footfall.show import video
from footfall.show.frames import make_scene

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def row(begin):
    """The cells of a row of its table, as text."""
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {begin}")]
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def number(cell, pattern=r"[\d.]+"):
    return float(re.search(pattern, cell)[0])


@pytest.fixture(scope="module")
def on_a_slope():
    ground = ff.Ground.slope(np.radians(5.0))
    return {
        law: ff.Simulation("spatial-biped", ground=ground, law=law).run(10.0, record_dt=0.01).summary()
        for law in ("mujoco", "linearizing-penalty")
    }


def test_standing_feet_creep_and_sink_as_far_as_it_says(on_a_slope):
    theirs, ours = on_a_slope["mujoco"], on_a_slope["linearizing-penalty"]
    assert (theirs["outcome"], ours["outcome"]) == ("stayed up", "stayed up")
    _, mujoco, footfall, _ = row("feet that stand on a slope")
    assert number(mujoco) == pytest.approx(1e3 * theirs["creep_distance_m"], rel=0.05)  # as it is rounded
    assert footfall.startswith("0 ") and ours["creep_distance_m"] < 1e-9
    _, mujoco, footfall, _ = row("they stand in the ground")
    assert number(mujoco) == pytest.approx(1e3 * theirs["max_penetration_m"], rel=0.05)
    assert footfall == "1 µm" and ours["max_penetration_m"] == pytest.approx(1e-6, rel=0.01)


def test_a_landing_peaks_as_it_says():
    sim = ff.Simulation("spatial-biped")
    high = sim.place() + 0.05 * np.eye(sim.robot.model.nq)[2]
    laws = ("mujoco", "spring-damper", "time-stepping")
    found = ff.compare("spatial-biped", laws=laws, qpos=high, duration=0.5)
    _, mujoco, ours, _ = row("peak force of a landing")
    peaks = {one.law: one.peak_force_bw for one in found.rows}
    assert number(mujoco) == pytest.approx(peaks["mujoco"], rel=0.02)
    (low, _), (rigid, _) = ((float(a), float(b)) for a, b in re.findall(r"([\d.]+) to ([\d.]+)", ours))
    assert low == pytest.approx(peaks["spring-damper"], rel=0.02)
    assert rigid == pytest.approx(peaks["time-stepping"], rel=0.02)


def test_as_many_checks_are_made_as_it_says():
    assert number(row("what you are told")[2], r"\d+") == len(ff.Simulation("ball").run(0.01).audit().rows)


def test_speeds_are_those_of_the_page_on_speed():
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `?([\w-]+)`?[^|]* \| ([\d.]+) \| ([\d.]+) \|", page.partition("## The slowest")[0], re.M)
    ours = [(float(time), float(ratio)) for name, time, ratio in rows if name != "MuJoCo"]
    _, theirs, footfall, _ = row("a step of a biped that stands")
    low, high, slower, faster = map(float, re.findall(r"[\d.]+", footfall)[:4])
    assert (low, high) == (min(t for t, _ in ours), max(t for t, _ in ours))
    assert (slower, faster) == (pytest.approx(min(r for _, r in ours), abs=0.09), max(r for _, r in ours))
    assert f"| {number(theirs):.1f} | 1 |" in page


def test_the_gallery_has_the_numbers_of_the_survey():
    survey = (ROOT / "docs" / "robots.md").read_text(encoding="utf-8")
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"`([\w-]+)`: [^|]*\| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|", gallery)
    assert len(shown) == 12
    for robot, push, *walk in shown:
        (row,) = re.findall(rf"^\| {robot} \| linearizing-penalty \| (.*) \| pass \|$", survey, re.M)
        stands, survived, walks, *numbers = row.split(" | ")
        assert (push, walk) == (survived if stands == "yes" else "does not stand", numbers)
        assert walks == "yes"


def test_the_moving_picture_is_small_and_moves():
    pillow = pytest.importorskip("PIL.Image")
    file = ROOT / "docs" / "images" / "robots.webp"
    assert file.stat().st_size < 2**20
    with pillow.open(file) as picture:
        assert picture.n_frames > 10
        frames = np.stack([shown(picture, k) for k in range(picture.n_frames)])
    changed = (np.abs(frames - frames[0]).max(axis=3) > 60).any(axis=0)
    robots = np.array_split(changed, 5, axis=1)
    assert all(one.mean() > 0.01 for one in robots)  # each of the five has moved


def shown(picture, k):
    picture.seek(k)
    return np.asarray(picture.convert("RGB"), dtype=np.int16)


@pytest.mark.parametrize(("picture", "run"), [("report.png", "walk"), ("report-comparison.png", "compared")])
def test_the_pages_in_the_pictures_say_what_they_say_today(picture, run, tmp_path):
    """If not: python tools/make_screenshots.py. Of nanometres and micrometres the size may depend on the processor."""
    pytest.importorskip("PIL.Image")
    page = runpy.run_path(str(ROOT / "tools" / "make_screenshots.py"))[run]().report(tmp_path / "page.html")
    cells = re.findall(r"<dd>(.*?)</dd>|<ul class=\"differences\">(.*?)</ul>", page.read_text(encoding="utf-8"))
    today = re.sub(r"<[^>]*>", " ", " ".join(map("".join, cells)))
    kept = " ".join(json.loads((ROOT / "docs" / "images" / "pages.json").read_text(encoding="utf-8"))[picture]["says"])
    words, known = (re.sub(r"[\d.]+", "#", text).split() for text in (today, kept))
    assert words == known and words
    found, drawn = (
        [float(n) for n in re.findall(r"(?<![\d.])(\d+(?:\.\d+)?)(?![\d.]| [nµ]m)", text)] for text in (today, kept)
    )
    assert found == pytest.approx(drawn, rel=0.05) and found  # two digits


def test_the_moving_picture_begins_as_the_last_robot_does_today():
    """If not: python tools/make_screenshots.py ROBOTS."""
    pillow, made = pytest.importorskip("PIL.Image"), runpy.run_path(str(ROOT / "tools" / "make_screenshots.py"))
    wide, high = made["MOVING"]["size"]
    rec = made["walk_of"](robot_file(list(FILES)[-1]))
    scene = make_scene(rec.slice(made["MOVING"]["start"]), rate=made["MOVING"]["fps"])
    try:
        *_, today = islice(video.pictures(scene, (wide // len(FILES), high)), 4)
    except ff.FootfallError as error:
        pytest.skip(f"needs pictures off screen: {error}")
    with pillow.open(ROOT / "docs" / "images" / "robots.webp") as picture:
        same, before = (shown(picture, k)[:, -(wide // len(FILES)) :] for k in (3, 2))
    changed = [(np.abs(one - today).max(axis=2) > 60).mean() for one in (same, before)]
    assert changed[0] < 0.1 * changed[1], changed  # nearer than a twelfth of a second before
