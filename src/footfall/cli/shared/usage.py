"""How a command is typed: errors of usage in one sentence, pairs NAME=VALUE, and the help of a command."""

from __future__ import annotations

import difflib
import math
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from io import StringIO
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

import tyro

from footfall.errors import FootfallError
from footfall.errors import UsageError as UsageError
from footfall.given_numbers import Bounds

Command = TypeVar("Command")


@dataclass(frozen=True, kw_only=True)
class JsonOption:
    """For people, or for programs."""

    json: bool = False
    """print JSON"""


@dataclass(frozen=True, kw_only=True)
class FileOptions(JsonOption):
    """A file that is written."""

    overwrite: bool = False
    """replace a file that is there"""

    def check_file(self, path: Path | None) -> None:
        """Refuse a file that is there, before anything is computed."""
        if path is not None and path.is_file() and not self.overwrite:
            raise UsageError(f"'{path}' is there already: give another name, or --overwrite to replace it")


def pairs(texts: Iterable[str], what: str, form: str) -> dict[str, str]:
    """Texts ``NAME=VALUE`` as a mapping; any other text is refused, naming ``what`` it should be and its ``form``."""
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not (name and value):
            raise UsageError(f"cannot read {what} '{text}': write {form}")
        found[name] = value
    return found


#: Units in which quantities may be typed, by the unit of an option: what one of them is in that unit.
MULTIPLES: dict[str, dict[str, float]] = {
    "s": {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "min": 60.0},
    "m": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "µm": 1e-6, "um": 1e-6, "km": 1e3},
    "rad": {"rad": 1.0, "deg": math.radians(1.0), "°": math.radians(1.0)},
    "m/s": {"m/s": 1.0, "cm/s": 1e-2, "mm/s": 1e-3, "km/h": 1.0 / 3.6},
    "rad/s": {"rad/s": 1.0, "deg/s": math.radians(1.0), "°/s": math.radians(1.0)},
    "N": {"N": 1.0, "kN": 1e3, "mN": 1e-3},
    "N/m": {"N/m": 1.0, "kN/m": 1e3, "N/mm": 1e3},
    "kg": {"kg": 1.0, "g": 1e-3},
}
_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|[-+]?inf)\s*(.*?)\s*")


def in_unit(text: str, name: str) -> float:
    """A typed quantity in the unit of its option: "50 ms" is 0.05 in s; a number alone is in that unit."""
    match = _QUANTITY.fullmatch(text)
    if match is None or (match[2] and match[2] not in MULTIPLES[name]):
        raise ValueError(f"'{text}'")
    return float(match[1]) * MULTIPLES[name].get(match[2], 1.0)


def unit(name: str) -> Any:
    """How tyro reads an option that is a quantity in this unit, or in a multiple of it."""
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar=name,
        instance_from_str=lambda args: in_unit(args[0], name),
        is_instance=lambda value: value is None or isinstance(value, float | int),
        str_from_instance=lambda value: ["" if value is None else f"{value:g}"],
    )


def _unit_of(about: str) -> str | None:
    """The unit that the help of an option says, as a part of its own or as its first word."""
    said = [part.strip() for part in re.split(r"[,;]| per ", about)]
    return next((one for one in (*said, *about.split()[:1]) if one in MULTIPLES), None)


def with_repeats(command: type, args: list[str]) -> list[str]:
    """Options of any number of values that were typed more than once, once with all their values."""
    for one in fields(command):
        flag, kind = f"--{one.name.replace('_', '-')}", str(one.type)
        many = "Ranges" in kind or ("tuple[" in kind and ", ..." in kind and "UseAppendAction" not in kind)
        if not many or args.count(flag) < 2:
            continue
        values: list[str] = []
        rest: list[str] = []
        into = rest
        for arg in args:
            into = values if arg == flag else rest if arg.startswith("--") else into
            if arg != flag:
                into.append(arg)
        args = [*rest, flag, *values]
    return args


def within_bounds(command: Command) -> Command:
    """The same command, if every number is one that its option allows."""
    for name, hint in get_type_hints(type(command), include_extras=True).items():
        bounds = next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Bounds)), None)
        given = getattr(command, name)
        for value in given if isinstance(given, tuple) else (given,):
            if isinstance(value, float) and math.isnan(value):
                bounds = bounds or Bounds()
            if bounds is not None and value is not None and not bounds.ends[0] <= value <= bounds.ends[1]:
                kind = "a whole number" if isinstance(value, int) else f"a {'finite ' * math.isinf(value)}number"
                wanted = f"{kind} {bounds}".rstrip()
                error = FootfallError(f"{name} = {value:g}, but it must be {wanted}")
                error.refused = name, wanted
                raise error
    return command


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
    own = _unit_of(about or "") if plain in (float, float | None) else None
    given += [] if own is None else [unit(own)]
    has_unit = any(isinstance(one, tyro.constructors.PrimitiveConstructorSpec) for one in given)
    nothing = default is None or default is False or default == "" or default == ()
    nothing |= default is MISSING and Ellipsis in get_args(plain)  # as many as there are, or none
    said = "" if nothing and tyro.conf.UseAppendAction not in given else None  # of which tyro says "(repeatable)"
    metavar = None if has_unit else _without_none(plain)
    ours = tyro.conf.arg(
        help=about,
        metavar=metavar,
        help_behavior_hint="(on unless this is given)" if default is True else said,
        aliases=aliases or None,
    )
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


