"""`footfall warm` looks at nothing twice: what was compiled is known until something that decides it changes."""

from __future__ import annotations

import pytest

from footfall.cli import main, warm
from footfall.simulation import warm as compiling


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, in which a compiler leaves two files and counts how often it was asked."""
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path))
    kept = tmp_path / "compiled"

    def compile_all(say, processes):
        for name in ("one.kernel", "two.kernel"):
            (kept / name).touch()
        with (kept / "asked").open("a") as file:
            file.write("x")

    monkeypatch.setattr(compiling, "warm", compile_all)
    return kept


def asked(folder):
    assert main(["warm"]) == 0
    return len((folder / "asked").read_text())


def test_what_is_all_there_is_not_compiled_again(folder, capsys):
    assert [asked(folder) for _ in range(3)] == [1, 1, 1]
    assert "all is compiled" in capsys.readouterr().out
    (folder / "three.kernel").touch()  # of something else
    assert asked(folder) == 1


def test_what_was_removed_or_damaged_or_is_of_other_sources_is_compiled_again(folder, monkeypatch):
    assert asked(folder) == 1
    (folder / "two.kernel").unlink()
    assert asked(folder) == 2
    (note,) = folder.glob("warm-*.json")
    for text in ("", "{", "[]", '{"given": 1}'):
        note.write_text(text)
        before = len((folder / "asked").read_text())
        assert asked(folder) == before + 1
    monkeypatch.setenv("NUMBA_OPT", "1")
    assert asked(folder) == 7
    other = folder.parent / "other"
    other.mkdir()
    (other / "a.py").write_text("x = 1")
    monkeypatch.setattr(warm, "_package", lambda: other)
    assert [asked(folder), asked(folder)] == [8, 8]
    (other / "a.py").write_text("x = 2")
    assert asked(folder) == 9
