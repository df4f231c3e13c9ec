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
from typing import Any

import mujoco
import numpy as np

from footfall.control.base import Signal, State
from footfall.control.contact_forces import ContactForces
from footfall.control.contact_places import Contact, ContactPlaces
from footfall.control.motors import motor_scale, torque_limits
from footfall.control.reference import Reference
from footfall.control.watch import Watch
from footfall.errors import ControllerError
from footfall.ground import Ground
from footfall.robot import Robot

#: The gains of the paper are those of a robot of this mass (kg, the one assumed for torque-biped).
PAPER_MASS = 50.0
#: A wrench is missed if more than this part of the weight lacks, or of the weight times the height of the mass.
MISSED = 0.01
#: A robot whose centre of mass is below this part of its height at the start has fallen.
FALLEN = 0.5
#: At rest (m/s) for a while (s) this far (m) from the reference, a robot does not get there.
AT_REST, A_WHILE, FAR = 5e-3, 0.5, 5e-3
#: Whether a robot could stand at its reference is asked this often, s.
ASK_EVERY = 0.05


@dataclass(frozen=True)
class Balance:
    """Keep the centre of mass and the trunk where they are, or on a reference, by the forces at the contact points.

    Gains left out are the paper's, in proportion to the robot's mass (the paper's has some 50 kg). ``com`` and
    ``orientation`` are functions of time that give (3,) numbers: how far the centre of mass shall be from its place at
    the start (m, world frame), and the rotation vector (rad, world frame) of the trunk from its orientation there.
    ``contacts`` are points besides those of the feet, as of a hand on a rail.

    Records ``commanded_force`` (one row per contact point, those of the feet first), ``desired_wrench``,
    ``missed_wrench``, ``com_error``, ``qp_time`` and ``qp_solved``. Remarks: ``infeasible`` where the contacts cannot
    give the wrench (the nearest they can give is used), ``saturated`` where a motor cannot give its torque,
    ``unreachable`` where the robot could not stand at its reference or stays away from it, ``fallen``, after which
    the motors are off.
    """

    kh: float | None = None  # N/m, horizontal stiffness, 900 N/m for 50 kg
    kv: float | None = None  # N/m, vertical stiffness, 3000 N/m for 50 kg
    damping_h: float = 0.8  # damping ratio of the horizontal motion
    damping_v: float = 0.2  # damping ratio of the vertical motion
    kr: float | None = None  # N m/rad, stiffness of the trunk's orientation, 100 N m/rad for 50 kg
    dr: float | None = None  # N m s/rad, its damping, 50 N m s/rad for 50 kg
    alpha1: float = 1.0  # weight of the force, eq. (18)
    alpha2: float = 1e-3  # weight of the torque
    alpha3: float = 1e-6  # weight of the contact forces' norm
    floor: float = 4.0  # N, least normal force at every point
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
        told = [f"{name}={value}" for name, value in changed.items() if value != getattr(Balance, name)]
        return f"balance({', '.join(told)})" if told else "balance"

    def start(self, robot: Robot, ground: Ground, dt: float) -> Balancing:
        return Balancing(self, robot, ground, dt)


