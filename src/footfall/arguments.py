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
            wanted = known.wanted.get(name)
            if wanted is not None and not wanted.test(value) and value is not known.defaults.get(name, _NONE):
                shown = repr(value) if len(repr(value)) <= SHOWN else f"a {type(value).__name__}"
                where, hint = f"{_name(function, positional)}: {name}", _hint(wanted, value)
                error = _error(function)(f"{where} = {shown}, but it must be {wanted.words}{hint}")
                error.refused = name, (wanted.first or wanted.words) + hint
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
    wanted: dict[str, _Kind]  # of annotated parameters
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
    return _Known(
        places=tuple(one.name for one in single if one.kind is not one.KEYWORD_ONLY),
        required=frozenset(one.name for one in single if one.default is one.empty),
        defaults={one.name: one.default for one in single if one.default is not one.empty},
        wanted={name: _kind_of(one) for name, one in wanted.items() if one is not Any},
        names=frozenset(one.name for one in single),
        open=any(one.kind is one.VAR_KEYWORD for one in every),
    )


def _evaluated(annotation: Any, module: str) -> Any:
    """The type that an annotation names in the terms of a module."""
    if isinstance(annotation, str):
        # What NumPy takes for an array is a union of many types, a text among them.
        annotation = eval(annotation, vars(sys.modules[module]) | {"ArrayLike": np.ndarray})
    return Any if annotation is inspect.Parameter.empty else annotation


class _Kind(NamedTuple):
    """What a type allows."""

    test: Callable[[Any], bool]  # whether a value is of it
    words: str
    first: str = ""  # the words of the first type of several, where that is another text
    texts: tuple[str, ...] = ()  # texts that it allows by name


def _kind_of(wanted: Any) -> _Kind:
    """What a type allows. Generators are not looked into, nor functions called."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if (known := origin or wanted) in KINDS:
        return KINDS[known]
    if origin is Annotated:
        return _limited(_kind_of(parts[0]), next((one for one in parts[1:] if isinstance(one, Bounds | Shape)), None))
    if origin is Literal:
        words = " or ".join(repr(one) for one in parts)
        texts = tuple(one for one in parts if isinstance(one, str))
        return _Kind(lambda value: any(type(value) is type(one) and value == one for one in parts), words, "", texts)
    inner = [_kind_of(one) for one in parts if one is not Ellipsis]
    tests = [one.test for one in inner]
    if origin in (Union, types.UnionType):
        words = " or ".join(dict.fromkeys(one.words for one in inner))
        texts = tuple(text for one in inner for text in one.texts)
        return _Kind(lambda value: any(test(value) for test in tests), words, inner[0].words, texts)
    if origin is tuple and Ellipsis not in parts:
        return _Kind(
            lambda value: (
                _is_row(value)
                and len(value) == len(tests)
                and all(test(x) for test, x in zip(tests, value, strict=True))
            ),
            f"({', '.join(one.words for one in inner)})",
        )
    if origin in (list, tuple, Sequence, Iterable):
        words = "a sequence" if parts[0] is Any else f"a sequence, each {inner[0].words}"
        if origin is Iterable:
            return _Kind(
                lambda value: _is_iterable(value) and (not isinstance(value, Collection) or all(map(tests[0], value))),
                words,
            )
        numeric = parts[0] in (float, int, bool, Any)  # an array without elements is one of numbers
        empty: Callable[[Any], bool] = lambda value: isinstance(value, np.ndarray) and not value.size  # noqa: E731
        return _Kind(
            lambda value: _is_row(value) and all(map(tests[0], value)) and (numeric or not empty(value)), words
        )
    if origin is type:
        return _Kind(lambda value: isinstance(value, type) and issubclass(value, parts), f"a class of {inner[0].words}")
    if origin in (dict, Mapping):
        keys, values = tests
        return _Kind(
            lambda value: isinstance(value, Mapping) and all(keys(k) and values(v) for k, v in value.items()),
            "a mapping",
        )
    return _instance(origin or wanted)


def _limited(kind: _Kind, by: Bounds | Shape | None) -> _Kind:
    """A type whose numbers are bounded, or whose arrays have a shape."""
    if by is None:
        return kind
    words = f"{kind.words} {by}".rstrip()
    if isinstance(by, Shape):
        return kind._replace(test=lambda value: kind.test(value) and np.shape(value) == by.sizes, words=words)
    least, most = by.ends
    return kind._replace(test=lambda value: kind.test(value) and _within(value, least, most), words=words)


def _within(value: Any, least: float, most: float) -> bool:
    """Whether a number is between bounds; one of NumPy's is compared as Python's, which has room for all bounds."""
    plain = value.item() if isinstance(value, np.generic) else value
    return bool(least <= plain <= most)


def _instance(kind: Any) -> _Kind:
    name = getattr(kind, "__name__", str(kind))
    full = f"{getattr(kind, '__module__', '')}.{name}"
    words = BETTER_KNOWN.get(full) or BETTER_KNOWN.get(name, name)
    try:
        isinstance(None, kind)
    except TypeError:  # a protocol that is not for instances
        return _Kind(lambda value: True, words)
    return _Kind(lambda value: isinstance(value, kind), words)


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


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value  # which ends a text in files and in models


KINDS = {
    Any: _Kind(lambda value: True, "Any"),
    float: _Kind(_is_real, "a number"),
    int: _Kind(lambda value: is_whole(value, -sys.maxsize) and value <= sys.maxsize, "a whole number"),
    bool: _Kind(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    str: _Kind(_is_text, "a text"),
    type(None): _Kind(lambda value: value is None, "None"),
    os.PathLike: _Kind(lambda value: isinstance(value, os.PathLike) and _is_text(os.fspath(value)), "a path"),
    np.ndarray: _Kind(_is_array, "numbers"),
    Callable: _Kind(callable, "a function"),
}
#: Names of classes, those that others share with their module, and what users call them.
BETTER_KNOWN = {
    "Record": "a Recording",
    "Setup": "a Simulation",
    "StatefulController": "a controller",
    "CompiledController": "a controller",
    "footfall.simulation.state.State": "a state of world.state() or rec.state(time)",
}


def _hint(wanted: _Kind, value: Any) -> str:
    """The end of a sentence on a number that is not finite, or a text that is nearly one of those allowed."""
    if isinstance(value, Real) and math.isinf(value):
        return ", and finite"
    if "\0" in str(value):
        return " without null characters"
    near = nearest(value, wanted.texts) if isinstance(value, str) else None
    return f": did you mean '{near}'?" if near else ""
