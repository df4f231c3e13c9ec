"""Ott 2011, sections IV-C and VI: one foot instead of two, and a hand besides."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np

import footfall as ff
from footfall.engine.replay import replay_places
from footfall.errors import optional_package
from footfall.papers.base import Findings, seen
from footfall.papers.ott2011 import pushes
from footfall.robot.built_in.torque_biped import Parameters, build
from footfall.standing import scratch_data

START, IN_TIME = 0.5, 3.0  # s
BENT = 1.2  # rad, the knee of the lifted leg
TABLE, EDGE, REACH = 0.8, 0.3, 0.45  # m: height of the table, where it begins, where the hand lies
SHOULDER, ARM = (0.05, 0.30), 0.30  # m: forwards and up from the hips; upper arm and forearm
LEAN, HOLD = 60.0, 3.0  # N forwards at the trunk, s
ROUGH, SEED = 0.01, 2011  # m of rough ground, up and down, and its seed
FOUR = 50.0  # N sideways on a quadruped
DURATION = START + pushes.LASTS + IN_TIME + 0.25  # s


class Contacts(NamedTuple):
    single: dict[str, ff.Recording]  # on the left foot, pushed along x and y
    hand: ff.Recording  # leaned on forwards, a hand on the table
    without: ff.Recording  # the same robot without
    rough: ff.Recording  # on two feet on rough ground, pushed sideways
    legs: ff.Recording  # a quadruped, pushed sideways


def on_one_foot() -> ff.Robot:
    """The biped on its left foot, the centre of mass over it, the right leg bent; only the left foot is a contact."""
    robot = pushes.biped()
    data = mujoco.MjData(robot.model)

    def pose(roll: float) -> dict[str, float]:
        turns = {f"{side}_hip_roll": -roll for side in ("left", "right")}
        turns |= {f"{side}_ankle_roll": roll for side in ("left", "right")}
        return turns | {"right_knee_pitch": BENT, "right_hip_pitch": -BENT / 2, "right_ankle_pitch": -BENT / 2}

    low, high = 0.0, 0.4
    for _ in range(40):  # until the centre of mass is over the ankle
        middle = 0.5 * (low + high)
        data.qpos[:] = robot.home
        for name, angle in pose(middle).items():
            data.qpos[robot.model.joint(name).qposadr[0]] = angle
        mujoco.mj_forward(robot.model, data)
        beside = float(data.subtree_com[1, 1] - data.body("left_foot").xpos[1])
        low, high = (middle, high) if beside < 0.0 else (low, middle)
    return pushes.biped(feet={"left": ("left_foot", robot.feet[0].points)}, pose=pose(low))


def with_arm(*, hand: bool) -> ff.Robot:
    """The biped with an arm of two joints whose end lies on a table; with ``hand`` that end is a contact."""
    spec, feet = build(Parameters())
    body, at = spec.body(pushes.TRUNK), [SHOULDER[0], 0.0, SHOULDER[1]]
    for name in ("upper_arm", "forearm"):
        body = body.add_body(name=name, pos=at)
        body.add_joint(name=f"{name}_pitch", axis=[0, 1, 0], armature=0.05)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[0, 0, 0, 0, 0, -ARM],
            size=[0.03, 0, 0],
            mass=1.5,
            contype=0,
            conaffinity=0,
        )
        motor = spec.add_actuator(name=f"{name}_pitch", target=f"{name}_pitch", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.forcelimited, motor.forcerange = True, [-100, 100]
        at = [0.0, 0.0, -ARM]
    spec.compile()
    home = np.array([float(spec.keys[0].qpos[i]) for i in range(len(spec.keys[0].qpos))])
    across, down = REACH - home[0] - SHOULDER[0], home[2] + SHOULDER[1] - TABLE
    bend = np.pi - 2.0 * np.arcsin(np.hypot(across, down) / (2.0 * ARM))
    home[-2:] = 0.5 * bend - np.arctan2(across, down), -bend
    spec.keys[0].qpos = home
    points = {"hand": ("forearm", np.array([[0.0, 0.0, -ARM]]))} if hand else {}
    return ff.load_robot(spec, feet=dict(feet) | points, name=f"{pushes.ROBOT} with an arm", pose=home)


def pushed(robot: ff.Robot, way: str, size: float, **more: Any) -> ff.Recording:
    """A robot under balance control that is pushed for 50 ms along x or y."""
    force = (size * (way == "x"), size * (way == "y"), 0.0)
    push = ff.Push(robot.root, force=force, start=START, duration=pushes.LASTS)
    return pushes.stand(DURATION, push, robot=robot, **more)


def leaned(robot: ff.Robot, ground: ff.Ground | None = None) -> ff.Recording:
    """A robot that is pushed forwards at its trunk for seconds."""
    sim = ff.Simulation(robot, ground=ground, law=pushes.LAW, dt=pushes.DT)
    lean = ff.Push(pushes.TRUNK, force=(LEAN, 0.0, 0.0), start=START, duration=HOLD)
    return sim.run(START + HOLD, controller=pushes.BALANCE, pushes=[lean], qpos=robot.home)


def run_contacts() -> Contacts:
    return Contacts(
        single={way: pushed(on_one_foot(), way, pushes.FORCE) for way in "xy"},
        hand=leaned(with_arm(hand=True), ff.Ground.stairs(rise=TABLE, run=1.0, count=1, start=EDGE)),
        without=leaned(with_arm(hand=False)),
        rough=pushed(pushes.biped(), "y", pushes.FORCE, ground=waves()),
        legs=pushed(ff.load_robot("quadruped"), "y", FOUR, controller=ff.control.Balance()),
    )


def waves() -> ff.Ground:
    """Rough ground: a smooth random field, its highest and lowest places so far from the plane."""
    gaussian_filter = optional_package("scipy.ndimage").gaussian_filter

    field = gaussian_filter(np.random.default_rng(SEED).normal(size=(81, 81)), 2.0)
    return ff.Ground.heightfield(ROUGH * field / np.abs(field).max(), size=(1.6, 1.6))


def judge_contacts(data: Contacts) -> Findings:
    back = {name: pushes.recovery(rec, START + pushes.LASTS) for name, rec in data.single.items()}
    high = min(_lifted(rec) for rec in data.single.values())
    hand = data.hand
    fell = [ff.measure.has_fallen(rec) for rec in (hand, data.without)]
    end = START + pushes.LASTS
    ends = {name: pushes.recovery(rec, end, axes=2) for name, rec in (("rough", data.rough), ("legs", data.legs))}
    level = 1e3 * np.ptp(data.rough.gap[0])
    told = ", ".join(f"{name} {time:.2f} s" for name, time in back.items())
    yield seen("situations", told, holds=max(back.values()) <= IN_TIME and high > 0.02, high=1e3 * high)
    yield seen("more", "; ".join("falls" if one else "stands" for one in fell), holds=fell == [False, True])
    for name, force, rec in (("rough", pushes.FORCE, data.rough), ("legs", FOUR, data.legs)):
        stands = ends[name] <= IN_TIME and not ff.measure.has_fallen(rec)
        yield seen(name, ends[name], holds=stands, level=level, force=force)


def _lifted(rec: ff.Recording) -> float:
    """Lowest height of the right ankle over the left one, m."""
    data = scratch_data(rec.robot.model)
    right, left = replay_places(data, rec.qpos[::50], [data.body(foot).xpos for foot in ("right_foot", "left_foot")])
    return float((right - left)[:, 2].min())
