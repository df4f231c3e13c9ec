"""Whole-body control: joint torques that come nearest to wanted accelerations with forces the ground can give.

The unknowns are the accelerations of the driven joints and the wrench of the ground on each standing sole. The
equations of motion of what is not driven (u, the floating base) are solved for its acceleration, so they hold exactly:

    M_u q'' + h_u = J_u^T w
    tau = M_a q'' + h_a - J_a^T w        (a, the driven joints; within the limits of the motors)

Wrenches are taken in the frame of the sole, where the limits of friction, pressure and pull do not change with time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import daqp
import mujoco
import numpy as np

from footfall.control.biped import Biped, Sole
from footfall.control.whole_body_problem import Dynamics, Limits, QuadraticProgram, Targets, assemble, empty_problem

SOLVED = 1  # daqp's word for it
#: Of a robot whose legs cannot keep a foot flat: weight of the roll of a standing foot, and the part that is left of
#: the weight of the trunk's roll, by which such a robot sways.
TIPPING, SWAYING = 10.0, 0.03


@dataclass(frozen=True)
class Weights:
    """What matters more: of accelerations 1/(m/s2)^2 and 1/(rad/s2)^2, of wrenches per (body weight)^2."""

    com: float = 30.0
    height: float = 30.0
    trunk: float = 10.0
    heading: float = 0.5
    stance: float = 1000.0
    swing: float = 30.0
    posture: float = 0.005
    wrench: float = 0.1
    size: float = 1.0  # of the robot: rotations weigh with its square, so that rad/s2 count as m/s2 at its legs' ends


@dataclass(eq=False)
class Desired:
    """Accelerations that are wanted, world frame but for the trunk's."""

    com: np.ndarray  # (3,) m/s2
    trunk: np.ndarray  # (3,) rad/s2, trunk's frame
    feet: np.ndarray  # (2, 6) m/s2 and rad/s2, of the soles' middles
    joints: np.ndarray  # (nu,) rad/s2
    firmness: np.ndarray  # (nu,) weight that is added for a joint
    standing: tuple[int, ...]  # the feet that stand: 0 left, 1 right
    load: np.ndarray  # (2,) N, the largest normal force of each foot


