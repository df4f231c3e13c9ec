"""Ott 2011: the robot, its controller and the push, and what the controller's springs mean for feet that stand.

With both feet at rest the robot has six freedoms, the velocity of its centre of mass and of its trunk, and by (15) the
joint torques are worth exactly the desired wrench in these. So springs and dampers of (20) and (22) act on the inertia
of these six, not on the mass alone, and on a push as far as it moves with them: legs that weigh let the trunk move
further than the centre of mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.control.balance import gains
from footfall.control.body.stance import size_of
from footfall.show.style import BLUE, VERMILION
from footfall.standing import in_pose, inertia_of, jacobian_at

ROBOT, TRUNK, LAW = "torque-biped", "trunk", "linearizing-penalty"
MASS = 50.0  # kg
DT = 1e-3  # s
FLOOR = 4.0  # N, least vertical force that is commanded
FORCE = 70.0  # N, sideways
LASTS = 0.05  # s
#: The paper's own gains and least force, which a robot of another size would get scaled.
BALANCE = ff.control.Balance(kh=900.0, kv=3000.0, damping_h=0.8, kr=100.0, dr=50.0, floor=FLOOR, hold_limbs=False)
HIP = -0.175  # m above the centre of mass of the trunk: the joints of the hips
CLOSE = 2e-3  # m, from the reference: the robot has recovered
IN_TIME = 3.0  # s, after a push


def sideways(start: float, force: float = FORCE, above: float | None = None) -> ff.Push:
    """The paper's lateral push, to the left, at the hips or so far (m) above the centre of mass of the trunk."""
    above = HIP if above is None else above
    return ff.Push(TRUNK, force=(0.0, force, 0.0), torque=(-above * force, 0.0, 0.0), start=start, duration=LASTS)


def biped(**pose: Any) -> ff.Robot:
    """The robot, of a mass that the paper does not print."""
    return ff.load_robot(ROBOT, mass=MASS, **pose)


def stand(
    duration: float, *pushes: ff.Push, law: str = "", controller: ff.control.Balance | None = None
) -> ff.Recording:
    """The robot under balance control."""
    sim = ff.Simulation(biped(), law=law or LAW, dt=DT)
    return sim.run(duration, controller=controller or BALANCE, pushes=pushes).check()


def recovery(rec: ff.Recording, after: float, base: ff.Recording | None = None, axes: int = 3) -> float:
    """How long after ``after`` (s) the centre of mass was last further than 2 mm from its reference, s.

    With ``base``, from where it was in that run; with two ``axes``, in the horizontal. inf if it was so at the end.
    """
    error = rec.signals["com_error"] - (0.0 if base is None else base.signals["com_error"])
    away = np.flatnonzero(np.linalg.norm(error[:, :axes], axis=1) > CLOSE)
    if not away.size:
        return 0.0
    return float("inf") if away[-1] == len(rec) - 1 else float(rec.time[away[-1] + 1]) - after


def way_of_feet(rec: ff.Recording) -> float:
    """The longest horizontal way of a contact point from where it stood, m."""
    return float(np.linalg.norm((rec.position - rec.position[0])[..., :2], axis=2).max())


def draw_components(axes: Any, rec: ff.Recording) -> None:
    """Commanded contact forces of a recording along x, y and z (N) on three axes, as the paper's figures have them."""
    force = rec.signals["commanded_force"]
    for c, axis in enumerate(axes):
        for side, color in (("right", BLUE), ("left", VERMILION)):
            lines = axis.plot(rec.time, force[:, rec.foot(side), c], color=color, linewidth=0.8)
            lines[0].set_label(f"{side} foot")
        axis.set_title(f"contact forces {'xyz'[c]} (N)")
    axes[2].axhline(FLOOR, color="#444444", linewidth=0.7, linestyle=":")


