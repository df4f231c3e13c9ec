"""Why worlds ended, in sentences, and their recordings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from footfall.engine.other_bodies.points import OtherTape
from footfall.engine.step import DIVERGED, DONE, NO_GROUND, STOPPED
from footfall.engine.tape import SAMPLES, Tape
from footfall.ground import Ground
from footfall.record import Failure, Push
from footfall.recording import Recording
from footfall.simulation.columns import add_other_columns, named_signals
from footfall.simulation.setup import Setup
from footfall.version import versions


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
