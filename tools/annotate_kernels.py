"""Write what Numba infers for arguments and results of kernels, and for fields of their tuples, as annotations.

    python tools/annotate_kernels.py [--check] [--jobs JOB ...] [ROOM ...]

lets Numba infer the types of the engine and the laws, compiles all else into an empty cache (jobs of
``footfall.simulation.warm``; takes minutes) and annotates the kernels and named tuples of the rooms, folders or files
below ``src/footfall`` (all of them if none is given). An annotation that is right stays as it is, so that a second
call changes nothing. With ``--check`` it writes nothing, lists what is missing or wrong, and fails if there is any.
"""

from __future__ import annotations

import argparse
import ast
import gc
import inspect
import io
import os
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

SOURCE = Path(__file__).parents[1] / "src" / "footfall"
#: Names of arrays by the kind of their elements and the number of their axes.
ARRAYS = {
    "f": ("Vector", "Matrix", "Tensor", "Tensor4"),
    "i": ("Ints", "IntMatrix", "IntTensor"),
    "b": ("Bools", "BoolMatrix", "BoolTensor"),
}
KINDS = {
    "Float",
    "Int",
    "Bool",
    "Number",
    "None",
    "Function",
    "Any",
    "np.ndarray",
    *(n for s in ARRAYS.values() for n in s),
}
#: Annotations that are right for other kinds as well.
WIDER = {"Number": {"Float", "Int", "Bool"}, "float": {"Float"}, "int": {"Int"}, "bool": {"Bool"}}
#: Whether a tuple of several classes may be of one in these runs: where annotations are only checked.
LENIENT = "--check" in sys.argv
#: Annotations of fields that say less than a kind.
VAGUE = ("np.ndarray", "Any", "NDArray", "")


def kind_of(numba_type: Any) -> Any:
    """The kind of a Numba type: a name, a class of named tuples, or a tuple of kinds."""
    from numba import types

    numba_type = types.unliteral(getattr(numba_type, "tuple_type", numba_type))
    if isinstance(numba_type, types.Omitted):
        return {bool: "Bool", int: "Int", float: "Float"}.get(type(numba_type.value), "Any")
    if isinstance(numba_type, types.BaseNamedTuple):
        return numba_type.instance_class
    if isinstance(numba_type, types.BaseTuple):
        return tuple(map(kind_of, numba_type.types))
    if isinstance(numba_type, types.Array):
        names = ARRAYS.get({"u": "i"}.get(_letter(numba_type.dtype), _letter(numba_type.dtype)), ())
        return names[numba_type.ndim - 1] if 0 < numba_type.ndim <= len(names) else "np.ndarray"
    if isinstance(numba_type, types.NoneType):
        return "None"
    if isinstance(numba_type, types.FunctionType | types.Callable):
        return "Function"
    return {"f": "Float", "i": "Int", "u": "Int", "b": "Bool"}.get(_letter(numba_type), "Any")


def _letter(numba_type: Any) -> str:
    from numba import types

    kinds = {types.Float: "f", types.Integer: "i", types.Boolean: "b"}
    return next((letter for kind, letter in kinds.items() if isinstance(numba_type, kind)), "")


