"""A robot as a biped, for walking controllers: its two soles, its legs and its motors, found from the model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from footfall.control.body.linkage import Linkage, follow_motors, linkage_of
from footfall.control.body.stance import check_weight
from footfall.errors import ControllerError
from footfall.robot import Foot, Robot
from footfall.robot.model import chain_of
from footfall.robot.motors import Drives, drives
from footfall.standing import at_home, jacobian_at, place_on

UP = np.array([0.0, 0.0, 1.0])
#: Motors that a leg needs for any pose of its foot.
LEG_JOINTS = 6
#: Least motors of a leg with a sole: with five the ankle cannot roll, and a foot tips on its edges as the hips sway.
LEAST_JOINTS = 5
#: Least motors of a leg with a point foot, whose attitude does not matter.
POINT_JOINTS = 3
#: Largest error (rad) of a roll of the foot by 1 rad, of a leg that can roll its foot.
CANNOT = 0.2
#: Damping of the inverse of a leg's Jacobian, m or rad per rad: the leg hardly moves along smaller singular values.
DAMPING = 0.05
#: Ratio of width to length of the contact points of a foot below which they lie on a line.
THIN = 0.02
#: Largest ratio of the lateral to the forward extent of such a line that is along the walk.
ALONG = 0.2
#: Assumed half width of a foot on a line, in legs: a small bound of the moments that it cannot bear.
NARROW = 0.005
#: Assumed half length and half width of a foot on a point, in legs, for the same reason.
TINY = 0.001
#: Largest height over the sole of an ankle, the last motor of a leg, as a share of the hip's.
ANKLE = 0.4


@dataclass(frozen=True, eq=False)
class Sole:
    """A foot as a flat plate. The sole's frame has its origin amid the outline; at home x is forward, z up."""

    name: str  # of the foot
    body: int  # id of its body
    centre: np.ndarray  # (3,) m, origin of the sole's frame in the body's frame
    rotation: np.ndarray  # (3, 3) axes of the sole's frame in the body's frame
    outline: np.ndarray  # (K, 2) m, counter-clockwise, in the sole's frame
    points: slice  # of the robot's contact points, those of this foot
    leg: float  # m, from hip to ankle with a straight knee, in the sagittal plane; to the ground on a point foot
    radius: float = 0.0  # m, of round points on which a foot stands that is a point or a line; 0 for soles

    @property
    def half_length(self) -> float:
        """m, from the middle to the toe."""
        return float(0.5 * np.ptp(self.outline[:, 0]))

    @property
    def half_width(self) -> float:
        """m, from the middle to the side."""
        return float(0.5 * np.ptp(self.outline[:, 1]))


