"""`footfall doctor` says what a bug report needs, and fails where a known answer does not come out."""

from __future__ import annotations

import json
import platform

from footfall.cli import doctor, main


def test_the_doctor_names_versions_the_cache_and_finds_known_answers(capsys):
    assert main(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["python"] == platform.python_version()
    assert {"footfall", "mujoco", "numba", "numpy", "llvmlite", "system", "processor", "cache"} <= told.keys()
    assert "scipy" in told["optional"]
    assert [one["problem"] for one in told["tests"]] == ["", ""]


def test_a_wrong_answer_and_a_broken_installation_are_told_and_fail(capsys, monkeypatch):
    def falls_up() -> str:
        """A ball falls."""
        return "fell -1 m, not 1 m"

    def breaks() -> str:
        """Something else."""
        raise OSError("no such library")

    monkeypatch.setattr(doctor, "TESTS", (falls_up, breaks))
    assert main(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert "fell -1 m, not 1 m" in shown
    assert "OSError: no such library" in shown
