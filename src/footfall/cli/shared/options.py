"""Options that depend on a choice: those of the law, the ground, the robot and the controller that were typed.

``--law NAME`` brings ``--law.OPTION`` for every field of that law's dataclass, a user's law included, with its type,
default and unit; the same for ``--ground KIND`` and ``--controller NAME``, and ``--robot.PARAMETER`` for a built-in
robot. An option of a controller whose name is unique may be typed without its prefix: ``--speed``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, field, fields, make_dataclass
from importlib import import_module
from inspect import cleandoc, getdoc
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import tyro

from footfall.cli.shared.grounds import ground_options
from footfall.cli.shared.help import described
from footfall.cli.shared.output import without_markup
from footfall.cli.shared.own_files import is_own
from footfall.cli.shared.usage import UsageError
from footfall.errors import did_you_mean

if TYPE_CHECKING:
    from footfall.contact.base import Law

Command = TypeVar("Command")

#: An entry in the section ``Attributes`` of a docstring: a name, and its text, whose further lines are indented.
_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n     .+)*)", re.MULTILINE)


def with_options(command: type[Command], args: Sequence[str]) -> type[Command]:
    """A command whose fields ``law_options``, ``ground_options`` and so on are those of what ``args`` choose."""
    from footfall.contact import law_class
    from footfall.control import controller_class
    from footfall.robot.built_in import BUILT_IN

    chosen: dict[str, type] = {}
    if hasattr(command, "ground"):
        kind, known = _typed(args, "--ground", "plane"), ground_options()
        if kind not in known:
            raise UsageError(f"no ground is called '{kind}': {did_you_mean(kind, known)}")
        chosen["ground"] = known[kind]
    if hasattr(command, "law_options"):
        chosen["law"] = _of_law(law_class(_typed(args, "--law", getattr(command, "law", ""))))
    controller = _typed(args, "--controller", "none")
    if controller != "none" and not is_own(controller) and hasattr(command, "controller_options"):
        chosen["controller"] = _typeable(controller_class(controller), set(get_type_hints(command)))
    if args and args[0] in BUILT_IN:
        chosen["robot"] = _parameters(import_module(BUILT_IN[args[0]].module).Parameters)
    added = []
    for name, one in chosen.items():
        # field(): none of them has a default that the command could know.
        about = getdoc(one) if name == "robot" else ""
        added.append((f"{name}_options", Annotated[one, tyro.conf.arg(name=name, help=about)], field()))
    return make_dataclass("Command", added, bases=(command,), frozen=True, kw_only=True)


def described_fields(of: type) -> dict[str, str]:
    """The text on each field in the docstrings of a dataclass and its bases: the help of an option."""
    found: dict[str, str] = {}
    for one in reversed(of.__mro__):
        attributes = cleandoc(one.__doc__ or "").partition("\nAttributes:\n")[2]
        for name, text in _ATTRIBUTE.findall(attributes):
            found[name] = without_markup(" ".join(text.split())).removesuffix(".")
    return found


def changed(options: Any) -> dict[str, Any]:
    """The values of a dataclass that differ from its defaults."""
    values = {one.name: (getattr(options, one.name), one.default) for one in fields(options)} if options else {}
    return {name: value for name, (value, default) in values.items() if value is not default}


def _typed(args: Sequence[str], option: str, otherwise: str) -> str:
    """The value typed for an option, found before the arguments are parsed."""
    for i, arg in enumerate(args):
        if arg.startswith(f"{option}="):
            return arg.partition("=")[2]
        if arg == option and i + 1 < len(args):
            return args[i + 1]
    return otherwise


def _of_law(law: type[Law]) -> type:
    """The options of a law; their docstrings are their help, and ``make`` gives the law."""
    hints, notes = get_type_hints(law), described_fields(law)
    added = []
    for one in fields(law):
        default = {} if one.default is MISSING else {"default": one.default}
        hint = described(hints[one.name], one.default, about=notes.get(one.name, ""))
        added.append((one.name, hint, field(**default)))

    def make(self: Any) -> Law:
        return law(**{name: getattr(self, name) for name, *_ in added})

    return make_dataclass("Law", added, namespace={"make": make}, frozen=True, kw_only=True)


def _typeable(controller: type, taken: set[str]) -> type:
    """The options of a controller that can be typed, numbers and names; their docstrings are their help.

    Names that are not ``taken`` by the command can be typed alone.
    """
    hints, notes = get_type_hints(controller), described_fields(controller)
    added = []
    for one in fields(controller):
        if hints[one.name] in (int, float, str, bool, float | None, str | None):
            short = () if one.name in taken else (f"--{one.name.replace('_', '-')}",)
            hint = described(hints[one.name], one.default, about=notes.get(one.name, ""), aliases=short)
            added.append((one.name, hint, field(default=one.default)))
    return make_dataclass("Controller", added, frozen=True)


def _parameters(of: Callable[[], Any]) -> type:
    """The parameters of a built-in robot as options; the help shows what those left out come to."""
    resolved, hints = of(), get_type_hints(of)
    added = []
    for one in fields(resolved):
        value = getattr(resolved, one.name)
        hint = tyro.conf.arg(help_behavior_hint=f"(default: {value:.4g})" if isinstance(value, float) else None)
        added.append((one.name, Annotated[hints[one.name], hint], field(default=one.default)))
    return make_dataclass("Parameters", added, frozen=True, namespace={"__doc__": of.__doc__})
