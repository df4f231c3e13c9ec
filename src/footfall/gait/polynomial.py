"""One step of a walk as cubics in time, the other leg's step as its mirror image (Bravo 2021, section 4.2).

The joints of the stance leg and of the swing leg follow a0 + a1 t + a2 t2 + a3 t3 (41) from one touch-down to the next;
then the legs change roles (13). The angles of both legs have the same sign here, but opposite signs in the paper, so
that its minus signs vanish.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.errors import GaitError
from footfall.files.atomic_write import write_text
from footfall.frozen_values import made_again
from footfall.gait.reference import Target, actuated_coordinates
from footfall.robot import Robot
from footfall.robot.model import HINGE, SLIDE, chain_of
from footfall.standing import jacobian_at, place_on

FORMAT = "footfall gait 1"


@dataclass(frozen=True, eq=False)
class PolynomialGait:
    """A symmetric walk. The left leg is the first stance leg.

    Attributes:
        robot: name of the robot it is for.
        legs: actuated joints of the left and of the right leg, in the same order.
        coefficients: (4, 2 n) of t^0 to t^3 for the n joints of the stance leg, then those of the swing leg; rad and s.
        step_duration: s, from touch-down to touch-down.
        step_length: m, by which the swing foot lands ahead of the stance foot.
        info: its origin (speed, cost, constraints, ...), as values for JSON.
    """

    robot: str
    legs: tuple[tuple[str, ...], tuple[str, ...]]
    coefficients: np.ndarray
    step_duration: float
    step_length: float
    info: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        coefficients = np.array(self.coefficients, dtype=float)
        put(self, "legs", tuple(tuple(leg) for leg in self.legs))
        if len(self.legs) != 2 or coefficients.shape != (4, sum(map(len, self.legs))):
            raise GaitError(f"a gait has 4 coefficients of every joint of two legs, not {coefficients.shape}")
        if not (np.isfinite(coefficients).all() and 0.0 < self.step_duration < np.inf):
            raise GaitError("a gait needs finite coefficients and a positive step duration")
        coefficients.setflags(write=False)
        put(self, "coefficients", coefficients)
        put(self, "info", MappingProxyType(dict(self.info)))

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, PolynomialGait) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.robot, self.coefficients.tobytes(), self.step_duration))

    def __reduce__(self) -> Any:
        return made_again(self)

    def __repr__(self) -> str:
        return f"PolynomialGait('{self.robot}', {self.speed:.3g} m/s, steps of {self.step_length:.3g} m)"

    @property
    def speed(self) -> float:
        """m/s."""
        return self.step_length / self.step_duration

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Angles, rates and accelerations (2 n,) at ``t`` s after touch-down: stance leg, then swing leg."""
        # In one product, since a controller calls it in every step.
        powers = ((1.0, t, t * t, t * t * t), (0.0, 1.0, 2.0 * t, 3.0 * t * t), (0.0, 0.0, 2.0, 6.0 * t))
        q, qd, qdd = np.array(powers) @ self.coefficients
        return q, qd, qdd

    def asymmetry(self) -> float:
        """Largest difference between the end of a step and the mirror image of its start, (13), rad."""
        return float(np.abs(self.at(self.step_duration)[0] - swapped(self.at(0.0)[0])).max())

    # ---- as a reference motion ---------------------------------------------------------------------------------

    def target(self, phase: int, t: float) -> Target:
        """The reference in step number ``phase``, actuators in the order left leg, right leg."""
        q, qd, qdd = self.at(t)
        if phase % 2:
            return Target(swapped(q), swapped(qd), swapped(qdd), np.array([0.0, 1.0]))
        return Target(q, qd, qdd, np.array([1.0, 0.0]))

    def duration(self, phase: int) -> float:
        return self.step_duration

    def landing(self, phase: int) -> int:
        return 1 - phase % 2

    def start(self, robot: Robot) -> tuple[np.ndarray, np.ndarray]:
        """State qpos (nq,), qvel (nv,) just after a touch-down: left foot flat at x = 0 and at rest."""
        return standing_on(robot, 0, *self.at(0.0)[:2])

    # ---- keeping -----------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The gait as values for JSON."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        plain = {"legs": [*map(list, self.legs)], "coefficients": self.coefficients.tolist(), "info": dict(self.info)}
        return {"format": FORMAT, **values, **plain}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> PolynomialGait:
        """The gait that ``to_dict`` described."""
        values = dict(description)
        if values.pop("format", None) != FORMAT:
            raise GaitError(f"this is not a gait: its format is not '{FORMAT}'")
        try:
            return cls(**values)
        except (TypeError, ValueError) as error:
            raise GaitError(f"this is not a gait: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as a JSON file."""
        return write_text(Path(path), json.dumps(self.to_dict(), indent=1) + "\n", "the gait")


def load_gait(path: str | os.PathLike[str]) -> PolynomialGait:
    """Read a gait from the JSON file that ``save`` wrote."""
    try:
        found = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise GaitError(f"cannot read the gait {path}: {error}") from error
    if not isinstance(found, dict):
        raise GaitError(f"cannot read the gait {path}: it holds no object")
    return PolynomialGait.from_dict(found)


def cubics(q0: Any, qT: Any, v0: Any, vT: Any, T: Any) -> tuple[Any, Any, Any, Any]:
    """Coefficients a0 .. a3 from angles and rates at both ends, (41)-(43); numbers or CasADi expressions."""
    # Bravo 2021, eq. 41-43
    return q0, v0, 3 * (qT - q0) / T**2 - (2 * v0 + vT) / T, 2 * (q0 - qT) / T**3 + (v0 + vT) / T**2


def swapped(values: Any) -> Any:
    """Values of all joints with the legs exchanged, (13)."""
    half = values.shape[0] // 2
    return values[[*range(half, 2 * half), *range(half)]]  # Bravo 2021, eq. 13


def standing_on(
    robot: Robot, foot: int, q: np.ndarray, qd: np.ndarray, data: mujoco.MjData | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """State qpos, qvel of a planar robot with given joints (one number per actuator) and a foot flat at x = 0.

    ``data`` is scratch space.
    """
    model = robot.model
    root = planar_base(robot)
    position, rate = actuated_coordinates(robot)
    data = mujoco.MjData(model) if data is None else data
    data.qpos[root] = 0.0
    data.qpos[position] = q
    mujoco.mj_kinematics(model, data)
    body = model.body(robot.feet[foot].body).id
    forward = data.xmat[body].reshape(3, 3)[:, 0]
    data.qpos[root[2]] = np.arctan2(forward[2], forward[0])  # turning about y lowers the toes
    mujoco.mj_kinematics(model, data)
    middle = place_on(data, body, robot.feet[foot].points.mean(axis=0))
    data.qpos[root[0]] -= middle[0]
    data.qpos[root[1]] -= middle[2]
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    jacobian = jacobian_at(data, body, data.xpos[body])[[0, 2, 4]]  # x, z, pitch
    qvel = np.zeros(model.nv)
    qvel[rate] = qd
    qvel[root] = np.linalg.solve(jacobian[:, root], -jacobian @ qvel)
    return data.qpos.copy(), qvel


def planar_base(robot: Robot) -> list[int]:
    """The coordinates x, z and pitch of a robot that moves in the sagittal plane."""
    model = robot.model
    wanted = [(SLIDE, (1.0, 0.0, 0.0)), (SLIDE, (0.0, 0.0, 1.0)), (HINGE, (0.0, 1.0, 0.0))]
    found = [(int(model.jnt_type[j]), tuple(model.jnt_axis[j])) for j in range(min(3, model.njnt))]
    if found != wanted:
        raise GaitError(f"{robot.name} does not move in the plane: its base is not a slide x, a slide z and a hinge y")
    return [0, 1, 2]


PARTS = 3  # hip, knee, ankle


class Legs(NamedTuple):
    """The legs of a robot, in the order of its feet."""

    joints: tuple[tuple[str, ...], tuple[str, ...]]  # from the hip down
    body: tuple[int, int]  # the foot's
    ends: tuple[np.ndarray, np.ndarray]  # (2, 3) m, heel and toe in the foot's frame

    @property
    def size(self) -> int:
        """Joints of a leg."""
        return len(self.joints[0])


def find_legs(robot: Robot) -> Legs:
    """The legs of a robot of seven links in the sagittal plane; an error for any other."""
    model = robot.model
    planar_base(robot)
    if len(robot.feet) != 2:
        raise GaitError(f"{robot.name} has {len(robot.feet)} feet: a gait is optimised for two")
    joints, ends, links = [], [], []
    for foot in robot.feet:
        chain = [b for b in reversed(chain_of(model, model.body(foot.body).id)) if model.body_parentid[b]]
        links.append(chain)
        joints.append(tuple(model.joint(int(j)).name for b in chain for j in np.flatnonzero(model.jnt_bodyid == b)))
        order = np.argsort(foot.points[:, 0])
        ends.append(foot.points[[order[0], order[-1]]])
    if joints[0] + joints[1] != robot.actuated or len(joints[0]) != PARTS:
        raise GaitError(f"{robot.name} is not a planar biped with hip, knee and ankle motors in each leg")
    own = [model.joint(name) for leg in joints for name in leg]
    if not all(joint.type[0] == HINGE and tuple(joint.axis) == (0.0, 1.0, 0.0) for joint in own):
        raise GaitError(f"{robot.name}: every joint of its legs must be a hinge about y")
    left, right = links
    same = all(
        np.allclose(table[left], table[right], atol=1e-12)
        for table in (model.body_mass, model.body_inertia, model.body_ipos, np.abs(model.body_pos))
    )
    if not same or not np.allclose(ends[0], ends[1], atol=1e-12):
        raise GaitError(f"the legs of {robot.name} differ: a symmetric gait needs equal ones")
    return Legs((joints[0], joints[1]), (left[-1], right[-1]), (ends[0], ends[1]))
