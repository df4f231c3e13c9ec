"""The contact laws, one file each; :mod:`footfall.contact.registry` lists them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from footfall.contact.base import CoupledLaw, Law, PointLaw
from footfall.contact.registry import BUILT_IN, law, law_class, laws, register

if TYPE_CHECKING:
    from footfall.contact.acceleration_complementarity import AccelerationComplementarity
    from footfall.contact.constraint_selection import ConstraintSelection
    from footfall.contact.distributed import Distributed
    from footfall.contact.from_function import point_law, spring_friction
    from footfall.contact.hunt_crossley import HuntCrossley
    from footfall.contact.linearizing_penalty import LinearizingPenalty
    from footfall.contact.mujoco_native import MujocoNative
    from footfall.contact.spring_damper import SpringDamper
    from footfall.contact.time_stepping import TimeStepping
    from footfall.solve.contacts import coulomb

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
    "coulomb",
    "law",
    "law_class",
    "laws",
    "point_law",
    "register",
    "spring_friction",
]

#: Public names that are in no file of a law, and their modules.
_HOMES = {
    "coulomb": "footfall.solve.contacts",
    "point_law": "footfall.contact.from_function",
    "spring_friction": "footfall.contact.from_function",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    for target in BUILT_IN.values():
        module, _, attribute = target.partition(":")
        if attribute == name:
            return getattr(import_module(f"footfall.contact.{module}"), attribute)
    raise AttributeError(f"module 'footfall.contact' has no attribute '{name}'")
