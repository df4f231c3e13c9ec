"""The human walk as a motion that a hanavan robot can follow.

The recording is of the sagittal plane, with the distance between the feet as the only lateral measurement. The pressure
centre moves from foot to foot with the load; the sway is the periodic motion of an inverted pendulum of the body's
height that it drives. Legs are tilted at the hips, and feet kept level at the ankles.

A fit takes seconds and is kept in the user's cache, under a hash of everything that affects it: the body, the measured
walk, the ground, and the code of the fit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.contact.base import Law
from footfall.contact.setting import make_setting
from footfall.contact.springs.derived_gains import spring_law
from footfall.files.atomic_write import atomic_write
from footfall.gait.human.body import Body, Curve, basis, body_of, evaluate, fit
from footfall.gait.human.data import MeasuredWalk, measured_walk
from footfall.gait.human.fit import (
    Soft,
    SoftWalkFit,
    WalkFit,
    WalkSeries,
    arm_angles,
    fit_soft_walk,
    fit_walk,
    opposite,
)
from footfall.gait.reference import PeriodicMotion
from footfall.ground import Ground
from footfall.process.cache_folder import cache_folder
from footfall.robot import Robot
from footfall.standing import inertia_of, jacobian_at


def kept(given: Any, fit: Callable[[], WalkSeries]) -> WalkSeries:
    """The cached fit for the inputs ``given`` (values for JSON, arrays), or else ``fit()``, which is cached."""
    here = files("footfall.gait.human")
    digest = hashlib.sha256((here / "body.py").read_bytes() + (here / "fit.py").read_bytes())  # the method
    digest.update(json.dumps(given, default=np.ndarray.tolist).encode())
    folder = cache_folder("walks")
    place = None if folder is None else folder / f"{digest.hexdigest()[:32]}.json"
    if place is not None and place.is_file():
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):  # damaged: fit again
            found = json.loads(place.read_text(encoding="utf-8"))
            series = {name: np.array(values, dtype=float) for name, values in found.pop("coefficients").items()}
            return WalkSeries(series, **found)
    walk = fit()
    if place is not None:
        with suppress(OSError), atomic_write(place) as part:
            part.write_text(json.dumps(asdict(walk), default=np.ndarray.tolist) + "\n", encoding="utf-8")
    return walk


HARMONICS = 10
CENTRE_HEIGHT = 0.95 / 0.9275  # height of the body's centre of mass, as a share of the leg's length


class Sideways(NamedTuple):
    """Fourier coefficients over the stride of the left heel strike."""

    sway: np.ndarray  # m, of the pelvis to the left
    lean: np.ndarray  # rad, of the left leg about x; that of the right leg is opposite, half a stride later
    drop: np.ndarray  # m, loss of height by tilted legs
    stride_time: float

    def curve(self, name: str, phase: np.ndarray) -> Curve:
        """A quantity at phases of the stride (cycles), with its derivatives by time."""
        return Curve(*(evaluate(getattr(self, name), phase, k) / self.stride_time**k for k in range(3)))


def sideways(problem: WalkFit, walk: WalkSeries, hip_width: float, step_width: float) -> Sideways:
    """The lateral motion of a planar walk; widths between the hips and between the feet in m."""
    phase, body = problem.phase, problem.body
    unknowns = problem.unknowns(walk)
    load, _ = problem.loads(unknowns)
    share = load / (load + opposite(load))
    pressure = fit(phase, 0.5 * step_width * (share - opposite(share)), HARMONICS)
    rate = (2 * np.pi * np.concatenate([[0.0], *2 * [np.arange(1, HARMONICS + 1)]]) / walk.stride_time) ** 2
    sway = pressure / (1.0 + CENTRE_HEIGHT * body.leg / body.gravity * rate)
    curves = problem.curves(unknowns)
    hip = Curve(*(x + 1j * z for x, z in zip(curves["x"], curves["z"], strict=True)))
    _, ankle = body.leg_joints(hip, curves["thigh"], curves["shank"])
    # The sole is below the ankle and stays level: only thigh and shank lean.
    height = hip.value.imag - ankle.value.imag
    aside = 0.5 * (step_width - hip_width) - basis(phase, HARMONICS) @ sway
    lean = np.arcsin(aside / height)
    shorter = share * height * (1.0 - np.cos(lean))
    drop = shorter + opposite(shorter)
    return Sideways(sway, fit(phase, lean, HARMONICS), fit(phase, drop, HARMONICS), walk.stride_time)


SAMPLES = 500  # of a stride


@public
@lru_cache(maxsize=16)
def human_walk(
    robot: Robot,
    law: Law | None = None,
    dt: float = 1e-3,
    *,
    forces: bool = True,
    data: MeasuredWalk | None = None,
) -> PeriodicMotion:
    """The measured walk fitted to a ``hanavan`` robot, in space or in the plane, from heel strike of the left foot.

    See :mod:`footfall.gait.human.fit` for the fit. Speed and stride scale with the length of the legs. With a spring
    ``law`` (and the step ``dt``, s, on which its defaults depend) the feet sink into soft ground under their load;
    otherwise they stand on hard ground. Without ``forces`` the motion is fitted to the measured markers alone. ``data``
    is the walk of another person, see ``footfall.gait.human.data.load_walk``.
    """
    body, data = body_of(robot), measured_walk() if data is None else data
    soft = soft_ground(robot, law, dt) if law is not None and hasattr(law, "normal_terms") else None
    problem, walk = _fitted(body, data, forces, soft)
    aside = sideways(problem, walk, robot.parameters["hip_width"], data.step_width * body.leg / data.leg)
    qpos, qvel, qacc = coordinates(robot, walk, aside)
    torque = inverse(robot, qpos, qvel, qacc)
    force, at = foot_forces(problem, walk)
    stride = walk.speed * walk.stride_time
    coarse, fine = np.arange(len(force) + 1) / len(force), np.arange(SAMPLES) / SAMPLES
    for shift, foot in ((0.0, robot.feet[0]), (0.5, robot.feet[1])):
        own = np.mod(fine + shift, 1.0)
        closed, place = np.append(force, force[0]), np.append(at, at[0] + stride)
        f = np.interp(own, coarse, closed.real) + 1j * np.interp(own, coarse, closed.imag)
        x = np.interp(own, coarse, place) + (fine + shift - own - shift) * stride
        torque -= carried(robot, qpos, foot.body, f, aside.curve("sway", fine).acceleration / body.gravity, x)
    advance = np.zeros(robot.model.nq)
    advance[0] = stride
    return PeriodicMotion(walk.stride_time, advance, qpos, qvel, torque)


def _fitted(body: Body, data: MeasuredWalk, forces: bool, soft: Soft | None) -> tuple[WalkFit, WalkSeries]:
    """The problem, on soft ground if given, and the walk that solves it."""
    decides = (repr((body, soft and (soft.terms, soft.rows.tolist(), soft.points.tolist()))), asdict(data), forces)
    if soft is None:
        problem = WalkFit(body, data, forces=forces)
        return problem, kept(decides, lambda: fit_walk(problem))
    on_soft = SoftWalkFit(body, data, soft, forces=forces)
    return on_soft, kept(decides, lambda: fit_soft_walk(on_soft, _fitted(body, data, forces, None)[1]))


def soft_ground(robot: Robot, law: Law, dt: float) -> Soft:
    """The soft ground of a spring law under one foot of the robot."""
    setting = make_setting(robot, Ground.plane(), dt)
    rows, count = np.unique(np.round(robot.feet[0].points[:, 0], 9), return_counts=True)
    return Soft(spring_law(law).normal_terms(setting), rows, count)


def coordinates(robot: Robot, walk: WalkSeries, aside: Sideways) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N, nq), (N, nv), (N, nv): coordinates, rates and accelerations of the robot in the walk."""
    model = robot.model
    phase = np.arange(SAMPLES) / SAMPLES
    qpos = np.tile(model.qpos0, (SAMPLES, 1))
    qvel, qacc = np.zeros((SAMPLES, model.nv)), np.zeros((SAMPLES, model.nv))

    def put(joint: str, values: tuple[np.ndarray, ...]) -> None:
        own = model.joint(joint)
        qpos[:, own.qposadr[0]] = values[0]
        qvel[:, own.dofadr[0]], qacc[:, own.dofadr[0]] = values[1], values[2]

    root = {name: walk.curve(name, phase) for name in ("x", "z", "trunk")}
    if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
        root |= {name: aside.curve(name, phase) for name in ("sway", "drop")}
        root["z"] = Curve(*(z - d for z, d in zip(root["z"], root["drop"], strict=True)))
        for name, dof in (("x", 0), ("sway", 1), ("z", 2), ("trunk", 4)):
            qvel[:, dof], qacc[:, dof] = root[name].rate, root[name].acceleration
        for k, name in enumerate(("x", "sway", "z")):
            qpos[:, k] = root[name].value
        for side, shift, sign in (("left", 0.0, 1.0), ("right", 0.5, -1.0)):
            lean = Curve(*(sign * one for one in aside.curve("lean", phase + shift)))
            put(f"{side}_hip_roll", lean)
            put(f"{side}_ankle_roll", Curve(*(-one for one in lean)))
        half = 0.5 * root["trunk"].value
        qpos[:, 3:7] = np.column_stack([np.cos(half), 0 * half, np.sin(half), 0 * half])
    else:
        for name, joint in (("x", "root_x"), ("z", "root_z"), ("trunk", "root_pitch")):
            put(joint, root[name])
    for side, shift in (("left", 0.0), ("right", 0.5)):
        own = phase + shift
        thigh, shank, foot = (walk.curve(name, own) for name in ("thigh", "shank", "foot"))
        above = (root["trunk"], thigh, shank)
        for joint, parent, child in zip(("hip", "knee", "ankle"), above, (thigh, shank, foot), strict=True):
            put(f"{side}_{joint}_pitch", tuple(c - p for c, p in zip(child, parent, strict=True)))
        for joint, curve in zip(("shoulder", "elbow"), arm_angles(walk.stride_time, own), strict=True):
            put(f"{side}_{joint}_pitch", curve)
    return qpos, qvel, qacc


