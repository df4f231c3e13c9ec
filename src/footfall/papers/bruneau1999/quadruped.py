"""Bruneau 1999, figures 3 and 4: a quadruped on spherical joints (10) and on spring-dampers (11) stands and trots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, near, seen
from footfall.show.style import BLUE, VERMILION
from footfall.solve.contacts import OPEN
from footfall.standing import at_home, in_pose, inertia_of, point_jacobian

STIFFNESS, DAMPING = 3e4, 200.0  # N/m and N s/m of a foot, figure 4
DROP = 0.05  # m
DT, FINE = 2e-4, 5e-5  # s
DURATION = 1.5  # s
#: What a challenge found.
SOFT = "how small follows from the stiffness, which is not printed: 13 mm after the fall with 5 kN/m"


def models() -> dict[str, ff.contact.Law]:
    """By figure: the law that stands for its contact model."""
    return {
        "fig3": ff.contact.ConstraintSelection(rules="landing"),  # Bruneau 1999, eq. 10
        "fig4": ff.contact.SpringDamper(k=STIFFNESS, c=DAMPING),  # Bruneau 1999, eq. 11
    }


def titled(figure: str) -> str:
    """The name of a figure, to be read."""
    return figure.replace("fig", "Fig. ")


class Quadrupeds(NamedTuple):
    dropped: dict[str, ff.Recording]  # by figure
    first: dict[float, float]  # N, total force in the first step in which a dropped quadruped touches, by step


def dropped(law: ff.contact.Law, dt: float = DT, duration: float = DURATION, *, every: bool = False) -> ff.Recording:
    """The quadruped held in its pose by joint PD, let go above the ground."""
    sim = ff.Simulation(ff.load_robot("quadruped"), law=law, dt=dt)
    start = sim.place(above=DROP)
    return sim.run(duration, controller="posture", qpos=start, record_dt=dt if every else 1e-3).check()


def run_quadrupeds() -> Quadrupeds:
    first = {}
    for dt in (DT, FINE):
        force = dropped(models()["fig4"], dt, 0.12, every=True).total_force[:, 2]
        first[dt] = float(force[int(np.argmax(force > 0.0))])
    return Quadrupeds(
        dropped={figure: dropped(law) for figure, law in models().items()},
        first=first,
    )


def judge_quadrupeds(data: Quadrupeds) -> Findings:
    """Constraints leave a foot three angular velocities (10), spring-dampers three linear ones besides (11)."""
    soft = data.dropped["fig4"]
    deep, jump = -float(soft.gap.min()), data.first[FINE] / data.first[DT]
    ends = [float(rec.total_force[-100:, 2].mean() / rec.robot.weight) for rec in data.dropped.values()]
    yield seen("compliant-drop", 1e3 * deep, holds=1e-4 < deep < 0.01)
    yield seen("discontinuous", jump, holds=0.8 < jump < 1.25)
    stands = all(abs(one - 1.0) < 1e-3 for one in ends) and not any(map(ff.measure.has_fallen, data.dropped.values()))
    yield seen("stands", ", ".join(f"{one:.4f}" for one in ends), holds=stands, drop=1e2 * DROP)


def draw_quadrupeds(figure: Any, data: Quadrupeds) -> None:
    force, height = figure.subplots(1, 2)
    for (name, rec), color in zip(data.dropped.items(), (BLUE, VERMILION), strict=True):
        label = f"{titled(name)}: {models()[name].name}"
        force.plot(rec.time, rec.total_force[:, 2] / rec.robot.weight, color=color, label=label)
        height.plot(rec.time, 1e3 * rec.gap.min(axis=1), color=color)
    force.set(title=f"dropped from {1e2 * DROP:g} cm", xlabel="time (s)", ylabel="force / weight", xlim=(0.0, 0.5))
    height.set(title="the lowest foot", xlabel="time (s)", ylabel="height (mm)", xlim=(0.0, 0.5))
    force.legend()


# ---- at a trot ---------------------------------------------------------------------------------------------

STEP_DURATION = 0.25  # s
WALK = ff.control.QuadrupedWalk(speed=0.3, gait="trot", steps=8, step_duration=STEP_DURATION)
#: m that are walked: the speed is taken up over the first cycle of two steps and given back over the last.
DISTANCE = 0.3 * STEP_DURATION * (8 - 2)
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


def stances(rec: ff.Recording) -> Iterator[tuple[int, slice]]:
    """Point and samples of every stance of more than ``LONG``, without the step of the landing."""
    touching = rec.mode != OPEN
    for point in range(touching.shape[1]):
        edges = np.flatnonzero(np.diff(touching[:, point], prepend=False, append=False))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            if (last - first) * rec.dt > LONG:
                yield point, slice(first + 1, last)


def linear_motion(rec: ff.Recording) -> float:
    """How far (m) the foot's material at the contact moves in a stance, the median of all stances."""
    moved = [np.cumsum(rec.dt * rec.velocity[samples, point], axis=0) for point, samples in stances(rec)]
    return float(np.median([np.linalg.norm(path - path[0], axis=1).max() for path in moved]))


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
    walked = {f: rec.signals["com"][-1, 0] - rec.signals["com"][0, 0] for (f, dt), rec in data.recordings.items()}
    loads = {f: rec.total_force[:, 2].mean() / rec.robot.weight for (f, dt), rec in data.recordings.items()}
    stands = not any(map(ff.measure.has_fallen, data.recordings.values()))
    both = {f: f"{1e3 * motion[f, TROT_DT]:.2g}, {1e3 * motion[f, TROT_FINE]:.2g} mm" for f in ("fig3", "fig4")}
    yield seen("rigid", both["fig3"], holds=rigid < 0.7 and motion["fig3", TROT_DT] < 1e-4)
    yield seen("compliant-walk", both["fig4"], holds=0.8 < soft < 1.25 and motion["fig4", TROT_DT] < 0.01)
    yield seen("attractive", f"{pulls} of {len(last)}", holds=pulls == len(last) >= 16)
    yield seen("unique", f"{data.smallest:.2g}; {unsolved}", holds=data.smallest > 1e-6 and unsolved == 0)
    told = f"{walked['fig3']:.3f}, {walked['fig4']:.3f} m; {loads['fig3']:.3f}, {loads['fig4']:.3f}"
    far = all(abs(one / DISTANCE - 1.0) < 0.05 for one in walked.values())
    yield seen("trots", told, holds=stands and far and all(abs(one - 1.0) < 1e-3 for one in loads.values()))


