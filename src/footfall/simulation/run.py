"""One run: takes a workspace, drives the compiled loop, and returns the recording, or an error that carries it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import mujoco
import numba
import numpy as np

from footfall.contact.base import PointLaw
from footfall.contact.springs.stable_step import warn_of_long_steps
from footfall.contact.trial import fault_of, is_foreign
from footfall.control import default_controller
from footfall.engine import recovery, step
from footfall.engine.bridge import set_limit
from footfall.engine.constraints.joint_rows import guess_slips
from footfall.engine.events.flow import painleve_warnings
from footfall.engine.other_bodies.points import LACKING, LIVE, LOST, SIZES
from footfall.engine.tape import Tape, make_tape
from footfall.errors import ControllerError, GroundError, Interrupted, SimulationError, warn
from footfall.process.interrupts import Interrupts, asked_to_end, to_the_end
from footfall.record import Failure, RunWarning
from footfall.recording import Recording
from footfall.simulation.controls import (
    PYTHON,
    Controller,
    Seen,
    find_controller,
    initial_state,
    make_controls,
    no_control,
)
from footfall.simulation.first_start import start_compiling
from footfall.simulation.outcome import (
    created_energy,
    energy_at_hand,
    failure_of,
    made_recording,
)
from footfall.simulation.setup import Setup
from footfall.simulation.state import CONTROLLER, MUJOCO, State, check_fit, check_start
from footfall.simulation.task import (
    MOST_STEPS,
    Task,
    check_memory,
    control_steps,
    make_pushes,
    multiple,
    perturb,
    push_list,
    step_count,
    vector,
)
from footfall.simulation.workspace import live_arrays, loop_of, prepared, take_workspace

#: Wall time between two checks for Ctrl-C and updates of the progress bar, s.
CHECK_INTERVAL = 0.05
#: MuJoCo's warnings after which forces are missing, and those that are passed on to the user.
OVERFLOWS = (mujoco.mjtWarning.mjWARN_CONTACTFULL, mujoco.mjtWarning.mjWARN_CNSTRFULL)
WARNINGS = (mujoco.mjtWarning.mjWARN_INERTIA, mujoco.mjtWarning.mjWARN_BADCTRL)


def direct(kernel: Any, arguments: Sequence[Any]) -> Any:
    """The machine code of a kernel for the types of these arguments; looking it up costs as much as a step."""
    if not hasattr(kernel, "ordinary"):  # plain Python, while it is debugged
        return kernel
    return kernel.ordinary.compile(tuple(numba.typeof(one) for one in arguments))


def _alike(some: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> bool:
    """Whether arrays have the same names and shapes."""
    return some.keys() == others.keys() and all(array.shape == others[name].shape for name, array in some.items())


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
        self._engine = loop_of(sim.law)
        finish_compiling = start_compiling(sim, self._engine)
        if task.start is not None:
            check_start(task.start, task.qpos, task.qvel)
        steps, before = step_count(duration, sim.dt), 0 if task.start is None else task.start.step
        self.total = MOST_STEPS if endless else before + steps
        self.record_every = multiple("record_dt", task.record_dt, sim.dt) if recorded else MOST_STEPS
        self.pushes, self._endless = push_list(task.pushes), endless
        name, controller = find_controller(task.controller, sim.robot)
        control_every = control_steps(controller, task.control_dt, sim.dt)
        self.model, self._shared = sim.scene.model, prepared(sim)
        self.workspace = take_workspace(sim, self._shared)
        self.data, self.outcome = self.workspace.data, self.workspace.outcome
        self._see_room()
        self._put(task, controller)
        if self._shared.longest is not None:
            warn_of_long_steps(sim.law, sim.setting, self._shared.longest)
        self.interrupts = Interrupts()
        self.controls = no_control()
        if controller is not None:
            seen, period = Seen(self.data, self.points, self.contacts), sim.dt * control_every
            self.controls = make_controls(name, controller, sim.robot, sim.ground, period, seen, self.interrupts)
        self._lay_out(control_every, steps)
        self.step = 0
        self.wall_time: float | None = None  # s, of the steps alone
        self._loop: Any = None
        finish_compiling()
        if task.start is not None:
            self.restore(task.start)

    def _put(self, task: Task, controller: Controller | None) -> None:
        """Write the coordinates (nq,) and velocities (nv,) of the start: home and at rest where they are left out."""
        sim, model, name, data = self.simulation, self.model, self.simulation.robot.name, self.data
        qpos, qvel = task.qpos, task.qvel
        if qpos is None and qvel is None:
            qpos, qvel = initial_state(controller, sim.robot, sim.ground)
        data.qpos[:] = sim.home_on_ground if qpos is None else vector("qpos", qpos, model.nq, name)
        data.qvel[:] = 0.0 if qvel is None else vector("qvel", qvel, model.nv, name)
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.ctrl[:] = sim.robot.home_ctrl
        if task.start is None:
            perturb(model, data)

    def _lay_out(self, control_every: int, steps: int) -> None:
        """Give the loop its plan, its pushes, its controls and room to record ``steps`` steps."""
        sim, shared, space = self.simulation, self._shared, self.workspace
        signals = shared.law_signals + sum(signal.values.size for signal in self.controls.signals.values())
        own_pushes = make_pushes(self.model, self.pushes, sim.dt, self.total)
        plan = shared.plan._replace(
            energy=energy_at_hand(sim.robot, self.pushes),
            total=self.total,
            control=self.controls.kind,
            control_every=control_every,
            record_every=self.record_every,
        )
        space.for_run(plan, own_pushes, self.controls.control, signals)
        self._see_room()
        if self.data.qvel.any():
            guess_slips(self.conditions.constraints.joints, self.data.qvel)
        self.controls.write_signals(self.scratch.signals[shared.law_signals :])
        samples = steps // self.record_every + 2  # a run that diverges records one more
        check_memory(samples, shared.sample_bytes + 8 * signals, sim.dt * self.record_every)
        self.set_tape(make_tape(self.model, samples, sim.robot.point_count, signals))

    def _see_room(self) -> None:
        """Refer to the present arrays of the workspace."""
        room = self.workspace.room
        self.points, self.contacts, self.flow = room.points, room.contacts, room.flow
        self.conditions, self.scratch = room.conditions, room.scratch
        self._live: dict[str, np.ndarray] = {}  # the arrays of a state, once one is asked for

    @to_the_end()  # interrupted half way, the loop would write beyond its old arrays
    def set_tape(self, tape: Tape) -> None:
        """Record into these arrays from now on."""
        self.tape = tape
        if self.workspace.size > 0:
            self.resize(self.workspace.size)
        else:
            self._laid_out = self.workspace.laid_out(tape)

    @to_the_end()
    def resize(self, size: int) -> None:
        """Give the run room for ``SIZES[size]`` points of bodies other than feet."""
        try:
            self.workspace.resize(self.simulation, size, len(self.tape.time))
        except MemoryError as cause:
            raise SimulationError(
                "there is not enough memory to record bodies other than feet that touch the ground: "
                "use a larger record_dt, or body_contacts=False",
                self.recording(),
            ) from cause
        self._laid_out = self.workspace.laid_out(self.tape)
        self._see_room()

    def give_back(self) -> None:
        """Return the workspace to other runs; references to its arrays are no longer valid."""
        self.workspace.release()
        self._shared.spare.append(self.workspace)

    # ---- driving the loop ------------------------------------------------------------------------------------

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
            if self.step > 0:  # not in the first call: a run has one, a world one per step
                loop = self._loop = direct(loop, (*self._laid_out, 0, 0))
        self.outcome.next[0] = self.step
        while True:
            try:
                loop(*self._laid_out, self.step, last)
            finally:  # Ctrl-C is raised here, after the steps
                self.step = int(self.outcome.next[0])
            if self.outcome.end[0] != step.TOO_SMALL:
                return self.step <= self.total and bool(self.outcome.end[0] == step.DONE)
            self.outcome.end[0] = step.DONE
            self.resize(self._enough())

    def _enough(self) -> int:
        """The next size of the workspace with room for all points, also those that had none."""
        others, sizes = self.points.others, self.workspace.sizes()
        needed = int(others.counters[LIVE] - others.first + others.counters[LOST])
        larger = range(self.workspace.size + 1, len(sizes))
        return next((size for size in larger if sizes[size] >= needed), larger[-1])

    def finish(self, progress: Callable[[float], None] | None = None) -> Recording:
        """Run to the end and return the recording, with a warning or an error if it ended early."""
        begin = time.perf_counter()
        try:
            self.advance_to(self.total + 1, progress)
        except KeyboardInterrupt as cause:  # from the user's own handler, or from the progress
            raise self._interrupted() from cause
        self.wall_time = time.perf_counter() - begin
        recording = self.conclude()
        if progress is not None and recording.failure is None:
            progress(self.total * self.simulation.dt)
        return recording

    def advance_to(self, last: int, progress: Callable[[float], None] | None = None) -> None:
        """Take the steps before ``last``, or fewer if the run ends or Ctrl-C is pressed (``interrupts.asked``)."""

        def more_until_check() -> bool:
            more = self.advance(last - self.step, CHECK_INTERVAL) and self.step < last
            return more and not (self.interrupts.asked or self._overflowed())

        # Installing a handler for Ctrl-C takes as long as two steps; a few steps without Python code need none.
        if self.controls.kind == PYTHON or more_until_check():
            with self.interrupts:
                if asked_to_end() is not None:  # its exception was lost in a call from compiled code
                    self.interrupts.asked = True
                while more_until_check():
                    if progress is not None:
                        progress(self.step * self.simulation.dt)

    def go_on(self) -> None:
        """Forget that Ctrl-C was pressed, or why the controller stopped the last step."""
        self.interrupts.asked, self.controls.callback.error = False, None
        self.outcome.end[0] = step.DONE

    # ---- its states ------------------------------------------------------------------------------------------

    def _live_arrays(self) -> dict[str, np.ndarray]:
        """The arrays of a state, kept until the run is laid out anew: collecting them takes as long as ten steps."""
        if not self._live:
            inside = self.controls.inside
            own = {} if inside is None else {f"{CONTROLLER}{name}": array for name, array in inside.arrays()}
            self._live = live_arrays(self.points, self.contacts, self.workspace.room) | own
        return self._live

    def state(self) -> State:
        """The whole state of the run between two steps."""
        sim, arrays = self.simulation, {name: array.copy() for name, array in self._live_arrays().items()}
        numbers = np.zeros(mujoco.mj_stateSize(self.model, MUJOCO))
        mujoco.mj_getState(self.model, self.data, numbers, MUJOCO)
        return State(sim.robot.name, str(sim.law), self.step, sim.dt, numbers, arrays)

    def restore(self, state: State) -> None:
        """Continue from a state of the same robot, under the same law with the same step.

        A compiled controller continues from the memory in the state if kind and size agree; otherwise it starts anew,
        and so do the signals.
        """
        check_fit(state, self.simulation)
        sizes, places = self.workspace.sizes(), len(state.arrays["others.who"])
        if places in sizes and places != sizes[self.workspace.size]:
            self.resize(sizes.index(places))
        own, kept = self._live_arrays(), state.arrays
        if not _alike(own, kept):
            anew = ("signals", CONTROLLER)
            own, kept = (
                {name: array for name, array in arrays.items() if not name.startswith(anew)} for arrays in (own, kept)
            )
        if not _alike(own, kept):
            raise SimulationError(
                f"the state of {state.robot} has other contact points or constraints than this simulation"
            )
        for name, array in own.items():
            array[...] = kept[name]
        mujoco.mj_setState(self.model, self.data, state.mujoco, MUJOCO)
        self.step = state.step

    # ---- its recording, and how it ended ---------------------------------------------------------------------

    def recording(self, failure: Failure | None = None) -> Recording:
        """The recording so far."""
        sim, controls, of_law = self.simulation, self.controls, self._shared.law_signals
        arrays = {name: array[: self.outcome.samples[0]] for name, array in self.tape._asdict().items()}
        if self._endless:  # later steps write to the same arrays
            arrays = {name: array.copy() for name, array in arrays.items()}
        if of_law and not sim.law.event_driven:
            # Where the law was not called, its signals are those of an earlier step.
            in_air = (arrays["gap"] > sim.law.near(sim.dt)).all(axis=1)
            if in_air.any():
                arrays["signals"] = arrays["signals"].copy()
                arrays["signals"][in_air, :of_law] = 0.0
        said = [*controls.warnings, *(() if self.flow is None else painleve_warnings(self.flow)), *self._warnings()]
        said += self._without_control()
        made = made_recording(
            sim,
            sim.ground,
            self.pushes,
            failure,
            arrays,
            self.points.others.tape,
            controls.signals,
            {
                "controller": controls.name,
                "integrator": "event-driven" if sim.law.event_driven else "euler",
                "record_dt": sim.dt * self.record_every,
                "warnings": [warning._asdict() for warning in said],
                "wall_time": self.wall_time,
            },
        )
        object.__setattr__(made, "_simulation", sim)  # for rec.state(t); a recording is frozen otherwise
        return made

    def _overflowed(self) -> bool:
        """Whether MuJoCo had to drop contacts or other constraints, so that forces are missing."""
        warned = self.workspace.warned
        return bool(np.count_nonzero(warned)) and any(warned[int(kind)] for kind in OVERFLOWS)

    def _warnings(self) -> list[RunWarning]:
        """MuJoCo's warnings, one for each kind."""
        found: list[RunWarning] = []
        if not np.count_nonzero(self.workspace.warned):
            return found
        for kind in WARNINGS:
            one = self.data.warning[int(kind)]
            if one.number:
                text = " ".join(mujoco.mju_warningText(int(kind), one.lastinfo).split())
                times = f" ({one.number} times)" if one.number > 1 else ""
                found.append(RunWarning(float(self.data.time), "mujoco", text + times))
        return found

    def _without_control(self) -> list[RunWarning]:
        """A warning if nothing controls the motors of a robot that has a default controller."""
        robot = self.simulation.robot
        if self._endless or self.controls.name != "none" or default_controller(robot) is None:
            return []
        text = f"nothing controls the motors of {robot.name}, and so it falls unless its joints hold it"
        return [RunWarning(0.0, "control", f"{text}; with no controller named it is under posture control")]

    def conclude(self) -> Recording:
        """The recording of a run that has ended; a warning, or an error that carries it, if it ended early."""
        end, at = int(self.outcome.end[0]), f"t = {self.outcome.begun[0] * self.simulation.dt:.6g} s"
        cause = self.controls.callback.error
        if self.interrupts.asked or isinstance(cause, KeyboardInterrupt):
            raise self._interrupted() from cause
        if self._overflowed():
            said = recovery.said(self.scratch.back, recovery.WARNING)
            raise self._failed(SimulationError, "mujoco", f"MuJoCo has no room for all contacts at {at}: {said}")
        self._warn()
        failure: Failure | None
        if end == step.DONE:
            rec = self.recording()
            failure = created_energy(rec)
            if failure is None:
                return rec
        elif end in (step.DIVERGED, step.CREATES):
            outcome, fault = self.outcome, self._fault_of_law() if end == step.DIVERGED else ""
            ended = [int(one[0]) for one in (outcome.end, outcome.begun, outcome.concerned)]
            failure = failure_of(self.simulation, ended, self.tape.qpos[0], fault)
        elif end == step.NO_GROUND:
            raise self._failed(GroundError, "ground", self._no_ground(at))
        elif end == step.MUJOCO_ERROR:
            said = recovery.said(self.scratch.back, recovery.ERROR)
            raise self._failed(SimulationError, "mujoco", f"MuJoCo gave up at {at}: {said}")
        else:
            stopped = self._stopped(at, cause)
            raise stopped from None if stopped is cause else cause
        warn(str(failure))
        return self.recording(failure)

    def _stopped(self, at: str, cause: BaseException | None) -> BaseException:
        """The exception of a controller that failed or stopped the run, which carries the recording."""
        message = f"controller {self.controls.name} stopped the run at {at}"
        if isinstance(cause, ControllerError):
            message = str(cause)
        elif isinstance(cause, Exception):
            message = f"controller {self.controls.name} failed at {at}: {type(cause).__name__}: {cause}"
        elif cause is not None:  # the controller raises SystemExit or the like
            cause.recording = self._failed(ControllerError, "controller", f"{cause!r} at {at}").recording  # type: ignore[attr-defined]
            return cause
        return self._failed(ControllerError, "controller", message)

    def _failed(self, kind: Any, what: str, message: str) -> Any:
        """An error of a kind that carries the recording."""
        error = kind(message)
        error.recording = self.recording(Failure(float(self.outcome.begun[0] * self.simulation.dt), what, "", message))
        return error

    def _interrupted(self) -> Interrupted:
        """The exception after Ctrl-C, which carries the recording."""
        at = self.step * self.simulation.dt
        message = f"interrupted at t = {at:.6g} s"
        recording = self.recording(Failure(at, "interrupted", "", message))
        interrupted = Interrupted(message, recording)
        interrupted.add_note("what came before is in the exception's recording")  # said in a traceback
        return interrupted

    def _warn(self) -> None:
        """Warn of missing forces, and pass on MuJoCo's warnings."""
        lost = int(self.points.others.counters[LACKING])
        if lost:
            places, slots = SIZES[-1]
            warn(
                f"{lost} steps lack forces and are marked as unsolved: more bodies other than feet touched the ground "
                f"at once than there is room for, {places} points of {slots} bodies"
            )
        for warning in self._warnings():
            warn(f"MuJoCo: {warning.message}")

    def _fault_of_law(self) -> str:
        """The error of a user's law, called as plain Python at the points near the ground, or that its force is no
        finite number; "" if it has none.
        """
        law = self.simulation.law
        if not (isinstance(law, PointLaw) and is_foreign(law.kernel)):
            return ""
        contacts, points, parameters = self.contacts, self.points, law.resolve(self.simulation.setting)
        for p in contacts.points[: contacts.number[0]]:
            force = points.force[p]
            if np.isfinite(force).all():
                continue
            away = contacts.frame[p, :2] @ (points.position[p] - points.anchor[p])
            v = contacts.velocity[p]
            state = (max(0.0, -contacts.gap[p]), -v[2], np.nan_to_num(away), v[:2])
            fault = fault_of(law.kernel, state, points.memory[p].copy(), parameters)
            if fault:
                return fault
            if all(np.isfinite(one).all() for one in state):
                return f"its force is {force[~np.isfinite(force)][0]} at a depth of {state[0]:.3g} m"
        return ""

    def _no_ground(self, at: str) -> str:
        point = int(self.outcome.concerned[0])
        x, y = (float(one) for one in self.points.position[point, :2])
        faults = "".join(f" ({fault})" for fault in self.simulation.ground.faults(x, y))
        return (
            f"the ground has no height or no friction (NaN) under contact point {point} near "
            f"x = {x:.4g} m, y = {y:.4g} m, met at {at}{faults}"
        )
