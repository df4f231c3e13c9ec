"""Write guides of the documentation as executed notebooks, docs/notebooks/*.ipynb, with the standard library alone.

    python tools/make_notebooks.py

A notebook has the text of its guide and its Python, run in order, with what it printed and the figures it ends with.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
GUIDES = ("push", "terrain", "sweep", "walk")
PYTHON = re.compile(r"^```python\n(.*?)^```\n?", re.M | re.S)
#: Pixels per inch of a figure: enough to read, and small to keep.
DPI = 90


def cells(guide: str) -> list[dict[str, Any]]:
    """The cells of a guide's text, not yet run."""
    parts = PYTHON.split(guide)  # text, code, text, ...
    found = []
    for i, part in enumerate(parts):
        if not part.strip():
            continue
        cell: dict[str, Any] = {"id": f"cell-{len(found)}", "metadata": {}, "source": part.strip("\n")}
        code = {"cell_type": "code", "execution_count": None, "outputs": []}
        found.append({**cell, **(code if i % 2 else {"cell_type": "markdown"})})
    return found


def run(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and what its last expression is worth."""
    tree, printed, last = ast.parse(source), io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            value = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
            exec(compile(tree, "cell", "exec"), names)
            last = eval(compile(value, "cell", "eval"), names)
        else:
            exec(compile(tree, "cell", "exec"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if last is not None:
        outputs.append({"output_type": "display_data", "metadata": {}, "data": shown(last)})
    return outputs


def shown(value: Any) -> dict[str, str]:
    """A value as a notebook shows it: a figure as a picture, anything else as text."""
    if not hasattr(value, "savefig"):
        return {"text/plain": repr(value)}
    picture = io.BytesIO()
    value.savefig(picture, format="png", dpi=DPI)
    return {"text/plain": "a figure", "image/png": base64.b64encode(picture.getvalue()).decode("ascii")}


def notebook(guide: str) -> dict[str, Any]:
    """A guide as a notebook that has been run."""
    found, names = cells(guide), {"__name__": "notebook"}
    count = 0
    for cell in found:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"], cell["outputs"] = count, run(cell["source"], names)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": found,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def main() -> None:
    target = DOCS / "notebooks"
    target.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    for name in GUIDES:
        text = (DOCS / "guides" / f"{name}.md").read_text(encoding="utf-8")
        before = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)  # guides write files
            try:
                made = notebook(text)
            finally:
                os.chdir(before)
        (target / f"{name}.ipynb").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        print(f"docs/notebooks/{name}.ipynb")


if __name__ == "__main__":
    main()
