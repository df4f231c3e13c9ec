"""Errors of usage, in one sentence."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

from footfall.cli.shared.usage import UsageError

#: What an argument must be, by tyro's name for its type.
WANTED = {"FLOAT": "a number", "INT": "a whole number", "FLOAT FLOAT": "two numbers", "INT INT": "two whole numbers"}
QUOTED = re.compile(r"\['([^']*)'|'([^']*)'$")


@contextmanager
def in_one_sentence(command: str, options: Callable[[], list[str]]) -> Iterator[None]:
    """Raise a ``UsageError`` in place of the page that tyro prints; ``options`` are those of the command.

    This uses private parts of tyro: where a version lacks them tyro prints its page, and where its errors differ the
    sentence says only that something is wrong.
    """
    try:
        from tyro import _errors
    except ImportError:
        _errors = None  # type: ignore[assignment]

    def refuse(event: Any) -> NoReturn:
        try:
            sentence = _sentence(event, command, options)
        except (AttributeError, TypeError, IndexError):
            sentence = f"{command} was typed wrongly"
        raise UsageError(f"{sentence}{' ' if sentence.endswith('?') else '; '}footfall {command} --help says more")

    hook = getattr(_errors, "on_parse_error", None)
    with nullcontext() if hook is None else hook(refuse):
        yield


def _sentence(event: Any, command: str, options: Callable[[], list[str]]) -> str:
    kind = type(event).__name__
    if kind == "MissingArgs":
        missing = [(_name(one.arg), _about(one.arg)) for one in event.missing_arguments]
        if len(missing) == 1:
            return f"{command} needs {': '.join(missing[0])}"
        return f"{command} needs {' and '.join(f'{name} ({about})' for name, about in missing)}"
    if kind == "UnrecognizedArgs":
        return _unknown(event.tokens[0], command, options)
    if kind == "InvalidChoice":
        choices = ", ".join(choice for choice in event.choices if choice != "None")
        what = command if event.argument.is_positional() else _name(event.argument)
        return f"{what} takes one of {choices}, and not '{event.value}'"
    argument = getattr(event, "argument", None)
    if argument is None:
        return str(getattr(event, "message", kind)).split("\n")[0]
    if getattr(event, "reason", "") == "too_few_values" and argument.is_positional():
        return f"{command} needs {_name(argument)}: {_about(argument)}"
    wanted = WANTED.get(str(argument.lowered.metavar), str(argument.lowered.metavar))
    given = QUOTED.search(getattr(event, "message", "").split("\n")[0])
    instead = "" if given is None else f", and not '{given[1] or given[2]}'"
    return f"{_name(argument)} takes {wanted}{instead} ({_about(argument)})"


def _unknown(token: str, command: str, options: Callable[[], list[str]]) -> str:
    """An option that does not exist, with the nearest one that does."""
    if not token.startswith("-"):
        return f"{command} does not know what to do with '{token}'"
    name = token.partition("=")[0]
    known = options()
    alone = {f"--{option.rpartition('.')[2].lstrip('-')}": option for option in known}  # as they may have been meant
    near = difflib.get_close_matches(name, [*known, *alone], n=1, cutoff=0.7)
    hint = f": did you mean '{alone.get(near[0], near[0])}'?" if near else ""
    return f"{command} has no option '{name}' here{hint}"


def _name(argument: Any) -> str:
    """How an argument is typed."""
    lowered = argument.lowered
    return str(lowered.metavar) if argument.is_positional() else str(lowered.name_or_flags[-1])


def _about(argument: Any) -> str:
    """What an argument is, as its help says."""
    text = argument.field.helptext
    return " ".join(str((text() if callable(text) else text) or "").split())
