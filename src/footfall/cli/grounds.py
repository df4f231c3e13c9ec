"""Grounds as options of the command line: one dataclass per kind that can be typed, ``make()`` gives the ground."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import field, make_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from footfall.cli.usage import UsageError

if TYPE_CHECKING:
    import numpy as np

    from footfall.ground import Ground
    from footfall.ground.kind import Kind


def _angle(text: str) -> float:
    degrees = text.removesuffix("deg")
    value = float(degrees)
    return value if degrees == text else math.radians(value)


#: An angle in rad, or in degrees when written so: ``0.2``, ``10deg``.
Angle = Annotated[
    float,
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="RAD|DEGdeg",
        instance_from_str=lambda args: _angle(args[0]),
        is_instance=lambda value: isinstance(value, float | int),
        str_from_instance=lambda value: [f"{value:g}"],
    ),
]
#: What friction is on the command line: numbers; see :mod:`footfall.ground.friction` for all that it may be.
FRICTION = {
    "friction": (float, "dynamic friction coefficient, and the static one too unless that is given"),
    "static_friction": (float | None, "static friction coefficient"),
}
TYPEABLE = (float, int, tuple[float, float])


@cache
def ground_options() -> Mapping[str, type]:
    """The options of every kind of ground, as dataclasses."""
    from footfall.ground.ground import KINDS

    made = {name: _options(kind) for name, kind in KINDS.items()}
    return {name: one for name, one in made.items() if one is not None}


def _options(kind: Kind[Any]) -> type | None:
    """The options of a kind, or None if one of them is nothing that can be typed."""
    from numpy.typing import ArrayLike

    typed: dict[str, tuple[Any, str]] = dict(FRICTION)
    for name, (hint, about) in kind.options().items():
        text = ", ".join(filter(None, (about.unit, about.about)))
        if hint == ArrayLike:
            typed[name] = Path, f"file of {name} in {text}: .npy, or text (.csv, .txt)"
        elif hint in TYPEABLE:
            angle = about.unit == "rad"
            typed[name] = Angle if angle else hint, f"{text}; or degrees, as in 10deg" if angle else text
    given = inspect.signature(kind.make).parameters
    if not set(given) <= set(typed):
        return None
    fields = []
    for name, one in given.items():
        hint, text = typed[name]
        known = {} if one.default is one.empty else {"default": one.default}
        fields.append((name, Annotated[hint, tyro.conf.arg(help=text)], field(**known)))

    def make(self: Any) -> Ground:
        from footfall.ground import Ground

        values = {name: getattr(self, name) for name in given}
        read = {name: _read_table(value) if isinstance(value, Path) else value for name, value in values.items()}
        return getattr(Ground, kind.name)(**read)

    return make_dataclass(kind.name.title(), fields, namespace={"make": make}, frozen=True, kw_only=True)


def _read_table(path: Path) -> np.ndarray:
    import numpy as np

    try:
        if path.suffix.lower() == ".npy":
            return np.load(path, allow_pickle=False)
        return np.loadtxt(path, delimiter="," if path.suffix.lower() == ".csv" else None, ndmin=2)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read heights from '{path}': {getattr(error, 'strerror', None) or error}") from error
