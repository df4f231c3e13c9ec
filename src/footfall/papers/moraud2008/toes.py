"""Moraud 2008, section III: a fall over the toes with and without the rule of the centre of pressure (figure 6).

Beside it states at random, from which the search for a state does not always find one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Findings, legend_below, near, seen, unlike
from footfall.papers.moraud2008.motions import JointMotion, smooth
from footfall.show.style import BLUE, GREEN, GREY, PURPLE, VERMILION
from footfall.standing import point_gaps, scratch_data

DT = 1e-3  # s
DURATION = 0.7  # s, before the toes leave the ground or the heels come back
LEAN = 0.35  # rad, by which the ankles bend the robot forward
BEND = 1.2  # s, in which they do
VERTICES = 8  # of each foot: of many, some pull before the centre of pressure is at the edge
MANY = (3, 4, 8, 16, 32, 64)
FEW = 4  # vertices of the thresholded model that is drawn, and of falls without the thresholds of the rules
PULL = 20.0  # N, threshold of its vertices
EDGE = 2.0
STATES, SEED, CORNERS = 200, 1, 64  # at random, from which states of Table I are searched; vertices of a foot there
#: By name: options of falls whose changes of state are compared.
THRESHOLDS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "none": {"d": 0.0, "a_t": 0.0, "v_t": 0.0},
    "rules of landing": {"rules": "landing"},
}


class Toes(NamedTuple):
    with_rule: ff.Recording
    without: ff.Recording
    threshold: ff.Recording  # the paper's thresholded model, a rectangle
    released: dict[int, tuple[float, float, int]]  # by vertices: m behind the edge, with and without the rule; changes
    broken: int  # rules that are broken at the end of a step, with the rule, all feet
    chatter: dict[str, int]  # changes of state of the left foot, by ``THRESHOLDS``
    lost: int  # states at random from which none of Table I is found


@lru_cache(maxsize=8)
def leaning(robot: ff.Robot, lean: float, bend: float) -> JointMotion:
    """Ankles that lean the robot forwards by an angle (rad) within a time (s)."""
    model = robot.model

    def angles(time: float) -> dict[str, float]:
        names = [f"{side}_ankle_pitch" for side in ("left", "right")]
        return {n: float(robot.home[model.joint(n).qposadr[0]]) + lean * smooth(time, 0.1, bend) for n in names}

    return JointMotion(angles, DURATION)


def fall(*, vertices: int = VERTICES, **options: Any) -> ff.Recording:
    robot = ff.load_robot("full-humanoid", vertices=vertices)
    sim = ff.Simulation(robot, law=ff.contact.ConstraintSelection(**options), dt=DT)
    return sim.run(DURATION, controller=leaning(robot, LEAN, BEND))


def run_toes() -> Toes:
    both = {count: (fall(vertices=count), fall(vertices=count, cop_rule=False)) for count in MANY}
    released = {count: (behind(one), behind(other), len(changes(other))) for count, (one, other) in both.items()}
    broken = sum(int(one.signals["violations"].sum()) + int(np.count_nonzero(one.status)) for one, _ in both.values())
    chatter = {name: len(changes(fall(vertices=FEW, **options))) for name, options in THRESHOLDS.items()}
    thresholded = fall(vertices=FEW, cop_rule=False, pull=PULL)
    return Toes(*both[VERTICES], thresholded, released, broken, chatter, lost_searches())


def lost_searches() -> int:
    """How often, of ``STATES`` of a robot that touches the ground, tilted and moving anyhow, no state is found."""
    robot = ff.load_robot("full-humanoid", vertices=CORNERS)
    sim = ff.Simulation(robot, law=ff.contact.ConstraintSelection(), dt=DT)
    rng, lost = np.random.default_rng(SEED), 0
    for _ in range(STATES):
        pose = robot.home + 10 ** rng.uniform(-6.0, -0.5) * rng.normal(size=robot.home.size)  # m, rad
        pose[3:7] /= np.linalg.norm(pose[3:7])
        data = scratch_data(robot.model)
        data.qpos[:] = pose
        mujoco.mj_kinematics(robot.model, data)
        pose[2] -= point_gaps(robot, sim.ground, data)[0].min()
        speeds = 10 ** rng.uniform(-3.0, 0.7) * rng.normal(size=robot.model.nv)  # m/s, rad/s
        lost += int(sim.run(DT, qpos=pose, qvel=speeds, controller=None).signals["points"].max() == 2)
    return lost


def behind(rec: ff.Recording) -> float:
    """How far behind the front edge the centre of pressure was when the left foot first changed its state, m."""
    found = changes(rec)
    return _front(rec) - float(ahead(rec)[found[0] - 1]) if len(found) else float("nan")


def changes(rec: ff.Recording) -> np.ndarray:
    """Samples at which the state of the left foot differs from the one before."""
    return np.flatnonzero(np.diff(rec.signals["state"][:, 0])) + 1


def ahead(rec: ff.Recording) -> np.ndarray:
    """(T,) m, the left foot's centre of pressure ahead of its ankle; the sole's front is 0.16 m ahead."""
    return rec.cop[:, 0, 0] - rec.position[0, rec.foot("left"), 0].max() + _front(rec)


def _front(rec: ff.Recording) -> float:
    return float(rec.robot.feet[0].polygon[:, 0].max())


def judge_toes(data: Toes) -> Findings:
    """With the rule one change of state, with the centre of pressure at the edge; and the fall without the rule."""
    rec, clean = data.with_rule, changes(data.with_rule)
    first = int(clean[0]) if len(clean) else 0
    rough, past = len(changes(data.without)), -1e3 * behind(data.threshold)
    farthest = 1e3 * max(abs(one) for one, _, _ in data.released.values())
    rows = ((n, 1e3 * x, k) for n, (_, x, k) in data.released.items())
    jumps = f"{rough} changes, the first with the centre {1e3 * behind(data.without):.0f} mm behind the edge"
    yield near("single", 1.0, len(clean) if rec.signals["state"][first, 0] == EDGE else float("nan"))
    yield seen("jumps", jumps, holds=rough > 5)
    yield seen("leaves", past, holds=past > 5.0)
    with_them, without, landing = data.chatter.values()
    told = ", ".join(f"{name} {count}" for name, count in data.chatter.items())
    yield seen("thresholds", told, holds=with_them == 1 and without > 5, landing=landing)
    yield near("statics", 1e3 * _beyond(data.threshold), past)
    yield near("terminates", 0.0, data.broken, most=MANY[-1])
    yield unlike("lost", data.lost, holds=not data.lost)
    told = ", ".join(f"{n} vertices {x:.0f} mm, {k} changes" for n, x, k in rows)
    yield seen("at-edge", farthest, holds=farthest < 1.0, without=told)


def _beyond(rec: ff.Recording) -> float:
    """m, by which the centre of pressure is beyond the edge of a rectangle whose rear vertices pull ``PULL`` (N)."""
    last = int(changes(rec)[0]) - 1
    half = 0.5 * float(np.ptp(rec.robot.feet[0].polygon[:, 0]))
    return 4.0 * PULL * half / float(rec.foot_force[last, 0, 2])


def draw_toes(figure: Any, data: Toes) -> None:
    axes = figure.subplots(3, 3, sharex=True, sharey="row")
    runs = (("with the rule", data.with_rule), ("without", data.without), ("thresholded", data.threshold))
    for column, (name, rec) in enumerate(runs):
        top, middle, bottom = axes[:, column]
        middle_of_foot = rec.position[0, rec.foot("left"), 1].mean()
        top.plot(rec.time, 1e3 * ahead(rec), color=BLUE, label="forwards of the ankle")
        top.plot(rec.time, 1e3 * (rec.cop[:, 0, 1] - middle_of_foot), color=PURPLE, label="sideways of its middle")
        top.axhline(1e3 * _front(rec), color=GREY, linewidth=0.8, linestyle=(0, (6, 3)), label="the sole's end")
        top.set_title(f"{name}, {len(rec.robot.feet[0].polygon)} vertices", fontsize=8)
        middle.plot(rec.time, rec.foot_force[:, 0, 2], color=GREEN)
        bottom.plot(rec.time, rec.signals["state"][:, 0], color=VERMILION, linewidth=0.9)
        bottom.set_yticks(range(4), ["none", "vertex", "edge", "face"])
        bottom.set_xlabel("time (s)")
    axes[0, 0].set(ylabel="centre (mm)", ylim=(-60.0, 220.0))
    axes[1, 0].set(ylabel="force (N)", ylim=(0.0, 1200.0))
    axes[2, 0].set(ylabel="state")
    legend_below(figure, axes[0, 0], columns=3)
