"""The arguments of public functions, checked by the types of their signature.

A function or class decorated with :func:`public` refuses what its signature does not allow with one sentence: a wrong
type, a number that is none, a missing argument, or one that it does not have. Ranges of numbers are types, too, those
of :mod:`footfall.given_numbers`. Where a type says less than is wanted (a shape), the function itself checks.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache, wraps
from numbers import Real
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from footfall.errors import (
    ControllerError,
    FootfallError,
    GaitError,
    GroundError,
    LawError,
    RecordingError,
    RobotError,
    SimulationError,
    SolveError,
    StudyError,
    did_you_mean,
    nearest,
)
from footfall.given_numbers import Bounds, Shape, is_whole

T = TypeVar("T")
#: Characters of a wrong argument that a message shows.
SHOWN = 80
_NONE = object()
#: Modules in which the annotations of a constructor's parameters are to be evaluated, if not its own.
_HOMES: dict[Callable[..., Any], dict[str, str]] = {}


#: The error class for each room.
ERRORS: dict[str, type[FootfallError]] = {
    "contact": LawError,
    "control": ControllerError,
    "gait": GaitError,
    "ground": GroundError,
    "record": SimulationError,  # of pushes
    "recording": RecordingError,
    "robot": RobotError,
    "simulation": SimulationError,
    "solve": SolveError,
    "study": StudyError,
}


def public(given: T) -> T:
    """Check the arguments of a function, or those of a class's constructor and public methods, its bases' included."""
    if not isinstance(given, type):
        return cast(T, _checked(cast(Callable[..., Any], given)))
    fields = {
        name: base.__module__ for base in reversed(given.__mro__) for name in vars(base).get("__annotations__", {})
    }
    own = [base for base in given.__mro__[::-1] if base.__module__.startswith("footfall.")]
    for name, value in {name: value for base in own for name, value in vars(base).items()}.items():
        of_class = isinstance(value, classmethod)
        function = value.__func__ if of_class else value  # a classmethod has a __wrapped__ of its own
        if hasattr(function, "__wrapped__"):  # of a base that is public
            continue
        if name == "__init__" and is_dataclass(given):
            _HOMES[value] = fields  # the constructor of a dataclass has the fields of its bases
        if name in ("__init__", "__getitem__") or (type(function) is types.FunctionType and name[0] != "_"):
            setattr(given, name, classmethod(_checked(function)) if of_class else _checked(function))
    return given


def _checked(function: Callable[..., Any]) -> Any:
    @wraps(function)
    def checked(*positional: Any, **named: Any) -> Any:
        known = _signature(function)
        if len(positional) > len(known.places) or not known.allows(positional, named):
            raise _error(function)(f"{_name(function, positional)} {known.misnamed(positional, named)}")
        for name, value in (*zip(known.places, positional, strict=False), *named.items()):
            if name in known.tests and not known.tests[name](value) and value is not known.defaults.get(name, _NONE):
                shown = repr(value) if len(repr(value)) <= SHOWN else f"a {type(value).__name__}"
                where = f"{_name(function, positional)}: {name}"
                wanted, hint = known.wanted[name], _hint(known.wanted[name], value)
                error = _error(function)(f"{where} = {shown}, but it must be {_said(wanted)}{hint}")
                error.refused = name, _said(_parts_of(wanted)[0]) + hint
                raise error
        try:
            return function(*positional, **named)
        except OSError as error:  # of a path that no file can have, or that this user may not read
            if error.filename is None:
                raise
            said = f"{_name(function, positional)}: '{error.filename}': {error.strerror}"
            raise _error(function)(said) from error

    return checked


def _error(function: Callable[..., Any]) -> type[FootfallError]:
    return ERRORS.get(function.__module__.split(".")[1], FootfallError)


def _name(function: Callable[..., Any], positional: tuple[Any, ...]) -> str:
    """The name that users call: a constructor has the name of its class."""
    if "self" not in inspect.signature(function).parameters:
        return function.__name__
    kind = type(positional[0])
    own = kind.name if isinstance(getattr(kind, "name", None), str) else kind.__name__  # laws have a name of their own
    return {"__init__": own, "__getitem__": f"{own}[...]"}.get(function.__name__, f"{own}.{function.__name__}")


class _Known(NamedTuple):
    """The checks that follow from a signature."""

    places: tuple[str, ...]  # names of positional arguments
    required: frozenset[str]
    defaults: dict[str, Any]
    wanted: dict[str, Any]  # types of annotated parameters
    tests: dict[str, Callable[[Any], bool]]  # whether a value is of that type
    names: frozenset[str]
    open: bool  # whether it takes further keywords

    def allows(self, positional: tuple[Any, ...], named: dict[str, Any]) -> bool:
        """Whether all required arguments are given once, and no unknown ones."""
        given = self.places[: len(positional)]
        known = self.open or named.keys() <= self.names
        return known and self.required <= {*given, *named} and named.keys().isdisjoint(given)

    def misnamed(self, positional: tuple[Any, ...], named: dict[str, Any]) -> str:
        """The rest of a sentence on arguments that are not allowed."""
        unknown = [name for name in named if name not in self.names and not self.open]
        if unknown:
            return f"has no argument '{unknown[0]}': {did_you_mean(unknown[0], self.names - {'self'})}"
        if len(positional) > len(self.places):
            return f"takes {len(self.places) - ('self' in self.places)} arguments without a name, and got more"
        given = self.places[: len(positional)]
        missing = [name for name in sorted(self.required) if name not in given and name not in named]
        return f"needs {', '.join(missing)}" if missing else f"got {', '.join(named.keys() & set(given))} twice"


@cache
def _signature(function: Callable[..., Any]) -> _Known:
    """What the signature of a function says."""
    homes, signature = _HOMES.get(function, {}), inspect.signature(function)
    every = signature.parameters.values()
    single = [one for one in every if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    wanted = {one.name: _evaluated(one.annotation, homes.get(one.name, function.__module__)) for one in single}
    wanted = {name: one for name, one in wanted.items() if one is not Any}
    return _Known(
        places=tuple(one.name for one in single if one.kind is not one.KEYWORD_ONLY),
        required=frozenset(one.name for one in single if one.default is one.empty),
        defaults={one.name: one.default for one in single if one.default is not one.empty},
        wanted=wanted,
        tests={name: _test_of(one) for name, one in wanted.items()},
        names=frozenset(one.name for one in single),
        open=any(one.kind is one.VAR_KEYWORD for one in every),
    )


def _evaluated(annotation: Any, module: str) -> Any:
    """The type that an annotation names in the terms of a module."""
    if isinstance(annotation, str):
        # What NumPy takes for an array is a union of many types, a text among them.
        annotation = eval(annotation, vars(sys.modules[module]) | {"ArrayLike": np.ndarray})
    return Any if annotation is inspect.Parameter.empty else annotation


def _test_of(wanted: Any) -> Callable[[Any], bool]:
    """Whether a value is of a type, as a function. Generators are not looked into, nor functions called."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if (origin or wanted) in TESTS:
        return TESTS[origin or wanted]
    if origin is Annotated:
        test, said = _test_of(parts[0]), next((one for one in parts[1:] if isinstance(one, Bounds | Shape)), None)
        if isinstance(said, Shape):
            return lambda value: test(value) and np.shape(value) == said.sizes
        return test if said is None else _within(test, *said.ends)
    if origin is Literal:
        return lambda value: any(type(value) is type(one) and value == one for one in parts)
    tests = [_test_of(one) for one in parts if one is not Ellipsis] if origin is not Callable else []
    if origin in (Union, types.UnionType):
        return lambda value: any(test(value) for test in tests)
    if origin is tuple and Ellipsis not in parts:
        return lambda value: _is_row(value) and len(value) == len(tests) and all(map(_asked, tests, value))
    if origin in (list, tuple, Sequence):
        numeric = parts[0] in (float, int, bool, Any)  # an array without elements is one of numbers
        return lambda value: _is_row(value) and all(map(tests[0], value)) and (numeric or not _is_empty_array(value))
    if origin is Iterable:
        return lambda value: _is_iterable(value) and (not isinstance(value, Collection) or all(map(tests[0], value)))
    if origin is type:
        return lambda value: isinstance(value, type) and issubclass(value, parts)
    if origin in (dict, Mapping):
        return lambda value: isinstance(value, Mapping) and all(tests[0](k) and tests[1](v) for k, v in value.items())
    return _instance_test(origin or wanted)


