"""The package as it is handed out: a wheel and an sdist that hold everything, and a wheel that runs by itself."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import footfall
from footfall.errors import OPTIONAL

ROOT = Path(__file__).parents[1]
SOURCES = {
    file.relative_to(ROOT / "src").as_posix()
    for file in (ROOT / "src" / "footfall").rglob("*")
    if file.is_file() and "__pycache__" not in file.parts
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(built):
    names = set(zipfile.ZipFile(built[0]).namelist())
    package = {name for name in names if name.startswith("footfall/")}
    assert package == SOURCES
    assert {name.split("/")[0] for name in names - package} == {f"footfall-{footfall.__version__}.dist-info"}
    assert {"footfall/py.typed", "footfall/show/page/report.html"} <= package


def test_the_sdist_holds_what_the_tests_need(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in SOURCES} <= names
    assert {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "tests/test_package.py"} <= names
    assert not any("__pycache__" in name or name.startswith((".git/", ".venv")) for name in names)


RUN_AND_REPORT = """
import sys
from footfall.cli import main
from footfall.errors import OPTIONAL
sys.modules |= dict.fromkeys(OPTIONAL)  # as if not installed
assert main(["run", "ball", "--duration", "0.05", "--out", "kept"]) == 0
assert main(["report", "kept"]) == 0
assert main(["export", "kept", "kept.parquet"]) == 0
assert main(["walk", "spatial-biped", "--steps", "2", "--out", "walk"]) == 0
assert main(["compare", "ball", "--laws", "mujoco", "time-stepping", "--duration", "0.05"]) == 0
assert main(["plot", "kept", "grf"]) == 1
import footfall
print(footfall.__file__)
"""


def test_the_wheel_runs_by_itself(built, tmp_path):
    """Unpacked as pip does it, from a folder that holds nothing else of ours, and without what extras bring."""
    zipfile.ZipFile(built[0]).extractall(tmp_path / "site")
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {
        "PYTHONPATH": str(tmp_path / "site")
    }

    def run(*command):
        command = [sys.executable, *command]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    done = run("-m", "footfall", "--version")
    assert done.stdout.strip() == f"footfall {footfall.__version__}", done.stderr
    done = run("-c", RUN_AND_REPORT)
    assert done.returncode == 0, done.stderr
    assert 'a plot needs Matplotlib: pip install "footfall[plot]"' in done.stderr
    assert Path(done.stdout.splitlines()[-1]).is_relative_to(tmp_path / "site")
    assert (tmp_path / "kept" / "report.html").stat().st_size > 1000


def test_what_a_message_tells_to_install_brings_what_is_missing():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for package, (_, source) in OPTIONAL.items():
        if extra := re.fullmatch(r"footfall\[(\w+)\]", source):
            # As the index writes it.
            named = {"PIL": "pillow"}.get(package, package.replace("_", "-"))
            assert any(one.startswith((package, named)) for one in extras[extra[1]]), package


def test_windows_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ImportError, match="on Windows install it in Windows Subsystem for Linux"):
        runpy.run_path(footfall.__file__)


def test_the_version_is_in_one_place(built):
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", footfall.__version__)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project
    assert "version" in project["dynamic"]
    # What else names a version: the changelog may, of what is out.
    assert f'version = "{footfall.__version__}"' not in (ROOT / "CITATION.cff").read_text()
    assert built[0].name.startswith(f"footfall-{footfall.__version__}-")
