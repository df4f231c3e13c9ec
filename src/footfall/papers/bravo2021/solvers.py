"""Bravo 2021, equations (15) to (18): the same complementarity problems by Fischer-Burmeister and by Lemke."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Findings, seen, unlike
from footfall.papers.bravo2021.gait import FRICTION
from footfall.standing import in_pose, inertia_of, jacobian_at, point_jacobian

STATES, SEED = 300, 5
TORQUE = 0.1  # of the motors' limits, spread of the random torques
SOLVERS: dict[str, Callable[[Any, Any], ff.solve.Solution]] = {
    "Fischer-Burmeister": ff.solve.fischer_burmeister,
    "Lemke": ff.solve.lemke,
}


class Solved(NamedTuple):
    residual: dict[str, np.ndarray]  # (states,) of (15)-(16), over the largest free acceleration
    iterations: dict[str, np.ndarray]
    unsolved: dict[str, int]


def friction_lcp(mobility: np.ndarray, points: int) -> np.ndarray:
    """(4P, 4P) matrix of (15)-(16) in the plane: normal forces, forces forwards and back, and slip."""
    M = np.zeros((4 * points, 4 * points))
    M[: 3 * points, : 3 * points] = mobility
    eye = np.eye(points)
    for k in (1, 2):
        M[k * points : (k + 1) * points, 3 * points :] = eye
        M[3 * points :, k * points : (k + 1) * points] = -eye
    M[3 * points :, :points] = FRICTION * eye
    return M


def run_solvers() -> Solved:
    robot = ff.load_robot("planar-biped")
    model, data, rng = robot.model, in_pose(robot, robot.home), np.random.default_rng(SEED)
    jacobian = point_jacobian(robot, data)
    inverse = np.linalg.inv(inertia_of(data))
    normal, along = jacobian[2::3], jacobian[0::3]
    rows = np.concatenate([normal, along, -along])
    M = friction_lcp(rows @ inverse @ rows.T, robot.point_count)
    limit = np.abs(model.actuator_ctrlrange[:, 1])
    found: dict[str, list[tuple[float, float, bool]]] = {name: [] for name in SOLVERS}
    for _ in range(STATES):
        push = np.zeros(model.nv)
        push[3:] = TORQUE * limit * rng.normal(size=model.nu) * rng.random()
        free = rows @ inverse @ (push - data.qfrc_bias)
        size = float(np.abs(free).max())
        q = np.concatenate([free, np.zeros(robot.point_count)])
        for name, solver in SOLVERS.items():
            answer = solver(M, q)
            found[name].append((answer.residual / size, answer.iterations, answer.solved))
    columns = {name: np.array(rows, dtype=float).T for name, rows in found.items()}
    return Solved(
        residual={name: rows[0] for name, rows in columns.items()},
        iterations={name: rows[1] for name, rows in columns.items()},
        unsolved={name: int((rows[2] == 0.0).sum()) for name, rows in columns.items()},
    )


def judge_solvers(data: Solved) -> Findings:
    worst = {name: float(one.max()) for name, one in data.residual.items()}
    taken = ", ".join(f"{name} {np.median(one):.0f} iterations" for name, one in data.iterations.items())
    residuals = ", ".join(f"{name} {one:.0e}" for name, one in worst.items())
    solved = not any(data.unsolved.values())
    yield seen("equivalent", residuals, holds=max(worst.values()) < 1e-8 and solved, taken=taken)


# ---- signs and ranks of the printed equations -------------------------------------------------------------------

POSES = 20  # random postures and velocities


class Printed(NamedTuple):
    foot: np.ndarray  # (poses,) m/s2, largest acceleration of the held foot by (31) as printed
    bias: np.ndarray  # (poses,) m/s2, that of (30) at zero accelerations of the coordinates
    ranks: np.ndarray  # (poses,) of the map (37) from torques to accelerations of the joints
    freedoms: int  # of the robot with one foot held
    counted: tuple[int, int]  # equations of (1), and unknowns: accelerations, and three forces and moments of each foot


def run_printed() -> Printed:
    robot = ff.load_robot("planar-biped")
    model, data, rng = robot.model, mujoco.MjData(robot.model), np.random.default_rng(SEED)
    foot = model.body(robot.feet[0].body).id
    rate, spin = np.zeros((2, 3, model.nv))
    rows = []
    for _ in range(POSES):
        data.qpos[:] = robot.home
        data.qpos[3:] += 0.3 * rng.normal(size=model.nu)
        data.qvel[:] = rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        mujoco.mj_jacDot(model, data, rate, spin, data.xpos[foot], foot)
        jacobian = jacobian_at(data, foot, data.xpos[foot])[[0, 2, 4]]
        bias = np.vstack([rate[[0, 2]], spin[1]]) @ data.qvel
        whole = np.block([[inertia_of(data), -jacobian.T], [jacobian, np.zeros((3, 3))]])
        # Bravo 2021, eq. 31, as printed
        answer = np.linalg.solve(whole, np.concatenate([-data.qfrc_bias, bias]))[: model.nv]
        freely = np.vstack([-np.linalg.solve(jacobian[:, :3], jacobian[:, 3:]), np.eye(model.nu)])  # Bravo 2021, eq. 35
        actuated = freely.T @ np.vstack([np.zeros((3, model.nu)), np.eye(model.nu)])  # Bravo 2021, eq. 37
        rows.append((np.abs(jacobian @ answer + bias).max(), np.abs(bias).max(), np.linalg.matrix_rank(actuated)))
    of_foot, of_bias, rank = np.array(rows).T
    return Printed(of_foot, of_bias, rank, model.nv - 3, counted=(model.nv, model.nv + 3 * len(robot.feet)))


def judge_printed(data: Printed) -> Findings:
    wrong = data.foot / data.bias
    slips = np.random.default_rng(SEED).normal(size=POSES)
    signs = np.sign(FRICTION * slips / np.abs(slips) * slips)  # f_t of |v| f_t - mu f_n v = 0 with f_n = 1, times v
    equations, unknowns = data.counted
    for name, feet, printed in (("unknowns", "both feet", "9, 15"), ("held-unknowns", "one foot", "9, 12")):
        told = f"{equations}, {unknowns if feet == 'both feet' else unknowns - 3}"
        yield seen(f"unknowns.{name}", told, should=printed, holds=told == printed, feet=feet)
    yield unlike("foot-held", f"{wrong.min():.6g} to {wrong.max():.6g}", holds=bool(wrong.max() < 1e-6))
    yield unlike("opposite", f"{signs.min():g} to {signs.max():g}", holds=bool(signs.max() < 0.0))
    yield unlike(
        "underactuated", f"{data.ranks.min():.0f} of {data.freedoms}", holds=bool(data.ranks.max() < data.freedoms)
    )
