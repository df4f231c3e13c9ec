"""Steps and their derivatives, for tests: motions to differentiate, and differences whose error is known."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np

import footfall as ff
from footfall.engine.other_bodies.points import LIVE
from footfall.simulation.simulation import World

#: Motions by name: how high above the ground (m), and how fast (m/s) the base goes. Rigid contacts have a kink where a
#: point is exactly on the ground, so that those that press begin a little inside it.
MOTIONS = {
    "flying": (0.05, (0.3, 0.1, 0.4)),
    "standing": (-1e-4, (0.0, 0.0, -0.002)),
    "landing": (-1e-4, (0.05, 0.02, -0.5)),
    "sliding": (-2e-4, (1.0, 0.4, -0.05)),
}
#: Steps of differences, the longest first, each a quarter of the one before.
WIDTHS = 2e-3 / 4.0 ** np.arange(9)


def in_motion(sim: ff.Simulation, motion: str, seed: int) -> World:
    """A world of a robot with a free base, or none, in one of the motions, all joints in some motion of their own."""
    height, speed = MOTIONS[motion]
    chance, model = np.random.default_rng(seed), sim.robot.model
    world = sim.start(recorded=False)
    still = 0.02 if motion == "standing" else 0.2
    world.qvel[:] = still * chance.normal(size=model.nv)
    if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
        world.qpos[2] += height
        world.qvel[:3] = speed
        world.qvel[3:6] *= 0.2
    else:  # a planar robot slides up and down
        upright = (model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE) & (np.abs(model.jnt_axis[:, 2]) > 0.9)
        world.qpos[model.jnt_qposadr[np.flatnonzero(upright)[:1]]] += height
    return world


def along(world, direction: np.ndarray) -> tuple[np.ndarray, float]:
    """The change (2 nv) of the state after a step along a direction of state and controls, and its error.

    Central differences of many widths, each two of which are extrapolated: the best agree.
    """
    model, start, ctrl = world.simulation.robot.model, world.state(), world.ctrl.copy()
    slopes = []
    for width in WIDTHS:
        ends = []
        for sign in (1.0, -1.0):
            moved = sign * width * direction
            world.restore(start)
            mujoco.mj_integratePos(model, world.qpos, np.ascontiguousarray(moved[: model.nv]), 1.0)
            world.qvel[:] += moved[model.nv : 2 * model.nv]
            world.step(ctrl + moved[2 * model.nv :])
            ends.append((world.qpos.copy(), world.qvel.copy()))
        way = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, way, 1.0, ends[1][0], ends[0][0])
        slopes.append(np.concatenate([way, ends[0][1] - ends[1][1]]) / (2.0 * width))
    world.restore(start)
    world.ctrl[:] = ctrl
    return extrapolated(slopes)


def extrapolated(slopes: list[np.ndarray]) -> tuple[np.ndarray, float]:
    """The limit of central differences of all widths, and its error: the best two extrapolations agree."""
    finer = [(16.0 * b - a) / 15.0 for a, b in itertools.pairwise(slopes)]
    misses = [np.abs(b - a).max() for a, b in itertools.pairwise(finer)]
    best = int(np.argmin(misses))
    return finer[best + 1], float(misses[best])


def miss_of(world, lin, seed: int) -> tuple[float, float]:
    """How far a derivative is off along a direction of chance, relative to what comes of it, and the differences' own
    error, likewise.
    """
    model = world.simulation.robot.model
    direction = np.random.default_rng(seed).normal(size=2 * model.nv + model.nu)
    found = np.hstack([lin.A, lin.B]) @ direction
    wanted, error = along(world, direction)
    size = np.abs(wanted).max()
    return float(np.abs(found - wanted).max() / size), error / size


def remember(worlds: ff.Worlds, world) -> None:
    """Give many worlds on a CPU what the law and the joints of a single one remember."""
    arrays, many, kept = world.state().arrays, worlds._engine.state, worlds._engine.kept
    for name in ("anchor", "force", "mode", "memory"):
        own = arrays[f"points.{name}"]
        if own.size:
            getattr(many, name)[:, : len(own)] = own
    many.row_state[:], many.row_inertia[:] = arrays["joints.state"], arrays["joints.inertia"]
    many.seated[:], kept.place[:] = arrays["others.seated"], arrays["others.place"]
    for name in ("who", "pair", "spot"):
        own = arrays[f"others.{name}"]
        getattr(kept, name)[:, : len(own)] = own
    kept.counters[:, LIVE] = arrays["others.counters"][LIVE]


def along_parameters(world, names: tuple[str, ...], direction: np.ndarray) -> tuple[np.ndarray, float]:
    """The change (2 nv) of the state after a step along a direction of parameters, and its error, as :func:`along`.

    Many worlds take the step at once, each with its own friction, slope, masses and options of the law.
    """
    sim, model = world.simulation, world.simulation.robot.model
    shift = np.concatenate([[width, -width] for width in WIDTHS])
    own = {name: by * shift for name, by in zip(names, direction, strict=True)}
    none, ground = np.zeros_like(shift), sim.ground
    slope, rub = own.get("slope", none), own.get("friction", none)
    angle, heading = (dict(ground.options).get(name, 0.0) for name in ("angle", "heading"))
    masses, options = np.ones((len(shift), model.nbody)), {}
    for name, change in own.items():
        if name.startswith("mass of "):
            body = model.body(name.removeprefix("mass of ")).id
            masses[:, body] += change / model.body_mass[body]
        elif name.startswith("law."):
            option = name.removeprefix("law.")
            options[option] = change + getattr(sim.law, option)
    worlds = ff.Worlds(
        sim,
        len(shift),
        qpos=world.qpos,
        qvel=world.qvel,
        friction=np.stack([ground.static_friction + rub, ground.dynamic_friction + rub], axis=1),
        ground=[ff.Ground.slope(angle + one, heading=heading, friction=ground.static_friction) for one in slope],
        mass_scale=masses,
        law_options=options,
    )
    remember(worlds, world)
    worlds.step(world.ctrl.copy())
    slopes, way = [], np.zeros(model.nv)
    for i, width in enumerate(WIDTHS):
        more, less = worlds.qpos[2 * i].copy(), worlds.qpos[2 * i + 1].copy()
        mujoco.mj_differentiatePos(model, way, 2.0 * width, less, more)
        slopes.append(np.concatenate([way, (worlds.qvel[2 * i] - worlds.qvel[2 * i + 1]) / (2.0 * width)]))
    return extrapolated(slopes)
