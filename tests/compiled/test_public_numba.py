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
assert total.kept() and total.kept()
assert "footfall.compiled.private_numba" not in sys.modules
"""


def test_nothing_private_is_touched_in_another_version(tmp_path):
    package = Path(footfall.__file__).parents[1]
    ended = fresh_python(OF_ANOTHER_NUMBA, tmp_path, package, FOOTFALL_CACHE=str(tmp_path / "cache"))
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("every start compiles again") == 1


@pytest.mark.slow
def test_kernels_do_without_the_inner_workings_of_numba():
    """Their tests pass; that a ball comes to rest in such a run is checked nightly.

    LLVM optimises as little as it can: that takes most of the time, and has nothing to do with who calls it.
    """
    here = Path(__file__).parent
    files = [here / "test_kernels.py", here.parent / "ground" / "test_ground_functions.py"]
    # Stamps and memory are the same; there the numbers of a module stay frozen in machine code, which is not shared.
    options = ["-q", "-x", "-p", "no:cacheprovider", "--capture=no", "-k", "not (stamp or memory or share_their_code)"]
    command = [sys.executable, "-m", "pytest", *options, *map(str, files)]
    environment = os.environ | {"FOOTFALL_NUMBA": "public", "NUMBA_OPT": "0"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=here.parents[1])
    assert ended.returncode == 0, ended.stdout[-2000:]
