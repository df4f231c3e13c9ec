"""Ott 2011, beyond the paper: the largest push that is survived, by direction and contact law."""

from __future__ import annotations

from typing import Any

from footfall.contact import law_class, laws
from footfall.papers.base import Claim, Experiment, seen
from footfall.papers.ott2011.setup import DT, FORCE, LASTS, ROBOT, TRUNK
from footfall.record import Push
from footfall.study.largest_push import PushLimit, largest_push

START = 0.1  # s
WITHIN = 0.1
FIRST = {
    "forwards": Push(TRUNK, force=(350.0, 0.0, 0.0), start=START, duration=LASTS),
    "backwards": Push(TRUNK, force=(-350.0, 0.0, 0.0), start=START, duration=LASTS),
    "sideways": Push(TRUNK, force=(0.0, 450.0, 0.0), start=START, duration=LASTS),
    "downwards": Push(TRUNK, force=(0.0, 0.0, -1000.0), start=START, duration=LASTS),
    "round": Push(TRUNK, torque=(0.0, 0.0, 200.0), start=START, duration=LASTS),
}

Limits = dict[str, tuple[PushLimit, ...]]


def run_limits() -> Limits:
    # A robot that falls makes so many events that one run takes minutes.
    stepped = [law for law in laws() if not law_class(law).event_driven]
    return {
        name: largest_push(ROBOT, push, laws=stepped, controller="balance", dt=DT, within=WITHIN)
        for name, push in FIRST.items()
    }


def judge_limits(data: Limits) -> list[Claim]:
    claims = []
    for name, found in data.items():
        sizes = {one.law: one.survived for one in found}
        least, most = min(sizes, key=lambda law: sizes[law]), max(sizes, key=lambda law: sizes[law])
        unit = found[0].unit
        ours = f"{sizes[least]:.3g} {unit} ({least}) to {sizes[most]:.3g} {unit} ({most})"
        if sizes[least] == sizes[most]:
            ours = f"{sizes[least]:.3g} {unit}, every law"
        if name == "sideways":
            claims.append(
                seen(
                    "fig6",
                    f"{FORCE:g} N sideways for 50 ms are survived, whatever the law: the largest that are",
                    "70 N survived",
                    ours,
                    holds=sizes[least] >= FORCE,
                    why="by bisection, to 10 %",
                    source="ours",
                )
            )
            continue
        claims.append(
            seen(
                "fig16",
                f"Pushed {name} for 50 ms it recovers, whatever the law; the largest that it survives",
                "not printed",
                ours,
                holds=sizes[least] > 0.0 and sizes[most] < 2.0 * sizes[least],
                why="the laws agree to a factor of two; by bisection, to 10 %",
                source="ours",
            )
        )
    return claims


def draw_limits(figure: Any, data: Limits) -> None:
    from footfall.show.style import COLORS

    axes = figure.subplots(1, len(data), sharey=True)
    for axis, (name, found) in zip(axes, data.items(), strict=True):
        names = [one.law for one in found]
        for i, one in enumerate(found):
            axis.barh(i, one.survived, color=COLORS[i % len(COLORS)])
            axis.plot([one.survived, one.failed], [i, i], color="#444444", linewidth=1.0)
        axis.set(title=f"{name} ({found[0].unit})", xlabel="line: too much")
        axis.set_yticks(range(len(names)), labels=names)
    axes[0].invert_yaxis()


EXPERIMENTS = (
    Experiment(
        name="limits",
        figures=("limits",),
        title="the largest push of 50 ms that is survived, by direction and law",
        run=run_limits,
        judge=judge_limits,
        draw=draw_limits,
        height=2.4,
    ),
)
