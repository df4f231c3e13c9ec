"""What balance control works with, as arrays that compiled code reads and writes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from footfall.control.balance_reference import Wanted
from footfall.control.com_coordinates import Tree
from footfall.control.contact_forces import ForceProblem
from footfall.control.contact_places import ContactPlaces
from footfall.control.episode_log import EpisodeLog
from footfall.control.senses import Senses
from footfall.control.unloaded import Unloaded
from footfall.engine.clock import Clock
from footfall.ground import Ground
from footfall.robot.motors import Drives


class Gains(NamedTuple):
    """The numbers of (19)-(22)."""

    weight: np.ndarray  # (3,) N, that the ground must give at rest
    stiffness: np.ndarray  # (3,) N/m
    damping: np.ndarray  # (3,) N s/m
    kr: float  # N m/rad
    dr: float  # N m s/rad


class Contacts(NamedTuple):
    """The contact points: those of the feet, then others that were named."""

    feet: int  # points of the feet
    level: int  # 1 where the ground is one plane, so that frames stay as they are
    surface: Any  # the ground's function
    shape: Any
    table: Any
    body: Any  # (P - feet,) of the others
    point: Any  # (P - feet, 3) m, body frame
    position: Any  # (P, 3) m, world frame
    frames: Any  # (P, 3, 3) rows tangent, tangent, normal
    arms: Any  # (P, 3) m, from the centre of mass


class Watched(NamedTuple):
    """What is kept from one call to the next."""

    begun: Any  # (1,)
    fallen: Any  # (1,)
    height: Any  # (1,) m, of the centre of mass over the lowest contact point at the start
    next_question: Any  # (1,) s, when to ask again whether the robot could stand at its reference
    rest_since: Any  # (1,) s, infinite while it moves


class Balancer(NamedTuple):
    """All that balance control works with."""

    senses: Senses
    signals: Any  # (S,) commanded forces, desired and missed wrench, error, time and success of the program
    tree: Tree
    trunk: int  # body whose orientation is kept
    gains: Gains
    drives: Drives
    contacts: Contacts
    wanted: Wanted
    problem: ForceProblem
    question: ForceProblem  # whether the robot could stand at its reference
    watched: Watched
    unloaded: Unloaded
    log: EpisodeLog
    clock: Clock
    jacobian: Any  # (3, nv) of the centre of mass
    velocity: Any  # (3,) m/s, of the centre of mass
    torque: Any  # (nv,) N m
    motor_torque: Any  # (nu,) N m
    error: Any  # (3,) m
    wrench: Any  # (6,) N and N m, desired
    still: Any  # (6,) N and N m, that carries the robot at rest


def contacts_of(places: ContactPlaces, ground: Ground) -> Contacts:
    """The places where a robot may push, for compiled code."""
    surface, shape, table = ground.compiled()
    others = places.contacts
    return Contacts(
        feet=places.feet,
        level=int(ground.flat),
        surface=surface,
        shape=np.array(shape),
        table=np.array(table),
        body=np.array(places.body[places.feet :], dtype=np.int64),
        point=np.array([one.point for one in others], dtype=float).reshape(-1, 3),
        position=places.position,
        frames=places.frames,
        arms=np.zeros((places.count, 3)),
    )


def watched() -> Watched:
    """Before the first call."""
    flags = np.zeros((2, 1), dtype=np.int64)
    return Watched(flags[0], flags[1], np.zeros(1), np.full(1, -np.inf), np.full(1, np.inf))
