"""What loops and springs between the trunk and the feet carry, and what is left for motors."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from footfall.compiled import kernel
from footfall.control.body.statics import actuated_dofs, giving_springs, loop_rows
from footfall.errors import ControllerError
from footfall.robot import Robot
from footfall.solve.dense import minimum_norm_solve

#: Singular values below this share of the largest count as zero.
RANK = 1e-6
#: Share of the weight times the height that joints without a motor may lack before a robot is refused.
LACK = 1e-3


class _Room(NamedTuple):
    """What the forces of loops are computed in, for n joints without motor."""

    gram: np.ndarray  # (n, n)
    factor: np.ndarray  # (n, n)
    spare: np.ndarray  # (n, n)
    load: np.ndarray  # (n,)
    half: np.ndarray  # (n,)


class Loops:
    """Turns torques wanted at all joints into torques of motors, for joints without a motor on the way to contacts.

    At those joints the torque comes from loops (equalities) and from springs, which deflect until they carry their
    part: ``t_u = (E^T l + s)_u``; motors need not give the loops' part on driven joints, ``(E^T l)_a``. ``moves`` (nv,)
    tells which coordinates move a contact point.
    """

    def __init__(self, robot: Robot, moves: np.ndarray) -> None:
        model = robot.model
        root = model.body_parentid[model.dof_bodyid] == 0
        self._passive = np.flatnonzero(~actuated_dofs(robot) & ~root)
        #: Whether any such joint lies between trunk and contacts.
        self.needed = bool(moves[self._passive].any())
        springs = model.jnt_dofadr[giving_springs(robot)]
        self._springs = np.eye(model.nv)[springs][:, self._passive]
        size = len(self._passive)
        square = (size, size)
        self._room = _Room(np.zeros(square), np.zeros(square), np.zeros(square), np.zeros(size), np.zeros(size))
        if self.needed:
            self._refuse_limp_joints(robot, moves)

    def carry(self, data: mujoco.MjData, torque: np.ndarray) -> None:
        """Subtract from ``torque`` (nv,), in place, what loops and springs carry in this state."""
        if not self.needed:
            return
        _carry(_rows(data), self._springs, self._passive, torque, self._room)

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


@kernel
def _carry(rows, springs, passive, torque, room):
    """The least forces A^T y with A A^T y = t_u, of loops and springs, by rows A^T (m, n) of loops and of springs."""
    n, G, y = passive.size, room.gram, room.load
    for i in range(n):
        y[i] = torque[passive[i]]
        for j in range(i + 1):
            value = 0.0
            for e in range(rows.shape[0]):
                value += rows[e, passive[i]] * rows[e, passive[j]]
            for e in range(springs.shape[0]):
                value += springs[e, i] * springs[e, j]
            G[i, j] = value
    minimum_norm_solve(G, n, RANK * RANK, y, room.factor, room.spare, room.half)
    for e in range(rows.shape[0]):
        force = 0.0
        for i in range(n):
            force += rows[e, passive[i]] * y[i]
        for j in range(torque.size):
            torque[j] -= force * rows[e, j]
    for i in range(n):
        torque[passive[i]] = 0.0


def _rows(data: mujoco.MjData) -> np.ndarray:
    if not data.ne:
        mujoco.mj_makeConstraint(data.model, data)
    return loop_rows(data)