def draw_walks(figure: Any, data: Walks) -> None:
    sides = figure.subplots(1, 2, sharey=True)
    for side, (name, law) in zip(sides, models().items(), strict=True):
        rec = data.recordings[name, TROT_DT].slice(1.0, 2.0)
        for foot, color, label in ((0, BLUE, "front left"), (1, VERMILION, "front right")):
            side.plot(rec.time, rec.foot_force[:, foot, 2] / rec.robot.weight, color=color, label=label)
        side.set(title=f"{titled(name)}: {law.name}", xlabel="time (s)", ylim=(-0.05, 2.0))
    sides[0].set(ylabel="force / weight")
    sides[1].legend(loc="upper right")


# ---- eqs. (12) to (14) -------------------------------------------------------------------------------------

BALL, BALL_DT = 1.0, 1e-5  # m/s, s
HERTZ, VISCOUS = 1e5, 40.0  # N/m^1.5, N s/m


class Models(NamedTuple):
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

    hertz = ff.contact.Distributed(kn=HERTZ, alpha=1.5, mun=0.0)  # Bruneau 1999, eq. 13
    kelvin = ff.contact.Distributed(kn=HERTZ, alpha=1.5, mun=VISCOUS, beta=0.0)  # Bruneau 1999, eq. 14
    free = len(acts) - int(np.linalg.matrix_rank(acts))
    return Models(free, (len(acts), model.nv), land(hertz, BALL_DT), {dt: land(kelvin, dt) for dt in (BALL_DT, 5e-5)})


def judge_models(data: Models) -> Findings:
    gone = int(np.argmax((data.hertz.gap[:, 0] > 0.0) & (data.hertz.qvel[:, 2] > 0.0)))
    back = float(data.hertz.qvel[gone, 2])
    first = {dt: float(rec.force[np.flatnonzero(rec.force[:, 0, 2])[0], 0, 2]) for dt, rec in data.kelvin.items()}
    rec = data.kelvin[BALL_DT]
    depth, speed = np.maximum(0.0, -rec.gap[:, 0]), rec.velocity[:, 0, 2]
    leaves = int(np.argmax((rec.gap[:, 0] > 0.0) & (speed > 0.0))) - 1
    pull = HERTZ * depth[leaves] ** 1.5 - VISCOUS * speed[leaves]
    yield seen("infinite", f"{data.unknowns[0]}, {data.unknowns[1]}, {data.free}", holds=data.free > 0)
    yield near("hertz", BALL, back)
    known, told = VISCOUS * BALL, ", ".join(f"{f:.3g}" for f in (*first.values(), pull))
    jumps = max(abs(f / known - 1.0) for f in first.values()) < 0.3
    yield seen("kelvin", told, should=f"{known:g} at once, then below 0", holds=jumps and pull < 0.0)


def draw_models(figure: Any, data: Models) -> None:
    axis = figure.subplots()
    for name, rec, color in (("(13)", data.hertz, BLUE), ("(14)", data.kelvin[BALL_DT], VERMILION)):
        depth, speed = np.maximum(0.0, -rec.gap[:, 0]), rec.velocity[:, 0, 2]
        force = HERTZ * depth**1.5 - (VISCOUS * speed * (depth > 0.0) if name == "(14)" else 0.0)
        axis.plot(1e3 * rec.time, force, color=color, label=name)
    axis.axhline(0.0, color="#555555", linewidth=0.8)
    axis.set(xlabel="time (ms)", ylabel="normal force (N)", xlim=(0.0, 40.0), title="a ball that lands with 1 m/s")
    axis.legend()
