"""Bruneau 1999, figures 3 and 4: a quadruped trots on spherical joints (10) and on spring-dampers (11)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.measure.common import runs
from footfall.papers.base import Findings, near, panel, seen
from footfall.solve.contacts import OPEN
from footfall.standing import at_home, in_pose, inertia_of, point_jacobian

STIFFNESS, DAMPING = 3e4, 200.0  # N/m and N s/m of a foot, figure 4


def models() -> dict[str, ff.contact.Law]:
    """By figure: the law that stands for its contact model."""
    return {
        "fig3": ff.contact.ConstraintSelection(rules="landing"),  # Bruneau 1999, eq. 10
        "fig4": ff.contact.SpringDamper(k=STIFFNESS, c=DAMPING),  # Bruneau 1999, eq. 11
    }


WALK = ff.control.QuadrupedWalk(speed=0.3, gait="trot", steps=8, step_duration=0.25)
TROT_DT, TROT_FINE = 1e-3, 5e-4  # s
#: s, of a stance that counts: shorter ones are feet that touch and leave.
LONG = 0.1
#: s between the states at which the equations of motion are looked at.
LOOK = 0.025


class Walks(NamedTuple):
    recordings: dict[tuple[str, float], ff.Recording]  # by figure and step
    smallest: float  # eigenvalue of the contacts' Delassus matrix over the largest, least of fig3's walk


def walk(figure: str, dt: float) -> ff.Recording:
    """The quadruped walking on the contact model of a figure."""
    sim = ff.Simulation(ff.load_robot("quadruped"), law=models()[figure], dt=dt)
    return sim.run(WALK.duration, controller=WALK).check()


def run_walks() -> Walks:
    recordings = {(figure, dt): walk(figure, dt) for figure in models() for dt in (TROT_DT, TROT_FINE)}
    return Walks(recordings, smallest_eigenvalue(recordings["fig3", TROT_DT]))


def smallest_eigenvalue(rec: ff.Recording) -> float:
    """Least over a run: smallest eigenvalue of ``J M^-1 J^T`` of the points that touch, over the largest."""
    least = 1.0
    for sample in range(0, len(rec), round(LOOK / rec.dt)):
        touching = np.repeat(rec.mode[sample] != OPEN, 3)
        data = in_pose(rec.robot, rec.qpos[sample])
        rows = point_jacobian(rec.robot, data)[touching]
        values = np.linalg.eigvalsh(rows @ np.linalg.solve(inertia_of(data), rows.T)) if len(rows) else np.ones(1)
        least = min(least, float(values[0] / values[-1]))
    return least


def linear_motion(rec: ff.Recording) -> float:
    """How far (m) the foot's material at the contact moves in a stance, the median of all stances.

    Of more than ``LONG``, and without the step of the landing.
    """
    moved = []
    for point in range(rec.robot.point_count):
        for first, last in runs(rec.mode[:, point] != OPEN):
            path = np.cumsum(rec.dt * rec.velocity[first + 1 : last, point], axis=0)
            if (last - first) * rec.dt > LONG:
                moved.append(np.linalg.norm(path - path[0], axis=1).max())
    return float(np.median(moved))


def last_forces(rec: ff.Recording) -> np.ndarray:
    """N, of every lift-off of a spring-damper: ``k d + c d'`` in the last sample in which the foot is in the ground."""
    depth, rate = -rec.gap, -rec.velocity[:, :, 2]
    sample, point = np.nonzero((depth[:-1] > 0.0) & (depth[1:] <= 0.0))
    return np.asarray(STIFFNESS * depth[sample, point] + DAMPING * rate[sample, point])


def judge_walks(data: Walks) -> Findings:
    motion = {key: linear_motion(rec) for key, rec in data.recordings.items()}
    rigid, soft = (motion[figure, TROT_FINE] / motion[figure, TROT_DT] for figure in ("fig3", "fig4"))
    last = last_forces(data.recordings["fig4", TROT_DT])
    pulls = int((last < 0.0).sum())
    unsolved = int(np.count_nonzero(data.recordings["fig3", TROT_DT].status))
    both = {f: f"{1e3 * motion[f, TROT_DT]:.2g}, {1e3 * motion[f, TROT_FINE]:.2g} mm" for f in ("fig3", "fig4")}
    yield seen("rigid", both["fig3"], holds=rigid < 0.7 and motion["fig3", TROT_DT] < 1e-4)
    yield seen("compliant-walk", both["fig4"], holds=0.8 < soft < 1.25 and motion["fig4", TROT_DT] < 0.01)
    yield seen("attractive", f"{pulls} of {len(last)}", holds=pulls == len(last) >= 16)
    yield seen("unique", f"{data.smallest:.2g}; {unsolved}", holds=data.smallest > 1e-6 and unsolved == 0)


