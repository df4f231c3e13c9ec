"""Balance by contact-force optimisation: Ott, Roa and Hirzinger 2011.

A wrench at the centre of mass brings it back to its place and the trunk back to its orientation, (19)-(22). A quadratic
program shares it out among the contact points (``footfall.control.contact_forces``), and the transposed contact
Jacobian in coordinates of the centre of mass makes joint torques of the forces, (12)-(15). No force is measured, no
inverse dynamics is computed, and all contact points are taken to touch.

Forces are those of the ground on the robot, so that (15) reads ``tau = -J_c^T f``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.compiled import kernel
from footfall.control.balance_reference import Reference
from footfall.control.balance_warnings import BalanceWarnings
from footfall.control.base import State
from footfall.control.com_coordinates import carrying_torques, com_jacobian, tree_of
from footfall.control.contact_forces import ContactForces
from footfall.control.contact_places import Contact, ContactPlaces
from footfall.control.loops import Loops
from footfall.errors import ControllerError, did_you_mean
from footfall.ground import Ground
from footfall.record import Signal
from footfall.robot import Robot
from footfall.robot.motors import drives


class Size(NamedTuple):
    """What gains follow from."""

    mass: float  # kg
    inertia: float  # kg m2, about a horizontal axis through the centre of mass, standing
    height: float  # m, of the centre of mass
    gravity: np.ndarray  # (3,) m/s2
    points: int  # contact points

    @property
    def rate(self) -> float:
        """1/s2, at which an inverted pendulum of this height falls: g/h."""
        return float(np.linalg.norm(self.gravity)) / self.height


#: The robot of the paper as ``torque-biped`` assumes it, its gains and the least force per point.
PAPER = Size(mass=50.0, inertia=6.68, height=0.6554, gravity=np.array([0.0, 0.0, -9.81]), points=8)
PAPER_GAINS = {"kh": 900.0, "kv": 3000.0, "kr": 100.0, "dr": 50.0}
PAPER_FLOOR = 4.0  # N


@dataclass(frozen=True)
class Balance:
    """Keep the centre of mass and the trunk where they are, or on a reference, by the forces at the contact points.

    Gains left out follow from mass, inertia and the frequency sqrt(g/h) of the standing robot, in the proportion that
    the paper's have; for a robot of its size (50 kg, centre of mass at 0.66 m) they are the paper's. ``floor`` left out
    is the same share of the weight per contact point as in the paper. Servos are given the target that makes the
    wanted torque; loops and springs between trunk and feet carry their part. ``com`` and
    ``orientation`` are functions of time that give (3,) numbers: how far the centre of mass shall be from its place at
    the start (m, world frame), and the rotation vector (rad, world frame) of the trunk from its orientation there.
    ``contacts`` are points besides those of the feet, as of a hand on a rail.

    Records ``commanded_force`` (one row per contact point, those of the feet first), ``desired_wrench``,
    ``missed_wrench``, ``com_error``, ``qp_time`` and ``qp_solved``. Warnings: ``infeasible`` where the contacts cannot
    give the wrench (the nearest they can give is used), ``saturated`` where a motor cannot give its torque,
    ``unreachable`` where the robot could not stand at its reference or stays away from it, ``fallen``, after which
    the motors are off.
    """

    kh: float | None = None  # N/m, horizontal stiffness, 1.2 m g/h
    kv: float | None = None  # N/m, vertical stiffness, 4.0 m g/h
    damping_h: float = 0.8  # damping ratio of the horizontal motion
    damping_v: float = 0.2  # damping ratio of the vertical motion
    kr: float | None = None  # N m/rad, stiffness of the trunk's orientation, 1.0 I g/h
    dr: float | None = None  # N m s/rad, its damping, 1.9 I sqrt(g/h)
    alpha1: float = 1.0  # weight of the force, eq. (18)
    alpha2: float = 1e-3  # weight of the torque
    alpha3: float = 1e-6  # weight of the contact forces' norm
    floor: float | None = None  # N, least normal force at every point, 0.065 of the weight / points
    sides: int = 4  # of the friction pyramid
    friction: float | None = None  # coefficient the forces keep to, the ground's dynamic one if left out
    trunk: str | None = None  # body whose orientation is kept, the root if left out
    com: Callable[[float], Any] | None = None
    orientation: Callable[[float], Any] | None = None
    contacts: Sequence[Contact] = ()

    def __post_init__(self) -> None:
        for name in ("kh", "kv", "damping_h", "damping_v", "kr", "dr"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0.0):
                raise ControllerError(f"balance: {name} = {value} but it must be a number >= 0")

    def __str__(self) -> str:
        changed = {one.name: getattr(self, one.name) for one in fields(self)}
        changed_options = [f"{name}={value}" for name, value in changed.items() if value != getattr(Balance, name)]
        return f"balance({', '.join(changed_options)})" if changed_options else "balance"

    def start(self, robot: Robot, ground: Ground, dt: float) -> Balancing:
        return Balancing(self, robot, ground, dt)


class Balancing:
    """A balance controller at work on one robot."""

    def __init__(self, options: Balance, robot: Robot, ground: Ground, dt: float) -> None:
        model = robot.model
        if not model.nu:
            raise ControllerError(f"balance: {robot.name} has no motors")
        self._drives = drives(robot, "balance")
        self._places = ContactPlaces(robot, ground, options.contacts)
        self._tree = tree_of(model, int(model.body_rootid[robot.point_body[0]]), self._places.body)
        self._trunk = self._tree.root
        if options.trunk is not None:
            names = [model.body(i).name for i in range(1, model.nbody)]
            if options.trunk not in names:
                hint = did_you_mean(options.trunk, names)
                raise ControllerError(f"balance: no body of {robot.name} is called '{options.trunk}': {hint}")
            self._trunk = int(model.body(options.trunk).id)
        size = size_of(robot, self._places.count)
        self._gains = gains(options, size)
        floor = least_force(size) if options.floor is None else options.floor
        self._loops = Loops(robot, np.logical_or.reduce(self._tree.moves))
        friction = self._places.friction(ground.dynamic_friction if options.friction is None else options.friction)
        weights = (options.alpha1, options.alpha2, options.alpha3)
        self._forces, question = (
            ContactForces(self._places.count, friction, sides=options.sides, minimum=floor, weights=weights)
            for _ in range(2)
        )
        self._reference = Reference(options.com, options.orientation, dt)
        self._warnings = BalanceWarnings(robot, self._gains.weight, self._drives.limit, question)
        self.warnings = self._warnings.warnings
        self._begun = self._fallen = False
        self._jacobian, self._torque = np.zeros((3, model.nv)), np.zeros(model.nv)
        self._arms, self._velocity = np.zeros((self._places.count, 3)), np.zeros(3)
        self._wrench, self._error = np.zeros(6), np.zeros(3)
        self._time, self._solved = np.zeros(()), np.zeros(())
        self.signals = {
            "commanded_force": Signal(self._forces.force, "N"),
            "desired_wrench": Signal(self._wrench, "N, N m"),
            "missed_wrench": Signal(self._forces.missed, "N, N m"),
            "com_error": Signal(self._error, "m"),
            "qp_time": Signal(self._time, "us"),
            "qp_solved": Signal(self._solved, ""),
        }

    def __call__(self, time: float, state: State) -> np.ndarray:
        data, forces = state.data, self._forces
        subtree_com, cdof = data.subtree_com, data.cdof
        com, trunk = subtree_com[self._tree.root], data.xmat[self._trunk]
        place, frames = self._places.now(state)
        np.subtract(place, com, out=self._arms)
        height = -float(self._arms[:, 2].min())
        if not self._begun:
            # A robot that starts in the air is to stand where it comes down.
            drop = max(0.0, float(state.gap.min()))
            self._reference.begin(com - np.array([0.0, 0.0, drop]), trunk.reshape(3, 3))
            self._warnings.begin(height)
            self._begun = True
        self._fallen = self._fallen or self._warnings.falls(time, height)
        if self._fallen:
            forces.force[:] = 0.0
            return self._drives.controls(np.zeros(len(self._drives.dof)), state.qpos, state.qvel)
        wanted = self._reference.at(time)
        com_jacobian(cdof, subtree_com, self._tree, self._jacobian)
        np.dot(self._jacobian, state.qvel, out=self._velocity)
        desired_wrench(
            self._gains, wanted, com, self._velocity, trunk, data.cvel[self._trunk], self._error, self._wrench
        )
        forces.distribute(self._wrench, self._arms, frames)
        self._time[()], self._solved[()] = 1e6 * forces.time, forces.solved
        carrying_torques(cdof, self._jacobian, self._tree, self._arms, forces.force, self._torque)
        self._loops.carry(data, self._torque)
        torque = self._torque[self._drives.dof]
        self._warnings.look(time, forces, torque)
        self._warnings.ask(time, wanted.com, self._error, math.hypot(*self._velocity.tolist()), place, frames)
        limit = self._drives.limit
        return self._drives.controls(np.minimum(np.maximum(torque, -limit), limit), state.qpos, state.qvel)


class Gains(NamedTuple):
    """The numbers of (19)-(22)."""

    weight: np.ndarray  # (3,) N, that the ground must give at rest
    stiffness: np.ndarray  # (3,) N/m
    damping: np.ndarray  # (3,) N s/m
    kr: float  # N m/rad
    dr: float  # N m s/rad


def size_of(robot: Robot, points: int) -> Size:
    """Mass, inertia and height of a robot that stands at home; what else moves in its scene is not its own."""
    model = robot.model
    data = mujoco.MjData(model)
    data.qpos[:] = robot.home
    mujoco.mj_kinematics(model, data)
    moving = (model.body_weldid != 0) & (model.body_rootid == model.body_rootid[robot.point_body[0]])
    mass, places = model.body_mass[moving], data.xipos[moving]
    com = mass @ places / mass.sum()
    inertia = 0.0
    for body in np.flatnonzero(moving):
        axes, arm = data.ximat[body].reshape(3, 3), data.xipos[body] - com
        own = axes**2 @ model.body_inertia[body]  # the diagonal, in the world's axes
        inertia += 0.5 * (own[0] + own[1] + model.body_mass[body] * (arm @ arm + arm[2] ** 2))
    height = max(float(com[2]), 1e-3)
    return Size(float(mass.sum()), float(inertia), height, robot.gravity, points)


def gains(options: Balance, size: Size) -> Gains:
    """The gains for a robot of this size: those given, or the paper's scaled by inertia and frequency."""
    mass, inertia = size.mass / PAPER.mass, size.inertia / PAPER.inertia
    rate = size.rate / PAPER.rate
    scales = {"kh": mass * rate, "kv": mass * rate, "kr": inertia * rate, "dr": inertia * math.sqrt(rate)}
    given = {name: getattr(options, name) for name in scales}
    kh, kv, kr, dr = (
        PAPER_GAINS[name] * scale if given[name] is None else given[name] for name, scale in scales.items()
    )
    stiffness = np.array([kh, kh, kv], dtype=float)
    ratio = np.array([options.damping_h, options.damping_h, options.damping_v])
    damping = 2.0 * ratio * np.sqrt(size.mass * stiffness)
    return Gains(-size.mass * size.gravity, stiffness, damping, float(kr), float(dr))


