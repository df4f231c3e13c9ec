"""Search for cases in which property tests fail, for so many seconds, and print each as a line to paste above its test.

python tools/fuzz.py SECONDS [tests/solve/test_lcp.py | any other arguments of pytest]
"""

import ast
import sys
import time
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "search",
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)


def line_to_paste(item: pytest.Function, notes: list[str]) -> str:
    """The arguments that Hypothesis found, without those of ``parametrize``, as ``@example(...)``."""
    calls = [note.partition(": ")[2] for note in notes if f": {item.originalname}(" in note]
    if not calls:
        return "(outside of the examples)"
    call = ast.parse(calls[0], mode="eval").body
    assert isinstance(call, ast.Call)
    given = item.callspec.params if hasattr(item, "callspec") else {}
    return f"@example({', '.join(ast.unparse(one) for one in call.keywords if one.arg not in given)})"


class Search:
    """Runs all property tests again and again, until the time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.rounds = 0
        self.finds: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep those that Hypothesis runs."""
        items[:] = [item for item in items if item.get_closest_marker("hypothesis")]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """One visit after the other; a test that fails is left out from then on."""
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and len(self.finds) < len(session.items):
            self.rounds += 1
            for item in session.items:
                if item.nodeid not in self.finds and time.monotonic() < end:
                    runtestprotocol(item, log=False)
        session.testsfailed = len(self.finds)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Function, call: pytest.CallInfo[None]) -> Any:
        """Print what was found as soon as it is."""
        report = yield
        if call.excinfo is not None and not report.skipped:
            self.finds[item.nodeid] = line_to_paste(item, getattr(call.excinfo.value, "__notes__", []))
            reason = str(call.excinfo.value).strip().splitlines() or [call.excinfo.typename]
            print(f"\n{item.nodeid}: {reason[0]}\n{self.finds[item.nodeid]}", flush=True)
        return report


if __name__ == "__main__":
    search = Search(float(sys.argv[1]))
    options = ["--hypothesis-profile=search", "-q", "--capture=no", "-p", "no:cacheprovider"]
    code = pytest.main([*options, *sys.argv[2:]], plugins=[search])
    print(f"\n{search.rounds} rounds of 100 examples each; {len(search.finds)} tests failed")
    sys.exit(code)