@dataclass(frozen=True, eq=False)
class Biped:
    """A robot seen as a trunk on two legs."""

    robot: Robot
    trunk: int  # id of the body with the free joint, whose degrees of freedom are the first six
    soles: tuple[Sole, Sole]  # the left one, then the right one
    motors: np.ndarray  # (nu,) degree of freedom that each actuator drives
    drives: Drives  # from torques of the motors to controls
    legs: tuple[np.ndarray, np.ndarray]  # dofs with motors of the left and of the right leg, from the hip down
    knees: tuple[int, int]  # the dof of these in the middle of each leg
    spare: np.ndarray  # (nu,) motors beyond the six that a leg needs, and those of a waist between trunk and legs
    line: bool  # whether the feet stand on lines along the walk, and so cannot bear roll moments
    point: bool  # whether each foot stands on a point, and so cannot bear moments
    rolls: bool  # whether every leg can roll its foot without moving it
    tips: bool  # whether a leg cannot, and its foot is flat, so that it tips on its edges as the hips sway
    linkage: Linkage  # loops and ties of the legs
    torque: np.ndarray  # (nu,) the largest of each motor, N m or N; infinite where there is no limit
    com_height: float  # m, centre of mass over the soles at home
    com_ahead: float  # m, centre of mass ahead of the middle of the soles at home
    facing: np.ndarray  # (3, 3) columns forward, left and up at home, world frame
    home_trunk: np.ndarray  # (3, 3) axes of the trunk at home, world frame
    hip_height: float  # m, hips over the ankles at home
    step_width: float  # m, between the middles of the soles at home

    @property
    def leg(self) -> float:
        """m, length of the shorter leg."""
        return min(sole.leg for sole in self.soles)

    @property
    def unit(self) -> float:
        """s, sqrt(leg / g): the unit of times, by Froude's number."""
        return math.sqrt(self.leg * self.robot.mass / self.robot.weight)

    @classmethod
    def of(cls, robot: Robot, purpose: str) -> Biped:
        """The robot as a biped, or an error that names the requirement of ``purpose`` that it does not meet."""
        model = robot.model
        _check(robot, purpose)
        driving = drives(robot, purpose)
        motors = driving.dof.astype(np.int64)
        linkage = linkage_of(robot, motors, purpose)
        data = at_home(robot)
        facing = np.column_stack([robot.forward, np.cross(UP, robot.forward), UP])
        trunk = int(model.jnt_bodyid[0])
        chains = [_joints_above(model, model.body(foot.body).id) for foot in robot.feet]
        shared = set(chains[0]) & set(chains[1])  # of a waist below the trunk
        legs = [
            _leg(robot, data, foot, [j for j in chain if j not in shared], linkage, purpose)
            for foot, chain in zip(robot.feet, chains, strict=True)
        ]
        point = _is_point(robot.feet[0])
        if point != _is_point(robot.feet[1]):
            raise ControllerError(f"{purpose} needs two feet of one kind, and one of {robot.name} stands on a point")
        first = 0
        soles = []
        spare = np.isin(model.dof_jntid[motors], list(shared))
        for foot, leg in zip(robot.feet, legs, strict=True):
            soles.append(_sole(robot, data, foot, first, leg.length, facing, purpose))
            if not point:
                spare |= np.isin(motors, _spare(data, soles[-1], leg.dofs, linkage))
            first += len(foot.points)
        middles = [place_on(data, s.body, s.centre) @ facing for s in soles]
        com = data.subtree_com[trunk] @ facing
        apart = np.abs(middles[0] - middles[1])
        if apart[0] > apart[1]:
            raise ControllerError(
                f"{purpose} needs feet beside each other; those of {robot.name} stand {apart[0]:.2g} m apart along the "
                f"way it faces and {apart[1]:.2g} m across: set forward=, or its pose"
            )
        if middles[0][1] < middles[1][1]:
            soles, legs = soles[::-1], legs[::-1]
        line = not point and any(sole.half_width < 1.01 * NARROW * sole.leg for sole in soles)
        rolls = all(_rolls(data, sole, leg.dofs, linkage, facing) for sole, leg in zip(soles, legs, strict=True))
        return cls(
            robot=robot,
            trunk=trunk,
            soles=(soles[0], soles[1]),
            motors=motors,
            drives=driving,
            legs=(legs[0].dofs, legs[1].dofs),
            knees=(legs[0].knee, legs[1].knee),
            spare=spare,
            line=line,
            point=point,
            rolls=rolls,
            tips=not (point or line or rolls),
            linkage=linkage,
            torque=driving.limit,
            com_height=float(com[2] - min(m[2] - s.radius for m, s in zip(middles, soles, strict=True))),
            com_ahead=float(com[0] - np.mean([m[0] for m in middles])),
            facing=facing,
            home_trunk=data.xmat[trunk].reshape(3, 3).copy(),
            hip_height=float(np.mean([leg.height for leg in legs])),
            step_width=float(abs(middles[0][1] - middles[1][1])),
        )


