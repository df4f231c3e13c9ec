"""A file appears at once, and what a killed process left is found and removed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from interrupted import content_of, faults

import footfall
from footfall.files.atomic_write import atomic_write

HOME = Path(footfall.__file__).parents[1]
KILLED = """
import os, sys
from pathlib import Path
from footfall.files.atomic_write import atomic_write
with atomic_write(Path(sys.argv[1])) as part:
    part.write_text("half")
    os._exit(9)
"""


def test_the_old_file_stands_until_the_new_one_is_whole(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with atomic_write(target) as part:
        part.write_text("new")
        assert part.suffix == ".txt"
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    target = tmp_path / "nowhere" / "a.txt"
    with pytest.raises(FileNotFoundError) as raised, atomic_write(target) as part:
        part.write_text("new")
    assert raised.value.filename == str(target)


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    env = os.environ | {"PYTHONPATH": str(HOME)}
    assert subprocess.run([sys.executable, "-c", KILLED, str(target)], env=env, check=False).returncode == 9
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    with atomic_write(target) as part, atomic_write(target) as other:  # what this process writes is no litter
        part.write_text("one")
        other.write_text("two")
    assert target.read_text() == "one"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_a_link_and_a_device_is_written_to(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with atomic_write(tmp_path / "link") as part:
        part.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    with atomic_write(Path("/dev/null")) as part:
        assert part == Path("/dev/null")


def test_a_folder_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    """Whatever interrupts it, at every file-system call; a full folder is never replaced."""
    target = tmp_path / "study"

    def write():
        with atomic_write(target) as part:
            part.mkdir()
            (part / "a").write_text("one")
            (part / "inner").mkdir()
            (part / "inner" / "b").write_text("two")

    def prepare():
        for path in tmp_path.iterdir():
            shutil.rmtree(path)

    whole = (("a", b"one"), ("inner/b", b"two"))
    seen = set()
    for fault in faults(monkeypatch, prepare, write):
        seen.add(content_of(target))
        assert target.exists() == bool(content_of(target)), fault
        assert content_of(target) in ((), whole), fault
        if not target.exists():
            write()
        assert os.listdir(tmp_path) == ["study"], fault  # and no litter of those that were killed
    assert seen == {(), whole}
    with pytest.raises(OSError, match="not empty"):
        write()
    assert content_of(target) == whole
