"""Ott 2011, figure 16: pushes in five directions; beyond the paper, under every law, and the largest ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Claim, near, seen
from footfall.papers.ott2011.setup import (
    BALANCE,
    CLOSE,
    DT,
    FLOOR,
    LASTS,
    ROBOT,
    TRUNK,
    commanded,
    draw_components,
    recovery,
    stance,
    stand,
)
from footfall.show.style import COLORS
from footfall.study.largest_push import push_outcome

START, HOLD = 0.5, 6.0  # s
#: s in which the robot must be back, longer than after an impulse: the vertical motion has a damping ratio of 0.2.
BACK = 6.0
DURATION = START + HOLD + BACK + 0.5
FORWARD, LEFT, DOWN, YAW, TILT = 20.0, 25.0, 60.0, 10.0, 5.0  # N, N m; the last in roll and pitch
NO_FORCE = (0.0, 0.0, 0.0)


def _lean(force: tuple[float, float, float], torque: tuple[float, float, float] = NO_FORCE) -> ff.Push:
    return ff.Push(TRUNK, force=force, torque=torque, start=START, duration=HOLD)


def leans() -> dict[str, tuple[ff.Push, int]]:
    """By direction: the push, and which of (x, y, z, roll, pitch, yaw) is looked at."""
    return {
        "x": (_lean((FORWARD, 0.0, 0.0)), 0),
        "y": (_lean((0.0, LEFT, 0.0)), 1),
        "z": (_lean((0.0, 0.0, -DOWN)), 2),
        "roll": (_lean(NO_FORCE, (TILT, 0.0, 0.0)), 3),
        "pitch": (_lean(NO_FORCE, (0.0, TILT, 0.0)), 4),
        "yaw": (_lean(NO_FORCE, (0.0, 0.0, YAW)), 5),
    }


def run_directions() -> dict[str, ff.Recording]:
    return {name: stand(DURATION, lean) for name, (lean, _) in leans().items()}


def turned(rec: ff.Recording) -> np.ndarray:
    """(T, 3) rad, rotation vector of the trunk from its orientation at the start, world frame."""
    first, turn, out = np.zeros(4), np.zeros(4), np.zeros((len(rec), 3))
    mujoco.mju_negQuat(first, rec.qpos[0, 3:7])
    for row, quat in zip(out, rec.qpos[:, 3:7], strict=True):
        mujoco.mju_mulQuat(turn, quat, first)
        mujoco.mju_quat2Vel(row, turn, 1.0)
    return out


def feet_turned(rec: ff.Recording) -> np.ndarray:
    """(T,) rad, by which the line from the right to the left foot has turned about the vertical."""
    left, right = (rec.position[:, rec.foot(side), :2].mean(axis=1) for side in ("left", "right"))
    line = left - right
    return np.unwrap(np.arctan2(line[:, 1], line[:, 0])) - np.arctan2(line[0, 1], line[0, 0])


def moved(rec: ff.Recording, axis: int) -> np.ndarray:
    """(T,) m or rad, along the push."""
    return turned(rec)[:, axis - 3] if axis > 2 else rec.signals["com_error"][:, axis]


def expected(rec: ff.Recording, name: str) -> float:
    """How far from its reference the controller's springs carry the push in the pose at its end, m or rad."""
    push, axis = leans()[name]
    return float(stance(ROBOT, TRUNK, rec.qpos[_end(rec)]).yields(push)[axis])


def _end(rec: ff.Recording) -> int:
    return int(np.searchsorted(rec.time, START + HOLD)) - 1


