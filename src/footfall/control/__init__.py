"""Controllers, which set the controls during a run. To add one: write its file, add its line to ``BUILT_IN``.

``base`` is the contract; ``inside`` and ``senses`` are for controllers that run in the compiled loop with a memory of
their own. ``body/`` holds properties of robots that controllers need, ``whole_body`` and ``contact_forces`` distribute
forces.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from footfall.arguments import public
from footfall.control.base import CompiledController, Observation, StatefulController
from footfall.errors import ControllerError, did_you_mean
from footfall.robot import Robot
from footfall.robot.motors import drives

if TYPE_CHECKING:
    from footfall.control.balance import Balance
    from footfall.control.computed_torque import ComputedTorque, GaitWalk
    from footfall.control.follow import Follow
    from footfall.control.policy.policy import Policy
    from footfall.control.posture import Posture
    from footfall.control.quadruped_walk import QuadrupedWalk
    from footfall.control.replay import Replay
    from footfall.control.tracking import HumanWalk
    from footfall.control.walk.walk import Walk

__all__ = [
    "Balance",
    "CompiledController",
    "ComputedTorque",
    "Follow",
    "GaitWalk",
    "HumanWalk",
    "Policy",
    "Posture",
    "QuadrupedWalk",
    "Observation",
    "Replay",
    "StatefulController",
    "Walk",
    "chosen_controller",
    "controller_class",
    "controllers",
    "default_controller",
    "named_controller",
    "walker",
]

#: Modules and classes of the controllers that need no argument, by name.
BUILT_IN = {
    "balance": "balance:Balance",
    "gait": "computed_torque:GaitWalk",
    "human-walk": "tracking:HumanWalk",
    "posture": "posture:Posture",
    "quadruped-walk": "quadruped_walk:QuadrupedWalk",
    "walk": "walk.walk:Walk",
}
#: Controllers by name that need a file.
OF_FILES = {"policy": "policy.policy:Policy"}
#: Other public classes.
_OTHERS = ("computed_torque:ComputedTorque", "follow:Follow", "replay:Replay")


def controllers() -> tuple[str, ...]:
    """Names of the controllers that need no argument."""
    return tuple(sorted(BUILT_IN))


@public
def controller_class(name: str) -> type[CompiledController] | type[StatefulController]:
    """The class of the controller of that name; its fields are the options."""
    known = BUILT_IN | OF_FILES
    if name not in known:
        raise ControllerError(f"no controller is called '{name}': {did_you_mean(name, known)}")
    return _load(known[name])


@public
def named_controller(name: str, **options: Any) -> CompiledController | StatefulController:
    """A controller by name, with these options; unknown options are refused."""
    kind = controller_class(name)
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    for option in options:
        if option not in known:
            raise ControllerError(f"controller {name} has no option '{option}': {did_you_mean(option, known)}")
    return kind(**options)


@public
def default_controller(robot: Robot) -> str | None:
    """The controller of a run that is given none: "posture" for motors, None where nothing is to be controlled.

    Servos hold their posture by themselves, and a ball has no actuators; for muscles and tendons no control is known
    that results in a torque. Every function and command that takes a controller has this default.
    """
    try:
        by_motors = robot.model.nu and not drives(robot, "posture").servos
    except ControllerError:
        return None
    return "posture" if by_motors else None


@public
def chosen_controller(controller: Any, robot: Robot, **options: Any) -> Any:
    """The controller that an argument stands for: itself, one by name with ``options``, the default of a robot
    ("default"), or None ("none").
    """
    if not isinstance(controller, str):
        return controller
    name = default_controller(robot) or "none" if controller == "default" else controller
    if name == "none" and options:
        raise ControllerError(f"options of a controller are given, not its name, and {robot.name} has no default one")
    return None if name == "none" else named_controller(name, **options)


@public
def walker(
    robot: Robot,
    *,
    speed: float | None = None,
    turn: float = 0.0,
    steps: int = 10,
    gait: Literal["trot", "crawl"] | None = None,
) -> Walk | QuadrupedWalk:
    """``Walk`` for a robot on two feet, ``QuadrupedWalk`` for one on four, with numbers for what follows from it.

    ``speed`` in m/s, ``turn`` in rad/s; ``gait``, "trot" or "crawl", is for four feet.
    """
    from footfall.control.quadruped_walk import QuadrupedWalk
    from footfall.control.walk.walk import Walk

    if len(robot.feet) == 4:
        return QuadrupedWalk(speed=speed, turn=turn, steps=steps, gait=gait or "trot").scaled(robot)
    if gait is not None:
        raise ControllerError(f"the gait '{gait}' is for four feet, and {robot.name} has {len(robot.feet)}")
    return Walk(speed=speed, turn=turn, steps=steps).scaled(robot)


@cache
def _load(home: str) -> Any:
    module, _, attribute = home.partition(":")
    return getattr(import_module(f"footfall.control.{module}"), attribute)


def __getattr__(name: str) -> Any:
    for home in (*BUILT_IN.values(), *OF_FILES.values(), *_OTHERS):
        if home.endswith(f":{name}"):
            return _load(home)
    raise AttributeError(f"module 'footfall.control' has no attribute '{name}'")
