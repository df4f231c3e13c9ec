"""The documentation: every Python snippet runs, page by page, and every link leads somewhere."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import shutil
import warnings
from inspect import getdoc, signature
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import numpy as np
import pytest

import footfall as ff
from footfall.cli import COMMANDS, _parse
from footfall.contact.registry import BUILT_IN
from footfall.control import BUILT_IN as CONTROLLERS
from footfall.control import Balance, Walk
from footfall.show.plots import PLOTS

DOCS = Path(__file__).parents[1] / "docs"
README = DOCS.parent / "README.md"
PAGES = sorted(DOCS.rglob("*.md"))
SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def snippets(page: Path) -> list[str]:
    return SNIPPET.findall(page.read_text(encoding="utf-8"))


@pytest.mark.usefixtures("plain_pictures")
@pytest.mark.parametrize("page", [p for p in PAGES if snippets(p)], ids=lambda p: p.relative_to(DOCS).as_posix())
def test_the_snippets_of_a_page_run_and_hold_what_they_assert(page, tmp_path, monkeypatch, capsys):
    """And print the words that its notebook, whose outputs the site shows, says."""
    monkeypatch.chdir(tmp_path)
    assert "Simulation(" not in (code := "".join(snippets(page))) or "\nassert " in code, "what comes of it?"
    names: dict[str, object] = {"__name__": "docs_page"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ff.FootfallWarning)
        for i, code in enumerate(snippets(page)):
            exec(compile(code, f"{page.name}, snippet {i + 1}", "exec"), names)
    notebook = DOCS / "notebooks" / f"{page.stem}.ipynb"
    if page.parent.name == "guides" and notebook.exists():
        outputs = (out for cell in json.loads(notebook.read_text("utf-8"))["cells"] for out in cell.get("outputs", ()))
        shown = "".join(out.get("text", "") for out in outputs)
        assert re.findall(r"[A-Za-z]{2,}", shown) == re.findall(r"[A-Za-z]{2,}", capsys.readouterr().out)


def shell_lines(page: Path) -> list[str]:
    return [line for block in SHELL.findall(page.read_text(encoding="utf-8")) for line in block.splitlines()]


@pytest.mark.parametrize(
    "page", [p for p in [README, *PAGES] if shell_lines(p)], ids=lambda p: p.relative_to(README.parent).as_posix()
)
def test_each_shell_line_of_a_page_is_one_command_with_options_it_has(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("hold.py").write_text("def hold(t, state): ...")
    targets = re.findall(r"^([\w-]+):", (README.parent / "Makefile").read_text(encoding="utf-8"), re.M)
    for line in shell_lines(page):
        program, command, *args = shlex.split(line, comments=True)
        assert program in ("footfall", "make", "pip", "dask"), line
        if program == "footfall":
            _parse(command, args)
        elif program == "make":
            assert command in targets and not args


def test_the_first_hour_gives_commands_with_options_they_have(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = (README.parent / "tools" / "first_hour.sh").read_text(encoding="utf-8")
    assert len(set(re.findall(r"(\d) of 8:", script))) == 8
    for line in re.findall(r"^footfall (.*)$", script, re.M):
        command, *args = shlex.split(line.partition(" > ")[0].replace("--import rubber.py --law rubber ", ""))
        _parse(command, ["controller", "hold"] if command == "new" else args)


def test_the_readme_and_the_page_on_installing_tell_the_two_commands():
    for page in (README, DOCS / "start" / "install.md"):
        assert [shlex.split(line, comments=True) for line in shell_lines(page)][:2] == [
            ["make", "demo"],
            ["make", "test"],
        ]


@pytest.mark.parametrize("of", [ff.Simulation, ff.Worlds, Balance, Walk], ids=lambda one: one.__name__)
def test_the_example_of_a_docstring_runs(of):
    (code,) = re.findall(r"(?:^    \S.*\n)+", getdoc(of).partition("Args:")[0].partition("Attributes:")[0], re.M)
    names = {"ff": ff, "np": np, "Balance": Balance, "Walk": Walk}
    exec(compile(dedent(code), of.__name__, "exec"), names)
    runs = [one for one in names.values() if isinstance(one, ff.Recording)]
    assert not any(rec.summary()["fell"] for rec in runs) and (runs or (names["worlds"].status == 0).all())


def public() -> list[object]:
    """What users call: the names of the package and of its studies, and the run of a simulation."""
    named = [getattr(room, name) for room in (ff, ff.study) for name in room.__all__]
    return [*{id(one): one for one in [*named, ff.Simulation.run]}.values()]


@pytest.mark.parametrize(
    "of", [one for one in public() if "\nArgs:\n" in (getdoc(one) or "")], ids=lambda one: one.__qualname__
)
def test_a_docstring_that_lists_arguments_lists_them_all(of):
    listed = re.findall(r"^    (\w+): ", getdoc(of).partition("\nArgs:\n")[2], re.M)
    assert listed == [name for name in signature(of).parameters if name != "self"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(DOCS).as_posix())
def test_links_and_pictures_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", ["README.md", "docs/start/install.md"])
def test_the_two_commands_to_begin_with_stand_in_lines_of_their_own(page):
    (block,) = re.findall(
        r"two commands.*?^```sh\n(.*?)^```$", (DOCS.parent / page).read_text(encoding="utf-8"), re.I | re.M | re.S
    )
    assert [line.partition("#")[0].split() for line in block.splitlines()] == [["make", "demo"], ["make", "test"]]


#: Commands that read what others wrote, with the file or folder that they read.
READS = re.compile(r"^footfall (?:report|plot|video|view(?! \S+ --live)|audit|export|follow [\w-]+) ([\w./-]+)", re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(DOCS).as_posix())
def test_what_commands_of_a_page_read_was_written_above(page):
    """So that it works for those who copy one block after the other."""
    text = page.read_text(encoding="utf-8")
    for found in READS.finditer(text):
        above = text[: found.start()]
        assert f'"{found[1]}"' in above or f"--out {found[1]}" in above, f"{page.name}: {found[0]}"


@pytest.mark.parametrize("name", ["push", "terrain", "sweep", "walk"])
def test_the_notebook_of_a_guide_has_its_text_and_was_run(name):
    """As tools/make_notebooks.py wrote it, to be called again when a guide changes: the same cells, run in order."""
    made = runpy.run_path(str(DOCS.parent / "tools" / "make_notebooks.py"))
    guide = (DOCS / "guides" / f"{name}.md").read_text(encoding="utf-8")
    kept = json.loads((DOCS / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    told = [(cell["cell_type"], cell["source"]) for cell in kept["cells"]]
    assert told == [(cell["cell_type"], cell["source"]) for cell in made["cells"](guide)]
    code = [cell for cell in kept["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert any(cell["outputs"] for cell in code)


def test_pages_hold_nothing_that_the_site_does_not_draw():
    """No TeX outside its blocks, which the site does not draw, and no pictures that are not there."""
    for page in PAGES:
        text = re.sub(r"^```.*?^```$|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        assert not re.search(r"\$[^$\n]+\$|^:   ", text, flags=re.M), page.name
        for picture in re.findall(r'<img src="([^"]+)"', text):
            assert (page.parent / picture).exists(), f"{page.name}: {picture}"


def test_every_page_is_in_the_navigation():
    text = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES:
        assert page.relative_to(DOCS).as_posix() in text


def test_every_command_and_every_plot_is_on_its_page():
    commands = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if not re.search(rf"`(?:footfall )?{name}\b", commands)] == []
    plots = (DOCS / "guides" / "plots.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", plots, flags=re.M) == list(PLOTS)


@pytest.mark.parametrize("law", sorted(BUILT_IN))
def test_every_law_has_its_page(law):
    assert (DOCS / "laws" / f"{law}.md").exists()


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    config = load_config(str(DOCS.parent / "mkdocs.yml"), site_dir=str(tmp_path / "site"))
    config.plugins["material/search"].config.enabled = False  # an index of all words would not warn of anything
    build(config)  # strict: a warning is an error
    pages = {
        p.relative_to(tmp_path / "site").with_suffix(".md").as_posix() for p in (tmp_path / "site").rglob("*.html")
    }
    assert {p.relative_to(DOCS).as_posix() for p in PAGES} <= pages
    law = (tmp_path / "site" / "laws" / "time-stepping.html").read_text(encoding="utf-8")
    assert "<math" in law and "\\begin" not in law and "&amp;=" not in law  # equations are drawn, none is left in TeX
    push, paper = ((tmp_path / f"site/{name}.html").read_text("utf-8") for name in ("guides/push", "papers/ott2011"))
    assert "data:image/png" in push and "Audit of torque-biped" in push  # what its code draws and prints
    told = re.findall(r"<summary>Claims, and what is measured: ([^<]*)<", paper)
    claims = re.findall(r"^\|.*\*\*", (DOCS / "papers" / "ott2011.md").read_text(encoding="utf-8"), re.M)
    assert sum(int(count) for one in told for count in re.findall(r"\d+", one)) == len(claims) > 0


@pytest.mark.browser
def test_the_site_searches_in_files_by_a_worker_in_a_frame(browser, tmp_path):
    """Chromium starts no workers for pages that are files, and the site loads nothing from elsewhere."""
    from mkdocs.config import load_config

    config = load_config(str(DOCS.parent / "mkdocs.yml"))
    assert config.repo_url is None and "material/offline" in config.plugins
    assert config.extra["polyfills"] == ["iframe-worker.js"]
    (tmp_path / "twice.js").write_text("addEventListener('message', ({ data }) => postMessage(2 * data));")
    shutil.copy(DOCS / "iframe-worker.js", tmp_path)
    use = "const one = new Worker('twice.js'); one.addEventListener('message', ({ data }) => (window.answer = data));"
    page = tmp_path / "page.html"
    page.write_text(f"<body><script src='iframe-worker.js'></script><script>{use} one.postMessage(21);</script>")
    browser.open(page.as_uri())
    browser.wait("window.answer === 42")


def test_the_reference_has_every_public_name():
    pages = [DOCS / "reference.md", *sorted((DOCS / "reference").glob("*.md"))]
    named = set(re.findall(r"^::: footfall\.(?:\w+\.)*(\w+)$", "\n".join(p.read_text() for p in pages), re.M))
    public = {name for name in ff.__all__ if not isinstance(getattr(ff, name), ModuleType)} - {"__version__"}
    errors = {
        name
        for name in public
        if isinstance(getattr(ff, name), type) and issubclass(getattr(ff, name), BaseException | Warning)
    }
    assert public - errors <= named  # errors are one entry, their module
    assert {*ff.solve.__all__, *ff.measure.__all__, "errors"} <= named
    assert {name.rpartition(":")[2] for name in CONTROLLERS.values()} <= named


def test_files_are_where_the_page_on_how_it_works_says():
    package = Path(ff.__file__).parent
    named = re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", (DOCS / "how-it-works.md").read_text(encoding="utf-8"))
    assert len(named) >= 10
    assert [one for one in named if one != "src/footfall" and not (package / one).exists()] == []


@pytest.fixture(scope="module")
def equations() -> dict:
    """What tools/equation_links.py defines."""
    return runpy.run_path(str(DOCS.parent / "tools" / "equation_links.py"))


def test_equations_are_where_the_page_says(equations):
    """Each link leads to the line that a comment marks; if not: python tools/equation_links.py."""
    text = (DOCS / "equations.md").read_text(encoding="utf-8")
    page, wrong = equations["page"](text, list(equations["places"]()))
    assert wrong == []
    assert page == text
    assert len(re.findall(r"\.py#L\d+\)", text)) > 70


def test_an_equation_without_code_and_code_without_an_equation_are_found(equations):
    marked = equations["Place"]("Ott 2011", "eq. 2", "solve/contacts.py", 7, "coulomb")
    rows = "## Ott, Roa and Hirzinger 2011\n| (1)-(2) | cones | ? |\n| (4) | a name | none: a name |"
    page, wrong = equations["page"](rows, [marked, *(marked._replace(part=f"eq. {n}") for n in (4, 5))])
    assert "[`solve/contacts.py:7`](../src/footfall/solve/contacts.py#L7) in `coulomb`" in page
    assert len(wrong) == 3  # (1) has no line, (4) has one, (5) no row


#: Of each paper, how many equations have a number.
NUMBERED = {
    "Rengifo 2009": 20,
    "Bruneau and Ouezdou 1999": 41,
    "Bravo and Rengifo 2021": 45,
    "Ott, Roa and Hirzinger 2011": 22,
}


@pytest.mark.parametrize(("paper", "count"), NUMBERED.items())
def test_no_equation_of_a_paper_is_left_out(equations, paper, count):
    page = (DOCS / "equations.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\([^|]*) \|", page.partition(f"## {paper}\n")[2].partition("\n## ")[0], re.M)
    assert {number for row in rows for number in equations["numbers"](row)} == set(range(1, count + 1))
