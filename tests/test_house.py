"""The rooms of the package stand on floors, and nothing imports upward: also not inside functions or for types."""

from __future__ import annotations

import re
import sys
import tomllib
from functools import cache
from pathlib import Path

from imports import imports_in

import footfall

PACKAGE = Path(footfall.__file__).parent

# From the top down. A room is a folder or a file of the package; it may use itself and the floors below its own.
FLOORS = (
    ("__main__",),
    ("cli",),
    ("papers",),
    ("__init__",),
    ("study", "live", "learn"),
    ("simulation",),
    ("recording",),
    ("export",),
    ("show",),
    ("control",),
    ("logs",),
    ("measure",),
    ("recording_file", "gait", "engine"),
    ("record",),
    ("contact",),
    ("standing",),
    ("robot", "ground", "solve"),
    ("compiled", "files"),
    ("arguments",),
    ("given_numbers",),
    ("errors", "frozen_values", "kinds", "process", "roots", "version"),
)


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name, ``footfall`` itself included."""
    files = sorted(PACKAGE.rglob("*.py"))
    names = [".".join(("footfall", *file.relative_to(PACKAGE).with_suffix("").parts)) for file in files]
    return {name.removesuffix(".__init__"): file for name, file in zip(names, files, strict=True)}


def imports(file: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a file imports anywhere in its text."""
    plain, inner = imports_in(file)
    used = {alias.name for node in plain for alias in node.names}
    for node in inner:
        assert not node.level, f"{file}: imports are absolute"
        full = {f"{node.module}.{alias.name}" for alias in node.names}
        used |= {name if name in known else node.module for name in full}
    own = {name for name in used if name.partition(".")[0] == "footfall"}
    assert own <= set(known), f"{file}: there is no {', '.join(sorted(own - set(known)))}"
    return own


@cache
def graph() -> dict[str, set[str]]:
    known = modules()
    return {name: imports(file, known) - {name} for name, file in known.items()}


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The sets of modules that reach each other, of more than one module each (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(v: str) -> None:
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in arrows[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for v in arrows:
        if v not in index:
            visit(v)
    return found


def test_every_room_has_a_floor():
    listed = {one for floor in FLOORS for one in floor}
    assert {room(module) for module in modules()} == listed


def test_no_import_runs_up():
    floor = {one: len(FLOORS) - level for level, rooms in enumerate(FLOORS) for one in rooms}
    up = [
        f"{module} -> {used}"
        for module, all_used in graph().items()
        for used in sorted(all_used)
        if room(used) != room(module) and floor[room(used)] >= floor[room(module)]
    ]
    assert not up, "\n".join(up)


def test_no_two_files_import_each_other():
    assert not circles(graph())


def test_one_class_is_called_state_and_one_world():
    """Guests of the arena, which run where Footfall is not installed, are asked for a class of that name."""
    for name in ("State", "World"):
        texts = {one: file.read_text(encoding="utf-8") for one, file in modules().items() if ".arena.guest" not in one}
        found = [one for one, text in texts.items() if re.search(rf"^class {name}\b", text, re.MULTILINE)]
        assert len(found) == 1, found


def test_the_registries_of_the_contributing_guide_exist():
    guide = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+)` in `([\w/]+\.py)`", guide)
    assert len(named) >= 8
    for name, file in named:
        assert re.search(rf"^{name}\b", (PACKAGE / file).read_text(encoding="utf-8"), re.MULTILINE), (name, file)


def test_the_rooms_of_the_contributing_guide_are_those_of_the_package():
    guide = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = guide.partition("| room, from the top |")[2].partition("\n\n")[0]
    named = [set(re.findall(r"`(\w+)/?`", line.split("|")[1])) for line in table.splitlines()[2:]]
    floor = {one: level for level, rooms in enumerate(FLOORS) for one in rooms}
    assert set().union(*named) == set(floor) - {"__main__", "__init__"}
    levels = [level for rooms in named for level in sorted({floor[one] for one in rooms})]
    assert levels == sorted(levels)


#: What packages are imported as, where that is not their name.
PROVIDES = {
    "mcap_ros2_support": "mcap_ros2",
    "numba_cuda": "numba.cuda",
    "pillow": "PIL",
    "pycollada": "collada",
    "rerun_sdk": "rerun",
    "rsl_rl_lib": "rsl_rl",
}
#: Brought by a package that is declared, or asked for where it is used.
BROUGHT = {"llvmlite": "numba", "cuda": "numba-cuda"}


def packages(file: Path) -> set[str]:
    """Names of the packages that a file imports, anywhere."""
    plain, inner = imports_in(file)
    full = {alias.name for node in plain for alias in node.names} | {node.module for node in inner if node.module}
    inside = {f"{node.module}.{alias.name}" for node in inner for alias in node.names}
    by_name = set(re.findall(r'(?:import_module|optional_package)\("(\w+)', file.read_text(encoding="utf-8")))
    return {name.partition(".")[0] for name in full} | ((full | inside) & {*PROVIDES.values()}) | by_name


def test_every_declared_dependency_is_imported_and_every_import_is_declared():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    declared = {
        name: {re.split(r"[<>=\[;]", one)[0].lower().replace("-", "_") for one in group}
        for name, group in groups.items()
    }
    # Guests of the arena have environments of their own, and name there what they import.
    own = [file for name, file in modules().items() if ".arena.guests." not in name]
    imported = set().union(*map(packages, own))
    for name, brings in declared.items():
        assert name == "dev" or {PROVIDES.get(one, one) for one in brings} <= imported
    known = {*set().union(*declared.values()), *PROVIDES.values(), *BROUGHT, *sys.stdlib_module_names, "footfall"}
    assert imported <= known


def test_circles_are_found():
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"d"}}
    assert circles(arrows) == [["a", "b", "c"]]
