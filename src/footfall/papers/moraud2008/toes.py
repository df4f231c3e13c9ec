"""Moraud 2008, section III: a fall over the toes with and without the rule of the centre of pressure (figure 6).

Beside it states at random, from which the search for a state does not always find one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.papers.base import Findings, level, near, panel, seen, unlike
from footfall.papers.moraud2008.motions import JointMotion, smooth
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
    falls = {count: fall(vertices=count) for count in MANY}
    broken = sum(int(one.signals["violations"].sum()) + int(np.count_nonzero(one.status)) for one in falls.values())
    chatter = {name: len(changes(fall(vertices=FEW, **options))) for name, options in THRESHOLDS.items()}
    without, thresholded = fall(cop_rule=False), fall(vertices=FEW, cop_rule=False, pull=PULL)
    return Toes(fall(), without, thresholded, broken, chatter, lost_searches())


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
    first, past = int(clean[0]) if len(clean) else 0, -1e3 * behind(data.threshold)
    yield near("single", 1.0, len(clean) if rec.signals["state"][first, 0] == EDGE else float("nan"))
    yield seen("leaves", past, holds=past > 5.0)
    with_them, without, landing = data.chatter.values()
    told = ", ".join(f"{name} {count}" for name, count in data.chatter.items())
    yield seen("thresholds", told, holds=with_them == 1 and without > 5, landing=landing)
    yield near("terminates", 0.0, data.broken, most=MANY[-1])
    yield unlike("lost", data.lost, holds=not data.lost)


def draw_toes(figure: Any, data: Toes) -> None:
    axes = figure.subplots(3, 3, sharex=True, sharey="row")
    runs = (("with the rule", data.with_rule), ("without", data.without), ("thresholded", data.threshold))
    for (top, middle, bottom), (name, rec) in zip(axes.T, runs, strict=True):
        title = f"{name}, {len(rec.robot.feet[0].polygon)} vertices"
        panel(top, (rec.time, 1e3 * ahead(rec), ""), title=title, ylabel="centre of pressure (mm)", ylim=(-60.0, 220.0))
        level(top, 1e3 * _front(rec), "the sole's end")
        panel(middle, (rec.time, rec.foot_force[:, 0, 2], ""), ylabel="force (N)", ylim=(0.0, 1200.0))
        panel(bottom, (rec.time, rec.signals["state"][:, 0], ""), ylabel="state")
        bottom.set_yticks(range(4), ["none", "vertex", "edge", "face"])
