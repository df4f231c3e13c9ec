"""The contact laws. To add one: write its file, add its line here, add its row in the documentation."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from footfall.contact.base import CoupledLaw, Law, PointLaw, make
from footfall.errors import LawError, did_you_mean

if TYPE_CHECKING:
    from footfall.contact.acceleration_complementarity import AccelerationComplementarity
    from footfall.contact.constraint_selection import ConstraintSelection
    from footfall.contact.distributed import Distributed
    from footfall.contact.hunt_crossley import HuntCrossley
    from footfall.contact.linearizing_penalty import LinearizingPenalty
    from footfall.contact.mujoco_native import MujocoNative
    from footfall.contact.spring_damper import SpringDamper
    from footfall.contact.time_stepping import TimeStepping
    from footfall.contact.user import point_law

__all__ = [
    "AccelerationComplementarity",
    "ConstraintSelection",
    "CoupledLaw",
    "Distributed",
    "HuntCrossley",
    "Law",
    "LinearizingPenalty",
    "MujocoNative",
    "PointLaw",
    "SpringDamper",
    "TimeStepping",
    "law",
    "law_class",
    "laws",
    "point_law",
    "register",
]

_BUILT_IN = {
    "spring-damper": "spring_damper:SpringDamper",
    "hunt-crossley": "hunt_crossley:HuntCrossley",
    "distributed": "distributed:Distributed",
    "linearizing-penalty": "linearizing_penalty:LinearizingPenalty",
    "constraint-selection": "constraint_selection:ConstraintSelection",
    "time-stepping": "time_stepping:TimeStepping",
    "acceleration-complementarity": "acceleration_complementarity:AccelerationComplementarity",
    "mujoco": "mujoco_native:MujocoNative",
}
_registered: dict[str, type[Law]] = {}


def laws() -> tuple[str, ...]:
    """Names of all laws, built in and registered."""
    return tuple(sorted({*_BUILT_IN, *_registered}))


def law_class(name: str) -> type[Law]:
    """The class behind a law's name."""
    if name in _registered:
        return _registered[name]
    if name not in _BUILT_IN:
        raise LawError(f"no contact law is called '{name}': {did_you_mean(name, laws())}")
    module, _, attribute = _BUILT_IN[name].partition(":")
    return getattr(import_module(f"footfall.contact.{module}"), attribute)


def law(name: str | Law, **options: Any) -> Law:
    """A contact law by name, with options by name.

    >>> law("linearizing-penalty", kp=500, kv=250, eps=1e-6)
    LinearizingPenalty(kp=500, kv=250, eps=1e-06)
    """
    if isinstance(name, Law):
        return name.replace(**options) if options else name
    if not isinstance(name, str):
        raise LawError(f"a contact law is a name or a law, not {name!r}")
    return make(law_class(name), options)


def register(law: type[Law]) -> type[Law]:
    """Make a law known by its name. Usable as a decorator; a user's law may replace his own, not a built-in one."""
    if law.name in _BUILT_IN:
        raise LawError(f"'{law.name}' is a built-in law; give yours another name")
    _registered[law.name] = law
    return law


def __getattr__(name: str) -> Any:
    if name == "point_law":
        return import_module("footfall.contact.user").point_law
    for target in _BUILT_IN.values():
        module, _, attribute = target.partition(":")
        if attribute == name:
            return getattr(import_module(f"footfall.contact.{module}"), attribute)
    raise AttributeError(f"module 'footfall.contact' has no attribute '{name}'")
