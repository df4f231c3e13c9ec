"""Ott 2011, figures 7 and 8: what a push at other heights asks for, and which robots it unloads to the floor of 4 N."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import footfall as ff
from footfall.papers.base import Claim, Experiment, near, seen, unlike
from footfall.papers.drawing import legend_below
from footfall.papers.ott2011.setup import (
    BALANCE,
    DT,
    FLOOR,
    FORCE,
    LASTS,
    LAW,
    ROBOT,
    TRUNK,
    commanded,
    sideways,
    stand,
)
from footfall.papers.ott2011.stance import Stance, stance
from footfall.standing import at_home

START, DURATION = 0.05, 0.8  # s
SHORT = 0.25  # s, in which a foot is unloaded most
HIPS, TOP = -0.175, 0.175  # m above the trunk's centre of mass: the hip joints and the top of the trunk
MASSES = (30.0, 50.0)  # kg
ROTORS = (0.0, 0.1)  # kg m2
ROLLS = (-0.045, 0.0, 0.06, 0.12)  # rad, of the hips: stances of 0.13 to 0.38 m


@dataclass(frozen=True)
class Heights:
    runs: dict[float, ff.Recording]  # by height of the push above the trunk's centre of mass, m
    com: float  # m, height of the robot's centre of mass above that of the trunk
    pivot: float  # m, height at which a push does not turn the trunk, by the inertia of the standing robot
    lowest: dict[tuple[float, float, float, float], float]  # N, by mass, rotor, stance width and height


def turning(model: Stance, above: float) -> float:
    """Angular acceleration of the trunk about x (rad/s2) per N to the left, so high above its centre of mass."""
    push = sideways(0.0, 1.0, above)
    return float(np.linalg.solve(model.inertia, model.trunk.T @ np.array([*push.force, *push.torque]))[3])


def no_turn(model: Stance) -> float:
    """The height (m above the trunk's centre of mass) of a push that does not turn the trunk: linear in the height."""
    low, high = turning(model, 0.0), turning(model, 1.0)
    return low / (low - high)


def asked(model: Stance, above: float) -> float:
    """Largest torque about x (N m) that (22) asks for, by the six freedoms of standing feet."""
    push, inverse = sideways(0.0, FORCE, above), np.linalg.inv(model.inertia)
    load = model.trunk.T @ np.array([*push.force, *push.torque])
    place, speed, dt, largest = np.zeros(6), np.zeros(6), 1e-4, 0.0
    for k in range(round(0.5 / dt)):
        reply = model.stiffness * place + model.damping * speed
        largest = max(largest, abs(float(reply[3])))
        speed = speed + dt * inverse @ ((load if k * dt < LASTS else 0.0) - reply)
        place = place + dt * speed
    return largest


def _com_above_trunk(robot: ff.Robot) -> float:
    data = at_home(robot)
    return float(data.subtree_com[1, 2] - data.xipos[robot.model.body(TRUNK).id, 2])


def run_heights() -> Heights:
    model, com = stance(ROBOT, TRUNK), _com_above_trunk(ff.load_robot(ROBOT))
    pivot = no_turn(model)
    heights = sorted((com, HIPS, pivot, 0.0, TOP))
    lowest = {}
    for mass in MASSES:
        for rotor in ROTORS:
            for roll in ROLLS:
                turns = {"left_hip_roll": 1, "right_hip_roll": -1, "left_ankle_roll": -1, "right_ankle_roll": 1}
                pose = {name: sign * roll for name, sign in turns.items()}
                robot = ff.load_robot(ROBOT, mass=mass, armature=rotor, pose=pose)
                sim = ff.Simulation(robot, law=LAW, dt=DT)
                for above in (HIPS, 0.0, TOP):
                    rec = sim.run(SHORT, controller=BALANCE, pushes=[sideways(START, FORCE, above)])
                    width = 2.0 * float(np.abs(rec.position[0, :, 1]).mean())
                    lowest[mass, rotor, width, above] = float(commanded(rec).min())
    return Heights({h: stand(DURATION, sideways(START, FORCE, h)) for h in heights}, com, pivot, lowest)


def peak(rec: ff.Recording) -> float:
    """Largest torque about x that is asked for, N m."""
    return float(np.abs(rec.signals["desired_wrench"][:, 3]).max())


def judge_heights(data: Heights) -> list[Claim]:
    model = stance(ROBOT, TRUNK)
    peaks = {above: peak(rec) for above, rec in data.runs.items()}
    reached = {key: low < FLOOR + 1e-3 for key, low in data.lowest.items()}
    light = [hit for (mass, _, _, above), hit in reached.items() if mass == MASSES[0] and above >= 0.0]
    claims = [
        near(
            ("derived", "fig7"),
            f"70 N {name}: the torque around x that is asked for, against the six freedoms of standing feet",
            (asked(model, above), peaks[above], "N m"),
            within=0.5,
            why="small motions; half a newton metre of up to 19",
        )
        for name, above in (("at the trunk", 0.0), ("at the robot's COM", data.com), ("at the top of the trunk", TOP))
    ]
    return [
        *claims,
        seen(
            ("derived", "fig7"),
            f"A push {data.pivot - data.com:.2f} m above the COM asks for the least torque, by the inertia of the "
            "standing robot",
            (
                "the least",
                ", ".join(f"{above - data.com:+.2f} m: {value:.3g}" for above, value in peaks.items()) + " N m",
            ),
            holds=peaks[data.pivot] < 0.5 * min(v for above, v in peaks.items() if above != data.pivot),
            why="less than half of that at any other height tried",
        ),
        unlike(
            ("printed", "section 5B"),
            "The force applies a considerable torque since it is not exerted at the COM (torque at the trunk, at COM)",
            ("none at the COM", f"{peaks[0.0]:.3g}, {peaks[data.com]:.3g} N m"),
            proof="(22) asks for torque where the trunk turns. With standing feet a force moves the trunk without "
            f"turning it {data.pivot - data.com:.2f} m above the COM (inertia of the six freedoms), near the hips: the "
            "torque grows with the distance from there, and at the COM it is larger than at the trunk",
        ),
        seen(
            ("fitted", "fig8"),
            f"70 N unload a foot to 4 N: of {len(reached)} robots (mass, rotors, stance, height of the push) so many",
            (
                "reached",
                f"{sum(reached.values())}: {sum(light)} of {len(light)} of {MASSES[0]:g} kg pushed at the trunk or "
                f"above, {_heavy(reached)} of {MASSES[1]:g} kg",
            ),
            holds=sum(light) >= len(light) // 2,
            why=f"half or more of those of {MASSES[0]:g} kg pushed there; narrow stances, light robots and high pushes "
            "reach it, and the paper prints none of these",
        ),
    ]


def _heavy(reached: dict[tuple[float, float, float, float], bool]) -> str:
    own = [hit for (mass, _, _, _), hit in reached.items() if mass == MASSES[1]]
    return f"{sum(own)} of {len(own)}"


def draw_heights(figure: Any, data: Heights) -> None:
    from footfall.show.style import BLUE, COLORS

    model = stance(ROBOT, TRUNK)
    left, right = figure.subplots(1, 2)
    heights = np.sort(np.append(np.linspace(data.com - 0.05, TOP + 0.05, 8), data.pivot))
    left.plot([asked(model, h) for h in heights], heights - data.com, color="#555555", label="six freedoms")
    left.plot([peak(rec) for rec in data.runs.values()], np.array(list(data.runs)) - data.com, "o", color=BLUE)
    for name, above in (("COM", data.com), ("hip joints", HIPS), ("trunk", 0.0), ("no turn", data.pivot)):
        left.annotate(name, (12.0, above - data.com), fontsize=7)
        left.axhline(above - data.com, color="#999999", linewidth=0.5, linestyle=":")
    left.set(xlabel="largest torque around x (N m)", ylabel="push above the COM (m)", title="Fig. 7: 70 N, 50 ms")
    for i, (mass, above) in enumerate((m, h) for m in MASSES for h in (HIPS, 0.0, TOP)):
        for rotor, style in zip(ROTORS, ("--", "-"), strict=True):
            own = sorted((w, low) for (m, r, w, h), low in data.lowest.items() if (m, r, h) == (mass, rotor, above))
            label = f"{mass:g} kg, {above:+.3g} m" if rotor else None
            right.plot(*zip(*own, strict=True), style, marker=".", color=COLORS[i % len(COLORS)], label=label)
    right.axhline(FLOOR, color="#444444", linewidth=0.8, linestyle=":")
    right.set(xlabel="stance width (m)", ylabel="lowest vertical force (N)", title="Fig. 8; dashed: no rotors")
    legend_below(figure, right, columns=3)


EXPERIMENT = Experiment(
    name="push-height",
    figures=("fig7", "fig8"),
    title="70 N at other heights and on other robots",
    run=run_heights,
    judge=judge_heights,
    draw=draw_heights,
    height=3.4,
)
