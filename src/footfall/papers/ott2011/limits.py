"""Ott 2011, beyond the paper: pushes in five directions under every contact law, and the largest that are survived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import footfall as ff
from footfall.papers.base import Claim, Experiment, seen
from footfall.papers.ott2011.setup import BALANCE, DT, LASTS, ROBOT, TRUNK
from footfall.study.largest_push import push_outcome

START = 0.1  # s
WAIT = 1.5  # s after the push
WITHIN = 0.1
#: N, N m by direction: judged, at most a third of the largest, so that no rounding decides.
SURE = {"forwards": 120.0, "backwards": 120.0, "sideways": 140.0, "downwards": 500.0, "round": 60.0}
#: The same, near the largest: where the search begins.
FIRST = {"forwards": 350.0, "backwards": 350.0, "sideways": 450.0, "downwards": 1000.0, "round": 200.0}
ALONG = {"forwards": (1, 0, 0), "backwards": (-1, 0, 0), "sideways": (0, 1, 0), "downwards": (0, 0, -1)}


def push(name: str, size: float) -> ff.Push:
    """A push of 50 ms at the trunk in a direction, N, or round the vertical, N m."""
    if name == "round":
        return ff.Push(TRUNK, torque=(0.0, 0.0, size), start=START, duration=LASTS)
    x, y, z = ALONG[name]
    return ff.Push(TRUNK, force=(size * x, size * y, size * z), start=START, duration=LASTS)


@dataclass(frozen=True)
class Limits:
    sure: dict[str, dict[str, str]]  # by direction and law: what became of the robot, "" if it survived
    largest: dict[str, tuple[ff.study.PushLimit, ...]]  # by direction


def run_limits() -> Limits:
    sims = {law: ff.Simulation(ff.load_robot(ROBOT), law=law, dt=DT) for law in ff.laws()}
    # A robot that falls makes so many events that one run takes minutes.
    stepped = [law for law in ff.laws() if not ff.contact.law_class(law).event_driven]
    return Limits(
        sure={
            name: {law: push_outcome(sim, push(name, size), WAIT, BALANCE) for law, sim in sims.items()}
            for name, size in SURE.items()
        },
        largest={
            name: ff.study.largest_pushes(
                ROBOT, [push(name, size)], laws=stepped, controller=BALANCE, dt=DT, wait=WAIT, within=WITHIN
            )[0]
            for name, size in FIRST.items()
        },
    )


def judge_limits(data: Limits) -> list[Claim]:
    return [
        seen(
            ("ours", "fig16"),
            f"Pushed {name} with {SURE[name]:g} {data.largest[name][0].unit} for 50 ms it recovers, whatever the law",
            (
                "not printed",
                "; ".join(f"{law}: {why}" for law, why in outcomes.items() if why) or f"under all {len(outcomes)} laws",
            ),
            holds=not any(outcomes.values()),
            why="no fall, and 1.5 s later the capture point is in the support",
            note=f"The largest by bisection to 10 %, {_range(data.largest[name])}, is not judged: near it the last "
            "digits decide",
        )
        for name, outcomes in data.sure.items()
    ]


def _range(found: tuple[ff.study.PushLimit, ...]) -> str:
    sizes = {one.law: one.survived for one in found}
    least, most = min(sizes, key=lambda law: sizes[law]), max(sizes, key=lambda law: sizes[law])
    unit = found[0].unit
    if sizes[least] == sizes[most]:
        return f"{sizes[least]:.3g} {unit} under every law"
    return f"{sizes[least]:.3g} {unit} ({least}) to {sizes[most]:.3g} {unit} ({most})"


def draw_limits(figure: Any, data: Limits) -> None:
    from footfall.show.style import COLORS

    axes = figure.subplots(1, len(data.largest), sharey=True)
    for axis, (name, found) in zip(axes, data.largest.items(), strict=True):
        names = [one.law for one in found]
        for i, one in enumerate(found):
            axis.barh(i, one.survived, color=COLORS[i % len(COLORS)])
            axis.plot([one.survived, one.failed], [i, i], color="#444444", linewidth=1.0)
        axis.axvline(SURE[name], color="#444444", linestyle=":", linewidth=0.8)
        axis.set(title=f"{name} ({found[0].unit})")
        axis.set_yticks(range(len(names)), labels=names)
    axes[0].invert_yaxis()
    figure.supxlabel("bars: survived; lines: up to what was not; dotted: the push that is judged", fontsize=7)


EXPERIMENT = Experiment(
    name="limits",
    figures=("limits",),
    title="pushes of 50 ms by direction and law: judged (dotted), and the largest that is survived",
    run=run_limits,
    judge=judge_limits,
    draw=draw_limits,
    height=2.4,
)