def _within(test: Callable[[Any], bool], least: float, most: float) -> Callable[[Any], bool]:
    return lambda value: test(value) and least <= value <= most


def _asked(test: Callable[[Any], bool], value: Any) -> bool:
    return test(value)


def _instance_test(kind: Any) -> Callable[[Any], bool]:
    try:
        isinstance(None, kind)
    except TypeError:  # a protocol that is not for instances
        return _is_anything
    return lambda value: isinstance(value, kind)


def _is_anything(value: Any) -> bool:
    return True


def _is_whole(value: Any) -> bool:
    return is_whole(value, -sys.maxsize) and value <= sys.maxsize


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value  # which ends a text in files and in models


def _is_path(value: Any) -> bool:
    return isinstance(value, os.PathLike) and _is_text(os.fspath(value))


def _is_iterable(value: Any) -> bool:
    return isinstance(value, Iterable) and (_is_row(value) or not isinstance(value, str | bytes | np.ndarray))


def _is_real(value: Any) -> bool:
    """Whether a value is one real number, including infinity but not NaN."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:
        return False


def _is_array(value: Any) -> bool:
    """Whether it is an array of a GPU, or NumPy makes numbers of it; what names a column or a file does not."""
    if hasattr(value, "__cuda_array_interface__"):
        return True
    if value is None or isinstance(value, str | bytes | Mapping):
        return False
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except (TypeError, ValueError):
        return False


def _is_row(value: Any) -> bool:
    """Whether it is a sequence, an array or a column of a table."""
    if isinstance(value, str | bytes):
        return False
    return isinstance(value, Sequence) or (hasattr(value, "__array__") and np.ndim(value) > 0)


def _is_empty_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not value.size


TESTS: dict[Any, Callable[[Any], bool]] = {
    Any: _is_anything,
    float: _is_real,
    int: _is_whole,
    bool: _is_bool,
    str: _is_text,
    os.PathLike: _is_path,
    np.ndarray: _is_array,
    Callable: callable,
}
WORDS: dict[Any, str] = {
    float: "a number",
    int: "a whole number",
    bool: "True or False",
    str: "a text",
    type(None): "None",
    np.ndarray: "numbers",
    os.PathLike: "a path",
    Callable: "a function",
}
#: Names of classes, those that others share with their module, and what users call them.
BETTER_KNOWN = {
    "Record": "a Recording",
    "Setup": "a Simulation",
    "StatefulController": "a controller",
    "CompiledController": "a controller",
    "footfall.simulation.state.State": "a state of world.state() or rec.state(time)",
}


def _parts_of(wanted: Any) -> tuple[Any, ...]:
    """The types that one allows."""
    return get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)


def _said(wanted: Any) -> str:
    """A type in words."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if (known := origin or wanted) in WORDS:
        return WORDS[known]
    if origin is Annotated:
        return " ".join([_said(parts[0]), *(str(one) for one in parts[1:] if isinstance(one, Bounds | Shape))]).rstrip()
    if origin is Literal:
        return " or ".join(repr(one) for one in parts)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_said(one) for one in parts))
    if origin is tuple and parts[-1:] != (Ellipsis,):
        return f"({', '.join(_said(one) for one in parts)})"
    if origin in (list, tuple, Sequence, Iterable):
        return f"a sequence, each {_said(parts[0])}" if parts and parts[0] is not Any else "a sequence"
    if origin in (dict, Mapping):
        return "a mapping"
    if origin is type:
        return f"a class of {_said(parts[0])}"
    name = getattr(origin or wanted, "__name__", str(wanted))
    full = f"{getattr(origin or wanted, '__module__', '')}.{name}"
    return BETTER_KNOWN.get(full) or BETTER_KNOWN.get(name, name)


def _hint(wanted: Any, value: Any) -> str:
    """The end of a sentence on a number that is not finite, or a text that is nearly one of those allowed."""
    if isinstance(value, Real) and math.isinf(value):
        return ", and finite"
    if "\0" in str(value):
        return " without null characters"
    near = nearest(value, _texts(wanted)) if isinstance(value, str) else None
    return f": did you mean '{near}'?" if near else ""


def _texts(wanted: Any) -> list[str]:
    """The texts that a type allows by name."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return [one for one in parts if isinstance(one, str)]
    inner = parts[:1] if origin is Annotated else parts if origin in (Union, types.UnionType) else ()
    return [text for one in inner for text in _texts(one)]
