"""The built-in robots: one file each, found here by name and imported only when asked for.

A builder module holds a frozen dataclass ``Parameters`` (SI units, checked on creation) and a function
``build(parameters) -> (MjSpec, feet)``. ``feet`` is what ``load_robot(feet=...)`` takes: ``None`` where the
collision geometry shows where the feet are. To add a robot, write its file, named like the robot with underscores, and
add its line to ``BUILT_IN``.
"""

from __future__ import annotations

import importlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from footfall.arguments import public
from footfall.errors import RobotError, did_you_mean

if TYPE_CHECKING:
    import mujoco

#: A line on each robot.
BUILT_IN = {
    "ball": "a free sphere: one round contact point",
    "brick": "a free box: four contact points under its bottom face",
    "full-humanoid": "a humanoid of human size in the class of CB, 50 motors, 3 to 64 corners a sole (Moraud 2008)",
    "hanavan": "a man of 75 kg in Hanavan's solids, in space or in the plane, 18 contact points a foot (Bruneau 1999)",
    "planar-biped": "seven links in the sagittal plane, 9 coordinates, heel and toe contacts (Bravo 2021)",
    "point-biped": "a trunk on two legs, 6 motors, two round point feet (12 kg)",
    "quadruped": "a trunk on four legs, 12 motors, four round point feet (15 kg)",
    "small-humanoid": "a humanoid of 0.5 m in the class of Hoap-2, 25 motors, 3 to 64 corners a sole (Moraud 2008)",
    "spatial-biped": "five links and two rectangular feet in space, 14 motors, 8 contact points (Rengifo 2009)",
    "torque-biped": "two legs of six torque-controlled joints and a trunk, 8 contact points (Ott 2011)",
}


def robots() -> tuple[str, ...]:
    """Sorted names of the built-in robots."""
    return tuple(sorted(BUILT_IN))


@public
def summary(name: str) -> str:
    """One line on a built-in robot."""
    module_of(name)
    return BUILT_IN[name]


@public
def documentation(name: str) -> str:
    """The paragraph on a built-in robot: its source, and what is assumed where the source is silent."""
    return (module_of(name).__doc__ or "").strip()


def parameters_of(name: str) -> list[str]:
    """Names of the parameters of a built-in robot."""
    return [field.name for field in fields(module_of(name).Parameters)]


def build(name: str, parameters: dict[str, Any]) -> tuple[mujoco.MjSpec, Any, dict[str, Any]]:
    """Build a built-in robot.

    Returns its ``MjSpec``, its feet as ``load_robot`` takes them (``None``: find them), and all its
    parameters, given and default.
    """
    module = module_of(name)
    known = parameters_of(name)
    for key in parameters:
        if key not in known:
            raise RobotError(f"robot '{name}' has no parameter '{key}': {did_you_mean(key, known)}")
    resolved = module.Parameters(**parameters)
    try:
        spec, feet = module.build(resolved)
    except ValueError as error:  # of MuJoCo, which compiles some of them on the way
        raise RobotError(f"MuJoCo cannot build robot '{name}': {' '.join(str(error).split())}") from error
    return spec, feet, {key: getattr(resolved, key) for key in known}


def module_of(name: str) -> Any:
    """The module of a built-in robot."""
    if name not in BUILT_IN:
        raise RobotError(
            f"no built-in robot '{name}': {did_you_mean(name, BUILT_IN)}; "
            "a robot of your own is loaded from a path that ends in .xml (MJCF) or .urdf"
        )
    return importlib.import_module(f"footfall.robot.built_in.{name.replace('-', '_')}")