class Seen:
    """What Numba inferred in this process: kinds of arguments and results by place in the source, and of fields."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, int, str, int], list[set[Any]]] = {}
        self.fields: dict[type, list[set[Any]]] = {}

    def look(self) -> None:
        """Add all kernels that are compiled now."""
        from numba.core.ccallback import CFunc
        from numba.core.dispatcher import Dispatcher

        for one in gc.get_objects():
            if isinstance(one, Dispatcher):
                for made in list(one.overloads.values()):
                    self.add(one.py_func, made.signature)
            elif isinstance(one, CFunc):
                self.add(one._pyfunc, one._sig)

    def add(self, function: Any, signature: Any) -> None:
        """Add a function that was compiled for these types."""
        code = function.__code__
        kinds = [kind_of(one) for one in (*signature.args, signature.return_type)]
        if len(signature.args) != code.co_argcount:
            return
        place = code.co_filename, code.co_firstlineno, code.co_name, code.co_argcount
        known = self.functions.setdefault(place, [set() for _ in kinds])
        for found, kind in zip(known, kinds, strict=True):
            found.add(kind)
        for one in signature.args:
            self.add_fields(one)

    def add_fields(self, numba_type: Any) -> None:
        """Add the fields of a type, if it is one of named tuples, and of those within it."""
        from numba import types

        named = getattr(numba_type, "tuple_type", numba_type)
        if isinstance(named, types.BaseNamedTuple):
            known = self.fields.setdefault(named.instance_class, [set() for _ in named.fields])
            for found, kind in zip(known, named.types, strict=True):
                found.add(kind_of(kind))
                self.add_fields(kind)


@contextmanager
def only_inferred() -> Iterator[None]:
    """Kernels are typed as usual and not compiled further, which takes twice as long: nothing can be run."""
    from numba.core.ccallback import CFunc
    from numba.core.compiler import DefaultPassBuilder
    from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
    from numba.core.typed_passes import NopythonTypeInference
    from numba.core.typing import signature

    from footfall.compiled import apart, private_numba

    @register_pass(mutates_CFG=False, analysis_only=True)
    class Typed(AnalysisPass):
        _name = "typed"

        def __init__(self) -> None:
            super().__init__()

        def run_pass(self, state: Any) -> bool:
            """What a caller asks of a compiled kernel when its own types are inferred."""
            types = signature(state.return_type, *state.args)
            known = {"entry_point": abs, "objectmode": False, "typing_error": None, "metadata": None}
            state.cr = SimpleNamespace(signature=types, **known)  # some function: none is called
            return True

    def passes(compiler: Any) -> list[Any]:
        usual = DefaultPassBuilder.define_nopython_pipeline(compiler.state).passes
        last = [one for one, _ in usual].index(NopythonTypeInference)
        manager = PassManager("typed")
        for one, description in [*usual[: last + 1], (Typed, "types alone")]:
            manager.add_pass(one, description)
        manager.finalize()
        return [manager]

    def pointer(own: Any, function: Any, options: dict[str, Any]) -> Any:
        made = CFunc(function, (own.args, own.return_type), {}, options, pipeline_class=private_numba._PartCompiler)
        made._compiler.compile(own.args, own.return_type)
        made._wrapper_address = -1
        return made

    real = apart.Apart.signature_for

    def noted(kernel: Any, arguments: Any) -> Any:
        """Cold kernels are noted when they are typed, since no call of them is lowered."""
        own = real(kernel, arguments)
        apart.asked[kernel.symbol, kernel.written(own)] = None
        return own

    with ExitStack() as stack:
        for owner, name, new in (
            (private_numba._PartCompiler, "define_pipelines", passes),
            (private_numba.KernelCache, "load_overload", lambda *_: None),
            (private_numba.KernelCache, "save_overload", lambda *_: None),
            (private_numba, "pointer", pointer),
            (apart.Apart, "signature_for", noted),
        ):
            stack.enter_context(patch.object(owner, name, new))
        yield


#: Jobs that only compile a loop.
LOOPS = ("step", "events", "loops")


def do(job: str) -> None:
    """Do a job, of loops and laws only the inference of types."""
    from footfall.simulation import warm

    def typed_loop(law: Any) -> Any:
        kernel = loop_of(law).advance

        def advance(*arguments: Any) -> None:
            with only_inferred():
                kernel.compile(tuple(map(kernel.typeof_pyval, arguments)))

        return SimpleNamespace(advance=advance)

    loop_of = warm.loop_of
    with patch.object(warm, "loop_of", typed_loop), only_inferred() if job.startswith("law-") else ExitStack():
        warm.do(job)


def compile_all(jobs: list[str]) -> Seen:
    """Do these jobs, or all, in this process and with an empty cache, and look at the types of all kernels."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"FOOTFALL_CACHE": folder, "FOOTFALL_COMPILING_HELPER": folder}
        from footfall.compiled import compile_cold
        from footfall.simulation import warm

        seen = Seen()
        # Those that compile come first: a caller is not compiled with kernels that are only typed.
        for job in sorted(jobs or warm.jobs(), key=lambda job: job in LOOPS or job.startswith("law-")):
            do(job)
        with only_inferred():
            compile_cold()
        seen.look()
    return seen


class Place:
    """A module whose annotations are written, with the classes that it must import for them."""

    def __init__(self, module: str, namespace: dict[str, Any]) -> None:
        self.module, self.namespace = module, namespace
        self.needed: dict[str, str] = {}

    def name_of(self, kind: type) -> str:
        """The name of a class here; that of any tuple if it cannot be imported from a room below."""
        name, home = kind.__name__, kind.__module__
        if name not in self.namespace and kind is not self.namespace.get(name) and may_import(self.module, home):
            self.needed[name] = home
            return name
        return name if self.namespace.get(name) is kind else "Named"


def may_import(module: str, home: str) -> bool:
    """Whether a module may import another: one of its own room or of one below, which does not import it in turn."""
    levels = {room: level for level, floor in enumerate(floors()) for room in floor}
    if not (home.startswith("footfall.") and module.startswith("footfall.")):
        return False
    ours, theirs = (name.split(".")[1] for name in (module, home))
    below = ours == theirs or levels.get(theirs, -1) > levels.get(ours, len(levels))
    reached, waiting = {home}, [home]
    for one in waiting:
        more = imports().get(one, set()) - reached
        reached |= more
        waiting += more
    return below and module not in reached


