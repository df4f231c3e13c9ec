"""Derivatives of a step: exact where the kernels of :mod:`footfall.engine.derivatives` have them, else differences.

The step is taken by a run of its own, from a state, so that the world that is asked stays as it is.
"""

from __future__ import annotations

import itertools
from typing import Any, cast

import mujoco
import numpy as np

from footfall.compiled import ByReference
from footfall.contact.base import Law, PointLaw
from footfall.contact.time_stepping import TimeStepping
from footfall.engine import step
from footfall.engine.derivatives import space
from footfall.engine.derivatives.transition import accelerations, differentiate
from footfall.engine.dynamics.tree import unsupported
from footfall.engine.other_bodies.points import ON_GROUND
from footfall.engine.step import Laws
from footfall.engine.tape import END, SAMPLES, STATUS
from footfall.errors import SimulationError
from footfall.robot.model import BALL, FREE
from footfall.simulation.linearization import Linearization, read_step
from footfall.simulation.run import Run
from footfall.simulation.setup import Setup
from footfall.simulation.state import State
from footfall.simulation.task import Task, vector

#: Steps of differences, from the longest on (m, rad, or their rates), each a quarter of the one before.
LONGEST, RUNGS = 2e-3, 9
#: Way (m) by which the ground's normal is compared at its neighbours, and how much it may differ there.
BESIDE, LEVEL = 1e-6, 1e-12


def law_kind(law: Law) -> int | None:
    """How a law's forces come about, for the kernels of derivatives; None if they have none of it."""
    rigid = isinstance(law, TimeStepping) and law.cone == "exact"
    return space.OF_VELOCITIES if rigid else space.OF_POINTS if isinstance(law, PointLaw) else None


def not_exact(sim: Setup) -> str:
    """Why no step of a simulation has an exact derivative, "" if most have."""
    model = sim.scene.model
    soft = np.isin(model.jnt_type, (FREE, BALL)) & (model.jnt_stiffness.reshape(model.njnt, -1)[:, 0] != 0.0)
    other = unsupported(model)
    reasons = {
        "MuJoCo's solver gives no derivative": sim.law.native,
        f"integrator {sim.integrator} evaluates its forces several times in a step": sim.integrator != "euler",
        f"the forces of {sim.law} have no derivative here": law_kind(sim.law) is None,
        "the ground's friction varies from place to place": sim.ground.compiled_friction.varies,
        "springs of free or ball joints have no derivative here": soft.any(),
        f"the model has {other}": bool(other),
    }
    return next((why for why, holds in reasons.items() if holds), "")


