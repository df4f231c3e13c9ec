"""Bruneau 1999: the man, and the eighteen points of a sole that carry him (sections 3.2 and 4.1)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.control.posture import standing_torques
from footfall.papers.base import Findings, near, seen
from footfall.robot.built_in.hanavan import Parameters, build
from footfall.show.style import BLUE, VERMILION

#: The paper's table, per testing point.
LAW = ff.contact.Distributed(
    kn=9950.0, mun=450.0, kt=90.0, mut=950.0, alpha=1.2, beta=0.02, mu_ts=1.0, t_slide=0.01, t_stick=0.01
)
STATIC, DYNAMIC = 0.7, 0.4
GROUND = ff.Ground.plane((STATIC, DYNAMIC))


def law_on(points: int) -> ff.contact.Distributed:
    """The paper's law with this many points under a foot, which share the gains of its 18."""
    gains = ("kn", "mun", "kt", "mut", "mu_ts")
    return dataclasses.replace(LAW, **{gain: 18.0 / points * getattr(LAW, gain) for gain in gains})


#: s, damping over stiffness of every joint.
JOINT_TIME = 0.02


def sprung_man(
    stiffness: float,
    *,
    planar: bool,
    pose: Mapping[str, float] | None = None,
    carried: bool = True,
    stops: bool = True,
    damping: float | None = None,
) -> ff.Robot:
    """Hanavan's man without motors, a spring (N m/rad) and a damper in every joint that hold a pose.

    ``pose`` adds angles (rad) to joints of the standing pose. ``carried`` stretches the springs so that they carry the
    weight there; else they are at rest there, and the pose stays in the air. Being passive, they give no energy.
    Without ``stops`` no joint has limits, and only its spring holds it. ``damping`` is over stiffness (s).
    """
    options = Parameters(planar=planar, damping=0.0)
    spec, feet = build(options)
    plain = ff.load_robot("hanavan", **dataclasses.asdict(options))
    target = plain.home.copy()
    for name, angle in (pose or {}).items():
        target[plain.model.joint(name).qposadr] += angle
    torque = standing_torques(plain, target)
    for joint in spec.joints:
        own = plain.model.joint(joint.name)
        if joint.name == "base" or joint.name.startswith("root"):
            continue
        if not stops:
            joint.limited = 0
        joint.stiffness = [stiffness, 0, 0]
        joint.damping = [stiffness * (JOINT_TIME if damping is None else damping), 0, 0]
        stretch = torque[own.dofadr[0]] / stiffness if carried else 0.0
        joint.springref = float(target[own.qposadr[0]] + stretch)
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    spec.keys[0].qpos = target
    spec.keys[0].ctrl = []
    return ff.load_robot(spec, feet=feet, name="hanavan")


# ---- eighteen points carry him -----------------------------------------------------------------------------

MASS = 75.0  # kg
JOINTS = 20000.0  # N m/rad, of the standing man
DT = 2e-5  # s


class Support(NamedTuple):
    block: ff.Recording  # on one sole
    man: ff.Recording  # on two
    tilted: ff.Recording  # a block that lands on an edge, every step recorded
    moment_error: float  # N m, of the sum over points against the rate of spin
    moment_size: float  # N m


def formula(load: float) -> float:
    """Depth (m) at which a point carries ``load`` (N) at rest, eq. (16)."""
    return float((load / LAW.PAPER_KN) ** (1.0 / LAW.alpha))


def sole_block() -> ff.Robot:
    """A block of 75 kg on a sole of the man's size with its 18 points."""
    sole = np.ptp(ff.load_robot("hanavan").feet[0].points, axis=0)
    return ff.load_robot("brick", length=float(sole[0]), width=float(sole[1]), height=0.1, mass=MASS).with_points(
        (6, 3)
    )