def least_force(size: Size) -> float:
    """N, that every point is pressed with at least: the share of the weight that the paper's robot has there."""
    return PAPER_FLOOR * _weight(size) / _weight(PAPER) * PAPER.points / size.points


def _weight(size: Size) -> float:
    return size.mass * float(np.linalg.norm(size.gravity))


@kernel
def desired_wrench(gains, wanted, com, velocity, trunk, spin, error, wrench):
    """Write the wrench (6,) of (19)-(22) at the centre of mass, world frame, and the error (3,) in m.

    ``trunk`` is its rotation matrix, flat, ``spin`` begins with its angular velocity. With one stiffness for all axes
    the torque of (21) is ``-2 kr delta epsilon`` with the quaternion (delta, epsilon) from the wanted orientation to
    the actual one, and ``2 delta epsilon`` is the axial part of that rotation's matrix.
    """
    for c in range(3):
        error[c] = com[c] - wanted.com[c]
        wrench[c] = gains.weight[c] - gains.stiffness[c] * error[c]
        wrench[c] -= gains.damping[c] * (velocity[c] - wanted.velocity[c])
        wrench[3 + c] = -gains.dr * (spin[c] - wanted.spin[c])
    for i in range(3):
        # half the sum over the axes of wanted x actual: the axial part, in the world frame
        dx, dy, dz = wanted.orientation[0, i], wanted.orientation[1, i], wanted.orientation[2, i]
        bx, by, bz = trunk[i], trunk[3 + i], trunk[6 + i]
        wrench[3] -= 0.5 * gains.kr * (dy * bz - dz * by)
        wrench[4] -= 0.5 * gains.kr * (dz * bx - dx * bz)
        wrench[5] -= 0.5 * gains.kr * (dx * by - dy * bx)
