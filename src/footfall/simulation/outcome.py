"""The recording of a run, or of one of many worlds, and the reason why it ended."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from footfall.contact.setting import make_setting
from footfall.contact.springs.stable_step import longest_stable_step, round_down
from footfall.engine.other_bodies.points import OtherTape, friction_between
from footfall.engine.replay import AT_ONCE, other_places
from footfall.engine.step import CREATED, CREATES, DIVERGED, DONE, NO_GROUND, STOPPED
from footfall.engine.tape import Tape
from footfall.errors import RobotError
from footfall.ground import Ground
from footfall.measure.audit_errors import scales
from footfall.measure.motion import actuation
from footfall.record import BODY_CONTACTS, Failure, Push, Signal
from footfall.recording import Recording
from footfall.robot import Robot
from footfall.robot.model import TOLD, named_overlaps, overlapping
from footfall.simulation.setup import Setup, pairs_are_the_laws
from footfall.version import versions


def made_recording(
    setup: Setup,
    ground: Ground,
    pushes: tuple[Push, ...],
    failure: Failure | None,
    arrays: dict[str, np.ndarray],
    others: OtherTape | None,
    of_controller: Mapping[str, Signal],
    notes: Mapping[str, Any],
) -> Recording:
    """A recording from the ``arrays`` of its tape, the tape of bodies other than feet, and ``notes`` about the run.

    Signals are those of the law, of the law at each foot, and of the controller, one after the other.
    """
    law, feet, flat = setup.law, len(setup.robot.feet), arrays.pop("signals")
    shapes = dict.fromkeys(law.signals, ()) | dict.fromkeys(law.foot_signals, (feet,))
    shapes |= {name: signal.values.shape for name, signal in of_controller.items()}
    signals, first = {}, 0
    for name, shape in shapes.items():
        last = first + math.prod(shape)
        signals[name] = flat[:, first:last].reshape(len(flat), *shape)
        first = last
    other_points, units, touching = np.zeros(0, dtype=int), {**law.signals, **law.foot_signals}, None
    units |= {name: one.unit for name, one in of_controller.items()}
    if others is not None:
        other_points = _add_other_columns(arrays, others, setup.robot, ground)
        if pairs_are_the_laws(setup):
            touching, columns = _body_contacts(others, len(arrays["time"]), setup.robot)
            for name, values in columns.items():
                signal, units[signal] = BODY_CONTACTS[name]
                signals[signal] = values
    info = {
        "body_contacts": setup.body_contacts and others is not None,
        "touching": touching,
        "signals": units,
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
        signals=signals,
        other_points=other_points,
        **arrays,
    )


def created_energy(rec: Recording) -> Failure | None:
    """The failure of a run whose kinetic energy exceeds all energy available to the robot; None if it does not.

    A cheap bound from the diagonal of the inertia is checked first; energies are computed only where that is too large.
    """
    model, reasons = rec.robot.model, energy_at_hand(rec.robot, rec.pushes)
    rough = 0.5 * np.square(rec.qvel) @ model.dof_M0
    if not len(rec) or rough.max() < CREATED * (rough[0] + reasons):
        return None
    found, step = actuation(rec), np.diff(rec.time, append=rec.time[-1:])
    motors = np.cumsum(np.maximum(found.power, 0.0).sum(axis=1) * step)
    springs = float(np.abs(rec.force[0]).sum(axis=1) @ np.maximum(-rec.gap[0], 0.0))
    fallen = np.maximum(found.potential[0] - found.potential, 0.0)
    given = found.kinetic[0] + fallen + motors + springs + reasons
    beyond = np.flatnonzero(found.kinetic > CREATED * given)
    if not beyond.size:
        return None
    k = int(beyond[0])
    message = (
        f"energy from nowhere: at t = {rec.time[k]:.6g} s {rec.robot.name} moves with {found.kinetic[k]:.3g} J, and "
        f"all that it had, was given or could fall by is {given[k]:.3g} J; {advice(rec, rec.qpos[0])}"
    )
    return Failure(float(rec.time[k]), "energy", "", message)


def advice(setup: Setup | Recording, start: np.ndarray | None) -> str:
    """What to change where a run diverged or gained energy: a smaller step, at which springs of the law are stable, and
    before it the ``start`` (nq,), where known, of bodies that are deeper in each other there than at home.
    """
    robot = setup.robot
    stable = longest_stable_step(setup.law, make_setting(robot, setup.ground, setup.dt))
    step = f"try dt <= {round_down(min(setup.dt / 2, math.inf if stable is None else stable))} s for {setup.law}"
    try:
        depths, home = (
            {} if pose is None else overlapping(robot.model, pose, robot.name) for pose in (start, robot.home)
        )
    except RobotError as error:  # too many to list
        return f"{error}; {step}"
    deeper = {pair: depth for pair, depth in depths.items() if depth > home.get(pair, 0.0) + TOLD}
    if not deeper:
        return step
    return f"bodies began inside each other, and are thrown apart ({named_overlaps(deeper)}): start apart, or {step}"


def energy_at_hand(robot: Robot, pushes: Iterable[Push]) -> float:
    """J, energy available without motors: weight times size, and the energy that pushes give to bodies at rest."""
    found = scales(robot).energy
    for push in pushes:
        linear, angular = robot.model.body(push.body).invweight0
        impulse, turn = (push.duration * math.hypot(*one) for one in (push.force, push.torque))
        found += 0.5 * (impulse**2 * linear + turn**2 * angular)
    return float(found)


def _add_other_columns(arrays: dict[str, Any], tape: OtherTape, robot: Robot, ground: Ground) -> np.ndarray:
    """Append columns for those points of ``robot.others`` that came near the ground; returns their indices (C,).

    Samples in which such a point was far from the ground were not recorded: they are computed from the poses.
    """
    rows = len(arrays["time"])
    who = tape.who[:, :rows]
    if not who.any():
        return np.zeros(0, dtype=int)
    places = np.flatnonzero(who.any(axis=1))
    found = np.unique(who[places])
    found = found[(found > 0) & (found <= len(robot.others))] - 1  # larger numbers are contacts between bodies
    if not found.size:
        return found
    shape = (rows, len(found))
    columns = {name: np.zeros((*shape, 3)) for name in ("force", "peak_force", "position", "velocity", "normal")}
    columns |= {"gap": np.full(shape, np.nan), "mode": np.zeros(shape, dtype=np.int8)}
    for place in places:
        taken = np.flatnonzero((who[place] > 0) & (who[place] <= len(robot.others)))
        column = np.searchsorted(found, who[place, taken] - 1)
        for name, values in columns.items():
            values[taken, column] = getattr(tape, name)[place, taken]
    _fill_in(columns, arrays, found, robot, ground)
    for name, values in columns.items():
        arrays[name] = np.concatenate([arrays[name], values], axis=1)
    return found


def _body_contacts(
    tape: OtherTape, rows: int, robot: Robot
) -> tuple[list[tuple[str, str, float]], dict[str, np.ndarray]]:
    """The bodies and friction of every contact between two bodies, and its samples by the fields of ``BodyContacts``.

    Two geoms that touch in several places have a column for each, in the order of their places on the tape.
    """
    model = robot.model
    place, row = np.nonzero(tape.mode[:, :rows] * (tape.who[:, :rows] > len(robot.others)))
    pair = tape.who[place, row] - 1 - len(robot.others)
    order = np.lexsort((place, pair, row))
    place, row, pair = place[order], row[order], pair[order]
    first = np.ones(len(row), dtype=bool)
    first[1:] = (np.diff(row) != 0) | (np.diff(pair) != 0)
    number = np.arange(len(row)) - np.maximum.accumulate(np.where(first, np.arange(len(row)), 0))
    kinds, column = np.unique(np.stack([pair, number], axis=1), axis=0, return_inverse=True)
    column = column.reshape(-1)
    columns = {}
    for name in BODY_CONTACTS:
        source = getattr(tape, name)
        columns[name] = np.full((rows, len(kinds), *source.shape[2:]), np.nan if name == "gap" else 0.0)
        columns[name][row, column] = source[place, row]
    bodies = []
    for pair_of_geoms in kinds[:, 0]:
        geoms = divmod(int(pair_of_geoms), model.ngeom)
        one, other = (model.geom_bodyid[geom] for geom in geoms)
        if model.body_weldid[other] == 0:  # held in the world, as in ``list_pairs``
            one, other = other, one
        bodies.append((model.body(other).name, model.body(one).name, friction_between(model, *geoms)))
    return bodies, columns


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


def failure_of(setup: Setup, ended: Sequence[int], start: np.ndarray | None = None, fault: str = "") -> Failure | None:
    """The failure of a world, or ``None``, by the first three fields of :class:`footfall.engine.tape.Outcome`, and
    ``start`` as in :func:`advice`. ``fault`` is an error of the user's law.
    """
    end, step, index = ended
    at = step * setup.dt
    if end == DONE:
        return None
    if end == DIVERGED:
        joint, why = setup.robot.dof_name(index), f"is beyond all bounds; {advice(setup, start)}"
        if fault:
            why = f"is not a number, for the law '{setup.law.name}' fails: {fault}; correct the law"
        return Failure(at, "diverged", joint, f"diverged at t = {at:.6g} s, joint {joint}: its acceleration {why}")
    if end == CREATES:
        joint = setup.robot.dof_name(index)
        message = (
            f"energy from nowhere: the step at t = {at:.6g} s ends with more than {CREATED:g} times the energy that "
            f"{setup.robot.name} had, was given or could fall by, most of it in joint {joint}; {advice(setup, start)}"
        )
        return Failure(at, "energy", joint, message)
    if end == NO_GROUND:
        message = f"the ground has no height (NaN) under contact point {index}, met at t = {at:.6g} s"
        return Failure(at, "ground", "", message)
    if end == STOPPED:
        return Failure(at, "controller", "", f"the controller stopped the world at t = {at:.6g} s")
    return Failure(at, "fallen", "", f"the robot was down at t = {at:.6g} s: its centre of mass had come too low")


def recording_of_world(
    setup: Setup,
    ground: Ground,
    pushes: tuple[Push, ...],
    tapes: tuple[Tape, OtherTape | None],
    ended: Sequence[int],
    samples: int,
    every: int,
    notes: Mapping[str, Any],
) -> Recording:
    """The recording of one of many worlds, which ``ended`` as in :func:`failure_of`."""
    failure = failure_of(setup, ended, tapes[0].qpos[0])
    arrays = {name: array[:samples] for name, array in tapes[0]._asdict().items()}
    about = {"integrator": "euler", "record_dt": setup.dt * every, "warnings": [], "wall_time": None, **notes}
    rec = made_recording(setup, ground, pushes, failure, arrays, tapes[1], {}, about)
    return rec if failure is not None else replace(rec, failure=created_energy(rec))
