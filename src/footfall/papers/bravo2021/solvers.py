"""Bravo 2021, equations (15) to (18): the same complementarity problems by Fischer-Burmeister and by Lemke."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, seen
from footfall.papers.bravo2021.gait import FRICTION
from footfall.show.style import BLUE, VERMILION
from footfall.standing import point_jacobian

STATES, SEED = 300, 5
TORQUE = 0.1  # of the motors' limits, spread of the random torques
SOLVERS: dict[str, Callable[[Any, Any], ff.solve.Solution]] = {
    "Fischer-Burmeister": ff.solve.fischer_burmeister,
    "Lemke": ff.solve.lemke,
}
SAME = 1e-6  # m/s2 per m/s2 of the free motion


@dataclass(frozen=True)
class Solved:
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
    model, data, rng = robot.model, mujoco.MjData(robot.model), np.random.default_rng(SEED)
    data.qpos[:] = robot.home
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    jacobian = point_jacobian(robot, data)
    inverse = np.linalg.inv(mass)
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


def judge_solvers(data: Solved) -> list[Claim]:
    worst = {name: float(one.max()) for name, one in data.residual.items()}
    same = int((data.apart < SAME).sum())
    taken = ", ".join(
        f"{name} {np.median(one):.0f} µs, {np.median(data.iterations[name]):.0f} iterations"
        for name, one in data.us.items()
    )
    return [
        seen(
            ("printed", "eq. 17"),
            "The complementarity conditions (15)-(16) are solved by (17)-(18): Fischer-Burmeister, and Lemke beside it "
            "(largest residual)",
            ("equivalent", ", ".join(f"{name} {one:.0e}" for name, one in worst.items())),
            holds=max(worst.values()) < 1e-8 and not any(data.unsolved.values()),
            why=f"1e-8 of the largest free acceleration, {STATES} random torques at rest, none unsolved",
            note=f"Medians: {taken}",
        ),
        seen(
            ("derived", "eq. 18"),
            "Both give the vertices the same accelerations",
            (
                f"{STATES} of {STATES}",
                f"{same} of {STATES}: {', '.join(f'{count} {name}' for name, count in data.kinds.items())}",
            ),
            holds=same >= 0.95 * STATES and min(data.kinds["all stay"], data.kinds["some lift off"]) >= 5,
            why=f"95 % to {SAME:g}, five states or more that stay and that lift off; with Coulomb friction a problem "
            "may have two solutions",
        ),
    ]


def draw_solvers(figure: Any, data: Solved) -> None:
    left, right = figure.subplots(1, 2)
    for name, color in zip(SOLVERS, (BLUE, VERMILION), strict=True):
        left.semilogy(np.sort(np.maximum(data.residual[name], 1e-18)), color=color, label=name)
        right.plot(np.sort(data.iterations[name]), color=color, label=name)
    left.set(xlabel="states, sorted", title="residual of (15)-(16)")
    right.set(xlabel="states, sorted", title="iterations")
    left.legend()


EXPERIMENT = Experiment(
    name="solvers",
    figures=("eq17", "eq18"),
    title="the complementarity problem by Fischer-Burmeister and by Lemke",
    run=run_solvers,
    judge=judge_solvers,
    draw=draw_solvers,
    height=2.4,
)
