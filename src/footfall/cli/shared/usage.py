"""How a command is typed: its options and arguments read, its help, and errors of usage in one sentence each.

The fields of a :class:`Command` are made by :func:`option` and :func:`argument`. What is typed follows one rule:
``--name`` or ``--name=value`` begins an option, which takes as many of the next words as its type says, an option of
any number of values all up to the next name; what is left are the arguments.
"""

from __future__ import annotations

import difflib
import math
import re
import shutil
import textwrap
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from itertools import zip_longest
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, dataclass_transform, get_args, get_origin, get_type_hints

from footfall.errors import FootfallError
from footfall.errors import UsageError as UsageError
from footfall.given_numbers import Bounds

# ---- fields of commands ---------------------------------------------------------------------------------------------


def option(default: Any, about: str, metavar: str = "", **how: Any) -> Any:
    """A field that is typed with its name, with its help; its default is ``...`` if it must be typed.

    ``metavar`` stands for its value in the help, ``unit`` is that of a quantity, ``note`` takes the place of "(default:
    ...)", an option that ``repeats`` is typed once for each of its values, ``name`` is another one than the field's. A
    mapping is typed as NAME=VALUE; ``pair`` says what one of them is, and how it is written.
    """
    own = {} if default is ... else {"default": default}
    return field(**own, metadata={"about": about, "metavar": metavar, **how})


def argument(metavar: str, about: str, default: Any = ...) -> Any:
    """A field that is typed without a name."""
    return option(default, about, metavar, name="")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, option, argument))
