"""Bravo 2021, equations (15) to (18): the same complementarity problems by Fischer-Burmeister and by Lemke."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Findings, seen, unlike
from footfall.papers.bravo2021.gait import FRICTION
from footfall.show.style import BLUE, VERMILION
from footfall.standing import in_pose, inertia_of, jacobian_at, point_jacobian

STATES, SEED = 300, 5
TORQUE = 0.1  # of the motors' limits, spread of the random torques
SOLVERS: dict[str, Callable[[Any, Any], ff.solve.Solution]] = {
    "Fischer-Burmeister": ff.solve.fischer_burmeister,
    "Lemke": ff.solve.lemke,
}
SAME = 1e-6  # m/s2 per m/s2 of the free motion


class Solved(NamedTuple):
    residual: dict[str, np.ndarray]  # (states,) of (15)-(16), over the largest free acceleration
    us: dict[str, np.ndarray]  # (states,)
    iterations: dict[str, np.ndarray]
    unsolved: dict[str, int]
    apart: np.ndarray  # (states,) accelerations of the points by both, largest difference over the largest free one
    kinds: dict[str, int]  # how many states keep all vertices, lose some, slip


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
    found: dict[str, list[tuple[float, float, float, bool]]] = {name: [] for name in SOLVERS}
    apart, kinds = np.zeros(STATES), {"all stay": 0, "some lift off": 0, "some slip": 0}
    for k in range(STATES):
        push = np.zeros(model.nv)
        push[3:] = TORQUE * limit * rng.normal(size=model.nu) * rng.random()
        free = rows @ inverse @ (push - data.qfrc_bias)
        size = float(np.abs(free).max())
        q = np.concatenate([free, np.zeros(robot.point_count)])
        ends = []
        for name, solver in SOLVERS.items():
            begin = clock.perf_counter()
            answer = solver(M, q)
            taken = 1e6 * (clock.perf_counter() - begin)
            ends.append((M[: len(free), : len(free)] @ answer.z[: len(free)] + free)[: 2 * robot.point_count])
            found[name].append((answer.residual / size, taken, answer.iterations, answer.solved))
        apart[k] = float(np.abs(ends[0] - ends[1]).max()) / size
        up, aside = np.split(ends[1], 2)
        leaves = up > SAME * size
        if (np.abs(aside[~leaves]) > SAME * size).any():
            kinds["some slip"] += 1
        elif leaves.any():
            kinds["some lift off"] += 1
        else:
            kinds["all stay"] += 1
    columns = {name: np.array(rows, dtype=float).T for name, rows in found.items()}
    return Solved(
        residual={name: rows[0] for name, rows in columns.items()},
        us={name: rows[1] for name, rows in columns.items()},
        iterations={name: rows[2] for name, rows in columns.items()},
        unsolved={name: int((rows[3] == 0.0).sum()) for name, rows in columns.items()},
        apart=apart,
        kinds=kinds,
    )


def judge_solvers(data: Solved) -> Findings:
    worst = {name: float(one.max()) for name, one in data.residual.items()}
    same = int((data.apart < SAME).sum())
    taken = ", ".join(
        f"{name} {np.median(one):.0f} µs, {np.median(data.iterations[name]):.0f} iterations"
        for name, one in data.us.items()
    )
    residuals = ", ".join(f"{name} {one:.0e}" for name, one in worst.items())
    solved, enough = not any(data.unsolved.values()), min(data.kinds["all stay"], data.kinds["some lift off"]) >= 5
    yield seen("equivalent", residuals, holds=max(worst.values()) < 1e-8 and solved, taken=taken)
    told = f"{same} of {STATES}: {', '.join(f'{count} {name}' for name, count in data.kinds.items())}"
    yield seen("same", told, holds=same >= 0.95 * STATES and enough)


def draw_solvers(figure: Any, data: Solved) -> None:
    left, right = figure.subplots(1, 2)
    for name, color in zip(SOLVERS, (BLUE, VERMILION), strict=True):
        left.semilogy(np.sort(np.maximum(data.residual[name], 1e-18)), color=color, label=name)
        right.plot(np.sort(data.iterations[name]), color=color, label=name)
    left.set(xlabel="states, sorted", ylabel="residual of (15)-(16)")
    right.set(xlabel="states, sorted", ylabel="iterations")
    left.legend()


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


def draw_printed(figure: Any, data: Printed) -> None:
    axis = figure.subplots()
    axis.plot(data.bias, data.foot, "o", color=VERMILION, label="(31) as printed")
    axis.plot(data.bias, np.zeros(POSES), "o", color=BLUE, label="with minus")
    axis.set(xlabel="size of J' q' (m/s²)", ylabel="acceleration (m/s²)", title="(31): a foot that is held")
    axis.margins(x=0.03)
    axis.legend()
