"""What becomes of a run, or of one of many worlds: its recording, or how it ended, as a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import mujoco
import numpy as np

from footfall.contact.base import Law, PointLaw
from footfall.contact.springs.stable_step import round_down
from footfall.contact.trial import fault_of, is_foreign
from footfall.engine import recovery, step
from footfall.engine.other_bodies.points import LACKING, SIZES, OtherTape
from footfall.engine.replay import SPEEDS, States, replay
from footfall.engine.step import DIVERGED, DONE, NO_GROUND, STOPPED
from footfall.engine.tape import CONCERNED, END, SAMPLES, STEP, Tape
from footfall.errors import ControllerError, GroundError, Interrupted, SimulationError, warn
from footfall.ground import Ground
from footfall.measure.audit_errors import scales
from footfall.measure.audit_rules import sinking
from footfall.record import Failure, Push, RunWarning
from footfall.recording import Recording
from footfall.robot import Robot
from footfall.simulation.setup import Setup
from footfall.standing import reach, scratch_data
from footfall.version import versions

#: A :class:`footfall.simulation.run.Run`, which cannot be imported from here.
Run = Any
OVERFLOWS = (mujoco.mjtWarning.mjWARN_CONTACTFULL, mujoco.mjtWarning.mjWARN_CNSTRFULL)
WARNINGS = (mujoco.mjtWarning.mjWARN_INERTIA, mujoco.mjtWarning.mjWARN_BADCTRL)


def conclude(run: Run) -> Recording:
    """The recording of a run that has ended; a warning, or an error, if it ended early."""
    end, at = int(run.outcome[END]), float(run.outcome[STEP] * run.simulation.dt)
    cause = run.controls.callback.error
    if run.interrupts.asked or isinstance(cause, KeyboardInterrupt):
        raise interrupted(run) from cause
    if overflowed(run):
        said = recovery.said(run.scratch.back, recovery.WARNING)
        message = f"MuJoCo has no room for all contacts at t = {at:.6g} s: {said}"
        raise SimulationError(message, run.recording(Failure(at, "mujoco", "", message)))
    lost = int(run.points.others.counters[LACKING])
    if lost:
        places, slots = SIZES[-1]
        warn(
            f"{lost} steps lack forces and are marked as unsolved: more bodies other than feet touched the ground "
            f"at once than there is room for, {places} points of {slots} bodies"
        )
    for warning in warnings_of(run):
        warn(f"MuJoCo: {warning.message}")
    if end == step.DONE:
        return _with_its_start(run.recording())
    if end == step.DIVERGED:
        return _warned(run, _divergence(run, at))
    if end == step.NO_GROUND:
        message = _no_ground(run, at)
        error = GroundError(message)
        error.recording = run.recording(Failure(at, "ground", "", message))
        raise error
    if end == step.MUJOCO_ERROR:
        message = f"MuJoCo gave up at t = {at:.6g} s: {recovery.said(run.scratch.back, recovery.ERROR)}"
        raise SimulationError(message, run.recording(Failure(at, "mujoco", "", message)))
    if isinstance(cause, ControllerError):
        message = str(cause)
    elif isinstance(cause, Exception):
        message = f"controller {run.controls.name} failed at t = {at:.6g} s: {type(cause).__name__}: {cause}"
    elif cause is not None:  # the controller wants to leave the program
        cause.recording = run.recording(Failure(at, "controller", "", f"{cause!r} at t = {at:.6g} s"))
        raise cause
    else:
        message = f"controller {run.controls.name} stopped the run at t = {at:.6g} s"
    raise ControllerError(message, run.recording(Failure(at, "controller", "", message))) from cause


def _with_its_start(rec: Recording) -> Recording:
    """A recording, with a warning if its robot is held deeper in the ground than its audit allows."""
    if not (rec.robot.held and len(rec) and rec.gap[0].min(initial=0.0) < 0.0):
        return rec
    deepest = int(np.argmin(rec.gap[0]))
    depth = -float(rec.gap[0, deepest])
    if depth > sinking(rec.robot, scales(rec).size):
        warn(
            f"{rec.robot.name} is held in the world {1e3 * depth:.3g} mm inside the ground, with "
            f"{rec.point_names[deepest]}, and the ground pushes it: lower that, as "
            f"Ground.plane(height={rec.position[0, deepest, 2]:.3g}) does, or raise the base in the model"
        )
    return rec


def overflowed(run: Run) -> bool:
    """Whether MuJoCo had to drop contacts or other constraints, so that forces are missing."""
    warned = run.workspace.warned
    return bool(np.count_nonzero(warned)) and any(warned[int(kind)] for kind in OVERFLOWS)


def warnings_of(run: Run) -> list[RunWarning]:
    """What MuJoCo warned of, once for each kind."""
    found: list[RunWarning] = []
    if not np.count_nonzero(run.workspace.warned):
        return found
    for kind in WARNINGS:
        one = run.data.warning[int(kind)]
        if one.number:
            text = mujoco.mju_warningText(int(kind), one.lastinfo)
            times = f" ({one.number} times)" if one.number > 1 else ""
            found.append(RunWarning(float(run.data.time), "mujoco", " ".join(text.split()) + times))
    return found


def interrupted(run: Run) -> Interrupted:
    """What to raise after Ctrl-C, with all that was recorded."""
    at = run.step * run.simulation.dt
    message = f"interrupted at t = {at:.6g} s; what came before is in the exception's recording"
    return Interrupted(message, run.recording(Failure(at, "interrupted", "", f"interrupted at t = {at:.6g} s")))


def _warned(run: Run, failure: Failure) -> Recording:
    warn(str(failure))
    return run.recording(failure)


def _divergence(run: Run, at: float) -> Failure:
    sim = run.simulation
    dof = int(run.outcome[CONCERNED])
    joint = sim.robot.dof_name(dof)
    advice = f"try dt <= {round_down(sim.dt / 2)} s for {sim.law}"
    value = float(run.data.qacc[dof])
    size = "not a number" if np.isnan(value) else f"beyond {step.RUNAWAY:.0e}"
    fault = _fault_of_law(run)
    if fault:
        size, advice = f"not a number, for the law '{sim.law.name}' fails: {fault}", "mend the law"
    message = f"diverged at t = {at:.6g} s, joint {joint}: its acceleration is {size}; all before is kept; {advice}"
    return Failure(at, "diverged", joint, message)


def _fault_of_law(run: Run) -> str:
    """The error of a user's law, called as plain Python at the points near the ground; "" if it has none."""
    law = run.simulation.law
    if not (isinstance(law, PointLaw) and is_foreign(law.kernel)):
        return ""
    contacts, points, parameters = run.contacts, run.points, law.resolve(run.simulation.setting)
    for p in contacts.points[: contacts.number[0]]:
        if not np.isnan(points.force[p]).any():
            continue
        away = contacts.frame[p, :2] @ (points.position[p] - points.anchor[p])
        v = contacts.velocity[p]
        state = (max(0.0, -contacts.gap[p]), -v[2], np.nan_to_num(away), v[:2])
        fault = fault_of(law.kernel, state, points.memory[p].copy(), parameters)
        if fault:
            return fault
    return ""


