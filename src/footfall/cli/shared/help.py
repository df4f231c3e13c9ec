"""The help of a command: paragraphs as wide as the screen, and options without uninformative defaults."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from contextlib import redirect_stdout, suppress
from dataclasses import MISSING, field, fields, make_dataclass
from io import StringIO
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import tyro

#: Most columns of a paragraph.
WIDTH = 100
#: Where the text of a command goes.
PLACE = "the-text-of-the-command"
#: In the help of a command each option begins a line, followed by its other name.
OPTION = re.compile(r"^[│| ]*(?:-\w, )?(--[a-z][\w.-]*)(?:, (--[a-z][\w.-]*))?", re.M)
NAMES = {float: "FLOAT", int: "INT", str: "TEXT", Path: "FILE"}


class _Screen(StringIO):
    """A screen that keeps what is printed, with the colours of the real one."""

    encoding = "ascii" if sys.__stdout__ is None else sys.__stdout__.encoding

    def isatty(self) -> bool:
        return sys.__stdout__ is not None and sys.__stdout__.isatty()


def help_of(command: type, program: str, about: str) -> str:
    """The help of a command as text."""
    text = _Screen()
    with redirect_stdout(text), suppress(SystemExit):
        tyro.cli(with_plain_help(command), args=["--help"], prog=program, description=PLACE, config=(CONFIG,))
    return text.getvalue().replace(PLACE, filled(about, min(WIDTH, shutil.get_terminal_size().columns)))


def options_in(text: str) -> list[str]:
    """The options named in a help text."""
    return list(dict.fromkeys(option for pair in OPTION.findall(text) for option in pair if option))


def filled(text: str, width: int) -> str:
    """Paragraphs filled to a width, examples indented."""
    blocks = []
    for block in text.split("\n\n"):
        is_example = block.startswith(("footfall ", "eval "))
        one = " ".join(block.split())
        blocks.append(f"  {one}" if is_example else textwrap.fill(one, width, break_on_hyphens=False))
    return "\n\n".join(blocks)


def with_plain_help(command: type) -> type:
    """The same command, with the help of its options as :func:`described` makes it."""
    hints = get_type_hints(command, include_extras=True)
    added = []
    for one in fields(command):
        if not one.name.endswith("_options"):  # made by ``described`` as they are
            default = {} if one.default is MISSING else {"default": one.default}
            added.append((one.name, described(hints[one.name], one.default), field(**default)))
    return make_dataclass("Command", added, bases=(command,), frozen=True, kw_only=True)


def described(hint: Any, default: Any, *, about: str | None = None, aliases: tuple[str, ...] = ()) -> Any:
    """A type as tyro reads it: with a help text, without the defaults False, None and empty, and without None as a
    choice.
    """
    plain, *given = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    nothing = default is None or default is False or default == "" or default == ()
    nothing |= default is MISSING and Ellipsis in get_args(plain)  # as many as there are, or none
    said = "" if nothing and tyro.conf.UseAppendAction not in given else None  # of which tyro says "(repeatable)"
    ours = tyro.conf.arg(help=about, metavar=_without_none(plain), help_behavior_hint=said, aliases=aliases or None)
    return Annotated[(plain, ours, *given)]


def _without_none(hint: Any) -> str | None:
    """The placeholder of a value that may be left out; None where tyro's own will do."""
    parts = get_args(hint) if get_origin(hint) in (UnionType, Union) else ()
    (*others,) = (part for part in parts if part is not NoneType)
    if len(parts) != 2 or len(others) != 1:
        return None
    if get_origin(others[0]) is Literal:
        return "|".join(map(str, get_args(others[0])))
    return NAMES.get(others[0])


CONFIG = tyro.conf.FlagCreatePairsOff