@cache
def floors() -> Any:
    """The rooms from the top, as the test of the house has them."""
    tree = ast.parse((SOURCE.parents[1] / "tests" / "test_house.py").read_text(encoding="utf-8"))
    return next(
        ast.literal_eval(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FLOORS"
    )


@cache
def imports() -> dict[str, set[str]]:
    """The modules of the package that each of them imports."""
    found: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        known = found.setdefault(module_of(path), set())
        for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                known |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
            elif isinstance(node, ast.Import):
                known |= {one.name for one in node.names}
    return found


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A statement and those inside it, without the expressions, which are most of a file."""
    yield node
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, part, ()):
            yield from statements(inner)


def module_of(path: Path) -> str:
    """The name of a file's module."""
    return ".".join(("footfall", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def text_of(kinds: set[Any], place: Place) -> str:
    """The annotation for something that is of these kinds; classes must be known where it stands."""
    if len(kinds) == 1:
        (kind,) = kinds
        if isinstance(kind, tuple):
            parts = ", ".join(text_of({one}, place) for one in kind)
            return f"tuple[{parts}]" if parts else "tuple[()]"
        if isinstance(kind, type):
            return place.name_of(kind)
        return str(kind)
    if kinds <= {"Float", "Int", "Bool"}:
        return "Number"
    if all(isinstance(kind, type) for kind in kinds):
        return "Named"
    if all(isinstance(kind, tuple) for kind in kinds) and len({len(kind) for kind in kinds}) == 1:
        return f"tuple[{', '.join(text_of(set(part), place) for part in zip(*kinds, strict=True))}]"
    return "Any"


def fits(annotation: str, wanted: str) -> bool:
    """Whether an annotation is right for what was inferred; it may be wider than these runs show."""
    if annotation == wanted or annotation == "Any" or wanted in WIDER.get(annotation, ()):
        return True
    if annotation.startswith("tuple[") and wanted.startswith("tuple["):
        ours, theirs = (_parts(one) for one in (annotation, wanted))
        return len(ours) == len(theirs) and all(map(fits, ours, theirs))
    return LENIENT and annotation == "Named" and wanted not in KINDS and not wanted.startswith("tuple[")


def _parts(annotation: str) -> list[str]:
    inside = ast.parse(annotation, mode="eval").body.slice  # type: ignore[attr-defined]
    return [ast.unparse(one) for one in (inside.elts if isinstance(inside, ast.Tuple) else [inside])]


class Change:
    """New text for a part of a file, with what was there and what it belongs to."""

    def __init__(self, start: int, end: int, text: str, report: str) -> None:
        self.start, self.end, self.text, self.report = start, end, text, report


def signature_end(source: str, start: int) -> int:
    """Where the colon of a function definition stands that starts there."""
    depth = 0
    offsets = line_starts(source[start:])
    for token in tokenize.generate_tokens(io.StringIO(source[start:]).readline):
        depth += (token.string in "([{" and token.type == tokenize.OP) - (token.string in ")]}" and token.string != "")
        if token.type == tokenize.OP and token.string == ":" and depth == 0:
            return start + offsets[token.start[0] - 1] + token.start[1]
    raise ValueError("a function without a colon")


def line_starts(source: str) -> list[int]:
    """Where each line starts."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def function_change(source: str, node: Any, seen: list[set[Any]], place: Place) -> Change | None:
    """The annotated first line of a kernel, or ``None`` if it is right."""
    given = [*node.args.posonlyargs, *node.args.args]
    if len(given) != len(seen) - 1 or node.args.vararg or node.args.kwonlyargs:
        return None
    wrong = []
    for argument, kinds in zip(given, seen, strict=False):
        wanted, now = text_of(kinds, place), ast.unparse(argument.annotation) if argument.annotation else ""
        if not fits(now, wanted):
            argument.annotation = ast.Name(wanted)
            wrong.append(f"{argument.arg}: {now or 'nothing'} for {wanted}")
    wanted, now = text_of(seen[-1], place), ast.unparse(node.returns) if node.returns else ""
    if not fits(now, wanted):
        node.returns = ast.Name(wanted)
        wrong.append(f"returns {now or 'nothing'} for {wanted}")
    if not wrong:
        return None
    start = line_starts(source)[node.lineno - 1] + node.col_offset
    end = signature_end(source, start)
    if "#" in source[start:end]:
        return Change(start, start, "", f"{node.name}: a comment between its arguments: annotate it by hand")
    text = f"def {node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}"
    return Change(start, end, text, f"{node.name}: {'; '.join(wrong)}")


def kind_beside_shape(annotation: ast.expr) -> ast.expr:
    """The kind in an annotation, which may have a shape, too: ``Annotated[Matrix, "P", 3]``."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Annotated":
        return annotation.slice.elts[0]  # type: ignore[attr-defined]
    return annotation


def field_changes(source: str, node: ast.ClassDef, seen: list[set[Any]], place: Place) -> list[Change]:
    """Annotations of those fields of a named tuple that are arrays or unknown."""
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
    if len(fields) != len(seen):
        return []
    found, starts = [], line_starts(source)
    for field, kinds in zip(fields, seen, strict=True):
        kind = kind_beside_shape(field.annotation)
        now, wanted = ast.unparse(kind), text_of(kinds, place)
        vague = now in VAGUE or any(now in names for names in ARRAYS.values())
        if vague and wanted not in ("Any", "Named", "Function", "np.ndarray") and not fits(now, wanted):
            start = starts[kind.lineno - 1] + kind.col_offset
            assert kind.end_lineno is not None and kind.end_col_offset is not None
            end = starts[kind.end_lineno - 1] + kind.end_col_offset
            found.append(Change(start, end, wanted, f"{node.name}.{field.target.id}: {now} for {wanted}"))  # type: ignore[attr-defined]
    return found


def changes_of(path: Path, seen: Seen) -> tuple[list[Change], Place | None]:
    """What is missing or wrong in a file, and what it must import for that."""
    source = path.read_text(encoding="utf-8")
    name = module_of(path)
    if name not in sys.modules:
        return [], None
    place = Place(name, vars(sys.modules[name]))
    classes = {kind.__name__: kinds for kind, kinds in seen.fields.items() if kind.__module__ == name}
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            line = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            count = len(node.args.posonlyargs) + len(node.args.args)
            if (kinds := seen.functions.get((str(path), line, node.name, count))) is not None:
                change = function_change(source, node, kinds, place)
                found += [change] if change else []
        elif isinstance(node, ast.ClassDef) and node.name in classes:
            found += field_changes(source, node, classes[node.name], place)
    return found, place


def write(path: Path, changes: list[Change], place: Place) -> None:
    """Make changes in a file, and import the names that it uses now."""
    source = path.read_text(encoding="utf-8")
    for one in sorted(changes, key=lambda one: -one.start):
        source = source[: one.start] + one.text + source[one.end :]
    tree = ast.parse(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    from footfall import kinds

    names = sorted(used & set(kinds.__all__))
    lines = source.splitlines()
    old = next((i for i, line in enumerate(lines) if line.startswith("from footfall.kinds import")), None)
    if old is not None:
        while not lines[old].endswith(")") and "(" in lines[old]:
            lines[old] += lines.pop(old + 1)
        lines.pop(old)
    added = [f"from footfall.kinds import {', '.join(names)}"] if names else []
    added += [f"from {home} import {name}" for name, home in sorted(place.needed.items()) if name in used]
    if "Any" in used and not any(line.startswith("from typing import") and "Any" in line for line in lines):
        added.append("from typing import Any")
    after = next(i for i, line in enumerate(lines) if line.startswith("from __future__"))
    lines[after + 1 : after + 1] = added
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Annotate, or check."""
    options = argparse.ArgumentParser(description=inspect.getdoc(sys.modules[__name__]))
    options.add_argument("--check", action="store_true")
    options.add_argument("--jobs", nargs="*", default=[])
    options.add_argument("rooms", nargs="*", default=["."])
    given = options.parse_args()
    sys.path.insert(0, str(SOURCE.parent))
    seen = compile_all(given.jobs)
    places = [SOURCE / room for room in given.rooms]
    files = sorted({file for place in places for file in ([place] if place.is_file() else place.rglob("*.py"))})
    changed = []
    for path in files:
        changes, place = changes_of(path, seen)
        for one in changes:
            print(f"{path.relative_to(SOURCE)}: {one.report}")
        if changes and place is not None and not given.check:
            write(path, [one for one in changes if one.text], place)
        changed += [path] if changes else []
    if changed and not given.check:
        names = [str(path) for path in changed]
        subprocess.run([sys.executable, "-m", "ruff", "check", "-q", "--fix", "--select", "I,F401", *names], check=True)
        subprocess.run([sys.executable, "-m", "ruff", "format", "-q", *names], check=True)
    print(f"{len(seen.functions)} kernels and {len(seen.fields)} kinds of tuples seen, {len(changed)} files")
    return int(bool(changed) and given.check)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