def draw_wrench(axes: Any, rec: ff.Recording) -> None:
    """The object force (in z less that of the start, the weight, N) and torque (N m) of a recording on two axes."""
    wrench = rec.signals["desired_wrench"]
    for c, (name, color) in enumerate(zip("xyz", ("#0072B2", "#222222", "#D55E00"), strict=True)):
        axes[0].plot(rec.time, wrench[:, c] - (wrench[0, 2] if c == 2 else 0.0), color=color, linewidth=0.9, label=name)
        axes[1].plot(rec.time, wrench[:, 3 + c], color=color, linewidth=0.9, label=name)
    axes[0].set_title("object force less weight (N)")
    axes[1].set_title("object torque (N m)")


def commanded(rec: ff.Recording) -> np.ndarray:
    """(T, P) N, commanded vertical forces."""
    return rec.signals["commanded_force"][..., 2]


# ---- six freedoms of standing feet -------------------------------------------------------------------------


class Stance(NamedTuple):
    """Six freedoms (velocity of the centre of mass, angular velocity of the trunk; world frame) of a standing robot."""

    inertia: np.ndarray  # (6, 6) kg, kg m, kg m2
    stiffness: np.ndarray  # (6,) N/m, N m/rad
    damping: np.ndarray  # (6,) N s/m, N m s/rad
    trunk: np.ndarray  # (6, 6) velocity of the trunk's own centre of mass and its angular velocity, per freedom

    def yields(self, push: ff.Push) -> np.ndarray:
        """(6,) m and rad: how far from its reference a push that lasts holds the robot in this pose."""
        return self.trunk.T @ np.array([*push.force, *push.torque]) / self.stiffness

    def replies(self, pushes: Sequence[ff.Push]) -> tuple[np.ndarray, np.ndarray]:
        """(6, N) m and rad, largest motions, and (6, N) N and N m, largest wrenches of springs and dampers, of each."""
        load = self.trunk.T @ np.array([[*push.force, *push.torque] for push in pushes]).T
        inverse, until, dt = np.linalg.inv(self.inertia), np.array([push.duration for push in pushes]), 1e-4
        stiffness, damping = self.stiffness[:, None], self.damping[:, None]
        place, speed, farthest, largest = (np.zeros_like(load) for _ in range(4))
        for k in range(round(1.0 / dt)):
            reply = stiffness * place + damping * speed
            farthest, largest = np.maximum(farthest, np.abs(place)), np.maximum(largest, np.abs(reply))
            speed = speed + dt * inverse @ (load * (k * dt < until) - reply)
            place = place + dt * speed
        return farthest, largest

    def lags(self, amplitude: np.ndarray, period: float) -> np.ndarray:
        """(3,) m, amplitude of the error of a centre of mass whose reference swings by ``amplitude`` (3,) m."""
        pulse = 2.0 * np.pi / period
        driven = pulse**2 * self.inertia @ np.concatenate([amplitude, np.zeros(3)])
        dynamic = np.diag(self.stiffness + 1j * pulse * self.damping) - pulse**2 * self.inertia
        return np.abs(np.linalg.solve(dynamic, driven))[:3]


def stance(qpos: np.ndarray | None = None) -> Stance:
    """The six freedoms of the robot in a pose (nq,), its home if left out."""
    robot = biped()
    model, data = robot.model, in_pose(robot, robot.home if qpos is None else qpos)
    feet = [jacobian_at(data, body, data.xpos[body]) for body in (model.body(foot.body).id for foot in robot.feet)]
    com, held = np.zeros((3, model.nv)), model.body(TRUNK).id
    mujoco.mj_jacSubtreeCom(model, data, com, 1)
    moved = jacobian_at(data, held, data.xipos[held])
    motion = np.linalg.solve(np.concatenate([*feet, com, moved[3:]]), np.eye(model.nv)[:, -6:])
    own = gains(BALANCE, size_of(robot, robot.point_count))
    return Stance(
        inertia=motion.T @ inertia_of(data) @ motion,
        stiffness=np.concatenate([own.stiffness, np.full(3, own.kr)]),
        damping=np.concatenate([own.damping, np.full(3, own.dr)]),
        trunk=moved @ motion,
    )
