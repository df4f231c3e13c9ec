"""What all tests share: laws a test registers go with it, and a run ends with how much of its bounds each test used."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any

import bounds
import pytest
from browser import Browser, find_chromium
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from footfall.process.garbage import search_garbage_seldom

# Property tests run the same examples every time and ask no clock; `make fuzz` searches for more. Hypothesis would draw
# constants of those modules of Footfall that are imported by then: examples would depend on the tests that ran before.
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fixed")
no_constants = providers.Constants()
providers._get_local_constants = lambda: no_constants


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported to find the tests stays to the end, and is searched for garbage once; tests seldom are."""
    gc.disable()
    try:
        return (yield)
    finally:
        search_garbage_seldom()
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests share a browser or a simulated GPU come first: then one worker has them all, and starts one.
    Those with slow tests follow: then no worker is still at one when the others have nothing left.
    """
    sharing = {item.path for item in items if {"browser", "simulated"} & set(getattr(item, "fixturenames", ()))}
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in sharing, item.path not in slow))


@pytest.fixture(autouse=True)
def _laws_of_this_test(monkeypatch: pytest.MonkeyPatch):
    """A law that one test registers is unknown to the next, whatever the order."""
    from footfall.contact import registry  # with Numba, which the process that hands out tests does not wait for

    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


@pytest.fixture
def plain_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures half as fine, a quarter as large, not laid out, and without ticks: the tests of plots ask about those,
    and all else that is on pictures is the same.
    """
    from matplotlib.axis import Axis
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from footfall.show.style import RC

    monkeypatch.setitem(RC, "savefig.dpi", 100)
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda self, figure: None)
    monkeypatch.setattr(Axis, "draw", lambda self, renderer: None)


@pytest.fixture(scope="session")
def _chromium():
    """A headless Chromium; what needs it is skipped, and says so, where there is none."""
    pytest.importorskip("websockets", reason="the browser is driven through websockets, which comes with the tests")
    if (executable := find_chromium()) is None:
        pytest.skip("no chromium was found; install it or set CHROMIUM to its path")
    with Browser(executable) as running:
        yield running


@pytest.fixture(scope="module")
def browser(_chromium: Browser):
    """The browser, which shows nothing, and so draws nothing, when the tests of a file are over."""
    yield _chromium
    _chromium.open("about:blank")


@pytest.fixture(scope="session")
def simulated() -> Iterator[Callable[..., Any]]:
    """What a program with these arguments says in its last line, in a process whose GPU is Numba's simulator."""
    pytest.importorskip("numba_cuda")
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("simulated_gpu.py"))]
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    with subprocess.Popen(command, env=environment, text=True, stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None and process.stdout is not None

        def said_by(program: str, *arguments: str) -> Any:
            process.stdin.write(json.dumps([program, *arguments]) + "\n")
            process.stdin.flush()
            said = json.loads(process.stdout.readline() or '{"error": "the process has ended"}')
            assert "error" not in said, said["error"]
            return said

        yield said_by


@pytest.fixture(autouse=True)
def _bounds_of_this_test(request: pytest.FixtureRequest):
    """Bounds are noted with the test that uses them, so that they reach the report from any process."""
    bounds.used = request.node.user_properties


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The tests that used most of their bounds."""
    most = {}
    count = 0
    for report in terminalreporter.stats.get("passed", []):
        shares = [value for name, value in report.user_properties if name == "bound"]
        if shares and report.when == "call":
            count += len(shares)
            most[report.nodeid] = max(shares)
    if not most:
        return
    thin = sorted((share, test) for test, share in most.items() if share > bounds.THIN)
    terminalreporter.section("physical bounds")
    terminalreporter.line(f"{count} bounds in {len(most)} tests; {len(thin)} tests used more than {bounds.THIN:.0%}")
    for share, test in reversed(thin):
        terminalreporter.line(f"{share:6.1%}  {test}")


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """Ctrl-C is heard also where the tests were started in the background of a shell, which lets them ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
