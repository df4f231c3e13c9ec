"""Ott 2011, figures 6 to 8: 70 N sideways at the hip for 50 ms, at other heights and on other robots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

import footfall as ff
from footfall.papers.base import Findings, legend_below, near, seen, unlike
from footfall.papers.ott2011 import setup
from footfall.show.style import BLUE, COLORS
from footfall.standing import at_home

START = 0.2  # s
DURATION = START + setup.LASTS + setup.IN_TIME + 0.25
HARDER = 2.0 * setup.FORCE  # N
RIGID = ("acceleration-complementarity", "time-stepping")


class Lateral(NamedTuple):
    paper: dict[str, ff.Recording]  # by law, with the paper's push
    harder: dict[str, ff.Recording]  # twice as strong


def run_lateral() -> Lateral:
    return Lateral(
        *(
            {law: setup.stand(DURATION, setup.sideways(START, force), law=law) for law in ff.laws()}
            for force in (setup.FORCE, HARDER)
        )
    )


def judge_lateral(data: Lateral) -> Findings:
    yield from _judge_recovery(data)
    yield from _judge_forces(data)


def _judge_recovery(data: Lateral) -> Findings:
    """The centre of mass comes back, by a wrench that turns the robot back (figures 6 and 7)."""
    rec, end = data.paper[setup.LAW], START + setup.LASTS
    x, y, z = np.abs(rec.signals["desired_wrench"][:, 3:]).max(axis=0)
    own = setup.FORCE * (setup.HIP - com_above(rec.robot))
    away = float(np.abs(rec.signals["com_error"][:, 1]).max())
    times = {law: setup.recovery(one, end) for law, one in data.paper.items()}
    slowest, way = max(times, key=lambda law: times[law]), max(map(setup.way_of_feet, data.paper.values()))
    back = f"{1e3 * away:.1f} mm, below 2 mm after {times[setup.LAW]:.2f} s"
    yield seen("gives-way", back, holds=times[setup.LAW] <= setup.IN_TIME)
    yield seen("every-law", f"{times[slowest]:.2f} s, {slowest}", holds=times[slowest] <= setup.IN_TIME)
    yield seen("no-step", 1e3 * way, holds=way < 5e-3)
    yield seen("counter", f"{x:.2g}, {y:.2g}, {z:.2g} N m", holds=x > max(5.0 * y, 5.0 * z, 0.1 * own), own=own)


def _judge_forces(data: Lateral) -> Findings:
    """When and where the commanded vertical forces are lowest (figure 8), and what the ground gives."""
    rec, harder = data.paper[setup.LAW], data.harder[setup.LAW]
    lowest = setup.commanded(rec)
    found = f"{lowest.min():.3g} N at {rec.time[int(lowest.min(axis=1).argmin())]:.3f} s"
    real = {law: _least(one) for law, one in data.harder.items()}
    told, rigid = ", ".join(f"{law} {value:.2g}" for law, value in real.items()), (real[law] for law in RIGID)
    floor = min(float(setup.commanded(one).min()) for one in (*data.paper.values(), *data.harder.values()))
    yield unlike("floor-at-the-hip", found, least=setup.commanded(harder).min())
    yield seen("limit", floor, should=setup.FLOOR, holds=floor >= setup.FLOOR - 1e-6)
    yield seen("beyond", told, holds=min(rigid) > 0.0, least=min(map(_least, data.paper.values())))


def _least(rec: ff.Recording) -> float:
    """N, the least vertical force on a point of the soles from the push on."""
    return float(rec.force[rec.time >= START, : rec.robot.point_count, 2].min())


def draw_lateral(figure: Any, data: Lateral) -> None:
    axes = figure.subplots(4, 3)
    for half, (size, rec) in enumerate(((setup.FORCE, data.paper[setup.LAW]), (HARDER, data.harder[setup.LAW]))):
        top, bottom = axes[2 * half], axes[2 * half + 1]
        for c, (name, color) in enumerate(zip("xyz", ("#0072B2", "#222222", "#D55E00"), strict=True)):
            top[0].plot(rec.time, 1e3 * rec.signals["com_error"][:, c], color=color, label=name)
        top[0].set_title("com error (mm)" + (", fig. 6" if half == 0 else ""))
        top[0].set_ylabel(f"{size:g} N")
        setup.draw_wrench(top[1:], rec)
        setup.draw_components(bottom, rec)
        if half == 0:
            top[1].set_title("fig. 7: object force less weight (N)")
            bottom[0].set_title("fig. 8: contact forces x (N)")
    for axis in axes.ravel():
        axis.set_xlim(0.1, 1.5)
        axis.title.set_fontsize(7)
    for axis in axes[3]:
        axis.set_xlabel("time (s)")
    axes[0, 0].legend()
    axes[1, 2].legend()


# ---- other heights, other robots ---------------------------------------------------------------------------

HEIGHT_START, HEIGHT_DURATION = 0.05, 0.8  # s
SHORT = 0.25  # s, in which a foot is unloaded most
TOP = 0.175  # m above the trunk's centre of mass: the top of the trunk
MASSES = (30.0, 50.0)  # kg
ROTORS = (0.0, 0.1)  # kg m2
ROLLS = (-0.045, 0.0, 0.06, 0.12)  # rad, of the hips: stances of 0.13 to 0.38 m


class Heights(NamedTuple):
    runs: dict[float, ff.Recording]  # by height of the push above the trunk's centre of mass, m
    com: float  # m, height of the robot's centre of mass above that of the trunk
    pivot: float  # m, height at which a push does not turn the trunk, by the inertia of the standing robot
    lowest: dict[tuple[float, float, float, float], float]  # N, by mass, rotor, stance width and height


def turning(model: setup.Stance, above: float) -> float:
    """Angular acceleration of the trunk about x (rad/s2) per N to the left, so high above its centre of mass."""
    push = setup.sideways(0.0, 1.0, above)
    return float(np.linalg.solve(model.inertia, model.trunk.T @ np.array([*push.force, *push.torque]))[3])


def no_turn(model: setup.Stance) -> float:
    """The height (m above the trunk's centre of mass) of a push that does not turn the trunk: linear in the height."""
    low, high = turning(model, 0.0), turning(model, 1.0)
    return low / (low - high)


def asked(model: setup.Stance, heights: Iterable[float]) -> np.ndarray:
    """Largest torque about x (N m) that (22) asks for at each height, by the six freedoms of standing feet."""
    return model.replies([setup.sideways(0.0, setup.FORCE, above) for above in heights])[1][3]


def com_above(robot: ff.Robot) -> float:
    """Height (m) of the robot's centre of mass above that of its trunk."""
    data = at_home(robot)
    return float(data.subtree_com[1, 2] - data.body(setup.TRUNK).xipos[2])


def run_heights() -> Heights:
    model = setup.stance()
    com, pivot = com_above(setup.biped()), no_turn(model)
    heights = sorted((com, setup.HIP, pivot, 0.0, TOP))
    lowest = {}
    for mass in MASSES:
        for rotor in ROTORS:
            for roll in ROLLS:
                turns = {"left_hip_roll": 1, "right_hip_roll": -1, "left_ankle_roll": -1, "right_ankle_roll": 1}
                pose = {name: sign * roll for name, sign in turns.items()}
                robot = ff.load_robot(setup.ROBOT, mass=mass, armature=rotor, pose=pose)
                sim = ff.Simulation(robot, law=setup.LAW, dt=setup.DT)
                for above in (setup.HIP, 0.0, TOP):
                    rec = sim.run(
                        SHORT, controller=setup.BALANCE, pushes=[setup.sideways(HEIGHT_START, setup.FORCE, above)]
                    )
                    width = 2.0 * float(np.abs(rec.position[0, :, 1]).mean())
                    lowest[mass, rotor, width, above] = float(setup.commanded(rec).min())
    return Heights(
        {h: setup.stand(HEIGHT_DURATION, setup.sideways(HEIGHT_START, setup.FORCE, h)) for h in heights},
        com,
        pivot,
        lowest,
    )


def peak(rec: ff.Recording) -> float:
    """Largest torque about x that is asked for, N m."""
    return float(np.abs(rec.signals["desired_wrench"][:, 3]).max())


def judge_heights(data: Heights) -> Findings:
    model = setup.stance()
    peaks = {above: peak(rec) for above, rec in data.runs.items()}
    reached = {key: low < setup.FLOOR + 1e-3 for key, low in data.lowest.items()}
    light = [hit for (mass, _, _, above), hit in reached.items() if mass == MASSES[0] and above >= 0.0]
    heavy = [hit for (mass, _, _, _), hit in reached.items() if mass == MASSES[1]]
    where = {"at the trunk": 0.0, "at the robot's COM": data.com, "at the top of the trunk": TOP}
    for (name, above), torque in zip(where.items(), asked(model, where.values()), strict=True):
        yield near("torque", torque, peaks[above], name=name)
    told = ", ".join(f"{above - data.com:+.2f} m: {value:.3g}" for above, value in peaks.items()) + " N m"
    most = 0.5 * min(value for above, value in peaks.items() if above != data.pivot)
    pivot, trunk, com = data.pivot - data.com, peaks[0.0], peaks[data.com]
    yield seen("least-torque", told, holds=peaks[data.pivot] < most, pivot=pivot)
    yield seen("at-the-com", f"{trunk:.3g}, {com:.3g} N m", holds=com > trunk, pivot=pivot)
    told = f"{sum(reached.values())}: {sum(light)} of {len(light)} of {MASSES[0]:g} kg pushed at the trunk or above"
    told += f", {sum(heavy)} of {len(heavy)} of {MASSES[1]:g} kg"
    yield seen("floor-of-robots", told, holds=sum(light) >= len(light) // 2, count=len(reached))


def draw_heights(figure: Any, data: Heights) -> None:
    model = setup.stance()
    left, right = figure.subplots(1, 2)
    heights = np.sort(np.append(np.linspace(data.com - 0.05, TOP + 0.05, 8), data.pivot))
    left.plot(asked(model, heights), heights - data.com, color="#555555", label="six freedoms")
    left.plot([peak(rec) for rec in data.runs.values()], np.array(list(data.runs)) - data.com, "o", color=BLUE)
    for name, above in (("COM", data.com), ("hip joints", setup.HIP), ("trunk", 0.0), ("no turn", data.pivot)):
        left.annotate(name, (12.0, above - data.com), textcoords="offset points", xytext=(0, 2), fontsize=7)
        left.axhline(above - data.com, color="#999999", linewidth=0.5, linestyle=":")
    left.set(
        xlabel="largest torque around x (N m)",
        ylabel="push above the COM (m)",
        title="Fig. 7: 70 N, 50 ms",
        xlim=(-0.5, None),
    )
    right.margins(x=0.03)
    for i, (mass, above) in enumerate((m, h) for m in MASSES for h in (setup.HIP, 0.0, TOP)):
        for rotor, style in zip(ROTORS, ("--", "-"), strict=True):
            own = sorted((w, low) for (m, r, w, h), low in data.lowest.items() if (m, r, h) == (mass, rotor, above))
            label = f"{mass:g} kg, {'at' if above == 0.0 else f'{above:+.3g} m of'} the trunk" if rotor else None
            right.plot(*zip(*own, strict=True), style, marker=".", color=COLORS[i % len(COLORS)], label=label)
    right.axhline(setup.FLOOR, color="#444444", linewidth=0.8, linestyle=":")
    right.set(xlabel="stance width (m)", ylabel="lowest vertical force (N)", title="Fig. 8; dashed: no rotors")
    legend_below(figure, right, columns=3)
