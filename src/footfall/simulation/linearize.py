"""Derivatives of a step: exact where the kernels of :mod:`footfall.engine.derivatives` have them, else differences.

A separate run takes the step from a given state, so that the user's world is not changed. Along a run, products with
vectors from the right (tangents) are carried forward through every step. Products from the left (adjoints) keep the
states of all steps and differentiate each on the way back: memory and time grow with the number of steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, cast

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.compiled import ByReference
from footfall.contact.base import Law, PointLaw
from footfall.contact.linearizing_penalty import LinearizingPenalty
from footfall.contact.springs.friction import FrictionalLaw
from footfall.contact.time_stepping import TimeStepping
from footfall.engine import step
from footfall.engine.derivatives import space
from footfall.engine.derivatives.space import BETWEEN, BOUNCES, REASONS, ROLLS, UNSOLVED
from footfall.engine.derivatives.transition import differentiate
from footfall.engine.dynamics.tree import unsupported
from footfall.engine.other_bodies.points import ON_GROUND
from footfall.errors import SimulationError
from footfall.record import Record
from footfall.robot.model import BALL, FREE
from footfall.simulation.linearization import Linearization, bounces, read_step
from footfall.simulation.parameters import find_parameters
from footfall.simulation.run import Run, direct
from footfall.simulation.setup import Setup
from footfall.simulation.state import State
from footfall.simulation.task import Task, vector

#: Longest step of differences (m, rad, or their rates), and the number of steps, each a quarter of the one before: so
#: three lie below 1e-7, and agree also where a kink is that near.
LONGEST, RUNGS = 2e-3, 11
#: Distance (m) of the neighbours at which the ground's normal is compared, and its largest difference on a plane.
BESIDE, LEVEL = 1e-6, 1e-12


def law_kind(law: Law) -> int | None:
    """The kind of a law for the kernels of derivatives; None if they do not cover it."""
    if isinstance(law, PointLaw):
        return space.OF_POINTS
    if isinstance(law, TimeStepping):
        return space.OF_VELOCITIES
    if isinstance(law, LinearizingPenalty) and law.saturation == "consistent":
        return space.OF_ACCELERATIONS
    return None


def what_points_carry(law: Law) -> int:
    """The memory of points that is an input of the next step, see :mod:`footfall.engine.derivatives.space`.

    An error for a user's law with a memory.
    """
    if isinstance(law, FrictionalLaw):
        return {"anchored": space.ANCHORS, "lugre": space.BENDS}.get(law.friction, space.NOTHING)
    if law.memory_size and law_kind(law) in (None, space.OF_POINTS):
        raise SimulationError(f"{law.name} remembers numbers whose derivatives from step to step are not known")
    return space.NOTHING


def not_exact(sim: Setup) -> str:
    """The reason why no step of a simulation has an exact derivative, "" if steps have one in general."""
    model = sim.scene.model
    soft = np.isin(model.jnt_type, (FREE, BALL)) & (model.jnt_stiffness.reshape(model.njnt, -1)[:, 0] != 0.0)
    other = unsupported(model)
    reasons = {
        "MuJoCo's solver gives no derivative": sim.law.native,
        f"the forces of {sim.law} have no derivative here": law_kind(sim.law) is None,
        "the ground's friction varies from place to place": sim.ground.compiled_friction.varies,
        "springs of free or ball joints have no derivative here": soft.any(),
        f"the model has {other}": bool(other),
    }
    return next((why for why, holds in reasons.items() if holds), "")


def check_smoothing(sim: Setup, smoothing: float) -> None:
    """Refuse a compliance that is none, or that the law has no use for."""
    if smoothing and not (smoothing > 0.0 and law_kind(sim.law) in (space.OF_VELOCITIES, space.OF_ACCELERATIONS)):
        raise SimulationError(
            f"smoothing = {smoothing!r}: it is a compliance > 0 (m/N) of contacts under time-stepping or "
            f"linearizing-penalty, not under {sim.law.name}"
        )


#: Inputs and scratch of the kernels of derivatives, and references to them and to the arrays of the run.
Arrays = tuple[space.Taken, space.Space, list[ByReference]]


class Probe:
    """A run that takes single steps from given states and differentiates them.

    With ``carried`` also by the memory of points, as products along a run need, and by the parameters ``to``.
    """

    def __init__(
        self,
        sim: Setup,
        task: Task = Task(),  # noqa: B008 - a value
        *,
        carried: bool = False,
        to: str | Iterable[str] = (),
    ) -> None:
        if sim.law.event_driven:
            raise SimulationError(
                f"{sim.law.name} goes from event to event, at which its derivative jumps, and has none here: linearize "
                "the same motion under time-stepping, whose impacts are part of the step"
            )
        self.simulation, self.run = sim, Run(sim, 0.0, task, endless=True, recorded=False)
        self.why, self.carries = not_exact(sim), what_points_carry(sim.law) if carried else space.NOTHING
        self.to = tuple([to] if isinstance(to, str) else to)
        if self.to and self.why:
            raise SimulationError(f"derivatives to parameters must be exact, and this step has none: {self.why}")
        self.asked = find_parameters(sim, self.to, 0)  # repeated once the number of columns before them is known
        self.arrays, self._points = cast(Arrays, None), cast(Any, None)
        self._code: Any = None  # machine code of the kernel, after its first call
        self.begin = self.run.data.qpos.copy()  # coordinates at the beginning of the step just taken

    def take(self, state: State, ctrl: np.ndarray | None = None, moved: np.ndarray | None = None) -> None:
        """Take a step from a state with controls ``ctrl``, or its own, displaced by ``moved`` (2 nv + nu)."""
        run, model, data, points = self.run, self.run.model, self.run.data, None
        while points is not run.points:  # repeat the step if points not on feet needed more room
            run.restore(state)
            run.outcome.samples[0], run.outcome.end[0] = 0, step.DONE
            if ctrl is not None:
                data.ctrl[:] = ctrl
            if moved is not None:
                mujoco.mj_integratePos(model, data.qpos, moved[: model.nv], 1.0)
                data.qvel[:] += moved[model.nv : 2 * model.nv]
                data.ctrl[:] += moved[2 * model.nv :]
            points = run.points
            self._note()
            run.advance(1)
        if run.outcome.end[0] != step.DONE:
            raise SimulationError(f"the step from t = {state.time:g} s fails, so that it has no derivative")

    def _note(self) -> None:
        """Store the values before the step that derivatives need."""
        run, points = self.run, self.run.points
        self.begin[:] = run.data.qpos
        if self.why:
            return
        if self.arrays is None or self._points is not points:
            self.arrays, self._points = self._make_arrays(), points
        taken = self.arrays[0]
        taken.qpos[:], taken.qvel[:], taken.ctrl[:] = run.data.qpos, run.data.qvel, run.data.ctrl
        taken.memory[...], taken.anchor[...], taken.mode[:] = points.memory, points.anchor, points.mode
        taken.step[0] = run.step

    def _make_arrays(self) -> Arrays:
        run, sim, model = self.run, self.simulation, self.run.model
        kept = 2 * len(run.points.local) if self.carries else 0
        self.asked = find_parameters(sim, self.to, 2 * model.nv + model.nu + kept)
        taken = space.make_taken(
            run.model,
            run.data,
            run.points,
            run.conditions.pushes,
            kind=law_kind(sim.law),
            carried=self.carries,
            by=self.asked.by,
            soft=np.array([0.0, sim.robot.weight]),
            dt=sim.dt,
        )
        points = run.points
        count = len(points.local)
        sizes = space.Sizes(count, len(points.body), count, points.memory.shape[1])
        made = space.make_space(model, sizes, taken.kind, taken.carried, taken.by)
        parts = (taken, made, points, run.contacts, run.conditions.constraints.joints, run.workspace.room.laws)
        return taken, made, [ByReference(one) for one in parts]

    def not_exact(self) -> str:
        """The reason why the step just taken has no exact derivative, "" if it has one."""
        run, contacts, points, ground = self.run, self.run.contacts, self.run.points, self.simulation.ground
        if self.why:
            return self.why
        if run.conditions.constraints.shared.number[0] > 0:
            return "loops or tendons act"
        if contacts.number[0] > contacts.near[points.others.counters[ON_GROUND]]:
            return REASONS[BETWEEN]
        if run.outcome.status[0] != 0:
            return REASONS[UNSOLVED]
        near = contacts.points[: contacts.number[0]]
        pressed = near[points.force[near, 2] > 0.0]
        if points.smooth[pressed].any():
            return REASONS[ROLLS]
        if not ground.flat and not self._level(pressed):
            return "the ground is curved under a contact point"
        if bounces(self.simulation.law) and len(np.unique(contacts.body[pressed])) < len(pressed):
            return REASONS[BOUNCES]
        return ""

    def _level(self, points: np.ndarray) -> bool:
        """Whether the ground is a plane around some points, and at their positions a step later."""
        contacts, normal = self.run.contacts, self.run.contacts.frame[points, 2]
        at = self.run.points.position[points] + self.run.points.radius[points, None] * normal
        ahead = self.simulation.dt * np.einsum("nij,ni->nj", contacts.frame[points], contacts.velocity[points])
        around = [at + BESIDE * side for side in (*np.eye(3), *-np.eye(3))] + [at + ahead]
        return all(np.abs(self.simulation.ground.gap(one)[1] - normal).max(initial=0.0) < LEVEL for one in around)

    def derivative(
        self, state: State, ctrl: np.ndarray | None = None, smoothing: float = 0.0
    ) -> tuple[np.ndarray, str]:
        """Take a step; returns the derivatives of the state after it, by columns, and why it has none, "" if it has."""
        self.take(state, ctrl)
        why = self.not_exact()
        if why:
            return np.zeros((0, 0)), why
        taken, own, references = self.arrays
        taken.soft[0] = smoothing
        if self._code is None:
            self._code = direct(differentiate, references)
        self._code(*references)
        return own.out, ""

    def linearize(self, state: State, ctrl: Any = None, smoothing: float = 0.0) -> Linearization:
        """The derivative of the step from a state, with the controls ``ctrl`` (nu,) or those of the state."""
        sim, run, nv, nu, error = self.simulation, self.run, self.run.model.nv, self.run.model.nu, 0.0
        check_smoothing(sim, smoothing)
        if ctrl is not None:
            ctrl = vector("ctrl", ctrl, nu, sim.robot.name).copy()
        found, why = self.derivative(state, ctrl, smoothing)
        seen = read_step(run, self.begin)
        if why:
            if smoothing or self.to:
                raise SimulationError(f"the step from t = {state.time:g} s has no exact derivative: {why}")
            found, seen["world force"], error = self.differences(state, run.data.ctrl.copy())
        else:
            own = self.arrays[1]
            found, slopes = self.named(found), self.named(own.force[seen["near"]])
            seen["slopes"], seen["motion"], seen["turn"] = slopes, own.motion[seen["near"]], self.asked.by.turn[:3]
        last = 2 * nv + nu
        parts = (found[:, : 2 * nv], found[:, 2 * nv : last], found[:, last:], self.asked.names)
        return Linearization(*parts, smoothing, state.time, sim, why, error, seen)

    def named(self, found: np.ndarray) -> np.ndarray:
        """A copy of the kernels' columns, those of parameters combined into one per name."""
        if not self.to:
            return found.copy()
        own = found.shape[-1] - len(self.asked.mix)
        return np.concatenate([found[..., :own], found[..., own:] @ self.asked.mix], axis=-1)

    def differences(self, state: State, ctrl: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Central differences of the step and of its forces, extrapolated, and their largest expected error.

        Coordinates, velocities and forces of each column use the three step lengths whose extrapolations agree best.
        """
        model, points = self.run.model, self.simulation.robot.point_count
        count, nv, error = 2 * model.nv + model.nu, model.nv, 0.0
        found = np.zeros((2 * nv + 3 * points, count))
        for k in range(count):
            way = np.zeros(count)
            way[k] = max(1.0, abs(ctrl[k - 2 * nv])) if k >= 2 * nv else 1.0
            slope, own = self.along(state, ctrl, way)
            found[:, k], error = slope / way[k], max(error, own / way[k])
        return found[: 2 * nv], found[2 * nv :].reshape(points, 3, count), error

    def along(self, state: State, ctrl: np.ndarray, way: np.ndarray) -> tuple[np.ndarray, float]:
        """As :meth:`differences`, along one direction ``way`` (2 nv + nu), with the error of the state alone."""
        slopes = [self._slope(state, ctrl, way, LONGEST / 4.0**i) for i in range(RUNGS)]
        finer = [(16.0 * fine - rough) / 15.0 for rough, fine in itertools.pairwise(slopes)]
        found, error, nv = finer[0].copy(), 0.0, self.run.model.nv
        for rows in (slice(0, nv), slice(nv, 2 * nv), slice(2 * nv, None)):
            misses = [np.abs(b - a)[rows].max(initial=0.0) for a, b in itertools.pairwise(finer)]
            # Two that agree may do so by chance, where widths are so small that the step's rounding is felt.
            worse = [max(pair) for pair in itertools.pairwise(misses)]
            best = int(np.argmin(worse))
            found[rows] = finer[best + 1][rows]
            error = max(error, float(worse[best])) if rows.stop else error
        return found, error

    def _slope(self, state: State, ctrl: np.ndarray, moving: np.ndarray, width: float) -> np.ndarray:
        """The central difference, of half ``width``, of coordinates, velocities and forces along one direction."""
        model, points, ends = self.run.model, self.simulation.robot.point_count, []
        for sign in (1.0, -1.0):
            self.take(state, ctrl, sign * width * moving)
            data, force = self.run.data, self.run.scratch.held.force[:points]
            ends.append((data.qpos.copy(), np.concatenate([data.qvel, force.ravel()])))
        way = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, way, 2.0 * width, ends[1][0], ends[0][0])
        return np.concatenate([way, (ends[0][1] - ends[1][1]) / (2.0 * width)])


# ---- along a run: products with vectors, and the gradient of a loss --------------------------------------------------


#: Step of central differences of a loss (m, rad, their rates, or units of a control): errors are of its square, plus
#: rounding over it.
FINE = 1e-6

#: A loss of one sample: a number from time (s), qpos (nq,), qvel (nv,) and ctrl (nu,).
Loss = Callable[[float, np.ndarray, np.ndarray, np.ndarray], float]


def _lost(loss: Loss, time: float, qpos: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray) -> float:
    """What a user's loss returns at a sample, as a number."""
    found = loss(time, qpos, qvel, ctrl)
    try:
        return float(found)
    except (TypeError, ValueError) as error:
        raise SimulationError(f"the loss returned {found!r} at t = {time:.6g} s, and must return a number") from error


class Gradient(NamedTuple):
    """The derivative of a sum over the samples of a run, in MuJoCo's tangent space, coordinates before velocities."""

    value: float  # the sum itself
    start: np.ndarray  # (2 nv) by the state at the start
    ctrl: np.ndarray  # (T, nu) by the controls of each step; the last row belongs to no step
    parameters: dict[str, float]  # by name, for the requested parameters


@public
class AlongRun:
    """The steps of a recording, differentiated one after the other; made by :meth:`footfall.Simulation.along`.

    Limitations: every step must have been recorded and have an exact derivative.
    """

    def __init__(self, sim: Setup, recording: Record, *, to: str | Iterable[str] = ()) -> None:
        if not recording.every_step:
            raise SimulationError("derivatives along a run need every step recorded: run with record_dt = dt")
        task = Task(qpos=recording.qpos[0], qvel=recording.qvel[0], pushes=recording.pushes)
        self.recording, self._probe = recording, Probe(sim, task, carried=True, to=to)
        self.parameters, self._begin, self._size = self._probe.asked.names, self._probe.run.state(), 0
        self._nv, self._nu = sim.robot.model.nv, sim.robot.model.nu

    def _derivative(self, state: State, k: int) -> tuple[np.ndarray, ...]:
        """Derivatives of the k-th step: by the state with anchors and bristles, by controls, and by parameters."""
        out, why = self._probe.derivative(state, self.recording.ctrl[k])
        if not why and len(out) != (self._size or len(out)):
            why = "a body other than a foot touches the ground: use body_contacts=False, or time-stepping"
        if why:
            raise SimulationError(f"the step at t = {state.time:g} s has no exact derivative along the run: {why}")
        self._size, last = len(out), 2 * self._nv + self._nu
        named = self._probe.named(out)
        own = named.shape[1] - len(self.parameters)
        by_state, by_ctrl, by_kept, by_parameters = np.split(named, [2 * self._nv, last, own], axis=1)
        return np.hstack([by_state, by_kept]), by_ctrl, by_parameters

    def tangent(
        self,
        start: ArrayLike | None = None,
        ctrl: ArrayLike | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> np.ndarray:
        """(T, 2 nv) changes of all states under changes of the start (2 nv), controls (T, nu) and named parameters."""
        count, state, given = len(self.recording), self._begin, dict(parameters or {})
        if unknown := sorted(set(given) - set(self.parameters)):
            asked = ", ".join(self.parameters) or "none"
            raise SimulationError(f"{unknown[0]!r} is not among the parameters that were asked for with to=: {asked}")
        shift = np.array([given.get(name, 0.0) for name in self.parameters])
        change = self._array("start", np.zeros(2 * self._nv) if start is None else start, (2 * self._nv,))
        moved = self._array("ctrl", np.zeros((count, self._nu)) if ctrl is None else ctrl, (count, self._nu))
        found = [change]
        for k in range(count - 1):
            by_state, by_ctrl, by_parameters = self._derivative(state, k)
            change = by_state[:, : len(change)] @ change + by_ctrl @ moved[k] + by_parameters @ shift
            found.append(change[: 2 * self._nv])
            state = self._probe.run.state()
        return np.array(found)

    def adjoint(self, weights: ArrayLike) -> tuple[np.ndarray, ...]:
        """Products of ``weights`` (T, 2 nv) on all states with their derivatives by the start (2 nv), by the controls
        (T, nu), and by the requested parameters (K,), if there are any.
        """
        count = len(self.recording)
        weighed, states = self._array("weights", weights, (count, 2 * self._nv)), [self._begin]
        for k in range(count - 2):
            self._probe.take(states[k], self.recording.ctrl[k])
            states.append(self._probe.run.state())
        by_ctrl, by_parameters, pull = np.zeros((count, self._nu)), np.zeros(len(self.parameters)), weighed[-1]
        for k in range(count - 2, -1, -1):
            by_state, by_controls, by_numbers = self._derivative(states.pop(), k)
            by_parameters += pull @ by_numbers[: len(pull)]
            by_ctrl[k] = pull @ by_controls[: len(pull)]
            pull = pull @ by_state[: len(pull)]
            pull[: 2 * self._nv] += weighed[k]
        found = (pull[: 2 * self._nv], by_ctrl, by_parameters)
        return found if self.parameters else found[:2]

    def gradient(self, loss: Loss) -> Gradient:
        """The derivative of ``loss(time, qpos, qvel, ctrl)``, summed over all samples; the loss is differenced."""
        rec, model = self.recording, self._probe.run.model
        nv, weights = self._nv, np.zeros((len(rec), 2 * self._nv + self._nu))
        for k, column in np.ndindex(weights.shape):
            time, ends = float(rec.time[k]), []
            for width in (FINE, -FINE):
                moved, qpos = np.zeros(weights.shape[1]), rec.qpos[k].copy()
                moved[column] = width
                mujoco.mj_integratePos(model, qpos, moved[:nv], 1.0)
                ends.append(_lost(loss, time, qpos, rec.qvel[k] + moved[nv : 2 * nv], rec.ctrl[k] + moved[2 * nv :]))
            weights[k, column] = (ends[0] - ends[1]) / (2.0 * FINE)
        if not np.isfinite(weights).all():
            raise SimulationError("the loss has no derivative at every sample: it is not finite there")
        value = sum(_lost(loss, float(rec.time[k]), rec.qpos[k], rec.qvel[k], rec.ctrl[k]) for k in range(len(rec)))
        start, by_ctrl, *rest = self.adjoint(weights[:, : 2 * nv])
        parameters = dict(zip(self.parameters, rest[0].tolist(), strict=True)) if rest else {}
        return Gradient(value, start, by_ctrl + weights[:, 2 * nv :], parameters)

    def _array(self, name: str, values: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
        given = np.asarray(values, dtype=float)
        if given.shape != shape:
            raise SimulationError(f"{name} has shape {given.shape}, but it must be {shape}")
        return given
