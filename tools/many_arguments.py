"""List functions of the package with more than eight arguments, those with the most first, and how many are options."""

import ast
import sys
from pathlib import Path

MOST = 8


def arguments(function: ast.FunctionDef) -> int:
    """How many arguments a caller may give."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


found = []
for path in sorted(Path(sys.argv[1] if len(sys.argv) > 1 else "src").rglob("*.py")):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and arguments(node) > MOST:
            options = len(node.args.kwonlyargs)
            named = f" ({options} by keyword)" if options else ""
            found.append((arguments(node), f"{path}:{node.lineno}", node.name + named))
for count, place, name in sorted(found, reverse=True):
    print(f"{count:3} {name} {place}")