def draw_walks(figure: Any, data: Walks) -> None:
    for side, (name, law) in zip(figure.subplots(1, 2, sharey=True), models().items(), strict=True):
        rec = data.recordings[name, TROT_DT].slice(1.0, 2.0)
        loads = zip(rec.foot_force[:, :2, 2].T / rec.robot.weight, ("front left", "front right"), strict=True)
        panel(side, *((rec.time, *load) for load in loads), ylabel="force / weight", ylim=(-0.05, 2.0))
        side.set_title(f"{name.replace('fig', 'Fig. ')}: {law.name}")


# ---- eqs. (12) to (14) -------------------------------------------------------------------------------------

BALL, BALL_DT, LONG_DT = 1.0, 1e-5, 5e-5  # m/s, s
HERTZ, VISCOUS = 1e5, 40.0  # N/m^1.5, N s/m


class Models(NamedTuple):
    first: dict[float, float]  # N, force of a ball in the first step in which it touches a spring-damper, by step
    free: int  # dimensions of the torques and forces that give one motion, (12)
    unknowns: tuple[int, int]  # of (12), and equations
    hertz: ff.Recording  # a ball on (13)
    kelvin: dict[float, ff.Recording]  # a ball on (14), by step


def run_models() -> Models:
    """The map (12) of a standing quadruped, and balls that land on (13) and on (14)."""
    robot = ff.load_robot("quadruped")
    data = at_home(robot)
    model = robot.model
    # Bruneau 1999, eq. 12
    acts = np.concatenate([np.eye(model.nv)[model.nv - model.nu :], point_jacobian(robot, data)])

    def land(law: ff.contact.Law, dt: float) -> ff.Recording:
        return ff.Simulation("ball", law=law, dt=dt).run(0.06, qvel=[0, 0, -BALL, 0, 0, 0]).check()

    first = {dt: first_force(land(models()["fig4"], dt)) for dt in (BALL_DT, LONG_DT)}
    hertz = ff.contact.Distributed(kn=HERTZ, alpha=1.5, mun=0.0)  # Bruneau 1999, eq. 13
    kelvin = ff.contact.Distributed(kn=HERTZ, alpha=1.5, mun=VISCOUS, beta=0.0)  # Bruneau 1999, eq. 14
    free = len(acts) - int(np.linalg.matrix_rank(acts))
    unknowns = len(acts), model.nv
    return Models(first, free, unknowns, land(hertz, BALL_DT), {dt: land(kelvin, dt) for dt in (BALL_DT, LONG_DT)})


def first_force(rec: ff.Recording) -> float:
    """N, in the first sample with a force."""
    return float(rec.force[np.flatnonzero(rec.force[:, 0, 2])[0], 0, 2])


def judge_models(data: Models) -> Findings:
    gone = int(np.argmax((data.hertz.gap[:, 0] > 0.0) & (data.hertz.qvel[:, 2] > 0.0)))
    back = float(data.hertz.qvel[gone, 2])
    first = [first_force(rec) for rec in data.kelvin.values()]
    rec = data.kelvin[BALL_DT]
    depth, speed = np.maximum(0.0, -rec.gap[:, 0]), rec.velocity[:, 0, 2]
    leaves = int(np.argmax((rec.gap[:, 0] > 0.0) & (speed > 0.0))) - 1
    pull = HERTZ * depth[leaves] ** 1.5 - VISCOUS * speed[leaves]
    jump = data.first[BALL_DT] / data.first[LONG_DT]
    yield seen("discontinuous", jump, holds=0.8 < jump < 1.25)
    yield seen("infinite", f"{data.unknowns[0]}, {data.unknowns[1]}, {data.free}", holds=data.free > 0)
    yield near("hertz", BALL, back)
    known, told = VISCOUS * BALL, ", ".join(f"{f:.3g}" for f in (*first, pull))
    jumps = max(abs(f / known - 1.0) for f in first) < 0.3
    yield seen("kelvin", told, should=f"{known:g} at once, then below 0", holds=jumps and pull < 0.0)
