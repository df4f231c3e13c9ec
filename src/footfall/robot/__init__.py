"""Robots: a MuJoCo model, its feet, and the pose it stands in.

``load_robot`` makes a ``Robot`` from a built-in name, an MJCF or URDF file, an ``MjSpec`` or an ``MjModel``;
``robots`` names the built-in ones, ``summary`` and ``documentation`` describe one of them.
"""

from typing import Any

from footfall.process.mujoco_library import write_no_log_file
from footfall.robot.built_in import documentation, robots, summary
from footfall.robot.feet import Foot
from footfall.robot.load import load_robot
from footfall.robot.robot import Robot

__all__ = ["Foot", "Robot", "assisted", "load_robot", "robots", "summary", "documentation"]


write_no_log_file()


def __getattr__(name: str) -> Any:
    if name == "assisted":  # imports Numba, which is slow
        from footfall.robot.motors import assisted

        return assisted
    raise AttributeError(f"module 'footfall.robot' has no attribute '{name}'")