class WholeBody:
    """Solves for torques, at one state after the other.

    ``friction`` is the coefficient to keep to; pressure centres keep ``margin`` (m) from the edge of the sole, and a
    standing foot is pressed on the ground by at least ``least_load`` (N).
    """

    def __init__(self, biped: Biped, friction: float, weights: Weights, *, margin: float, least_load: float) -> None:
        model = self.model = biped.robot.model
        self.biped, self.weights = biped, weights
        self.mass = biped.robot.mass
        self.least_load = least_load
        self.limits = _equally_long([wrench_rows(sole, friction, margin) for sole in biped.soles])
        nv = model.nv
        self.inertia = np.zeros((nv, nv))
        self.jacobian = np.zeros((2, 6, nv))
        self.jacobian_rate = np.zeros((2, 6, nv))
        self.rotation = np.zeros((2, 3, 3))
        self.place = np.zeros((2, 3))  # m, of the soles' middles
        self.sole_velocity = np.zeros((2, 6))
        self.com = np.zeros(3)
        self.com_velocity = np.zeros(3)
        self.motion = Dynamics(
            inertia=self.inertia,
            bias=np.zeros(nv),
            driven=biped.motors,
            free=np.arange(6),  # other joints without a motor are taken to stay as they are
            jacobian=self.jacobian,
            drift=np.zeros((2, 6)),
            rotation=self.rotation,
        )
        w = weights
        self.gravity = np.array(model.opt.gravity)
        self.feet_weight = np.zeros((2, 6))
        turning = w.size**2
        self.trunk_weight = turning * np.array([w.trunk, w.trunk, w.heading])
        self.swing_weight = w.swing * np.array([1.0, 1.0, 1.0, turning, turning, turning])
        self.stance_weight = w.stance * np.array([1.0, 1.0, 1.0, turning, turning, turning])
        if biped.tips:  # about the way it walks: a foot that stands rolls as the hips sway, one that swings as it may
            self.swing_weight[3], self.stance_weight[3] = 0.0, TIPPING * turning
            self.trunk_weight[0] *= SWAYING
        self.posture_weight = w.posture * turning
        self.com_weight = np.array([w.com, w.com, w.height])
        force = w.wrench / biped.robot.weight**2
        arm = min(sole.half_width for sole in biped.soles)  # m, makes a moment of a force
        self.wrench_weight = np.array([force, force, 0.1 * force, *[force / arm**2] * 3])
        self.problems: dict[tuple[int, ...], tuple[QuadraticProgram, daqp.Model, bool]] = {}
        self.torque = np.zeros(model.nu)
        self.wrench = np.zeros((2, 6))  # sole's frame
        self.solved = True

    def see(self, data: mujoco.MjData) -> None:
        """Take over the state: where the soles are and how everything moves."""
        mujoco.mj_fullM(self.model, data, self.inertia)
        for k, sole in enumerate(self.biped.soles):
            turned = data.xmat[sole.body].reshape(3, 3)
            np.dot(turned, sole.rotation, out=self.rotation[k])
            self.place[k] = data.xpos[sole.body] + turned @ sole.centre
            J, rate = self.jacobian[k], self.jacobian_rate[k]
            mujoco.mj_jac(self.model, data, J[:3], J[3:], self.place[k], sole.body)
            mujoco.mj_jacDot(self.model, data, rate[:3], rate[3:], self.place[k], sole.body)
        np.subtract(data.qfrc_bias, data.qfrc_passive, out=self.motion.bias)
        self.com[:] = data.subtree_com[self.biped.trunk]
        # The base's three translations carry the whole robot: their rows of M are its mass times the Jacobian of com.
        np.dot(self.inertia[:3], data.qvel, out=self.com_velocity)
        self.com_velocity /= self.mass
        np.dot(self.jacobian, data.qvel, out=self.sole_velocity)
        np.dot(self.jacobian_rate, data.qvel, out=self.motion.drift)

    def solve(self, desired: Desired) -> np.ndarray:
        """The torques (nu,); those of before if there is no solution, and then ``solved`` is false."""
        nu = len(self.torque)
        standing = desired.standing
        problem, solver, known = self._problem(standing)
        self.feet_weight[:] = self.swing_weight
        self.feet_weight[list(standing)] = self.stance_weight
        targets = Targets(
            feet=desired.feet,
            trunk=desired.trunk,
            com=desired.com - self.gravity,
            joints=desired.joints,
            feet_weight=self.feet_weight,
            trunk_weight=self.trunk_weight,
            com_weight=self.com_weight,
            joint_weight=self.posture_weight + desired.firmness,
            wrench_weight=self.wrench_weight,
        )
        limits = Limits(self.biped.torque, self.limits, self.least_load, desired.load)
        self.solved = assemble(self.motion, self.mass, np.array(standing), targets, limits, problem)
        if not self.solved:
            return self.torque
        H, f, C, lower, upper = problem[:5]
        if known:
            solver.update(H=H, f=f, A=C, bupper=upper, blower=lower)
        else:
            solver.setup(H, f, C, upper, lower, np.zeros(len(upper), dtype=np.int32))
            self.problems[standing] = problem, solver, True
        x, _, end, _ = solver.solve()
        self.solved = end == SOLVED
        if self.solved:
            self.torque = C[:nu] @ x + problem.torque_bias
            self.wrench[:] = 0.0
            self.wrench[list(standing)] = x[nu:].reshape(-1, 6)
        else:  # the warm start of the last problem may be the cause: begin the next one cold
            del self.problems[standing]
        return self.torque

    def _problem(self, standing: tuple[int, ...]) -> tuple[QuadraticProgram, daqp.Model, bool]:
        if standing not in self.problems:
            room = empty_problem(len(self.torque), len(standing), self.limits.shape[1])
            self.problems[standing] = room, daqp.Model(), False
        return self.problems[standing]


def wrench_rows(sole: Sole, friction: float, margin: float) -> np.ndarray:
    """(R, 6) rows that are >= 0 for a wrench (force, moment about the sole's middle; sole's frame) that friction and
    the outline allow; the pressure centre stays ``margin`` (m) inside.
    """
    pyramid = friction / math.sqrt(2.0)  # inside the cone
    rows = [[sx, sy, pyramid, 0.0, 0.0, 0.0] for sx, sy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    # The torsion a rectangle pressed at its corners bears, given force and pressure centre: Caron, Pham and Nakamura
    # 2015, "Stability of surface contacts for humanoid robots", eq. (16)-(18).
    X, Y = sole.half_length, sole.half_width
    for one in (1.0, -1.0):
        for other in (1.0, -1.0):
            for sign in (1.0, -1.0):
                rows.append(
                    [-one * Y, -other * X, pyramid * (X + Y), -one * sign * pyramid, -other * sign * pyramid, -sign]
                )
    ahead = np.roll(sole.outline, -1, axis=0)
    for (x, y), (ex, ey) in zip(sole.outline, ahead - sole.outline, strict=True):
        length = math.hypot(ex, ey)
        if length > 1e-6:
            nx, ny = -ey / length, ex / length  # inward; the pressure centre is (-my, mx) / fz
            rows.append([0.0, 0.0, -(nx * x + ny * y) - margin, ny, -nx, 0.0])
    return np.array(rows, dtype=float)


def _equally_long(rows: list[np.ndarray]) -> np.ndarray:
    """Stacked; what is shorter repeats its last row."""
    longest = max(len(one) for one in rows)
    return np.stack([np.concatenate([one, np.repeat(one[-1:], longest - len(one), axis=0)]) for one in rows])
