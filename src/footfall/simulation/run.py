"""One run: lays out the arrays, drives the compiled loop, hands back the recording."""

from __future__ import annotations

import math
import platform
import time as clock
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

import mujoco
import numba
import numpy as np

from footfall.contact.base import CoupledLaw, PointLaw, point_signature
from footfall.contact.event_law import EventLaw
from footfall.engine import events, step
from footfall.engine.dormand_prince import make_flow, painleve_remarks
from footfall.engine.world import (
    Tape,
    make_constraints,
    make_contacts,
    make_guard,
    make_points,
    make_scratch,
    make_tape,
    make_world,
)
from footfall.errors import ControllerError, FootfallWarning, GroundError, SimulationError
from footfall.record import Failure, Push
from footfall.recording import Recording
from footfall.simulation.controls import Controller, initial_state, make_controls, own_rate
from footfall.simulation.pushes import make_pushes
from footfall.simulation.setup import Setup
from footfall.solve.contacts import coupled_signature
from footfall.version import __version__

#: Steps between two looks at the keyboard and the progress bar.
CHUNK = 2000


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
        pushes: Sequence[Push],
        seed: int | None,
    ) -> None:
        sim = self.simulation = simulation
        robot, law, dt = sim.robot, sim.law, sim.dt
        model = self.model = sim.scene.model
        if not (np.isfinite(duration) and duration >= 0):
            raise SimulationError(f"duration = {duration} but it must be a number of seconds >= 0")
        self.total = round(duration / dt)
        control_every = own_rate(controller, dt) if control_dt is None else multiple("control_dt", control_dt, dt)
        self.record_every = multiple("record_dt", record_dt, dt)
        self.pushes, self.seed = tuple(pushes), seed

        if qpos is None and qvel is None:
            qpos, qvel = initial_state(controller, robot, sim.ground)
        self.data = mujoco.MjData(model)
        self.data.qpos[:] = _vector("qpos", sim.place() if qpos is None else qpos, model.nq, robot.name)
        self.data.qvel[:] = _vector("qvel", np.zeros(model.nv) if qvel is None else qvel, model.nv, robot.name)
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
            values = np.array([float(v) for v in law.resolve(sim.setting)])
        self.laws = step.Laws(point, coupled, values)
        self.controls = make_controls(
            controller, robot, sim.ground, dt * control_every, self.data, self.points, self.contacts
        )
        told = len(law.signals) + len(robot.feet) * len(law.foot_signals)
        told_in_all = told + sum(signal.values.size for signal in self.controls.signals.values())
        self.scratch = make_scratch(model, self.points, rows, marks, told_in_all)
        self.controls.tell(self.scratch.signals[told:])
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
            pushes=make_pushes(model, self.pushes, dt),
            ground=step.Surface(*sim.ground.compiled(), sim.ground.compiled_friction),
            control=self.controls.control,
        )
        if isinstance(law, EventLaw):
            flat = sim.ground.flat
            rough = law.in_steps()
            numbers = np.array([float(v) for v in rough.resolve(sim.setting)])
            self.rough = step.Laws(idle_point_law(), rough.pointer(), numbers)
            self.flow = make_flow(model, robot.point_count, dt, tolerance=law.tolerance, flat=flat, margin=rough.margin)
        self.tape = make_tape(model, self.total // self.record_every + 1, robot.point_count, told_in_all)
        self.outcome = np.zeros(4, dtype=np.int64)
        self.step = 0

    def advance(self, steps: int) -> bool:
        """Take up to ``steps`` steps; True while there is more to do."""
        last = min(self.step + steps, self.total + 1)
        law, tape = self.simulation.law, (self.tape, self.step, last, self.outcome)
        place = (self.world, self.points, self.contacts, self.scratch, self.conditions, self.laws)
        if isinstance(law, EventLaw):
            events.advance(*place, self.rough, self.flow, law.impact_pointer(), *tape)
        else:
            step.advance(*place, *tape)
        self.step = last
        return self.outcome[0] == step.DONE and last <= self.total

    def finish(self, progress: Callable[[float], None] | None = None) -> Recording:
        """Run to the end and hand back the recording, with a warning if it ended early."""
        begin = clock.perf_counter()
        try:
            while self.advance(CHUNK):
                if progress is not None:
                    progress(self.step * self.simulation.dt)
        except KeyboardInterrupt as interrupt:
            self.outcome[1] = max(0, self.step - 1)
            interrupt.recording = self.recording()  # type: ignore[attr-defined]
            raise
        self.wall_time = clock.perf_counter() - begin
        if progress is not None and self.outcome[0] == step.DONE:
            progress(self.total * self.simulation.dt)
        return self._conclude()

    def _conclude(self) -> Recording:
        end, at = int(self.outcome[0]), float(self.outcome[1] * self.simulation.dt)
        if end == step.DONE:
            return self.recording()
        if end == step.DIVERGED:
            failure = self._divergence(at)
            warnings.warn(str(failure), FootfallWarning, stacklevel=4)
            return self.recording(failure)
        if end == step.NO_GROUND:
            where = self.points.position[self.outcome[2]]
            message = (
                f"the ground has no height or no friction (NaN) under contact point {int(self.outcome[2])} near "
                f"x = {where[0]:.4g} m, y = {where[1]:.4g} m, met at t = {at:.6g} s"
            )
            error: Exception = GroundError(message)
            error.recording = self.recording(Failure(at, "ground", "", message))  # type: ignore[attr-defined]
            raise error
        if end == events.STALLED:
            failure = self._no_end_of_events(at)
            warnings.warn(str(failure), FootfallWarning, stacklevel=4)
            return self.recording(failure)
        cause = self.controls.callback.error
        if isinstance(cause, ControllerError):
            message = str(cause)
        elif isinstance(cause, Exception):
            message = f"controller {self.controls.name} failed at t = {at:.6g} s: {type(cause).__name__}: {cause}"
        elif cause is not None:
            raise cause  # the user pressed Ctrl-C, or wants to leave
        else:
            message = f"controller {self.controls.name} stopped the run at t = {at:.6g} s"
        raise ControllerError(message, self.recording(Failure(at, "controller", "", message))) from cause

    def _divergence(self, at: float) -> Failure:
        sim = self.simulation
        dof = int(self.outcome[2])
        joint = sim.robot.dof_name(dof)
        advice = f"try dt <= {_round_down(sim.dt / 2)} s for {sim.law}"
        value = float(self.data.qacc[dof])
        size = "not a number" if np.isnan(value) else f"beyond {step.RUNAWAY:.0e}"
        message = f"diverged at t = {at:.6g} s, joint {joint}: its acceleration is {size}; all before is kept; {advice}"
        return Failure(at, "diverged", joint, message)

    def _no_end_of_events(self, at: float) -> Failure:
        message = (
            f"more events than can be followed in the {self.simulation.dt:g} s after t = {at:.6g} s; "
            f"all before is kept; try a smaller dt or a lower restitution for {self.simulation.law}"
        )
        return Failure(at, "events", "", message)

    def _remarks(self) -> list[dict[str, Any]]:
        """What the controller remarked, and when the law's forces did not exist."""
        said = [remark._asdict() for remark in self.controls.remarks]
        if self.simulation.law.event_driven:
            said += [remark._asdict() for remark in painleve_remarks(self.flow)]
        return said

    def recording(self, failure: Failure | None = None) -> Recording:
        """What was recorded so far."""
        sim = self.simulation
        rows = min(int(self.outcome[1]) // self.record_every + 1, len(self.tape.time))
        if failure is not None and failure.cause in ("ground", "controller"):
            rows = -(-int(self.outcome[1]) // self.record_every)  # the step that failed was not recorded
        arrays = Tape(*(array[:rows] for array in self.tape))._asdict()
        signals, units = self._signals(arrays.pop("signals"), arrays["gap"])
        info = {
            "controller": self.controls.name,
            "integrator": "event-driven" if sim.law.event_driven else sim.integrator,
            "body_contacts": sim.body_contacts,
            "seed": self.seed,
            "signals": units,
            "remarks": self._remarks(),
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


def _vector(name: str, value: Any, size: int, robot: str) -> np.ndarray:
    vector = np.asarray(value, dtype=float)
    if vector.shape != (size,):
        raise SimulationError(f"{name} has shape {vector.shape}, but {robot} needs ({size},)")
    if not np.isfinite(vector).all():
        raise SimulationError(f"{name} holds a number that is not finite")
    return vector


def multiple(name: str, value: float | None, dt: float) -> int:
    if value is None:
        return 1
    if not (np.isfinite(value) and value > 0):
        raise SimulationError(f"{name} = {value} but it must be a positive number of seconds")
    every = round(value / dt)
    if every < 1 or abs(every * dt - value) > 1e-9 + 1e-6 * value:
        raise SimulationError(f"{name} = {value:g} s is no multiple of dt = {dt:g} s")
    return every


def _round_down(value: float) -> str:
    """One significant digit, not above the value."""
    power = 10.0 ** np.floor(np.log10(value))
    return f"{np.floor(value / power + 1e-9) * power:.0e}".replace("e-0", "e-")