def foot_forces(problem: WalkFit, walk: WalkSeries) -> tuple[np.ndarray, np.ndarray]:
    """(S,) force of the ground on the left foot (complex, N) and its point of application (x, m), at the fit's
    instants.

    The sum with the force on the right foot, which is the same half a stride later, is the force that the motion
    requires.
    """
    unknowns, weight = problem.unknowns(walk), problem.body.weight
    vertical, at = problem.loads(unknowns)
    measured = weight * problem.forward
    lacking = problem.look(unknowns).force.real - measured - opposite(measured)
    both = vertical + opposite(vertical)
    share = np.divide(vertical, both, out=np.zeros_like(both), where=both > 0)
    forward = np.where(vertical > 0, measured + share * lacking, 0.0)
    return forward + 1j * vertical, at


def carried(
    robot: Robot, qpos: np.ndarray, body: str, force: np.ndarray, aside: np.ndarray, at: np.ndarray
) -> np.ndarray:
    """(N, nv) generalised forces of a force on a foot, at x = ``at`` (m) on the ground below it.

    ``force`` is complex, N, in the plane; its component to the left is ``aside`` times the vertical one.
    """
    model, data = robot.model, mujoco.MjData(robot.model)
    own = model.body(body).id
    found = np.zeros((len(qpos), model.nv))
    for k in np.flatnonzero(np.abs(force) > 0):
        data.qpos[:] = qpos[k]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        jacobian = jacobian_at(data, own, np.array([at[k], data.xpos[own, 1], 0.0]))
        found[k] = jacobian[:3].T @ np.array([force[k].real, aside[k] * force[k].imag, force[k].imag])
    return found


def inverse(robot: Robot, qpos: np.ndarray, qvel: np.ndarray, qacc: np.ndarray) -> np.ndarray:
    """(N, nv) generalised forces that the motion requires, from motors and ground together."""
    data = mujoco.MjData(robot.model)
    found = np.zeros_like(qvel)
    for k in range(len(qpos)):
        data.qpos[:], data.qvel[:] = qpos[k], qvel[k]
        mujoco.mj_forward(robot.model, data)
        found[k] = inertia_of(data) @ qacc[k] + data.qfrc_bias - data.qfrc_passive
    return found
