"""Annotations of kernels say what Numba infers, and the tool that writes them changes nothing that is right."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from numba import types

from footfall.compiled import Reference

TOOL = Path(__file__).parents[2] / "tools" / "annotate_kernels.py"
spec = importlib.util.spec_from_file_location("annotate_kernels", TOOL)
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

#: Point laws, whose annotations are compared here; those of all that a step calls, which take minutes, nightly.
LAWS = ("spring_damper", "hunt_crossley", "distributed")


@pytest.mark.slow
def test_annotations_are_what_numba_infers():
    jobs, files = ([text.format(law) for law in LAWS] for text in ("law-{}", "contact/{}.py"))
    jobs = [job.replace("_", "-") for job in jobs]
    command = [sys.executable, str(TOOL), "--check", "--jobs", *jobs, "--", *files, "contact/springs"]
    ended = subprocess.run(command, env=os.environ | {"NUMBA_OPT": "0"}, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


#: What makes a function a kernel.
KERNEL = {"kernel", "inlined", "cold"}


def test_every_kernel_has_kinds():
    without, count = [], 0
    for path in sorted(tool.SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in tool.statements(ast.parse(text)) if "footfall.compiled import" in text else ():
            made_by = [getattr(one, "func", one) for one in getattr(node, "decorator_list", ())]
            if not KERNEL.isdisjoint(map(ast.unparse, made_by)):
                count += 1
                kinds = [node.returns, *(one.annotation for one in node.args.args)]
                without += [f"{path.relative_to(tool.SOURCE)}: {node.name}"] if None in kinds else []
    assert count > 500
    assert without == []


class Pair(NamedTuple):
    x: float
    y: float


PAIR = types.NamedUniTuple(types.float64, 2, Pair)
KINDS = [
    (types.float64, "Float"),
    (types.literal(3), "Int"),
    (types.boolean, "Bool"),
    (types.none, "None"),
    (types.float64[::1], "Vector"),
    (types.int32[:, :], "IntMatrix"),
    (PAIR, "Pair"),
    (Reference(PAIR), "Pair"),
    (types.Tuple([types.float64, types.int64]), "tuple[Float, Int]"),
    (types.FunctionType(types.float64(types.float64)), "Function"),
]


@pytest.mark.parametrize("numba_type, text", KINDS, ids=[text for _, text in KINDS])
def test_every_numba_type_has_a_kind(numba_type, text):
    assert tool.text_of({tool.kind_of(numba_type)}, tool.Place("footfall.x", {"Pair": Pair})) == text


HERE = tool.Place("footfall.here", {})


def test_a_class_is_imported_from_its_room_or_from_one_below_and_never_in_a_circle():
    assert tool.may_import("footfall.engine.dynamics.inertia", "footfall.engine.dynamics.tree")
    assert tool.may_import("footfall.engine.step", "footfall.solve.contacts")
    assert not tool.may_import("footfall.solve.contacts", "footfall.engine.step")
    assert not tool.may_import("footfall.engine.dynamics.tree", "footfall.engine.dynamics.kinematics")


def test_what_is_called_with_several_types_has_the_kind_of_all():
    assert tool.text_of({"Int", "Float"}, HERE) == "Number"
    assert tool.text_of({("Int",), ("Float",)}, HERE) == "tuple[Number]"
    assert tool.text_of({"Vector", "Float"}, HERE) == "Any"
    assert tool.text_of({Pair}, HERE) == "Named"  # where its class is not known


def annotated(source: str) -> str | None:
    """A function of a number and a vector that returns a number, annotated; None if nothing is to be done."""
    change = tool.function_change(source, ast.parse(source).body[0], [{"Float"}, {"Vector"}, {"Float"}], HERE)
    return None if change is None else source[: change.start] + change.text + source[change.end :]


RIGHT = "def f(a: Float, b: Vector=None) -> Float:\n    return {1: a}[1]\n"


@pytest.mark.parametrize(
    "before",
    [
        "def f(a, b=None):\n    return {1: a}[1]\n",
        "def f(\n    a: Int,\n    b: Matrix=None,\n) -> None:\n    return {1: a}[1]\n",
    ],
)
def test_missing_and_wrong_annotations_are_written(before):
    assert annotated(before) == RIGHT


def test_right_and_wider_annotations_stay():
    assert annotated(RIGHT) is None
    assert annotated(RIGHT.replace("a: Float", "a: Number").replace("Vector", "Any")) is None