class Probe:
    """A run that takes single steps from given states, and their derivatives."""

    def __init__(self, sim: Setup, task: Task = Task()) -> None:  # noqa: B008 - a value
        if sim.law.event_driven:
            raise SimulationError(
                f"{sim.law.name} goes from event to event, at which its derivative jumps, and has none here: linearize "
                "the same motion under time-stepping, whose impacts are part of the step"
            )
        self.simulation, self.run = sim, Run(sim, 0.0, task, endless=True, recorded=False)
        self.why, self._points = not_exact(sim), cast(Any, None)
        self._arrays: tuple[Any, ...] = ()  # of derivatives: a ``Taken``, a ``Space``, references to them and others
        self.begin = self.run.data.qpos.copy()  # coordinates at the beginning of the step just taken

    def take(self, state: State, ctrl: np.ndarray, moved: np.ndarray | None = None) -> None:
        """Take a step from a state with these controls, both ``moved`` by (2 nv + nu) in the tangent space."""
        run, model, data, points = self.run, self.run.model, self.run.data, None
        while points is not run.points:  # again, if points not on feet needed more room
            run.restore(state)
            run.outcome[SAMPLES], run.outcome[END] = 0, step.DONE
            data.ctrl[:] = ctrl
            if moved is not None:
                mujoco.mj_integratePos(model, data.qpos, moved[: model.nv], 1.0)
                data.qvel[:] += moved[model.nv : 2 * model.nv]
                data.ctrl[:] += moved[2 * model.nv :]
            points = run.points
            self._note()
            run.advance(1)
        if run.outcome[END] != step.DONE:
            raise SimulationError(f"the step from t = {state.time:g} s fails, so that it has no derivative")

    def _note(self) -> None:
        """Keep what the step will change."""
        run, points = self.run, self.run.points
        self.begin[:] = run.data.qpos
        if self.why:
            return
        if not self._arrays or self._points is not points:
            kinds = {"kind": law_kind(self.simulation.law), "dt": self.simulation.dt}
            taken = space.make_taken(run.model, run.data, points, run.conditions.pushes, **kinds)
            own, rows = space.make_space(run.model, points, taken), run.conditions.constraints.joints
            references = [ByReference(one) for one in (taken, own, points, run.contacts, rows)]
            self._arrays, self._points = (taken, own, references), points
        taken = self._arrays[0]
        for source, names in ((run.data, ("qpos", "qvel", "ctrl")), (points, ("memory", "anchor", "mode"))):
            for name in names:
                getattr(taken, name)[...] = getattr(source, name)
        taken.step[0] = run.step

    def not_exact(self) -> str:
        """Why the step just taken has no exact derivative, "" if it has."""
        run = self.run
        near = run.contacts.points[: run.contacts.number[0]]
        pressed = near[run.points.force[near, 2] > 0.0]
        reasons = {
            self.why: bool(self.why),
            "loops or tendons act": run.conditions.constraints.shared.number[0] > 0,
            "contacts between bodies act": len(near) > run.contacts.near[run.points.others.counters[ON_GROUND]],
            "the law found no exact solution of this step": run.outcome[STATUS] != 0,
            "an ellipsoid rolls on the ground": run.points.smooth[pressed].any(),
            "the ground is curved under a contact point": not self.simulation.ground.flat and not self._level(pressed),
        }
        return next((why for why, holds in reasons.items() if holds), "")

    def _level(self, points: np.ndarray) -> bool:
        """Whether the ground is a plane around some points, and where they are going."""
        contacts, normal = self.run.contacts, self.run.contacts.frame[points, 2]
        at = self.run.points.position[points] + self.run.points.radius[points, None] * normal
        ahead = self.simulation.dt * np.einsum("nij,ni->nj", contacts.frame[points], contacts.velocity[points])
        around = [at + BESIDE * side for side in (*np.eye(3), *-np.eye(3))] + [at + ahead]
        return all(np.abs(self.simulation.ground.gap(one)[1] - normal).max(initial=0.0) < LEVEL for one in around)

    def _derivatives(self) -> np.ndarray:
        """(2 nv, 2 nv + nu) exact derivatives of the state after the step just taken."""
        model, dt, nv, velocity = self.run.model, self.simulation.dt, self.run.model.nv, self.run.data.qvel
        (taken, own, references), laws = self._arrays, self.run.workspace.room.laws
        inertia, diagonal = np.zeros((nv, nv)), np.arange(nv)
        mujoco.mj_fullM(model, self.run.data, inertia)
        assert isinstance(laws, Laws)  # the others are refused
        differentiate(*references, laws.point, laws.values)
        pulled = accelerations(taken, own, inertia)
        out = np.concatenate([pulled, pulled])
        speeds = out[nv:]
        speeds *= dt
        speeds[diagonal, nv + diagonal] += 1.0
        np.multiply(dt, speeds, out=out[:nv])
        out[diagonal, diagonal] += 1.0
        turn, by_rate, by_time = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3)
        for kind, dof in zip(model.jnt_type, model.jnt_dofadr, strict=True):
            if kind in (FREE, BALL):
                rows = slice(dof + 3, dof + 6) if kind == FREE else slice(dof, dof + 3)
                mujoco.mjd_quatIntegrate(velocity[rows], dt, turn.reshape(9), by_rate.reshape(9), by_time)
                out[rows] = dt * by_rate @ speeds[rows]
                out[rows, rows] += turn
        return out

    def linearize(self, state: State, ctrl: Any = None) -> Linearization:
        """The derivative of the step from a state, with the controls ``ctrl`` (nu,) or those of the state."""
        sim, run, nv, error = self.simulation, self.run, self.run.model.nv, 0.0
        if ctrl is None:
            run.restore(state)
            ctrl = run.data.ctrl
        ctrl = vector("ctrl", ctrl, run.model.nu, sim.robot.name).copy()
        self.take(state, ctrl)
        why = self.not_exact()
        seen = read_step(run.points, run.contacts, run.conditions.constraints.joints, run.data, self.begin)
        if why:
            out, pulled, error = self.differences(state, ctrl)
        else:
            out, feet = self._derivatives(), seen["near"] < sim.robot.point_count
            who, pulled = seen["near"][feet], np.zeros((sim.robot.point_count, 3, out.shape[1]))
            pulled[who] = np.einsum("nij,nik->njk", seen["frame"][feet], self._arrays[1].force[who])
        return Linearization(out[:, : 2 * nv], out[:, 2 * nv :], pulled, state.time, sim, why, error, seen)

    def differences(self, state: State, ctrl: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Central differences of the step and of its forces, extrapolated, and the largest error to be expected.

        Coordinates, velocities and forces of each column have the steps at which their extrapolations agree best.
        """
        model, points = self.run.model, self.simulation.robot.point_count
        count, nv, error = 2 * model.nv + model.nu, model.nv, 0.0
        found = np.zeros((2 * nv + 3 * points, count))
        for k in range(count):
            size = max(1.0, abs(ctrl[k - 2 * nv])) if k >= 2 * nv else 1.0
            slopes = [self._slope(state, ctrl, k, LONGEST * size / 4.0**i) for i in range(RUNGS)]
            finer = [(16.0 * fine - rough) / 15.0 for rough, fine in itertools.pairwise(slopes)]
            for rows in (slice(0, nv), slice(nv, 2 * nv), slice(2 * nv, None)):
                misses = [np.abs(b - a)[rows].max(initial=0.0) for a, b in itertools.pairwise(finer)]
                best = int(np.argmin(misses))
                found[rows, k] = finer[best + 1][rows]
                error = max(error, float(misses[best])) if rows.stop else error
        return found[: 2 * nv], found[2 * nv :].reshape(points, 3, count), error

    def _slope(self, state: State, ctrl: np.ndarray, column: int, width: float) -> np.ndarray:
        """The change of coordinates, velocities and forces in a step with one of state and controls."""
        model, points, ends = self.run.model, self.simulation.robot.point_count, []
        for sign in (1.0, -1.0):
            moved = np.zeros(2 * model.nv + model.nu)
            moved[column] = sign * width
            self.take(state, ctrl, moved)
            data, force = self.run.data, self.run.scratch.held.force[:points]
            ends.append((data.qpos.copy(), np.concatenate([data.qvel, force.ravel()])))
        way = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, way, 2.0 * width, ends[1][0], ends[0][0])
        return np.concatenate([way, (ends[0][1] - ends[1][1]) / (2.0 * width)])