class Balancing:
    """A balance controller at work on one robot."""

    def __init__(self, options: Balance, robot: Robot, ground: Ground, dt: float) -> None:
        model = self.model = robot.model
        self.robot = robot
        self.scale, self.limit = motor_scale(robot, "balance"), torque_limits(robot)
        self.dof = model.jnt_dofadr[model.actuator_trnid[:, 0]]
        self.root = int(model.body_rootid[robot.point_body[0]])
        names = [model.body(i).name for i in range(model.nbody)]
        if options.trunk is not None and options.trunk not in names:
            raise ControllerError(f"balance: {robot.name} has no body '{options.trunk}'; it has {', '.join(names[1:])}")
        self.trunk = self.root if options.trunk is None else names.index(options.trunk)
        mass = self.mass = float(model.body_subtreemass[self.root])
        self.weight = -mass * model.opt.gravity
        per_mass = mass / PAPER_MASS
        kh, kv, self.kr, self.dr = (
            paper * per_mass if own is None else own
            for own, paper in ((options.kh, 900.0), (options.kv, 3000.0), (options.kr, 100.0), (options.dr, 50.0))
        )
        self.kp = np.array([kh, kh, kv])
        ratio = np.array([options.damping_h, options.damping_h, options.damping_v])
        self.kd = 2.0 * ratio * np.sqrt(mass * self.kp)
        self.places = ContactPlaces(robot, ground, options.contacts)
        friction = self.places.friction(ground.dynamic_friction if options.friction is None else options.friction)
        weights = (options.alpha1, options.alpha2, options.alpha3)
        self.forces, self._asked = (
            ContactForces(self.places.count, friction, sides=options.sides, minimum=options.floor, weights=weights)
            for _ in range(2)
        )
        self.reference = Reference(options.com, options.orientation, dt)
        self.height = math.nan
        self._fallen, self._rest_since, self._next_question = False, math.inf, -math.inf
        self._watch = Watch()
        self.remarks = self._watch.remarks
        self._com_jacobian = np.zeros((3, model.nv))
        self._spin = np.zeros(6)
        self._generalised = np.zeros((model.nv, 1))
        self._wrench, self._error = np.zeros(6), np.zeros(3)
        self._time, self._solved = np.zeros(()), np.zeros(())
        self.signals = {
            "commanded_force": Signal(self.forces.force, "N"),
            "desired_wrench": Signal(self._wrench, "N, N m"),
            "missed_wrench": Signal(self.forces.missed, "N, N m"),
            "com_error": Signal(self._error, "m"),
            "qp_time": Signal(self._time, "us"),
            "qp_solved": Signal(self._solved, ""),
        }

    def __call__(self, time: float, state: State) -> np.ndarray:
        data, model = state.data, state.data.model
        com = data.subtree_com[self.root]
        trunk = data.xmat[self.trunk].reshape(3, 3)
        position, frames = self.places.now(state)
        if math.isnan(self.height):
            # A robot that starts in the air is to stand where it comes down.
            self.reference.begin(com - [0.0, 0.0, max(0.0, float(state.gap.min()))], trunk)
            self.height = float(com[2] - position[:, 2].min())
        if self._fallen or self._falls(time, com, position):
            self.forces.force[:] = 0.0
            return np.zeros(len(self.dof))
        mujoco.mj_jacSubtreeCom(model, data, self._com_jacobian, self.root)
        velocity = self._com_jacobian @ state.qvel
        wanted = self.reference.at(time)
        np.subtract(com, wanted.com, out=self._error)
        wrench = self._wrench
        wrench[:3] = self.weight - self.kp * self._error - self.kd * (velocity - wanted.velocity)  # (19)-(20)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, self.trunk, self._spin, 0)
        wrench[3:] = trunk_torque(trunk, wanted.orientation, self.kr)  # (21)-(22)
        wrench[3:] -= self.dr * (self._spin[:3] - wanted.spin)

        force = self.forces.distribute(wrench, position - com, frames)
        self._time[()], self._solved[()] = 1e6 * self.forces.time, self.forces.solved
        torque = self._torques(model, data, position, force)
        self._look(time, com, velocity, wanted.com, position, frames, torque)
        return np.clip(torque, -self.limit, self.limit) / self.scale

    def _torques(self, model: Any, data: Any, position: np.ndarray, force: np.ndarray) -> np.ndarray:
        """(15): the Jacobian of a point in these coordinates is that of the point less that of the mass centre."""
        generalised = self._generalised[:, 0]
        generalised[:] = force.sum(axis=0) @ self._com_jacobian
        none = np.zeros((3, 1))
        for p, body in enumerate(self.places.body):
            mujoco.mj_applyFT(model, data, -force[p][:, None], none, position[p][:, None], body, self._generalised)
        return generalised[self.dof]

    # ---- what is remarked -------------------------------------------------------------------------------------

    def _falls(self, time: float, com: np.ndarray, position: np.ndarray) -> bool:
        height = float(com[2] - position[:, 2].min())
        if height >= FALLEN * self.height:
            return False
        self._fallen = True
        before = [remark for remark in self.remarks if remark.kind != "saturated"]
        cause = f"; before: {before[-1].message}" if before else ""
        self._watch.note(time, "fallen", f"the centre of mass is {height:.3g} m high, motors off{cause}")
        return True

    def _look(
        self,
        time: float,
        com: np.ndarray,
        velocity: np.ndarray,
        wanted: np.ndarray,
        position: np.ndarray,
        frames: np.ndarray,
        torque: np.ndarray,
    ) -> None:
        """Remark what cannot be had."""
        weight = float(np.linalg.norm(self.weight))
        if not self.forces.solved:
            self._watch.see(time, "unsolved", 1.0, lambda: "the solver gave no contact forces, those before are kept")
        force, moment = (math.sqrt(part @ part) for part in (self.forces.missed[:3], self.forces.missed[3:]))
        short = max(force, moment / self.height) / weight
        if short > MISSED:
            self._watch.see(
                time,
                "infeasible",
                short,
                lambda: f"the contacts cannot give the desired wrench: {force:.3g} N and {moment:.3g} N m short",
            )
        over = np.abs(torque) / self.limit
        if over.max(initial=0.0) > 1.0:
            worst = int(over.argmax())
            self._watch.see(
                time,
                "saturated",
                float(over[worst]),
                lambda: (
                    f"motor '{self.robot.model.actuator(worst).name}' is asked for {abs(torque[worst]):.3g} N m "
                    f"and has {self.limit[worst]:.3g} N m"
                ),
            )
        if time >= self._next_question:
            self._next_question = time + ASK_EVERY
            self._ask(time, wanted, position, frames)
        if velocity @ velocity > AT_REST**2:
            self._rest_since = math.inf
        self._rest_since = min(self._rest_since, time)
        away = math.dist(com, wanted)
        if away > FAR and time - self._rest_since > A_WHILE:
            said = f"the centre of mass rests {1e3 * away:.3g} mm from its reference"
            self._watch.see(time, "unreachable", away, lambda: said)

    def _ask(self, time: float, wanted: np.ndarray, position: np.ndarray, frames: np.ndarray) -> None:
        """Whether the contacts could carry the robot at rest at its reference."""
        self._asked.distribute(np.concatenate([self.weight, np.zeros(3)]), position - wanted, frames)
        lack = self._asked.missed
        moment = math.sqrt(lack[3:] @ lack[3:])
        if max(math.sqrt(lack[:3] @ lack[:3]), moment / self.height) > MISSED * float(np.linalg.norm(self.weight)):
            self._watch.see(
                time,
                "unreachable",
                moment,
                lambda: (
                    f"the robot cannot stand still at its reference ({', '.join(f'{x:.3g}' for x in wanted)}) m: "
                    f"its contacts lack {moment:.3g} N m"
                ),
            )


def trunk_torque(trunk: np.ndarray, wanted: np.ndarray, stiffness: float) -> np.ndarray:
    """(3,) N m, world frame: the torsional spring (21) that turns ``trunk`` to ``wanted``, rotation matrices (3, 3).

    With one stiffness for all axes, ``(delta I + hat(epsilon)) epsilon = delta epsilon``: the sign in front of the
    cross product, which the paper has for angular velocities in the frame of the reference, makes no difference.
    """
    quaternion, turn = np.zeros(4), wanted.T @ trunk
    mujoco.mju_mat2Quat(quaternion, turn.ravel())
    return -2.0 * stiffness * quaternion[0] * (trunk @ quaternion[1:])
