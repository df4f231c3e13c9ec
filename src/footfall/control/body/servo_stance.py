"""Whether the servos of a robot hold it up with the targets of its home pose, and how strong they would have to be.

A servo gives no torque at its target: under load a robot sags until servos, springs and contacts carry it. From soft
ones it sags until it tips, or there is no stable pose, as for an inverted pendulum on a spring weaker than gravity.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.control.body.stance import free_motions, load_slope, rest
from footfall.errors import ControllerError
from footfall.robot import Robot
from footfall.robot.footing import beside_soles, may_topple
from footfall.robot.motors import Drives, drives

#: Factors on gains and limits that are tried, in this order, to name one that would do.
STRONGER = (1.5, 2.0, 3.0, 5.0, 10.0)
#: Curvature, as a share of the largest, up to which a motion is neutral.
NEUTRAL = 1e-9


class _Load(NamedTuple):
    """The load on the servos of a robot that stands at home, to first order in how far it sags."""

    drive: Drives
    free: np.ndarray  # (nv, F) basis of the motions in which its feet stay where they are
    needed: np.ndarray  # (nv,) N m, of servos at rest
    slope: np.ndarray  # (nv, nv) N m/rad, by which that grows
    given: np.ndarray  # (nu,) N m, of servos at home
    gain: np.ndarray  # (nu,) N m/rad


def why_servos_give_way(robot: Robot) -> str:
    """A sentence, with numbers, if the servos of a robot do not hold it up at home; "" if they do, if it has none, and
    for robots that fall from home under any servos or that no pose balances.
    """
    try:
        drive = drives(robot, "servos")
    except ControllerError:  # muscles and tendons
        return ""
    if not (drive.servos and may_topple(robot)) or beside_soles(robot, robot.home).any():
        return ""
    now = rest(robot, robot.home)
    ctrl = np.clip(robot.home_ctrl, drive.low, drive.high)
    load = _Load(
        drive=drive,
        free=free_motions(np.concatenate([now.contact_rows, now.loop_rows])),
        needed=now.torque,
        slope=load_slope(robot, robot.home, now.force, now.loop),
        given=drive.scale * ctrl + drive.offset + drive.per_angle * robot.home[drive.place],
        gain=-drive.per_angle,
    )
    worst = _giving_way(robot, load, 1.0)
    if worst is None:
        return ""
    enough = next((factor for factor in STRONGER if _giving_way(robot, load, factor) is None), None)
    cure = "" if enough is None else f"; {enough:g} times as strong they would: load_robot(..., strength={enough:g})"
    return (
        f"the servos of {robot.name} do not hold it up with the targets of its home pose: "
        f"'{robot.actuator_names[worst]}' gives way most, where it needs {now.torque[drive.dof[worst]]:.3g} N m and "
        f"gives {load.given[worst]:.3g} N m, {load.gain[worst]:.3g} N m more per rad, and at most "
        f"{drive.limit[worst]:.3g} N m{cure}"
    )


def _giving_way(robot: Robot, load: _Load, strength: float) -> int | None:
    """The servo that gives way most where servos ``strength`` times as strong do not hold a robot, stable and with its
    weight over its soles; None if they do.
    """
    drive, free, at = load.drive, load.free, load.drive.dof
    lack, gains = load.needed.copy(), np.zeros(robot.model.nv)
    np.subtract.at(lack, at, strength * load.given)
    np.add.at(gains, at, strength * load.gain)
    curvature, ways = np.linalg.eigh(free.T @ (load.slope + np.diag(gains)) @ free)
    ways, rounding = free @ ways, NEUTRAL * curvature[-1]
    moved = ways[:, 0]  # the way it tips, in any size
    if curvature[0] > -rounding:
        held = curvature > rounding
        moved = -ways[:, held] @ (ways[:, held].T @ lack / curvature[held])
        over = np.abs(load.given - load.gain * moved[at]) - drive.limit
        if over.max() > 0.0:
            return int(over.argmax())
        pose = robot.home.copy()
        mujoco.mj_integratePos(robot.model, pose, moved, 1.0)
        if not beside_soles(robot, pose).any():
            return None
    return int((load.gain * moved[at] ** 2).argmax())
