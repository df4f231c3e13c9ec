"""The data of one instant for the page of a running simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from footfall.measure import has_fallen
from footfall.record import COLUMNS, Push
from footfall.recording import Recording
from footfall.show.frames import frames_at
from footfall.show.plots import panels_of
from footfall.show.report import page_plots
from footfall.simulation import Simulation
from footfall.simulation.run import Run

#: Most points of bodies other than feet that are drawn at once.
PLACES = 24
#: The plots of a report that are drawn.
SHOWN = ("grf", "pressure", "heights")


def at_rest(simulation: Simulation, qpos: np.ndarray) -> Recording:
    """One sample of a simulation's robot in the pose ``qpos`` (nq,), at rest and without forces."""
    robot = simulation.robot
    model = robot.model
    others = np.arange(min(PLACES, len(robot.others.points)) if simulation.body_contacts else 0)
    points = robot.point_count + len(others)
    zero = np.zeros((1, points, 3))
    return Recording(
        robot=robot,
        ground=simulation.ground,
        law=simulation.law,
        dt=simulation.dt,
        time=np.zeros(1),
        qpos=qpos[None],
        qvel=np.zeros((1, model.nv)),
        ctrl=np.zeros((1, model.nu)),
        force=zero,
        position=zero,
        velocity=zero,
        gap=np.zeros((1, points)),
        mode=np.zeros((1, points)),
        status=np.zeros(1),
        other_points=others,  # places for whichever come near the ground
        info={
            "integrator": "event-driven" if simulation.law.event_driven else "euler",
            "record_dt": simulation.dt,
        },
    )


def panels(rest: Recording) -> list[dict[str, Any]]:
    """The plots of a running simulation; ``frame`` returns the values of an instant in the same order."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return [{**one, "bands": []} for one in page_plots({rest.law.name: rest}, shown=SHOWN)]


def frame(rest: Recording, run: Run, row: int, push: Push | None) -> dict[str, Any]:
    """What is drawn of one row of a run's tape, ready for JSON: None where something is not defined.

    ``push`` is the external push. The zero moment point is that of the row before, since it needs an acceleration.
    """
    two = _last_two(rest, run, row, push)
    with np.errstate(invalid="ignore", divide="ignore"):
        arrays = {name: array[-1] for name, array in frames_at(two, np.arange(2))._asdict().items() if name != "time"}
        shown = [panel for name in SHOWN for panel in panels_of(name, {"": two})]
    if push is None:
        arrays["push_point"] = arrays["com"]
    arrays["pushForce"] = np.array(push.force if push else (0.0, 0.0, 0.0))
    values = [np.array([one.values[0 if one.role == "zmp" else -1] for one in panel.curves]) for panel in shown]
    return {
        "arrays": {name: _plain(array) for name, array in arrays.items()},
        "values": [_plain(one) for one in values],
        "pushed": push.body if push else "",
    }


def is_down(rest: Recording, qpos: np.ndarray) -> bool:
    """Whether a robot has fallen in the pose ``qpos`` (nq,)."""
    twice: dict[str, Any] = {
        name: np.repeat(getattr(rest, name), 2, axis=0) for name in COLUMNS if name not in ("time", "qpos")
    }
    return has_fallen(replace(rest, time=np.array([0.0, 1.0]), qpos=np.stack([rest.qpos[0], qpos]), **twice))


def _last_two(rest: Recording, run: Run, row: int, push: Push | None) -> Recording:
    """A row of a run's tape and the one before it, itself where it is the first, as a recording."""
    tape, rows = run.tape, [max(0, row - 1), row]
    position, force, normal, mode, gap = map(np.stack, zip(*(_contacts(rest, run, one) for one in rows), strict=True))
    return replace(
        rest,
        **{name: getattr(tape, name)[rows] for name in ("time", "qpos", "qvel", "ctrl")},
        force=force,
        position=position,
        velocity=np.zeros_like(force),
        normal=normal,
        peak_force=force,
        peak_total_force=force.sum(axis=1),
        gap=gap,
        mode=mode,
        status=np.zeros(2),
        pushes=() if push is None else (push,),
    )


def _contacts(rest: Recording, run: Run, row: int) -> list[np.ndarray]:
    """Positions, forces, normals (P, 3), modes and gaps (P,) of a row: of feet's points, then of places for others."""
    others = run.points.others.tape
    taken = others.who[: len(rest.other_points), row] > 0 if row < others.who.shape[1] else np.zeros(0, dtype=bool)
    places = np.flatnonzero(taken)
    found = []
    for name in ("position", "force", "normal", "mode", "gap"):
        own = getattr(run.tape, name)[row]
        beside = np.zeros((len(rest.other_points), *own.shape[1:]))
        if places.size and name != "gap":  # of feet alone it is shown
            beside[places] = getattr(others, name)[places, row]
        found.append(np.concatenate([own, beside]))
    return found


def _plain(array: np.ndarray) -> list[float | None]:
    """Six digits after the point, which is a micrometre or a micronewton."""
    return [float(value) if np.isfinite(value) else None for value in np.round(array.ravel(), 6)]
