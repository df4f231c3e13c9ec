"""How a run ended, as a sentence: a recording with a failure, or an error that carries the recording."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from footfall.contact.base import PointLaw
from footfall.contact.springs.stable_step import round_down
from footfall.contact.trial import fault_of, is_foreign
from footfall.engine import recovery, step
from footfall.engine.other_bodies.points import LACKING, SIZES
from footfall.engine.tape import CONCERNED, END, STEP
from footfall.errors import ControllerError, GroundError, Interrupted, SimulationError, warn
from footfall.measure.audit_errors import scales
from footfall.measure.audit_rules import sinking
from footfall.record import Failure, RunWarning
from footfall.recording import Recording

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
