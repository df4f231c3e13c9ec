"""Robots: a MuJoCo model, its feet, and the pose it stands in.

``load_robot`` makes a ``Robot`` from a built-in name, an MJCF or URDF file, an ``MjSpec`` or an ``MjModel``;
``robots`` names the built-in ones, ``summary`` and ``documentation`` describe one of them.
"""

from footfall.process.mujoco_library import write_no_log_file
from footfall.robot.built_in import documentation, robots, summary
from footfall.robot.feet import Foot
from footfall.robot.load import load_robot
from footfall.robot.robot import Robot

__all__ = ["Foot", "Robot", "load_robot", "robots", "summary", "documentation"]

write_no_log_file()
