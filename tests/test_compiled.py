"""How functions become machine code: kept on disk, thrown away when a kernel changes, announced once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import footfall
from footfall.compiled import KERNEL_ROOMS, PACKAGE, function_pointer, kernel, kernel_stamp

SOURCE = Path(footfall.__file__).parent


def python(code: str, cwd: Path, package: Path = SOURCE.parent) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter with the package from a folder, and that folder's cache alone."""
    env = os.environ | {"PYTHONPATH": str(package)}
    env.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, env=env, capture_output=True, text=True, timeout=300)


def test_a_kernel_is_compiled_and_still_plain_python():
    @kernel
    def add(a, b):
        return a + b

    assert add(1.0, 2.0) == 3.0 and add.py_func(1.0, 2.0) == 3.0
    assert add.nopython_signatures


def test_kernels_do_not_take_not_a_number_for_a_number():
    """Fast arithmetic must still see NaN and infinity: that is how divergence is found."""

    @kernel
    def is_bad(x):
        return not abs(x) < 1e8

    assert is_bad(np.nan) and is_bad(np.inf) and is_bad(-np.inf) and not is_bad(1.0)


def test_a_function_pointer_is_called_by_address():
    from numba import float64

    pointer = function_pointer(float64(float64), lambda x: 2.0 * x)
    assert pointer.ctypes(3.0) == 6.0


def test_every_file_whose_kernels_others_call_is_in_the_stamp():
    covered = set()
    for room in KERNEL_ROOMS:
        path = PACKAGE / room
        assert path.exists(), room
        covered |= set(path.rglob("*.py")) if path.is_dir() else {path}
    text = {file: file.read_text() for file in PACKAGE.rglob("*.py")}
    for file in set(text) - covered:
        if "@kernel" not in text[file]:
            continue
        module = "footfall." + ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        callers = [other for other in text if other != file and "@kernel" in text[other] and module in text[other]]
        assert not callers, f"{file} holds kernels that {callers} may call; add its room to KERNEL_ROOMS"
    assert len(kernel_stamp()) == 64


COUNT = """
import numpy as np
from footfall.solve.dense import cholesky
a = np.eye(2)
cholesky(a, 2, 1e-9, np.zeros((2, 2)))
stats = cholesky.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_compiled_code_is_kept_until_any_kernel_file_changes(tmp_path):
    """Also one in another file: Numba's own cache looks at the outermost function's file only."""
    package = tmp_path / "src" / "footfall"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc"))
    answers = [python(COUNT, tmp_path, package.parent) for _ in range(2)]
    other = package / "engine" / "points.py"
    other.write_text(other.read_text() + "\n# changed\n")
    answers.append(python(COUNT, tmp_path, package.parent))
    no_kernel = package / "recording.py"
    no_kernel.write_text(no_kernel.read_text() + "\n# changed\n")
    answers.append(python(COUNT, tmp_path, package.parent))
    assert [one.returncode for one in answers] == [0] * 4, answers[0].stderr
    assert [one.stdout.split() for one in answers] == [["0", "1"], ["1", "0"], ["0", "1"], ["1", "0"]]
    said = ["compiling (once; kept for the next start)" in one.stderr for one in answers]
    assert said == [True, False, True, False]


PROMPT = """
import footfall as ff
exec(compile('''
@ff.point_law("typed", k=1e4, c=50.0)
def typed(depth, depth_rate, slip, slip_velocity, memory, parameters):
    return max(0.0, parameters.k * depth + parameters.c * depth_rate)
''', "<stdin>", "exec"))
rec = ff.Simulation("ball", law="typed").run(2.0)
print(rec.total_force[-1, 2])
"""


def test_a_law_typed_at_a_prompt_works(tmp_path):
    answer = python(PROMPT, tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert float(answer.stdout) == pytest.approx(9.81, rel=1e-3)
    assert answer.stderr.count("footfall: compiling") <= 1


def test_compiling_what_is_not_footfalls_is_not_announced(tmp_path):
    code = "import numba, footfall.compiled\nnumba.njit(lambda x: x + 1)(1)"
    answer = python(code, tmp_path)
    assert answer.returncode == 0 and answer.stderr == ""