class Command:
    """What is typed for a command, or the options that some commands share: a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class JsonOption(Command):
    """For people, or for programs."""

    json: bool = option(False, "print JSON")


class FileOptions(JsonOption):
    """A file that is written."""

    overwrite: bool = option(False, "replace a file that is there")

    def check_file(self, path: Path | None) -> None:
        """Refuse a file that is there, before anything is computed."""
        if path is not None and path.is_file() and not self.overwrite:
            raise UsageError(f"'{path}' is there already: give another name, or --overwrite to replace it")


# ---- quantities -----------------------------------------------------------------------------------------------------

#: Units in which quantities may be typed, by the unit of an option: what one of them is in that unit.
MULTIPLES: dict[str, dict[str, float]] = {
    "s": {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "min": 60.0},
    "m": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "µm": 1e-6, "um": 1e-6, "km": 1e3},
    "rad": {"rad": 1.0, "deg": math.radians(1.0), "°": math.radians(1.0)},
    "m/s": {"m/s": 1.0, "cm/s": 1e-2, "mm/s": 1e-3, "km/h": 1.0 / 3.6},
    "rad/s": {"rad/s": 1.0, "deg/s": math.radians(1.0), "°/s": math.radians(1.0)},
    "N": {"N": 1.0, "kN": 1e3, "mN": 1e-3},
    "N/m": {"N/m": 1.0, "kN/m": 1e3, "N/mm": 1e3},
    "N s/m": {"N s/m": 1.0, "kN s/m": 1e3},
    "N m/rad": {"N m/rad": 1.0, "N m/deg": 1.0 / math.radians(1.0)},
    "N m s/rad": {"N m s/rad": 1.0, "N m s/deg": 1.0 / math.radians(1.0)},
    "kg": {"kg": 1.0, "g": 1e-3},
}
_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|[-+]?inf)\s*(.*?)\s*")


def in_unit(text: str, name: str) -> float:
    """A typed quantity in the unit of its option: "50 ms" is 0.05 in s; a number alone is in that unit."""
    match = _QUANTITY.fullmatch(text)
    if match is None or (match[2] and match[2] not in MULTIPLES[name]):
        raise ValueError(f"'{text}'")
    return float(match[1]) * MULTIPLES[name].get(match[2], 1.0)


# ---- options as they are typed --------------------------------------------------------------------------------------

PLACEHOLDERS = {float: "FLOAT", int: "INT", str: "TEXT", Path: "FILE"}
#: What must be typed for one value, and for a row of them.
ONE, ROW = {float: "a number", int: "a whole number"}, {float: "numbers", int: "whole numbers"}


class Option:
    """A field as it is typed; ``key`` is its name, as in "law.k" of what another option chooses."""

    def __init__(
        self,
        key: str,
        hint: Any,
        default: Any,
        about: str,
        *,
        name: str | None = None,
        alias: str = "",
        metavar: str = "",
        unit: str = "",
        note: str | None = None,
        repeats: bool = False,
        pair: tuple[str, str] | None = None,
    ) -> None:
        self.key, self.default, self.about, self.unit, self.pair = key, default, about, unit, pair
        kind, self.bounds = _plain(hint)
        row = get_args(kind) if get_origin(kind) is tuple else (get_args(kind)[1], ...) if pair else ()
        self.type = row[0] if row else kind  # of one value
        self.choices = get_args(self.type) if get_origin(self.type) is Literal else ()
        #: Whether there may be any number of values, and how many follow one name.
        self.many = Ellipsis in row
        self.count = 0 if kind is bool else 1 if repeats else math.inf if self.many else len(row) or 1
        room, dot, last = key.rpartition(".")
        own = f"--{room}{dot}{'no-' * (default is True)}{(name or last).replace('_', '-')}"
        #: How it may be typed; an argument has no names.
        self.names = () if name == "" else (alias, own) if alias else (own,)
        usual = pair[1].partition(",")[0] if pair else "|".join(self.choices) or unit or PLACEHOLDERS.get(self.type, "")
        self.metavar = metavar or " ".join([usual] * (len(row) or 1)).replace(f" {usual}", "...", self.many)
        self.note = ("(repeatable)" if repeats else _note(default, self.owed)) if note is None else note

    @property
    def is_typeable(self) -> bool:
        """Whether a value can be made of a word."""
        return self.type is bool or self.type in PLACEHOLDERS or bool(self.choices)

    @property
    def owed(self) -> bool:
        """Whether it must be typed."""
        return self.default is ... and not self.many

    @property
    def shown(self) -> str:
        """How it is called in a sentence."""
        return self.names[-1] if self.names else self.metavar.strip("[]")

    def read(self, texts: Sequence[str], command: str) -> Any:
        """The value that was typed."""
        if self.type is bool:
            return self.default is not True
        if len(texts) < self.count < math.inf:
            raise self._refused()
        if self.pair is not None:
            return dict(self._named(text, *self.pair) for text in texts)
        values = tuple(self._one(text, command) for text in texts)
        return values if self.many or self.count > 1 else values[0]

    def _named(self, text: str, what: str, form: str) -> tuple[str, Any]:
        name, _, value = text.partition("=")
        try:
            if name and value:
                return name, self.type(value)
        except ValueError:
            pass
        raise UsageError(f"cannot read {what} '{text}': write {form}")

    def _one(self, text: str, command: str) -> Any:
        if self.choices and text not in self.choices:
            what = self.shown if self.names else command
            raise UsageError(f"{what} takes one of {', '.join(self.choices)}, and not '{text}'")
        try:
            value = in_unit(text, self.unit) if self.unit else text if self.choices else self.type(text)
        except ValueError:
            raise self._refused(f", and not '{text}'") from None
        if isinstance(value, float | int):
            least, most = self.bounds.ends if self.bounds else (-math.inf, math.inf)
            if not least <= value <= most:  # as NaN never is
                kind = ONE[int] if self.type is int else f"a {'finite ' * math.isinf(value)}number"
                wanted = f"{kind} {self.bounds or ''}".rstrip()
                raise FootfallError(f"{self.shown} takes {wanted}, and not '{text}'")
        return value

    def _refused(self, instead: str = "") -> UsageError:
        wanted = ONE.get(self.type, self.metavar)
        if self.unit:
            wanted = f"a number in {self.unit}, or one with its unit ({', '.join(MULTIPLES[self.unit])})"
        elif self.count > 1 and self.type in ROW:
            wanted = f"{'two ' * (self.count == 2)}{ROW[self.type]}"
        about = f" ({self.about})" if self.about else ""
        return UsageError(f"{self.shown} takes {wanted}{instead}{about}")


def _plain(hint: Any) -> tuple[Any, Bounds | None]:
    """A type without its bounds and without None, and the bounds."""
    kind, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if get_origin(kind) in (UnionType, Union):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    return kind, next((one for one in more if isinstance(one, Bounds)), None)


def _note(default: Any, owed: bool) -> str:
    """What the help says of a default."""
    if default is True:
        return "(on unless this is given)"
    if default in ("", (), ...) or default is None or default is False:
        return "(required)" if owed else ""
    row = default if isinstance(default, tuple) else (default,)
    return f"(default: {' '.join(f'{one:.4g}' if isinstance(one, float) else str(one) for one in row)})"


def options_of(command: type) -> list[Option]:
    """The options and arguments of a command, in the order of its fields."""
    hints = get_type_hints(command, include_extras=True)
    made = [one for one in fields(command) if "about" in one.metadata]
    return [Option(one.name, hints[one.name], default_of(one), **one.metadata) for one in made]


def default_of(one: Any) -> Any:
    """The default of a field; ``...`` where it has none."""
    return ... if one.default is MISSING else one.default


def values_of(
    options: Sequence[Option], args: Sequence[str], command: str, who_has: Callable[[str], str]
) -> dict[str, Any]:
    """What was typed, by the keys of the options; ``who_has`` says where an option is that is not among them."""
    named = {name: one for one in options for name in one.names}
    typed, alone, unknown = _sorted_out(named, args)
    for one in options:
        if not one.names and (alone or one.many):
            count = len(alone) if one.many else 1
            typed[one.key], alone = alone[:count], alone[count:]
    missing = [one for one in sorted(options, key=lambda one: bool(one.names)) if one.owed and one.key not in typed]
    if len(missing) == 1:
        raise UsageError(f"{command} needs {missing[0].shown}: {missing[0].about}")
    if missing:
        raise UsageError(f"{command} needs {' and '.join(f'{one.shown} ({one.about})' for one in missing)}")
    if unknown:
        hint = who_has(unknown[0]) or _near(unknown[0], named)
        raise UsageError(f"{command} has no option '{unknown[0]}' here{hint}")
    if alone:
        raise UsageError(f"{command} does not know what to do with '{alone[0]}'")
    return {one.key: one.read(typed[one.key], command) for one in options if one.key in typed}


def _sorted_out(named: Mapping[str, Option], args: Sequence[str]) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """The words of each option by its key, those that stand alone, and names that are not known."""
    typed: dict[str, list[str]] = {}
    alone: list[str] = []
    unknown: list[str] = []
    words = deque(args)
    while words:
        word = words.popleft()
        if not re.match(r"-[-a-zA-Z]", word):
            alone.append(word)
            continue
        name, equals, value = word.partition("=")
        one = named.get(name.replace("_", "-"))
        count = math.inf if one is None else one.count
        values = [value] if equals else []
        while not equals and words and len(values) < count and not words[0].startswith("--"):
            values.append(words.popleft())
        if one is None:
            unknown.append(name)
        elif equals and not count:
            alone.append(value)
        else:
            typed[one.key] = typed.get(one.key, []) + values if one.many else values
    return typed, alone, unknown


def _near(name: str, named: Mapping[str, Option]) -> str:
    """The nearest of the options, as a half-sentence."""
    alone = {f"--{known.rpartition('.')[2].lstrip('-')}": known for known in named}  # as they may have been meant
    near = difflib.get_close_matches(name, [*named, *alone], n=1, cutoff=0.7)
    return f": did you mean '{alone.get(near[0], near[0])}'?" if near else ""


# ---- help -----------------------------------------------------------------------------------------------------------

#: Most columns of a text, and those of the names of options.
WIDTH, NAMES = 100, 24
ALSO = "Also: --help, --debug, --import FILE, see footfall --help."


def help_of(program: str, about: str, options: Sequence[Option]) -> str:
    """The help of a command as text."""
    width = min(WIDTH, shutil.get_terminal_size().columns)
    groups: dict[str, list[str]] = {"arguments": [], "options": []}
    for one in options:
        room = one.key.rpartition(".")[0]
        title = f"options of the {room}" if room else "options" if one.names else "arguments"
        groups.setdefault(title, []).append(_entry(one, width))
    taken = "".join(f" {one.metavar}" for one in options if not one.names)
    sections = [f"{title}:\n" + "\n".join(entries) for title, entries in groups.items() if entries]
    return "\n\n".join([f"usage: {program}{taken} [OPTIONS]", filled(about, width), ALSO, *sections]) + "\n"


def _entry(one: Option, width: int) -> str:
    """An option with its text, which begins in a line of its own where the names are long."""
    head = f"  {', '.join(one.names)} {one.metavar}" if one.names else f"  {one.metavar}"
    lines = textwrap.wrap(f"{one.about} {one.note}".strip(), width - NAMES, break_on_hyphens=False)
    if len(head) > NAMES - 2:
        lines.insert(0, "")
    return "\n".join(f"{left:<{NAMES}}{text}".rstrip() for left, text in zip_longest([head], lines, fillvalue=""))


def filled(text: str, width: int) -> str:
    """Paragraphs filled to a width, examples indented."""
    blocks = []
    for block in text.split("\n\n"):
        is_example = block.startswith(("footfall ", "eval "))
        one = " ".join(block.split())
        blocks.append(f"  {one}" if is_example else textwrap.fill(one, width, break_on_hyphens=False))
    return "\n\n".join(blocks)
