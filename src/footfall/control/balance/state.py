"""What balance control works with, as arrays that compiled code reads and writes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from footfall.control.balance.reference import Wanted
from footfall.control.balance.unloaded import Unloaded
from footfall.control.body.com_coordinates import Tree
from footfall.control.contact_forces import ForceProblem
from footfall.control.contact_places import CompiledPlaces
from footfall.control.episode_log import EpisodeLog
from footfall.control.senses import Senses
from footfall.engine.bridge import Clock
from footfall.robot.motors import Drives


class Gains(NamedTuple):
    """The numbers of (19)-(22)."""

    weight: np.ndarray  # (3,) N, that the ground must give at rest
    stiffness: np.ndarray  # (3,) N/m
    damping: np.ndarray  # (3,) N s/m
    kr: float  # N m/rad
    dr: float  # N m s/rad


class Watched(NamedTuple):
    """What is kept from one call to the next."""

    begun: np.ndarray  # (1,)
    fallen: np.ndarray  # (1,)
    height: np.ndarray  # (1,) m, of the centre of mass over the lowest contact point at the start
    next_question: np.ndarray  # (1,) s, when to ask again whether the robot could stand at its reference
    rest_since: np.ndarray  # (1,) s, infinite while it moves


class Balancer(NamedTuple):
    """All that balance control works with."""

    senses: Senses
    signals: np.ndarray  # (S,) commanded forces, desired and missed wrench, error, time and success of the program
    tree: Tree
    trunk: int  # body whose orientation is kept
    gains: Gains
    drives: Drives
    contacts: CompiledPlaces
    wanted: Wanted
    problem: ForceProblem
    question: ForceProblem  # whether the robot could stand at its reference
    watched: Watched
    unloaded: Unloaded
    log: EpisodeLog
    clock: Clock
    jacobian: np.ndarray  # (3, nv) of the centre of mass
    velocity: np.ndarray  # (3,) m/s, of the centre of mass
    torque: np.ndarray  # (nv,) N m
    motor_torque: np.ndarray  # (nu,) N m
    error: np.ndarray  # (3,) m
    wrench: np.ndarray  # (6,) N and N m, desired
    still: np.ndarray  # (6,) N and N m, that carries the robot at rest


def watched() -> Watched:
    """Before the first call."""
    flags = np.zeros((2, 1), dtype=np.int64)
    return Watched(flags[0], flags[1], np.zeros(1), np.full(1, -np.inf), np.full(1, np.inf))
