"""Property tests: the same examples in every run of the suite, and a search that prints what it finds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

DRAWN = """
import sys
sys.path.insert(0, "tests")
import conftest
from hypothesis import given, strategies as st

drawn = []

@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.0, 1.0))
def draw(seed, share):
    drawn.append((seed, share))

draw()
print(drawn)
"""

FAILING = """
import pytest
from hypothesis import given, strategies as st

def many(number, name):
    return [name] * number

@pytest.mark.parametrize("most", [20])
@given(things=st.builds(many, number=st.integers(0, 200), name=st.sampled_from("ab")))
def test_there_are_few(things, most):
    assert len(things) < most
"""


def said_by(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=HERE.parent, text=True, capture_output=True)


def test_examples_do_not_depend_on_what_else_was_imported():
    """Hypothesis draws constants of the modules that are imported by then, unless it is told not to."""
    alone = said_by("-c", DRAWN)
    assert alone.returncode == 0, alone.stderr
    assert alone.stdout.count("(") == 100
    assert said_by("-c", "import footfall.contact.setting, footfall.solve.lcp\n" + DRAWN).stdout == alone.stdout


def test_the_search_prints_what_it_finds_as_an_example_to_paste(tmp_path):
    test = tmp_path / "test_few.py"
    test.write_text(FAILING)
    ended = said_by("tools/fuzz.py", "60", str(test), "-c", "pyproject.toml")
    assert ended.returncode == 1, ended.stderr
    assert "@example(things=many(number=20, name='a'))" in ended.stdout.splitlines()
