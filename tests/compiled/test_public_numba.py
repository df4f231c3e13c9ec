"""In a version of Numba whose inner workings are not known, kernels compile through its public interfaces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fresh_python import fresh_python

import footfall

OF_ANOTHER_NUMBA = """
import numba, sys
numba.version_info = numba.version_info._replace(short=(0, 99))
import numpy as np
from footfall.compiled import kernel

@kernel
def total(rows):
    value = 0.0
    for i in range(rows.shape[0]):
        value += rows[i, 1] * rows[i, -1]
    return value

rows = np.arange(12.0).reshape(4, 3)
assert total(rows) == (rows[:, 1] * rows[:, 2]).sum()
assert "footfall.compiled.private_numba" not in sys.modules
"""


def test_nothing_private_is_touched_in_another_version(tmp_path):
    package = Path(footfall.__file__).parents[1]
    ended = fresh_python(OF_ANOTHER_NUMBA, tmp_path, package, FOOTFALL_CACHE=str(tmp_path / "cache"))
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_kernels_and_a_run_do_without_the_inner_workings_of_numba():
    """The tests of kernels pass, a ball comes to rest, and one line says that nothing is kept for the next start.

    LLVM optimises as little as it can: that takes most of the time, and has nothing to do with who calls it.
    """
    here = Path(__file__).parent
    grounds = here.parent / "ground" / "test_ground_functions.py"
    files = [here / "test_kernels.py", grounds, here / "a_ball_in_public_numba.py"]
    # There the numbers of a module stay frozen in machine code: functions that differ in them do not share it.
    private = "test_functions_that_differ_in_their_numbers_share_their_code"
    options = ["-q", "-x", "-p", "no:cacheprovider", "--capture=no", "-k", f"not {private}"]
    command = [sys.executable, "-m", "pytest", *options, *map(str, files)]
    environment = os.environ | {"FOOTFALL_NUMBA": "public", "NUMBA_OPT": "0"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=here.parents[1])
    assert ended.returncode == 0, ended.stdout[-2000:]
    assert ended.stderr.count("every start compiles again") == 1
