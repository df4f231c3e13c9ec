"""What all tests share: at the end of a run, how much of its physical bounds each test used."""

from __future__ import annotations

import bounds
import pytest


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
