"""Options that depend on a choice: those of the law, the ground, the robot and the controller that were typed.

``--law NAME`` brings ``--law.OPTION`` for every field of that law's dataclass, a user's law included, with its type,
default and unit; the same for ``--ground KIND``, a dataclass whose ``make()`` returns the ground, for
``--controller NAME``, and ``--robot.PARAMETER`` for a built-in robot. An option of a controller whose name is unique
may be typed without its prefix: ``--speed``. A user's own Python file registers a law or defines a controller.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, field, fields, make_dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import cleandoc, getdoc
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import tyro

from footfall.cli.shared.output import without_markup
from footfall.cli.shared.usage import UsageError, described
from footfall.errors import FootfallError, did_you_mean

if TYPE_CHECKING:
    from footfall.contact.base import Law
    from footfall.ground import Ground
    from footfall.ground.kind import Kind


#: Friction on the command line: numbers; :mod:`footfall.ground.friction` lists everything it may be.
FRICTION = {
    "friction": (float, "dynamic friction coefficient, and the static one too unless that is given"),
    "static_friction": (float | None, "static friction coefficient"),
}
TYPEABLE = (float, int, float | None, tuple[float, float])


@cache
def ground_options() -> Mapping[str, type]:
    """The options of every kind of ground, as dataclasses."""
    from footfall.ground.ground import KINDS

    made = {name: _of_ground(kind) for name, kind in KINDS.items()}
    return {name: one for name, one in made.items() if one is not None}


def _of_ground(kind: Kind[Any]) -> type | None:
    """The options of a kind, or None if one of them cannot be typed."""
    from footfall.ground.heightfield import Heights

    typed: dict[str, tuple[Any, str]] = dict(FRICTION)
    for name, (hint, about) in kind.options().items():
        text = ", ".join(filter(None, (about.unit, about.about)))
        if hint == Heights:
            typed[name] = Path, f"file of {name} in {text}: .npy, .csv, .txt; or a picture, .png"
        elif hint in TYPEABLE:
            typed[name] = hint, text
    arguments = inspect.signature(kind.make).parameters.values()
    if not {one.name for one in arguments} <= set(typed):
        return None
    entries = [(one.name, typed[one.name][0], one.default, {"about": typed[one.name][1]}) for one in arguments]

    def make(self: Any) -> Ground:
        from footfall.ground import Ground

        return getattr(Ground, kind.name)(**vars(self))

    return _class(kind.name.title(), entries, make=make)


def _class(name: str, entries: Iterable[tuple[str, Any, Any, dict[str, Any]]], **more: Any) -> type:
    """A dataclass of options, each with its name, type, default and how it is described; ``more`` is what it has."""
    added = []
    for option, hint, default, how in entries:
        known = {} if default in (MISSING, inspect.Parameter.empty) else {"default": default}
        added.append((option, described(hint, known.get("default", ...), **how), field(**known)))
    return make_dataclass(name, added, namespace=more, frozen=True, kw_only=True)


Command = TypeVar("Command")

#: An entry in the section ``Attributes`` of a docstring: a name, and its text, whose further lines are indented.
_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n     .+)*)", re.MULTILINE)


def with_options(command: type[Command], args: Sequence[str]) -> type[Command]:
    """A command whose fields ``law_options``, ``ground_options`` and so on are those of what ``args`` choose."""
    from footfall.contact import law_class
    from footfall.control import controller_class
    from footfall.robot.built_in import BUILT_IN, module_of

    chosen: dict[str, type] = {}
    if hasattr(command, "ground"):
        kind, known = _typed(args, "--ground", "plane"), ground_options()
        if kind not in known:
            raise UsageError(f"no ground is called '{kind}': {did_you_mean(kind, known)}")
        chosen["ground"] = known[kind]
    if hasattr(command, "law_options"):
        chosen["law"] = _of_law(law_class(_typed(args, "--law", getattr(command, "law", ""))))
    controller = _typed(args, "--controller", "default")
    if controller not in ("none", "default") and not is_own(controller) and hasattr(command, "controller_options"):
        own = controller_class("policy" if is_policy(controller) else controller)
        chosen["controller"] = _typeable(own, set(get_type_hints(command)))
    if args and args[0] in BUILT_IN:
        chosen["robot"] = _parameters(module_of(args[0]).Parameters)
    added = []
    for name, one in chosen.items():
        # field(): none of them has a default that the command could know.
        about = getdoc(one) if name == "robot" else ""
        added.append((f"{name}_options", Annotated[one, tyro.conf.arg(name=name, help=about)], field()))
    return make_dataclass("Command", added, bases=(command,), frozen=True, kw_only=True)


def who_has(option: str, command: type) -> str | None:
    """What else must be typed for an option that ``command`` does not have as it was typed; None if nothing helps."""
    from footfall.contact import law_class, laws
    from footfall.control import controller_class, controllers

    kind, dot, name = option.lstrip("-").rpartition(".")
    if kind == "law" and hasattr(command, "laws"):
        return "laws have their default options here; footfall run sets them, and footfall sweep varies them"
    if kind == "robot" and hasattr(command, "robot_options") and "robot_options" not in command.__annotations__:
        return "it is one of a built-in robot; a file has its own numbers"
    known: dict[str, Mapping[str, type]] = {}
    if hasattr(command, "law_options"):
        known["law"] = {one: law_class(one) for one in laws()}
    if hasattr(command, "ground"):
        known["ground"] = ground_options()
    if hasattr(command, "controller_options"):
        known["controller"] = {one: controller_class(one) for one in controllers()}
    for choice, named in known.items():
        having = [one for one, of in named.items() if name.replace("-", "_") in {field.name for field in fields(of)}]
        if having and kind == (choice if dot else "") and (dot or choice == "controller"):
            return f"it is an option of --{choice} {', '.join(having[:-1])}{' or ' * bool(having[1:])}{having[-1]}"
    return None


def import_file(name: str) -> ModuleType:
    """Import a module by name, or a Python file by path."""
    try:
        if not name.endswith(".py"):
            return import_module(name)
        path = Path(name).expanduser().resolve()
        if not path.is_file():
            raise FootfallError(f"cannot import '{name}': there is no such file")
        if path.stem.isidentifier() and _origin(path.stem) not in (None, path):
            raise FootfallError(f"cannot import '{name}': another module is called '{path.stem}'; rename the file")
        spec = spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ImportError("it is not a Python file")
        module = module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    except FootfallError:
        raise
    except Exception as error:
        raise FootfallError(f"cannot import '{name}': {type(error).__name__}: {error}") from error
    return module


def _origin(name: str) -> Path | None:
    """The file that a module of this name is imported from; None where there is no such module."""
    spec = find_spec(name)
    return None if spec is None or spec.origin is None else Path(spec.origin).resolve()


def is_own(controller: str) -> bool:
    """Whether a controller was typed as a file: FILE.py or FILE.py:NAME."""
    return controller.partition(".py")[2][:1] in ("", ":") and ".py" in controller


def is_policy(controller: str) -> bool:
    """Whether a controller was typed as the file of a learned policy."""
    return Path(controller).suffix.lower() in (".onnx", ".pt", ".pth", ".jit")


def own_controller(text: str) -> Any:
    """The controller NAME of FILE.py:NAME, or the one named like the file; a class is called without arguments."""
    file, _, name = text.partition(".py")
    module = import_file(f"{file}.py")
    name = name.lstrip(":") or Path(file).name
    known = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
    if name not in known:
        raise UsageError(f"{file}.py has no controller '{name}': {did_you_mean(name, known)}; choose by {file}.py:NAME")
    found = getattr(module, name)
    return found() if isinstance(found, type) else found


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
    """The options of a law; their docstrings are their help, and ``make`` returns the law."""
    hints, notes = get_type_hints(law), described_fields(law)
    entries = [(one.name, hints[one.name], one.default, {"about": notes.get(one.name, "")}) for one in fields(law)]
    return _class("Law", entries, make=lambda self: law(**vars(self)))


def _typeable(controller: type, taken: set[str]) -> type:
    """The options of a controller that can be typed, numbers and names; their docstrings are their help.

    Names that are not ``taken`` by the command can be typed alone.
    """
    hints, notes = get_type_hints(controller), described_fields(controller)
    entries = []
    for one in fields(controller):
        hint = one.metadata.get("typed", hints[one.name])
        if hint in (int, float, str, bool, float | None, str | None) or "typed" in one.metadata:
            short = () if one.name in taken else (f"--{one.name.replace('_', '-')}",)
            how = {"about": notes.get(one.name, ""), "aliases": short}
            entries.append((one.name, hint, one.default, how))
    return _class("Controller", entries)


def _parameters(of: Callable[[], Any]) -> type:
    """The parameters of a built-in robot as options; the help shows what those left out come to."""
    resolved, hints = of(), get_type_hints(of)
    entries = []
    for one in fields(resolved):
        value = getattr(resolved, one.name)
        hint = tyro.conf.arg(help_behavior_hint=f"(default: {value:.4g})" if isinstance(value, float) else None)
        entries.append((one.name, Annotated[hints[one.name], hint], field(default=one.default)))
    return make_dataclass("Parameters", entries, frozen=True, namespace={"__doc__": of.__doc__})
