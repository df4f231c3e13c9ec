"""Studies and caches: whatever interrupts their writing, they are whole, or are taken up again."""

from __future__ import annotations

import fcntl
import shutil
from contextlib import suppress

import numpy as np
import pytest
import sweep_work
from interrupted import Faults, faults, no_space

import footfall as ff
from footfall.compiled.cache import read_file, write_file
from footfall.gait.human.fit import WalkSeries
from footfall.gait.human.walk import kept
from footfall.study.sweep.folder import Journal


def emptied(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


def test_a_study_that_is_interrupted_anywhere_goes_on_and_ends_the_same(tmp_path, monkeypatch):
    """Ctrl-C, a full disk and a kill at every file-system call of a study in this process."""
    where = {"grid": {"x": [1.0, 2.0]}, "workers": 1, "out": tmp_path / "here" / "study"}
    expected = str(ff.sweep(sweep_work.squared, **(where | {"out": None})))
    for fault in faults(monkeypatch, lambda: emptied(tmp_path / "here"), lambda: ff.sweep(sweep_work.squared, **where)):
        assert str(ff.sweep(sweep_work.squared, **where)) == expected, fault


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_study_that_the_disk_has_no_room_for_is_a_sentence(call, tmp_path, monkeypatch):
    """The disk is full at each call of that name; what is raised is no error of the system."""
    fault, at = Faults(), 0
    while fault.at is None or len(fault.names) > fault.at:  # it happened: try the next call
        fault, at = Faults(no_space, at, only=call), at + 1
        emptied(tmp_path / "here")
        with fault.installed(monkeypatch), suppress(ff.FootfallError):
            ff.sweep(sweep_work.squared, grid={"x": [1.0, 2.0]}, workers=1, out=tmp_path / "here" / "study")
    assert at > 1


def test_a_journal_that_could_not_be_opened_holds_no_lock(tmp_path):
    """Else the next study in its folder would wait for ever, as long as something keeps the error."""
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"damaged\n")
    with pytest.raises(ValueError) as error:
        Journal(path, {"cases": 2})
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises where it is locked
    assert "Expecting value" in str(error.value)


def test_a_fit_that_is_kept_is_whole_or_made_again(tmp_path, monkeypatch):
    walk = WalkSeries({"hip": np.arange(3.0)}, 1.0, 1.2, 0.3)
    monkeypatch.setattr("footfall.gait.human.walk.cache_folder", lambda purpose: tmp_path / purpose)
    for fault in faults(monkeypatch, lambda: emptied(tmp_path / "walks"), lambda: kept("a walk", lambda: walk)):
        found = kept("a walk", lambda: walk)
        assert np.array_equal(found.coefficients["hip"], [0.0, 1.0, 2.0]), fault


def test_compiled_code_on_the_disk_is_whole_or_not_there(tmp_path, monkeypatch):
    key, code = "ab" * 32, bytes(range(256)) * 40
    path = tmp_path / "cache" / "kernel"
    seen = set()
    for fault in faults(monkeypatch, lambda: emptied(path.parent), lambda: write_file(path, key, code)):
        found = read_file(path, key)
        assert found in (None, code), fault
        assert path.exists() == (found is not None), fault
        seen.add(found)
    assert seen == {None, code}
