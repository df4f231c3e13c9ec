"""Derivatives along a run: products with vectors from the right and from the left, and the gradient of a loss.

The run is simulated again with the recorded controls. Products from the right (tangents) are carried forward through
every step. Products from the left (adjoints) keep the states of all steps and differentiate each on the way back:
memory and time grow with the number of steps. Anchors and bristles of points are part of the state here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.errors import SimulationError
from footfall.record import Record
from footfall.simulation.linearize import Probe
from footfall.simulation.setup import Setup
from footfall.simulation.state import State
from footfall.simulation.task import Task

#: Step of central differences of a loss (m, rad, their rates, or units of a control): errors are of its square, plus
#: rounding over it.
FINE = 1e-6

#: A loss of one sample: a number from time (s), qpos (nq,), qvel (nv,) and ctrl (nu,).
Loss = Callable[[float, np.ndarray, np.ndarray, np.ndarray], float]


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
            for step in (FINE, -FINE):
                moved, qpos = np.zeros(weights.shape[1]), rec.qpos[k].copy()
                moved[column] = step
                mujoco.mj_integratePos(model, qpos, moved[:nv], 1.0)
                ends.append(float(loss(time, qpos, rec.qvel[k] + moved[nv : 2 * nv], rec.ctrl[k] + moved[2 * nv :])))
            weights[k, column] = (ends[0] - ends[1]) / (2.0 * FINE)
        if not np.isfinite(weights).all():
            raise SimulationError("the loss has no derivative at every sample: it is not finite there")
        value = sum(float(loss(float(rec.time[k]), rec.qpos[k], rec.qvel[k], rec.ctrl[k])) for k in range(len(rec)))
        start, by_ctrl, *rest = self.adjoint(weights[:, : 2 * nv])
        parameters = dict(zip(self.parameters, rest[0].tolist(), strict=True)) if rest else {}
        return Gradient(value, start, by_ctrl + weights[:, 2 * nv :], parameters)

    def _array(self, name: str, values: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
        given = np.asarray(values, dtype=float)
        if given.shape != shape:
            raise SimulationError(f"{name} has shape {given.shape}, but it must be {shape}")
        return given
