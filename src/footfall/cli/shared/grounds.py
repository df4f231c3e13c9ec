"""Grounds as options of the command line: a dataclass for each kind that can be typed, whose ``make()`` gives it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import field, make_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from footfall.cli.shared.help import described

if TYPE_CHECKING:
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

    made = {name: _options(kind) for name, kind in KINDS.items()}
    return {name: one for name, one in made.items() if one is not None}


def _options(kind: Kind[Any]) -> type | None:
    """The options of a kind, or None if one of them cannot be typed."""
    from footfall.ground.heightfield import Heights

    typed: dict[str, tuple[Any, str]] = dict(FRICTION)
    for name, (hint, about) in kind.options().items():
        text = ", ".join(filter(None, (about.unit, about.about)))
        if hint == Heights:
            typed[name] = Path, f"file of {name} in {text}: .npy, .csv, .txt; or a picture, .png"
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
        fields.append((name, described(hint, known.get("default", ...), about=text), field(**known)))

    def make(self: Any) -> Ground:
        from footfall.ground import Ground

        values = {name: getattr(self, name) for name in given}
        return getattr(Ground, kind.name)(**values)

    return make_dataclass(kind.name.title(), fields, namespace={"make": make}, frozen=True, kw_only=True)
