"""Controllers: what sets the controls while a robot runs."""

from __future__ import annotations

from footfall.control.balance import Balance
from footfall.control.base import CompiledController, State, StatefulController
from footfall.control.computed_torque import ComputedTorque
from footfall.control.contact_places import Contact
from footfall.control.gait_walk import GaitWalk
from footfall.control.human_walk import HumanWalk
from footfall.control.posture import Posture
from footfall.control.walking import Walk
from footfall.errors import ControllerError, did_you_mean

__all__ = [
    "Balance",
    "CompiledController",
    "ComputedTorque",
    "Contact",
    "GaitWalk",
    "HumanWalk",
    "Posture",
    "State",
    "Walk",
    "controllers",
    "named_controller",
]

_NAMED = {"balance": Balance, "gait": GaitWalk, "human-walk": HumanWalk, "posture": Posture, "walk": Walk}


def controllers() -> tuple[str, ...]:
    """Names of the controllers that need no argument."""
    return tuple(sorted(_NAMED))


def controller_class(name: str) -> type[CompiledController] | type[StatefulController]:
    """What makes the controller of that name; its fields are the options."""
    if name not in _NAMED:
        raise ControllerError(f"no controller is called '{name}': {did_you_mean(name, _NAMED)}")
    return _NAMED[name]


def named_controller(name: str) -> CompiledController | StatefulController:
    """A controller with its defaults, by name."""
    return controller_class(name)()