def _no_ground(run: Run, at: float) -> str:
    where = run.points.position[run.outcome[CONCERNED]]
    return (
        f"the ground has no height or no friction (NaN) under contact point {int(run.outcome[CONCERNED])} near "
        f"x = {where[0]:.4g} m, y = {where[1]:.4g} m, met at t = {at:.6g} s"
    )


#: Samples whose contact places are computed together: some megabytes for a robot of a hundred points.
AT_ONCE = 500


def named_signals(
    flat: np.ndarray, law: Law, robot: Robot, more: Mapping[str, tuple[int, ...]] | None = None
) -> dict[str, np.ndarray]:
    """Signals (T, ...) by name, from a flat array (T, N): the law's, those of each foot, and ``more`` by shape."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(law.signals, ())
    shapes |= dict.fromkeys(law.foot_signals, (len(robot.feet),)) | dict(more or {})
    found, first = {}, 0
    for name, shape in shapes.items():
        last = first + math.prod(shape)
        found[name] = flat[:, first:last].reshape(len(flat), *shape)
        first = last
    return found


def add_other_columns(arrays: dict[str, Any], tape: OtherTape, robot: Robot, ground: Ground) -> np.ndarray:
    """Append columns for those points of ``robot.others`` that came near the ground; gives their indices (C,).

    Samples in which such a point was far from the ground were not recorded: they are computed from the poses.
    """
    rows = len(arrays["time"])
    who = tape.who[:, :rows]
    if not who.any():
        return np.zeros(0, dtype=int)
    places = np.flatnonzero(who.any(axis=1))
    found = np.unique(who[places])
    found = found[found > 0] - 1
    shape = (rows, len(found))
    columns = {name: np.zeros((*shape, 3)) for name in ("force", "peak_force", "position", "velocity", "normal")}
    columns |= {"gap": np.full(shape, np.nan), "mode": np.zeros(shape, dtype=np.int8)}
    for place in places:
        taken = np.flatnonzero(who[place])
        column = np.searchsorted(found, who[place, taken] - 1)
        for name, values in columns.items():
            values[taken, column] = getattr(tape, name)[place, taken]
    _fill_in(columns, arrays, found, robot, ground)
    for name, values in columns.items():
        arrays[name] = np.concatenate([arrays[name], values], axis=1)
    return found


def _fill_in(
    columns: dict[str, np.ndarray], arrays: dict[str, Any], found: np.ndarray, robot: Robot, ground: Ground
) -> None:
    """Compute positions, velocities, normals and gaps of the samples in which a point was not recorded."""
    rows = np.flatnonzero(np.isnan(columns["gap"]).any(axis=1))
    for first in range(0, len(rows), AT_ONCE):
        some = rows[first : first + AT_ONCE]
        lacking = np.isnan(columns["gap"][some])
        for name, values in other_places(robot, ground, arrays["qpos"][some], arrays["qvel"][some], found).items():
            recorded = columns[name][some]
            recorded[lacking] = values[lacking]
            columns[name][some] = recorded


def other_places(
    robot: Robot, ground: Ground, qpos: np.ndarray, qvel: np.ndarray, which: np.ndarray
) -> dict[str, np.ndarray]:
    """Where points of ``robot.others`` would touch in each of S states (S, nq), (S, nv), world frame.

    "position" (S, C, 3) m, "velocity" of the material points there (S, C, 3) m/s, "normal" (S, C, 3) of the ground, and
    "gap" (S, C) m, infinite without ground.
    """
    others, model, data = robot.others, robot.model, scratch_data(robot.model)
    body, radius = others.of_body[which], others.radius[which, None]
    states = States(qpos, qvel, np.zeros((len(qpos), model.nu)))
    fields = (data.xmat, data.xpos, data.cvel, data.subtree_com)
    turns, origin, spin, com = (one.reshape(len(qpos), model.nbody, -1) for one in replay(data, SPEEDS, states, fields))
    turns, origin, spin, com = turns[:, body], origin[:, body], spin[:, body], com[:, model.body_rootid[body]]
    turn = turns.reshape(*turns.shape[:2], 3, 3)
    centre = origin + np.einsum("spij,pj->spi", turn, others.points[which])
    at = centre.copy()
    curved = np.flatnonzero(others.axes[which].any(axis=(1, 2)))  # ellipsoids
    axes = turn[:, curved] @ others.axes[which[curved]]
    for _ in range(2 if curved.size else 0):
        _, normal = ground.gap(at[:, curved], reach(robot))
        along = np.einsum("spji,spj->spi", axes, normal)
        size = np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-12)
        at[:, curved] = centre[:, curved] - np.einsum("spij,spj->spi", axes, along) / size
    gap, normal = ground.gap(at, reach(robot))
    at = at - radius * normal
    velocity = spin[..., 3:] + np.cross(spin[..., :3], at - com)
    gap = np.nan_to_num(gap - radius[:, 0], nan=np.inf)
    return {"position": at, "velocity": velocity, "normal": normal, "gap": gap}


def failure_of(setup: Setup, outcome: np.ndarray) -> Failure | None:
    """Why a world ended, or ``None``; ``outcome`` is (how, step, dof or point or code, law's status)."""
    end, step, index = (int(v) for v in outcome[:3])
    at = step * setup.dt
    if end == DONE:
        return None
    if end == DIVERGED:
        joint = setup.robot.dof_name(index)
        advice = f"try dt <= {setup.dt / 2:g} s for {setup.law}"
        message = f"diverged at t = {at:.6g} s, joint {joint}: its acceleration is beyond all bounds; {advice}"
        return Failure(at, "diverged", joint, message)
    if end == NO_GROUND:
        message = f"the ground has no height (NaN) under contact point {index}, met at t = {at:.6g} s"
        return Failure(at, "ground", "", message)
    if end == STOPPED:
        return Failure(at, "controller", "", f"the controller stopped the world at t = {at:.6g} s")
    return Failure(at, "fallen", "", f"the robot was down at t = {at:.6g} s: its centre of mass had come too low")


def recording_of(
    setup: Setup,
    ground: Ground,
    pushes: tuple[Push, ...],
    tapes: tuple[Tape, OtherTape | None],
    outcome: np.ndarray,
    span: tuple[int, int],
    notes: Mapping[str, Any],
) -> Recording:
    """The recording of a world: its feet, and other bodies if they can touch the ground.

    ``span`` is its first step, and the number of steps between samples.
    """
    first, every = span
    tape, other_tape = tapes
    law, failure = setup.law, failure_of(setup, outcome)
    taken = int(outcome[1]) - first
    samples = taken // every + 1 if failure is None else int(outcome[SAMPLES])
    arrays = {name: array[:samples] for name, array in tape._asdict().items()}
    flat = arrays.pop("signals")
    other_points = np.zeros(0, dtype=int)
    if other_tape is not None:
        other_points = add_other_columns(arrays, other_tape, setup.robot, ground)
    info = {
        "integrator": setup.integrator,
        "body_contacts": setup.body_contacts and other_tape is not None,
        "seed": None,
        "record_dt": setup.dt * every,
        "signals": {**law.signals, **law.foot_signals},
        "warnings": [],
        "wall_time": None,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        **notes,
    }
    return Recording(
        robot=setup.robot,
        ground=ground,
        law=law,
        dt=setup.dt,
        pushes=pushes,
        failure=failure,
        info=info,
        signals=named_signals(flat, law, setup.robot),
        other_points=other_points,
        **arrays,
    )
