"""Controllers: what sets the controls while a robot runs. To add one: write its file, add its line to ``BUILT_IN``.

``base`` is the contract; ``inside``, ``senses`` and ``episode_log`` are for controllers that run in the compiled loop
with a memory of their own. A controller of several files has a folder; ``body/`` holds what controllers compute about a
robot, and ``whole_body/``, ``contact_forces`` and ``contact_places`` how they distribute forces.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from footfall.control.base import CompiledController, State, StatefulController
from footfall.errors import ControllerError, did_you_mean

if TYPE_CHECKING:
    from footfall.control.balance.balance import Balance
    from footfall.control.computed_torque import ComputedTorque
    from footfall.control.contact_places import Contact
    from footfall.control.follow.follow import Follow
    from footfall.control.gait_walk import GaitWalk
    from footfall.control.human_walk import HumanWalk
    from footfall.control.posture import Posture
    from footfall.control.quadruped.walk import QuadrupedWalk
    from footfall.control.walk.walk import Walk

__all__ = [
    "Balance",
    "CompiledController",
    "ComputedTorque",
    "Contact",
    "Follow",
    "GaitWalk",
    "HumanWalk",
    "Posture",
    "QuadrupedWalk",
    "State",
    "StatefulController",
    "Walk",
    "controller_class",
    "controllers",
    "named_controller",
]

#: Controllers that need no argument, by name: where each lives.
BUILT_IN = {
    "balance": "balance.balance:Balance",
    "gait": "gait_walk:GaitWalk",
    "human-walk": "human_walk:HumanWalk",
    "posture": "posture:Posture",
    "quadruped-walk": "quadruped.walk:QuadrupedWalk",
    "walk": "walk.walk:Walk",
}
#: Other public names.
_OTHERS = ("computed_torque:ComputedTorque", "contact_places:Contact", "follow.follow:Follow")


def controllers() -> tuple[str, ...]:
    """Names of the controllers that need no argument."""
    return tuple(sorted(BUILT_IN))


def controller_class(name: str) -> type[CompiledController] | type[StatefulController]:
    """The class of the controller of that name; its fields are the options."""
    if name not in BUILT_IN:
        raise ControllerError(f"no controller is called '{name}': {did_you_mean(name, BUILT_IN)}")
    return _load(BUILT_IN[name])


def named_controller(name: str, **options: Any) -> CompiledController | StatefulController:
    """A controller by name, with these options; unknown options are refused."""
    kind = controller_class(name)
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    for option in options:
        if option not in known:
            raise ControllerError(f"controller {name} has no option '{option}': {did_you_mean(option, known)}")
    return kind(**options)


@cache
def _load(home: str) -> Any:
    module, _, attribute = home.partition(":")
    return getattr(import_module(f"footfall.control.{module}"), attribute)


def __getattr__(name: str) -> Any:
    for home in (*BUILT_IN.values(), *_OTHERS):
        if home.endswith(f":{name}"):
            return _load(home)
    raise AttributeError(f"module 'footfall.control' has no attribute '{name}'")
