"""A headless Chromium for tests, driven through its DevTools protocol."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)


def find_chromium() -> str | None:
    """The browser that tools/find_chromium.sh would find."""
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((found for name in names if name and (found := shutil.which(name))), None)


class Browser:
    """One page of a Chromium of its own. Keeps what the page complained of and what it asked for.

    Attributes:
        errors: console errors and uncaught exceptions since the page was opened.
        requests: addresses the page asked for.
    """

    def __init__(self, executable: str) -> None:
        from websockets.sync.client import connect

        self.profile = tempfile.mkdtemp(prefix="footfall-chromium-")
        self.process = subprocess.Popen(
            [executable, *OPTIONS, f"--user-data-dir={self.profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.opened: tuple[str, int, int] | None = None  # the report that is shown as it was loaded
        self._loaded = False
        self._number = itertools.count(1)
        self._socket = connect(self._address(), max_size=None, compression=None)
        targets = self._ask("Target.getTargets", {}, session=None)["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self._ask("Target.attachToTarget", {"targetId": page, "flatten": True}, session=None)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def _address(self) -> str:
        port = Path(self.profile, "DevToolsActivePort")
        for _ in range(300):
            if port.exists() and len(lines := port.read_text().split()) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        self.close()
        raise RuntimeError("chromium did not start within 30 s")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._ask(method, parameters, self._session)

    def _ask(self, method: str, parameters: dict[str, Any], session: str | None) -> dict[str, Any]:
        number = next(self._number)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(timeout=180))
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        method, what = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in what["args"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.errors.append(what["entry"]["text"] + " " + what["entry"].get("url", ""))
        elif method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(what["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True

    def open(
        self, address: str, *, width: int = 1280, height: int = 900, dark: bool = False, phone: bool = False
    ) -> None:
        """Open a page in a window of that size (CSS pixels) and wait until it is loaded."""
        self.opened = None
        self._go("about:blank")  # so that the same address is loaded anew
        self.errors.clear()
        self.requests.clear()
        self.show_on(width=width, height=height, dark=dark, phone=phone)
        self._go(address)

    def show_on(self, *, width: int, height: int, dark: bool, phone: bool) -> None:
        """Another window, with the page that is open: as if a phone were turned, or night fell.

        Its pixels are half as fine as those of a screen, for the processor draws them all.
        """
        self.opened = None
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1 if phone else 0.5,
            mobile=phone,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def open_report(self, address: str, *, width: int = 1280, height: int = 900) -> None:
        """Open a report, or go on with one that is open: at its start, stopped, at its top and without focus.

        Loading one takes seconds where there is no graphics card.
        """
        if self.opened != (address, width, height):
            self.open(address, width=width, height=height)
            self.wait("window.footfall !== undefined")
            self.opened = (address, width, height)
        self.evaluate("footfall.playing && document.querySelector('#play').click()")
        self.evaluate("document.activeElement.blur(); footfall.seek(0); scrollTo(0, 0)")

    def _go(self, address: str) -> None:
        self._loaded = False
        self.ask("Page.navigate", url=address)
        self.wait(lambda: self._loaded)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression (awaited if it is a promise), as JSON can hold it."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, condition: Any, seconds: float = 180.0) -> None:
        """Until a function, or a JavaScript expression, is true."""
        end = time.monotonic() + seconds
        while not (self.evaluate(condition) if isinstance(condition, str) else condition()):
            if time.monotonic() > end:
                raise TimeoutError(f"{condition} did not come true within {seconds} s; errors: {self.errors}")
            time.sleep(0.01)
            self.evaluate("0")  # takes in what the browser reports

    def click(self, selector: str) -> None:
        """Click the middle of the first element that a CSS selector finds, with the mouse."""
        find = f"document.querySelector({json.dumps(selector)})"
        self.evaluate(f"{find}.scrollIntoView({{block: 'center'}})")
        x, y = self.evaluate(
            f"(() => {{ const r = {find}.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str, code: str | None = None) -> None:
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, **more)

    def screenshot(self, path: str | os.PathLike[str], *, full: bool = False) -> Path:
        answer = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        target = Path(path)
        target.write_bytes(base64.b64decode(answer["data"]))
        return target

    def close(self) -> None:
        if hasattr(self, "_socket"):
            self._socket.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# Every visible piece of text with where it stands; what scrolls sideways is read there and not here.
TEXTS = """(() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const parent = node.parentElement, text = node.textContent.trim();
    const left_out = "script, style, select, option, .scroll, details:not([open]) > :not(summary)";
    if (!text || parent.closest(left_out)) continue;
    const style = getComputedStyle(parent);
    if (style.visibility === "hidden" || parent.closest("[hidden]")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const r of range.getClientRects()) {
      if (!r.width || !r.height) continue;
      let cut = false;
      for (let box = parent; box && box !== document.body; box = box.parentElement) {
        if (getComputedStyle(box).overflowX === "visible") continue;
        const b = box.getBoundingClientRect();
        cut = cut || r.left < b.left - 1 || r.right > b.right + 1 || r.top < b.top - 1 || r.bottom > b.bottom + 1;
      }
      found.push({ text, cut, left: r.left, right: r.right, top: r.top + scrollY, bottom: r.bottom + scrollY });
    }
  }
  return found;
})()"""


# What plots, figures, layers and controls are called.
NAMES = """(() => {
  const named = "h3, dt, .chip, .ranking thead button, .laws > label, .together label, .laws button";
  const own = (one) => [...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent);
  return [...new Set([...document.querySelectorAll(named)].map((one) => own(one).join("").trim()))].sort();
})()"""


def is_todays(browser: Browser, picture: str) -> bool:
    """Whether the page that is open shows what the page in a picture of docs/images shows."""
    shown = json.loads((Path(__file__).parents[1] / "docs" / "images" / "pages.json").read_text(encoding="utf-8"))
    return browser.evaluate(NAMES) == shown[picture]["names"]


def clipped(browser: Browser) -> list[str]:
    """Texts that a box around them, or the side of the window, cuts off."""
    width = browser.evaluate("window.innerWidth")
    return [t["text"] for t in browser.evaluate(TEXTS) if t["cut"] or t["left"] < -1 or t["right"] > width + 1]


def overlapping(browser: Browser) -> list[tuple[str, str]]:
    """Pairs of texts that cover each other by more than 2 pixels both ways."""
    texts = sorted(browser.evaluate(TEXTS), key=lambda t: t["top"])
    found = []
    for i, a in enumerate(texts):
        for b in texts[i + 1 :]:
            if b["top"] > a["bottom"]:
                break
            wide = min(a["right"], b["right"]) - max(a["left"], b["left"])
            if wide > 2 and min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]) > 2:
                found.append((a["text"], b["text"]))
    return found


def ink_at_the_edge(browser: Browser) -> list[str]:
    """Plots whose labels touch the side of their canvas, where they would be cut."""
    return browser.evaluate("""[...document.querySelectorAll(".plot")].filter((plot) => {
      const c = plot.querySelector("canvas"), d = c.getContext("2d").getImageData(0, 0, 1, c.height).data;
      return d.some((value, i) => i % 4 === 3 && value > 0);
    }).map((plot) => plot.querySelector("h3").textContent)""")
