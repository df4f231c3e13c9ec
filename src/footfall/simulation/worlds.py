"""Many worlds of one simulation: stepped, run, reset and measured at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.control import chosen_controller, default_controller
from footfall.control.base import CompiledController, StatefulController
from footfall.engine.step import DONE
from footfall.engine.tape import Outcome, sample_bytes
from footfall.engine.worlds.arrays import FALLEN
from footfall.engine.worlds.view import Felt
from footfall.errors import ControllerError, SimulationError
from footfall.given_numbers import Count, NotNegative, Positive, Whole, is_whole
from footfall.ground import Ground
from footfall.record import Failure, Push
from footfall.recording import Recording
from footfall.simulation.linearization import Linearization
from footfall.simulation.outcome import failure_of, recording_of_world
from footfall.simulation.setup import Setup
from footfall.simulation.state import State, UnderWay
from footfall.simulation.task import check_memory, control_steps, multiple, numbers, step_count
from footfall.simulation.workspace import signal_count
from footfall.simulation.worlds_engine import InWorlds, energy_of_worlds, make_engine, make_plan
from footfall.simulation.worlds_given import (
    Inputs,
    check_worlds,
    first_rows,
    make_inputs,
    rows,
    start_rows,
    states_of_worlds,
)
from footfall.simulation.worlds_linearize import Linearizations, OnGpu, OnThreads
from footfall.standing import FALLEN_HEIGHT


@public
class Worlds(UnderWay):
    """W worlds of a simulation, each with a state of its own.

        sim = ff.Simulation("spatial-biped", law="spring-damper")
        worlds = ff.Worlds(sim, 64, friction=np.linspace(0.3, 1.0, 64))
        worlds.run(1.0, controller="posture")
        worlds.qpos[:, 2], worlds.status  # (64,) m, height of the base; 0 if it goes on

    Every body can touch the ground, unless the simulation has ``body_contacts=False``. Results are the same, bit for
    bit, for any number of threads.

    Limitations: loops and tendons are not computed here. On a GPU bodies touch each other by shapes of ours, at 32
    places of 12 pairs at most. Defaults of the law are derived for the robot as it is, not for its scaled masses.

    Args:
        simulation: robot, ground, law and step of all worlds.
        count: W, the number of worlds.
        device: ``"cpu"`` or ``"cuda"``.
        qpos: (nq,) where all start, or (W, nq); home on the ground if left out.
        qvel: (nv,) velocities there, or (W, nv); at rest if left out.
        friction: a coefficient, a pair (static, dynamic), or one of these for each world; the ground's if left out.
        law_options: options of the law by name, each a number or (W,).
        ground: one, or a list of W, in place of the simulation's.
        mass_scale: factors on masses and inertias of the bodies, a number, (W,) or (W, bodies).
        pushes: a list for all worlds, or W lists.
        fall: share of its height in the home pose below which the centre of mass of a world is *down*: the world stops
            until it is reset; with 0 none stops.
        threads: of a CPU; all of its cores if left out.
    """

    def __init__(
        self,
        simulation: Setup,
        count: Count,
        *,
        device: Literal["cpu", "cuda"] = "cpu",
        qpos: ArrayLike | None = None,
        qvel: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        law_options: Mapping[str, ArrayLike] | None = None,
        ground: Ground | Sequence[Ground] | None = None,
        mass_scale: ArrayLike | None = None,
        pushes: Sequence[Push] | Sequence[Sequence[Push]] = (),
        fall: NotNegative = FALLEN_HEIGHT,
        threads: Count | None = None,
    ) -> None:
        check_worlds(simulation, device)
        self.simulation, self.count, self.device = simulation, int(count), device
        self._turn = Lock()
        self._inputs = make_inputs(
            simulation,
            self.count,
            ground=ground,
            friction=friction,
            law_options=law_options,
            mass_scale=mass_scale,
            pushes=pushes,
        )
        self._signals = signal_count(simulation)
        self._plan = make_plan(self._inputs, fall)
        self._engine: Any = make_engine(self._inputs, device=device, threads=threads)
        self._no_tape = self._engine.make_tape(simulation.scene.model, [], 1, self._signals)
        self._engine.give(self._inputs.arrays)
        self._on_threads: OnThreads | None = None  # derivatives, once they are asked for
        self._on_gpu: OnGpu | None = None
        self._starts = first_rows(simulation, self._engine)
        self.reset(qpos=qpos, qvel=qvel)

    def reset(
        self,
        mask: ArrayLike | None = None,
        *,
        qpos: ArrayLike | None = None,
        qvel: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        mass_scale: ArrayLike | None = None,
        pushes: Sequence[Push] | Sequence[Sequence[Push]] | None = None,
    ) -> None:
        """Restart the worlds of ``mask`` (W,), or all: from their start, or from ``qpos`` and ``qvel``.

        Values have the shapes that the constructor takes, one for all or one for each (rows are picked by ``mask``),
        and they stay: later resets of these worlds use them too.
        """
        which = np.ones(self.count, dtype=bool) if mask is None else np.asarray(mask)
        if which.shape != (self.count,) or which.dtype != bool:
            raise SimulationError(f"mask has shape {which.shape}, but it must be ({self.count},) truth values")
        if not which.any():
            return
        with self._turn:
            starts, inputs = start_rows(self._starts, which, qpos, qvel), self._inputs
            if friction is not None:
                inputs = inputs.with_friction(friction, which)
            if mass_scale is not None:
                inputs = inputs.with_masses(mass_scale, which)
            if pushes is not None:
                inputs = inputs.with_pushes(pushes, which)
            self._starts = starts
            if inputs is not self._inputs:
                self._take(inputs)
            self._engine.reset(which, starts)

    def state(self, world: int) -> State:
        """The state of one world on a CPU: single worlds and runs start from it.

        Its friction, masses, ground and pushes are not part of it, nor is what a controller remembers.
        """
        if not (is_whole(world, 0) and world < self.count):
            raise SimulationError(f"world {world!r} is not among 0 to {self.count - 1}")
        if self.device != "cpu":
            raise SimulationError(
                "states of single worlds are taken with device='cpu'; read('qpos') reads those of a GPU"
            )
        with self._turn:
            return states_of_worlds(self.simulation, self._engine, [int(world)])[0]

    def linearize(
        self, *, to: str | Iterable[str] = (), smoothing: float = 0.0
    ) -> list[Linearization] | Linearizations:
        """The derivative of the next step of each world with its controls; the worlds are not changed.

        On a CPU a list, computed on threads, see :meth:`World.linearize`; on a GPU one :class:`Linearizations`, whose
        arrays stay on the device. Limitations: on a CPU only for worlds with the friction, ground, law and masses of
        the simulation; on a GPU only by state and controls, and on ground that is flat.
        """
        to = tuple([to] if isinstance(to, str) else to)
        if self.device == "cpu":
            with self._turn:
                states, known = states_of_worlds(self.simulation, self._engine, range(self.count)), self._on_threads
                if known is None or known.given is not self._inputs or known.to != to:
                    known = self._on_threads = OnThreads(self._inputs, to)
                return known.linearize(states, smoothing)
        if to:
            raise SimulationError("derivatives to parameters are computed with device='cpu'")
        with self._turn:
            if self._on_gpu is None:
                self._on_gpu = OnGpu(self._inputs, self._engine, self._no_tape)
            return self._on_gpu.linearize(self._plan, self.time, smoothing)

    def _take(self, inputs: Inputs) -> None:
        self._inputs, self._plan = inputs, self._plan._replace(energy=energy_of_worlds(inputs))
        self._engine.give(inputs.arrays)

    def step(self, ctrl: ArrayLike | None = None, n: Whole = 1) -> None:
        """Take ``n`` steps with the controls ``ctrl``, (nu,) or (W, nu), or the present ones if left out."""
        with self._turn:
            if ctrl is not None:
                on_gpu = hasattr(ctrl, "__cuda_array_interface__")
                if on_gpu and self.device == "cpu":
                    raise SimulationError("ctrl is on a GPU, and these worlds are on the CPU: give ctrl.cpu()")
                self._set_controls(ctrl if on_gpu else numbers("ctrl", ctrl))
            self._engine.advance(self._plan, None, int(n), self._no_tape)

    def _set_controls(self, ctrl: Any) -> None:
        count, width = self.count, self.simulation.scene.model.nu
        if tuple(ctrl.shape) not in ((width,), (count, width)):
            raise SimulationError(
                f"ctrl has shape {tuple(ctrl.shape)}, but it must be ({width},) or ({count}, {width})"
            )
        self._engine.set_controls(ctrl)

    def run(
        self,
        duration: NotNegative,
        *,
        controller: Any = "default",
        gains: Any = None,
        control_dt: Positive | None = None,
        record: Sequence[int] = (),
        record_dt: Positive | None = None,
    ) -> dict[int, Recording]:
        """Run all worlds for ``duration`` (s); returns the recordings of the worlds in ``record``, by number.

        ``controller`` is a compiled one such as :class:`footfall.control.Posture`, or its name. ``gains`` replaces its
        numbers, one row for all worlds or one for each: a policy's weights, for example. On a CPU it may be one with a
        memory, :class:`footfall.control.Balance` or :class:`footfall.control.Walk`: each world has its own, which knows
        nothing of ``mass_scale``; or a :class:`footfall.control.Policy`, which is asked for all worlds at once. Left
        out, it is that of :meth:`footfall.Simulation.run`; with None the controls stay as they are.
        """
        sim, plan = self.simulation, self._plan
        if isinstance(controller, str) and controller in ("default", "none"):
            controller = default_controller(sim.robot) if controller == "default" else None
        steps = step_count(duration, sim.dt)
        every = multiple("record_dt", record_dt, sim.dt)
        which = list(record) if isinstance(record, Iterable) else [record]
        if not all(is_whole(w, 0) and w < self.count for w in which):
            raise SimulationError(f"record names a world that is not among 0 to {self.count - 1}")
        which = [int(w) for w in which]
        name = "none" if controller is None else str(controller)
        batched = hasattr(controller, "batch")
        rate = 1
        if batched:
            rate = control_steps(controller, control_dt, sim.dt)
        elif controller is not None:
            controller, rate = self._begin_control(controller, gains, control_dt)
            plan = plan._replace(control=1, control_every=rate)
        samples = steps // every + 2
        each = sample_bytes(sim.scene.model, sim.robot.point_count) + 8 * self._signals
        check_memory(len(which) * samples, each, sim.dt * every)
        tapes = self._engine.make_tape(sim.scene.model, which, samples, self._signals)
        with self._turn:
            begin = self._engine.host("step")[which, 0].copy()
            plan = plan._replace(record_every=every)
            asked = self._advance_by_batches(plan, controller, rate, steps, tapes) if batched else None
            if asked is None:
                self._engine.advance(plan, controller, steps, tapes)
            ended = self._ended()
            taken, begun = (self._engine.host(name)[:, 0].copy() for name in ("step", "samples"))
        found = {}
        for w, first, tape in zip(which, begin, self._engine.recordings(tapes), strict=True):
            samples = (taken[w] - first) // every + 1 if ended[w][0] == DONE else begun[w]  # the last state is one
            pushes = self._inputs.pushes[min(w, len(self._inputs.pushes) - 1)]
            notes = {"controller": name, "world": w}
            if isinstance(controller, InWorlds):
                notes["warnings"] = controller.warnings(w)
            ground = self._inputs.ground_of(w)
            found[w] = recording_of_world(sim, ground, pushes, tape, ended[w], samples, every, notes)
            if asked is not None:
                command = np.tile(asked.command, (len(found[w]), 1))
                found[w] = replace(found[w], signals={**found[w].signals, "command": command})
        return found

    def _advance_by_batches(self, plan: Any, controller: Any, rate: int, steps: int, tapes: Any) -> Any:
        """Take steps with a Python controller that sets the controls of all worlds at once; returns its instance."""
        sim, engine = self.simulation, self._engine
        if self.device != "cpu":
            raise ControllerError(f"{controller} runs in Python on the CPU: on a GPU set the controls by step(ctrl)")
        grounds = [self._inputs.ground_of(w) for w in range(self.count)]
        asked = controller.batch(sim.robot, grounds, sim.dt * rate)
        for first in range(0, steps, rate):
            ctrl = asked.controls(first * sim.dt, self.qpos, self.qvel, self.mode != 0, self.force)
            self._set_controls(ctrl)
            taken = min(rate, steps - first)
            engine.advance(plan, None, taken, tapes, before=first, last=first + taken >= steps)
        return asked

    def _begin_control(self, controller: Any, gains: Any, control_dt: float | None) -> tuple[Any, int]:
        """Give every world its controller's gains; returns the controller for worlds and the steps between calls."""
        sim = self.simulation
        if isinstance(controller, str):
            controller = chosen_controller(controller, self.simulation.robot)
        own_memory = isinstance(controller, StatefulController) and self.device == "cpu"
        if not own_memory and not isinstance(controller, CompiledController):
            raise ControllerError(
                f"many worlds take a compiled controller, such as Posture, not {type(controller).__name__}: "
                "set the controls of each step by step(ctrl) instead"
            )
        rate = control_steps(controller, control_dt, sim.dt)
        if own_memory:
            count = sim.robot.point_count
            felt = Felt(self._engine.array("mode")[:, :count], self._engine.array("force")[:, :count])
            controller = InWorlds(self._inputs, controller, felt, sim.dt * rate)
            own = controller.gains
        else:
            given = controller.gains(sim.robot, sim.ground, sim.dt * rate) if gains is None else gains
            asked = numbers("gains", given)
            own = rows("gains", asked, self.count, asked.shape[-1] if asked.ndim else 0)
        self._engine.give(self._inputs.arrays._replace(gains=own))
        return controller, rate

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"Worlds({self.simulation!r}, {self.count}, device={self.device!r})"

    @property
    def qpos(self) -> Any:
        """(W, nq) coordinates, live: worlds continue from values written to them."""
        return self._engine.array("qpos")

    @property
    def qvel(self) -> Any:
        """(W, nv) velocities, live."""
        return self._engine.array("qvel")

    def read(self, name: str) -> np.ndarray:
        """``qpos``, ``qvel`` or ``ctrl`` as a NumPy array, to read, from any device."""
        try:
            return self._engine.host(name)
        except (AttributeError, TypeError, KeyError) as error:
            raise SimulationError(f"worlds have no {name!r} to read: give qpos, qvel or ctrl") from error

    @property
    def ctrl(self) -> Any:
        """(W, nu) controls, live."""
        return self._engine.array("ctrl")

    @property
    def force(self) -> Any:
        """(W, P, 3) N, contact forces of the last step on the points of the feet, world frame."""
        return self._engine.array("push")

    @property
    def body_force(self) -> Any:
        """(W, 3) N, sum of the contact forces of the last step on all bodies other than feet, world frame."""
        return self._engine.array("beside")

    @property
    def mode(self) -> Any:
        """(W, P) of the points of the feet in the last step: 0 open, 1 stick, 2 slide."""
        return self._engine.array("mode")[:, : self.simulation.robot.point_count]

    @property
    def time(self) -> np.ndarray:
        """(W,) s since the start or the last reset."""
        return self._engine.first("step") * self.simulation.dt

    @property
    def status(self) -> np.ndarray:
        """(W,) 0 going on, 1 diverged, 2 no ground, 3 stopped by its controller, 4 energy from nowhere, 5 fallen."""
        return self._engine.first("end")

    @property
    def fallen(self) -> np.ndarray:
        """(W,) whether the robot is down."""
        return self.status == FALLEN

    @property
    def unsolved(self) -> np.ndarray:
        """(W,) steps in which the law found no solution."""
        return self._engine.first("unsolved")

    @property
    def failure(self) -> list[Failure | None]:
        """The failure of each world, or ``None``."""
        return [failure_of(self.simulation, one) for one in self._ended()]

    def _ended(self) -> list[list[int]]:
        """How each world ended, at which step, and the dof, point or code concerned."""
        return np.concatenate([self._engine.host(name) for name in Outcome._fields[:3]], axis=1).tolist()
