"""Machine code is kept on disk, thrown away when a kernel changes, and announced once."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path

import pytest
from fresh_python import Answer, fresh_python

import footfall
from footfall.compiled import kernel
from footfall.compiled.cache import HEADER, KEPT_FOR
from footfall.process.cache_folder import cache_folder, only_ours
from footfall.simulation import warm
from footfall.simulation.first_start import claim

SOURCE = Path(footfall.__file__).parent


SELDOM = """
from footfall.compiled import apart
from footfall.simulation.warm import compile_loop
from footfall.engine.other_bodies.near import list_body
compile_loop()
assert not list_body._linked
apart.compile_cold()
print(len(list_body._linked))
"""


def test_code_from_the_disk_knows_the_cold_kernels_that_it_may_call(tmp_path):
    warm.compile_loop()  # by whomever: from now on it is on the disk
    (known,) = counted(fresh_python(SELDOM, tmp_path, SOURCE.parent))
    assert int(known) >= 1  # more where code on the disk asked for it with other types


COLD = """
from numba import types
from footfall.compiled import cold, kernel
from {place} import Pair

@cold(types.float64)
def seldom(pair):
    return pair.x + pair.y

@kernel
def total(x):
    return seldom(Pair(x, 1.0))
"""


def test_code_on_the_disk_whose_types_have_moved_is_compiled_again(tmp_path):
    """It asked for the address of a cold kernel for types that are nowhere any more, and jumped to nowhere."""
    (tmp_path / "places").mkdir()
    for place in ("here", "there"):
        for file in (tmp_path / "places").glob("*.py"):
            file.unlink()
        pair = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    x: float\n    y: float\n"
        (tmp_path / "places" / f"{place}.py").write_text(pair)
        (tmp_path / "places" / "used.py").write_text(COLD.format(place=place))
        code = f"import sys; sys.path.insert(0, {str(tmp_path / 'places')!r}); import used; print(used.total(2.0))"
        answer = fresh_python(code, tmp_path, SOURCE.parent, FOOTFALL_CACHE=str(tmp_path / "kept"))
        assert counted(answer) == ["3.0"]


def test_a_kernel_is_compiled_by_the_process_that_claims_it_first(tmp_path):
    assert [claim(tmp_path, "solve.contacts") for _ in range(3)] == [True, False, False]
    assert claim(tmp_path, "solve.other")
    assert claim(tmp_path / "gone", "solve.other")  # nobody can know: better twice than never


def test_jobs_that_another_process_has_claimed_are_left_to_it(tmp_path, monkeypatch):
    done: list[str] = []
    monkeypatch.setattr(warm, "do", done.append)
    assert claim(tmp_path, "two")
    warm.work_through(["one", "two", "three"], tmp_path)
    assert done == ["one", "three"]
    assert sorted(path.name for path in tmp_path.glob("* done")) == ["one done", "three done"]


#: A module of the package with a kernel that calls another.
TWO_KERNELS = """
from footfall.compiled import inlined, kernel

@inlined
def part(x):
    return 2.5 * x

@kernel
def whole(x):
    return part(x) + 1.0
"""
COUNT = """
from footfall.solve.two_kernels import whole
whole(1.0)
stats = whole.ordinary.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
COMPILED, KEPT = ["0", "1"], ["1", "0"]


def checkout(folder: Path) -> Path:
    """A copy of the package, as another checkout has it, with its bytecode, and a small module more."""
    shutil.copytree(SOURCE, folder / "footfall")
    (folder / "footfall" / "solve" / "two_kernels.py").write_text(TWO_KERNELS)
    return folder


def counted(answer: Answer) -> list[str]:
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.split()


@pytest.mark.slow
def test_compiled_code_is_kept_for_all_checkouts_until_what_it_uses_changes(tmp_path):
    """Also a function it calls: Numba's own cache looks at the outermost function's file only."""
    package, other = checkout(tmp_path / "first"), checkout(tmp_path / "second")
    place = {"FOOTFALL_CACHE": str(tmp_path / "kept")}
    file = package / "footfall" / "solve" / "two_kernels.py"
    answers = [fresh_python(COUNT, tmp_path, checked_out, **place) for checked_out in (package, other)]
    file.write_text("# It has moved down.\n" + file.read_text())
    answers.append(fresh_python(COUNT, tmp_path, package, **place))
    # In what it calls; of another length, as bytecode is told by that and by whole seconds.
    file.write_text(file.read_text().replace("2.5 * x", "2.25 * x"))
    answers.append(fresh_python(COUNT, tmp_path, package, **place))
    assert [counted(one) for one in answers] == [COMPILED, KEPT, KEPT, COMPILED]
    said = ["footfall: compiling" in one.stderr for one in answers]
    assert said == [True, False, False, True]


