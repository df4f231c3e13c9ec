"""How functions become machine code: kept on disk, thrown away when a kernel changes, announced once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import footfall
from footfall.compiled import function_pointer, inlined, kernel, kernel_stamp, separate

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


def outer(inner, number):
    @kernel
    def function(x):
        return inner(x) + number

    return function.py_func


def test_the_stamp_follows_what_a_kernel_calls_and_its_constants():
    first, second = kernel(lambda x: 2.0 * x), kernel(lambda x: 3.0 * x)
    stamps = [kernel_stamp(outer(inner, number)) for inner in (first, second) for number in (1.0, 2.0)]
    assert len(set(stamps)) == 4
    assert kernel_stamp(outer(first, 1.0)) == stamps[0]


def test_the_stamp_knows_how_a_kernel_is_compiled():
    def inner(x):
        return 2.0 * x

    assert kernel_stamp(outer(kernel(inner), 1.0)) != kernel_stamp(outer(inlined(inner), 1.0))


def pointer_signature():
    from numba import float64

    return float64(float64, float64[::1])


@separate(pointer_signature)
def weighted(x, weights):
    return x * weights[0]


@kernel
def twice_weighted(x, weights):
    return 2.0 * weighted(x, weights)


def test_a_kernel_apart_is_called_by_kernels_and_by_python():
    weights = np.array([3.0])
    assert twice_weighted(1.0, weights) == 6.0
    assert twice_weighted.py_func(1.0, weights) == 6.0
    assert kernel_stamp(twice_weighted.py_func) != kernel_stamp(outer(kernel(lambda x: x), 1.0))


def test_the_stamp_knows_where_a_kernel_apart_is_and_what_it_takes():
    """Compiled callers hold its symbol and its types: they must not outlive either."""

    def wider():
        from numba import float64

        return float64(float64, float64[:, ::1])

    def stamp(inner):
        return kernel_stamp(outer(inner, 1.0))

    same, moved = (separate(pointer_signature)(types.FunctionType(weighted.py_func.__code__, {})) for _ in range(2))
    same.symbol = moved.symbol = weighted.symbol
    assert stamp(same) == stamp(moved)
    moved.symbol = "elsewhere"
    assert stamp(same) != stamp(moved)
    moved.symbol, moved.signature = weighted.symbol, wider
    assert stamp(same) != stamp(moved)


def test_a_kernel_apart_takes_its_own_types_alone():
    from numba.core.errors import TypingError

    with pytest.raises(TypingError, match="weighted"):
        twice_weighted(1.0, np.zeros((1, 1)))


COUNT = """
import numpy as np
from footfall.solve.dense import minimum_norm_solve
a, spare = np.eye(2), np.zeros((3, 2, 2))
minimum_norm_solve(a, 2, 1e-9, np.ones(2), spare[0], spare[1], spare[2, 0])
stats = minimum_norm_solve.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_compiled_code_is_kept_until_what_it_uses_changes(tmp_path):
    """Also a function it calls: Numba's own cache looks at the outermost function's file only."""
    package = tmp_path / "src" / "footfall"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc"))
    file = package / "solve" / "dense.py"
    answers = [python(COUNT, tmp_path, package.parent) for _ in range(2)]
    file.write_text("# It has moved down.\n" + file.read_text())
    answers.append(python(COUNT, tmp_path, package.parent))
    was = "inverse = 1.0 / pivot**0.5"  # in `cholesky`, which it calls
    assert was in file.read_text()
    file.write_text(file.read_text().replace(was, "inverse = pivot**-0.5"))
    answers.append(python(COUNT, tmp_path, package.parent))
    assert [one.returncode for one in answers] == [0] * 4, answers[0].stderr
    assert [one.stdout.split() for one in answers] == [["0", "1"], ["1", "0"], ["1", "0"], ["0", "1"]]
    said = ["compiling (once; kept for the next start)" in one.stderr for one in answers]
    assert said == [True, False, False, True]


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
