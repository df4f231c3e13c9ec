"""One run: lays out the arrays, drives the compiled loop, hands back the recording."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

import mujoco
import numba
import numpy as np

from footfall.compiled import ByReference
from footfall.contact.base import CoupledLaw, PointLaw, point_signature
from footfall.contact.event_law import EventLaw
from footfall.contact.stable_step import warn_of_long_steps
from footfall.contact.trial import is_foreign, try_out
from footfall.engine import events, step
from footfall.engine.clock import set_limit
from footfall.engine.dormand_prince import make_flow, painleve_warnings
from footfall.engine.tape import END, NEXT, OUTCOME_SIZE, SAMPLES, Tape, make_tape, sample_bytes
from footfall.engine.world import (
    make_constraints,
    make_contacts,
    make_guard,
    make_points,
    make_scratch,
    make_world,
)
from footfall.record import Failure, Push
from footfall.recording import Recording
from footfall.simulation.checks import MOST_STEPS, check_memory, multiple, push_list, step_count, vector
from footfall.simulation.controls import (
    Controller,
    Seen,
    check_controller,
    initial_state,
    make_controls,
    own_rate,
)
from footfall.simulation.endings import conclude, interrupted, overflowed, warnings_of
from footfall.simulation.first_start import share_work, start_helper
from footfall.simulation.interrupts import Interrupts
from footfall.simulation.pushes import make_pushes
from footfall.simulation.setup import Setup
from footfall.simulation.state import State, set_state
from footfall.solve.contacts import coupled_signature
from footfall.version import __version__

#: Time between two looks at the keyboard and the progress bar, s.
GLANCE = 0.05


@cache
def idle_point_law() -> Any:
    from footfall.compiled import function_pointer

    def idle(depth, depth_rate, slip, slip_velocity, memory, static, dynamic, values):
        return 0.0, 0.0, 0.0, 0

    return function_pointer(point_signature(), idle)


@cache
def idle_coupled_law() -> Any:
    from footfall.compiled import function_pointer

    def idle(contacts, dt, memory, force, mode, work, marks, signals, values):
        return 0

    return function_pointer(coupled_signature(), idle)


class Run:
    """A run under way. Its ``data`` is MuJoCo's own, live."""

    def __init__(
        self,
        simulation: Setup,
        duration: float,
        *,
        controller: Controller | str | None,
        qpos: Sequence[float] | np.ndarray | None,
        qvel: Sequence[float] | np.ndarray | None,
        control_dt: float | None,
        record_dt: float | None,
        pushes: Push | Iterable[Push],
        seed: int | None,
        start: State | None = None,
        endless: bool = False,
        recorded: bool = True,
    ) -> None:
        sim = self.simulation = simulation
        robot, law, dt = sim.robot, sim.law, sim.dt
        helper = start_helper(*((events.advance, "events") if law.event_driven else (step.advance, "step")))
        model = self.model = sim.scene.model
        steps = step_count(duration, dt)
        self.first = 0 if start is None else start.step
        self.total = MOST_STEPS if endless else self.first + steps
        check_controller(controller)
        control_every = own_rate(controller, dt) if control_dt is None else multiple("control_dt", control_dt, dt)
        self.record_every = multiple("record_dt", record_dt, dt) if recorded else MOST_STEPS
        self.pushes, self.seed = push_list(pushes), seed

        if qpos is None and qvel is None:
            qpos, qvel = initial_state(controller, robot, sim.ground)
        self.data = mujoco.MjData(model)
        self.data.qpos[:] = vector("qpos", sim.place() if qpos is None else qpos, model.nq, robot.name)
        self.data.qvel[:] = vector("qvel", np.zeros(model.nv) if qvel is None else qvel, model.nv, robot.name)
        mujoco.mj_normalizeQuat(model, self.data.qpos)
        self.data.ctrl[:] = robot.home_ctrl

        euler = sim.integrator == "euler" and not law.event_driven
        self.world = make_world(model, self.data)
        self.points = make_points(model, robot, law.memory_size)
        self.contacts = make_contacts(self.points, sim.ground.static_friction, sim.ground.dynamic_friction)
        rows, marks, values = 0, 0, np.zeros(1)
        point, coupled = idle_point_law(), idle_coupled_law()
        if isinstance(law, PointLaw):
            point = law.pointer()
        elif isinstance(law, CoupledLaw):
            coupled = law.pointer()
            rows = law.work_rows(robot.point_count, len(robot.feet))
            marks = law.marks_size(robot.point_count, len(robot.feet))
        if not law.native:
            resolved = law.resolve(sim.setting)
            values = np.array([float(v) for v in resolved])
            if isinstance(law, PointLaw) and is_foreign(law.kernel):
                try_out(law.kernel, law.name, law.memory_size, resolved)
            if euler:
                warn_of_long_steps(law, sim.setting)
        self.laws = step.Laws(point, coupled, values)
        self.interrupts = Interrupts()
        seen = Seen(self.data, self.points, self.contacts)
        self.controls = make_controls(controller, robot, sim.ground, dt * control_every, seen, self.interrupts)
        told = len(law.signals) + len(robot.feet) * len(law.foot_signals)
        told_in_all = told + sum(signal.values.size for signal in self.controls.signals.values())
        self.scratch = make_scratch(model, self.points, rows, marks, told_in_all)
        self.controls.write_signals(self.scratch.signals[told:])
        rich = bool(model.ntendon or model.nflex or (model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_BODY)).any())
        plan = step.Plan(
            dt=dt,
            margin=float(law.margin),
            coupled=int(law.coupled),
            operator=int(isinstance(law, CoupledLaw) and law.operator),
            native=int(law.native),
            rich=int(rich),
            damped=int(euler and bool((model.dof_damping > 0).any())),
            stages=1 if euler else 4,
            total=self.total,
            control=self.controls.kind,
            control_every=control_every,
            record_every=self.record_every,
        )
        guard = make_guard(model, sim.ground.highest)
        self.conditions = step.Conditions(
            plan=plan,
            guard=guard,
            constraints=make_constraints(self.data, sim.scene.joints, len(robot.feet), collides=bool(guard.collides)),
            native=sim.scene.native.copy(),
            pushes=make_pushes(model, self.pushes, dt, self.total),
            ground=step.Surface(*sim.ground.compiled(), sim.ground.compiled_friction),
            control=self.controls.control,
        )
        if isinstance(law, EventLaw):
            flat = sim.ground.flat
            rough = law.in_steps()
            numbers = np.array([float(v) for v in rough.resolve(sim.setting)])
            self.rough = step.Laws(idle_point_law(), rough.pointer(), numbers)
            self.flow = make_flow(model, robot.point_count, dt, tolerance=law.tolerance, flat=flat, margin=rough.margin)
        samples = steps // self.record_every + 2  # a run that diverges leaves one more
        check_memory(samples, sample_bytes(model, robot.point_count, told_in_all), dt * self.record_every)
        self.set_tape(make_tape(model, samples, robot.point_count, told_in_all))
        self.outcome = np.zeros(OUTCOME_SIZE, dtype=np.int64)
        self.step = 0
        parts = (self.world, self.points, self.contacts, self.scratch, self.conditions, self.laws)
        self._place = tuple(ByReference(part) for part in parts)
        if isinstance(law, EventLaw):
            self._place += (ByReference(self.rough), ByReference(self.flow), law.impact_pointer())
        if helper is not None:
            share_work(helper, law.kernels(), step.last_parts([numba.typeof(part) for part in self._place]))
        if start is not None:
            set_state(self, start)

    def set_tape(self, tape: Tape) -> None:
        """Record into these arrays from now on."""
        self.tape, self._tape = tape, ByReference(tape)

    def advance(self, steps: int, seconds: float = math.inf) -> bool:
        """Take up to ``steps`` steps in about ``seconds`` (s, wall time); True while there is more to do."""
        last = min(self.step + steps, self.total + 1)
        set_limit(self.scratch.clock, seconds)
        loop = events.advance if isinstance(self.simulation.law, EventLaw) else step.advance
        loop(*self._place, self._tape, self.step, last, self.outcome)
        self.step = int(self.outcome[NEXT])
        return bool(self.outcome[END] == step.DONE and self.step <= self.total)

    def finish(self, progress: Callable[[float], None] | None = None) -> Recording:
        """Run to the end and hand back the recording, with a warning or an error if it ended early."""
        begin = time.perf_counter()
        try:
            with self.interrupts:
                while self.advance(self.total + 1, GLANCE) and not (self.interrupts.asked or overflowed(self)):
                    if progress is not None:
                        progress(self.step * self.simulation.dt)
        except KeyboardInterrupt as cause:  # from the user's own handler, or from the progress
            raise interrupted(self) from cause
        self.wall_time = time.perf_counter() - begin
        recording = conclude(self)
        if progress is not None and recording.failure is None:
            progress(self.total * self.simulation.dt)
        return recording

    def _warnings(self) -> list[dict[str, Any]]:
        """What the controller reported, and when the law's forces did not exist."""
        said = [warning._asdict() for warning in self.controls.warnings]
        if self.simulation.law.event_driven:
            said += [warning._asdict() for warning in painleve_warnings(self.flow)]
        return said + [warning._asdict() for warning in warnings_of(self)]

    def recording(self, failure: Failure | None = None) -> Recording:
        """What was recorded so far."""
        sim = self.simulation
        arrays = Tape(*(array[: self.outcome[SAMPLES]] for array in self.tape))._asdict()
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
            "versions": {
                "footfall": __version__,
                "mujoco": mujoco.__version__,
                "numba": numba.__version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
        }
        return Recording(
            robot=sim.robot,
            ground=sim.ground,
            law=sim.law,
            dt=sim.dt,
            pushes=self.pushes,
            failure=failure,
            info=info,
            signals=signals,
            **arrays,
        )

    def _signals(self, flat: np.ndarray, gap: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, str]]:
        """What law and controller told, by name, and the units."""
        law = self.simulation.law
        if not law.event_driven:
            unasked = (gap > law.margin).all(axis=1)  # in the air nobody asks the law, and its last words are old
            flat = flat.copy()
            flat[unasked, : flat.shape[1] - sum(s.values.size for s in self.controls.signals.values())] = 0.0
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(law.signals, ())
        shapes |= dict.fromkeys(law.foot_signals, (len(self.simulation.robot.feet),))
        shapes |= {name: signal.values.shape for name, signal in self.controls.signals.items()}
        units = {**law.signals, **law.foot_signals} | {name: s.unit for name, s in self.controls.signals.items()}
        found, first = {}, 0
        for name, shape in shapes.items():
            last = first + math.prod(shape)
            found[name] = flat[:, first:last].reshape(len(flat), *shape)
            first = last
        return found, units
