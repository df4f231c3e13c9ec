"""What loops and springs carry between the trunk and the feet, and what is left for motors."""

from __future__ import annotations

import mujoco
import numpy as np

from footfall.control.statics import actuated_dofs, giving_springs, loop_rows
from footfall.errors import ControllerError
from footfall.robot import Robot

#: Singular values below this share of the largest are none.
RANK = 1e-9
#: Share of the weight times the height that joints without motor may lack, before a robot is refused.
LACK = 1e-3


class Loops:
    """Turns torques wanted at all joints into torques of motors, for joints without a motor on the way to contacts.

    There the torque is made by the forces of loops (equalities) and by springs, which give way until they carry their
    part: ``t_u = (E^T l + s)_u``; the loops' part on driven joints, ``(E^T l)_a``, is the motors' no more. ``moves``
    (nv,) tells which coordinates move a contact point.
    """

    def __init__(self, robot: Robot, moves: np.ndarray) -> None:
        model = robot.model
        root = model.body_parentid[model.dof_bodyid] == 0
        self._passive = np.flatnonzero(~actuated_dofs(robot) & ~root)
        #: Whether any such joint lies between trunk and contacts.
        self.needed = bool(moves[self._passive].any())
        springs = model.jnt_dofadr[giving_springs(robot)]
        self._springs = np.eye(model.nv)[springs][:, self._passive]
        if self.needed:
            self._refuse_limp_joints(robot, moves)

    def carry(self, data: mujoco.MjData, torque: np.ndarray) -> None:
        """Take from ``torque`` (nv,), in place, what loops and springs carry in this state."""
        if not self.needed:
            return
        rows = _rows(data)
        passive = self._passive
        columns = np.concatenate([rows[:, passive], self._springs]).T
        force = np.linalg.lstsq(columns, torque[passive], rcond=RANK)[0]
        torque -= rows.T @ force[: len(rows)]
        torque[passive] = 0.0

    def _refuse_limp_joints(self, robot: Robot, moves: np.ndarray) -> None:
        model, passive = robot.model, self._passive
        data = mujoco.MjData(model)
        data.qpos[:] = robot.home
        mujoco.mj_forward(model, data)
        columns = np.concatenate([_rows(data)[:, passive], self._springs]).T
        for k in np.flatnonzero(moves[passive]):
            wanted = np.eye(len(passive))[k]
            left = wanted - columns @ np.linalg.lstsq(columns, wanted, rcond=RANK)[0]
            if np.abs(left).max() > LACK:
                name = robot.dof_name(int(passive[k]))
                raise ControllerError(
                    f"balance: joint '{name}' of {robot.name} lies between trunk and foot and has no motor, loop or "
                    "spring that could carry its load"
                )


def _rows(data: mujoco.MjData) -> np.ndarray:
    if not data.ne:
        mujoco.mj_makeConstraint(data.model, data)
    return loop_rows(data)