#: What an argument must be, by its placeholder.
WANTED = {"FLOAT": "a number", "INT": "a whole number", "FLOAT FLOAT": "two numbers", "INT INT": "two whole numbers"}
WANTED |= {name: f"a number in {name}, or one with its unit ({', '.join(known)})" for name, known in MULTIPLES.items()}
QUOTED = re.compile(r"\['([^']*)'|'([^']*)'$")


@contextmanager
def in_one_sentence(
    command: str, options: Callable[[], list[str]], who_has: Callable[[str], str | None]
) -> Iterator[None]:
    """Raise a ``UsageError`` in place of the page that tyro prints; ``options`` are those of the command, and
    ``who_has`` says where others are.

    This uses private parts of tyro: where a version lacks them tyro prints its page, and where its errors differ the
    sentence says only that something is wrong.
    """
    try:
        from tyro import _errors
    except ImportError:
        _errors = None  # type: ignore[assignment]

    def refuse(event: Any) -> NoReturn:
        try:
            sentence = _sentence(event, command, options, who_has)
        except (AttributeError, TypeError, IndexError):
            sentence = f"{command} was typed wrongly"
        raise UsageError(f"{sentence}{' ' if sentence.endswith('?') else '; '}footfall {command} --help says more")

    hook = getattr(_errors, "on_parse_error", None)
    with nullcontext() if hook is None else hook(refuse):
        yield


def _sentence(event: Any, command: str, options: Callable[[], list[str]], who_has: Callable[[str], str | None]) -> str:
    kind = type(event).__name__
    if kind == "MissingArgs":
        missing = [(_name(one.arg), _about(one.arg)) for one in event.missing_arguments]
        if len(missing) == 1:
            return f"{command} needs {': '.join(missing[0])}"
        return f"{command} needs {' and '.join(f'{name} ({about})' for name, about in missing)}"
    if kind == "UnrecognizedArgs":
        return _unknown(event.tokens[0], command, options, who_has)
    if kind == "InvalidChoice":
        choices = ", ".join(choice for choice in event.choices if choice != "None")
        what = command if event.argument.is_positional() else _name(event.argument)
        return f"{what} takes one of {choices}, and not '{event.value}'"
    argument = getattr(event, "argument", None)
    if argument is None:
        return str(getattr(event, "message", kind)).split("\n")[0]
    if getattr(event, "reason", "") == "too_few_values" and argument.is_positional():
        return f"{command} needs {_name(argument)}: {_about(argument)}"
    placeholder = str(argument.lowered.metavar).strip("[]")
    wanted = WANTED.get(placeholder, placeholder)
    given = QUOTED.search(getattr(event, "message", "").split("\n")[0])
    instead = "" if given is None else f", and not '{given[1] or given[2]}'"
    return f"{_name(argument)} takes {wanted}{instead} ({_about(argument)})"


def _unknown(token: str, command: str, options: Callable[[], list[str]], who_has: Callable[[str], str | None]) -> str:
    """An option that does not exist here, with where it does, or else the nearest one."""
    if not token.startswith("-"):
        return f"{command} does not know what to do with '{token}'"
    name = token.partition("=")[0]
    if where := who_has(name):
        return f"{command} has no option '{name}' here: {where}"
    known = options()
    alone = {f"--{option.rpartition('.')[2].lstrip('-')}": option for option in known}  # as they may have been meant
    near = difflib.get_close_matches(name, [*known, *alone], n=1, cutoff=0.7)
    hint = f": did you mean '{alone.get(near[0], near[0])}'?" if near else ""
    return f"{command} has no option '{name}' here{hint}"


def _name(argument: Any) -> str:
    """How an argument is typed."""
    lowered = argument.lowered
    return str(lowered.metavar).strip("[]") if argument.is_positional() else str(lowered.name_or_flags[-1])


def _about(argument: Any) -> str:
    """What an argument is, as its help says."""
    text = argument.field.helptext
    return " ".join(str((text() if callable(text) else text) or "").split())
