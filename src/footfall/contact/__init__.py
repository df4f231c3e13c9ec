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
    from footfall.contact.from_function import point_law
    from footfall.contact.hunt_crossley import HuntCrossley
    from footfall.contact.linearizing_penalty import LinearizingPenalty
    from footfall.contact.mujoco_native import MujocoNative
    from footfall.contact.spring_damper import SpringDamper
    from footfall.contact.springs.material import material_of
    from footfall.contact.time_stepping import TimeStepping

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
    "material_of",
    "point_law",
    "register",
]


def __getattr__(name: str) -> Any:
    if name == "point_law":
        return import_module("footfall.contact.from_function").point_law
    if name == "material_of":
        return import_module("footfall.contact.springs.material").material_of
    for target in BUILT_IN.values():
        module, _, attribute = target.partition(":")
        if attribute == name:
            return getattr(import_module(f"footfall.contact.{module}"), attribute)
    raise AttributeError(f"module 'footfall.contact' has no attribute '{name}'")