def judge_directions(data: dict[str, ff.Recording]) -> list[Claim]:
    claims = []
    for name, (push, axis) in leans().items():
        rec, scale, unit = data[name], 180.0 / math.pi if axis > 2 else 1e3, "°" if axis > 2 else "mm"
        size = f"{max(map(abs, (*push.force, *push.torque))):g} N{' m' if axis > 2 else ''}"
        claims.append(
            near(
                ("derived", "fig16"),
                f"Leaned on in {name} with {size}, the robot gives way until its springs carry that",
                (scale * expected(rec, name), scale * moved(rec, axis)[_end(rec)], unit),
                rel=0.02,
                why="what is left of the motion after 6 s",
                note="The paper prints none; its side is what (20) and (22) make of this robot",
                fragile="30 N forwards is more than its soles can hold" if name == "x" else "",
            )
        )
    back = {name: recovery(rec, START + HOLD) for name, rec in data.items()}
    slowest = max(back, key=lambda name: back[name])
    left = max(float(np.abs(turned(data[name])[-1]).max()) for name in ("roll", "pitch", "yaw"))
    claims.append(
        seen(
            ("printed", "perturbations"),
            "Let go, it comes back: the longest time",
            ("comes back", f"{back[slowest]:.2f} s, {slowest}; turned by at most {math.degrees(left):.2g}°"),
            holds=max(back.values()) <= BACK and left < 0.01,
            why=f"centre of mass below {1e3 * CLOSE:g} mm within {BACK:g} s, trunk turned by less than 0.01 rad",
            fragile="the paper does not print how hard it is pushed; after 30 N forwards for 6 s it does not come back",
        )
    )
    baseline = feet_turned(data["yaw"])
    yaw = np.degrees(turned(data["yaw"])[:, 2])
    claims.append(
        near(
            ("printed", "yaw"),
            f"leaned on in yaw, the trunk turns by up to {np.abs(yaw).max():.2g}°: error of that approximation, "
            "largest",
            (0.0, np.degrees(np.abs(baseline).max()), "°"),
            within=0.5,
            why="half a degree: the baseline between the feet turns only as they give way",
        )
    )
    at_floor = float((commanded(data["y"]).min(axis=1) < FLOOR + 1e-3).mean() * data["y"].duration)
    claims.append(
        seen(
            ("printed", "longer"),
            "leaned on in y for 6 s: time at the floor",
            ("longer", at_floor, "s"),
            holds=at_floor > 1.0,
            why="more than a second at the floor; an impulse of 50 ms has it there for tenths",
            fragile="the paper does not print how hard it is pushed; with 20 N it is at the floor for 0.65 s",
        )
    )
    return claims


def draw_directions(figure: Any, data: dict[str, ff.Recording]) -> None:
    (above, components) = figure.subplots(2, 3)
    figure.delaxes(above[2])
    axes = above[:2]
    for c, name in enumerate(("x", "y", "z")):
        axes[0].plot(data[name].time, 1e3 * data[name].signals["com_error"][:, c], color=COLORS[c], label=f"in {name}")
        axes[0].axhline(1e3 * expected(data[name], name), color=COLORS[c], linewidth=0.6, linestyle=":")
    axes[0].set(title="com error (mm), fig. 17", xlabel="time (s)")
    axes[0].legend()
    for c, name in enumerate(("roll", "pitch", "yaw")):
        angle = np.degrees(moved(data[name], 3 + c))
        axes[1].plot(data[name].time, angle, color=COLORS[c], label=name)
        axes[1].axhline(math.degrees(expected(data[name], name)), color=COLORS[c], linewidth=0.6, linestyle=":")
    axes[1].set(title="trunk turned (°); dotted: springs alone", xlabel="time (s)")
    axes[1].legend()
    rec = data["y"]
    draw_components(components, rec)
    components[0].set_title("fig. 18, in y: contact forces x (N)")
    for axis in components:
        axis.set_xlabel("time (s)")
    for axis in (*components, *axes):
        axis.title.set_fontsize(7)
    components[2].legend()


# ---- the largest pushes, by law ----------------------------------------------------------------------------

LIMIT_START = 0.1  # s
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
        return ff.Push(TRUNK, torque=(0.0, 0.0, size), start=LIMIT_START, duration=LASTS)
    x, y, z = ALONG[name]
    return ff.Push(TRUNK, force=(size * x, size * y, size * z), start=LIMIT_START, duration=LASTS)


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