@pytest.mark.slow
def test_without_a_home_and_on_a_read_only_tree_compiled_code_is_kept_with_the_temporary_files(tmp_path):
    package = checkout(tmp_path / "src")
    for path in [*package.rglob("*"), package]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    (tmp_path / "temporary").mkdir()
    bare = {"HOME": "", "XDG_CACHE_HOME": "", "FOOTFALL_CACHE": "", "TMPDIR": str(tmp_path / "temporary")}
    answers = [fresh_python(COUNT, tmp_path, package, **bare) for _ in range(2)]
    assert [counted(one) for one in answers] == [COMPILED, KEPT]
    assert list((tmp_path / "temporary").glob("footfall-*/compiled/whole-*.kernel"))


def double(x):
    return 2.0 * x


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A cache folder of its own with one kernel in it; gives the file and what makes the kernel anew."""
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path / "kept"))

    def again():
        monkeypatch.setattr("footfall.compiled.cache._in_use", {})  # as in a new process
        made = kernel(double)
        assert made(2.0) == 4.0
        return sum(made.ordinary.stats.cache_hits.values())

    assert again() == 0
    (file,) = (tmp_path / "kept" / "compiled").glob("double-*.kernel")
    assert again() == 1
    return file, again


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "foreign", "no pickle"])
def test_damaged_compiled_code_is_compiled_again_and_replaced(kept, damage):
    file, again = kept
    whole = file.read_bytes()
    middle = len(whole) // 2
    payload = b"no pickle"
    file.write_bytes(
        {
            "empty": b"",
            "cut": whole[:middle],
            "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "foreign": b"something else",
            "no pickle": whole[: len(HEADER) + 32] + hashlib.sha256(payload).digest() + payload,
        }[damage]
    )
    assert again() == 0
    assert again() == 1


def test_compiled_code_that_another_user_may_write_or_owns_is_not_read(kept, monkeypatch, capsys):
    file, again = kept
    file.chmod(0o622)
    assert again() == 0  # and replaced by our own
    assert "may be written" in capsys.readouterr().err
    assert again() == 1
    status = file.stat()
    theirs = os.stat_result((*status[:4], os.geteuid() + 1, *status[5:10]))
    assert only_ours(status) and not only_ours(theirs)


def test_where_nothing_can_be_kept_one_line_says_why(monkeypatch, capsys):
    monkeypatch.setattr("footfall.compiled.cache.cache_folder", lambda purpose: None)
    monkeypatch.setattr("footfall.compiled.cache._said", set())
    made = kernel(lambda x: 3.0 * x)
    assert made(2.0) == 6.0 and made(2) == 6.0
    said = [line for line in capsys.readouterr().err.splitlines() if "FOOTFALL_CACHE" in line]
    assert len(said) == 1  # for two types


def test_a_folder_of_somebody_else_is_no_place_for_compiled_code(tmp_path, monkeypatch):
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path / "shared"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    assert cache_folder("compiled").parent.parent == tmp_path and "shared" not in str(cache_folder("compiled"))


def test_old_compiled_code_is_removed(kept):
    file, again = kept
    folder = file.parent
    old, new = folder / "old-0.kernel", folder / "new-0.kernel"
    for path, age in ((old, KEPT_FOR + 1e3), (new, 1e3), (folder / "last-pruned", 1e6)):
        path.touch()
        os.utime(path, (time.time() - age,) * 2)
    file.unlink()
    assert again() == 0
    assert not old.exists() and new.exists() and file.exists()


def test_two_versions_of_one_function_live_side_by_side(tmp_path):
    """Compiled by processes of their own, under one name, and read by a third: each gives its own answer."""
    code = """
import sys
from footfall.compiled import kernel
def make(number):
    @kernel
    def function(x):
        return number * x
    return function
print(*[make(float(number))(1.0) for number in sys.argv[1:]])
"""
    for numbers in (["2"], ["3"], ["2", "3"]):
        answer = fresh_python(code, tmp_path, SOURCE.parent, *numbers, FOOTFALL_CACHE=str(tmp_path / "kept"))
        assert counted(answer) == [f"{number}.0" for number in numbers]


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
    answer = fresh_python(PROMPT, tmp_path, SOURCE.parent)
    assert answer.returncode == 0, answer.stderr
    assert float(answer.stdout) == pytest.approx(9.81, rel=1e-3)
    assert all(line.startswith("footfall: compiling (once") for line in answer.stderr.splitlines()), answer.stderr


def test_compiling_what_is_not_footfalls_is_not_announced(tmp_path):
    code = "import numba, footfall.compiled\nnumba.njit(lambda x: x + 1)(1)"
    answer = fresh_python(code, tmp_path, SOURCE.parent)
    assert answer.returncode == 0 and answer.stderr == ""