def run_support() -> Support:
    robot = sole_block()
    block = ff.Simulation(robot, ground=GROUND, law=LAW, dt=1e-4).run(3.0, record_dt=1e-2).check()
    man = ff.Simulation(sprung_man(JOINTS, planar=True), ground=GROUND, law=LAW, dt=DT).run(2.0, record_dt=1e-2).check()
    sim = ff.Simulation(robot, ground=GROUND, law=LAW, dt=DT)
    start = sim.place()
    mujoco.mju_euler2Quat(start[3:7], np.array([0.1, 0.15, 0.0]), "xyz")
    start[2] += 0.05
    tilted = sim.run(0.15, qpos=start, qvel=[0.2, 0.1, -0.5, 0, 0, 0]).check()
    return Support(block, man, tilted, *_moment_error(tilted))


def _moment_error(rec: ff.Recording) -> tuple[float, float]:
    """Largest difference between the points' moment (41) about the centre of mass and that of the spin, N m."""
    inertia = rec.robot.model.body_inertia[1]
    turn = np.zeros((len(rec), 9))
    for row, quat in zip(turn, rec.qpos[:, 3:7], strict=True):
        mujoco.mju_quat2Mat(row, quat)
    rotation = turn.reshape(-1, 3, 3)
    summed = np.cross(rec.position - rec.qpos[:, None, :3], rec.force).sum(axis=1)
    spin = rec.qvel[:, 3:6]  # in the body's frame
    needed = inertia * np.diff(spin, axis=0) / rec.dt + np.cross(spin, inertia * spin)[:-1]
    needed = np.einsum("tij,tj->ti", rotation[:-1], needed)
    return float(np.abs(needed - summed[:-1]).max()), float(np.abs(summed).max())


def judge_support(data: Support) -> Findings:
    weight = data.block.robot.weight
    depth, two = formula(weight / 18), formula(weight / 36)
    standing = data.man.force[-1, :, 2]
    each = np.array([formula(load) for load in standing])
    touching = (data.tilted.force[:, :, 2] > 0).sum(axis=1)
    landed, touching = touching > 0, touching[touching > 0]
    centre = data.tilted.cop[landed, 0] - data.tilted.position[landed].mean(axis=1)
    way, length = (
        float(np.linalg.norm(centre - centre[-1], axis=1).max()),
        float(np.ptp(data.tilted.robot.feet[0].points, axis=0)[0]),
    )
    yield near("points", 1e3 * depth, -1e3 * data.block.gap[-1].mean(), weight=weight)
    yield near("both-feet", 1e3 * two, -1e3 * data.man.gap[-1].mean())
    yield near("own-load", 0.0, 1e3 * np.abs(-data.man.gap[-1] - each).max())
    yield near("moment", 0.0, data.moment_error, within=1e-6 * data.moment_size, moment_size=data.moment_size)
    yield seen(
        "vary",
        f"{touching.min()} to {touching.max()}; {1e3 * way:.0f} mm",
        holds=touching.min() <= 3 and touching.max() == 18 and way > 0.25 * length,
    )


def draw_support(figure: Any, data: Support) -> None:
    left, right = figure.subplots(1, 2)
    load = np.linspace(0.0, 60.0, 200)
    left.plot([1e3 * formula(one) for one in load], load, color=BLUE, label="eq. (16) at rest")
    for rec, name, mark in ((data.block, "18 points, 75 kg", "o"), (data.man, "the man on 36 points", "x")):
        left.plot(
            -1e3 * rec.gap[-1], rec.force[-1, :, 2], mark, color=VERMILION, markersize=5, label=name, fillstyle="none"
        )
    left.set(xlabel="depth (mm)", ylabel="load of a point (N)", title="Points at rest")
    left.legend()
    rec = data.tilted
    right.plot(1e3 * rec.time, (rec.force[:, :, 2] > 0).sum(axis=1), color=BLUE)
    right.set(xlabel="time (ms)", ylabel="points in contact", title="A tilted block lands", ylim=(0, 19))
    right.set_yticks(range(0, 19, 3))
