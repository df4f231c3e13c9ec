"""What following a motion works with, as arrays that compiled code reads and writes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from footfall.control.contact_places import CompiledPlaces
from footfall.control.episode_log import EpisodeLog
from footfall.control.follow.moment import MotionTable, StanceTable
from footfall.control.senses import Senses
from footfall.control.whole_body.on_points import PointBody
from footfall.robot.motors import Drives


class Sizes(NamedTuple):
    """Of the robot and its ground. Constant."""

    size: float  # height of the centre of mass over that of the robot which constants are for
    pace: float  # root of it
    omega: float  # 1/s, sqrt(g / height)
    weight: float  # N
    lift: float  # m, of the ground where it starts
    free_root: int  # 1 where the first joint is free


class Follower(NamedTuple):
    """All that following a motion works with."""

    senses: Senses
    signals: np.ndarray  # errors of joints, root, tilt and centre of mass, then commanded forces
    body: PointBody
    contacts: CompiledPlaces
    table: MotionTable
    stances: StanceTable
    sizes: Sizes
    drives: Drives
    own: np.ndarray  # (nd,) motors of joints
    helping: np.ndarray  # (nh,) motors on the root
    foot: np.ndarray  # (P,) the foot of each point
    point_radius: np.ndarray  # (P,) m
    begun: np.ndarray  # (1,)
    fallen: np.ndarray  # (1,)
    standing: np.ndarray  # (P,) 1 where a point shall rest on the ground or come down to it
    touching: np.ndarray  # (P,) 1 where it does
    foot_touches: np.ndarray  # (F,) 1 where any point of a foot does
    axes: np.ndarray  # (3, 3) scratch
    motor_torque: np.ndarray  # (nu,) N m
    log: EpisodeLog
