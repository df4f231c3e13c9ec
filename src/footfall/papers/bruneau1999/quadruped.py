"""Bruneau 1999, figures 3 and 4: a quadruped on spherical joints and on spring-dampers, standing and dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, near, seen
from footfall.solve.contacts import OPEN

STIFFNESS, DAMPING = 3e4, 200.0  # N/m and N s/m of a foot, figure 4
#: By figure: the law that stands for its contact model.
MODELS: dict[str, ff.contact.Law] = {
    "fig3": ff.contact.ConstraintSelection(),
    "fig4": ff.contact.SpringDamper(k=STIFFNESS, c=DAMPING),
}
DROP = 0.05  # m
DT, FINE = 2e-4, 5e-5  # s
DURATION = 1.5  # s


@dataclass(frozen=True)
class Quadrupeds:
    standing: dict[str, ff.Recording]  # by figure
    dropped: dict[str, ff.Recording]
    first: dict[float, float]  # N, total force in the first step in which a dropped quadruped touches, by step


def quadruped(
    law: ff.contact.Law, drop: float, dt: float = DT, duration: float = DURATION, *, every: bool = False
) -> ff.Recording:
    """The quadruped held in its pose by joint PD, let go so high above the ground."""
    sim = ff.Simulation(ff.load_robot("quadruped"), law=law, dt=dt)
    start = sim.place()
    start[2] += drop
    return sim.run(duration, controller="posture", qpos=start, record_dt=dt if every else 1e-3).check()


def run_quadrupeds() -> Quadrupeds:
    first = {}
    for dt in (DT, FINE):
        force = quadruped(MODELS["fig4"], DROP, dt, 0.12, every=True).total_force[:, 2]
        first[dt] = float(force[int(np.argmax(force > 0.0))])
    return Quadrupeds(
        standing={figure: quadruped(law, 0.0) for figure, law in MODELS.items()},
        dropped={figure: quadruped(law, DROP) for figure, law in MODELS.items()},
        first=first,
    )


def _moves(rec: ff.Recording) -> float:
    """Largest speed (m/s) of a point that carries, in the last half second."""
    late = rec.slice(DURATION - 0.5)
    return float(np.linalg.norm(late.velocity, axis=2)[late.mode != OPEN].max())


def front_share(rec: ff.Recording) -> float:
    """Of the weight, what the front feet must carry at rest: where the centre of mass lies between the feet."""
    com, x = float(ff.measure.momentum(rec).com[-1, 0]), rec.position[-1, :, 0]
    return (com - float(x[2:].mean())) / float(x[:2].mean() - x[2:].mean())


def judge_quadrupeds(data: Quadrupeds) -> list[Claim]:
    soft = data.dropped["fig4"]
    deep, jump = -float(soft.gap.min()), data.first[FINE] / data.first[DT]
    claims = [
        near(
            ("derived", figure),
            f"{law.name}, standing: the front feet's share of the weight, by the place of the centre of mass",
            (
                front_share(data.standing[figure]),
                data.standing[figure].foot_force[-1, :2, 2].sum() / data.standing[figure].robot.weight,
            ),
            rel=5e-3,
            why="at rest only statics is left",
        )
        for figure, law in MODELS.items()
    ]
    ends = [float(rec.total_force[-100:, 2].mean() / rec.robot.weight) for rec in data.dropped.values()]
    return [
        *claims,
        seen(
            ("printed", "eq. 10"),
            "Kinematic constraints: no linear velocity at the contacts (largest, standing)",
            ("0", f"{_moves(data.standing['fig3']):.0e} m/s"),
            holds=_moves(data.standing["fig3"]) < 1e-9,
            why="rounding",
        ),
        seen(
            ("printed", "eq. 11"),
            "Spring-dampers: small linear motions at the contacts (deepest after the fall)",
            ("small", 1e3 * deep, "mm"),
            holds=1e-4 < deep < 0.01,
            why="more than a tenth of a millimetre, less than a centimetre",
        ),
        seen(
            ("printed", "section 2.3.1"),
            "Spring-dampers: the force is discontinuous at the impact (first force, a quarter of the step over the "
            "whole)",
            ("1", jump),
            holds=0.8 < jump < 1.25,
            why="a force that grows from zero would shrink with the step",
        ),
        seen(
            ("ours", "fig3"),
            f"Dropped from {1e2 * DROP:g} cm it stands on both models (force over weight at the end)",
            ("1, 1", ", ".join(f"{one:.4f}" for one in ends)),
            holds=all(abs(one - 1.0) < 1e-3 for one in ends)
            and not any(map(ff.measure.has_fallen, data.dropped.values())),
            why="0.1 %: the joints still swing a little",
        ),
    ]


def draw_quadrupeds(figure: Any, data: Quadrupeds) -> None:
    from footfall.show.style import BLUE, VERMILION

    force, height = figure.subplots(1, 2)
    for (name, rec), color in zip(data.dropped.items(), (BLUE, VERMILION), strict=True):
        force.plot(
            rec.time, rec.total_force[:, 2] / rec.robot.weight, color=color, label=f"{name}: {MODELS[name].name}"
        )
        height.plot(rec.time, 1e3 * rec.gap.min(axis=1), color=color)
    force.set(title=f"dropped from {1e2 * DROP:g} cm: force / weight", xlabel="time (s)", xlim=(0.0, 0.5))
    height.set(title="lowest foot (mm)", xlabel="time (s)", xlim=(0.0, 0.5))
    force.legend()


EXPERIMENT = Experiment(
    name="quadruped",
    figures=("fig3", "fig4"),
    title="a quadruped on constraints and on spring-dampers, standing and dropped",
    run=run_quadrupeds,
    judge=judge_quadrupeds,
    draw=draw_quadrupeds,
    height=2.6,
)
