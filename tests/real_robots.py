"""Models of real robots, which lie beside the project where they are there at all."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

from shared_files import shared_file

import footfall as ff

FILES = {
    "g1": "unitree_g1/g1.xml",
    "go1": "unitree_go1/go1.xml",
    "talos": "pal_talos/talos_motor.xml",
    "op3": "robotis_op3/op3.xml",
    "cassie": "agility_cassie/cassie.xml",
}


def real_robot(name: str, actuators: str = "motor") -> ff.Robot:
    """One of them, not to be changed; the test is skipped where its file is missing."""
    return _loaded(robot_file(name), actuators)


def robot_file(name: str) -> Path:
    """The file of one of them; the test is skipped where it is missing."""
    return shared_file(f"robots/{FILES[name]}")


@cache
def _loaded(file: Path, actuators: str) -> ff.Robot:
    """Once for all tests of a process: meshes take a third of a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ff.FootfallWarning)  # two of Talos' joints begin outside their limits
        return ff.load_robot(file, actuators=actuators)


def root_of(robot: ff.Robot) -> str:
    """The body that everything hangs on."""
    return str(robot.model.body(int(robot.model.body_rootid[robot.point_body[0]])).name)
