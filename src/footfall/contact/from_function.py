"""Contact laws from plain functions: write a function of six arguments, decorate it, run."""

from __future__ import annotations

import inspect
import sys
from collections import namedtuple
from collections.abc import Callable, Iterable
from dataclasses import field, make_dataclass
from functools import cache
from keyword import iskeyword
from operator import attrgetter
from typing import Any

from footfall.arguments import public
from footfall.compiled import inlined
from footfall.contact.base import FRICTION, PointLaw, check
from footfall.contact.registry import law as known_law
from footfall.contact.registry import register
from footfall.contact.setting import Setting
from footfall.contact.trial import check_foreign
from footfall.errors import LawError
from footfall.given_numbers import is_number
from footfall.kinds import Float, Int, Vector
from footfall.solve.contacts import SLIDE, coulomb

ARGUMENTS = ("depth", "depth_rate", "slip", "slip_velocity", "memory", "parameters")


@inlined
def spring_friction(slip: Vector, slip_velocity: Vector, k: Float, c: Float, limit: Float) -> tuple[Float, Float, Int]:
    """Friction of a spring (N/m) and damper (N s/m) from a point's anchor, at most ``limit`` N; and the mode.

    Beyond the limit the force stays there and drags the anchor along, so that it points against the slip.
    """
    x, y, mode = coulomb(-k * slip[0] - c * slip_velocity[0], -k * slip[1] - c * slip_velocity[1], limit)
    if mode == SLIDE:
        slip[0] = -(x + c * slip_velocity[0]) / k
        slip[1] = -(y + c * slip_velocity[1]) / k
    return x, y, mode


@cache
def _parameters(names: tuple[str, ...]) -> Any:
    """The class of a law's parameters. Compiled code on disk refers to it by its name."""
    made: Any = namedtuple("__".join((_PARAMETERS, *names)), names)  # type: ignore[misc]  # the names are the user's
    made.__module__ = __name__
    return made


_PARAMETERS = "Parameters"


def __getattr__(name: str) -> Any:
    head, *names = name.split("__")
    if head != _PARAMETERS or not names:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return _parameters(tuple(names))


@public
def point_law(
    name: str, *, memory: int = 0, citation: str = "user", **defaults: float
) -> Callable[[Callable[..., Any]], type[PointLaw]]:
    """Register a plain function as a contact law, known to :func:`footfall.law` by ``name``.

    The function takes ``(depth, depth_rate, slip, slip_velocity, memory, parameters)``, see
    :mod:`footfall.contact.base`, and returns ``(normal, tangent_1, tangent_2)`` in N, or those and the mode (1 stick, 2
    slide), or the normal force alone for a frictionless contact. Keywords name the law's options and their defaults,
    numbers >= 0; the function reads them as ``parameters.k``, and the ground's friction as
    ``parameters.static_friction`` and ``parameters.dynamic_friction``. It is compiled on first use, so it may use
    arithmetic, ``math`` and other compiled functions such as :func:`footfall.contact.coulomb` and
    :func:`footfall.contact.spring_friction`; it must not raise. Before a run it is tried as plain Python; during the
    run an index outside an array makes the force NaN.

    Limitations: forces act for a whole step. Stiffness k (N/m) and damping c (N s/m) of a point stay stable while
    ``dt * (c + dt * k) * mobility`` is well below 2, with ``sim.setting.mobility`` (1/kg).
    """

    def decorate(function: Callable[..., Any]) -> type[PointLaw]:
        found = tuple(inspect.signature(function).parameters)
        if len(found) != len(ARGUMENTS):
            raise LawError(
                f"law '{name}': {function.__name__} takes ({', '.join(found)}), "
                f"but a point law takes ({', '.join(ARGUMENTS)})"
            )
        check_foreign(function, name)
        taken = sorted(set(defaults) & set(FRICTION))
        if taken:
            raise LawError(f"law '{name}': {taken[0]} belongs to the ground, not to the law")
        for key in defaults:
            if key in ("kernel", *dir(PointLaw)) or key.startswith("_") or iskeyword(key):
                raise LawError(f"law '{name}': no option can be called '{key}', which every law or Python itself uses")
            if not key.isidentifier():
                raise LawError(f"law '{name}': no option can be called '{key}', which is no name in Python")
        names = [*defaults, *FRICTION]
        parameters = _parameters(tuple(names))

        def resolve(self: PointLaw, setting: Setting) -> Any:
            options = {key: float(getattr(self, key)) for key in defaults}
            friction = {key: getattr(setting.ground, key) for key in FRICTION}
            return parameters(**options, **friction)

        resolve.__annotations__ = {"return": parameters}
        law: Any = make_dataclass(
            "".join(part.title() for part in name.replace("_", "-").split("-")),
            [(key, float, field(default=value)) for key, value in defaults.items()],
            bases=(PointLaw,),
            namespace={
                "name": name,
                "citation": citation,
                "memory_size": memory,
                "kernel": staticmethod(function),
                "resolve": resolve,
                "__reduce__": _packed,
                "__post_init__": lambda self: _check_numbers(self, defaults),
                "__doc__": inspect.getdoc(function) or f"The law '{name}', from {function.__module__}.",
            },
            frozen=True,
            kw_only=True,
        )
        law.__module__, law.__qualname__ = function.__module__, function.__qualname__  # the class replaces the function
        register(law)
        return law

    return decorate


def _check_numbers(law: PointLaw, options: Iterable[str]) -> None:
    for name in options:
        value = getattr(law, name)
        check(is_number(value) and value >= 0, law.name, name, value, "a finite number >= 0")


def _packed(self: PointLaw) -> tuple[Any, ...]:
    """Pickle a law with its class if that can be imported, since another process may not have registered the law.

    A law from within a function, or one that another has replaced, is pickled by its name.
    """
    kind = type(self)
    try:
        placed = attrgetter(kind.__qualname__)(sys.modules[kind.__module__]) is kind
    except (AttributeError, KeyError):
        placed = False
    return (_unpacked, (kind, self.options())) if placed else (known_law, (self.to_dict(),))


def _unpacked(kind: type[PointLaw], options: dict[str, Any]) -> PointLaw:
    return register(kind)(**options)  # type: ignore[return-value]