def _check(robot: Robot, purpose: str) -> None:
    """Refuse a robot without motors, two feet or a free base."""
    model = robot.model
    if not model.nu:
        raise ControllerError(f"{purpose} needs legs with motors, and {robot.name} has no motor")
    if len(robot.feet) != 2:
        other = ", which quadruped-walk is for" if len(robot.feet) == 4 else ""
        raise ControllerError(f"{purpose} needs two feet, {robot.name} has {len(robot.feet)}{other}")
    free = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    if len(free) > 1:
        names = ", ".join(model.body(model.jnt_bodyid[joint]).name for joint in free)
        raise ControllerError(f"{purpose} needs one free base, and {robot.name} has {len(free)} free bodies: {names}")
    if len(free) == 0 or free[0] != 0:
        raise ControllerError(f"{purpose} needs one free base, and {robot.name} has none")
    check_weight(robot, purpose)


def _is_point(foot: Foot) -> bool:
    """Whether all contact points of a foot are one place."""
    return float(np.ptp(foot.points, axis=0).max()) == 0.0


class _Leg(NamedTuple):
    """A leg: its length when straight and its height from hip to ankle (m; on a point foot to the ground), its motors'
    dofs, and the knee's.
    """

    length: float
    height: float
    dofs: np.ndarray
    knee: int


def _joints_above(model: mujoco.MjModel, body: int) -> list[int]:
    """Joints between the trunk, which joint 0 moves, and a body, from the trunk down."""
    chain = chain_of(model, body)
    return [int(j) for j in np.flatnonzero(np.isin(model.jnt_bodyid, chain)) if j > 0]


def _leg(robot: Robot, data: mujoco.MjData, foot: Foot, joints: list[int], linkage: Linkage, purpose: str) -> _Leg:
    """The leg to a foot: ``joints`` that move it and not the other one, from the hip down."""
    model = robot.model
    driven = [j for j in joints if model.jnt_dofadr[j] in linkage.dofs]
    if not driven:
        raise ControllerError(f"{purpose} needs legs: no motor of {robot.name} moves its foot '{foot.name}'")
    anchors = data.xanchor[driven]
    point, body = _is_point(foot), model.body(foot.body).id
    turned = data.xmat[body].reshape(3, 3)
    over = anchors[[0, -1], 2] - float((foot.points @ turned[2]).min() + data.xpos[body, 2])
    if not point and over[1] > ANKLE * over[0]:
        raise ControllerError(
            f"{purpose} needs an ankle: the last motor of the leg to foot '{foot.name}' of {robot.name} is at "
            f"'{model.joint(driven[-1]).name}', {over[1]:.2g} m over the sole"
        )
    first, sprung = model.jnt_dofadr[joints], model.jnt_stiffness[joints] > 0.0
    linked = np.isin(first, linkage.dependent) | (~np.isin(first, linkage.dofs) & sprung)
    linked = np.array(joints)[linked & (len(linkage.rows) > 0)]  # joints that follow others, or are held by a spring
    least, has = POINT_JOINTS if point else LEAST_JOINTS, f"{robot.name} has {len(driven)}"
    if len(driven) < min(LEG_JOINTS, len(joints) - len(linked)):
        limp = next(model.joint(j).name for j in joints if j not in driven and j not in linked)
        raise ControllerError(
            f"{purpose} needs {LEG_JOINTS} motors in a leg, or one at each of its joints; {has}, and none at '{limp}'"
        )
    if len(driven) < least:
        raise ControllerError(
            f"{purpose} needs {least} motors in a leg; {has} between its base and the foot '{foot.name}'"
        )
    if point:  # the leg ends on the ground, wherever its last joint is
        end = data.xpos[body] + turned @ foot.points[0]
        end[2] = data.xpos[body, 2] + foot.lowest(turned).min()
        anchors = np.vstack([anchors, end])
    flat = np.column_stack([anchors @ robot.forward, anchors[:, 2]])  # lateral offsets of the hip make no leg longer
    ends = np.linalg.norm(flat[:, None] - flat[None, [0, -1]], axis=2)
    knee = int(ends.min(axis=1).argmax())
    dofs = model.jnt_dofadr[driven].astype(np.int64)
    return _Leg(float(ends[knee].sum()), float(anchors[0, 2] - anchors[-1, 2]), dofs, int(dofs[knee]))


