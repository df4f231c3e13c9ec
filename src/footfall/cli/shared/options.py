"""Options that depend on a choice: those of the law, the ground, the robot and the controller that were typed.

``--law NAME`` brings ``--law.OPTION`` for every field of that law's dataclass, a user's law included, with its type,
default and unit; the same for ``--ground KIND``, for ``--controller NAME``, and ``--robot.PARAMETER`` for a built-in
robot. An option of a controller whose name is unique may be typed without its prefix: ``--speed``. A user's own Python
file registers a law or defines a controller.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import cleandoc
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, get_type_hints

from footfall.cli.shared.output import without_markup
from footfall.cli.shared.usage import MULTIPLES, Option, UsageError, default_of
from footfall.errors import FootfallError, did_you_mean

if TYPE_CHECKING:
    from footfall.ground.kind import Kind


#: Friction on the command line: numbers; :mod:`footfall.ground.friction` lists everything it may be.
FRICTION = {
    "friction": (float, "dynamic friction coefficient, and the static one too unless that is given"),
    "static_friction": (float | None, "static friction coefficient"),
}
#: An entry in the section ``Attributes`` of a docstring: a name, and its text, whose further lines are indented.
_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n     .+)*)", re.MULTILINE)


def chosen_options(command: type, args: Sequence[str]) -> list[Option]:
    """The options of what ``args`` choose, for the fields ``ground_options``, ``law_options``, ... of a command."""
    own = get_type_hints(command)
    if "robot_options" not in own:
        return []
    from footfall.contact import law_class
    from footfall.control import controller_class
    from footfall.robot.built_in import BUILT_IN, module_of

    found = _parameters(module_of(args[0]).Parameters) if args and args[0] in BUILT_IN else []
    if "ground_options" in own:
        kind, known = _typed(args, "--ground", "plane"), ground_options()
        if kind not in known:
            raise UsageError(f"no ground is called '{kind}': {did_you_mean(kind, known)}")
        found += known[kind]
    controller = _typed(args, "--controller", "default")
    if "controller_options" in own and controller not in ("none", "default") and not is_own(controller):
        found += _of_class("controller", controller_class("policy" if is_policy(controller) else controller), own)
    if "law_options" in own:
        found += _of_class("law", law_class(_typed(args, "--law", getattr(command, "law", ""))))
    return found


def ground_options() -> dict[str, list[Option]]:
    """The options of every kind of ground whose arguments can all be typed."""
    from footfall.ground.ground import KINDS

    made = {name: _of_ground(kind) for name, kind in KINDS.items()}
    return {name: options for name, options in made.items() if options}


def _of_ground(kind: Kind[Any]) -> list[Option]:
    """The options of a kind; none if one of its arguments cannot be typed."""
    from footfall.ground.heightfield import Heights

    typed: dict[str, tuple[Any, str]] = dict(FRICTION)
    for name, (hint, about) in kind.options().items():
        text = ", ".join(filter(None, (about.unit, about.about)))
        if hint == Heights:
            typed[name] = Path, f"file of {name} in {text}: .npy, .csv, .txt; or a picture, .png"
        elif hint in (float, int, float | None, tuple[float, float]):
            typed[name] = hint, text
    arguments = inspect.signature(kind.make).parameters
    if not arguments.keys() <= typed.keys():
        return []
    return [_option("ground", name, typed[name][0], one.default, typed[name][1]) for name, one in arguments.items()]


def _of_class(group: str, of: type, taken: Mapping[str, Any] | None = None) -> list[Option]:
    """The options of a law or a controller that can be typed; their docstrings are their help.

    Names that are not ``taken`` by the command can be typed alone.
    """
    hints, notes, found = get_type_hints(of), described_fields(of), []
    for one in fields(of):
        hint = one.metadata.get("typed", hints[one.name])
        alias = "" if taken is None or one.name in taken else f"--{one.name.replace('_', '-')}"
        made = _option(group, one.name, hint, default_of(one), notes.get(one.name, ""), alias)
        plain = hint in (int, float, str, bool, float | None, str | None) or "typed" in one.metadata
        if plain or (group == "law" and made.is_typeable):
            found.append(made)
    return found


def _parameters(of: type) -> list[Option]:
    """The parameters of a built-in robot, in their units; the help shows what those left out come to."""
    from footfall.robot.built_in.parts import UNITS

    resolved, hints = of(), get_type_hints(of)
    found = []
    for one in fields(resolved):
        unit = UNITS.get(one.name, "m") if hints[one.name] is float else ""
        typed, about = (unit, "") if unit in MULTIPLES else ("", unit)
        found.append(Option(f"robot.{one.name}", hints[one.name], getattr(resolved, one.name), about, unit=typed))
    return found


def _option(group: str, name: str, hint: Any, default: Any, about: str, alias: str = "") -> Option:
    """An option of something chosen; its help says its unit, as a part of its own."""
    said = [part.strip() for part in re.split(r"[,;]| per ", about)] if hint in (float, float | None) else []
    unit = next((one for one in said if one in MULTIPLES), "")
    default = ... if default is inspect.Parameter.empty else default
    return Option(f"{group}.{name}", hint, default, about, unit=unit, alias=alias)


def who_has(option: str, command: type, options: Sequence[Option]) -> str:
    """What else must be typed for an option that is not among those of ``command``; "" if nothing helps."""
    kind, _, name = option.lstrip("-").rpartition(".")
    key, own = name.replace("-", "_"), get_type_hints(command)
    if kind == "law" and "laws" in own:
        return ": laws have their default options here; footfall run sets them, and footfall sweep varies them"
    if kind == "robot" and "robot_options" in own and not any(one.key.startswith("robot.") for one in options):
        return ": it is one of a built-in robot; a file has its own numbers"
    choice = kind or "controller"
    if f"{choice}_options" not in own:
        return ""
    *others, last = [one for one, has in _choices(choice).items() if f"{choice}.{key}" in {o.key for o in has}] or [""]
    return f": it is an option of --{choice} {', '.join(others)}{' or ' * bool(others)}{last}" if last else ""


def _choices(choice: str) -> dict[str, list[Option]]:
    """What may be typed for --ground, --law or --controller, with the options that each has."""
    from footfall.contact import law_class, laws
    from footfall.control import controller_class, controllers

    if choice == "ground":
        return ground_options()
    names, class_of = (laws(), law_class) if choice == "law" else (controllers(), controller_class)
    return {one: _of_class(choice, class_of(one)) for one in names}


def import_file(name: str) -> ModuleType:
    """Import a module by name, or a Python file by path."""
    try:
        if not name.endswith(".py"):
            if not all(part.isidentifier() for part in name.split(".")):
                raise FootfallError(f"cannot import '{name}': neither a Python file, FILE.py, nor the name of a module")
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


def _typed(args: Sequence[str], option: str, otherwise: str) -> str:
    """The value typed for an option, found before the arguments are parsed."""
    for i, arg in enumerate(args):
        if arg.startswith(f"{option}="):
            return arg.partition("=")[2]
        if arg == option and i + 1 < len(args):
            return args[i + 1]
    return otherwise
