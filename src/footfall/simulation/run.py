"""One run: lay out the arrays, drive the compiled loop, return the recording."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import mujoco
import numba
import numpy as np

from footfall.compiled import waited_for_code
from footfall.contact.springs.stable_step import warn_of_long_steps
from footfall.engine import step
from footfall.engine.bridge import set_limit
from footfall.engine.constraints.joint_rows import guess_slips
from footfall.engine.events import integration
from footfall.engine.events.flow import painleve_warnings
from footfall.engine.other_bodies.points import LIVE, LOST
from footfall.engine.tape import END, NEXT, SAMPLES, Tape
from footfall.errors import SimulationError
from footfall.process.interrupts import Interrupts
from footfall.record import Failure, Push
from footfall.recording import Recording
from footfall.simulation.controls import (
    PYTHON,
    Controller,
    Seen,
    find_controller,
    initial_state,
    make_controls,
    no_control,
    own_rate,
)
from footfall.simulation.first_start import share_work, start_helper
from footfall.simulation.outcome import add_other_columns, conclude, interrupted, named_signals, overflowed, warnings_of
from footfall.simulation.setup import Setup
from footfall.simulation.state import Live, State, check_start, set_state
from footfall.simulation.task import (
    MOST_STEPS,
    check_memory,
    make_pushes,
    multiple,
    perturb,
    push_list,
    step_count,
    vector,
)
from footfall.simulation.workspace import loop_types, prepared, take_workspace
from footfall.version import versions

#: Wall time between two checks for Ctrl-C and updates of the progress bar, s.
CHECK_INTERVAL = 0.05


class Task(NamedTuple):
    """What a run is to do, see :meth:`footfall.Simulation.run`."""

    controller: Controller | str | None = None
    qpos: Sequence[float] | np.ndarray | None = None
    qvel: Sequence[float] | np.ndarray | None = None
    control_dt: float | None = None  # s
    record_dt: float | None = None  # s
    pushes: Push | Iterable[Push] = ()
    seed: int | None = None
    start: State | None = None


class Run:
    """A run under way. Its ``data`` is MuJoCo's own, live."""

    def __init__(
        self,
        simulation: Setup,
        duration: float,
        task: Task = Task(),  # noqa: B008 - a value
        *,
        endless: bool = False,
        recorded: bool = True,
    ) -> None:
        sim = self.simulation = simulation
        law, dt = sim.law, sim.dt
        self._engine: Any = integration if law.event_driven else step
        helper = start_helper(self._engine.advance, "events" if law.event_driven else "step", law.kernels())
        types = [] if helper is None else loop_types(sim)
        if helper is not None:
            for part, kinds in self._engine.late_parts(types).items():
                part.compile(kinds)
        self.model = sim.scene.model
        steps = step_count(duration, dt)
        if task.start is not None:
            check_start(task.start, task.qpos, task.qvel)
        self.first = 0 if task.start is None else task.start.step
        self.total = MOST_STEPS if endless else self.first + steps
        name, controller = find_controller(task.controller)
        given = task.control_dt
        control_every = own_rate(controller, dt) if given is None else multiple("control_dt", given, dt)
        self.record_every = multiple("record_dt", task.record_dt, dt) if recorded else MOST_STEPS
        self.pushes, self.seed = push_list(task.pushes), task.seed

        qpos, qvel = task.qpos, task.qvel
        if qpos is None and qvel is None:
            qpos, qvel = initial_state(controller, sim.robot, sim.ground)
        shared = self._shared = prepared(sim)
        self.workspace = space = take_workspace(sim, shared)
        self.data, self.points, self.contacts, self.flow = space.data, space.points, space.contacts, space.flow
        self._put(qpos, qvel)
        if task.start is None:
            perturb(self.model, self.data)
        if shared.longest is not None:
            warn_of_long_steps(law, sim.setting, shared.longest)
        self.interrupts = Interrupts()
        self.controls = no_control()
        if controller is not None:
            seen, period = Seen(self.data, self.points, self.contacts), dt * control_every
            self.controls = make_controls(name, controller, sim.robot, sim.ground, period, seen, self.interrupts)
        self._lay_out(control_every, steps)
        self.step = 0
        self.live: Live | None = None  # what its states are made of, once there was one
        self._loop: Any = None
        if helper is not None:
            parts = step.native_parts(types) if law.native else self._engine.cold_parts(types)
            share_work(helper, law.kernels(), parts)
        if task.start is not None:
            set_state(self, task.start)

    def _put(self, qpos: Sequence[float] | np.ndarray | None, qvel: Sequence[float] | np.ndarray | None) -> None:
        """Write the coordinates (nq,) and velocities (nv,) of the start: home and at rest where they are left out."""
        sim, model, name = self.simulation, self.model, self.simulation.robot.name
        self.data.qpos[:] = sim.home_on_ground if qpos is None else vector("qpos", qpos, model.nq, name)
        self.data.qvel[:] = 0.0 if qvel is None else vector("qvel", qvel, model.nv, name)
        mujoco.mj_normalizeQuat(model, self.data.qpos)
        self.data.ctrl[:] = sim.robot.home_ctrl

    def _lay_out(self, control_every: int, steps: int) -> None:
        """Give the loop its plan, its pushes, its controls and room to record ``steps`` steps."""
        sim, shared, space = self.simulation, self._shared, self.workspace
        signals = shared.law_signals + sum(signal.values.size for signal in self.controls.signals.values())
        plan = shared.plan._replace(
            total=self.total,
            control=self.controls.kind,
            control_every=control_every,
            record_every=self.record_every,
        )
        own_pushes = make_pushes(self.model, self.pushes, sim.dt, self.total)
        space.for_run(plan, own_pushes, self.controls.control, signals)
        self.conditions, self.scratch = space.conditions, space.scratch
        if self.data.qvel.any():
            guess_slips(self.conditions.constraints.joints, self.data.qvel)
        self.controls.write_signals(self.scratch.signals[shared.law_signals :])
        samples = steps // self.record_every + 2  # a run that diverges leaves one more
        check_memory(samples, shared.sample_bytes + 8 * signals, sim.dt * self.record_every)
        self.outcome = space.outcome
        self.set_tape(space.make_tape(samples, sim.robot.point_count, signals))
        # As much room as an earlier run needed, so that no step of this one waits for more.
        if self.flow is not None and space.roomiest > 0:
            self.resize(space.roomiest)

    def set_tape(self, tape: Tape) -> None:
        """Record into these arrays from now on."""
        self.tape = tape
        if self.workspace.size > 0:
            self.resize(self.workspace.size)
        else:
            self._laid_out = self.workspace.laid_out(tape)

    def give_back(self) -> None:
        """Return the workspace to other runs; references to its arrays are no longer valid."""
        self.workspace.release()
        self._shared.spare.append(self.workspace)

    def advance(self, steps: int, seconds: float = math.inf) -> bool:
        """Take up to ``steps`` steps in about ``seconds`` (s, wall time); True while there is more to do."""
        last = min(self.step + steps, self.total + 1)
        # Under an event-driven law, points take places before each period and give them back within it.
        unused = self.flow is None and self.points.others.counters[LIVE] == self.points.others.first
        if self.workspace.size > 0 and unused:
            self.resize(0)
        set_limit(self.scratch.clock, seconds)
        loop = self._loop
        if loop is None:
            loop = self._engine.advance
            if self.step > 0:  # not the first time: a run comes here once, a world with every step
                loop = self._loop = self._direct(loop)
        while True:
            loop(*self._laid_out, self.step, last)
            self.step = int(self.outcome[NEXT])
            if self.outcome[END] != step.TOO_SMALL:
                return self.step <= self.total and bool(self.outcome[END] == step.DONE)
            self.outcome[END] = step.DONE
            self.resize(self._enough())

    def _enough(self) -> int:
        """The next size of the workspace that also has room for the points that found none."""
        others, sizes = self.points.others, self.workspace.sizes()
        needed = int(others.counters[LIVE] - others.first + others.counters[LOST])
        larger = range(self.workspace.size + 1, len(sizes))
        return next((size for size in larger if sizes[size] >= needed), larger[-1])

    def _direct(self, loop: Any) -> Any:
        """The machine code of a loop for the types of this run; looking it up costs as much as a step."""
        if not hasattr(loop, "ordinary"):  # plain Python, while it is debugged
            return loop
        return loop.ordinary.compile(tuple(numba.typeof(one) for one in (*self._laid_out, 0, 0)))

    def resize(self, size: int) -> None:
        """Give the run room for ``SIZES[size]`` points of bodies other than feet."""
        space = self.workspace
        try:
            space.resize(self.simulation, size, len(self.tape.time))
        except MemoryError as cause:
            raise SimulationError(
                "there is not enough memory to record bodies other than feet that touch the ground: "
                "use a larger record_dt, or body_contacts=False",
                self.recording(),
            ) from cause
        self.points, self.contacts, self.flow = space.points, space.contacts, space.flow
        self.conditions, self.scratch = space.conditions, space.scratch
        self._laid_out = space.laid_out(self.tape)

    def finish(self, progress: Callable[[float], None] | None = None) -> Recording:
        """Run to the end and return the recording, with a warning or an error if it ended early."""
        begin, waited = time.perf_counter(), waited_for_code()
        try:
            # Installing a handler for Ctrl-C takes as long as two steps; a short run without Python code in the loop
            # needs none.
            if self.controls.kind == PYTHON or self._advance_to_next_check():
                with self.interrupts:
                    while self._advance_to_next_check():
                        if progress is not None:
                            progress(self.step * self.simulation.dt)
        except KeyboardInterrupt as cause:  # from the user's own handler, or from the progress
            raise interrupted(self) from cause
        self.wall_time = time.perf_counter() - begin - (waited_for_code() - waited)  # of the steps alone
        recording = conclude(self)
        if progress is not None and recording.failure is None:
            progress(self.total * self.simulation.dt)
        return recording

    def _advance_to_next_check(self) -> bool:
        """Continue until the next check; whether there is more to do."""
        return self.advance(self.total + 1, CHECK_INTERVAL) and not (self.interrupts.asked or overflowed(self))

    def _warnings(self) -> list[dict[str, Any]]:
        """What the controller reported, and the times at which the law found no forces."""
        said = [warning._asdict() for warning in self.controls.warnings]
        if self.flow is not None:
            said += [warning._asdict() for warning in painleve_warnings(self.flow)]
        return said + [warning._asdict() for warning in warnings_of(self)]

    def recording(self, failure: Failure | None = None) -> Recording:
        """What was recorded so far."""
        sim = self.simulation
        rows = int(self.outcome[SAMPLES])
        arrays = {name: array[:rows] for name, array in zip(Tape._fields, self.tape, strict=True)}
        if self.workspace.keeps(self.tape):
            arrays = {name: array.copy() for name, array in arrays.items()}
        others = add_other_columns(arrays, self.points.others.tape, sim.robot, sim.ground)
        signals, units = self._signals(arrays.pop("signals"), arrays["gap"])
        info = {
            "controller": self.controls.name,
            "integrator": "event-driven" if sim.law.event_driven else sim.integrator,
            "body_contacts": sim.body_contacts,
            "seed": self.seed,
            "record_dt": sim.dt * self.record_every,
            "signals": units,
            "warnings": self._warnings(),
            "wall_time": getattr(self, "wall_time", None),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": versions(),
        }
        made = Recording(
            robot=sim.robot,
            ground=sim.ground,
            law=sim.law,
            dt=sim.dt,
            pushes=self.pushes,
            failure=failure,
            info=info,
            signals=signals,
            other_points=others,
            **arrays,
        )
        object.__setattr__(made, "_simulation", sim)  # a value otherwise: it is what rec.state(t) asks
        return made

    def _signals(self, flat: np.ndarray, gap: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, str]]:
        """What law and controller reported, by name, and the units."""
        law = self.simulation.law
        of_law = self._shared.law_signals
        if of_law and not law.event_driven:
            # Where the law was not called, its signals are those of an earlier step.
            in_air = (gap > law.near(self.simulation.dt)).all(axis=1)
            if in_air.any():
                flat = flat.copy()
                flat[in_air, :of_law] = 0.0
        controls = self.controls.signals
        units = {**law.signals, **law.foot_signals} | {name: signal.unit for name, signal in controls.items()}
        more = {name: signal.values.shape for name, signal in controls.items()}
        return named_signals(flat, law, self.simulation.robot, more), units