def _spare(data: mujoco.MjData, sole: Sole, dofs: np.ndarray, linkage: Linkage) -> list[int]:
    """Redundant dofs of a leg: the remaining six move the foot most freely; among equals, the one nearest the foot."""
    jacobian = _sole_jacobian(data, sole, linkage)
    kept, spare = list(dofs), []
    while len(kept) > LEG_JOINTS:
        others = [[d for d in kept if d != one] for one in kept]
        # rounded, so that of equally good joints the one nearest the foot is spare
        freedom = [round(float(np.linalg.svd(jacobian[:, own], compute_uv=False)[-1]), 3) for own in others]
        spare.append(kept.pop(len(kept) - 1 - int(np.argmax(freedom[::-1]))))
    return spare


def _rolls(data: mujoco.MjData, sole: Sole, dofs: np.ndarray, linkage: Linkage, facing: np.ndarray) -> bool:
    """Whether a leg can roll its foot without moving it."""
    jacobian = _sole_jacobian(data, sole, linkage)[:, dofs]
    roll = np.concatenate([np.zeros(3), facing[:, 0]])
    # Damped, which excludes a roll by large joint motions, such as of two yaw joints.
    reached = jacobian @ jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + DAMPING**2 * np.eye(6), roll)
    return bool(np.linalg.norm(roll - reached) <= CANNOT)


def _sole_jacobian(data: mujoco.MjData, sole: Sole, linkage: Linkage) -> np.ndarray:
    """(6, nv) Jacobian of the middle of a sole, translation and rotation; motors move dependent joints with them."""
    jacobian = jacobian_at(data, sole.body, place_on(data, sole.body, sole.centre))
    jacobian[:, linkage.dofs] = jacobian @ follow_motors(linkage, data)[0]
    return jacobian


def _sole(
    robot: Robot, data: mujoco.MjData, foot: Foot, first: int, leg: float, facing: np.ndarray, purpose: str
) -> Sole:
    """The sole of a foot: its own, or a small one around the point or the line that it stands on."""
    body = robot.model.body(foot.body).id
    turned = data.xmat[body].reshape(3, 3)
    placed = (foot.polygon @ turned.T + data.xpos[body]) @ facing  # ahead, to the left, up
    standing = (foot.points @ turned.T + data.xpos[body]) @ facing
    flat = standing[:, :2] - standing[:, :2].mean(axis=0)
    long, wide = np.linalg.svd(flat, compute_uv=False) if len(standing) > 1 else (0.0, 0.0)
    radius = float(standing[:, 2].min() - data.xpos[body, 2] - foot.lowest(turned).min())
    if long == 0.0:
        half = TINY * leg
        placed = standing[0] + half * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    elif wide < THIN * long:
        ahead, aside = np.ptp(flat, axis=0)
        if aside > ALONG * ahead:
            raise ControllerError(
                f"{purpose} needs feet that stand on an area, on a line along the walk or on a point: the contact "
                f"points of foot '{foot.name}' of {robot.name} lie on a line across the walk, on which it would tip "
                "before the next step"
            )
        ends = standing[[flat[:, 0].argmin(), flat[:, 0].argmax()]]
        narrow = np.array([0.0, NARROW * leg, 0.0])
        placed = np.array([ends[0] - narrow, ends[1] - narrow, ends[1] + narrow, ends[0] + narrow])
    elif len(placed) < 3:
        raise ControllerError(f"{purpose} needs soles with an area; foot '{foot.name}' of {robot.name} has none")
    else:
        radius = 0.0
    middle = 0.5 * (placed.min(axis=0) + placed.max(axis=0))
    return Sole(
        name=foot.name,
        body=body,
        centre=turned.T @ (facing @ middle - data.xpos[body]),
        rotation=turned.T @ facing,
        outline=placed[:, :2] - middle[:2],
        points=slice(first, first + len(foot.points)),
        leg=leg,
        radius=radius,
    )
