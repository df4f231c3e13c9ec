"""Make the pictures of the documentation anew: plots, and report, comparison and live view in a headless Chromium.

    python tools/make_screenshots.py [ROBOTS]

Writes docs/images/plot-NAME.png, report.png, report-comparison.png and the moving live.webp, and to pages.json what
they show, which tests compare with the pages of today; needs Chromium and the packages of the tests. With ROBOTS, a
folder of models from the MuJoCo Menagerie, also the moving robots.webp.
"""

from __future__ import annotations

import base64
import io
import json
import sys
import tempfile
import threading
from pathlib import Path

from PIL import Image

import footfall as ff
from footfall.control import Walk
from footfall.live import LiveView
from footfall.papers.perform import shrink
from footfall.show import write_video
from footfall.show.plots import save_plot

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "tests"))

from browser import NAMES, Browser, find_chromium  # noqa: E402
from real_robots import FILES  # noqa: E402

#: Plots that the guide shows.
SHOWN = ("grf", "pressure", "modes", "cop")
#: A window with a pixel for each dot, which tests on a desk do without.
WINDOW = {"width": 1280, "height": 860, "phone": True}
#: The figures of a report, and the sentences of a comparison.
SAYS = "[...document.querySelectorAll('.figures dd, .differences li')].map((one) => one.textContent)"
#: Of the robots: pictures per second, pixels, and which s of their walks.
MOVING = {"fps": 12, "size": (1000, 300), "start": 0.5, "stop": 2.5}
#: Of the live view: how many pictures, each this many frames of 25 ms after the last, and those with the mouse held.
PICTURES, STEPS, DRAGGED = 40, 3, range(8, 20)
LAWS = ("spring-damper", "linearizing-penalty", "time-stepping", "mujoco")


def draw_plots(rec: ff.Recording) -> None:
    """Plots of a recording, with few colours."""
    for name in SHOWN:
        shrink(save_plot(rec.plot(name), IMAGES / f"plot-{name}.png"))


def walk_of(file: Path) -> ff.Recording:
    """A robot that walks with defaults alone."""
    robot = ff.load_robot(file)
    return ff.Simulation(robot).run(MOVING["stop"], controller=ff.control.walker(robot), record_dt=0.01)


def walk() -> ff.Recording:
    """What the picture of a report shows."""
    return ff.Simulation("spatial-biped").run(4.0, controller=Walk(speed=0.4, steps=5))


def compared() -> ff.Comparison:
    """What the picture of a comparison shows."""
    push = ff.Push("trunk", force=(60.0, 30.0, 0.0), start=0.6, duration=0.1)
    # One law at a time, so that none pays for another in the cost of a step.
    return ff.compare("spatial-biped", laws=LAWS, controller="posture", pushes=[push], duration=2.0)


def shoot(browser: Browser, page: Path, time: float, picture: str) -> dict[str, list[str]]:
    """A picture of a page of the disk at a time of its replay, s; returns what it shows and says."""
    browser.open(page.as_uri(), **WINDOW)
    browser.wait("window.footfall !== undefined", 60)
    browser.evaluate(f"footfall.seek({time})")
    browser.screenshot(IMAGES / picture)
    return {"names": browser.evaluate(NAMES), "says": browser.evaluate(SAYS)}


def shoot_live(browser: Browser) -> dict[str, list[str]]:
    """A moving picture of a run under way: a body is dragged by the mouse and let go; returns what it shows."""
    with LiveView(ff.Simulation("spatial-biped", law="time-stepping"), port=0) as live:
        options = {"controller": "posture", "record_dt": 0.01}
        live.requests.command({"pause": True})
        threading.Thread(target=live.run, args=(60.0,), kwargs=options, daemon=True).start()
        browser.open(live.address, **WINDOW)
        browser.wait("window.footfall !== undefined", 120)
        browser.wait(lambda: live.server.listeners)
        x, y, wide, high = browser.evaluate(
            "(() => { const r = document.querySelector('#view').getBoundingClientRect();"
            " return [r.x, r.y, r.width, r.height]; })()"
        )

        def mouse(kind: str, way: float) -> None:
            at = {"x": x + wide / 2 + way, "y": y + 0.35 * high}
            browser.ask("Input.dispatchMouseEvent", type=kind, button="left", buttons=1, clickCount=1, **at)

        pictures = []
        for k in range(PICTURES):
            if k == DRAGGED[0]:
                mouse("mousePressed", 0)
            if k in DRAGGED:
                mouse("mouseMoved", min(6 * (k - DRAGGED[0]), 24))
            if k == DRAGGED[-1] + 1:
                mouse("mouseReleased", 24)
            shown = browser.evaluate("footfall.frames")
            live.requests.command({"step": STEPS})
            browser.wait(f"footfall.frames === {shown + STEPS}", 60)
            clip = {"x": 0, "y": 0, "width": WINDOW["width"], "height": WINDOW["height"], "scale": 0.75}
            answer = browser.ask("Page.captureScreenshot", format="png", clip=clip)
            pictures.append(Image.open(io.BytesIO(base64.b64decode(answer["data"]))).convert("RGB"))
        moving = {"save_all": True, "append_images": pictures[1:], "duration": 25 * STEPS, "loop": 0, "quality": 60}
        pictures[0].save(IMAGES / "live.webp", **moving)
        live.requests.command({"pause": False, "speed": 1000})
        return {"names": browser.evaluate(NAMES), "says": []}


def main() -> None:
    if sys.argv[1:]:
        write_video([walk_of(Path(sys.argv[1], file)) for file in FILES.values()], IMAGES / "robots.webp", **MOVING)
    executable = find_chromium()
    if executable is None:
        sys.exit("no chromium was found; install it or set CHROMIUM to its path")
    walked = walk()
    draw_plots(walked)
    with tempfile.TemporaryDirectory() as folder, Browser(executable) as browser:
        pages = {
            "report.png": shoot(browser, walked.report(Path(folder, "walk.html")), 2.1, "report.png"),
            "report-comparison.png": shoot(
                browser, compared().report(Path(folder, "laws.html")), 0.66, "report-comparison.png"
            ),
            "live.webp": shoot_live(browser),
        }
    (IMAGES / "pages.json").write_text(json.dumps(pages, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
